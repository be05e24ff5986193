// SPDX-License-Identifier: BSD-3-Clause
// What a node does about rules that spread themselves in the packets of their flows: when it
// repeats its own, and which it takes from others.
//
// Source: 000_616928c59136b059.txt section III-B1; docs/in-band.md.
// Thread rule: a value.
#pragma once

#include "rule_auth.h"
#include "rule_cbor.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define HS_IN_BAND_MAX_REPEATS 16

struct hs_in_band {
	// Repeats of a request after its first sending, ascending; behind the last one, one for
	// each interval.
	unsigned n_repeats;
	int64_t repeats_ns[HS_IN_BAND_MAX_REPEATS];
	uint32_t interval_s;

	bool accept;		  // install what packets bring
	uint32_t ports;		  // bit i: port i may bring it; a host side never may
	uint32_t max_rules;	  // that came in band, at a time
	uint32_t new_rules_per_s; // that one port brings; signed ones are not counted
	uint32_t missed_repeats;  // intervals without a repeat, after which such a rule goes
	bool has_key;		  // take signed requests only, and sign
	struct hs_rule_key key;
	uint32_t max_age_s; // of a signed request, by the two nodes' clocks; 0: any
};

// The defaults: repeats after 0.1, 0.3, 1, 3, 10, 30 s, then every 60 s; requests are taken from
// all network sides, 1024 rules, 10,000 new ones a second and port, gone after 3 missed repeats; no
// key; 120 s.
void hs_in_band_init(struct hs_in_band *in_band);

// Writes the request of a checked rule, signed where there is a key. Returns the length, or a
// negative errno with *err ("too_large").
int hs_in_band_write(const struct hs_in_band *in_band, const struct hs_rule *rule, uint64_t counter,
		uint8_t bytes[HS_RULE_CBOR_BYTES], struct hs_error *err);
// Would it fit, if the rule is to spread at all? 0 or -EINVAL with *err.
int hs_in_band_check_rule(
		const struct hs_in_band *in_band, const struct hs_rule *rule, struct hs_error *err);

// The list of repeats as a configuration has it: ascending seconds. 0 or -EINVAL with *err.
int hs_in_band_read_repeats(
		json_t *list, const char *path, struct hs_in_band *in_band, struct hs_error *err);
json_t *hs_in_band_print_repeats(const struct hs_in_band *in_band);

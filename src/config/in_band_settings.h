// SPDX-License-Identifier: BSD-3-Clause
// The settings for rules that spread in the packets of their flows: when a node repeats its own
// requests, and which requests it accepts from others.
//
// Source: 000_616928c59136b059.txt section III-B1; docs/in-band.md. Thread rule: a value.
#pragma once

#include "rule_auth.h"
#include "rule_cbor.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#define HS_IN_BAND_MAX_REPEATS 16

struct hs_in_band_settings {
	// The times of repeats of a request after its first sending, ascending. After the last one,
	// the request is repeated once an interval.
	unsigned n_repeats;
	int64_t repeats_ns[HS_IN_BAND_MAX_REPEATS];
	uint32_t interval_s;

	bool accept;		  // install rules that packets bring
	uint32_t ports;		  // bit i: port i may bring rules; a host side never may
	uint32_t max_rules;	  // number of rules that came in band, at a time
	uint32_t new_rules_per_s; // new rules of one port; signed ones are not counted
	uint32_t missed_repeats;  // intervals without a repeat, after which such a rule is removed
	bool has_key;		  // accept signed requests only, and sign
	struct hs_rule_key key;
	uint32_t max_age_s; // of a signed request, by the two nodes' clocks; 0: any age
};

// Sets the defaults: repeats after 0.1, 0.3, 1, 3, 10, 30 s, then every 60 s; requests are accepted
// from all network sides; 1024 rules; 10,000 new ones a second and port; removal after 3 missed
// repeats; no key; 120 s.
void hs_in_band_init(struct hs_in_band_settings *in_band);

// Writes the request of a checked rule, signed if there is a key. Returns the length, or a negative
// errno with *err ("too_large").
int hs_in_band_write(const struct hs_in_band_settings *in_band, const struct hs_rule *rule,
		uint64_t counter, uint8_t bytes[HS_RULE_CBOR_BYTES], struct hs_error *err);
// Checks that the request of a rule that spreads fits. Returns 0, or -EINVAL with *err.
int hs_in_band_check_rule(const struct hs_in_band_settings *in_band, const struct hs_rule *rule,
		struct hs_error *err);

// Reads the list of repeats in the form of the configuration: ascending seconds. Returns 0, or
// -EINVAL with *err. Both take a struct hs_in_band_settings; the types are those of a row of
// lib/schema.
int hs_in_band_read_repeats(json_t *list, const char *path, void *into, struct hs_error *err);
json_t *hs_in_band_print_repeats(const void *from);
#define HS_IN_BAND_REPEATS_SHAPE                                                                   \
	"{'type': 'array', 'maxItems': 16, 'items': {'type': 'number', 'minimum': 0.01, "          \
	"'maximum': 86400}, 'description': 'ascending seconds'}"

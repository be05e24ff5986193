// SPDX-License-Identifier: BSD-3-Clause
// The rule: one monitored flow, named by its namespace id, as the operator asked for it.
//
// Source: 000_616928c59136b059.txt section III-B, listings 1 and 2. Thread rule: any; a rule is a
// value.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

enum hs_rule_mode {
	HS_MODE_COUNT,	     // every setting-th packet
	HS_MODE_FREQUENCY,   // at most one packet in setting milliseconds
	HS_MODE_PROBABILITY, // each packet with setting percent
};

struct hs_rule {
	uint32_t ns_id; // 1 to 2^32 - 1
	uint32_t app_id;
	uint8_t src_ip[16]; // network order
	uint8_t dst_ip[16];
	uint16_t src_port; // host order; 0 any
	uint16_t dst_port;
	uint8_t protocol; // IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6
	uint8_t mode;	  // enum hs_rule_mode
	bool in_band;
	bool transmit_report;
	bool piggyback_report;
	bool extract_report;
	bool hop_enabled;
	uint32_t trace_type; // E2E half in the upper 16 bits, unallocated bits zero
	double mode_setting; // packets, milliseconds or percent, as given
	uint32_t fields; // fields of this node's entries: a number of rule_fields.h; 0: the node's
	// Labels. They change nothing about what the node does.
	uint16_t owner;	   // who wrote the rule last: a number of rule_fields.h; 0: not named
	uint64_t revision; // the owner's number of this content; 0: none
};

// Which fields an int_update changes. `back` holds the fields that are reset (null): bit i is row i
// of hs_rule_fields. The keeper of the rule knows their old values. The labels always change: they
// belong to who wrote last.
struct hs_rule_update {
	uint32_t back;
	bool has_transmit_report, has_piggyback_report, has_extract_report, has_hop_enabled;
	bool has_mode, has_mode_setting, has_fields;
	bool transmit_report, piggyback_report, extract_report, hop_enabled;
	uint8_t mode;
	double mode_setting;
	uint32_t fields;
	uint16_t owner;
	uint64_t revision;
};

const char *hs_rule_protocol_name(uint8_t protocol);

// Sets the defaults of the optional fields: transmit_report and hop_enabled true, the rest false or
// 0.
void hs_rule_init(struct hs_rule *rule);

// Checks all fields together. This is the one validator for API, file and CBOR. Returns 0, or
// -EINVAL with *err.
int hs_rule_check(const struct hs_rule *rule, struct hs_error *err);

// Copies the values of an update into *rule.
void hs_rule_apply_unchecked(struct hs_rule *rule, const struct hs_rule_update *update);
// Applies an update to *rule and checks the result. On -EINVAL, *rule does not change.
int hs_rule_apply(struct hs_rule *rule, const struct hs_rule_update *update, struct hs_error *err);

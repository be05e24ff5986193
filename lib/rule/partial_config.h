// SPDX-License-Identifier: BSD-3-Clause
// Which fields a node's entries have, by its configuration or a rule. This is separate from the
// workers' form, so that a module that only reads it needs no DPDK.
//
// Thread rule: any; values.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum hs_partial_policy {
	HS_PARTIAL_ALWAYS,
	HS_PARTIAL_PROBABILITY, // added to each packet with this probability
	HS_PARTIAL_THRESHOLD,	// added if the value changed or is old
};

// The policy of one field. With a threshold, the field is added if its value differs by more than
// min_change (packets or bytes received, nanoseconds) from the value that this worker last added
// for the rule, or if max_age_ns have passed since then. The first value is always added.
struct hs_partial_field {
	bool unsupported;
	uint8_t policy; // enum hs_partial_policy
	union {
		double probability_percent;
		uint64_t min_change; // UINT64_MAX: changes do not count
	};
	int64_t max_age_ns; // INT64_MAX: age does not count
};

// All zero: every field is always added.
struct hs_partial {
	struct hs_partial_field packets, timestamp, bytes;
};

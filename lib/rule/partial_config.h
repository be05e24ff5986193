// SPDX-License-Identifier: BSD-3-Clause
// Which fields a node's entries have, as its configuration or a rule says; apart from what workers
// make of it, so that who only reads it needs nothing of DPDK.
//
// Thread rule: any; values.
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum hs_partial_policy {
	HS_PARTIAL_ALWAYS,
	HS_PARTIAL_PROBABILITY, // to each packet with this probability
	HS_PARTIAL_THRESHOLD,	// where the value moved, or is old
};

// Of one field. Threshold: added where it differs by more than min_change (packets or bytes
// received, nanoseconds) from the one that this worker last added for the rule, or max_age_ns after
// that one; the first is always added.
struct hs_partial_field {
	bool unsupported;
	uint8_t policy; // enum hs_partial_policy
	union {
		double probability_percent;
		uint64_t min_change; // UINT64_MAX: never for that
	};
	int64_t max_age_ns; // INT64_MAX: likewise
};

// All zero: every field, always.
struct hs_partial {
	struct hs_partial_field packets, timestamp, bytes;
};

// SPDX-License-Identifier: BSD-3-Clause
// The fields of a node's entries, in the workers' form, for a node or for one rule.
//
// Thread rule: rows do not change; a worker's `last` is its own.
#pragma once

#include "partial_config.h"

#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

#define HS_PARTIAL_FIELDS 3

struct hs_partial_rows {
	uint16_t always; // fields without a policy
	unsigned n_rows;
	struct hs_partial_row {
		uint16_t bit;
		uint8_t policy;
		uint64_t share; // 2^32 x probability
		uint64_t min_change;
		int64_t max_age_ns;
	} rows[HS_PARTIAL_FIELDS];
};

// The values that a worker last added for a rule.
struct hs_partial_last {
	uint64_t values[HS_PARTIAL_FIELDS];
	int64_t added_ns[HS_PARTIAL_FIELDS];
	uint32_t generation; // of the rule
	uint16_t added;	     // fields that were added at least once
} __rte_cache_aligned;

// The fields of a rule that has its own.
struct hs_flow_fields {
	struct hs_partial_rows rows;
	struct hs_flow_fields *next; // next of the fields that wait for a grace period
	uint64_t token;
	struct hs_partial_last last[]; // [worker]
};

void hs_partial_rows_make(const struct hs_partial *config, struct hs_partial_rows *rows);
bool hs_partial_has_threshold(const struct hs_partial *config);

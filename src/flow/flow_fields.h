// SPDX-License-Identifier: BSD-3-Clause
// The fields of a node's entries, in the workers' form, for a node or for one rule.
//
// Thread rule: rows do not change; a worker's `last` is its own; the store is control's.
#pragma once

#include "partial_config.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include <rte_common.h>

struct rte_rcu_qsbr;

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

// ---- of rules ----

// What the fields of rules have in common.
struct hs_flow_field_store {
	struct rte_rcu_qsbr *qsbr;
	unsigned n_workers;
	struct hs_partial node;	    // fields that the node's entries have
	struct hs_flow_fields *old; // wait for a grace period
};

// Makes the fields of a rule: a number of rule_fields.h, not 0. Returns NULL if memory is out.
struct hs_flow_fields *hs_flow_fields_make(
		const struct hs_flow_field_store *store, uint32_t number);
// Replaces the fields that workers find at a place. NULL: the node's.
void hs_flow_fields_replace(struct hs_flow_field_store *store,
		struct hs_flow_fields *_Atomic *place, struct hs_flow_fields *fields);
// Frees the old fields whose grace period is over.
void hs_flow_fields_reclaim(struct hs_flow_field_store *store);
// Frees all old fields. No worker sees them any more.
void hs_flow_fields_fini(struct hs_flow_field_store *store);

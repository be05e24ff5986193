// SPDX-License-Identifier: BSD-3-Clause
// Partial metadata: which fields a transit node adds to its entry. A node that lacks a field, or
// whose policy leaves it out of a packet, clears its bit in the entry's bitmap; an entry without
// any field still names the node.
//
// Source: 000_616928c59136b059.txt section III-A (the entry's own trace type).
// Thread rule: a worker's part belongs to its owner lcore.
#pragma once

#include "flow_state.h"
#include "partial_config.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_PARTIAL_FIELDS 3

// What was last added for a rule.
struct hs_partial_last {
	uint64_t values[HS_PARTIAL_FIELDS];
	int64_t added_ns[HS_PARTIAL_FIELDS];
	uint32_t generation; // of the rule
	uint16_t added;	     // fields that were ever added
} __rte_cache_aligned;

struct hs_partial_worker {
	uint16_t always; // fields without a policy
	unsigned n_rows;
	struct hs_partial_row {
		uint16_t bit;
		uint8_t policy;
		uint64_t share; // 2^32 x probability
		uint64_t min_change;
		int64_t max_age_ns;
	} rows[HS_PARTIAL_FIELDS];
	struct hs_partial_last *last; // [slot], NULL without thresholds
};

// *worker is NULL where nothing is ever left out. 0 or -ENOMEM. destroy accepts NULL.
int hs_partial_create(
		const struct hs_partial *config, uint32_t rules, struct hs_partial_worker **worker);
void hs_partial_destroy(struct hs_partial_worker *worker);
// DPDK memory that it takes.
uint64_t hs_partial_bytes(const struct hs_partial *config, uint32_t rules);

// Which of the wanted fields a packet of the rule gets. `now_ns` here and below is time without
// steps: ages and the change of a stamp are measured by it.
uint16_t hs_partial_choose(const struct hs_partial_worker *worker, const struct hs_flow_view *flows,
		uint32_t slot, uint16_t wanted, const struct hs_flow_sums *sums, int64_t now_ns,
		struct hs_rng *rng);
// It got them.
void hs_partial_added(struct hs_partial_worker *worker, const struct hs_flow_view *flows,
		uint32_t slot, uint16_t bitmap, const struct hs_flow_sums *sums, int64_t now_ns);

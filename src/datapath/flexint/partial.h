// SPDX-License-Identifier: BSD-3-Clause
// Partial metadata: which fields a transit node adds to its entry. A node that lacks a field, or
// whose policy leaves it out of a packet, clears its bit in the entry's bitmap; an entry without
// any field still names the node.
//
// Source: 000_616928c59136b059.txt section III-A (the entry's own trace type).
// Thread rule: a worker's part belongs to its owner lcore.
#pragma once

#include "flow_fields.h"
#include "flow_state.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_partial_worker {
	struct hs_partial_rows rows;
	struct hs_partial_last *last; // [slot], NULL without thresholds
};

// The rows of a rule, and what this worker last added for it, NULL without thresholds.
struct hs_partial_of {
	const struct hs_partial_rows *rows;
	struct hs_partial_last *last;
	uint32_t generation; // of the rule
};

// *worker is NULL where nothing is ever left out. 0 or -ENOMEM. destroy accepts NULL.
int hs_partial_create(
		const struct hs_partial *config, uint32_t rules, struct hs_partial_worker **worker);
void hs_partial_destroy(struct hs_partial_worker *worker);
// DPDK memory that it takes.
uint64_t hs_partial_bytes(const struct hs_partial *config, uint32_t rules);

// Of the rule, or as the node is configured. False where an entry has all fields that are asked
// for.
bool hs_partial_find(const struct hs_partial_worker *worker, const struct hs_flow_view *flows,
		uint32_t slot, struct hs_partial_of *of);
// Which of the wanted fields a packet of the rule gets. `now_ns` here and below is time without
// steps: ages and the change of a stamp are measured by it.
uint16_t hs_partial_choose(const struct hs_partial_of *of, uint16_t wanted,
		const struct hs_flow_sums *sums, int64_t now_ns, struct hs_rng *rng);
// It got them.
void hs_partial_added(const struct hs_partial_of *of, uint16_t bitmap,
		const struct hs_flow_sums *sums, int64_t now_ns);

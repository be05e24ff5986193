// SPDX-License-Identifier: BSD-3-Clause
// Partial metadata: which fields a transit node adds to its entry. A node that lacks a field, or
// whose policy leaves it out of a packet, clears its bit in the entry's bitmap; an entry without
// any field still names the node.
//
// Source: 000_616928c59136b059.txt section III-A (the entry's own trace type).
// Thread rule: a worker's part belongs to its owner lcore.
#pragma once

#include "flow_fields.h"
#include "flow_worker.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_partial_worker {
	struct hs_partial_rows rows;
	struct hs_partial_last *last; // [slot], NULL without thresholds
};

// The rows of a rule, and the values that this worker last added, NULL without thresholds.
struct hs_partial_of {
	const struct hs_partial_rows *rows;
	struct hs_partial_last *last;
	uint32_t generation; // of the rule
};

// Creates a worker's part. *worker is NULL where nothing is ever left out. Returns 0 or -ENOMEM.
// hs_partial_destroy accepts NULL.
int hs_partial_create(
		const struct hs_partial *config, uint32_t rules, struct hs_partial_worker **worker);
void hs_partial_destroy(struct hs_partial_worker *worker);
// Returns the DPDK memory of a worker's part.
uint64_t hs_partial_bytes(const struct hs_partial *config, uint32_t rules);

// Finds the rows of the rule, or else those of the node. Returns false where an entry has all
// fields that are asked for.
bool hs_partial_find(const struct hs_partial_worker *worker, const struct hs_flow_view *flows,
		uint32_t slot, struct hs_partial_of *of);
// Returns the wanted fields that a packet of the rule gets. `now_ns`, here and below, is time
// without steps of the clock, by which ages and the change of a timestamp are measured.
uint16_t hs_partial_choose(const struct hs_partial_of *of, uint16_t wanted,
		const struct hs_flow_sums *sums, int64_t now_ns, struct hs_rng *rng);
// Notes that a packet of the rule got these fields.
void hs_partial_added(const struct hs_partial_of *of, uint16_t bitmap,
		const struct hs_flow_sums *sums, int64_t now_ns);

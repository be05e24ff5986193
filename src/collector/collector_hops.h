// SPDX-License-Identifier: BSD-3-Clause
// The last latency of each node, over all flows: flows are too many for series of their own.
//
// Thread rule: the control thread.
#pragma once

#include "collect.h"
#include "u32_map.h"

// If there are more nodes, a new one takes the place of a node whose value is old. A value is old
// if no report told it for this time.
#define HS_COLLECTOR_NODES  4096
#define HS_COLLECTOR_OLD_NS INT64_C(60000000000)

struct hs_collector_hops { // zeroed at first
	struct hs_u32_map by_node;
	unsigned n, hand;  // the next place to look at for a new node
	uint64_t left_out; // values of nodes that found no place
	struct hs_collector_hop {
		uint32_t node_id;
		uint64_t latency; // in the node's unit
		int64_t time_ns;  // when the report came
	} of[HS_COLLECTOR_NODES];
};

void hs_collector_hops_note(struct hs_collector_hops *hops, const struct hs_collect_event *event);
void hs_collector_hops_fini(struct hs_collector_hops *hops);

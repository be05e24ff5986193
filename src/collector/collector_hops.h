// SPDX-License-Identifier: BSD-3-Clause
// The latency that each node told last, whatever the flow: flows are too many for series.
//
// Thread rule: the control thread.
#pragma once

#include "collect.h"
#include "u32_map.h"

#define HS_COLLECTOR_NODES 4096 // later ones are left out

struct hs_collector_hops { // zeroed at first
	struct hs_u32_map by_node;
	unsigned n;
	struct hs_collector_hop {
		uint32_t node_id;
		uint64_t latency; // in the node's unit
	} of[HS_COLLECTOR_NODES];
};

void hs_collector_hops_note(struct hs_collector_hops *hops, const struct hs_collect_event *event);
void hs_collector_hops_fini(struct hs_collector_hops *hops);

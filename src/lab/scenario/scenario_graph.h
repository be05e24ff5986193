// SPDX-License-Identifier: BSD-3-Clause
// Nodes and cables as a graph: how many hops it is to a node, and whether there are cycles.
//
// Thread rule: owner.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HS_GRAPH_FAR UINT32_MAX

struct hs_graph;

// Cables between node indices; way 0 leads from [0] to [1]. All ways are up. 0 or -ENOMEM. destroy
// accepts NULL.
int hs_graph_create(uint32_t n_nodes, uint32_t n_cables, const uint32_t (*ends)[2],
		struct hs_graph **graph);
void hs_graph_destroy(struct hs_graph *graph);

void hs_graph_set_up(struct hs_graph *graph, uint32_t cable, unsigned way, bool up);

// Hops from each node to this one along ways that are up; HS_GRAPH_FAR where none lead there. hops
// has room for all nodes.
void hs_graph_distances(struct hs_graph *graph, uint32_t to, uint32_t *hops);

// The first cable, in their order, that closes a cycle with those before it, up or not;
// HS_GRAPH_FAR: there is none. 0 or -ENOMEM.
int hs_graph_cycle(const struct hs_graph *graph, uint32_t *cable);

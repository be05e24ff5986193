// SPDX-License-Identifier: BSD-3-Clause
// A scenario's nodes and links as a graph: how many hops it is to a node, and whether there are
// cycles.
//
// Thread rule: owner.
#pragma once

#include "scenario.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_GRAPH_FAR UINT32_MAX

struct hs_graph;

// Way 0 of a link leads from `from` to `to`. All ways are up. 0 or -ENOMEM. destroy accepts NULL.
int hs_graph_create(const struct hs_scenario *scenario, struct hs_graph **graph);
void hs_graph_destroy(struct hs_graph *graph);

void hs_graph_set_up(struct hs_graph *graph, uint32_t link, unsigned way, bool up);

// Hops from each node to this one along ways that are up; HS_GRAPH_FAR where none lead there. hops
// has room for all nodes.
void hs_graph_distances(struct hs_graph *graph, uint32_t to, uint32_t *hops);

// The first link, in their order, that closes a cycle with those before it, up or not;
// HS_GRAPH_FAR: there is none. 0 or -ENOMEM.
int hs_graph_cycle(const struct hs_graph *graph, uint32_t *link);

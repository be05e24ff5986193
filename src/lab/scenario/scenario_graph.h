// SPDX-License-Identifier: BSD-3-Clause
// A scenario's nodes and links as a graph: the number of hops to a node, and cycles.
//
// Thread rule: owner.
#pragma once

#include "scenario.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_GRAPH_FAR UINT32_MAX

struct hs_graph;

// Direction 0 of a link leads from `from` to `to`. All directions are up at first. Returns 0 or
// -ENOMEM. destroy accepts NULL.
int hs_graph_create(const struct hs_scenario *scenario, struct hs_graph **graph);
void hs_graph_destroy(struct hs_graph *graph);

void hs_graph_set_up(struct hs_graph *graph, uint32_t link, unsigned direction, bool up);

// Computes the hops from each node to this one along directions that are up, or HS_GRAPH_FAR if no
// path leads there. hops has room for all nodes.
void hs_graph_distances(struct hs_graph *graph, uint32_t to, uint32_t *hops);

// Finds the first link, in list order, that closes a cycle with the links before it, whether or not
// they are up; HS_GRAPH_FAR if there is none. Returns 0 or -ENOMEM.
int hs_graph_cycle(const struct hs_graph *graph, uint32_t *link);

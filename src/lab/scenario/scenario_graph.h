// SPDX-License-Identifier: BSD-3-Clause
// A scenario's nodes and links as a graph.
//
// Thread rule: any; values.
#pragma once

#include "scenario.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_GRAPH_FAR UINT32_MAX

// Computes the hops from each node to this one along directions of links that are up, or
// HS_GRAPH_FAR if no path leads there. Direction 0 of a link leads from `from` to `to`, and
// up[2 * link + direction] says whether a direction is up. hops has room for all nodes.
void hs_graph_distances(
		const struct hs_scenario *scenario, const bool *up, uint32_t to, uint32_t *hops);

// SPDX-License-Identifier: BSD-3-Clause
#include "scenario_graph.h"

// Shortens paths until no direction of a link shortens one. The list is walked in both orders in
// turn, because a path often follows the order of the list in one of them.
void hs_graph_distances(
		const struct hs_scenario *scenario, const bool *up, uint32_t to, uint32_t *hops)
{
	uint32_t n = 2 * (uint32_t)scenario->n_links;
	bool shortened = true;

	for (size_t node = 0; node < scenario->n_nodes; node++)
		hops[node] = HS_GRAPH_FAR;
	hops[to] = 0;
	for (bool backwards = false; shortened; backwards = !backwards) {
		shortened = false;
		for (uint32_t i = 0; i < n; i++) {
			uint32_t arc = backwards ? n - 1 - i : i;
			const struct hs_scenario_link *link = &scenario->links[arc / 2];
			uint32_t begin = arc % 2 ? link->to : link->from;
			uint32_t end = arc % 2 ? link->from : link->to;
			if (!up[arc] || hops[end] == HS_GRAPH_FAR || hops[begin] <= hops[end] + 1)
				continue;
			hops[begin] = hops[end] + 1;
			shortened = true;
		}
	}
}

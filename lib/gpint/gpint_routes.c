// SPDX-License-Identifier: BSD-3-Clause
#include "gpint_routes.h"

#define NO_WAY UINT64_MAX
#define SPARE  (UINT64_C(1) << 40) // more than any way without a spare link costs

static bool is_open(
		const struct hs_gpint_routes *routes, const struct hs_gpint_route *of, uint32_t arc)
{
	const struct hs_gpint_route *route = &of[hs_gpint_arc_from(routes, arc)];

	return routes->links[arc / 2].use != HS_GPINT_AVOIDED &&
	       (!route->fixed || (route->settled && route->now == arc));
}

static uint64_t cost_over(const struct hs_gpint_routes *routes, uint32_t arc, const uint64_t *costs)
{
	const struct hs_gpint_route_link *link = &routes->links[arc / 2];
	uint64_t behind = costs[hs_gpint_arc_to(routes, arc)];

	if (behind == NO_WAY)
		return NO_WAY;
	return behind + link->cost + (link->use == HS_GPINT_SPARE ? SPARE : 0);
}

static void find_costs(const struct hs_gpint_routes *routes, uint32_t to,
		const struct hs_gpint_route *of, uint64_t *costs)
{
	bool more = true;

	for (uint32_t i = 0; i < routes->n_nodes; i++)
		costs[i] = i == to ? 0 : NO_WAY;
	while (more) {
		more = false;
		for (uint32_t arc = 0; arc < 2 * routes->n_links; arc++) {
			uint64_t cost = cost_over(routes, arc, costs);
			uint32_t from = hs_gpint_arc_from(routes, arc);
			if (from == to || cost >= costs[from] || !is_open(routes, of, arc))
				continue;
			costs[from] = cost;
			more = true;
		}
	}
}

void hs_gpint_routes_find(const struct hs_gpint_routes *routes, uint32_t to,
		struct hs_gpint_route *of, uint64_t *costs)
{
	find_costs(routes, to, of, costs);
	for (uint32_t i = 0; i < routes->n_nodes; i++)
		of[i].next = HS_GPINT_NO_ARC;
	for (uint32_t arc = 0; arc < 2 * routes->n_links; arc++) {
		uint32_t from = hs_gpint_arc_from(routes, arc);
		struct hs_gpint_route *route = &of[from];
		bool cheapest = from != to && costs[from] != NO_WAY &&
				cost_over(routes, arc, costs) == costs[from] &&
				is_open(routes, of, arc);
		if (cheapest && (route->next == HS_GPINT_NO_ARC || route->now == arc))
			route->next = arc;
	}
}

static bool is_right(const struct hs_gpint_route *route)
{
	return route->settled && route->now == route->next;
}

bool hs_gpint_routes_is_due(const struct hs_gpint_routes *routes, uint32_t to,
		const struct hs_gpint_route *of, uint32_t node)
{
	const struct hs_gpint_route *route = &of[node];

	if (node == to || route->fixed || route->next == HS_GPINT_NO_ARC || is_right(route))
		return false;
	for (uint32_t at = hs_gpint_arc_to(routes, route->next); at != to;
			at = hs_gpint_arc_to(routes, of[at].next))
		if (of[at].next == HS_GPINT_NO_ARC || !is_right(&of[at]))
			return false;
	return true;
}

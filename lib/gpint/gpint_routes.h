// SPDX-License-Identifier: BSD-3-Clause
// Next hops of all nodes to one destination: the cheapest ways over the links that are used, and in
// which order nodes may be told, so that no packet goes round in a loop at any moment.
//
// The order: a node may be told a next hop if all nodes on the way from there to the destination
// have confirmed the next hops that they should have. The new way of the node then does not lead
// over the node itself, whatever the others still do. A node whose next hop is not known is on no
// confirmed way.
//
// Thread rule: owner.
#pragma once

#include "gpint_damping.h"

#define HS_GPINT_NO_ARC UINT32_MAX

// A link and its two arcs: arc 2i leads from the first end of link i to the second, arc 2i + 1
// back.
struct hs_gpint_route_link {
	uint32_t ends[2];
	uint32_t cost; // above 0, of either direction
	uint8_t use;   // enum hs_gpint_use
};

struct hs_gpint_route {
	uint32_t next; // the arc that the node should send by; HS_GPINT_NO_ARC: no way leads there
	uint32_t now;  // the arc that the node confirmed
	bool settled;  // the node has `now`, and has answered all that it was told
	bool fixed;    // the node can be told nothing and keeps its next hop
};

struct hs_gpint_routes {
	uint32_t n_nodes;
	size_t n_links;
	const struct hs_gpint_route_link *links; // borrowed
};

static inline uint32_t hs_gpint_arc_from(const struct hs_gpint_routes *routes, uint32_t arc)
{
	return routes->links[arc / 2].ends[arc % 2];
}

static inline uint32_t hs_gpint_arc_to(const struct hs_gpint_routes *routes, uint32_t arc)
{
	return routes->links[arc / 2].ends[1 - arc % 2];
}

// Computes `next` of every node; `of` has a route for each node. That of the destination itself has
// no meaning. A node keeps its way if no way costs less. `costs` has room for all nodes.
void hs_gpint_routes_find(const struct hs_gpint_routes *routes, uint32_t to,
		struct hs_gpint_route *of, uint64_t *costs);

// Returns whether a node has something to be told now.
bool hs_gpint_routes_is_due(const struct hs_gpint_routes *routes, uint32_t to,
		const struct hs_gpint_route *of, uint32_t node);

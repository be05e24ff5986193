// SPDX-License-Identifier: BSD-3-Clause
// Next hops of all nodes to one destination: the cheapest ways over the links that are used, and in
// which order nodes may be told, so that no packet goes round in a loop at any moment.
//
// The order: a node may be told a next hop whose whole way to the destination has been confirmed,
// by nodes that have what they should have. Its new way then does not lead over itself, whatever
// the others still do. Nodes of which is not known what they have are on no way that is confirmed.
//
// Thread rule: owner.
#pragma once

#include "gpint_health.h"

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
	uint32_t now;  // what it confirmed
	bool settled;  // it has `now`, and nothing that was told it is without an answer
	bool fixed;    // it can be told nothing: what it has stays
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

// Computes `next` of every node, of which each has one in `of`; that of the destination itself says
// nothing. Of ways of equal cost, a node keeps the one that it has. `costs` has room for all nodes.
void hs_gpint_routes_find(const struct hs_gpint_routes *routes, uint32_t to,
		struct hs_gpint_route *of, uint64_t *costs);

// Returns whether a node has something to be told now.
bool hs_gpint_routes_is_due(const struct hs_gpint_routes *routes, uint32_t to,
		const struct hs_gpint_route *of, uint32_t node);

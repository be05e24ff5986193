// SPDX-License-Identifier: BSD-3-Clause
// Paths of probes that visit every switch of a network.
//
// GPINT forms as many walks as the caller wants, ordered by the degrees of switches, and then lets
// walks exchange end points, segments and single switches, also so that walks overlap, as long as
// the sum of the squares of the lengths falls. This sum grows with unequal lengths and with
// overlaps. Then it makes short walks longer, or divides long ones, until the longest is at most
// 1.25 times the mean. Euler's paths are the baseline (INT-path): they cross each link once, by as
// few paths as the switches with an odd number of links allow.
//
// Each path brings the values of each of its switches once, at its first visit, so that switches on
// several paths are measured several times. A probe is largest at its end; there it has lost all
// source-routing entries. Of parallel links, a path takes one that no path takes yet, and of
// these the one by the lowest port; so Euler's paths cross each of them. The same input
// gives the same plan on any machine.
//
// Source: 002_e7f573228cf2597b.txt sections III-A and III-B. The paper leaves the formal method to
// an earlier paper; the measure of a gain, and how balance is enforced, are ours.
// Thread rule: any.
#pragma once

#include "error.h"
#include "gpint_graph.h"

// A source-routing entry.
struct hs_gpint_hop {
	uint32_t at;	    // the switch that consumes the entry
	uint8_t next_port;  // 0 in the last entry: the probe goes to the monitor by the routes
	uint8_t first, end; // indices of the values that the switch adds: [first, end)
};

struct hs_gpint_path {
	uint32_t n_hops;
	uint32_t bytes; // of the IP packet at the end of the path
	const struct hs_gpint_hop *hops;
};

struct hs_gpint_wish {
	uint32_t paths; // 1 or more. A plan has more if probes would be too large or too unequal
	uint32_t mtu;	// bytes of an IP packet
	uint64_t seed;
	uint32_t way_bytes; // of the packet beside those of its path: the plan leaves room for them
};

struct hs_gpint_plan {
	uint32_t n_paths, n_switches;
	struct hs_gpint_path *paths;
	struct hs_gpint_hop *hops; // of all paths
	uint32_t min_hops, max_hops;
	uint64_t sum_hops;
	uint32_t covered;	// switches that a path visits
	uint32_t covered_links; // links that a path crosses
	uint64_t overlap;	// visits of switches that were visited before
	uint32_t max_bytes;
};

// Both functions plan paths. They return 0, -ENOMEM, or -EINVAL with *err, whose path is
// "switches", "links[3]", "paths" or "mtu": a switch that no way leads to, a link that leads
// nowhere, more paths than switches, a switch whose values do not fit into a probe. fini accepts a
// zeroed plan.
int hs_gpint_plan(const struct hs_gpint_graph *graph, const struct hs_gpint_wish *wish,
		struct hs_gpint_plan *plan, struct hs_error *err);
// Ignores the number of paths and the seed of the wish. A path that would be too large is divided
// at a switch.
int hs_gpint_euler(const struct hs_gpint_graph *graph, const struct hs_gpint_wish *wish,
		struct hs_gpint_plan *plan, struct hs_error *err);
void hs_gpint_plan_fini(struct hs_gpint_plan *plan);

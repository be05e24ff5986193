// SPDX-License-Identifier: BSD-3-Clause
// Random networks between a ring and chaos.
//
// Source: Watts, Strogatz, Collective dynamics of 'small-world' networks (Nature 393, 1998). Each
// of n nodes has links to its k nearest neighbours on a ring. Each link then leads to another node,
// drawn at random, with probability beta. Ours differs in two points: a link stays where the
// network would fall apart without it, and a node has no more than `most` links.
//
// Thread rule: any.
#pragma once

#include <stdint.h>

struct hs_small_world {
	uint32_t n;    // nodes, above k
	uint32_t k;    // even
	uint32_t most; // links of a node, k or more
	double beta;   // 0 to 1
	uint64_t seed;
};

// Writes the ends of n * k / 2 links, of which no two have the same ends. The network is connected.
// The same numbers give the same links on any machine. Returns 0 or -ENOMEM.
int hs_small_world_make(const struct hs_small_world *world, uint32_t (*links)[2]);

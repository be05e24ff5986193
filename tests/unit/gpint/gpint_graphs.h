// SPDX-License-Identifier: BSD-3-Clause
// Random graphs for tests of lib/gpint.
#pragma once

#include "gpint_graph.h"
#include "rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

#define GRAPH_LINKS 16384

struct test_graph {
	struct hs_gpint_graph graph;
	struct hs_gpint_link links[GRAPH_LINKS];
	uint8_t values[HS_GPINT_SWITCHES];
	uint8_t ports[HS_GPINT_SWITCHES]; // of each switch, so far
};

// Joins two switches by the next port of each; ports count from 1.
void graph_join(struct test_graph *graph, uint32_t a, uint32_t b);
void graph_begin(struct test_graph *graph, uint32_t n_switches);

// Makes a tree, in which a switch hangs on one of the last `reach` switches, and some more links.
void graph_tree(struct test_graph *graph, struct hs_rng *rng, uint32_t reach, uint32_t more);

// A connected graph of one of several shapes: trees, stars, lines, rings, grids, dense graphs,
// small worlds. Switches have up to `values` values.
void graph_random(struct test_graph *graph, struct hs_rng *rng, uint32_t most, uint32_t values);
// A small world: each switch has k neighbours, and a link leads elsewhere with probability 1 in
// `one_of`.
void graph_small_world(struct test_graph *graph, struct hs_rng *rng, uint32_t n, uint32_t k,
		uint32_t one_of);

// Returns the switch to which a port leads.
uint32_t graph_behind(const struct test_graph *graph, uint32_t at, uint8_t port);

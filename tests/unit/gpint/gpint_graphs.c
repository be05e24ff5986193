// SPDX-License-Identifier: BSD-3-Clause
#include "gpint_graphs.h"

#include "variate.h"

#include <string.h>

void graph_begin(struct test_graph *graph, uint32_t n_switches)
{
	memset(graph, 0, sizeof(*graph));
	graph->graph = (struct hs_gpint_graph){
			.n_switches = n_switches, .links = graph->links, .values = graph->values};
}

void graph_join(struct test_graph *graph, uint32_t a, uint32_t b)
{
	assert_true(graph->graph.n_links < GRAPH_LINKS);
	assert_true(graph->ports[a] < UINT8_MAX && graph->ports[b] < UINT8_MAX);
	graph->links[graph->graph.n_links++] =
			(struct hs_gpint_link){{a, b}, {++graph->ports[a], ++graph->ports[b]}};
}

uint32_t graph_behind(const struct test_graph *graph, uint32_t at, uint8_t port)
{
	for (size_t i = 0; i < graph->graph.n_links; i++)
		for (unsigned end = 0; end < 2; end++)
			if (graph->links[i].ends[end] == at && graph->links[i].ports[end] == port)
				return graph->links[i].ends[!end];
	fail_msg("switch %u has no port %u", at, port);
	return 0;
}

static uint32_t below(struct hs_rng *rng, uint32_t n)
{
	return (uint32_t)hs_variate_below(rng, n);
}

void graph_tree(struct test_graph *graph, struct hs_rng *rng, uint32_t reach, uint32_t more)
{
	uint32_t n = graph->graph.n_switches;

	for (uint32_t at = 1; at < n; at++)
		graph_join(graph, at, at - 1 - below(rng, reach < at ? reach : at));
	for (uint32_t i = 0; i < more && n > 1; i++) {
		uint32_t a = below(rng, n), b = below(rng, n);
		if (a != b && graph->ports[a] < 200 && graph->ports[b] < 200)
			graph_join(graph, a, b);
	}
}

static void make_grid(struct test_graph *graph, uint32_t width)
{
	for (uint32_t at = 1; at < graph->graph.n_switches; at++) {
		if (at % width)
			graph_join(graph, at, at - 1);
		if (at >= width)
			graph_join(graph, at, at - width);
	}
}

void graph_small_world(struct test_graph *graph, struct hs_rng *rng, uint32_t n, uint32_t k,
		uint32_t one_of)
{
	graph_begin(graph, n);
	for (uint32_t at = 0; at < n; at++)
		for (uint32_t far = 1; far <= k / 2; far++) {
			uint32_t to = (at + far) % n;
			if (far > 1 && below(rng, one_of) == 0)
				to = below(rng, n);
			if (to != at)
				graph_join(graph, at, to);
		}
}

void graph_random(struct test_graph *graph, struct hs_rng *rng, uint32_t most, uint32_t values)
{
	uint32_t n = 1 + below(rng, most);

	graph_begin(graph, n);
	switch (below(rng, 7)) {
	case 0:
		graph_tree(graph, rng, n, 0);
		break;
	case 1: // a star
		for (uint32_t at = 1; at < n; at++)
			graph_join(graph, 0, at);
		break;
	case 2: // a line, with or without a few loops
		graph_tree(graph, rng, 1, below(rng, 3));
		break;
	case 3:
		make_grid(graph, 1 + below(rng, n));
		break;
	case 4: // dense; parallel links too
		graph_tree(graph, rng, n, 4 * n);
		break;
	case 5:
		graph_tree(graph, rng, 3, n / 2);
		break;
	default:
		if (n > 4)
			graph_small_world(graph, rng, n, 4, 10);
		else
			graph_tree(graph, rng, n, 1);
	}
	for (uint32_t at = 0; at < n; at++)
		graph->values[at] = (uint8_t)below(rng, values + 1);
}

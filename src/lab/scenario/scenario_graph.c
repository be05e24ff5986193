// SPDX-License-Identifier: BSD-3-Clause
#include "scenario_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hs_graph {
	uint32_t n_nodes, n_cables;
	uint32_t (*ends)[2];
	bool (*up)[2];	    // [cable][way]
	uint32_t *first;    // of each node in `incoming`; one more for the end
	uint32_t *incoming; // cable * 2 + way, of the ways that lead to the node
	uint32_t *queue;
};

static void index_ways(struct hs_graph *graph)
{
	uint32_t n_ways = 2 * graph->n_cables;

	for (uint32_t way = 0; way < n_ways; way++)
		graph->first[graph->ends[way / 2][1 - way % 2] + 1]++;
	for (uint32_t node = 0; node < graph->n_nodes; node++)
		graph->first[node + 1] += graph->first[node];
	memcpy(graph->queue, graph->first, graph->n_nodes * sizeof(*graph->queue));
	for (uint32_t way = 0; way < n_ways; way++)
		graph->incoming[graph->queue[graph->ends[way / 2][1 - way % 2]]++] = way;
}

int hs_graph_create(uint32_t n_nodes, uint32_t n_cables, const uint32_t (*ends)[2],
		struct hs_graph **graph)
{
	struct hs_graph *made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;

	made->n_nodes = n_nodes;
	made->n_cables = n_cables;
	made->ends = calloc(n_cables + 1, sizeof(*made->ends));
	made->up = calloc(n_cables + 1, sizeof(*made->up));
	made->first = calloc(n_nodes + 1, sizeof(*made->first));
	made->incoming = calloc(2 * (size_t)n_cables + 1, sizeof(*made->incoming));
	made->queue = calloc(n_nodes + 1, sizeof(*made->queue));
	if (!made->ends || !made->up || !made->first || !made->incoming || !made->queue) {
		hs_graph_destroy(made);
		return -ENOMEM;
	}
	if (n_cables)
		memcpy(made->ends, ends, n_cables * sizeof(*ends));
	for (uint32_t cable = 0; cable < n_cables; cable++)
		made->up[cable][0] = made->up[cable][1] = true;
	index_ways(made);
	*graph = made;
	return 0;
}

void hs_graph_destroy(struct hs_graph *graph)
{
	if (!graph)
		return;
	free(graph->ends);
	free(graph->up);
	free(graph->first);
	free(graph->incoming);
	free(graph->queue);
	free(graph);
}

void hs_graph_set_up(struct hs_graph *graph, uint32_t cable, unsigned way, bool up)
{
	graph->up[cable][way] = up;
}

void hs_graph_distances(struct hs_graph *graph, uint32_t to, uint32_t *hops)
{
	uint32_t begin = 0, end = 0;

	for (uint32_t node = 0; node < graph->n_nodes; node++)
		hops[node] = HS_GRAPH_FAR;
	hops[to] = 0;
	graph->queue[end++] = to;
	while (begin < end) {
		uint32_t node = graph->queue[begin++];
		for (uint32_t i = graph->first[node]; i < graph->first[node + 1]; i++) {
			uint32_t cable = graph->incoming[i] / 2, way = graph->incoming[i] % 2;
			uint32_t before = graph->ends[cable][way];
			if (!graph->up[cable][way] || hops[before] != HS_GRAPH_FAR)
				continue;
			hops[before] = hops[node] + 1;
			graph->queue[end++] = before;
		}
	}
}

static uint32_t root_of(uint32_t *parents, uint32_t node)
{
	while (parents[node] != node) {
		parents[node] = parents[parents[node]];
		node = parents[node];
	}
	return node;
}

int hs_graph_cycle(const struct hs_graph *graph, uint32_t *cable)
{
	uint32_t *parents = malloc((graph->n_nodes + 1) * sizeof(*parents));
	if (!parents)
		return -ENOMEM;

	for (uint32_t node = 0; node < graph->n_nodes; node++)
		parents[node] = node;
	*cable = HS_GRAPH_FAR;
	for (uint32_t i = 0; i < graph->n_cables && *cable == HS_GRAPH_FAR; i++) {
		uint32_t a = root_of(parents, graph->ends[i][0]);
		uint32_t b = root_of(parents, graph->ends[i][1]);
		if (a == b)
			*cable = i;
		parents[a] = b;
	}
	free(parents);
	return 0;
}

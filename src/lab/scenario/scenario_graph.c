// SPDX-License-Identifier: BSD-3-Clause
#include "scenario_graph.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct hs_graph {
	const struct hs_scenario_link *links;
	uint32_t n_nodes, n_links;
	bool (*up)[2];	    // [link][way]
	uint32_t *first;    // index in `incoming` for each node, and one more for the end
	uint32_t *incoming; // link * 2 + direction, of the directions that lead to the node
	uint32_t *queue;
};

static uint32_t end_of(const struct hs_graph *graph, uint32_t way)
{
	const struct hs_scenario_link *link = &graph->links[way / 2];
	return way % 2 ? link->from : link->to;
}

static void index_ways(struct hs_graph *graph)
{
	for (uint32_t way = 0; way < 2 * graph->n_links; way++)
		graph->first[end_of(graph, way) + 1]++;
	for (uint32_t node = 0; node < graph->n_nodes; node++)
		graph->first[node + 1] += graph->first[node];
	memcpy(graph->queue, graph->first, graph->n_nodes * sizeof(*graph->queue));
	for (uint32_t way = 0; way < 2 * graph->n_links; way++)
		graph->incoming[graph->queue[end_of(graph, way)]++] = way;
}

int hs_graph_create(const struct hs_scenario *scenario, struct hs_graph **graph)
{
	struct hs_graph *made = calloc(1, sizeof(*made));
	if (!made)
		return -ENOMEM;
	made->links = scenario->links;
	made->n_nodes = (uint32_t)scenario->n_nodes;
	made->n_links = (uint32_t)scenario->n_links;
	made->up = calloc(scenario->n_links + 1, sizeof(*made->up));
	made->first = calloc(scenario->n_nodes + 1, sizeof(*made->first));
	made->incoming = calloc(2 * scenario->n_links + 1, sizeof(*made->incoming));
	made->queue = calloc(scenario->n_nodes + 1, sizeof(*made->queue));
	if (!made->up || !made->first || !made->incoming || !made->queue) {
		hs_graph_destroy(made);
		return -ENOMEM;
	}
	for (uint32_t link = 0; link < made->n_links; link++)
		made->up[link][0] = made->up[link][1] = true;
	index_ways(made);
	*graph = made;
	return 0;
}

void hs_graph_destroy(struct hs_graph *graph)
{
	if (!graph)
		return;
	free(graph->up);
	free(graph->first);
	free(graph->incoming);
	free(graph->queue);
	free(graph);
}

void hs_graph_set_up(struct hs_graph *graph, uint32_t link, unsigned way, bool up)
{
	graph->up[link][way] = up;
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
			uint32_t link = graph->incoming[i] / 2, way = graph->incoming[i] % 2;
			uint32_t before = end_of(graph, 2 * link + 1 - way);
			if (!graph->up[link][way] || hops[before] != HS_GRAPH_FAR)
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

int hs_graph_cycle(const struct hs_graph *graph, uint32_t *link)
{
	uint32_t *parents = malloc((graph->n_nodes + 1) * sizeof(*parents));
	if (!parents)
		return -ENOMEM;

	for (uint32_t node = 0; node < graph->n_nodes; node++)
		parents[node] = node;
	*link = HS_GRAPH_FAR;
	for (uint32_t i = 0; i < graph->n_links && *link == HS_GRAPH_FAR; i++) {
		uint32_t a = root_of(parents, graph->links[i].from);
		uint32_t b = root_of(parents, graph->links[i].to);
		if (a == b)
			*link = i;
		parents[a] = b;
	}
	free(parents);
	return 0;
}

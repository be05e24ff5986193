// SPDX-License-Identifier: BSD-3-Clause
#include "scenario_graph.h"

#include <errno.h>
#include <stdlib.h>

// An arc is one direction of a link: 2 * link + direction.
struct hs_graph {
	const struct hs_scenario_link *links;
	uint32_t n_nodes, n_links;
	bool *up;	 // [arc]
	uint32_t *first; // [node]: an arc that leads to the node, or HS_GRAPH_FAR
	uint32_t *next;	 // [arc]: another arc to the same node, or HS_GRAPH_FAR
	uint32_t *queue;
};

static uint32_t end_of(const struct hs_graph *graph, uint32_t arc)
{
	const struct hs_scenario_link *link = &graph->links[arc / 2];
	return arc % 2 ? link->from : link->to;
}

int hs_graph_create(const struct hs_scenario *scenario, struct hs_graph **graph)
{
	uint32_t n_nodes = (uint32_t)scenario->n_nodes, n_links = (uint32_t)scenario->n_links;
	struct hs_graph *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	*made = (struct hs_graph){scenario->links, n_nodes, n_links};
	made->up = calloc(2 * n_links + 1, sizeof(*made->up));
	made->first = calloc(n_nodes + 1, sizeof(*made->first));
	made->next = calloc(2 * n_links + 1, sizeof(*made->next));
	made->queue = calloc(n_nodes + 1, sizeof(*made->queue));
	if (!made->up || !made->first || !made->next || !made->queue) {
		hs_graph_destroy(made);
		return -ENOMEM;
	}
	for (uint32_t node = 0; node < n_nodes; node++)
		made->first[node] = HS_GRAPH_FAR;
	for (uint32_t arc = 0; arc < 2 * n_links; arc++) {
		uint32_t *first = &made->first[end_of(made, arc)];
		made->up[arc] = true;
		made->next[arc] = *first;
		*first = arc;
	}
	*graph = made;
	return 0;
}

void hs_graph_destroy(struct hs_graph *graph)
{
	if (!graph)
		return;
	free(graph->up);
	free(graph->first);
	free(graph->next);
	free(graph->queue);
	free(graph);
}

void hs_graph_set_up(struct hs_graph *graph, uint32_t link, unsigned direction, bool up)
{
	graph->up[2 * link + direction] = up;
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
		for (uint32_t arc = graph->first[node]; arc != HS_GRAPH_FAR;
				arc = graph->next[arc]) {
			uint32_t before = end_of(graph, arc ^ 1);
			if (!graph->up[arc] || hops[before] != HS_GRAPH_FAR)
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

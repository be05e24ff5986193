// SPDX-License-Identifier: BSD-3-Clause
#include "scenario_graph.h"

#include <errno.h>
#include <stdlib.h>

int hs_scenario_graph_init(struct hs_scenario_graph *graph, const struct hs_scenario *s)
{
	*graph = (struct hs_scenario_graph){
			.links = calloc(s->n_links + 1, sizeof(*graph->links)),
			.names = calloc(s->n_nodes, sizeof(*graph->names)),
			.values = calloc(s->n_nodes, sizeof(*graph->values)),
	};
	if (!graph->links || !graph->names || !graph->values)
		return -ENOMEM;
	for (size_t i = 0; i < s->n_links; i++) {
		uint32_t from = s->links[i].from, to = s->links[i].to;
		graph->links[i] = (struct hs_gpint_link){
				{from, to}, {++graph->values[from], ++graph->values[to]}};
	}
	for (size_t i = 0; i < s->n_nodes; i++) {
		graph->names[i] = s->nodes[i].name;
		graph->values[i] = (uint8_t)(graph->values[i] + s->nodes[i].n_hosts);
	}
	graph->graph = (struct hs_gpint_graph){.n_switches = (uint32_t)s->n_nodes,
			.n_links = s->n_links,
			.links = graph->links,
			.values = graph->values,
			.names = graph->names};
	return 0;
}

void hs_scenario_graph_fini(struct hs_scenario_graph *graph)
{
	free(graph->links);
	free(graph->names);
	free(graph->values);
}

uint32_t hs_scenario_graph_paths(const struct hs_scenario *s)
{
	uint32_t n = (uint32_t)s->n_nodes;

	return n < 7 ? 1 + n / 4 : 3 * n / 10;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "gpint_net.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *hs_gpint_net_name(
		const struct hs_gpint_graph *graph, uint32_t at, char text[HS_GPINT_NAME])
{
	if (graph->names)
		snprintf(text, HS_GPINT_NAME, "%s", graph->names[at]);
	else
		snprintf(text, HS_GPINT_NAME, "%u", at);
	return text;
}

static int check_link(const struct hs_gpint_graph *graph, size_t index, struct hs_error *err)
{
	const struct hs_gpint_link *link = &graph->links[index];
	char path[40], name[HS_GPINT_NAME];

	snprintf(path, sizeof(path), "links[%zu]", index);
	for (unsigned i = 0; i < 2; i++)
		if (link->ends[i] >= graph->n_switches)
			return hs_error_set(err, "out_of_range", path, "two nodes of the graph",
					"there is no node %u", link->ends[i]);
	if (!link->ports[0] || !link->ports[1])
		return hs_error_set(err, "out_of_range", path, "ports from 1 to 255",
				"a link is at port 0, which stands for the monitor");
	if (link->ends[0] == link->ends[1])
		return hs_error_set(err, "bad_value", path, "two nodes",
				"the link leads from node %s to itself",
				hs_gpint_net_name(graph, link->ends[0], name));
	return 0;
}

static int check(const struct hs_gpint_graph *graph, struct hs_error *err)
{
	int rc = 0;

	if (!graph->n_switches || graph->n_switches > HS_GPINT_SWITCHES)
		return hs_error_set(err, "out_of_range", "switches", "1 to 32767",
				"the network has %u nodes", graph->n_switches);
	for (size_t i = 0; i < graph->n_links && rc == 0; i++)
		rc = check_link(graph, i, err);
	return rc;
}

static int compare(const void *a, const void *b)
{
	const struct hs_gpint_arc *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	if (x->port != y->port)
		return x->port < y->port ? -1 : 1;
	return x->link < y->link ? -1 : x->link > y->link;
}

// Fills the arcs by a counting sort. begins[at + 1] first counts the arcs of a switch, then is the
// place behind its next arc.
static void fill(struct hs_gpint_net *net)
{
	const struct hs_gpint_graph *graph = net->graph;

	for (size_t i = 0; i < 2 * graph->n_links; i++)
		net->begins[graph->links[i / 2].ends[i % 2] + 1]++;
	for (uint32_t at = 0; at < net->n; at++)
		net->begins[at + 1] += net->begins[at];
	for (size_t i = 2 * graph->n_links; i > 0; i--) {
		const struct hs_gpint_link *link = &graph->links[(i - 1) / 2];
		unsigned end = (i - 1) % 2;
		net->arcs[--net->begins[link->ends[end] + 1]] =
				(struct hs_gpint_arc){.to = link->ends[!end],
						.link = (uint32_t)((i - 1) / 2),
						.port = link->ports[end]};
	}
	memmove(net->begins, net->begins + 1, net->n * sizeof(*net->begins));
	net->begins[net->n] = (uint32_t)(2 * graph->n_links);
	for (uint32_t at = 0; at < net->n; at++)
		qsort(net->arcs + net->begins[at], hs_gpint_net_degree(net, at), sizeof(*net->arcs),
				compare);
}

void hs_gpint_net_ways(const struct hs_gpint_net *net, uint32_t from, uint32_t *before,
		uint32_t *hops, uint32_t *queue)
{
	uint32_t n = 0;

	memset(before, 0xff, net->n * sizeof(*before));
	memset(hops, 0xff, net->n * sizeof(*hops));
	before[from] = from;
	hops[from] = 0;
	queue[n++] = from;
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t a = net->begins[queue[i]]; a < net->begins[queue[i] + 1]; a++) {
			uint32_t to = net->arcs[a].to;
			if (before[to] != HS_GPINT_NONE)
				continue;
			before[to] = queue[i];
			hops[to] = hops[queue[i]] + 1;
			queue[n++] = to;
		}
}

static int check_connected(const struct hs_gpint_net *net, struct hs_error *err)
{
	uint32_t *room = malloc(3 * (size_t)net->n * sizeof(*room)), *before = room;
	char name[HS_GPINT_NAME], first[HS_GPINT_NAME];
	int rc = 0;

	if (!room)
		return -ENOMEM;
	hs_gpint_net_ways(net, 0, before, room + net->n, room + 2 * (size_t)net->n);
	for (uint32_t at = 0; at < net->n && rc == 0; at++)
		if (before[at] == HS_GPINT_NONE)
			rc = hs_error_set(err, "unreachable", "switches",
					"a way between any two nodes",
					"no way leads from node %s to node %s",
					hs_gpint_net_name(net->graph, 0, first),
					hs_gpint_net_name(net->graph, at, name));
	free(room);
	return rc;
}

int hs_gpint_net_init(
		struct hs_gpint_net *net, const struct hs_gpint_graph *graph, struct hs_error *err)
{
	*net = (struct hs_gpint_net){.graph = graph, .n = graph->n_switches};
	if (check(graph, err) < 0)
		return -EINVAL;
	net->begins = calloc((size_t)net->n + 1, sizeof(*net->begins));
	net->arcs = calloc(2 * graph->n_links + 1, sizeof(*net->arcs));
	if (!net->begins || !net->arcs)
		return -ENOMEM;
	fill(net);
	return check_connected(net, err);
}

void hs_gpint_net_fini(struct hs_gpint_net *net)
{
	free(net->begins);
	free(net->arcs);
}

const struct hs_gpint_arc *hs_gpint_net_find(
		const struct hs_gpint_net *net, uint32_t from, uint32_t to)
{
	uint32_t low = net->begins[from], high = net->begins[from + 1];

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (net->arcs[middle].to < to)
			low = middle + 1;
		else
			high = middle;
	}
	return low < net->begins[from + 1] && net->arcs[low].to == to ? &net->arcs[low] : NULL;
}

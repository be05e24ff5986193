// SPDX-License-Identifier: BSD-3-Clause
// Checks that concern several sections of a scenario: ports, paths, addresses and rules.
#include "scenario_graph.h"
#include "scenario_parts.h"

#include "port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE_IDS 65536

// Writes "nodes[3]" or "links[3].from", or the topology that made the item.
static void place(const struct hs_scenario_draft *draft, const char *list, size_t index,
		const char *key, char path[64])
{
	if (draft->topology)
		snprintf(path, 64, "topology");
	else
		snprintf(path, 64, "%s[%zu]%s%s", list, index, key ? "." : "", key ? key : "");
}

// ---- nodes ----

struct ports {
	unsigned links, hosts;
};

static struct ports *count_ports(const struct hs_scenario *scenario, struct hs_error *err)
{
	struct ports *ports = hs_scenario_room(scenario->n_nodes, sizeof(*ports), err);

	for (size_t i = 0; ports && i < scenario->n_links; i++) {
		ports[scenario->links[i].from].links++;
		ports[scenario->links[i].to].links++;
	}
	for (size_t i = 0; ports && i < scenario->n_hosts; i++)
		ports[scenario->hosts[i].at].hosts++;
	return ports;
}

static int check_ports(const struct hs_scenario_draft *draft, const struct ports *ports,
		struct hs_error *err)
{
	const struct hs_scenario *scenario = &draft->scenario;
	char at[64];

	for (size_t i = 0; i < scenario->n_nodes; i++) {
		unsigned n = ports[i].links + ports[i].hosts;
		place(draft, "nodes", i, NULL, at);
		if (n > HS_MAX_PORTS)
			return hs_error_set(err, "out_of_range", at, "at most 32 ports",
					"node \"%s\" has %u links and %u hosts",
					scenario->nodes[i].name, ports[i].links, ports[i].hosts);
		if (scenario->forwarding == HS_LAB_PATCH && n != 2)
			return hs_error_set(err, "out_of_range", at,
					"two ports where forwarding is patch",
					"node \"%s\" has %u links and %u hosts",
					scenario->nodes[i].name, ports[i].links, ports[i].hosts);
	}
	return 0;
}

// Reports identify nodes by their ids. Nodes at the ends of a path need no id.
static int check_ids(const struct hs_scenario_draft *draft, const struct ports *ports,
		struct hs_error *err)
{
	const struct hs_scenario *scenario = &draft->scenario;
	uint32_t *owners = hs_scenario_room(NODE_IDS, sizeof(*owners), err);
	char at[64];
	int rc = owners ? 0 : -ENOMEM;

	for (size_t i = 0; i < scenario->n_nodes && rc == 0; i++) {
		uint16_t id = scenario->nodes[i].id;
		uint32_t other = owners[id]; // counted from 1
		owners[id] = (uint32_t)i + 1;
		if (!other || (id == 0 && ports[i].links < 2 && ports[other - 1].links < 2))
			continue;
		place(draft, "nodes", i, "id", at);
		rc = hs_error_set(err, "duplicate", at,
				"an id of its own; 0 may be that of all nodes with one link",
				"node \"%s\" has the id %u too", scenario->nodes[other - 1].name,
				id);
	}
	free(owners);
	return rc;
}

// ---- addresses ----

static int compare_hosts(const void *left, const void *right)
{
	const struct hs_scenario_host *const *a = left, *const *b = right;
	int order = memcmp((*a)->addr, (*b)->addr, sizeof((*a)->addr));
	return order ? order : (*a < *b ? -1 : 1);
}

static int check_addresses(const struct hs_scenario_draft *draft, struct hs_error *err)
{
	const struct hs_scenario *scenario = &draft->scenario;
	const struct hs_scenario_host **hosts =
			hs_scenario_room(scenario->n_hosts, sizeof(*hosts), err);
	char at[64];
	int rc = hosts ? 0 : -ENOMEM;

	for (size_t i = 0; hosts && i < scenario->n_hosts; i++)
		hosts[i] = &scenario->hosts[i];
	if (hosts)
		qsort(hosts, scenario->n_hosts, sizeof(*hosts), compare_hosts);
	for (size_t i = 1; i < scenario->n_hosts && rc == 0; i++) {
		const struct hs_scenario_host *first = hosts[i - 1], *second = hosts[i];
		if (memcmp(first->addr, second->addr, sizeof(first->addr)) != 0)
			continue;
		// A host that traffic created is not in the file.
		const struct hs_scenario_host *said = second->implicit ? first : second;
		place(draft, "hosts", (size_t)(said - scenario->hosts), "addr", at);
		rc = hs_error_set(err, "duplicate", at, "an address of its own",
				"host \"%s\" has this address too",
				said == first ? second->name : first->name);
	}
	free(hosts);
	return rc;
}

// ---- paths ----

static int make_graph(
		const struct hs_scenario *scenario, struct hs_graph **graph, struct hs_error *err)
{
	int rc = hs_graph_create(scenario, graph);
	if (rc < 0)
		return hs_scenario_no_memory(err);
	// In other modes there is only one path, and packets into a link that is down are lost.
	for (uint32_t i = 0; i < scenario->n_links; i++)
		for (unsigned way = 0; way < 2; way++)
			if (scenario->forwarding == HS_LAB_SHORTEST_PATH)
				hs_graph_set_up(*graph, i, way, !scenario->links[i].ways[way].down);
	return 0;
}

static int check_cycles(const struct hs_scenario_draft *draft, const struct hs_graph *graph,
		struct hs_error *err)
{
	uint32_t link;
	char at[64];

	if (draft->scenario.forwarding != HS_LAB_BRIDGE)
		return 0;
	if (hs_graph_cycle(graph, &link) < 0)
		return hs_scenario_no_memory(err);
	if (link == HS_GRAPH_FAR)
		return 0;
	place(draft, "links", draft->link_entries[link], NULL, at);
	return hs_error_set(err, "cycle", at, "no cycles where forwarding is bridge",
			"link \"%s\" closes a cycle, in which frames would go round for ever",
			draft->scenario.links[link].name);
}

struct reach {
	struct hs_graph *graph;
	size_t n_nodes;
	bool *known;	// [to]
	uint32_t *hops; // [to][from]
};

static bool leads(struct reach *reach, uint32_t from, uint32_t to)
{
	uint32_t *hops = &reach->hops[to * reach->n_nodes];
	if (!reach->known[to])
		hs_graph_distances(reach->graph, to, hops);
	reach->known[to] = true;
	return hops[from] != HS_GRAPH_FAR;
}

static int check_ways(
		const struct hs_scenario_draft *draft, struct reach *reach, struct hs_error *err)
{
	const struct hs_scenario *scenario = &draft->scenario;
	char at[64];

	for (size_t i = 0; i < scenario->n_traffic; i++) {
		const struct hs_scenario_traffic *traffic = &scenario->traffic[i];
		const uint32_t ends[] = {
				scenario->hosts[traffic->from].at, scenario->hosts[traffic->to].at};
		bool replies = traffic->kind == HS_TRAFFIC_PING ||
			       traffic->kind == HS_TRAFFIC_WINDOW;
		for (unsigned way = 0; way < (replies ? 2 : 1); way++) {
			uint32_t from = ends[way], to = ends[1 - way];
			if (leads(reach, from, to))
				continue;
			snprintf(at, sizeof(at), "traffic[%zu].to", draft->traffic_entries[i]);
			return hs_error_set(err, "unreachable", at, "a way along links that are up",
					"no way leads from node \"%s\" to node \"%s\"",
					scenario->nodes[from].name, scenario->nodes[to].name);
		}
	}
	return 0;
}

static int check_graph(const struct hs_scenario_draft *draft, struct hs_error *err)
{
	size_t n = draft->scenario.n_nodes;
	struct reach reach = {.n_nodes = n};
	int rc = make_graph(&draft->scenario, &reach.graph, err);

	if (rc < 0)
		return rc;
	reach.known = hs_scenario_room(n, sizeof(*reach.known), err);
	reach.hops = hs_scenario_room(n * n, sizeof(*reach.hops), err);
	if (!reach.known || !reach.hops)
		rc = -ENOMEM;
	if (rc == 0)
		rc = check_cycles(draft, reach.graph, err);
	if (rc == 0)
		rc = check_ways(draft, &reach, err);
	free(reach.known);
	free(reach.hops);
	hs_graph_destroy(reach.graph);
	return rc;
}

int hs_scenario_check_network(struct hs_scenario_draft *draft, struct hs_error *err)
{
	struct ports *ports = count_ports(&draft->scenario, err);
	int rc = ports ? check_ports(draft, ports, err) : -ENOMEM;

	if (rc == 0)
		rc = check_ids(draft, ports, err);
	free(ports);
	if (rc == 0)
		rc = check_addresses(draft, err);
	return rc ? rc : check_graph(draft, err);
}

// SPDX-License-Identifier: BSD-3-Clause
// Checks that concern several sections of a scenario: ports, paths, addresses and rules.
#include "scenario_graph.h"
#include "scenario_draft.h"

#include "port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODE_IDS 65536

// Lets errors point to an item of an earlier list, or to the topology that made it. Returns the
// key, or NULL for a topology.
static const char *point_to(struct hs_draft *draft, const char *list, size_t index, const char *key,
		char path[48])
{
	snprintf(path, 48, draft->topology.k ? "topology" : "%s[%zu]", list, index);
	draft->item.path = path;
	return draft->topology.k ? NULL : key;
}

// ---- nodes ----

struct ports {
	unsigned links, hosts;
};

static struct ports *count_ports(const struct hs_draft *draft)
{
	const struct hs_scenario *scenario = &draft->scenario;
	struct ports *ports = hs_draft_room(draft, scenario->n_nodes, sizeof(*ports));

	for (size_t i = 0; ports && i < scenario->n_links; i++) {
		ports[scenario->links[i].from].links++;
		ports[scenario->links[i].to].links++;
	}
	for (size_t i = 0; ports && i < scenario->n_hosts; i++)
		ports[scenario->hosts[i].at].hosts++;
	return ports;
}

static int check_ports(struct hs_draft *draft, const struct ports *ports)
{
	const struct hs_scenario *scenario = &draft->scenario;
	bool patch = scenario->forwarding == HS_LAB_PATCH;
	char path[48];

	for (size_t i = 0; i < scenario->n_nodes; i++) {
		unsigned n = ports[i].links + ports[i].hosts;
		if (patch ? n == 2 : n <= HS_MAX_PORTS)
			continue;
		point_to(draft, "nodes", i, NULL, path);
		return hs_draft_refuse(draft, NULL, "out_of_range",
				n > HS_MAX_PORTS ? "at most 32 ports"
						 : "two ports where forwarding is patch",
				"node \"%s\" has %u links and %u hosts", scenario->nodes[i].name,
				ports[i].links, ports[i].hosts);
	}
	return 0;
}

// Reports identify nodes by their ids. Nodes at the ends of a path need no id.
static int check_ids(struct hs_draft *draft, const struct ports *ports)
{
	const struct hs_scenario_node *nodes = draft->scenario.nodes;
	uint32_t *owners = hs_draft_room(draft, NODE_IDS, sizeof(*owners));
	char path[48];
	int rc = owners ? 0 : -ENOMEM;

	for (size_t i = 0; i < draft->scenario.n_nodes && rc == 0; i++) {
		uint16_t id = nodes[i].id;
		uint32_t other = owners[id]; // counted from 1
		owners[id] = (uint32_t)i + 1;
		if (!other || (id == 0 && ports[i].links < 2 && ports[other - 1].links < 2))
			continue;
		rc = hs_draft_refuse(draft, point_to(draft, "nodes", i, "id", path), "duplicate",
				"an id of its own; 0 may be that of all nodes with one link",
				"node \"%s\" has the id %u too", nodes[other - 1].name, id);
	}
	free(owners);
	return rc;
}

// ---- addresses ----

static int check_address(struct hs_draft *draft, uint32_t host)
{
	const struct hs_scenario_host *hosts = draft->scenario.hosts;
	char name[2 * sizeof(hosts->addr) + 1], path[48];

	for (size_t byte = 0; byte < sizeof(hosts->addr); byte++)
		snprintf(&name[2 * byte], 3, "%02x", hosts[host].addr[byte]);
	uint32_t first = hs_draft_find_name(draft, HS_NAME_ADDRESS, name);
	if (first == HS_NO_INDEX)
		return hs_draft_add_name(draft, HS_NAME_ADDRESS, name, host);
	// A host that traffic created is not in the file.
	uint32_t blamed = hosts[host].implicit ? first : host;
	return hs_draft_refuse(draft, point_to(draft, "hosts", blamed, "addr", path), "duplicate",
			"an address of its own", "host \"%s\" has this address too",
			hosts[blamed == host ? first : host].name);
}

// ---- paths ----

static int check_cycles(struct hs_draft *draft, const struct hs_graph *graph)
{
	const struct hs_scenario_link *links = draft->scenario.links;
	uint32_t link;
	char path[48];

	if (draft->scenario.forwarding != HS_LAB_BRIDGE)
		return 0;
	if (hs_graph_cycle(graph, &link) < 0)
		return hs_draft_no_memory(draft);
	if (link == HS_GRAPH_FAR)
		return 0;
	point_to(draft, "links", links[link].entry, NULL, path);
	return hs_draft_refuse(draft, NULL, "cycle", "no cycles where forwarding is bridge",
			"link \"%s\" closes a cycle, in which frames would go round for ever",
			links[link].name);
}

// The hops to a node, computed when they are first asked for.
static bool leads(
		struct hs_graph *graph, uint32_t *hops, size_t n_nodes, uint32_t from, uint32_t to)
{
	hops += to * n_nodes;
	if (hops[to] != 0)
		hs_graph_distances(graph, to, hops);
	return hops[from] != HS_GRAPH_FAR;
}

static int check_ways(struct hs_draft *draft, struct hs_graph *graph, uint32_t *hops)
{
	const struct hs_scenario *scenario = &draft->scenario;
	const struct hs_scenario_node *nodes = scenario->nodes;
	char path[48];

	for (size_t i = 0; i < 2 * scenario->n_traffic; i++) {
		const struct hs_scenario_traffic *traffic = &scenario->traffic[i / 2];
		bool reply = i % 2, replies = traffic->kind == HS_TRAFFIC_PING ||
					      traffic->kind == HS_TRAFFIC_WINDOW;
		uint32_t from = scenario->hosts[reply ? traffic->to : traffic->from].at;
		uint32_t to = scenario->hosts[reply ? traffic->from : traffic->to].at;
		if ((reply && !replies) || leads(graph, hops, scenario->n_nodes, from, to))
			continue;
		snprintf(path, sizeof(path), "traffic[%u].to", traffic->entry);
		return hs_error_set(draft->err, "unreachable", path,
				"a way along links that are up",
				"no way leads from node \"%s\" to node \"%s\"", nodes[from].name,
				nodes[to].name);
	}
	return 0;
}

static int check_graph(struct hs_draft *draft)
{
	const struct hs_scenario *scenario = &draft->scenario;
	size_t bytes = scenario->n_nodes * scenario->n_nodes * sizeof(uint32_t);
	uint32_t *hops = hs_draft_room(draft, bytes, 1);
	struct hs_graph *graph = NULL;
	int rc = hops && hs_graph_create(scenario, &graph) == 0 ? 0 : hs_draft_no_memory(draft);

	// In other modes there is only one path, and packets into a link that is down are lost.
	for (uint32_t i = 0; rc == 0 && i < scenario->n_links; i++)
		for (unsigned direction = 0; direction < 2; direction++)
			if (scenario->forwarding == HS_LAB_SHORTEST_PATH)
				hs_graph_set_up(graph, i, direction,
						!scenario->links[i].directions[direction].down);
	if (rc == 0)
		rc = check_cycles(draft, graph);
	if (rc == 0) {
		memset(hops, 0xff, bytes);
		rc = check_ways(draft, graph, hops);
	}
	free(hops);
	hs_graph_destroy(graph);
	return rc;
}

int hs_draft_check_network(struct hs_draft *draft)
{
	struct ports *ports = count_ports(draft);
	int rc = ports ? check_ports(draft, ports) : -ENOMEM;

	if (rc == 0)
		rc = check_ids(draft, ports);
	free(ports);
	for (uint32_t i = 0; i < draft->scenario.n_hosts && rc == 0; i++)
		rc = check_address(draft, i);
	return rc ? rc : check_graph(draft);
}

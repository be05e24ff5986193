// SPDX-License-Identifier: BSD-3-Clause
// Networks that are generated from a few numbers, in place of lists.
//
// Source: Al-Fares, Loukissas, Vahdat, A Scalable, Commodity Data Center Network Architecture
// (SIGCOMM 2008), section 3: k-ary fat tree.
#include "scenario_parts.h"

#include "flexint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

#define MAX_K 20

struct topology {
	uint32_t kind, k;
	json_t *link;
	struct hs_link_config ways[2];
};

static const struct hs_schema_word kind_words[] = {{"fat_tree", 0}, {NULL, 0}};

#define TOPOLOGY(member) HS_SCHEMA_MEMBER(struct topology, member)
const struct hs_schema_field hs_scenario_topology_fields[] = {
		{"kind", HS_SCHEMA_WORD, TOPOLOGY(kind), .words = kind_words, .required = true,
				.expected = "fat_tree"},
		{"k", HS_SCHEMA_UINT, TOPOLOGY(k), .required = true, .min = 2, .max = MAX_K,
				.expected = "an even number from 2 to 20"},
		{"link", HS_SCHEMA_JSON, TOPOLOGY(link), .fields = hs_scenario_ways_fields},
		{NULL},
};

static int add_node(struct hs_scenario_draft *draft, const char *kind, uint32_t pod, uint32_t n,
		struct hs_error *err)
{
	struct hs_scenario_node node = {.layout = HS_LAYOUT_ALIGNED};

	node.id = (uint16_t)(draft->scenario.n_nodes + 1);
	if (pod)
		snprintf(node.name, sizeof(node.name), "%s-%u-%u", kind, pod, n);
	else
		snprintf(node.name, sizeof(node.name), "%s-%u", kind, n);
	return hs_scenario_add_node(draft, &node, "topology", err);
}

static int add_link(struct hs_scenario_draft *draft, const struct topology *topology, uint32_t from,
		uint32_t to, struct hs_error *err)
{
	const struct hs_scenario_link link = {
			.from = from, .to = to, .ways = {topology->ways[0], topology->ways[1]}};
	return hs_scenario_add_link(draft, &link, 0, "topology", err);
}

static int add_host(struct hs_scenario_draft *draft, uint32_t at, uint32_t pod, uint32_t edge,
		uint32_t n, struct hs_error *err)
{
	struct hs_scenario_host host = {.at = at};
	char text[INET6_ADDRSTRLEN];

	snprintf(host.name, sizeof(host.name), "h-%u-%u-%u", pod, edge, n);
	// The address has decimal numbers as its hexadecimal digits, so that it reads like the
	// names.
	snprintf(text, sizeof(text), "2001:db8:%u:%u::%u", pod, edge, n);
	inet_pton(AF_INET6, text, host.addr);
	return hs_scenario_add_host(draft, &host, "topology", err);
}

// The Nth aggregation switch of each pod leads to the Nth row of core switches. Each row has k/2
// switches.
static int add_pod(struct hs_scenario_draft *draft, const struct topology *topology, uint32_t pod,
		struct hs_error *err)
{
	uint32_t half = topology->k / 2;
	uint32_t first = (uint32_t)draft->scenario.n_nodes;
	int rc = 0;

	for (uint32_t n = 1; n <= half && rc == 0; n++)
		rc = add_node(draft, "agg", pod, n, err);
	for (uint32_t n = 1; n <= half && rc == 0; n++)
		rc = add_node(draft, "edge", pod, n, err);
	for (uint32_t i = 0; i < half * half && rc == 0; i++)
		rc = add_link(draft, topology, i, first + i / half, err);
	for (uint32_t i = 0; i < half * half && rc == 0; i++)
		rc = add_link(draft, topology, first + i / half, first + half + i % half, err);
	for (uint32_t i = 0; i < half * half && rc == 0; i++)
		rc = add_host(draft, first + half + i / half, pod, i / half + 1, i % half + 1, err);
	return rc;
}

static int make_room(struct hs_scenario_draft *draft, size_t k, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;
	size_t n_nodes = 5 * k * k / 4, n_links = k * k * k / 2, n_hosts = k * k * k / 4;

	scenario->nodes = hs_scenario_room(n_nodes, sizeof(*scenario->nodes), err);
	scenario->links = hs_scenario_room(n_links, sizeof(*scenario->links), err);
	draft->link_entries = hs_scenario_room(n_links, sizeof(*draft->link_entries), err);
	scenario->hosts = hs_scenario_room(n_hosts + n_nodes, sizeof(*scenario->hosts), err);
	return scenario->nodes && scenario->links && draft->link_entries && scenario->hosts
			       ? 0
			       : -ENOMEM;
}

static int refuse_lists(const struct hs_scenario_draft *draft, struct hs_error *err)
{
	const char *path = draft->nodes	  ? "nodes"
			   : draft->links ? "links"
			   : draft->hosts ? "hosts"
					  : NULL;
	if (!path)
		return 0;
	return hs_error_set(err, "conflict", path, "either a topology or lists",
			"the topology makes the %s", path);
}

int hs_scenario_read_topology(struct hs_scenario_draft *draft, struct hs_error *err)
{
	struct topology topology = {.ways = {hs_scenario_link_defaults, hs_scenario_link_defaults}};

	if (refuse_lists(draft, err) < 0 ||
			hs_schema_read(hs_scenario_topology_fields, draft->topology, "topology",
					&topology, err) < 0)
		return -EINVAL;
	if (topology.k % 2)
		return hs_error_set(err, "bad_value", "topology.k", "an even number from 2 to 20",
				"%u is odd", topology.k);
	if (topology.link && hs_scenario_read_ways(topology.link, "topology.link", topology.ways,
					     err) < 0)
		return -EINVAL;
	int rc = make_room(draft, topology.k, err);
	for (uint32_t n = 1; n <= topology.k * topology.k / 4 && rc == 0; n++)
		rc = add_node(draft, "core", 0, n, err);
	for (uint32_t pod = 1; pod <= topology.k && rc == 0; pod++)
		rc = add_pod(draft, &topology, pod, err);
	return rc;
}

// SPDX-License-Identifier: BSD-3-Clause
// Networks that are generated from a few numbers, in place of lists.
//
// Source: Al-Fares, Loukissas, Vahdat, A Scalable, Commodity Data Center Network Architecture
// (SIGCOMM 2008), section 3: k-ary fat tree.
#include "scenario_draft.h"

#include "flexint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <stdio.h>

static const struct hs_schema_word kind_words[] = {{"fat_tree", 0}, {NULL, 0}};

#define TOPOLOGY(member) HS_SCHEMA_MEMBER(struct hs_draft_topology, member)
const struct hs_schema_field hs_draft_topology_fields[] = {
		{"kind", HS_SCHEMA_WORD, TOPOLOGY(kind), .words = kind_words, .required = true,
				.expected = "fat_tree"},
		{"k", HS_SCHEMA_UINT, TOPOLOGY(k), .required = true, .min = 2, .max = 20,
				.expected = "an even number from 2 to 20"},
		{"link", HS_SCHEMA_OBJECT, TOPOLOGY(link), .fields = hs_draft_parameter_fields},
		{NULL},
};

// `pod` is 0 for a node outside pods.
static int add_node(struct hs_draft *draft, const char *kind, uint32_t pod, uint32_t n)
{
	struct hs_scenario_node node = {.layout = HS_LAYOUT_ALIGNED};
	char in_pod[16] = "";

	if (pod)
		snprintf(in_pod, sizeof(in_pod), "-%u", pod);
	snprintf(node.name, sizeof(node.name), "%s%s-%u", kind, in_pod, n);
	node.id = (uint16_t)(draft->scenario.n_nodes + 1);
	return hs_draft_add_node(draft, &node);
}

static int add_link(struct hs_draft *draft, uint32_t from, uint32_t to)
{
	struct hs_scenario_link link = draft->topology.link;

	link.from = from;
	link.to = to;
	return hs_draft_add_link(draft, &link);
}

static int add_host(struct hs_draft *draft, uint32_t at, uint16_t pod, uint16_t edge, uint16_t n)
{
	struct hs_scenario_host host = {.at = at};
	char text[INET6_ADDRSTRLEN];

	snprintf(host.name, sizeof(host.name), "h-%u-%u-%u", pod, edge, n);
	// The address has decimal numbers as its hexadecimal digits, so that it reads like the
	// names.
	snprintf(text, sizeof(text), "2001:db8:%u:%u::%u", pod, edge, n);
	inet_pton(AF_INET6, text, host.addr);
	return hs_draft_add_host(draft, &host);
}

// The Nth aggregation switch of each pod leads to the Nth row of core switches. Each row has k/2
// switches.
static int add_pod(struct hs_draft *draft, uint16_t half, uint16_t pod)
{
	uint32_t first = (uint32_t)draft->scenario.n_nodes;
	int rc = 0;

	for (uint32_t n = 1; n <= half && rc == 0; n++)
		rc = add_node(draft, "agg", pod, n);
	for (uint32_t n = 1; n <= half && rc == 0; n++)
		rc = add_node(draft, "edge", pod, n);
	for (uint32_t i = 0; i < half * half && rc == 0; i++)
		rc = add_link(draft, i, first + i / half);
	for (uint32_t i = 0; i < half * half && rc == 0; i++)
		rc = add_link(draft, first + i / half, first + half + i % half);
	for (uint32_t i = 0; i < half * half && rc == 0; i++)
		rc = add_host(draft, first + half + i / half, pod, i / half + 1, i % half + 1);
	return rc;
}

// A network comes from a topology or from lists.
static int check_lists(const struct hs_draft *draft)
{
	static const char *const lists[] = {"nodes", "links", "hosts"};
	const json_t *nodes = json_object_get(draft->root, "nodes");

	if (!draft->topology.k && json_array_size(nodes) == 0 && (!nodes || json_is_array(nodes)))
		return hs_error_set(draft->err, "missing_field", "nodes",
				"at least one node, or a topology", "the scenario has no nodes");
	for (size_t i = 0; draft->topology.k && i < sizeof(lists) / sizeof(lists[0]); i++)
		if (json_object_get(draft->root, lists[i]))
			return hs_error_set(draft->err, "conflict", lists[i],
					"either a topology or lists", "the topology makes the %s",
					lists[i]);
	return 0;
}

int hs_draft_make_topology(struct hs_draft *draft)
{
	struct hs_draft_topology *topology = &draft->topology;
	uint32_t k = topology->k;
	int rc = check_lists(draft);

	if (k == 0 || rc < 0)
		return rc;
	if (k % 2)
		return hs_error_set(draft->err, "bad_value", "topology.k",
				"an even number from 2 to 20", "%u is odd", k);
	if (hs_draft_settle_link(&topology->link, "topology.link", draft->err) < 0)
		return -EINVAL;
	draft->item.path = "topology";
	for (uint32_t n = 1; n <= k * k / 4 && rc == 0; n++)
		rc = add_node(draft, "core", 0, n);
	for (uint32_t pod = 1; pod <= k && rc == 0; pod++)
		rc = add_pod(draft, k / 2, pod);
	return rc;
}

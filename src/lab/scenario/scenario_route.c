// SPDX-License-Identifier: BSD-3-Clause
// The routes of a scenario: which of several shortest ways a node takes to a host.
#include "scenario_draft.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t find_host(const void *draft, const char *name)
{
	return hs_draft_find_name(draft, HS_NAME_HOST, name);
}

static const struct hs_schema_names host_names = {
		"unknown_name", HS_NAME_HOST, "the name of a " HS_NAME_HOST, find_host, NULL};

#define ROUTE(member) HS_SCHEMA_MEMBER(struct hs_scenario_route, member)
static const struct hs_schema_field route_fields[] = {
		{"node", HS_SCHEMA_NAME, ROUTE(node), .names = &hs_draft_node_names,
				.required = true, .expected = "the name of a node"},
		{"to", HS_SCHEMA_NAME, ROUTE(to), .names = &host_names, .required = true,
				.expected = "the name of a host"},
		{"via", HS_SCHEMA_NAME, ROUTE(via), .names = &hs_draft_node_names, .required = true,
				.expected = "the name of a node"},
		{NULL},
};

static bool are_neighbours(const struct hs_scenario *s, uint32_t a, uint32_t b)
{
	for (size_t l = 0; l < s->n_links; l++)
		if ((s->links[l].from == a && s->links[l].to == b) ||
				(s->links[l].from == b && s->links[l].to == a))
			return true;
	return false;
}

// Along all links, whether they are up or not.
static int check_via(struct hs_draft *draft, const struct hs_scenario_route *route)
{
	const struct hs_scenario *s = &draft->scenario;
	uint32_t *hops = hs_draft_room(draft, s->n_nodes, sizeof(*hops));
	bool *up = hs_draft_room(draft, 2 * s->n_links, sizeof(*up));
	int rc = hops && up ? 0 : -ENOMEM;

	for (size_t arc = 0; rc == 0 && arc < 2 * s->n_links; arc++)
		up[arc] = true;
	if (rc == 0)
		hs_scenario_distances(s, up, s->hosts[route->to].at, hops);
	if (rc == 0 && (!are_neighbours(s, route->node, route->via) ||
				       hops[route->via] + 1 != hops[route->node]))
		rc = hs_draft_refuse(draft, "via", "bad_value",
				"a neighbour that is one hop nearer to the host",
				"no shortest way leads over \"%s\"", s->nodes[route->via].name);
	free(hops);
	free(up);
	return rc;
}

static int take_route(void *into, const struct hs_schema_item *item, struct hs_error *err)
{
	struct hs_draft *draft = hs_draft_begin(into, item, err);
	const struct hs_scenario_route *route = item->read;

	if (draft->scenario.forwarding != HS_LAB_SHORTEST_PATH)
		return hs_draft_refuse(draft, NULL, "conflict", "forwarding shortest_path",
				"the nodes have no routes");
	return check_via(draft, route) ?: HS_DRAFT_APPEND(draft, routes, route);
}

const struct hs_schema_list hs_draft_route_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = route_fields},
		.item_bytes = sizeof(struct hs_scenario_route),
		.take = take_route};

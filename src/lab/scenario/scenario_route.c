// SPDX-License-Identifier: BSD-3-Clause
// The routes of a scenario: which of several shortest ways a node takes to a host.
#include "scenario_draft.h"

#include <errno.h>
#include <stdlib.h>

#define ROUTE(member) HS_SCHEMA_MEMBER(struct hs_scenario_route, member)
static const struct hs_schema_field route_fields[] = {
		{"node", HS_SCHEMA_NAME, ROUTE(node), .names = &hs_draft_node_names,
				.required = true},
		{"to", HS_SCHEMA_NAME, ROUTE(to), .names = &hs_draft_host_names, .required = true},
		{"via", HS_SCHEMA_NAME, ROUTE(via), .names = &hs_draft_node_names,
				.required = true},
		{NULL},
};

// Checks that a shortest way leads over the neighbour, along all links whether they are up or not.
static int check_via(struct hs_draft *draft, const struct hs_scenario_route *route)
{
	const struct hs_scenario *s = &draft->scenario;
	uint32_t *hops = hs_draft_room(draft, s->n_nodes, sizeof(*hops));

	if (!hops)
		return -ENOMEM;
	hs_scenario_distances(s, NULL, NULL, s->hosts[route->to].at, hops);
	bool leads = hs_scenario_link_between(s, route->node, route->via) &&
		     hops[route->via] + 1 == hops[route->node];
	free(hops);
	return leads ? 0
		     : hs_draft_refuse(draft, "via", "bad_value",
				       "a neighbour that is one hop nearer to the host",
				       "no shortest way leads over \"%s\"",
				       s->nodes[route->via].name);
}

static int take_route(struct hs_draft *draft, const struct hs_scenario_route *route)
{
	if (draft->scenario.forwarding != HS_LAB_SHORTEST_PATH)
		return hs_draft_refuse(draft, NULL, "conflict", "forwarding shortest_path",
				"the nodes have no routes");
	return check_via(draft, route) ?: HS_DRAFT_APPEND(draft, routes, route);
}

HS_DRAFT_LIST(route, struct hs_scenario_route, take_route, {});

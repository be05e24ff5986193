// SPDX-License-Identifier: BSD-3-Clause
// The reply to probe_routes: the routes that the controller sets around bad links.
#include "controller_reroute.h"

#include "controller_probing.h"
#include "controller_state.h"

#include "route_text.h"

struct shown_route {
	char prefix[HS_ROUTE_TEXT];
	uint8_t node_id, peer_id;
	const char *node, *port, *peer, *state;
	uint32_t has_way;
};

#define ROUTE(...) HS_SCHEMA_ROW(struct shown_route, __VA_ARGS__)
static const struct hs_schema_field route_fields[] = {
		ROUTE(TEXT, prefix, "the destination", .required = true),
		ROUTE(UINT, node_id, "the node", .max = UINT8_MAX),
		ROUTE(STRING, node, "its name"),
		ROUTE(STRING, state,
				"`set`: the node confirmed the route; `changing`: it is told, or "
				"waits for nodes on the way; `refused`; `unreachable`: the node "
				"does not answer, or has another id; `no_way`: what it has stays; "
				"`waiting`: for "
				"sessions"),
		ROUTE(STRING, port, "the port that it should send by", .optional = true),
		ROUTE(UINT, peer_id, "the next node", .max = UINT8_MAX,
				HS_SCHEMA_IF(struct shown_route, has_way)),
		ROUTE(STRING, peer, "its name", .optional = true),
		{NULL},
};

struct shown_routes {
	uint64_t changes, held;
	json_t *routes;
	uint64_t next;
	unsigned known;
};

#define ROUTES(...) HS_SCHEMA_ROW(struct shown_routes, __VA_ARGS__)
const struct hs_schema_field controller_probe_routes_fields[] = {
		ROUTES(UINT, changes, "sessions after which links were used otherwise"),
		ROUTES(UINT, held, "sessions that `changes_per_minute` did not allow to change it"),
		ROUTES(TAKEN, routes, "routes of each destination, page by page",
				.items = route_fields),
		ROUTES(UINT, next, "the offset of the next page", .optional = true),
		ROUTES(UINT, known, "how many there are"),
		{NULL},
};

static const char *state_of(const struct hs_controller *controller, size_t index, unsigned node)
{
	const struct controller_reroute *reroute = controller->reroute;
	const struct hs_gpint_route *route = &reroute->of[index];

	if (reroute->sessions < reroute->config->bad_sessions)
		return "waiting";
	if (route->next != HS_GPINT_NO_ARC && route->settled && route->now == route->next)
		return "set";
	if (reroute->rows[index].refused)
		return "refused";
	if (!controller_is_itself(&controller->nodes[reroute->nodes[node].owner]))
		return "unreachable";
	return route->next == HS_GPINT_NO_ARC ? "no_way" : "changing";
}

static json_t *show(const struct hs_controller *controller, unsigned d, unsigned i)
{
	const struct controller_probing *probing = controller->probing;
	const struct controller_reroute *reroute = controller->reroute;
	const struct hs_probing_prefix *prefix = &reroute->config->destinations[d].prefix;
	size_t index = (size_t)d * probing->n_nodes + i;
	uint32_t arc = reroute->of[index].next;
	struct shown_route shown = {
			.node_id = probing->config->nodes[i].id,
			.node = controller_probing_name(controller, i),
			.state = state_of(controller, index, i),
			.has_way = arc != HS_GPINT_NO_ARC,
	};

	hs_route_prefix_text(prefix->bytes, prefix->depth, shown.prefix);
	if (shown.has_way) {
		unsigned peer = probing->arcs[arc].to;
		shown.port = reroute->arcs[arc].port;
		shown.peer_id = probing->config->nodes[peer].id;
		shown.peer = controller_probing_name(controller, peer);
	}
	return hs_schema_print(route_fields, &shown);
}

// Returns a route by its index in the list. Each destination has a route at all nodes but its own.
static json_t *show_at(const struct hs_controller *controller, uint64_t at)
{
	const struct controller_probing *probing = controller->probing;
	unsigned others = probing->n_nodes - 1, d = (unsigned)(at / others);
	unsigned i = (unsigned)(at % others);
	int to = hs_probing_node(
			probing->config, controller->reroute->config->destinations[d].node);

	return show(controller, d, i < (unsigned)to ? i : i + 1);
}

int controller_probe_routes(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	const struct controller_reroute *reroute = controller->reroute;

	if (!reroute)
		return hs_error_set(err, "unsupported", "", "probing.reroute in the configuration",
				"the controller's configuration has no probing.reroute");
	struct shown_routes shown = {
			.changes = reroute->health.changes,
			.held = reroute->health.held,
			.routes = json_array(),
			.known = reroute->config->n_destinations *
				 (controller->probing->n_nodes - 1),
	};
	shown.next = controller_probing_page(controller, args, shown.known, show_at, shown.routes);
	*result = hs_schema_print(controller_probe_routes_fields, &shown);
	return 0;
}

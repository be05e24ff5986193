// SPDX-License-Identifier: BSD-3-Clause
// Routes around links that probes find bad: what a session says of links, ways, and what nodes are
// told.
#include "controller_reroute.h"

#include "controller_call.h"
#include "controller_probing.h"
#include "controller_state.h"

#include "log.h"
#include "route_text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIND_CALLS 64 // of the budget of a step: finding the ways to a destination, at most

// ---- life ----

static int open_arrays(struct controller_probing *probing, struct controller_reroute *reroute)
{
	size_t n_links = probing->n_arcs / 2;

	reroute->n_routes = (size_t)reroute->config->n_destinations * probing->n_nodes;
	reroute->links = calloc(n_links + 1, sizeof(*reroute->links));
	reroute->arcs = calloc(2 * n_links + 1, sizeof(*reroute->arcs));
	reroute->states = calloc(n_links + 1, sizeof(*reroute->states));
	reroute->nodes = calloc(probing->n_nodes, sizeof(*reroute->nodes));
	reroute->costs = calloc(probing->n_nodes, sizeof(*reroute->costs));
	reroute->of = calloc(reroute->n_routes, sizeof(*reroute->of));
	reroute->rows = calloc(reroute->n_routes, sizeof(*reroute->rows));
	reroute->stale = calloc(reroute->config->n_destinations, sizeof(*reroute->stale));
	return reroute->links && reroute->arcs && reroute->states && reroute->nodes &&
					       reroute->costs && reroute->of && reroute->rows &&
					       reroute->stale
			       ? 0
			       : -ENOMEM;
}

static void fill(const struct hs_controller *controller, struct controller_reroute *reroute)
{
	const struct controller_probing *probing = controller->probing;

	for (size_t i = 0; i < probing->n_arcs; i++)
		probing->arcs[i].use = "used";
	for (size_t i = 0; i < probing->n_arcs / 2; i++)
		reroute->links[i] = (struct hs_gpint_route_link){
				{probing->arcs[2 * i].from, probing->arcs[2 * i].to},
				probing->config->links[i].cost, HS_GPINT_USED};
	for (unsigned i = 0; i < probing->n_nodes; i++)
		reroute->nodes[i].owner = controller->by_id[probing->config->nodes[i].id];
	for (size_t i = 0; i < reroute->n_routes; i++)
		reroute->of[i].next = reroute->of[i].now = HS_GPINT_NO_ARC;
	reroute->routes = (struct hs_gpint_routes){
			probing->n_nodes, probing->n_arcs / 2, reroute->links};
}

int controller_open_reroute(struct hs_controller *controller)
{
	struct controller_probing *probing = controller->probing;
	const struct hs_probing_reroute *config = &controller->config->probing.reroute;
	const struct hs_gpint_damping_config health = {
			.bad_sessions = config->bad_sessions,
			.hold_ns = config->hold_ms * PROBING_MS_NS,
			.max_hold_ns = config->max_hold_ms * PROBING_MS_NS,
			.changes = config->changes_per_minute,
	};

	if (!config->on)
		return 0;
	struct controller_reroute *reroute = calloc(1, sizeof(*reroute));
	controller->reroute = reroute;
	if (!reroute)
		return -ENOMEM;
	reroute->config = config;
	reroute->retry_ns = INT64_MAX;
	int rc = open_arrays(probing, reroute);
	if (rc == 0)
		rc = hs_gpint_damping_init(&reroute->health, &health, probing->n_arcs / 2);
	if (rc == 0)
		fill(controller, reroute);
	return rc;
}

void controller_close_reroute(struct hs_controller *controller)
{
	struct controller_reroute *reroute = controller->reroute;

	if (!reroute)
		return;
	hs_gpint_damping_fini(&reroute->health);
	free(reroute->links);
	free(reroute->arcs);
	free(reroute->states);
	free(reroute->nodes);
	free(reroute->costs);
	free(reroute->of);
	free(reroute->rows);
	free(reroute->stale);
	free(reroute);
	controller->reroute = NULL;
}

// ---- links ----

void controller_reroute_decide(struct hs_controller *controller, const char *kind, json_t *details,
		const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	hs_log_at(controller->now_ns, HS_LOG_NOTICE, "reroute", "%s", text);
	hs_controller_event(controller, kind, details, "%s", text);
}

static void tell_link(struct hs_controller *controller, size_t i)
{
	const struct controller_probing *probing = controller->probing;
	const struct hs_gpint_damping_link *link = &controller->reroute->health.links[i];
	struct probing_arc *arc = &probing->arcs[2 * i];
	int from = probing->config->nodes[arc->from].id, to = probing->config->nodes[arc->to].id;
	json_t *details = controller_probing_arc_details(controller, arc);

	if (link->use == HS_GPINT_USED)
		controller_reroute_decide(controller, "reroute_link_used", details,
				"routes may go over the link between node %d, port %u, and node "
				"%d, port %u, again",
				from, arc->port, to, arc->peer_port);
	else
		controller_reroute_decide(controller, "reroute_link_avoided", details,
				"routes avoid the link between node %d, port %u, and node %d, port "
				"%u, which is %s, until it is well for %lld ms",
				from, arc->port, to, arc->peer_port,
				link->use == HS_GPINT_AVOIDED ? "unavailable" : "congested",
				(long long)(link->hold_ns / PROBING_MS_NS));
}

void controller_reroute_find_again(struct controller_reroute *reroute)
{
	for (unsigned d = 0; d < reroute->config->n_destinations; d++)
		reroute->stale[d] = true;
	reroute->dirty = true;
}

void controller_reroute_use_links(struct hs_controller *controller)
{
	static const char *const uses[] = {
			[HS_GPINT_USED] = "used",
			[HS_GPINT_SPARE] = "spare",
			[HS_GPINT_AVOIDED] = "avoided",
	};
	struct controller_reroute *reroute = controller->reroute;

	for (size_t i = 0; i < reroute->routes.n_links; i++) {
		struct probing_arc *shown = &controller->probing->arcs[2 * i];
		const struct reroute_arc *arcs = &reroute->arcs[2 * i];
		bool known = arcs[0].port[0] && arcs[0].mac[0] && arcs[1].port[0] && arcs[1].mac[0];
		reroute->links[i].use = known ? reroute->health.links[i].use : HS_GPINT_AVOIDED;
		shown[0].use = shown[1].use = uses[reroute->links[i].use];
	}
	controller_reroute_find_again(reroute);
}

// Reads the states of the links. Of both directions of a link, the worse one counts.
static void read_states(const struct controller_probing *probing, uint8_t *states)
{
	size_t n;
	const struct hs_gpint_crossing *crossings = hs_gpint_prober_links(probing->prober, &n);

	memset(states, HS_GPINT_UNKNOWN, probing->n_arcs / 2);
	for (size_t i = 0; i < n; i++) {
		const struct probing_arc *arc =
				probing_find_arc(probing, crossings[i].from, crossings[i].port);
		uint8_t *state = &states[(arc - probing->arcs) / 2];
		if (crossings[i].state > *state)
			*state = (uint8_t)crossings[i].state;
	}
}

// Takes the session that ended. Without the first node, the session says nothing of other nodes.
static void take_session(struct hs_controller *controller)
{
	const struct controller_probing *probing = controller->probing;
	struct controller_reroute *reroute = controller->reroute;
	int first = hs_probing_node(probing->config, probing->config->first_node);

	if (probing->last.told.failed || probing->nodes[first].state != HS_GPINT_AVAILABLE)
		return;
	read_states(probing, reroute->states);
	bool begins = reroute->sessions < reroute->config->bad_sessions &&
		      ++reroute->sessions == reroute->config->bad_sessions;
	bool changed = hs_gpint_damping_take(&reroute->health, controller_probing_ns(controller),
				       reroute->states) > 0;
	for (size_t i = 0; changed && i < reroute->health.n_links; i++)
		if (reroute->health.links[i].changed)
			tell_link(controller, i);
	if (begins || changed)
		controller_reroute_use_links(controller);
}

// ---- ways ----

static bool is_reachable(const struct hs_controller *controller, unsigned node)
{
	return controller_is_itself(&controller->nodes[controller->reroute->nodes[node].owner]);
}

static void tell_ways(struct hs_controller *controller, unsigned d, unsigned told, unsigned none)
{
	const struct hs_probing_destination *to =
			&controller->probing->config->reroute.destinations[d];
	char text[HS_ROUTE_TEXT];

	hs_route_prefix_text(to->prefix.bytes, to->prefix.depth, text);
	controller_reroute_decide(controller, "reroute_ways",
			json_pack("{s:s, s:i, s:i}", "prefix", text, "nodes", (int)told,
					"nodes_without_way", (int)none),
			"%s: %u nodes get another way, and no way leads from %u nodes", text, told,
			none);
}

static void find_ways(struct hs_controller *controller, unsigned d)
{
	const struct controller_probing *probing = controller->probing;
	struct controller_reroute *reroute = controller->reroute;
	unsigned n = probing->n_nodes, changed = 0, told = 0, none = 0;
	struct hs_gpint_route *of = reroute->of + (size_t)d * n;
	uint32_t to = (uint32_t)hs_probing_node(
			probing->config, reroute->config->destinations[d].node);
	uint32_t before[HS_PROBING_NODES];

	for (unsigned i = 0; i < n; i++) {
		before[i] = of[i].next;
		of[i].fixed = !is_reachable(controller, i) ||
			      reroute->rows[(size_t)d * n + i].refused;
	}
	hs_gpint_routes_find(&reroute->routes, to, of, reroute->costs);
	for (unsigned i = 0; i < n; i++) {
		bool other = of[i].next != before[i], reaches = of[i].next != HS_GPINT_NO_ARC;
		changed += other;
		told += other && reaches && of[i].next != of[i].now;
		none += i != to && !reaches;
	}
	reroute->stale[d] = false;
	controller->budget -= FIND_CALLS;
	if (changed)
		tell_ways(controller, d, told, none);
}

unsigned controller_reroute_pending(const struct hs_controller *controller)
{
	const struct controller_reroute *reroute = controller->reroute;
	unsigned pending = 0;

	for (size_t i = 0; i < reroute->n_routes; i++) {
		const struct hs_gpint_route *route = &reroute->of[i];
		bool confirmed = route->settled && route->now == route->next;
		pending += reroute->rows[i].refused ||
			   (route->next != HS_GPINT_NO_ARC && !confirmed);
	}
	return pending;
}

// ---- what nodes are told ----

// Returns whether the request is on its way.
static bool tell(struct hs_controller *controller, unsigned d, unsigned i)
{
	const struct controller_probing *probing = controller->probing;
	struct controller_reroute *reroute = controller->reroute;
	const struct hs_probing_prefix *prefix = &reroute->config->destinations[d].prefix;
	size_t index = (size_t)d * probing->n_nodes + i;
	struct hs_gpint_route *route = &reroute->of[index];
	const struct reroute_arc *arc = &reroute->arcs[route->next];
	const struct call call = {.kind = CALL_ROUTE_SET, .of = index, .ns_id = route->next};
	char text[HS_ROUTE_TEXT];

	hs_route_prefix_text(prefix->bytes, prefix->depth, text);
	json_t *content = json_pack("{s:s, s:s, s:s}", "prefix", text, "port", arc->port,
			"next_hop_mac", arc->mac);
	if (controller_call(controller, &controller->nodes[reroute->nodes[i].owner], &call,
			    "route_add", content) < 0) {
		reroute->nodes[i].unsent = true;
		return false;
	}
	controller->budget--;
	route->settled = false;
	route->now = HS_GPINT_NO_ARC;
	reroute->rows[index].calling = true;
	reroute->rows[index].again = false;
	reroute->counters.told++;
	return true;
}

// Tells nodes their routes to a destination. Returns false if some routes have to wait for room or
// for a connection.
static bool tell_destination(struct hs_controller *controller, unsigned d)
{
	const struct controller_probing *probing = controller->probing;
	struct controller_reroute *reroute = controller->reroute;
	size_t first = (size_t)d * probing->n_nodes;
	uint32_t to = (uint32_t)hs_probing_node(
			probing->config, reroute->config->destinations[d].node);
	bool all = true;

	for (unsigned i = 0; i < probing->n_nodes; i++) {
		const struct controller_node *node = &controller->nodes[reroute->nodes[i].owner];
		if (reroute->rows[first + i].calling || !is_reachable(controller, i) ||
				!hs_gpint_routes_is_due(
						&reroute->routes, to, reroute->of + first, i))
			continue;
		bool has_room = node->n_calls < CALLS_LABEL && controller->budget > 0 &&
				!reroute->nodes[i].unsent;
		all &= has_room && tell(controller, d, i);
	}
	return all;
}

static void ask_ports(struct hs_controller *controller)
{
	struct controller_reroute *reroute = controller->reroute;
	const struct call call = {.kind = CALL_ROUTE_PORTS};

	for (unsigned i = 0; i < controller->probing->n_nodes && controller->budget > 0; i++) {
		struct reroute_node *node = &reroute->nodes[i];
		if (node->asked || !is_reachable(controller, i))
			continue;
		node->asked = controller_call(controller, &controller->nodes[node->owner], &call,
					      "ports_get", json_object()) == 0;
		controller->budget--;
	}
}

static void try_again(struct hs_controller *controller)
{
	struct controller_reroute *reroute = controller->reroute;

	if (controller_probing_ns(controller) < reroute->retry_ns)
		return;
	reroute->retry_ns = INT64_MAX;
	for (size_t i = 0; i < reroute->n_routes; i++)
		reroute->rows[i].refused = false;
	for (unsigned i = 0; i < controller->probing->n_nodes; i++)
		reroute->nodes[i].asked &= !reroute->nodes[i].refused;
	controller_reroute_find_again(reroute);
}

int64_t controller_reroute_next_ns(const struct hs_controller *controller)
{
	const struct controller_reroute *reroute = controller->reroute;

	return !reroute || reroute->retry_ns == INT64_MAX
			       ? INT64_MAX
			       : reroute->retry_ns + controller->probing->skew_ns;
}

void controller_step_reroute(struct hs_controller *controller)
{
	struct controller_reroute *reroute = controller->reroute;
	bool all = true;

	if (!reroute)
		return;
	if (reroute->seen != controller->probing->counters.sessions)
		take_session(controller);
	reroute->seen = controller->probing->counters.sessions;
	ask_ports(controller);
	try_again(controller);
	if (!reroute->dirty || reroute->sessions < reroute->config->bad_sessions)
		return;
	for (unsigned i = 0; i < controller->probing->n_nodes; i++)
		reroute->nodes[i].unsent = false;
	for (unsigned d = 0; d < reroute->config->n_destinations; d++) {
		if (reroute->stale[d] && controller->budget > 0)
			find_ways(controller, d);
		all &= !reroute->stale[d] && tell_destination(controller, d);
	}
	reroute->dirty = !all;
}

// SPDX-License-Identifier: BSD-3-Clause
// What nodes answer about the routes that they are told, and what becomes of their routes when they
// come and go.
#include "controller_reroute_answer.h"

#include "controller_call.h"
#include "controller_probing.h"
#include "controller_reroute.h"

#include "route_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS (1000 * PROBING_MS_NS)

// Marks the routes over an arc as not confirmed, because the arc's port or MAC address has changed.
static void doubt_routes(const struct controller_probing *probing,
		struct controller_reroute *reroute, unsigned arc)
{
	for (size_t i = probing->arcs[arc].from; i < reroute->n_routes; i += probing->n_nodes) {
		reroute->rows[i].again = reroute->rows[i].calling;
		if (reroute->of[i].now != arc)
			continue;
		reroute->of[i].settled = false;
		reroute->of[i].now = HS_GPINT_NO_ARC;
	}
}

// Sets a text. Returns whether there was another text before.
static bool learn(char *text, size_t size, const char *now)
{
	bool changed = text[0] && strcmp(text, now) != 0;

	snprintf(text, size, "%s", now);
	return changed;
}

// Returns the port of this id, or NULL if the node has none to which a route can lead.
static const struct reply_port *usable_port(const struct reply_ports *ports, uint32_t id)
{
	uint8_t mac[6];

	for (unsigned at = 0; at < ports->n; at++)
		if (ports->ports[at].id == id)
			return hs_route_read_mac(ports->ports[at].mac, mac) ? NULL
									    : &ports->ports[at];
	return NULL;
}

// Sets the ports of a node's arcs, and the addresses of those that lead to it. A port that the node
// does not have any more has none.
static void learn_ports(
		struct hs_controller *controller, unsigned node, const struct reply_ports *ports)
{
	const struct controller_probing *probing = controller->probing;

	for (unsigned i = 0; i < probing->n_arcs; i++) {
		const struct probing_arc *of = &probing->arcs[i];
		struct reroute_arc *arc = &controller->reroute->arcs[i];
		const struct reply_port *out = usable_port(ports, of->port);
		const struct reply_port *in = usable_port(ports, of->peer_port);
		bool changed = of->from == node &&
			       learn(arc->port, sizeof(arc->port), out ? out->name : "");
		changed |= of->to == node && learn(arc->mac, sizeof(arc->mac), in ? in->mac : "");
		if (changed)
			doubt_routes(probing, controller->reroute, i);
	}
}

// Plans another attempt at what was refused.
static void retry_later(struct hs_controller *controller)
{
	struct controller_reroute *reroute = controller->reroute;

	if (reroute->retry_ns == INT64_MAX)
		reroute->retry_ns = controller_probing_ns(controller) +
				    controller->config->audit_s * SECOND_NS;
}

// Takes the ports of a node. A node whose answer cannot be read counts as one that refuses.
static void take_ports(struct hs_controller *controller, struct controller_node *node, unsigned i,
		json_t *ok)
{
	struct controller_reroute *reroute = controller->reroute;
	struct reply_ports read = {.n = 0};
	struct hs_error err;
	int rc = ok ? reply_read_addresses(ok, &read, &err) : -EINVAL;

	if (ok && rc < 0)
		controller_bad_reply(controller, node, "ports_get", &err);
	reroute->nodes[i].asked = true;
	reroute->nodes[i].refused = rc < 0;
	if (rc < 0)
		retry_later(controller);
	else
		learn_ports(controller, i, &read);
	free(read.ports);
	controller_reroute_use_links(controller);
}

static void take_refusal(struct hs_controller *controller, const struct controller_node *node,
		struct reroute_row *row, unsigned d, const struct reply_error *error)
{
	struct controller_reroute *reroute = controller->reroute;
	const struct hs_probing_prefix *prefix = &reroute->config->destinations[d].prefix;
	char text[HS_ROUTE_TEXT];

	reroute->counters.refused++;
	row->refused = true;
	retry_later(controller);
	controller_reroute_find_again(reroute);
	if (row->told)
		return;
	row->told = true;
	hs_route_prefix_text(prefix->bytes, prefix->depth, text);
	controller_reroute_decide(controller, "reroute_refused",
			json_pack("{s:s, s:i, s:s, s:s}", "node", node->config->name, "node_id",
					node->config->id, "prefix", text, "code", error->code),
			"node \"%s\" refused a route to %s: %s", node->config->name, text,
			error->code);
}

static unsigned index_of(const struct hs_controller *controller, unsigned owner)
{
	unsigned i = 0;

	while (i < controller->probing->n_nodes && controller->reroute->nodes[i].owner != owner)
		i++;
	return i;
}

void controller_reroute_answered(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok, const struct reply_error *error)
{
	struct controller_probing *probing = controller->probing;
	struct controller_reroute *reroute = controller->reroute;

	if (call->kind == CALL_ROUTE_PORTS) {
		take_ports(controller, node, index_of(controller, node->index), ok);
		return;
	}
	struct reroute_row *row = &reroute->rows[call->of];
	row->calling = false;
	reroute->dirty = true;
	if (!error) {
		row->told = false;
		reroute->of[call->of].settled = !row->again;
		reroute->of[call->of].now = call->ns_id;
	} else if (!row->again) { // else another port or address was wanted already
		take_refusal(controller, node, row, (unsigned)(call->of / probing->n_nodes), error);
	}
}

void controller_reroute_call_lost(struct hs_controller *controller,
		const struct controller_node *node, const struct call *call)
{
	struct controller_reroute *reroute = controller->reroute;

	reroute->dirty = true;
	if (call->kind == CALL_ROUTE_PORTS) {
		reroute->nodes[index_of(controller, node->index)].asked = false;
		return;
	}
	reroute->rows[call->of].calling = false;
	reroute->counters.lost++;
}

// A node that did not restart still has the routes that it confirmed.
void controller_reroute_node_up(struct hs_controller *controller,
		const struct controller_node *node, bool restarted)
{
	struct controller_probing *probing = controller->probing;
	struct controller_reroute *reroute = controller->reroute;
	unsigned i = reroute ? index_of(controller, node->index) : 0;

	if (!reroute || i == probing->n_nodes)
		return;
	reroute->nodes[i].asked = false;
	for (size_t index = i; restarted && index < reroute->n_routes; index += probing->n_nodes) {
		reroute->of[index].settled = false;
		reroute->of[index].now = HS_GPINT_NO_ARC;
	}
	controller_reroute_find_again(reroute);
}

void controller_reroute_node_down(struct hs_controller *controller)
{
	if (controller->reroute)
		controller_reroute_find_again(controller->reroute);
}

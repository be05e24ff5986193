// SPDX-License-Identifier: BSD-3-Clause
// INT-label: what nodes say of their ports, what they are told of S, and the steps.
#include "controller_label.h"

#include "controller_call.h"
#include "controller_state.h"

#include "api_label.h"

#include <stdlib.h>
#include <string.h>

#define QUESTIONS 2  // of one poll: which ports label, and what they sent
#define SLOWER	  10 // intervals between two polls of a node without ports that label
#define FROM_NS	  INT64_C(1000000000)

static struct label_node *node_of(
		const struct hs_controller *controller, const struct controller_node *node)
{
	return &controller->label->nodes[node->index];
}

// ---- asking ----

// Returns whether the node is to be asked now. Nodes that share an id cannot be told apart, and are
// not asked.
static bool is_asked(const struct hs_controller *controller, const struct controller_node *node,
		const struct label_node *of)
{
	return controller_is_itself(node) && !of->asked &&
	       controller_label_ns(controller) >= of->next_poll_ns &&
	       node->n_calls + QUESTIONS <= CALLS_LABEL &&
	       controller_label_owner(controller, node->config->id) >= 0;
}

static void ask(struct hs_controller *controller, struct controller_node *node, enum call_kind kind,
		const char *verb)
{
	const struct call call = {.kind = kind};

	if (controller_call(controller, node, &call, verb, json_object()) == 0)
		node_of(controller, node)->asked++;
	controller->budget--;
}

static void poll(struct hs_controller *controller)
{
	int64_t poll_ns = controller->label->poll_ns;

	for (unsigned i = 0; i < controller->config->n_nodes && controller->budget > 0; i++) {
		struct controller_node *node = &controller->nodes[i];
		struct label_node *of = node_of(controller, node);
		if (!is_asked(controller, node, of))
			continue;
		of->next_poll_ns = controller_label_ns(controller) + poll_ns;
		ask(controller, node, CALL_LABEL_PORTS, "label_get");
		ask(controller, node, CALL_LABEL_TRAFFIC, "ports_get");
	}
}

// ---- which ports label ----

static void keep_counts(const struct label_node *of, struct label_port *port)
{
	const struct label_port *before = controller_label_port(of, port->key);

	if (!before || strcmp(before->name, port->name) != 0)
		return;
	port->up = before->up;
	port->counted = before->counted;
	port->tx_packets = before->tx_packets;
	port->mid_packets = before->mid_packets;
	port->mid_ns = before->mid_ns;
	port->from_packets = before->from_packets;
	port->from_ns = before->from_ns;
}

// Keeps the ports of a reply: of several ports with one key, only the first. Returns false if
// memory is out.
static bool keep_ports(
		const struct reply_ports *read, const struct label_node *of, struct label_node *now)
{
	now->ports = calloc(read->n + 1, sizeof(*now->ports));
	for (unsigned i = 0; now->ports && i < read->n; i++) {
		const struct reply_port *row = &read->ports[i];
		struct label_port port = {
				.id = row->id, .key = (uint8_t)row->id, .shift = row->shift};
		strcpy(port.name, row->name);
		if (controller_label_port(now, port.key))
			continue;
		keep_counts(of, &port);
		now->ports[now->n_ports++] = port;
	}
	return now->ports;
}

// Marks ports that the node no longer has as not active.
static void leave_ports(struct hs_controller *controller, const struct controller_node *node,
		const struct label_node *now)
{
	const struct label_node *of = node_of(controller, node);

	for (unsigned i = 0; i < of->n_ports; i++)
		if (!controller_label_port(now, of->ports[i].key))
			hs_label_database_set_active(controller->label->database,
					controller_label_ns(controller), node->config->id,
					of->ports[i].key, false);
}

static void take_ports(struct hs_controller *controller, struct controller_node *node,
		const struct reply_ports *read)
{
	struct label_node *of = node_of(controller, node), now = {.n_ports = 0};

	if (!keep_ports(read, of, &now))
		return;
	leave_ports(controller, node, &now);
	free(of->ports);
	of->ports = now.ports;
	of->n_ports = now.n_ports;
	of->known = true;
	for (unsigned i = 0; i < of->n_ports; i++) {
		const struct label_port *port = &of->ports[i];
		hs_label_pro_doubt(controller->label->database, node->config->id, port->key,
				port->shift);
		controller_label_adopt(controller, node->config->id, port->key);
	}
}

// ---- what they sent ----

static struct label_port *find_port(const struct label_node *of, const char *name)
{
	for (unsigned i = 0; i < of->n_ports; i++)
		if (strcmp(of->ports[i].name, name) == 0)
			return &of->ports[i];
	return NULL;
}

// Returns whether the port has sent a packet since the last answer, and enough packets since the
// answer of from_ns.
static bool count(struct label_port *port, uint64_t tx_packets, int64_t now_ns, int64_t interval_ns)
{
	int64_t intervals = (now_ns - port->from_ns) / interval_ns;
	bool sent = tx_packets > port->tx_packets &&
		    tx_packets - port->from_packets >= (uint64_t)intervals;

	if (!port->counted || now_ns - port->mid_ns >= FROM_NS) {
		port->from_packets = port->counted ? port->mid_packets : tx_packets;
		port->from_ns = port->counted ? port->mid_ns : now_ns;
		port->mid_packets = tx_packets;
		port->mid_ns = now_ns;
	}
	port->counted = true;
	port->tx_packets = tx_packets;
	return sent;
}

static void judge(struct hs_controller *controller, const struct controller_node *node,
		struct label_port *port, uint64_t tx_packets)
{
	struct controller_label *label = controller->label;
	int64_t now_ns = controller_label_ns(controller);
	bool comparable = port->counted && tx_packets >= port->tx_packets;

	port->counted = comparable;
	bool sent = count(port, tx_packets, now_ns, label->config->interval_ms * MS_NS);
	if (port->up && !comparable)
		return;
	bool active = port->up && sent;
	if (hs_label_database_set_active(
			    label->database, now_ns, node->config->id, port->key, active) < 0)
		label->counters.no_room++;
	else
		controller_label_adopt(controller, node->config->id, port->key);
}

static void take_traffic(struct hs_controller *controller, struct controller_node *node,
		const struct reply_ports *read)
{
	const struct label_node *of = node_of(controller, node);

	for (unsigned i = 0; of->known && i < read->n; i++) {
		const struct reply_port *row = &read->ports[i];
		struct label_port *port = find_port(of, row->name);
		if (!port)
			continue;
		port->up = row->link_up;
		judge(controller, node, port, row->tx_packets);
	}
}

// ---- telling ----

static bool tell(void *context, uint16_t node_id, uint8_t key, uint8_t shift)
{
	struct hs_controller *controller = context;
	int owner = controller_label_owner(controller, node_id);
	struct label_node *of = owner < 0 ? NULL : &controller->label->nodes[owner];
	const struct label_port *port = of && of->known ? controller_label_port(of, key) : NULL;
	int64_t now_ns = controller_label_ns(controller);

	if (!port || !controller_is_itself(&controller->nodes[owner]) ||
			controller->nodes[owner].n_calls >= CALLS_LABEL ||
			(of->setting && now_ns - of->set_ns < controller->label->pro.repeat_ns))
		return false;
	if (!of->batch)
		of->batch = json_array();
	return json_array_append_new(of->batch, json_pack("{s:I, s:i}", "id", (json_int_t)port->id,
								"shift", shift)) == 0;
}

// Tells each node all new values of S in one request.
static void tell_nodes(struct hs_controller *controller)
{
	struct controller_label *label = controller->label;
	int64_t now_ns = controller_label_ns(controller);
	const struct call call = {.kind = CALL_LABEL_SET};

	if (!hs_label_pro_step(&label->pro, label->database, now_ns, tell, controller))
		return;
	for (unsigned i = 0; i < label->n_nodes; i++) {
		struct label_node *of = &label->nodes[i];
		if (!of->batch)
			continue;
		json_t *content = json_pack("{s:o}", "ports", of->batch);
		of->batch = NULL;
		label->counters.sets++;
		of->setting = controller_call(controller, &controller->nodes[i], &call, "label_set",
					      content) == 0;
		label->counters.sets_lost += !of->setting;
		of->set_ns = now_ns;
		controller->budget--;
	}
}

// Takes the S in a row of a reply to label_set. Returns the row's port, or NULL.
static struct label_port *take_set(const struct label_node *of, const struct reply_port *row)
{
	struct label_port *port = controller_label_port(of, (uint8_t)row->id);

	if (!port || port->id != row->id)
		return NULL;
	port->shift = row->shift;
	return port;
}

static void confirm(struct hs_controller *controller, struct controller_node *node,
		const struct reply_ports *read)
{
	for (unsigned i = 0; i < read->n; i++) {
		const struct label_port *port =
				take_set(node_of(controller, node), &read->ports[i]);
		if (port)
			hs_label_pro_confirm(controller->label->database, node->config->id,
					port->key, port->shift);
	}
}

static void was_set(struct hs_controller *controller, struct controller_node *node,
		const struct reply_ports *read)
{
	for (unsigned i = 0; i < read->n; i++) {
		const struct label_port *port =
				take_set(node_of(controller, node), &read->ports[i]);
		if (port)
			hs_label_pro_set(controller->label->database,
					controller_label_ns(controller), node->config->id,
					port->key, port->shift);
	}
}

// ---- answers ----

typedef int read_fn(json_t *ok, struct reply_ports *read, struct hs_error *err);
typedef void take_fn(struct hs_controller *controller, struct controller_node *node,
		const struct reply_ports *read);

// Takes a reply if it can be read.
static void take_reply(struct hs_controller *controller, struct controller_node *node,
		const char *verb, json_t *ok, read_fn *read, take_fn *take)
{
	struct reply_ports ports;
	struct hs_error err;

	if (read(ok, &ports, &err) == 0)
		take(controller, node, &ports);
	else
		controller_bad_reply(controller, node, verb, &err);
	free(ports.ports);
}

void controller_label_was_set(
		struct hs_controller *controller, struct controller_node *node, json_t *ok)
{
	if (controller->label)
		take_reply(controller, node, "label_set", ok, reply_read_label_set, was_set);
}

static void end_call(struct label_node *of, const struct call *call)
{
	if (call->kind == CALL_LABEL_SET)
		of->setting = false;
	else
		of->asked--;
}

void controller_label_answered(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok)
{
	struct label_node *of = node_of(controller, node);

	end_call(of, call);
	if (call->kind == CALL_LABEL_SET && !ok) {
		controller->label->counters.sets_refused++;
		of->next_poll_ns = controller_label_ns(controller); // its ports have changed
	} else if (call->kind == CALL_LABEL_SET) {
		take_reply(controller, node, call->verb, ok, reply_read_label_set, confirm);
	} else if (!ok) {
		of->next_poll_ns = controller_label_ns(controller) +
				   SLOWER * controller->label->poll_ns;
		of->known &= call->kind != CALL_LABEL_PORTS;
		controller_label_node_down(controller, node); // no port is known to be active
	} else if (call->kind == CALL_LABEL_PORTS) {
		take_reply(controller, node, call->verb, ok, reply_read_labels, take_ports);
	} else {
		take_reply(controller, node, call->verb, ok, reply_read_traffic, take_traffic);
	}
}

void controller_label_call_lost(struct hs_controller *controller, struct controller_node *node,
		const struct call *call)
{
	end_call(node_of(controller, node), call);
	controller->label->counters.sets_lost += call->kind == CALL_LABEL_SET;
}

void controller_label_node_up(struct hs_controller *controller, const struct controller_node *node)
{
	if (!controller->label)
		return;
	struct label_node *of = node_of(controller, node);
	hs_label_pro_restart(controller->label->database, node->config->id);
	of->next_poll_ns = controller_label_ns(controller);
	of->known = false; // the node may have other ports now
	if (node->other_id)
		controller_label_node_down(controller, node);
	for (unsigned i = 0; i < of->n_ports; i++)
		of->ports[i].counted = false;
}

void controller_label_node_down(
		struct hs_controller *controller, const struct controller_node *node)
{
	if (controller->label)
		hs_label_database_set_unknown(controller->label->database,
				controller_label_ns(controller), node->config->id);
}

// ---- stepping ----

void controller_step_label(struct hs_controller *controller)
{
	struct controller_label *label = controller->label;
	int64_t now_ns = label ? controller_label_ns(controller) : 0;

	if (!label || now_ns < label->next_ns)
		return;
	label->next_ns = now_ns + label->step_ns;
	hs_label_database_step(label->database, now_ns);
	controller_label_look_at_coverage(controller);
	poll(controller);
	if (label->config->pro.on)
		tell_nodes(controller);
}

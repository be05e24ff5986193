// SPDX-License-Identifier: BSD-3-Clause
// A node: whether it can be reached, whether it is the same process as before, and the calls under
// way there.
#include "controller_node.h"

#include "controller_audit.h"
#include "controller_call.h"
#include "controller_label.h"
#include "controller_relay.h"
#include "controller_repair.h"
#include "controller_reroute_answer.h"
#include "controller_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS	     INT64_C(1000000)
#define SECOND_NS    (1000 * MS_NS)
#define RETRY_MIN_MS 100  // the first intervals between questions to an unreachable node
#define RETRY_MAX_MS 1000 // the longest interval, so that it gets its rules back within 2 s

static int index_nodes(struct hs_controller *controller)
{
	unsigned n = controller->config->n_nodes;

	controller->by_id = malloc((UINT16_MAX + 1) * sizeof(*controller->by_id));
	if (!controller->by_id)
		return -ENOMEM;
	for (unsigned id = 0; id <= UINT16_MAX; id++)
		controller->by_id[id] = (uint16_t)n;
	for (unsigned i = n; i-- > 0;) {
		uint16_t *first = &controller->by_id[controller->config->nodes[i].id];
		controller->nodes[i].next_same_id = *first;
		*first = (uint16_t)i;
	}
	return 0;
}

int controller_open_nodes(struct hs_controller *controller)
{
	unsigned n = controller->config->n_nodes;

	controller->nodes = calloc(n ? n : 1, sizeof(*controller->nodes));
	if (!controller->nodes)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		struct controller_node *node = &controller->nodes[i];
		node->config = &controller->config->nodes[i];
		node->index = i;
		node->next_hello_ns = node->next_audit_ns = node->down_since_ns =
				controller->now_ns;
		TAILQ_INIT(&node->bindings);
		TAILQ_INIT(&node->queue);
	}
	return index_nodes(controller);
}

void controller_close_nodes(struct hs_controller *controller)
{
	free(controller->by_id);
	free(controller->nodes);
	controller->nodes = NULL;
}

// ---- calls ----

static struct call take_first(struct controller_node *node)
{
	struct call call = node->calls[node->first_call];

	node->first_call = (node->first_call + 1) % CALLS_AT_ONCE;
	node->n_calls--;
	node->n_hellos -= call.kind == CALL_HELLO;
	node->n_relays -= call.kind == CALL_RELAY;
	return call;
}

// Gives up the calls before this one (UINT64_MAX: all).
static void drop_calls(struct hs_controller *controller, struct controller_node *node, uint64_t id)
{
	while (node->n_calls && node->calls[node->first_call].id < id) {
		struct call call = take_first(node);
		if (call.kind == CALL_RELAY)
			controller_relayed(controller, node, &call, NULL, NULL);
		else if (call.kind >= CALL_ROUTE_PORTS)
			controller_reroute_call_lost(controller, node, &call);
		else if (call.kind >= CALL_LABEL_PORTS)
			controller_label_call_lost(controller, node, &call);
		else if (call.kind != CALL_HELLO)
			controller_repair_lost(controller, node, &call);
	}
}

// ---- up and down ----

static json_t *name_of(const struct controller_node *node)
{
	return json_pack("{s:s, s:i}", "node", node->config->name, "node_id", node->config->id);
}

static void went_down(struct hs_controller *controller, struct controller_node *node)
{
	node->timeouts++;
	if (node->reachable) {
		node->reachable = false;
		node->down_since_ns = controller->now_ns;
		hs_controller_event(controller, "node_unreachable", name_of(node),
				"node \"%s\" does not answer", node->config->name);
		controller_label_node_down(controller, node);
		controller_reroute_node_down(controller);
	}
	drop_calls(controller, node, UINT64_MAX);
	node->next_hello_ns = controller->now_ns;
}

static void came_up(
		struct hs_controller *controller, struct controller_node *node, const char *boot_id)
{
	bool known = node->boot_id[0] != '\0';
	bool restarted = known && strcmp(node->boot_id, boot_id) != 0;

	if (node->reachable && !restarted)
		return;
	if (restarted) {
		node->restarts++;
		hs_controller_event(controller, "node_restarted", name_of(node),
				"node \"%s\" has restarted: its rules are looked at",
				node->config->name);
	}
	if (!node->reachable)
		hs_controller_event(controller, "node_reachable", name_of(node),
				"node \"%s\" answers", node->config->name);
	snprintf(node->boot_id, sizeof(node->boot_id), "%s", boot_id);
	node->reachable = true;
	controller_found_anew(controller, node);
	controller_label_node_up(controller, node);
	controller_reroute_node_up(controller, node, restarted);
}

static void take_hello(struct hs_controller *controller, struct controller_node *node, json_t *ok)
{
	struct reply_hello hello;
	struct hs_error err;

	if (reply_read_hello(ok, &hello, &err) < 0) {
		controller_bad_reply(controller, node, "hello", &err);
		return;
	}
	node->keeps_owner = hello.keeps_owner;
	bool changed = !node->reachable || strcmp(node->boot_id, hello.boot_id) != 0;
	node->other_id = hello.node_id != node->config->id;
	if (changed && node->other_id)
		hs_controller_event(controller, "node_id_differs", name_of(node),
				"node \"%s\" says that its id is %u, not %u", node->config->name,
				hello.node_id, node->config->id);
	came_up(controller, node, hello.boot_id);
}

// ---- answers ----

// Notes the generation of an answer. A change that the node made for this controller explains one
// step. After any other step, the node's rules are audited.
static void note_generation(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, const struct reply *reply)
{
	bool changed = (call->kind == CALL_INSTALL || call->kind == CALL_UPDATE ||
				       call->kind == CALL_DELETE || call->kind == CALL_ROUTE_SET) &&
		       reply->ok;

	if (reply->generation == REPLY_NO_GENERATION)
		return;
	if (node->reachable && reply->generation != node->generation + changed)
		controller_suspect(controller, node);
	node->generation = reply->generation;
}

static void pass_on(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok, const struct reply_error *error)
{
	if (call->kind == CALL_HELLO)
		take_hello(controller, node, ok);
	else if (call->kind == CALL_RELAY)
		controller_relayed(controller, node, call, ok, error);
	else if (call->kind >= CALL_ROUTE_PORTS)
		controller_reroute_answered(controller, node, call, ok, error);
	else if (call->kind >= CALL_LABEL_PORTS)
		controller_label_answered(controller, node, call, ok);
	else
		controller_repaired(controller, node, call, ok, error);
}

void controller_answered(
		struct hs_controller *controller, struct controller_node *node, json_t *message)
{
	struct reply_error error;
	struct reply reply;
	struct hs_error err;

	if (reply_read(message, &reply, &err) < 0) {
		controller_bad_reply(controller, node, "a request", &err);
		return;
	}
	if (!node->n_calls || reply.id < node->calls[node->first_call].id ||
			reply.id > controller->calls)
		return; // too late
	drop_calls(controller, node, reply.id);
	if (!node->n_calls || node->calls[node->first_call].id != reply.id)
		return;
	struct call call = take_first(node);
	node->last_answer_ns = controller->now_ns;
	note_generation(controller, node, &call, &reply);
	if (reply.error && reply_read_error(reply.error, &error, &err) < 0)
		controller_bad_reply(controller, node, call.verb, &err);
	pass_on(controller, node, &call, reply.ok, reply.error ? &error : NULL);
}

// ---- time ----

static bool answered_lately(
		const struct hs_controller *controller, const struct controller_node *node)
{
	return controller->now_ns - node->last_answer_ns < controller->config->timeout_ms * MS_NS;
}

static bool late(const struct hs_controller *controller, const struct controller_node *node)
{
	// A node that answers anything is only busy.
	return !answered_lately(controller, node) &&
	       controller->now_ns - node->calls[node->first_call].sent_ns >=
			       controller->config->timeout_ms * MS_NS;
}

static int64_t pause_of(const struct hs_controller *controller, const struct controller_node *node)
{
	if (node->reachable)
		return controller->config->hello_ms * MS_NS;
	int64_t down_ns = controller->now_ns - node->down_since_ns;
	int64_t pause_ns = down_ns / 8; // the interval grows with the time away
	if (pause_ns < RETRY_MIN_MS * MS_NS)
		return RETRY_MIN_MS * MS_NS;
	return pause_ns < RETRY_MAX_MS * MS_NS ? pause_ns : RETRY_MAX_MS * MS_NS;
}

void controller_look_at_node(struct hs_controller *controller, struct controller_node *node)
{
	node->next_hello_ns = controller->now_ns;
}

void controller_step_node(struct hs_controller *controller, struct controller_node *node)
{
	if (node->n_calls && late(controller, node))
		went_down(controller, node);
	if (controller->now_ns >= node->next_hello_ns && node->n_hellos < CALLS_HELLO) {
		struct call call = {.kind = CALL_HELLO};
		bool sent = controller_call(controller, node, &call, "hello", json_object()) == 0;
		if (!sent && node->reachable && !answered_lately(controller, node))
			went_down(controller, node); // the connection is closed
		node->next_hello_ns = controller->now_ns + pause_of(controller, node);
	}
	controller_repair(controller, node);
}

int64_t controller_node_next_ns(
		const struct hs_controller *controller, const struct controller_node *node)
{
	int64_t next_ns = node->next_hello_ns;

	if (node->reachable && !node->auditing && node->next_audit_ns < next_ns)
		next_ns = node->next_audit_ns;
	if (node->n_calls && next_ns > controller->now_ns + controller->config->timeout_ms * MS_NS)
		next_ns = controller->now_ns + controller->config->timeout_ms * MS_NS;
	return next_ns;
}

void controller_shift_node(struct controller_node *node, int64_t ns)
{
	node->next_hello_ns += ns;
	node->last_answer_ns += ns;
	node->next_audit_ns += ns;
	node->audit_start_ns += ns;
	node->down_since_ns += ns;
	node->bad_limit.next_ns += ns;
	for (unsigned i = 0; i < node->n_calls; i++)
		node->calls[(node->first_call + i) % CALLS_AT_ONCE].sent_ns += ns;
}

void controller_node_refuses(
		struct hs_controller *controller, struct controller_node *node, bool refuses)
{
	if (refuses && !node->refuses_key)
		hs_controller_event(controller, "node_refuses_key", name_of(node),
				"node \"%s\" does not allow the controller's key",
				node->config->name);
	node->refuses_key = refuses;
}

// ---- showing ----

struct shown {
	const struct controller_node *node;
	uint32_t is_down, rules_wanted;
	int64_t down_ns;
};

#define CONFIG(...) HS_SCHEMA_ROW_AS(struct hs_controller_node_config, __VA_ARGS__)
static const struct hs_schema_field config_rows[] = {
		CONFIG(TEXT, "name", name, "the node's name here", .required = true),
		CONFIG(UINT, "node_id", id, "the node's id", .max = UINT16_MAX),
		CONFIG(TEXT, "api", api, "where the node answers", .required = true),
		{NULL},
};
#define NODE(...) HS_SCHEMA_ROW_AS(struct controller_node, __VA_ARGS__)
static const struct hs_schema_field identity_rows[] = {
		{"", HS_SCHEMA_MEMBERS, HS_SCHEMA_MEMBER(struct controller_node, config),
				.behind = true, .fields = config_rows},
		NODE(BOOL, "reachable", reachable, "whether the node answers"),
		NODE(TEXT, "boot_id", boot_id, "of the node's process", .optional = true),
		NODE(INT, "last_seen_ns", last_answer_ns, "when the node last answered",
				.optional = true),
		NODE(BOOL, "key_refused", refuses_key, "the node does not allow our key",
				.optional = true),
		{NULL},
};
static const struct hs_schema_field count_rows[] = {
		NODE(UINT, "rules_present", n_bindings[BINDING_PRESENT], "rules that are there"),
		NODE(UINT, "rules_conflicting", n_bindings[BINDING_CONFLICT],
				"rules whose place another rule has"),
		NODE(UINT, "rules_refused", n_bindings[BINDING_REFUSED],
				"rules that the node refused"),
		NODE(UINT, "rules_removing", n_bindings[BINDING_LEAVING], "rules to be removed"),
		NODE(UINT, "rules_in_band", in_band_rules, "wanted rules that came in band"),
		NODE(UINT, "rules_foreign", foreign_rules, "rules that nobody here asked for"),
		NODE(UINT, "calls_under_way", n_calls, "requests without an answer so far"),
		NODE(UINT, "requests", requests, "requests sent"),
		NODE(UINT, "timeouts", timeouts, "how often the node did not answer in time"),
		NODE(UINT, "replies_bad", replies_bad, "answers that made no sense"),
		NODE(UINT, "restarts", restarts, "restarts of the node that were seen"),
		NODE(UINT, "audits", audits, "how often its rules were read"),
		NODE(UINT, "repairs", repairs, "changes that brought its rules up to date"),
		NODE(UINT, "published", published, "messages of the node that came"),
		NODE(UINT, "publish_missed", missed, "messages of the node that did not come"),
		{NULL},
};
#define SHOWN(...) HS_SCHEMA_ROW(struct shown, __VA_ARGS__)
const struct hs_schema_field controller_node_fields[] = {
		SHOWN(MEMBERS, node, NULL, .behind = true, .fields = identity_rows),
		SHOWN(INT, down_ns, "for how long the node has not answered",
				HS_SCHEMA_IF(struct shown, is_down)),
		SHOWN(UINT, rules_wanted, "rules that belong to the node"),
		SHOWN(MEMBERS, node, NULL, .behind = true, .fields = count_rows),
		{NULL},
};

json_t *controller_node_json(
		const struct hs_controller *controller, const struct controller_node *node)
{
	const uint32_t *n = node->n_bindings;
	const struct shown shown = {node, !node->reachable,
			n[BINDING_MISSING] + n[BINDING_UNKNOWN] + n[BINDING_PRESENT] +
					n[BINDING_CONFLICT] + n[BINDING_REFUSED],
			controller->now_ns - node->down_since_ns};

	return hs_schema_print(controller_node_fields, &shown);
}

// ---- publishers ----

bool controller_publisher(struct hs_controller *controller, const struct reply_origin *origin,
		struct controller_node **found)
{
	unsigned none = controller->config->n_nodes, i = controller->by_id[origin->node_id];

	*found = NULL;
	if (i == none)
		return false;
	if (controller->nodes[i].next_same_id == none)
		*found = &controller->nodes[i];
	for (; i < none && !*found; i = controller->nodes[i].next_same_id)
		if (strcmp(controller->nodes[i].boot_id, origin->boot_id) == 0)
			*found = &controller->nodes[i];
	return true;
}

void controller_follow(struct hs_controller *controller, struct controller_node *node,
		const struct reply_origin *origin)
{
	node->published++;
	if (strcmp(node->published_boot_id, origin->boot_id) != 0)
		strcpy(node->published_boot_id, origin->boot_id);
	else if (origin->seq > node->last_seq + 1)
		node->missed += origin->seq - node->last_seq - 1;
	if (node->missed > INT64_MAX)
		node->missed = INT64_MAX; // the highest number of JSON here
	node->last_seq = origin->seq;
	if (node->reachable && strcmp(node->boot_id, origin->boot_id) != 0 && node->config->id)
		controller_look_at_node(controller, node); // it has restarted
}

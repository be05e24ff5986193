// SPDX-License-Identifier: BSD-3-Clause
// The requests that a client may send to the controller: the verbs of a node, for all nodes at
// once.
#include "controller_verbs.h"

#include "controller_label.h"
#include "controller_monitor.h"
#include "controller_node.h"
#include "controller_probing.h"
#include "controller_qos.h"
#include "controller_relay.h"
#include "controller_reroute.h"
#include "controller_rule.h"
#include "controller_state.h"

#include "api_reply.h"
#include "qos_untold.h"
#include "rule_field.h"

#include <errno.h>

// The most states in a page of rules. Such a page takes ten milliseconds.
#define STATES_AT_ONCE 4000

// ---- rules ----

// Returns where a rule belonged whose removal is reverted. Of several, the last comes first.
static json_t *take_removed(struct hs_controller *controller)
{
	size_t n = json_array_size(controller->wanted.removed);
	json_t *on = n ? json_incref(json_array_get(controller->wanted.removed, n - 1)) : NULL;

	if (n)
		json_array_remove(controller->wanted.removed, n - 1);
	return on;
}

static int int_request(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	const struct controller_rule *before = controller_find_rule(controller, args->rule.ns_id);
	bool is_new = !before || before->deleted;
	json_t *on = args->undo ? take_removed(controller) : json_incref(args->on);
	int rc = controller_want(controller, &args->rule, json_is_object(on) ? on : NULL);

	json_decref(on);
	if (rc < 0) {
		hs_error_set(err, "internal", "", "", "memory is out");
		return rc;
	}
	if (is_new) // a sink publishes the last windows of a rule after the rule was removed
		controller_forget_flow(controller, args->rule.ns_id);
	const struct controller_rule *rule = controller_find_rule(controller, args->rule.ns_id);
	const struct hs_api_changed changed = {args->rule.ns_id, .at_controller = true,
			.nodes = rule->n_bindings - rule->n_leaving,
			.not_told = args->rule.method == HS_RULE_FLEXINT
						    ? hs_qos_untold(args->rule.trace_type)
						    : NULL};
	*result = hs_schema_print(hs_api_request_fields, &changed);
	return 0;
}

static struct controller_rule *wanted(
		struct hs_controller *controller, uint32_t ns_id, struct hs_error *err)
{
	struct controller_rule *rule = controller_find_rule(controller, ns_id);

	if (rule && !rule->deleted)
		return rule;
	hs_error_set(err, "no_such_rule", "ns_id", "a namespace that has a rule",
			"namespace %u has no rule", ns_id);
	return NULL;
}

static int int_update(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	struct controller_rule *rule = wanted(controller, args->ns_id, err);

	if (!rule)
		return -ENOENT;
	int rc = hs_rule_apply(&rule->rule, &args->update, err);
	if (rc < 0)
		return rc;
	controller_rule_changed(controller, rule);
	const struct hs_api_changed changed = {
			args->ns_id, .rule = controller_rule_json(controller, rule)};
	*result = hs_schema_print(hs_api_update_fields, &changed);
	return 0;
}

static int int_delete(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	struct controller_rule *rule = wanted(controller, args->ns_id, err);

	if (!rule)
		return -ENOENT;
	*result = hs_schema_print(hs_api_delete_fields, &(struct hs_api_changed){args->ns_id});
	if (!args->undo)
		json_array_append_new(controller->wanted.removed,
				rule->on ? json_incref(rule->on) : json_null());
	controller_unwant(controller, rule);
	controller_forget_flow(controller, args->ns_id);
	return 0;
}

static int int_list(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	struct hs_api_rules page = {.rules = json_array(), .count = controller->wanted.n};
	uint64_t at = 0, end = args->offset + args->limit, states = 0;
	const struct controller_rule *rule;
	size_t used = 0;

	(void)err;
	TAILQ_FOREACH (rule, &controller->wanted.rules, order) {
		if (at == end)
			break;
		if (rule->deleted || at++ < args->offset)
			continue;
		states += rule->n_bindings;
		if (!hs_api_page_add(args, page.rules, controller_rule_json(controller, rule),
				    &used))
			end = --at;
		else if (states >= STATES_AT_ONCE)
			end = at;
	}
	page.next = end < controller->wanted.n ? end : 0;
	*result = hs_schema_print(hs_api_rules_fields, &page);
	return 0;
}

// ---- the controller ----

static json_t *hello(struct hs_controller *controller)
{
	static const char *const features[] = {"fleet", "qos", "transactions", "events"};
	const struct hs_api_hello said = {
			.version = HS_VERSION,
			.name = controller->config->name,
			.boot_id = controller->boot_id,
			.controller = true,
			.verbs = HS_API_CONTROLLER_VERBS,
			.n_features = sizeof(features) / sizeof(features[0]),
			.features = features,
			.monitored_rules = controller->config->monitored_rules,
			.node_questions = CALLS_RELAY,
			.gathered_bytes = CONTROLLER_GATHERED_BYTES,
			.connection = controller->output.connection,
	};
	return hs_api_hello(&said);
}

struct shown_monitor {
	struct controller_monitor_counters counters;
	uint64_t missed;
	unsigned flows;
};

#define MONITOR(...) HS_SCHEMA_ROW_AS(struct shown_monitor, __VA_ARGS__)
static const struct hs_schema_field monitor_fields[] = {
#define HS_MONITOR_REPORT_COUNT(member, name, unit, sentence, help)                                \
	MONITOR(UINT, name, counters.member, help),
#define HS_MONITOR_WINDOW_COUNT(member, name, unit, sentence, help)                                \
	MONITOR(UINT, name, counters.member, help),
#define HS_MONITOR_REPLY_COUNT(member, name, help) MONITOR(UINT, name, member, help),
#include "controller_counter.def"
		MONITOR(UINT, "flows", flows, "flows with metrics"),
		{NULL},
};

static struct shown_monitor show_monitor(const struct hs_controller *controller)
{
	struct shown_monitor shown = {
			.counters = controller->metrics.counters, .flows = controller->metrics.n};

	for (unsigned i = 0; i < controller->config->n_nodes; i++)
		shown.missed += controller->nodes[i].missed;
	if (shown.missed > INT64_MAX)
		shown.missed = INT64_MAX;
	return shown;
}

struct shown {
	const char *controller, *boot_id, *version;
	int64_t uptime_ns;
	unsigned reachable, rules;
	uint64_t publish_lost;
	struct shown_monitor monitor;
	uint32_t has_lines;
	struct hs_influx_counters influx;
	json_t *nodes;
};

#define SHOWN(...) HS_SCHEMA_ROW(struct shown, __VA_ARGS__)
static const struct hs_schema_field node_get_fields[] = {
		SHOWN(STRING, controller, "the controller's name"),
		SHOWN(STRING, boot_id, "changes with every start"),
		SHOWN(STRING, version, "of the program"),
		SHOWN(INT, uptime_ns, "since the process began"),
		SHOWN(UINT, reachable, "how many nodes answer"),
		SHOWN(UINT, rules, "how many rules are wanted"),
		SHOWN(UINT, publish_lost, "messages that no listener took in time"),
		SHOWN(OBJECT, monitor, "what the controller took from publishers",
				.fields = monitor_fields),
		SHOWN(OBJECT, influx, "lines for databases", .fields = hs_influx_counter_rows,
				HS_SCHEMA_IF(struct shown, has_lines)),
		SHOWN(TAKEN, nodes, "each node", .items = controller_node_fields),
		{NULL},
};

json_t *controller_show(struct hs_controller *controller)
{
	struct shown shown = {
			.controller = controller->config->name,
			.boot_id = controller->boot_id,
			.version = HS_VERSION,
			.uptime_ns = controller->now_ns - controller->start_ns,
			.rules = controller->wanted.n,
			.publish_lost = controller->publish_lost,
			.monitor = show_monitor(controller),
			.nodes = json_array(),
	};

	if (controller->output.lines) {
		shown.has_lines = true;
		controller->output.lines(controller->output.context, &shown.influx);
	}
	for (unsigned i = 0; i < controller->config->n_nodes; i++) {
		shown.reachable += controller->nodes[i].reachable;
		json_array_append_new(shown.nodes,
				controller_node_json(controller, &controller->nodes[i]));
	}
	return hs_schema_print(node_get_fields, &shown);
}

static int events(struct hs_controller *controller, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	(void)err;
	*result = hs_event_log_since(&controller->events, args);
	return 0;
}

// Notes a question that only the nodes can answer. Their answers replace this call's answer.
#define ASKED "asked"

static int ask_nodes(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err)
{
	(void)err;
	controller->questions.verb = args->verb;
	controller->questions.args = *args;
	json_incref(args->labels); // the message has gone when nodes are asked
	*result = json_pack("{s:b}", ASKED, 1);
	return 0;
}

// Routes are missing: they are each node's own.
HS_API_VERBS(struct hs_controller, verbs) = {
		[HS_VERB_HELLO] = {hs_api_hello_fields, .show = hello},
		[HS_VERB_INT_REQUEST] = {hs_api_request_fields, int_request},
		[HS_VERB_INT_UPDATE] = {hs_api_update_fields, int_update},
		[HS_VERB_INT_DELETE] = {hs_api_delete_fields, int_delete},
		[HS_VERB_INT_LIST] = {hs_api_rules_fields, int_list},
		[HS_VERB_INT_GET] = {controller_gathered_fields, ask_nodes},
		[HS_VERB_QOS_GET] = {hs_api_metrics_fields, controller_qos_get},
		[HS_VERB_NODE_GET] = {node_get_fields, .show = controller_show},
		[HS_VERB_PORTS_GET] = {controller_gathered_fields, ask_nodes},
		[HS_VERB_STATS_GET] = {controller_gathered_fields, ask_nodes},
		[HS_VERB_DROPS_GET] = {controller_gathered_fields, ask_nodes},
		[HS_VERB_EVENTS] = {hs_event_log_fields, events},
		[HS_VERB_AUDIT] = {controller_gathered_fields, ask_nodes},
		[HS_VERB_EXPLAIN] = {controller_gathered_fields, ask_nodes},
		[HS_VERB_LABEL_GET] = {controller_label_fields, controller_label_get},
		[HS_VERB_LABEL_SET] = {controller_gathered_fields, ask_nodes},
		[HS_VERB_PROBE_RUN] = {controller_probe_run_fields, controller_probe_run},
		[HS_VERB_PROBE_STATUS] = {controller_probe_status_fields, controller_probe_status},
		[HS_VERB_PROBE_LINKS] = {controller_probe_links_fields, controller_probe_links},
		[HS_VERB_PROBE_ROUTES] = {controller_probe_routes_fields, controller_probe_routes},
};

const struct hs_schema_field *controller_reply_fields(enum hs_api_verb verb)
{
	return verbs[verb].fields;
}

static int run_verb(void *context, const struct hs_api_args *args, json_t **result,
		struct hs_error *err)
{
	if (!verbs[args->verb].show)
		return verbs[args->verb].run(context, args, result, err);
	*result = verbs[args->verb].show(context);
	return 0;
}

// ---- the backend of the API ----

static int check_node(const struct hs_controller *controller, const struct hs_api_args *args,
		struct hs_error *err)
{
	if (!args->node[0] && args->verb == HS_VERB_LABEL_SET)
		return hs_error_set(err, "missing_field", "node", "the name of a node",
				"node is missing: a controller passes the request to one node");
	if (args->node[0] && hs_controller_config_node(controller->config, args->node) < 0)
		return hs_error_set(err, "bad_value", "node", "the name of a node",
				"node: no node is called \"%s\"", args->node);
	return 0;
}

static int answers(void *context, const struct hs_api_args *args, struct hs_error *err)
{
	struct hs_controller *controller = context;

	if (args->verb >= HS_VERB_OF_COLLECTORS)
		return hs_api_refuse_verb(args->verb, err);
	if (!verbs[args->verb].fields)
		return hs_error_set(err, "unsupported", "", "a node's own API",
				"routes are each node's own: ask the node");
	if (check_node(controller, args, err))
		return -EINVAL;
	bool asks = verbs[args->verb].run == ask_nodes,
	     again = asks && controller->questions.asks_nodes;
	controller->questions.asks_nodes |= asks;
	return again ? hs_error_set(err, "unsupported", "", "one question at a time",
				       "what all nodes are asked for cannot stand beside another "
				       "such question in a list")
		     : 0;
}

static bool ns_exists(void *context, uint32_t ns_id)
{
	const struct controller_rule *rule = controller_find_rule(context, ns_id);
	return rule && !rule->deleted;
}

static const struct hs_rule *rule_of(void *context, uint32_t ns_id)
{
	const struct controller_rule *rule = controller_find_rule(context, ns_id);
	return rule && !rule->deleted ? &rule->rule : NULL;
}

// Returns whether a question about a rule of others can be answered: the nodes answer, or metrics
// that they published are kept.
static bool knows(void *context, enum hs_api_verb verb, uint32_t ns_id)
{
	return verb == HS_VERB_INT_GET || verb == HS_VERB_EXPLAIN ||
	       controller_find_flow(context, ns_id) != NULL;
}

static uint32_t rules_free(void *context)
{
	const struct hs_controller *controller = context;
	const struct hs_controller_config *c = controller->config;
	return c->max_rules > controller->wanted.n ? c->max_rules - controller->wanted.n : 0;
}

static uint64_t generation(void *context)
{
	return ((struct hs_controller *)context)->wanted.generation;
}

// Refuses a rule that names an owner, because the controller itself is the owner at the nodes.
static int admits(void *context, const struct hs_rule *rule, struct hs_error *err)
{
	(void)context;
	if (!rule->owner)
		return 0;
	return hs_error_set(err, "unsupported", "owner", "a node's own API",
			"owner: a controller's rules carry the controller's own name");
}

static int check_on(void *context, const json_t *on, struct hs_error *err)
{
	return controller_check_on(context, on, err);
}

// Returns the requested labels. What the nodes have is not known here, so that nothing is taken
// back.
static json_t *labels_now(void *context, const json_t *labels, struct hs_error *err)
{
	(void)context, (void)err;
	return json_incref((json_t *)labels);
}

static int save(void *context, const json_t *changes, struct hs_error *err)
{
	const struct hs_controller *controller = context;

	if (controller->starting || !controller->output.save)
		return 0;
	return controller->output.save(controller->output.context, changes, err);
}

static void unsave(void *context)
{
	const struct hs_controller *controller = context;

	if (!controller->starting && controller->output.unsave)
		controller->output.unsave(controller->output.context);
}

void controller_open_verbs(struct hs_controller *controller)
{
	controller->backend = (struct hs_api_backend){
			.context = controller,
			.run = run_verb,
			.ns_exists = ns_exists,
			.knows = knows,
			.rule_of = rule_of,
			.rules_free = rules_free,
			.generation = generation,
			.admits = admits,
			.answers = answers,
			.check_on = check_on,
			.labels_now = labels_now,
			.save = save,
			.unsave = unsave,
			.spent_ns = controller->output.spent_ns,
	};
	controller->questions.verb = HS_VERB_COUNT;
}

// Returns the part of a reply that the nodes must answer: the whole reply, or an entry of a list.
static json_t *find_asked(json_t *reply)
{
	json_t *ok = json_object_get(reply, "ok"), *entry;
	size_t i;

	if (json_object_get(ok, ASKED))
		return ok;
	json_array_foreach (ok, i, entry)
		if (json_object_get(entry, ASKED))
			return entry;
	return NULL;
}

static bool relay(struct hs_controller *controller, void *token, const char *text)
{
	enum hs_api_verb verb = controller->questions.verb;

	controller->questions.verb = HS_VERB_COUNT;
	json_t *reply = verb != HS_VERB_COUNT && text ? json_loads(text, 0, NULL) : NULL;
	json_t *asked = find_asked(reply);
	if (asked)
		controller_relay(
				controller, token, reply, asked, verb, &controller->questions.args);
	else
		json_decref(reply);
	json_decref(controller->questions.args.labels);
	controller->questions.args.labels = NULL;
	return asked != NULL;
}

void controller_request(struct hs_controller *controller, void *token, const char *message,
		size_t len, bool may_change)
{
	controller->questions.asks_nodes = false;
	char *reply = hs_api_handle(&controller->backend, message, len, may_change);

	json_array_clear(controller->wanted.removed);
	if (!relay(controller, token, reply))
		controller->output.reply(controller->output.context, token, reply);
	free(reply);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "api_reply.h"

#include "api_verbs.h"
#include "event_log.h"

// ---- hello ----

struct said {
	struct hs_api_hello hello;
	const char *api_version;
	const char *const *verbs;
	unsigned n_verbs;
	struct limits {
		uint32_t message_bytes, depth, commas, string_bytes, id_bytes;
		uint32_t transaction_verbs, questions, questions_beside_changes, question_weight;
		uint32_t page, answer_bytes, answer_ns, events;
		uint32_t rules, monitored_rules, routes, node_questions, gathered_bytes;
		const struct hs_api_connection_limits *connection;
	} limits;
};

#define CONNECTION(...) HS_SCHEMA_ROW(struct hs_api_connection_limits, UINT, __VA_ARGS__)
static const struct hs_schema_field connection_fields[] = {
		CONNECTION(requests, "requests of a connection that are taken and not yet "
				     "answered; the next one waits"),
		CONNECTION(waiting_bytes,
				"bytes of requests of a connection that wait to be taken; "
				"beyond it nothing is read"),
		CONNECTION(part_bytes, "what each part of a message counts beside its bytes, in "
				       "waiting_bytes and subscription_bytes"),
		CONNECTION(message_bytes,
				"bytes of a part of a message; a longer one closes the connection"),
		CONNECTION(reply_bytes,
				"bytes of replies that a client has not taken; beyond it its "
				"requests wait"),
		CONNECTION(subscriptions, "short subscriptions and cancellations on a connection; "
					  "one more closes the connection"),
		CONNECTION(subscription_bytes, "bytes of all subscriptions and cancellations on a "
					       "connection; beyond it the connection is closed"),
		CONNECTION(queued_messages,
				"published messages that wait for a subscriber; further "
				"ones are lost to the subscriber"),
		CONNECTION(connections, "connections that are open at once"),
		CONNECTION(connections_of_one,
				"of these, those of one process, or of one host over tcp"),
		{NULL},
};

#define LIMIT(...) HS_SCHEMA_ROW(struct limits, UINT, __VA_ARGS__)
static const struct hs_schema_field limit_fields[] = {
		LIMIT(message_bytes, "bytes of a message"),
		LIMIT(depth, "levels of a message"),
		LIMIT(commas, "commas of a message, outside strings"),
		LIMIT(string_bytes, "bytes of a string"),
		LIMIT(id_bytes, "bytes of an `id` that is a string"),
		LIMIT(transaction_verbs, "requests in a list; no list is longer"),
		LIMIT(questions, "requests in a list that changes nothing"),
		LIMIT(questions_beside_changes, "`int_get` in a list that changes something"),
		LIMIT(question_weight, "how many `int_get` any other question counts as there"),
		LIMIT(page, "entries of a page"),
		LIMIT(answer_bytes,
				"bytes of the entries of a page, and of the answers to a list that "
				"changes nothing"),
		LIMIT(answer_ns, "processor time of the answers to a list that changes nothing"),
		LIMIT(events, "newest events that `events` can tell"),
		LIMIT(rules, "rules that fit at a node", .optional = true),
		LIMIT(monitored_rules, "rules with metrics"),
		LIMIT(routes, "routes that fit at a node that routes", .optional = true),
		LIMIT(node_questions, "at a controller: questions that are under way at a node",
				.optional = true),
		LIMIT(gathered_bytes, "at a controller: bytes of the nodes' answers to a question",
				.optional = true),
		HS_SCHEMA_ROW(struct limits, OBJECT, connection, "of each connection",
				.fields = connection_fields, .behind = true),
		{NULL},
};
static const struct hs_schema_list verb_list = {
		.item = {.kind = HS_SCHEMA_STRING},
		.item_bytes = sizeof(const char *),
		HS_SCHEMA_COUNT(struct said, n_verbs),
		.heap = true,
};
static const struct hs_schema_list feature_list = {
		.item = {.kind = HS_SCHEMA_STRING},
		.item_bytes = sizeof(const char *),
		HS_SCHEMA_COUNT(struct hs_api_hello, n_features),
		.heap = true,
};

static bool is_node(const void *hello)
{
	const struct hs_api_hello *said = hello;
	return !said->controller && !said->collector;
}

#define SAID(...)  HS_SCHEMA_ROW(struct said, __VA_ARGS__)
#define HELLO(...) HS_SCHEMA_ROW(struct hs_api_hello, __VA_ARGS__)
const struct hs_schema_field hs_api_hello_fields[] = {
		SAID(STRING, api_version, "of this API"),
		SAID(LIST, verbs, "every verb that is answered here", .list = &verb_list),
		SAID(OBJECT, limits, "bounds of messages and tables", .fields = limit_fields),
		HELLO(STRING, version, "of the program"),
		HELLO(UINT, node_id, "of a node", .max = UINT16_MAX, .given = is_node),
		HELLO(STRING, name, "of the node, controller or collector"),
		HELLO(STRING, boot_id, "changes with every start"),
		HELLO(BOOL, controller, "this is a controller", .optional = true),
		HELLO(BOOL, collector, "this is a collector", .optional = true),
		HELLO(LIST, features, "what this program can do beside the verbs",
				.list = &feature_list),
		{NULL},
};

json_t *hs_api_hello(const struct hs_api_hello *hello)
{
	const char *verbs[HS_VERB_COUNT];
	struct said said = {
			.hello = *hello,
			.api_version = HS_API_VERSION,
			.verbs = verbs,
			.limits =
					{
							.message_bytes = HS_API_MAX_BYTES,
							.depth = HS_API_MAX_DEPTH,
							.commas = HS_API_MAX_VALUES,
							.string_bytes = HS_API_MAX_STRING,
							.id_bytes = HS_API_MAX_ID,
							.transaction_verbs = HS_API_MAX_VERBS,
							.questions = HS_API_MAX_QUESTIONS,
							.questions_beside_changes =
									HS_API_MAX_PRICE,
							.question_weight = HS_API_LARGE_PRICE,
							.page = HS_API_MAX_PAGE,
							.answer_bytes = HS_API_MAX_REPLY,
							.answer_ns = HS_API_MAX_REPLY_NS,
							.events = HS_EVENT_LOG_EVENTS,
							.rules = hello->rules,
							.monitored_rules = hello->monitored_rules,
							.routes = hello->routes,
							.node_questions = hello->node_questions,
							.gathered_bytes = hello->gathered_bytes,
							.connection = hello->connection,
					},
	};
	for (unsigned verb = 0; verb < HS_VERB_COUNT; verb++) {
		if (hello->verbs & 1u << verb)
			verbs[said.n_verbs++] = hs_api_verbs[verb].name;
	}
	return hs_schema_print(hs_api_hello_fields, &said);
}

// ---- rules ----

#define NEED(...) HS_SCHEMA_ROW(struct hs_api_mtu_need, __VA_ARGS__)
const struct hs_schema_field hs_api_mtu_need_fields[] = {
		NEED(UINT, mtu_needed_bytes,
				"the MTU with which network ports have room for the telemetry of a "
				"whole path in a host's packet of full size",
				.optional = true),
		NEED(TAKEN, ports_below_mtu, "the network ports whose MTU is less",
				.optional = true,
				.shape = "{'type': 'array', 'items': {'type': 'string'}}"),
		{NULL},
};

#define CHANGED(...) HS_SCHEMA_ROW(struct hs_api_changed, __VA_ARGS__)
#define NS_ID	     CHANGED(UINT, ns_id, "the rule", .min = 1, .max = UINT32_MAX)
const struct hs_schema_field hs_api_request_fields[] = {
		NS_ID,
		CHANGED(UINT, shadowed_by,
				"an older rule with the same 5-tuple, which takes packets",
				.max = UINT32_MAX, .optional = true),
		CHANGED(UINT, nodes, "at a controller: at how many nodes the rule is wanted",
				HS_SCHEMA_IF(struct hs_api_changed, at_controller)),
		CHANGED(BOOL, no_port_of_method,
				"the node has network ports, and none of them has the rule's "
				"method",
				.optional = true),
		CHANGED(TAKEN, not_told, "metrics that the trace type has no fields for",
				.optional = true,
				.shape = "{'type': 'array', 'items': {'$ref': "
					 "'#/$defs/not_told'}}"),
		CHANGED(MEMBERS, mtu, NULL, .fields = hs_api_mtu_need_fields),
		{NULL},
};
const struct hs_schema_field hs_api_update_fields[] = {
		NS_ID,
		CHANGED(TAKEN, rule, "the rule as it is in force", .shape = HS_API_RULE_SHAPE),
		{NULL},
};
const struct hs_schema_field hs_api_delete_fields[] = {NS_ID, {NULL}};

#define SHADOWED(...) HS_SCHEMA_ROW(struct hs_api_shadowed, UINT, __VA_ARGS__, .max = UINT32_MAX)
const struct hs_schema_field hs_api_shadowed_fields[] = {
		SHADOWED(ns_id, "the rule"),
		SHADOWED(shadowed_by, "the rule that takes the packets"),
		{NULL},
};

#define RULES(...) HS_SCHEMA_ROW(struct hs_api_rules, __VA_ARGS__)
const struct hs_schema_field hs_api_rules_fields[] = {
		RULES(TAKEN, rules, "the rules of the page",
				.shape = "{'type': 'array', 'items': " HS_API_RULE_SHAPE "}"),
		RULES(UINT, count, "how many rules there are"),
		RULES(TAKEN, in_band, "those of them that came in band", .optional = true,
				.shape = "{'type': 'array', 'items': {'type': 'integer'}}"),
		RULES(TAKEN, config, "those of them that the configuration asks for",
				.optional = true,
				.shape = "{'type': 'array', 'items': {'type': 'integer'}}"),
		RULES(TAKEN, state,
				"those of them that an earlier run kept in the file of the state",
				.optional = true,
				.shape = "{'type': 'array', 'items': {'type': 'integer'}}"),
		RULES(TAKEN, shadowed, "those of them whose packets another rule takes",
				.optional = true, .items = hs_api_shadowed_fields),
		RULES(UINT, next, "the offset of the next page", .optional = true),
		{NULL},
};

// ---- metrics ----

static bool is_of_rules(const void *metrics)
{
	return ((const struct hs_api_metrics *)metrics)->qos;
}

static bool is_of_application(const void *metrics)
{
	return !is_of_rules(metrics);
}

#define METRICS(...) HS_SCHEMA_ROW(struct hs_api_metrics, __VA_ARGS__)
const struct hs_schema_field hs_api_metrics_fields[] = {
		METRICS(TAKEN, qos, "the newest windows", .given = is_of_rules,
				.shape = "{'type': 'array', 'items': {'$ref': "
					 "'qos.json#/$defs/window'}}"),
		METRICS(TAKEN, applications, "of a question with app_id: the application",
				.given = is_of_application,
				.shape = "{'type': 'array', 'items': {'$ref': "
					 "'#/$defs/application'}}"),
		METRICS(UINT, next, "the offset of the next page", .optional = true),
		{NULL},
};

// ---- audits ----

#define EQUATION(...) HS_SCHEMA_ROW(struct hs_api_equation, __VA_ARGS__)
const struct hs_schema_field hs_api_equation_fields[] = {
		EQUATION(STRING, name, "a word for scripts"),
		EQUATION(STRING, text, "the equation"),
		EQUATION(BOOL, ok, "whether both sides are equal"),
		EQUATION(UINT, left, "the value of the left side"),
		EQUATION(UINT, right, "the value of the right side"),
		EQUATION(TAKEN, terms, "the value of each term",
				.shape = "{'type': 'object', 'additionalProperties': "
					 "{'type': 'integer'}}"),
		EQUATION(STRING, port, "of an equation of one port", .optional = true),
		{NULL},
};

bool hs_api_equation(json_t *list, const struct hs_api_equation *equation)
{
	struct hs_api_equation row = *equation;

	row.ok = row.left == row.right;
	json_array_append_new(list, hs_schema_print(hs_api_equation_fields, &row));
	return row.ok;
}

// ---- refusals ----

// Texts may contain bytes of a peer that were cut in the middle of a character.
static json_t *text_to_json(const char *text)
{
	json_t *json = json_string(text);
	char clean[512];
	size_t i;

	if (json)
		return json;
	for (i = 0; text[i] && i < sizeof(clean) - 1; i++)
		clean[i] = (unsigned char)text[i] < 0x80 ? text[i] : '?';
	clean[i] = '\0';
	return json_string(clean);
}

static json_t *print_text(const void *text)
{
	return text_to_json(text);
}

struct refusal {
	json_t *id;
	const struct hs_error *error;
};

#define ERROR(...)                                                                                 \
	HS_SCHEMA_ROW(struct hs_error, CUSTOM, __VA_ARGS__, .print = print_text,                   \
			.shape = "{'type': 'string'}")
static const struct hs_schema_field error_fields[] = {
		ERROR(code, "a word for programs"),
		ERROR(path, "where in the request"),
		ERROR(message, "what is wrong, in words"),
		ERROR(expected, "what is allowed", .optional = true),
		{NULL},
};
static bool has_id(const void *from)
{
	return ((const struct refusal *)from)->id;
}

#define REFUSAL(...) HS_SCHEMA_ROW(struct refusal, __VA_ARGS__)
const struct hs_schema_field hs_api_refusal_fields[] = {
		REFUSAL(JSON, id, "as in the request", .given = has_id,
				.shape = "{'type': ['string', 'integer']}"),
		REFUSAL(OBJECT, error, "why the request was refused", .behind = true,
				.fields = error_fields),
		{NULL},
};

char *hs_api_refusal(json_t *id, const struct hs_error *err)
{
	json_t *reply = hs_schema_print(hs_api_refusal_fields, &(struct refusal){id, err});
	char *text = json_dumps(reply, HS_API_DUMP);
	json_decref(reply);
	return text;
}

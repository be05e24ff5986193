// SPDX-License-Identifier: BSD-3-Clause
// Asks all reachable nodes the questions that only nodes can answer, and puts the answers together.
#include "controller_relay.h"

#include "controller_call.h"
#include "controller_label.h"
#include "controller_state.h"

#include "clean_text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_MESSAGE 255 // bytes of the message of an error, as in struct hs_error

struct text {
	char *bytes;
	size_t len, size;
	bool no_memory;
};

struct relay {
	uint64_t number;
	void *token;
	json_t *reply, *answer; // the whole reply, and the part of it that the nodes answer
	enum hs_api_verb verb;
	unsigned waiting;
	int64_t end_ns;
	struct text answers; // the nodes' answers as members of a JSON object, as text, because
			     // text takes the least memory
	bool fine;	     // everything adds up at each node that answered an audit so far
	json_t *errors, *unreachable;
	size_t error_bytes; // of the nodes' errors
	TAILQ_ENTRY(relay) order;
};

// ---- text ----

static int add(const char *bytes, size_t n, void *data)
{
	struct text *text = data;

	if (text->size < text->len + n + 1) {
		size_t size = 2 * (text->len + n + 1);
		char *more = realloc(text->bytes, size);
		text->no_memory |= !more;
		if (!more)
			return -1;
		text->bytes = more;
		text->size = size;
	}
	memcpy(text->bytes + text->len, bytes, n);
	text->len += n;
	text->bytes[text->len] = '\0';
	return 0;
}

static void add_text(struct text *text, const char *bytes)
{
	add(bytes, strlen(bytes), text);
}

static void add_json(struct text *text, const json_t *json)
{
	if (json_dump_callback(json, add, text, HS_API_DUMP | JSON_ENCODE_ANY))
		text->no_memory = true;
}

static void add_name(struct text *text, const char *name)
{
	json_t *json = json_string(name);

	add_json(text, json);
	add_text(text, ":");
	json_decref(json);
}

// ---- the reply ----

// The members of the answer that follow the nodes' answers.
struct gathered {
	json_t *errors, *unreachable;
	bool ok;
	uint32_t audited;
};

struct failure {
	const char *code, *message;
};

#define FAILURE(...) HS_SCHEMA_ROW(struct failure, STRING, __VA_ARGS__)
static const struct hs_schema_field failure_fields[] = {
		FAILURE(code, "as in errors of the node"),
		FAILURE(message, "in words"),
		{NULL},
};
#define GATHERED(...) HS_SCHEMA_ROW(struct gathered, __VA_ARGS__)
const struct hs_schema_field controller_gathered_fields[] = {
		GATHERED(JSON, errors, "of nodes that answered with an error, by name",
				.optional = true,
				.list = &(const struct
						hs_schema_list){.item = {.kind = HS_SCHEMA_OBJECT,
										.fields = failure_fields},
						.name_bytes = HS_CONTROLLER_NAME_BYTES}),
		GATHERED(JSON, unreachable, "names of nodes that did not answer", .optional = true,
				.shape = "{'type': 'array', 'items': {'type': 'string'}}"),
		GATHERED(BOOL, ok, "of an audit: whether everything adds up at all nodes",
				HS_SCHEMA_IF(struct gathered, audited)),
		{NULL},
};

static void fail(struct relay *relay, const struct controller_node *node, const char *code,
		const char *message)
{
	json_t *kept = hs_schema_print(failure_fields, &(struct failure){code, message});

	relay->error_bytes += json_dumpb(kept, NULL, 0, HS_API_DUMP);
	json_object_set_new(relay->errors, node->config->name, kept);
}

static void fill(struct relay *relay)
{
	const struct gathered gathered = {relay->errors, relay->unreachable,
			relay->fine && json_object_size(relay->errors) == 0 &&
					json_array_size(relay->unreachable) == 0,
			relay->verb == HS_VERB_AUDIT};

	json_object_clear(relay->answer);
	hs_schema_print_into(relay->answer, controller_gathered_fields, &gathered);
}

// Writes the nodes' answers in front of the members of the relay's own object.
static void add_answer(struct text *text, const struct relay *relay)
{
	const char *key;
	json_t *value;

	add_text(text, "{\"nodes\":{");
	add(relay->answers.bytes ? relay->answers.bytes : "", relay->answers.len, text);
	add_text(text, "}");
	json_object_foreach (relay->answer, key, value) {
		add_text(text, ",");
		add_name(text, key);
		add_json(text, value);
	}
	add_text(text, "}");
}

static void add_ok(struct text *text, const struct relay *relay)
{
	json_t *ok = json_object_get(relay->reply, "ok"), *entry;
	size_t i;

	if (ok == relay->answer) {
		add_answer(text, relay);
		return;
	}
	json_array_foreach (ok, i, entry) {
		add_text(text, i ? "," : "[");
		if (entry == relay->answer)
			add_answer(text, relay);
		else
			add_json(text, entry);
	}
	add_text(text, "]");
}

static struct text reply_of(const struct relay *relay)
{
	struct text text = {.no_memory = relay->answers.no_memory};
	const char *key;
	json_t *value;

	json_object_foreach (relay->reply, key, value) {
		add_text(&text, text.len ? "," : "{");
		add_name(&text, key);
		if (strcmp(key, "ok") == 0)
			add_ok(&text, relay);
		else
			add_json(&text, value);
	}
	add_text(&text, "}");
	return text;
}

static void finish(struct hs_controller *controller, struct relay *relay)
{
	fill(relay);
	struct text text = reply_of(relay);
	TAILQ_REMOVE(&controller->questions.relays, relay, order);
	controller->output.reply(controller->output.context, relay->token,
			text.no_memory ? NULL : text.bytes);
	free(text.bytes);
	free(relay->answers.bytes);
	json_decref(relay->reply);
	json_decref(relay->errors);
	json_decref(relay->unreachable);
	free(relay);
}

static void miss(struct relay *relay, const struct controller_node *node)
{
	json_array_append_new(relay->unreachable, json_string(node->config->name));
}

static json_t *content_of(const struct hs_api_args *args)
{
	if (args->has_ns_id)
		return json_pack("{s:I}", "ns_id", (json_int_t)args->ns_id);
	if (args->labels)
		return json_pack("{s:O}", "ports", args->labels);
	return json_object();
}

static void ask(struct hs_controller *controller, struct relay *relay, struct controller_node *node,
		const struct hs_api_args *args)
{
	struct call call = {.kind = CALL_RELAY, .of = relay->number};

	if (node->reachable && node->n_relays >= CALLS_RELAY)
		fail(relay, node, "busy", "too many questions are under way at this node");
	else if (node->reachable &&
			controller_call(controller, node, &call, hs_api_verb_name(relay->verb),
					content_of(args)) == 0)
		relay->waiting++;
	else
		miss(relay, node);
}

void controller_relay(struct hs_controller *controller, void *token, json_t *reply, json_t *answer,
		enum hs_api_verb verb, const struct hs_api_args *args)
{
	struct relay *relay = calloc(1, sizeof(*relay));

	if (!relay) {
		controller->output.reply(controller->output.context, token, NULL);
		json_decref(reply);
		return;
	}
	relay->number = ++controller->questions.ids;
	relay->token = token;
	relay->reply = reply;
	relay->answer = answer;
	relay->verb = verb;
	relay->end_ns = controller->now_ns + controller->config->timeout_ms * INT64_C(1000000);
	relay->fine = true;
	relay->errors = json_object();
	relay->unreachable = json_array();
	TAILQ_INSERT_TAIL(&controller->questions.relays, relay, order);
	for (unsigned i = 0; i < controller->config->n_nodes; i++)
		if (!args->node[0] || strcmp(args->node, controller->config->nodes[i].name) == 0)
			ask(controller, relay, &controller->nodes[i], args);
	if (!relay->waiting)
		finish(controller, relay);
}

static struct relay *find(struct hs_controller *controller, uint64_t number)
{
	struct relay *relay;

	TAILQ_FOREACH (relay, &controller->questions.relays, order)
		if (relay->number == number)
			return relay;
	return NULL;
}

static void take_answer(struct relay *relay, const struct controller_node *node, const json_t *ok)
{
	struct text *answers = &relay->answers;

	if (answers->len + relay->error_bytes + json_dumpb(ok, NULL, 0, HS_API_DUMP) >
			CONTROLLER_GATHERED_BYTES) {
		fail(relay, node, "too_large",
				"the answers of the other nodes have 4 MiB already: ask this node "
				"itself");
		return;
	}
	if (answers->len)
		add_text(answers, ",");
	add_name(answers, node->config->name);
	add_json(answers, ok);
}

static void take_audit(struct hs_controller *controller, struct relay *relay,
		struct controller_node *node, json_t *ok)
{
	struct hs_error err;
	bool fine;

	if (reply_read_audit(ok, &fine, &err) < 0)
		controller_bad_reply(controller, node, "audit", &err);
	relay->fine &= fine;
}

// Keeps the code and the message of a node's error. Their bytes count for the limit of the whole
// answer, too.
static void take_error(struct relay *relay, const struct controller_node *node,
		const struct reply_error *error)
{
	char message[MAX_MESSAGE + 1];

	snprintf(message, sizeof(message), "%s", error->message ? error->message : "");
	hs_clean_mend(message);
	fail(relay, node, error->code, message);
}

void controller_relayed(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok, const struct reply_error *error)
{
	struct relay *relay = find(controller, call->of);

	if (!relay)
		return;
	if (ok && relay->verb == HS_VERB_LABEL_SET)
		controller_label_was_set(controller, node, ok);
	if (ok && relay->verb == HS_VERB_AUDIT)
		take_audit(controller, relay, node, ok);
	if (ok)
		take_answer(relay, node, ok);
	else if (error)
		take_error(relay, node, error);
	else
		miss(relay, node);
	if (--relay->waiting == 0)
		finish(controller, relay);
}

static bool is_asked(const struct controller_node *node, const struct relay *relay)
{
	for (unsigned i = 0; i < node->n_calls; i++) {
		const struct call *call = &node->calls[(node->first_call + i) % CALLS_AT_ONCE];
		if (call->kind == CALL_RELAY && call->of == relay->number)
			return true;
	}
	return false;
}

// Ends a question. A node that has not answered counts as unreachable.
static void give_up(struct hs_controller *controller, struct relay *relay)
{
	for (unsigned i = 0; i < controller->config->n_nodes; i++)
		if (is_asked(&controller->nodes[i], relay))
			miss(relay, &controller->nodes[i]);
	finish(controller, relay);
}

void controller_shift_relays(struct hs_controller *controller, int64_t ns)
{
	struct relay *relay;

	TAILQ_FOREACH (relay, &controller->questions.relays, order)
		relay->end_ns += ns;
}

void controller_step_relays(struct hs_controller *controller)
{
	struct relay *relay, *next;

	for (relay = TAILQ_FIRST(&controller->questions.relays); relay; relay = next) {
		next = TAILQ_NEXT(relay, order);
		if (controller->now_ns >= relay->end_ns)
			give_up(controller, relay);
	}
}

int64_t controller_relays_next_ns(const struct hs_controller *controller)
{
	const struct relay *first = TAILQ_FIRST(&controller->questions.relays);

	return first ? first->end_ns : INT64_MAX;
}

void controller_close_relays(struct hs_controller *controller)
{
	while (!TAILQ_EMPTY(&controller->questions.relays))
		give_up(controller, TAILQ_FIRST(&controller->questions.relays));
}

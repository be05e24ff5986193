// SPDX-License-Identifier: BSD-3-Clause
// Questions that only the nodes can answer: put to all that can be reached, answered together.
#include "fleet_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct relay {
	uint64_t number;
	void *token;
	json_t *reply, *answer; // the whole, and the part of it that the nodes answer
	enum hs_api_verb verb;
	unsigned waiting;
	int64_t end_ns;
	json_t *answers, *errors, *unreachable;
	TAILQ_ENTRY(relay) order;
};

static bool all_fine(const struct relay *relay)
{
	const char *name;
	json_t *answer;

	json_object_foreach (relay->answers, name, answer)
		if (!json_is_true(json_object_get(answer, "ok")))
			return false;
	return json_object_size(relay->errors) == 0 && json_array_size(relay->unreachable) == 0;
}

static void fill(struct relay *relay)
{
	json_object_clear(relay->answer);
	json_object_set(relay->answer, "nodes", relay->answers);
	if (json_object_size(relay->errors))
		json_object_set(relay->answer, "errors", relay->errors);
	if (json_array_size(relay->unreachable))
		json_object_set(relay->answer, "unreachable", relay->unreachable);
	if (relay->verb == HS_VERB_AUDIT)
		json_object_set_new(relay->answer, "ok", json_boolean(all_fine(relay)));
}

static void finish(struct hs_fleet *fleet, struct relay *relay)
{
	fill(relay);
	char *text = json_dumps(relay->reply, JSON_COMPACT | JSON_REAL_PRECISION(15));
	TAILQ_REMOVE(&fleet->relays, relay, order);
	fleet->output.reply(fleet->output.context, relay->token, text);
	free(text);
	json_decref(relay->reply);
	json_decref(relay->answers);
	json_decref(relay->errors);
	json_decref(relay->unreachable);
	free(relay);
}

static void miss(struct relay *relay, const struct fleet_node *node)
{
	json_array_append_new(relay->unreachable, json_string(node->config->name));
}

static json_t *content_of(enum hs_api_verb verb, const struct hs_api_args *args)
{
	if (verb == HS_VERB_INT_GET)
		return json_pack("{s:I}", "ns_id", (json_int_t)args->ns_id);
	return json_object();
}

static void ask(struct hs_fleet *fleet, struct relay *relay, struct fleet_node *node,
		const struct hs_api_args *args)
{
	struct call call = {.kind = CALL_RELAY, .of = relay->number};

	if (node->reachable && node->n_relays >= CALLS_RELAY)
		json_object_set_new(relay->errors, node->config->name,
				json_pack("{s:s, s:s}", "code", "busy", "message",
						"too many questions are under way at this node"));
	else if (node->reachable && fleet_call(fleet, node, &call, hs_api_verb_name(relay->verb),
						    content_of(relay->verb, args)) == 0)
		relay->waiting++;
	else
		miss(relay, node);
}

void fleet_relay(struct hs_fleet *fleet, void *token, json_t *reply, json_t *answer,
		enum hs_api_verb verb, const struct hs_api_args *args)
{
	struct relay *relay = calloc(1, sizeof(*relay));

	if (!relay) {
		fleet->output.reply(fleet->output.context, token, NULL);
		json_decref(reply);
		return;
	}
	relay->number = ++fleet->relay_ids;
	relay->token = token;
	relay->reply = reply;
	relay->answer = answer;
	relay->verb = verb;
	relay->end_ns = fleet->now_ns + fleet->config->timeout_ms * INT64_C(1000000);
	relay->answers = json_object();
	relay->errors = json_object();
	relay->unreachable = json_array();
	TAILQ_INSERT_TAIL(&fleet->relays, relay, order);
	for (unsigned i = 0; i < fleet->config->n_nodes; i++)
		ask(fleet, relay, &fleet->nodes[i], args);
	if (!relay->waiting)
		finish(fleet, relay);
}

static struct relay *find(struct hs_fleet *fleet, uint64_t number)
{
	struct relay *relay;

	TAILQ_FOREACH (relay, &fleet->relays, order)
		if (relay->number == number)
			return relay;
	return NULL;
}

void fleet_relayed(struct hs_fleet *fleet, struct fleet_node *node, const struct call *call,
		json_t *ok, json_t *error)
{
	struct relay *relay = find(fleet, call->of);

	if (!relay)
		return;
	if (ok)
		json_object_set(relay->answers, node->config->name, ok);
	else if (error)
		json_object_set(relay->errors, node->config->name, error);
	else
		miss(relay, node);
	if (--relay->waiting == 0)
		finish(fleet, relay);
}

static bool is_asked(const struct fleet_node *node, const struct relay *relay)
{
	for (unsigned i = 0; i < node->n_calls; i++) {
		const struct call *call = &node->calls[(node->first_call + i) % CALLS_AT_ONCE];
		if (call->kind == CALL_RELAY && call->of == relay->number)
			return true;
	}
	return false;
}

// Whoever has not answered by now counts as unreachable.
static void give_up(struct hs_fleet *fleet, struct relay *relay)
{
	for (unsigned i = 0; i < fleet->config->n_nodes; i++)
		if (is_asked(&fleet->nodes[i], relay))
			miss(relay, &fleet->nodes[i]);
	finish(fleet, relay);
}

void fleet_shift_relays(struct hs_fleet *fleet, int64_t ns)
{
	struct relay *relay;

	TAILQ_FOREACH (relay, &fleet->relays, order)
		relay->end_ns += ns;
}

void fleet_step_relays(struct hs_fleet *fleet)
{
	struct relay *relay, *next;

	for (relay = TAILQ_FIRST(&fleet->relays); relay; relay = next) {
		next = TAILQ_NEXT(relay, order);
		if (fleet->now_ns >= relay->end_ns)
			give_up(fleet, relay);
	}
}

int64_t fleet_relays_next_ns(const struct hs_fleet *fleet)
{
	const struct relay *first = TAILQ_FIRST(&fleet->relays);

	return first ? first->end_ns : INT64_MAX;
}

void fleet_close_relays(struct hs_fleet *fleet)
{
	while (!TAILQ_EMPTY(&fleet->relays))
		give_up(fleet, TAILQ_FIRST(&fleet->relays));
}

// SPDX-License-Identifier: BSD-3-Clause
// A node: whether it can be reached, whether it is the same process as before, and the calls under
// way there.
#include "fleet_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MS_NS	     INT64_C(1000000)
#define RETRY_MIN_MS 100  // the first intervals between questions to an unreachable node
#define RETRY_MAX_MS 1000 // the longest interval, so that it gets its rules back within 2 s

int fleet_open_nodes(struct hs_fleet *fleet)
{
	unsigned n = fleet->config->n_nodes;

	fleet->nodes = calloc(n ? n : 1, sizeof(*fleet->nodes));
	if (!fleet->nodes)
		return -ENOMEM;
	for (unsigned i = 0; i < n; i++) {
		struct fleet_node *node = &fleet->nodes[i];
		node->config = &fleet->config->nodes[i];
		node->index = i;
		node->next_hello_ns = node->next_audit_ns = node->down_since_ns = fleet->now_ns;
		TAILQ_INIT(&node->places);
		TAILQ_INIT(&node->queue);
	}
	return 0;
}

void fleet_close_nodes(struct hs_fleet *fleet)
{
	free(fleet->nodes);
	fleet->nodes = NULL;
}

// ---- calls ----

int fleet_call(struct hs_fleet *fleet, struct fleet_node *node, const struct call *call,
		const char *verb, json_t *content)
{
	bool room = node->n_calls < CALLS_AT_ONCE;
	json_t *request = room ? json_pack("{s:I, s:O}", "id", (json_int_t)(fleet->calls + 1), verb,
						 content)
			       : NULL;
	char *text = request ? json_dumps(request, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;
	int rc = text ? fleet->output.send(fleet->output.context, node->index, text, strlen(text))
		      : -EAGAIN;

	json_decref(content);
	json_decref(request);
	free(text);
	if (rc < 0)
		return rc;
	struct call *place = &node->calls[(node->first_call + node->n_calls++) % CALLS_AT_ONCE];
	*place = *call;
	place->id = ++fleet->calls;
	place->sent_ns = fleet->now_ns;
	node->n_hellos += call->kind == CALL_HELLO;
	node->n_relays += call->kind == CALL_RELAY;
	node->requests++;
	return 0;
}

static struct call take_first(struct fleet_node *node)
{
	struct call call = node->calls[node->first_call];

	node->first_call = (node->first_call + 1) % CALLS_AT_ONCE;
	node->n_calls--;
	node->n_hellos -= call.kind == CALL_HELLO;
	node->n_relays -= call.kind == CALL_RELAY;
	return call;
}

// Gives up the calls before this one (UINT64_MAX: all).
static void drop_calls(struct hs_fleet *fleet, struct fleet_node *node, uint64_t id)
{
	while (node->n_calls && node->calls[node->first_call].id < id) {
		struct call call = take_first(node);
		if (call.kind == CALL_RELAY)
			fleet_relayed(fleet, node, &call, NULL, NULL);
		else if (call.kind != CALL_HELLO)
			fleet_repair_lost(fleet, node, &call);
	}
}

// ---- up and down ----

static json_t *name_of(const struct fleet_node *node)
{
	return json_pack("{s:s, s:i}", "node", node->config->name, "node_id", node->config->id);
}

static void went_down(struct hs_fleet *fleet, struct fleet_node *node)
{
	node->timeouts++;
	if (node->reachable) {
		node->reachable = false;
		node->down_since_ns = fleet->now_ns;
		hs_fleet_event(fleet, "node_unreachable", name_of(node),
				"node \"%s\" does not answer", node->config->name);
	}
	drop_calls(fleet, node, UINT64_MAX);
	node->next_hello_ns = fleet->now_ns;
}

static void came_up(struct hs_fleet *fleet, struct fleet_node *node, const char *boot_id)
{
	bool known = node->boot_id[0] != '\0';
	bool restarted = known && strcmp(node->boot_id, boot_id) != 0;

	if (node->reachable && !restarted)
		return;
	if (restarted) {
		node->restarts++;
		hs_fleet_event(fleet, "node_restarted", name_of(node),
				"node \"%s\" has restarted: its rules are looked at",
				node->config->name);
	}
	if (!node->reachable)
		hs_fleet_event(fleet, "node_reachable", name_of(node), "node \"%s\" answers",
				node->config->name);
	snprintf(node->boot_id, sizeof(node->boot_id), "%s", boot_id);
	node->reachable = true;
	fleet_found_anew(fleet, node);
}

static void take_hello(struct hs_fleet *fleet, struct fleet_node *node, const json_t *ok)
{
	const char *boot_id = json_string_value(json_object_get(ok, "boot_id"));
	json_int_t id = json_integer_value(json_object_get(ok, "node_id"));

	if (!boot_id)
		return;
	bool changed = !node->reachable || strcmp(node->boot_id, boot_id) != 0;
	if (changed && id != node->config->id)
		hs_fleet_event(fleet, "node_id_differs", name_of(node),
				"node \"%s\" says that its id is %lld, not %u", node->config->name,
				(long long)id, node->config->id);
	came_up(fleet, node, boot_id);
}

// ---- answers ----

// An answered change that was made explains one step of the generation.
static void note_generation(struct hs_fleet *fleet, struct fleet_node *node,
		const struct call *call, const json_t *reply)
{
	const json_t *value = json_object_get(reply, "generation");
	uint64_t generation = (uint64_t)json_integer_value(value);
	bool changed = (call->kind == CALL_INSTALL || call->kind == CALL_UPDATE ||
				       call->kind == CALL_DELETE) &&
		       json_object_get(reply, "ok");

	if (!value)
		return;
	if (node->reachable && generation != node->generation + changed)
		fleet_suspect(fleet, node);
	node->generation = generation;
}

void fleet_answered(struct hs_fleet *fleet, struct fleet_node *node, json_t *reply)
{
	uint64_t id = (uint64_t)json_integer_value(json_object_get(reply, "id"));
	json_t *ok = json_object_get(reply, "ok"), *error = json_object_get(reply, "error");

	if (!node->n_calls || id < node->calls[node->first_call].id || id > fleet->calls ||
			(!ok && !error))
		return; // too late
	drop_calls(fleet, node, id);
	if (!node->n_calls || node->calls[node->first_call].id != id)
		return;
	struct call call = take_first(node);
	node->last_answer_ns = fleet->now_ns;
	note_generation(fleet, node, &call, reply);
	if (call.kind == CALL_HELLO)
		take_hello(fleet, node, ok);
	else if (call.kind == CALL_RELAY)
		fleet_relayed(fleet, node, &call, ok, error);
	else
		fleet_repaired(fleet, node, &call, ok, error);
}

// ---- time ----

static bool answered_lately(const struct hs_fleet *fleet, const struct fleet_node *node)
{
	return fleet->now_ns - node->last_answer_ns < fleet->config->timeout_ms * MS_NS;
}

static bool late(const struct hs_fleet *fleet, const struct fleet_node *node)
{
	// A node that answers anything is only busy.
	return !answered_lately(fleet, node) &&
	       fleet->now_ns - node->calls[node->first_call].sent_ns >=
			       fleet->config->timeout_ms * MS_NS;
}

static int64_t pause_of(const struct hs_fleet *fleet, const struct fleet_node *node)
{
	if (node->reachable)
		return fleet->config->hello_ms * MS_NS;
	int64_t down_ns = fleet->now_ns - node->down_since_ns;
	int64_t pause_ns = down_ns / 8; // the interval grows with the time away
	if (pause_ns < RETRY_MIN_MS * MS_NS)
		return RETRY_MIN_MS * MS_NS;
	return pause_ns < RETRY_MAX_MS * MS_NS ? pause_ns : RETRY_MAX_MS * MS_NS;
}

void fleet_look_at_node(struct hs_fleet *fleet, struct fleet_node *node)
{
	node->next_hello_ns = fleet->now_ns;
}

void fleet_step_node(struct hs_fleet *fleet, struct fleet_node *node)
{
	if (node->n_calls && late(fleet, node))
		went_down(fleet, node);
	if (fleet->now_ns >= node->next_hello_ns && node->n_hellos < CALLS_HELLO) {
		struct call call = {.kind = CALL_HELLO};
		bool sent = fleet_call(fleet, node, &call, "hello", json_object()) == 0;
		if (!sent && node->reachable && !answered_lately(fleet, node))
			went_down(fleet, node); // the connection is closed
		node->next_hello_ns = fleet->now_ns + pause_of(fleet, node);
	}
	fleet_repair(fleet, node);
}

int64_t fleet_node_next_ns(const struct hs_fleet *fleet, const struct fleet_node *node)
{
	int64_t next_ns = node->next_hello_ns;

	if (node->reachable && !node->auditing && node->next_audit_ns < next_ns)
		next_ns = node->next_audit_ns;
	if (node->n_calls && next_ns > fleet->now_ns + fleet->config->timeout_ms * MS_NS)
		next_ns = fleet->now_ns + fleet->config->timeout_ms * MS_NS;
	return next_ns;
}

void fleet_shift_node(struct fleet_node *node, int64_t ns)
{
	node->next_hello_ns += ns;
	node->last_answer_ns += ns;
	node->next_audit_ns += ns;
	node->audit_start_ns += ns;
	node->down_since_ns += ns;
	for (unsigned i = 0; i < node->n_calls; i++)
		node->calls[(node->first_call + i) % CALLS_AT_ONCE].sent_ns += ns;
}

void hs_fleet_node_refuses(struct hs_fleet *fleet, unsigned index, bool refuses)
{
	struct fleet_node *node = &fleet->nodes[index];

	if (refuses && !node->refuses_key)
		hs_fleet_event(fleet, "node_refuses_key", name_of(node),
				"node \"%s\" does not allow the controller's key",
				node->config->name);
	node->refuses_key = refuses;
}

// ---- showing ----

json_t *fleet_node_json(const struct hs_fleet *fleet, const struct fleet_node *node)
{
	const uint32_t *n = node->n_places;
	unsigned wanted = n[PLACE_MISSING] + n[PLACE_UNKNOWN] + n[PLACE_PRESENT] +
			  n[PLACE_CONFLICT] + n[PLACE_REFUSED];
	json_t *object = json_pack("{s:s, s:i, s:s, s:b}", "name", node->config->name, "node_id",
			node->config->id, "api", node->config->api, "reachable", node->reachable);
	if (node->boot_id[0])
		json_object_set_new(object, "boot_id", json_string(node->boot_id));
	if (node->last_answer_ns)
		json_object_set_new(object, "last_seen_ns",
				json_integer((json_int_t)node->last_answer_ns));
	if (node->refuses_key)
		json_object_set_new(object, "key_refused", json_true());
	if (!node->reachable)
		json_object_set_new(object, "down_ns",
				json_integer((json_int_t)(fleet->now_ns - node->down_since_ns)));
	json_object_update_new(object,
			json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:i}", "rules_wanted",
					wanted, "rules_present", n[PLACE_PRESENT],
					"rules_conflicting", n[PLACE_CONFLICT], "rules_refused",
					n[PLACE_REFUSED], "rules_removing", n[PLACE_LEAVING],
					"rules_in_band", node->in_band_rules, "rules_foreign",
					node->foreign_rules, "calls_under_way", node->n_calls));
	json_object_update_new(object, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:I}", "requests",
						       (json_int_t)node->requests, "timeouts",
						       (json_int_t)node->timeouts, "restarts",
						       (json_int_t)node->restarts, "audits",
						       (json_int_t)node->audits, "repairs",
						       (json_int_t)node->repairs, "published",
						       (json_int_t)node->published,
						       "publish_missed", (json_int_t)node->missed));
	return object;
}

// SPDX-License-Identifier: BSD-3-Clause
// What a node has, what it should have, and the calls that resolve the difference. A difference is
// repaired if it is ours (a change that the node missed). If somebody else made it, it is shown as
// a conflict and left alone, so that two controllers do not fight.
#include "fleet_parts.h"

#include "rule_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define PAGE 250 // rules, which take two milliseconds
#define COST 64	 // of beginning an audit, in calls

#define SECOND_NS INT64_C(1000000000)
#define RETRY_NS  (SECOND_NS / 10) // after an audit that was interrupted
#define SHARE	  9		   // pause between two audits for others' changes, in audits

void fleet_queue(struct hs_fleet *fleet, struct place *place)
{
	struct fleet_node *node = &fleet->nodes[place->node];

	if (place->state == PLACE_UNKNOWN)
		return; // the audit will compare with what is wanted then
	place->touched = node->audits;
	if (place->queued)
		return;
	place->queued = true;
	TAILQ_INSERT_TAIL(&node->queue, place, in_queue);
}

static void unqueue(struct fleet_node *node, struct place *place)
{
	if (!place->queued)
		return;
	TAILQ_REMOVE(&node->queue, place, in_queue);
	place->queued = false;
}

// ---- finding out ----

static void want_audit(struct hs_fleet *fleet, struct fleet_node *node)
{
	if (node->auditing)
		node->audit_again = true;
	else if (node->next_audit_ns > fleet->now_ns)
		node->next_audit_ns = fleet->now_ns;
}

// Marks a place so that an audit finds out what is there.
static void doubt(struct hs_fleet *fleet, struct place *place)
{
	struct fleet_node *node = &fleet->nodes[place->node];

	fleet_set_state(fleet, place, PLACE_UNKNOWN);
	unqueue(node, place);
	want_audit(fleet, node);
}

void fleet_suspect(struct hs_fleet *fleet, struct fleet_node *node)
{
	int64_t due_ns = node->audit_start_ns + node->audit_pause_ns;

	if (due_ns < fleet->now_ns)
		due_ns = fleet->now_ns;
	if (node->auditing)
		node->audit_again = true;
	else if (node->next_audit_ns > due_ns)
		node->next_audit_ns = due_ns;
}

// Calls that were sent to the node in its present life stay under way, and tell more than the
// audit.
void fleet_found_anew(struct hs_fleet *fleet, struct fleet_node *node)
{
	struct place *place;

	TAILQ_FOREACH (place, &node->places, at_node)
		fleet_set_state(fleet, place, PLACE_UNKNOWN);
	while ((place = TAILQ_FIRST(&node->queue)))
		unqueue(node, place);
	node->auditing = false;
	want_audit(fleet, node);
}

static void cut_audit_short(struct hs_fleet *fleet, struct fleet_node *node, int64_t pause_ns)
{
	node->auditing = false;
	node->next_audit_ns = fleet->now_ns + pause_ns;
}

static void ask_page(struct hs_fleet *fleet, struct fleet_node *node)
{
	struct call call = {.kind = CALL_LIST, .of = node->audits};
	json_t *content = json_pack(
			"{s:I, s:i}", "offset", (json_int_t)node->audit_offset, "limit", PAGE);

	if (fleet_call(fleet, node, &call, "int_list", content) < 0)
		cut_audit_short(fleet, node, RETRY_NS);
}

static void begin_audit(struct hs_fleet *fleet, struct fleet_node *node)
{
	fleet->budget -= COST;
	node->auditing = true;
	node->audit_again = false;
	node->audit_offset = 0;
	node->foreign_rules = node->in_band_rules = 0;
	node->audit_start_ns = fleet->now_ns;
	node->next_audit_ns = fleet->now_ns + fleet->config->audit_s * SECOND_NS;
	node->audits++;
	ask_page(fleet, node);
}

static void forget_unsure(struct place *place)
{
	free(place->unsure);
	place->unsure = NULL;
}

static bool set_unsure(struct place *place, const struct hs_rule *rule)
{
	if (!place->unsure)
		place->unsure = malloc(sizeof(*place->unsure));
	if (place->unsure)
		*place->unsure = *rule;
	return place->unsure != NULL;
}

static bool is_touched(const struct fleet_node *node, const struct place *place)
{
	return place->calling || place->touched == node->audits;
}

static void forget_doubts(struct place *place)
{
	forget_unsure(place);
	place->inherited = place->force = false;
}

static void set_known(struct hs_fleet *fleet, struct place *place, const struct hs_rule *rule)
{
	forget_doubts(place);
	fleet_set_state(fleet, place, PLACE_PRESENT);
	place->known = *rule;
	place->is_known = true;
	free(place->code);
	place->code = NULL;
}

static void set_missing(struct hs_fleet *fleet, struct place *place)
{
	fleet_set_state(fleet, place, PLACE_MISSING);
	fleet_queue(fleet, place);
}

static void tell_conflict(struct hs_fleet *fleet, struct place *place)
{
	const char *name = fleet->config->nodes[place->node].name;

	forget_doubts(place);
	place->is_known = false;
	fleet_set_state(fleet, place, PLACE_CONFLICT);
	if (place->told)
		return;
	place->told = true;
	hs_fleet_event(fleet, "rule_conflict",
			json_pack("{s:s, s:I}", "node", name, "ns_id",
					(json_int_t)place->rule->rule.ns_id),
			"node \"%s\" has another rule with ns_id %u; it is left alone", name,
			place->rule->rule.ns_id);
}

// Returns whether our own calls can have caused `found`.
static bool is_ours(const struct place *place, const struct hs_rule *found)
{
	if (place->is_known && fleet_same(found, &place->known))
		return true;
	if (place->unsure && fleet_same(found, place->unsure))
		return true;
	// It is unknown which of the changes before this process it has received.
	return place->inherited &&
	       (fleet_same_flow(found, &place->rule->rule) || fleet_was_flow(place->rule, found));
}

// Handles the finding that the node has `found` under the place's ns_id.
static void compare(struct hs_fleet *fleet, struct place *place, const struct hs_rule *found)
{
	const struct hs_rule *wanted = &place->rule->rule;
	bool same_flow = fleet_same_flow(found, wanted);
	bool ours = is_ours(place, found) || (same_flow && place->force);

	if (fleet_place_leaves(place)) {
		if (!ours && !(same_flow && place->rule->deleted)) {
			fleet_drop_place(fleet, place); // it belongs to somebody else now
			return;
		}
	} else if (!ours && !fleet_same(found, wanted)) {
		tell_conflict(fleet, place);
		return;
	}
	set_known(fleet, place, found);
	place->told = false;
	if (fleet_place_leaves(place) || !fleet_same(found, wanted))
		fleet_queue(fleet, place);
}

static bool came_in_band(const json_t *ids, uint32_t ns_id)
{
	size_t i;
	json_t *id;

	json_array_foreach (ids, i, id)
		if (json_integer_value(id) == ns_id)
			return true;
	return false;
}

static void count_other(
		struct hs_fleet *fleet, struct fleet_node *node, uint32_t ns_id, bool in_band)
{
	const struct fleet_rule *rule = fleet_find_rule(fleet, ns_id);

	if (in_band && rule && !rule->deleted && rule->rule.in_band)
		node->in_band_rules++;
	else
		node->foreign_rules++;
}

static void see_listed(struct hs_fleet *fleet, struct fleet_node *node, const json_t *listed,
		const json_t *in_band_ids)
{
	uint32_t ns_id = (uint32_t)json_integer_value(json_object_get(listed, "ns_id"));
	bool in_band = came_in_band(in_band_ids, ns_id);
	struct place *place = fleet_find_place(fleet, ns_id, node->index);
	struct hs_error err = {0};
	struct hs_rule rule;

	if (!place) {
		count_other(fleet, node, ns_id, in_band);
		return;
	}
	// Skip touched rules: a change is on its way, or happened behind the page. Skip rules that
	// came in band: nobody asked the node for them, they expire by themselves, and they give
	// way.
	if (is_touched(node, place) || in_band)
		return;
	place->touched = node->audits;
	if (hs_rule_from_json(listed, &rule, &err) == 0)
		compare(fleet, place, &rule);
	else if (fleet_place_leaves(place)) // from a node with newer software than ours
		fleet_drop_place(fleet, place);
	else
		tell_conflict(fleet, place);
}

// Rules that the whole list did not contain are not there.
static void end_audit(struct hs_fleet *fleet, struct fleet_node *node)
{
	struct place *place, *next;

	node->auditing = false;
	node->audit_pause_ns = (fleet->now_ns - node->audit_start_ns) * (SHARE + 1);
	for (place = TAILQ_FIRST(&node->places); place; place = next) {
		next = TAILQ_NEXT(place, at_node);
		if (is_touched(node, place))
			continue;
		if (fleet_place_leaves(place))
			fleet_drop_place(fleet, place);
		else
			set_missing(fleet, place);
	}
	if (node->audit_again)
		fleet_suspect(fleet, node);
}

static void take_page(struct hs_fleet *fleet, struct fleet_node *node, const json_t *ok)
{
	const json_t *next = json_object_get(ok, "next");
	const json_t *in_band_ids = json_object_get(ok, "in_band");
	size_t i;
	json_t *listed;

	json_array_foreach (json_object_get(ok, "rules"), i, listed)
		see_listed(fleet, node, listed, in_band_ids);
	uint64_t offset = (uint64_t)json_integer_value(next);
	if (!next) {
		end_audit(fleet, node);
		return;
	}
	if (offset <= node->audit_offset) {
		cut_audit_short(fleet, node, SECOND_NS);
		return;
	}
	node->audit_offset = offset;
	ask_page(fleet, node);
}

static void take_list(struct hs_fleet *fleet, struct fleet_node *node, const struct call *call,
		const json_t *ok)
{
	if (!node->auditing || call->of != node->audits)
		return; // of an audit that was given up
	if (ok)
		take_page(fleet, node, ok);
	else
		cut_audit_short(fleet, node, SECOND_NS);
}

// ---- mending ----

static json_t *update_of(const struct hs_rule *rule)
{
	json_t *all = hs_rule_to_json(rule), *update = json_object();
	static const char *const keys[] = {"ns_id", "transmit_report", "piggyback_report",
			"extract_report", "hop_enabled", "mode", "mode_setting", "fields"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_object_set(update, keys[i], json_object_get(all, keys[i]));
	if (!rule->fields) // the node's own fields apply again
		json_object_set_new(update, "fields", json_null());
	json_decref(all);
	return update;
}

static int call_for(struct hs_fleet *fleet, struct fleet_node *node, struct place *place,
		enum call_kind kind)
{
	static const char *const verbs[] = {
			[CALL_INSTALL] = "int_request",
			[CALL_UPDATE] = "int_update",
			[CALL_DELETE] = "int_delete",
			[CALL_LOOK] = "int_get",
	};
	const struct hs_rule *rule = &place->rule->rule;
	if ((kind == CALL_INSTALL || kind == CALL_UPDATE) && !set_unsure(place, rule))
		return -EAGAIN;
	struct call call = {.kind = kind, .ns_id = rule->ns_id, .rule = *rule};
	json_t *content = kind == CALL_INSTALL ? hs_rule_to_json(rule)
			  : kind == CALL_UPDATE
					  ? update_of(rule)
					  : json_pack("{s:I}", "ns_id", (json_int_t)rule->ns_id);

	int rc = fleet_call(fleet, node, &call, verbs[kind], content);
	place->calling |= rc == 0;
	place->touched = node->audits; // a page that is on its way is older
	fleet->budget--;
	if (rc < 0)
		forget_unsure(place);
	return rc;
}

// Returns whether nothing of ours has to be removed there.
static bool has_gone(const struct place *place)
{
	return place->state == PLACE_MISSING || place->state == PLACE_CONFLICT ||
	       (place->state == PLACE_REFUSED && !place->is_known);
}

// Returns the call that the place needs, or CALL_NONE.
static enum call_kind needed(const struct place *place)
{
	const struct hs_rule *wanted = &place->rule->rule;

	if (fleet_place_leaves(place))
		return CALL_DELETE;
	if (has_gone(place))
		return CALL_INSTALL;
	if (!fleet_same_flow(&place->known, wanted))
		return CALL_DELETE;
	return fleet_same_switches(&place->known, wanted) ? CALL_NONE : CALL_UPDATE;
}

// Returns 0 if the place's call is on its way or none is needed, and -EAGAIN if it has to wait.
static int mend(struct hs_fleet *fleet, struct fleet_node *node, struct place *place)
{
	if (fleet_place_leaves(place) && has_gone(place)) {
		fleet_drop_place(fleet, place);
		return 0;
	}
	enum call_kind kind = needed(place);
	if (kind != CALL_NONE && node->n_calls >= CALLS_REPAIR)
		return -EAGAIN;
	int rc = kind == CALL_NONE ? 0 : call_for(fleet, node, place, kind);
	if (rc == 0)
		unqueue(node, place);
	return rc;
}

void fleet_repair(struct hs_fleet *fleet, struct fleet_node *node)
{
	struct place *place, *next;

	if (!node->reachable)
		return;
	if (!node->auditing && fleet->now_ns >= node->next_audit_ns && fleet->budget > 0)
		begin_audit(fleet, node);
	for (place = TAILQ_FIRST(&node->queue); place && fleet->budget > 0; place = next) {
		next = TAILQ_NEXT(place, in_queue);
		if (!place->calling && mend(fleet, node, place) < 0)
			return;
	}
}

// ---- answers ----

static bool is_code(const json_t *error, const char *code)
{
	const char *found = json_string_value(json_object_get(error, "code"));
	return found && strcmp(found, code) == 0;
}

// Reports the refusal once, not at every attempt.
static void refused(struct hs_fleet *fleet, struct place *place, const json_t *error)
{
	const char *name = fleet->config->nodes[place->node].name;
	const char *code = json_string_value(json_object_get(error, "code"));
	const char *message = json_string_value(json_object_get(error, "message"));

	fleet_set_state(fleet, place, PLACE_REFUSED);
	code = code ? code : "refused";
	if (place->code && strcmp(place->code, code) == 0)
		return;
	free(place->code);
	place->code = strdup(code);
	hs_fleet_event(fleet, "rule_refused",
			json_pack("{s:s, s:I, s:s}", "node", name, "ns_id",
					(json_int_t)place->rule->rule.ns_id, "code", code),
			"node \"%s\" refused ns_id %u: %s", name, place->rule->rule.ns_id,
			message ? message : code);
}

static void done(struct hs_fleet *fleet, struct fleet_node *node, struct place *place,
		const struct call *call)
{
	set_known(fleet, place, &call->rule);
	place->told = false;
	node->repairs++;
}

static void installed(struct hs_fleet *fleet, struct fleet_node *node, struct place *place,
		const struct call *call, const json_t *error)
{
	if (!error) {
		done(fleet, node, place, call);
	} else if (is_code(error, "ns_in_use")) {
		if (call_for(fleet, node, place, CALL_LOOK) < 0)
			doubt(fleet, place);
	} else {
		refused(fleet, place, error);
	}
}

static void updated(struct hs_fleet *fleet, struct fleet_node *node, struct place *place,
		const struct call *call, const json_t *error)
{
	if (!error)
		done(fleet, node, place, call);
	else if (is_code(error, "no_such_rule"))
		set_missing(fleet, place);
	else
		refused(fleet, place, error);
}

static void removed(struct hs_fleet *fleet, struct fleet_node *node, struct place *place,
		const json_t *error)
{
	if (error && !is_code(error, "no_such_rule")) {
		refused(fleet, place, error);
		return;
	}
	node->repairs++;
	place->is_known = false;
	if (fleet_place_leaves(place))
		fleet_drop_place(fleet, place);
	else
		set_missing(fleet, place); // replaced
}

static void looked(struct hs_fleet *fleet, struct place *place, const json_t *ok)
{
	struct hs_error err = {0};
	struct hs_rule rule;

	if (ok && hs_rule_from_json(json_object_get(ok, "rule"), &rule, &err) == 0)
		compare(fleet, place, &rule);
	else
		doubt(fleet, place); // gone meanwhile
}

void fleet_repaired(struct hs_fleet *fleet, struct fleet_node *node, const struct call *call,
		json_t *ok, json_t *error)
{
	if (call->kind == CALL_LIST) {
		take_list(fleet, node, call, error ? NULL : ok);
		return;
	}
	struct place *place = fleet_find_place(fleet, call->ns_id, node->index);
	if (!place)
		return;
	place->calling = false;
	place->touched = node->audits;
	if (error && call->kind != CALL_DELETE)
		forget_unsure(place); // the call was not done
	if (call->kind == CALL_INSTALL)
		installed(fleet, node, place, call, error);
	else if (call->kind == CALL_UPDATE)
		updated(fleet, node, place, call, error);
	else if (call->kind == CALL_DELETE)
		removed(fleet, node, place, error);
	else
		looked(fleet, place, error ? NULL : ok);
}

// It is unknown whether the call was done.
void fleet_repair_lost(struct hs_fleet *fleet, struct fleet_node *node, const struct call *call)
{
	if (call->kind == CALL_LIST) {
		if (node->auditing && call->of == node->audits)
			cut_audit_short(fleet, node, 0);
		return;
	}
	struct place *place = fleet_find_place(fleet, call->ns_id, node->index);
	if (!place)
		return;
	place->calling = false;
	doubt(fleet, place);
}

// SPDX-License-Identifier: BSD-3-Clause
// What a node has, what it should have, and the calls between the two. A rule that differs from
// what is wanted is mended where its difference is ours (a change that the node missed) and left
// alone, as a conflict that is shown, where it is somebody else's: two controllers do not fight.
#include "fleet_parts.h"

#include "rule_json.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define PAGE HS_API_PAGE

void fleet_queue(struct hs_fleet *fleet, struct place *place)
{
	struct fleet_node *node = &fleet->nodes[place->node];

	place->touched = true;
	if (place->queued)
		return;
	place->queued = true;
	TAILQ_INSERT_TAIL(&node->queue, place, in_queue);
}

static void unqueue(struct fleet_node *node, struct place *place)
{
	TAILQ_REMOVE(&node->queue, place, in_queue);
	place->queued = false;
}

// ---- finding out ----

void fleet_want_audit(struct hs_fleet *fleet, struct fleet_node *node)
{
	if (node->auditing)
		node->audit_again = true;
	else
		node->next_audit_ns = fleet->now_ns;
}

void fleet_found_anew(struct hs_fleet *fleet, struct fleet_node *node)
{
	struct place *place;

	TAILQ_FOREACH (place, &node->places, at_node) {
		place->state = PLACE_UNKNOWN;
		place->calling = false;
	}
	node->auditing = false;
	fleet_want_audit(fleet, node);
}

static void begin_audit(struct hs_fleet *fleet, struct fleet_node *node)
{
	struct place *place;

	TAILQ_FOREACH (place, &node->places, at_node)
		place->touched = place->calling;
	node->auditing = true;
	node->audit_again = false;
	node->audit_offset = 0;
	node->foreign_rules = 0;
	node->next_audit_ns = fleet->now_ns + fleet->config->audit_s * INT64_C(1000000000);
	node->audits++;
}

static void ask_page(struct hs_fleet *fleet, struct fleet_node *node)
{
	struct call call = {.kind = CALL_LIST};
	json_t *content = json_pack(
			"{s:I, s:i}", "offset", (json_int_t)node->audit_offset, "limit", PAGE);

	if (fleet_call(fleet, node, &call, "int_list", content) < 0)
		node->auditing = false; // when it can be reached again, from the start
}

static void set_known(struct place *place, const struct hs_rule *rule)
{
	place->known = *rule;
	place->is_known = true;
}

static void tell_conflict(struct hs_fleet *fleet, struct place *place)
{
	const char *name = fleet->config->nodes[place->node].name;

	if (place->state != PLACE_CONFLICT)
		hs_fleet_event(fleet, "rule_conflict",
				json_pack("{s:s, s:I}", "node", name, "ns_id",
						(json_int_t)place->rule->rule.ns_id),
				"node \"%s\" has another rule with ns_id %u; it is left alone",
				name, place->rule->rule.ns_id);
	place->state = PLACE_CONFLICT;
}

// The node was seen to have `found` under the place's ns_id.
static void compare(struct hs_fleet *fleet, struct place *place, const struct hs_rule *found)
{
	const struct hs_rule *wanted = &place->rule->rule;
	bool ours = place->is_known ? fleet_same_flow(found, &place->known) &&
						      fleet_same_switches(found, &place->known)
				    : place->inherited;

	if (place->rule->deleted) {
		if (fleet_same_flow(found, wanted) || ours)
			fleet_queue(fleet, place);
		else
			fleet_drop_place(fleet, place); // somebody else's by now
		return;
	}
	if (!fleet_same_flow(found, wanted) && (!place->is_known || !ours)) {
		tell_conflict(fleet, place);
		return;
	}
	if (!ours && !fleet_same_switches(found, wanted)) {
		tell_conflict(fleet, place);
		return;
	}
	place->state = PLACE_PRESENT;
	set_known(place, found);
	if (!fleet_same_flow(found, wanted) || !fleet_same_switches(found, wanted))
		fleet_queue(fleet, place);
}

static void see_listed(struct hs_fleet *fleet, struct fleet_node *node, const json_t *listed)
{
	struct hs_error err = {0};
	struct hs_rule rule;

	if (hs_rule_from_json(listed, &rule, &err) < 0)
		return; // of a node newer than we are
	struct place *place = fleet_find_place(fleet, rule.ns_id, node->index);
	if (!place) {
		node->foreign_rules++;
		return;
	}
	if (place->touched)
		return; // on its way already, or changed behind the page
	place->touched = true;
	compare(fleet, place, &rule);
}

// What the whole list did not have is not there.
static void end_audit(struct hs_fleet *fleet, struct fleet_node *node)
{
	struct place *place, *next;

	node->auditing = false;
	for (place = TAILQ_FIRST(&node->places); place; place = next) {
		next = TAILQ_NEXT(place, at_node);
		if (place->touched)
			continue;
		place->is_known = false;
		if (place->rule->deleted) {
			fleet_drop_place(fleet, place);
			continue;
		}
		place->state = PLACE_MISSING;
		fleet_queue(fleet, place);
	}
	if (node->audit_again)
		fleet_want_audit(fleet, node);
}

static void take_page(struct hs_fleet *fleet, struct fleet_node *node, const json_t *ok)
{
	const json_t *next = json_object_get(ok, "next");
	size_t i;
	json_t *listed;

	if (!node->auditing)
		return;
	json_array_foreach (json_object_get(ok, "rules"), i, listed)
		see_listed(fleet, node, listed);
	if (!next) {
		end_audit(fleet, node);
		return;
	}
	node->audit_offset = (uint64_t)json_integer_value(next);
	ask_page(fleet, node);
}

// ---- mending ----

static json_t *update_of(const struct hs_rule *rule)
{
	json_t *all = hs_rule_to_json(rule), *update = json_object();
	static const char *const keys[] = {"ns_id", "transmit_report", "piggyback_report",
			"extract_report", "hop_enabled", "mode", "mode_setting"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		json_object_set(update, keys[i], json_object_get(all, keys[i]));
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
	struct call call = {.kind = kind, .ns_id = rule->ns_id, .rule = *rule};
	json_t *content = kind == CALL_INSTALL ? hs_rule_to_json(rule)
			  : kind == CALL_UPDATE
					  ? update_of(rule)
					  : json_pack("{s:I}", "ns_id", (json_int_t)rule->ns_id);

	int rc = fleet_call(fleet, node, &call, verbs[kind], content);
	place->calling |= rc == 0;
	return rc;
}

// 0 where the place's call is on its way or none is needed, -EAGAIN where it has to wait.
static int mend(struct hs_fleet *fleet, struct fleet_node *node, struct place *place)
{
	const struct hs_rule *wanted = &place->rule->rule;

	if (node->n_calls == CALLS_AT_ONCE)
		return -EAGAIN;
	bool none_of_ours = place->state == PLACE_MISSING || place->state == PLACE_CONFLICT ||
			    (place->state == PLACE_REFUSED && !place->is_known);
	if (place->rule->deleted && none_of_ours) {
		fleet_drop_place(fleet, place);
		return 0;
	}
	enum call_kind kind = CALL_INSTALL;
	if (place->rule->deleted)
		kind = CALL_DELETE;
	else if (place->state == PLACE_PRESENT)
		kind = place->is_known && !fleet_same_flow(&place->known, wanted) ? CALL_DELETE
										  : CALL_UPDATE;
	int rc = call_for(fleet, node, place, kind);
	if (rc == 0)
		unqueue(node, place);
	return rc;
}

void fleet_repair(struct hs_fleet *fleet, struct fleet_node *node)
{
	struct place *place, *next;

	if (!node->reachable)
		return;
	if (!node->auditing && fleet->now_ns >= node->next_audit_ns) {
		begin_audit(fleet, node);
		ask_page(fleet, node);
	}
	for (place = TAILQ_FIRST(&node->queue); place; place = next) {
		next = TAILQ_NEXT(place, in_queue);
		// What is not known is found out first: by the audit that the node's return began.
		if (place->calling || (place->state == PLACE_UNKNOWN && node->auditing))
			continue;
		if (mend(fleet, node, place) < 0)
			return;
	}
}

// ---- answers ----

static bool is_code(const json_t *error, const char *code)
{
	const char *found = json_string_value(json_object_get(error, "code"));
	return found && strcmp(found, code) == 0;
}

static void refused(struct hs_fleet *fleet, struct place *place, const json_t *error)
{
	const char *name = fleet->config->nodes[place->node].name;
	const char *code = json_string_value(json_object_get(error, "code"));
	const char *message = json_string_value(json_object_get(error, "message"));

	place->state = PLACE_REFUSED;
	snprintf(place->code, sizeof(place->code), "%s", code ? code : "no_code");
	hs_fleet_event(fleet, "rule_refused",
			json_pack("{s:s, s:I, s:s}", "node", name, "ns_id",
					(json_int_t)place->rule->rule.ns_id, "code", place->code),
			"node \"%s\" refused ns_id %u: %s", name, place->rule->rule.ns_id,
			message ? message : place->code);
}

static void installed(struct hs_fleet *fleet, struct fleet_node *node, struct place *place,
		const struct call *call, const json_t *error)
{
	if (!error) {
		place->state = PLACE_PRESENT;
		set_known(place, &call->rule);
		node->repairs++;
	} else if (is_code(error, "ns_in_use")) {
		place->is_known = false;
		if (call_for(fleet, node, place, CALL_LOOK) < 0)
			fleet_want_audit(fleet, node);
	} else {
		refused(fleet, place, error);
	}
}

static void updated(struct hs_fleet *fleet, struct fleet_node *node, struct place *place,
		const struct call *call, const json_t *error)
{
	if (!error) {
		place->state = PLACE_PRESENT;
		set_known(place, &call->rule);
		node->repairs++;
	} else if (is_code(error, "no_such_rule")) {
		place->state = PLACE_MISSING;
		place->is_known = false;
		fleet_queue(fleet, place);
	} else {
		refused(fleet, place, error);
	}
}

static void removed(struct hs_fleet *fleet, struct fleet_node *node, struct place *place,
		const json_t *error)
{
	if (error && !is_code(error, "no_such_rule")) {
		refused(fleet, place, error);
		return;
	}
	node->repairs++;
	place->state = PLACE_MISSING;
	place->is_known = false;
	if (place->rule->deleted)
		fleet_drop_place(fleet, place);
	else
		fleet_queue(fleet, place); // replaced
}

static void looked(
		struct hs_fleet *fleet, struct place *place, const json_t *ok, const json_t *error)
{
	struct hs_error err = {0};
	struct hs_rule rule;

	if (error || hs_rule_from_json(json_object_get(ok, "rule"), &rule, &err) < 0) {
		place->state = PLACE_MISSING;
		fleet_queue(fleet, place);
		return;
	}
	// Not ours by any memory of ours: the same content is agreement, any other a conflict,
	// which an operator's change of the rule decides.
	const struct hs_rule *wanted = &place->rule->rule;
	bool same = fleet_same_switches(&rule, wanted);
	if (!fleet_same_flow(&rule, wanted) || (!same && !place->force)) {
		tell_conflict(fleet, place);
		return;
	}
	place->state = PLACE_PRESENT;
	place->force = false;
	set_known(place, &rule);
	if (!same)
		fleet_queue(fleet, place);
}

void fleet_repaired(struct hs_fleet *fleet, struct fleet_node *node, const struct call *call,
		json_t *ok, json_t *error)
{
	if (call->kind == CALL_LIST) {
		if (error)
			node->auditing = false;
		else
			take_page(fleet, node, ok);
		return;
	}
	struct place *place = fleet_find_place(fleet, call->ns_id, node->index);
	if (!place)
		return;
	place->calling = false;
	place->touched = true;
	if (call->kind == CALL_INSTALL)
		installed(fleet, node, place, call, error);
	else if (call->kind == CALL_UPDATE)
		updated(fleet, node, place, call, error);
	else if (call->kind == CALL_DELETE)
		removed(fleet, node, place, error);
	else
		looked(fleet, place, ok, error);
}

// Whether it was done is not known: the next audit tells.
void fleet_repair_lost(struct hs_fleet *fleet, struct fleet_node *node, const struct call *call)
{
	if (call->kind == CALL_LIST) {
		node->auditing = false;
		return;
	}
	struct place *place = fleet_find_place(fleet, call->ns_id, node->index);
	if (!place)
		return;
	place->calling = false;
	place->state = PLACE_UNKNOWN;
	fleet_queue(fleet, place);
}

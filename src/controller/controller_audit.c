// SPDX-License-Identifier: BSD-3-Clause
// Compares what a node has with what it should have. A difference is to be repaired if the rule's
// owner and revision are ours (the node missed a change). Otherwise somebody else made the
// difference. Such a difference is shown as a conflict and left alone, so that two controllers do
// not fight.
#include "controller_audit.h"

#include "controller_call.h"
#include "controller_rule.h"
#include "controller_state.h"

#include "rule_fields.h"
#include "rule_json.h"

#include <stdlib.h>

#define COST 64 // of beginning an audit, in calls

#define SECOND_NS INT64_C(1000000000)
#define RETRY_NS  (SECOND_NS / 10) // after an audit that was interrupted
// The clock of a controller makes no greater revisions, until the year 2112. If a controller
// counted on from the greatest that nodes take, it would have no further number.
#define MOST_RAISED (HS_RULE_REVISION_MOST / 2)
#define MOST_OURS   (HS_RULE_REVISION_MOST / 4 * 3) // never reached by counting on from that
#define SHARE	    9 // pause between two audits for others' changes, in lengths of an audit

void controller_unqueue(struct controller_node *node, struct binding *binding)
{
	if (!binding->queued)
		return;
	TAILQ_REMOVE(&node->queue, binding, in_queue);
	binding->queued = false;
}

static void want_audit(struct hs_controller *controller, struct controller_node *node)
{
	if (node->auditing)
		node->audit_again = true;
	else if (node->next_audit_ns > controller->now_ns)
		node->next_audit_ns = controller->now_ns;
}

// Marks a binding so that an audit finds out what is there.
void controller_doubt(struct hs_controller *controller, struct binding *binding)
{
	struct controller_node *node = &controller->nodes[binding->node];

	controller_set_state(controller, binding, BINDING_UNKNOWN);
	controller_unqueue(node, binding);
	want_audit(controller, node);
}

void controller_suspect(struct hs_controller *controller, struct controller_node *node)
{
	int64_t due_ns = node->audit_start_ns + node->audit_pause_ns;

	if (due_ns < controller->now_ns)
		due_ns = controller->now_ns;
	if (node->auditing)
		node->audit_again = true;
	else if (node->next_audit_ns > due_ns)
		node->next_audit_ns = due_ns;
}

// Calls that were sent to the node in its present life stay under way, and tell more than the
// audit.
void controller_found_anew(struct hs_controller *controller, struct controller_node *node)
{
	struct binding *binding;

	TAILQ_FOREACH (binding, &node->bindings, at_node)
		controller_set_state(controller, binding, BINDING_UNKNOWN);
	while ((binding = TAILQ_FIRST(&node->queue)))
		controller_unqueue(node, binding);
	node->auditing = false;
	want_audit(controller, node);
}

void controller_abandon_audit(
		struct hs_controller *controller, struct controller_node *node, int64_t pause_ns)
{
	node->auditing = false;
	node->next_audit_ns = controller->now_ns + pause_ns;
}

static void ask_page(struct hs_controller *controller, struct controller_node *node)
{
	struct call call = {.kind = CALL_LIST, .of = node->audits};
	json_t *content = json_pack("{s:I, s:i}", "offset", (json_int_t)node->audit_offset, "limit",
			REPLY_PAGE);

	if (controller_call(controller, node, &call, "int_list", content) < 0)
		controller_abandon_audit(controller, node, RETRY_NS);
}

void controller_begin_audit(struct hs_controller *controller, struct controller_node *node)
{
	controller->budget -= COST;
	node->auditing = true;
	node->audit_again = false;
	node->audit_offset = 0;
	node->foreign_rules = node->in_band_rules = 0;
	node->audit_start_ns = controller->now_ns;
	node->next_audit_ns = controller->now_ns + controller->config->audit_s * SECOND_NS;
	node->audits++;
	ask_page(controller, node);
}

static bool is_touched(const struct controller_node *node, const struct binding *binding)
{
	return binding->calling || binding->touched == node->audits;
}

void controller_set_present(struct hs_controller *controller, struct binding *binding, uint64_t has)
{
	controller_set_state(controller, binding, BINDING_PRESENT);
	binding->has = has;
	binding->force = binding->told = false;
}

void controller_set_missing(struct hs_controller *controller, struct binding *binding)
{
	controller_set_state(controller, binding, BINDING_MISSING);
	binding->has = 0;
	binding->theirs = false;
	controller_queue(controller, binding);
}

static void tell_conflict(struct hs_controller *controller, struct binding *binding)
{
	const char *name = controller->config->nodes[binding->node].name;

	controller_set_state(controller, binding, BINDING_CONFLICT);
	binding->has = 0;
	binding->force = binding->theirs = false;
	if (binding->told)
		return;
	binding->told = true;
	hs_controller_event(controller, "rule_conflict",
			json_pack("{s:s, s:I}", "node", name, "ns_id",
					(json_int_t)binding->rule->rule.ns_id),
			"node \"%s\" has another rule with ns_id %u; it is left alone", name,
			binding->rule->rule.ns_id);
}

static bool has_our_labels(const struct hs_controller *controller, const struct hs_rule *found)
{
	return found->owner == controller->owner && found->revision <= MOST_OURS;
}

// Returns whether this controller, in this process or an earlier one, gave the node this content.
static bool is_ours(const struct hs_controller *controller, const struct binding *binding,
		const struct hs_rule *found)
{
	const struct controller_rule *rule = binding->rule;

	if (!found->owner) // a node or a controller of an earlier version
		return controller_same(found, &rule->rule, true);
	if (!has_our_labels(controller, found))
		return false;
	// Revisions of an earlier process may be higher if the clock was set back.
	if (rule->since == 0 && !controller->nodes[binding->node].was_read)
		return true;
	return found->revision >= rule->since && found->revision <= rule->revision;
}

// Handles the finding that the node has `found` under the binding's ns_id.
void controller_compare(struct hs_controller *controller, struct binding *binding,
		const struct hs_rule *found)
{
	struct controller_rule *rule = binding->rule;
	bool same_flow = controller_same(found, &rule->rule, false);
	bool same = controller_same(found, &rule->rule, true);

	binding->theirs = !is_ours(controller, binding, found) && !(same_flow && binding->force);
	if (binding->theirs && binding->leaving) {
		controller_drop_binding(controller, binding); // it has another owner now
		return;
	}
	if (binding->theirs && !same) {
		tell_conflict(controller, binding);
		return;
	}
	if (has_our_labels(controller, found) && !binding->theirs &&
			found->revision > rule->revision && found->revision <= MOST_RAISED)
		controller_raise_revision(controller, rule, found->revision);
	controller_set_present(controller, binding,
			same	    ? rule->revision
			: same_flow ? rule->flow_revision
				    : HAS_OTHER_FLOW);
	if (binding->leaving || !same)
		controller_queue(controller, binding);
	else
		controller_forget_refusal(binding);
}

static int by_id(const void *a, const void *b)
{
	uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;
	return (left > right) - (left < right);
}

// Returns whether a rule of the page, whose `in_band` is sorted, came in band.
static bool came_in_band(const struct reply_rules *page, uint32_t ns_id)
{
	return bsearch(&ns_id, page->in_band, page->n_in_band, sizeof(ns_id), by_id);
}

static void count_other(struct hs_controller *controller, struct controller_node *node,
		uint32_t ns_id, bool in_band)
{
	const struct controller_rule *rule = controller_find_rule(controller, ns_id);

	if (in_band && rule && !rule->deleted && rule->rule.in_band)
		node->in_band_rules++;
	else
		node->foreign_rules++;
}

static void see_listed(struct hs_controller *controller, struct controller_node *node,
		const struct reply_listed *listed, bool in_band)
{
	uint32_t ns_id = listed->ns_id;
	struct binding *binding = controller_find_binding(controller, ns_id, node->index);
	struct hs_error err = {0};
	struct hs_rule rule;

	if (!binding) {
		count_other(controller, node, ns_id, in_band);
		return;
	}
	// Skip touched rules: a change is on its way, or happened behind the page. Skip rules that
	// came in band: no client asked the node for them, they expire by themselves, and they give
	// way.
	if (is_touched(node, binding) || in_band)
		return;
	binding->touched = node->audits;
	struct hs_rule_fields_mark mark = hs_rule_fields_mark(); // what nodes name is not kept
	if (hs_rule_from_json(listed->rule, &rule, &err) == 0)
		controller_compare(controller, binding, &rule);
	else if (binding->leaving) // from a node with newer software than ours
		controller_drop_binding(controller, binding);
	else
		tell_conflict(controller, binding);
	hs_rule_fields_release(mark);
}

// Ends an audit. Rules that the whole list did not contain are missing at the node.
static void end_audit(struct hs_controller *controller, struct controller_node *node)
{
	struct binding *binding, *next;

	node->auditing = false;
	node->was_read = true;
	node->audit_pause_ns = (controller->now_ns - node->audit_start_ns) * (SHARE + 1);
	for (binding = TAILQ_FIRST(&node->bindings); binding; binding = next) {
		next = TAILQ_NEXT(binding, at_node);
		if (is_touched(node, binding))
			continue;
		if (binding->leaving)
			controller_drop_binding(controller, binding);
		else
			controller_set_missing(controller, binding);
	}
	if (node->audit_again)
		controller_suspect(controller, node);
}

static void take_page(struct hs_controller *controller, struct controller_node *node, json_t *ok)
{
	struct reply_rules page;
	struct hs_error err;

	if (reply_read_rules(ok, &page, &err) < 0) {
		controller_bad_reply(controller, node, "int_list", &err);
		controller_abandon_audit(controller, node, SECOND_NS);
		return;
	}
	qsort(page.in_band, page.n_in_band, sizeof(page.in_band[0]), by_id);
	for (unsigned i = 0; i < page.n; i++)
		see_listed(controller, node, &page.rules[i],
				came_in_band(&page, page.rules[i].ns_id));
	if (!page.next) {
		end_audit(controller, node);
		return;
	}
	if (page.next <= node->audit_offset) {
		controller_abandon_audit(controller, node, SECOND_NS);
		return;
	}
	node->audit_offset = page.next;
	ask_page(controller, node);
}

void controller_take_list(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok)
{
	if (!node->auditing || call->of != node->audits)
		return; // of an audit that was given up
	if (ok)
		take_page(controller, node, ok);
	else
		controller_abandon_audit(controller, node, SECOND_NS);
}

// SPDX-License-Identifier: BSD-3-Clause
// The calls that repair differences, and what becomes of their answers.
#include "controller_repair.h"

#include "controller_audit.h"
#include "controller_call.h"
#include "controller_rule.h"
#include "controller_state.h"

#include "rule_field.h"
#include "rule_fields.h"
#include "rule_json.h"

#include <errno.h>
#include <string.h>

// ---- mending ----

static int call_for(struct hs_controller *controller, struct controller_node *node,
		struct binding *binding, enum call_kind kind)
{
	static const char *const verbs[] = {
			[CALL_INSTALL] = "int_request",
			[CALL_UPDATE] = "int_update",
			[CALL_DELETE] = "int_delete",
			[CALL_LOOK] = "int_get",
	};
	struct hs_rule rule = binding->rule->rule;
	struct call call = {.kind = kind, .ns_id = rule.ns_id, .of = binding->rule->revision};

	if (node->keeps_owner) {
		rule.owner = controller->owner;
		rule.revision = binding->rule->revision;
	}
	json_t *content = kind == CALL_INSTALL ? hs_rule_to_json(&rule)
			  : kind == CALL_UPDATE
					  ? controller_update_json(&rule)
					  : json_pack("{s:I}", "ns_id", (json_int_t)rule.ns_id);

	int rc = controller_call(controller, node, &call, verbs[kind], content);
	binding->calling |= rc == 0;
	binding->touched = node->audits; // a page that is on its way is older
	controller->budget--;
	return rc;
}

// Returns whether nothing of ours has to be removed there.
static bool has_gone(const struct binding *binding)
{
	return binding->has == 0 || binding->theirs;
}

// Returns the call that the binding needs, or CALL_NONE.
static enum call_kind needed(const struct binding *binding)
{
	if (binding->leaving)
		return CALL_DELETE;
	if (binding->has == binding->rule->revision)
		return CALL_NONE;
	if (has_gone(binding))
		return CALL_INSTALL;
	return binding->has < binding->rule->flow_revision ? CALL_DELETE : CALL_UPDATE;
}

// Returns 0 if the binding's call is on its way or none is needed, and -EAGAIN if it has to wait.
static int mend(struct hs_controller *controller, struct controller_node *node,
		struct binding *binding)
{
	if (binding->leaving && has_gone(binding)) {
		controller_drop_binding(controller, binding);
		return 0;
	}
	enum call_kind kind = needed(binding);
	if (kind != CALL_NONE && node->n_calls >= CALLS_REPAIR)
		return -EAGAIN;
	int rc = kind == CALL_NONE ? 0 : call_for(controller, node, binding, kind);
	if (rc == 0)
		controller_unqueue(node, binding);
	return rc;
}

void controller_repair(struct hs_controller *controller, struct controller_node *node)
{
	struct binding *binding, *next;

	if (!node->reachable)
		return;
	if (!node->auditing && controller->now_ns >= node->next_audit_ns && controller->budget > 0)
		controller_begin_audit(controller, node);
	for (binding = TAILQ_FIRST(&node->queue); binding && controller->budget > 0;
			binding = next) {
		next = TAILQ_NEXT(binding, in_queue);
		if (!binding->calling && mend(controller, node, binding) < 0)
			return;
	}
}

// ---- answers ----

static bool is_code(const struct reply_error *error, const char *code)
{
	return strcmp(error->code, code) == 0;
}

// Reports the refusal once, not at every attempt.
static void refused(struct hs_controller *controller, struct binding *binding,
		const struct reply_error *error)
{
	const char *name = controller->config->nodes[binding->node].name;
	const char *code = error->code, *message = error->message, *allowed = error->expected;

	controller_set_state(controller, binding, BINDING_REFUSED);
	if (binding->code && strcmp(binding->code, code) == 0)
		return;
	free(binding->code);
	binding->code = strdup(code);
	hs_controller_event(controller, "rule_refused",
			json_pack("{s:s, s:I, s:s}", "node", name, "ns_id",
					(json_int_t)binding->rule->rule.ns_id, "code", code),
			"node \"%s\" refused ns_id %u: %s%s%s%s", name, binding->rule->rule.ns_id,
			message ? message : code, allowed ? " (allowed: " : "",
			allowed ? allowed : "", allowed ? ")" : "");
}

static void done(struct hs_controller *controller, struct controller_node *node,
		struct binding *binding, const struct call *call)
{
	controller_set_present(controller, binding, call->of);
	controller_forget_refusal(binding);
	binding->theirs = false;
	node->repairs++;
	if (binding->leaving || binding->has != binding->rule->revision)
		controller_queue(controller, binding);
}

static void installed(struct hs_controller *controller, struct controller_node *node,
		struct binding *binding, const struct call *call, const struct reply_error *error)
{
	if (!error) {
		done(controller, node, binding, call);
	} else if (is_code(error, "ns_in_use")) {
		if (call_for(controller, node, binding, CALL_LOOK) < 0)
			controller_doubt(controller, binding);
	} else {
		refused(controller, binding, error);
	}
}

static void updated(struct hs_controller *controller, struct controller_node *node,
		struct binding *binding, const struct call *call, const struct reply_error *error)
{
	if (!error)
		done(controller, node, binding, call);
	else if (is_code(error, "no_such_rule"))
		controller_set_missing(controller, binding);
	else
		refused(controller, binding, error);
}

static void removed(struct hs_controller *controller, struct controller_node *node,
		struct binding *binding, const struct reply_error *error)
{
	if (error && !is_code(error, "no_such_rule")) {
		refused(controller, binding, error);
		return;
	}
	node->repairs++;
	if (binding->leaving)
		controller_drop_binding(controller, binding);
	else
		controller_set_missing(controller, binding); // replaced
}

static void compare(struct hs_controller *controller, struct binding *binding, const json_t *found)
{
	struct hs_error err;
	struct hs_rule rule;
	struct hs_rule_fields_mark mark = hs_rule_fields_mark(); // what nodes name is not kept

	if (hs_rule_from_json(found, &rule, &err) == 0)
		controller_compare(controller, binding, &rule);
	else
		controller_doubt(controller, binding); // from a node with newer software than ours
	hs_rule_fields_release(mark);
}

static void looked(struct hs_controller *controller, struct controller_node *node,
		struct binding *binding, json_t *ok)
{
	struct hs_error err;
	json_t *found;

	if (ok && reply_read_rule(ok, &found, &err) == 0) {
		compare(controller, binding, found);
		return;
	}
	if (ok)
		controller_bad_reply(controller, node, "int_get", &err);
	controller_doubt(controller, binding); // the rule has been removed since, perhaps
}

void controller_repaired(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok, const struct reply_error *error)
{
	if (call->kind == CALL_LIST) {
		controller_take_list(controller, node, call, error ? NULL : ok);
		return;
	}
	struct binding *binding = controller_find_binding(controller, call->ns_id, node->index);
	if (!binding)
		return;
	binding->calling = false;
	binding->touched = node->audits;
	if (call->kind == CALL_INSTALL)
		installed(controller, node, binding, call, error);
	else if (call->kind == CALL_UPDATE)
		updated(controller, node, binding, call, error);
	else if (call->kind == CALL_DELETE)
		removed(controller, node, binding, error);
	else
		looked(controller, node, binding, error ? NULL : ok);
}

// Handles a call whose answer did not come. It is unknown whether the node made the change.
void controller_repair_lost(struct hs_controller *controller, struct controller_node *node,
		const struct call *call)
{
	if (call->kind == CALL_LIST) {
		if (node->auditing && call->of == node->audits)
			controller_abandon_audit(controller, node, 0);
		return;
	}
	struct binding *binding = controller_find_binding(controller, call->ns_id, node->index);
	if (!binding)
		return;
	binding->calling = false;
	controller_doubt(controller, binding);
}

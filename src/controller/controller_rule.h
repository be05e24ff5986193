// SPDX-License-Identifier: BSD-3-Clause
// What is wanted: rules, the nodes that they belong to, and the state at each of these nodes.
//
// Thread rule: owner.
#pragma once

#include "controller_state.h"

struct controller_rule *controller_find_rule(struct hs_controller *controller, uint32_t ns_id);
// Wants a rule at the nodes of `on` (checked and borrowed; NULL: all). It replaces what was wanted
// under this ns_id before and is not yet removed from its nodes. Returns 0 or -ENOMEM.
int controller_want(struct hs_controller *controller, const struct hs_rule *rule, const json_t *on);
// Gives a rule that was changed its next revision, and queues it for its nodes.
void controller_rule_changed(struct hs_controller *controller, struct controller_rule *rule);
void controller_unwant(struct hs_controller *controller, struct controller_rule *rule);
// Removes the binding, because the node has removed the rule. The rule may end with it.
void controller_drop_binding(struct hs_controller *controller, struct binding *binding);
struct binding *controller_find_binding(
		struct hs_controller *controller, uint32_t ns_id, unsigned node);
// Frees all rules and bindings. Nodes keep their rules.
void controller_close_rules(struct hs_controller *controller);
void controller_set_state(struct hs_controller *controller, struct binding *binding,
		enum binding_state state);
// Returns whether `on` is a valid choice of nodes for a rule: 0, or -EINVAL with *err, path "on…".
// While the state is restored, unknown names are left out: see left_out.
int controller_check_on(struct hs_controller *controller, const json_t *on, struct hs_error *err);
json_t *controller_rule_json(
		const struct hs_controller *controller, const struct controller_rule *rule);
// Returns the int_update that brings a node's rule up to this one.
json_t *controller_update_json(const struct hs_rule *rule);
// Returns whether two rules are the same: in all fields but the labels, or, if `all` is false, in
// the fields that no update changes.
bool controller_same(const struct hs_rule *a, const struct hs_rule *b, bool all);
// Gives the rule's content a revision above all that were given and above this one.
void controller_raise_revision(
		struct hs_controller *controller, struct controller_rule *rule, uint64_t above);
// Lets the next refusal be reported, even if its code is that of the one before.
void controller_forget_refusal(struct binding *binding);
// Queues a binding: what is wanted has changed, or differs from what is there.
void controller_queue(struct hs_controller *controller, struct binding *binding);

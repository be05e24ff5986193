// SPDX-License-Identifier: BSD-3-Clause
// Compares what a node has with what it should have.
//
// Thread rule: owner.
#pragma once

#include "controller_state.h"

// Takes the node as another than the known one: what it has is not known.
void controller_found_anew(struct hs_controller *controller, struct controller_node *node);
// Plans an audit after a change that this controller did not make. Such audits take at most a tenth
// of the time.
void controller_suspect(struct hs_controller *controller, struct controller_node *node);
// Marks a binding so that an audit finds out what is there.
void controller_doubt(struct hs_controller *controller, struct binding *binding);
// Removes a binding from the queue of bindings that wait for a call.
void controller_unqueue(struct controller_node *node, struct binding *binding);
// These functions take what the node has: our rule of this revision, no rule, or the rule that an
// audit or CALL_LOOK found.
void controller_set_present(
		struct hs_controller *controller, struct binding *binding, uint64_t has);
void controller_set_missing(struct hs_controller *controller, struct binding *binding);
void controller_compare(struct hs_controller *controller, struct binding *binding,
		const struct hs_rule *found);
void controller_begin_audit(struct hs_controller *controller, struct controller_node *node);
// The first function handles a page of an audit. The second handles a page that did not come.
void controller_take_list(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok);
void controller_abandon_audit(
		struct hs_controller *controller, struct controller_node *node, int64_t pause_ns);

// SPDX-License-Identifier: BSD-3-Clause
// What nodes answer about routes around bad links.
//
// Thread rule: owner.
#pragma once

#include "controller_state.h"

// The first function handles the answer to a CALL_ROUTE_PORTS or CALL_ROUTE_SET (`error` NULL:
// done). The second handles an answer that did not come.
void controller_reroute_answered(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok, const struct reply_error *error);
void controller_reroute_call_lost(struct hs_controller *controller,
		const struct controller_node *node, const struct call *call);
// These functions note that a node answers for the first time or again, or that it no longer
// answers.
void controller_reroute_node_up(struct hs_controller *controller,
		const struct controller_node *node, bool restarted);
void controller_reroute_node_down(struct hs_controller *controller);

// SPDX-License-Identifier: BSD-3-Clause
// The calls that repair differences.
//
// Thread rule: owner.
#pragma once

#include "controller_state.h"

// Sends the needed calls as far as the node accepts them.
void controller_repair(struct hs_controller *controller, struct controller_node *node);
// These functions handle calls of these kinds that were answered (`error` NULL: done), or whose
// answer did not come in time (_lost).
void controller_repaired(struct hs_controller *controller, struct controller_node *node,
		const struct call *call, json_t *ok, const struct reply_error *error);
void controller_repair_lost(struct hs_controller *controller, struct controller_node *node,
		const struct call *call);

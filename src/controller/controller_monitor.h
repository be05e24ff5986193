// SPDX-License-Identifier: BSD-3-Clause
// What nodes publish: reports, windows and events.
//
// Thread rule: owner.
#pragma once

#include "controller_state.h"

int controller_open_monitor(struct hs_controller *controller);
void controller_close_monitor(struct hs_controller *controller);
void controller_step_monitor(struct hs_controller *controller);
// Handles a message that a node published.
void controller_take_message(struct hs_controller *controller, const char *json, size_t len);
// Removes the metrics of a rule that is no longer wanted.
void controller_forget_flow(struct hs_controller *controller, uint32_t ns_id);
// Returns the metrics of a rule, or NULL if there are none.
struct controller_flow *controller_find_flow(struct hs_controller *controller, uint32_t ns_id);

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
bool controller_has_flow(struct hs_controller *controller, uint32_t ns_id);
int controller_qos_get(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);

// SPDX-License-Identifier: BSD-3-Clause
// The reply to qos_get.
//
// Thread rule: owner.
#pragma once

#include "controller_state.h"

int controller_qos_get(struct hs_controller *controller, const struct hs_api_args *args,
		json_t **result, struct hs_error *err);

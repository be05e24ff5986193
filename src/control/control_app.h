// SPDX-License-Identifier: BSD-3-Clause
// The metrics of one application.
//
// Thread rule: owner (the control thread).
#pragma once

#include "api.h"

struct control_rules;
struct hs_control_config;
struct hs_qos;

// Returns the list of applications that qos_get answers: one, or none.
json_t *hs_control_application(const struct control_rules *rules, struct hs_qos *qos,
		const struct hs_control_config *config, const struct hs_api_args *args);

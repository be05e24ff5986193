// SPDX-License-Identifier: BSD-3-Clause
// The metrics of one application.
//
// Thread rule: owner (the control thread).
#pragma once

#include "api.h"

struct hs_control;

// Returns the list of applications that qos_get answers: one, or none.
json_t *hs_control_application(struct hs_control *control, const struct hs_api_args *args);

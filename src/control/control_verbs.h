// SPDX-License-Identifier: BSD-3-Clause
// The implementation of each request.
//
// Thread rule: owner (the control thread).
#pragma once

#include "api.h"

int hs_control_run_verb(void *context, const struct hs_api_args *args, json_t **result,
		struct hs_error *err);

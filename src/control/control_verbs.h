// SPDX-License-Identifier: BSD-3-Clause
// The implementation of each request.
//
// Thread rule: owner (the control thread).
#pragma once

#include "api.h"
#include "api_reply.h"

// Checks, before anything of a list runs, that this node can answer a request.
int hs_control_answers(void *context, const struct hs_api_args *args, struct hs_error *err);
int hs_control_run_verb(void *context, const struct hs_api_args *args, json_t **result,
		struct hs_error *err);
// The fields of each reply.
extern HS_API_REPLIES(hs_control_replies);

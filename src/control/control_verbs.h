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
// Returns the fields of a reply.
const struct hs_schema_field *hs_control_reply(enum hs_api_verb verb);

// SPDX-License-Identifier: BSD-3-Clause
// Explains why a rule measures nothing here, from the counters of the node.
//
// Thread rule: owner (the control thread).
#pragma once

#include "api.h"
#include "schema.h"

#include <jansson.h>

struct hs_control;

extern const struct hs_schema_field hs_control_explain_fields[];
// Answers explain. Returns 0 with a new reference, or -ENOENT with *err ("no_such_rule").
int hs_control_explain(struct hs_control *control, const struct hs_api_args *args, json_t **result,
		struct hs_error *err);

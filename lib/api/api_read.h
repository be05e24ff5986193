// SPDX-License-Identifier: BSD-3-Clause
// Reads what a verb is given. For lib/api only.
//
// Thread rule: owner; distinct fields and owners of rules are stored for good.
#pragma once

#include "api_args.h"
#include "errors.h"

// Reads the content of a verb. Returns 0, or -EINVAL with *err (path relative to the content).
int hs_api_args_from_json(enum hs_api_verb verb, const json_t *content, struct hs_api_args *args,
		struct hs_error *err);
// Keeps all errors of the content of a verb.
void hs_api_args_errors(enum hs_api_verb verb, json_t *content, struct hs_errors *errors);

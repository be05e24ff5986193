// SPDX-License-Identifier: BSD-3-Clause
// From requests to a plan. For lib/api only.
//
// Thread rule: owner; one call at a time.
#pragma once

#include "api_envelope.h"
#include "api_plan.h"
#include "api_verbs.h"

// These functions read the verb of a request, and the request. Both return 0, or -EINVAL with *err.
int hs_api_read_verb(json_t *object, bool in_list, enum hs_api_which which,
		struct hs_api_envelope *envelope, int *verb, struct hs_error *err);
int hs_api_read_request(json_t *object, bool in_list, enum hs_api_which which,
		struct hs_api_envelope *envelope, struct hs_api_args *args, struct hs_error *err);

// Plans a request that was read. A rule without ns_id gets one, and so does its request, because
// requests are saved.
int hs_api_plan_request(struct hs_api_plan *plan, json_t *object, struct hs_api_args *args,
		struct hs_error *err);
// Reads and plans request i of a list. *failing_id (may be NULL) is the id of a refused request.
int hs_api_plan_item(struct hs_api_plan *plan, json_t *items, size_t i, const char *prefix,
		enum hs_api_which which, json_t **failing_id, struct hs_error *err);
// Does the same for all requests of the list, up to the first that is refused.
int hs_api_plan_list(struct hs_api_plan *plan, json_t *items, const char *prefix,
		enum hs_api_which which, json_t **failing_id, struct hs_error *err);

// Puts `prefix[index]` in front of the error's path.
void hs_api_prefix_item(struct hs_error *err, const char *prefix, size_t index);
// Returns 0 if the requests of a file are a list, or -EINVAL with *err.
int hs_api_check_is_list(const json_t *requests, struct hs_error *err);

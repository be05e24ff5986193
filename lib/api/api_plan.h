// SPDX-License-Identifier: BSD-3-Clause
// Plans a list of requests on a copy of the state before anything is done: which namespaces there
// would be, with which rules, and how much room would be left. For lib/api only.
#pragma once

#include "api_answers.h"
#include "api_backend.h"

struct hs_api_plan;

// Turns the name of a port, if given, into its index. Returns 0, or -EINVAL "unknown_port".
int hs_api_resolve_port(int (*port_of)(void *context, const char *name), void *context,
		struct hs_api_args *args, struct hs_error *err);

// Creates a plan for at most n requests. Returns NULL if memory is out.
struct hs_api_plan *hs_api_plan_create(const struct hs_api_backend *backend, size_t n);
void hs_api_plan_destroy(struct hs_api_plan *plan);

// Gives an ns_id to the rule of an int_request that has none: one that no rule of the backend or of
// the plan has.
void hs_api_plan_choose_ns(struct hs_api_plan *plan, struct hs_api_args *args);

// Plans the next request. Returns 0, or -EINVAL with *err (path relative to the verb's content):
// ns_in_use, no_such_rule, table_full, too_large, or what hs_rule_apply says.
int hs_api_plan_add(struct hs_api_plan *plan, const struct hs_api_args *args, struct hs_error *err);

// Returns the name of the verb of request i if its change must be saved, else NULL. Questions and
// changes of a rule that gives way (hs_api_backend) are not saved.
const char *hs_api_plan_saves(const struct hs_api_plan *plan, size_t i);

// Runs all requests and appends their results to the answers. If one fails, the requests before it
// are reverted. *failed is its index, or the number of requests if the list as a whole failed.
int hs_api_plan_run(struct hs_api_plan *plan, struct hs_api_answers *answers, size_t *failed,
		struct hs_error *err);

// SPDX-License-Identifier: BSD-3-Clause
// Members of a result. Each puts one into an object (or a list where key is NULL) and returns 0 or
// -1, as jansson does, which also takes care of values for which there was no memory.
//
// Thread rule: any.
#pragma once

#include "outcome_parts.h"

#include <jansson.h>

extern const char *const hs_outcome_flag_names[HS_OUTCOME_FLAGS]; // by bit

// A whole number stays one; NAN and infinities are left out.
int hs_outcome_put(json_t *to, const char *key, double value);
int hs_outcome_put_integer(json_t *to, const char *key, int64_t value);
int hs_outcome_put_value(json_t *to, const char *key, json_t *value);
int hs_outcome_put_flow(json_t *to, const struct hs_scenario *scenario, uint32_t flow);

// The parts of a result; NULL: no memory.
json_t *hs_outcome_json_windows(const struct hs_outcome *outcome);
json_t *hs_outcome_json_rows(const struct hs_outcome *outcome);
json_t *hs_outcome_json_mae(const struct hs_outcome *outcome);
json_t *hs_outcome_json_lost(const struct hs_outcome *outcome);
json_t *hs_outcome_json_overhead(const struct hs_outcome *outcome);
json_t *hs_outcome_json_trips(const struct hs_outcome *outcome);

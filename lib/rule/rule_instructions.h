// SPDX-License-Identifier: BSD-3-Clause
// The keys "instructions" and "instruction_bitmap" of a rule of method int.
//
// Thread rule: any.
#pragma once

#include "schema.h"

// These functions read and print the member `trace_type` of struct hs_rule. Each name may come only
// once.
int hs_rule_read_instructions(json_t *list, const char *path, void *at, struct hs_error *err);
json_t *hs_rule_print_instructions(const void *at);
extern const char hs_rule_instructions_shape[];

// A bitmap of one version of INT.
extern const struct hs_schema_text hs_rule_bitmap_text;

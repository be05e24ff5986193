// SPDX-License-Identifier: BSD-3-Clause
// Rules and their updates as JSON (listing 1 of the paper, with the switches of section III-B2).
//
// Thread rule: any.
#pragma once

#include "rule.h"
#include "schema.h"

#include <jansson.h>

// Reads the content of an int_request. Returns 0, or -EINVAL with *err (path "src_ip", ...); codes
// unknown_field, missing_field, wrong_type, bad_value, out_of_range, wrong_family, unsupported.
int hs_rule_from_json(const json_t *object, struct hs_rule *rule, struct hs_error *err);

// The words of errors for rules and for updates.
extern const struct hs_schema_style hs_rule_style, hs_rule_update_style;

// Prints every field with the same names and units. mode_setting is an integer if it is whole.
// Returns a new reference, or NULL if memory is out.
json_t *hs_rule_to_json(const struct hs_rule *rule);
// Does the same for some fields: bit i of `rows` is row i of hs_rule_fields.
json_t *hs_rule_rows_to_json(const struct hs_rule *rule, uint32_t rows);

// Reads the content of an int_update: ns_id and at least one change. The errors are the same.
// hs_rule_apply checks whether the new values fit together.
int hs_rule_update_from_json(const json_t *object, uint32_t *ns_id, struct hs_rule_update *update,
		struct hs_error *err);

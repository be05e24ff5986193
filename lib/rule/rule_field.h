// SPDX-License-Identifier: BSD-3-Clause
// The table of a rule's fields: names, types, bounds, defaults and help. Both codecs, updates, the
// API's help and its documentation use it.
//
// Source: 000_616928c59136b059.txt listing 1 (the fields of the in-band request) and section III-B2
// (the switches). Thread rule: any.
#pragma once

#include "rule.h"
#include "schema.h"

#include <stddef.h>

extern const struct hs_schema_field hs_rule_fields[HS_RULE_ROWS + 1]; // of struct hs_rule

// The rows of an update: only ns_id is required, and null resets a field.
void hs_rule_update_fields(struct hs_schema_field fields[HS_RULE_ROWS + 1]);

// An address of either version as text (ip_address.h). Its error is "bad_value".
extern const struct hs_schema_text hs_rule_address_text;

// Returns the row of a name (not terminated), or HS_RULE_ROWS.
unsigned hs_rule_row_find(const char *name, size_t len);

void hs_rule_copy_rows(struct hs_rule *to, const struct hs_rule *from, uint32_t rows);
// Adds those of these rows to an update that may change.
void hs_rule_update_take(struct hs_rule_update *update, const struct hs_rule *rule, uint32_t rows);
// Applies an update to *rule and checks the result. On -EINVAL, *rule does not change.
int hs_rule_apply(struct hs_rule *rule, const struct hs_rule_update *update, struct hs_error *err);

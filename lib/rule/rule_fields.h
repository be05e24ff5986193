// SPDX-License-Identifier: BSD-3-Clause
// The distinct `fields` of this process's rules, each stored once. A rule holds the number of its
// fields. So rules without fields cost nothing, and two rules are equal if their bytes are equal.
//
// Thread rule: one thread at a time, the control thread. Entries stay until the process ends.
#pragma once

#include "partial_config.h"

#include <stdint.h>

#define HS_RULE_FIELDS_MOST 65535

// Returns the number of an equal entry, above 0. Returns 0 if memory is out or HS_RULE_FIELDS_MOST
// entries exist.
uint32_t hs_rule_fields_number(const struct hs_partial *partial);
// The number must be above 0.
const struct hs_partial *hs_rule_fields_of(uint32_t number);

// SPDX-License-Identifier: BSD-3-Clause
// The different `fields` that rules of this process have had, each once: a rule has the number of
// its own, which costs a million rules without any nothing, and two rules are equal where their
// bytes are.
//
// Thread rule: one thread at a time, control's. They stay until the process ends.
#pragma once

#include "partial_config.h"

#include <stdint.h>

#define HS_RULE_FIELDS_MOST 65535

// The number of one like this, above 0; 0: no memory, or HS_RULE_FIELDS_MOST are there.
uint32_t hs_rule_fields_number(const struct hs_partial *partial);
// Of a number above 0.
const struct hs_partial *hs_rule_fields_of(uint32_t number);

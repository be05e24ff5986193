// SPDX-License-Identifier: BSD-3-Clause
// The distinct `fields` and owners of this process's rules, each stored once. A rule holds their
// numbers. So rules without them cost nothing, and two rules are equal if their bytes are equal.
//
// Thread rule: one thread at a time, the control thread. Entries stay until the process ends, or
// until they are released.
#pragma once

#include "partial_config.h"

#include <stdint.h>

#define HS_RULE_FIELDS_MOST   65535 // of each kind
#define HS_RULE_OWNER_BYTES   32
#define HS_RULE_REVISION_MOST ((UINT64_C(1) << 53) - 1) // the greatest that JavaScript keeps

// Returns the number of an equal entry, above 0, and adds the entry if needed. Returns 0 if memory
// is out or HS_RULE_FIELDS_MOST entries exist.
uint32_t hs_rule_fields_number(const struct hs_partial *partial);
// Returns the entry of a number, which must be above 0.
const struct hs_partial *hs_rule_fields_of(uint32_t number);

// Do the same for owners. A name has at most HS_RULE_OWNER_BYTES - 1 bytes; "" has the number 0.
uint16_t hs_rule_owner_number(const char *name);
const char *hs_rule_owner_name(uint16_t number);

// A mark of the entries that exist. hs_rule_fields_release removes the entries that were added
// since a mark; nothing may hold their numbers.
struct hs_rule_fields_mark {
	uint32_t fields, owners;
};
struct hs_rule_fields_mark hs_rule_fields_mark(void);
void hs_rule_fields_release(struct hs_rule_fields_mark mark);

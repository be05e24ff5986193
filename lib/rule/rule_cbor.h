// SPDX-License-Identifier: BSD-3-Clause
// The in-band request (option 0x32) in CBOR: {"int_request": {...}} with text keys, definite
// lengths, shortest integers, keys in the order of listing 1. docs/wire-flexint.md has the bytes.
//
// Source: 000_616928c59136b059.txt section III-B1 and figure 3; RFC 8949.
// Thread rule: any; pure functions, no allocation whatever a peer sends.
#pragma once

#include "rule.h"

#include <stddef.h>
#include <stdint.h>

#define HS_RULE_CBOR_BYTES 255 // of one option; the longest request has 228

// Writes a checked rule. Returns its length, or a negative errno with *err: -EINVAL where
// mode_setting is not whole (the format has no fractions), -ENOSPC where it does not fit.
int hs_rule_to_cbor(const struct hs_rule *rule, uint8_t *bytes, size_t size, struct hs_error *err);

// Reads and checks one. Keys come in any order; unknown ones are dropped and counted in
// *unknown_keys (may be NULL). The switches, which no request carries, get their defaults.
// 0 or -EINVAL with *err: not_cbor, and the codes of hs_rule_from_json.
int hs_rule_from_cbor(const uint8_t *bytes, size_t len, struct hs_rule *rule,
		unsigned *unknown_keys, struct hs_error *err);

// SPDX-License-Identifier: BSD-3-Clause
// The in-band request (option 0x32) in CBOR: {"int_request": {...}} with text keys, definite
// lengths, shortest integers, and keys in the order of listing 1. The switches transmit_report and
// piggyback_report follow if they differ from their default. So a rule that only the source was
// given reaches the sink completely. mode_setting is an integer if it is whole, otherwise the
// shortest float that keeps it. docs/wire-flexint.md has the bytes.
//
// Source: 000_616928c59136b059.txt section III-B1 and figure 3; RFC 8949. Thread rule: any; pure
// functions without allocation for any input of a peer.
#pragma once

#include "rule.h"

#include <stddef.h>
#include <stdint.h>

#define HS_RULE_CBOR_BYTES 255 // of one option; the paper's longest request has 228 bytes
#define HS_RULE_AUTH_BYTES 16  // of the member "auth" (rule_auth.h)

// Writes a checked rule. Returns its length, or a negative errno with *err: -ENOSPC ("too_large")
// if it does not fit.
int hs_rule_to_cbor(const struct hs_rule *rule, uint8_t *bytes, size_t size, struct hs_error *err);

// Reads and checks one request. Keys may come in any order. Unknown keys are dropped and counted in
// *unknown_keys (may be NULL). Switches that the request does not have get their defaults. `auth`
// is not verified here; rule_auth.h does this. Returns 0, or -EINVAL with *err: not_cbor,
// duplicate_key, and the codes of hs_rule_from_json.
int hs_rule_from_cbor(const uint8_t *bytes, size_t len, struct hs_rule *rule,
		unsigned *unknown_keys, struct hs_error *err);

// The outer map: the positions of its members in the caller's bytes.
struct hs_rule_envelope {
	const uint8_t *request; // the value of "int_request", a map
	size_t request_len;
	const uint8_t *auth; // HS_RULE_AUTH_BYTES bytes; NULL: there is none
	unsigned unknown_keys;
};
// Finds the members of the outer map. Returns 0, or -EINVAL with *err.
int hs_rule_cbor_open(const uint8_t *bytes, size_t len, struct hs_rule_envelope *envelope,
		struct hs_error *err);

// SPDX-License-Identifier: BSD-3-Clause
// Signs and verifies in-band requests in a domain with a key. The request's outer map then has a
// second member, "auth": a 64-bit counter and the first 8 bytes of HMAC-SHA-256 over the counter
// and the exact bytes of the value of "int_request". The counter is the source's clock in
// nanoseconds, so that it grows over restarts. The receiver decides whether the counter is newer
// than the last one.
//
// Source: RFC 2104, FIPS 180-4; truncation by RFC 2104 section 5. Thread rule: any; pure functions.
#pragma once

#include "error.h"

#include <stddef.h>
#include <stdint.h>

#define HS_RULE_KEY_BYTES  32
#define HS_RULE_AUTH_GROWS 22 // bytes that a signature adds to a request

struct hs_rule_key {
	uint8_t bytes[HS_RULE_KEY_BYTES];
};

// Reads 64 hexadecimal digits; blanks and line ends around them are ignored. Returns 0, or -EINVAL
// with *err, which does not repeat the text.
int hs_rule_key_from_hex(
		const char *text, size_t len, struct hs_rule_key *key, struct hs_error *err);

// Signs the `len` bytes that hs_rule_to_cbor wrote, in place. Returns the new length, or -ENOSPC
// ("too_large") with *err if `size` is too small.
int hs_rule_auth_sign(const struct hs_rule_key *key, uint64_t counter, uint8_t *bytes, size_t len,
		size_t size, struct hs_error *err);

// Returns 0 and the counter if the request is signed with this key. Otherwise returns -EINVAL with
// *err: an error of hs_rule_cbor_open, "not_signed", or "bad_signature".
int hs_rule_auth_verify(const struct hs_rule_key *key, const uint8_t *bytes, size_t len,
		uint64_t *counter, struct hs_error *err);

// SPDX-License-Identifier: BSD-3-Clause
#include "rule_auth.h"

#include "bytes.h"
#include "rule_cbor.h"

#include <assert.h>
#include <errno.h>
#include <sodium.h>
#include <string.h>

#define COUNTER_BYTES 8
#define MAC_BYTES     8

static const uint8_t auth_member[] = {0x64, 'a', 'u', 't', 'h', 0x40 | HS_RULE_AUTH_BYTES};

static_assert(COUNTER_BYTES + MAC_BYTES == HS_RULE_AUTH_BYTES, "counter, then the cut digest");
static_assert(sizeof(auth_member) + HS_RULE_AUTH_BYTES == HS_RULE_AUTH_GROWS, "as promised");
static_assert(HS_RULE_KEY_BYTES == crypto_auth_hmacsha256_KEYBYTES, "the digest's own length");

int hs_rule_key_from_hex(
		const char *text, size_t len, struct hs_rule_key *key, struct hs_error *err)
{
	size_t used = 0;

	if (sodium_hex2bin(key->bytes, sizeof(key->bytes), text, len, " \t\r\n", &used, NULL) ||
			used != sizeof(key->bytes)) {
		sodium_memzero(key, sizeof(*key));
		return hs_error_set(err, "bad_value", "", "64 hexadecimal digits",
				"the key is not 32 bytes in hexadecimal");
	}
	return 0;
}

static void digest(const struct hs_rule_key *key, const uint8_t counter[COUNTER_BYTES],
		const uint8_t *request, size_t len, uint8_t mac[crypto_auth_hmacsha256_BYTES])
{
	crypto_auth_hmacsha256_state state;

	crypto_auth_hmacsha256_init(&state, key->bytes, sizeof(key->bytes));
	crypto_auth_hmacsha256_update(&state, counter, COUNTER_BYTES);
	crypto_auth_hmacsha256_update(&state, request, len);
	crypto_auth_hmacsha256_final(&state, mac);
	sodium_memzero(&state, sizeof(state));
}

int hs_rule_auth_sign(const struct hs_rule_key *key, uint64_t counter, uint8_t *bytes, size_t len,
		size_t size, struct hs_error *err)
{
	struct hs_rule_envelope envelope;
	uint8_t mac[crypto_auth_hmacsha256_BYTES];

	int rc = hs_rule_cbor_open(bytes, len, &envelope, err);
	if (rc)
		return rc;
	if (len + HS_RULE_AUTH_GROWS > size) {
		hs_error_set(err, "too_large", "in_band", "",
				"in_band: the request and its signature do not fit in %zu bytes",
				size);
		return -ENOSPC;
	}
	uint8_t *auth = bytes + len + sizeof(auth_member);
	bytes[0] = 0xa2; // a map of two
	memcpy(bytes + len, auth_member, sizeof(auth_member));
	hs_be64_store(auth, counter);
	digest(key, auth, envelope.request, envelope.request_len, mac);
	memcpy(auth + COUNTER_BYTES, mac, MAC_BYTES);
	return (int)(len + HS_RULE_AUTH_GROWS);
}

int hs_rule_auth_verify(const struct hs_rule_key *key, const uint8_t *bytes, size_t len,
		uint64_t *counter, struct hs_error *err)
{
	struct hs_rule_envelope envelope;
	uint8_t mac[crypto_auth_hmacsha256_BYTES];

	int rc = hs_rule_cbor_open(bytes, len, &envelope, err);
	if (rc)
		return rc;
	if (!envelope.auth)
		return hs_error_set(err, "not_signed", "auth", "a request signed with the key",
				"the request is not signed");
	digest(key, envelope.auth, envelope.request, envelope.request_len, mac);
	if (sodium_memcmp(mac, envelope.auth + COUNTER_BYTES, MAC_BYTES) != 0)
		return hs_error_set(err, "bad_signature", "auth", "a request signed with the key",
				"the request is signed with another key, or was changed");
	*counter = hs_be64_load(envelope.auth);
	return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
// An in-band request that was read is a rule, which is written and read again with the same result.
#include "fuzz.h"

#include "rule_auth.h"
#include "rule_cbor.h"
#include "rule_field.h"

#include <string.h>

static void assert_same(const struct hs_rule *a, const struct hs_rule *b)
{
	HOLDS(a->ns_id == b->ns_id && a->app_id == b->app_id);
	HOLDS(memcmp(a->src_ip, b->src_ip, 16) == 0 && memcmp(a->dst_ip, b->dst_ip, 16) == 0);
	HOLDS(a->src_port == b->src_port && a->dst_port == b->dst_port);
	HOLDS(a->protocol == b->protocol && a->trace_type == b->trace_type);
	HOLDS(a->mode == b->mode && a->mode_setting == b->mode_setting);
	HOLDS(a->transmit_report == b->transmit_report);
	HOLDS(a->piggyback_report == b->piggyback_report);
}

// A request signed with our key is valid, and no longer valid after a bit changed.
static void assert_signed(uint8_t *bytes, size_t len, size_t size)
{
	static const struct hs_rule_key key = {{1, 2, 3}};
	uint64_t counter = 0;
	int n = hs_rule_auth_sign(&key, 0x1122334455667788, bytes, len, size, NULL);

	HOLDS(n == (int)len + HS_RULE_AUTH_GROWS);
	HOLDS(hs_rule_auth_verify(&key, bytes, (size_t)n, &counter, NULL) == 0);
	HOLDS(counter == 0x1122334455667788);
	bytes[len / 2] ^= 1;
	HOLDS(hs_rule_auth_verify(&key, bytes, (size_t)n, &counter, NULL) != 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hs_rule rule, again;
	struct hs_error err = {0};
	// In canonical form, a request can be longer than it arrived, and longer than an option.
	uint8_t bytes[HS_RULE_CBOR_BYTES + 64];
	static const struct hs_rule_key key = {{0}};
	uint64_t counter;
	unsigned unknown;

	hs_rule_auth_verify(&key, data, size, &counter, &err);
	hs_rule_key_from_hex((const char *)data, size, &(struct hs_rule_key){0}, &err);
	err = (struct hs_error){0};

	if (hs_rule_from_cbor(data, size, &rule, &unknown, &err)) {
		HOLDS(hs_error_is_set(&err));
		return 0;
	}
	int len = hs_rule_to_cbor(&rule, bytes, sizeof(bytes), &err);
	HOLDS(len > 0);
	HOLDS(hs_rule_from_cbor(bytes, (size_t)len, &again, &unknown, &err) == 0 && unknown == 0);
	assert_same(&rule, &again);
	assert_signed(bytes, (size_t)len, sizeof(bytes));
	return 0;
}

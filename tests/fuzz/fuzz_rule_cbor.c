// SPDX-License-Identifier: BSD-3-Clause
// Whatever is read as an in-band request is a rule that is written and read again the same.
#include "fuzz.h"

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
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hs_rule rule, again;
	struct hs_error err = {0};
	uint8_t bytes[HS_RULE_CBOR_BYTES];
	unsigned unknown;

	if (hs_rule_from_cbor(data, size, &rule, &unknown, &err)) {
		HOLDS(hs_error_is_set(&err));
		return 0;
	}
	int len = hs_rule_to_cbor(&rule, bytes, sizeof(bytes), &err);
	HOLDS(len > 0);
	HOLDS(hs_rule_from_cbor(bytes, (size_t)len, &again, &unknown, &err) == 0 && unknown == 0);
	assert_same(&rule, &again);
	return 0;
}

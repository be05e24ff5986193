// SPDX-License-Identifier: BSD-3-Clause
// Requests that packets bring to a node.
#pragma once

#include "flexint.h"
#include "pending_rig.h"

static const enum hs_port_side TRANSIT[] = {HS_SIDE_NETWORK, HS_SIDE_NETWORK};

static inline struct hs_rule a_rule(uint32_t ns_id)
{
	struct hs_rule rule;
	hs_rule_init(&rule);
	rule.ns_id = ns_id;
	rule.app_id = 3;
	memcpy(rule.src_ip, (uint8_t[16]){0x20, 0x01, 0x0d, 0xb8, [15] = 1}, 16);
	memcpy(rule.dst_ip, (uint8_t[16]){0x20, 0x01, 0x0d, 0xb8, [15] = 2}, 16);
	rule.dst_port = (uint16_t)(5000 + ns_id);
	rule.protocol = IPPROTO_UDP;
	rule.trace_type = 0x7000E000;
	rule.mode = HS_MODE_COUNT;
	rule.mode_setting = 1;
	return rule;
}

static inline struct hs_rule_key a_key(uint8_t byte)
{
	struct hs_rule_key key;
	memset(key.bytes, byte, sizeof(key.bytes));
	return key;
}

// Brings the rule's request to a port; key 0: unsigned.
static inline void bring_request(
		const struct hs_rule *rule, uint16_t port, uint8_t key_byte, int64_t at_ns)
{
	uint8_t bytes[HS_RULE_CBOR_BYTES];
	struct hs_rule_key key = a_key(key_byte);
	int len = hs_rule_to_cbor(rule, bytes, sizeof(bytes), NULL);
	assert_true(len > 0);
	if (key_byte)
		len = hs_rule_auth_sign(
				&key, (uint64_t)at_ns, bytes, (size_t)len, sizeof(bytes), NULL);
	assert_true(len > 0);
	bring(HS_OPT_REQUEST, 0, 1, port, bytes, (size_t)len);
}

// Does the same, and has control look.
static inline void bring_signed(struct rig *r, const struct hs_rule *rule, uint16_t port,
		uint8_t key_byte, int64_t at_ns)
{
	bring_request(rule, port, key_byte, at_ns);
	step(r, 1000000);
}

static inline void bring_rule(struct rig *r, const struct hs_rule *rule)
{
	bring_signed(r, rule, 0, 0, 0);
}

static inline json_t *rule_shown(struct rig *r, unsigned ns_id)
{
	char text[64];
	snprintf(text, sizeof(text), "{\"int_get\": {\"ns_id\": %u}}", ns_id);
	json_t *reply = ask(r, text), *rule = json_incref(json_object_get(reply, "rule"));
	json_decref(reply);
	return rule;
}

static inline bool is_installed(struct rig *r, unsigned ns_id)
{
	return hs_flow_table_find(flows(r), ns_id) != HS_FLOW_NONE;
}

static inline void assert_reason(struct rig *r, const char *word)
{
	json_t *told = event(r, "request_refused", 0);
	assert_non_null(told);
	const char *reason = json_string_value(json_object_get(told, "reason"));
	if (!strstr(reason, word))
		fail_msg("\"%s\" does not say \"%s\"", reason, word);
}

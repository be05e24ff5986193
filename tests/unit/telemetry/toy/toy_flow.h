// SPDX-License-Identifier: BSD-3-Clause
// A packet of a host, and the rule that gives each such packet telemetry.
#pragma once

#include "harness.h"
#include "hex.h"

// 2001:db8::1 to ::2, UDP 0x1234 to 5001.
static const char PACKET[] = "02000000000202000000000186dd"
			     "600000000010114020010db800000000000000000000000120010db8000000000000"
			     "0000000000021234138900105e94494e544441544121";

static inline void install(struct test_node *node, uint32_t trace_type)
{
	static const uint8_t prefix[] = {0x20, 0x01, 0x0d, 0xb8};
	struct hs_rule rule;

	hs_rule_init(&rule);
	rule.ns_id = 7;
	memcpy(rule.src_ip, prefix, 4);
	memcpy(rule.dst_ip, prefix, 4);
	rule.src_ip[15] = 1;
	rule.dst_ip[15] = 2;
	rule.dst_port = 5001;
	rule.protocol = IPPROTO_UDP;
	rule.mode = HS_MODE_COUNT;
	rule.mode_setting = 1;
	rule.trace_type = trace_type;
	test_node_rule(node, &rule);
}

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
	struct hs_rule rule = vector_rule(7);

	rule.trace_type = trace_type;
	test_node_rule(node, &rule);
}

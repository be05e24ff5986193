// SPDX-License-Identifier: BSD-3-Clause
// The flows that a scenario's requests monitor, and the traffic of each flow.
#include "scenario_draft.h"

#include "rule_json.h"

#include <stdio.h>
#include <string.h>

#define OPENING_NS INT64_C(1000000000)

static bool is_port(uint16_t wanted, uint16_t port)
{
	return wanted == 0 || wanted == port; // as in rules: 0 is any
}

static bool matches(const struct hs_scenario *scenario, const struct hs_rule *rule, uint32_t index,
		bool reverse)
{
	const struct hs_scenario_traffic *traffic = &scenario->traffic[index];
	const struct hs_scenario_host *from = &scenario->hosts[traffic->from];
	const struct hs_scenario_host *to = &scenario->hosts[traffic->to];

	return rule->protocol == traffic->protocol &&
	       is_port(rule->src_port, reverse ? traffic->dst_port : traffic->src_port) &&
	       is_port(rule->dst_port, reverse ? traffic->src_port : traffic->dst_port) &&
	       memcmp(rule->src_ip, reverse ? to->addr : from->addr, 16) == 0 &&
	       memcmp(rule->dst_ip, reverse ? from->addr : to->addr, 16) == 0;
}

// The flow's traffic is that which the request named, if it matches. It has precedence, because two
// pings in opposite directions look alike.
static void find_traffic(const struct hs_scenario *scenario, const struct hs_rule *rule,
		struct hs_scenario_flow *flow)
{
	if (flow->traffic != HS_NO_INDEX && matches(scenario, rule, flow->traffic, flow->reverse))
		return;
	for (unsigned reverse = 0; reverse < 2; reverse++) {
		for (uint32_t i = 0; i < scenario->n_traffic; i++) {
			if (!matches(scenario, rule, i, reverse))
				continue;
			flow->traffic = i;
			flow->reverse = reverse;
			return;
		}
	}
	flow->traffic = HS_NO_INDEX;
	flow->reverse = false;
}

// Flows are found by their number, so that thousands of them do not make each more expensive.
int hs_draft_add_flow(struct hs_draft *draft, const json_t *request, uint32_t traffic)
{
	const json_t *content = json_object_get(request, "int_request");
	struct hs_scenario *scenario = &draft->scenario;
	struct hs_scenario_flow flow = {.traffic = traffic, .reverse = draft->wish.reverse};
	struct hs_error ignored;
	struct hs_rule rule;
	char name[16];

	if (!content || hs_rule_from_json(content, &rule, &ignored) < 0)
		return 0;
	snprintf(name, sizeof(name), "%u", rule.ns_id);
	if (hs_draft_find_name(draft, HS_NAME_FLOW, name) != HS_NO_INDEX)
		return 0;
	flow.ns_id = rule.ns_id;
	flow.app_id = rule.app_id;
	find_traffic(scenario, &rule, &flow);
	if (scenario->opening_packet && flow.traffic != HS_NO_INDEX)
		scenario->traffic[flow.traffic].opening_ns = OPENING_NS;
	int rc = hs_draft_add_name(draft, HS_NAME_FLOW, name, scenario->n_flows);
	return rc ? rc : HS_DRAFT_APPEND(draft, flows, &flow);
}

// SPDX-License-Identifier: BSD-3-Clause
// The flows that a scenario's requests monitor, and the traffic of each flow.
#include "scenario_parts.h"

#include "rule_json.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static void find_traffic(const struct hs_scenario *scenario, const struct hs_rule *rule,
		const struct hs_scenario_origin *origin, struct hs_scenario_flow *flow)
{
	// The traffic that the request named has precedence, because two pings in opposite
	// directions look alike.
	if (origin->traffic != HS_NO_INDEX &&
			matches(scenario, rule, origin->traffic, origin->reverse)) {
		flow->traffic = origin->traffic;
		flow->reverse = origin->reverse;
		return;
	}
	flow->traffic = HS_NO_INDEX;
	for (uint32_t i = 0; i < 2 * scenario->n_traffic; i++) {
		// First the forward directions of all entries, then the replies.
		bool reverse = i >= scenario->n_traffic;
		uint32_t index = reverse ? i - (uint32_t)scenario->n_traffic : i;
		if (!matches(scenario, rule, index, reverse))
			continue;
		flow->traffic = index;
		flow->reverse = reverse;
		return;
	}
}

// Flows are found by their number, so that thousands of them do not make each more expensive.
static int add_flow(struct hs_scenario *scenario, json_t *seen, const json_t *request,
		const struct hs_scenario_origin *origin, struct hs_error *err)
{
	struct hs_rule rule;
	char key[16];
	const json_t *content = json_object_get(request, "int_request");

	if (!content || hs_rule_from_json(content, &rule, err) < 0)
		return 0;
	snprintf(key, sizeof(key), "%u", rule.ns_id);
	if (json_object_get(seen, key))
		return 0;
	if (json_object_set_new(seen, key, json_true()) < 0)
		return hs_scenario_no_memory(err);
	struct hs_scenario_flow *flow = &scenario->flows[scenario->n_flows++];
	*flow = (struct hs_scenario_flow){.ns_id = rule.ns_id, .app_id = rule.app_id};
	find_traffic(scenario, &rule, origin, flow);
	return 0;
}

#define OPENING_NS INT64_C(1000000000)

static void open_traffic(struct hs_scenario *scenario)
{
	for (size_t i = 0; scenario->opening_packet && i < scenario->n_flows; i++) {
		uint32_t traffic = scenario->flows[i].traffic;
		if (traffic != HS_NO_INDEX)
			scenario->traffic[traffic].opening_ns = OPENING_NS;
	}
}

int hs_scenario_find_flows(struct hs_scenario_draft *draft, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;
	json_t *seen = json_object();
	int rc = seen ? 0 : hs_scenario_no_memory(err);

	scenario->flows = hs_scenario_room(
			scenario->n_requests + scenario->n_events, sizeof(*scenario->flows), err);
	if (!scenario->flows)
		rc = -ENOMEM;
	for (size_t i = 0; i < scenario->n_requests && rc == 0; i++)
		rc = add_flow(scenario, seen, scenario->requests[i].request,
				&draft->request_origins[i], err);
	for (size_t i = 0; i < scenario->n_events && rc == 0; i++)
		rc = add_flow(scenario, seen, scenario->events[i].request, &draft->event_origins[i],
				err);
	json_decref(seen);
	if (rc == 0)
		open_traffic(scenario);
	return rc;
}

// SPDX-License-Identifier: BSD-3-Clause
// Rules whose packets another rule takes while their telemetry arrives (docs/decisions/0003).
#include "control_shadow.h"
#include "control_event.h"
#include "control_rule.h"

#include "node.h"
#include "qos.h"
#include "rule_mask.h"

#include <inttypes.h>

uint64_t hs_control_port_events(const struct hs_node *node, enum hs_event_count event)
{
	struct hs_port_counters ports[HS_MAX_PORTS];
	uint64_t sum = 0;

	hs_node_snapshot(node, ports);
	for (uint16_t i = 0; i < hs_node_port_count(node); i++)
		sum += ports[i].events[event];
	return sum;
}

int64_t hs_control_shadow_watch(struct control_rules *rules, uint32_t slot,
		const struct hs_flow_counters *counters, int64_t now_ns,
		struct control_events *events)
{
	struct rule_note *note = counters->shadowed_packets ? hs_control_note(rules, slot) : NULL;
	uint64_t grown;

	if (!note)
		return INT64_MAX;
	uint64_t said = note->shadow_limit.said;
	uint32_t ns_id = hs_control_noted_rule(rules, note)->ns_id;
	if (!hs_event_limit(&note->shadow_limit, now_ns, counters->shadowed_packets, &grown))
		return said == counters->shadowed_packets ? INT64_MAX : note->shadow_limit.next_ns;
	hs_control_event(events, "rule_shadowed",
			json_pack("{s:I, s:I, s:I}", "ns_id", (json_int_t)ns_id, "shadowed_by",
					(json_int_t)counters->shadowed_by, "packets",
					(json_int_t)grown),
			"rule %" PRIu32 ": telemetry came in %" PRIu64 " packets that rule %" PRIu32
			" takes here: they are missing in the counts of rule %" PRIu32,
			ns_id, grown, counters->shadowed_by, ns_id);
	return INT64_MAX;
}

uint32_t hs_control_shadow_find(const struct hs_flow_table *flows, uint32_t slot, uint64_t *packets)
{
	const struct hs_rule *rule = hs_flow_table_rule(flows, slot);
	uint32_t found = 0;
	bool older = true; // rules come in order of age

	*packets = 0;
	for (uint32_t at = HS_FLOW_NONE; hs_flow_table_next(flows, &at);) {
		const struct hs_rule *other = hs_flow_table_rule(flows, at);
		struct hs_flow_counters counters;
		older &= at != slot;
		if (at == slot || !hs_rule_takes_first(other, rule, older))
			continue;
		hs_flow_table_counters(flows, at, &counters);
		if (counters.rx_packets <= *packets)
			continue;
		*packets = counters.rx_packets;
		found = other->ns_id;
	}
	return found;
}

void hs_control_shadow_mark(struct control_shadow *shadow, struct hs_node *node,
		const struct control_rules *rules, struct hs_qos *qos)
{
	uint64_t events = hs_control_port_events(node, HS_EVENT_SHADOWED_NAMESPACE);
	struct hs_flow_counters counters;
	struct rule_note *note = NULL;

	if (events == shadow->marked)
		return;
	shadow->marked = events;
	while ((note = hs_control_next_monitored(rules, note))) {
		hs_flow_table_counters(hs_node_flows(node), note->slot, &counters);
		if (counters.shadowed_packets == note->shadow_marked)
			continue;
		note->shadow_marked = counters.shadowed_packets;
		hs_qos_mark(qos, hs_control_noted_rule(rules, note)->ns_id, HS_QOS_RULES_DIFFER);
	}
}

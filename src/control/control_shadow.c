// SPDX-License-Identifier: BSD-3-Clause
// Rules whose packets another rule takes while their telemetry arrives (docs/decisions/0003).
#include "control_shadow.h"
#include "control_event.h"
#include "control_parts.h"
#include "control_rule.h"

#include "rule_mask.h"

#include <inttypes.h>

uint64_t hs_control_port_events(const struct hs_control *control, enum hs_event_count event)
{
	struct hs_port_counters ports[HS_MAX_PORTS];
	uint64_t sum = 0;

	hs_node_snapshot(control->node, ports);
	for (uint16_t i = 0; i < hs_node_port_count(control->node); i++)
		sum += ports[i].events[event];
	return sum;
}

int64_t hs_control_shadow_watch(
		struct hs_control *control, uint32_t slot, const struct hs_flow_counters *counters)
{
	uint32_t ns_id = hs_flow_table_rule(control->flows, slot)->ns_id;
	struct rule_note *note =
			counters->shadowed_packets ? hs_control_note(&control->rules, slot) : NULL;
	uint64_t grown;

	if (!note)
		return INT64_MAX;
	uint64_t said = note->shadow_limit.said;
	if (!hs_event_limit(&note->shadow_limit, control->now_ns, counters->shadowed_packets,
			    &grown))
		return said == counters->shadowed_packets ? INT64_MAX : note->shadow_limit.next_ns;
	hs_control_event(&control->events, "rule_shadowed",
			json_pack("{s:I, s:I, s:I}", "ns_id", (json_int_t)ns_id, "shadowed_by",
					(json_int_t)counters->shadowed_by, "packets",
					(json_int_t)grown),
			"rule %" PRIu32 ": telemetry came in %" PRIu64 " packets that rule %" PRIu32
			" takes here: they are missing in the counts of rule %" PRIu32,
			ns_id, grown, counters->shadowed_by, ns_id);
	return INT64_MAX;
}

uint32_t hs_control_shadow_find(const struct hs_control *control, uint32_t slot, uint64_t *packets)
{
	const struct hs_rule *rule = hs_flow_table_rule(control->flows, slot);
	uint32_t found = 0;
	bool older = true; // rules come in order of age

	*packets = 0;
	for (uint32_t at = HS_FLOW_NONE; hs_flow_table_next(control->flows, &at);) {
		const struct hs_rule *other = hs_flow_table_rule(control->flows, at);
		struct hs_flow_counters counters;
		older &= at != slot;
		if (at == slot || !hs_rule_takes_first(other, rule, older))
			continue;
		hs_flow_table_counters(control->flows, at, &counters);
		if (counters.rx_packets <= *packets)
			continue;
		*packets = counters.rx_packets;
		found = other->ns_id;
	}
	return found;
}

void hs_control_shadow_mark(struct hs_control *control)
{
	uint64_t events = hs_control_port_events(control, HS_EVENT_SHADOWED_NAMESPACE);
	struct hs_flow_counters counters;
	struct rule_note *note = NULL;

	if (events == control->shadow_marked)
		return;
	control->shadow_marked = events;
	while ((note = hs_control_next_monitored(&control->rules, note))) {
		hs_flow_table_counters(control->flows, note->slot, &counters);
		if (counters.shadowed_packets == note->shadow_marked)
			continue;
		note->shadow_marked = counters.shadowed_packets;
		hs_qos_mark(control->qos, hs_control_noted_rule(&control->rules, note)->ns_id,
				HS_QOS_RULES_DIFFER);
	}
}

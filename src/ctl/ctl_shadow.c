// SPDX-License-Identifier: BSD-3-Clause
// Rules whose packets another rule takes while their telemetry arrives (docs/decisions/0003).
#include "ctl_parts.h"

#include <inttypes.h>

uint64_t hs_ctl_port_events(const struct hs_ctl *ctl, enum hs_event_count event)
{
	struct hs_port_counters ports[HS_MAX_PORTS];
	uint64_t sum = 0;

	hs_node_snapshot(ctl->node, ports);
	for (uint16_t i = 0; i < hs_node_port_count(ctl->node); i++)
		sum += ports[i].events[event];
	return sum;
}

void hs_ctl_shadow_watch(struct hs_ctl *ctl, uint32_t slot, const struct hs_flow_counters *counters)
{
	uint32_t ns_id = hs_flow_table_rule(ctl->flows, slot)->ns_id;
	struct rule_note *note = counters->shadowed_packets ? hs_ctl_note(ctl, slot) : NULL;
	uint64_t grown;

	if (!note)
		return;
	uint64_t said = note->shadow_limit.said;
	if (!hs_ctl_limit(ctl, &note->shadow_limit, counters->shadowed_packets, &grown)) {
		if (said != counters->shadowed_packets)
			hs_ctl_walk_again(ctl, note->shadow_limit.next_ns);
		return;
	}
	hs_ctl_event(ctl, "rule_shadowed",
			json_pack("{s:I, s:I, s:I}", "ns_id", (json_int_t)ns_id, "shadowed_by",
					(json_int_t)counters->shadowed_by, "packets",
					(json_int_t)grown),
			"rule %" PRIu32 ": telemetry came in %" PRIu64 " packets that rule %" PRIu32
			" takes here: they are missing in the counts of rule %" PRIu32,
			ns_id, grown, counters->shadowed_by, ns_id);
}

// A window must be marked before it closes.
void hs_ctl_shadow_mark(struct hs_ctl *ctl)
{
	uint64_t events = hs_ctl_port_events(ctl, HS_EVENT_SHADOWED_NAMESPACE);
	struct hs_flow_counters counters;
	struct rule_note *note;

	if (events == ctl->shadow_marked)
		return;
	ctl->shadow_marked = events;
	TAILQ_FOREACH (note, &ctl->monitored, order) {
		hs_flow_table_counters(ctl->flows, note->slot, &counters);
		if (counters.shadowed_packets == note->shadow_marked)
			continue;
		note->shadow_marked = counters.shadowed_packets;
		hs_qos_mark(ctl->qos, hs_flow_table_rule(ctl->flows, note->slot)->ns_id,
				HS_QOS_RULES_DIFFER);
	}
}

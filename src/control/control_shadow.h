// SPDX-License-Identifier: BSD-3-Clause
// Rules whose packets another rule takes while their telemetry arrives (docs/decisions/0003).
//
// Thread rule: owner (the control thread).
#pragma once

#include "drop.h"
#include "flow_table.h"

#include <stdint.h>

struct control_events;
struct control_rules;
struct hs_node;
struct hs_qos;

struct control_shadow {	 // zeroed at first
	uint64_t marked; // events of all ports when windows were marked last
};

// Returns the sum over all ports.
uint64_t hs_control_port_events(const struct hs_node *node, enum hs_event_count event);
// Reports, as an event, telemetry of the rule in packets that another rule takes. Returns when to
// look again; INT64_MAX: when there is something new.
int64_t hs_control_shadow_watch(struct control_rules *rules, uint32_t slot,
		const struct hs_flow_counters *counters, int64_t now_ns,
		struct control_events *events);
// Returns the namespace of the rule that takes packets before this rule where both match, or 0 if
// there is none. Of several such rules, takes the one with most packets, and sets *packets to their
// number. Looks at every rule.
uint32_t hs_control_shadow_find(
		const struct hs_flow_table *flows, uint32_t slot, uint64_t *packets);
// Marks the windows of rules with such telemetry, before the windows close.
void hs_control_shadow_mark(struct control_shadow *shadow, struct hs_node *node,
		const struct control_rules *rules, struct hs_qos *qos);

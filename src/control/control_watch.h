// SPDX-License-Identifier: BSD-3-Clause
// What control checks at intervals and reports as events. The cost does not grow with the number of
// installed rules, unless their telemetry does not fit.
//
// Thread rule: owner (the control thread).
#pragma once

#include "event_log.h"
#include "port_types.h"

#include <stdbool.h>
#include <stdint.h>

struct control_events;
struct control_rules;
struct hs_node;
struct hs_node_totals;
struct hs_qos;

struct control_watch { // zeroed at first; the pointers are borrowed
	struct hs_node *node;
	struct control_rules *rules;
	struct hs_qos *qos;
	struct control_events *events;
	// The walk that finds rules whose telemetry does not fit, or is in packets of other rules.
	uint64_t walk_seen; // events of all ports that require a walk, when the last walk began
	int64_t untold_ns;  // when a rule that grew since may be reported; INT64_MAX: none
	bool walking;
	struct hs_event_limit lost_limit, cap_limit, memory_limit, punts_limit, influx_limit;
	struct hs_event_limit rx_error_limits[HS_MAX_PORTS];
};

// Begins a walk over the rules, because the ports' counters show that something grew, but not for
// which rule. A rule that was limited to one event a minute is checked again when the minute is
// over.
void hs_control_begin_walk(struct control_watch *watch, int64_t now_ns);
// Goes on with the walk that was begun, if it has not ended.
void hs_control_continue_walk(struct control_watch *watch, int64_t now_ns);
// Reports, as events, lost reports, lost punts and lost lines for databases.
void hs_control_watch_losses(
		struct control_watch *watch, int64_t now_ns, const struct hs_node_totals *totals);
// Reports, as events, what the limits of the monitor refused. `monitored_rules` is one of them.
void hs_control_watch_monitor(
		struct control_watch *watch, int64_t now_ns, uint32_t monitored_rules);
// Reports, as events, receive errors of interfaces.
void hs_control_watch_ports(struct control_watch *watch, int64_t now_ns);
// Shifts all times, after the clock stepped.
void hs_control_shift_watch(struct control_watch *watch, int64_t by_ns);

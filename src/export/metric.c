// SPDX-License-Identifier: BSD-3-Clause
#include "metric.h"

#include <stdio.h>
#include <string.h>

#define AT(member)                                                                                 \
	offsetof(struct hs_metric_view, member), sizeof(((struct hs_metric_view *)0)->member)
#define NODE(name, key, unit, kind, member, help)                                                  \
	{                                                                                          \
		"hopsight_" name, key, unit, help, HS_SCOPE_NODE, HS_METRIC_##kind,                \
				AT(node.member)                                                    \
	}
#define NODE_NS(name, key, kind, member, help)                                                     \
	{                                                                                          \
		"hopsight_" name, key, "seconds", help, HS_SCOPE_NODE, HS_METRIC_##kind,           \
				AT(node.member), true                                              \
	}
#define CLOCK(name, key, unit, kind, member, ns, help)                                             \
	{                                                                                          \
		"hopsight_clock_" name, key, unit, help, HS_SCOPE_CLOCK, HS_METRIC_##kind,         \
				AT(node.member), ns                                                \
	}
#define PORT(name, key, unit, kind, member, help)                                                  \
	{                                                                                          \
		"hopsight_port_" name, key, unit, help, HS_SCOPE_PORT, HS_METRIC_##kind,           \
				AT(member)                                                         \
	}
#define WORKER(name, key, unit, member, help)                                                      \
	{                                                                                          \
		"hopsight_worker_" name, key, unit, help, HS_SCOPE_WORKER, HS_METRIC_COUNTER,      \
				AT(worker.member)                                                  \
	}
#define RULE(name, key, unit, kind, member, help)                                                  \
	{                                                                                          \
		"hopsight_rule_" name, key, unit, help, HS_SCOPE_RULE, HS_METRIC_##kind,           \
				AT(rule.member)                                                    \
	}

const struct hs_metric hs_metrics[] = {
		NODE_NS("uptime_seconds", "uptime_ns", GAUGE, uptime_ns,
				"Time since the node started"),
		NODE("generation", "generation", "changes", GAUGE, generation,
				"Changes of the rules so far"),
		NODE("rules", "rules", "rules", GAUGE, rules, "Rules installed"),
		NODE("rules_capacity", "rules_capacity", "rules", GAUGE, rules_capacity,
				"Rules that fit"),
		NODE("rules_monitored", "rules_monitored", "rules", GAUGE, rules_monitored,
				"Rules with a monitor, because reports came"),
		NODE("rules_unmonitored", "rules_unmonitored", "rules", GAUGE, rules_unmonitored,
				"Rules with reports but without a monitor: over the limit"),
		NODE("monitor_bytes", "monitor_bytes", "bytes", GAUGE, monitor_bytes,
				"Memory of all monitors, each at its share at least"),
		NODE("monitors_evicted_total", "monitors_evicted", "monitors", COUNTER,
				monitors_evicted,
				"Monitors of unusual size that made room: memory.monitor_mib"),
		NODE("monitor_reports_refused_total", "monitor_reports_refused", "reports", COUNTER,
				monitor_reports_refused,
				"Reports of rules that memory.monitor_mib leaves no monitor for"),
		NODE("routes", "routes", "routes", GAUGE, routes,
				"Routes, those to neighbours among them"),
		NODE("routes_capacity", "routes_capacity", "routes", GAUGE, routes_capacity,
				"Routes that fit, 0 where the node does not route"),
		NODE("neighbours", "neighbours", "neighbours", GAUGE, neighbours,
				"Neighbours, each with a route to itself"),
		NODE("reports_made_total", "reports_made", "reports", COUNTER, reports_made,
				"Reports that workers made"),
		NODE("reports_lost_total", "reports_lost", "reports", COUNTER, reports_lost,
				"Reports lost because a worker's ring was full"),
		NODE("reports_taken_total", "reports_taken", "reports", COUNTER, reports_taken,
				"Reports that control took off the rings"),
		NODE("reports_published_total", "reports_published", "reports", COUNTER,
				reports_published, "Reports published"),
		NODE("reports_publish_lost_total", "reports_publish_lost", "reports", COUNTER,
				reports_publish_lost, "Reports that a subscriber missed"),
		NODE("reports_suppressed_total", "reports_suppressed", "reports", COUNTER,
				reports_suppressed, "Reports of rules that do not transmit them"),
		NODE("reports_bad_total", "reports_bad", "reports", COUNTER, reports_bad,
				"Reports that could not be decoded"),
		NODE("reports_stale_total", "reports_stale", "reports", COUNTER, reports_stale,
				"Reports of rules removed since"),
		NODE("reports_old_time_total", "reports_old_time", "reports", COUNTER,
				reports_old_time,
				"Reports that no window has: stamped before the clock stepped, "
				"taken after it"),
		NODE("windows_published_total", "windows_published", "windows", COUNTER,
				windows_published, "Windows of metrics published"),
		NODE("windows_publish_lost_total", "windows_publish_lost", "windows", COUNTER,
				windows_publish_lost, "Windows that a subscriber missed"),
		NODE("requests_in_band_sent_total", "requests_in_band_sent", "requests", COUNTER,
				requests_in_band_sent, "Requests that packets carried from here"),
		NODE("requests_in_band_received_total", "requests_in_band_received", "requests",
				COUNTER, requests_in_band_received,
				"Requests that packets brought"),
		NODE("requests_in_band_installed_total", "requests_in_band_installed", "requests",
				COUNTER, requests_in_band_installed,
				"Those that made or changed a rule"),
		NODE("requests_in_band_refreshed_total", "requests_in_band_refreshed", "requests",
				COUNTER, requests_in_band_refreshed,
				"Those that asked for a rule as it is"),
		NODE("requests_in_band_refused_total", "requests_in_band_refused", "requests",
				COUNTER, requests_in_band_refused,
				"Those that the node is not to take, by its policy or its own "
				"rules"),
		NODE("requests_in_band_bad_total", "requests_in_band_bad", "requests", COUNTER,
				requests_in_band_bad,
				"Those that could not be read, are no rule, or are not signed with "
				"the key"),
		NODE("requests_in_band_replayed_total", "requests_in_band_replayed", "requests",
				COUNTER, requests_in_band_replayed,
				"Signed ones that are no newer than the last, or too old"),
		NODE("requests_in_band_limited_total", "requests_in_band_limited", "requests",
				COUNTER, requests_in_band_limited,
				"Those for new rules that were more than one port may bring in a "
				"second"),
		NODE("requests_in_band_displaced_total", "requests_in_band_displaced", "rules",
				COUNTER, requests_in_band_displaced,
				"Rules that came in band and made room for others before a packet "
				"of their flow came"),
		NODE("requests_in_band_expired_total", "requests_in_band_expired", "rules", COUNTER,
				requests_in_band_expired,
				"Rules removed because nobody asked for them again"),
		NODE("requests_in_band_unknown_keys_total", "requests_in_band_unknown_keys", "keys",
				COUNTER, requests_in_band_unknown_keys,
				"Members of requests that the node does not know, dropped"),
		NODE("rules_in_band", "rules_in_band", "rules", GAUGE, rules_in_band,
				"Rules that came in band"),
		NODE("reports_piggyback_queued_total", "reports_piggyback_queued", "reports",
				COUNTER, reports_piggyback_queued,
				"Reports that are to go back with packets of the reverse flow"),
		NODE("reports_piggyback_sent_total", "reports_piggyback_sent", "reports", COUNTER,
				reports_piggyback_sent, "Those that a packet took"),
		NODE("reports_piggyback_lost_total", "reports_piggyback_lost", "reports", COUNTER,
				reports_piggyback_lost,
				"Those that made room for newer ones, or whose rule went"),
		NODE("reports_piggyback_waiting", "reports_piggyback_waiting", "reports", GAUGE,
				reports_piggyback_waiting, "Those that wait for a packet"),
		NODE("reports_piggyback_received_total", "reports_piggyback_received", "reports",
				COUNTER, reports_piggyback_received,
				"Reports that packets brought back"),
		NODE("reports_piggyback_bad_total", "reports_piggyback_bad", "reports", COUNTER,
				reports_piggyback_bad,
				"Options with parts of reports that could not be read"),
		NODE("reports_piggyback_unmonitored_total", "reports_piggyback_unmonitored",
				"reports", COUNTER, reports_piggyback_unmonitored,
				"Reports brought back and not measured: there is no such rule, "
				"the flow ends here, or the sink's clock is 10 s ahead"),
		NODE("reports_piggyback_publish_lost_total", "reports_piggyback_publish_lost",
				"reports", COUNTER, reports_piggyback_publish_lost,
				"Reports brought back that a subscriber missed"),
		NODE("signals_taken_total", "signals_taken", "signals", COUNTER, signals_taken,
				"In-band requests and reports that control took off the rings"),
		NODE("signals_lost_total", "signals_lost", "signals", COUNTER, signals_lost,
				"Those lost because a worker's ring was full"),
		NODE("events_total", "events", "events", COUNTER, events, "Events so far"),
		NODE("events_publish_lost_total", "events_publish_lost", "events", COUNTER,
				events_publish_lost, "Events that a subscriber missed"),
		NODE("requests_total", "requests", "requests", COUNTER, requests,
				"Requests received"),
		NODE("requests_malformed_total", "requests_malformed", "requests", COUNTER,
				requests_malformed, "Requests without a way back"),
		NODE("requests_refused_total", "requests_refused", "requests", COUNTER,
				requests_refused, "Requests of a key that is allowed no longer"),
		NODE("replies_lost_total", "replies_lost", "replies", COUNTER, replies_lost,
				"Replies whose client had gone"),
		NODE("connections_total", "connections", "connections", COUNTER, connections,
				"Connections made"),
		NODE("disconnections_total", "disconnections", "connections", COUNTER,
				disconnections, "Connections that ended"),
		NODE("handshakes_failed_total", "handshakes_failed", "connections", COUNTER,
				handshakes_failed, "Connections whose handshake failed"),
		NODE("connections_refused_total", "connections_refused", "connections", COUNTER,
				connections_refused,
				"Connections that found no place or no descriptor"),
		NODE("connections_closed_total", "connections_closed", "connections", COUNTER,
				connections_closed,
				"Connections ended here because they cost more than one may"),
		NODE("state_lines", "state_lines", "changes", GAUGE, state_lines,
				"Lines of the file of the state: changes and lists of them"),
		NODE("state_bytes", "state_bytes", "bytes", GAUGE, state_bytes,
				"Size of the file of the state"),
		NODE("state_errors_total", "state_errors", "errors", COUNTER, state_errors,
				"Changes refused, and snapshots given up, because they could not "
				"be written"),
		CLOCK("synchronised", "synchronised", "boolean", GAUGE, clock_synchronised, false,
				"1 where the system says that its clock is synchronised"),
		CLOCK("error_seconds", "error_ns", "seconds", GAUGE, clock_error_ns, true,
				"Largest error of the clock, as the system estimates it"),
		CLOCK("offset_seconds", "offset_ns", "seconds", GAUGE, clock_offset_ns, true,
				"The node's clock minus the system's at the last correction"),
		CLOCK("steps_total", "steps", "steps", COUNTER, clock_steps, false,
				"Steps made because the system's clock had jumped"),
		CLOCK("kernel_offset_seconds", "kernel_offset_ns", "seconds", GAUGE,
				clock_kernel_offset_ns, true,
				"What the kernel has still to slew of its clock (adjtimex)"),
		CLOCK("esterror_seconds", "esterror_ns", "seconds", GAUGE, clock_esterror_ns, true,
				"Estimated error of the kernel's clock (adjtimex)"),
		CLOCK("maxerror_seconds", "maxerror_ns", "seconds", GAUGE, clock_maxerror_ns, true,
				"Largest error of the kernel's clock (adjtimex)"),
		CLOCK("status", "status", "bits", GAUGE, clock_status, false,
				"State of the kernel's clock (adjtimex): 64 is not synchronised"),

		PORT("link_up", "link_up", "boolean", GAUGE, gauges.link_up,
				"1 while the link is up"),
		PORT("usable", "usable", "boolean", GAUGE, gauges.usable,
				"0 while the device is gone"),
		PORT("mtu_bytes", "mtu", "bytes", GAUGE, gauges.mtu_bytes,
				"The node's limit for IPv6 packets"),
		PORT("rx_packets_total", "rx_packets", "packets", COUNTER, port.rx_packets,
				"Packets received"),
		PORT("rx_bytes_total", "rx_bytes", "bytes", COUNTER, port.rx_bytes,
				"Bytes received"),
		PORT("tx_packets_total", "tx_packets", "packets", COUNTER, port.tx_packets,
				"Packets sent"),
		PORT("tx_bytes_total", "tx_bytes", "bytes", COUNTER, port.tx_bytes, "Bytes sent"),
		PORT("rx_missed_total", "rx_missed", "packets", COUNTER, device.rx_missed,
				"Packets lost before the node could take them"),
		PORT("rx_errors_total", "rx_errors", "packets", COUNTER, device.rx_errors,
				"Packets the device lost on receiving: too long or broken"),
		PORT("tx_errors_total", "tx_errors", "packets", COUNTER, device.tx_errors,
				"Packets the device took and then did not send"),
		PORT("copies_total", "copies", "packets", COUNTER, port.copies,
				"Copies made of flooded packets that came in here"),
		PORT("forwarded_total", "forwarded", "packets", COUNTER, port.forwarded,
				"Packets handed to some port's transmission"),
		PORT("offered_total", "offered", "packets", COUNTER, port.offered,
				"Packets handed to this port's transmission"),
		{"hopsight_port_drops_total", "drops", "packets",
				"Packets that went no further, by reason", HS_SCOPE_PORT_DROP,
				HS_METRIC_COUNTER, AT(port.drops[0])},
		{"hopsight_port_events_total", "events", "packets",
				"What happened to packets that went on", HS_SCOPE_PORT_EVENT,
				HS_METRIC_COUNTER, AT(port.events[0])},

		WORKER("rounds_total", "rounds", "rounds", rounds,
				"Rounds over the worker's queues"),
		WORKER("idle_rounds_total", "idle_rounds", "rounds", idle_rounds,
				"Rounds that found nothing"),
		WORKER("rx_packets_total", "rx_packets", "packets", rx_packets,
				"Packets that the worker took"),
		WORKER("reports_made_total", "reports_made", "reports", reports_made,
				"Reports that the worker made"),
		WORKER("reports_lost_total", "reports_lost", "reports", reports_lost,
				"Reports lost because the worker's ring was full"),
		WORKER("signals_made_total", "signals_made", "signals", signals_made,
				"In-band requests and reports of packets that the worker handed "
				"up"),
		WORKER("signals_lost_total", "signals_lost", "signals", signals_lost,
				"Those lost because the worker's ring was full"),

		RULE("rx_packets_total", "rx_packets", "packets", COUNTER, rx_packets,
				"Packets of the flow received"),
		RULE("rx_bytes_total", "rx_bytes", "bytes", COUNTER, rx_bytes,
				"Bytes of the flow received, telemetry not counted"),
		RULE("tx_packets_total", "tx_packets", "packets", COUNTER, tx_packets,
				"Packets of the flow sent"),
		RULE("tx_bytes_total", "tx_bytes", "bytes", COUNTER, tx_bytes,
				"Bytes of the flow sent, telemetry not counted"),
		RULE("int_packets_total", "int_packets", "packets", COUNTER, int_packets,
				"Packets that were given telemetry here"),
		RULE("hop_entries_total", "hop_entries", "packets", COUNTER, hop_entries,
				"Packets that were given this node's entry"),
		RULE("sink_packets_total", "sink_packets", "packets", COUNTER, sink_packets,
				"Packets whose telemetry was taken out here"),
		RULE("reports_made_total", "reports_made", "reports", COUNTER, reports_made,
				"Reports made of the flow"),
		RULE("reports_lost_total", "reports_lost", "reports", COUNTER, reports_lost,
				"Reports lost because a worker's ring was full"),
		RULE("no_room_mtu_total", "no_room_mtu", "packets", COUNTER, no_room_mtu,
				"Telemetry left out: the port's MTU"),
		RULE("no_room_headroom_total", "no_room_headroom", "packets", COUNTER,
				no_room_headroom, "Telemetry left out: no room in the buffer"),
		RULE("no_room_option_total", "no_room_option", "packets", COUNTER, no_room_option,
				"Telemetry left out: the option is full"),
		RULE("shadowed_packets_total", "shadowed_packets", "packets", COUNTER,
				shadowed_packets,
				"Packets with telemetry of the rule that another rule takes here"),
		RULE("mtu_needed_bytes", "mtu_needed_bytes", "bytes", GAUGE, mtu_needed,
				"The MTU with which all telemetry would have fitted; 0: it did"),
		{"hopsight_rule_last_int_tx_timestamp_seconds", "last_int_tx_ns", "seconds",
				"When a packet was last given telemetry here; 0: never",
				HS_SCOPE_RULE, HS_METRIC_GAUGE, AT(rule.last_int_ns), true},
};
const size_t hs_n_metrics = sizeof(hs_metrics) / sizeof(hs_metrics[0]);

int64_t hs_metric_value(const struct hs_metric *metric, const struct hs_metric_view *view)
{
	const char *at = (const char *)view + metric->offset;
	if (metric->bytes == sizeof(uint32_t)) {
		uint32_t narrow;
		memcpy(&narrow, at, sizeof(narrow));
		return narrow;
	}
	int64_t wide;
	memcpy(&wide, at, sizeof(wide));
	return wide;
}

void hs_metric_view_port(const struct hs_node *node, uint16_t index,
		const struct hs_port_counters *counters, struct hs_metric_view *view)
{
	struct hs_port *port = hs_node_port(node, index);
	view->port = *counters;
	hs_port_device_stats(port, &view->device);
	view->gauges = (struct hs_port_gauges){
			.link_up = hs_port_link_up(port),
			.usable = __atomic_load_n(&port->usable, __ATOMIC_RELAXED),
			.mtu_bytes = port->mtu,
	};
}

static void visit_scope(enum hs_metric_scope scope, const struct hs_metric_view *view,
		const struct hs_metric_label *labels, unsigned n_labels, hs_metric_fn visit,
		void *context)
{
	for (size_t i = 0; i < hs_n_metrics; i++) {
		if (hs_metrics[i].scope == scope)
			visit(context, &hs_metrics[i], labels, n_labels,
					hs_metric_value(&hs_metrics[i], view));
	}
}

static const struct hs_metric *find_scope(enum hs_metric_scope scope)
{
	for (size_t i = 0; i < hs_n_metrics; i++) {
		if (hs_metrics[i].scope == scope)
			return &hs_metrics[i];
	}
	return NULL;
}

static void visit_port(const struct hs_node *node, uint16_t index, struct hs_metric_view *view,
		hs_metric_fn visit, void *context)
{
	struct hs_metric_label labels[2] = {{"port", hs_node_port(node, index)->config.name}};
	visit_scope(HS_SCOPE_PORT, view, labels, 1, visit, context);

	const struct hs_metric *drops = find_scope(HS_SCOPE_PORT_DROP);
	for (unsigned i = 0; i < HS_DROP_COUNT; i++) {
		labels[1] = (struct hs_metric_label){"reason", hs_drop_name(i)};
		visit(context, drops, labels, 2, (int64_t)view->port.drops[i]);
	}
	const struct hs_metric *events = find_scope(HS_SCOPE_PORT_EVENT);
	for (unsigned i = 0; i < HS_EVENT_COUNT; i++) {
		labels[1] = (struct hs_metric_label){"event", hs_event_count_name(i)};
		visit(context, events, labels, 2, (int64_t)view->port.events[i]);
	}
}

void hs_metrics_visit(const struct hs_node *node, const struct hs_node_totals *totals,
		hs_metric_fn visit, void *context)
{
	struct hs_metric_view view = {.node = *totals};

	visit_scope(HS_SCOPE_NODE, &view, NULL, 0, visit, context);
	visit_scope(HS_SCOPE_CLOCK, &view, NULL, 0, visit, context);
	struct hs_port_counters ports[HS_MAX_PORTS];
	hs_node_snapshot(node, ports);
	for (uint16_t i = 0; i < hs_node_port_count(node); i++) {
		hs_metric_view_port(node, i, &ports[i], &view);
		visit_port(node, i, &view, visit, context);
	}
	for (unsigned i = 0; i < hs_node_config(node)->n_workers; i++) {
		char number[12];
		snprintf(number, sizeof(number), "%u", i);
		struct hs_metric_label label = {"worker", number};
		hs_node_worker_counters(node, i, &view.worker);
		visit_scope(HS_SCOPE_WORKER, &view, &label, 1, visit, context);
	}
}

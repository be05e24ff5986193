// SPDX-License-Identifier: BSD-3-Clause
#include "metric.h"

#include <stdio.h>
#include <string.h>

#define AT(member)                                                                                 \
	offsetof(struct hs_metric_view, member), sizeof(((struct hs_metric_view *)0)->member)
#define TOTAL_COUNTER "_total"
#define TOTAL_GAUGE   ""
#define NODE(name, unit, kind, help)                                                               \
	{                                                                                          \
		"hopsight_" #name TOTAL_##kind, #name, unit, help, HS_SCOPE_NODE,                  \
				HS_METRIC_##kind, AT(node.name)                                    \
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
#define WORKER(name, unit, help)                                                                   \
	{                                                                                          \
		"hopsight_worker_" #name "_total", #name, unit, help, HS_SCOPE_WORKER,             \
				HS_METRIC_COUNTER, AT(worker.name)                                 \
	}
#define RULE(name, key, unit, kind, member, help)                                                  \
	{                                                                                          \
		"hopsight_rule_" name, key, unit, help, HS_SCOPE_RULE, HS_METRIC_##kind,           \
				AT(rule.member)                                                    \
	}

const struct hs_metric hs_metrics[] = {
		NODE_NS("uptime_seconds", "uptime_ns", GAUGE, uptime_ns,
				"Time since the node started"),
#define HS_TOTAL(name, unit, kind, help) NODE(name, unit, kind, help),
#include "node_total.def"
#undef HS_TOTAL
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

#define HS_WORKER_COUNTER(name, unit, help) WORKER(name, unit, help),
#include "worker_counter.def"
#undef HS_WORKER_COUNTER

#define HS_FLOW_COUNTER(name, unit, help) RULE(#name "_total", #name, unit, COUNTER, name, help),
#include "flow_counter.def"
#undef HS_FLOW_COUNTER
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

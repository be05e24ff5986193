// SPDX-License-Identifier: BSD-3-Clause
#include "metric.h"

#include <stdio.h>
#include <string.h>

#define AT(member)    HS_SCHEMA_MEMBER(struct hs_metric_view, member)
#define TOTAL_COUNTER "_total"
#define TOTAL_GAUGE   ""
#define NODE(name, unit, kind, text)                                                               \
	{                                                                                          \
		{#name, HS_SCHEMA_UINT, AT(node.name), .help = text},                              \
				"hopsight_" #name TOTAL_##kind, unit, HS_METRIC_##kind             \
	}
#define CLOCK(name, key, how, unit, kind, member, ns, text)                                        \
	{                                                                                          \
		{key, HS_SCHEMA_##how, AT(node.member), .help = text}, "hopsight_clock_" name,     \
				unit, HS_METRIC_##kind, ns                                         \
	}
#define PORT(name, key, how, unit, kind, member, text)                                             \
	{                                                                                          \
		{key, HS_SCHEMA_##how, AT(member), .help = text}, "hopsight_port_" name, unit,     \
				HS_METRIC_##kind                                                   \
	}
#define WORKER(name, unit, text)                                                                   \
	{                                                                                          \
		{#name, HS_SCHEMA_UINT, AT(worker.name), .help = text},                            \
				"hopsight_worker_" #name "_total", unit, HS_METRIC_COUNTER         \
	}
#define RULE(name, key, unit, kind, member, text)                                                  \
	{                                                                                          \
		{key, HS_SCHEMA_UINT, AT(rule.member), .help = text}, "hopsight_rule_" name, unit, \
				HS_METRIC_##kind                                                   \
	}

const struct hs_metric hs_metrics_of_node[] = {
		{{"uptime_ns", HS_SCHEMA_UINT, AT(node.uptime_ns),
				 .help = "Time since the node started"},
				"hopsight_uptime_seconds", "seconds", HS_METRIC_GAUGE, true},
#define HS_TOTAL(name, unit, kind, help) NODE(name, unit, kind, help),
#include "node_total.def"
#undef HS_TOTAL
		{{NULL}},
};

static bool knows_clock(const void *view)
{
	return ((const struct hs_metric_view *)view)->node.clock_known;
}

const struct hs_metric hs_metrics_of_clock[] = {
		{{"synchronised", HS_SCHEMA_BOOL, AT(node.clock_synchronised), .given = knows_clock,
				 .help = "1 where the system says that its clock is synchronised"},
				"hopsight_clock_synchronised", "boolean", HS_METRIC_GAUGE},
		CLOCK("error_seconds", "error_ns", UINT, "seconds", GAUGE, clock_error_ns, true,
				"Largest error of the clock, as the system estimates it"),
		CLOCK("offset_seconds", "offset_ns", INT, "seconds", GAUGE, clock_offset_ns, true,
				"The node's clock minus the system's at the last correction"),
		CLOCK("steps_total", "steps", UINT, "steps", COUNTER, clock_steps, false,
				"Steps made because the system's clock had jumped"),
		CLOCK("kernel_offset_seconds", "kernel_offset_ns", INT, "seconds", GAUGE,
				clock_kernel_offset_ns, true,
				"What the kernel has still to slew of its clock (adjtimex)"),
		CLOCK("esterror_seconds", "esterror_ns", UINT, "seconds", GAUGE, clock_esterror_ns,
				true, "Estimated error of the kernel's clock (adjtimex)"),
		CLOCK("maxerror_seconds", "maxerror_ns", UINT, "seconds", GAUGE, clock_maxerror_ns,
				true, "Largest error of the kernel's clock (adjtimex)"),
		CLOCK("status", "status", UINT, "bits", GAUGE, clock_status, false,
				"State of the kernel's clock (adjtimex): 64 is not synchronised"),
		{{NULL}},
};

const struct hs_metric hs_metrics_of_port[] = {
		PORT("link_up", "link_up", BOOL, "boolean", GAUGE, gauges.link_up,
				"1 while the link is up"),
		PORT("usable", "usable", BOOL, "boolean", GAUGE, gauges.usable,
				"0 while the device is gone"),
		PORT("mtu_bytes", "mtu", UINT, "bytes", GAUGE, gauges.mtu_bytes,
				"The node's limit for IPv6 packets"),
		PORT("rx_packets_total", "rx_packets", UINT, "packets", COUNTER, port.rx_packets,
				"Packets received"),
		PORT("rx_bytes_total", "rx_bytes", UINT, "bytes", COUNTER, port.rx_bytes,
				"Bytes received"),
		PORT("tx_packets_total", "tx_packets", UINT, "packets", COUNTER, port.tx_packets,
				"Packets sent"),
		PORT("tx_bytes_total", "tx_bytes", UINT, "bytes", COUNTER, port.tx_bytes,
				"Bytes sent"),
		PORT("rx_missed_total", "rx_missed", UINT, "packets", COUNTER, device.rx_missed,
				"Packets lost before the node could take them"),
		PORT("rx_errors_total", "rx_errors", UINT, "packets", COUNTER, device.rx_errors,
				"Packets the device lost on receiving: too long or broken"),
		PORT("tx_errors_total", "tx_errors", UINT, "packets", COUNTER, device.tx_errors,
				"Packets the device took and then did not send"),
		PORT("copies_total", "copies", UINT, "packets", COUNTER, port.copies,
				"Copies made of flooded packets that came in here, and packets "
				"made by the node"),
		PORT("forwarded_total", "forwarded", UINT, "packets", COUNTER, port.forwarded,
				"Packets handed to some port's transmission"),
		PORT("offered_total", "offered", UINT, "packets", COUNTER, port.offered,
				"Packets handed to this port's transmission"),
		PORT("queued_packets", "queued", UINT, "packets", GAUGE, port.queued,
				"Packets in this port's egress queue now, and fragments of "
				"labelled packets that wait"),
		PORT("depth_max_packets", "depth_max", UINT, "packets", GAUGE, gauges.depth_max,
				"The greatest depth that a packet found in the egress queue"),
		{{NULL}},
};

const struct hs_metric hs_metrics_of_worker[] = {
#define HS_WORKER_COUNTER(name, unit, help) WORKER(name, unit, help),
#include "worker_counter.def"
#undef HS_WORKER_COUNTER
		{{NULL}},
};

const struct hs_metric hs_metrics_of_rule[] = {
#define HS_FLOW_COUNTER(name, unit, help) RULE(#name "_total", #name, unit, COUNTER, name, help),
#include "flow_counter.def"
#undef HS_FLOW_COUNTER
		RULE("shadowed_packets_total", "shadowed_packets", "packets", COUNTER,
				shadowed_packets,
				"Packets with telemetry of the rule that another rule takes here"),
		RULE("mtu_needed_bytes", "mtu_needed_bytes", "bytes", GAUGE, mtu_needed,
				"The MTU with which all telemetry would have fitted; 0: it did"),
		{{"last_int_tx_ns", HS_SCHEMA_INT, AT(rule.last_int_ns),
				 .help = "When a packet was last given telemetry here; 0: never"},
				"hopsight_rule_last_int_tx_timestamp_seconds", "seconds",
				HS_METRIC_GAUGE, true},
		{{NULL}},
};

static const struct hs_metric of_port_drop[] = {
		PORT("drops_total", "drops", UINT, "packets", COUNTER, port.drops[0],
				"Packets that went no further, by reason"),
		{{NULL}},
};

static const struct hs_metric of_port_event[] = {
		PORT("events_total", "events", UINT, "packets", COUNTER, port.events[0],
				"What happened to packets that went on"),
		{{NULL}},
};

const struct hs_metric *const hs_metrics[HS_SCOPE_COUNT] = {
		[HS_SCOPE_NODE] = hs_metrics_of_node,
		[HS_SCOPE_CLOCK] = hs_metrics_of_clock,
		[HS_SCOPE_PORT] = hs_metrics_of_port,
		[HS_SCOPE_WORKER] = hs_metrics_of_worker,
		[HS_SCOPE_RULE] = hs_metrics_of_rule,
		[HS_SCOPE_PORT_DROP] = of_port_drop,
		[HS_SCOPE_PORT_EVENT] = of_port_event,
};

const struct hs_schema_field hs_metric_drops[] = {
#define HS_DROP(name, word, at_transmit, text)                                                     \
	{#word, HS_SCHEMA_UINT, AT(port.drops[HS_DROP_##name]), .help = text},
#include "drop.def"
#undef HS_DROP
		{NULL},
};

const struct hs_schema_field hs_metric_events[] = {
#define HS_EVENT(name, word, text)                                                                 \
	{#word, HS_SCHEMA_UINT, AT(port.events[HS_EVENT_##name]), .help = text},
#include "event.def"
#undef HS_EVENT
		{NULL},
};

int64_t hs_metric_value(const struct hs_metric *metric, const struct hs_metric_view *view)
{
	const char *at = (const char *)view + metric->field.offset;
	return (int64_t)hs_schema_load_bits(at, metric->field.size);
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
			.depth_max = hs_node_depth_max(node, index),
	};
}

static void visit_scope(const struct hs_metric *metric, const struct hs_metric_view *view,
		const struct hs_metric_labels *labels, hs_metric_fn visit, void *context)
{
	for (; metric->field.key; metric++)
		visit(context, metric, labels, hs_metric_value(metric, view));
}

static void visit_port(const struct hs_node *node, uint16_t index, struct hs_metric_view *view,
		hs_metric_fn visit, void *context)
{
	const char *port = hs_node_port(node, index)->config.name;
	visit_scope(hs_metrics_of_port, view, &(struct hs_metric_labels){port}, visit, context);

	for (unsigned i = 0; i < HS_DROP_COUNT; i++)
		visit(context, of_port_drop,
				&(struct hs_metric_labels){port, .reason = hs_drop_name(i)},
				(int64_t)view->port.drops[i]);
	for (unsigned i = 0; i < HS_EVENT_COUNT; i++)
		visit(context, of_port_event,
				&(struct hs_metric_labels){port, .event = hs_event_count_name(i)},
				(int64_t)view->port.events[i]);
}

void hs_metrics_visit(const struct hs_node *node, const struct hs_node_totals *totals,
		hs_metric_fn visit, void *context)
{
	static const struct hs_metric_labels none;
	struct hs_metric_view view = {.node = *totals};
	struct hs_port_counters ports[HS_MAX_PORTS];

	visit_scope(hs_metrics_of_node, &view, &none, visit, context);
	visit_scope(hs_metrics_of_clock, &view, &none, visit, context);
	hs_node_snapshot(node, ports);
	for (uint16_t i = 0; i < hs_node_port_count(node); i++) {
		hs_metric_view_port(node, i, &ports[i], &view);
		visit_port(node, i, &view, visit, context);
	}
	for (unsigned i = 0; i < hs_node_config(node)->n_workers; i++) {
		char number[12];
		snprintf(number, sizeof(number), "%u", i);
		hs_node_worker_counters(node, i, &view.worker);
		visit_scope(hs_metrics_of_worker, &view,
				&(struct hs_metric_labels){.worker = number}, visit, context);
	}
}

// SPDX-License-Identifier: BSD-3-Clause
// The one table of counters: every number that leaves a node, with its name, unit, help and place.
// The API, rte_telemetry and the command line all read from it, so they cannot disagree.
//
// Thread rule: the table is constant; views belong to the caller.
#pragma once

#include "flow_table.h"
#include "node.h"
#include "port.h"
#include "schema.h"

#include <stddef.h>
#include <stdint.h>

// Totals of the node, which the control thread knows. The struct contains 64-bit words only.
struct hs_node_totals {
	uint64_t uptime_ns;
#define HS_TOTAL(name, unit, kind, text) uint64_t name;
#include "node_total.def"
#undef HS_TOTAL
	uint64_t clock_known, clock_synchronised, clock_error_ns, clock_steps;
	int64_t clock_offset_ns, clock_kernel_offset_ns;
	uint64_t clock_esterror_ns, clock_maxerror_ns, clock_status;
};

// One port's device and state, beside the node's own counters.
struct hs_port_gauges {
	uint64_t link_up, usable, mtu_bytes, depth_max;
};

// The input of the readers. Only the part of the metric's scope needs to be filled.
struct hs_metric_view {
	struct hs_node_totals node;
	struct hs_port_counters port;
	struct hs_port_device_stats device;
	struct hs_port_gauges gauges;
	struct hs_worker_counters worker;
	struct hs_flow_counters rule;
};

enum hs_metric_scope {
	HS_SCOPE_NODE,
	HS_SCOPE_CLOCK, // also of the node
	HS_SCOPE_PORT,
	HS_SCOPE_WORKER,
	HS_SCOPE_RULE,
	HS_SCOPE_PORT_DROP,  // one value for each reason
	HS_SCOPE_PORT_EVENT, // one value for each event
	HS_SCOPE_COUNT
};

enum hs_metric_kind {
	HS_METRIC_COUNTER,
	HS_METRIC_GAUGE,
};

struct hs_metric {
	// The key in API replies ("rx_packets"), the value's place in the view, and the help.
	struct hs_schema_field field; // no key: the end
	const char *name;	      // "hopsight_port_rx_packets_total"
	const char *unit;	      // "packets", "bytes", "seconds", ...
	enum hs_metric_kind kind;
	bool nanoseconds; // the value is in ns; readers get seconds
};

extern const struct hs_metric *const hs_metrics[HS_SCOPE_COUNT];

// Rows of tables that print a view: the metrics of a scope as members.
extern const struct hs_metric hs_metrics_of_node[], hs_metrics_of_clock[], hs_metrics_of_port[],
		hs_metrics_of_worker[], hs_metrics_of_rule[];
#define HS_METRIC_MEMBERS(scope)                                                                   \
	"", HS_SCHEMA_MEMBERS, .fields = &hs_metrics_of_##scope[0].field,                          \
			       .stride = sizeof(struct hs_metric)
extern const struct hs_schema_field hs_metric_drops[], hs_metric_events[];

int64_t hs_metric_value(const struct hs_metric *metric, const struct hs_metric_view *view);

// ---- reading a whole node ----

// What a value belongs to. A member is NULL if the value belongs to none of its kind.
struct hs_metric_labels {
	const char *port, *reason, *event, *worker;
};

// Is called for each value of the table. Labels are valid during the call.
typedef void (*hs_metric_fn)(void *context, const struct hs_metric *metric,
		const struct hs_metric_labels *labels, int64_t value);

// Visits every metric of the node except those of single rules (a rule is asked for by name,
// because a million rules cannot be series). Reads live counters and never waits for a worker.
void hs_metrics_visit(const struct hs_node *node, const struct hs_node_totals *totals,
		hs_metric_fn visit, void *context);

// Fills the port's parts of the view. `counters` is the port's part of a snapshot of the node.
void hs_metric_view_port(const struct hs_node *node, uint16_t port,
		const struct hs_port_counters *counters, struct hs_metric_view *view);

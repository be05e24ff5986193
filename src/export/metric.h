// SPDX-License-Identifier: BSD-3-Clause
// The one table of counters: every number that leaves a node, with its name, unit, help and place.
// The API, rte_telemetry and the command line all read from it, so they cannot disagree.
//
// Thread rule: the table is constant; views belong to the caller.
#pragma once

#include "flow_table.h"
#include "node.h"
#include "port.h"

#include <stddef.h>
#include <stdint.h>

// Totals of the node, which the control thread knows. The struct contains 64-bit words only.
struct hs_node_totals {
	uint64_t uptime_ns, generation;
	uint64_t rules, rules_capacity, rules_monitored, rules_unmonitored;
	uint64_t monitor_bytes, monitors_evicted, monitor_reports_refused;
	uint64_t routes, routes_capacity, neighbours; // 0 if the node does not route
	// reports_made = reports_lost + reports_taken + those on their way. Each taken report is
	// counted in one of the next five.
	uint64_t reports_made, reports_lost, reports_taken;
	uint64_t reports_published, reports_publish_lost, reports_suppressed;
	uint64_t reports_bad, reports_stale;
	uint64_t reports_old_time; // published or not, but not measured because the clock stepped
	uint64_t windows_published, windows_publish_lost;
	// Rules in band. received = installed + refreshed + refused + bad + replayed.
	uint64_t requests_in_band_sent, requests_in_band_received, requests_in_band_installed;
	uint64_t requests_in_band_refreshed, requests_in_band_refused, requests_in_band_bad;
	uint64_t requests_in_band_replayed, requests_in_band_limited, requests_in_band_expired;
	uint64_t requests_in_band_displaced;
	uint64_t requests_in_band_unknown_keys, rules_in_band;
	// Reports on their way back. queued = sent + lost + waiting.
	uint64_t reports_piggyback_queued, reports_piggyback_sent, reports_piggyback_lost;
	uint64_t reports_piggyback_waiting, reports_piggyback_received, reports_piggyback_bad;
	uint64_t reports_piggyback_unmonitored, reports_piggyback_publish_lost;
	uint64_t signals_taken, signals_lost;
	uint64_t events, events_publish_lost;
	uint64_t requests, requests_malformed, requests_refused, replies_lost;
	uint64_t connections, disconnections, handshakes_failed;
	uint64_t connections_refused, connections_closed;
	uint64_t state_lines, state_bytes; // 0 if the node keeps no state
	uint64_t state_errors;
	uint64_t clock_synchronised, clock_error_ns, clock_steps;
	int64_t clock_offset_ns, clock_kernel_offset_ns;
	uint64_t clock_esterror_ns, clock_maxerror_ns, clock_status;
};

// One port's device and state, beside the node's own counters.
struct hs_port_gauges {
	uint64_t link_up, usable, mtu_bytes;
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
};

enum hs_metric_kind {
	HS_METRIC_COUNTER,
	HS_METRIC_GAUGE,
};

struct hs_metric {
	const char *name; // "hopsight_port_rx_packets_total"
	const char *key;  // name in API replies: "rx_packets"
	const char *unit; // "packets", "bytes", "seconds", ...
	const char *help;
	enum hs_metric_scope scope;
	enum hs_metric_kind kind;
	size_t offset;	  // of the value in the view
	uint8_t bytes;	  // of the value: 4 or 8
	bool nanoseconds; // the value is in ns; readers get seconds
};

extern const struct hs_metric hs_metrics[];
extern const size_t hs_n_metrics;

int64_t hs_metric_value(const struct hs_metric *metric, const struct hs_metric_view *view);

// ---- reading a whole node ----

struct hs_metric_label {
	const char *key, *value;
};

// Called for each value of the table. Labels are valid during the call.
typedef void (*hs_metric_fn)(void *context, const struct hs_metric *metric,
		const struct hs_metric_label *labels, unsigned n_labels, int64_t value);

// Visits every metric of the node except those of single rules (a rule is asked for by name,
// because a million rules cannot be series). Reads live counters and never waits for a worker.
void hs_metrics_visit(const struct hs_node *node, const struct hs_node_totals *totals,
		hs_metric_fn visit, void *context);

// Fills the port's parts of the view. `counters` is the port's part of a snapshot of the node.
void hs_metric_view_port(const struct hs_node *node, uint16_t port,
		const struct hs_port_counters *counters, struct hs_metric_view *view);

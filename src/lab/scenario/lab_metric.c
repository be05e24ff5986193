// SPDX-License-Identifier: BSD-3-Clause
#include "lab_metric.h"

#include "qos_window.h"

#include <string.h>

#define OF_KIND(KIND, word, compared, title, scale) {word, title, scale},
const struct hs_lab_kind hs_lab_kinds[HS_LAB_KINDS] = {HS_LAB_NUMBERS(OF_KIND)};

// clang-format off
#define OF_TRUTH(word)                                                                             \
	{word, HS_OVER_E2E, "rows", word ".measured"},                                             \
	{"mae." word ".truth", HS_OVER_HOPS, "rows", word ".mae.truth"},                           \
	{"max_error." word ".truth", HS_OVER_HOPS_MAX, "rows", word ".max_error"},
#define OF_BOTH(word)                                                                              \
	OF_TRUTH(word)                                                                             \
	{"mae." word ".configured", HS_OVER_HOPS, "rows", word ".mae.configured"},                 \
	{"mean_error." word ".configured", HS_OVER_HOPS, "rows", word ".mean_error"},
#define OF_NUMBER(KIND, word, compared, ...) OF_##compared(word)
#define OF_FLOW(key) {#key, HS_OVER_SUM, "flows", #key},
#define OF_FLAG(NAME, word, bit) {"flag." #word, HS_OVER_SUM, "flows", "flags." #word},
#define OF_QUEUES(key, over) {"queues." #key, HS_OVER_##over, "queues", #key},
#define OF_RUN(path) {path, HS_OVER_SUM, "run", path},
#define OF_LABEL(key) OF_RUN("label." #key)
#define OF_PROBING(key) OF_RUN("probing." #key)
#define OF_NODE_COUNTER(key) {"nodes." #key, HS_OVER_SUM, "nodes", #key},
#define OF_NODE_GAUGE(key)
#define HS_TOTAL(key, unit, kind, text) OF_NODE_##kind(key)

const struct hs_lab_metric hs_lab_metrics[] = {
	HS_LAB_NUMBERS(OF_NUMBER)
	{"hop_windows", HS_OVER_HOPS, "rows", "delay_ns.windows", .or_zero = true},
	{"run.lost_packets", HS_OVER_E2E, "lost_packets", "measured"},
	{"run.lost_packets.truth", HS_OVER_E2E, "lost_packets", "truth"},
	{"run.lost_packets.all", HS_OVER_E2E, "lost_packets", "truth_all"},
	{"run.lost_packets.error", HS_OVER_HOPS_MAX, "lost_packets", "measured", .minus = "truth",
		.distance = true},
	{"run.false_lost_packets", HS_OVER_HOPS_MAX, "lost_packets", "shown", .minus = "truth"},
	{"overhead.bytes_ratio", HS_OVER_HOPS, "overhead", "bytes_ratio"},
	{"overhead.packets_ratio", HS_OVER_HOPS, "overhead", "packets_ratio"},
	HS_FLOW_COUNTS(OF_FLOW)
	HS_QOS_FLAGS(OF_FLAG)
	{"round_trip.mae_ns", HS_OVER_MAX, "round_trip", "mae_ns"},
	{"round_trip.measured_ns", HS_OVER_MEAN, "round_trip", "measured_ns"},
	{"round_trip.truth_ns", HS_OVER_MEAN, "round_trip", "truth_ns"},
	{"round_trip.pairs", HS_OVER_SUM, "round_trip", "pairs"},
	{"round_trip.clocks_differ", HS_OVER_SUM, "round_trip", "clocks_differ"},
#include "node_total.def"
	HS_QUEUE_COUNTS(OF_QUEUES)
	OF_QUEUES(utilisation_error_max, MAX)
	HS_LABEL_COUNTS(OF_LABEL)
	OF_RUN("label.coverage_ratio.mean")
	OF_RUN("label.coverage_ratio.min")
	OF_RUN("label.relabel_interval_ns.mean")
	OF_RUN("label.relabel_interval_ns.p99")
	OF_RUN("label.relabel_interval_ns.max")
	OF_RUN("label.update_interval_ns.mean")
	OF_RUN("label.update_interval_ns.p99")
	OF_RUN("label.update_interval_ns.max")
	HS_PROBING_COUNTS(OF_PROBING)
	OF_RUN("probing.busiest_pps")
	OF_RUN("probing.collected_ns.mean")
	OF_RUN("probing.collected_ns.max")
	OF_RUN("probing.elapsed_ns.mean")
	OF_RUN("probing.elapsed_ns.max")
	OF_RUN("probing.path_hops.min")
	OF_RUN("probing.path_hops.mean")
	OF_RUN("probing.path_hops.max")
	{"altered_packets", HS_OVER_SUM, "traffic", "altered"},
	{"delivered_ratio", HS_OVER_RATIO, "traffic"},
	{"goodput_bps", HS_OVER_SUM, "traffic", "goodput_bps"},
	{"node_drops", HS_OVER_SUM, "run", "audit.node_drops"},
	{"audit_failures", HS_OVER_SUM, "run", "audit.nodes"},
	{NULL},
};
// clang-format on

const struct hs_lab_metric *hs_lab_metric_find(const char *name)
{
	for (const struct hs_lab_metric *metric = hs_lab_metrics; metric->name; metric++)
		if (!strcmp(metric->name, name))
			return metric;
	return NULL;
}

// An error has room for the kinds only. docs/lab.md has the whole list.
const char hs_lab_metric_names[] =
		"KIND, mae.KIND.truth|configured, max_error.KIND.truth, run.*, round_trip.*, "
		"flag.*, nodes.*, "
		"windows, reports, ... (docs/lab.md); KIND: throughput_bps, delay_ns, ...";

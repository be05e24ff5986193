// SPDX-License-Identifier: BSD-3-Clause
#include "lab_metric.h"

#include <string.h>

const char *const hs_lab_flags[HS_LAB_FLAGS] = {"multipath", "rules_differ", "counter_ambiguous",
		"negative_delay", "epoch", "counts_missing", "clock_step", "bypassed",
		"entries_missing"};

const char *hs_lab_metric_word(enum hs_lab_metric_kind kind)
{
	static const char *const words[HS_LAB_KINDS] = {"throughput_bps", "window_throughput_bps",
			"delay_ns", "jitter_ns", "loss_ratio", "lost_packets", "rx_bytes",
			"span_ns"};
	return words[kind];
}

// Metrics of a number that is compared with the truth.
#define OF_TRUTH(word, KIND)                                                                       \
	{word, HS_FORM_MEAN, HS_LAB_##KIND, HS_OVER_E2E},                                          \
			{"mae." word ".truth", HS_FORM_MAE_TRUTH, HS_LAB_##KIND, HS_OVER_MEAN},    \
			{"max_error." word ".truth", HS_FORM_MAX_ERROR, HS_LAB_##KIND,             \
					HS_OVER_MAX},

// Metrics of a number that is also configured.
#define OF_BOTH(word, KIND)                                                                        \
	OF_TRUTH(word, KIND){"mae." word ".configured", HS_FORM_MAE_CONFIGURED, HS_LAB_##KIND,     \
			HS_OVER_MEAN},                                                             \
			{"mean_error." word ".configured", HS_FORM_MEAN_ERROR, HS_LAB_##KIND,      \
					HS_OVER_MEAN},

#define OF_ROW(name, member, over)                                                                 \
	{name, HS_FORM_ROW, offsetof(struct hs_row_numbers, member), over},
#define OF_FLOW(key) {#key, HS_FORM_FLOW, offsetof(struct hs_flow_counts, key), 0},
#define OF_FLAG(name, bit)                                                                         \
	{"flag." name, HS_FORM_FLOW, offsetof(struct hs_flow_counts, flags[bit]), 0},
#define OF_TRIP(key)	 {"round_trip." #key, HS_FORM_TRIP, offsetof(struct hs_trip_numbers, key), 0},
#define OF_NODES(X, key) {"nodes." #key, HS_FORM_NODES, offsetof(struct hs_node_counts, key), 0},

// clang-format off
static const struct hs_lab_metric metrics[] = {
	OF_BOTH("throughput_bps", THROUGHPUT)
	OF_BOTH("window_throughput_bps", WINDOW_THROUGHPUT)
	OF_BOTH("delay_ns", DELAY)
	OF_BOTH("jitter_ns", JITTER)
	OF_BOTH("loss_ratio", LOSS)
	OF_TRUTH("lost_packets", LOST_PACKETS)
	OF_TRUTH("rx_bytes", RX_BYTES)
	OF_TRUTH("span_ns", SPAN)
	{"hop_windows", HS_FORM_WINDOWS, HS_LAB_DELAY, HS_OVER_MEAN},
	OF_ROW("run.lost_packets", lost, HS_OVER_E2E)
	OF_ROW("run.lost_packets.truth", lost_truth, HS_OVER_E2E)
	OF_ROW("run.lost_packets.all", lost_all, HS_OVER_E2E)
	OF_ROW("run.lost_packets.error", lost_error, HS_OVER_MAX)
	OF_ROW("run.false_lost_packets", false_lost, HS_OVER_MAX)
	OF_ROW("overhead.bytes_ratio", bytes_ratio, HS_OVER_MEAN)
	OF_ROW("overhead.packets_ratio", packets_ratio, HS_OVER_MEAN)
	HS_FLOW_COUNTS(OF_FLOW)
	OF_FLAG("multipath", 0)
	OF_FLAG("rules_differ", 1)
	OF_FLAG("counter_ambiguous", 2)
	OF_FLAG("negative_delay", 3)
	OF_FLAG("epoch", 4)
	OF_FLAG("counts_missing", 5)
	OF_FLAG("clock_step", 6)
	OF_FLAG("bypassed", 7)
	OF_FLAG("entries_missing", 8)
	OF_TRIP(mae_ns)
	OF_TRIP(measured_ns)
	OF_TRIP(truth_ns)
	OF_TRIP(pairs)
	OF_TRIP(clocks_differ)
	HS_NODE_COUNTS(OF_NODES, )
	{"altered_packets", HS_FORM_ALTERED, 0, 0},
	{"delivered_ratio", HS_FORM_DELIVERED_RATIO, 0, 0},
	{"goodput_bps", HS_FORM_GOODPUT, 0, 0},
	{"node_drops", HS_FORM_NODE_DROPS, 0, 0},
	{"audit_failures", HS_FORM_AUDIT_FAILURES, 0, 0},
};
// clang-format on

const struct hs_lab_metric *hs_lab_metric_at(size_t index)
{
	return index < sizeof(metrics) / sizeof(metrics[0]) ? &metrics[index] : NULL;
}

const struct hs_lab_metric *hs_lab_metric_find(const char *name)
{
	const struct hs_lab_metric *metric;
	for (size_t i = 0; (metric = hs_lab_metric_at(i)); i++)
		if (!strcmp(metric->name, name))
			return metric;
	return NULL;
}

// The error has room for the kinds only. The page has the whole list.
const char hs_lab_metric_names[] =
		"KIND, mae.KIND.truth|configured, max_error.KIND.truth, run.*, round_trip.*, "
		"flag.*, nodes.*, "
		"windows, reports, ... (docs/lab.md); KIND: throughput_bps, delay_ns, ...";

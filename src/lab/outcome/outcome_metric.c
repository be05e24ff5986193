// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_metric.h"

#include <stddef.h>
#include <string.h>

// Every number of a window can be compared with the truth.
#define OF_TRUTH(X, word, KIND)                                                                    \
	X(word, MEAN, HS_METRIC_##KIND)                                                            \
	X("mae." word ".truth", MAE_TRUTH, HS_METRIC_##KIND)                                       \
	X("max_error." word ".truth", MAX_ERROR_TRUTH, HS_METRIC_##KIND)

// Those that a configuration says.
#define OF_CONFIGURED(X, word, KIND)                                                               \
	X("mae." word ".configured", MAE_CONFIGURED, HS_METRIC_##KIND)                             \
	X("mean_error." word ".configured", MEAN_ERROR_CONFIGURED, HS_METRIC_##KIND)

#define OF_BOUND(X, word, KIND) X("mae_over_bound." word, MAE_OVER_BOUND, HS_METRIC_##KIND)

// Those whose bound is one of chance.
#define OF_CHANCE(X, word, KIND)                                                                   \
	OF_BOUND(X, word, KIND)                                                                    \
	X("mean_error_over_bound." word, MEAN_ERROR_OVER_BOUND, HS_METRIC_##KIND)

// What nodes count themselves.
#define OF_NODES(X, key) X("nodes." #key, NODES, offsetof(struct hs_node_counts, key))

// name, form, detail
#define METRICS(X)                                                                                 \
	OF_TRUTH(X, "throughput_bps", THROUGHPUT)                                                  \
	OF_CONFIGURED(X, "throughput_bps", THROUGHPUT)                                             \
	OF_BOUND(X, "throughput_bps", THROUGHPUT)                                                  \
	OF_TRUTH(X, "window_throughput_bps", WINDOW_THROUGHPUT)                                    \
	OF_CONFIGURED(X, "window_throughput_bps", WINDOW_THROUGHPUT)                               \
	X("over_bound.window_throughput_bps", MAX_OVER_BOUND, HS_METRIC_WINDOW_THROUGHPUT)         \
	OF_TRUTH(X, "delay_ns", DELAY)                                                             \
	OF_CONFIGURED(X, "delay_ns", DELAY)                                                        \
	OF_CHANCE(X, "delay_ns", DELAY)                                                            \
	OF_TRUTH(X, "jitter_ns", JITTER)                                                           \
	OF_CONFIGURED(X, "jitter_ns", JITTER)                                                      \
	OF_CHANCE(X, "jitter_ns", JITTER)                                                          \
	OF_TRUTH(X, "loss_ratio", LOSS)                                                            \
	OF_CONFIGURED(X, "loss_ratio", LOSS)                                                       \
	OF_CHANCE(X, "loss_ratio", LOSS)                                                           \
	OF_TRUTH(X, "lost_packets", LOST_PACKETS)                                                  \
	OF_TRUTH(X, "rx_bytes", RX_BYTES)                                                          \
	OF_TRUTH(X, "span_ns", SPAN)                                                               \
	X("run.lost_packets", RUN_LOST, 0)                                                         \
	X("run.lost_packets.truth", RUN_LOST_TRUTH, 0)                                             \
	X("run.lost_packets.all", RUN_LOST_ALL, 0)                                                 \
	X("run.lost_packets.error", RUN_LOST_ERROR, 0)                                             \
	X("run.false_lost_packets", RUN_FALSE_LOST, 0)                                             \
	X("windows", WINDOWS, 0)                                                                   \
	X("stale_windows", STALE, 0)                                                               \
	X("empty_windows", EMPTY, 0)                                                               \
	X("path_changes", PATH_CHANGES, 0)                                                         \
	X("unsynchronised_windows", UNSYNCHRONISED, 0)                                             \
	X("unattributed_lost_packets", UNATTRIBUTED, 0)                                            \
	X("flag.multipath", FLAG, HS_MEASURED_MULTIPATH)                                           \
	X("flag.rules_differ", FLAG, HS_MEASURED_RULES_DIFFER)                                     \
	X("flag.counter_ambiguous", FLAG, HS_MEASURED_COUNTER_AMBIGUOUS)                           \
	X("flag.negative_delay", FLAG, HS_MEASURED_NEGATIVE_DELAY)                                 \
	X("flag.epoch", FLAG, HS_MEASURED_EPOCH)                                                   \
	X("flag.counts_missing", FLAG, HS_MEASURED_COUNTS_MISSING)                                 \
	X("flag.clock_step", FLAG, HS_MEASURED_CLOCK_STEP)                                         \
	X("flag.bypassed", FLAG, HS_MEASURED_BYPASSED)                                             \
	X("flag.entries_missing", FLAG, HS_MEASURED_ENTRIES_MISSING)                               \
	X("reports", REPORTS, 0)                                                                   \
	X("span_mismatches", SPAN_MISMATCHES, 0)                                                   \
	X("number_mismatches", NUMBER_MISMATCHES, 0)                                               \
	X("marked_windows", MARKED, 0)                                                             \
	X("negative_windows", NEGATIVE, 0)                                                         \
	X("run_mismatches", RUN_MISMATCHES, 0)                                                     \
	X("round_trip.mae_ns", TRIP_MAE, 0)                                                        \
	X("round_trip.measured_ns", TRIP_MEASURED, 0)                                              \
	X("round_trip.truth_ns", TRIP_TRUTH, 0)                                                    \
	X("round_trip.pairs", TRIP_PAIRS, 0)                                                       \
	X("round_trip.clocks_differ", TRIP_CLOCKS_DIFFER, 0)                                       \
	X("overhead.bytes_ratio", OVERHEAD_BYTES, 0)                                               \
	X("overhead.packets_ratio", OVERHEAD_PACKETS, 0)                                           \
	X("altered_packets", ALTERED, 0)                                                           \
	X("hop_windows", HOP_WINDOWS, HS_METRIC_DELAY)                                             \
	HS_NODE_COUNTS(OF_NODES, X)                                                                \
	X("node_drops", NODE_DROPS, 0)                                                             \
	X("audit_failures", AUDIT_FAILURES, 0)                                                     \
	X("delivered_ratio", DELIVERED_RATIO, 0)                                                   \
	X("goodput_bps", GOODPUT, 0)

#define ROW(name, form, detail) {name, HS_FORM_##form, detail},

static const struct hs_outcome_metric metrics[] = {METRICS(ROW)};

const struct hs_outcome_metric *hs_outcome_metric_at(size_t index)
{
	return index < sizeof(metrics) / sizeof(metrics[0]) ? &metrics[index] : NULL;
}

const struct hs_outcome_metric *hs_outcome_metric_find(const char *name)
{
	const struct hs_outcome_metric *metric;
	for (size_t i = 0; (metric = hs_outcome_metric_at(i)); i++)
		if (!strcmp(metric->name, name))
			return metric;
	return NULL;
}

bool hs_outcome_knows(const char *metric)
{
	return hs_outcome_metric_find(metric);
}

// An error has room for the families; the page has them all.
const char *hs_outcome_metrics(void)
{
	return "KIND, mae.KIND.truth|configured, max_error.KIND.truth, run.*, round_trip.*, "
	       "flag.*, nodes.*, "
	       "windows, reports, ... (docs/lab.md); KIND: throughput_bps, delay_ns, ...";
}

// SPDX-License-Identifier: BSD-3-Clause
// The metrics that an expectation may name. One table serves the check of scenarios, the
// computation and the result.
//
// Thread rule: any; constants.
#pragma once

#include <stddef.h>
#include <stdint.h>

// A number of one hop in one window.
enum hs_lab_metric_kind {
	HS_LAB_THROUGHPUT,
	HS_LAB_WINDOW_THROUGHPUT,
	HS_LAB_DELAY,
	HS_LAB_JITTER,
	HS_LAB_LOSS,
	HS_LAB_LOST_PACKETS,
	HS_LAB_RX_BYTES,
	HS_LAB_SPAN,
	HS_LAB_KINDS
};

const char *hs_lab_metric_word(enum hs_lab_metric_kind kind); // "throughput_bps", ...

// Flags that a window may have. A flag that is not listed here has the bit behind the last.
#define HS_LAB_FLAGS		9
#define HS_FLAG_MULTIPATH	(UINT32_C(1) << 0)
#define HS_FLAG_NEGATIVE_DELAY	(UINT32_C(1) << 3)
#define HS_FLAG_EPOCH		(UINT32_C(1) << 4)
#define HS_FLAG_ENTRIES_MISSING (UINT32_C(1) << 8)
extern const char *const hs_lab_flags[HS_LAB_FLAGS]; // by bit

// Counters of nodes that scenarios may name in expectations, under the same names.
#define HS_NODE_COUNTS(COUNT, X)                                                                   \
	COUNT(X, requests_in_band_sent)                                                            \
	COUNT(X, requests_in_band_received)                                                        \
	COUNT(X, requests_in_band_installed)                                                       \
	COUNT(X, requests_in_band_refreshed)                                                       \
	COUNT(X, requests_in_band_refused)                                                         \
	COUNT(X, requests_in_band_bad)                                                             \
	COUNT(X, requests_in_band_replayed)                                                        \
	COUNT(X, requests_in_band_expired)                                                         \
	COUNT(X, reports_piggyback_queued)                                                         \
	COUNT(X, reports_piggyback_sent)                                                           \
	COUNT(X, reports_piggyback_lost)                                                           \
	COUNT(X, reports_piggyback_received)                                                       \
	COUNT(X, reports_piggyback_bad)                                                            \
	COUNT(X, signals_lost)

#define HS_NODE_COUNT_MEMBER(X, key) uint64_t key;
struct hs_node_counts {
	HS_NODE_COUNTS(HS_NODE_COUNT_MEMBER, )
};

// Counts over a flow's windows. All but `windows` include partial windows. empty: stale, or not
// published. marked: with a flag, another path, or a clock that is not synchronised. negative: with
// a negative count and without a flag that explains it.
#define HS_FLOW_COUNTS(X)                                                                          \
	X(windows)                                                                                 \
	X(stale_windows)                                                                           \
	X(empty_windows)                                                                           \
	X(path_changes)                                                                            \
	X(unsynchronised_windows)                                                                  \
	X(reports)                                                                                 \
	X(marked_windows)                                                                          \
	X(negative_windows)                                                                        \
	X(unattributed_lost_packets)

#define HS_FLOW_COUNT_MEMBER(key) int64_t key;
struct hs_flow_counts {
	HS_FLOW_COUNTS(HS_FLOW_COUNT_MEMBER)
	int64_t flags[HS_LAB_FLAGS];
};

// Numbers of a row (a hop of a flow, or from end to end) over the whole run; NAN: not known.
struct hs_row_numbers {
	double lost, lost_truth, lost_all, lost_error; // packets
	double false_lost;			       // shown by windows, but not lost
	double bytes_ratio, packets_ratio; // share of telemetry in what was sent into the hop
};

// Numbers of a ping that is monitored in both directions.
struct hs_trip_numbers {
	double measured_ns, truth_ns;
	double mae_windows_ns, mae_pings_ns; // of means of windows; of single pings
	double mae_ns;			     // the larger of the two
	double pairs, clocks_differ;
};

enum hs_lab_metric_form {
	// of a row and a kind
	HS_FORM_MEAN,
	HS_FORM_MAE_TRUTH,
	HS_FORM_MAE_CONFIGURED,
	HS_FORM_MEAN_ERROR,
	HS_FORM_MAX_ERROR,
	HS_FORM_WINDOWS,
	HS_FORM_ROW, // `detail`: offset in struct hs_row_numbers
	// of flows, round trips, nodes and traffic
	HS_FORM_FLOW,  // `detail`: offset in struct hs_flow_counts
	HS_FORM_TRIP,  // `detail`: offset in struct hs_trip_numbers
	HS_FORM_NODES, // `detail`: offset in struct hs_node_counts
	HS_FORM_ALTERED,
	HS_FORM_DELIVERED_RATIO,
	HS_FORM_GOODPUT,
	HS_FORM_NODE_DROPS,
	HS_FORM_AUDIT_FAILURES,
};

// How the values of several rows are combined if an expectation names no row.
enum hs_lab_metric_over {
	HS_OVER_E2E, // the row from end to end
	HS_OVER_MEAN,
	HS_OVER_MAX,
};

struct hs_lab_metric {
	const char *name;
	enum hs_lab_metric_form form;
	unsigned detail; // enum hs_lab_metric_kind, or an offset
	enum hs_lab_metric_over over;
};

// Returns NULL if there is none.
const struct hs_lab_metric *hs_lab_metric_find(const char *name);
// Returns a row of the table, or NULL beyond its end.
const struct hs_lab_metric *hs_lab_metric_at(size_t index);
// Describes the metrics, short enough for an error.
extern const char hs_lab_metric_names[];

// SPDX-License-Identifier: BSD-3-Clause
// The parts of an outcome. For outcome*.c only.
//
// Thread rule: owner.
#pragma once

#include "outcome.h"

#include <stdbool.h>
#include <stdint.h>

// ---- outcome_flow.c: the sampled packets of a flow, from the truth ----

struct outcome_report {
	struct hs_truth_report truth;
	int64_t counted_ns; // the time of the window that it counts in, by the sink's clock
	size_t arrival;	    // number of its arrival at the sink
	size_t place;	    // in source order; SIZE_MAX: a copy of an earlier packet
	uint32_t epoch;	    // grows when source or sink restarts
};

struct outcome_flow {
	const struct hs_run *run;
	uint32_t index;
	bool *publishes; // [n_nodes]: nodes that appear in the published paths
	size_t n;
	struct outcome_report *reports; // [n] by counted_ns
	size_t *newest;			// [n]: the newest of reports [0] to [i]
	size_t n_ordered;
	size_t *ordered; // [n_ordered]: by source
	size_t first;	 // index of the report that arrived first
	size_t n_windows;
	const struct hs_measured_window **windows; // of the flow, in order
	size_t *places;				   // indices of these windows among all windows
};

// A hop by the ids in published paths, or end to end; and two stops of a report.
struct outcome_ends {
	bool e2e;
	uint16_t from, to;
};
struct outcome_stops {
	uint32_t from, to;
};

// Returns 0 or -ENOMEM. Call fini in either case.
int outcome_flow_init(struct outcome_flow *flow, const struct hs_run *run, uint32_t index);
void outcome_flow_fini(struct outcome_flow *flow);
// Returns the number of reports in windows up to this time.
size_t outcome_flow_until(const struct outcome_flow *flow, int64_t shown_ns);
// Finds where a report passed the hop. Returns false if it did not.
bool outcome_flow_stops(const struct outcome_flow *flow, const struct hs_truth_report *report,
		struct outcome_ends ends, struct outcome_stops *stops);
// Does the same, but returns false if a node that appears in paths lies between: only without such
// a node is the delay of the hop published.
bool outcome_flow_passes(const struct outcome_flow *flow, const struct hs_truth_report *report,
		struct outcome_ends ends, struct outcome_stops *stops);
// Returns whether a node that both packets passed forgot its counts in between.
bool outcome_flow_forgot(const struct hs_truth_report *a, const struct hs_truth_report *b);

// ---- rows: a hop of a flow, or its end to end, over the windows ----

struct outcome_point {
	double measured, truth, configured; // NAN: no value
};

// Sums over the windows in which a number was measured. Without a window, means are NAN.
struct outcome_sums {
	size_t n, n_truth, n_configured;
	double measured, truth, configured;
	double off_truth, off_configured; // of |measured - ...|
	double off_signed;		  // of measured - configured
	double max_off_truth;
};

struct outcome_row {
	uint32_t flow;
	struct outcome_ends ends;
	char hop[HS_SCENARIO_NAME];  // name of the link, "e2e"
	uint32_t from_node, to_node; // HS_NO_INDEX: no packet shows the nodes
	struct outcome_sums sums[HS_LAB_KINDS];
	struct hs_row_numbers numbers;
	struct hs_truth_hop link; // sent_packets 0: the hop is no single link
	int64_t owed;		  // surplus of late packets so far
};

// ---- round trips ----

struct outcome_trip {
	uint32_t up, down; // flows
	struct hs_trip_numbers numbers;
	json_t *windows;
};

// ---- all of it ----

struct outcome {
	const struct hs_run *run;
	size_t n_rows, rows_capacity;
	struct outcome_row *rows;
	struct hs_flow_counts *counts; // [n_flows]
	size_t n_trips;
	struct outcome_trip *trips;
	json_t **windows; // [hs_measured_windows]
};

// The truth of one hop in one window.
struct outcome_truth {
	bool has_delay, has_jitter, has_counts, has_node_loss, has_span, has_window;
	json_t *delay; // mean, min, percentiles, max; owned
	int64_t delay_mean_ns, jitter_ns;
	int64_t tx_packets, rx_packets, lost_packets, rx_bytes, node_lost_packets;
	int64_t span_start_ns, span_end_ns; // that the window should state, by the clock of `to`
	double throughput_bps, loss_ratio, window_throughput_bps;
};

// outcome_truth.c. The caller frees `delay`. Returns 0 or -ENOMEM.
int outcome_truth_of(const struct outcome_flow *flow, const struct hs_measured_window *window,
		uint32_t hop, struct outcome_row *row, struct outcome_truth *truth);

// outcome_configured.c. Computes the values that follow from the configuration of traffic and
// links, into `points`.
void outcome_configure(const struct outcome_flow *flow, const struct hs_measured_window *window,
		struct outcome_ends ends, struct outcome_point points[HS_LAB_KINDS]);
// Returns E|sum over i of (X_i - Y_i)| with X_i, Y_i uniform in [-widths[i], widths[i]], or NAN if
// they are too many, or too different, to be summed exactly.
double outcome_uniform_jitter(const double *widths, size_t n);

// outcome_run.c. Computes loss and overhead of a row over the whole run.
void outcome_run_row(const struct outcome_flow *flow, struct outcome_row *row);

// outcome_trip.c. Returns 0 or -ENOMEM.
int outcome_trips_make(struct outcome *outcome);

// outcome_expect.c. Returns the list of expectations as a new reference.
json_t *outcome_expect_json(const struct outcome *outcome);

// outcome_json.c. Both return new references.
json_t *outcome_json(const struct outcome *outcome);
json_t *outcome_number(double value); // an integer if whole; NULL for NAN and infinities
json_t *outcome_truth_json(const struct outcome_truth *truth);
// Writes "NAME" or "NAME/reply".
#define OUTCOME_FLOW_NAME 48
const char *outcome_flow_name(
		const struct hs_scenario *scenario, uint32_t flow, char name[OUTCOME_FLOW_NAME]);

// Returns the mean of a sum, or NAN if n is 0.
double outcome_mean(double sum, size_t n);
// Returns the rate of these bytes over the run in bits per second, or NAN if the run took no time.
double outcome_goodput(const struct hs_run *run, double bytes);

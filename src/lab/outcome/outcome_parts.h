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
	const struct hs_truth_report *truth;
	int64_t counted_ns; // the time of the window that it counts in, by the sink's clock
	size_t newest;	    // index of the newest of the reports up to this one
	bool repeats;	    // a copy of an earlier packet
	size_t before;	    // index of the one before it in source order; SIZE_MAX: none
	uint32_t epoch;	    // grows when source or sink restarts
};

struct outcome_flow {
	const struct hs_run *run;
	uint32_t index;
	struct hs_truth_flow truth;
	bool *publishes; // [by node id]: nodes that appear in the published paths
	size_t n;
	struct outcome_report *reports; // [n] by counted_ns
	size_t n_ordered;
	size_t *ordered;    // [n_ordered]: by source
	json_int_t *values; // [n]: room for the numbers of a window
	size_t first;	    // index of the report that arrived first
	size_t n_windows;
	const struct hs_measured_window **windows; // of the flow, in order
};

// The stops of a report at both ends of a hop.
struct outcome_stops {
	const struct hs_truth_stop *from, *to;
	bool at_sink; // `to` is the last stop
};

// Returns 0 or -ENOMEM. Call fini in either case.
int outcome_flow_init(struct outcome_flow *flow, const struct hs_run *run, uint32_t index);
void outcome_flow_fini(struct outcome_flow *flow);
// Returns the number of reports in windows up to this time.
size_t outcome_flow_until(const struct outcome_flow *flow, int64_t shown_ns);
// Finds where a report passed the hop. Returns false if it did not.
bool outcome_flow_stops(const struct outcome_flow *flow, const struct hs_truth_report *report,
		struct hs_measured_ends ends, struct outcome_stops *stops);
// Does the same, but returns false if a node that appears in paths lies between: only without such
// a node is the delay of the hop published.
bool outcome_flow_passes(const struct outcome_flow *flow, const struct hs_truth_report *report,
		struct hs_measured_ends ends, struct outcome_stops *stops);

// ---- hops of windows, and rows: a hop of a flow, or its end to end, over all windows ----

struct outcome_hop {
	const struct outcome_flow *flow;
	const struct hs_measured_window *window;
	const json_t *measured;
	struct hs_measured_ends ends;
	size_t low, high; // reports of the window
};

// Sums over the windows in which a number was both measured and known to the column. Without a
// window, means are NAN.
struct outcome_column {
	size_t n;
	double sum;		// of the column's own values
	double off, off_signed; // of |measured - value| and measured - value
	double max_off;
};

struct outcome_columns {
	struct outcome_column measured, truth, configured;
};

struct outcome_row {
	uint32_t flow;
	struct hs_measured_ends ends;
	char hop[HS_SCENARIO_NAME];  // name of the link, "e2e"
	uint32_t from_node, to_node; // HS_NO_INDEX: no packet shows the nodes
	struct outcome_columns columns[HS_LAB_KINDS];
	struct hs_row_numbers numbers;
	double shown;		  // loss that the windows' ratios show; NAN: none has a ratio
	struct hs_truth_hop link; // sent_packets 0: the hop is no single link
	int64_t owed;		  // surplus of late packets so far
	const struct hs_measured_window *latest; // that was compared
};

// outcome_truth.c. Returns what really happened, under the names of the measured numbers. New
// reference.
json_t *outcome_truth_json(const struct outcome_hop *hop, struct outcome_row *row);

// outcome_configured.c. Returns the values that follow from the configuration of traffic and
// links. New reference.
json_t *outcome_configured_json(const struct outcome_hop *hop);
// Returns E|sum over i of (X_i - Y_i)| with X_i, Y_i uniform in [-widths[i], widths[i]], or NAN if
// they are too many, or too different, to be summed exactly.
double outcome_uniform_jitter(const double *widths, size_t n);

// outcome_run.c: loss and overhead over the whole run. begin is called before the first window of
// a row is added, and end after the last.
void outcome_run_begin(const struct outcome_flow *flow, struct outcome_row *row);
void outcome_run_add(struct outcome_row *row, const json_t *measured);
void outcome_run_end(const struct outcome_flow *flow, struct outcome_row *row);

// ---- all of it ----

struct outcome_trip {
	uint32_t up, down; // flows
	struct hs_trip_numbers numbers;
	json_t *windows;
};

struct outcome {
	const struct hs_run *run;
	size_t n_rows, rows_capacity;
	struct outcome_row *rows;
	struct hs_flow_counts *counts; // [n_flows]
	size_t n_trips, trips_capacity;
	struct outcome_trip *trips;
	json_t *windows; // in the order of the published ones
};

// outcome_trip.c. Compares round trips. Returns 0 or -ENOMEM.
int outcome_trips_make(struct outcome *outcome);

// outcome_expect.c. Returns the list of expectations as a new reference.
json_t *outcome_expect_json(const struct outcome *outcome);
// Returns a metric of all rows of a flow (HS_NO_INDEX: of all flows), or NAN.
double outcome_over_rows(
		const struct outcome *outcome, uint32_t flow, const struct hs_lab_metric *metric);

// outcome_json.c. Returns the whole result as a new reference.
json_t *outcome_json(const struct outcome *outcome);
json_t *outcome_number(double value); // an integer if whole; NULL for NAN and infinities
void outcome_put(json_t *to, const char *key, double value); // nothing for NAN and infinities
void outcome_put_integer(json_t *to, const char *key, json_int_t value);
// Writes "NAME" or "NAME/reply".
#define OUTCOME_FLOW_NAME 48
const char *outcome_flow_name(
		const struct hs_scenario *scenario, uint32_t flow, char name[OUTCOME_FLOW_NAME]);

// Returns the link between two nodes, whatever its direction, or NULL.
const struct hs_scenario_link *outcome_link(
		const struct hs_scenario *scenario, uint32_t a, uint32_t b);
bool outcome_same_ends(struct hs_measured_ends a, struct hs_measured_ends b);
// Returns the mean of a sum, or NAN if n is 0.
double outcome_mean(double sum, size_t n);
// Returns the rate of these bytes over the run in bits per second, or NAN if the run took no time.
double outcome_goodput(const struct hs_run *run, double bytes);

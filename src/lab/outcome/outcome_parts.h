// SPDX-License-Identifier: BSD-3-Clause
// The parts of an outcome. For outcome*.c only.
//
// If memory is out, functions of jansson get NULL and do nothing. The result is then NULL, or lacks
// a member.
// Thread rule: owner.
#pragma once

#include "run.h"

#include "schema.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

// ---- outcome_flow.c: a flow, and its sampled packets from the truth ----

struct outcome_report {
	const struct hs_truth_report *truth;
	int64_t place;	    // the key of the sort: first the number, later counted_ns
	int64_t counted_ns; // the time of the window that it counts in, by the sink's clock
	const struct outcome_report *newest; // of the reports up to this one
	bool repeats;			     // a copy of an earlier packet
	const struct outcome_report *before; // in source order; NULL: none
	uint32_t epoch;			     // grows when source or sink restarts
};

struct outcome_flow {
	const struct hs_run *run;
	uint32_t index;
	const struct hs_scenario_flow *config;
	const struct hs_truth_flow *truth;
	bool *publishes; // [by node id]: nodes that appear in the published paths
	size_t n;
	struct outcome_report *arrived;	 // [n] in the order of arrival
	struct outcome_report **reports; // [n] by counted_ns
	int64_t *values;		 // [n]: room for the numbers of a window
	size_t n_windows;
	const struct hs_measured_window **windows; // of the flow, in order
	size_t n_rows;
	struct outcome_row *rows; // end to end, then hops in the order in which they appear
};

// A hop in one window, or from end to end.
struct outcome_hop {
	const struct outcome_flow *flow;
	const struct hs_measured_window *window;
	const json_t *measured;
	struct hs_measured_ends ends;
	size_t low, high; // reports of the window
};

// The stops of a report at both ends of a hop. They are direct if no node that appears in published
// paths lies between them: the delay of a hop is published only then.
struct outcome_stops {
	const struct hs_truth_stop *from, *to;
	bool at_sink; // `to` is the last stop
	bool direct;
};

// Returns 0 or -ENOMEM. Call fini in either case.
int outcome_flow_init(struct outcome_flow *flow, const struct hs_run *run, uint32_t index);
void outcome_flow_fini(struct outcome_flow *flow);
// Returns a hop of the window; with index n_hops, from end to end.
struct outcome_hop outcome_hop_of(const struct outcome_flow *flow,
		const struct hs_measured_window *window, uint32_t index);
// Finds where a report passed the hop. Returns false if it did not.
bool outcome_stops_of(const struct outcome_hop *hop, const struct hs_truth_report *report,
		struct outcome_stops *stops);

// ---- outcome_row.c: a hop of a flow, or its end to end, over all windows ----

// The numbers of a hop in a window. Sums are over the windows in which a number was both measured
// and known to the column.
enum outcome_side {
	OUTCOME_MEASURED,
	OUTCOME_TRUTH,
	OUTCOME_CONFIGURED,
	OUTCOME_SIDES
};

struct outcome_column {
	size_t n;
	double sum;		// of the column's own values
	double off, off_signed; // of |measured - value| and measured - value
	double max_off;
};

struct outcome_row {
	struct hs_measured_ends ends;
	char hop[HS_SCENARIO_NAME]; // name of the link, "e2e"
	struct outcome_column columns[HS_LAB_KINDS][OUTCOME_SIDES];
	// Packets lost in the whole run. NAN: not known.
	double lost;				 // as published
	double shown;				 // as the windows' ratios show
	double lost_truth;			 // between the first and the newest report
	double lost_all;			 // everything
	struct hs_truth_hop link;		 // sent_packets 0: the hop is no single link
	int64_t owed;				 // surplus of late packets so far
	const struct hs_measured_window *latest; // that was compared
};

// Returns the row of the hop, which is made if there is none. Returns NULL if memory is out. Valid
// until the next row is made.
struct outcome_row *outcome_row_of(struct outcome_flow *flow, const struct outcome_hop *hop);
// Adds a window. A partial window counts only in the loss of the run.
void outcome_row_add(
		struct outcome_row *row, const json_t *const sides[OUTCOME_SIDES], bool partial);
// Adds the flow's rows, the first one last, to the lists "rows", "lost_packets" and "overhead" of
// the result.
void outcome_rows_put(const struct outcome_flow *flow, json_t *result);

// ---- the sides of a hop in a window, under the names of the measured numbers. New references ----

// outcome_truth.c. Returns the true values.
json_t *outcome_truth_json(const struct outcome_hop *hop, struct outcome_row *row);
// outcome_configured.c. Returns the values that follow from the configuration of traffic and links.
json_t *outcome_configured_json(const struct outcome_hop *hop);
// Returns E|sum over i of (X_i - Y_i)| with X_i, Y_i uniform in [-widths[i], widths[i]], or NAN if
// they are too many, or too different, to be summed exactly.
double outcome_uniform_jitter(const double *widths, size_t n);

// ---- the rest of the result ----

// outcome_trip.c. Adds the list "round_trip". Returns 0 or -ENOMEM.
int outcome_trips_put(const struct hs_run *run, json_t *result);
// outcome_json.c. Adds the lists "links", "queues" and "traffic", and the objects "label" and
// "probing", if the scenario has them.
void outcome_counters_put(const struct hs_run *run, json_t *result);
// outcome_expect.c. Adds the means over the rows, "mae", and the list "expect".
void outcome_maes_put(const struct hs_run *run, json_t *result);
void outcome_expects_put(const struct hs_run *run, json_t *result);

// ---- outcome_json.c: small parts ----

json_t *outcome_number(double value); // an integer if whole; NULL for NAN and infinities
void outcome_put(json_t *to, const char *key, double value); // nothing for NAN and infinities
void outcome_put_integer(json_t *to, const char *key, json_int_t value);
// Returns the mean of a sum, or NAN if n is 0.
double outcome_mean(double sum, size_t n);
void outcome_sort(int64_t *values, size_t n);

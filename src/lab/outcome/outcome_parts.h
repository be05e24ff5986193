// SPDX-License-Identifier: BSD-3-Clause
// The insides of an outcome, for the files that compute it, judge it and print it.
//
// Thread rule: owner.
#pragma once

#include "outcome.h"
#include "outcome_configured.h"
#include "outcome_match.h"
#include "outcome_truth.h"
#include "outcome_trip.h"

#define HS_OUTCOME_FLAGS 9 // named flags of a window, as in enum hs_measured_flag

struct hs_outcome_hop {
	const struct hs_measured_hop *measured;
	struct hs_outcome_truth truth;
	struct hs_point points[HS_METRIC_KINDS];
	size_t row;	     // SIZE_MAX: none (stale, or a second passage between the same nodes)
	uint32_t mismatches; // hs_outcome_match
};

struct hs_outcome_window {
	const struct hs_measured_window *measured;
	bool partial;	  // cut short by the start or the end of its traffic: in no sum
	bool way_differs; // a hop on the way of its packets is missing
	size_t truth_reports;
	size_t first_hop; // of n_hops + 1: end to end is the last; unused where stale
};

// Of a row over the whole run, in packets.
struct hs_outcome_lost {
	bool has_measured, has_truth, has_hop, has_all;
	int64_t measured, truth; // from the first report to the newest
	int64_t shown;		 // sum over windows of what was shown as lost
	int64_t all;		 // everything the hop lost
	int64_t owed;		 // by the windows so far: packets that were late
	struct hs_truth_hop hop; // of a link
};

struct hs_outcome_line {
	struct hs_outcome_row row;
	uint32_t from_node, to_node; // HS_NO_INDEX: no packet says which
	uint32_t published;	     // enum hs_measured_has of all its windows
	struct hs_outcome_lost lost;
	struct hs_point (*points)[HS_METRIC_KINDS]; // what row.points points at
	int64_t *start_ns;
	int64_t *true_start_ns; // of the same windows, as the sink's clock was at their end
};

// Of a flow's windows. Those of all but `windows` count what is cut short, too.
struct hs_outcome_totals {
	uint64_t windows; // in the sums: neither stale nor cut short
	uint64_t stale, empty, path_changes, unsynchronised, reports, span_mismatches;
	uint64_t number_mismatches; // windows: those that nobody published, too
	uint64_t marked;	 // with a flag, another path, or a clock that is not synchronised
	uint64_t negative;	 // without a flag that speaks of counts
	uint64_t run_mismatches; // rows
	int64_t unattributed_lost_packets;
	uint64_t flags[HS_OUTCOME_FLAGS]; // by bit of enum hs_measured_flag
};

struct hs_outcome {
	const struct hs_run *run;
	size_t n_windows;
	struct hs_outcome_window *windows; // as hs_measured_window has them
	size_t n_hops;
	struct hs_outcome_hop *hops;
	size_t n_lines, lines_capacity;
	struct hs_outcome_line *lines;
	struct hs_outcome_totals *totals; // [n_flows]
	struct hs_outcome_trips trips;
};

// What is at hand while the windows of one flow are computed.
struct hs_outcome_work {
	struct hs_outcome *outcome;
	struct hs_outcome_flow flow;
	size_t n_windows;
	const struct hs_measured_window **windows; // of the flow
	size_t *indices;			   // of them in the outcome's list
	struct hs_outcome_room room;
	struct hs_outcome_path path;
	size_t first_line;
	int64_t start_ns, end_ns;    // of its traffic, true time
	int64_t throughput_until_ns; // true time until which the configuration holds
	int64_t others_until_ns;
};

// The line of a hop of the flow: SIZE_MAX where there is none. make: adds it; SIZE_MAX: no memory.
size_t hs_outcome_line_find(const struct hs_outcome_work *work, struct hs_outcome_ends ends);
size_t hs_outcome_line_make(struct hs_outcome_work *work, const struct hs_measured_window *window,
		struct hs_outcome_ends ends);

// The points of a hop in a window, from what was measured and what is true of it.
void hs_outcome_points(struct hs_outcome_work *work, const struct hs_measured_window *window,
		struct hs_outcome_ends ends, struct hs_outcome_hop *hop);

// What a line lost over the whole run.
void hs_outcome_lose(struct hs_outcome_work *work, struct hs_outcome_line *line);

// "NAME", or "NAME/reply".
#define HS_OUTCOME_FLOW_NAME 48
void hs_outcome_flow_name(
		const struct hs_scenario *scenario, uint32_t flow, char name[HS_OUTCOME_FLOW_NAME]);

// Traffic: what its hosts saw.
struct hs_outcome_traffic {
	struct hs_stream_counters counters;
	double delivered_ratio, goodput_bps; // NAN: nothing was sent
};
void hs_outcome_traffic_of(
		const struct hs_run *run, uint32_t traffic, struct hs_outcome_traffic *result);

// Of an expectation. value: the worst where several must meet it; NAN, with a reason, where it
// could not be computed.
struct hs_outcome_verdict {
	double value;
	bool met;
	char reason[128];
};
void hs_outcome_judge(const struct hs_outcome *outcome, const struct hs_scenario_expect *expect,
		struct hs_outcome_verdict *verdict);

// What is expected of every scenario; NULL where that is met.
#define HS_OUTCOME_BUILT_IN 2
const struct hs_scenario_expect *hs_outcome_broken(const struct hs_outcome *outcome, size_t index);

// Telemetry on the wire; NAN: not a link, or nothing was sent.
double hs_outcome_overhead(const struct hs_outcome_line *line, bool packets);

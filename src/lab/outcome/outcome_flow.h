// SPDX-License-Identifier: BSD-3-Clause
// The sampled packets of one flow as the truth knows them, in the two orders that windows need:
// that of the sink's clock and that of the source.
//
// Source: docs/metrics.md, rules 7, 10 and 18.
// Thread rule: owner.
#pragma once

#include "outcome.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_outcome_report {
	struct hs_truth_report truth;
	int64_t counted_ns; // by the sink's clock: the time of the window that it is in
	size_t arrival;	    // number of its arrival at the sink
	size_t place;	    // in source order; SIZE_MAX: a copy of one that came before
	uint32_t epoch;	    // grows where source or sink began anew
};

struct hs_outcome_flow {
	const struct hs_run *run;
	uint32_t flow;
	bool *publishes; // [n_nodes]: nodes that stand in the paths of what was measured
	size_t n;
	struct hs_outcome_report *reports; // [n] by counted_ns
	size_t *newest;			   // [n]: the newest of reports [0] to [i]
	size_t n_ordered;
	size_t *ordered; // [n_ordered]: by source
	size_t first;	 // the one that arrived first
};

// A hop by the ids that stand in paths, or end to end.
struct hs_outcome_ends {
	bool e2e;
	uint16_t from, to;
};

// Two stops of a report.
struct hs_outcome_stops {
	uint32_t from, to;
};

// 0 or -ENOMEM. `windows` are those of the flow.
int hs_outcome_flow_init(struct hs_outcome_flow *flow, const struct hs_run *run, uint32_t index,
		const struct hs_measured_window *const *windows, size_t n_windows);
void hs_outcome_flow_fini(struct hs_outcome_flow *flow);

// How many reports are in windows that end by this time, or by it in the one that has it.
size_t hs_outcome_flow_until(const struct hs_outcome_flow *flow, int64_t shown_ns);

// Where a report passed the hop; false: it did not.
bool hs_outcome_flow_stops(const struct hs_outcome_flow *flow, const struct hs_truth_report *report,
		struct hs_outcome_ends ends, struct hs_outcome_stops *stops);
// The same, without a node in between that puts itself into paths: the delay of such a hop is
// published.
bool hs_outcome_flow_passes(const struct hs_outcome_flow *flow,
		const struct hs_truth_report *report, struct hs_outcome_ends ends,
		struct hs_outcome_stops *stops);

// Did a node that both of them passed forget its counts in between?
bool hs_outcome_flow_forgot(const struct hs_truth_report *a, const struct hs_truth_report *b);

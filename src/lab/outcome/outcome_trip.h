// SPDX-License-Identifier: BSD-3-Clause
// Round trips of pings: by telemetry of the two directions, and as the sending host saw them.
//
// Source: docs/metrics.md, rule 19; 000_616928c59136b059.txt table V.
// Thread rule: owner.
#pragma once

#include "outcome.h"

struct hs_outcome_trip_window {
	int64_t start_ns, end_ns; // (start, end] of the pinging node's clock: the reply's arrival
	struct hs_round_trip measured;
	bool has_measured, has_truth;
	uint64_t truth_trips;
	int64_t truth_ns; // mean
};

struct hs_outcome_trip {
	uint32_t up, down; // flows
	uint64_t pairs, clocks_differ;
	size_t n_windows, compared; // compared: with both
	struct hs_outcome_trip_window *windows;
	double measured_ns, truth_ns; // means over the windows; NAN: none
	double mae_windows_ns;
	double mae_pings_ns; // of each ping; NAN: not every one was sampled both ways
	double mae_ns;	     // the larger of the two
};

struct hs_outcome_trips {
	size_t n;
	struct hs_outcome_trip *trips;
};

// 0 or -ENOMEM (then there is nothing to release).
int hs_outcome_trips_init(struct hs_outcome_trips *trips, const struct hs_run *run);
void hs_outcome_trips_fini(struct hs_outcome_trips *trips);

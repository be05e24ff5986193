// SPDX-License-Identifier: BSD-3-Clause
// The times at which the frames of a paced source are due: at a constant rate, in bursts, or as a
// Poisson process.
//
// Constant pacing never drifts: packet n is due at exactly start + floor(n * 1e9 / rate). The rate
// is a fraction: the first convergent of its continued fraction that equals the given double. 0.1
// is 1/10 and not the nearest multiple of 2^-56; 1.0 / 3 is a third.
// Bursts are due as a Poisson process, with exponential times from one to the next. A burst that is
// due while another runs follows it at once. The mean from start to start is therefore the given
// mean, if this mean exceeds a burst.
// Thread rule: owner.
#pragma once

#include "rng.h"
#include "scenario.h"

#include <stdint.h>

#define HS_STREAM_NEVER_NS INT64_MAX

struct hs_stream_pace {
	const struct hs_scenario_traffic *traffic; // bursty, Poisson; any other kind: constant
	struct hs_rng rng;
	int64_t start_ns, stop_ns; // no frame is due before start_ns, or at stop_ns and later
	uint64_t left;		   // number of frames up to the limit
	int64_t next_ns;	   // HS_STREAM_NEVER_NS: no more frames, or rate 0

	uint64_t parts; // fraction of next_ns

	// Constant rate, also within a burst: the step is step_ns + step_part / step_parts.
	int64_t step_ns;
	uint64_t step_part, step_parts;

	double poisson_mean; // in units of 1/1024 ns; `parts` then has the same unit

	int64_t burst_due_ns; // time of the present or the next burst
	int64_t burst_end_ns;
};

// Begins pacing. start_ns and stop_ns are true times. The entry of traffic must outlive the pace.
void hs_stream_pace_init(struct hs_stream_pace *pace, const struct hs_scenario_traffic *traffic,
		uint64_t seed, int64_t start_ns, int64_t stop_ns);

// Computes the time of the next frame, after the caller sent the frame that was due.
void hs_stream_pace_step(struct hs_stream_pace *pace);

// Restarts pacing at this time, or at the start if that is later: the next frame is due now
// (Poisson: a gap from now; bursty: now within a burst). Bursts keep their times. With rate 0, no
// frame is due until the next change. Relay, window and pcap have no rate, and do not change.
void hs_stream_pace_set_rate(struct hs_stream_pace *pace, int64_t now_ns, double rate_pps);

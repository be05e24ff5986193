// SPDX-License-Identifier: BSD-3-Clause
// How a clock on a counter follows the system's clock, as pure reckoning: readings in, a line of
// time out. The daemon and the lab use the same.
//
// A line gives wall time and, beside it, what of it came by steps: wall time less its steps is
// steady time, which goes on evenly where wall time jumps. Timers run on it.
//
// An offset within the bound is slewed: small ones at up to 500 ppm, larger ones at a 45th of the
// largest since ours was last right, so that any of them is gone within 60 s. Beyond the bound the
// line steps, either way.
//
// Thread rule: owner.
#pragma once

#include <stdint.h>

#define HS_CLOCK_STEP_NS     INT64_C(1000000000)  // the bound, where none is given
#define HS_CLOCK_STEP_MAX_NS INT64_C(10000000000) // the largest: slewed at 22 %
#define HS_CLOCK_RATE_SHIFT  40 // of ns per tick: 1e-12 ns of resolution, and 2^23 ns per tick fit

struct hs_clock_line {
	uint64_t base_ticks;
	int64_t base_ns;
	uint64_t rate; // ns per tick << HS_CLOCK_RATE_SHIFT
	int64_t stepped_ns;
};

// Ticks and the two system clocks at (nearly) one moment.
struct hs_clock_reading {
	uint64_t target_ticks, monotonic_ticks;
	int64_t target_ns;    // what a right clock shows
	int64_t monotonic_ns; // of the same rate, but for its jumps
};

struct hs_clock_servo {
	int64_t step_ns;
	struct hs_clock_line line;
	uint64_t rate, first_rate;		     // without slew
	struct hs_clock_reading anchor, next_anchor; // the rate is measured from the older one
	struct hs_clock_reading last;
	int64_t offset_ns; // ours minus the target at the last correction: what it left to slew
	int64_t worst_ns;  // the largest that is being slewed
	unsigned strange_rates; // in a row
	uint64_t steps;
};

// From `from` on, at this rate. step_ns 0: HS_CLOCK_STEP_NS.
void hs_clock_servo_begin(struct hs_clock_servo *servo, int64_t step_ns, uint64_t rate,
		const struct hs_clock_reading *from);
// The next line begins at the reading. Returns by how much it is ahead of the last one there; 0:
// it slews.
int64_t hs_clock_servo_correct(struct hs_clock_servo *servo, const struct hs_clock_reading *now);

// Of two readings 20 ms apart or more; 0: they have none.
uint64_t hs_clock_rate_between(
		const struct hs_clock_reading *from, const struct hs_clock_reading *to);

static inline int64_t hs_clock_line_at(const struct hs_clock_line *line, uint64_t ticks)
{
	// Signed: another core's counter may stand a little before the base.
	__int128 ns = (__int128)(int64_t)(ticks - line->base_ticks) * (__int128)line->rate;

	return line->base_ns + (int64_t)(ns >> HS_CLOCK_RATE_SHIFT);
}

// SPDX-License-Identifier: BSD-3-Clause
// Computes how a clock on a counter follows the system's clock. It is pure: readings in, a line of
// time out. The daemon and the lab use the same code.
//
// A line gives wall time and the part of it that came from steps. Wall time minus this part is
// steady time, which continues evenly where wall time jumps. Timers use steady time.
//
// An offset within the bound is slewed: a small one at up to 500 ppm, a larger one at a 45th of the
// largest offset since our clock was last right, so that any offset is gone within 60 s. Beyond the
// bound, the line steps forward or back.
//
// Thread rule: owner.
#pragma once

#include <stdint.h>

#define HS_CLOCK_STEP_NS     INT64_C(1000000000)  // the default bound
#define HS_CLOCK_STEP_MAX_NS INT64_C(10000000000) // the largest bound: slewed at 22 %
#define HS_CLOCK_RATE_SHIFT  40 // of ns per tick: 1e-12 ns of resolution; up to 2^23 ns per tick

struct hs_clock_line {
	uint64_t base_ticks;
	int64_t base_ns;
	uint64_t rate; // ns per tick << HS_CLOCK_RATE_SHIFT
	int64_t stepped_ns;
};

// Ticks and the two system clocks at (nearly) one moment.
struct hs_clock_reading {
	uint64_t target_ticks, monotonic_ticks;
	int64_t target_ns;    // the time of a right clock
	int64_t monotonic_ns; // has the same rate without the jumps
};

struct hs_clock_servo {
	int64_t step_ns;
	struct hs_clock_line line;
	uint64_t rate, first_rate;		     // without slew
	struct hs_clock_reading anchor, next_anchor; // the rate is measured from the older one
	struct hs_clock_reading last;
	int64_t offset_ns;	// our clock minus the target at the last correction
	int64_t worst_ns;	// the largest offset that is being slewed
	unsigned strange_rates; // number in a row
	uint64_t steps;
};

// Begins at `from` with this rate. step_ns 0 means HS_CLOCK_STEP_NS.
void hs_clock_servo_begin(struct hs_clock_servo *servo, int64_t step_ns, uint64_t rate,
		const struct hs_clock_reading *from);
// Begins the next line at the reading. Returns by how much it is ahead of the last line there, or 0
// if it slews.
int64_t hs_clock_servo_correct(struct hs_clock_servo *servo, const struct hs_clock_reading *now);

// Returns the rate between two readings that are 20 ms or more apart, or 0 if there is none.
uint64_t hs_clock_rate_between(
		const struct hs_clock_reading *from, const struct hs_clock_reading *to);

static inline int64_t hs_clock_line_at(const struct hs_clock_line *line, uint64_t ticks)
{
	// The difference is signed, because another core's counter may be slightly before the base.
	__int128 ns = (__int128)(int64_t)(ticks - line->base_ticks) * (__int128)line->rate;

	return line->base_ns + (int64_t)(ns >> HS_CLOCK_RATE_SHIFT);
}

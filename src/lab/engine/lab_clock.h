// SPDX-License-Identifier: BSD-3-Clause
// The model of a node's system clock in the lab. It shows a time for each true time, by an offset,
// a drift and a model of how NTP or PTP corrects it. The node's own clock follows it with the same
// code as in the daemon (lab_control.c): a source of clocks (struct hs_clock_source) has these
// functions, with this clock as their context.
//
// Between corrections, the clock is linear and computed in integers, so that all machines agree to
// the nanosecond. Each poll (every interval) leaves an offset error (normal, error_ns) and a
// residual frequency (normal, frequency_error_ppb). The clock steps by the offset, or slews it at a
// constant rate over min(interval, 16 s). It always steps if the error is above step_threshold_ns
// or above half of the slew's time, as ntpd and chrony do.
//
// Source: 000_616928c59136b059.txt section V-B; RFC 5905 section 11 (step threshold).
// Thread rule: owner. True time never goes back.
#pragma once

#include "scenario.h"

#include "clock.h"
#include "rng.h"

#include <stdint.h>

#define HS_LAB_SLEW_NS INT64_C(16000000000)
#define HS_LAB_STEP_NS INT64_C(128000000)
#define HS_LAB_MAX_PPB INT64_C(100000000) // larger frequencies, of either sign, are limited to this

// From true_ns to the next change, the clock shows shown_ns + t + floor(t * num / den). Frequency
// and slew share one fraction. With two fractions, both floors could step at once, and time could
// go back.
struct hs_lab_clock_segment {
	int64_t true_ns, shown_ns;
	__int128 num, den;
	int64_t end_ns; // INT64_MAX: no end
};

struct hs_lab_clock {
	uint64_t steps; // by polls and by hand
	// The rest is for lab_clock.c.
	struct hs_lab_sync sync;
	struct hs_rng offset_rng, frequency_rng;
	struct hs_lab_clock_segment segment;
	const int64_t *now_ns; // true time
	int64_t start_ns;
	int64_t free_ppb;      // of the oscillator, which no poll changes
	int64_t frequency_ppb; // while nothing is slewed
	int64_t next_poll_ns;  // INT64_MAX: never
	int64_t slew_ends_ns;  // INT64_MAX: nothing is slewed
	int64_t correction_ns; // the whole correction of the slew
	int64_t bound_ns;      // bound of the error that polls leave, at the next poll
	bool polled;
	int64_t stepped_ns; // sum of all steps
	int64_t set_ns;	    // part of stepped_ns: set by hand since the last poll
};

// Starts the clock now. Each function reads the true time from *now_ns.
void hs_lab_clock_init(struct hs_lab_clock *clock, const struct hs_lab_clock_config *config,
		uint64_t seed, const int64_t *now_ns);

// Returns the time that the clock shows. Makes the polls that are due before.
int64_t hs_lab_clock_realtime(void *clock);

// Sets the clock forward, or back if by_ns is negative. A slew ends. The clock is not synchronised
// until the next poll, or until it is set back to where it was.
void hs_lab_clock_set(struct hs_lab_clock *clock, int64_t by_ns);

// Returns the time without the clock's steps, except for a constant: CLOCK_MONOTONIC.
int64_t hs_lab_clock_monotonic(void *clock);

// Returns the count of the clock's oscillator, which no poll changes: about a tick each nanosecond
// from the start.
uint64_t hs_lab_clock_ticks(void *clock);
// Returns the first true time with this count.
int64_t hs_lab_clock_ticked(const struct hs_lab_clock *clock, uint64_t ticks);

// Fills in what an operating system would report. Returns true. A clock without sync is known to be
// not synchronised. A clock that is exact by configuration (no offset, no drift, no sync) is
// synchronised with error 0. Other clocks are synchronised from the first poll on. The largest
// error is three standard deviations at the next poll, plus the rest of the slew. It is 0 before
// the first poll, because nothing is known.
bool hs_lab_clock_kernel(void *clock, struct hs_clock_kernel *kernel);

// SPDX-License-Identifier: BSD-3-Clause
// The system's clock of a node in the lab. It shows a time for each true time, by an offset, a
// drift and a model of how NTP or PTP corrects it. The node's own clock follows it with the same
// code as in the daemon (lab_time.c).
//
// Between corrections, the clock is linear and computed in integers, so that all machines agree to
// the nanosecond. Each poll (every interval) leaves an offset error (normal, error_ns) and a
// residual frequency (normal, frequency_error_ppb). The clock steps by the offset, or slews it at a
// constant rate over min(interval, 16 s). It always steps if the error is above step_threshold_ns
// or above half of that time, as ntpd and chrony do.
//
// Source: 000_616928c59136b059.txt section V-B; RFC 5905 section 11 (step threshold).
// Thread rule: owner. True time never goes back.
#pragma once

#include "scenario.h"

#include "clock.h"

#include <stdint.h>

#define HS_LAB_SLEW_NS INT64_C(16000000000)
#define HS_LAB_STEP_NS INT64_C(128000000)
#define HS_LAB_MAX_PPB INT64_C(100000000) // larger frequencies, of either sign, are limited to this

struct hs_lab_clock;

// Returns 0 or -ENOMEM. destroy accepts NULL.
int hs_lab_clock_create(const struct hs_lab_clock_config *config, uint64_t seed, int64_t start_ns,
		struct hs_lab_clock **clock);
void hs_lab_clock_destroy(struct hs_lab_clock *clock);

// Returns the time that the clock shows. Makes the polls that are due before.
int64_t hs_lab_clock_at(struct hs_lab_clock *clock, int64_t true_ns);

// Sets the clock forward, or back if negative, at this time. A slew ends. The clock is not
// synchronised until the next poll, or until it is set back to where it was.
void hs_lab_clock_set(struct hs_lab_clock *clock, int64_t true_ns, int64_t by_ns);

// Returns the time without the clock's steps, except for a constant: CLOCK_MONOTONIC.
int64_t hs_lab_clock_monotonic(struct hs_lab_clock *clock, int64_t true_ns);

// Returns the count of the clock's oscillator, which no poll changes: about a tick each nanosecond
// from the start.
uint64_t hs_lab_clock_ticks(const struct hs_lab_clock *clock, int64_t true_ns);
// Returns the first true time with this count.
int64_t hs_lab_clock_ticked(const struct hs_lab_clock *clock, uint64_t ticks);

// Fills in what an operating system would report at the last time asked for. A clock without sync
// is known to be not synchronised. A clock that is exact by configuration (no offset, no drift, no
// sync) is synchronised with error 0. Other clocks are synchronised from the first poll on. The
// largest error is three standard deviations at the next poll, plus the rest of the slew. It is 0
// before the first poll, because nothing is known.
void hs_lab_clock_kernel(const struct hs_lab_clock *clock, struct hs_clock_kernel *kernel);

// Returns the number of steps, by polls and by hand.
uint64_t hs_lab_clock_steps(const struct hs_lab_clock *clock);

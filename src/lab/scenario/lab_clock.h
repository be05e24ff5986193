// SPDX-License-Identifier: BSD-3-Clause
// The system's clock of a node in the lab: what it shows at a true time, given an offset, a drift
// and a model of how NTP or PTP corrects it. The node's own clock follows it as the daemon's does,
// by the same code (lab_time.c).
//
// Between corrections the clock is linear, in integers: the same to the nanosecond on any machine.
// Each poll (every interval) leaves an offset error, normal with error_ns, and a residual
// frequency, normal with frequency_error_ppb. It is applied as a step, or slewed: at constant rate
// over min(interval, 16 s). An error above step_threshold_ns, or above half of that time, always
// steps, as ntpd and chrony do.
//
// Source: 000_616928c59136b059.txt section V-B; RFC 5905 section 11 (step threshold).
// Thread rule: owner. True time never goes back.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HS_LAB_SLEW_NS	INT64_C(16000000000)
#define HS_LAB_STEP_NS	INT64_C(128000000)
#define HS_LAB_NEVER_NS INT64_MAX
#define HS_LAB_MAX_PPB	INT64_C(100000000) // frequencies beyond it, either way, are cut to it

struct hs_lab_sync {
	int64_t interval_ns;	     // 0: never synchronised
	int64_t first_ns;	     // the first poll, after the start; 0: one interval
	int64_t error_ns;	     // standard deviation of the offset that a poll leaves
	int64_t frequency_error_ppb; // standard deviation of the frequency that a poll leaves
	bool slew;		     // else step
	int64_t step_threshold_ns;   // 0: HS_LAB_STEP_NS
};

struct hs_lab_clock_config {
	int64_t offset_ns;	 // at the start: what the clock shows minus the true time
	int64_t drift_ppb;	 // of the free clock; positive: fast
	int64_t drift_sigma_ppb; // a normal part of the drift, drawn once
	struct hs_lab_sync sync;
};

struct hs_lab_clock;

// 0 or -ENOMEM. destroy accepts NULL.
int hs_lab_clock_create(const struct hs_lab_clock_config *config, uint64_t seed, int64_t start_ns,
		struct hs_lab_clock **clock);
void hs_lab_clock_destroy(struct hs_lab_clock *clock);

// What it shows; makes the polls that are due on the way.
int64_t hs_lab_clock_at(struct hs_lab_clock *clock, int64_t true_ns);

// The frequency of its oscillator, which no poll changes.
int64_t hs_lab_clock_free_ppb(const struct hs_lab_clock *clock);

// It is set forward by so much, at this time, or back. Whatever is being slewed ends. Until it was
// polled again, or is set back to where it was, it is not synchronised.
void hs_lab_clock_set(struct hs_lab_clock *clock, int64_t true_ns, int64_t by_ns);

// What it would show without its steps, but for a constant: CLOCK_MONOTONIC.
int64_t hs_lab_clock_monotonic(struct hs_lab_clock *clock, int64_t true_ns);

// The true time at which it will show this, as far as the next change of its rate, or the time of
// that change where it comes first: ask again then. Never before true_ns.
int64_t hs_lab_clock_when(struct hs_lab_clock *clock, int64_t true_ns, int64_t shown_ns);

// What an operating system would say of it at the last time asked for. Without sync: known, not
// synchronised. A clock that is exact by configuration (no offset, no drift, no sync) says that it
// is synchronised with error 0. Otherwise synchronised from the first poll on.
struct hs_lab_clock_status {
	bool synchronised;
	// Three standard deviations at the next poll, and what a slew has still to work off. 0
	// before the first poll: nothing is known.
	int64_t error_ns;
	uint64_t steps; // corrections that stepped
};
void hs_lab_clock_status(const struct hs_lab_clock *clock, struct hs_lab_clock_status *status);

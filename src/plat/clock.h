// SPDX-License-Identifier: BSD-3-Clause
// Wall time as an input: signed 64-bit nanoseconds since the Unix epoch (UTC or TAI), read from
// the TSC and corrected against the system clock in the background. Never steps backwards.
//
// Thread rule: hs_clock_now any lcore, lock-free; the rest control.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hs_clock;

enum hs_clock_scale {
	HS_CLOCK_UTC,
	HS_CLOCK_TAI,
};

// What adjtimex and our own correction say about the clock.
struct hs_clock_status {
	bool known;          // the system told us
	bool synchronised;
	int64_t error_ns;    // the kernel's estimate of the maximum error plus our own offset
	int64_t offset_ns;   // our clock minus the system's at the last correction
	uint64_t steps;      // forward steps made because the system clock had jumped
};

// A clock on the TSC. Owner: caller; destroy accepts NULL. 0 or negative errno.
int hs_clock_create(enum hs_clock_scale scale, struct hs_clock **clock);
// A clock that stands still until it is set: virtual time, tests.
int hs_clock_create_manual(int64_t now_ns, struct hs_clock **clock);
void hs_clock_destroy(struct hs_clock *clock);

int64_t hs_clock_now(const struct hs_clock *clock);
void hs_clock_set(struct hs_clock *clock, int64_t now_ns); // manual clocks only

// Compares with the system clock and corrects rate and offset; call every 0.1 to 1 s.
void hs_clock_correct(struct hs_clock *clock);
void hs_clock_status(const struct hs_clock *clock, struct hs_clock_status *status);

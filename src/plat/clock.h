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
	bool known; // the system told us
	bool synchronised;
	int64_t error_ns;  // the kernel's estimate of the maximum error plus our own offset
	int64_t offset_ns; // our clock minus the system's at the last correction
	uint64_t steps;	   // forward steps made because the system clock had jumped
};

// What a clock is made of. The machine's own for real; a test gives one that it moves by hand.
struct hs_clock_source {
	uint64_t (*ticks)(void *context);	// a counter of a constant rate, never backwards
	int64_t (*realtime_ns)(void *context);	// UTC since the Unix epoch; may jump
	int64_t (*monotonic_ns)(void *context); // the same rate without the jumps
	int (*tai_offset_s)(void *context);	// TAI minus UTC, 0 if not known
	void *context;
};

// A clock on the TSC. Owner: caller; destroy accepts NULL. 0 or negative errno.
int hs_clock_create(enum hs_clock_scale scale, struct hs_clock **clock);
// The same on another source, which must outlive it.
int hs_clock_create_from(const struct hs_clock_source *source, enum hs_clock_scale scale,
		struct hs_clock **clock);
// A clock that stands still until it is set: virtual time, tests.
int hs_clock_create_manual(int64_t now_ns, struct hs_clock **clock);
void hs_clock_destroy(struct hs_clock *clock);

int64_t hs_clock_now(const struct hs_clock *clock);
void hs_clock_set(struct hs_clock *clock, int64_t now_ns); // manual clocks only
// What hs_clock_status says from now on (not known until then); manual clocks only.
void hs_clock_set_status(struct hs_clock *clock, const struct hs_clock_status *status);

// Compares with the system clock and corrects rate and offset; call every 0.1 to 1 s. Offsets are
// slewed by at most 500 ppm, but where the system clock is more than 10 ms ahead ours steps.
void hs_clock_correct(struct hs_clock *clock);
void hs_clock_status(const struct hs_clock *clock, struct hs_clock_status *status);

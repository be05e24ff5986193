// SPDX-License-Identifier: BSD-3-Clause
// Wall time as an input: signed 64-bit nanoseconds since the Unix epoch (UTC or TAI), read from
// the TSC and corrected against the system clock in the background: slewed, or where the two are
// further apart than a bound, stepped, forward or back (clock_servo.h). Never goes back otherwise.
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

// What the kernel says of the system's clock, as adjtimex(2) has it.
struct hs_clock_kernel {
	bool synchronised;
	int64_t offset_ns; // what the kernel has still to slew
	int64_t esterror_ns, maxerror_ns;
	int status; // STA_ bits
};

struct hs_clock_status {
	bool known;	   // the kernel told
	bool synchronised; // both the system's clock and ours to it
	int64_t error_ns;  // the kernel's largest error and our own offset
	int64_t offset_ns; // our clock minus the system's at the last correction: left to slew
	uint64_t steps;	   // that were made because the system's clock had jumped
	struct hs_clock_kernel kernel;
};

// What a clock is made of. The machine's own for real; a test gives one that it moves by hand.
struct hs_clock_source {
	uint64_t (*ticks)(void *context);	// a counter of a constant rate, never backwards
	int64_t (*realtime_ns)(void *context);	// UTC since the Unix epoch; may jump
	int64_t (*monotonic_ns)(void *context); // the same rate without the jumps
	int (*tai_offset_s)(void *context);	// TAI minus UTC, 0 if not known
	void *context;
	bool (*kernel)(void *context, struct hs_clock_kernel *kernel); // NULL, or false: not known
	uint64_t rate; // ns per tick << HS_CLOCK_RATE_SHIFT; 0: to be measured, over 20 ms
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
// The same, and what of it came by steps: now less that is steady time, which goes on evenly where
// the clock steps. For timers.
int64_t hs_clock_read(const struct hs_clock *clock, int64_t *stepped_ns);
void hs_clock_set(struct hs_clock *clock, int64_t now_ns); // manual clocks only
// What hs_clock_status says from now on (not known until then); manual clocks only.
void hs_clock_set_status(struct hs_clock *clock, const struct hs_clock_status *status);

// The line that holds now. Control.
struct hs_clock_line;
void hs_clock_line(const struct hs_clock *clock, struct hs_clock_line *line);

// Offsets beyond it are stepped, others slewed; HS_CLOCK_STEP_NS until then.
void hs_clock_set_step(struct hs_clock *clock, int64_t step_ns);
// Called from hs_clock_correct before a step by this much: readers see the old time until it
// returns. NULL: nobody.
typedef void hs_clock_stepped(void *context, int64_t amount_ns);
void hs_clock_on_step(struct hs_clock *clock, hs_clock_stepped *stepped, void *context);

// Compares with the system clock and corrects rate and offset; call every 0.1 to 1 s.
void hs_clock_correct(struct hs_clock *clock);
void hs_clock_status(const struct hs_clock *clock, struct hs_clock_status *status);

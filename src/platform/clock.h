// SPDX-License-Identifier: BSD-3-Clause
// Wall time as an input: signed 64-bit nanoseconds since the Unix epoch (UTC or TAI), read from the
// TSC. The clock is corrected against the system clock in the background: it is slewed, or stepped
// forward or back if the two differ by more than a bound (clock_servo.h). It never goes back
// otherwise.
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

// The kernel's report on the system's clock, as adjtimex(2) returns it.
struct hs_clock_kernel {
	bool synchronised;
	int64_t offset_ns; // time that the kernel still has to slew
	int64_t esterror_ns, maxerror_ns;
	int status; // STA_ bits
};

struct hs_clock_status {
	bool known;	   // the kernel reported its clock
	bool synchronised; // the system's clock is synchronised, and ours to it
	int64_t error_ns;  // the kernel's largest error plus our own offset
	int64_t offset_ns; // our clock minus the system's at the last correction
	uint64_t steps;	   // steps after jumps of the system's clock
	struct hs_clock_kernel kernel;
};

// What a clock is derived from: the machine's own clocks, or a test's clocks that the test moves by
// hand.
struct hs_clock_source {
	uint64_t (*ticks)(void *context); // a counter with a constant rate that never goes back
	int64_t (*realtime_ns)(void *context);	// UTC since the Unix epoch; may jump
	int64_t (*monotonic_ns)(void *context); // the same rate without the jumps
	int (*tai_offset_s)(void *context);	// TAI minus UTC, 0 if unknown; for TAI only
	void *context;
	bool (*kernel)(void *context, struct hs_clock_kernel *kernel); // NULL or false: unknown
	uint64_t rate; // ns per tick << HS_CLOCK_RATE_SHIFT; 0: measure over 20 ms
};

// Creates a clock on the TSC. The caller owns it; destroy accepts NULL. Returns 0 or a negative
// errno.
int hs_clock_create(enum hs_clock_scale scale, struct hs_clock **clock);
// Does the same on another source, which must outlive the clock.
int hs_clock_create_from(const struct hs_clock_source *source, enum hs_clock_scale scale,
		struct hs_clock **clock);
// Creates a clock that stands still until it is set, for virtual time and tests.
int hs_clock_create_manual(int64_t now_ns, struct hs_clock **clock);
void hs_clock_destroy(struct hs_clock *clock);

int64_t hs_clock_now(const struct hs_clock *clock);
// Returns the time, and in *stepped_ns the part of it that came from steps. The difference is
// steady time, which continues evenly when the clock steps. Timers use it.
int64_t hs_clock_read(const struct hs_clock *clock, int64_t *stepped_ns);
void hs_clock_set(struct hs_clock *clock, int64_t now_ns); // manual clocks only

// Returns the valid line. Control only.
struct hs_clock_line;
void hs_clock_line(const struct hs_clock *clock, struct hs_clock_line *line);

// Sets the bound: larger offsets are stepped, others slewed. The default is HS_CLOCK_STEP_NS.
void hs_clock_set_step(struct hs_clock *clock, int64_t step_ns);
// hs_clock_correct calls this before a step by this amount. Readers see the old time until it
// returns. May be NULL.
typedef void hs_clock_stepped(void *context, int64_t amount_ns);
void hs_clock_on_step(struct hs_clock *clock, hs_clock_stepped *stepped, void *context);

// Compares the clock with the system clock and corrects rate and offset. Call this every 0.1 to 1
// s.
void hs_clock_correct(struct hs_clock *clock);
void hs_clock_status(const struct hs_clock *clock, struct hs_clock_status *status);

// Shifts a time by a step of the clock. 0 (none) and INT64_MAX (never) stay.
static inline void hs_clock_shift(int64_t *ns, int64_t by_ns)
{
	if (*ns != INT64_MAX && *ns != 0)
		*ns += by_ns;
}

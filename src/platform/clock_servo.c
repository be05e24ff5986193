// SPDX-License-Identifier: BSD-3-Clause
#include "clock_servo.h"

#include <stdbool.h>

#define SECOND_NS	INT64_C(1000000000)
#define SLEW_MAX_PPB	INT64_C(500000)
#define SLEW_OVER_NS	SECOND_NS
#define SLEW_WORST_S	45
#define RATE_OVER_NS	(16 * SECOND_NS)
#define RATE_FIRST_NS	INT64_C(20000000)
#define RATE_SANE_PPB	INT64_C(1000000)
#define STRANGE_ENOUGH	10
#define COUNTER_JUMP_NS INT64_C(10000000)

uint64_t hs_clock_rate_between(
		const struct hs_clock_reading *from, const struct hs_clock_reading *to)
{
	int64_t ns = to->monotonic_ns - from->monotonic_ns;
	uint64_t ticks = to->monotonic_ticks - from->monotonic_ticks;

	if (ns <= 0 || ticks == 0)
		return 0;
	return (uint64_t)(((unsigned __int128)ns << HS_CLOCK_RATE_SHIFT) / ticks);
}

static bool rate_is_sane(const struct hs_clock_servo *servo, uint64_t rate)
{
	uint64_t slack = (uint64_t)((unsigned __int128)servo->first_rate * RATE_SANE_PPB /
				    SECOND_NS);

	return rate > servo->first_rate - slack && rate < servo->first_rate + slack;
}

// Handles a rate far from the first one. A counter that jumped once, as on a machine that slept, is
// measured anew from here. A counter that continues at another rate, as on a machine that moved to
// other hardware, gets that rate from now on.
static void meet_strange_rate(
		struct hs_clock_servo *servo, const struct hs_clock_reading *now, uint64_t rate)
{
	servo->anchor = servo->next_anchor = *now;
	if (rate == 0 || ++servo->strange_rates < STRANGE_ENOUGH)
		return;
	servo->rate = servo->first_rate = rate;
	servo->strange_rates = 0;
}

// Measures the rate over the last 16 to 32 s. This is long enough for the readings' own error to
// vanish and short enough to follow the room's temperature.
static void measure_rate(struct hs_clock_servo *servo, const struct hs_clock_reading *now)
{
	int64_t span_ns = now->monotonic_ns - servo->anchor.monotonic_ns;
	uint64_t rate = hs_clock_rate_between(&servo->anchor, now);

	if (span_ns < RATE_FIRST_NS)
		return;
	if (!rate_is_sane(servo, rate)) {
		meet_strange_rate(servo, now, rate);
		return;
	}
	servo->strange_rates = 0;
	servo->rate = rate;
	if (now->monotonic_ns - servo->next_anchor.monotonic_ns >= RATE_OVER_NS) {
		servo->anchor = servo->next_anchor;
		servo->next_anchor = *now;
	}
}

static int64_t magnitude(int64_t value)
{
	return value < 0 ? -value : value;
}

static int64_t fastest_slew_ppb(struct hs_clock_servo *servo)
{
	int64_t offset_ns = magnitude(servo->offset_ns);

	if (offset_ns <= SLEW_MAX_PPB * SLEW_OVER_NS / SECOND_NS)
		servo->worst_ns = 0;
	else if (offset_ns > servo->worst_ns)
		servo->worst_ns = offset_ns;
	int64_t ppb = servo->worst_ns / SLEW_WORST_S;
	return ppb > SLEW_MAX_PPB ? ppb : SLEW_MAX_PPB;
}

// Returns the rate that removes the offset over a second, or over twice the time between
// corrections if these are rare. A shorter time would overshoot.
static uint64_t slewed_rate(struct hs_clock_servo *servo, int64_t interval_ns)
{
	int64_t over_ns = 2 * interval_ns > SLEW_OVER_NS ? 2 * interval_ns : SLEW_OVER_NS;
	__int128 ppb = -(__int128)servo->offset_ns * SECOND_NS / over_ns;
	int64_t most_ppb = fastest_slew_ppb(servo);

	if (ppb > most_ppb)
		ppb = most_ppb;
	if (ppb < -most_ppb)
		ppb = -most_ppb;
	return (uint64_t)((__int128)servo->rate + (__int128)servo->rate * ppb / SECOND_NS);
}

// Returns whether the offset is beyond the bound. A leap second is as long as the usual bound and
// is slewed, whatever the readings' own error.
static bool is_beyond(const struct hs_clock_servo *servo)
{
	return magnitude(servo->offset_ns) > servo->step_ns + servo->step_ns / 100;
}

// Returns steady time. If the counter itself jumped by more than any slew explains, steady time
// continues with the monotonic clock, because the counter's time has not passed.
static int64_t steady_ns(const struct hs_clock_servo *servo, int64_t ours_ns, int64_t last_ns,
		int64_t interval_ns)
{
	int64_t excess_ns = magnitude(ours_ns - last_ns - interval_ns);
	bool jumped = excess_ns > interval_ns / 4 + COUNTER_JUMP_NS;

	return (jumped ? last_ns + interval_ns : ours_ns) - servo->line.stepped_ns;
}

static void step(struct hs_clock_servo *servo, const struct hs_clock_reading *now, int64_t steady)
{
	servo->line = (struct hs_clock_line){
			.base_ticks = now->target_ticks,
			.base_ns = now->target_ns,
			.rate = servo->rate,
			.stepped_ns = now->target_ns - steady,
	};
	servo->offset_ns = servo->worst_ns = 0;
	servo->steps++;
}

int64_t hs_clock_servo_correct(struct hs_clock_servo *servo, const struct hs_clock_reading *now)
{
	int64_t passed_ns = now->monotonic_ns - servo->last.monotonic_ns;
	int64_t interval_ns = passed_ns > 0 ? passed_ns : 0;
	int64_t last_ns = hs_clock_line_at(&servo->line, servo->last.target_ticks);
	int64_t ours_ns = hs_clock_line_at(&servo->line, now->target_ticks);

	servo->last = *now;
	servo->offset_ns = ours_ns - now->target_ns;
	measure_rate(servo, now);
	if (is_beyond(servo)) {
		step(servo, now, steady_ns(servo, ours_ns, last_ns, interval_ns));
		return now->target_ns - ours_ns;
	}
	servo->line.base_ticks = now->target_ticks;
	servo->line.base_ns = ours_ns;
	servo->line.rate = slewed_rate(servo, interval_ns);
	return 0;
}

void hs_clock_servo_begin(struct hs_clock_servo *servo, int64_t step_ns, uint64_t rate,
		const struct hs_clock_reading *from)
{
	*servo = (struct hs_clock_servo){
			.step_ns = step_ns ? step_ns : HS_CLOCK_STEP_NS,
			.rate = rate,
			.first_rate = rate,
			.anchor = *from,
			.next_anchor = *from,
			.last = *from,
			.line = {.base_ticks = from->target_ticks,
					.base_ns = from->target_ns,
					.rate = rate},
	};
}

// SPDX-License-Identifier: BSD-3-Clause
#include "lab_clock.h"

#include "variate.h"

#include <errno.h>
#include <stdlib.h>

#define PPB INT64_C(1000000000)

typedef __int128 wide;

// From true_ns to the next change, the clock shows shown_ns + t + floor(t * num / den). Frequency
// and slew share one fraction. With two fractions, both floors could step at once, and time could
// go back.
struct segment {
	int64_t true_ns;
	int64_t shown_ns;
	wide num;
	wide den;
	int64_t end_ns; // HS_LAB_NEVER_NS: no end
};

struct hs_lab_clock {
	struct hs_lab_sync sync;
	bool exact; // by configuration
	struct hs_rng offset_rng;
	struct hs_rng frequency_rng;
	struct segment segment;
	int64_t free_ppb;      // before the first poll
	int64_t frequency_ppb; // while nothing is slewed
	int64_t next_poll_ns;
	int64_t slew_ends_ns;  // HS_LAB_NEVER_NS: nothing is slewed
	int64_t correction_ns; // the whole correction of the slew
	int64_t bound_ns;      // bound of the error that polls leave, at the next poll
	int64_t now_ns;	       // the last time that was asked for
	bool polled;
	uint64_t steps;
	int64_t stepped_ns; // sum of all steps
	int64_t set_ns;	    // part of stepped_ns: set by hand since the last poll
};

static int64_t clamp(wide value)
{
	if (value > INT64_MAX)
		return INT64_MAX;
	return value < INT64_MIN ? INT64_MIN : (int64_t)value;
}

static int64_t add(int64_t a, int64_t b)
{
	return clamp((wide)a + b);
}

static wide floor_div(wide a, wide b)
{
	wide quotient = a / b;
	return quotient - (a < quotient * b);
}

static int64_t shown_at(const struct segment *segment, int64_t true_ns)
{
	wide t = (wide)true_ns - segment->true_ns;
	wide shown = segment->shown_ns + t;
	if (segment->num != 0)
		shown += floor_div(t * segment->num, segment->den);
	return clamp(shown);
}

static int64_t limit_frequency(wide ppb)
{
	if (ppb > HS_LAB_MAX_PPB)
		return HS_LAB_MAX_PPB;
	return ppb < -HS_LAB_MAX_PPB ? -HS_LAB_MAX_PPB : (int64_t)ppb;
}

// Begins a segment at this time, with the present frequency and the present slew.
static void begin_segment(struct hs_lab_clock *clock, int64_t true_ns, int64_t shown_ns)
{
	struct segment *segment = &clock->segment;
	segment->true_ns = true_ns;
	segment->shown_ns = shown_ns;
	segment->num = clock->frequency_ppb;
	segment->den = PPB;
	segment->end_ns = clock->next_poll_ns;
	if (clock->slew_ends_ns == HS_LAB_NEVER_NS)
		return;
	wide slew_ns = (wide)clock->slew_ends_ns - true_ns;
	segment->num = segment->num * slew_ns + (wide)clock->correction_ns * PPB;
	segment->den *= slew_ns;
	if (clock->slew_ends_ns < segment->end_ns)
		segment->end_ns = clock->slew_ends_ns;
}

static void poll(struct hs_lab_clock *clock, int64_t true_ns)
{
	const struct hs_lab_sync *sync = &clock->sync;
	int64_t shown_ns = shown_at(&clock->segment, true_ns);
	int64_t left_ns = hs_variate_normal_int(&clock->offset_rng, sync->error_ns);
	int64_t correction_ns = clamp((wide)true_ns + left_ns - shown_ns);
	int64_t slew_ns = sync->interval_ns < HS_LAB_SLEW_NS ? sync->interval_ns : HS_LAB_SLEW_NS;
	int64_t most_ns = sync->step_threshold_ns ? sync->step_threshold_ns : HS_LAB_STEP_NS;
	// A slew never takes more than half of the clock's rate, whatever the threshold.
	if (most_ns > slew_ns / 2)
		most_ns = slew_ns / 2;

	clock->polled = true;
	clock->set_ns = 0;
	clock->frequency_ppb = limit_frequency(
			hs_variate_normal_int(&clock->frequency_rng, sync->frequency_error_ppb));
	clock->next_poll_ns = add(true_ns, sync->interval_ns);
	clock->slew_ends_ns = HS_LAB_NEVER_NS;
	clock->correction_ns = correction_ns;
	if (!sync->slew || correction_ns > most_ns || correction_ns < -most_ns) {
		shown_ns = add(shown_ns, correction_ns);
		clock->stepped_ns = add(clock->stepped_ns, correction_ns);
		clock->steps++;
	} else if (correction_ns != 0) {
		clock->slew_ends_ns = add(true_ns, slew_ns);
	}
	begin_segment(clock, true_ns, shown_ns);
}

static void advance(struct hs_lab_clock *clock, int64_t true_ns)
{
	while (clock->segment.end_ns <= true_ns && clock->segment.end_ns != HS_LAB_NEVER_NS) {
		int64_t at_ns = clock->segment.end_ns;
		if (at_ns == clock->next_poll_ns) {
			poll(clock, at_ns);
		} else {
			int64_t shown_ns = shown_at(&clock->segment, at_ns);
			clock->slew_ends_ns = HS_LAB_NEVER_NS;
			begin_segment(clock, at_ns, shown_ns);
		}
	}
	clock->now_ns = true_ns;
}

// Computes bit by bit, because compilers could fuse the multiplications of a sqrt of a sum of
// squares, and results would differ.
static int64_t square_root_up(wide square)
{
	wide root = 0;
	for (wide bit = (wide)1 << 62; bit > 0; bit >>= 1)
		if ((root + bit) * (root + bit) <= square)
			root += bit;
	return (int64_t)(root + (root * root < square));
}

static int64_t bound(const struct hs_lab_sync *sync)
{
	wide drift_ns = (wide)sync->frequency_error_ppb * sync->interval_ns / PPB;
	wide variance = (wide)sync->error_ns * sync->error_ns + drift_ns * drift_ns;
	return square_root_up(9 * variance);
}

int hs_lab_clock_create(const struct hs_lab_clock_config *config, uint64_t seed, int64_t start_ns,
		struct hs_lab_clock **clock)
{
	const struct hs_lab_sync *sync = &config->sync;
	struct hs_lab_clock *c = calloc(1, sizeof(*c));
	if (!c)
		return -ENOMEM;
	struct hs_rng rng;
	hs_rng_init(&rng, seed);
	hs_rng_init(&c->offset_rng, hs_rng_u64(&rng));
	hs_rng_init(&c->frequency_rng, hs_rng_u64(&rng));
	c->sync = *sync;
	c->exact = config->offset_ns == 0 && config->drift_ppb == 0 &&
		   config->drift_sigma_ppb == 0 && sync->interval_ns == 0;
	c->frequency_ppb = limit_frequency((wide)config->drift_ppb +
					   hs_variate_normal_int(&rng, config->drift_sigma_ppb));
	c->free_ppb = c->frequency_ppb;
	c->next_poll_ns = HS_LAB_NEVER_NS;
	if (sync->interval_ns > 0) {
		c->next_poll_ns =
				add(start_ns, sync->first_ns ? sync->first_ns : sync->interval_ns);
		c->bound_ns = bound(sync);
	}
	c->slew_ends_ns = HS_LAB_NEVER_NS;
	c->now_ns = start_ns;
	begin_segment(c, start_ns, add(start_ns, config->offset_ns));
	*clock = c;
	return 0;
}

void hs_lab_clock_destroy(struct hs_lab_clock *clock)
{
	free(clock);
}

int64_t hs_lab_clock_at(struct hs_lab_clock *clock, int64_t true_ns)
{
	advance(clock, true_ns);
	return shown_at(&clock->segment, true_ns);
}

int64_t hs_lab_clock_free_ppb(const struct hs_lab_clock *clock)
{
	return clock->free_ppb;
}

void hs_lab_clock_set(struct hs_lab_clock *clock, int64_t true_ns, int64_t by_ns)
{
	int64_t shown_ns = hs_lab_clock_at(clock, true_ns);

	clock->slew_ends_ns = HS_LAB_NEVER_NS;
	clock->stepped_ns = add(clock->stepped_ns, by_ns);
	clock->set_ns = add(clock->set_ns, by_ns);
	clock->steps++;
	begin_segment(clock, true_ns, add(shown_ns, by_ns));
}

int64_t hs_lab_clock_monotonic(struct hs_lab_clock *clock, int64_t true_ns)
{
	return add(hs_lab_clock_at(clock, true_ns), -clock->stepped_ns);
}

// Returns the smallest t with t + floor(t * num / den) >= target, which is t * (den + num) >=
// target * den.
int64_t hs_lab_clock_when(struct hs_lab_clock *clock, int64_t true_ns, int64_t shown_ns)
{
	if (hs_lab_clock_at(clock, true_ns) >= shown_ns)
		return true_ns;
	const struct segment *segment = &clock->segment;
	if (segment->end_ns != HS_LAB_NEVER_NS && shown_at(segment, segment->end_ns) < shown_ns)
		return segment->end_ns;
	wide target = (wide)shown_ns - segment->shown_ns;
	wide rate = segment->den + segment->num;
	wide t = (target * segment->den + rate - 1) / rate;
	return clamp(segment->true_ns + t);
}

void hs_lab_clock_status(const struct hs_lab_clock *clock, struct hs_lab_clock_status *status)
{
	*status = (struct hs_lab_clock_status){
			.synchronised = (clock->exact || clock->polled) && clock->set_ns == 0,
			.error_ns = clock->polled ? clock->bound_ns : 0,
			.steps = clock->steps,
	};
	if (clock->slew_ends_ns == HS_LAB_NEVER_NS)
		return;
	const struct segment *segment = &clock->segment;
	wide left_ns = (wide)clock->slew_ends_ns - clock->now_ns;
	wide slew_ns = (wide)clock->slew_ends_ns - segment->true_ns;
	wide rest_ns = left_ns * clock->correction_ns / slew_ns;
	status->error_ns = clamp((wide)status->error_ns + (rest_ns < 0 ? -rest_ns : rest_ns));
}

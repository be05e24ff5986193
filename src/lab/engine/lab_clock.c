// SPDX-License-Identifier: BSD-3-Clause
#include "lab_clock.h"

#include "variate.h"

#include <rte_common.h>

#include <math.h>
#include <sys/timex.h>

#define PPB INT64_C(1000000000)

typedef __int128 wide;

static int64_t clamp(wide value)
{
	return (int64_t)RTE_MIN(RTE_MAX(value, (wide)INT64_MIN), (wide)INT64_MAX);
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

static int64_t shown_at(const struct hs_lab_clock_segment *segment, int64_t true_ns)
{
	wide t = (wide)true_ns - segment->true_ns;
	return clamp(segment->shown_ns + t + floor_div(t * segment->num, segment->den));
}

static int64_t limit_frequency(int64_t ppb)
{
	return RTE_MIN(RTE_MAX(ppb, -HS_LAB_MAX_PPB), HS_LAB_MAX_PPB);
}

// Begins a segment at this time, with the present frequency and the present slew.
static void begin_segment(struct hs_lab_clock *clock, int64_t true_ns, int64_t shown_ns)
{
	struct hs_lab_clock_segment *segment = &clock->segment;
	segment->true_ns = true_ns;
	segment->shown_ns = shown_ns;
	segment->num = clock->frequency_ppb;
	segment->den = PPB;
	segment->end_ns = RTE_MIN(clock->next_poll_ns, clock->slew_ends_ns);
	if (clock->slew_ends_ns == INT64_MAX)
		return;
	wide slew_ns = (wide)clock->slew_ends_ns - true_ns;
	segment->num = segment->num * slew_ns + (wide)clock->correction_ns * PPB;
	segment->den *= slew_ns;
}

static void poll(struct hs_lab_clock *clock, int64_t true_ns)
{
	const struct hs_lab_sync *sync = &clock->sync;
	int64_t shown_ns = shown_at(&clock->segment, true_ns);
	int64_t left_ns = hs_variate_normal_int(&clock->offset_rng, sync->error_ns);
	int64_t correction_ns = clamp((wide)true_ns + left_ns - shown_ns);
	int64_t slew_ns = RTE_MIN(sync->interval_ns, HS_LAB_SLEW_NS);
	int64_t most_ns = sync->step_threshold_ns ? sync->step_threshold_ns : HS_LAB_STEP_NS;

	// A slew changes the clock's rate by at most a half, whatever the threshold.
	most_ns = RTE_MIN(most_ns, slew_ns / 2);
	clock->polled = true;
	clock->set_ns = 0;
	clock->frequency_ppb = limit_frequency(
			hs_variate_normal_int(&clock->frequency_rng, sync->frequency_error_ppb));
	clock->next_poll_ns = add(true_ns, sync->interval_ns);
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

static void advance(struct hs_lab_clock *clock)
{
	while (clock->segment.end_ns <= *clock->now_ns) {
		int64_t at_ns = clock->segment.end_ns;
		clock->slew_ends_ns = INT64_MAX;
		if (at_ns == clock->next_poll_ns)
			poll(clock, at_ns);
		else
			begin_segment(clock, at_ns, shown_at(&clock->segment, at_ns));
	}
}

// Returns three standard deviations of the error at the next poll. IEEE rounds all operations here
// exactly, so that all machines agree.
static int64_t bound(const struct hs_lab_sync *sync)
{
	double error_ns = (double)sync->error_ns;
	double drift_ns = (double)((wide)sync->frequency_error_ppb * sync->interval_ns / PPB);

	return (int64_t)ceil(sqrt(9 * (error_ns * error_ns + drift_ns * drift_ns)));
}

void hs_lab_clock_init(struct hs_lab_clock *clock, const struct hs_lab_clock_config *config,
		uint64_t seed, const int64_t *now_ns)
{
	const struct hs_lab_sync *sync = &config->sync;
	int64_t first_ns = sync->first_ns ? sync->first_ns : sync->interval_ns;
	struct hs_rng rng;

	hs_rng_init(&rng, seed);
	*clock = (struct hs_lab_clock){
			.sync = *sync,
			.now_ns = now_ns,
			.start_ns = *now_ns,
			.next_poll_ns = sync->interval_ns ? add(*now_ns, first_ns) : INT64_MAX,
			.slew_ends_ns = INT64_MAX,
			.bound_ns = bound(sync),
	};
	hs_rng_init(&clock->offset_rng, hs_rng_u64(&rng));
	hs_rng_init(&clock->frequency_rng, hs_rng_u64(&rng));
	clock->free_ppb = limit_frequency(
			config->drift_ppb + hs_variate_normal_int(&rng, config->drift_sigma_ppb));
	clock->frequency_ppb = clock->free_ppb;
	begin_segment(clock, *now_ns, add(*now_ns, config->offset_ns));
}

int64_t hs_lab_clock_realtime(void *context)
{
	struct hs_lab_clock *clock = context;

	advance(clock);
	return shown_at(&clock->segment, *clock->now_ns);
}

uint64_t hs_lab_clock_ticks(void *context)
{
	const struct hs_lab_clock *clock = context;
	wide passed_ns = *clock->now_ns - clock->start_ns;

	return (uint64_t)(passed_ns + floor_div(passed_ns * clock->free_ppb, PPB));
}

// Returns the smallest t with t + floor(t * ppb / PPB) >= ticks, which is t * (PPB + ppb) >=
// ticks * PPB.
int64_t hs_lab_clock_ticked(const struct hs_lab_clock *clock, uint64_t ticks)
{
	return clamp(clock->start_ns - floor_div(-(wide)ticks * PPB, PPB + clock->free_ppb));
}

void hs_lab_clock_set(struct hs_lab_clock *clock, int64_t by_ns)
{
	int64_t shown_ns = hs_lab_clock_realtime(clock);

	clock->slew_ends_ns = INT64_MAX;
	clock->stepped_ns = add(clock->stepped_ns, by_ns);
	clock->set_ns = add(clock->set_ns, by_ns);
	clock->steps++;
	begin_segment(clock, *clock->now_ns, add(shown_ns, by_ns));
}

int64_t hs_lab_clock_monotonic(void *context)
{
	struct hs_lab_clock *clock = context;
	int64_t shown_ns = hs_lab_clock_realtime(clock);

	return add(shown_ns, -clock->stepped_ns);
}

bool hs_lab_clock_kernel(void *context, struct hs_clock_kernel *kernel)
{
	struct hs_lab_clock *clock = context;
	advance(clock);
	const struct hs_lab_clock_segment *segment = &clock->segment;
	bool exact = clock->free_ppb == 0 && segment->shown_ns == segment->true_ns;
	bool synchronised =
			clock->sync.interval_ns == 0 ? exact : clock->polled && clock->set_ns == 0;
	wide error_ns = clock->polled ? clock->bound_ns : 0;

	if (clock->slew_ends_ns != INT64_MAX) {
		wide left_ns = (wide)clock->slew_ends_ns - *clock->now_ns;
		wide slew_ns = (wide)clock->slew_ends_ns - segment->true_ns;
		wide rest_ns = left_ns * clock->correction_ns / slew_ns;
		error_ns += rest_ns < 0 ? -rest_ns : rest_ns;
	}
	*kernel = (struct hs_clock_kernel){
			.synchronised = synchronised,
			.maxerror_ns = clamp(error_ns),
			.esterror_ns = clamp(error_ns / 3),
			.status = synchronised ? 0 : STA_UNSYNC,
	};
	return true;
}

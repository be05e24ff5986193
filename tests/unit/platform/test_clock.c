// SPDX-License-Identifier: BSD-3-Clause
#include "clock.h"

#include "log.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>
#include <rte_cycles.h>

#define SECOND INT64_C(1000000000)
#define MS     INT64_C(1000000)
#define EPOCH  (INT64_C(1700000000) * SECOND)

// A machine whose time moves by hand: 2.6 ticks to a nanosecond, each reading a little later.
struct machine {
	int64_t ns;	    // since it was switched on
	int64_t wall_ns;    // what the wall clock is ahead of that
	int64_t reading_ns; // a reading takes this long
	double ticks_per_ns;
	double monotonic_ppm; // NTP's slewing: the system's clocks against the counter's quartz
	int tai_s;
	int64_t slept_ns; // of which the monotonic clock knows nothing
	bool kernel_is_mute;
	bool leaps;
};

static uint64_t ticks(void *context)
{
	struct machine *m = context;

	m->ns += m->reading_ns;
	return (uint64_t)((double)m->ns * m->ticks_per_ns);
}

static int64_t slewed(const struct machine *m)
{
	return m->ns - m->slept_ns + (int64_t)((double)m->ns * m->monotonic_ppm / 1e6);
}

static int64_t realtime(void *context)
{
	const struct machine *m = context;

	return slewed(m) + m->wall_ns;
}

static int64_t monotonic(void *context)
{
	return slewed(context);
}

static int tai_offset(void *context)
{
	return ((struct machine *)context)->tai_s;
}

static bool kernel(void *context, struct hs_clock_kernel *kernel)
{
	if (((struct machine *)context)->kernel_is_mute)
		return false;
	*kernel = (struct hs_clock_kernel){.synchronised = true,
			.offset_ns = -12,
			.esterror_ns = 3000,
			.maxerror_ns = 50000,
			.status = 0x2001};
	return true;
}

static struct hs_clock *switch_on(struct machine *m, enum hs_clock_scale scale)
{
	struct hs_clock_source source = {.ticks = ticks,
			.realtime_ns = realtime,
			.monotonic_ns = monotonic,
			.tai_offset_s = tai_offset,
			.context = m,
			.kernel = kernel};
	struct hs_clock *clock;

	if (m->ticks_per_ns == 0)
		m->ticks_per_ns = 2.6;
	m->reading_ns = 20;
	m->wall_ns = EPOCH;
	assert_int_equal(hs_clock_create_from(&source, scale, &clock), 0);
	return clock;
}

static int64_t ahead(struct machine *m, struct hs_clock *clock)
{
	return hs_clock_now(clock) - realtime(m);
}

#define assert_within(value, limit) assert_in_range((value) + (limit), 0, 2 * (limit))

static void a_manual_clock_stands_until_it_is_set(void **state)
{
	struct hs_clock *clock;
	struct hs_clock_status status;

	(void)state;
	assert_int_equal(hs_clock_create_manual(42, &clock), 0);
	assert_int_equal(hs_clock_now(clock), 42);
	hs_clock_correct(clock);
	assert_int_equal(hs_clock_now(clock), 42);
	hs_clock_set(clock, -7); // virtual time may begin anywhere
	assert_int_equal(hs_clock_now(clock), -7);
	hs_clock_status(clock, &status);
	assert_false(status.known);
	hs_clock_destroy(clock);
	hs_clock_destroy(NULL);
}

static void it_begins_at_the_system_clock_and_keeps_its_rate(void **state)
{
	struct machine m = {0};
	struct hs_clock *clock = switch_on(&m, HS_CLOCK_UTC);

	(void)state;
	assert_within(ahead(&m, clock), 200);
	m.ns += SECOND;
	assert_within(ahead(&m, clock), 5000); // a first guess over 20 ms: microseconds in a second
	for (unsigned i = 0; i < 40; i++) {
		hs_clock_correct(clock);
		m.ns += SECOND;
	}
	assert_within(ahead(&m, clock), 100);
	hs_clock_destroy(clock);
}

static void it_follows_a_system_clock_that_is_slewed(void **state)
{
	struct machine m = {0};
	struct hs_clock *clock = switch_on(&m, HS_CLOCK_UTC);
	struct hs_clock_status status;

	(void)state;
	m.wall_ns -= (int64_t)((double)m.ns * 80 / 1e6); // from here on, not from the beginning
	m.monotonic_ppm = 80;
	for (unsigned i = 0; i < 600; i++) {
		m.ns += SECOND / 10;
		hs_clock_correct(clock);
	}
	assert_within(ahead(&m, clock), 1000);
	hs_clock_status(clock, &status);
	assert_within(status.offset_ns, 1000);
	assert_int_equal(status.steps, 0);
	hs_clock_destroy(clock);
}

static int64_t steady(struct hs_clock *clock)
{
	int64_t stepped_ns, now_ns = hs_clock_read(clock, &stepped_ns);

	return now_ns - stepped_ns;
}

struct told {
	struct hs_clock *clock;
	unsigned times;
	int64_t amount_ns, then_ns;
};

static void note_step(void *context, int64_t amount_ns)
{
	struct told *told = context;

	told->times++;
	told->amount_ns = amount_ns;
	told->then_ns = hs_clock_now(told->clock);
}

static void a_jump_beyond_the_bound_is_followed_at_once_either_way(void **state)
{
	static const int64_t jumps_s[] = {36, -36, 3600, -3600, 2, -2};

	(void)state;
	for (unsigned i = 0; i < sizeof(jumps_s) / sizeof(jumps_s[0]); i++) {
		struct machine m = {0};
		struct hs_clock *clock = switch_on(&m, HS_CLOCK_UTC);
		struct told told = {.clock = clock};
		struct hs_clock_status status;

		hs_clock_on_step(clock, note_step, &told);
		m.wall_ns += jumps_s[i] * SECOND;
		int64_t steady_before = steady(clock), now_before = hs_clock_now(clock);
		hs_clock_correct(clock);
		assert_within(ahead(&m, clock), 1000);
		assert_within(steady(clock) - steady_before, 2000); // timers see nothing of it
		hs_clock_status(clock, &status);
		assert_int_equal(status.steps, 1);
		assert_int_equal(told.times, 1);
		assert_within(told.amount_ns - jumps_s[i] * SECOND, 1000);
		assert_within(told.then_ns - now_before, 2000); // told while the old time held

		// And back again: an hour later nothing of it is left.
		m.wall_ns -= jumps_s[i] * SECOND;
		hs_clock_correct(clock);
		assert_within(ahead(&m, clock), 1000);
		hs_clock_correct(clock);
		hs_clock_status(clock, &status);
		assert_int_equal(status.steps, 2);
		assert_within(status.offset_ns, 1000);
		assert_true(status.synchronised);
		hs_clock_destroy(clock);
	}
}

// Corrections every 100 ms, as control makes them.
static void run_slew(int64_t jump_ns, int64_t bound_ns)
{
	struct machine m = {0};
	struct hs_clock *clock = switch_on(&m, HS_CLOCK_UTC);
	struct hs_clock_status status;

	hs_clock_set_step(clock, bound_ns);
	m.wall_ns += jump_ns;
	hs_clock_correct(clock);
	int64_t last = hs_clock_now(clock), left = ahead(&m, clock);
	for (unsigned i = 0; i < 6000; i++) {
		m.ns += 10 * MS;
		if (i % 10 == 9)
			hs_clock_correct(clock);
		int64_t now = hs_clock_now(clock), is_left = ahead(&m, clock);
		assert_true(now > last);
		assert_true((is_left < 0 ? -is_left : is_left) <= (left < 0 ? -left : left) + 200);
		last = now;
		left = is_left;
	}
	assert_within(left, 10000);
	hs_clock_status(clock, &status);
	assert_int_equal(status.steps, 0);
	hs_clock_destroy(clock);
}

static void an_offset_below_the_bound_is_gone_within_60_s_and_time_runs_on(void **state)
{
	(void)state;
	for (int sign = -1; sign <= 1; sign += 2) {
		run_slew(sign * 500 * MS, SECOND);
		run_slew(sign * SECOND, SECOND); // a leap second
		run_slew(sign * 11 * MS, SECOND);
		run_slew(sign * 10 * SECOND, 10 * SECOND);
		run_slew(sign * 19 * MS, 20 * MS);
	}
}

static void the_bound_is_as_it_was_set(void **state)
{
	struct machine m = {0};
	struct hs_clock *clock = switch_on(&m, HS_CLOCK_UTC);
	struct hs_clock_status status;

	(void)state;
	hs_clock_set_step(clock, 20 * MS);
	m.wall_ns -= 30 * MS;
	hs_clock_correct(clock);
	hs_clock_status(clock, &status);
	assert_int_equal(status.steps, 1);
	assert_within(ahead(&m, clock), 1000);
	hs_clock_destroy(clock);
}

static void a_clock_that_is_being_slewed_is_not_called_synchronised(void **state)
{
	struct machine m = {0};
	struct hs_clock *clock = switch_on(&m, HS_CLOCK_UTC);
	struct hs_clock_status status;

	(void)state;
	m.wall_ns -= 300 * MS;
	hs_clock_correct(clock);
	hs_clock_status(clock, &status);
	assert_true(status.known && !status.synchronised);
	assert_within(status.offset_ns - 300 * MS, 1000);
	assert_within(status.error_ns - 300 * MS - 50000, 1000);
	hs_clock_destroy(clock);
}

static void the_status_repeats_what_the_kernel_says(void **state)
{
	struct machine m = {0};
	struct hs_clock *clock = switch_on(&m, HS_CLOCK_UTC);
	struct hs_clock_status status;

	(void)state;
	hs_clock_correct(clock);
	hs_clock_status(clock, &status);
	assert_true(status.known && status.synchronised);
	assert_int_equal(status.kernel.offset_ns, -12);
	assert_int_equal(status.kernel.esterror_ns, 3000);
	assert_int_equal(status.kernel.maxerror_ns, 50000);
	assert_int_equal(status.kernel.status, 0x2001);
	m.kernel_is_mute = true;
	hs_clock_status(clock, &status);
	assert_false(status.known);
	hs_clock_destroy(clock);
}

static void a_small_jump_is_slewed_at_no_more_than_500_ppm(void **state)
{
	struct machine m = {0};
	struct hs_clock *clock = switch_on(&m, HS_CLOCK_UTC);
	struct hs_clock_status status;
	int64_t before, after;

	(void)state;
	m.wall_ns += 9 * MS;
	hs_clock_correct(clock);
	before = ahead(&m, clock);
	assert_within(before + 9 * MS, 2000);
	m.ns += SECOND;
	after = ahead(&m, clock);
	assert_in_range(after - before, 490000, 510000);
	for (unsigned i = 0; i < 60; i++) {
		hs_clock_correct(clock);
		m.ns += SECOND;
	}
	assert_within(ahead(&m, clock), 1000);
	hs_clock_status(clock, &status);
	assert_int_equal(status.steps, 0);
	hs_clock_destroy(clock);
}

// The counter and the monotonic clock disagree: the machine slept with its counter reset, slept
// with it running, or was moved to hardware whose counter is an hour ahead.
static void a_counter_that_jumps_takes_neither_wall_time_nor_timers_along(void **state)
{
	static const struct {
		int64_t counter_s, slept_s; // what passes on the counter; what of it was sleep
	} jumps[] = {{-5, 0}, {3600, 3600}, {3600, 0}, {100, 50}};

	(void)state;
	for (unsigned i = 0; i < sizeof(jumps) / sizeof(jumps[0]); i++) {
		struct machine m = {.ns = 100 * SECOND};
		struct hs_clock *clock = switch_on(&m, HS_CLOCK_UTC);

		for (unsigned j = 0; j < 300; j++) {
			m.ns += SECOND / 10;
			hs_clock_correct(clock);
		}
		int64_t steady_before = steady(clock);
		// The monotonic clock knows of 0.1 s, the wall clock of the sleep, too.
		m.ns += jumps[i].counter_s * SECOND + SECOND / 10;
		m.slept_ns += jumps[i].counter_s * SECOND;
		m.wall_ns += jumps[i].slept_s * SECOND;
		hs_clock_correct(clock);
		assert_within(ahead(&m, clock), 100000);
		// Where counter and wall clock agree that an hour passed, it did.
		if (jumps[i].counter_s != jumps[i].slept_s)
			assert_within(steady(clock) - steady_before - SECOND / 10, 100000);
		for (unsigned j = 0; j < 600; j++) {
			m.ns += SECOND / 10;
			hs_clock_correct(clock);
		}
		assert_within(ahead(&m, clock), 10000);
		hs_clock_destroy(clock);
	}
}

static void a_counter_that_goes_on_at_another_rate_is_measured_anew(void **state)
{
	struct machine m = {0};
	struct hs_clock *clock = switch_on(&m, HS_CLOCK_UTC);

	(void)state;
	for (unsigned i = 0; i < 100; i++) {
		m.ns += SECOND / 10;
		hs_clock_correct(clock);
	}
	m.ticks_per_ns = 2.9; // moved to other hardware, for good
	for (unsigned i = 0; i < 1000; i++) {
		m.ns += SECOND / 10;
		hs_clock_correct(clock);
	}
	assert_within(ahead(&m, clock), 2000);
	m.ns += SECOND;
	assert_within(ahead(&m, clock), 2000);
	hs_clock_destroy(clock);
}

static void rare_corrections_do_not_overshoot(void **state)
{
	struct machine m = {0};
	struct hs_clock *clock = switch_on(&m, HS_CLOCK_UTC);
	int64_t before = 4 * MS;

	(void)state;
	m.wall_ns -= 4 * MS;
	for (unsigned i = 0; i < 20; i++) {
		int64_t now;

		m.ns += 30 * SECOND;
		hs_clock_correct(clock);
		now = ahead(&m, clock);
		assert_in_range(now + 10000, 0, before + 20000);
		before = now;
	}
	hs_clock_destroy(clock);
}

static void tai_is_utc_plus_the_kernels_offset_and_has_no_leap(void **state)
{
	struct machine m = {.tai_s = 37};
	struct hs_clock *clock = switch_on(&m, HS_CLOCK_TAI);
	struct hs_clock_status status;

	(void)state;
	assert_within(ahead(&m, clock) - 37 * SECOND, 1000);
	m.wall_ns -= SECOND; // a leap second, inserted
	m.tai_s = 38;
	hs_clock_correct(clock);
	assert_within(ahead(&m, clock) - 38 * SECOND, 10000);
	hs_clock_status(clock, &status);
	assert_int_equal(status.steps, 0);
	hs_clock_destroy(clock);
}

static void the_kernels_distance_to_tai_that_comes_late_is_a_step(void **state)
{
	struct machine m = {0};
	struct hs_clock *clock = switch_on(&m, HS_CLOCK_TAI);
	struct hs_clock_status status;

	(void)state;
	assert_within(ahead(&m, clock), 1000);
	m.tai_s = 37; // NTP has learnt it
	hs_clock_correct(clock);
	assert_within(ahead(&m, clock) - 37 * SECOND, 1000);
	hs_clock_status(clock, &status);
	assert_int_equal(status.steps, 1);
	hs_clock_destroy(clock);
}

// The leap comes between the reading of the wall clock and that of its distance to TAI.
static int tai_that_leaps(void *context)
{
	struct machine *m = context;
	int tai_s = m->tai_s;

	if (m->leaps) {
		m->leaps = false;
		m->wall_ns -= SECOND;
		m->tai_s++;
	}
	return tai_s;
}

static void a_reading_across_a_leap_second_is_not_believed(void **state)
{
	struct machine m = {.tai_s = 37, .ticks_per_ns = 2.6, .reading_ns = 20, .wall_ns = EPOCH};
	struct hs_clock_source source = {.ticks = ticks,
			.realtime_ns = realtime,
			.monotonic_ns = monotonic,
			.tai_offset_s = tai_that_leaps,
			.context = &m};
	struct hs_clock *clock;
	struct hs_clock_status status;

	(void)state;
	assert_int_equal(hs_clock_create_from(&source, HS_CLOCK_TAI, &clock), 0);
	m.leaps = true;
	hs_clock_correct(clock);
	hs_clock_status(clock, &status);
	assert_within(status.offset_ns, 1000);
	assert_within(ahead(&m, clock) - 38 * SECOND, 1000);
	hs_clock_destroy(clock);
}

static void an_interrupted_reading_is_not_believed(void **state)
{
	struct machine m = {0};
	struct hs_clock *clock = switch_on(&m, HS_CLOCK_UTC);
	struct hs_clock_status status;

	(void)state;
	m.ns += SECOND;
	hs_clock_correct(clock);
	m.ns += SECOND;
	m.reading_ns = 3 * MS; // all readings are bad: the bracket's middle is all there is
	hs_clock_correct(clock);
	m.reading_ns = 20;
	hs_clock_status(clock, &status);
	assert_within(status.offset_ns, 3 * MS);
	hs_clock_destroy(clock);
}

static void a_machine_that_slept_measures_its_rate_anew(void **state)
{
	struct machine m = {0};
	struct hs_clock *clock = switch_on(&m, HS_CLOCK_UTC);

	(void)state;
	for (unsigned i = 0; i < 20; i++) {
		m.ns += SECOND;
		hs_clock_correct(clock);
	}
	m.ticks_per_ns = 2.7; // the counter jumped while the clocks stood
	for (unsigned i = 0; i < 20; i++)
		hs_clock_correct(clock);
	m.ticks_per_ns = 2.6;
	for (unsigned i = 0; i < 60; i++) {
		m.ns += SECOND;
		hs_clock_correct(clock);
	}
	assert_true(hs_clock_now(clock) >= realtime(&m) - 10 * MS);
	hs_clock_destroy(clock);
}

static void the_machines_own_clock_is_within_a_millisecond_of_the_system(void **state)
{
	struct hs_clock *clock;
	struct timespec ts;
	int64_t before, now;

	(void)state;
	assert_int_equal(hs_clock_create(HS_CLOCK_UTC, &clock), 0);
	hs_clock_correct(clock);
	clock_gettime(CLOCK_REALTIME, &ts);
	before = (int64_t)ts.tv_sec * SECOND + ts.tv_nsec;
	now = hs_clock_now(clock);
	clock_gettime(CLOCK_REALTIME, &ts);
	assert_in_range(now, before - MS, (int64_t)ts.tv_sec * SECOND + ts.tv_nsec + MS);
	hs_clock_destroy(clock);
}

// ---- readers while the clock is corrected as wildly as it can be ----

#define READERS	 2
#define READINGS 3000000

struct reader {
	struct hs_clock *clock;
	atomic_bool *correcting;
	unsigned backwards;
	int64_t last;
};

static void *read_on(void *arg)
{
	struct reader *r = arg;

	for (unsigned i = 0; i < READINGS; i++) {
		int64_t now = hs_clock_now(r->clock);

		r->backwards += now < r->last;
		r->last = now;
	}
	return NULL;
}

static int64_t wild_realtime(void *context)
{
	unsigned *seed = context;
	struct timespec ts;

	// 9 ms to and fro: below the limit for steps, so that it is bent as hard as it goes.
	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * SECOND + ts.tv_nsec + (rand_r(seed) % 2 ? 9 : -9) * MS;
}

static int64_t real_monotonic(void *context)
{
	struct timespec ts;

	(void)context;
	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (int64_t)ts.tv_sec * SECOND + ts.tv_nsec;
}

static uint64_t real_ticks(void *context)
{
	(void)context;
	return rte_rdtsc();
}

static int no_tai(void *context)
{
	(void)context;
	return 0;
}

static void a_reader_never_sees_time_go_back_while_it_is_corrected(void **state)
{
	unsigned seed = 1, corrections = 0;
	struct hs_clock_source source = {.ticks = real_ticks,
			.realtime_ns = wild_realtime,
			.monotonic_ns = real_monotonic,
			.tai_offset_s = no_tai,
			.context = &seed};
	struct reader readers[READERS] = {0};
	pthread_t threads[READERS];
	struct hs_clock *clock;

	(void)state;
	assert_int_equal(hs_clock_create_from(&source, HS_CLOCK_UTC, &clock), 0);
	for (unsigned i = 0; i < READERS; i++) {
		readers[i].clock = clock;
		assert_int_equal(pthread_create(&threads[i], NULL, read_on, &readers[i]), 0);
	}
	while (pthread_tryjoin_np(threads[0], NULL) != 0) {
		hs_clock_correct(clock);
		corrections++;
	}
	for (unsigned i = 1; i < READERS; i++)
		pthread_join(threads[i], NULL);
	assert_true(corrections > 1000);
	for (unsigned i = 0; i < READERS; i++)
		assert_int_equal(readers[i].backwards, 0);
	hs_clock_destroy(clock);
}

static void a_manual_clock_knows_nothing_of_its_error(void **state)
{
	struct hs_clock_status status;
	struct hs_clock *clock;

	(void)state;
	assert_int_equal(hs_clock_create_manual(1000, &clock), 0);
	hs_clock_correct(clock);
	hs_clock_status(clock, &status);
	assert_false(status.known);
	assert_false(status.synchronised);
	assert_int_equal(status.steps, 0);
	assert_int_equal(hs_clock_now(clock), 1000);
	hs_clock_destroy(clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_manual_clock_knows_nothing_of_its_error),
			cmocka_unit_test(a_manual_clock_stands_until_it_is_set),
			cmocka_unit_test(it_begins_at_the_system_clock_and_keeps_its_rate),
			cmocka_unit_test(it_follows_a_system_clock_that_is_slewed),
			cmocka_unit_test(a_jump_beyond_the_bound_is_followed_at_once_either_way),
			cmocka_unit_test(
					an_offset_below_the_bound_is_gone_within_60_s_and_time_runs_on),
			cmocka_unit_test(the_bound_is_as_it_was_set),
			cmocka_unit_test(a_clock_that_is_being_slewed_is_not_called_synchronised),
			cmocka_unit_test(the_status_repeats_what_the_kernel_says),
			cmocka_unit_test(a_small_jump_is_slewed_at_no_more_than_500_ppm),
			cmocka_unit_test(
					a_counter_that_jumps_takes_neither_wall_time_nor_timers_along),
			cmocka_unit_test(a_counter_that_goes_on_at_another_rate_is_measured_anew),
			cmocka_unit_test(the_kernels_distance_to_tai_that_comes_late_is_a_step),
			cmocka_unit_test(a_reading_across_a_leap_second_is_not_believed),
			cmocka_unit_test(rare_corrections_do_not_overshoot),
			cmocka_unit_test(tai_is_utc_plus_the_kernels_offset_and_has_no_leap),
			cmocka_unit_test(an_interrupted_reading_is_not_believed),
			cmocka_unit_test(a_machine_that_slept_measures_its_rate_anew),
			cmocka_unit_test(
					the_machines_own_clock_is_within_a_millisecond_of_the_system),
			cmocka_unit_test(a_reader_never_sees_time_go_back_while_it_is_corrected),
	};

	hs_log_setup(HS_LOG_ERROR, false);
	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}

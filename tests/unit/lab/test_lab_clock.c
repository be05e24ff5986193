// SPDX-License-Identifier: BSD-3-Clause
#include "lab_clock.h"

#include "rng.h"

#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <setjmp.h>
#include <sys/timex.h>
#include <cmocka.h>

#define START INT64_C(1767225600000000000)
#define S     INT64_C(1000000000)
#define MS    INT64_C(1000000)
#define US    INT64_C(1000)

#define TEST cmocka_unit_test

// A clock, and the true time that it reads.
struct timed {
	struct hs_lab_clock clock;
	int64_t now_ns;
};

// Returns a clock that is valid until four more are created.
static struct hs_lab_clock *create(struct hs_lab_clock_config config, uint64_t seed)
{
	static struct timed clocks[4];
	static unsigned created;
	struct timed *timed = &clocks[created++ % 4];
	timed->now_ns = START;
	hs_lab_clock_init(&timed->clock, &config, seed, &timed->now_ns);
	return &timed->clock;
}

#define CLOCK(seed, ...) create((struct hs_lab_clock_config){__VA_ARGS__}, seed)

// Returns a clock that is polled each interval and slews at first by this offset.
static struct hs_lab_clock *slewing(int64_t offset_ns, int64_t interval_ns, int64_t threshold_ns)
{
	return CLOCK(1, .offset_ns = offset_ns,
			.sync = {.interval_ns = interval_ns,
					.slew = true,
					.step_threshold_ns = threshold_ns});
}

static struct hs_lab_clock *at(struct hs_lab_clock *clock, int64_t true_ns)
{
	((struct timed *)clock)->now_ns = true_ns;
	return clock;
}

static int64_t offset_at(struct hs_lab_clock *clock, int64_t after_ns)
{
	return hs_lab_clock_realtime(at(clock, START + after_ns)) - (START + after_ns);
}

static uint64_t steps_at(struct hs_lab_clock *clock, int64_t after_ns)
{
	offset_at(clock, after_ns);
	return clock->steps;
}

static struct hs_clock_kernel kernel_of(struct hs_lab_clock *clock)
{
	struct hs_clock_kernel kernel;
	assert_true(hs_lab_clock_kernel(clock, &kernel));
	assert_int_equal(kernel.esterror_ns, kernel.maxerror_ns / 3);
	assert_int_equal(kernel.status, kernel.synchronised ? 0 : STA_UNSYNC);
	return kernel;
}

static void a_clock_without_errors_shows_the_true_time(void **state)
{
	(void)state;
	struct hs_lab_clock *clock = CLOCK(1, 0);
	for (int64_t t = 0; t < 100 * S; t += 777777777)
		assert_true(offset_at(clock, t) == 0);
	struct hs_clock_kernel kernel = kernel_of(clock);
	assert_true(kernel.synchronised && kernel.maxerror_ns == 0 && clock->steps == 0);
}

static void a_drift_is_linear_to_the_nanosecond(void **state)
{
	(void)state;
	struct hs_lab_clock *fast = CLOCK(1, .offset_ns = 36 * S, .drift_ppb = 15000);
	struct hs_lab_clock *slow = CLOCK(1, .drift_ppb = -1);
	assert_true(offset_at(fast, 0) == 36 * S);
	assert_true(offset_at(fast, S) == 36 * S + 15000);
	assert_true(offset_at(fast, S + 66666) == 36 * S + 15000);
	assert_true(offset_at(fast, S + 66667) == 36 * S + 15001);
	assert_true(offset_at(fast, 3600 * S) == 36 * S + INT64_C(54000000));
	assert_true(offset_at(fast, INT64_C(100) * 365 * 86400 * S) ==
			36 * S + INT64_C(47304000000000));
	assert_true(offset_at(slow, 0) == 0);
	assert_true(offset_at(slow, 1) == -1); // rounded down on both sides of 0
	assert_true(offset_at(slow, S) == -1);
	assert_true(offset_at(slow, S + 1) == -2);
	struct hs_clock_kernel kernel = kernel_of(fast);
	assert_true(!kernel.synchronised && kernel.maxerror_ns == 0);
}

static void the_random_part_of_the_drift_is_drawn_once_for_each_clock(void **state)
{
	(void)state;
	enum {
		CLOCKS = 2000
	};
	double sum = 0.0;
	double squares = 0.0;
	for (uint64_t seed = 0; seed < CLOCKS; seed++) {
		struct hs_lab_clock *clock =
				CLOCK(seed, .drift_ppb = 1000, .drift_sigma_ppb = 15000);
		int64_t drift = offset_at(clock, S);
		assert_true(offset_at(clock, 10 * S) == 10 * drift);
		sum += (double)(drift - 1000);
		squares += (double)(drift - 1000) * (double)(drift - 1000);
	}
	assert_true(fabs(sum / CLOCKS) < 5 * 15000 / sqrt(CLOCKS));
	assert_true(fabs(sqrt(squares / CLOCKS) / 15000 - 1) < 5 / sqrt(2.0 * CLOCKS));
}

static void polls_come_at_the_first_time_and_every_interval_after_it(void **state)
{
	(void)state;
	struct hs_lab_clock_config config = {
			.drift_ppb = 1000, .sync = {.interval_ns = 10 * S, .first_ns = 3 * S}};
	struct hs_lab_clock *clock = create(config, 1);
	assert_true(offset_at(clock, 3 * S - 1000000) == 2999);
	assert_true(!kernel_of(clock).synchronised && clock->steps == 0);
	assert_true(offset_at(clock, 3 * S) == 0);
	assert_true(kernel_of(clock).synchronised && clock->steps == 1);
	assert_int_equal(steps_at(clock, 13 * S - 1), 1);
	assert_int_equal(steps_at(clock, 13 * S), 2);
	assert_int_equal(steps_at(clock, 1003 * S), 101);

	config.sync.first_ns = 0;
	clock = create(config, 1);
	assert_int_equal(steps_at(clock, 10 * S - 1), 0);
	assert_int_equal(steps_at(clock, 10 * S), 1);
}

static const struct hs_lab_clock_config ntp = {
		.offset_ns = 30 * MS,
		.drift_sigma_ppb = 15000,
		.sync = {.interval_ns = 10 * S, .error_ns = 150 * US, .frequency_error_ppb = 8000},
};

// The offset before a poll is the offset after the previous poll plus ten seconds of its frequency.
// So the two errors can be separated.
static void a_poll_leaves_an_offset_and_a_frequency_of_the_given_deviations(void **state)
{
	(void)state;
	enum {
		POLLS = 5000
	};
	struct hs_lab_clock *clock = create(ntp, 5);
	double offsets[3] = {0};
	double frequencies[3] = {0};
	double last = 0.0;
	for (int k = 1; k <= POLLS; k++) {
		double offset = (double)offset_at(clock, k * 10 * S);
		double frequency = ((double)offset_at(clock, (k + 1) * 10 * S - 1) - offset) / 10;
		offsets[0] += offset / POLLS;
		offsets[1] += offset * offset / POLLS;
		offsets[2] += offset * last / POLLS;
		frequencies[0] += frequency / POLLS;
		frequencies[1] += frequency * frequency / POLLS;
		frequencies[2] += frequency * offset / POLLS;
		last = offset;
	}
	double bound = 5 / sqrt(POLLS);
	assert_true(fabs(offsets[0]) < 150000 * bound);
	assert_true(fabs(sqrt(offsets[1]) / 150000 - 1) < bound / sqrt(2));
	assert_true(fabs(offsets[2]) < 150000.0 * 150000.0 * bound);
	assert_true(fabs(frequencies[0]) < 8000 * bound);
	assert_true(fabs(sqrt(frequencies[1]) / 8000 - 1) < bound / sqrt(2));
	assert_true(fabs(frequencies[2]) < 150000.0 * 8000.0 * bound);
	assert_int_equal(clock->steps, POLLS);
}

static void a_slew_works_the_offset_off_at_constant_rate_in_16_seconds(void **state)
{
	(void)state;
	struct hs_lab_clock *clock = slewing(16 * MS, 60 * S, 0);
	assert_true(offset_at(clock, 60 * S) == 16 * MS);
	assert_true(offset_at(clock, 61 * S) == 15 * MS);
	struct hs_clock_kernel kernel = kernel_of(clock);
	assert_true(kernel.synchronised && kernel.maxerror_ns == 15 * MS);
	assert_true(offset_at(clock, 68 * S) == 8 * MS);
	assert_true(offset_at(clock, 76 * S) == 0);
	assert_true(offset_at(clock, 100 * S) == 0);
	assert_true(kernel_of(clock).maxerror_ns == 0 && clock->steps == 0);
}

static void a_slew_takes_no_longer_than_the_interval(void **state)
{
	(void)state;
	struct hs_lab_clock *clock = slewing(-10 * MS, 5 * S, 0);
	assert_true(offset_at(clock, 5 * S) == -10 * MS);
	assert_true(offset_at(clock, 6 * S) == -8 * MS);
	assert_true(offset_at(clock, 10 * S) == 0);
	assert_true(offset_at(clock, 11 * S) == 0);
}

// Slewed and stepped clocks draw the same errors. When the slew has ended, both have the same
// offset, except for the effect of the frequency.
static void a_slewed_clock_ends_where_a_stepped_one_was_put(void **state)
{
	(void)state;
	struct hs_lab_clock_config config = ntp;
	config.sync.interval_ns = 60 * S;
	struct hs_lab_clock *stepped = create(config, 6);
	config.sync.slew = true;
	struct hs_lab_clock *slewed = create(config, 6);
	for (int k = 1; k <= 100; k++) {
		int64_t at_ns = k * 60 * S + 16 * S;
		assert_in_range(offset_at(stepped, at_ns) - offset_at(slewed, at_ns) + 2, 0, 4);
		at_ns += 30 * S;
		assert_in_range(offset_at(stepped, at_ns) - offset_at(slewed, at_ns) + 2, 0, 4);
	}
	assert_int_equal(stepped->steps, 100);
	assert_int_equal(slewed->steps, 0);
}

static void an_error_above_the_threshold_steps_even_a_slewed_clock(void **state)
{
	(void)state;
	struct hs_lab_clock *clock = slewing(36 * S, 10 * S, 0);
	assert_true(offset_at(clock, 10 * S - 1) == 36 * S);
	assert_true(offset_at(clock, 10 * S) == 0);
	assert_int_equal(clock->steps, 1);
	assert_int_equal(steps_at(clock, 50 * S), 1);

	for (int above = 0; above <= 1; above++) {
		clock = slewing(-(HS_LAB_STEP_NS + above), 10 * S, 0);
		assert_int_equal(steps_at(clock, 10 * S), above);
		clock = slewing(20 * MS + above, 10 * S, 20 * MS);
		assert_int_equal(steps_at(clock, 10 * S), above);
	}
}

static void a_slew_never_takes_more_than_half_the_rate_whatever_the_threshold(void **state)
{
	(void)state;
	struct hs_lab_clock *clock = slewing(S / 2 + 1, S, 3600 * S);
	assert_true(offset_at(clock, S) == 0);
	assert_int_equal(clock->steps, 1);
	clock = slewing(S / 2, S, 3600 * S);
	assert_true(offset_at(clock, S) == S / 2);
	assert_true(offset_at(clock, S + S / 2) == S / 4);
	assert_int_equal(clock->steps, 0);
}

static void the_clock_is_the_same_at_whatever_times_it_is_asked(void **state)
{
	(void)state;
	for (int slew = 0; slew <= 1; slew++) {
		struct hs_lab_clock_config config = ntp;
		config.sync.slew = slew;
		struct hs_lab_clock *often = create(config, 7);
		struct hs_lab_clock *seldom = create(config, 7);
		struct hs_lab_clock *other = create(config, 8);
		int64_t shown = 0;
		for (int64_t t = 0; t <= 200 * S; t += 1234567)
			shown = hs_lab_clock_realtime(at(often, START + t));
		int64_t last = START + 200 * S - 200 * S % 1234567;
		assert_true(hs_lab_clock_realtime(at(seldom, last)) == shown);
		assert_true(hs_lab_clock_realtime(at(other, last)) != shown);
		assert_int_equal(seldom->steps, often->steps);
	}
}

static void time_never_goes_back_between_steps(void **state)
{
	(void)state;
	struct hs_lab_clock_config config = {.drift_ppb = -15000,
			.offset_ns = 3,
			.sync = {.interval_ns = 50000,
					.error_ns = 2000,
					.frequency_error_ppb = 90000000,
					.slew = true}};
	struct hs_lab_clock *clock = create(config, 9);
	int64_t last = hs_lab_clock_realtime(at(clock, START));
	uint64_t slower = 0;
	for (int64_t t = 1; t < 2000000; t++) {
		int64_t shown = hs_lab_clock_realtime(at(clock, START + t));
		assert_true(shown >= last);
		slower += shown == last;
		last = shown;
	}
	assert_int_equal(clock->steps, 0);
	assert_true(slower > 1000); // the slew was really slow
}

static void each_count_of_the_oscillator_has_a_first_nanosecond(void **state)
{
	(void)state;
	static const int64_t drifts[] = {0, 1, -1, 15000, -15000, HS_LAB_MAX_PPB, -HS_LAB_MAX_PPB};
	struct hs_rng rng;
	hs_rng_init(&rng, 10);
	for (unsigned i = 0; i < sizeof(drifts) / sizeof(drifts[0]); i++) {
		struct hs_lab_clock_config config = {.drift_ppb = drifts[i], .sync = ntp.sync};
		struct hs_lab_clock *clock = create(config, 1);
		assert_int_equal(hs_lab_clock_ticks(at(clock, START)), 0);
		assert_true(hs_lab_clock_ticks(at(clock, START + 100 * S)) ==
				(uint64_t)(100 * S + 100 * drifts[i]));
		for (int j = 0; j < 300; j++) {
			uint64_t count = 1 + hs_rng_u64(&rng) % (UINT64_C(1) << (10 + j % 50));
			int64_t at_ns = hs_lab_clock_ticked(clock, count);
			assert_true(hs_lab_clock_ticks(at(clock, at_ns)) >= count);
			assert_true(hs_lab_clock_ticks(at(clock, at_ns - 1)) < count);
		}
	}
}

static void the_error_bound_is_three_deviations_at_the_next_poll(void **state)
{
	(void)state;
	static const struct {
		struct hs_lab_sync sync;
		int64_t bound_ns;
	} rows[] = {
			{{.interval_ns = 10 * S, .error_ns = 60 * US, .frequency_error_ppb = 8000},
					300 * US}, // 3 * sqrt(60^2 + 80^2)
			{{.interval_ns = S, .error_ns = 1}, 3},
			{{.interval_ns = S, .error_ns = 1, .frequency_error_ppb = 1},
					5}, // 3 * sqrt(2), rounded up because it is a bound
	};
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct hs_lab_clock *clock = CLOCK(1, .sync = rows[i].sync);
		offset_at(clock, rows[i].sync.interval_ns);
		assert_true(kernel_of(clock).maxerror_ns == rows[i].bound_ns);
	}
}

static void an_hour_with_a_poll_a_second_stays_within_its_errors(void **state)
{
	(void)state;
	for (int slew = 0; slew <= 1; slew++) {
		struct hs_lab_clock_config config = ntp;
		config.drift_ppb = 15000;
		config.drift_sigma_ppb = 0;
		config.sync.interval_ns = S;
		config.sync.slew = slew;
		struct hs_lab_clock *clock = create(config, 11);
		for (int64_t t = 2 * S; t <= 3600 * S; t += 100 * MS)
			assert_in_range(offset_at(clock, t) + MS, 0, 2 * MS);
		assert_int_equal(clock->steps, slew ? 0 : 3600);
	}
}

static void a_clock_that_is_set_runs_on_from_there_until_it_is_polled(void **state)
{
	(void)state;
	struct hs_lab_clock *clock = CLOCK(1, .drift_ppb = 1000, .sync = {.interval_ns = 10 * S});
	offset_at(clock, 10 * S);
	int64_t monotonic = hs_lab_clock_monotonic(at(clock, START + 12 * S));
	hs_lab_clock_set(at(clock, START + 12 * S), -3600 * S);
	assert_true(offset_at(clock, 12 * S) == -3600 * S);
	assert_true(hs_lab_clock_monotonic(at(clock, START + 12 * S)) == monotonic);
	assert_true(hs_lab_clock_monotonic(at(clock, START + 13 * S)) == monotonic + S);
	assert_false(kernel_of(clock).synchronised);
	assert_true(offset_at(clock, 20 * S) == 0);
	assert_true(kernel_of(clock).synchronised);
	assert_int_equal(clock->steps, 3);
	assert_int_equal(hs_lab_clock_ticks(at(clock, START + 20 * S)), 20 * S + 20000);

	clock = CLOCK(1, 0);
	hs_lab_clock_set(at(clock, START + S), 36 * S);
	assert_false(kernel_of(clock).synchronised);
	hs_lab_clock_set(at(clock, START + 2 * S), -36 * S);
	assert_true(kernel_of(clock).synchronised); // unchanged
}

static void an_absurd_frequency_is_cut(void **state)
{
	(void)state;
	struct hs_lab_clock *clock = CLOCK(1, .drift_ppb = INT64_C(-2000000000));
	assert_true(offset_at(clock, 10 * S) == -S);
	clock = CLOCK(1, .drift_ppb = INT64_MAX);
	assert_true(offset_at(clock, 10 * S) == S);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_clock_without_errors_shows_the_true_time),
			TEST(a_drift_is_linear_to_the_nanosecond),
			TEST(the_random_part_of_the_drift_is_drawn_once_for_each_clock),
			TEST(polls_come_at_the_first_time_and_every_interval_after_it),
			TEST(a_poll_leaves_an_offset_and_a_frequency_of_the_given_deviations),
			TEST(a_slew_works_the_offset_off_at_constant_rate_in_16_seconds),
			TEST(a_slew_takes_no_longer_than_the_interval),
			TEST(a_slewed_clock_ends_where_a_stepped_one_was_put),
			TEST(an_error_above_the_threshold_steps_even_a_slewed_clock),
			TEST(a_slew_never_takes_more_than_half_the_rate_whatever_the_threshold),
			TEST(the_clock_is_the_same_at_whatever_times_it_is_asked),
			TEST(time_never_goes_back_between_steps),
			TEST(each_count_of_the_oscillator_has_a_first_nanosecond),
			TEST(the_error_bound_is_three_deviations_at_the_next_poll),
			TEST(an_hour_with_a_poll_a_second_stays_within_its_errors),
			TEST(a_clock_that_is_set_runs_on_from_there_until_it_is_polled),
			TEST(an_absurd_frequency_is_cut),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "link_test.h"

#include <math.h>
#include <stdlib.h>

#define FRAMES 200000

static void a_delay_is_exact(void **state)
{
	(void)state;
	struct hs_link *link = create((struct hs_link_config){.delay_ns = 10 * MS}, 1);
	for (int64_t i = 0; i < 1000; i++)
		assert_true(send(link, i * 100 * US, 562).arrives_ns == i * 100 * US + 10 * MS);
	assert_true(counters_of(link).late == 0);
	hs_link_destroy(link);
}

static void uniform_jitter_takes_every_value_of_its_half_open_range(void **state)
{
	(void)state;
	struct hs_link *link = create((struct hs_link_config){.delay_ns = 100, .jitter_ns = 2}, 2);
	unsigned int seen[4] = {0};
	for (int64_t i = 0; i < 40000; i++) {
		int64_t delay = send(link, i * US, 100).arrives_ns - i * US;
		assert_in_range(delay, 98, 101);
		seen[delay - 98]++;
	}
	for (int i = 0; i < 4; i++) // five standard deviations of 87
		assert_in_range(seen[i], 10000 - 435, 10000 + 435);
	hs_link_destroy(link);
}

static void uniform_jitter_has_its_mean_and_a_mean_difference_of_two_thirds(void **state)
{
	(void)state;
	struct hs_link *link = create(
			(struct hs_link_config){.delay_ns = 10 * MS, .jitter_ns = 2 * MS}, 3);
	double mean = 0.0;
	double differences = 0.0;
	int64_t last = 0;
	for (int64_t i = 0; i < FRAMES; i++) {
		int64_t delay = send(link, i * 100 * US, 562).arrives_ns - i * 100 * US;
		assert_true(delay >= 8 * MS && delay < 12 * MS);
		mean += (double)delay / FRAMES;
		if (i > 0)
			differences += (double)llabs(delay - last) / (FRAMES - 1);
		last = delay;
	}
	// Five standard deviations: J / sqrt(3 n), and 0.47 J / sqrt(n) with its neighbours.
	assert_true(fabs(mean - 10e6) < 13e3);
	assert_true(fabs(differences - 2e6 * 2 / 3) < 13e3);
	assert_true(counters_of(link).late > FRAMES / 10);
	hs_link_destroy(link);
}

static void normal_jitter_has_its_mean_and_deviation(void **state)
{
	(void)state;
	struct hs_link *link = create((struct hs_link_config){.delay_ns = 20 * MS,
						      .jitter_ns = 2 * MS,
						      .distribution = HS_LINK_NORMAL},
			4);
	double mean = 0.0;
	double squares = 0.0;
	int beyond = 0;
	for (int64_t i = 0; i < FRAMES; i++) {
		double d = (double)(send(link, i * S, 562).arrives_ns - i * S - 20 * MS);
		mean += d / FRAMES;
		squares += d * d / FRAMES;
		beyond += fabs(d) > 2 * 1.959964 * MS;
	}
	assert_true(fabs(mean) < 5 * 2e6 / sqrt(FRAMES));
	assert_true(fabs(sqrt(squares) / 2e6 - 1) < 5 / sqrt(2.0 * FRAMES));
	assert_in_range(beyond, 10000 - 490, 10000 + 490);
	hs_link_destroy(link);
}

static void no_jitter_makes_a_delay_negative(void **state)
{
	(void)state;
	for (int normal = 0; normal <= 1; normal++) {
		struct hs_link *link =
				create((struct hs_link_config){.delay_ns = 100,
						       .jitter_ns = 200,
						       .distribution = normal ? HS_LINK_NORMAL
									      : HS_LINK_UNIFORM},
						5);
		int cut = 0;
		for (int64_t i = 0; i < 10000; i++) {
			int64_t delay = send(link, i * US, 100).arrives_ns - i * US;
			assert_true(delay >= 0);
			cut += delay == 0;
		}
		// A quarter of the uniform range; of the normal what is half a deviation below.
		if (normal)
			assert_in_range(cut, 3085 - 235, 3085 + 235);
		else
			assert_in_range(cut, 2500 - 220, 2500 + 220);
		hs_link_destroy(link);
	}
}

static void in_order_holds_a_frame_until_those_before_it_are_there(void **state)
{
	(void)state;
	for (int64_t delay_ms = 1; delay_ms <= 10; delay_ms += 9) {
		struct hs_link_config config = {.delay_ns = delay_ms * MS, .jitter_ns = 2 * MS};
		struct hs_link *unordered = create(config, 6);
		config.in_order = true;
		struct hs_link *ordered = create(config, 6);
		int64_t newest = 0;
		for (int64_t i = 0; i < 10000; i++) {
			int64_t arrives = send(unordered, i * 100 * US, 562).arrives_ns;
			newest = arrives > newest ? arrives : newest;
			assert_true(send(ordered, i * 100 * US, 562).arrives_ns == newest);
		}
		assert_true(counters_of(unordered).late > 0);
		assert_true(counters_of(ordered).late == 0);
		hs_link_destroy(unordered);
		hs_link_destroy(ordered);
	}
}

static void a_frame_that_is_reordered_skips_delay_and_jitter_but_not_the_rate(void **state)
{
	(void)state;
	for (int in_order = 0; in_order <= 1; in_order++) {
		struct hs_link *link = create((struct hs_link_config){.rate_bps = 1000000000,
							      .queue_packets = 1,
							      .delay_ns = 10 * MS,
							      .jitter_ns = MS,
							      .in_order = in_order,
							      .reorder_ratio = 0.25},
				7);
		struct hs_rng rng = generator(7, GEN_REORDER);
		int skipped = 0;
		int64_t newest = 0;
		for (int64_t i = 0; i < 10000; i++) {
			struct hs_link_fate fate = send(link, i * 100 * US, 500);
			int64_t delay = fate.arrives_ns - i * 100 * US;
			if (hit(&rng, 0.25)) {
				assert_true(delay == 4000);
				skipped++;
			} else {
				assert_true(delay >= 9 * MS + 4000);
				assert_true(!in_order || fate.arrives_ns >= newest);
				newest = fate.arrives_ns;
			}
		}
		assert_in_range(skipped, 2500 - 220, 2500 + 220);
		hs_link_destroy(link);
	}
}

// By comparing every frame with every later one.
static uint64_t count_late(const int64_t *arrivals, int n)
{
	uint64_t late = 0;
	for (int i = 0; i < n; i++) {
		bool overtaken = false;
		for (int j = i + 1; j < n && !overtaken; j++)
			overtaken = arrivals[j] < arrivals[i];
		late += overtaken;
	}
	return late;
}

static void late_counts_each_frame_that_a_later_one_overtook_once(void **state)
{
	(void)state;
	enum {
		N = 3000
	};
	static int64_t arrivals[N];
	struct hs_link_config config = {.delay_ns = 10 * MS};
	for (uint64_t seed = 0; seed < 6; seed++) {
		config.jitter_ns = seed % 2 ? 5 * MS : 100 * US;
		config.reorder_ratio = seed % 3 ? 0.0 : 0.1;
		struct hs_link *link = create(config, seed);
		for (int i = 0; i < N; i++) {
			if (i % 500 == 499) { // a shorter way lets frames overtake, too
				struct hs_link_config other = config;
				other.delay_ns = i % 1000 == 499 ? 2 * MS : 10 * MS;
				other.jitter_ns = i % 1000 == 499 ? 0 : config.jitter_ns;
				hs_link_change(link, &other);
			}
			arrivals[i] = send(link, i * 100 * US, 562).arrives_ns;
		}
		uint64_t late = count_late(arrivals, N);
		assert_true(late > 0);
		assert_true(counters_of(link).late == late);
		hs_link_destroy(link);
	}
}

static void frames_that_arrive_together_are_not_late(void **state)
{
	(void)state;
	struct hs_link_config config = {.delay_ns = 10};
	struct hs_link *link = create(config, 1);
	send(link, 0, 100);
	config.delay_ns = 5;
	hs_link_change(link, &config);
	send(link, 5, 100);
	assert_true(counters_of(link).late == 0);
	send(link, 5, 100);
	config.delay_ns = 4;
	hs_link_change(link, &config);
	send(link, 5, 100);
	assert_true(counters_of(link).late == 3);
	hs_link_destroy(link);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_delay_is_exact),
			cmocka_unit_test(uniform_jitter_takes_every_value_of_its_half_open_range),
			cmocka_unit_test(
					uniform_jitter_has_its_mean_and_a_mean_difference_of_two_thirds),
			cmocka_unit_test(normal_jitter_has_its_mean_and_deviation),
			cmocka_unit_test(no_jitter_makes_a_delay_negative),
			cmocka_unit_test(in_order_holds_a_frame_until_those_before_it_are_there),
			cmocka_unit_test(
					a_frame_that_is_reordered_skips_delay_and_jitter_but_not_the_rate),
			cmocka_unit_test(late_counts_each_frame_that_a_later_one_overtook_once),
			cmocka_unit_test(frames_that_arrive_together_are_not_late),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

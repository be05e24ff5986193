// SPDX-License-Identifier: BSD-3-Clause
#include "bench_stats.h"

#include "bench_fixture.h"

static struct hs_bench_summary of(const double *values, unsigned n)
{
	struct hs_bench_samples samples = {0};

	for (unsigned i = 0; i < n; i++)
		hs_bench_samples_add(&samples, values[i]);
	return hs_bench_samples_summary(&samples);
}

static void the_median_of_an_odd_number_is_the_middle_one(void **state)
{
	const double values[] = {9, 1, 5};
	struct hs_bench_summary s = of(values, 3);

	(void)state;
	assert_true(s.median == 5 && s.min == 1 && s.max == 9);
}

static void the_median_of_an_even_number_is_between_the_middle_two(void **state)
{
	const double values[] = {8, 1, 4, 100};
	struct hs_bench_summary s = of(values, 4);

	(void)state;
	assert_true(s.median == 6 && s.min == 1 && s.max == 100);
}

static void one_sample_is_all_three(void **state)
{
	const double value = 3.5;
	struct hs_bench_summary s = of(&value, 1);

	(void)state;
	assert_true(s.median == 3.5 && s.min == 3.5 && s.max == 3.5);
}

static void no_sample_is_zero(void **state)
{
	struct hs_bench_summary s = of(NULL, 0);

	(void)state;
	assert_true(s.median == 0 && s.min == 0 && s.max == 0);
}

static void samples_beyond_the_maximum_are_left_out(void **state)
{
	struct hs_bench_samples samples = {0};

	(void)state;
	for (unsigned i = 0; i < HS_BENCH_MAX_ROUNDS; i++)
		hs_bench_samples_add(&samples, 1);
	hs_bench_samples_add(&samples, 1000);
	assert_int_equal(samples.n, HS_BENCH_MAX_ROUNDS);
	assert_true(hs_bench_samples_summary(&samples).max == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_median_of_an_odd_number_is_the_middle_one),
			cmocka_unit_test(the_median_of_an_even_number_is_between_the_middle_two),
			cmocka_unit_test(one_sample_is_all_three),
			cmocka_unit_test(no_sample_is_zero),
			cmocka_unit_test(samples_beyond_the_maximum_are_left_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

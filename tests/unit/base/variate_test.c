// SPDX-License-Identifier: BSD-3-Clause
#include "variate.h"

#include <stdarg.h>
#include <stddef.h>
#include <math.h>
#include <setjmp.h>
#include <stdlib.h>
#include <cmocka.h>

#define DRAWS 200000

static void the_first_draws_of_seed_1_are_these_to_the_last_bit(void **state)
{
	(void)state;
	static const uint64_t BELOW[10] = {294046, 843291, 371413, 231147, 859043, 2048, 125953,
			587615, 898884, 72659};
	static const double UNIT[10] = {0x1.2d1a9577cd846p-2, 0x1.afc3e2821cec7p-1,
			0x1.7c53b19a5d7e6p-2, 0x1.d963a7d6a26b4p-3, 0x1.b7d481ac0ec1fp-1,
			0x1.0c8b950e5c1p-9, 0x1.01f3f060b7454p-3, 0x1.2cdbe950238a7p-1,
			0x1.cc3aa6d53576dp-1, 0x1.299cecdbdfa08p-4};
	static const double EXPONENTIAL[10] = {0x1.87af70bd6a28bp+2, 0x1.b4555e2b20344p-1,
			0x1.3cf0e483bcee2p+2, 0x1.d4b44cf154a78p+2, 0x1.84f4d7cf99434p-1,
			0x1.ef3d15c30434p+4, 0x1.4b7ea6432f74ap+3, 0x1.5446e97bc3bc1p+1,
			0x1.10e581871557fp-1, 0x1.a383fb68525c2p+3};
	static const double NORMAL[10] = {-0x1.f0c6f757d0967p-2, -0x1.3dd20f316b1bbp-1,
			-0x1.ffcf5912d1d2dp-1, 0x1.c7b03c86632c6p+0, -0x1.dcb820ddbddfbp-6,
			-0x1.041005632decp+0, -0x1.77b7397d2822dp-1, 0x1.ad2e6b0fb3af3p-1,
			-0x1.b344fe9834f4bp+0, -0x1.a6409a2bd837ep+0};
	static const int64_t NORMAL_INT[10] = {-72770, -93111, -149944, 267005, -4364, -152380,
			-110073, 125737, -255041, -247413};
	static const bool CHANCE[10] = {1, 0, 1, 1, 0, 1, 1, 0, 0, 1};
	struct hs_rng rng[6];
	for (int i = 0; i < 6; i++)
		hs_rng_init(&rng[i], 1);
	for (int i = 0; i < 10; i++) {
		assert_true(hs_variate_below(&rng[0], 1000000) == BELOW[i]);
		assert_true(hs_variate_unit(&rng[1]) == UNIT[i]);
		assert_true(hs_variate_exponential(&rng[2], 5.0) == EXPONENTIAL[i]);
		assert_true(hs_variate_normal(&rng[3]) == NORMAL[i]);
		assert_true(hs_variate_normal_int(&rng[4], 150000) == NORMAL_INT[i]);
		assert_true(hs_variate_chance(&rng[5], 0.5) == CHANCE[i]);
	}
}

// Correctly rounded values, from 60 decimal digits.
static void the_logarithm_is_within_two_units_of_the_last_place(void **state)
{
	(void)state;
	static const struct {
		double x, log;
	} KNOWN[] = {
			{0x1p-1074, -0x1.74385446d71c3p+9},
			{0x1p-1022, -0x1.6232bdd7abcd2p+9},
			{0x1p-53, -0x1.25e4f7b2737fap+5},
			{0.1, -0x1.26bb1bbb55515p+1},
			{0.5, -0x1.62e42fefa39efp-1},
			{0x1.6a09e667f3bccp-1, -0x1.62e42fefa39f1p-2},
			{0x1.6a09e667f3bcdp-1, -0x1.62e42fefa39eep-2},
			{0x1.fffffffffffffp-1, -0x1p-53},
			{0x1.0000000000001p+0, 0x1.fffffffffffffp-53},
			{2.0, 0x1.62e42fefa39efp-1},
			{3.0, 0x1.193ea7aad030bp+0},
			{10.0, 0x1.26bb1bbb55516p+1},
			{0x1.fffffffffffffp+1023, 0x1.62e42fefa39efp+9},
	};
	for (size_t i = 0; i < sizeof(KNOWN) / sizeof(*KNOWN); i++) {
		double unit = nextafter(fabs(KNOWN[i].log), INFINITY) - fabs(KNOWN[i].log);
		assert_true(fabs(hs_variate_log(KNOWN[i].x) - KNOWN[i].log) <= 2 * unit);
	}
	assert_true(hs_variate_log(1.0) == 0.0);
}

// libm's log is within one unit itself.
static void the_logarithm_agrees_with_libm_over_all_magnitudes(void **state)
{
	(void)state;
	struct hs_rng rng;
	hs_rng_init(&rng, 3);
	for (int i = 0; i < DRAWS; i++) {
		double x = hs_variate_unit(&rng);
		if (i % 2)
			x = ldexp(x, (int)hs_variate_below(&rng, 2000) - 1000);
		double expected = log(x);
		double unit = nextafter(fabs(expected), INFINITY) - fabs(expected);
		assert_true(fabs(hs_variate_log(x) - expected) <= 3 * unit);
	}
}

static void below_gives_every_value_equally_often(void **state)
{
	(void)state;
	unsigned int seen[7] = {0};
	struct hs_rng rng;
	hs_rng_init(&rng, 11);
	for (int i = 0; i < 70000; i++)
		seen[hs_variate_below(&rng, 7)]++;
	for (int i = 0; i < 7; i++) // five standard deviations of 93
		assert_in_range(seen[i], 10000 - 465, 10000 + 465);
	for (int i = 0; i < 100; i++)
		assert_true(hs_variate_below(&rng, 1) == 0);
}

// Of three quarters of 2^64 the plain multiplication would give every third value twice as often.
static void below_has_no_bias_where_the_bound_does_not_divide_the_draws(void **state)
{
	(void)state;
	unsigned int thirds[3] = {0};
	struct hs_rng rng;
	hs_rng_init(&rng, 12);
	for (int i = 0; i < 30000; i++) {
		uint64_t draw = hs_variate_below(&rng, UINT64_C(3) << 62);
		assert_true(draw < UINT64_C(3) << 62);
		thirds[draw % 3]++;
	}
	for (int i = 0; i < 3; i++) // five standard deviations of 82
		assert_in_range(thirds[i], 10000 - 410, 10000 + 410);
}

static void a_chance_of_zero_never_comes_and_of_one_always(void **state)
{
	(void)state;
	struct hs_rng rng;
	struct hs_rng count;
	unsigned int hits = 0;
	hs_rng_init(&rng, 13);
	count = rng;
	for (int i = 0; i < DRAWS; i++) {
		assert_false(hs_variate_chance(&rng, 0.0));
		assert_false(hs_variate_chance(&rng, -1.0));
		assert_true(hs_variate_chance(&rng, 1.0));
		assert_true(hs_variate_chance(&rng, 1.5));
		hits += hs_variate_chance(&rng, 0.03);
	}
	assert_in_range(hits, 6000 - 380, 6000 + 380); // five standard deviations of 76
	for (int i = 0; i < 5 * DRAWS; i++)
		hs_rng_u64(&count);
	assert_true(count.state == rng.state); // one draw for each question
}

// A generator with this state gives this word next: xorshift undone, the multiplier's inverse
// found by Newton's iteration.
static struct hs_rng rng_before(uint64_t word)
{
	uint64_t inverse = 1;
	for (int i = 0; i < 6; i++)
		inverse *= 2 - 0x2545f4914f6cdd1du * inverse;
	uint64_t x = word * inverse;
	x ^= x >> 27 ^ x >> 54;
	x ^= x << 25 ^ x << 50;
	uint64_t y = x;
	for (int i = 0; i < 6; i++)
		y = x ^ y >> 12;
	return (struct hs_rng){.state = y};
}

static void the_unit_interval_has_neither_end(void **state)
{
	(void)state;
	struct hs_rng low = rng_before(4095);
	struct hs_rng high = rng_before(UINT64_MAX);
	assert_true(hs_variate_unit(&low) == 0x1p-53);
	assert_true(hs_variate_unit(&high) == 1.0 - 0x1p-53);
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;
	return (x > y) - (x < y);
}

// Kolmogorov and Smirnov: the largest distance between the sample's distribution and the true one
// is above 2 / sqrt(n) once in 1500 samples.
static void assert_distributed(double *sample, double (*below)(double))
{
	double worst = 0.0;
	qsort(sample, DRAWS, sizeof(*sample), compare);
	for (int i = 0; i < DRAWS; i++) {
		double p = below(sample[i]);
		worst = fmax(worst, fmax(fabs(p - (double)i / DRAWS),
						    fabs((double)(i + 1) / DRAWS - p)));
	}
	assert_true(worst < 2.0 / sqrt(DRAWS));
}

static void moments(const double *sample, double m[4])
{
	for (int k = 0; k < 4; k++) {
		m[k] = 0.0;
		for (int i = 0; i < DRAWS; i++)
			m[k] += pow(sample[i], k + 1) / DRAWS;
	}
}

static double below_uniform(double x)
{
	return x;
}

static double below_exponential(double x)
{
	return 1.0 - exp(-x / 5.0);
}

static double below_normal(double x)
{
	return 0.5 * erfc(-x / sqrt(2.0));
}

static double sample[DRAWS];

static void unit_is_uniform(void **state)
{
	(void)state;
	struct hs_rng rng;
	hs_rng_init(&rng, 14);
	for (int i = 0; i < DRAWS; i++)
		sample[i] = hs_variate_unit(&rng);
	double m[4];
	moments(sample, m);
	assert_true(fabs(m[0] - 1.0 / 2) < 0.0033 && fabs(m[1] - 1.0 / 3) < 0.0034);
	assert_distributed(sample, below_uniform);
}

static void exponential_has_its_mean_and_its_quantiles(void **state)
{
	(void)state;
	struct hs_rng rng;
	hs_rng_init(&rng, 15);
	for (int i = 0; i < DRAWS; i++)
		sample[i] = hs_variate_exponential(&rng, 5.0);
	double m[4];
	moments(sample, m); // mean 5, mean square 50; five standard deviations
	assert_true(fabs(m[0] - 5.0) < 0.056 && fabs(m[1] - 50.0) < 1.25);
	assert_distributed(sample, below_exponential);
}

static void normal_has_its_moments_and_its_quantiles(void **state)
{
	(void)state;
	struct hs_rng rng;
	hs_rng_init(&rng, 16);
	for (int i = 0; i < DRAWS; i++)
		sample[i] = hs_variate_normal(&rng);
	double m[4];
	moments(sample, m); // 0, 1, 0, 3 with standard deviations sqrt(1, 2, 15, 96 / n)
	assert_true(fabs(m[0]) < 0.0112 && fabs(m[1] - 1.0) < 0.0158);
	assert_true(fabs(m[2]) < 0.0433 && fabs(m[3] - 3.0) < 0.11);
	assert_distributed(sample, below_normal);
	assert_true(sample[0] < -4.0 && sample[DRAWS - 1] > 4.0); // the tails are there
}

static void an_integer_normal_is_rounded_to_the_nearest_on_both_sides(void **state)
{
	(void)state;
	struct hs_rng real;
	struct hs_rng whole;
	hs_rng_init(&real, 17);
	whole = real;
	for (int i = 0; i < 1000; i++) {
		double x = hs_variate_normal(&real) * 10.0;
		assert_true(fabs(x - (double)hs_variate_normal_int(&whole, 10)) <= 0.5);
	}
	assert_true(hs_variate_normal_int(&whole, 0) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_first_draws_of_seed_1_are_these_to_the_last_bit),
			cmocka_unit_test(the_logarithm_is_within_two_units_of_the_last_place),
			cmocka_unit_test(the_logarithm_agrees_with_libm_over_all_magnitudes),
			cmocka_unit_test(below_gives_every_value_equally_often),
			cmocka_unit_test(
					below_has_no_bias_where_the_bound_does_not_divide_the_draws),
			cmocka_unit_test(a_chance_of_zero_never_comes_and_of_one_always),
			cmocka_unit_test(the_unit_interval_has_neither_end),
			cmocka_unit_test(unit_is_uniform),
			cmocka_unit_test(exponential_has_its_mean_and_its_quantiles),
			cmocka_unit_test(normal_has_its_moments_and_its_quantiles),
			cmocka_unit_test(an_integer_normal_is_rounded_to_the_nearest_on_both_sides),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

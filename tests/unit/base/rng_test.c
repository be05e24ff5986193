// SPDX-License-Identifier: BSD-3-Clause
#include "rng.h"

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>

// The first output of splitmix64 for seed 0 is published with the algorithm (Vigna,
// prng.di.unimi.it/splitmix64.c); the draws are computed by hand from xorshift64*'s definition.
static void the_sequence_of_a_seed_is_that_of_the_definition(void **state)
{
	(void)state;
	struct hs_rng rng;
	hs_rng_init(&rng, 0);
	assert_true(rng.state == 0xe220a8397b1dcdaf);
	assert_true(hs_rng_u64(&rng) == 0x7bbcb40d550682d0);
	assert_true(hs_rng_u64(&rng) == 0xde7fe413d00cc9fd);
	assert_true(hs_rng_u64(&rng) == 0xb3c638353c668c91);
}

static void the_same_seed_gives_the_same_sequence_and_another_does_not(void **state)
{
	(void)state;
	struct hs_rng a;
	struct hs_rng b;
	struct hs_rng c;
	hs_rng_init(&a, 1);
	hs_rng_init(&b, 1);
	hs_rng_init(&c, 2);
	unsigned int differ = 0;
	for (int i = 0; i < 1000; i++) {
		uint64_t v = hs_rng_u64(&a);
		assert_true(v == hs_rng_u64(&b));
		differ += v != hs_rng_u64(&c);
	}
	assert_int_equal(differ, 1000);
}

// The generator would stand still at zero; this seed is what splitmix64 maps there.
static void no_seed_leaves_the_state_zero(void **state)
{
	(void)state;
	struct hs_rng rng;
	hs_rng_init(&rng, -0x9e3779b97f4a7c15u);
	assert_true(rng.state != 0);
	assert_true(hs_rng_u64(&rng) != hs_rng_u64(&rng));
}

static void half_of_all_bits_are_set(void **state)
{
	(void)state;
	enum {
		DRAWS = 10000
	};
	struct hs_rng rng;
	unsigned int set[32] = {0};
	hs_rng_init(&rng, 7);
	for (int i = 0; i < DRAWS; i++) {
		uint32_t v = hs_rng_u32(&rng);
		for (int bit = 0; bit < 32; bit++)
			set[bit] += v >> bit & 1;
	}
	for (int bit = 0; bit < 32; bit++) // five standard deviations of 50
		assert_in_range(set[bit], DRAWS / 2 - 250, DRAWS / 2 + 250);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_sequence_of_a_seed_is_that_of_the_definition),
			cmocka_unit_test(
					the_same_seed_gives_the_same_sequence_and_another_does_not),
			cmocka_unit_test(no_seed_leaves_the_state_zero),
			cmocka_unit_test(half_of_all_bits_are_set),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
// Which links traffic avoids: when it leaves a link, when it comes back, and how often at most.
#include "gpint_damping.h"

#include "gpint_prober.h"
#include "rng.h"

// clang-format off: cmocka wants these before it
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#define SECOND INT64_C(1000000000)

#define GOOD HS_GPINT_AVAILABLE
#define BUSY HS_GPINT_CONGESTED
#define DEAD HS_GPINT_UNAVAILABLE
#define NONE HS_GPINT_UNKNOWN

static struct hs_gpint_damping health;
static int64_t now_ns;

static int setup(void **state)
{
	static const struct hs_gpint_damping_config config = {
			.bad_sessions = 2,
			.hold_ns = 10 * SECOND,
			.max_hold_ns = 100 * SECOND,
			.changes = 5,
	};

	(void)state;
	now_ns = 0;
	return hs_gpint_damping_init(&health, &config, 2);
}

static int teardown(void **state)
{
	(void)state;
	hs_gpint_damping_fini(&health);
	return 0;
}

// A session each second. Returns how the first link is used; the second one is always good.
static enum hs_gpint_use take(enum hs_gpint_state state)
{
	const uint8_t states[] = {(uint8_t)state, GOOD};

	now_ns += SECOND;
	hs_gpint_damping_take(&health, now_ns, states);
	assert_int_equal(health.links[1].use, HS_GPINT_USED);
	return health.links[0].use;
}

// Returns after how many good sessions the link is used again.
static unsigned sessions_until_used(void)
{
	unsigned n = 1;

	while (take(GOOD) != HS_GPINT_USED)
		n++;
	return n;
}

static void fail_twice(void)
{
	take(DEAD);
	assert_int_equal(take(DEAD), HS_GPINT_AVOIDED);
}

static void a_link_is_left_after_two_bad_sessions_and_not_before(void **state)
{
	(void)state;
	assert_int_equal(take(GOOD), HS_GPINT_USED);
	assert_int_equal(take(DEAD), HS_GPINT_USED);
	assert_int_equal(take(GOOD), HS_GPINT_USED);
	assert_int_equal(take(DEAD), HS_GPINT_USED);
	assert_int_equal(take(DEAD), HS_GPINT_AVOIDED);
	assert_true(health.links[0].changed);
	assert_int_equal(take(DEAD), HS_GPINT_AVOIDED);
	assert_false(health.links[0].changed);
	assert_int_equal(health.changes, 1);
}

static void a_session_that_says_nothing_of_a_link_does_not_count(void **state)
{
	(void)state;
	assert_int_equal(take(DEAD), HS_GPINT_USED);
	assert_int_equal(take(NONE), HS_GPINT_USED);
	assert_int_equal(take(DEAD), HS_GPINT_AVOIDED);
}

static void a_congested_link_is_a_spare_until_it_is_unavailable(void **state)
{
	(void)state;
	assert_int_equal(take(BUSY), HS_GPINT_USED);
	assert_int_equal(take(DEAD), HS_GPINT_SPARE); // bad twice, unavailable once
	assert_int_equal(take(BUSY), HS_GPINT_SPARE);
	assert_int_equal(take(DEAD), HS_GPINT_SPARE);
	assert_int_equal(take(DEAD), HS_GPINT_AVOIDED);
	assert_int_equal(take(BUSY), HS_GPINT_AVOIDED);
	assert_int_equal(sessions_until_used(), 11);
}

static void it_comes_back_after_a_time_without_a_bad_session(void **state)
{
	(void)state;
	fail_twice();
	for (unsigned i = 0; i < 9; i++)
		assert_int_equal(take(GOOD), HS_GPINT_AVOIDED);
	assert_int_equal(take(BUSY), HS_GPINT_AVOIDED);
	// The time begins again with the first good session.
	assert_int_equal(sessions_until_used(), 11);
}

static void the_time_doubles_for_a_link_that_fails_again_soon(void **state)
{
	static const unsigned sessions[] = {11, 21, 41, 81, 101, 101};

	(void)state;
	for (unsigned i = 0; i < sizeof(sessions) / sizeof(sessions[0]); i++) {
		fail_twice();
		assert_int_equal(sessions_until_used(), sessions[i]);
	}
	for (unsigned i = 0; i < 100; i++)
		take(GOOD);
	fail_twice(); // late
	assert_int_equal(sessions_until_used(), 11);
}

// Up and down in turn, for all lengths of both: the number of changes is bounded by the times that
// double, and not by how often the link changes.
static void a_link_that_is_up_and_down_in_turn_changes_little(void **state)
{
	(void)state;
	for (unsigned down = 1; down <= 20; down++) {
		for (unsigned up = 1; up <= 20; up++) {
			teardown(NULL);
			setup(NULL);
			for (unsigned i = 0; i < 3600; i++)
				take(i % (down + up) < down ? DEAD : GOOD);
			// Up for ten seconds at least, then for twenty: the third time is longer.
			unsigned most = down == 1 ? 0 : up < 11 ? 1 : 3;
			if (up < 20)
				assert_in_range(health.changes, down > 1, most);
		}
	}
}

static void sessions_that_change_something_are_limited(void **state)
{
	struct hs_rng rng;
	int64_t changes_ns[4000];
	unsigned n = 0;

	(void)state;
	teardown(NULL);
	const struct hs_gpint_damping_config config = {
			.bad_sessions = 1, .hold_ns = 0, .max_hold_ns = 0, .changes = 5};
	hs_gpint_damping_init(&health, &config, 2);
	hs_rng_init(&rng, 7);
	for (unsigned i = 0; i < 4000; i++) {
		const uint8_t states[] = {hs_rng_u32(&rng) & 1 ? DEAD : GOOD, GOOD};
		now_ns += SECOND;
		if (hs_gpint_damping_take(&health, now_ns, states))
			changes_ns[n++] = now_ns;
	}
	assert_int_equal(health.changes, n);
	assert_true(health.held > 100);
	assert_in_range(n, 300, 4000 / 60 * 5 + 5);
	for (unsigned i = 5; i < n; i++)
		assert_true(changes_ns[i] - changes_ns[i - 5] >= 60 * SECOND);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_link_is_left_after_two_bad_sessions_and_not_before),
			TEST(a_session_that_says_nothing_of_a_link_does_not_count),
			TEST(a_congested_link_is_a_spare_until_it_is_unavailable),
			TEST(it_comes_back_after_a_time_without_a_bad_session),
			TEST(the_time_doubles_for_a_link_that_fails_again_soon),
			TEST(a_link_that_is_up_and_down_in_turn_changes_little),
			TEST(sessions_that_change_something_are_limited),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

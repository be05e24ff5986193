// SPDX-License-Identifier: BSD-3-Clause
#include "qos_test.h"
#include "round_trip.h"

#include "rng.h"

#include <errno.h>

#define N 2000

// A ping from one side, answered at once by the other, whose clock is off by offset_ns.
static int64_t make_pings(
		struct hs_trip *up, struct hs_trip *down, int64_t offset_ns, uint64_t seed)
{
	struct hs_rng rng;
	int64_t sum = 0;
	hs_rng_init(&rng, seed);
	for (int64_t i = 0; i < N; i++) {
		int64_t there = 2 * MS + hs_rng_u32(&rng) % 1000000;
		int64_t back = 3 * MS + hs_rng_u32(&rng) % 1000000;
		int64_t answer = 20 * US;
		int64_t sent = T0 + i * 10 * MS;
		up[i] = (struct hs_trip){sent, sent + there + offset_ns};
		down[i] = (struct hs_trip){
				sent + there + answer + offset_ns, sent + there + answer + back};
		sum += there + back;
	}
	return sum / N;
}

static void the_round_trip_is_right_whatever_the_clocks_say(void **state)
{
	(void)state;
	static const int64_t offsets[] = {0, 36 * SECOND, -36 * SECOND, 5 * MS, 200 * US};
	static struct hs_trip up[N], down[N];
	for (unsigned i = 0; i < 5; i++) {
		struct hs_round_trip result;
		int64_t mean = make_pings(up, down, offsets[i], i + 1);
		assert_int_equal(hs_round_trip(up, N, down, N, SECOND, &result), 0);
		assert_int_equal(result.pairs, N);
		assert_true(llabs(result.mean_ns - mean) <= 1);
		assert_true(result.min_ns >= 5 * MS && result.max_ns < 7 * MS);
		assert_true(result.p50_ns > 5900 * US && result.p50_ns < 6100 * US);
		assert_true(result.p99_ns > result.p50_ns && result.p99_ns <= result.max_ns);
		assert_int_equal(result.clocks_differ, llabs(offsets[i]) > 4 * MS);
	}
}

static void pairs_are_made_by_the_far_clock_not_by_order_of_arrival(void **state)
{
	(void)state;
	// Two up trips; the answer left between their arrivals, so it pairs with the first.
	struct hs_trip up[] = {{100 * MS, 120 * MS}, {0, 10 * MS}};
	struct hs_trip down[] = {{60 * MS, 75 * MS}};
	struct hs_round_trip result;
	assert_int_equal(hs_round_trip(up, 2, down, 1, SECOND, &result), 0);
	assert_int_equal(result.pairs, 1);
	assert_int_equal(result.mean_ns, 25 * MS); // 75 - 0 - (60 - 10)
}

static void trips_too_far_apart_do_not_pair(void **state)
{
	(void)state;
	struct hs_trip up[] = {{0, 10 * MS}};
	struct hs_trip down[] = {{5 * SECOND, 5 * SECOND + 10 * MS}, {5 * MS, 15 * MS}};
	struct hs_round_trip result;
	assert_int_equal(hs_round_trip(up, 1, down, 2, SECOND, &result), -ENODATA);
	assert_int_equal(hs_round_trip(up, 0, down, 2, SECOND, &result), -ENODATA);
}

static void a_trip_is_the_two_ends_of_a_report(void **state)
{
	(void)state;
	struct hs_report report = plain_report(10, MS, 0, NULL);
	struct hs_trip trip;
	assert_true(hs_trip_of(&report, &trip));
	assert_int_equal(trip.source_ns, T0 + 10 * MS);
	assert_int_equal(trip.sink_ns, T0 + 11 * MS);
	report.telemetry.e2e.bitmap = HS_E2E_TX_PACKETS;
	assert_false(hs_trip_of(&report, &trip));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_round_trip_is_right_whatever_the_clocks_say),
			cmocka_unit_test(pairs_are_made_by_the_far_clock_not_by_order_of_arrival),
			cmocka_unit_test(trips_too_far_apart_do_not_pair),
			cmocka_unit_test(a_trip_is_the_two_ends_of_a_report),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

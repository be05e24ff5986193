// SPDX-License-Identifier: BSD-3-Clause
// A worker in virtual time: packets come when a test says, and rounds, packets and wake-ups cost
// what they cost on a usual machine.
#include "pace.h"
#include "port_types.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TICKS_PER_US 3
#define ROUND_NS     200
#define PACKET_NS    3000
#define WAKE_NS	     12000 // from the event to the first round
#define WAKE_CPU_NS  6000
#define US	     INT64_C(1000)
#define MS	     INT64_C(1000000)
#define SECOND	     INT64_C(1000000000)
#define MAX_PACKETS  2000000
#define NEVER	     INT64_MAX

struct world {
	struct hs_pace pace;
	int64_t now_ns, cpu_ns, end_ns;
	int64_t next_ns; // when the next packet comes
	int64_t left_ns; // when the last packet left
	// Returns when the packet after the one of `next_ns` comes; NEVER: not before one leaves.
	int64_t (*after)(struct world *world);
	int64_t gap_ns;
	uint64_t seed;
	unsigned n, spins, rests, sleeps;
	int64_t *waits_ns;
};

static int64_t steady(struct world *world)
{
	return world->next_ns + world->gap_ns;
}

// Between nothing and twice the gap.
static int64_t uneven(struct world *world)
{
	world->seed = world->seed * 6364136223846793005 + 1442695040888963407;
	return world->next_ns + (int64_t)((world->seed >> 33) % (2 * (uint64_t)world->gap_ns));
}

static int64_t answers(struct world *world)
{
	(void)world;
	return NEVER;
}

static struct world *start(int64_t (*after)(struct world *), int64_t gap_ns)
{
	struct world *world = calloc(1, sizeof(*world));

	assert_non_null(world);
	world->after = after;
	world->gap_ns = world->next_ns = gap_ns;
	world->now_ns = 12345 * MS;
	world->next_ns = world->now_ns + gap_ns;
	world->waits_ns = malloc(MAX_PACKETS * sizeof(*world->waits_ns));
	assert_non_null(world->waits_ns);
	hs_pace_init(&world->pace, TICKS_PER_US);
	return world;
}

static void finish(struct world *world)
{
	free(world->waits_ns);
	free(world);
}

static uint64_t ticks(const struct world *world)
{
	return (uint64_t)world->now_ns * TICKS_PER_US / 1000;
}

static void spend(struct world *world, int64_t ns)
{
	world->now_ns += ns;
	world->cpu_ns += ns;
}

static unsigned take_packets(struct world *world)
{
	unsigned taken = 0;

	spend(world, ROUND_NS);
	for (; taken < 32 && world->next_ns <= world->now_ns && world->n < MAX_PACKETS; taken++) {
		spend(world, PACKET_NS);
		world->waits_ns[world->n++] = world->now_ns - world->next_ns;
		world->next_ns = world->after(world);
		world->left_ns = world->now_ns;
		if (world->next_ns == NEVER && world->after == answers)
			world->next_ns = world->left_ns + world->gap_ns;
	}
	return taken;
}

static void wake_at(struct world *world, int64_t event_ns, bool early)
{
	world->now_ns = event_ns + WAKE_NS;
	world->cpu_ns += WAKE_CPU_NS;
	hs_pace_woke(&world->pace, ticks(world), early);
}

static void sleep_on(struct world *world)
{
	unsigned taken = take_packets(world); // as a worker does that has armed its ports

	if (taken > 0) {
		hs_pace_work(&world->pace, taken);
		return;
	}
	world->sleeps++;
	if (world->next_ns < world->end_ns)
		wake_at(world, world->next_ns, true);
	else
		wake_at(world, world->end_ns, false);
}

static void do_round(struct world *world)
{
	unsigned taken = take_packets(world);

	if (taken > 0) {
		hs_pace_work(&world->pace, taken);
		return;
	}
	switch (hs_pace_next(&world->pace, ticks(world))) {
	case HS_PACE_SPIN:
		world->spins++;
		return;
	case HS_PACE_REST:
		world->rests++;
		wake_at(world, world->now_ns + HS_PACE_REST_US * US, false);
		return;
	case HS_PACE_SLEEP:
		sleep_on(world);
		return;
	}
}

// Returns the share of the time that the worker took.
static double run(struct world *world, int64_t ns)
{
	int64_t from_ns = world->now_ns;

	world->end_ns = from_ns + ns;
	world->n = world->spins = world->rests = world->sleeps = 0;
	world->cpu_ns = 0;
	while (world->now_ns < world->end_ns)
		do_round(world);
	return (double)world->cpu_ns / (double)(world->now_ns - from_ns);
}

static int compare(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t wait_ns(struct world *world, unsigned percent)
{
	assert_true(world->n > 100);
	qsort(world->waits_ns, world->n, sizeof(*world->waits_ns), compare);
	return world->waits_ns[(uint64_t)world->n * percent / 100];
}

static void a_worker_without_packets_spins_for_a_short_time_and_sleeps(void **state)
{
	struct world *world = start(steady, SECOND);

	(void)state;
	run(world, MS);
	assert_int_equal(world->sleeps, 1);
	assert_in_range(world->spins * ROUND_NS, 114 * US, 122 * US);
	finish(world);
}

static void a_stream_of_medium_rate_takes_a_third_of_a_core(void **state)
{
	int64_t (*const streams[])(struct world *) = {steady, uneven};

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct world *world = start(streams[i], 20 * US); // 50,000 a second
		double share;

		run(world, 10 * MS);
		share = run(world, SECOND);
		assert_true(world->rests > 5000);
		assert_true(share < 0.33); // 0.15 of it for the packets themselves
		assert_true(wait_ns(world, 50) < 80 * US);
		assert_true(wait_ns(world, 99) <= 120 * US);
		finish(world);
	}
}

static void a_stream_of_low_rate_may_spin_for_a_tenth_of_the_time(void **state)
{
	struct world *world = start(uneven, 200 * US); // 5,000 a second

	(void)state;
	run(world, 10 * MS);
	// Packets take 0.015, and wake-ups 0.03.
	assert_true(run(world, SECOND) < 0.16);
	assert_int_equal(world->rests, 0);
	assert_true(wait_ns(world, 99) < 40 * US);
	finish(world);
}

static void a_rare_packet_and_its_answer_find_the_worker_awake(void **state)
{
	struct world *world = start(steady, 10 * MS);

	(void)state;
	run(world, 35 * MS);
	for (unsigned i = 0; i < 20; i++) {
		run(world, 9 * MS);
		// Something wakes the worker; the answer comes 100 us later.
		int64_t request_ns = world->next_ns;
		world->after = answers;
		world->gap_ns = 100 * US;
		run(world, request_ns - world->now_ns + 20 * US);
		assert_int_equal(world->n, 1);
		world->after = steady;
		world->gap_ns = 10 * MS;
		run(world, 150 * US);
		assert_int_equal(world->n, 1);
		assert_true(world->waits_ns[0] <= PACKET_NS + ROUND_NS * 2);
	}
	finish(world);
}

// Sends requests each 10 ms, and returns the time that the worker spun for each.
static int64_t spin_of_requests(struct world *world, unsigned n, bool answered)
{
	int64_t spun_ns = 0;

	for (unsigned i = 0; i < n; i++) {
		int64_t request_ns = world->next_ns;

		world->after = answered ? answers : steady;
		world->gap_ns = answered ? 100 * US : 10 * MS;
		run(world, request_ns - world->now_ns + 20 * US);
		spun_ns += world->spins * ROUND_NS;
		world->after = steady;
		world->gap_ns = 10 * MS;
		run(world, 500 * US);
		spun_ns += world->spins * ROUND_NS;
	}
	return spun_ns / n;
}

// Whoever is about to receive the packet may be waiting for the core of a worker that looks.
static void a_worker_whose_looks_bring_nothing_seldom_looks(void **state)
{
	struct world *world = start(steady, 10 * MS);

	(void)state;
	spin_of_requests(world, 20, false);
	assert_true(spin_of_requests(world, 1280, false) < 2 * US);
	spin_of_requests(world, 128, true); // one of them is looked for, and comes
	assert_in_range(spin_of_requests(world, 100, true), 75 * US, 125 * US);
	assert_true(world->waits_ns[0] <= PACKET_NS + ROUND_NS * 2);
	finish(world);
}

// A packet that comes as the answer to the packet before it would wait for a whole rest.
static void requests_and_answers_do_not_wait_for_rests(void **state)
{
	struct world *world = start(answers, 10 * US);

	(void)state;
	run(world, 100 * MS);
	run(world, SECOND);
	assert_true(wait_ns(world, 50) < 20 * US);
	assert_true(wait_ns(world, 99) < 20 * US);
	assert_true(world->rests < 200);
	finish(world);
}

static void a_loaded_worker_neither_rests_nor_sleeps(void **state)
{
	struct world *world = start(steady, 4 * US); // its packets take three quarters of the time

	(void)state;
	run(world, 10 * MS);
	run(world, 100 * MS);
	assert_int_equal(world->rests, 0);
	assert_int_equal(world->sleeps, 0);
	assert_true(wait_ns(world, 99) < 10 * US);
	finish(world);
}

static void after_a_burst_the_worker_soon_sleeps_again(void **state)
{
	static const int64_t gaps_ns[] = {4 * US, 20 * US, 100 * US};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct world *world = start(steady, gaps_ns[i]);

		run(world, SECOND);
		world->next_ns = NEVER;
		assert_true(run(world, 2 * MS) < 0.1);
		run(world, MS);
		assert_int_equal(world->sleeps, 1);
		assert_int_equal(world->spins, 0);
		finish(world);
	}
}

static void a_wake_up_without_packets_lets_the_worker_spin_again(void **state)
{
	struct world *world = start(steady, SECOND);

	(void)state;
	run(world, 10 * MS);
	wake_at(world, world->now_ns, true);
	assert_int_equal(hs_pace_next(&world->pace, ticks(world)), HS_PACE_SPIN);
	run(world, MS);
	assert_in_range(world->spins * ROUND_NS, 114 * US, 122 * US);
	finish(world);
}

static void a_time_that_goes_back_does_no_harm(void **state)
{
	struct world *world = start(steady, 20 * US);

	(void)state;
	run(world, 10 * MS);
	world->now_ns -= 5 * MS;
	world->next_ns -= 5 * MS;
	run(world, 10 * MS);
	assert_true(run(world, 100 * MS) < 0.33);
	finish(world);
}

static void without_time_the_worker_sleeps_after_one_empty_round(void **state)
{
	struct hs_pace pace;

	(void)state;
	hs_pace_init(&pace, 0);
	for (unsigned i = 1; i < 1000; i += 3) {
		hs_pace_work(&pace, 3);
		assert_int_equal(hs_pace_next(&pace, i), HS_PACE_SPIN);
		assert_int_equal(hs_pace_next(&pace, i), HS_PACE_SLEEP);
		hs_pace_woke(&pace, i + 1, false);
		assert_int_equal(hs_pace_next(&pace, i + 2), HS_PACE_SLEEP);
	}
	assert_int_equal(hs_pace_look_us(&pace, false), HS_PACE_LOOK_QUIET_US);
	assert_int_equal(hs_pace_look_us(&pace, true), HS_PACE_LOOK_QUIET_US);
}

static void looks_at_silent_ports_become_rarer(void **state)
{
	static const struct {
		int64_t silence_ns;
		uint32_t us, rung_us;
	} cases[] = {{0, 50, 50}, {49 * US, 50, 50}, {50 * US, 50, 1000}, {300 * US, 50, 1000},
			{800 * US, 100, 1000}, {8 * MS, 1000, 8000}, {9 * SECOND, 1000, 20000},
			{10 * SECOND, 2000, 20000}, {3600 * SECOND, 2000, 20000}};
	struct world *world = start(steady, SECOND);

	(void)state;
	hs_pace_next(&world->pace, ticks(world));
	int64_t from_ns = world->now_ns;
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		world->now_ns = from_ns + cases[i].silence_ns;
		hs_pace_next(&world->pace, ticks(world));
		assert_int_equal(hs_pace_look_us(&world->pace, false), cases[i].us);
		assert_int_equal(hs_pace_look_us(&world->pace, true), cases[i].rung_us);
	}
	hs_pace_work(&world->pace, 1);
	hs_pace_next(&world->pace, ticks(world));
	assert_int_equal(hs_pace_look_us(&world->pace, false), 50);
	finish(world);
}

// A full worker may find no empty round for hours.
static void a_worker_stays_loaded_after_any_number_of_packets(void **state)
{
	static const uint64_t counts[] = {4000000, 5000000, UINT32_MAX, UINT64_C(1) << 40};

	(void)state;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++) {
		struct hs_pace pace;
		uint64_t now = 1000;

		hs_pace_init(&pace, TICKS_PER_US);
		hs_pace_next(&pace, now);
		for (uint64_t left = counts[i]; left;) {
			uint32_t some = left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;

			hs_pace_work(&pace, some);
			left -= some;
		}
		now += counts[i] * TICKS_PER_US; // a million packets in a second
		assert_int_equal(hs_pace_next(&pace, now), HS_PACE_SPIN);
		assert_true(pace.rest_packets == HS_BURST * 1024);
		assert_int_equal(pace.work_share, 1024);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_worker_without_packets_spins_for_a_short_time_and_sleeps),
			cmocka_unit_test(a_stream_of_medium_rate_takes_a_third_of_a_core),
			cmocka_unit_test(a_stream_of_low_rate_may_spin_for_a_tenth_of_the_time),
			cmocka_unit_test(a_rare_packet_and_its_answer_find_the_worker_awake),
			cmocka_unit_test(a_worker_whose_looks_bring_nothing_seldom_looks),
			cmocka_unit_test(requests_and_answers_do_not_wait_for_rests),
			cmocka_unit_test(a_loaded_worker_neither_rests_nor_sleeps),
			cmocka_unit_test(after_a_burst_the_worker_soon_sleeps_again),
			cmocka_unit_test(a_wake_up_without_packets_lets_the_worker_spin_again),
			cmocka_unit_test(a_worker_stays_loaded_after_any_number_of_packets),
			cmocka_unit_test(a_time_that_goes_back_does_no_harm),
			cmocka_unit_test(without_time_the_worker_sleeps_after_one_empty_round),
			cmocka_unit_test(looks_at_silent_ports_become_rarer),
	};

	return cmocka_run_group_tests_name("pace", tests, NULL, NULL);
}

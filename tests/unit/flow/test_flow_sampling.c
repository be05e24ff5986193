// SPDX-License-Identifier: BSD-3-Clause
#include "dpdk_env.h"
#include "flow_sampling.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <rte_common.h>
#include <rte_pause.h>

#include "flow_bench.h"

static bool take_if_due(struct bench *b, uint32_t slot, struct hs_rng *rng, int64_t now_ns)
{
	return hs_flow_due(&b->view.own[slot], rng, now_ns) &&
	       hs_flow_claim(&b->view, slot, now_ns);
}

static void set_mode(struct bench *b, uint32_t ns_id, uint8_t mode, double setting)
{
	struct hs_error err = {0};
	struct hs_rule_update update = {.rows = HS_RULE_BIT(MODE) | HS_RULE_BIT(MODE_SETTING),
			.to.mode = mode,
			.to.mode_setting = setting};
	assert_int_equal(hs_flow_table_update(b->table, ns_id, &update, &err), 0);
}

// Returns the slot of the only rule, which samples like this.
static uint32_t open_with_mode(struct bench *b, uint8_t mode, double setting)
{
	bench_open(b, 4, 1);
	install(b, rule_of(1, 1, 1, 1));
	set_mode(b, 1, mode, setting);
	return slot_for(b, 1, 1, 1);
}

static void count_mode_samples_the_first_packet_and_every_nth(void **state)
{
	struct bench b;
	struct hs_rng rng;
	(void)state;
	hs_rng_init(&rng, 1);
	uint32_t slot = open_with_mode(&b, HS_MODE_COUNT, 10);
	for (unsigned i = 0; i < 1000; i++)
		assert_int_equal(take_if_due(&b, slot, &rng, 0), i % 10 == 0);
	set_mode(&b, 1, HS_MODE_COUNT, 2); // effective at once
	assert_true(take_if_due(&b, slot, &rng, 0));
	assert_false(take_if_due(&b, slot, &rng, 0));
	assert_true(take_if_due(&b, slot, &rng, 0));
	bench_close(&b);
}

static void a_due_packet_without_room_leaves_the_next_one_due(void **state)
{
	struct bench b;
	struct hs_rng rng;
	(void)state;
	hs_rng_init(&rng, 1);
	uint32_t slot = open_with_mode(&b, HS_MODE_COUNT, 100);
	for (unsigned i = 0; i < 5; i++) {
		assert_true(hs_flow_due(&b.view.own[slot], &rng, 0));
		hs_flow_postpone(&b.view.own[slot]);
	}
	assert_true(take_if_due(&b, slot, &rng, 0));
	assert_false(take_if_due(&b, slot, &rng, 0));
	bench_close(&b);
}

// Control takes the pending options away within a burst.
static void a_packet_is_counted_where_pending_options_go(void **state)
{
	struct bench b;
	struct hs_rng rng;
	unsigned taken = 0;
	(void)state;
	hs_rng_init(&rng, 1);
	uint32_t slot = open_with_mode(&b, HS_MODE_COUNT, 10);
	for (unsigned i = 0; i < 1000; i++) {
		bool pending = i % 3 == 0;
		hs_flow_table_pending_set(b.table, slot, pending);
		bool due = hs_flow_due(&b.view.own[slot], &rng, 0);
		hs_flow_table_pending_set(b.table, slot, false);
		bool claimed = due && hs_flow_claim(&b.view, slot, 0);
		assert_int_equal(claimed, i % 10 == 0);
		taken += claimed;
	}
	assert_int_equal(taken, 100);
	bench_close(&b);
}

// Chance has not decided on a packet that was due for pending options alone, and decides once.
static void a_packet_is_taken_by_chance_where_pending_options_go(void **state)
{
	struct bench b;
	struct hs_rng rng;
	unsigned taken[4] = {0};
	(void)state;
	hs_rng_init(&rng, 7);
	uint32_t slot = open_with_mode(&b, HS_MODE_PROBABILITY, 10);
	struct hs_flow_worker *own = &b.view.own[slot];
	for (unsigned i = 0; i < 400000; i++) {
		hs_flow_table_pending_set(b.table, slot, i % 4 == 0 || i % 4 == 2);
		bool due = hs_flow_due(own, &rng, 0);
		if (i % 4 == 2) // its family finds them, and asks what the mode says
			due = hs_flow_due_without_pending(own, &rng, 0);
		hs_flow_table_pending_set(b.table, slot, false);
		taken[i % 4] += due && hs_flow_claim(&b.view, slot, 0);
	}
	for (unsigned i = 0; i < 4; i++)
		assert_in_range(taken[i], 9570, 10430); // 4.5 standard deviations
	bench_close(&b);
}

static void frequency_mode_samples_once_an_interval_over_all_workers(void **state)
{
	struct bench b;
	struct hs_flow_view second;
	struct hs_rng rng;
	unsigned taken = 0;
	(void)state;
	hs_rng_init(&rng, 1);
	bench_open(&b, 4, 2);
	hs_flow_table_view(b.table, 1, &second);
	install(&b, rule_of(1, 1, 1, 1));
	set_mode(&b, 1, HS_MODE_FREQUENCY, 10);
	uint32_t slot = slot_for(&b, 1, 1, 1);
	const int64_t start = 1700000000000000000;
	for (unsigned i = 0; i < 10000; i++) { // a packet each 100 us, alternating workers
		const struct hs_flow_view *view = i % 2 ? &second : &b.view;
		int64_t now = start + i * INT64_C(100000);
		taken += hs_flow_due(&view->own[slot], &rng, now) && hs_flow_claim(view, slot, now);
	}
	assert_int_equal(taken, 100);
	set_mode(&b, 1, HS_MODE_FREQUENCY, 1);
	assert_true(take_if_due(&b, slot, &rng, start + 1000100000));
	bench_close(&b);
}

#define INTERVAL_NS 1000000
#define INTERVALS   20000

struct racer {
	struct hs_flow_view view;
	uint32_t slot;
	_Atomic unsigned *arrived;
	uint64_t taken;
};

// Both go for each interval at the same moment.
static void *race(void *context)
{
	struct racer *r = context;
	struct hs_rng rng;

	dpdk_env_unpin();
	hs_rng_init(&rng, 1);
	for (unsigned i = 0; i < INTERVALS; i++) {
		int64_t now_ns = (int64_t)i * INTERVAL_NS;
		atomic_fetch_add(r->arrived, 1);
		for (unsigned spins = 1; atomic_load(r->arrived) < 2 * (i + 1); spins++) {
			if (spins % 1024 == 0)
				sched_yield();
		}
		r->taken += hs_flow_due(&r->view.own[r->slot], &rng, now_ns) &&
			    hs_flow_claim(&r->view, r->slot, now_ns);
	}
	return NULL;
}

static void of_workers_that_race_for_an_interval_one_takes_it(void **state)
{
	struct bench b;
	struct racer racers[2];
	pthread_t threads[2];
	_Atomic unsigned arrived = 0;
	(void)state;
	bench_open(&b, 4, 2);
	install(&b, rule_of(1, 1, 1, 1));
	set_mode(&b, 1, HS_MODE_FREQUENCY, 1);
	for (unsigned w = 0; w < 2; w++) {
		racers[w] = (struct racer){.slot = slot_for(&b, 1, 1, 1), .arrived = &arrived};
		hs_flow_table_view(b.table, w, &racers[w].view);
	}
	for (unsigned w = 0; w < 2; w++)
		assert_int_equal(pthread_create(&threads[w], NULL, race, &racers[w]), 0);
	for (unsigned w = 0; w < 2; w++)
		pthread_join(threads[w], NULL);
	assert_int_equal(racers[0].taken + racers[1].taken, INTERVALS);
	bench_close(&b);
}

static void probability_mode_samples_its_share(void **state)
{
	struct bench b;
	struct hs_rng rng;
	unsigned taken = 0;
	(void)state;
	hs_rng_init(&rng, 42);
	uint32_t slot = open_with_mode(&b, HS_MODE_PROBABILITY, 2.5);
	for (unsigned i = 0; i < 1000000; i++)
		taken += take_if_due(&b, slot, &rng, 0);
	assert_in_range(taken, 24300, 25700); // 4.5 standard deviations
	set_mode(&b, 1, HS_MODE_PROBABILITY, 100);
	for (unsigned i = 0; i < 1000; i++)
		assert_true(take_if_due(&b, slot, &rng, 0));
	bench_close(&b);
}

// ---- mode `count` beside a count of all packets ----

struct counted {
	uint64_t since; // never wraps
	uint32_t setting;
	bool pending;
	bool always; // mode `probability` with 100 %, in between
};

static bool counted_due(struct counted *c)
{
	return c->pending || c->always || ++c->since >= c->setting;
}

// `handles`: the packet's step handles pending options, and then asks what the mode says.
static bool counted_claim(struct counted *c, bool handles)
{
	if (c->pending && (!handles || (!c->always && ++c->since < c->setting)))
		return false;
	if (c->always)
		return true;
	if (c->since < c->setting - 1) {
		c->since++;
		return false;
	}
	c->since = 0;
	return true;
}

static bool real_claim(struct bench *b, uint32_t slot, struct hs_rng *rng, bool handles)
{
	struct hs_flow_worker *own = &b->view.own[slot];

	if (!handles)
		return hs_flow_claim(&b->view, slot, 0);
	if (hs_flow_is_pending(own) && !hs_flow_due_without_pending(own, rng, 0))
		return false;
	return hs_flow_claim_without_pending(&b->view, slot, 0);
}

// Makes a change to the rule and to the count.
static void change_both(struct bench *b, uint32_t slot, struct counted *c, struct hs_rng *rng)
{
	static const uint32_t settings[] = {
			1, 2, 3, 10, 255, 256, 257, 258, 1000, 70000, UINT32_MAX};

	switch (hs_rng_u32(rng) % 4) {
	case 0:
		c->setting = settings[hs_rng_u32(rng) % RTE_DIM(settings)];
		c->always = false;
		set_mode(b, 1, HS_MODE_COUNT, c->setting);
		break;
	case 1:
		c->pending = !c->pending;
		hs_flow_table_pending_set(b->table, slot, c->pending);
		break;
	case 2:
		c->always = true;
		set_mode(b, 1, HS_MODE_PROBABILITY, 100);
		break;
	default: // as a packet without room
		c->since = c->always ? c->since : c->setting - 1;
		hs_flow_postpone(&b->view.own[slot]);
	}
}

// Counts packets and claims those that are due, in order, at once or after further packets and
// changes.
static unsigned ask_both(struct bench *b, uint32_t slot, struct counted *c, struct hs_rng *rng)
{
	struct hs_flow_worker *own = &b->view.own[slot];
	unsigned left = 1 + hs_rng_u32(rng) % 32, taken = 0, due = 0;

	while (left || due) {
		bool handles = hs_rng_u32(rng) % 2;
		if (hs_rng_u32(rng) % 256 == 0)
			change_both(b, slot, c, rng);
		if (left && (!due || hs_rng_u32(rng) % 4)) {
			bool is = hs_flow_due(own, rng, 0);
			assert_int_equal(is, counted_due(c));
			due += is;
			left--;
			continue;
		}
		bool claimed = real_claim(b, slot, rng, handles);
		assert_int_equal(claimed, counted_claim(c, handles));
		taken += claimed;
		due--;
	}
	return taken;
}

// A worker counts down packets that are surely not due. Whatever control changes meanwhile, each
// packet has the answer that a count of all packets has.
static void count_mode_decides_as_a_count_of_all_packets_does(void **state)
{
	struct bench b;
	struct hs_rng rng;
	struct counted counted = {.since = UINT32_MAX - 1, .setting = 1};
	unsigned taken = 0;
	(void)state;
	hs_rng_init(&rng, 11);
	uint32_t slot = open_with_mode(&b, HS_MODE_COUNT, 1);
	for (unsigned i = 0; i < 300000; i++)
		taken += ask_both(&b, slot, &counted, &rng);
	assert_true(taken > 100000);
	bench_close(&b);
}

// ---- changes beside a worker ----

#define CHANGES 20000

struct changer {
	struct bench *bench;
	_Atomic unsigned made, seen; // changes
};

// Each change comes right after another one, which the worker may be looking at.
static void *change_all_the_time(void *context)
{
	struct changer *c = context;
	struct hs_rng rng;

	dpdk_env_unpin();
	hs_rng_init(&rng, 5);
	for (unsigned i = 1; i <= CHANGES; i++) {
		set_mode(c->bench, 1, HS_MODE_COUNT, 1000000);
		for (unsigned spins = hs_rng_u32(&rng) % 256; spins > 0; spins--)
			rte_pause();
		set_mode(c->bench, 1, HS_MODE_COUNT, 1);
		atomic_store_explicit(&c->made, i, memory_order_release);
		while (atomic_load_explicit(&c->seen, memory_order_acquire) < i)
			sched_yield();
	}
	return NULL;
}

static void a_change_is_in_force_for_the_next_packet(void **state)
{
	struct bench b;
	struct hs_rng rng;
	struct changer changer = {.bench = &b};
	pthread_t thread;
	unsigned missed = 0;
	(void)state;
	hs_rng_init(&rng, 1);
	uint32_t slot = open_with_mode(&b, HS_MODE_COUNT, 1000000);
	struct hs_flow_worker *own = &b.view.own[slot];
	assert_int_equal(pthread_create(&thread, NULL, change_all_the_time, &changer), 0);
	for (unsigned i = 1; i <= CHANGES; i++) {
		while (atomic_load_explicit(&changer.made, memory_order_acquire) < i)
			take_if_due(&b, slot, &rng, 0);
		missed += !hs_flow_due(own, &rng, 0);
		hs_flow_claim(&b.view, slot, 0);
		atomic_store_explicit(&changer.seen, i, memory_order_release);
	}
	pthread_join(thread, NULL);
	assert_int_equal(missed, 0);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(count_mode_samples_the_first_packet_and_every_nth),
			cmocka_unit_test(a_due_packet_without_room_leaves_the_next_one_due),
			cmocka_unit_test(a_packet_is_counted_where_pending_options_go),
			cmocka_unit_test(a_packet_is_taken_by_chance_where_pending_options_go),
			cmocka_unit_test(frequency_mode_samples_once_an_interval_over_all_workers),
			cmocka_unit_test(of_workers_that_race_for_an_interval_one_takes_it),
			cmocka_unit_test(probability_mode_samples_its_share),
			cmocka_unit_test(count_mode_decides_as_a_count_of_all_packets_does),
			cmocka_unit_test(a_change_is_in_force_for_the_next_packet),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests_name("flow sampling", tests, NULL, NULL);
}

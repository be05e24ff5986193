// SPDX-License-Identifier: BSD-3-Clause
#include "dpdk_env.h"
#include "flow_sampling.h"
#include "flow_table.h"
#include "pages.h"
#include "sanitized.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <rte_malloc.h>
#include <rte_rcu_qsbr.h>
#include <unistd.h>

struct bench {
	struct rte_rcu_qsbr *qsbr;
	struct hs_flow_table *table;
	struct hs_flow_view view;
};

static void bench_open(struct bench *b, uint32_t capacity, unsigned n_workers)
{
	static unsigned serial;
	char name[16];

	snprintf(name, sizeof(name), "t%u", serial++);
	b->qsbr = rte_zmalloc(NULL, rte_rcu_qsbr_get_memsize(n_workers), 64);
	assert_int_equal(rte_rcu_qsbr_init(b->qsbr, n_workers), 0);
	for (unsigned w = 0; w < n_workers; w++)
		rte_rcu_qsbr_thread_register(b->qsbr, w);
	struct hs_flow_table_config config = {
			.name = name,
			.capacity = capacity,
			.n_workers = n_workers,
			.qsbr = b->qsbr,
	};
	assert_int_equal(hs_flow_table_create(&config, &b->table), 0);
	hs_flow_table_view(b->table, 0, &b->view);
}

static void bench_close(struct bench *b)
{
	hs_flow_table_destroy(b->table);
	rte_free(b->qsbr);
}

static struct hs_rule rule_of(uint32_t ns_id, uint32_t host, uint16_t sport, uint16_t dport)
{
	struct hs_rule rule;

	hs_rule_init(&rule);
	rule.ns_id = ns_id;
	rule.src_ip[0] = 0x20;
	memcpy(&rule.src_ip[12], &host, 4);
	rule.dst_ip[0] = 0x20;
	rule.src_port = sport;
	rule.dst_port = dport;
	rule.protocol = IPPROTO_UDP;
	rule.trace_type = 0x7000E000;
	rule.mode = HS_MODE_COUNT;
	rule.mode_setting = 1;
	return rule;
}

static uint32_t install(struct bench *b, struct hs_rule rule)
{
	uint32_t shadow = 0;
	struct hs_error err = {0};

	assert_int_equal(hs_flow_table_install(b->table, &rule, &shadow, &err), 0);
	return shadow;
}

static void remove_rule(struct bench *b, uint32_t ns_id)
{
	struct hs_error err;
	assert_int_equal(hs_flow_table_remove(b->table, ns_id, &err), 0);
}

static uint32_t slot_for(struct bench *b, uint32_t host, uint16_t sport, uint16_t dport)
{
	struct hs_flow_key key = {.src_port = sport, .dst_port = dport, .protocol = IPPROTO_UDP};

	key.src_ip[0] = 0x20;
	memcpy(&key.src_ip[12], &host, 4);
	key.dst_ip[0] = 0x20;
	return hs_flow_lookup_one(&b->view, &key);
}

// The namespace of the rule that a packet matches, 0 for none.
static uint32_t match(struct bench *b, uint32_t host, uint16_t sport, uint16_t dport)
{
	uint32_t slot = slot_for(b, host, sport, dport);
	return slot == HS_FLOW_NONE ? 0 : b->view.own[slot].ns_id;
}

static void a_packet_matches_the_rule_of_its_five_tuple(void **state)
{
	struct bench b;
	(void)state;
	bench_open(&b, 16, 1);
	assert_int_equal(hs_flow_masks_of(&b.view)->n, 0);
	install(&b, rule_of(7, 1, 10, 20));
	assert_int_equal(match(&b, 1, 10, 20), 7);
	assert_int_equal(match(&b, 1, 10, 21), 0);
	assert_int_equal(match(&b, 2, 10, 20), 0);
	remove_rule(&b, 7);
	assert_int_equal(match(&b, 1, 10, 20), 0);
	assert_int_equal(hs_flow_masks_of(&b.view)->n, 0);
	bench_close(&b);
}

static void the_most_specific_rule_wins_and_ties_go_to_the_older(void **state)
{
	struct bench b;
	(void)state;
	bench_open(&b, 16, 1);
	install(&b, rule_of(1, 1, 0, 0));
	assert_int_equal(match(&b, 1, 10, 20), 1);
	install(&b, rule_of(2, 1, 10, 0));
	install(&b, rule_of(3, 1, 0, 20));
	assert_int_equal(match(&b, 1, 10, 20), 2);
	assert_int_equal(match(&b, 1, 11, 20), 3);
	assert_int_equal(match(&b, 1, 11, 21), 1);
	install(&b, rule_of(4, 1, 10, 20));
	assert_int_equal(match(&b, 1, 10, 20), 4);
	remove_rule(&b, 4);
	remove_rule(&b, 2);
	install(&b, rule_of(2, 1, 10, 0)); // now younger than 3
	assert_int_equal(match(&b, 1, 10, 20), 3);
	bench_close(&b);
}

static void a_rule_with_the_same_tuple_waits_and_takes_over(void **state)
{
	struct bench b;
	(void)state;
	bench_open(&b, 16, 1);
	assert_int_equal(install(&b, rule_of(1, 1, 10, 20)), 0);
	assert_int_equal(install(&b, rule_of(2, 1, 10, 20)), 1);
	assert_int_equal(install(&b, rule_of(3, 1, 10, 20)), 1);
	assert_int_equal(match(&b, 1, 10, 20), 1);
	assert_int_equal(hs_flow_table_shadowed_by(b.table, hs_flow_table_find(b.table, 3)), 1);
	remove_rule(&b, 2);
	assert_int_equal(match(&b, 1, 10, 20), 1);
	remove_rule(&b, 1);
	assert_int_equal(match(&b, 1, 10, 20), 3);
	assert_int_equal(hs_flow_table_shadowed_by(b.table, hs_flow_table_find(b.table, 3)), 0);
	remove_rule(&b, 3);
	assert_int_equal(match(&b, 1, 10, 20), 0);
	assert_int_equal(hs_flow_masks_of(&b.view)->n, 0);
	install(&b, rule_of(4, 1, 10, 20));
	assert_int_equal(match(&b, 1, 10, 20), 4);
	bench_close(&b);
}

static void errors_name_the_namespace_and_change_nothing(void **state)
{
	struct bench b;
	struct hs_error err = {0};
	struct hs_rule rule = rule_of(1, 1, 1, 1);
	(void)state;
	bench_open(&b, 2, 1);
	install(&b, rule);
	assert_int_equal(hs_flow_table_install(b.table, &rule, NULL, &err), -EEXIST);
	assert_string_equal(err.code, "ns_in_use");
	install(&b, rule_of(2, 2, 1, 1));
	rule = rule_of(3, 3, 1, 1);
	assert_int_equal(hs_flow_table_install(b.table, &rule, NULL, &err), -ENOSPC);
	assert_string_equal(err.code, "table_full");
	assert_int_equal(hs_flow_table_remove(b.table, 99, &err), -ENOENT);
	assert_string_equal(err.code, "no_such_rule");
	assert_int_equal(hs_flow_table_count(b.table), 2);
	bench_close(&b);
}

static void a_full_table_takes_a_rule_as_soon_as_one_is_removed(void **state)
{
	struct bench b;
	(void)state;
	bench_open(&b, 1000, 1);
	for (uint32_t i = 1; i <= 1000; i++)
		install(&b, rule_of(i, i, 1, 1));
	for (uint32_t i = 1; i <= 5000; i++) {
		remove_rule(&b, i);
		install(&b, rule_of(i + 1000, i + 1000, 1, 1));
		assert_int_equal(match(&b, i + 1000, 1, 1), i + 1000);
	}
	assert_int_equal(hs_flow_table_count(b.table), 1000);
	bench_close(&b);
}

static void counters_start_at_zero_and_the_generation_grows_with_each_use_of_a_slot(void **state)
{
	struct bench b;
	struct hs_flow_counters counters;
	(void)state;
	bench_open(&b, 1, 1);
	install(&b, rule_of(1, 1, 1, 1));
	uint32_t slot = slot_for(&b, 1, 1, 1);
	uint32_t generation = hs_flow_table_generation(b.table, slot);
	hs_flow_count_rx(&b.view, slot, 100);
	hs_flow_count_tx(&b.view, slot, 100);
	hs_flow_table_counters(b.table, slot, &counters);
	assert_int_equal(counters.rx_packets, 1);
	assert_int_equal(counters.tx_bytes, 100);
	remove_rule(&b, 1);
	install(&b, rule_of(1, 1, 1, 1));
	assert_int_equal(slot_for(&b, 1, 1, 1), slot);
	hs_flow_table_counters(b.table, slot, &counters);
	assert_int_equal(counters.rx_packets, 0);
	assert_true(hs_flow_table_generation(b.table, slot) > generation);
	bench_close(&b);
}

static void sums_span_the_workers_that_have_seen_the_flow(void **state)
{
	struct bench b;
	struct hs_flow_view second;
	struct hs_flow_sums sums;
	(void)state;
	bench_open(&b, 4, 2);
	hs_flow_table_view(b.table, 1, &second);
	install(&b, rule_of(1, 1, 1, 1));
	uint32_t slot = slot_for(&b, 1, 1, 1);
	hs_flow_count_rx(&b.view, slot, 60);
	hs_flow_count_rx(&second, slot, 70);
	hs_flow_count_tx(&second, slot, 70);
	hs_flow_sum(&b.view, slot, &sums);
	assert_int_equal(sums.rx_packets, 2);
	assert_int_equal(sums.rx_bytes, 130);
	assert_int_equal(sums.tx_packets, 1);
	hs_flow_sum_rx(&b.view, slot, &sums.rx_packets, &sums.rx_bytes);
	assert_int_equal(sums.rx_packets, 2);
	assert_int_equal(sums.rx_bytes, 130);
	bench_close(&b);
}

// Read for each packet, another worker's counters would travel between the cores each time.
static void sums_read_the_other_workers_now_and_then_and_their_own_always(void **state)
{
	struct bench b;
	struct hs_flow_view second;
	struct hs_flow_sums sums;
	(void)state;
	bench_open(&b, 4, 2);
	hs_flow_table_view(b.table, 1, &second);
	install(&b, rule_of(1, 1, 1, 1));
	uint32_t slot = slot_for(&b, 1, 1, 1);
	hs_flow_begin_burst(&b.view, 1000);
	hs_flow_count_rx(&second, slot, 70);
	hs_flow_sum(&b.view, slot, &sums);
	assert_int_equal(sums.rx_packets, 1);
	hs_flow_count_rx(&second, slot, 70);
	hs_flow_count_rx(&b.view, slot, 60);
	hs_flow_begin_burst(&b.view, 1000 + HS_FLOW_OTHERS_NS - 1);
	hs_flow_sum(&b.view, slot, &sums);
	assert_int_equal(sums.rx_packets, 2);
	assert_int_equal(sums.rx_bytes, 130);
	hs_flow_begin_burst(&b.view, 1000 + HS_FLOW_OTHERS_NS);
	hs_flow_sum(&b.view, slot, &sums);
	assert_int_equal(sums.rx_packets, 3);
	hs_flow_count_rx(&second, slot, 70);
	hs_flow_begin_burst(&b.view, 0); // the clock was set back
	hs_flow_sum(&b.view, slot, &sums);
	assert_int_equal(sums.rx_packets, 4);
	bench_close(&b);
}

static void sums_of_a_new_rule_know_nothing_of_the_old_one_in_its_slot(void **state)
{
	struct bench b;
	struct hs_flow_view second;
	struct hs_flow_sums sums;
	(void)state;
	bench_open(&b, 1, 2);
	hs_flow_table_view(b.table, 1, &second);
	install(&b, rule_of(1, 1, 1, 1));
	uint32_t slot = slot_for(&b, 1, 1, 1);
	hs_flow_begin_burst(&b.view, 1000);
	hs_flow_count_rx(&second, slot, 70);
	hs_flow_sum(&b.view, slot, &sums);
	assert_int_equal(sums.rx_packets, 1);
	remove_rule(&b, 1);
	install(&b, rule_of(1, 1, 1, 1));
	assert_int_equal(slot_for(&b, 1, 1, 1), slot);
	hs_flow_sum(&b.view, slot, &sums);
	assert_int_equal(sums.rx_packets, 0);
	bench_close(&b);
}

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

struct reader {
	struct bench *bench;
	atomic_bool stop;
	uint64_t lookups, misses;
};

static void *look_up_all_the_time(void *context)
{
	struct reader *r = context;

	rte_rcu_qsbr_thread_online(r->bench->qsbr, 0);
	while (!atomic_load(&r->stop)) {
		for (unsigned i = 0; i < 32; i++)
			r->misses += match(r->bench, 1, 10, 20) == 0;
		r->lookups += 32;
		rte_rcu_qsbr_quiescent(r->bench->qsbr, 0);
	}
	rte_rcu_qsbr_thread_offline(r->bench->qsbr, 0);
	return NULL;
}

// Also while its rule is handed over between two of the same 5-tuple, and while the hash moves
// keys.
static void changes_beside_it_never_make_a_packet_miss_its_rule(void **state)
{
	struct bench b;
	pthread_t thread;
	(void)state;
	bench_open(&b, 4096, 1);
	install(&b, rule_of(1, 1, 10, 20));
	struct reader reader = {.bench = &b};
	assert_int_equal(pthread_create(&thread, NULL, look_up_all_the_time, &reader), 0);
	for (uint32_t round = 0; round < 30; round++) {
		uint32_t base = 10 + round * 4000;
		install(&b, rule_of(round % 2 ? 1 : 2, 1, 10, 20));
		for (uint32_t i = 0; i < 4000; i++)
			install(&b, rule_of(base + i, base + i, 1, (uint16_t)(i % 3)));
		remove_rule(&b, round % 2 ? 2 : 1);
		for (uint32_t i = 0; i < 4000; i++)
			remove_rule(&b, base + i);
	}
	atomic_store(&reader.stop, true);
	pthread_join(thread, NULL);
	assert_true(reader.lookups > 0);
	assert_int_equal(reader.misses, 0);
	bench_close(&b);
}

static void a_table_at_its_capacity_never_refuses_a_replacement(void **state)
{
	const uint32_t capacity = 4096, replacements = 100000;
	struct bench b;
	(void)state;

	bench_open(&b, capacity, 1);
	rte_rcu_qsbr_thread_online(b.qsbr, 0);
	for (uint32_t i = 1; i <= capacity; i++)
		install(&b, rule_of(i, i, 0, 5));
	for (uint32_t i = 1; i <= replacements; i++) {
		struct hs_error err;
		uint32_t ns_id = capacity + i;
		assert_int_equal(hs_flow_table_remove(b.table, i, &err), 0);
		rte_rcu_qsbr_quiescent(b.qsbr, 0);
		install(&b, rule_of(ns_id, ns_id * 2654435761u, 0, 5));
		assert_int_equal(match(&b, ns_id * 2654435761u, 1, 5), ns_id);
	}
	assert_int_equal(hs_flow_table_count(b.table), capacity);
	rte_rcu_qsbr_thread_offline(b.qsbr, 0);
	bench_close(&b);
}

// ThreadSanitizer finds nothing in one thread, and takes seven times as long. An eighth fills as
// much of its table.
#if HS_FLOW_SEES_ATOMICS
static const uint32_t many = 125000;
#else
static const uint32_t many = 1000000;
#endif

// Returns the memory of this process that is not DPDK's, in use or not.
static uint64_t own_bytes(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	assert_non_null(file);
	assert_int_equal(fscanf(file, "%lu", &pages), 1);
	fclose(file);
	return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void a_million_rules_fit_in_their_memory(void **state)
{
	struct bench b;
	struct rte_malloc_socket_stats before, after;
	uint64_t own = own_bytes();
	(void)state;
	rte_malloc_get_socket_stats(0, &before);
	bench_open(&b, many, 1);
	for (uint32_t i = 1; i <= many; i++)
		install(&b, rule_of(i, i, 0, 5));
	assert_int_equal(hs_flow_table_count(b.table), many);
	for (uint32_t i = 1; i <= many; i += 9973)
		assert_int_equal(match(&b, i, (uint16_t)i, 5), i);
	rte_malloc_get_socket_stats(0, &after);
	uint64_t used = after.heap_allocsz_bytes - before.heap_allocsz_bytes;
	own = own_bytes() - own;
	print_message("%lu bytes a rule in DPDK memory (%lu stated), %lu beside it\n", used / many,
			hs_flow_table_bytes(many, 1) / many, own / many);
	assert_true(used <= hs_flow_table_bytes(many, 1));
	// Each large part has whole pages of its own. Sanitizers need memory, too.
	assert_true(SANITIZED || used + own <= (384 + 2 * RTE_CACHE_LINE_SIZE) * (uint64_t)many +
								 2 * HS_PAGES_LARGE_BYTES);
	bench_close(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_packet_matches_the_rule_of_its_five_tuple),
			cmocka_unit_test(the_most_specific_rule_wins_and_ties_go_to_the_older),
			cmocka_unit_test(a_rule_with_the_same_tuple_waits_and_takes_over),
			cmocka_unit_test(errors_name_the_namespace_and_change_nothing),
			cmocka_unit_test(a_full_table_takes_a_rule_as_soon_as_one_is_removed),
			cmocka_unit_test(
					counters_start_at_zero_and_the_generation_grows_with_each_use_of_a_slot),
			cmocka_unit_test(sums_span_the_workers_that_have_seen_the_flow),
			cmocka_unit_test(
					sums_read_the_other_workers_now_and_then_and_their_own_always),
			cmocka_unit_test(
					sums_of_a_new_rule_know_nothing_of_the_old_one_in_its_slot),
			cmocka_unit_test(count_mode_samples_the_first_packet_and_every_nth),
			cmocka_unit_test(a_due_packet_without_room_leaves_the_next_one_due),
			cmocka_unit_test(a_packet_is_counted_where_pending_options_go),
			cmocka_unit_test(a_packet_is_taken_by_chance_where_pending_options_go),
			cmocka_unit_test(frequency_mode_samples_once_an_interval_over_all_workers),
			cmocka_unit_test(of_workers_that_race_for_an_interval_one_takes_it),
			cmocka_unit_test(probability_mode_samples_its_share),
			cmocka_unit_test(changes_beside_it_never_make_a_packet_miss_its_rule),
			cmocka_unit_test(a_table_at_its_capacity_never_refuses_a_replacement),
			cmocka_unit_test(a_million_rules_fit_in_their_memory),
	};
	dpdk_env_init("512");
	return cmocka_run_group_tests_name("flow table", tests, NULL, NULL);
}

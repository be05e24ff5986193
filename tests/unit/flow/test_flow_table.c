// SPDX-License-Identifier: BSD-3-Clause
#include "dpdk_env.h"
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
#include <rte_pause.h>
#include <unistd.h>

#include "flow_bench.h"

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
	assert_int_equal(b.view.own[slot].generation, generation);
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
	assert_int_equal(b.view.own[slot].generation, hs_flow_table_generation(b.table, slot));
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

// Counts a packet in one of the ways that there are.
static void count_one(const struct hs_flow_view *view, uint32_t slot, struct hs_rng *rng,
		struct hs_flow_sums *sums)
{
	uint32_t bytes = 60 + hs_rng_u32(rng) % 9000, way = hs_rng_u32(rng) % 4;

	if (way == 0) {
		hs_flow_count_rx(view, slot, bytes);
	} else if (way == 1) {
		hs_flow_count_tx(view, slot, bytes);
	} else {
		hs_flow_count_through(view, &view->own[slot], slot, bytes);
		if (way == 3)
			hs_flow_uncount_tx(view, slot, bytes);
	}
	sums->rx_packets += way != 1;
	sums->rx_bytes += way != 1 ? bytes : 0;
	sums->tx_packets += way == 1 || way == 2;
	sums->tx_bytes += way == 1 || way == 2 ? bytes : 0;
}

// Packets that are taken back may be more than those that were sent in other ways.
static void counters_are_the_sum_of_all_ways_to_count(void **state)
{
	struct bench b;
	struct hs_flow_view views[2];
	struct hs_flow_sums should = {0}, sums;
	struct hs_flow_counters counters;
	struct hs_rng rng;
	(void)state;
	hs_rng_init(&rng, 3);
	bench_open(&b, 4, 2);
	hs_flow_table_view(b.table, 0, &views[0]);
	hs_flow_table_view(b.table, 1, &views[1]);
	install(&b, rule_of(1, 1, 1, 1));
	uint32_t slot = slot_for(&b, 1, 1, 1);
	for (unsigned w = 0; w < 2; w++)
		hs_flow_mark_seen(&views[w], slot);
	for (unsigned i = 1; i <= 3000; i++) {
		const struct hs_flow_view *view = &views[i % 3 == 0];
		count_one(view, slot, &rng, &should);
		hs_flow_begin_burst(view, i * INT64_C(1000000));
		hs_flow_sum(view, slot, &sums);
		hs_flow_table_counters(b.table, slot, &counters);
		assert_memory_equal(&sums, &should, sizeof(sums));
		assert_int_equal(counters.rx_packets, should.rx_packets);
		assert_int_equal(counters.rx_bytes, should.rx_bytes);
		assert_int_equal(counters.tx_packets, should.tx_packets);
		assert_int_equal(counters.tx_bytes, should.tx_bytes);
		hs_flow_sum_rx(view, slot, &sums.rx_packets, &sums.rx_bytes);
		assert_int_equal(sums.rx_packets, should.rx_packets);
		assert_int_equal(sums.rx_bytes, should.rx_bytes);
	}
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

#define BURSTS 100000
#define BURST  32

struct sender {
	struct hs_flow_view view;
	uint32_t slot;
	_Atomic uint64_t sent;
	atomic_bool ended;
};

// Nearly all packets are counted as sent and taken back, as where a port refuses them.
static void *send_little_of_much(void *context)
{
	struct sender *s = context;
	struct hs_rng rng;

	dpdk_env_unpin();
	hs_rng_init(&rng, 9);
	for (unsigned i = 0; i < BURSTS; i++) {
		unsigned left = hs_rng_u32(&rng) % 64 == 0;
		for (unsigned k = 0; k < BURST; k++)
			hs_flow_count_through(&s->view, &s->view.own[s->slot], s->slot, 100);
		for (unsigned k = left; k < BURST; k++)
			hs_flow_uncount_tx(&s->view, s->slot, 100);
		atomic_fetch_add(&s->sent, left);
		for (unsigned k = 0; k < 100; k++)
			rte_pause(); // longer than a reader's look takes
	}
	atomic_store(&s->ended, true);
	return NULL;
}

// Another thread never reads fewer packets than were sent, and only a burst more that may be taken
// back.
static void a_reader_beside_it_sees_packets_sent_that_were_so_many(void **state)
{
	struct bench b;
	struct sender sender = {.sent = 0};
	pthread_t thread;
	uint64_t low = 0, high = 0;
	(void)state;
	bench_open(&b, 4, 2);
	hs_flow_table_view(b.table, 1, &sender.view);
	install(&b, rule_of(1, 1, 1, 1));
	sender.slot = slot_for(&b, 1, 1, 1);
	assert_int_equal(pthread_create(&thread, NULL, send_little_of_much, &sender), 0);
	while (!atomic_load(&sender.ended)) {
		struct hs_flow_sums sums = {0};
		uint64_t before = atomic_load(&sender.sent);
		hs_flow_read(&sender.view.own[sender.slot], &sums);
		uint64_t after = atomic_load(&sender.sent);
		low += sums.tx_packets < before || sums.tx_bytes < before * 100;
		high += sums.tx_packets > after + 2 * BURST || sums.tx_packets > sums.rx_packets;
	}
	pthread_join(thread, NULL);
	assert_int_equal(low, 0);
#if HS_FLOW_SEES_ATOMICS
	(void)high; // with ThreadSanitizer, a reader's look takes longer than several bursts
#else
	assert_int_equal(high, 0);
#endif
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
	assert_true(SANITIZED ||
			used + own <= (356 + sizeof(struct hs_flow_worker)) * (uint64_t)many +
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
			cmocka_unit_test(counters_are_the_sum_of_all_ways_to_count),
			cmocka_unit_test(a_reader_beside_it_sees_packets_sent_that_were_so_many),
			cmocka_unit_test(
					sums_read_the_other_workers_now_and_then_and_their_own_always),
			cmocka_unit_test(
					sums_of_a_new_rule_know_nothing_of_the_old_one_in_its_slot),
			cmocka_unit_test(changes_beside_it_never_make_a_packet_miss_its_rule),
			cmocka_unit_test(a_table_at_its_capacity_never_refuses_a_replacement),
			cmocka_unit_test(a_million_rules_fit_in_their_memory),
	};
	dpdk_env_init("512");
	return cmocka_run_group_tests_name("flow table", tests, NULL, NULL);
}

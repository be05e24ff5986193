// SPDX-License-Identifier: BSD-3-Clause
// Changes of routes: what they may, whom they disturb, and the memory that they take.
#include "fib_bench.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

// ---- rules of a change ----

static const uint32_t capacities[] = {3, LARGE};

static void the_default_route_takes_what_nothing_else_does(void **state)
{
	struct bench b;
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		bench_open(&b, capacities[k]);
		assert_int_equal(port_of(&b, "2001"), HS_FIB_NO_PORT);
		assert_int_equal(add(&b, "20010db8", 32, 1), 0);
		assert_int_equal(add(&b, "", 0, 2), 0);
		assert_int_equal(port_of(&b, "20010db8"), 1);
		assert_int_equal(port_of(&b, "fd00"), 2);
		assert_int_equal(take(&b, "20010db8", 32), 0);
		assert_int_equal(port_of(&b, "20010db8"), 2);
		assert_int_equal(take(&b, "", 0), 0);
		assert_int_equal(port_of(&b, "20010db8"), HS_FIB_NO_PORT);
		bench_close(&b);
	}
}

static void the_last_host_of_a_subnet_is_not_the_whole_of_it(void **state)
{
	struct bench b;
	(void)state;
	bench_open(&b, 64);
	assert_int_equal(add(&b, "20010db800000000ffffffffffffffff", 128, 1), 0);
	assert_int_equal(port_of(&b, "20010db8000000000000000000000001"), HS_FIB_NO_PORT);
	assert_int_equal(port_of(&b, "20010db800000000ffffffffffffffff"), 1);
	assert_int_equal(port_of(&b, "20010db8000000010000000000000000"), HS_FIB_NO_PORT);
	assert_int_equal(add(&b, "fffeffffffffffffffffffffffffffff", 128, 2), 0);
	assert_int_equal(port_of(&b, "fffeffffffffffff0000000000000000"), HS_FIB_NO_PORT);
	assert_int_equal(port_of(&b, "fffeffffffffffffffffffffffffffff"), 2);
	bench_close(&b);
}

static void a_batch_with_one_bad_change_changes_nothing(void **state)
{
	struct bench b;
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		bench_open(&b, capacities[k]);
		assert_int_equal(add(&b, "20010db8", 32, 1), 0);
		struct hs_fib_change changes[] = {
				change_of("20010db8", 32, 7, false),
				change_of("20010db9", 32, 3, false),
				change_of("20010dff", 32, 0, true),
		};
		assert_int_equal(hs_fib_change(b.fib, changes, 3, &b.err), -ENOENT);
		assert_string_equal(b.err.code, "no_such_route");
		assert_int_equal(port_of(&b, "20010db8"), 1);
		assert_int_equal(port_of(&b, "20010db9"), HS_FIB_NO_PORT);
		changes[2] = change_of("20010db801", 32, 3, false);
		assert_int_equal(hs_fib_change(b.fib, changes, 3, &b.err), -EINVAL);
		assert_string_equal(b.err.code, "bad_prefix");
		changes[2] = change_of("20010db8", 129, 3, false);
		assert_int_equal(hs_fib_change(b.fib, changes, 3, &b.err), -EINVAL);
		assert_int_equal(port_of(&b, "20010db8"), 1);
		bench_close(&b);
	}
}

static void later_changes_of_a_prefix_win_within_a_batch(void **state)
{
	struct bench b;
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		bench_open(&b, capacities[k]);
		struct hs_fib_change changes[] = {
				change_of("20010db8", 32, 1, false),
				change_of("20010db9", 32, 2, false),
				change_of("20010db8", 32, 0, true),
				change_of("20010db9", 32, 3, false),
		};
		assert_int_equal(hs_fib_change(b.fib, changes, 4, &b.err), 0);
		assert_int_equal(port_of(&b, "20010db8"), HS_FIB_NO_PORT);
		assert_int_equal(port_of(&b, "20010db9"), 3);
		struct hs_fib_change twice[] = {
				change_of("20010db9", 32, 0, true),
				change_of("20010db9", 32, 0, true),
		};
		assert_int_equal(hs_fib_change(b.fib, twice, 2, &b.err), -ENOENT);
		assert_int_equal(port_of(&b, "20010db9"), 3);
		struct hs_fib_change anew[] = {
				change_of("20010db9", 32, 0, true),
				change_of("20010db9", 32, 9, false),
		};
		assert_int_equal(hs_fib_change(b.fib, anew, 2, &b.err), 0);
		assert_int_equal(port_of(&b, "20010db9"), 9);
		bench_close(&b);
	}
}

static void a_full_table_refuses_one_route_more(void **state)
{
	struct bench b;
	char hex[9];
	(void)state;
	bench_open(&b, 3);
	for (unsigned i = 0; i < 3; i++) {
		snprintf(hex, sizeof(hex), "200100%02x", i);
		assert_int_equal(add(&b, hex, 32, (uint16_t)i), 0);
	}
	assert_int_equal(add(&b, "30", 8, 1), -ENOSPC);
	assert_string_equal(b.err.code, "table_full");
	// All three replaced at once: old and new next hops exist together.
	struct hs_fib_change swap[] = {
			change_of("20010000", 32, 11, false),
			change_of("20010001", 32, 12, false),
			change_of("20010002", 32, 0, true),
			change_of("30", 8, 13, false),
	};
	assert_int_equal(hs_fib_change(b.fib, swap, 4, &b.err), 0);
	assert_int_equal(port_of(&b, "20010001"), 12);
	assert_int_equal(port_of(&b, "30"), 13);
	bench_close(&b);
}

static void next_hops_come_and_go_without_end(void **state)
{
	struct bench b;
	(void)state;
	bench_open(&b, 2);
	for (unsigned i = 1; i < 1000; i++) {
		struct hs_fib_change change = change_of("20010db8", 32, 1, false);
		memcpy(change.route.next_hop_mac, &i, sizeof(i));
		assert_int_equal(hs_fib_change(b.fib, &change, 1, &b.err), 0);
		struct hs_next_hop next = next_of(&b, change.route.prefix);
		assert_int_equal(next.port, 1);
		assert_memory_equal(next.mac, change.route.next_hop_mac, 6);
	}
	bench_close(&b);
}

static void one_address_behind_many_ports_is_many_next_hops(void **state)
{
	struct bench b;
	char hex[9];
	(void)state;
	bench_open(&b, 32);
	for (uint16_t port = 0; port < 32; port++) {
		snprintf(hex, sizeof(hex), "200100%02x", port);
		struct hs_fib_change change = change_of(hex, 32, port, false);
		memset(change.route.next_hop_mac, 2, 6);
		assert_int_equal(hs_fib_change(b.fib, &change, 1, &b.err), 0);
	}
	for (uint16_t port = 0; port < 32; port++) {
		snprintf(hex, sizeof(hex), "200100%02x", port);
		assert_int_equal(port_of(&b, hex), port);
	}
	bench_close(&b);
}

static struct hs_fib_change host(uint32_t i)
{
	struct hs_fib_change change = {.route = {.depth = 128, .port = (uint16_t)(i % 32)}};
	uint8_t *prefix = change.route.prefix;

	prefix[0] = 0x20;
	for (unsigned k = 0; k < 3; k++) // subnets of 512 hosts
		prefix[7 - k] = (uint8_t)(i >> 9 >> 8 * k);
	prefix[14] = (uint8_t)(i >> 8 & 1);
	prefix[15] = (uint8_t)i;
	return change;
}

static void a_table_is_full_of_hosts_where_it_would_be_full_of_subnets(void **state)
{
	static struct hs_fib_change changes[LARGE];
	const uint8_t *pointers[32];
	struct hs_next_hop next[32];
	struct bench b;
	(void)state;
	bench_open(&b, LARGE);
	for (uint32_t i = 0; i < LARGE; i++)
		changes[i] = host(i);
	assert_int_equal(hs_fib_change(b.fib, changes, LARGE, &b.err), 0);
	for (uint32_t i = 0; i < LARGE; i += 32) {
		for (unsigned k = 0; k < 32; k++)
			pointers[k] = changes[i + k].route.prefix;
		hs_fib_lookup(b.fib, pointers, 32, next);
		for (unsigned k = 0; k < 32; k++)
			assert_int_equal(next[k].port, k);
	}
	changes[0] = host(LARGE);
	assert_int_equal(hs_fib_change(b.fib, changes, 1, &b.err), -ENOSPC);
	assert_int_equal(next_of(&b, changes[0].route.prefix).port, HS_FIB_NO_PORT);
	bench_close(&b);
}

// ---- look-ups beside changes ----

struct reader {
	struct bench *bench;
	atomic_bool stop;
	_Atomic uint64_t lookups;
	uint64_t misses;
};

static bool is_right(const struct hs_next_hop *next)
{
	for (unsigned i = 1; i < 6; i++) {
		if (next->mac[i] != next->mac[0])
			return false;
	}
	return next->port == next->mac[0];
}

static void *look_up_all_the_time(void *arg)
{
	struct reader *reader = arg;
	const uint8_t address[16] = {0x20, 0x01, 0x0d, 0xb8, 1, 2, 3, 4};
	const uint8_t *pointers[32];
	struct hs_next_hop next[32];

	for (unsigned i = 0; i < 32; i++)
		pointers[i] = address;
	rte_rcu_qsbr_thread_online(reader->bench->qsbr, 0);
	while (!atomic_load(&reader->stop)) {
		hs_fib_lookup(reader->bench->fib, pointers, 32, next);
		for (unsigned i = 0; i < 32; i++)
			reader->misses += !is_right(&next[i]);
		reader->lookups += 32;
		rte_rcu_qsbr_quiescent(reader->bench->qsbr, 0);
	}
	rte_rcu_qsbr_thread_offline(reader->bench->qsbr, 0);
	return NULL;
}

static void no_look_up_misses_while_a_table_changes(void **state)
{
	struct bench b;
	pthread_t thread;
	(void)state;
	bench_open(&b, 1024);
	assert_int_equal(add(&b, "20010db8", 32, 1), 0);
	struct reader reader = {.bench = &b};
	assert_int_equal(pthread_create(&thread, NULL, look_up_all_the_time, &reader), 0);
	for (uint16_t round = 0; round < 300 || !atomic_load(&reader.lookups); round++) {
		uint8_t depth = (uint8_t)(33 + round % 32);
		struct hs_fib_change changes[] = {
				change_of("20010db8", 32, round % 31, false),
				change_of("20010db801020304", 64, (round + 7) % 31, false),
				change_of("20010db900000000", depth, 4, false),
		};
		assert_int_equal(hs_fib_change(b.fib, changes, 3, &b.err), 0);
		assert_int_equal(take(&b, "20010db801020304", 64), 0);
		assert_int_equal(take(&b, "20010db9", depth), 0);
	}
	atomic_store(&reader.stop, true);
	pthread_join(thread, NULL);
	assert_true(reader.lookups > 0);
	assert_int_equal(reader.misses, 0);
	bench_close(&b);
}

struct holder {
	struct bench *bench;
	atomic_bool holds, changing, released;
};

// Holds what it may have looked up for a while after a change has begun.
static void *hold(void *arg)
{
	struct holder *holder = arg;

	rte_rcu_qsbr_thread_online(holder->bench->qsbr, 0);
	atomic_store(&holder->holds, true);
	while (!atomic_load(&holder->changing))
		sched_yield();
	for (unsigned i = 0; i < 10000; i++)
		sched_yield();
	atomic_store(&holder->released, true);
	rte_rcu_qsbr_thread_offline(holder->bench->qsbr, 0);
	return NULL;
}

static void a_change_waits_for_workers_that_may_hold_the_old_table(void **state)
{
	struct bench b;
	pthread_t thread;
	(void)state;
	for (unsigned k = 0; k < 2; k++) {
		bench_open(&b, capacities[k]);
		struct holder holder = {.bench = &b};
		assert_int_equal(pthread_create(&thread, NULL, hold, &holder), 0);
		while (!atomic_load(&holder.holds))
			sched_yield();
		atomic_store(&holder.changing, true);
		assert_int_equal(add(&b, "20010db8", 32, 1), 0);
		assert_true(atomic_load(&holder.released));
		pthread_join(thread, NULL);
		bench_close(&b);
	}
}

// ---- memory ----

static uint64_t allocated(void)
{
	struct rte_malloc_socket_stats stats;

	rte_malloc_get_socket_stats(0, &stats);
	return stats.heap_allocsz_bytes;
}

static void a_table_takes_the_memory_that_it_states_and_changes_take_none(void **state)
{
	static const uint32_t sizes[] = {1, 1024, LARGE};
	struct bench b;
	(void)state;
	for (unsigned k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
		struct hs_fib_change *changes = calloc(sizes[k], sizeof(*changes));
		uint64_t before = allocated();
		bench_open(&b, sizes[k]);
		uint64_t used = allocated() - before;
		for (uint32_t i = 0; i < sizes[k]; i++) {
			char hex[9];
			snprintf(hex, sizeof(hex), "20%06x", i * 3);
			changes[i] = change_of(hex, 48, (uint16_t)(i % 32), false);
		}
		assert_int_equal(hs_fib_change(b.fib, changes, sizes[k], &b.err), 0);
		assert_int_equal(allocated() - before, used);
		assert_true(used <= hs_fib_bytes(sizes[k]) + 2048); // the test's own
		assert_true(hs_fib_bytes(sizes[k]) <= used);
		bench_close(&b);
		assert_int_equal(allocated(), before);
		free(changes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_default_route_takes_what_nothing_else_does),
			cmocka_unit_test(the_last_host_of_a_subnet_is_not_the_whole_of_it),
			cmocka_unit_test(a_batch_with_one_bad_change_changes_nothing),
			cmocka_unit_test(later_changes_of_a_prefix_win_within_a_batch),
			cmocka_unit_test(a_full_table_refuses_one_route_more),
			cmocka_unit_test(next_hops_come_and_go_without_end),
			cmocka_unit_test(one_address_behind_many_ports_is_many_next_hops),
			cmocka_unit_test(
					a_table_is_full_of_hosts_where_it_would_be_full_of_subnets),
			cmocka_unit_test(no_look_up_misses_while_a_table_changes),
			cmocka_unit_test(a_change_waits_for_workers_that_may_hold_the_old_table),
			cmocka_unit_test(
					a_table_takes_the_memory_that_it_states_and_changes_take_none),
	};
	dpdk_env_init("1024");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

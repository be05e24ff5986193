// SPDX-License-Identifier: BSD-3-Clause
// Records of events go through a ring whole and in order, also over its end and from another
// thread.
#include "collector_record.h"

#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define RING_BYTES 4096
#define RECORDS	   20000

static struct hs_collect_flow flow_of(uint64_t seed)
{
	struct hs_collect_flow flow = {.reports = seed,
			.n_hops = (unsigned)(seed % (HS_COLLECT_MAX_HOPS / 4)),
			.key = {.src_port = (uint16_t)seed, .is_ipv4 = 1, .reporter = UINT32_MAX}};

	for (unsigned i = 0; i < flow.n_hops; i++)
		flow.hops[i] = (struct hs_collect_hop){(uint32_t)seed + i, i, true};
	return flow;
}

static unsigned points_of(uint64_t seed, struct hs_collect_point points[8])
{
	unsigned n = (unsigned)(seed % 7) + 1;

	for (unsigned i = 0; i < n; i++)
		points[i] = (struct hs_collect_point){.kind = (uint8_t)(i % 6),
				.node_id = (uint32_t)seed,
				.value = seed + i};
	return n;
}

static bool put(struct hs_collector_ring *ring, uint64_t seed)
{
	struct hs_collect_point points[8];
	struct hs_collect_flow flow = flow_of(seed);
	const struct hs_collect_event event = {(int64_t)seed, (int64_t)seed - 1,
			seed % 3 ? &flow : NULL, points, points_of(seed, points)};

	return hs_collector_record_put(ring, &event);
}

static bool is_right(const struct hs_collect_event *event, uint64_t seed)
{
	struct hs_collect_point points[8];
	struct hs_collect_flow flow = flow_of(seed);
	unsigned n = points_of(seed, points);

	if (event->time_ns != (int64_t)seed || event->told_ns != event->time_ns - 1 ||
			event->n_points != n || !event->flow != !(seed % 3))
		return false;
	if (event->flow && (event->flow->n_hops != flow.n_hops ||
					   event->flow->reports != flow.reports ||
					   memcmp(&event->flow->key, &flow.key, sizeof(flow.key)) !=
							   0))
		return false;
	for (unsigned i = 0; event->flow && i < flow.n_hops; i++)
		if (event->flow->hops[i].node_id != flow.hops[i].node_id)
			return false;
	for (unsigned i = 0; i < n; i++)
		if (event->points[i].kind != points[i].kind ||
				event->points[i].node_id != points[i].node_id ||
				event->points[i].value != points[i].value)
			return false;
	return true;
}

static void a_full_ring_takes_nothing_of_an_event(void **state)
{
	struct hs_collector_ring *ring = hs_collector_ring_create(RING_BYTES);
	struct hs_collect_event event;
	uint64_t n = 0, waiting = 0;

	(void)state;
	uint64_t begin = hs_collector_ring_end(ring);
	while (put(ring, n)) {
		waiting += n % 7 + 1;
		n++;
	}
	assert_true(n > 5);
	assert_int_equal(hs_collector_record_waiting(ring, hs_collector_ring_end(ring)), waiting);
	assert_int_equal(hs_collector_record_waiting(ring, begin), 0);
	for (uint64_t i = 0; i < n; i++) {
		assert_true(hs_collector_record_take(ring, &event));
		assert_true(is_right(&event, i));
		hs_collector_record_drop(ring);
	}
	assert_false(hs_collector_record_take(ring, &event));
	assert_int_equal(hs_collector_record_waiting(ring, hs_collector_ring_end(ring)), 0);
	assert_true(put(ring, n));
	hs_collector_ring_destroy(ring);
}

static void a_record_larger_than_the_ring_is_refused(void **state)
{
	struct hs_collector_ring *ring = hs_collector_ring_create(RING_BYTES);

	(void)state;
	assert_null(hs_collector_ring_reserve(ring, RING_BYTES));
	assert_non_null(hs_collector_ring_reserve(ring, RING_BYTES / 2));
	hs_collector_ring_destroy(ring);
}

static void *write_all(void *ring)
{
	for (uint64_t i = 0; i < RECORDS;) {
		if (put(ring, i))
			i++;
		else
			sched_yield();
	}
	return NULL;
}

static void a_reader_gets_what_a_writer_puts_at_the_same_time(void **state)
{
	struct hs_collector_ring *ring = hs_collector_ring_create(RING_BYTES);
	struct hs_collect_event event;
	pthread_t writer;

	(void)state;
	assert_int_equal(pthread_create(&writer, NULL, write_all, ring), 0);
	for (uint64_t i = 0; i < RECORDS;) {
		if (!hs_collector_record_take(ring, &event)) {
			sched_yield();
			continue;
		}
		assert_true(is_right(&event, i));
		hs_collector_record_drop(ring);
		i++;
	}
	pthread_join(writer, NULL);
	hs_collector_ring_destroy(ring);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_full_ring_takes_nothing_of_an_event),
			cmocka_unit_test(a_record_larger_than_the_ring_is_refused),
			cmocka_unit_test(a_reader_gets_what_a_writer_puts_at_the_same_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

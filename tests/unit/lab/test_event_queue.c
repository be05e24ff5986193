// SPDX-License-Identifier: BSD-3-Clause
#include "event_queue.h"

#include "rng.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#define MANY 20000

static void run(struct hs_lab *lab, const struct hs_lab_event *event)
{
	(void)lab, (void)event;
}

static struct hs_event_queue queue; // of the test
static struct hs_lab_event event;

static int end(void **state)
{
	(void)state;
	hs_event_queue_fini(&queue);
	return 0;
}

#define TEST(name) cmocka_unit_test_teardown(name, end)

static void push(int64_t at_ns, uintptr_t about)
{
	assert_int_equal(hs_event_push(&queue, at_ns, run, about), 0);
}

static void nothing_is_due_in_an_empty_queue(void **state)
{
	(void)state;
	assert_true(hs_event_next_ns(&queue) == HS_EVENT_NEVER);
	assert_false(hs_event_pop(&queue, &event));
}

static void an_event_comes_out_as_it_went_in(void **state)
{
	int subject;

	(void)state;
	push(17, (uintptr_t)&subject);
	assert_int_equal(hs_event_next_ns(&queue), 17);
	assert_true(hs_event_pop(&queue, &event));
	assert_int_equal(event.at_ns, 17);
	assert_ptr_equal(event.run, run);
	assert_ptr_equal((int *)event.about, &subject);
	assert_false(hs_event_pop(&queue, &event));
}

// Many events of few times, pushed and popped alternately.
static void events_come_once_in_order_of_time_and_those_of_one_time_as_they_were_pushed(
		void **state)
{
	static bool seen[MANY];
	struct hs_rng rng;
	int64_t last_ns = -1;
	uint64_t last_order = 0;
	unsigned pushed = 0, popped = 0;

	(void)state;
	hs_rng_init(&rng, 7);
	while (popped < MANY) {
		if (pushed < MANY && (queue.n == 0 || hs_rng_u32(&rng) % 16 < 9)) {
			int64_t at_ns = (last_ns < 0 ? 0 : last_ns) + hs_rng_u32(&rng) % 50;
			push(at_ns, pushed++);
			continue;
		}
		assert_true(hs_event_pop(&queue, &event));
		assert_true(event.at_ns >= last_ns);
		if (event.at_ns == last_ns)
			assert_true(event.order > last_order);
		assert_int_equal(event.order, event.about);
		assert_false(seen[event.about]);
		seen[event.about] = true;
		last_ns = event.at_ns;
		last_order = event.order;
		popped++;
	}
	assert_int_equal(queue.n, 0);
}

static void a_queue_that_was_as_long_before_allocates_nothing(void **state)
{
	(void)state;
	for (unsigned i = 0; i < MANY; i++)
		push(i, i);
	const struct hs_lab_event *heap = queue.heap;
	size_t room = queue.room;
	for (unsigned i = 0; i < 5 * MANY; i++) {
		assert_true(hs_event_pop(&queue, &event));
		push(event.at_ns + MANY, i);
	}
	assert_ptr_equal(queue.heap, heap);
	assert_int_equal(queue.room, room);
}

// ---- timers ----

static void add_timers(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(hs_event_add_timer(&queue, run, i), 0);
}

static void no_timer_is_due_until_it_is_set(void **state)
{
	(void)state;
	add_timers(3);
	assert_true(hs_event_next_ns(&queue) == HS_EVENT_NEVER);
	hs_event_set_timer(&queue, 1, 20);
	assert_int_equal(hs_event_next_ns(&queue), 20);
	assert_ptr_equal(queue.heap[0].run, run);
	assert_int_equal(queue.heap[0].about, 1);
	assert_false(hs_event_pop(&queue, &event)); // a timer stays
	hs_event_set_timer(&queue, 1, HS_EVENT_NEVER);
	assert_true(hs_event_next_ns(&queue) == HS_EVENT_NEVER);
	assert_true(hs_event_timer_ns(&queue, 1) == HS_EVENT_NEVER);
}

static void timers_of_one_time_follow_events_in_order_of_their_index(void **state)
{
	(void)state;
	add_timers(100);
	for (uint32_t i = 100; i-- > 0;)
		hs_event_set_timer(&queue, i, 5);
	for (uint32_t i = 0; i < 10; i++)
		push(5, i);
	for (uint32_t i = 0; i < 10; i++) {
		assert_true(hs_event_pop(&queue, &event));
		assert_int_equal(event.about, i);
	}
	for (uint32_t i = 0; i < 100; i++) {
		assert_int_equal(queue.heap[0].about, i);
		hs_event_set_timer(&queue, i, HS_EVENT_NEVER);
	}
}

static uint32_t first_of(const int64_t *at_ns, uint32_t n)
{
	uint32_t first = 0;

	for (uint32_t i = 1; i < n; i++) {
		if (at_ns[i] < at_ns[first])
			first = i;
	}
	return first;
}

// Events come and go between the timers.
static void a_timer_that_moves_either_way_is_due_at_its_latest_time(void **state)
{
	enum {
		N = 57
	};
	struct hs_rng rng;
	int64_t at_ns[N];

	(void)state;
	hs_rng_init(&rng, 3);
	add_timers(N);
	for (uint32_t i = 0; i < N; i++)
		at_ns[i] = HS_EVENT_NEVER;
	for (unsigned round = 0; round < MANY; round++) {
		uint32_t i = hs_rng_u32(&rng) % N;
		at_ns[i] = hs_rng_u32(&rng) % 8 ? hs_rng_u32(&rng) % 200 : HS_EVENT_NEVER;
		hs_event_set_timer(&queue, i, at_ns[i]);
		push(hs_rng_u32(&rng) % 250, 0);
		uint32_t first = first_of(at_ns, N);
		while (hs_event_pop(&queue, &event))
			assert_true(event.at_ns <= at_ns[first]);
		assert_int_equal(queue.heap[0].about, first);
		assert_true(hs_event_next_ns(&queue) == at_ns[first]);
		for (i = 0; i < N; i++)
			assert_true(hs_event_timer_ns(&queue, i) == at_ns[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(nothing_is_due_in_an_empty_queue),
			TEST(an_event_comes_out_as_it_went_in),
			TEST(events_come_once_in_order_of_time_and_those_of_one_time_as_they_were_pushed),
			TEST(a_queue_that_was_as_long_before_allocates_nothing),
			TEST(no_timer_is_due_until_it_is_set),
			TEST(timers_of_one_time_follow_events_in_order_of_their_index),
			TEST(a_timer_that_moves_either_way_is_due_at_its_latest_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
// What bit Q of a report says of a queue.
#include "collect_test.h"

static struct hs_collect *c;

static void done(void)
{
	assert_int_equal(refused(c), 0);
	check_balance(c);
	hs_collect_destroy(c);
}

static void congestion_by_q(void **state)
{
	struct hs_collect_config config = config_50();
	uint8_t q[24];

	(void)state;
	c = collector(&config);
	assert_int_equal(unhex("163400030000000300000007075bcd15000100020500001e", q), sizeof(q));
	take(c, q, sizeof(q), SECOND);
	assert_int_equal(told.n_points, 1);
	q[3] |= 0x80;
	take(c, q, sizeof(q), SECOND);
	assert_int_equal(count(HS_COLLECT_POINT_CONGESTION, HS_COLLECT_NEW), 1);
	assert_true(point_of(HS_COLLECT_POINT_CONGESTION, 3, 5)->by_q);
	take(c, q, sizeof(q), SECOND);
	assert_int_equal(told.n_points, 2);
	q[3] &= 0x7f;
	take(c, q, sizeof(q), SECOND);
	assert_int_equal(count(HS_COLLECT_POINT_CONGESTION, HS_COLLECT_CHANGE), 1);
	assert_int_equal(told.points[2].value, 0);
	done();
}

// Sends a report of node 3 or another one, with the queue of node 3.
static void send(uint32_t reporter, bool q, int64_t now_ns)
{
	const struct hop hop = {3, 300, 1, 30, 13, 1000};
	static uint32_t sequence;
	struct bytes b;

	put_report(&b, reporter, ++sequence, 6000, &hop, 1);
	b.at[3] |= q ? 0x80 : 0;
	forget();
	take(c, b.at, b.n, now_ns);
}

static struct hs_collect_queue queue_now(void)
{
	struct hs_collect_queue queue;
	uint64_t cursor = 0;

	assert_int_equal(hs_collect_queues(c, &cursor, &queue, 1), 1);
	return queue;
}

// A node may say Q only once when a queue becomes congested, and never when this ends.
static void old_congestion_is_not_known(void **state)
{
	struct hs_collect_config config = config_50();

	(void)state;
	c = collector(&config);
	send(3, true, SECOND);
	send(9, false, 11 * SECOND - 1);
	assert_true(queue_now().was_congested && queue_now().congested);
	send(9, false, 11 * SECOND);
	assert_false(queue_now().was_congested || queue_now().congested);
	send(3, true, 12 * SECOND);
	assert_true(queue_now().was_congested && queue_now().congested);
	assert_int_equal(count(HS_COLLECT_POINT_CONGESTION, HS_COLLECT_NEW), 1);
	send(3, true, 21 * SECOND);
	assert_int_equal(told.n_points, 0);
	send(9, false, 30 * SECOND);
	assert_true(queue_now().congested);
	send(3, false, 60 * SECOND);
	assert_true(queue_now().was_congested && !queue_now().congested);
	assert_int_equal(count(HS_COLLECT_POINT_CONGESTION, HS_COLLECT_CHANGE), 1);
	done();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(congestion_by_q),
			cmocka_unit_test(old_congestion_is_not_known),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

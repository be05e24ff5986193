// SPDX-License-Identifier: BSD-3-Clause
// The window's bookkeeping by itself: what the sender concludes from each acknowledgement.
#include "stream_window.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#define TEST cmocka_unit_test
#define MS   INT64_C(1000000)

static struct hs_stream_window window;

static void begin(uint32_t largest, bool fixed, uint64_t limit)
{
	hs_stream_window_fini(&window);
	assert_int_equal(hs_stream_window_init(&window, largest, fixed, limit, 0, INT64_MAX), 0);
}

static int end(void **state)
{
	(void)state;
	hs_stream_window_fini(&window);
	return 0;
}

static void assert_sends(int64_t now_ns, uint64_t segment, bool again)
{
	bool was_sent;
	assert_in_range(hs_stream_window_due(&window), 0, now_ns);
	assert_int_equal(hs_stream_window_send(&window, now_ns, &was_sent), segment);
	assert_int_equal(was_sent, again);
}

static void send_new(int64_t now_ns, uint64_t from, uint64_t to)
{
	for (uint64_t segment = from; segment < to; segment++)
		assert_sends(now_ns, segment, false);
}

static void what_three_segments_overtook_is_lost_and_sent_at_once(void **state)
{
	(void)state;
	begin(10, false, 10);
	send_new(0, 0, 10);
	hs_stream_window_acknowledge(&window, 100 * MS, 0, 2);
	hs_stream_window_acknowledge(&window, 100 * MS, 0, 1);
	hs_stream_window_acknowledge(&window, 100 * MS, 0, 2); // a duplicate has no effect
	assert_int_equal(hs_stream_window_due(&window), 1000 * MS);
	hs_stream_window_acknowledge(&window, 100 * MS, 0, 3);
	// Six segments are under way and the window is five. The first loss is repaired at once.
	assert_int_equal(window.window, 5);
	assert_sends(100 * MS, 0, true);
	assert_int_equal(hs_stream_window_due(&window), 1100 * MS);
}

static void one_window_of_losses_halves_once(void **state)
{
	(void)state;
	begin(100, false, 1000);
	send_new(0, 0, 10);
	for (uint64_t segment = 1; segment < 4; segment++)
		hs_stream_window_acknowledge(&window, 100 * MS, 0, segment);
	assert_sends(100 * MS, 0, true);
	for (uint64_t segment = 4; segment < 10; segment++)
		hs_stream_window_acknowledge(&window, 110 * MS, 0, segment);
	send_new(110 * MS, 10, 14);
	assert_int_equal(hs_stream_window_due(&window), 1100 * MS);
	hs_stream_window_acknowledge(&window, 120 * MS, 0, 13);
	assert_int_equal(window.n_lost, 0); // 10 was sent after the halving
	assert_int_equal(window.threshold, 5);
	assert_sends(120 * MS, 14, false);

	// The repair arrives. 10 is the next loss, in another window.
	hs_stream_window_acknowledge(&window, 200 * MS, 10, 0);
	assert_int_equal(window.n_lost, 1);
	assert_sends(200 * MS, 10, true);
	assert_int_equal(window.recover, 15);
}

static void what_comes_late_is_not_sent_again(void **state)
{
	(void)state;
	begin(10, false, 10);
	send_new(0, 0, 10);
	for (uint64_t segment = 3; segment < 7; segment++)
		hs_stream_window_acknowledge(&window, 100 * MS, 0, segment);
	assert_int_equal(window.n_lost, 3);
	hs_stream_window_acknowledge(&window, 100 * MS, 0, 1);
	assert_int_equal(window.n_lost, 2);
	hs_stream_window_acknowledge(&window, 100 * MS, 2, 0);
	assert_int_equal(window.n_lost, 1);
	assert_sends(100 * MS, 2, true);
	hs_stream_window_acknowledge(&window, 110 * MS, 7, 2);
	assert_int_equal(window.n_lost, 0);
	assert_int_equal(window.n_held, 0);
}

static void timeouts_in_a_row_halve_once_and_progress_ends_their_doubling(void **state)
{
	(void)state;
	begin(10, false, 10);
	send_new(0, 0, 10);
	assert_sends(1000 * MS, 0, true);
	assert_int_equal(window.threshold, 5);
	assert_int_equal(window.window, 1);
	assert_sends(3000 * MS, 0, true);
	assert_int_equal(window.threshold, 5);
	hs_stream_window_acknowledge(&window, 3100 * MS, 1, 0);
	assert_int_equal(window.timeout_at_ns, 4100 * MS);
	assert_int_equal(window.srtt_ns, 0); // Karn: sent more than once
	assert_sends(3100 * MS, 1, true);
	assert_sends(3100 * MS, 2, true);
}

static void round_trips_are_smoothed(void **state)
{
	(void)state;
	begin(10, false, 10);
	send_new(0, 0, 10);
	hs_stream_window_acknowledge(&window, 100 * MS, 10, 9);
	assert_int_equal(window.timeout_ns, (100 + 4 * 50) * MS);
	window.limit = 20;
	send_new(200 * MS, 10, 11);
	hs_stream_window_acknowledge(&window, 380 * MS, 11, 10);
	// 100 + 80 / 8 and 50 + (80 - 50) / 4
	assert_int_equal(window.timeout_ns, 110 * MS + 4 * (50 * MS + 30 * MS / 4));
	send_new(400 * MS, 11, 12);
	hs_stream_window_acknowledge(&window, 400 * MS, 12, 11);
	assert_int_equal(window.srtt_ns, 110 * MS - 110 * MS / 8);
}

static void the_timeout_is_two_hundred_milliseconds_at_least(void **state)
{
	(void)state;
	begin(10, false, 2);
	send_new(0, 0, 1);
	hs_stream_window_acknowledge(&window, 1 * MS, 1, 0);
	assert_int_equal(window.timeout_ns, 200 * MS);
}

static void an_acknowledgement_of_many_opens_the_window_by_two(void **state)
{
	(void)state;
	begin(100, false, 100);
	send_new(0, 0, 10);
	hs_stream_window_acknowledge(&window, 10 * MS, 1, 0);
	assert_int_equal(window.window, 11);
	hs_stream_window_acknowledge(&window, 10 * MS, 3, 1);
	assert_int_equal(window.window, 13);
	hs_stream_window_acknowledge(&window, 10 * MS, 9, 3);
	assert_int_equal(window.window, 15);
}

static void segments_beyond_the_ring_are_told_from_those_in_it(void **state)
{
	(void)state;
	bool again;
	begin(64, true, 64);
	for (uint64_t segment = 0; segment < 70; segment++)
		assert_int_equal(hs_stream_window_push(&window, 0), segment);
	hs_stream_window_acknowledge(&window, 1 * MS, 0, 66);
	assert_int_equal(window.n_held, 0);
	for (uint64_t segment = 2; segment < 64; segment++)
		hs_stream_window_acknowledge(&window, 1 * MS, 0, segment);
	assert_int_equal(window.n_held, 62);
	assert_sends(1 * MS, 0, true);
	assert_sends(1 * MS, 1, true);

	static const uint64_t lost[] = {0, 1, 64, 65, 66, 67, 68, 69};
	for (int i = 0; i < 8; i++) {
		int64_t now_ns = i ? 2000 * MS : window.timeout_at_ns;
		assert_int_equal(hs_stream_window_send(&window, now_ns, &again), lost[i]);
		assert_true(again);
	}
	assert_int_equal(window.n_lost, 0);
}

static void a_receiver_takes_no_segment_beyond_its_ring(void **state)
{
	(void)state;
	begin(64, false, 1000);
	assert_int_equal(hs_stream_window_receive(&window, 64), 0);
	assert_int_equal(hs_stream_window_receive(&window, 63), 0);
	assert_int_equal(hs_stream_window_receive(&window, 1), 0);
	assert_int_equal(hs_stream_window_receive(&window, 0), 2);
	assert_int_equal(hs_stream_window_receive(&window, 0), 0);
	assert_int_equal(hs_stream_window_receive(&window, 64), 0);
	for (uint64_t segment = 2; segment < 62; segment++)
		assert_int_equal(hs_stream_window_receive(&window, segment), 1);
	assert_int_equal(hs_stream_window_receive(&window, 62), 3);
	assert_int_equal(window.expected, 65);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(what_three_segments_overtook_is_lost_and_sent_at_once),
			TEST(one_window_of_losses_halves_once),
			TEST(what_comes_late_is_not_sent_again),
			TEST(timeouts_in_a_row_halve_once_and_progress_ends_their_doubling),
			TEST(round_trips_are_smoothed),
			TEST(the_timeout_is_two_hundred_milliseconds_at_least),
			TEST(an_acknowledgement_of_many_opens_the_window_by_two),
			TEST(segments_beyond_the_ring_are_told_from_those_in_it),
			TEST(a_receiver_takes_no_segment_beyond_its_ring),
	};
	return cmocka_run_group_tests(tests, NULL, end);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "link_test.h"

static void a_frame_takes_its_bits_over_the_rate(void **state)
{
	(void)state;
	struct hs_link *link = create((struct hs_link_config){.rate_bps = 40000000,
						      .queue_packets = 1,
						      .delay_ns = 10 * MS},
			1);
	struct hs_link_fate fate = send(link, 5 * S, 562);
	assert_int_equal(fate.loss, HS_LINK_NOT_LOST);
	assert_true(fate.wait_ns == 0);
	assert_true(fate.departs_ns == 5 * S + 112400);
	assert_true(fate.arrives_ns == 5 * S + 112400 + 10 * MS);
	hs_link_destroy(link);
}

static void overhead_counts_for_the_rate_alone(void **state)
{
	(void)state;
	struct hs_link *link = create((struct hs_link_config){.rate_bps = 40000000,
						      .queue_packets = 1,
						      .overhead_bytes = 24},
			1);
	assert_true(send(link, 0, 562).departs_ns == (562 + 24) * 8 * 25);
	assert_true(counters_of(link).delivered_bytes == 562);
	hs_link_destroy(link);
}

static void without_a_rate_nothing_waits(void **state)
{
	(void)state;
	struct hs_link *link = create((struct hs_link_config){.delay_ns = 3}, 1);
	for (int i = 0; i < 100; i++) {
		struct hs_link_fate fate = send(link, 7, 1500);
		assert_true(fate.wait_ns == 0 && fate.departs_ns == 7 && fate.arrives_ns == 10);
	}
	assert_int_equal(hs_link_waiting(link, 7), 0);
	assert_int_equal(counters_of(link).queue_max_packets, 0);
	hs_link_destroy(link);
}

// 562 bytes at 40 Mbit/s take 112.4 us, one comes every 100 us: 2000 that wait are 224.8 ms.
static void a_full_queue_of_2000_at_40_mbit_holds_224_8_ms(void **state)
{
	(void)state;
	struct hs_link *link = create(
			(struct hs_link_config){.rate_bps = 40000000, .queue_packets = 2000}, 1);
	int64_t last_ns = 0;
	uint64_t delivered = 0;
	for (int64_t i = 0; i < 100000; i++) {
		struct hs_link_fate fate = send(link, i * 100 * US, 562);
		if (fate.loss != HS_LINK_NOT_LOST) {
			assert_int_equal(fate.loss, HS_LINK_LOST_QUEUE);
			assert_int_equal(hs_link_waiting(link, i * 100 * US), 2000);
			continue;
		}
		delivered++;
		assert_true(fate.departs_ns == last_ns + 112400); // never idle
		assert_true(fate.wait_ns == last_ns - i * 100 * US);
		last_ns = fate.departs_ns;
	}
	struct hs_link_counters counters = counters_of(link);
	assert_true(counters.wait_max_ns == 224800 * US);
	assert_int_equal(counters.queue_max_packets, 2000);
	// What was sent in ten seconds, is being sent, and waits.
	assert_true(delivered == (100000 - 1) * 100 * US / 112400 + 1 + 2000);
	assert_true(counters.lost[HS_LINK_LOST_QUEUE] == 100000 - delivered);
	hs_link_destroy(link);
}

static void the_queue_drops_at_its_tail_and_counts_only_those_that_wait(void **state)
{
	(void)state;
	// A byte takes 8 ns.
	struct hs_link *link = create(
			(struct hs_link_config){.rate_bps = 1000000000, .queue_packets = 3}, 1);
	for (int i = 0; i < 4; i++)
		assert_true(send(link, 0, 100).wait_ns == i * 800);
	assert_int_equal(hs_link_waiting(link, 0), 3);
	assert_int_equal(send(link, 0, 100).loss, HS_LINK_LOST_QUEUE);
	assert_int_equal(send(link, 799, 1).loss, HS_LINK_LOST_QUEUE);
	assert_int_equal(hs_link_waiting(link, 799), 3);
	// The second begins: there is room for one.
	assert_int_equal(hs_link_waiting(link, 800), 2);
	assert_true(send(link, 800, 100).departs_ns == 4000);
	assert_int_equal(send(link, 800, 100).loss, HS_LINK_LOST_QUEUE);
	assert_int_equal(hs_link_waiting(link, 3199), 1);
	assert_int_equal(hs_link_waiting(link, 3200), 0);
	assert_true(send(link, 4000, 100).wait_ns == 0);
	hs_link_destroy(link);
}

// A frame of 64 bytes takes 73 and a seventh ns at 7 Gbit/s.
static void the_rate_is_exact_over_a_million_frames_that_wait(void **state)
{
	(void)state;
	struct hs_link *link = create(
			(struct hs_link_config){.rate_bps = 7000000000, .queue_packets = 1000000},
			1);
	for (int64_t i = 0; i < 1000000; i++) {
		struct hs_link_fate fate = send(link, 0, 64);
		assert_true(fate.wait_ns == i * 512 / 7);
		assert_true(fate.departs_ns == (i + 1) * 512 / 7);
	}
	assert_int_equal(counters_of(link).queue_max_packets, 999999);
	hs_link_destroy(link);
}

static void the_rate_is_exact_where_each_frame_comes_as_the_last_one_leaves(void **state)
{
	(void)state;
	struct hs_link *link = create(
			(struct hs_link_config){.rate_bps = 7000000000, .queue_packets = 1}, 1);
	int64_t now_ns = 0;
	for (int64_t i = 0; i < 1000000; i++) {
		struct hs_link_fate fate = send(link, now_ns, 64);
		assert_true(fate.wait_ns == 0);
		now_ns = fate.departs_ns;
	}
	assert_true(now_ns == INT64_C(1000000) * 512 / 7);
	hs_link_destroy(link);
}

static void an_idle_link_saves_nothing_up(void **state)
{
	(void)state;
	struct hs_link *link = create(
			(struct hs_link_config){.rate_bps = 7000000000, .queue_packets = 9}, 1);
	for (int i = 0; i < 20; i++) // what is left of a nanosecond is over by the next one
		assert_true(send(link, i * 74, 64).departs_ns == i * 74 + 73);
	assert_true(send(link, 10 * S, 64).departs_ns == 10 * S + 73);
	assert_true(send(link, 10 * S, 64).departs_ns == 10 * S + 146);
	hs_link_destroy(link);
}

static void sizes_beyond_64_bits_of_work_are_exact_too(void **state)
{
	(void)state;
	struct hs_link *link = create(
			(struct hs_link_config){.rate_bps = 999999999989, .queue_packets = 100}, 1);
	for (int i = 1; i <= 100; i++) {
		unsigned __int128 work = (unsigned __int128)UINT32_MAX * 8 * i * 1000000000;
		assert_true(send(link, 0, UINT32_MAX).departs_ns == (int64_t)(work / 999999999989));
	}
	hs_link_destroy(link);
}

static void the_slowest_rate_ends_before_time_does(void **state)
{
	(void)state;
	struct hs_link *link = create((struct hs_link_config){.rate_bps = 1,
						      .queue_packets = 100,
						      .delay_ns = 3600 * S,
						      .jitter_ns = 3600 * S},
			1);
	int64_t last_ns = 0;
	for (int i = 0; i < 100; i++) {
		struct hs_link_fate fate = send(link, 1767225600 * S, UINT32_MAX);
		assert_true(fate.departs_ns >= last_ns && fate.arrives_ns >= fate.departs_ns);
		last_ns = fate.departs_ns;
	}
	hs_link_destroy(link);
}

static void a_new_rate_is_for_frames_sent_from_then_on(void **state)
{
	(void)state;
	struct hs_link_config config = {.rate_bps = 1000000000, .queue_packets = 10};
	struct hs_link *link = create(config, 1);
	assert_true(send(link, 0, 100).departs_ns == 800);
	assert_true(send(link, 0, 100).departs_ns == 1600);
	config.rate_bps = 100000000;
	assert_int_equal(hs_link_change(link, &config), 0);
	assert_true(hs_link_config(link)->rate_bps == 100000000);
	assert_int_equal(hs_link_waiting(link, 0), 1);
	assert_true(send(link, 0, 100).departs_ns == 1600 + 8000);
	hs_link_destroy(link);
}

// At 7 Gbit/s the first ends at 73 and a seventh, at 14 the second 36 and four sevenths later.
static void a_part_of_a_nanosecond_survives_a_change_of_the_rate(void **state)
{
	(void)state;
	struct hs_link_config config = {.rate_bps = 7000000000, .queue_packets = 10};
	struct hs_link *link = create(config, 1);
	send(link, 0, 64);
	config.rate_bps = 14000000000;
	hs_link_change(link, &config);
	for (int i = 1; i <= 6; i++)
		assert_true(send(link, 0, 64).departs_ns == (1024 + i * 512) / 14);
	hs_link_destroy(link);
}

static void a_shrunk_queue_keeps_what_waits_and_a_grown_one_takes_more(void **state)
{
	(void)state;
	struct hs_link_config config = {.rate_bps = 1000000000, .queue_packets = 5};
	struct hs_link *link = create(config, 1);
	for (int i = 0; i < 6; i++)
		send(link, 0, 100);
	config.queue_packets = 2;
	hs_link_change(link, &config);
	assert_int_equal(hs_link_waiting(link, 0), 5);
	assert_int_equal(send(link, 2400, 100).loss, HS_LINK_LOST_QUEUE); // still two
	assert_int_equal(hs_link_waiting(link, 2400), 2);
	assert_true(send(link, 3200, 100).departs_ns == 5600);
	config.queue_packets = 3;
	hs_link_change(link, &config);
	assert_true(send(link, 3200, 100).departs_ns == 6400);
	assert_int_equal(send(link, 3200, 100).loss, HS_LINK_LOST_QUEUE);
	assert_int_equal(counters_of(link).queue_max_packets, 5);
	hs_link_destroy(link);
}

static void a_limit_that_is_lifted_lets_nobody_overtake_the_queue(void **state)
{
	(void)state;
	struct hs_link_config config = {.rate_bps = 1000000000, .queue_packets = 2};
	struct hs_link *link = create(config, 1);
	send(link, 0, 100);
	send(link, 0, 100);
	config = (struct hs_link_config){0};
	hs_link_change(link, &config);
	for (int i = 0; i < 20; i++) {
		struct hs_link_fate fate = send(link, 100, 100);
		assert_true(fate.wait_ns == 1500 && fate.departs_ns == 1600);
	}
	assert_true(send(link, 1700, 100).departs_ns == 1700);
	hs_link_destroy(link);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_frame_takes_its_bits_over_the_rate),
			cmocka_unit_test(overhead_counts_for_the_rate_alone),
			cmocka_unit_test(without_a_rate_nothing_waits),
			cmocka_unit_test(a_full_queue_of_2000_at_40_mbit_holds_224_8_ms),
			cmocka_unit_test(
					the_queue_drops_at_its_tail_and_counts_only_those_that_wait),
			cmocka_unit_test(the_rate_is_exact_over_a_million_frames_that_wait),
			cmocka_unit_test(
					the_rate_is_exact_where_each_frame_comes_as_the_last_one_leaves),
			cmocka_unit_test(an_idle_link_saves_nothing_up),
			cmocka_unit_test(sizes_beyond_64_bits_of_work_are_exact_too),
			cmocka_unit_test(the_slowest_rate_ends_before_time_does),
			cmocka_unit_test(a_new_rate_is_for_frames_sent_from_then_on),
			cmocka_unit_test(a_part_of_a_nanosecond_survives_a_change_of_the_rate),
			cmocka_unit_test(
					a_shrunk_queue_keeps_what_waits_and_a_grown_one_takes_more),
			cmocka_unit_test(a_limit_that_is_lifted_lets_nobody_overtake_the_queue),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

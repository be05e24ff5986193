// SPDX-License-Identifier: BSD-3-Clause
// The model of a queue by numbers that are computed by hand: at 8 Gbit/s, a byte takes a
// nanosecond.
#include "queue_truth.h"
#include "truth.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#define START_NS INT64_C(1767225600000000000)

static struct hs_queue_truth make(uint64_t rate_bps, uint32_t queue_packets)
{
	return (struct hs_queue_truth){.rate = {.bps = rate_bps, .queue_packets = queue_packets}};
}

static void arrive(struct hs_queue_truth *queue, uint64_t number, int64_t at_ns)
{
	const struct hs_packet_truth packet = {.traffic = 3, .number = number};

	hs_queue_truth_arrive(queue, &packet, START_NS + at_ns);
}

static struct hs_queued depart(
		struct hs_queue_truth *queue, uint64_t number, int64_t at_ns, uint32_t bytes)
{
	const struct hs_packet_truth packet = {.traffic = 3, .number = number};
	struct hs_queued queued;

	assert_true(hs_queue_truth_depart(queue, &packet, START_NS + at_ns, bytes, &queued));
	return queued;
}

#define ASSERT_COUNTS(...)                                                                         \
	assert_memory_equal(&queue.counts, &((struct hs_queue_counts){__VA_ARGS__}),               \
			sizeof(struct hs_queue_counts))

static void each_packet_finds_what_has_not_departed(void **state)
{
	static const struct {
		int64_t arrives_ns, departs_ns;
		uint32_t bytes, depth;
	} rows[] = {{0, 100, 100, 0}, {10, 300, 200, 1}, {50, 400, 100, 2}, {309, 500, 100, 1},
			{510, 560, 50, 0}, {600, 700, 100, 0}};
	struct hs_queue_truth queue = make(8000000000, 10);

	(void)state;
	for (uint64_t i = 0; i < 6; i++)
		arrive(&queue, i, rows[i].arrives_ns);
	for (uint64_t i = 0; i < 6; i++) {
		struct hs_queued queued = depart(&queue, i, rows[i].departs_ns, rows[i].bytes);
		assert_int_equal(queued.arrived_ns, START_NS + rows[i].arrives_ns);
		assert_int_equal(queued.departs_ns, START_NS + rows[i].departs_ns);
		assert_int_equal(queued.depth, rows[i].depth);
	}
	ASSERT_COUNTS(.packets = 6, .depth_max = 2);
	hs_queue_truth_fini(&queue);
}

// Two may wait beside the one that is being sent.
static void drops_are_right_where_there_was_no_place(void **state)
{
	struct hs_queue_truth queue = make(8000000000, 2);

	(void)state;
	for (uint64_t i = 0; i < 6; i++)
		arrive(&queue, i, 0);
	for (uint64_t i = 0; i < 3; i++)
		depart(&queue, i, 100 * (int64_t)i + 100, 100);
	arrive(&queue, 6, 300);
	depart(&queue, 6, 400, 100);
	ASSERT_COUNTS(.packets = 4, .dropped = 3, .depth_max = 2);

	arrive(&queue, 7, 500); // finds a place, and is dropped
	arrive(&queue, 8, 500);
	depart(&queue, 8, 600, 100);
	ASSERT_COUNTS(.packets = 5, .dropped = 4, .wrong_drops = 1, .depth_max = 2);

	for (uint64_t i = 9; i < 13; i++) // the last finds none, and departs
		arrive(&queue, i, 1000);
	for (uint64_t i = 9; i < 13; i++)
		depart(&queue, i, 1100 + 100 * (int64_t)(i - 9), 100);
	ASSERT_COUNTS(.packets = 9, .dropped = 4, .wrong_drops = 2, .depth_max = 3);

	arrive(&queue, 13, 2000);
	hs_queue_truth_end(&queue);
	ASSERT_COUNTS(.packets = 9, .dropped = 5, .wrong_drops = 3, .depth_max = 3);
	hs_queue_truth_fini(&queue);
}

static void other_departures_are_wrong(void **state)
{
	struct hs_queue_truth queue = make(8000000000, 2);
	const struct hs_packet_truth stranger = {.traffic = 4};
	struct hs_queued queued;

	(void)state;
	arrive(&queue, 0, 0);
	arrive(&queue, 1, 0);
	depart(&queue, 0, 101, 100);
	depart(&queue, 1, 200, 100);
	assert_int_equal(queue.counts.wrong_departures, 1);
	assert_false(hs_queue_truth_depart(&queue, &stranger, START_NS, 100, &queued));
	assert_int_equal(queue.counts.wrong_departures, 2);
	hs_queue_truth_fini(&queue);
}

// Fractions of a nanosecond add up. At 3 bit/s, a packet of a byte takes a third of 8 s. At 3
// packets a second, packets take a third of a second, whatever their length.
static void a_rate_is_exact_over_many_packets_of_bytes_or_whole_ones(void **state)
{
	(void)state;
	for (unsigned whole = 0; whole < 2; whole++) {
		struct hs_queue_truth queue = {.rate = {.bps = whole ? 0 : 3,
							       .pps = whole ? 3 : 0,
							       .queue_packets = 1000}};
		for (uint64_t i = 0; i < 999; i++)
			arrive(&queue, i, 0);
		for (uint64_t i = 0; i < 999; i++) {
			int64_t at_ns = (int64_t)((i + 1) * (whole ? 1000000000 : 8000000000) / 3);
			struct hs_queued queued =
					depart(&queue, i, at_ns, whole ? 60 + (uint32_t)i : 1);
			assert_int_equal(queued.depth, i);
		}
		assert_int_equal(queue.counts.wrong_departures, 0);
		hs_queue_truth_fini(&queue);
	}
}

// Half of the time busy, in turns of 1 us.
static void the_utilisation_is_the_share_of_the_time_that_is_busy(void **state)
{
	struct hs_queue_truth queue = make(8000000000, 2);
	struct hs_queued queued = {0};

	(void)state;
	for (uint64_t i = 0; i < 100000; i++) {
		arrive(&queue, i, (int64_t)i * 2000);
		queued = depart(&queue, i, (int64_t)i * 2000 + 1000, 1000);
		if (i == 0)
			assert_true(queued.utilisation < 1e-9);
		if (i == 5000) // one time constant: 1 - 1/e of the half
			assert_true(fabs(queued.utilisation - 0.5 * (1 - exp(-1))) < 1e-4);
	}
	assert_true(fabs(queued.utilisation - 0.5) < 1e-4);
	hs_queue_truth_fini(&queue);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(each_packet_finds_what_has_not_departed),
			cmocka_unit_test(drops_are_right_where_there_was_no_place),
			cmocka_unit_test(other_departures_are_wrong),
			cmocka_unit_test(a_rate_is_exact_over_many_packets_of_bytes_or_whole_ones),
			cmocka_unit_test(the_utilisation_is_the_share_of_the_time_that_is_busy),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "stream_fixture.h"

#include <stdlib.h>

static int64_t due_of(struct stream_fixture *fixture)
{
	struct hs_stream_frame frame;
	int64_t at_ns = 0;
	assert_true(stream_next(fixture, &at_ns, &frame));
	return at_ns;
}

static void assert_paced(double rate_pps, int64_t numerator, int64_t denominator)
{
	struct stream_fixture fixture;
	stream_prepare(&fixture);
	fixture.traffic.rate_pps = rate_pps;
	fixture.traffic.start_ns = 12345;
	fixture.traffic.stop_ns = INT64_C(4000000) * SECOND_NS;
	stream_open(&fixture, 1);
	for (int64_t n = 0; n < 1000000; n++) {
		int64_t due_ns = 12345 +
				 (int64_t)((__int128)n * SECOND_NS * denominator / numerator);
		if (due_of(&fixture) != due_ns)
			fail_msg("%g/s, packet %lld", rate_pps, (long long)n);
	}
	hs_stream_destroy(fixture.stream);
}

static void constant_pacing_is_exact_over_a_million_packets(void **state)
{
	(void)state;
	assert_paced(10000, 10000, 1);
	assert_paced(3, 3, 1);
	assert_paced(1.0 / 3, 1, 3);
	assert_paced(0.7, 7, 10);
	assert_paced(1234.567, 1234567, 1000);
	assert_paced(1e9, 1000000000, 1);
}

static uint64_t count_all(struct stream_fixture *fixture, int64_t *last_ns)
{
	struct hs_stream_frame frame;
	uint64_t n = 0;
	while (stream_next(fixture, last_ns, &frame)) {
		n++;
		assert_int_equal(frame.number, n);
		assert_false(frame.reply);
	}
	return n;
}

static void nothing_is_due_at_the_stop_or_beyond_the_number_of_packets(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	int64_t last_ns = 0;

	stream_prepare(&fixture);
	fixture.traffic.start_ns = SECOND_NS;
	fixture.traffic.stop_ns = 3 * SECOND_NS;
	stream_open(&fixture, 1);
	assert_int_equal(count_all(&fixture, &last_ns), 2000);
	assert_int_equal(last_ns, 3 * SECOND_NS - 1000000);
	hs_stream_destroy(fixture.stream);

	fixture.traffic.packets = 17;
	stream_open(&fixture, 1);
	assert_int_equal(count_all(&fixture, &last_ns), 17);
	hs_stream_pace_set_rate(&fixture.stream->pace, START_NS + 2 * SECOND_NS, 5);
	assert_int_equal(hs_stream_next_ns(fixture.stream), NEVER_NS);
	hs_stream_destroy(fixture.stream);
}

static void a_frame_before_its_time_is_not_sent(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;

	stream_prepare(&fixture);
	fixture.traffic.start_ns = 10;
	stream_open(&fixture, 1);
	assert_int_equal(hs_stream_next_ns(fixture.stream), START_NS + 10);
	assert_false(hs_stream_send(fixture.stream, START_NS + 9, &frame));
	assert_true(hs_stream_send(fixture.stream, START_NS + 10, &frame));
	assert_false(hs_stream_send(fixture.stream, START_NS + 10, &frame));
	hs_stream_destroy(fixture.stream);
}

static void a_new_rate_begins_now(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	stream_prepare(&fixture);
	stream_open(&fixture, 1);
	due_of(&fixture);
	hs_stream_pace_set_rate(&fixture.stream->pace, START_NS + 500, 3);
	assert_int_equal(due_of(&fixture), 500);
	assert_int_equal(due_of(&fixture), 500 + 333333333);
	assert_int_equal(due_of(&fixture), 500 + 666666666);
	assert_int_equal(due_of(&fixture), 500 + 1000000000);
	hs_stream_pace_set_rate(&fixture.stream->pace, START_NS + 2 * SECOND_NS, 0);
	assert_int_equal(hs_stream_next_ns(fixture.stream), NEVER_NS);
	hs_stream_pace_set_rate(&fixture.stream->pace, START_NS + 3 * SECOND_NS, 1000);
	assert_int_equal(due_of(&fixture), 3 * SECOND_NS);
	assert_int_equal(due_of(&fixture), 3 * SECOND_NS + 1000000);
	hs_stream_destroy(fixture.stream);
}

static void a_new_rate_before_the_start_waits_for_it(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	stream_prepare(&fixture);
	fixture.traffic.start_ns = SECOND_NS;
	fixture.traffic.rate_pps = 0;
	stream_open(&fixture, 1);
	assert_int_equal(hs_stream_next_ns(fixture.stream), NEVER_NS);
	hs_stream_pace_set_rate(&fixture.stream->pace, START_NS + 7, 10);
	assert_int_equal(due_of(&fixture), SECOND_NS);
	assert_int_equal(due_of(&fixture), SECOND_NS + SECOND_NS / 10);
	hs_stream_destroy(fixture.stream);
}

// ---- bursts ----

static void open_bursty(struct stream_fixture *fixture, uint64_t seed, int64_t seconds)
{
	stream_prepare(fixture);
	fixture->traffic.kind = HS_TRAFFIC_BURSTY;
	fixture->traffic.rate_pps = 10000;
	fixture->traffic.stop_ns = seconds * SECOND_NS;
	stream_open(fixture, seed);
}

static void each_burst_has_its_packets_and_follows_at_once_where_it_was_due(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	int64_t begin_ns = -1, previous_ns = -1;
	int bursts = 0, adjacent = 0;

	open_bursty(&fixture, 3, 600);
	while (hs_stream_next_ns(fixture.stream) != NEVER_NS &&
			hs_stream_next_ns(fixture.stream) < START_NS + 590 * SECOND_NS) {
		begin_ns = due_of(&fixture);
		assert_true(begin_ns > 0);
		if (bursts)
			assert_true(begin_ns >= previous_ns + 2 * SECOND_NS);
		adjacent += bursts && begin_ns == previous_ns + 2 * SECOND_NS;
		for (int i = 1; i < 20000; i++)
			if (due_of(&fixture) != begin_ns + i * INT64_C(100000))
				fail_msg("burst %d, packet %d", bursts, i);
		previous_ns = begin_ns;
		bursts++;
	}
	// A third of the bursts are due while another runs or waits: 1 - exp(-2/5) and a little
	// more.
	assert_in_range(bursts, 90, 150);
	assert_in_range(adjacent, bursts / 4, bursts / 2);
	hs_stream_destroy(fixture.stream);
}

static void every_burst_is_paced_from_its_own_start(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	stream_prepare(&fixture);
	fixture.traffic.kind = HS_TRAFFIC_BURSTY;
	fixture.traffic.rate_pps = 0.7;
	stream_open(&fixture, 5);
	for (int burst = 0; burst < 50; burst++) {
		int64_t begin_ns = due_of(&fixture);
		assert_int_equal(due_of(&fixture) - begin_ns, 1428571428);
	}
	hs_stream_destroy(fixture.stream);
}

// With one packet a burst, many bursts run quickly. The mean of 20,000 starts is within four
// standard errors (5 s / sqrt(20,000) = 35 ms each) of 5 s.
static void bursts_start_every_five_seconds_on_average(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	stream_prepare(&fixture);
	fixture.traffic.kind = HS_TRAFFIC_BURSTY;
	fixture.traffic.rate_pps = 0.5;
	fixture.traffic.stop_ns = INT64_C(1000000) * SECOND_NS;
	stream_open(&fixture, 5);
	int64_t first_ns = due_of(&fixture), last_ns = 0;
	for (int i = 0; i < 20000; i++)
		last_ns = due_of(&fixture);
	int64_t mean_ns = (last_ns - first_ns) / 20000;
	assert_in_range(mean_ns, 4860000000, 5140000000);
	hs_stream_destroy(fixture.stream);
}

static void the_first_start_is_drawn_too(void **state)
{
	(void)state;
	int64_t sum_ns = 0;
	for (uint64_t seed = 0; seed < 4000; seed++) {
		struct stream_fixture fixture;
		open_bursty(&fixture, seed, 100000);
		sum_ns += due_of(&fixture);
		hs_stream_destroy(fixture.stream);
	}
	assert_in_range(sum_ns / 4000, 4680000000, 5320000000);
}

static void a_new_rate_keeps_bursts_where_they_are(void **state)
{
	(void)state;
	struct stream_fixture fixture, other;
	open_bursty(&fixture, 8, 100000);
	open_bursty(&other, 8, 100000);
	int64_t first_ns = due_of(&fixture);

	// Nothing is sent for the rest of the burst. The bursts after it keep their times.
	hs_stream_pace_set_rate(&fixture.stream->pace, START_NS + first_ns + 1000, 0);
	assert_int_equal(hs_stream_next_ns(fixture.stream), NEVER_NS);
	int64_t third_ns = 0;
	for (int burst = 0; burst < 3; burst++)
		for (int i = 0; i < 20000; i++) {
			int64_t at_ns = due_of(&other);
			if (i == 0)
				third_ns = at_ns;
		}
	hs_stream_pace_set_rate(&fixture.stream->pace, START_NS + third_ns + 777, 10);
	assert_int_equal(due_of(&fixture), third_ns + 777);
	for (int i = 1; i < 20; i++)
		assert_int_equal(due_of(&fixture), third_ns + 777 + i * INT64_C(100000000));
	assert_int_equal(due_of(&fixture), due_of(&other));

	// Within a burst whose last packet was already sent.
	int64_t fourth_ns = due_of(&other) - 100000;
	for (int i = 1; i < 20; i++)
		due_of(&fixture);
	hs_stream_pace_set_rate(&fixture.stream->pace, START_NS + fourth_ns + 1950000000, 10000);
	assert_int_equal(due_of(&fixture), fourth_ns + 1950000000);
	hs_stream_destroy(fixture.stream);
	hs_stream_destroy(other.stream);
}

// ---- Poisson ----

static void poisson_gaps_have_mean_and_variance_of_the_exponential(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	const int n = 400000;
	double sum = 0, squares = 0;
	int64_t before_ns = 0;

	stream_prepare(&fixture);
	fixture.traffic.kind = HS_TRAFFIC_POISSON;
	fixture.traffic.rate_pps = 1e8; // gaps of 10 ns: losing half of one would show
	stream_open(&fixture, 11);
	for (int i = 0; i < n; i++) {
		int64_t at_ns = due_of(&fixture);
		double gap_ns = (double)(at_ns - before_ns);
		sum += gap_ns;
		squares += gap_ns * gap_ns;
		before_ns = at_ns;
	}
	double mean_ns = sum / n;
	double variance = squares / n - mean_ns * mean_ns;
	// Four standard errors: 10 / sqrt(n) = 0.0158 and 100 * sqrt(8 / n) = 0.447; whole
	// nanoseconds add 1/6 to the variance.
	assert_true(mean_ns > 10 - 0.064 && mean_ns < 10 + 0.064);
	assert_true(variance > 100 - 1.8 && variance < 100 + 2.0);
	hs_stream_destroy(fixture.stream);
}

static void the_same_seed_gives_the_same_times_and_another_others(void **state)
{
	(void)state;
	static const enum hs_traffic_kind kinds[] = {HS_TRAFFIC_POISSON, HS_TRAFFIC_BURSTY};
	for (int k = 0; k < 2; k++) {
		struct stream_fixture fixtures[3];
		bool differs = false;
		for (int i = 0; i < 3; i++) {
			stream_prepare(&fixtures[i]);
			fixtures[i].traffic.kind = kinds[k];
			stream_open(&fixtures[i], i < 2 ? 42 : 43);
		}
		for (int i = 0; i < 50000; i++) {
			int64_t at_ns = due_of(&fixtures[0]);
			assert_int_equal(due_of(&fixtures[1]), at_ns);
			differs = differs || due_of(&fixtures[2]) != at_ns;
		}
		assert_true(differs);
		for (int i = 0; i < 3; i++)
			hs_stream_destroy(fixtures[i].stream);
	}
}

static void entries_of_one_scenario_draw_numbers_of_their_own(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_scenario_traffic entries[2];
	struct hs_stream *streams[2];

	stream_prepare(&fixture);
	fixture.traffic.kind = HS_TRAFFIC_POISSON;
	for (uint32_t i = 0; i < 2; i++)
		entries[i] = fixture.traffic;
	fixture.scenario.traffic = entries;
	fixture.scenario.n_traffic = 2;
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(hs_stream_create(&fixture.scenario, i, 7, START_NS, &stream_macs,
						 &streams[i], &fixture.err),
				0);
	assert_true(hs_stream_next_ns(streams[0]) != hs_stream_next_ns(streams[1]));
	for (uint32_t i = 0; i < 2; i++)
		hs_stream_destroy(streams[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(constant_pacing_is_exact_over_a_million_packets),
			cmocka_unit_test(
					nothing_is_due_at_the_stop_or_beyond_the_number_of_packets),
			cmocka_unit_test(a_frame_before_its_time_is_not_sent),
			cmocka_unit_test(a_new_rate_begins_now),
			cmocka_unit_test(a_new_rate_before_the_start_waits_for_it),
			cmocka_unit_test(
					each_burst_has_its_packets_and_follows_at_once_where_it_was_due),
			cmocka_unit_test(every_burst_is_paced_from_its_own_start),
			cmocka_unit_test(bursts_start_every_five_seconds_on_average),
			cmocka_unit_test(the_first_start_is_drawn_too),
			cmocka_unit_test(a_new_rate_keeps_bursts_where_they_are),
			cmocka_unit_test(poisson_gaps_have_mean_and_variance_of_the_exponential),
			cmocka_unit_test(the_same_seed_gives_the_same_times_and_another_others),
			cmocka_unit_test(entries_of_one_scenario_draw_numbers_of_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

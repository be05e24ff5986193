// SPDX-License-Identifier: BSD-3-Clause
#include "stream_fixture.h"

#include <stdlib.h>

static int64_t due_of(struct hs_stream *stream)
{
	int64_t due_ns = hs_stream_next_ns(stream);
	assert_true(due_ns != NEVER_NS && hs_stream_send(stream, due_ns, &s.frame));
	return due_ns - START_NS;
}

static int64_t due(void)
{
	return due_of(s.stream);
}

static void set_rate(int64_t at_ns, double rate_pps)
{
	hs_stream_pace_set_rate(&s.stream->pace, START_NS + at_ns, rate_pps);
}

static void assert_paced(double rate_pps, int64_t numerator, int64_t denominator)
{
	stream_prepare();
	s.traffic.rate_pps = rate_pps;
	s.traffic.start_ns = 12345;
	s.traffic.stop_ns = INT64_C(4000000) * SECOND_NS;
	stream_open(1);
	for (int64_t n = 0; n < 1000000; n++) {
		int64_t due_ns = 12345 +
				 (int64_t)((__int128)n * SECOND_NS * denominator / numerator);
		if (due() != due_ns)
			fail_msg("%g/s, packet %lld", rate_pps, (long long)n);
	}
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

static uint64_t count_all(void)
{
	uint64_t n = 0;
	while (stream_next()) {
		n++;
		assert_int_equal(s.frame.number, n);
		assert_false(s.frame.reply);
	}
	return n;
}

static void nothing_is_due_at_the_stop_or_beyond_the_number_of_packets(void **state)
{
	(void)state;
	stream_prepare();
	s.traffic.start_ns = SECOND_NS;
	s.traffic.stop_ns = 3 * SECOND_NS;
	stream_open(1);
	assert_int_equal(count_all(), 2000);
	assert_int_equal(s.at_ns, 3 * SECOND_NS - 1000000);

	s.traffic.packets = 17;
	stream_open(1);
	assert_int_equal(count_all(), 17);
	set_rate(2 * SECOND_NS, 5);
	assert_int_equal(hs_stream_next_ns(s.stream), NEVER_NS);
}

static void a_frame_before_its_time_is_not_sent(void **state)
{
	(void)state;
	stream_prepare();
	s.traffic.start_ns = 10;
	stream_open(1);
	assert_int_equal(hs_stream_next_ns(s.stream), START_NS + 10);
	assert_false(hs_stream_send(s.stream, START_NS + 9, &s.frame));
	assert_true(hs_stream_send(s.stream, START_NS + 10, &s.frame));
	assert_false(hs_stream_send(s.stream, START_NS + 10, &s.frame));
}

static void a_new_rate_begins_now(void **state)
{
	(void)state;
	stream_prepare();
	stream_open(1);
	due();
	set_rate(500, 3);
	assert_int_equal(due(), 500);
	assert_int_equal(due(), 500 + 333333333);
	assert_int_equal(due(), 500 + 666666666);
	assert_int_equal(due(), 500 + 1000000000);
	set_rate(2 * SECOND_NS, 0);
	assert_int_equal(hs_stream_next_ns(s.stream), NEVER_NS);
	set_rate(3 * SECOND_NS, 1000);
	assert_int_equal(due(), 3 * SECOND_NS);
	assert_int_equal(due(), 3 * SECOND_NS + 1000000);
}

static void a_new_rate_before_the_start_waits_for_it(void **state)
{
	(void)state;
	stream_prepare();
	s.traffic.start_ns = SECOND_NS;
	s.traffic.rate_pps = 0;
	stream_open(1);
	assert_int_equal(hs_stream_next_ns(s.stream), NEVER_NS);
	set_rate(7, 10);
	assert_int_equal(due(), SECOND_NS);
	assert_int_equal(due(), SECOND_NS + SECOND_NS / 10);
}

// ---- bursts ----

static void open_bursty(uint64_t seed, double rate_pps, int64_t seconds)
{
	stream_prepare();
	s.traffic.kind = HS_TRAFFIC_BURSTY;
	s.traffic.rate_pps = rate_pps;
	s.traffic.stop_ns = seconds * SECOND_NS;
	stream_open(seed);
}

static void each_burst_has_its_packets_and_follows_at_once_where_it_was_due(void **state)
{
	(void)state;
	int64_t begin_ns = -1, previous_ns = -1;
	int bursts = 0, adjacent = 0;

	open_bursty(3, 10000, 600);
	while (hs_stream_next_ns(s.stream) != NEVER_NS &&
			hs_stream_next_ns(s.stream) < START_NS + 590 * SECOND_NS) {
		begin_ns = due();
		assert_true(begin_ns > 0);
		if (bursts)
			assert_true(begin_ns >= previous_ns + 2 * SECOND_NS);
		adjacent += bursts && begin_ns == previous_ns + 2 * SECOND_NS;
		for (int i = 1; i < 20000; i++)
			if (due() != begin_ns + i * INT64_C(100000))
				fail_msg("burst %d, packet %d", bursts, i);
		previous_ns = begin_ns;
		bursts++;
	}
	// A third of the bursts are due while another runs or waits: 1 - exp(-2/5) and a little
	// more.
	assert_in_range(bursts, 90, 150);
	assert_in_range(adjacent, bursts / 4, bursts / 2);
}

static void every_burst_is_paced_from_its_own_start(void **state)
{
	(void)state;
	open_bursty(5, 0.7, 3600);
	for (int burst = 0; burst < 50; burst++) {
		int64_t begin_ns = due();
		assert_int_equal(due() - begin_ns, 1428571428);
	}
}

// With one packet a burst, many bursts run quickly. The mean of 20,000 starts is within four
// standard errors (5 s / sqrt(20,000) = 35 ms each) of 5 s.
static void bursts_start_every_five_seconds_on_average(void **state)
{
	(void)state;
	open_bursty(5, 0.5, 1000000);
	int64_t first_ns = due(), last_ns = 0;
	for (int i = 0; i < 20000; i++)
		last_ns = due();
	int64_t mean_ns = (last_ns - first_ns) / 20000;
	assert_in_range(mean_ns, 4860000000, 5140000000);
}

static void the_first_start_is_drawn_too(void **state)
{
	(void)state;
	int64_t sum_ns = 0;
	for (uint64_t seed = 0; seed < 4000; seed++) {
		open_bursty(seed, 10000, 100000);
		sum_ns += due();
	}
	assert_in_range(sum_ns / 4000, 4680000000, 5320000000);
}

static void a_new_rate_keeps_bursts_where_they_are(void **state)
{
	(void)state;
	open_bursty(8, 10000, 100000);
	struct hs_stream *other = s.stream;
	s.stream = NULL;
	stream_open(8);
	int64_t first_ns = due();

	// Nothing is sent for the rest of the burst. The bursts after it keep their times.
	set_rate(first_ns + 1000, 0);
	assert_int_equal(hs_stream_next_ns(s.stream), NEVER_NS);
	int64_t third_ns = 0;
	for (int burst = 0; burst < 3; burst++)
		for (int i = 0; i < 20000; i++) {
			int64_t at_ns = due_of(other);
			if (i == 0)
				third_ns = at_ns;
		}
	set_rate(third_ns + 777, 10);
	assert_int_equal(due(), third_ns + 777);
	for (int i = 1; i < 20; i++)
		assert_int_equal(due(), third_ns + 777 + i * INT64_C(100000000));
	assert_int_equal(due(), due_of(other));

	// Within a burst whose last packet was already sent.
	int64_t fourth_ns = due_of(other) - 100000;
	for (int i = 1; i < 20; i++)
		due();
	set_rate(fourth_ns + 1950000000, 10000);
	assert_int_equal(due(), fourth_ns + 1950000000);
	hs_stream_destroy(other);
}

// ---- Poisson ----

static void poisson_gaps_have_mean_and_variance_of_the_exponential(void **state)
{
	(void)state;
	const int n = 400000;
	double sum = 0, squares = 0;
	int64_t before_ns = 0;

	stream_prepare();
	s.traffic.kind = HS_TRAFFIC_POISSON;
	s.traffic.rate_pps = 1e8; // gaps of 10 ns: losing half of one would show
	stream_open(11);
	for (int i = 0; i < n; i++) {
		int64_t at_ns = due();
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
}

static void the_same_seed_gives_the_same_times_and_another_others(void **state)
{
	(void)state;
	static const enum hs_traffic_kind kinds[] = {HS_TRAFFIC_POISSON, HS_TRAFFIC_BURSTY};
	for (int k = 0; k < 2; k++) {
		struct hs_stream *streams[3];
		bool differs = false;
		stream_prepare();
		s.traffic.kind = kinds[k];
		for (int i = 0; i < 3; i++) {
			stream_open(i < 2 ? 42 : 43);
			streams[i] = s.stream;
			s.stream = NULL;
		}
		for (int i = 0; i < 50000; i++) {
			int64_t at_ns = due_of(streams[0]);
			assert_int_equal(due_of(streams[1]), at_ns);
			differs = differs || due_of(streams[2]) != at_ns;
		}
		assert_true(differs);
		for (int i = 0; i < 3; i++)
			hs_stream_destroy(streams[i]);
	}
}

static void entries_of_one_scenario_draw_numbers_of_their_own(void **state)
{
	(void)state;
	struct hs_scenario_traffic entries[2];
	struct hs_stream *streams[2];

	stream_prepare();
	s.traffic.kind = HS_TRAFFIC_POISSON;
	for (uint32_t i = 0; i < 2; i++)
		entries[i] = s.traffic;
	s.scenario.traffic = entries;
	s.scenario.n_traffic = 2;
	for (uint32_t i = 0; i < 2; i++)
		assert_int_equal(hs_stream_create(&s.scenario, i, 7, START_NS, &stream_macs,
						 &streams[i], &s.err),
				0);
	assert_true(hs_stream_next_ns(streams[0]) != hs_stream_next_ns(streams[1]));
	for (uint32_t i = 0; i < 2; i++)
		hs_stream_destroy(streams[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(constant_pacing_is_exact_over_a_million_packets),
			TEST(nothing_is_due_at_the_stop_or_beyond_the_number_of_packets),
			TEST(a_frame_before_its_time_is_not_sent),
			TEST(a_new_rate_begins_now),
			TEST(a_new_rate_before_the_start_waits_for_it),
			TEST(each_burst_has_its_packets_and_follows_at_once_where_it_was_due),
			TEST(every_burst_is_paced_from_its_own_start),
			TEST(bursts_start_every_five_seconds_on_average),
			TEST(the_first_start_is_drawn_too),
			TEST(a_new_rate_keeps_bursts_where_they_are),
			TEST(poisson_gaps_have_mean_and_variance_of_the_exponential),
			TEST(the_same_seed_gives_the_same_times_and_another_others),
			TEST(entries_of_one_scenario_draw_numbers_of_their_own),
	};
	return cmocka_run_group_tests(tests, NULL, stream_end);
}

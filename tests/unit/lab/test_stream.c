// SPDX-License-Identifier: BSD-3-Clause
#include "stream_fixture.h"

#define MILLION_NS INT64_C(1000000)

static void open_ping(void)
{
	stream_prepare();
	s.traffic.kind = HS_TRAFFIC_PING;
	s.traffic.protocol = IPPROTO_ICMPV6;
	s.traffic.payload_bytes = 56;
	s.traffic.rate_pps = 100;
	s.traffic.packets = 3;
	s.traffic.reply_delay_ns = 7;
	stream_open(1);
}

static void a_ping_is_answered_and_its_trip_recorded(void **state)
{
	(void)state;
	open_ping();
	for (uint64_t number = 1; number <= 3; number++) {
		int64_t sent_ns = (int64_t)(number - 1) * 10 * MILLION_NS;
		assert_next_at(sent_ns);
		assert_false(s.frame.reply);
		stream_arrive(sent_ns + 1000);
		assert_int_equal(s.stream->n_trips, number - 1);

		assert_next_at(sent_ns + 1007);
		assert_true(s.frame.reply);
		assert_int_equal(s.frame.number, number);
		stream_arrive(sent_ns + 3000 + (int64_t)number);
		assert_int_equal(s.stream->n_trips, number);
		const struct hs_stream_trip *trip = &s.stream->trips[number - 1];
		assert_int_equal(trip->number, number);
		assert_int_equal(trip->sent_ns, START_NS + sent_ns);
		assert_int_equal(trip->rtt_ns, 3000 + number);
	}
	ASSERT_COUNTERS(.sent = {3, 3}, .delivered = {3, 3}, .bytes_sent = {3 * 118, 3 * 118},
			.bytes_delivered = {3 * 118, 3 * 118}, .bytes_goodput = 3 * 56);
	assert_int_equal(hs_stream_next_ns(s.stream), NEVER_NS);
}

static void copies_of_a_ping_are_answered_and_make_one_trip(void **state)
{
	(void)state;
	open_ping();
	assert_true(stream_next());
	stream_arrive(100);
	stream_arrive(200);
	for (int copy = 1; copy <= 2; copy++) {
		assert_next_at(copy * 100 + 7);
		assert_true(s.frame.reply);
		assert_int_equal(s.frame.number, 1);
		stream_arrive(1000 * copy);
	}
	assert_int_equal(s.stream->n_trips, 1);
	assert_int_equal(s.stream->trips->rtt_ns, 1000);
	ASSERT_COUNTERS(.sent = {1, 2}, .delivered = {2, 2}, .bytes_sent = {118, 2 * 118},
			.bytes_delivered = {2 * 118, 2 * 118}, .bytes_goodput = 2 * 56);
}

// The frame arrives with an altered byte.
static void arrive_altered(int64_t at_ns)
{
	uint8_t bytes[200];

	memcpy(bytes, s.frame.bytes, s.frame.len);
	bytes[80] ^= 4;
	hs_stream_arrived(s.stream, START_NS + at_ns, s.frame.reply, 1, bytes, s.frame.len);
}

static void an_altered_ping_is_not_answered(void **state)
{
	(void)state;
	open_ping();
	assert_true(stream_next());
	arrive_altered(10);
	assert_int_equal(hs_stream_next_ns(s.stream), START_NS + 10 * MILLION_NS);
	stream_arrive(20);
	assert_true(stream_next());
	arrive_altered(30);
	assert_int_equal(s.stream->n_trips, 0);
	ASSERT_COUNTERS(.sent = {1, 1}, .delivered = {2, 1}, .altered = 2, .bytes_sent = {118, 118},
			.bytes_delivered = {2 * 118, 118}, .bytes_goodput = 56);
}

static void replies_of_ten_thousand_pings_under_way_come_in_order(void **state)
{
	(void)state;
	stream_prepare();
	s.traffic.kind = HS_TRAFFIC_PING;
	s.traffic.protocol = IPPROTO_ICMPV6;
	s.traffic.packets = 20000;
	s.traffic.reply_delay_ns = 10 * SECOND_NS;
	stream_open(1);
	uint64_t answered = 0;
	while (stream_next()) {
		if (s.frame.reply)
			assert_int_equal(s.frame.number, ++answered);
		stream_arrive(s.at_ns);
	}
	assert_int_equal(s.stream->n_trips, 20000);
	for (size_t i = 0; i < 20000; i++)
		assert_int_equal(s.stream->trips[i].rtt_ns, 10 * SECOND_NS);
	assert_int_equal(s.stream->status, 0);
}

static void extra_frames_go_at_their_times_whatever_the_limits(void **state)
{
	(void)state;
	stream_prepare();
	s.traffic.stop_ns = MILLION_NS + 1;
	stream_open(1);
	static const int64_t expected[] = {
			0, MILLION_NS, SECOND_NS, SECOND_NS, 2 * SECOND_NS, 3 * SECOND_NS};
	for (size_t i = 0; i < 6; i++) {
		if (expected[i] >= SECOND_NS)
			s.stream->extra_ns = START_NS + expected[i];
		assert_next_at(expected[i]);
		assert_int_equal(s.frame.number, i + 1);
		stream_arrive(s.at_ns);
	}
	assert_false(stream_next());
	ASSERT_COUNTERS(.sent = {6}, .delivered = {6}, .bytes_sent = {6 * 562},
			.bytes_delivered = {6 * 562}, .bytes_goodput = 6 * 500);
}

static void an_extra_frame_leaves_the_pacing_alone(void **state)
{
	(void)state;
	static const int64_t expected[] = {0, 500000, MILLION_NS, 2 * MILLION_NS};

	stream_prepare();
	s.traffic.packets = 3;
	stream_open(1);
	s.stream->extra_ns = START_NS + 500000;
	for (int i = 0; i < 4; i++) {
		assert_next_at(expected[i]);
	}
	assert_false(stream_next());
}

static void a_relay_sends_a_frame_for_each_that_came_within_its_limits(void **state)
{
	(void)state;
	stream_prepare();
	s.traffic.kind = HS_TRAFFIC_RELAY;
	s.traffic.rate_pps = 0;
	s.traffic.start_ns = 10;
	s.traffic.stop_ns = 1000;
	s.traffic.packets = 4;
	stream_open(1);
	assert_int_equal(hs_stream_next_ns(s.stream), NEVER_NS);
	static const int64_t came[] = {9, 10, 500, 500, 1000, 999, 999};
	static const uint64_t sent[] = {0, 1, 2, 3, 3, 4, 4};
	for (size_t i = 0; i < sizeof(came) / sizeof(came[0]); i++) {
		hs_stream_relay(s.stream, START_NS + came[i]);
		if (came[i] == 500 && came[i + 1] == 500)
			hs_stream_relay(s.stream, START_NS + came[++i]); // both wait
		while (stream_next())
			assert_int_equal(s.at_ns, came[i]);
		assert_int_equal(s.stream->counters.sent[0], sent[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_ping_is_answered_and_its_trip_recorded),
			TEST(copies_of_a_ping_are_answered_and_make_one_trip),
			TEST(an_altered_ping_is_not_answered),
			TEST(replies_of_ten_thousand_pings_under_way_come_in_order),
			TEST(extra_frames_go_at_their_times_whatever_the_limits),
			TEST(an_extra_frame_leaves_the_pacing_alone),
			TEST(a_relay_sends_a_frame_for_each_that_came_within_its_limits),
	};
	return cmocka_run_group_tests(tests, NULL, stream_end);
}

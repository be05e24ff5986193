// SPDX-License-Identifier: BSD-3-Clause
#include "stream_fixture.h"

#define MILLION_NS INT64_C(1000000)

static void open_ping(struct stream_fixture *fixture)
{
	stream_prepare(fixture);
	fixture->traffic.kind = HS_TRAFFIC_PING;
	fixture->traffic.protocol = IPPROTO_ICMPV6;
	fixture->traffic.payload_bytes = 56;
	fixture->traffic.rate_pps = 100;
	fixture->traffic.packets = 3;
	fixture->traffic.reply_delay_ns = 7;
	stream_open(fixture, 1);
}

static void arrive(
		struct stream_fixture *fixture, int64_t at_ns, const struct hs_stream_frame *frame)
{
	hs_stream_arrived(fixture->stream, START_NS + at_ns, frame->reply, frame->number,
			frame->bytes, frame->len);
}

static void a_ping_is_answered_and_its_trip_recorded(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame request, reply;
	int64_t at_ns = 0;
	size_t n;

	open_ping(&fixture);
	for (uint64_t number = 1; number <= 3; number++) {
		int64_t sent_ns = (int64_t)(number - 1) * 10 * MILLION_NS;
		assert_true(stream_next(&fixture, &at_ns, &request));
		assert_int_equal(at_ns, sent_ns);
		assert_false(request.reply);
		arrive(&fixture, sent_ns + 1000, &request);
		n = fixture.stream->n_trips;
		assert_int_equal(n, number - 1);

		assert_true(stream_next(&fixture, &at_ns, &reply));
		assert_int_equal(at_ns, sent_ns + 1007);
		assert_true(reply.reply);
		assert_int_equal(reply.number, number);
		arrive(&fixture, sent_ns + 3000 + (int64_t)number, &reply);
	}
	const struct hs_stream_trip *trips = fixture.stream->trips;
	n = fixture.stream->n_trips;
	assert_int_equal(n, 3);
	for (uint64_t number = 1; number <= 3; number++) {
		const struct hs_stream_trip *trip = &trips[number - 1];
		assert_int_equal(trip->number, number);
		assert_int_equal(trip->sent_ns, START_NS + (int64_t)(number - 1) * 10 * MILLION_NS);
		assert_int_equal(trip->rtt_ns, 3000 + number);
	}
	const struct hs_stream_counters counters = fixture.stream->counters;
	for (int direction = 0; direction < 2; direction++) {
		assert_int_equal(counters.sent[direction], 3);
		assert_int_equal(counters.delivered[direction], 3);
		assert_int_equal(counters.bytes_sent[direction], 3 * 118);
		assert_int_equal(counters.bytes_delivered[direction], 3 * 118);
	}
	assert_int_equal(counters.altered, 0);
	assert_int_equal(counters.bytes_goodput, 3 * 56);
	assert_int_equal(hs_stream_next_ns(fixture.stream), NEVER_NS);
	hs_stream_destroy(fixture.stream);
}

static void copies_of_a_ping_are_answered_and_make_one_trip(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	int64_t at_ns = 0;

	open_ping(&fixture);
	assert_true(stream_next(&fixture, &at_ns, &frame));
	arrive(&fixture, 100, &frame);
	arrive(&fixture, 200, &frame);
	for (int copy = 1; copy <= 2; copy++) {
		assert_true(stream_next(&fixture, &at_ns, &frame));
		assert_int_equal(at_ns, copy * 100 + 7);
		assert_true(frame.reply);
		assert_int_equal(frame.number, 1);
		arrive(&fixture, 1000 * copy, &frame);
	}
	size_t n = fixture.stream->n_trips;
	assert_int_equal(fixture.stream->trips->rtt_ns, 1000);
	assert_int_equal(n, 1);
	const struct hs_stream_counters counters = fixture.stream->counters;
	assert_int_equal(counters.sent[1], 2);
	assert_int_equal(counters.delivered[1], 2);
	assert_int_equal(counters.altered, 0);
	hs_stream_destroy(fixture.stream);
}

static void an_altered_ping_is_not_answered(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	uint8_t bytes[200];
	int64_t at_ns = 0;

	open_ping(&fixture);
	assert_true(stream_next(&fixture, &at_ns, &frame));
	memcpy(bytes, frame.bytes, frame.len);
	bytes[80] ^= 4;
	hs_stream_arrived(fixture.stream, START_NS + 10, false, 1, bytes, frame.len);
	assert_int_equal(hs_stream_next_ns(fixture.stream), START_NS + 10 * MILLION_NS);
	arrive(&fixture, 20, &frame);
	assert_true(stream_next(&fixture, &at_ns, &frame));
	memcpy(bytes, frame.bytes, frame.len);
	bytes[80] ^= 4;
	hs_stream_arrived(fixture.stream, START_NS + 30, true, 1, bytes, frame.len);
	size_t n = fixture.stream->n_trips;
	assert_int_equal(n, 0);
	const struct hs_stream_counters counters = fixture.stream->counters;
	assert_int_equal(counters.altered, 2);
	assert_int_equal(counters.delivered[0], 2);
	assert_int_equal(counters.bytes_goodput, 56);
	hs_stream_destroy(fixture.stream);
}

static void replies_of_ten_thousand_pings_under_way_come_in_order(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	int64_t at_ns = 0;

	stream_prepare(&fixture);
	fixture.traffic.kind = HS_TRAFFIC_PING;
	fixture.traffic.protocol = IPPROTO_ICMPV6;
	fixture.traffic.packets = 20000;
	fixture.traffic.reply_delay_ns = 10 * SECOND_NS;
	stream_open(&fixture, 1);
	uint64_t answered = 0;
	while (stream_next(&fixture, &at_ns, &frame)) {
		if (frame.reply)
			assert_int_equal(frame.number, ++answered);
		arrive(&fixture, at_ns, &frame);
	}
	const struct hs_stream_trip *trips = fixture.stream->trips;
	size_t n = fixture.stream->n_trips;
	assert_int_equal(n, 20000);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(trips[i].rtt_ns, 10 * SECOND_NS);
	assert_int_equal(fixture.stream->status, 0);
	hs_stream_destroy(fixture.stream);
}

static void extra_frames_go_at_their_times_whatever_the_limits(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	int64_t at_ns = 0;

	stream_prepare(&fixture);
	fixture.traffic.stop_ns = MILLION_NS + 1;
	stream_open(&fixture, 1);
	static const int64_t expected[] = {
			0, MILLION_NS, SECOND_NS, SECOND_NS, 2 * SECOND_NS, 3 * SECOND_NS};
	for (size_t i = 0; i < 6; i++) {
		if (expected[i] >= SECOND_NS)
			fixture.stream->extra_ns = START_NS + expected[i];
		assert_true(stream_next(&fixture, &at_ns, &frame));
		assert_int_equal(at_ns, expected[i]);
		assert_int_equal(frame.number, i + 1);
		arrive(&fixture, at_ns, &frame);
	}
	assert_false(stream_next(&fixture, &at_ns, &frame));
	const struct hs_stream_counters counters = fixture.stream->counters;
	assert_int_equal(counters.sent[0], 6);
	assert_int_equal(counters.bytes_sent[0], 6 * 562);
	assert_int_equal(counters.bytes_goodput, 6 * 500);
	assert_int_equal(counters.altered, 0);
	hs_stream_destroy(fixture.stream);
}

static void an_extra_frame_leaves_the_pacing_alone(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	int64_t at_ns = 0;
	static const int64_t expected[] = {0, 500000, MILLION_NS, 2 * MILLION_NS};

	stream_prepare(&fixture);
	fixture.traffic.packets = 3;
	stream_open(&fixture, 1);
	fixture.stream->extra_ns = START_NS + 500000;
	for (int i = 0; i < 4; i++) {
		assert_true(stream_next(&fixture, &at_ns, &frame));
		assert_int_equal(at_ns, expected[i]);
	}
	assert_false(stream_next(&fixture, &at_ns, &frame));
	hs_stream_destroy(fixture.stream);
}

static void a_relay_sends_a_frame_for_each_that_came_within_its_limits(void **state)
{
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	int64_t at_ns = 0;

	(void)state;
	stream_prepare(&fixture);
	fixture.traffic.kind = HS_TRAFFIC_RELAY;
	fixture.traffic.rate_pps = 0;
	fixture.traffic.start_ns = 10;
	fixture.traffic.stop_ns = 1000;
	fixture.traffic.packets = 4;
	stream_open(&fixture, 1);
	assert_int_equal(hs_stream_next_ns(fixture.stream), NEVER_NS);
	static const int64_t came[] = {9, 10, 500, 500, 1000, 999, 999};
	static const uint64_t sent[] = {0, 1, 2, 3, 3, 4, 4};
	for (size_t i = 0; i < sizeof(came) / sizeof(came[0]); i++) {
		hs_stream_relay(fixture.stream, START_NS + came[i]);
		if (came[i] == 500 && came[i + 1] == 500)
			hs_stream_relay(fixture.stream, START_NS + came[++i]); // both wait
		while (stream_next(&fixture, &at_ns, &frame))
			assert_int_equal(at_ns, came[i]);
		assert_int_equal(fixture.stream->counters.sent[0], sent[i]);
	}
	hs_stream_destroy(fixture.stream);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_ping_is_answered_and_its_trip_recorded),
			cmocka_unit_test(copies_of_a_ping_are_answered_and_make_one_trip),
			cmocka_unit_test(an_altered_ping_is_not_answered),
			cmocka_unit_test(replies_of_ten_thousand_pings_under_way_come_in_order),
			cmocka_unit_test(extra_frames_go_at_their_times_whatever_the_limits),
			cmocka_unit_test(an_extra_frame_leaves_the_pacing_alone),
			cmocka_unit_test(
					a_relay_sends_a_frame_for_each_that_came_within_its_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

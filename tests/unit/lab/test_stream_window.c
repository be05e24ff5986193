// SPDX-License-Identifier: BSD-3-Clause
#include "stream_fixture.h"

#include "rng.h"

#include <stdlib.h>

#define PAYLOAD	   1440
#define FRAME	   (74 + PAYLOAD)
#define UNDER_WAY  8192
#define MILLION_NS INT64_C(1000000)

struct flight {
	int64_t at_ns;
	bool reply;
	uint64_t number;
	uint32_t len;
	uint8_t bytes[FRAME];
};

// Both directions of a path. Towards the receiver there is a rate with a tail-drop queue, then a
// fixed delay. The other direction has only the delay.
static struct {
	int64_t bit_ps; // picoseconds of a bit; 0: no limit
	uint32_t queue_packets;
	int64_t delay_ns[2];
	uint32_t jitter_ns;	     // added to the delay: frames overtake each other
	unsigned lose_percent;	     // of all frames
	uint64_t lose_from, lose_to; // and requests with these numbers, to lose_to exclusively
	unsigned copies;	     // copies of each frame that arrives

	struct hs_rng rng;
	int64_t now_ns, free_ns, round;
	uint64_t dropped, frames, most_under_way, hash;
	uint64_t last_number[2];
	uint64_t first[2], end[2]; // of the flights
} path;
static struct flight flights[2][UNDER_WAY]; // rings, first in, first out

// packets 0: no limit; window 0: the largest that there is.
static void path_prepare(uint64_t packets, uint32_t window)
{
	stream_prepare();
	s.traffic.packets = packets;
	s.traffic.window_packets = window;
	s.traffic.kind = HS_TRAFFIC_WINDOW;
	s.traffic.protocol = IPPROTO_TCP;
	s.traffic.payload_bytes = PAYLOAD;
	s.traffic.rate_pps = 0;
	memset(&path, 0, sizeof(path));
	path.delay_ns[0] = 10 * MILLION_NS;
	path.delay_ns[1] = 10 * MILLION_NS;
	path.now_ns = START_NS;
	hs_rng_init(&path.rng, 99);
}

// Returns when the frame arrives, or -1 if the queue is full.
static int64_t pass(const struct hs_stream_frame *frame)
{
	if (frame->reply || !path.bit_ps)
		return path.now_ns + path.delay_ns[frame->reply];
	int64_t takes_ns = frame->len * 8 * path.bit_ps / 1000;
	if (path.free_ns < path.now_ns)
		path.free_ns = path.now_ns;
	if (path.free_ns - path.now_ns > path.queue_packets * takes_ns)
		return -1;
	path.free_ns += takes_ns;
	return path.free_ns + path.delay_ns[0];
}

static bool is_lost(const struct hs_stream_frame *frame)
{
	if (!frame->reply && frame->number >= path.lose_from && frame->number < path.lose_to)
		return true;
	return path.lose_percent && hs_rng_u32(&path.rng) % 100 < path.lose_percent;
}

static void launch(void)
{
	const struct hs_stream_frame *frame = &s.frame;
	bool reply = frame->reply;
	assert_int_equal(frame->number, path.last_number[reply] + 1);
	path.last_number[reply] = frame->number;
	path.frames += !reply;
	path.hash = (path.hash ^ (uint64_t)path.now_ns ^ frame->number ^ (uint64_t)reply << 63) *
		    UINT64_C(0x100000001b3);

	int64_t at_ns = is_lost(frame) ? -1 : pass(frame);
	if (at_ns < 0) {
		path.dropped++;
		return;
	}
	assert_true(path.end[reply] - path.first[reply] < UNDER_WAY);
	if (path.jitter_ns)
		at_ns += hs_rng_u32(&path.rng) % path.jitter_ns;
	uint64_t at = path.end[reply]++;
	struct flight *ring = flights[reply];
	for (; at > path.first[reply] && ring[(at - 1) % UNDER_WAY].at_ns > at_ns; at--)
		ring[at % UNDER_WAY] = ring[(at - 1) % UNDER_WAY];
	struct flight *flight = &ring[at % UNDER_WAY];
	flight->at_ns = at_ns;
	flight->reply = reply;
	flight->number = frame->number;
	flight->len = frame->len;
	memcpy(flight->bytes, frame->bytes, frame->len);
	uint64_t under_way = path.end[0] - path.first[0] + path.end[1] - path.first[1];
	if (under_way > path.most_under_way)
		path.most_under_way = under_way;
}

static int64_t head_ns(int direction)
{
	return path.first[direction] < path.end[direction]
			       ? flights[direction][path.first[direction] % UNDER_WAY].at_ns
			       : NEVER_NS;
}

static void land(int direction)
{
	const struct flight *flight = &flights[direction][path.first[direction]++ % UNDER_WAY];
	for (unsigned i = 0; i <= path.copies; i++)
		hs_stream_arrived(s.stream, path.now_ns, flight->reply, flight->number,
				flight->bytes, flight->len);
}

// Runs the next event if it comes before the end. Returns false if there is none.
static bool path_step(int64_t end_ns)
{
	int64_t due_ns = hs_stream_next_ns(s.stream);
	int64_t heads_ns[2] = {head_ns(0), head_ns(1)};
	int direction = heads_ns[1] < heads_ns[0];
	int64_t next_ns = due_ns < heads_ns[direction] ? due_ns : heads_ns[direction];

	if (next_ns >= end_ns || next_ns == NEVER_NS)
		return false;
	assert_true(next_ns >= path.now_ns);
	path.now_ns = next_ns;
	if (next_ns < due_ns) {
		land(direction);
	} else {
		assert_true(hs_stream_send(s.stream, path.now_ns, &s.frame));
		launch();
	}
	return true;
}

static void path_run(int64_t seconds)
{
	stream_open(1);
	while (path_step(START_NS + seconds * SECOND_NS))
		;
}

static struct hs_stream_counters path_counters(void)
{
	const struct hs_stream_counters counters = s.stream->counters;
	assert_int_equal(counters.altered, 0);
	assert_int_equal(s.stream->status, 0);
	return counters;
}

// Loses n frames from this number on.
static void lose(uint64_t from, uint64_t n)
{
	path.lose_from = from;
	path.lose_to = from + n;
}

// ---- the window ----

static void the_window_fills_the_bottleneck(void **state)
{
	(void)state;
	static const struct {
		int64_t rate_mbps;
		uint32_t queue_packets;
	} rows[] = {{10, 20}, {10, 100}, {10, 1000}, {100, 200}, {100, 2000}};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		path_prepare(0, 0);
		path.bit_ps = 1000000 / rows[i].rate_mbps;
		path.queue_packets = rows[i].queue_packets;
		path_run(60);
		double bits = (double)path_counters().bytes_goodput * 8 * FRAME / PAYLOAD;
		double share = bits / (60e6 * (double)rows[i].rate_mbps);
		if (share < 0.9 || share > 1.0)
			fail_msg("%lld Mbit/s, queue %u: goodput is %.3f of the rate",
					(long long)rows[i].rate_mbps, rows[i].queue_packets, share);
		assert_true(path.dropped > 0);
	}
}

// Returns the data frames sent in each round trip of 20 ms.
static uint64_t round_trip_frames(void)
{
	uint64_t before = path.frames;
	path.round++;
	while (path_step(START_NS + path.round * 20 * MILLION_NS))
		;
	return path.frames - before;
}

static void the_window_doubles_in_each_round_trip_up_to_the_largest(void **state)
{
	(void)state;
	static const uint64_t expected[] = {10, 20, 40, 80, 160, 200, 200, 200};
	path_prepare(0, 200);
	stream_open(1);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(round_trip_frames(), expected[i]);
	assert_int_equal(path.most_under_way, 200);
	assert_int_equal(path_counters().retransmitted, 0);
}

static void a_loss_halves_the_window_which_then_grows_by_one_a_round_trip(void **state)
{
	(void)state;
	path_prepare(0, 160);
	lose(800, 1);
	stream_open(1);
	while (path.last_number[0] < 800)
		round_trip_frames();
	round_trip_frames(); // is repaired
	round_trip_frames();
	for (uint64_t window = 80; window < 90; window++)
		assert_in_range(round_trip_frames(), window, window + 2);
	assert_int_equal(path_counters().retransmitted, 1);
}

static void a_fixed_window_stays_as_it_is(void **state)
{
	(void)state;
	path_prepare(0, 300);
	s.traffic.window_fixed = true;
	lose(1000, 1);
	stream_open(1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(round_trip_frames(), 300);
	for (int i = 0; i < 3; i++)
		round_trip_frames();
	for (int i = 0; i < 3; i++)
		assert_int_equal(round_trip_frames(), 300);
	assert_int_equal(path_counters().retransmitted, 1);
	assert_int_equal(path.most_under_way, 300);
}

// ---- losses ----

static void assert_all_delivered(uint64_t segments)
{
	struct hs_stream_counters counters = path_counters();
	assert_int_equal(hs_stream_next_ns(s.stream), NEVER_NS);
	assert_int_equal(counters.bytes_goodput, segments * PAYLOAD);
	assert_int_equal(counters.sent[0] - counters.retransmitted, segments);
}

static void a_burst_of_losses_is_repaired_without_a_timeout(void **state)
{
	(void)state;
	static const uint64_t lost[] = {1, 2, 5, 20};
	for (int i = 0; i < 4; i++) {
		path_prepare(3000, 64);
		lose(500, lost[i]);
		path_run(100);
		assert_all_delivered(3000);
		assert_int_equal(path_counters().retransmitted, lost[i]);
		// 3,000 segments in windows of 64 and then 32 to 64, and a round trip for each
		// loss.
		assert_true(path.now_ns - START_NS < (90 + 20) * 20 * MILLION_NS);
	}
}

static void a_lost_end_is_sent_again_after_the_timeout(void **state)
{
	(void)state;
	path_prepare(100, 0);
	lose(100, 1);
	path_run(100);
	assert_all_delivered(100);
	assert_int_equal(path_counters().retransmitted, 1);
	// Sent in round trip 4, acknowledged up to this loss in 5 (80 ms); then 200 ms; then a
	// round trip.
	assert_int_equal(path.now_ns - START_NS, (80 + 200 + 20) * MILLION_NS);
}

static void timeouts_double_up_to_a_minute(void **state)
{
	(void)state;
	static const int64_t seconds[] = {1, 2, 4, 8, 16, 32, 60, 60, 60};
	for (int fixed = 0; fixed < 2; fixed++) {
		path_prepare(0, 10);
		s.traffic.window_fixed = fixed;
		path.lose_percent = 100;
		stream_open(1);
		for (int i = 0; i < 10; i++)
			assert_true(path_step(NEVER_NS));
		for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
			int64_t before_ns = path.now_ns;
			for (int again = 0; again < (fixed ? 10 : 1); again++)
				assert_true(path_step(NEVER_NS));
			assert_int_equal(path.now_ns - before_ns, seconds[i] * SECOND_NS);
		}
	}
}

static void every_segment_is_delivered_with_a_third_lost_and_copies_both_ways(void **state)
{
	(void)state;
	for (int fixed = 0; fixed < 2; fixed++) {
		for (uint64_t seed = 0; seed < 5; seed++) {
			path_prepare(2000, 50);
			hs_rng_init(&path.rng, seed);
			s.traffic.stop_ns = 1000000 * SECOND_NS;
			s.traffic.window_fixed = fixed;
			path.copies = seed % 2;
			path.lose_percent = 30;
			path_run(1000000);
			assert_all_delivered(2000);
		}
	}
}

static void overtaking_costs_frames_and_no_segment(void **state)
{
	(void)state;
	for (int fixed = 0; fixed < 2; fixed++) {
		for (uint64_t seed = 0; seed < 20; seed++) {
			path_prepare(1000, 70);
			hs_rng_init(&path.rng, seed);
			s.traffic.window_fixed = fixed;
			s.traffic.stop_ns = 100000 * SECOND_NS;
			path.jitter_ns = 50000000;
			path.copies = seed % 2;
			path.lose_percent = seed < 10 ? 0 : 30;
			path_run(100000);
			assert_all_delivered(1000);
		}
	}
}

// ---- the ends ----

// The entry has a stop, or the stream is stopped.
static void stop_a_sender(bool entry)
{
	path_prepare(0, 50);
	s.traffic.stop_ns = entry ? 105 * MILLION_NS : SECOND_NS;
	stream_open(1);
	while (path_step(START_NS + 105 * MILLION_NS))
		;
	if (!entry)
		hs_stream_stop(s.stream, START_NS + 105 * MILLION_NS);
	uint64_t frames = path.frames, replies = path.last_number[1];
	while (path_step(NEVER_NS))
		;
	assert_int_equal(path.frames, frames);
	assert_true(path.last_number[1] > replies);
	assert_int_equal(path.last_number[1], frames);
	assert_int_equal(hs_stream_next_ns(s.stream), NEVER_NS);

	s.stream->extra_ns = START_NS + SECOND_NS;
	while (path_step(NEVER_NS))
		;
	assert_int_equal(path.frames, frames + 1);
	assert_int_equal(path_counters().bytes_goodput, (frames + 1) * PAYLOAD);
}

static void the_sender_is_silent_from_the_stop_on_and_the_receiver_answers(void **state)
{
	(void)state;
	stop_a_sender(true);
	stop_a_sender(false);
}

static void acknowledgements_wait_for_the_reply_delay(void **state)
{
	(void)state;
	path_prepare(1, 0);
	s.traffic.reply_delay_ns = 3 * MILLION_NS;
	s.traffic.start_ns = 5 * MILLION_NS;
	path_run(10);
	assert_all_delivered(1);
	assert_int_equal(path.now_ns - START_NS, 28 * MILLION_NS);
}

static void altered_segments_and_acknowledgements_count_as_lost(void **state)
{
	(void)state;
	path_prepare(50, 0);
	stream_open(1);
	for (int i = 0; path_step(START_NS + 20 * SECOND_NS); i++) {
		uint64_t at = path.end[i % 2];
		if (i % 7 == 0 && at > path.first[i % 2])
			flights[i % 2][(at - 1) % UNDER_WAY].bytes[60] ^= 1;
	}
	const struct hs_stream_counters counters = s.stream->counters;
	assert_true(counters.altered > 5);
	assert_true(counters.retransmitted > 0);
	assert_int_equal(counters.bytes_goodput, 50 * PAYLOAD);
}

static void two_runs_are_the_same(void **state)
{
	(void)state;
	uint64_t hashes[2];
	for (int i = 0; i < 2; i++) {
		path_prepare(0, 0);
		path.lose_percent = 30;
		path_run(100);
		hashes[i] = path.hash;
	}
	assert_int_equal(hashes[0], hashes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(the_window_fills_the_bottleneck),
			TEST(the_window_doubles_in_each_round_trip_up_to_the_largest),
			TEST(a_loss_halves_the_window_which_then_grows_by_one_a_round_trip),
			TEST(a_fixed_window_stays_as_it_is),
			TEST(a_burst_of_losses_is_repaired_without_a_timeout),
			TEST(a_lost_end_is_sent_again_after_the_timeout),
			TEST(timeouts_double_up_to_a_minute),
			TEST(every_segment_is_delivered_with_a_third_lost_and_copies_both_ways),
			TEST(overtaking_costs_frames_and_no_segment),
			TEST(the_sender_is_silent_from_the_stop_on_and_the_receiver_answers),
			TEST(acknowledgements_wait_for_the_reply_delay),
			TEST(altered_segments_and_acknowledgements_count_as_lost),
			TEST(two_runs_are_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, stream_end);
}

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
struct path {
	struct stream_fixture fixture;
	int64_t bit_ps; // picoseconds of a bit; 0: no limit
	uint32_t queue_packets;
	int64_t delay_ns[2];
	uint32_t jitter_ns; // added to the delay: frames overtake each other
	bool (*lose)(struct path *path, const struct hs_stream_frame *frame);
	unsigned copies; // copies of each frame that arrives

	struct hs_rng rng;
	int64_t now_ns, free_ns;
	uint64_t dropped, frames, under_way, most_under_way, hash;
	uint64_t last_number[2];
	struct flight *flights[2]; // rings, first in, first out
	uint64_t first[2], end[2];
	uint64_t lose_from, lose_to; // numbers, for lose_numbers
};

static void path_prepare(struct path *path)
{
	memset(path, 0, sizeof(*path));
	stream_prepare(&path->fixture);
	path->fixture.traffic.kind = HS_TRAFFIC_WINDOW;
	path->fixture.traffic.protocol = IPPROTO_TCP;
	path->fixture.traffic.payload_bytes = PAYLOAD;
	path->fixture.traffic.rate_pps = 0;
	path->delay_ns[0] = 10 * MILLION_NS;
	path->delay_ns[1] = 10 * MILLION_NS;
	path->now_ns = START_NS;
	hs_rng_init(&path->rng, 99);
	for (int direction = 0; direction < 2; direction++) {
		path->flights[direction] = calloc(UNDER_WAY, sizeof(struct flight));
		assert_non_null(path->flights[direction]);
	}
}

static void path_close(struct path *path)
{
	hs_stream_destroy(path->fixture.stream);
	for (int direction = 0; direction < 2; direction++)
		free(path->flights[direction]);
}

// Returns when the frame arrives, or -1 if the queue is full.
static int64_t pass(struct path *path, const struct hs_stream_frame *frame)
{
	if (frame->reply || !path->bit_ps)
		return path->now_ns + path->delay_ns[frame->reply];
	int64_t takes_ns = frame->len * 8 * path->bit_ps / 1000;
	if (path->free_ns < path->now_ns)
		path->free_ns = path->now_ns;
	if (path->free_ns - path->now_ns > path->queue_packets * takes_ns)
		return -1;
	path->free_ns += takes_ns;
	return path->free_ns + path->delay_ns[0];
}

static void launch(struct path *path, const struct hs_stream_frame *frame)
{
	bool reply = frame->reply;
	assert_int_equal(frame->number, path->last_number[reply] + 1);
	path->last_number[reply] = frame->number;
	path->frames += !reply;
	path->hash = (path->hash ^ (uint64_t)path->now_ns ^ frame->number ^ (uint64_t)reply << 63) *
		     UINT64_C(0x100000001b3);

	int64_t at_ns = path->lose && path->lose(path, frame) ? -1 : pass(path, frame);
	if (at_ns < 0) {
		path->dropped++;
		return;
	}
	assert_true(path->end[reply] - path->first[reply] < UNDER_WAY);
	if (path->jitter_ns)
		at_ns += hs_rng_u32(&path->rng) % path->jitter_ns;
	uint64_t at = path->end[reply]++;
	struct flight *ring = path->flights[reply];
	for (; at > path->first[reply] && ring[(at - 1) % UNDER_WAY].at_ns > at_ns; at--)
		ring[at % UNDER_WAY] = ring[(at - 1) % UNDER_WAY];
	struct flight *flight = &ring[at % UNDER_WAY];
	flight->at_ns = at_ns;
	flight->reply = reply;
	flight->number = frame->number;
	flight->len = frame->len;
	memcpy(flight->bytes, frame->bytes, frame->len);
	uint64_t under_way = path->end[0] - path->first[0] + path->end[1] - path->first[1];
	if (under_way > path->most_under_way)
		path->most_under_way = under_way;
}

static int64_t head_ns(const struct path *path, int direction)
{
	return path->first[direction] < path->end[direction]
			       ? path->flights[direction][path->first[direction] % UNDER_WAY].at_ns
			       : NEVER_NS;
}

static void land(struct path *path, int direction)
{
	const struct flight *flight =
			&path->flights[direction][path->first[direction]++ % UNDER_WAY];
	for (unsigned i = 0; i <= path->copies; i++)
		hs_stream_arrived(path->fixture.stream, path->now_ns, flight->reply, flight->number,
				flight->bytes, flight->len);
}

// Runs the next event if it comes before the end. Returns false if there is none.
static bool path_step(struct path *path, int64_t end_ns)
{
	struct hs_stream_frame frame;
	int64_t due_ns = hs_stream_next_ns(path->fixture.stream);
	int64_t heads_ns[2] = {head_ns(path, 0), head_ns(path, 1)};
	int direction = heads_ns[1] < heads_ns[0];
	int64_t next_ns = due_ns < heads_ns[direction] ? due_ns : heads_ns[direction];

	if (next_ns >= end_ns || next_ns == NEVER_NS)
		return false;
	assert_true(next_ns >= path->now_ns);
	path->now_ns = next_ns;
	if (next_ns < due_ns) {
		land(path, direction);
	} else {
		assert_true(hs_stream_send(path->fixture.stream, path->now_ns, &frame));
		launch(path, &frame);
	}
	return true;
}

static void path_run(struct path *path, int64_t seconds)
{
	stream_open(&path->fixture, 1);
	while (path_step(path, START_NS + seconds * SECOND_NS))
		;
}

static struct hs_stream_counters path_counters(const struct path *path)
{
	const struct hs_stream_counters counters = path->fixture.stream->counters;
	assert_int_equal(counters.altered, 0);
	assert_int_equal(path->fixture.stream->status, 0);
	return counters;
}

static bool lose_thirty_percent(struct path *path, const struct hs_stream_frame *frame)
{
	(void)frame;
	return hs_rng_u32(&path->rng) % 10 < 3;
}

static bool lose_numbers(struct path *path, const struct hs_stream_frame *frame)
{
	return !frame->reply && frame->number >= path->lose_from && frame->number < path->lose_to;
}

static bool lose_all(struct path *path, const struct hs_stream_frame *frame)
{
	(void)path;
	(void)frame;
	return true;
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
		struct path path;
		path_prepare(&path);
		path.bit_ps = 1000000 / rows[i].rate_mbps;
		path.queue_packets = rows[i].queue_packets;
		path_run(&path, 60);
		double bits = (double)path_counters(&path).bytes_goodput * 8 * FRAME / PAYLOAD;
		double share = bits / (60e6 * (double)rows[i].rate_mbps);
		if (share < 0.9 || share > 1.0)
			fail_msg("%lld Mbit/s, queue %u: goodput is %.3f of the rate",
					(long long)rows[i].rate_mbps, rows[i].queue_packets, share);
		assert_true(path.dropped > 0);
		path_close(&path);
	}
}

// Returns the data frames sent in each round trip of 20 ms.
static uint64_t round_trip_frames(struct path *path, int64_t *round)
{
	uint64_t before = path->frames;
	++*round;
	while (path_step(path, START_NS + *round * 20 * MILLION_NS))
		;
	return path->frames - before;
}

static void the_window_doubles_in_each_round_trip_up_to_the_largest(void **state)
{
	(void)state;
	static const uint64_t expected[] = {10, 20, 40, 80, 160, 200, 200, 200};
	struct path path;
	int64_t round = 0;

	path_prepare(&path);
	path.fixture.traffic.window_packets = 200;
	stream_open(&path.fixture, 1);
	for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
		assert_int_equal(round_trip_frames(&path, &round), expected[i]);
	assert_int_equal(path.most_under_way, 200);
	assert_int_equal(path_counters(&path).retransmitted, 0);
	path_close(&path);
}

static void a_loss_halves_the_window_which_then_grows_by_one_a_round_trip(void **state)
{
	(void)state;
	struct path path;
	int64_t round = 0;

	path_prepare(&path);
	path.fixture.traffic.window_packets = 160;
	path.lose = lose_numbers;
	path.lose_from = 800;
	path.lose_to = 801;
	stream_open(&path.fixture, 1);
	while (path.last_number[0] < 800)
		round_trip_frames(&path, &round);
	round_trip_frames(&path, &round); // is repaired
	round_trip_frames(&path, &round);
	for (uint64_t window = 80; window < 90; window++)
		assert_in_range(round_trip_frames(&path, &round), window, window + 2);
	assert_int_equal(path_counters(&path).retransmitted, 1);
	path_close(&path);
}

static void a_fixed_window_stays_as_it_is(void **state)
{
	(void)state;
	struct path path;
	int64_t round = 0;

	path_prepare(&path);
	path.fixture.traffic.window_packets = 300;
	path.fixture.traffic.window_fixed = true;
	path.lose = lose_numbers;
	path.lose_from = 1000;
	path.lose_to = 1001;
	stream_open(&path.fixture, 1);
	for (int i = 0; i < 3; i++)
		assert_int_equal(round_trip_frames(&path, &round), 300);
	for (int i = 0; i < 3; i++)
		round_trip_frames(&path, &round);
	for (int i = 0; i < 3; i++)
		assert_int_equal(round_trip_frames(&path, &round), 300);
	assert_int_equal(path_counters(&path).retransmitted, 1);
	assert_int_equal(path.most_under_way, 300);
	path_close(&path);
}

// ---- losses ----

static void assert_all_delivered(struct path *path, uint64_t segments)
{
	struct hs_stream_counters counters = path_counters(path);
	assert_int_equal(hs_stream_next_ns(path->fixture.stream), NEVER_NS);
	assert_int_equal(counters.bytes_goodput, segments * PAYLOAD);
	assert_int_equal(counters.sent[0] - counters.retransmitted, segments);
}

static void a_burst_of_losses_is_repaired_without_a_timeout(void **state)
{
	(void)state;
	static const uint64_t lost[] = {1, 2, 5, 20};
	for (int i = 0; i < 4; i++) {
		struct path path;
		path_prepare(&path);
		path.fixture.traffic.packets = 3000;
		path.fixture.traffic.window_packets = 64;
		path.lose = lose_numbers;
		path.lose_from = 500;
		path.lose_to = 500 + lost[i];
		path_run(&path, 100);
		assert_all_delivered(&path, 3000);
		assert_int_equal(path_counters(&path).retransmitted, lost[i]);
		// 3,000 segments in windows of 64 and then 32 to 64, and a round trip for each
		// loss.
		assert_true(path.now_ns - START_NS < (90 + 20) * 20 * MILLION_NS);
		path_close(&path);
	}
}

static void a_lost_end_is_sent_again_after_the_timeout(void **state)
{
	(void)state;
	struct path path;
	path_prepare(&path);
	path.fixture.traffic.packets = 100;
	path.lose = lose_numbers;
	path.lose_from = 100;
	path.lose_to = 101;
	path_run(&path, 100);
	assert_all_delivered(&path, 100);
	assert_int_equal(path_counters(&path).retransmitted, 1);
	// Sent in round trip 4, acknowledged up to this loss in 5 (80 ms); then 200 ms; then a
	// round trip.
	assert_int_equal(path.now_ns - START_NS, (80 + 200 + 20) * MILLION_NS);
	path_close(&path);
}

static void the_timeout_follows_the_round_trip_and_its_variation(void **state)
{
	(void)state;
	struct path path;
	path_prepare(&path);
	path.fixture.traffic.packets = 1;
	path.delay_ns[0] = 400 * MILLION_NS;
	path.delay_ns[1] = 300 * MILLION_NS;
	path_run(&path, 100);
	assert_all_delivered(&path, 1);

	// With 700 ms, the first timeout is 700 + 4 * 350 ms.
	path.lose = lose_all;
	path.fixture.stream->extra_ns = path.now_ns;
	assert_true(path_step(&path, NEVER_NS));
	assert_int_equal(hs_stream_next_ns(path.fixture.stream) - path.now_ns, 2100 * MILLION_NS);
	path_close(&path);
}

static void timeouts_double_up_to_a_minute(void **state)
{
	(void)state;
	static const int64_t seconds[] = {1, 2, 4, 8, 16, 32, 60, 60, 60};
	for (int fixed = 0; fixed < 2; fixed++) {
		struct path path;
		path_prepare(&path);
		path.fixture.traffic.window_packets = 10;
		path.fixture.traffic.window_fixed = fixed;
		path.lose = lose_all;
		stream_open(&path.fixture, 1);
		for (int i = 0; i < 10; i++)
			assert_true(path_step(&path, NEVER_NS));
		for (size_t i = 0; i < sizeof(seconds) / sizeof(seconds[0]); i++) {
			int64_t before_ns = path.now_ns;
			for (int again = 0; again < (fixed ? 10 : 1); again++)
				assert_true(path_step(&path, NEVER_NS));
			assert_int_equal(path.now_ns - before_ns, seconds[i] * SECOND_NS);
		}
		path_close(&path);
	}
}

static void every_segment_is_delivered_with_a_third_lost_both_ways(void **state)
{
	(void)state;
	for (int fixed = 0; fixed < 2; fixed++) {
		for (uint64_t seed = 0; seed < 5; seed++) {
			struct path path;
			path_prepare(&path);
			hs_rng_init(&path.rng, seed);
			path.fixture.traffic.packets = 2000;
			path.fixture.traffic.stop_ns = 1000000 * SECOND_NS;
			path.fixture.traffic.window_packets = 50;
			path.fixture.traffic.window_fixed = fixed;
			path.lose = lose_thirty_percent;
			path_run(&path, 1000000);
			assert_all_delivered(&path, 2000);
			path_close(&path);
		}
	}
}

static void copies_do_no_harm(void **state)
{
	(void)state;
	struct path path;
	path_prepare(&path);
	path.fixture.traffic.packets = 2000;
	path.fixture.traffic.window_packets = 50;
	path.lose = lose_thirty_percent;
	path.copies = 1;
	path.fixture.traffic.stop_ns = 100000 * SECOND_NS;
	path_run(&path, 100000);
	assert_all_delivered(&path, 2000);
	path_close(&path);
}

static void overtaking_costs_frames_and_no_segment(void **state)
{
	(void)state;
	for (int fixed = 0; fixed < 2; fixed++) {
		for (uint64_t seed = 0; seed < 20; seed++) {
			struct path path;
			path_prepare(&path);
			hs_rng_init(&path.rng, seed);
			path.fixture.traffic.packets = 1000;
			path.fixture.traffic.window_packets = 70;
			path.fixture.traffic.window_fixed = fixed;
			path.fixture.traffic.stop_ns = 100000 * SECOND_NS;
			path.jitter_ns = 50000000;
			path.copies = seed % 2;
			path.lose = seed < 10 ? NULL : lose_thirty_percent;
			path_run(&path, 100000);
			assert_all_delivered(&path, 1000);
			path_close(&path);
		}
	}
}

// ---- the ends ----

// The entry has a stop, or the stream is stopped.
static void stop_a_sender(bool entry)
{
	struct path path;
	path_prepare(&path);
	path.fixture.traffic.stop_ns = entry ? 105 * MILLION_NS : SECOND_NS;
	path.fixture.traffic.window_packets = 50;
	stream_open(&path.fixture, 1);
	while (path_step(&path, START_NS + 105 * MILLION_NS))
		;
	if (!entry)
		hs_stream_stop(path.fixture.stream, START_NS + 105 * MILLION_NS);
	uint64_t frames = path.frames, replies = path.last_number[1];
	while (path_step(&path, NEVER_NS))
		;
	assert_int_equal(path.frames, frames);
	assert_true(path.last_number[1] > replies);
	assert_int_equal(path.last_number[1], frames);
	assert_int_equal(hs_stream_next_ns(path.fixture.stream), NEVER_NS);

	path.fixture.stream->extra_ns = START_NS + SECOND_NS;
	while (path_step(&path, NEVER_NS))
		;
	assert_int_equal(path.frames, frames + 1);
	assert_int_equal(path_counters(&path).bytes_goodput, (frames + 1) * PAYLOAD);
	path_close(&path);
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
	struct path path;
	path_prepare(&path);
	path.fixture.traffic.packets = 1;
	path.fixture.traffic.reply_delay_ns = 3 * MILLION_NS;
	path.fixture.traffic.start_ns = 5 * MILLION_NS;
	path_run(&path, 10);
	assert_all_delivered(&path, 1);
	assert_int_equal(path.now_ns - START_NS, 28 * MILLION_NS);
	path_close(&path);
}

static void altered_segments_and_acknowledgements_count_as_lost(void **state)
{
	(void)state;
	struct path path;

	path_prepare(&path);
	path.fixture.traffic.packets = 50;
	stream_open(&path.fixture, 1);
	for (int i = 0; path_step(&path, START_NS + 20 * SECOND_NS); i++) {
		uint64_t at = path.end[i % 2];
		if (i % 7 == 0 && at > path.first[i % 2])
			path.flights[i % 2][(at - 1) % UNDER_WAY].bytes[60] ^= 1;
	}
	const struct hs_stream_counters counters = path.fixture.stream->counters;
	assert_true(counters.altered > 5);
	assert_true(counters.retransmitted > 0);
	assert_int_equal(counters.bytes_goodput, 50 * PAYLOAD);
	path_close(&path);
}

static void two_runs_are_the_same(void **state)
{
	(void)state;
	uint64_t hashes[2];
	for (int i = 0; i < 2; i++) {
		struct path path;
		path_prepare(&path);
		path.lose = lose_thirty_percent;
		path_run(&path, 100);
		hashes[i] = path.hash;
		path_close(&path);
	}
	assert_int_equal(hashes[0], hashes[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_window_fills_the_bottleneck),
			cmocka_unit_test(the_window_doubles_in_each_round_trip_up_to_the_largest),
			cmocka_unit_test(
					a_loss_halves_the_window_which_then_grows_by_one_a_round_trip),
			cmocka_unit_test(a_fixed_window_stays_as_it_is),
			cmocka_unit_test(a_burst_of_losses_is_repaired_without_a_timeout),
			cmocka_unit_test(a_lost_end_is_sent_again_after_the_timeout),
			cmocka_unit_test(the_timeout_follows_the_round_trip_and_its_variation),
			cmocka_unit_test(timeouts_double_up_to_a_minute),
			cmocka_unit_test(every_segment_is_delivered_with_a_third_lost_both_ways),
			cmocka_unit_test(copies_do_no_harm),
			cmocka_unit_test(overtaking_costs_frames_and_no_segment),
			cmocka_unit_test(
					the_sender_is_silent_from_the_stop_on_and_the_receiver_answers),
			cmocka_unit_test(acknowledgements_wait_for_the_reply_delay),
			cmocka_unit_test(altered_segments_and_acknowledgements_count_as_lost),
			cmocka_unit_test(two_runs_are_the_same),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "stream_fixture.h"

#include <stdio.h>
#include <stdlib.h>

static void prepare(const char *file)
{
	stream_prepare();
	s.traffic.kind = HS_TRAFFIC_PCAP;
	snprintf(s.scenario.folder, sizeof(s.scenario.folder), "%s", GOLDEN_DIR);
	snprintf(s.traffic.file, sizeof(s.traffic.file), "%s", file);
}

static const struct {
	int64_t at_ns;
	uint32_t len;
} nano[] = {
		{0, 162},
		{3, 62},
		{502, 96},
		{502, 60}, // captured before the previous frame
		{702, 9200},
		{2000000002, 69},
};
#define NANO (sizeof(nano) / sizeof(nano[0]))

// The frames of the file, identified by their length only.
static void read_golden(uint32_t len, uint8_t *bytes)
{
	static uint8_t file[32768];
	FILE *from = fopen(GOLDEN_DIR "/nano.pcap", "rb");
	assert_non_null(from);
	size_t size = fread(file, 1, sizeof(file), from);
	fclose(from);
	for (size_t at = 24; at < size;) {
		uint32_t captured, whole;
		memcpy(&captured, file + at + 8, 4);
		memcpy(&whole, file + at + 12, 4);
		if (captured == len && whole == len) {
			memcpy(bytes, file + at + 16, len);
			return;
		}
		at += 16 + captured;
	}
	fail();
}

static void frames_go_at_their_times_with_the_hosts_addresses(void **state)
{
	(void)state;
	static uint8_t expected[9200];
	uint64_t payload = 0;

	prepare("nano.pcap");
	s.traffic.start_ns = 1000;
	stream_open(1);
	for (size_t i = 0; i < NANO; i++) {
		assert_next_at(1000 + nano[i].at_ns);
		assert_int_equal(s.frame.number, i + 1);
		assert_int_equal(s.frame.len, nano[i].len);
		read_golden(s.frame.len, expected);
		memcpy(expected, stream_macs.next[0], 6);
		memcpy(expected + 6, stream_macs.own[0], 6);
		assert_memory_equal(s.frame.bytes, expected, s.frame.len);
		payload += s.frame.len - 14;
		stream_arrive(s.at_ns);
	}
	assert_int_equal(hs_stream_next_ns(s.stream), NEVER_NS);
	assert_int_equal(s.stream->counters.skipped, 2);
	assert_int_equal(s.stream->counters.altered, 0);
	assert_int_equal(s.stream->counters.bytes_goodput, payload);
}

static void microseconds_in_the_other_byte_order_are_understood(void **state)
{
	(void)state;
	prepare(GOLDEN_DIR "/micro-big-endian.pcap");
	stream_open(1);
	assert_next_at(0);
	assert_next_at(2000);
	assert_false(stream_next());
}

static void a_file_that_ends_early_ends_before_the_cut_frame(void **state)
{
	(void)state;
	prepare("ends-early.pcap");
	stream_open(1);
	assert_true(stream_next());
	assert_false(stream_next());
	assert_int_equal(s.stream->counters.skipped, 1);
}

// Returns the number of frames that are still sent.
static size_t count_rest(void)
{
	size_t n = 0;

	while (stream_next())
		n++;
	return n;
}

static void stop_and_number_of_packets_end_a_replay(void **state)
{
	(void)state;
	prepare("nano.pcap");
	s.traffic.stop_ns = 702;
	stream_open(1);
	assert_int_equal(count_rest(), 4);

	// A stop before that of the entry ends it, one behind it changes nothing.
	for (unsigned early = 0; early < 2; early++) {
		stream_open(1);
		assert_true(stream_next());
		hs_stream_stop(s.stream, START_NS + (early ? s.at_ns : SECOND_NS));
		assert_int_equal(count_rest(), early ? 0 : 3);
	}

	s.traffic.stop_ns = SECOND_NS;
	s.traffic.packets = 3;
	stream_open(1);
	assert_int_equal(count_rest(), 3);

	// The closing packet repeats the third frame, although a fourth has been read.
	s.stream->extra_ns = START_NS + 5 * SECOND_NS;
	assert_next_at(5 * SECOND_NS);
	assert_int_equal(s.frame.number, 4);
	assert_int_equal(s.frame.len, nano[2].len);
	assert_false(stream_next());
}

static void an_extra_frame_before_the_start_is_the_first_one(void **state)
{
	(void)state;
	prepare("nano.pcap");
	s.traffic.start_ns = 100;
	stream_open(1);
	s.stream->extra_ns = START_NS + 50;
	for (uint64_t number = 1; number <= 2; number++) {
		assert_next_at(number * 50);
		assert_int_equal(s.frame.number, number);
		assert_int_equal(s.frame.len, nano[0].len);
	}
}

static void altered_bytes_of_a_replay_are_counted(void **state)
{
	(void)state;
	static uint8_t bytes[9200];
	uint64_t altered = 0;
	// Hop limits: of IPv6, of IPv6 behind a tag, and none without IP.
	static const uint32_t hop_limits[] = {21, 21, 25, 0, 21, 21};

	prepare("nano.pcap");
	stream_open(1);
	for (size_t i = 0; i < NANO; i++) {
		assert_true(stream_next());
		uint32_t len = s.frame.len;
		memcpy(bytes, s.frame.bytes, len);
		for (uint32_t at = 0; at < len; at += at < 100 ? 1 : 97) {
			bytes[at] ^= 1;
			stream_arrive_as(i + 1, bytes, len);
			bytes[at] ^= 1;
			altered += at >= 12 && at != hop_limits[i];
			assert_int_equal(s.stream->counters.altered, altered);
		}
		stream_arrive_as(i + 1, bytes, len - 1);
		stream_arrive_as(i + 1, bytes, 3);
		altered += 2;
	}
}

static void what_cannot_be_replayed_is_refused_with_its_path(void **state)
{
	(void)state;
	static const struct {
		const char *file;
		int error;
		const char *code;
	} rows[] = {
			{"no-such-file.pcap", -ENOENT, "not_readable"},
			{"raw-ip.pcap", -EINVAL, "unsupported"},
			{"empty.pcap", -EINVAL, "bad_value"},
			{"frames.json", -EINVAL, "not_readable"},
			{".", -EINVAL, "not_readable"},
			{"", -EINVAL, "not_readable"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		prepare(rows[i].file);
		assert_int_equal(hs_stream_create(&s.scenario, 0, 1, START_NS, &stream_macs,
						 &s.stream, &s.err),
				rows[i].error);
		assert_string_equal(s.err.code, rows[i].code);
		assert_string_equal(s.err.path, "traffic[0].file");
		assert_null(s.stream);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(frames_go_at_their_times_with_the_hosts_addresses),
			TEST(microseconds_in_the_other_byte_order_are_understood),
			TEST(a_file_that_ends_early_ends_before_the_cut_frame),
			TEST(stop_and_number_of_packets_end_a_replay),
			TEST(an_extra_frame_before_the_start_is_the_first_one),
			TEST(altered_bytes_of_a_replay_are_counted),
			TEST(what_cannot_be_replayed_is_refused_with_its_path),
	};
	return cmocka_run_group_tests(tests, NULL, stream_end);
}

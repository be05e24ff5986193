// SPDX-License-Identifier: BSD-3-Clause
#include "stream_fixture.h"

#include <stdio.h>
#include <stdlib.h>

static void prepare(struct stream_fixture *fixture, const char *file)
{
	stream_prepare(fixture);
	fixture->traffic.kind = HS_TRAFFIC_PCAP;
	snprintf(fixture->scenario.folder, sizeof(fixture->scenario.folder), "%s", GOLDEN_DIR);
	snprintf(fixture->traffic.file, sizeof(fixture->traffic.file), "%s", file);
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
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	static uint8_t expected[9200];
	int64_t at_ns = 0;
	uint64_t payload = 0;

	prepare(&fixture, "nano.pcap");
	fixture.traffic.start_ns = 1000;
	stream_open(&fixture, 1);
	for (size_t i = 0; i < NANO; i++) {
		assert_true(stream_next(&fixture, &at_ns, &frame));
		assert_int_equal(at_ns, 1000 + nano[i].at_ns);
		assert_int_equal(frame.number, i + 1);
		assert_int_equal(frame.len, nano[i].len);
		read_golden(frame.len, expected);
		memcpy(expected, stream_macs.next[0], 6);
		memcpy(expected + 6, stream_macs.own[0], 6);
		assert_memory_equal(frame.bytes, expected, frame.len);
		payload += frame.len - 14;
		hs_stream_arrived(fixture.stream, START_NS + at_ns, false, frame.number,
				frame.bytes, frame.len);
	}
	assert_int_equal(hs_stream_next_ns(fixture.stream), NEVER_NS);
	const struct hs_stream_counters counters = fixture.stream->counters;
	assert_int_equal(counters.skipped, 2);
	assert_int_equal(counters.altered, 0);
	assert_int_equal(counters.bytes_goodput, payload);
	hs_stream_destroy(fixture.stream);
}

static void microseconds_in_the_other_byte_order_are_understood(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	int64_t at_ns = 0;

	prepare(&fixture, GOLDEN_DIR "/micro-big-endian.pcap");
	stream_open(&fixture, 1);
	assert_true(stream_next(&fixture, &at_ns, &frame));
	assert_int_equal(at_ns, 0);
	assert_true(stream_next(&fixture, &at_ns, &frame));
	assert_int_equal(at_ns, 2000);
	assert_false(stream_next(&fixture, &at_ns, &frame));
	hs_stream_destroy(fixture.stream);
}

static void a_file_that_ends_early_ends_before_the_cut_frame(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	int64_t at_ns = 0;

	prepare(&fixture, "ends-early.pcap");
	stream_open(&fixture, 1);
	assert_true(stream_next(&fixture, &at_ns, &frame));
	assert_false(stream_next(&fixture, &at_ns, &frame));
	const struct hs_stream_counters counters = fixture.stream->counters;
	assert_int_equal(counters.skipped, 1);
	hs_stream_destroy(fixture.stream);
}

static void stop_and_number_of_packets_end_a_replay(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	int64_t at_ns = 0;
	size_t n;

	prepare(&fixture, "nano.pcap");
	fixture.traffic.stop_ns = 702;
	stream_open(&fixture, 1);
	for (n = 0; stream_next(&fixture, &at_ns, &frame); n++)
		;
	assert_int_equal(n, 4);
	hs_stream_destroy(fixture.stream);

	// A stop before that of the entry ends it, one behind it changes nothing.
	for (unsigned early = 0; early < 2; early++) {
		stream_open(&fixture, 1);
		assert_true(stream_next(&fixture, &at_ns, &frame));
		hs_stream_stop(fixture.stream, START_NS + (early ? at_ns : SECOND_NS));
		for (n = 1; stream_next(&fixture, &at_ns, &frame); n++)
			;
		assert_int_equal(n, early ? 1 : 4);
		hs_stream_destroy(fixture.stream);
	}

	fixture.traffic.stop_ns = SECOND_NS;
	fixture.traffic.packets = 3;
	stream_open(&fixture, 1);
	for (n = 0; stream_next(&fixture, &at_ns, &frame); n++)
		;
	assert_int_equal(n, 3);

	// The closing packet repeats the third frame, although a fourth has been read.
	fixture.stream->extra_ns = START_NS + 5 * SECOND_NS;
	assert_true(stream_next(&fixture, &at_ns, &frame));
	assert_int_equal(at_ns, 5 * SECOND_NS);
	assert_int_equal(frame.number, 4);
	assert_int_equal(frame.len, nano[2].len);
	assert_false(stream_next(&fixture, &at_ns, &frame));
	hs_stream_destroy(fixture.stream);
}

static void an_extra_frame_before_the_start_is_the_first_one(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	int64_t at_ns = 0;

	prepare(&fixture, "nano.pcap");
	fixture.traffic.start_ns = 100;
	stream_open(&fixture, 1);
	fixture.stream->extra_ns = START_NS + 50;
	for (uint64_t number = 1; number <= 2; number++) {
		assert_true(stream_next(&fixture, &at_ns, &frame));
		assert_int_equal(at_ns, number * 50);
		assert_int_equal(frame.number, number);
		assert_int_equal(frame.len, nano[0].len);
	}
	hs_stream_destroy(fixture.stream);
}

static void altered_bytes_of_a_replay_are_counted(void **state)
{
	(void)state;
	struct stream_fixture fixture;
	struct hs_stream_frame frame;
	static uint8_t bytes[9200];
	int64_t at_ns = 0;
	uint64_t altered = 0;
	// Hop limits: of IPv6, of IPv6 behind a tag, and none without IP.
	static const uint32_t hop_limits[] = {21, 21, 25, 0, 21, 21};

	prepare(&fixture, "nano.pcap");
	stream_open(&fixture, 1);
	for (size_t i = 0; i < NANO; i++) {
		assert_true(stream_next(&fixture, &at_ns, &frame));
		uint32_t len = frame.len;
		memcpy(bytes, frame.bytes, len);
		for (uint32_t at = 0; at < len; at += at < 100 ? 1 : 97) {
			bytes[at] ^= 1;
			hs_stream_arrived(
					fixture.stream, START_NS + at_ns, false, i + 1, bytes, len);
			bytes[at] ^= 1;
			altered += at >= 12 && at != hop_limits[i];
			const struct hs_stream_counters counters = fixture.stream->counters;
			assert_int_equal(counters.altered, altered);
		}
		hs_stream_arrived(fixture.stream, START_NS + at_ns, false, i + 1, bytes, len - 1);
		hs_stream_arrived(fixture.stream, START_NS + at_ns, false, i + 1, bytes, 3);
		altered += 2;
	}
	hs_stream_destroy(fixture.stream);
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
		struct stream_fixture fixture;
		prepare(&fixture, rows[i].file);
		assert_int_equal(hs_stream_create(&fixture.scenario, 0, 1, START_NS, &stream_macs,
						 &fixture.stream, &fixture.err),
				rows[i].error);
		assert_string_equal(fixture.err.code, rows[i].code);
		assert_string_equal(fixture.err.path, "traffic[0].file");
		assert_null(fixture.stream);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(frames_go_at_their_times_with_the_hosts_addresses),
			cmocka_unit_test(microseconds_in_the_other_byte_order_are_understood),
			cmocka_unit_test(a_file_that_ends_early_ends_before_the_cut_frame),
			cmocka_unit_test(stop_and_number_of_packets_end_a_replay),
			cmocka_unit_test(an_extra_frame_before_the_start_is_the_first_one),
			cmocka_unit_test(altered_bytes_of_a_replay_are_counted),
			cmocka_unit_test(what_cannot_be_replayed_is_refused_with_its_path),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

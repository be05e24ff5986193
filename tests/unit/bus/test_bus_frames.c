// SPDX-License-Identifier: BSD-3-Clause
// What is counted of a connection's frames.
#include "bus_frames.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define ALL UINT64_MAX

// A stream of a greeting and frames of these sizes.
static size_t make(uint8_t *stream, const size_t *sizes, size_t n)
{
	size_t at = HS_BUS_GREETING_BYTES;

	memset(stream, 0, at);
	stream[0] = 0xff;
	stream[10] = 3;
	for (size_t i = 0; i < n; i++) {
		bool large = sizes[i] > 255;
		stream[at++] = large ? 2 : 0;
		for (int byte = large ? 7 : 0; byte >= 0; byte--)
			stream[at++] = (uint8_t)(sizes[i] >> (8 * byte));
		memset(stream + at, 'a' + (int)i, sizes[i]);
		at += sizes[i];
	}
	return at;
}

static void frames_are_counted_however_the_bytes_come(void **state)
{
	static const size_t sizes[] = {0, 1, 23, 24, 255, 256, 70000};
	uint8_t *stream = malloc(80000);
	size_t len = make(stream, sizes, 7);
	(void)state;

	for (size_t step = 1; step < 9000; step = step * 3 + 1) {
		struct hs_bus_frames frames;
		hs_bus_frames_init(&frames, false);
		for (size_t at = 0; at < len; at += step) {
			size_t n = len - at < step ? len - at : step;
			assert_int_equal(hs_bus_frames_feed(&frames, stream + at, n, ALL), n);
		}
		assert_int_equal(frames.ended, 7);
		assert_int_equal(frames.frames, 7);
		assert_int_equal(frames.small, 3);
		uint64_t weight = 0;
		for (size_t i = 0; i < 7; i++)
			weight += hs_bus_frame_weight(sizes[i], false);
		assert_int_equal(frames.weight, weight);
		assert_memory_equal(frames.lead, "gggggg", HS_BUS_LEAD_BYTES);
	}
	free(stream);
}

static void an_encrypted_frame_weighs_what_its_content_does_for_its_owner(void **state)
{
	static const size_t sizes[] = {0, 23, 24, 1000};
	uint8_t stream[4096];
	size_t wire[4];
	struct hs_bus_frames frames;
	uint64_t weight = 0;
	(void)state;

	for (size_t i = 0; i < 4; i++) {
		wire[i] = sizes[i] + HS_BUS_CURVE_BYTES;
		weight += hs_bus_frame_weight(sizes[i], true);
	}
	hs_bus_frames_init(&frames, true);
	hs_bus_frames_feed(&frames, stream, make(stream, wire, 4), ALL);
	assert_int_equal(frames.weight, weight);
	assert_int_equal(frames.small, 2);
}

static void a_frame_without_end_weighs_what_came_of_it(void **state)
{
	uint8_t stream[HS_BUS_GREETING_BYTES + 9 + 1000];
	struct hs_bus_frames frames;
	(void)state;

	memset(stream, 0xff, sizeof(stream)); // 2^64 - 1 bytes are announced
	stream[10] = 3;
	hs_bus_frames_init(&frames, false);
	assert_int_equal(hs_bus_frames_feed(&frames, stream, sizeof(stream), ALL), sizeof(stream));
	assert_int_equal(frames.frames, 1);
	assert_int_equal(frames.ended, 0);
	assert_int_equal(frames.weight, HS_BUS_FRAME_WEIGHT + 1000);
}

static void nothing_is_taken_beyond_the_frame_that_was_named(void **state)
{
	static const size_t sizes[] = {5, 7, 9};
	uint8_t stream[256];
	size_t len = make(stream, sizes, 3);
	struct hs_bus_frames frames;
	(void)state;

	hs_bus_frames_init(&frames, false);
	size_t taken = hs_bus_frames_feed(&frames, stream, len, 1);
	assert_int_equal(taken, HS_BUS_GREETING_BYTES + 2 + 5);
	assert_int_equal(hs_bus_frames_feed(&frames, stream + taken, len - taken, 1), 0);
	assert_int_equal(hs_bus_frames_feed(&frames, stream + taken, len - taken, 2), 2 + 7);
}

static void what_does_not_speak_zmtp_3_is_noticed(void **state)
{
	uint8_t stream[HS_BUS_GREETING_BYTES] = "GET / HTTP/1.1\r\n";
	struct hs_bus_frames frames;
	(void)state;

	hs_bus_frames_init(&frames, false);
	hs_bus_frames_feed(&frames, stream, 1, ALL);
	assert_true(frames.old);
	for (unsigned step = 1; step <= sizeof(stream); step += 20) {
		make(stream, NULL, 0);
		stream[10] = 1;
		hs_bus_frames_init(&frames, false);
		for (unsigned at = 0; at + step <= sizeof(stream) && !frames.old; at += step)
			hs_bus_frames_feed(&frames, stream + at, step, ALL);
		assert_true(frames.old);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(frames_are_counted_however_the_bytes_come),
			cmocka_unit_test(
					an_encrypted_frame_weighs_what_its_content_does_for_its_owner),
			cmocka_unit_test(a_frame_without_end_weighs_what_came_of_it),
			cmocka_unit_test(nothing_is_taken_beyond_the_frame_that_was_named),
			cmocka_unit_test(what_does_not_speak_zmtp_3_is_noticed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

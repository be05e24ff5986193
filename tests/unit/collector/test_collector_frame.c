// SPDX-License-Identifier: BSD-3-Clause
// Which frames carry reports, and where in them the datagram is.
#include "collector_frame.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define REPORTS 32766
#define MOST	256

struct built {
	uint8_t bytes[MOST];
	size_t len;
};

static void put(struct built *frame, const void *bytes, size_t n)
{
	memcpy(frame->bytes + frame->len, bytes, n);
	frame->len += n;
}

static void put16(struct built *frame, unsigned value)
{
	put(frame, (uint8_t[]){(uint8_t)(value >> 8), (uint8_t)value}, 2);
}

static struct built ethernet(unsigned type, unsigned tags)
{
	struct built frame = {.len = 12};

	for (unsigned i = 0; i < tags; i++) {
		put16(&frame, 0x8100);
		put16(&frame, 7 + i);
	}
	put16(&frame, type);
	return frame;
}

static void put_udp(struct built *frame, unsigned port, const char *payload, unsigned length)
{
	put16(frame, 5000);
	put16(frame, port);
	put16(frame, length);
	put16(frame, 0);
	put(frame, payload, strlen(payload));
}

// Options are multiples of four bytes.
static void put_ipv4(struct built *frame, unsigned options, unsigned fragment, unsigned bytes)
{
	put(frame, (uint8_t[]){(uint8_t)(0x45 + options / 4), 0}, 2);
	put16(frame, 20 + options + bytes);
	put16(frame, 0);
	put16(frame, fragment);
	put(frame, (uint8_t[]){64, 17, 0, 0, 192, 0, 2, 1, 192, 0, 2, 9}, 12);
	for (unsigned i = 0; i < options; i++)
		put(frame, (uint8_t[]){1}, 1);
}

static void put_ipv6(struct built *frame, unsigned bytes, bool extended)
{
	put(frame, (uint8_t[]){0x60, 0, 0, 0}, 4);
	put16(frame, bytes + (extended ? 8 : 0));
	put(frame, (uint8_t[]){extended ? 60 : 17, 64}, 2);
	put(frame, (uint8_t[16]){0x20, 1, 0xd, 0xb8, [15] = 1}, 16);
	put(frame, (uint8_t[16]){0x20, 1, 0xd, 0xb8, [15] = 9}, 16);
	if (extended)
		put(frame, (uint8_t[]){17, 0, 1, 4, 0, 0, 0, 0}, 8);
}

static enum hs_collector_frame read(const struct built *frame, struct hs_collect_datagram *datagram)
{
	// Its own memory, so that a sanitizer sees what reads beyond it.
	uint8_t *copy = malloc(frame->len ? frame->len : 1);
	memcpy(copy, frame->bytes, frame->len);
	enum hs_collector_frame kind = hs_collector_frame_read(copy, frame->len, REPORTS, datagram);
	if (kind == HS_COLLECTOR_FRAME_DATAGRAM) {
		assert_true(datagram->bytes >= copy);
		assert_true(datagram->bytes + datagram->len <= copy + frame->len);
		datagram->bytes = frame->bytes + (datagram->bytes - copy);
	}
	free(copy);
	return kind;
}

static void assert_report(const struct built *frame, bool is_ipv4)
{
	static const uint8_t from6[16] = {0x20, 1, 0xd, 0xb8, [15] = 1};
	static const uint8_t from4[16] = {192, 0, 2, 1};
	struct hs_collect_datagram datagram = {.len = 0};

	assert_int_equal(read(frame, &datagram), HS_COLLECTOR_FRAME_DATAGRAM);
	assert_int_equal(datagram.len, 6);
	assert_memory_equal(datagram.bytes, "report", 6);
	assert_int_equal(datagram.is_ipv4, is_ipv4);
	assert_memory_equal(datagram.address, is_ipv4 ? from4 : from6, 16);
}

static void a_report_is_found_behind_tags_options_and_extension_headers(void **state)
{
	(void)state;
	for (unsigned tags = 0; tags <= 2; tags++) {
		for (unsigned more = 0; more <= 8; more += 8) {
			struct built frame = ethernet(0x0800, tags);
			put_ipv4(&frame, more, 0x4000, 14);
			put_udp(&frame, REPORTS, "report", 14);
			frame.len += 3; // padding
			assert_report(&frame, true);
			frame = ethernet(0x86dd, tags);
			put_ipv6(&frame, 14, more != 0);
			put_udp(&frame, REPORTS, "report", 14);
			assert_report(&frame, false);
		}
	}
}

static void other_frames_are_told_apart(void **state)
{
	struct hs_collect_datagram datagram;
	struct built arp = ethernet(0x0806, 0), other = ethernet(0x0800, 0),
		     fragment = ethernet(0x0800, 0), tcp;

	(void)state;
	arp.len += 28;
	assert_int_equal(read(&arp, &datagram), HS_COLLECTOR_FRAME_OTHER);
	put_ipv4(&other, 0, 0, 14);
	tcp = other;
	put_udp(&other, REPORTS + 1, "report", 14);
	assert_int_equal(read(&other, &datagram), HS_COLLECTOR_FRAME_OTHER);
	tcp.bytes[14 + 9] = 6;
	put_udp(&tcp, REPORTS, "report", 14);
	assert_int_equal(read(&tcp, &datagram), HS_COLLECTOR_FRAME_OTHER);
	put_ipv4(&fragment, 0, 0x2000, 14);
	put_udp(&fragment, REPORTS, "report", 14);
	assert_int_equal(read(&fragment, &datagram), HS_COLLECTOR_FRAME_FRAGMENT);
	fragment.bytes[14 + 6] = 0;
	fragment.bytes[14 + 7] = 2;
	assert_int_equal(read(&fragment, &datagram), HS_COLLECTOR_FRAME_FRAGMENT);
}

static void lengths_of_udp_that_lie_are_malformed(void **state)
{
	static const unsigned lengths[] = {0, 7, 15, 65535};
	struct hs_collect_datagram datagram;

	(void)state;
	for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
		struct built frame = ethernet(0x0800, 0);
		put_ipv4(&frame, 0, 0, 14);
		put_udp(&frame, REPORTS, "report", lengths[i]);
		frame.len += 40;
		assert_int_equal(read(&frame, &datagram), HS_COLLECTOR_FRAME_MALFORMED);
	}
}

static void no_cut_of_a_frame_is_read_beyond_its_end(void **state)
{
	struct hs_collect_datagram datagram;

	(void)state;
	for (unsigned version = 0; version < 4; version++) {
		struct built frame = ethernet(version & 1 ? 0x86dd : 0x0800, version / 2);
		if (version & 1)
			put_ipv6(&frame, 14, version > 1);
		else
			put_ipv4(&frame, version * 4, 0, 14);
		put_udp(&frame, REPORTS, "report", 14);
		size_t whole = frame.len;
		for (frame.len = 0; frame.len < whole; frame.len++)
			assert_int_not_equal(read(&frame, &datagram), HS_COLLECTOR_FRAME_DATAGRAM);
	}
}

// ---- one behind the other ----

static struct built plain(void)
{
	struct built frame = ethernet(0x0800, 0);

	put_ipv4(&frame, 0, 0x4000, 8 + 26);
	put_udp(&frame, REPORTS, "a report of twenty-six byt", 8 + 26);
	return frame;
}

static void change(struct built *frame)
{
	unsigned what = (unsigned)rand() % 8;

	if (what == 0)
		frame->len -= (unsigned)rand() % 30;
	else if (what < 5)
		frame->bytes[(unsigned)rand() % 56] ^= (uint8_t)(1 << rand() % 8);
	else if (what == 5)
		frame->bytes[14 + 9 + (unsigned)rand() % 33] = (uint8_t)rand();
}

// Returns whether the frame was not parsed.
static bool read_both(struct hs_collector_frame_like *last, const struct built *frame)
{
	struct hs_collect_datagram alone = {.listener = 3}, next = {.len = 0};
	bool is_like = hs_collector_frame_is_like(last, frame->bytes, (uint32_t)frame->len);
	enum hs_collector_frame kind =
			hs_collector_frame_read(frame->bytes, frame->len, REPORTS, &alone);

	assert_int_equal(hs_collector_frame_read_next(
					 last, frame->bytes, (uint32_t)frame->len, REPORTS, &next),
			kind);
	if (kind != HS_COLLECTOR_FRAME_DATAGRAM)
		return is_like;
	assert_ptr_equal(next.bytes, alone.bytes);
	assert_int_equal(next.len, alone.len);
	assert_int_equal(next.is_ipv4, alone.is_ipv4);
	assert_int_equal(next.listener, 3);
	assert_memory_equal(next.address, alone.address, sizeof(next.address));
	return is_like;
}

static void each_frame_is_read_as_if_it_came_alone(void **state)
{
	struct hs_collector_frame_like last = {.frame_bytes = UINT32_MAX, .datagram.listener = 3};
	struct built frames[8];
	unsigned alike = 0, n = 0;

	(void)state;
	srand(1);
	for (unsigned round = 0; round < 100000; round++) {
		struct built *frame = &frames[round % 8];
		*frame = plain();
		frame->bytes[19] = (uint8_t)round; // identification
		if (round % 3 == 0)
			change(frame);
		alike += read_both(&last, frame);
		n++;
	}
	assert_in_range(alike, n / 4, n - n / 8);
}

static void only_plain_frames_are_kept(void **state)
{
	struct hs_collector_frame_like last = {.frame_bytes = UINT32_MAX, .datagram.listener = 3};
	struct built frame = ethernet(0x0800, 1);

	(void)state;
	assert_false(hs_collector_frame_is_like(&last, frame.bytes, 0)); // without a byte
	put_ipv4(&frame, 0, 0x4000, 34);
	put_udp(&frame, REPORTS, "a report of twenty-six byt", 34);
	assert_false(read_both(&last, &frame));
	assert_false(read_both(&last, &frame)); // a tag
	frame = ethernet(0x0800, 0);
	put_ipv4(&frame, 4, 0x4000, 34);
	put_udp(&frame, REPORTS, "a report of twenty-six byt", 34);
	assert_false(read_both(&last, &frame));
	assert_false(read_both(&last, &frame)); // an option
	frame = plain();
	assert_false(read_both(&last, &frame));
	assert_true(read_both(&last, &frame));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(each_frame_is_read_as_if_it_came_alone),
			cmocka_unit_test(only_plain_frames_are_kept),
			cmocka_unit_test(
					a_report_is_found_behind_tags_options_and_extension_headers),
			cmocka_unit_test(other_frames_are_told_apart),
			cmocka_unit_test(lengths_of_udp_that_lie_are_malformed),
			cmocka_unit_test(no_cut_of_a_frame_is_read_beyond_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

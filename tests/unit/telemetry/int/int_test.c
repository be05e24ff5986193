// SPDX-License-Identifier: BSD-3-Clause
#include "int_test.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void int_parse(const struct hs_int_settings *settings, const struct frame *frame,
		struct hs_packet *packet)
{
	hs_int_parse(settings, frame->bytes, frame->len, frame->len, packet);
}

// Free bytes in front, of a pattern that must not survive.
static void open_front(struct frame *frame, size_t growth)
{
	struct frame front = frame_of("", 0);
	front.bytes = realloc(front.bytes, growth ? growth : 1);
	assert_non_null(front.bytes);
	memset(front.bytes, 0xa5, growth);
	front.len = growth;
	*frame = frame_join(front, *frame);
}

int int_source(const struct hs_int_settings *settings, const struct hs_int_request *request,
		struct frame *frame, const struct hs_int_values *own)
{
	struct hs_packet packet;
	int_parse(settings, frame, &packet);
	int growth = hs_int_source_growth(settings, request, frame->bytes, &packet, own);
	if (growth < 0)
		return growth;
	open_front(frame, (size_t)growth);
	hs_int_source_insert(settings, request, frame->bytes, &packet, (size_t)growth, own);
	return growth;
}

int int_transit(const struct hs_int_settings *settings, struct frame *frame,
		const struct hs_int_values *values)
{
	struct hs_packet packet;
	int_parse(settings, frame, &packet);
	int growth = hs_int_transit_growth(settings, frame->bytes, &packet);
	if (growth < 0)
		return growth;
	open_front(frame, (size_t)growth);
	hs_int_transit_insert(settings, frame->bytes, &packet, (size_t)growth, values);
	return growth;
}

size_t int_strip(const struct hs_int_settings *settings, struct frame *frame)
{
	struct hs_packet packet;
	int_parse(settings, frame, &packet);
	size_t taken = hs_int_strip(settings, frame->bytes, &packet);
	assert_int_equal(taken, packet.telemetry_bytes);
	struct frame rest = frame_of(frame->bytes + taken, frame->len - taken);
	frame_free(frame);
	*frame = rest;
	return taken;
}

// ---- sums, byte by byte ----

static uint32_t sum_of(uint32_t sum, const uint8_t *at, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		sum += i % 2 ? at[i] : (uint32_t)at[i] << 8;
	return sum;
}

static bool is_right(uint32_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum == 0xffff;
}

static void assert_l4(
		const uint8_t *addresses, size_t n, const uint8_t *l4, size_t bytes, uint8_t proto)
{
	bool is_udp = proto == 17;
	if (proto == 47) {
		assert_true(!(l4[0] & 0x80) || is_right(sum_of(0, l4, bytes)));
		return;
	}
	if (is_udp)
		assert_int_equal((size_t)(l4[4] << 8 | l4[5]), bytes);
	if ((proto != 6 && !is_udp) || (is_udp && !l4[6] && !l4[7]))
		return;
	uint32_t pseudo = sum_of(proto + (uint32_t)bytes, addresses, n);
	assert_true(is_right(sum_of(pseudo, l4, bytes)));
}

void int_assert_sums(const struct frame *frame)
{
	size_t at = frame->bytes[12] == 0x81 ? 18 : 14;
	const uint8_t *ip = frame->bytes + at;
	size_t left = frame->len - at;
	if (ip[0] >> 4 == 6) {
		assert_int_equal((size_t)(ip[4] << 8 | ip[5]), left - 40);
		assert_l4(ip + 8, 32, ip + 40, left - 40, ip[6]);
		return;
	}
	size_t header = 4u * (ip[0] & 15u);
	assert_int_equal((size_t)(ip[2] << 8 | ip[3]), left);
	assert_true(is_right(sum_of(0, ip, header)));
	assert_l4(ip + 12, 8, ip + header, left - header, ip[9]);
}

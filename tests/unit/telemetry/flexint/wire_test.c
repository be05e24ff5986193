// SPDX-License-Identifier: BSD-3-Clause
#include "wire_test.h"

#include "bytes.h"

#include <stdlib.h>
#include <string.h>

struct frame frame_of(const void *bytes, size_t len)
{
	struct frame frame = {.bytes = malloc(len ? len : 1), .len = len};
	assert_non_null(frame.bytes);
	if (len)
		memcpy(frame.bytes, bytes, len);
	return frame;
}

static uint8_t nibble(char c)
{
	const char *digits = "0123456789abcdef";
	const char *at = strchr(digits, c);
	assert_true(c && at);
	return (uint8_t)(at - digits);
}

struct frame frame_from_hex(const char *hex)
{
	size_t len = strlen(hex) / 2;
	struct frame frame = frame_of(hex, len);
	for (size_t i = 0; i < len; i++)
		frame.bytes[i] = (uint8_t)(nibble(hex[2 * i]) << 4 | nibble(hex[2 * i + 1]));
	return frame;
}

struct frame frame_join(struct frame a, struct frame b)
{
	a.bytes = realloc(a.bytes, a.len + b.len);
	assert_non_null(a.bytes);
	memcpy(a.bytes + a.len, b.bytes, b.len);
	a.len += b.len;
	frame_free(&b);
	return a;
}

void frame_free(struct frame *frame)
{
	free(frame->bytes);
	*frame = (struct frame){0};
}

void frame_assert_equal(const struct frame *is, const struct frame *should)
{
	assert_int_equal(is->len, should->len);
	assert_memory_equal(is->bytes, should->bytes, should->len);
}

void frame_parse(const struct frame *frame, struct hs_packet *packet)
{
	hs_flexint_parse(frame->bytes, frame->len, frame->len, packet);
}

// The frame with `growth` bytes in front of it that must not matter.
static void grow(struct frame *frame, size_t growth)
{
	uint8_t *bytes = malloc(frame->len + growth);
	assert_non_null(bytes);
	memset(bytes, 0xa5, growth);
	memcpy(bytes + growth, frame->bytes, frame->len);
	free(frame->bytes);
	frame->bytes = bytes;
	frame->len += growth;
}

void frame_insert_source(struct frame *frame, uint32_t ns_id, uint32_t trace_type,
		enum hs_flexint_layout layout, const struct hs_e2e *e2e)
{
	struct hs_packet packet;
	frame_parse(frame, &packet);
	size_t growth = hs_flexint_source_growth(&packet, trace_type, layout);
	assert_int_not_equal(growth, 0);
	grow(frame, growth);
	hs_flexint_source_insert(frame->bytes, &packet, growth, ns_id, trace_type, layout, e2e);
}

int frame_insert_hop(struct frame *frame, const struct hs_hop *hop)
{
	struct hs_packet packet;
	frame_parse(frame, &packet);
	int growth = hs_flexint_hop_growth(frame->bytes, &packet, hop->bitmap);
	if (growth < 0)
		return growth;
	grow(frame, (size_t)growth);
	hs_flexint_hop_insert(frame->bytes, &packet, (size_t)growth, hop);
	return growth;
}

void frame_insert_option(struct frame *frame, uint8_t type, const uint8_t *data, size_t len)
{
	uint8_t option[2 + 255] = {type, (uint8_t)len};
	memcpy(option + 2, data, len);
	frame_insert_block(frame, option, 2 + len);
}

void frame_insert_block(struct frame *frame, const uint8_t *options, size_t bytes)
{
	struct hs_packet packet;
	frame_parse(frame, &packet);
	size_t growth = hs_flexint_block_growth(&packet, bytes);
	assert_int_not_equal(growth, 0);
	grow(frame, growth);
	hs_flexint_block_insert(frame->bytes, &packet, growth, options, bytes);
}

void frame_take_type(struct frame *frame, uint8_t type)
{
	struct hs_packet packet;
	frame_parse(frame, &packet);
	size_t taken = hs_flexint_take_type(frame->bytes, &packet, type);
	assert_int_equal(taken % 8, 0);
	struct frame rest = frame_of(frame->bytes + taken, frame->len - taken);
	frame_free(frame);
	*frame = rest;
}

void frame_strip(struct frame *frame)
{
	struct hs_packet packet;
	frame_parse(frame, &packet);
	size_t taken = hs_flexint_strip(frame->bytes, &packet);
	assert_int_equal(taken, packet.telemetry_bytes);
	struct frame rest = frame_of(frame->bytes + taken, frame->len - taken);
	frame_free(frame);
	*frame = rest;
}

int frame_decode(const struct frame *frame, struct hs_decoded *out)
{
	struct hs_packet packet;
	frame_parse(frame, &packet);
	assert_true(packet.flags & HS_PACKET_TELEMETRY);
	const uint8_t *trace = frame->bytes + packet.trace_off;
	const uint8_t *e2e = frame->bytes + packet.e2e_off;
	// Copies of their exact size: the decoder gets nothing beyond them.
	struct frame t = frame_of(trace + 2, trace[1]);
	struct frame e = frame_of(e2e + 2, e2e[1]);
	int rc = hs_flexint_decode(t.bytes, t.len, e.bytes, e.len, out);
	frame_free(&t);
	frame_free(&e);
	return rc;
}

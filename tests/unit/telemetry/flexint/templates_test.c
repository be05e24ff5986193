// SPDX-License-Identifier: BSD-3-Clause
// Headers that are parsed by templates, beside the general parser and a walk over all options:
// headers of many shapes in turn, with each byte changed, cut off, and of wrong lengths.
#include "wire_test.h"

#include "bytes.h"
#include "flexint_parse_fast.h"
#include "hbh.h"
#include "rng.h"

#define L3		    14
#define L4		    54
#define FRAMES		    200000
#define DESTINATION_OPTIONS 60
#define SCTP		    132

// What decides where the options of a header stand.
struct shape {
	uint8_t proto;
	enum hs_flexint_layout layout;
	uint32_t trace_type;
	unsigned n_hops;
};

static const struct shape shapes[] = {
		{17, HS_LAYOUT_ALIGNED, 0x7000E000, 0},
		{17, HS_LAYOUT_ALIGNED, 0x7000E000, 2},
		{6, HS_LAYOUT_ALIGNED, 0x7000E000, 2},
		{17, HS_LAYOUT_PAPER, 0x7000E000, 0},
		{6, HS_LAYOUT_PAPER, 0x7000E000, 3},
		{58, HS_LAYOUT_ALIGNED, 0x7000E000, 1},
		{17, HS_LAYOUT_ALIGNED, 0x00000000, 1},
		{17, HS_LAYOUT_PAPER, 0x00002000, 2},
		{6, HS_LAYOUT_ALIGNED, 0x10008000, 2},
		{17, HS_LAYOUT_ALIGNED, 0xF000E000, 9},
		{17, HS_LAYOUT_ALIGNED, 0x20004000, 3}, // as long as the next one
		{17, HS_LAYOUT_ALIGNED, 0x40004000, 3},
		{DESTINATION_OPTIONS, HS_LAYOUT_ALIGNED, 0x7000E000, 2}, // then UDP
		{SCTP, HS_LAYOUT_ALIGNED, 0x7000E000, 2},
};
#define SHAPES (sizeof(shapes) / sizeof(shapes[0]))

static uint32_t below(struct hs_rng *rng, uint32_t n)
{
	return hs_rng_u32(rng) % n;
}

// A frame of this shape with random values, and with `ethernet` bytes of padding behind IPv6.
static struct frame frame_of_shape(
		struct hs_rng *rng, const struct shape *shape, uint32_t ns_id, size_t ethernet)
{
	uint8_t bytes[L4 + 60 + 20];
	size_t payload = 20 + below(rng, 40);
	struct hs_e2e e2e = {.bitmap = (uint16_t)(shape->trace_type >> 16),
			.ts_ns = hs_rng_u32(rng),
			.tx_packets = hs_rng_u32(rng),
			.tx_bytes = hs_rng_u32(rng)};
	struct hs_hop hop = {.bitmap = (uint16_t)shape->trace_type, .tx_bytes = hs_rng_u32(rng)};

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)hs_rng_u32(rng);
	hs_be16_store(bytes + 12, 0x86dd);
	bytes[L3] = (uint8_t)(0x60 | below(rng, 16));
	hs_be16_store(bytes + L3 + 4, (uint16_t)payload);
	bytes[L3 + 6] = shape->proto;
	if (shape->proto == DESTINATION_OPTIONS) {
		uint8_t units = (uint8_t)below(rng, 2);
		memcpy(bytes + L4, (uint8_t[]){17, units, 1, (uint8_t)(4 + 8 * units)}, 4);
	}
	struct frame frame = frame_of(bytes, L4 + payload + ethernet);
	frame_insert_source(&frame, ns_id, shape->trace_type, shape->layout, &e2e);
	for (unsigned n = 0; n < shape->n_hops; n++) {
		hop.node_id = (uint16_t)hs_rng_u32(rng);
		hop.ts_ns = hs_rng_u32(rng);
		assert_true(frame_insert_hop(&frame, &hop) >= 0);
	}
	return frame;
}

// Options as RFC 8200 section 4.2 has them, type and place of each. Returns their number, or 0 if
// there are more than four, or if one goes beyond the header.
static unsigned walk(const uint8_t *hbh, size_t bytes, uint8_t types[4], size_t places[4])
{
	unsigned n = 0;

	for (size_t at = 2; at < bytes; n++) {
		size_t len = hbh[at] == 0 ? 1 : at + 2 > bytes ? bytes : 2u + hbh[at + 1];
		if (n == 4 || at + len > bytes)
			return 0;
		types[n] = hbh[at];
		places[n] = at;
		at += len;
	}
	return n;
}

// What HS_PACKET_PLAIN promises is what a walk finds. `hbh` is directly behind an untagged IPv6
// header.
static void is_as_walked(const uint8_t *hbh, const struct hs_packet *packet)
{
	uint8_t types[4];
	size_t places[4], bytes = 8u * (hbh[1] + 1u);
	unsigned n = walk(hbh, bytes, types, places), k = 0;

	if (n && types[0] == 1 && hbh[3] == 0)
		k++;
	bool own = hbh[0] != 0 && (n == k + 2 || (n == k + 3 && types[k + 2] == 1)) &&
		   types[k] == 0x31 && hbh[places[k] + 1] >= 8 && types[k + 1] == 0x11 &&
		   hbh[places[k + 1] + 1] >= 2;
	bool plain = own && (n == k + 2 || bytes - places[k + 2] < 8);
	assert_int_equal(!!(packet->flags & HS_PACKET_PLAIN), plain);
	if (!own)
		return;
	assert_true(packet->flags & HS_PACKET_TELEMETRY);
	assert_int_equal(packet->hbh_bytes, bytes);
	assert_int_equal(packet->telemetry_bytes, bytes);
	assert_int_equal(packet->trace_off, L4 + places[k]);
	assert_int_equal(packet->e2e_off, L4 + places[k + 1]);
	assert_int_equal(packet->ns_id, hs_be32_load(hbh + places[k] + 2));
	assert_int_equal(packet->trace_type, hs_be32_load(hbh + places[k] + 6));
}

// Parses the first `len` bytes of a frame of `frame_len` with both parsers, if the fast one takes
// it.
static void parse_alike(struct hs_flexint_templates *templates, const uint8_t *frame, size_t len,
		size_t frame_len)
{
	struct hs_packet fast, packet;

	hs_flexint_parse(frame, len, frame_len, &packet);
	if (packet.flags & HS_PACKET_HBH && packet.l3_off == L3)
		is_as_walked(frame + L4, &packet);
	memset(&fast, 0xa5, sizeof(fast));
	if (!hs_flexint_parse_fast(templates, frame, len, frame_len, &fast))
		return;
	assert_memory_equal(&fast, &packet, sizeof(packet));
}

// Returns whether a template matches the header, whose frame is whole.
static bool has_template(struct hs_flexint_templates *templates, const struct frame *frame)
{
	size_t payload = hs_be16_load(frame->bytes + L3 + 4);
	struct hs_packet packet;

	return hs_flexint_template_parse(templates, frame->bytes, frame->len, payload, &packet);
}

static void one_header_makes_the_template_of_all_of_its_shape(void **state)
{
	struct hs_flexint_templates templates;
	struct hs_rng rng;

	(void)state;
	hs_rng_init(&rng, 1);
	for (size_t k = 0; k < SHAPES; k++) {
		memset(&templates, 0, sizeof(templates));
		for (unsigned n = 0; n < 50; n++) {
			struct frame frame = frame_of_shape(
					&rng, &shapes[k], hs_rng_u32(&rng), below(&rng, 9));
			bool usual = shapes[k].proto < DESTINATION_OPTIONS;
			assert_int_equal(has_template(&templates, &frame), n && usual);
			parse_alike(&templates, frame.bytes, frame.len, frame.len);
			frame_free(&frame);
		}
	}
}

// The shapes of usual traffic keep their templates while all of them come in turn.
static void usual_shapes_do_not_replace_each_other(void **state)
{
	struct hs_flexint_templates templates = {0};
	struct hs_rng rng;

	(void)state;
	hs_rng_init(&rng, 2);
	for (unsigned n = 0; n < 200; n++) {
		struct shape shape = {.proto = n & 1 ? 6 : 17,
				.layout = HS_LAYOUT_ALIGNED,
				.trace_type = 0x7000E000,
				.n_hops = n / 2 % 10};
		struct frame frame = frame_of_shape(&rng, &shape, n, 0);
		assert_int_equal(has_template(&templates, &frame), n >= 20);
		parse_alike(&templates, frame.bytes, frame.len, frame.len);
		frame_free(&frame);
	}
}

// Each byte of the headers takes each value. The frame as it was is parsed between, so that its
// template is there.
static void each_byte_may_have_each_value(void **state)
{
	struct hs_flexint_templates templates = {0};
	struct hs_rng rng;

	(void)state;
	hs_rng_init(&rng, 3);
	for (size_t k = 0; k < SHAPES; k++) {
		struct frame frame = frame_of_shape(&rng, &shapes[k], 9, 0);
		size_t end = L4 + 8u * (frame.bytes[L4 + 1] + 1u) + 4u;
		for (size_t at = 12; at < end; at++) {
			uint8_t was = frame.bytes[at];
			for (unsigned byte = 0; byte < 256; byte++) {
				frame.bytes[at] = was;
				parse_alike(&templates, frame.bytes, frame.len, frame.len);
				frame.bytes[at] = (uint8_t)byte;
				parse_alike(&templates, frame.bytes, frame.len, frame.len);
			}
			frame.bytes[at] = was;
		}
		frame_free(&frame);
	}
}

// Appends an option, whose data is random, if it fits. Returns where the next one begins.
static size_t put_option(
		struct hs_rng *rng, uint8_t *hbh, size_t bytes, size_t at, uint8_t type, size_t len)
{
	if (at + 2 + len > bytes)
		return at;
	hbh[at] = type;
	hbh[at + 1] = (uint8_t)len;
	for (size_t i = 0; i < len; i++)
		hbh[at + 2 + i] = (uint8_t)hs_rng_u32(rng);
	return at + 2 + len;
}

// Options of nearly the form that our source writes: too short, with too much padding, with others
// between.
static void random_options(struct hs_rng *rng, uint8_t *hbh, size_t bytes)
{
	static const uint8_t others[] = {1, 1, 5, 0x31, 0x11, 0x32, 0x33};
	size_t at = 2;

	memset(hbh + 2, 0, bytes - 2); // Pad1
	if (below(rng, 2))
		at = put_option(rng, hbh, bytes, at, 1, below(rng, 4) ? 0 : below(rng, 3));
	if (below(rng, 8))
		at = put_option(rng, hbh, bytes, at, 0x31, 6 + below(rng, 20));
	if (below(rng, 8) == 0)
		at = put_option(rng, hbh, bytes, at, others[below(rng, 7)], below(rng, 4));
	if (below(rng, 8))
		at = put_option(rng, hbh, bytes, at, 0x11, below(rng, 20));
	if (below(rng, 8) == 0)
		at = put_option(rng, hbh, bytes, at, others[below(rng, 7)], below(rng, 4));
	if (at + 2 <= bytes && below(rng, 8))
		put_option(rng, hbh, bytes, at, 1, bytes - at - 2);
}

static void options_of_any_kind_are_as_a_walk_finds_them(void **state)
{
	struct hs_flexint_templates templates = {0};
	unsigned plain = 0, own = 0;
	struct hs_packet packet;
	struct hs_rng rng;

	(void)state;
	hs_rng_init(&rng, 7);
	for (unsigned n = 0; n < FRAMES; n++) {
		uint8_t bytes[L4 + 8 * 40 + 8] = {[12] = 0x86, [13] = 0xdd, [L3] = 0x60};
		size_t header = 8 * (below(&rng, 8) ? 1 + below(&rng, 6) : 30 + below(&rng, 11));
		hs_be16_store(bytes + L3 + 4, (uint16_t)(header + 8));
		bytes[L4] = below(&rng, 4) ? 17 : 6;
		bytes[L4 + 1] = (uint8_t)(header / 8 - 1);
		random_options(&rng, bytes + L4, header);
		struct frame frame = frame_of(bytes, L4 + header + 8);
		parse_alike(&templates, frame.bytes, frame.len, frame.len);
		frame_parse(&frame, &packet);
		plain += !!(packet.flags & HS_PACKET_PLAIN);
		own += packet.flags & HS_PACKET_TELEMETRY && packet.telemetry_bytes == header;
		frame_free(&frame);
	}
	assert_true(plain > FRAMES / 20 && own > plain + FRAMES / 100 && own < FRAMES / 2);
}

// A frame is cut off at each byte, where its first segment or itself ends, and IPv6 states each
// length.
static void no_length_goes_beyond_the_frame(void **state)
{
	struct hs_flexint_templates templates = {0};
	struct hs_rng rng;

	(void)state;
	hs_rng_init(&rng, 4);
	for (size_t k = 0; k < SHAPES; k++) {
		struct frame frame = frame_of_shape(&rng, &shapes[k], 11, 12);
		size_t whole = frame.len;
		for (size_t len = 0; len <= whole; len++) {
			struct frame cut = frame_of(frame.bytes, len);
			parse_alike(&templates, frame.bytes, whole, whole);
			parse_alike(&templates, cut.bytes, len, whole);
			parse_alike(&templates, cut.bytes, len, len);
			frame_free(&cut);
		}
		for (size_t payload = 0; payload <= whole; payload++) {
			parse_alike(&templates, frame.bytes, whole, whole);
			hs_be16_store(frame.bytes + L3 + 4, (uint16_t)payload);
			parse_alike(&templates, frame.bytes, whole, whole);
			hs_be16_store(frame.bytes + L3 + 4, (uint16_t)(whole - L4 - 12));
		}
		frame_free(&frame);
	}
}

static void headers_of_all_shapes_replace_templates(void **state)
{
	struct hs_flexint_templates templates = {0};
	struct hs_rng rng;
	unsigned found = 0;

	(void)state;
	hs_rng_init(&rng, 5);
	for (unsigned n = 0; n < FRAMES; n++) {
		uint32_t ns_id = below(&rng, 2) ? below(&rng, 64) : hs_rng_u32(&rng);
		struct frame frame = frame_of_shape(
				&rng, &shapes[below(&rng, SHAPES)], ns_id, below(&rng, 3));
		found += has_template(&templates, &frame);
		for (unsigned changes = below(&rng, 3); changes; changes--)
			frame.bytes[12 + below(&rng, (uint32_t)frame.len - 12)] =
					(uint8_t)below(&rng, below(&rng, 2) ? 256 : 60);
		parse_alike(&templates, frame.bytes, frame.len, frame.len);
		frame_free(&frame);
	}
	assert_true(found > FRAMES / 2 && FRAMES - found > FRAMES / 10);
}

static void a_tagged_frame_makes_no_template(void **state)
{
	struct hs_flexint_templates templates = {0};
	struct hs_rng rng;

	(void)state;
	hs_rng_init(&rng, 6);
	struct frame frame = frame_of_shape(&rng, &shapes[1], 5, 4);
	memmove(frame.bytes + 16, frame.bytes + 12, frame.len - 16);
	memcpy(frame.bytes + 12, (uint8_t[]){0x81, 0, 0, 5}, 4);
	parse_alike(&templates, frame.bytes, frame.len, frame.len);
	for (size_t k = 0; k < HS_FLEXINT_TEMPLATES; k++)
		assert_int_equal(templates.list[k].key, 0);
	frame_free(&frame);
}

static void an_empty_place_matches_no_header(void **state)
{
	struct hs_flexint_templates templates = {0};
	uint8_t zeros[128] = {[12] = 0x86, [13] = 0xdd, [L3] = 0x60, [L3 + 5] = 74};

	(void)state;
	struct frame frame = frame_of(zeros, sizeof(zeros));
	assert_false(has_template(&templates, &frame));
	parse_alike(&templates, zeros, sizeof(zeros), sizeof(zeros));
	frame_free(&frame);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(one_header_makes_the_template_of_all_of_its_shape),
			cmocka_unit_test(usual_shapes_do_not_replace_each_other),
			cmocka_unit_test(each_byte_may_have_each_value),
			cmocka_unit_test(options_of_any_kind_are_as_a_walk_finds_them),
			cmocka_unit_test(no_length_goes_beyond_the_frame),
			cmocka_unit_test(headers_of_all_shapes_replace_templates),
			cmocka_unit_test(a_tagged_frame_makes_no_template),
			cmocka_unit_test(an_empty_place_matches_no_header),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

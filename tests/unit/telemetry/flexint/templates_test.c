// SPDX-License-Identifier: BSD-3-Clause
// Headers that are parsed by templates, beside the general parser, which walks over all options:
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

// Parses the first `len` bytes of a frame of `frame_len` with both parsers, if the fast one takes
// it.
static void parse_alike(struct hs_flexint_templates *templates, const uint8_t *frame, size_t len,
		size_t frame_len)
{
	struct hs_packet fast, packet;

	memset(&fast, 0xa5, sizeof(fast));
	if (!hs_flexint_parse_fast(templates, frame, len, frame_len, &fast))
		return;
	hs_flexint_parse(frame, len, frame_len, &packet);
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
static void a_changed_byte_is_parsed_anew(void **state)
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

// A tag moves all headers by four bytes, so that other bytes stand where a template is looked for.
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
			cmocka_unit_test(a_changed_byte_is_parsed_anew),
			cmocka_unit_test(no_length_goes_beyond_the_frame),
			cmocka_unit_test(headers_of_all_shapes_replace_templates),
			cmocka_unit_test(a_tagged_frame_makes_no_template),
			cmocka_unit_test(an_empty_place_matches_no_header),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
// INT-label in packets: worked examples, the limits of the format, and what is not well formed.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "label_frame.h"
#include "rng.h"

#define ETHER4 "0200000000020200000000010800"
#define ETHER6 "02000000000202000000000186dd"
// The paper's layout: INT_TYPE 253, NH 17, one item; UDP 1000 -> 2000, "DATADATA".
#define PAPER                                                                                      \
	ETHER4 "450000460001000040fd62b80a0001010a0002021101"                                      \
	       "040102000000000f42bb0000000f4408000f430800000007000000d200000006"                  \
	       "03e807d00010ac0e4441544144415441"
#define PLAIN                                                                                      \
	ETHER4 "45000024000100004011"                                                              \
	       "63c60a0001010a00020203e807d00010ac0e4441544144415441"
#define PLAIN6                                                                                     \
	ETHER6 "60012345000c113f20010db800000000000000000000000120010db8000000000000000000000002"  \
	       "03e807d0000c000044415441"

static const struct hs_label_settings usual = {
		.ip_protocol = HS_LABEL_IP_PROTOCOL, .max_hops = HS_LABEL_MAX_HOPS};
static const struct hs_label_item example = {
		.node_id = 4,
		.ingress_port = 1,
		.egress_port = 2,
		.ingress_us = 1000123,
		.egress_us = 1000456,
		.enqueue_us = 1000200,
		.enqueue_packets = 7,
		.queue_us = 210,
		.dequeue_packets = 6,
};

static void the_example_of_the_paper_s_layout_has_its_bytes(void **state)
{
	(void)state;
	struct frame frame = frame_from_hex(PLAIN), should = frame_from_hex(PAPER);
	struct hs_label_item item;
	struct hs_packet packet;

	int_assert_sums(&frame);
	assert_int_equal(label_add(&usual, &frame, &example, false), 34);
	frame_assert_equal(&frame, &should);
	label_parse(&usual, &frame, &packet);
	struct hs_label_stack stack = hs_label_stack_of(&usual, frame.bytes, &packet);
	assert_int_equal(stack.n_items, 1);
	hs_label_item_read(stack.items, &item);
	assert_memory_equal(&item, &example, sizeof(item));
	assert_int_equal(hs_label_item_latency_us(&item), 333);
	frame_free(&frame);
	frame_free(&should);
}

// The parser knows neither GRE nor protocol 0.
static void an_export_has_the_protocol_that_the_host_wrote(void **state)
{
	(void)state;
	static const uint8_t protocols[] = {47, 0, 17};

	for (unsigned i = 0; i < sizeof(protocols); i++) {
		struct frame frame = frame_from_hex(PLAIN);
		struct hs_label_export export;
		struct hs_packet packet;
		frame.bytes[14 + 9] = protocols[i];
		assert_int_equal(label_add(&usual, &frame, &example, false), 34);
		label_parse(&usual, &frame, &packet);
		hs_label_export_of(&usual, frame.bytes, &packet, &export);
		assert_int_equal(export.proto, protocols[i]);
		assert_int_equal(export.dst_port, protocols[i] == 17 ? 2000 : 0);
		frame_free(&frame);
	}
}

static void frames_of_the_prototype_are_read(void **state)
{
	(void)state;
	struct frame sent = frame_from_hex("0000000202020000000101010700000000010001000200038003"
					   "0701000077777777");
	struct frame received = frame_from_hex(
			"00000002020200000001010107010001"
			"040102000000000f42bb0000000f4408000f430800000007000000d200000006"
			"77777777");
	struct hs_label_stack stack;
	struct hs_label_item item;

	assert_int_equal(hs_label_prototype_open(sent.bytes, sent.len, &stack), 0);
	assert_int_equal(stack.n_items, 0);
	assert_int_equal(hs_label_prototype_open(received.bytes, received.len, &stack), 0);
	assert_int_equal(stack.n_items, 1);
	assert_false(stack.specific);
	hs_label_item_read(stack.items, &item);
	assert_memory_equal(&item, &example, sizeof(item));
	received.bytes[14] = 0x80;
	assert_int_equal(hs_label_prototype_open(received.bytes, received.len, &stack), 0);
	assert_true(stack.specific);
	for (size_t len = 0; len < received.len - 4; len++) {
		struct frame cut = frame_of(received.bytes, len);
		assert_int_equal(hs_label_prototype_open(cut.bytes, len, &stack), -EMSGSIZE);
		frame_free(&cut);
	}
	for (size_t len = 0; len < sent.len - 4; len++) {
		struct frame cut = frame_of(sent.bytes, len);
		assert_int_equal(hs_label_prototype_open(cut.bytes, len, &stack), -EMSGSIZE);
		frame_free(&cut);
	}
	received.bytes[13] = 2; // of something else
	assert_int_equal(hs_label_prototype_open(received.bytes, received.len, &stack), -EBADMSG);
	sent.bytes[27] = 0; // IPv4 behind the route
	sent.bytes[26] = 8;
	assert_int_equal(hs_label_prototype_open(sent.bytes, sent.len, &stack), -EBADMSG);
	sent.bytes[24] = 0; // no last entry
	assert_int_equal(hs_label_prototype_open(sent.bytes, sent.len, &stack), -EBADMSG);
	frame_free(&sent);
	frame_free(&received);
}

static void the_page_has_each_field_of_the_table(void **state)
{
	(void)state;
	static const char *const rows[] = {
#define HS_LABEL_FIELD(offset, bytes, member, shift, unit, text)                                   \
	"\n| " #offset " | " #bytes " | `" #member "` | " #shift " | " unit " | " text " |\n",
#include "label_fields.def"
	};
	static char page[32768];
	FILE *file = fopen(HS_DOCUMENT, "rb");
	assert_non_null(file);
	page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
	fclose(file);
	const char *at = page;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		at = strstr(at, rows[i]);
		assert_non_null(at);
		at += strlen(rows[i]) - 1;
	}
}

// ---- limits ----

static struct frame with_items(const struct hs_label_settings *settings, const char *plain,
		unsigned n, bool specific)
{
	struct frame frame = frame_from_hex(plain);

	for (unsigned i = 0; i < n; i++)
		assert_true(label_add(settings, &frame, &example, specific) > 0);
	return frame;
}

static void no_item_makes_an_ordinary_packet_a_specific_one(void **state)
{
	(void)state;
	struct frame frame = with_items(&usual, PLAIN, HS_LABEL_MAX_HOPS, false);

	assert_int_equal(label_add(&usual, &frame, &example, false), HS_LABEL_FULL);
	assert_int_equal(label_strip(&usual, &frame), 2 + 32 * 5);
	frame_free(&frame);
}

static void a_specific_packet_takes_items_up_to_int_num_255(void **state)
{
	(void)state;
	const struct hs_label_settings settings = {.ip_protocol = 253, .max_hops = 127};
	struct frame frame = with_items(&settings, PLAIN, 128, true);
	struct hs_packet packet;

	assert_int_equal(label_add(&settings, &frame, &example, true), HS_LABEL_FULL);
	label_parse(&settings, &frame, &packet);
	struct hs_label_stack stack = hs_label_stack_of(&settings, frame.bytes, &packet);
	assert_int_equal(stack.int_num, 255);
	assert_true(stack.specific);
	assert_int_equal(stack.n_items, 128);
	frame_free(&frame);
}

static void an_option_of_ipv6_has_room_for_seven_items(void **state)
{
	(void)state;
	const struct hs_label_settings settings = {.ip_protocol = 253, .max_hops = 20};
	struct frame plain = frame_from_hex(PLAIN6);
	struct frame frame = with_items(&settings, PLAIN6, 7, false);

	assert_int_equal(label_add(&settings, &frame, &example, false), HS_LABEL_NO_ROOM);
	label_strip(&settings, &frame);
	frame_assert_equal(&frame, &plain);
	frame_free(&frame);
	frame_free(&plain);
}

static void a_packet_grows_to_its_greatest_length_and_no_further(void **state)
{
	(void)state;
	static uint8_t big[14 + 65535];
	struct frame small = frame_from_hex(PLAIN);

	for (unsigned over = 0; over < 2; over++) {
		size_t l3 = 65535 - 34 + over;
		memcpy(big, small.bytes, small.len);
		big[16] = (uint8_t)(l3 >> 8);
		big[17] = (uint8_t)l3;
		struct frame frame = frame_of(big, 14 + l3);
		assert_int_equal(label_add(&usual, &frame, &example, false),
				over ? HS_LABEL_NO_ROOM : 34);
		frame_free(&frame);
	}
	frame_free(&small);
}

static void what_does_not_fit_an_item_stops_or_wraps(void **state)
{
	(void)state;
	const struct hs_label_item big = {.ingress_us = UINT64_MAX,
			.egress_us = UINT64_C(1) << 48 | 9,
			.enqueue_packets = 1 << 24,
			.dequeue_packets = UINT32_MAX};
	uint8_t bytes[HS_LABEL_ITEM_BYTES];
	struct hs_label_item back;

	hs_label_item_write(&big, bytes);
	hs_label_item_read(bytes, &back);
	assert_int_equal(back.ingress_us, (UINT64_C(1) << 48) - 1);
	assert_int_equal(back.egress_us, 9);
	assert_int_equal(back.enqueue_packets, 0xffffff);
	assert_int_equal(back.dequeue_packets, 0xffffff);
	assert_int_equal(hs_label_item_latency_us(&back), 10); // across the wrap
	back.ingress_us = 10;
	assert_int_equal(hs_label_item_latency_us(&back), -1);
}

// ---- what is not labelled ----

static void assert_refused(const char *hex, int refusal)
{
	struct frame frame = frame_from_hex(hex);
	struct frame before = frame_of(frame.bytes, frame.len);

	assert_int_equal(label_add(&usual, &frame, &example, false), refusal);
	frame_assert_equal(&frame, &before);
	frame_free(&frame);
	frame_free(&before);
}

static void fragments_and_what_is_no_ip_are_not_labelled(void **state)
{
	(void)state;
	// MF, an offset, MF of a fragment of IPv6, ARP, a header's checksum of ffff, a total length
	// beyond the frame.
	assert_refused(ETHER4 "45000024000120004011"
			      "43c50a0001010a00020203e807d00010ac0e4441544144415441",
			HS_LABEL_NO_CARRIER);
	assert_refused(ETHER4 "45000024000100014011"
			      "63c60a0001010a00020203e807d00010ac0e4441544144415441",
			HS_LABEL_NO_CARRIER);
	assert_refused(ETHER6 "6001234500142c3f20010db800000000000000000000000120010db8000000000000"
			      "000000000002110000010000000103e807d0000c000044415441",
			HS_LABEL_NO_CARRIER);
	assert_refused("ffffffffffff0200000000010806000108000604000102000000000a000001000000000000"
		       "0a000002",
			HS_LABEL_NO_CARRIER);
	assert_refused(ETHER4
			"45000024000100004011ffff0a0001010a00020203e807d00010ac0e4441544144415441",
			HS_LABEL_NO_CARRIER);
	assert_refused(ETHER4 "45000044000100004011"
			      "63c60a0001010a00020203e807d00010ac0e4441544144415441",
			HS_LABEL_NO_CARRIER);
}

// ---- what is not well formed ----

static void assert_claimed_only(const struct frame *frame)
{
	struct hs_packet packet;
	struct frame copy = frame_of(frame->bytes, frame->len);

	label_parse(&usual, frame, &packet);
	assert_true(packet.flags & HS_PACKET_ANY_TELEMETRY);
	assert_false(packet.flags & HS_PACKET_TELEMETRY);
	assert_int_equal(label_strip(&usual, &copy), 0);
	frame_assert_equal(&copy, frame);
	assert_true(label_add(&usual, &copy, &example, false) < 0);
	frame_free(&copy);
}

// {byte of the frame, its value}, of a packet with two items.
static void spoil(const char *plain, const uint16_t (*spoils)[2], size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct frame frame = with_items(&usual, plain, 2, false);
		frame.bytes[spoils[i][0]] = (uint8_t)spoils[i][1];
		assert_claimed_only(&frame);
		frame_free(&frame);
	}
}

static void wrong_numbers_and_lengths_are_claimed_only(void **state)
{
	(void)state;
	static const uint16_t in_ipv4[][2] = {
			{35, 3},	     // items beyond the end
			{35, 255},	     // of a specific flow, likewise
			{34, 253},	     // NH is INT_TYPE
			{20, 0x20},	     // a fragment
			{21, 1},	     // a later one
			{16, 1},	     // a total length beyond the frame
			{17, 21},	     // without room for the option
			{17, 20 + 65},	     // and for the last item
			{35, 0},	     // no item
			{56, 1},	     // reserved bytes of the first item
			{64, 128}, {88, 1},  // and of the last
			{96, 1}, {14, 0x44}, // a header below 20 bytes
			{14, 0x4f},	     // options of 40 bytes, then half an item's bytes
	};
	static const uint16_t in_ipv6[][2] = {
			{54 + 1, 9},  // a header that is longer than the option
			{54 + 1, 5},  // and shorter
			{54 + 3, 67}, // an option that is not of whole items
			{54 + 3, 36}, // of one
			{54 + 3, 0},
			{54 + 4, 1}, // INT_num is not the number
			{54 + 4, 3},
			{54 + 4, 8},
			{54 + 5, 0x80}, // no options of a host behind it
			{54 + 5, 1},	// reserved bits
			{54 + 6, 1},
			{54 + 7, 1},
			{82, 1}, // reserved bytes of the first item
			{90, 1},
			{114, 1}, // and of the last
			{122, 128},
	};

	spoil(PLAIN, in_ipv4, sizeof(in_ipv4) / sizeof(in_ipv4[0]));
	spoil(PLAIN6, in_ipv6, sizeof(in_ipv6) / sizeof(in_ipv6[0]));
}

// ITEM: one whose values are 0.
#define ITEM "0000000000000000000000000000000000000000000000000000000000000000"

static void an_option_that_is_not_the_first_is_claimed_only(void **state)
{
	(void)state;
	// PadN(2), then the option; the option twice; the option without items.
	static const char first[] = "11050100"
				    "3e2401000000" ITEM "01020000";
	static const char twice[] = "1109"
				    "3e2401800000" ITEM "0100"
				    "3e2401000000" ITEM;
	const char *options[] = {first, twice, "11003e0400000000"};
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		struct frame frame = frame_from_hex(PLAIN6), option = frame_from_hex(options[i]);
		struct frame rest = frame_of(frame.bytes + 54, frame.len - 54);
		frame.len = 54;
		frame.bytes[20] = 0;
		frame.bytes[19] = (uint8_t)(frame.bytes[19] + option.len);
		frame = frame_join(frame_join(frame, option), rest);
		assert_claimed_only(&frame);
		frame_free(&frame);
	}
}

static void a_protocol_without_items_is_claimed_only(void **state)
{
	(void)state;
	struct frame frame =
			frame_from_hex(ETHER4 "450000190001000040fd00000a0001010a0002022f00414243");

	assert_claimed_only(&frame);
	frame_free(&frame);
}

static void another_int_type_is_the_host_s_own(void **state)
{
	(void)state;
	const struct hs_label_settings other = {.ip_protocol = 254, .max_hops = 5};
	struct frame frame = frame_from_hex(PAPER), before = frame_from_hex(PAPER);

	assert_int_equal(label_strip(&other, &frame), 0);
	assert_int_equal(label_add(&other, &frame, &example, false), 34);
	assert_int_equal(label_strip(&other, &frame), 34);
	frame_assert_equal(&frame, &before);
	frame_free(&frame);
	frame_free(&before);
}

static void mutated_packets_are_stripped_or_claimed_or_plain(void **state)
{
	(void)state;
	const char *plains[] = {PLAIN, PLAIN6};
	struct hs_rng rng;
	unsigned stripped = 0, claimed = 0;

	hs_rng_init(&rng, 15);
	for (unsigned i = 0; i < 100000; i++) {
		struct frame frame = with_items(&usual, plains[i % 2], hs_rng_u32(&rng) % 4, false);
		struct hs_packet packet;
		for (unsigned n = hs_rng_u32(&rng) % 4; n > 0; n--)
			frame.bytes[12 + hs_rng_u32(&rng) % (frame.len - 12)] =
					(uint8_t)hs_rng_u32(&rng);
		label_parse(&usual, &frame, &packet);
		if (packet.flags & HS_PACKET_TELEMETRY) {
			assert_int_equal(label_strip(&usual, &frame), packet.telemetry_bytes);
			stripped++;
		} else {
			claimed += (packet.flags & HS_PACKET_ANY_TELEMETRY) != 0;
			label_add(&usual, &frame, &example, i & 4);
		}
		frame_free(&frame);
	}
	assert_true(stripped > 10000 && claimed > 1000);
}

static void what_is_behind_snap_is_hidden(void **state)
{
	(void)state;
	static const char *const hex[] = {IPV4_IN_SNAP, TAG_IN_SNAP};

	for (size_t i = 0; i < sizeof(hex) / sizeof(hex[0]); i++) {
		struct frame frame = frame_from_hex(hex[i]);
		struct hs_packet packet;
		label_parse(&usual, &frame, &packet);
		assert_int_equal(packet.flags, HS_PACKET_HIDDEN);
		frame_free(&frame);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(what_is_behind_snap_is_hidden),
			cmocka_unit_test(the_example_of_the_paper_s_layout_has_its_bytes),
			cmocka_unit_test(an_export_has_the_protocol_that_the_host_wrote),
			cmocka_unit_test(frames_of_the_prototype_are_read),
			cmocka_unit_test(the_page_has_each_field_of_the_table),
			cmocka_unit_test(no_item_makes_an_ordinary_packet_a_specific_one),
			cmocka_unit_test(a_specific_packet_takes_items_up_to_int_num_255),
			cmocka_unit_test(an_option_of_ipv6_has_room_for_seven_items),
			cmocka_unit_test(a_packet_grows_to_its_greatest_length_and_no_further),
			cmocka_unit_test(what_does_not_fit_an_item_stops_or_wraps),
			cmocka_unit_test(fragments_and_what_is_no_ip_are_not_labelled),
			cmocka_unit_test(wrong_numbers_and_lengths_are_claimed_only),
			cmocka_unit_test(an_option_that_is_not_the_first_is_claimed_only),
			cmocka_unit_test(a_protocol_without_items_is_claimed_only),
			cmocka_unit_test(another_int_type_is_the_host_s_own),
			cmocka_unit_test(mutated_packets_are_stripped_or_claimed_or_plain),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

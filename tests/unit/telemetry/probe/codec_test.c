// SPDX-License-Identifier: BSD-3-Clause
// Probes: worked examples, what a mark is, and what is not well formed.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "probe_bytes.h"
#include "probe_frame.h"

#include "bytes.h"
#include "rng.h"

#define ETHER "0200000000020200000000010800"
#define BACK  "0200000000010200000000020800"
// Request 5 for port packets, three entries; then what node 1 sends on, answers, and sends to the
// monitor.
#define INITIAL                                                                                    \
	"455c002d00010000401165ff0a0000640a0000019c401e61001927a2000b00030200040300020101020000"   \
	"0000"
#define AFTER_1                                                                                    \
	"455c003e00010000401165ee0a0000640a0000019c401e61002a258d000b00020300020101020001010600"   \
	"04000400000064000000c80000012c00000190"
#define FEEDBACK "4564001e00010000401166060a0000640a0000019c401e61000a30c9000b"
#define RECOVERY                                                                                   \
	"4584003e00010000401165c60a0000640a0000019c401e61002a258d000b00020300020101020001010600"   \
	"04000400000064000000c80000012c00000190"

enum {
	L3 = 14,
	TOS = L3 + 1,
	TOTAL = L3 + 2,
	FRAGMENT = L3 + 6,
	L4 = 34,
	UDP_LENGTH = L4 + 4,
	REQUEST = 42,
	N_ENTRIES = REQUEST + 2,
	N_HOPS = N_ENTRIES + 2 + 9,
	N_VALUES = N_HOPS + 2,
};

static const struct hs_probe_hop first_hop = {.node = 1, .depth = 6, .n_values = 4};
static const uint32_t first_values[] = {100, 200, 300, 400};

static void the_example_has_its_bytes(void **state)
{
	(void)state;
	struct frame frame = frame_from_hex(ETHER INITIAL), after = frame_from_hex(ETHER AFTER_1);
	struct frame answer = frame_from_hex(BACK FEEDBACK), alarm = frame_from_hex(ETHER RECOVERY);
	struct frame feedback = probe_feedback(&usual, &frame);

	int_assert_sums(&frame);
	frame_assert_equal(&feedback, &answer);
	probe_add(&usual, &frame, &first_hop, first_values);
	frame_assert_equal(&frame, &after);
	hs_probe_mark_recovery(&usual, frame.bytes, L3);
	frame_assert_equal(&frame, &alarm);
	frame_free(&feedback);
	frame_free(&alarm);
	frame_free(&answer);
	frame_free(&after);
	frame_free(&frame);
}

static void the_example_is_read(void **state)
{
	(void)state;
	struct frame frame = frame_from_hex(ETHER AFTER_1);
	struct hs_packet packet;
	const uint8_t *values;

	probe_parse(&usual, &frame, &packet);
	assert_int_equal(packet.trace_type, HS_PROBE_COLLECTS);
	struct hs_probe_stack stack = hs_probe_stack_of(frame.bytes, &packet);
	assert_int_equal(stack.id, 5);
	assert_int_equal(stack.type, HS_PROBE_PORT_PACKETS);
	assert_int_equal(stack.n_entries, 2);
	struct hs_probe_entry entry = hs_probe_stack_entry(&stack, 1);
	assert_int_equal(entry.port << 16 | entry.first << 8 | entry.end, 0x010102);
	struct hs_probe_hop hop = hs_probe_stack_hop(&stack, 0, &values);
	assert_int_equal(hop.node << 16 | hop.depth << 8 | hop.n_values, 0x010604);
	for (unsigned i = 0; i < 4; i++)
		assert_int_equal(hs_be32_load(values + 4 * i), first_values[i]);
	assert_int_equal(hs_packet_counted_bytes(&packet), frame.len);
	frame_free(&frame);
}

// The greatest that the paper counts with: 195 nodes with a value each.
static void a_probe_of_195_nodes_is_filled(void **state)
{
	(void)state;
	enum {
		NODES = 195
	};
	struct hs_probe_entry entries[NODES] = {{.port = 1, .first = 2, .end = 3}};
	uint8_t payload[HS_PROBE_BYTES + NODES * 8];
	struct hs_probe_stack stack;
	const uint8_t *values;

	size_t bytes = hs_probe_stack_write(payload, 9, HS_PROBE_RULE_HITS, entries, NODES);
	for (uint32_t i = 0; i < NODES; i++) {
		struct hs_probe_hop hop = {.node = (uint8_t)i, .depth = 255, .n_values = 1};
		assert_int_equal(hs_probe_stack_open(payload, bytes, &stack), 0);
		hs_probe_stack_add(payload, &stack, &hop, &i);
		bytes += hs_probe_stack_growth(1);
	}
	assert_int_equal(bytes, sizeof(payload));
	assert_int_equal(hs_probe_stack_open(payload, bytes, &stack), 0);
	assert_int_equal(stack.n_entries, 0);
	for (unsigned i = 0; i < NODES; i++) {
		assert_int_equal(hs_probe_stack_hop(&stack, i, &values).node, i);
		assert_int_equal(hs_be32_load(values), i);
	}
}

// ---- what is a probe ----

// Both checksums, anew; the header has no options.
static void mend_sums(struct frame *frame)
{
	uint8_t *ip = frame->bytes + L3, *udp = frame->bytes + L4;
	uint32_t bytes = (uint32_t)(frame->len - L4);

	hs_be16_store(ip + 10, 0);
	hs_be16_store(ip + 10, (uint16_t)~probe_sum(0, ip, 20));
	hs_be16_store(udp + 6, 0);
	hs_be16_store(udp + 6,
			(uint16_t)~probe_sum(17 + bytes + probe_sum(0, ip + 12, 8), udp, bytes));
}

static void assert_mended(const struct frame *frame)
{
	struct frame mended = frame_of(frame->bytes, frame->len);

	mend_sums(&mended);
	if (!hs_be16_load(mended.bytes + L4 + 6))
		hs_be16_store(mended.bytes + L4 + 6, UINT16_MAX); // 0 is no checksum
	frame_assert_equal(frame, &mended);
	frame_free(&mended);
}

// The example with another request, of n entries with any bytes.
static struct frame frame_with_entries(uint16_t n, struct hs_rng *rng)
{
	struct frame example = frame_from_hex(ETHER INITIAL);
	uint8_t bytes[256];
	struct hs_probe_entry entries[32];

	memcpy(bytes, example.bytes, REQUEST);
	frame_free(&example);
	for (unsigned i = 0; i < n; i++)
		entries[i] = (struct hs_probe_entry){(uint8_t)hs_rng_u32(rng),
				(uint8_t)hs_rng_u32(rng), (uint8_t)hs_rng_u32(rng)};
	size_t len = REQUEST +
		     hs_probe_stack_write(bytes + REQUEST, 5, HS_PROBE_RULE_HITS, entries, n);
	hs_be16_store(bytes + TOTAL, (uint16_t)(len - L3));
	hs_be16_store(bytes + UDP_LENGTH, (uint16_t)(len - L4));
	struct frame frame = frame_of(bytes, len);
	mend_sums(&frame);
	return frame;
}

static void checksums_are_those_of_all_bytes(void **state)
{
	(void)state;
	struct hs_rng rng;
	uint32_t values[8];

	hs_rng_init(&rng, 17);
	for (unsigned round = 0; round < 2000; round++) {
		uint16_t n = (uint16_t)(1 + hs_rng_u32(&rng) % 31);
		struct frame frame = frame_with_entries(n, &rng);
		for (unsigned i = 0; i < n; i++) {
			struct hs_probe_hop hop = {.node = (uint8_t)hs_rng_u32(&rng),
					.depth = (uint8_t)hs_rng_u32(&rng),
					.n_values = hs_rng_u32(&rng) % 9};
			for (unsigned v = 0; v < 8; v++)
				values[v] = hs_rng_u32(&rng);
			probe_add(&usual, &frame, &hop, values);
			assert_mended(&frame);
			struct frame feedback = probe_feedback(&usual, &frame);
			assert_mended(&feedback);
			frame_free(&feedback);
		}
		frame_free(&frame);
	}
}

// One of all values of 16 bits makes the sum that stands for a checksum of 0.
static void a_checksum_is_never_0(void **state)
{
	(void)state;
	const struct hs_probe_hop hop = {.node = 1, .n_values = 1};
	unsigned n_ones = 0;

	for (uint32_t value = 0; value <= UINT16_MAX; value++) {
		struct frame frame = frame_from_hex(ETHER INITIAL);
		probe_add(&usual, &frame, &hop, &value);
		assert_mended(&frame);
		n_ones += hs_be16_load(frame.bytes + L4 + 6) == UINT16_MAX;
		frame_free(&frame);
	}
	assert_true(n_ones > 0);
}

static unsigned flags_of(struct frame *frame, bool mended)
{
	struct hs_packet packet;

	if (mended)
		mend_sums(frame);
	probe_parse(&usual, frame, &packet);
	assert_int_equal(packet.telemetry_bytes, 0);
	return packet.flags & (HS_PACKET_TELEMETRY | HS_PACKET_ANY_TELEMETRY | HS_PACKET_SHORT);
}

#define PROBE	(HS_PACKET_TELEMETRY | HS_PACKET_ANY_TELEMETRY)
#define CLAIMED HS_PACKET_ANY_TELEMETRY

// Of the example with one number replaced.
static unsigned flags_with(size_t at, unsigned bytes, uint16_t value)
{
	struct frame frame = frame_from_hex(ETHER INITIAL);

	if (bytes == 2)
		hs_be16_store(frame.bytes + at, value);
	else
		frame.bytes[at] = (uint8_t)value;
	unsigned flags = flags_of(&frame, true);
	frame_free(&frame);
	return flags;
}

static void port_and_dscp_mark_probes(void **state)
{
	(void)state;
	assert_int_equal(flags_with(TOS, 1, 0x17 << 2), PROBE);
	assert_int_equal(flags_with(TOS, 1, 0x17 << 2 | 3), PROBE);
	assert_int_equal(flags_with(TOS, 1, 0x21 << 2), PROBE);
	assert_int_equal(flags_with(TOS, 1, 0x19 << 2), CLAIMED); // it is no request alone
	assert_int_equal(flags_with(TOS, 1, 0x18 << 2), 0);
	assert_int_equal(flags_with(L4 + 2, 2, HS_PROBE_UDP_PORT + 1), 0);
	assert_int_equal(flags_with(L3 + 9, 1, 6), 0);
	assert_int_equal(flags_with(12, 2, 0x86dd), 0);
}

static void numbers_that_lie_are_claimed_only(void **state)
{
	(void)state;
	static const uint16_t wrong[] = {1, 2, 4, 255, 0x8000, UINT16_MAX};

	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(flags_with(N_ENTRIES, 2, wrong[i]), CLAIMED);
		assert_int_equal(flags_with(N_HOPS, 2, wrong[i]), CLAIMED);
		assert_int_equal(flags_with(N_VALUES, 2, wrong[i]), CLAIMED);
	}
	assert_int_equal(flags_with(N_ENTRIES, 2, 0), CLAIMED);
	struct frame frame = frame_from_hex(ETHER AFTER_1);
	frame.bytes[REQUEST + 2 + 2 + 6 + 2 + 3] = 3; // #MEA of the hop
	assert_int_equal(flags_of(&frame, true), CLAIMED);
	frame_free(&frame);
}

static void lengths_and_sums_that_lie_are_claimed_only(void **state)
{
	(void)state;
	assert_int_equal(flags_with(UDP_LENGTH, 2, 24), CLAIMED);
	assert_int_equal(flags_with(UDP_LENGTH, 2, 26), CLAIMED);
	assert_int_equal(flags_with(TOTAL, 2, 0x2c), CLAIMED);
	assert_int_equal(flags_with(TOTAL, 2, 24), CLAIMED);
	assert_int_equal(flags_with(FRAGMENT, 2, 0x2000), CLAIMED);
	assert_int_equal(flags_with(FRAGMENT, 2, 0x0001), 0); // it has no ports
	for (size_t at = L3; at < L4 + 20; at++) {
		struct frame frame = frame_from_hex(ETHER INITIAL);
		frame.bytes[at] ^= 0x10;
		assert_int_not_equal(flags_of(&frame, false), PROBE);
		frame_free(&frame);
	}
}

static void a_checksum_of_udp_may_be_left_out(void **state)
{
	(void)state;
	struct frame frame = frame_from_hex(ETHER INITIAL);

	hs_be16_store(frame.bytes + L4 + 6, 0);
	assert_int_equal(flags_of(&frame, false), PROBE);
	probe_add(&usual, &frame, &first_hop, first_values);
	assert_int_equal(hs_be16_load(frame.bytes + L4 + 6), 0);
	int_assert_sums(&frame);
	struct frame feedback = probe_feedback(&usual, &frame);
	assert_int_equal(hs_be16_load(feedback.bytes + L4 + 6), 0);
	frame_free(&feedback);
	frame_free(&frame);
}

static void padding_of_ethernet_is_no_part(void **state)
{
	(void)state;
	struct frame frame = frame_join(frame_from_hex(ETHER FEEDBACK), frame_from_hex("00000000"));
	struct hs_packet packet;

	probe_parse(&usual, &frame, &packet);
	assert_int_equal(packet.flags & PROBE, PROBE);
	assert_int_equal(packet.trace_type, HS_PROBE_FEEDBACK);
	frame_free(&frame);
}

// Ethernet pads short frames with zeros: so a packet that ends early may be whole at the next node.
static void a_packet_that_padding_may_complete_is_claimed(void **state)
{
	(void)state;
	struct frame frame = frame_from_hex(ETHER FEEDBACK);
	struct hs_packet packet;

	for (size_t cut = L4; cut < frame.len; cut++) {
		struct frame part = frame_of(frame.bytes, cut);
		probe_parse(&usual, &part, &packet);
		assert_int_equal(packet.flags & PROBE, CLAIMED);
		part.bytes[TOS] = 0x18 << 2;
		probe_parse(&usual, &part, &packet);
		assert_int_equal(packet.flags & PROBE, 0);
		part.bytes[TOS] = frame.bytes[TOS];
		if (cut >= L4 + 4) {
			part.bytes[L4 + 3] ^= 1; // UDP's port
			probe_parse(&usual, &part, &packet);
			assert_int_equal(packet.flags & PROBE, 0);
		}
		hs_be16_store(part.bytes + FRAGMENT, 1); // it has no ports
		probe_parse(&usual, &part, &packet);
		assert_int_equal(packet.flags & PROBE, 0);
		frame_free(&part);
	}
	frame_free(&frame);
}

static void headers_hide_no_probe(void **state)
{
	(void)state;
	struct frame frame = frame_from_hex("02000000000202000000000186dd" // IPv6, Hop-by-Hop twice
					    "6000000000103c4020010db8000000000000000000000001"
					    "20010db800000000000000000000000200000104000000003b00"
					    "010400000000");
	struct hs_packet packet;

	probe_parse(&usual, &frame, &packet);
	assert_int_equal(packet.flags & (HS_PACKET_HIDDEN | HS_PACKET_ANY_TELEMETRY), 0);
	frame_free(&frame);
}

static void what_is_behind_snap_is_hidden(void **state)
{
	(void)state;
	static const char *const hex[] = {IPV4_IN_SNAP, TAG_IN_SNAP};

	for (size_t i = 0; i < sizeof(hex) / sizeof(hex[0]); i++) {
		struct frame frame = frame_from_hex(hex[i]);
		struct hs_packet packet;
		probe_parse(&usual, &frame, &packet);
		assert_int_equal(packet.flags, HS_PACKET_HIDDEN);
		frame_free(&frame);
	}
}

static void every_cut_is_short_or_the_same(void **state)
{
	(void)state;
	struct frame frame = frame_from_hex(ETHER AFTER_1);
	struct hs_packet packet;

	for (size_t cut = 0; cut < frame.len; cut++) {
		struct frame segment = frame_of(frame.bytes, cut);
		hs_probe_parse(&usual, segment.bytes, cut, frame.len, &packet);
		assert_int_equal(packet.flags & HS_PACKET_TELEMETRY, 0);
		assert_true(packet.flags & HS_PACKET_SHORT);
		frame_free(&segment);
		segment = frame_of(frame.bytes, cut);
		hs_probe_parse(&usual, segment.bytes, cut, cut, &packet);
		assert_int_equal(packet.flags & HS_PACKET_TELEMETRY, 0);
		frame_free(&segment);
	}
	frame_free(&frame);
}

static void mutate(struct frame *frame, struct hs_rng *rng)
{
	unsigned n = 1 + hs_rng_u32(rng) % 4;

	while (n--)
		frame->bytes[hs_rng_u32(rng) % frame->len] = (uint8_t)hs_rng_u32(rng);
}

static void mutated_probes_are_filled_or_claimed(void **state)
{
	(void)state;
	unsigned filled = 0, claimed = 0;
	struct hs_rng rng;

	hs_rng_init(&rng, 16);
	for (unsigned i = 0; i < 100000; i++) {
		struct frame frame = frame_from_hex(i & 1 ? ETHER AFTER_1 : ETHER INITIAL);
		struct hs_packet packet;
		mutate(&frame, &rng);
		if (i & 2)
			mend_sums(&frame);
		probe_parse(&usual, &frame, &packet);
		claimed += (packet.flags & PROBE) == CLAIMED;
		if (packet.trace_type == HS_PROBE_COLLECTS &&
				hs_probe_stack_of(frame.bytes, &packet).n_entries) {
			probe_add(&usual, &frame, &first_hop, first_values);
			assert_int_equal(flags_of(&frame, false), PROBE);
			filled++;
		}
		frame_free(&frame);
	}
	assert_true(filled > 1000 && claimed > 10000);
}

// ---- the document ----

static void the_page_has_the_examples(void **state)
{
	(void)state;
	static const char *const examples[] = {INITIAL, AFTER_1, FEEDBACK, RECOVERY};
	FILE *file = fopen(HS_DOCUMENT, "r");
	static char page[65536];

	assert_non_null(file);
	page[fread(page, 1, sizeof(page) - 1, file)] = '\0';
	fclose(file);
	for (size_t i = 0; i < sizeof(examples) / sizeof(examples[0]); i++)
		assert_non_null(strstr(page, examples[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_example_has_its_bytes),
			cmocka_unit_test(the_example_is_read),
			cmocka_unit_test(a_probe_of_195_nodes_is_filled),
			cmocka_unit_test(checksums_are_those_of_all_bytes),
			cmocka_unit_test(a_checksum_is_never_0),
			cmocka_unit_test(port_and_dscp_mark_probes),
			cmocka_unit_test(numbers_that_lie_are_claimed_only),
			cmocka_unit_test(lengths_and_sums_that_lie_are_claimed_only),
			cmocka_unit_test(a_checksum_of_udp_may_be_left_out),
			cmocka_unit_test(padding_of_ethernet_is_no_part),
			cmocka_unit_test(a_packet_that_padding_may_complete_is_claimed),
			cmocka_unit_test(headers_hide_no_probe),
			cmocka_unit_test(what_is_behind_snap_is_hidden),
			cmocka_unit_test(every_cut_is_short_or_the_same),
			cmocka_unit_test(mutated_probes_are_filled_or_claimed),
			cmocka_unit_test(the_page_has_the_examples),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
// Telemetry with each length, count and type wrong: it is claimed, never read, added to or
// stripped.
#include "int_draft.h"

#include "int_fields.h"
#include "sanitized.h"

#include <string.h>

#define V2016  HS_INT_V_2016
#define V05    HS_INT_V_05
#define V10    HS_INT_V_10
#define V21    HS_INT_V_21
#define COUNTS (V2016 | V05)
#define LEAVES (V10 | V21)
#define ALL    (COUNTS | LEAVES)
#define OLD    (COUNTS | V10)

#define TCP_UDP (1 << HS_INT_TCP_UDP)
#define GRE	(1 << HS_INT_GRE)
#define GPE	(1 << HS_INT_VXLAN_GPE)
#define GENEVE	(1 << HS_INT_GENEVE)
#define ANY	(TCP_UDP | GRE | GPE | GENEVE)
#define SHIMS	(TCP_UDP | GRE | GPE)

#define MD   1
#define MX   2
#define BOTH (MD | MX)

enum where {
	HEAD,
	SHIM,
	TAIL,
	L4
};
enum how {
	SET,
	ADD,
	XOR
};

// Of telemetry with bitmap 0x9000 and two hops.
static const struct spoil {
	uint8_t versions, carriers, modes;
	uint8_t where, offset, how, value;
} spoils[] = {
		// The version.
		{ALL, ANY, BOTH, HEAD, 0, XOR, 0x40},
		{ALL & ~V2016, ANY, BOTH, HEAD, 0, XOR, 0x10},
		// The instruction count, and instructions that it does not count.
		{COUNTS, ANY, MD, HEAD, 1, ADD, 1},
		{COUNTS, ANY, MD, HEAD, 1, ADD, 0xff},
		{COUNTS, ANY, MD, HEAD, 1, SET, 0},
		{COUNTS, ANY, MD, HEAD, 1, SET, 31},
		{COUNTS, ANY, MD, HEAD, 4, XOR, 0x40},
		{COUNTS, ANY, MD, HEAD, 4, SET, 0},
		// The greatest and the total hop count.
		{COUNTS, ANY, MD, HEAD, 2, SET, 0},
		{COUNTS, ANY, MD, HEAD, 2, SET, 1},
		{COUNTS, ANY, MD, HEAD, 3, ADD, 1},
		{COUNTS, ANY, MD, HEAD, 3, ADD, 0xff},
		{COUNTS, ANY, MD, HEAD, 3, SET, 0},
		{COUNTS, ANY, MD, HEAD, 3, SET, 255},
		// The words of a hop, of which a stack of four is no multiple.
		{LEAVES, ANY, MD, HEAD, 2, SET, 0},
		{LEAVES, ANY, MD, HEAD, 2, SET, 3},
		{LEAVES, ANY, MD, HEAD, 2, SET, 5},
		{LEAVES, ANY, MD, HEAD, 2, SET, 31},
		// The shim's length.
		{V21, SHIMS, BOTH, SHIM, 1, SET, 0},
		{V21, SHIMS, BOTH, SHIM, 1, SET, 1},
		{V21, SHIMS, BOTH, SHIM, 1, SET, 2},
		{V21, SHIMS, BOTH, SHIM, 1, SET, 255},
		{V21, SHIMS, MD, SHIM, 1, ADD, 1},
		{V21, SHIMS, MD, SHIM, 1, ADD, 0xff},
		{OLD, SHIMS, MD, SHIM, 2, SET, 0},
		{OLD, SHIMS, MD, SHIM, 2, SET, 1},
		{OLD, SHIMS, MD, SHIM, 2, SET, 2},
		{OLD, SHIMS, MD, SHIM, 2, SET, 255},
		{OLD, SHIMS, MD, SHIM, 2, ADD, 1},
		{OLD, SHIMS, MD, SHIM, 2, ADD, 0xff},
		// Its type.
		{V21, SHIMS, BOTH, SHIM, 0, XOR, 0x40},
		{V21, SHIMS, BOTH, SHIM, 0, XOR, 0xf0},
		{V21, GRE, MD, SHIM, 0, XOR, 0x30}, // a destination header, which GRE has not
		{OLD, SHIMS, MD, SHIM, 0, SET, 0},
		{OLD, SHIMS, MD, SHIM, 0, SET, 3},
		{OLD, SHIMS, MD, SHIM, 0, SET, 255},
		// The tail.
		{V05, TCP_UDP, MD, TAIL, 0, XOR, 1},
		// A UDP header that states too few bytes, and too many.
		{ALL, TCP_UDP | GPE | GENEVE, BOTH, L4, 4, SET, 20},
		{ALL, TCP_UDP | GPE | GENEVE, BOTH, L4, 4, SET, 255},
		// The option's length.
		{ALL, GENEVE, BOTH, SHIM, 3, SET, 0},
		{ALL, GENEVE, BOTH, SHIM, 3, SET, 1},
		{ALL, GENEVE, BOTH, SHIM, 3, SET, 31},
		{ALL, GENEVE, MD, SHIM, 3, ADD, 0xff},
};

// A packet of UDP with two hops of node id and queue.
static struct frame telemetry(
		struct int_draft *draft, const struct hs_int_settings *settings, bool second)
{
	const struct hs_int_request request = {.bitmap = 0x9000};
	struct hs_int_values values = {.has = 0x3fff, .node_id = 1, .queue_packets = 2};
	struct hs_packet packet;

	for (;;) {
		struct frame frame = int_draft_frame(draft, settings);
		int_parse(settings, &frame, &packet);
		bool is_udp = packet.l4_proto == 17 || settings->carrier == HS_INT_GRE;
		if (is_udp && int_source(settings, &request, &frame, &values) > 0) {
			if (second && settings->mode == HS_INT_MD)
				assert_true(int_transit(settings, &frame, &values) > 0);
			return frame;
		}
		frame_free(&frame);
	}
}

static size_t place(const struct spoil *spoil, const struct hs_packet *packet)
{
	switch ((enum where)spoil->where) {
	case HEAD:
		return packet->trace_off + (size_t)spoil->offset;
	case SHIM:
		return packet->e2e_off + (size_t)spoil->offset;
	case TAIL:
		return packet->e2e_off + packet->telemetry_bytes - 4u + spoil->offset;
	default:
		return packet->l4_off + (size_t)spoil->offset;
	}
}

static void assert_claimed_only(const struct hs_int_settings *settings, const struct frame *frame)
{
	struct frame copy = frame_of(frame->bytes, frame->len);
	struct hs_packet packet;

	int_parse(settings, frame, &packet);
	assert_int_equal(packet.flags & HS_PACKET_TELEMETRY, 0);
	assert_int_equal(packet.telemetry_bytes, 0);
	assert_int_equal(packet.trace_off, 0);
	assert_int_equal(hs_int_strip(settings, copy.bytes, &packet), 0);
	assert_int_equal(hs_int_transit_growth(settings, copy.bytes, &packet), HS_INT_NO_CARRIER);
	assert_false(hs_int_is_discarded(settings, copy.bytes, &packet));
	frame_assert_equal(&copy, frame);
	frame_free(&copy);
}

static bool applies(const struct spoil *spoil, const struct hs_int_settings *settings)
{
	return spoil->versions & 1 << settings->version &&
	       spoil->carriers & 1 << settings->carrier && spoil->modes & 1 << settings->mode;
}

static void spoil_one(struct int_draft *draft, const struct hs_int_settings *settings,
		const struct spoil *spoil)
{
	struct frame frame = telemetry(draft, settings, true);
	struct hs_packet packet;

	int_parse(settings, &frame, &packet);
	uint8_t *at = frame.bytes + place(spoil, &packet);
	*at = (uint8_t)(spoil->how == SET   ? spoil->value
			: spoil->how == ADD ? *at + spoil->value
					    : *at ^ spoil->value);
	if (spoil->where == L4) { // a number of two bytes
		at[1] = spoil->value;
		at[0] = spoil->value == 255 ? 255 : 0;
	}
	int_parse(settings, &frame, &packet);
	assert_true(packet.flags & HS_PACKET_ANY_TELEMETRY);
	assert_claimed_only(settings, &frame);
	frame_free(&frame);
}

static size_t spoil_at, settings_at; // the ones under test, for who reads a failure

static int show_spoil(void **state)
{
	(void)state;
	print_message("spoil %zu, settings %zu\n", spoil_at, settings_at);
	return 0;
}

static void each_wrong_number_is_claimed_only(void **state)
{
	(void)state;
	static struct int_draft draft;
	struct hs_int_settings settings;
	size_t n = 0;
	hs_rng_init(&draft.rng, 3);
	for (size_t i = 0; int_draft_settings(i, &settings); i++) {
		settings_at = i;
		for (size_t k = 0; k < sizeof(spoils) / sizeof(spoils[0]); k++) {
			for (unsigned round = 0; round < 20 && applies(&spoils[k], &settings);
					round++, n++)
				spoil_one(&draft, &settings, &spoils[spoil_at = k]);
		}
	}
	assert_true(n > 5000);
}

// ---- any byte ----

// What comes out of strip is a packet as long as it says.
static void assert_harmless(const struct hs_int_settings *settings, struct frame *frame)
{
	struct hs_packet packet, after;
	struct hs_int_values values = {.has = 0x3fff};

	int_parse(settings, frame, &packet);
	if (!(packet.flags & HS_PACKET_TELEMETRY)) {
		assert_claimed_only(settings, frame);
		return;
	}
	struct frame grown = frame_of(frame->bytes, frame->len);
	int growth = int_transit(settings, &grown, &values);
	assert_int_equal(growth > 0 ? growth : 0, grown.len - frame->len);
	int_strip(settings, &grown);
	int_strip(settings, frame);
	frame_assert_equal(&grown, frame);
	int_parse(settings, frame, &after);
	assert_int_equal(after.l3_bytes + packet.telemetry_bytes, packet.l3_bytes);
	frame_free(&grown);
}

static void any_changed_byte_is_harmless(void **state)
{
	(void)state;
	static struct int_draft draft;
	struct hs_int_settings settings;
	size_t n = 0;
	hs_rng_init(&draft.rng, 4);
	for (size_t i = 0; int_draft_settings(i, &settings); i++) {
		for (unsigned round = 0; round < CASES(8000); round++, n++) {
			struct frame frame = telemetry(&draft, &settings, round % 2);
			struct hs_packet packet;
			int_parse(&settings, &frame, &packet);
			size_t from = packet.l3_off;
			size_t bytes = packet.e2e_off + packet.telemetry_bytes + 8u - from;
			for (uint32_t times = 1 + int_draft_below(&draft, 3); times; times--) {
				size_t at = from + int_draft_below(&draft, (uint32_t)bytes);
				if (at < frame.len)
					frame.bytes[at] = (uint8_t)hs_rng_u32(&draft.rng);
			}
			assert_harmless(&settings, &frame);
			frame_free(&frame);
		}
	}
	assert_true(n > CASES(200000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test_teardown(each_wrong_number_is_claimed_only, show_spoil),
			cmocka_unit_test(any_changed_byte_is_harmless),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

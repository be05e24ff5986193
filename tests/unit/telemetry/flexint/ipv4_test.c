// SPDX-License-Identifier: BSD-3-Clause
// IPv4 as the parser sees it: random packets, the fast path against the general one, and against
// what RFC 791 says of the same bytes, read in another way.
#include "wire_test.h"

#include "bytes.h"
#include "flexint_parse_fast.h"
#include "rng.h"

#define FRAMES 200000
#define MOST   120

static uint32_t below(struct hs_rng *rng, uint32_t n)
{
	return hs_rng_u32(rng) % n;
}

// An untagged IPv4 packet that is right, or nearly so.
static struct frame random_frame(struct hs_rng *rng)
{
	static const uint8_t protocols[] = {1, 6, 17, 17, 41, 47, 58, 255};
	static const uint16_t fragments[] = {0, 0, 0, 0x4000, 0x8000, 0x2000, 1, 0x2001, 0x1fff};
	uint8_t bytes[MOST];
	size_t options = below(rng, 3) ? 0 : 4 * below(rng, 11);
	size_t ip = 20 + options + below(rng, 3) * 4 + below(rng, 20);
	size_t len = 14 + ip + (below(rng, 2) ? 0 : below(rng, 20));

	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i < 34 ? below(rng, 256) : below(rng, 3));
	hs_be16_store(bytes + 12, 0x0800);
	bytes[14] = (uint8_t)(0x45 + options / 4);
	hs_be16_store(bytes + 16, (uint16_t)ip);
	hs_be16_store(bytes + 20, fragments[below(rng, 9)]);
	bytes[23] = protocols[below(rng, 8)];
	for (unsigned n = below(rng, 2) ? 0 : 1 + below(rng, 2); n; n--)
		bytes[12 + below(rng, 26)] = (uint8_t)below(rng, below(rng, 2) ? 256 : 70);
	return frame_of(bytes, len);
}

static void the_fast_path_says_what_the_general_one_says(void **state)
{
	struct hs_rng rng;
	struct hs_flexint_templates templates = {0};
	unsigned fast_ones = 0, flows = 0, malformed = 0, later = 0;

	(void)state;
	hs_rng_init(&rng, 4);
	for (unsigned n = 0; n < FRAMES; n++) {
		struct frame whole = random_frame(&rng);
		size_t first = below(&rng, 3) ? whole.len : below(&rng, (uint32_t)whole.len);
		struct frame frame = frame_of(whole.bytes, first);
		struct hs_packet fast, packet;
		hs_flexint_parse(frame.bytes, first, whole.len, &packet);
		if (hs_flexint_parse_fast(&templates, frame.bytes, first, whole.len, &fast)) {
			assert_memory_equal(&fast, &packet, sizeof(packet));
			fast_ones++;
		}
		flows += !!(packet.flags & HS_PACKET_FLOW);
		malformed += !!(packet.flags & HS_PACKET_MALFORMED);
		later += !!(packet.flags & HS_PACKET_LATER);
		frame_free(&frame);
		frame_free(&whole);
	}
	assert_true(fast_ones > FRAMES / 20 && flows > FRAMES / 10);
	assert_true(malformed > FRAMES / 10 && later > FRAMES / 20);
}

// ---- the same bytes, read by the text of the RFC ----

static bool are_options_whole(const uint8_t *ip)
{
	unsigned at = 20, end = (ip[0] & 15u) * 4;

	while (at < end) {
		if (ip[at] == 0)
			return true;
		if (ip[at] == 1) {
			at++;
			continue;
		}
		if (at + 1 >= end || ip[at + 1] < 2 || at + ip[at + 1] > end)
			return false;
		at += ip[at + 1];
	}
	return true;
}

static bool is_whole(const uint8_t *ip, size_t bytes)
{
	unsigned header = (ip[0] & 15u) * 4, total = ip[2] * 256u + ip[3];

	if (header < 20 || total < header || total > bytes || !are_options_whole(ip))
		return false;
	bool has_l4 = ip[9] == 1 || ip[9] == 6 || ip[9] == 17 || ip[9] == 47;
	bool is_later = (ip[6] & 31) || ip[7];
	return !has_l4 || is_later || total >= header + 4;
}

static void what_is_a_flow_and_what_is_malformed_is_as_rfc_791_has_it(void **state)
{
	struct hs_rng rng;

	(void)state;
	hs_rng_init(&rng, 5);
	for (unsigned n = 0; n < FRAMES; n++) {
		struct frame frame = random_frame(&rng);
		const uint8_t *ip = frame.bytes + 14;
		struct hs_packet packet;
		frame_parse(&frame, &packet);
		if (packet.vlan_tags || !(packet.flags & HS_PACKET_IPV4)) {
			assert_false(hs_be16_load(frame.bytes + 12) == 0x0800 && ip[0] >> 4 == 4);
			frame_free(&frame);
			continue;
		}
		bool whole = is_whole(ip, frame.len - 14), later = (ip[6] & 31) || ip[7];
		bool flow = whole && !later &&
			    (ip[9] == 1 || ip[9] == 6 || ip[9] == 17 || ip[9] == 47);
		assert_int_equal(!!(packet.flags & HS_PACKET_MALFORMED), !whole);
		assert_int_equal(!!(packet.flags & HS_PACKET_FLOW), flow);
		assert_int_equal(packet.l3_bytes, hs_be16_load(ip + 2));
		if (whole) {
			assert_int_equal(!!(packet.flags & HS_PACKET_LATER), later);
			assert_int_equal(!!(packet.flags & HS_PACKET_FRAGMENT),
					later || ip[6] & 0x20);
		}
		if (flow)
			assert_int_equal(packet.l4_off, 14 + (ip[0] & 15) * 4);
		frame_free(&frame);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_fast_path_says_what_the_general_one_says),
			cmocka_unit_test(what_is_a_flow_and_what_is_malformed_is_as_rfc_791_has_it),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

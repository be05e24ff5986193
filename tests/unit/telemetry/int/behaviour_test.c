// SPDX-License-Identifier: BSD-3-Clause
// What INT does where no golden packet goes: marks without telemetry, destination headers, packets
// that a source leaves alone.
#include "int_example.h"

#include "bytes.h"

#include <string.h>

static void set_dscp(struct frame *frame, uint8_t dscp)
{
	if (frame->bytes[12] == 0x08) {
		uint32_t sum = 0;
		frame->bytes[15] = (uint8_t)(dscp << 2);
		frame->bytes[24] = frame->bytes[25] = 0;
		for (size_t i = 14; i < 34; i += 2)
			sum += (uint32_t)(frame->bytes[i] << 8 | frame->bytes[i + 1]);
		hs_be16_store(frame->bytes + 24, (uint16_t) ~((sum & 0xffff) + (sum >> 16)));
	} else {
		frame->bytes[14] = 0x60 | dscp >> 2;
		frame->bytes[15] = (uint8_t)(dscp << 6);
	}
}

// ---- marks ----

static void assert_merely_marked(struct frame *frame)
{
	struct hs_int_settings settings = int_example_profile(HS_INT_2_1, HS_INT_TCP_UDP);
	const struct hs_int_request request = {.bitmap = 0x8000};
	struct frame unmarked = frame_of(frame->bytes, frame->len);
	struct hs_packet packet;

	set_dscp(&unmarked, 0);
	set_dscp(frame, 0x17);
	int_parse(&settings, frame, &packet);
	assert_int_equal(packet.flags & (HS_PACKET_ANY_TELEMETRY | HS_PACKET_TELEMETRY),
			HS_PACKET_ANY_TELEMETRY);
	assert_int_equal(hs_int_source_growth(&settings, &request, frame->bytes, &packet, true),
			HS_INT_MARKED);
	assert_true(hs_int_clear_mark(&settings, frame->bytes, &packet));
	frame_assert_equal(frame, &unmarked);
	int_parse(&settings, frame, &packet);
	assert_int_equal(packet.flags & HS_PACKET_ANY_TELEMETRY, 0);
	assert_false(hs_int_clear_mark(&settings, frame->bytes, &packet));
	frame_free(&unmarked);
	frame_free(frame);
}

static void a_mark_that_no_telemetry_follows_is_claimed_and_cleared(void **state)
{
	(void)state;
	static const uint8_t protos[] = {1, 2, 6, 17, 47, 50, 58};
	for (size_t i = 0; i < sizeof(protos); i++) {
		struct frame four = frame_from_hex(int_example_udp4),
			     six = frame_from_hex(int_example_udp6);
		four.bytes[23] = six.bytes[20] = protos[i];
		assert_merely_marked(&four);
		assert_merely_marked(&six);
	}
	for (size_t fragment = 0; fragment < 3; fragment++) {
		struct frame four = frame_from_hex(int_example_udp4);
		four.bytes[20] = fragment == 1 ? 0 : 0x20;
		four.bytes[21] = fragment == 0 ? 0 : 3;
		assert_merely_marked(&four);
	}
	struct frame cut = frame_from_hex(int_example_udp4);
	hs_be16_store(cut.bytes + 16, 21); // one byte of UDP
	assert_merely_marked(&cut);
	struct frame longer = frame_from_hex(int_example_udp6);
	hs_be16_store(longer.bytes + 18, 900); // beyond the frame
	assert_merely_marked(&longer);
}

static void only_the_masked_bits_are_marked_and_cleared(void **state)
{
	(void)state;
	struct hs_int_settings settings = int_example_profile(HS_INT_2_1, HS_INT_TCP_UDP);
	struct hs_packet packet;
	settings.dscp = settings.dscp_mask = 0x08;
	struct frame frame = frame_from_hex(int_example_udp4);
	struct frame should = frame_from_hex(int_example_udp4);
	set_dscp(&frame, 0x2a);
	set_dscp(&should, 0x22);
	int_parse(&settings, &frame, &packet);
	assert_true(packet.flags & HS_PACKET_ANY_TELEMETRY);
	assert_true(hs_int_clear_mark(&settings, frame.bytes, &packet));
	frame_assert_equal(&frame, &should);
	frame_free(&frame);
	frame_free(&should);
}

static void nothing_is_telemetry_of_a_profile_without_packets(void **state)
{
	(void)state;
	struct hs_int_settings settings = int_example_profile(HS_INT_2_1, HS_INT_TCP_UDP);
	const struct hs_int_request request = {.bitmap = 0x8000};
	struct frame frame = frame_from_hex(int_example_udp4);
	struct hs_packet packet;
	settings.mode = HS_INT_XD;
	set_dscp(&frame, 0x17);
	int_parse(&settings, &frame, &packet);
	assert_int_equal(packet.flags, HS_PACKET_IPV4 | HS_PACKET_FLOW);
	assert_int_equal(hs_int_source_growth(&settings, &request, frame.bytes, &packet, true),
			HS_INT_NOT_ASKED);
	assert_false(hs_int_clear_mark(&settings, frame.bytes, &packet));
	frame_free(&frame);
}

// ---- destination headers ----

static void destination_headers_are_no_transits_and_are_stripped(void **state)
{
	(void)state;
	struct hs_int_settings settings = int_example_profile(HS_INT_2016_06, HS_INT_GENEVE);
	// A destination header alone, beside another option.
	static const char follow_up[] = "0200000000020200000000010800"
					"45000048000100004011636200000000"
					"00000000"
					"9c4017c100340000"
					"0700655800012300"
					"01028001aabbccdd"
					"00ab0204000110011000000000000003800000ff"
					"6162636465666768";
	struct frame frame = frame_from_hex(follow_up);
	frame.bytes[14 + 20 + 8 + 8 + 8 + 3] = 3; // words: header and one value
	struct hs_packet packet;
	int_parse(&settings, &frame, &packet);
	assert_int_equal(packet.flags & HS_PACKET_TELEMETRY, 0); // its count says otherwise
	frame_free(&frame);
	frame = frame_from_hex(follow_up);
	hs_be16_store(frame.bytes + 14 + 20 + 8 + 8 + 8 + 4, 0x0001);
	frame.bytes[14 + 20 + 8 + 8 + 8 + 6] = 2;
	frame.bytes[14 + 20 + 8 + 8 + 8 + 7] = 2;
	int_parse(&settings, &frame, &packet);
	assert_true(packet.flags & HS_PACKET_TELEMETRY);
	assert_int_equal(packet.trace_off, 0);
	assert_int_equal(packet.telemetry_bytes, 20);
	assert_int_equal(int_transit(&settings, &frame, &int_example_values), HS_INT_NOT_ASKED);
	assert_false(hs_int_transit_refuse(&settings, frame.bytes, &packet, HS_INT_HOP_LIMIT));
	assert_int_equal(int_strip(&settings, &frame), 20);
	assert_int_equal(frame.bytes[42], 2); // the other option's words
	assert_int_equal(hs_be32_load(frame.bytes + 50), 0x01028001);
	assert_int_equal(hs_be32_load(frame.bytes + 58), 0x61626364);
	frame_free(&frame);
}

static void a_second_header_for_transit_is_malformed(void **state)
{
	(void)state;
	for (unsigned version = 0; version < HS_INT_N_VERSIONS; version++) {
		struct hs_int_settings settings = int_example_profile(version, HS_INT_VXLAN_GPE);
		struct frame frame = int_example_started(&settings, 0x8000, int_example_gpe);
		struct hs_packet packet;
		size_t length = version == HS_INT_2_1 ? 1 : 2;
		int_parse(&settings, &frame, &packet);
		size_t at = packet.e2e_off, bytes = packet.telemetry_bytes;
		struct frame twice = frame_of(frame.bytes, at + bytes);
		twice = frame_join(twice, frame_of(frame.bytes + at, frame.len - at));
		twice.bytes[at + 3] = settings.gpe_protocol;
		hs_be16_store(twice.bytes + 16, (uint16_t)(twice.len - 14));
		hs_be16_store(twice.bytes + 38, (uint16_t)(twice.len - 34));
		int_parse(&settings, &twice, &packet);
		assert_int_equal(packet.flags & HS_PACKET_TELEMETRY, 0);
		assert_true(packet.flags & HS_PACKET_ANY_TELEMETRY);
		// A destination header may follow, and another shim must where the last says so.
		twice.bytes[at + bytes] = version == HS_INT_2_1 ? 0x20 : 2;
		int_parse(&settings, &twice, &packet);
		assert_true(packet.flags & HS_PACKET_TELEMETRY);
		assert_int_equal(packet.telemetry_bytes, 2 * bytes);
		twice.bytes[at + bytes + 3] = settings.gpe_protocol;
		int_parse(&settings, &twice, &packet);
		assert_int_equal(packet.flags & HS_PACKET_TELEMETRY, 0);
		assert_int_equal(frame.bytes[at + length] > 0, 1);
		frame_free(&twice);
		frame_free(&frame);
	}
}

// ---- what a source leaves alone ----

static void a_checksum_that_nobody_computes_is_left_alone(void **state)
{
	(void)state;
	struct hs_int_settings settings = int_example_profile(HS_INT_2_1, HS_INT_TCP_UDP);
	const struct hs_int_request request = {.bitmap = 0x8000};
	struct frame frame = frame_from_hex(int_example_udp4);
	hs_be16_store(frame.bytes + 24, 0xffff);
	assert_int_equal(int_source(&settings, &request, &frame, &int_example_values),
			HS_INT_NO_CARRIER);
	frame_free(&frame);
	frame = frame_from_hex("02000000000202000000000186dd"
			       "6000000000180640"
			       "20010db8000000000000000000000001"
			       "20010db8000000000000000000000002"
			       "9c4001bb00000000000000005010000000000000"
			       "61626364");
	hs_be16_store(frame.bytes + 70, 0xffff);
	assert_int_equal(int_source(&settings, &request, &frame, &int_example_values),
			HS_INT_NO_CARRIER);
	hs_be16_store(frame.bytes + 70, 0xfffe);
	assert_true(int_source(&settings, &request, &frame, &int_example_values) > 0);
	frame_free(&frame);
}

static void vxlan_that_could_not_be_restored_is_left_alone(void **state)
{
	(void)state;
	struct hs_int_settings settings = int_example_profile(HS_INT_2_1, HS_INT_VXLAN_GPE);
	const struct hs_int_request request = {.bitmap = 0x8000};
	static const uint8_t heads[][4] = {{0x08, 0, 0, 0}, {0x88, 0, 0, 5}, {0x08, 0, 0, 3}, {0}};
	for (size_t i = 0; i < 4; i++) {
		struct frame frame = frame_from_hex(int_example_gpe);
		hs_be16_store(frame.bytes + 36, 4789);
		memcpy(frame.bytes + 42, heads[i], 4);
		int growth = int_source(&settings, &request, &frame, &int_example_values);
		assert_int_equal(growth > 0, i == 0);
		frame_free(&frame);
	}
	settings.upgrade_vxlan = false;
	struct frame frame = frame_from_hex(int_example_gpe);
	hs_be16_store(frame.bytes + 36, 4789);
	memcpy(frame.bytes + 42, heads[0], 4);
	assert_int_equal(int_source(&settings, &request, &frame, &int_example_values),
			HS_INT_NO_CARRIER);
	frame_free(&frame);
}

// Else strip would make options of what a host sees.
static void nobody_puts_udp_before_hop_by_hop_options(void **state)
{
	(void)state;
	struct hs_int_settings settings = int_example_profile(HS_INT_2_1, HS_INT_TCP_UDP);
	const uint16_t any = HS_PACKET_ANY_TELEMETRY | HS_PACKET_TELEMETRY;
	struct hs_packet packet;
	settings.mark = HS_INT_MARK_UDP_PORT;
	settings.udp_port = 5000;
	struct frame plain = frame_from_hex(int_example_udp6);
	const struct hs_int_request request = {.bitmap = 0x8000};
	plain.bytes[20] = 50; // ESP
	assert_true(int_source(&settings, &request, &plain, &int_example_values) > 0);
	int_parse(&settings, &plain, &packet);
	assert_int_equal(packet.flags & any, any);
	assert_int_equal(plain.bytes[packet.e2e_off + 3], 50);
	plain.bytes[packet.e2e_off + 3] = 0;
	int_parse(&settings, &plain, &packet);
	assert_int_equal(packet.flags & any, HS_PACKET_ANY_TELEMETRY);
	frame_free(&plain);
}

// ---- profiles ----

static void version_2_0_differs_by_its_protocol_number(void **state)
{
	(void)state;
	struct hs_int_settings newer = int_example_profile(HS_INT_2_1, HS_INT_VXLAN_GPE);
	struct hs_int_settings older = newer;
	struct hs_packet packet;
	older.gpe_protocol = 0x80;
	struct frame frame = int_example_started(&older, 0x8000, int_example_gpe);
	struct frame should = int_example_started(&newer, 0x8000, int_example_gpe);
	int_parse(&newer, &frame, &packet);
	assert_int_equal(packet.flags & HS_PACKET_ANY_TELEMETRY, 0);
	int_parse(&older, &frame, &packet);
	assert_true(packet.flags & HS_PACKET_TELEMETRY);
	assert_int_equal(frame.bytes[45], 0x80);
	assert_int_equal(should.bytes[45], 0x82);
	frame.bytes[45] = 0x82;
	memcpy(frame.bytes + 40, should.bytes + 40, 2); // the checksum
	frame_assert_equal(&frame, &should);
	frame_free(&frame);
	frame_free(&should);
}

// One mark, two versions: the other's is malformed. Two marks: it is payload.
static void a_profile_sees_only_its_own(void **state)
{
	(void)state;
	for (unsigned version = HS_INT_0_5; version < HS_INT_N_VERSIONS; version++) {
		struct hs_int_settings own = int_example_profile(version, HS_INT_TCP_UDP);
		struct frame frame = int_example_started(&own, 0x9000, int_example_udp6);
		for (unsigned other = HS_INT_0_5; other < HS_INT_N_VERSIONS; other++) {
			struct hs_int_settings theirs = int_example_profile(other, HS_INT_TCP_UDP);
			const uint16_t any = HS_PACKET_ANY_TELEMETRY | HS_PACKET_TELEMETRY;
			struct hs_packet packet;
			int_parse(&theirs, &frame, &packet);
			assert_int_equal(packet.flags & any,
					other == version ? any : HS_PACKET_ANY_TELEMETRY);
			theirs.dscp = 0x20;
			int_parse(&theirs, &frame, &packet);
			assert_int_equal(packet.flags & any, 0);
		}
		frame_free(&frame);
	}
}

static void what_is_behind_snap_is_hidden_from_all_but_who_writes_nothing(void **state)
{
	(void)state;
	static const char *const hex[] = {IPV4_IN_SNAP, TAG_IN_SNAP};

	for (size_t i = 0; i < sizeof(hex) / sizeof(hex[0]); i++) {
		struct frame frame = frame_from_hex(hex[i]);
		struct hs_int_settings settings = int_example_profile(HS_INT_2_1, HS_INT_TCP_UDP);
		struct hs_packet packet;
		int_parse(&settings, &frame, &packet);
		assert_int_equal(packet.flags, HS_PACKET_HIDDEN);
		settings.mode = HS_INT_XD;
		int_parse(&settings, &frame, &packet);
		assert_int_equal(packet.flags, 0);
		frame_free(&frame);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(nobody_puts_udp_before_hop_by_hop_options),
			cmocka_unit_test(version_2_0_differs_by_its_protocol_number),
			cmocka_unit_test(a_profile_sees_only_its_own),
			cmocka_unit_test(a_mark_that_no_telemetry_follows_is_claimed_and_cleared),
			cmocka_unit_test(only_the_masked_bits_are_marked_and_cleared),
			cmocka_unit_test(nothing_is_telemetry_of_a_profile_without_packets),
			cmocka_unit_test(destination_headers_are_no_transits_and_are_stripped),
			cmocka_unit_test(
					what_is_behind_snap_is_hidden_from_all_but_who_writes_nothing),
			cmocka_unit_test(a_second_header_for_transit_is_malformed),
			cmocka_unit_test(a_checksum_that_nobody_computes_is_left_alone),
			cmocka_unit_test(vxlan_that_could_not_be_restored_is_left_alone),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

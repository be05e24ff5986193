// SPDX-License-Identifier: BSD-3-Clause
// The worked example of the format (docs/wire-flexint.md): trace type 0x7000E000, two hops, one of
// which has lost two packets of 508 bytes. The packets begin at the IPv6 header and were made by
// an encoder that is not ours.
#include "wire_test.h"

#include <string.h>

static const char source[] =
		"600000000030004020010db800000000000000000000000120010db8000000000000000000000002"
		"11033108000000077000e0001112700017979cfe362a0000000003e80007c0601234138900105e94"
		"494e544441544121";
static const char hop1[] =
		"600000000048003f20010db800000000000000000000000120010db8000000000000000000000002"
		"11063120000000077000e0000001e00003e803e817979cfe36c296800007c0600007c06011127000"
		"17979cfe362a0000000003e80007c0601234138900105e94494e544441544121";
static const char hop2[] =
		"600000000060003e20010db800000000000000000000000120010db8000000000000000000000002"
		"11093138000000077000e0000002e00003e603e617979cfe370ee1c00007bc680007bc680001e000"
		"03e803e817979cfe36c296800007c0600007c0601112700017979cfe362a0000000003e80007c060"
		"1234138900105e94494e544441544121";
static const char padded[] =
		"600000000038003f20010db800000000000000000000000120010db8000000000000000000000002"
		"1104311400000007400060000001400017979cfe36c29680110a400017979cfe362a000001020000"
		"1234138900105e94494e544441544121";
static const char kernel_safe_hop2[] =
		"600000000068003e20010db800000000000000000000000120010db8000000000000000000000002"
		"110a01003138000000077000e0000002e00003e603e617979cfe370ee1c00007bc680007bc680001"
		"e00003e803e817979cfe36c296800007c0600007c0601112700017979cfe362a0000000003e80007"
		"c0600104000000001234138900105e94494e544441544121";
static const char request_cbor[] =
		"a16b696e745f72657175657374aa656e735f696407666170705f696401667372635f69706b323030"
		"313a6462383a3a31666473745f69706b323030313a6462383a3a32687372635f706f727400686473"
		"745f706f72741913896870726f746f636f6c637564706a74726163655f747970656a307837303030"
		"45303030646d6f646565636f756e746c6d6f64655f73657474696e671864";
static const char request_hbh[] =
		"11133296a16b696e745f72657175657374aa656e735f696407666170705f696401667372635f6970"
		"6b323030313a6462383a3a31666473745f69706b323030313a6462383a3a32687372635f706f7274"
		"00686473745f706f72741913896870726f746f636f6c637564706a74726163655f747970656a3078"
		"3730303045303030646d6f646565636f756e746c6d6f64655f73657474696e671864010400000000";

static const char plain_udp[] = "1234138900105e94494e544441544121";

#define SOURCE_NS   1700000000000000000u
#define PAPER_TRACE 0x7000E000u

static const struct hs_e2e example_e2e = {
		.bitmap = 0x7000, .ts_ns = SOURCE_NS, .tx_packets = 1000, .tx_bytes = 508000};
static const struct hs_hop example_hops[] = {
		{.node_id = 1,
				.bitmap = 0xE000,
				.tx_packets = 1000,
				.rx_packets = 1000,
				.ts_ns = SOURCE_NS + 10000000,
				.tx_bytes = 508000,
				.rx_bytes = 508000},
		{.node_id = 2,
				.bitmap = 0xE000,
				.tx_packets = 998,
				.rx_packets = 998,
				.ts_ns = SOURCE_NS + 15000000,
				.tx_bytes = 506984,
				.rx_bytes = 506984},
};

static struct frame on_ethernet(const char *hex)
{
	struct frame ether = frame_from_hex("02000000000202000000000186dd");
	return frame_join(ether, frame_from_hex(hex));
}

// The packet before any telemetry, with the hop limit that `like` has.
static struct frame plain_like(const char *like)
{
	char hex[sizeof(plain_udp) + 80];
	memcpy(hex, like, 80);
	memcpy(hex + 8, "001011", 6);
	memcpy(hex + 80, plain_udp, sizeof(plain_udp));
	return on_ethernet(hex);
}

// A router on the way lowers the hop limit; telemetry does not touch it.
static void set_hop_limit(struct frame *frame, uint8_t limit)
{
	frame->bytes[14 + 7] = limit;
}

static void becomes(struct frame *frame, const char *hex)
{
	struct frame should = on_ethernet(hex);
	frame_assert_equal(frame, &should);
	frame_free(&should);
}

static void strips_to_plain(const char *hex)
{
	struct frame frame = on_ethernet(hex);
	struct frame plain = plain_like(hex);
	frame_strip(&frame);
	frame_assert_equal(&frame, &plain);
	frame_free(&frame);
	frame_free(&plain);
}

static void source_and_hops_write_the_example(void **state)
{
	(void)state;
	struct frame frame = plain_like(source);
	frame_insert_source(&frame, 7, PAPER_TRACE, HS_LAYOUT_PAPER, &example_e2e);
	becomes(&frame, source);
	set_hop_limit(&frame, 63);
	assert_int_equal(frame_insert_hop(&frame, &example_hops[0]), 24);
	becomes(&frame, hop1);
	set_hop_limit(&frame, 62);
	assert_int_equal(frame_insert_hop(&frame, &example_hops[1]), 24);
	becomes(&frame, hop2);
	frame_free(&frame);
}

static void aligned_layout_writes_the_kernel_safe_example(void **state)
{
	(void)state;
	struct frame frame = plain_like(kernel_safe_hop2);
	frame_insert_source(&frame, 7, PAPER_TRACE, HS_LAYOUT_ALIGNED, &example_e2e);
	frame_insert_hop(&frame, &example_hops[0]);
	frame_insert_hop(&frame, &example_hops[1]);
	becomes(&frame, kernel_safe_hop2);
	frame_free(&frame);
}

static void a_hop_with_part_of_the_fields_writes_the_padded_example(void **state)
{
	(void)state;
	const struct hs_e2e e2e = {.bitmap = 0x4000, .ts_ns = SOURCE_NS};
	const struct hs_hop hop = {.node_id = 1, .bitmap = 0x4000, .ts_ns = SOURCE_NS + 10000000};
	struct frame frame = plain_like(padded);
	frame_insert_source(&frame, 7, 0x40006000, HS_LAYOUT_PAPER, &e2e);
	// 24 bytes without padding; 12 more bring four bytes of it.
	assert_int_equal(frame_insert_hop(&frame, &hop), 16);
	becomes(&frame, padded);
	frame_free(&frame);
}

static void a_request_is_written_as_the_example_has_it(void **state)
{
	(void)state;
	struct frame cbor = frame_from_hex(request_cbor);
	struct frame frame = plain_like(source);
	struct frame plain = plain_like(source);
	struct frame header = frame_from_hex(request_hbh);
	frame_insert_option(&frame, HS_OPT_REQUEST, cbor.bytes, cbor.len);
	assert_int_equal(frame.len, plain.len + header.len);
	assert_int_equal(frame.bytes[14 + 6], 0);
	assert_int_equal(frame.bytes[14 + 5], 16 + 160);
	assert_memory_equal(frame.bytes + 54, header.bytes, header.len);
	assert_memory_equal(frame.bytes + 54 + 160, plain.bytes + 54, 16);

	// The same as a ready block, which is the example's own option.
	struct frame block = plain_like(source);
	frame_insert_block(&block, header.bytes + 2, 2 + cbor.len);
	frame_assert_equal(&block, &frame);
	frame_take_type(&block, HS_OPT_REQUEST);
	frame_assert_equal(&block, &plain);
	frame_free(&block);

	struct hs_packet packet;
	frame_parse(&frame, &packet);
	assert_true(packet.flags & HS_PACKET_REQUEST);
	const uint8_t *data;
	size_t len;
	size_t cursor = 0;
	assert_true(hs_flexint_option_next(
			frame.bytes, &packet, HS_OPT_REQUEST, &cursor, &data, &len));
	assert_int_equal(len, cbor.len);
	assert_memory_equal(data, cbor.bytes, len);
	assert_false(hs_flexint_option_next(
			frame.bytes, &packet, HS_OPT_REQUEST, &cursor, &data, &len));

	frame_strip(&frame);
	frame_assert_equal(&frame, &plain);
	frame_free(&cbor);
	frame_free(&header);
	frame_free(&plain);
	frame_free(&frame);
}

static void the_examples_strip_to_what_the_host_sent(void **state)
{
	(void)state;
	strips_to_plain(source);
	strips_to_plain(hop1);
	strips_to_plain(hop2);
	strips_to_plain(padded);
	strips_to_plain(kernel_safe_hop2);
}

static void assert_hop_equal(const struct hs_hop *is, const struct hs_hop *should)
{
	assert_int_equal(is->node_id, should->node_id);
	assert_int_equal(is->bitmap, should->bitmap);
	assert_int_equal(is->tx_packets, should->tx_packets);
	assert_int_equal(is->rx_packets, should->rx_packets);
	assert_true(is->ts_ns == should->ts_ns);
	assert_int_equal(is->tx_bytes, should->tx_bytes);
	assert_int_equal(is->rx_bytes, should->rx_bytes);
}

static void decodes_to_the_example(const char *hex)
{
	struct hs_decoded told;
	struct frame frame = on_ethernet(hex);
	assert_int_equal(frame_decode(&frame, &told), 0);
	frame_free(&frame);
	assert_int_equal(told.ns_id, 7);
	assert_int_equal(told.trace_type, PAPER_TRACE);
	assert_int_equal(told.e2e.bitmap, 0x7000);
	assert_true(told.e2e.ts_ns == SOURCE_NS);
	assert_int_equal(told.e2e.tx_packets, 1000);
	assert_int_equal(told.e2e.tx_bytes, 508000);
	assert_int_equal(told.n_hops, 2);
	assert_hop_equal(&told.hops[0], &example_hops[1]);
	assert_hop_equal(&told.hops[1], &example_hops[0]);
}

static void the_examples_decode_newest_hop_first(void **state)
{
	(void)state;
	decodes_to_the_example(hop2);
	decodes_to_the_example(kernel_safe_hop2);
}

static void parsing_finds_ports_and_options_of_the_example(void **state)
{
	(void)state;
	struct hs_packet packet;
	struct frame frame = on_ethernet(kernel_safe_hop2);
	frame_parse(&frame, &packet);
	frame_free(&frame);
	assert_int_equal(packet.flags, HS_PACKET_IPV6 | HS_PACKET_FLOW | HS_PACKET_HBH |
						       HS_PACKET_TELEMETRY |
						       HS_PACKET_ANY_TELEMETRY | HS_PACKET_PLAIN);
	assert_int_equal(packet.l3_off, 14);
	assert_int_equal(packet.hbh_bytes, 88);
	assert_int_equal(packet.telemetry_bytes, 88);
	assert_int_equal(packet.trace_off, 54 + 4);
	assert_int_equal(packet.e2e_off, 54 + 4 + 2 + 56);
	assert_int_equal(packet.l4_off, 54 + 88);
	assert_int_equal(packet.l4_proto, 17);
	assert_int_equal(packet.src_port, 0x1234);
	assert_int_equal(packet.dst_port, 5001);
	assert_int_equal(packet.ns_id, 7);
	assert_int_equal(packet.trace_type, PAPER_TRACE);
	assert_int_equal(hs_packet_counted_bytes(&packet), 14 + 40 + 16);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(source_and_hops_write_the_example),
			cmocka_unit_test(aligned_layout_writes_the_kernel_safe_example),
			cmocka_unit_test(a_hop_with_part_of_the_fields_writes_the_padded_example),
			cmocka_unit_test(a_request_is_written_as_the_example_has_it),
			cmocka_unit_test(the_examples_strip_to_what_the_host_sent),
			cmocka_unit_test(the_examples_decode_newest_hop_first),
			cmocka_unit_test(parsing_finds_ports_and_options_of_the_example),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

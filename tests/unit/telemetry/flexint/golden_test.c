// SPDX-License-Identifier: BSD-3-Clause
// tests/golden/wire/vectors.json against lib/telemetry/flexint, byte for byte both ways. HS_GOLDEN
// is its path.
#include "vectors.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	uint16_t flag;
} flag_names[] = {
		{"ipv6", HS_PACKET_IPV6},
		{"flow", HS_PACKET_FLOW},
		{"fragment", HS_PACKET_FRAGMENT},
		{"later", HS_PACKET_LATER},
		{"hbh", HS_PACKET_HBH},
		{"telemetry", HS_PACKET_TELEMETRY},
		{"request", HS_PACKET_REQUEST},
		{"report", HS_PACKET_REPORT},
		{"any_telemetry", HS_PACKET_ANY_TELEMETRY},
		{"malformed", HS_PACKET_MALFORMED},
		{"short", HS_PACKET_SHORT},
		{"mixed", HS_PACKET_MIXED},
		{"hidden", HS_PACKET_HIDDEN},
		{"ipv4", HS_PACKET_IPV4},
};

static uint64_t number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static struct frame frame_at(const json_t *object, const char *key)
{
	const char *hex = json_string_value(json_object_get(object, key));
	assert_non_null(hex);
	return frame_from_hex(hex);
}

static uint16_t flags_of(const json_t *parsed)
{
	uint16_t flags = 0;
	size_t i;
	json_t *name;
	json_array_foreach (json_object_get(parsed, "flags"), i, name) {
		size_t k = 0;
		while (strcmp(flag_names[k].name, json_string_value(name)))
			assert_true(++k < sizeof(flag_names) / sizeof(flag_names[0]));
		flags |= flag_names[k].flag;
	}
	return flags;
}

// What HS_PACKET_PLAIN says of telemetry, by its options.
static bool is_plain(const struct frame *frame, const struct hs_packet *packet)
{
	const uint8_t *at = frame->bytes + packet->l3_off + 40 + 2;
	const uint8_t *end = at - 2 + packet->hbh_bytes;

	if (!(packet->flags & HS_PACKET_TELEMETRY))
		return false;
	at += at[0] == 1 && at[1] == 0 ? 2 : 0;
	if (*at != 0x31 || end - at < 2 + at[1] + 2)
		return false;
	at += 2 + at[1];
	if (*at != 0x11 || end - at < 2 + at[1])
		return false;
	at += 2 + at[1];
	return at == end || (end - at >= 2 && end - at < 8 && at[0] == 1 && at[1] == end - at - 2);
}

static void assert_parsed(
		const struct frame *frame, const struct hs_packet *packet, const json_t *parsed)
{
	assert_non_null(parsed);
	uint16_t plain = is_plain(frame, packet) ? HS_PACKET_PLAIN : 0;
	assert_int_equal(packet->flags, flags_of(parsed) | plain);
	assert_int_equal(packet->l3_off, number(parsed, "l3_off"));
	assert_int_equal(packet->hbh_bytes, number(parsed, "hbh_bytes"));
	assert_int_equal(packet->trace_off, number(parsed, "trace_off"));
	assert_int_equal(packet->e2e_off, number(parsed, "e2e_off"));
	assert_int_equal(packet->telemetry_bytes, number(parsed, "telemetry_bytes"));
	assert_int_equal(packet->l4_off, number(parsed, "l4_off"));
	assert_int_equal(packet->src_port, number(parsed, "src_port"));
	assert_int_equal(packet->dst_port, number(parsed, "dst_port"));
	assert_int_equal(packet->l3_bytes, number(parsed, "l3_bytes"));
	assert_int_equal(packet->l4_proto, number(parsed, "l4_proto"));
	assert_int_equal(packet->vlan_tags, number(parsed, "vlan_tags"));
	assert_int_equal(packet->ns_id, number(parsed, "ns_id"));
	assert_int_equal(packet->trace_type, number(parsed, "trace_type"));
}

static void is_parsed(const struct frame *frame, const json_t *parsed)
{
	struct hs_packet packet;
	frame_parse(frame, &packet);
	assert_parsed(frame, &packet, parsed);
}

// What the frame has become against the vector, in bytes and as the parser sees it.
static void becomes(const struct frame *frame, const json_t *object, const char *bytes,
		const char *parsed)
{
	struct frame should = frame_at(object, bytes);
	frame_assert_equal(frame, &should);
	frame_free(&should);
	is_parsed(frame, json_object_get(object, parsed));
}

static struct hs_e2e e2e_of(const json_t *values)
{
	return (struct hs_e2e){
			.bitmap = (uint16_t)number(values, "bitmap"),
			.int_packets = (uint32_t)number(values, "int_packets"),
			.ts_ns = number(values, "ts_ns"),
			.tx_packets = (uint32_t)number(values, "tx_packets"),
			.tx_bytes = (uint32_t)number(values, "tx_bytes"),
	};
}

static struct hs_hop hop_of(const json_t *values)
{
	return (struct hs_hop){
			.node_id = (uint16_t)number(values, "node_id"),
			.bitmap = (uint16_t)number(values, "bitmap"),
			.tx_packets = (uint16_t)number(values, "tx_packets"),
			.rx_packets = (uint16_t)number(values, "rx_packets"),
			.ts_ns = number(values, "ts_ns"),
			.tx_bytes = (uint32_t)number(values, "tx_bytes"),
			.rx_bytes = (uint32_t)number(values, "rx_bytes"),
	};
}

static struct frame sourced(const json_t *object)
{
	const char *name = json_string_value(json_object_get(object, "layout"));
	enum hs_flexint_layout layout = strcmp(name, "paper") ? HS_LAYOUT_ALIGNED : HS_LAYOUT_PAPER;
	struct hs_e2e e2e = e2e_of(json_object_get(object, "e2e"));
	struct frame frame = frame_at(object, "plain");
	frame_insert_source(&frame, (uint32_t)number(object, "ns_id"),
			(uint32_t)number(object, "trace_type"), layout, &e2e);
	return frame;
}

static void add_extra(struct frame *frame, const json_t *object)
{
	size_t i;
	json_t *extra;
	json_array_foreach (json_object_get(object, "extra"), i, extra) {
		struct frame data = frame_at(extra, "data");
		frame_insert_option(frame, (uint8_t)number(extra, "type"), data.bytes, data.len);
		frame_free(&data);
	}
}

static void each(const char *kind, void (*check)(const json_t *object))
{
	vectors_each(json_object_get(vectors, kind), check);
}

static void writes(const json_t *object)
{
	struct frame frame = sourced(object);
	becomes(&frame, object, "source", "source_parsed");
	size_t i;
	json_t *values;
	json_array_foreach (json_object_get(object, "hops"), i, values) {
		struct hs_hop hop = hop_of(values);
		assert_true(frame_insert_hop(&frame, &hop) >= 0);
		if (json_object_get(values, "frame"))
			becomes(&frame, values, "frame", "parsed");
	}
	if (json_object_get(object, "refused")) {
		struct hs_hop hop = {.bitmap = (uint16_t)number(object, "refused")};
		assert_int_equal(frame_insert_hop(&frame, &hop), -ENOSPC);
	}
	add_extra(&frame, object);
	if (json_object_get(object, "extra"))
		becomes(&frame, object, "extra_frame", "extra_parsed");
	frame_free(&frame);
}

static void source_and_hops_write_what_the_other_encoder_wrote(void **state)
{
	(void)state;
	each("insert", writes);
}

static void strips_to_plain(const json_t *object, const json_t *from, const char *key)
{
	struct frame plain = frame_at(object, "plain");
	struct frame frame = frame_at(from, key);
	frame_strip(&frame);
	frame_assert_equal(&frame, &plain);
	is_parsed(&frame, json_object_get(object, "plain_parsed"));
	frame_free(&plain);
	frame_free(&frame);
}

static void restores(const json_t *object)
{
	size_t i;
	json_t *hop;
	strips_to_plain(object, object, "source");
	json_array_foreach (json_object_get(object, "hops"), i, hop) {
		if (json_object_get(hop, "frame"))
			strips_to_plain(object, hop, "frame");
	}
	if (json_object_get(object, "extra"))
		strips_to_plain(object, object, "extra_frame");
}

static void stripping_restores_what_the_host_sent(void **state)
{
	(void)state;
	each("insert", restores);
}

static void assert_hop(const struct hs_hop *is, const json_t *values)
{
	struct hs_hop should = hop_of(values);
	assert_int_equal(is->node_id, should.node_id);
	assert_int_equal(is->bitmap, should.bitmap);
	assert_int_equal(is->tx_packets, should.tx_packets);
	assert_int_equal(is->rx_packets, should.rx_packets);
	assert_true(is->ts_ns == should.ts_ns);
	assert_int_equal(is->tx_bytes, should.tx_bytes);
	assert_int_equal(is->rx_bytes, should.rx_bytes);
}

static void tells(const json_t *object)
{
	json_t *hops = json_object_get(object, "hops");
	size_t n = json_array_size(hops);
	struct frame frame =
			frame_at(n ? json_array_get(hops, n - 1) : object, n ? "frame" : "source");
	struct hs_decoded told;
	assert_int_equal(frame_decode(&frame, &told), 0);
	frame_free(&frame);

	struct hs_e2e e2e = e2e_of(json_object_get(object, "e2e"));
	assert_int_equal(told.ns_id, number(object, "ns_id"));
	assert_int_equal(told.trace_type, number(object, "trace_type"));
	assert_int_equal(told.e2e.bitmap, e2e.bitmap);
	assert_int_equal(told.e2e.int_packets, e2e.int_packets);
	assert_true(told.e2e.ts_ns == e2e.ts_ns);
	assert_int_equal(told.e2e.tx_packets, e2e.tx_packets);
	assert_int_equal(told.e2e.tx_bytes, e2e.tx_bytes);
	assert_int_equal(told.n_hops, n);
	for (size_t i = 0; i < n; i++)
		assert_hop(&told.hops[n - 1 - i], json_array_get(hops, i));
}

static void decoding_tells_what_was_encoded(void **state)
{
	(void)state;
	each("insert", tells);
}

// The options of the frame are those of the vector, per type in their order.
static void options_are_found(const struct frame *frame, const json_t *extra)
{
	struct hs_packet packet;
	frame_parse(frame, &packet);
	size_t cursor[256] = {0};
	const uint8_t *data;
	size_t len;
	size_t i;
	json_t *option;
	json_array_foreach (extra, i, option) {
		uint8_t type = (uint8_t)number(option, "type");
		struct frame should = frame_at(option, "data");
		assert_true(hs_flexint_option_next(
				frame->bytes, &packet, type, &cursor[type], &data, &len));
		assert_int_equal(len, should.len);
		assert_memory_equal(data, should.bytes, len);
		frame_free(&should);
	}
	for (unsigned int type = HS_OPT_REQUEST; type <= HS_OPT_REPORT; type++)
		assert_false(hs_flexint_option_next(
				frame->bytes, &packet, (uint8_t)type, &cursor[type], &data, &len));
}

static void carries_options(const json_t *object)
{
	struct frame frame = frame_at(object, "plain");
	add_extra(&frame, object);
	becomes(&frame, object, "extra_frame", "extra_parsed");
	options_are_found(&frame, json_object_get(object, "extra"));
	struct frame plain = frame_at(object, "plain");
	frame_strip(&frame);
	frame_assert_equal(&frame, &plain);
	frame_free(&plain);
	frame_free(&frame);
}

static void requests_and_reports_are_inserted_found_and_stripped(void **state)
{
	(void)state;
	each("option", carries_options);
}

static void carries_a_block(const json_t *object)
{
	struct frame plain = frame_at(object, "plain");
	struct frame block = frame_at(object, "block");
	struct frame should = frame_at(object, "frame");
	struct frame frame = frame_of(plain.bytes, plain.len);
	frame_insert_block(&frame, block.bytes, block.len);
	frame_assert_equal(&frame, &should);
	frame_take_type(&frame, (uint8_t)number(object, "type"));
	frame_assert_equal(&frame, &plain);
	frame_strip(&should);
	frame_assert_equal(&should, &plain);
	frame_free(&plain);
	frame_free(&block);
	frame_free(&should);
	frame_free(&frame);
}

static void a_block_of_options_goes_in_whole_and_comes_out_again(void **state)
{
	(void)state;
	each("block", carries_a_block);
}

static void loses_one_type(const json_t *object)
{
	struct frame frame = frame_at(object, "frame");
	struct frame rest = frame_at(object, "rest");
	frame_take_type(&frame, (uint8_t)number(object, "type"));
	frame_assert_equal(&frame, &rest);
	frame_free(&frame);
	frame_free(&rest);
}

static void taking_one_type_leaves_all_else_where_it_is_modulo_eight(void **state)
{
	(void)state;
	each("take", loses_one_type);
}

static void leaves_foreign_options(const json_t *object)
{
	struct frame frame = frame_at(object, "frame");
	struct frame stripped = frame_at(object, "stripped");
	is_parsed(&frame, json_object_get(object, "parsed"));
	frame_strip(&frame);
	frame_assert_equal(&frame, &stripped);
	struct hs_packet packet;
	frame_parse(&frame, &packet);
	assert_int_equal(packet.flags & HS_PACKET_ANY_TELEMETRY, 0);
	frame_free(&frame);
	frame_free(&stripped);
}

static void stripping_a_mixture_keeps_foreign_options_aligned(void **state)
{
	(void)state;
	each("strip", leaves_foreign_options);
}

static void grows(const json_t *object)
{
	struct frame frame = frame_at(object, "frame");
	struct frame bare = frame_of(frame.bytes, frame.len);
	struct frame grown = frame_at(object, "grown");
	struct hs_hop hop = hop_of(json_object_get(object, "hop"));
	assert_int_equal(frame_insert_hop(&frame, &hop), number(object, "growth"));
	frame_assert_equal(&frame, &grown);
	frame_strip(&frame);
	frame_strip(&bare);
	frame_assert_equal(&frame, &bare);
	frame_free(&frame);
	frame_free(&bare);
	frame_free(&grown);
}

static void a_hop_in_a_mixture_moves_what_is_behind_by_eights(void **state)
{
	(void)state;
	each("grow", grows);
}

static void is_found(const json_t *object)
{
	struct frame frame = frame_at(object, "frame");
	struct hs_packet packet;
	size_t frame_len = json_object_get(object, "frame_len") ? number(object, "frame_len")
								: frame.len;
	hs_flexint_parse(frame.bytes, frame.len, frame_len, &packet);
	assert_parsed(&frame, &packet, json_object_get(object, "parsed"));
	frame_free(&frame);
}

static void odd_headers_are_named_for_what_they_are(void **state)
{
	(void)state;
	each("parse", is_found);
}

// As a frame it is cut off; as a first segment it either says SHORT or tells the same as the whole.
static void cut_at(const struct frame *whole, const struct hs_packet *full, size_t len)
{
	struct frame cut = frame_of(whole->bytes, len);
	struct hs_packet packet;
	hs_flexint_parse(cut.bytes, len, len, &packet);
	if (full->flags & (HS_PACKET_IPV4 | HS_PACKET_IPV6) && len < full->l3_off + full->l3_bytes)
		assert_false(packet.flags & HS_PACKET_FLOW);
	hs_flexint_parse(cut.bytes, len, whole->len, &packet);
	if (!(packet.flags & HS_PACKET_SHORT))
		assert_memory_equal(&packet, full, sizeof(packet));
	else
		assert_false(packet.flags & (HS_PACKET_FLOW | HS_PACKET_MALFORMED));
	frame_free(&cut);
}

static void cut_everywhere(const char *key, const json_t *value)
{
	static const char *const frames[] = {
			"plain", "source", "frame", "extra_frame", "stripped", "grown"};
	bool is_frame = false;
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++)
		is_frame |= !strcmp(frames[i], key);
	if (!is_frame)
		return;
	struct frame whole = frame_from_hex(json_string_value(value));
	struct hs_packet full;
	frame_parse(&whole, &full);
	for (size_t len = 0; len < whole.len; len++)
		cut_at(&whole, &full, len);
	frame_free(&whole);
}

static void cut_all_frames(const json_t *object)
{
	const char *key;
	json_t *value;
	size_t i;
	json_t *hop;
	json_object_foreach ((json_t *)object, key, value)
		cut_everywhere(key, value);
	json_array_foreach (json_object_get(object, "hops"), i, hop) {
		json_object_foreach (hop, key, value)
			cut_everywhere(key, value);
	}
}

static void every_cut_of_every_frame_is_parsed_within_its_bytes(void **state)
{
	(void)state;
	each("insert", cut_all_frames);
	each("option", cut_all_frames);
	each("strip", cut_all_frames);
	each("grow", cut_all_frames);
	each("parse", cut_all_frames);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test_teardown(
					source_and_hops_write_what_the_other_encoder_wrote,
					vectors_show_case),
			cmocka_unit_test_teardown(
					stripping_restores_what_the_host_sent, vectors_show_case),
			cmocka_unit_test_teardown(
					decoding_tells_what_was_encoded, vectors_show_case),
			cmocka_unit_test_teardown(
					requests_and_reports_are_inserted_found_and_stripped,
					vectors_show_case),
			cmocka_unit_test_teardown(
					a_block_of_options_goes_in_whole_and_comes_out_again,
					vectors_show_case),
			cmocka_unit_test_teardown(
					taking_one_type_leaves_all_else_where_it_is_modulo_eight,
					vectors_show_case),
			cmocka_unit_test_teardown(stripping_a_mixture_keeps_foreign_options_aligned,
					vectors_show_case),
			cmocka_unit_test_teardown(a_hop_in_a_mixture_moves_what_is_behind_by_eights,
					vectors_show_case),
			cmocka_unit_test_teardown(
					odd_headers_are_named_for_what_they_are, vectors_show_case),
			cmocka_unit_test_teardown(
					every_cut_of_every_frame_is_parsed_within_its_bytes,
					vectors_show_case),
	};
	return cmocka_run_group_tests(tests, vectors_load, vectors_unload);
}

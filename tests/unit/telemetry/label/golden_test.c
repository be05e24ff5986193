// SPDX-License-Identifier: BSD-3-Clause
// tests/golden/label/vectors.json against lib/telemetry/label, byte for byte both ways. HS_GOLDEN
// is its path.
#include <stdlib.h>
#include <string.h>

#include "label_frame.h"
#include "vectors.h"

static uint64_t number(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	assert_non_null(value);
	return (uint64_t)json_integer_value(value);
}

static struct frame hex(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	assert_non_null(text);
	return frame_from_hex(text);
}

static struct hs_label_settings settings_of(const json_t *object)
{
	return (struct hs_label_settings){.ip_protocol = (uint8_t)number(object, "ip_protocol"),
			.max_hops = (uint8_t)number(object, "max_hops")};
}

static struct hs_label_item item_of(const json_t *object)
{
	return (struct hs_label_item){
			.node_id = (uint16_t)number(object, "node_id"),
			.ingress_port = (uint8_t)number(object, "ingress_port"),
			.egress_port = (uint8_t)number(object, "egress_port"),
			.ingress_us = number(object, "ingress_us"),
			.egress_us = number(object, "egress_us"),
			.enqueue_us = (uint32_t)number(object, "enqueue_us"),
			.queue_us = (uint32_t)number(object, "queue_us"),
			.enqueue_packets = (uint32_t)number(object, "enqueue_packets"),
			.dequeue_packets = (uint32_t)number(object, "dequeue_packets"),
	};
}

static void assert_item_equal(const struct hs_label_item *is, const struct hs_label_item *should)
{
	assert_int_equal(is->node_id, should->node_id);
	assert_int_equal(is->ingress_port, should->ingress_port);
	assert_int_equal(is->egress_port, should->egress_port);
	assert_int_equal(is->ingress_us, should->ingress_us);
	assert_int_equal(is->egress_us, should->egress_us);
	assert_int_equal(is->enqueue_us, should->enqueue_us);
	assert_int_equal(is->queue_us, should->queue_us);
	assert_int_equal(is->enqueue_packets, should->enqueue_packets);
	assert_int_equal(is->dequeue_packets, should->dequeue_packets);
}

static void each(void (*check)(const json_t *object))
{
	assert_true(json_array_size(vectors) > 60);
	vectors_each(vectors, check);
}

static void writes(const json_t *object)
{
	struct hs_label_settings settings = settings_of(object);
	struct frame frame = hex(object, "plain");
	bool specific = json_is_true(json_object_get(object, "specific"));
	json_t *hop;
	size_t i;

	json_array_foreach (json_object_get(object, "hops"), i, hop) {
		struct hs_label_item item = item_of(json_object_get(hop, "item"));
		struct frame should = hex(hop, "frame");
		assert_true(label_add(&settings, &frame, &item, specific) > 0);
		frame_assert_equal(&frame, &should);
		frame_free(&should);
	}
	frame_free(&frame);
}

static void nodes_write_what_the_other_encoder_wrote(void **state)
{
	(void)state;
	each(writes);
}

static void restores(const json_t *object)
{
	struct hs_label_settings settings = settings_of(object);
	struct frame plain = hex(object, "plain");
	struct hs_packet was, is;
	json_t *hop;
	size_t i;

	label_parse(&settings, &plain, &was);
	assert_int_equal(was.flags & HS_PACKET_ANY_TELEMETRY, 0);
	json_array_foreach (json_object_get(object, "hops"), i, hop) {
		struct frame frame = hex(hop, "frame");
		label_parse(&settings, &frame, &is);
		assert_int_equal(is.flags & HS_PACKET_FLOW, was.flags & HS_PACKET_FLOW);
		assert_int_equal(is.src_port, was.src_port);
		assert_int_equal(is.dst_port, was.dst_port);
		assert_int_equal(is.l4_proto, was.l4_proto);
		assert_int_equal(hs_packet_counted_bytes(&is), hs_packet_counted_bytes(&was));
		assert_int_equal(label_strip(&settings, &frame), is.telemetry_bytes);
		frame_assert_equal(&frame, &plain);
		frame_free(&frame);
	}
	frame_free(&plain);
}

static void stripping_restores_what_the_host_sent(void **state)
{
	(void)state;
	each(restores);
}

static void assert_items(const json_t *hops, const uint8_t *items, size_t n)
{
	assert_int_equal(json_array_size(hops), n);
	for (size_t i = 0; i < n; i++) {
		struct hs_label_item is, should = item_of(json_object_get(
							 json_array_get(hops, n - 1 - i), "item"));
		hs_label_item_read(items + i * HS_LABEL_ITEM_BYTES, &is);
		assert_item_equal(&is, &should);
	}
}

static void assert_head_equal(
		const struct hs_label_export *is, const struct hs_label_export *should)
{
	assert_int_equal(is->ipv6, should->ipv6);
	assert_memory_equal(is->src_ip, should->src_ip, sizeof(is->src_ip));
	assert_memory_equal(is->dst_ip, should->dst_ip, sizeof(is->dst_ip));
	assert_int_equal(is->src_port, should->src_port);
	assert_int_equal(is->dst_port, should->dst_port);
	assert_int_equal(is->proto, should->proto);
	assert_int_equal(is->specific, should->specific);
}

static void exports(const json_t *object)
{
	struct hs_label_settings settings = settings_of(object);
	json_t *hops = json_object_get(object, "hops");
	struct frame frame = hex(json_array_get(hops, json_array_size(hops) - 1), "frame");
	struct frame should = hex(object, "export");
	struct hs_packet packet;
	struct hs_label_export export, back;

	label_parse(&settings, &frame, &packet);
	hs_label_export_of(&settings, frame.bytes, &packet, &export);
	assert_items(hops, export.items, export.n_items);
	struct frame payload = {
			calloc(1, hs_label_export_bytes(&export)), hs_label_export_bytes(&export)};
	assert_non_null(payload.bytes);
	hs_label_export_write(&export, payload.bytes);
	frame_assert_equal(&payload, &should);
	assert_int_equal(hs_label_export_read(payload.bytes, payload.len, &back), 0);
	assert_items(hops, back.items, back.n_items);
	assert_head_equal(&back, &export);
	for (size_t len = 0; len < payload.len; len++) {
		struct frame cut = frame_of(payload.bytes, len);
		assert_true(hs_label_export_read(cut.bytes, len, &back) < 0);
		frame_free(&cut);
	}
	frame_free(&payload);
	frame_free(&should);
	frame_free(&frame);
}

static void the_last_node_exports_what_the_other_encoder_wrote(void **state)
{
	(void)state;
	each(exports);
}

// As a first segment the frame says SHORT, or tells the same as the whole.
static void is_cut(const json_t *object)
{
	struct hs_label_settings settings = settings_of(object);
	json_t *hops = json_object_get(object, "hops");
	struct frame whole = hex(json_array_get(hops, json_array_size(hops) / 2), "frame");
	struct hs_packet full, packet;

	label_parse(&settings, &whole, &full);
	assert_true(full.flags & HS_PACKET_TELEMETRY);
	for (size_t len = 0; len < whole.len; len++) {
		struct frame cut = frame_of(whole.bytes, len);
		hs_label_parse(&settings, cut.bytes, len, whole.len, &packet);
		if (packet.flags & HS_PACKET_SHORT)
			assert_false(packet.flags & HS_PACKET_TELEMETRY);
		else
			assert_memory_equal(&packet, &full, sizeof(packet));
		hs_label_parse(&settings, cut.bytes, len, len, &packet);
		assert_false(packet.flags & HS_PACKET_TELEMETRY);
		frame_free(&cut);
	}
	frame_free(&whole);
}

static void every_cut_is_parsed_within_its_bytes(void **state)
{
	(void)state;
	each(is_cut);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test_teardown(nodes_write_what_the_other_encoder_wrote,
					vectors_show_case),
			cmocka_unit_test_teardown(
					stripping_restores_what_the_host_sent, vectors_show_case),
			cmocka_unit_test_teardown(
					the_last_node_exports_what_the_other_encoder_wrote,
					vectors_show_case),
			cmocka_unit_test_teardown(
					every_cut_is_parsed_within_its_bytes, vectors_show_case),
	};
	return cmocka_run_group_tests(tests, vectors_load, vectors_unload);
}

// SPDX-License-Identifier: BSD-3-Clause
// tests/golden/int/vectors.json against lib/telemetry/int, byte for byte both ways. HS_GOLDEN is
// its path.
#include "int_json.h"
#include "vectors.h"

#include <stdlib.h>
#include <string.h>

static void each(void (*check)(const json_t *object))
{
	vectors_each(vectors, check);
}

static void becomes(const struct frame *frame, const json_t *object, const char *key)
{
	struct frame should = int_json_frame(object, key);
	frame_assert_equal(frame, &should);
	int_assert_sums(frame);
	frame_free(&should);
}

static void writes(const json_t *object)
{
	struct hs_int_settings settings = int_json_settings(json_object_get(object, "settings"));
	struct hs_int_request request = int_json_request(json_object_get(object, "request"));
	const json_t *own = json_object_get(object, "own");
	struct hs_int_values values = int_json_values(own);
	struct frame frame = int_json_frame(object, "plain");
	size_t i;
	json_t *hop;

	int_assert_sums(&frame);
	assert_true(int_source(&settings, &request, &frame, json_is_object(own) ? &values : NULL) >
			0);
	becomes(&frame, object, "source");
	json_array_foreach (json_object_get(object, "hops"), i, hop) {
		values = int_json_values(json_object_get(hop, "values"));
		assert_true(int_transit(&settings, &frame, &values) > 0);
		becomes(&frame, hop, "frame");
	}
	frame_free(&frame);
}

static void source_and_transit_write_what_the_other_encoder_wrote(void **state)
{
	(void)state;
	each(writes);
}

// The flow that a rule sees is that of the packet before.
static void is_same_flow(const struct hs_packet *is, const struct hs_packet *was)
{
	const uint16_t flow = HS_PACKET_FLOW | HS_PACKET_IPV4 | HS_PACKET_IPV6;
	assert_int_equal(is->flags & flow, was->flags & flow);
	assert_int_equal(is->src_port, was->src_port);
	assert_int_equal(is->dst_port, was->dst_port);
	assert_int_equal(is->l4_proto, was->l4_proto);
	assert_int_equal(hs_packet_counted_bytes(is), hs_packet_counted_bytes(was));
}

static void strips_to_plain(const json_t *object, const json_t *from, const char *key)
{
	struct hs_int_settings settings = int_json_settings(json_object_get(object, "settings"));
	struct frame plain = int_json_frame(object, "plain");
	struct frame frame = int_json_frame(from, key);
	struct hs_packet is, was;

	int_parse(&settings, &plain, &was);
	assert_int_equal(was.flags & HS_PACKET_ANY_TELEMETRY, 0);
	int_parse(&settings, &frame, &is);
	assert_int_equal(is.telemetry_bytes, frame.len - plain.len);
	if (!settings.gre_adds_tunnel)
		is_same_flow(&is, &was);
	bool discard = json_integer_value(json_object_get(json_object_get(object, "request"), "d"));
	assert_int_equal(hs_int_is_discarded(&settings, frame.bytes, &is), discard);
	int_strip(&settings, &frame);
	frame_assert_equal(&frame, &plain);
	frame_free(&plain);
	frame_free(&frame);
}

static void restores(const json_t *object)
{
	size_t i;
	json_t *hop;
	strips_to_plain(object, object, "source");
	json_array_foreach (json_object_get(object, "hops"), i, hop)
		strips_to_plain(object, hop, "frame");
}

static void stripping_restores_what_the_host_sent(void **state)
{
	(void)state;
	each(restores);
}

static void tells(const json_t *object)
{
	struct hs_int_settings settings = int_json_settings(json_object_get(object, "settings"));
	struct hs_int_request request = int_json_request(json_object_get(object, "request"));
	json_t *hops = json_object_get(object, "hops"), *own = json_object_get(object, "own");
	size_t n = json_array_size(hops), all = n + json_is_object(own);
	struct frame frame = int_json_frame(
			n ? json_array_get(hops, n - 1) : object, n ? "frame" : "source");
	struct hs_packet packet;
	struct hs_int_stack stack;

	settings.domain_id = 0xabcd;
	settings.ds_source_words[0] = request.source_words;
	int_parse(&settings, &frame, &packet);
	bool is_mx = settings.mode == HS_INT_MX;
	size_t bytes = hs_int_stack_bytes(settings.version, &packet);
	assert_int_equal(hs_int_stack_open(&settings, hs_int_type_of(&packet),
					 frame.bytes + packet.trace_off, bytes, &stack),
			0);
	assert_int_equal(stack.bitmap, request.bitmap);
	assert_int_equal(stack.domain_id, request.domain_id);
	assert_int_equal(stack.ds_instruction, request.ds_instruction);
	assert_int_equal(stack.ds_flags, request.ds_flags);
	assert_int_equal(stack.replication, request.replication);
	assert_int_equal(stack.n_hops, all);
	if (all || is_mx) {
		assert_int_equal(stack.source_words, request.source_words);
		assert_memory_equal(stack.source, request.source, 4u * stack.source_words);
	}
	for (size_t i = 0; i < all; i++) {
		const json_t *from =
				i < n ? json_object_get(json_array_get(hops, n - 1 - i), "values")
				      : own;
		struct hs_int_values asked = int_json_values(from), is;
		struct hs_int_values should =
				int_json_read_back(&asked, settings.version, request.bitmap);
		assert_int_equal(hs_int_stack_hop(&stack, i, &is), 0);
		is.has &= ~(uint32_t)HS_INT_HAS_COMPLEMENT;
		is.checksum_complement = 0;
		assert_memory_equal(&is, &should, sizeof(is));
	}
	frame_free(&frame);
}

static void decoding_tells_what_was_encoded(void **state)
{
	(void)state;
	each(tells);
}

// As a first segment it says SHORT, or tells the same as the whole.
static void is_cut(const json_t *object)
{
	struct hs_int_settings settings = int_json_settings(json_object_get(object, "settings"));
	struct frame whole = int_json_frame(object, "source");
	struct hs_packet full, packet;

	int_parse(&settings, &whole, &full);
	for (size_t len = 0; len < whole.len; len++) {
		struct frame cut = frame_of(whole.bytes, len);
		hs_int_parse(&settings, cut.bytes, len, whole.len, &packet);
		if (packet.flags & HS_PACKET_SHORT)
			assert_false(packet.flags & (HS_PACKET_FLOW | HS_PACKET_TELEMETRY));
		else
			assert_memory_equal(&packet, &full, sizeof(packet));
		hs_int_parse(&settings, cut.bytes, len, len, &packet);
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
			cmocka_unit_test_teardown(
					source_and_transit_write_what_the_other_encoder_wrote,
					vectors_show_case),
			cmocka_unit_test_teardown(
					stripping_restores_what_the_host_sent, vectors_show_case),
			cmocka_unit_test_teardown(
					decoding_tells_what_was_encoded, vectors_show_case),
			cmocka_unit_test_teardown(
					every_cut_is_parsed_within_its_bytes, vectors_show_case),
	};
	return cmocka_run_group_tests(tests, vectors_load, vectors_unload);
}

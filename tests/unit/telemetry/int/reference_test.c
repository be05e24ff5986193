// SPDX-License-Identifier: BSD-3-Clause
// tests/golden/int/reference.json, the examples of the specifications: decoded, restored and
// written again. HS_GOLDEN is its path.
#include "int_json.h"

#include <string.h>

static json_t *vectors;

// TCP of the examples, which are told without IP.
static const char tcp_frame[] = "020000000002020000000001"
				"0800"
				"4500002800010000400663cd"
				"0a0001010a000202"
				"9c400016000003e8000007d050182000"
				"d0bb0000";

// Ethernet, and IPv4 and UDP without checksum where the bytes are those behind a UDP port.
static struct frame wrapped(const json_t *object, const char *key)
{
	static const char ether[] = "0200000000020200000000010800";
	struct frame bytes = int_json_frame(object, key);
	uint16_t port = (uint16_t)json_integer_value(json_object_get(object, "wrap"));
	struct frame front = frame_from_hex(ether);
	if (!port)
		return frame_join(front, bytes);
	struct frame ip = frame_from_hex("4500000000010000401100000a0001010a000202"
					 "c351000000000000");
	size_t udp = 8 + bytes.len, all = 20 + udp;
	uint32_t sum = 0;
	ip.bytes[2] = (uint8_t)(all >> 8);
	ip.bytes[3] = (uint8_t)all;
	ip.bytes[22] = (uint8_t)(port >> 8);
	ip.bytes[23] = (uint8_t)port;
	ip.bytes[24] = (uint8_t)(udp >> 8);
	ip.bytes[25] = (uint8_t)udp;
	for (size_t i = 0; i < 20; i += 2)
		sum += (uint32_t)(ip.bytes[i] << 8 | ip.bytes[i + 1]);
	sum = ~((sum & 0xffff) + (sum >> 16));
	ip.bytes[10] = (uint8_t)(sum >> 8);
	ip.bytes[11] = (uint8_t)sum;
	return frame_join(frame_join(front, ip), bytes);
}

struct example {
	const json_t *object, *hops;
	size_t n_hops;
	bool is_part; // a header without a packet around it
	struct hs_int_settings settings;
	struct hs_int_request request;
};

static struct example example_of(const json_t *object)
{
	struct example it = {.object = object,
			.hops = json_object_get(object, "hops"),
			.is_part = json_object_get(object, "part"),
			.settings = int_json_settings(json_object_get(object, "settings")),
			.request = int_json_request(json_object_get(object, "request"))};
	it.n_hops = json_array_size(it.hops);
	it.settings.domain_id = it.request.domain_id;
	it.settings.ds_source_words[0] = it.request.source_words;
	return it;
}

static void each(void (*check)(const struct example *it))
{
	size_t i;
	json_t *object;
	assert_int_equal(json_array_size(vectors), 17);
	json_array_foreach (vectors, i, object) {
		struct example it = example_of(object);
		print_message("%s\n", json_string_value(json_object_get(object, "name")));
		check(&it);
	}
}

static void assert_stack(const struct example *it, const uint8_t *head, size_t len)
{
	struct hs_int_stack stack;
	enum hs_int_type type = it->settings.mode == HS_INT_MX ? HS_INT_TYPE_MX : HS_INT_TYPE_MD;

	assert_int_equal(hs_int_stack_open(&it->settings, type, head, len, &stack), 0);
	assert_int_equal(stack.n_hops, it->n_hops);
	assert_int_equal(stack.bitmap, it->request.bitmap);
	assert_int_equal(stack.ds_flags, it->request.ds_flags);
	assert_int_equal(stack.source_words, it->request.source_words);
	assert_memory_equal(stack.source, it->request.source, 4u * stack.source_words);
	for (size_t i = 0; i < it->n_hops; i++) {
		struct hs_int_values should = int_json_values(json_array_get(it->hops, i)), is;
		assert_int_equal(hs_int_stack_hop(&stack, i, &is), 0);
		is.has &= ~(uint32_t)HS_INT_HAS_COMPLEMENT;
		is.checksum_complement = 0;
		assert_memory_equal(&is, &should, sizeof(is));
	}
}

static void is_decoded(const struct example *it)
{
	struct hs_packet packet;
	if (it->is_part) {
		struct frame bytes = int_json_frame(it->object, "bytes");
		const char *part = json_string_value(json_object_get(it->object, "part"));
		size_t at = strcmp(part, "shim") ? 0 : 4;
		assert_stack(it, bytes.bytes + at, bytes.len - at);
		frame_free(&bytes);
		return;
	}
	struct frame frame = wrapped(it->object, "bytes");
	int_assert_sums(&frame);
	int_parse(&it->settings, &frame, &packet);
	assert_true(packet.flags & HS_PACKET_TELEMETRY);
	size_t head = it->settings.version == HS_INT_2_1 ? 12 : 8;
	assert_stack(it, frame.bytes + packet.trace_off, head + 4 * (packet.trace_type & 0xff));
	frame_free(&frame);
}

static void what_the_examples_say_is_decoded(void **state)
{
	(void)state;
	each(is_decoded);
}

// Adds hops from the oldest on; the source's own are the first.
static void add_hops(const struct example *it, struct frame *frame, bool source)
{
	size_t left = it->n_hops;
	struct hs_int_values values = {0};
	if (source) {
		if (left)
			values = int_json_values(json_array_get(it->hops, --left));
		assert_true(int_source(&it->settings, &it->request, frame, &values) > 0);
	}
	while (left) {
		values = int_json_values(json_array_get(it->hops, --left));
		assert_true(int_transit(&it->settings, frame, &values) > 0);
	}
}

static void part_is_written(const struct example *it)
{
	struct frame should = int_json_frame(it->object, "bytes");
	struct frame frame = frame_from_hex(tcp_frame);
	const char *part = json_string_value(json_object_get(it->object, "part"));
	struct hs_packet packet;

	add_hops(it, &frame, true);
	int_assert_sums(&frame);
	int_parse(&it->settings, &frame, &packet);
	size_t at = strcmp(part, "shim") ? packet.trace_off : packet.e2e_off;
	assert_memory_equal(frame.bytes + at, should.bytes, should.len);
	frame_free(&should);
	frame_free(&frame);
}

static void is_written(const struct example *it)
{
	if (it->is_part) {
		part_is_written(it);
		return;
	}
	struct frame should = wrapped(it->object, "bytes");
	bool has_start = json_object_get(it->object, "start");
	struct frame frame = wrapped(it->object, has_start ? "start" : "bytes");
	if (!has_start) {
		int_strip(&it->settings, &frame);
		int_assert_sums(&frame);
	}
	add_hops(it, &frame, !has_start);
	if (json_object_get(it->object, "entropy")) // any hash of the flow
		memcpy(frame.bytes + 34, should.bytes + 34, 2);
	frame_assert_equal(&frame, &should);
	frame_free(&frame);
	frame_free(&should);
}

static void the_examples_are_written_again(void **state)
{
	(void)state;
	each(is_written);
}

static void a_second_hop_writes_the_complement_of_the_example(void **state)
{
	(void)state;
	const size_t before = 13, after = 14;
	struct example it = example_of(json_array_get(vectors, before));
	struct frame frame = wrapped(it.object, "bytes");
	struct frame should = wrapped(json_array_get(vectors, after), "bytes");
	struct hs_int_values values = int_json_values(
			json_array_get(json_object_get(json_array_get(vectors, after), "hops"), 0));

	assert_true(int_transit(&it.settings, &frame, &values) > 0);
	frame_assert_equal(&frame, &should);
	frame_free(&frame);
	frame_free(&should);
}

static void a_fourth_hop_of_three_sets_the_bit_for_it(void **state)
{
	(void)state;
	struct example it = example_of(json_array_get(vectors, 0));
	struct frame frame = wrapped(it.object, "bytes");
	struct hs_int_values values = {0};
	struct hs_packet packet;

	int_parse(&it.settings, &frame, &packet);
	uint8_t *head = frame.bytes + packet.trace_off;
	head[2] = 3;
	assert_int_equal(int_transit(&it.settings, &frame, &values), HS_INT_HOP_LIMIT);
	assert_true(hs_int_transit_refuse(&it.settings, frame.bytes, &packet, HS_INT_HOP_LIMIT));
	assert_memory_equal(head, ((uint8_t[]){0x04, 0x02, 0x03, 0x03}), 4);
	frame_free(&frame);
}

static int load(void **state)
{
	(void)state;
	vectors = int_json_load(HS_GOLDEN);
	return vectors ? 0 : -1;
}

static int unload(void **state)
{
	(void)state;
	json_decref(vectors);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(what_the_examples_say_is_decoded),
			cmocka_unit_test(the_examples_are_written_again),
			cmocka_unit_test(a_second_hop_writes_the_complement_of_the_example),
			cmocka_unit_test(a_fourth_hop_of_three_sets_the_bit_for_it),
	};
	return cmocka_run_group_tests(tests, load, unload);
}

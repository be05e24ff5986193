// SPDX-License-Identifier: BSD-3-Clause
// tests/golden/label/vectors.json through nodes: a source writes the first frame of each vector, a
// node in transit the next ones, and a sink what the host sent and the datagram. The items are the
// nodes' own; everything else is compared byte for byte with the other encoder's.
#include "label_stand.h"

#include <jansson.h>

#define ROOM 9600

static json_t *vectors;

struct bytes {
	uint8_t at[ROOM];
	size_t len;
};

static struct bytes hex(const json_t *object, const char *key)
{
	struct bytes bytes;

	bytes.len = unhex(json_string_value(json_object_get(object, key)), bytes.at);
	return bytes;
}

static struct hs_label_settings settings_of(const json_t *object)
{
	return (struct hs_label_settings){.ip_protocol = (uint8_t)json_integer_value(
							  json_object_get(object, "ip_protocol")),
			.max_hops = (uint8_t)json_integer_value(
					json_object_get(object, "max_hops"))};
}

static uint64_t be(const uint8_t *at, unsigned n)
{
	uint64_t value = 0;

	while (n--)
		value = value << 8 | *at++;
	return value;
}

// The item of a node without an egress queue, where the clock stands still.
static void assert_own_item(const uint8_t *item, int64_t now_ns)
{
	const uint64_t now_us = (uint64_t)(now_ns / 1000) & 0xffffffffffff;

	assert_int_equal(item[0], NODE_ID & 0xff);
	assert_int_equal(item[3], NODE_ID >> 8);
	assert_int_equal(item[1], 11 + IN);
	assert_int_equal(item[2], 11 + OUT);
	assert_int_equal(be(item + 4, 6), now_us);
	assert_int_equal(be(item + 10, 6), now_us);
	assert_int_equal(be(item + 16, 4), now_us & 0xffffffff);
	for (unsigned i = 20; i < HS_LABEL_ITEM_BYTES; i++)
		assert_int_equal(item[i], 0);
}

// The frame is the vector's but for its newest item, which is the node's.
static void assert_labelled(const struct bytes *is, const struct bytes *should,
		const struct hs_label_settings *wire)
{
	struct bytes masked = *should;
	struct hs_packet packet;

	assert_int_equal(is->len, should->len);
	hs_label_parse(wire, should->at, should->len, should->len, &packet);
	size_t at = (size_t)(hs_label_stack_of(wire, should->at, &packet).items - should->at);
	assert_own_item(is->at + at, NOW);
	memcpy(masked.at + at, is->at + at, HS_LABEL_ITEM_BYTES);
	assert_memory_equal(is->at, masked.at, masked.len);
}

// A host's packets with this rule are those of a specific flow, whatever they are.
static void ask_for_all(struct stand *s, const struct bytes *plain)
{
	struct hs_rule rule = vector_rule(7);
	struct hs_packet packet;

	hs_packet_parse(plain->at, plain->len, plain->len, NULL, &packet);
	rule.method = HS_RULE_LABEL;
	rule.trace_type = HS_RULE_TRACE_LABEL;
	rule.protocol = packet.l4_proto;
	rule.dst_port = 0;
	memset(rule.src_ip, 0, 32);
	const uint8_t *ip = plain->at + packet.l3_off;
	if (packet.flags & HS_PACKET_IPV4) {
		hs_ip_address_map(ip + 12, rule.src_ip);
		hs_ip_address_map(ip + 16, rule.dst_ip);
	} else {
		memcpy(rule.src_ip, ip + 8, 16);
		memcpy(rule.dst_ip, ip + 24, 16);
	}
	test_node_rule(&s->t, &rule);
}

// Only a packet with a flow can be one of a specific flow.
static bool begins_here(const json_t *object, const struct bytes *plain)
{
	struct hs_packet packet;

	hs_packet_parse(plain->at, plain->len, plain->len, NULL, &packet);
	return !json_is_true(json_object_get(object, "specific")) || packet.flags & HS_PACKET_FLOW;
}

static bool is_after_host(size_t hop)
{
	return hop == 0;
}

static void adds(const json_t *object)
{
	struct hs_label_settings wire = settings_of(object);
	struct bytes before = hex(object, "plain"), out;
	bool specific = json_is_true(json_object_get(object, "specific"));
	json_t *hop;
	size_t i;

	json_array_foreach (json_object_get(object, "hops"), i, hop) {
		struct bytes should = hex(hop, "frame");
		if (is_after_host(i) && !begins_here(object, &before)) {
			before = should;
			continue;
		}
		struct stand *s = stand_open(is_after_host(i) ? SOURCE : TRANSIT, wire, 50 * MS, 0);
		if (is_after_host(i) && specific)
			ask_for_all(s, &before);
		out.len = through(s, before.at, before.len, out.at);
		assert_labelled(&out, &should, &wire);
		assert_int_equal(labels_of(s), 1);
		stand_close(s);
		before = should;
	}
}

static void each(void (*check)(const json_t *object))
{
	json_t *object;
	size_t i;

	assert_true(json_array_size(vectors) > 60);
	json_array_foreach (vectors, i, object)
		check(object);
}

static void nodes_add_items_as_the_other_encoder(void **state)
{
	(void)state;
	each(adds);
}

// The datagram is the vector's but for the item of the port to the host, which is its first.
static void assert_told(const uint8_t *told, size_t len, const struct bytes *should)
{
	struct bytes masked = *should;
	size_t head = should->len % HS_LABEL_ITEM_BYTES == 16 ? 16 : 40;

	masked.at[head - 3]++; // the number of items
	assert_int_equal(len, should->len + HS_LABEL_ITEM_BYTES);
	assert_memory_equal(told, masked.at, head);
	assert_own_item(told + head, NOW);
	assert_memory_equal(
			told + head + HS_LABEL_ITEM_BYTES, should->at + head, should->len - head);
}

static void ends(const json_t *object)
{
	struct bytes plain = hex(object, "plain"), datagram = hex(object, "export"), out;
	const json_t *hops = json_object_get(object, "hops");
	struct bytes last = hex(json_array_get(hops, json_array_size(hops) - 1), "frame");
	struct stand *s;

	stand_mtu = 9000;
	s = stand_open(SINK, settings_of(object), 50 * MS, 0);
	out.len = through(s, last.at, last.len, out.at);
	assert_int_equal(out.len, plain.len);
	assert_memory_equal(out.at, plain.at, plain.len);
	out.len = test_node_take(&s->t, MONITOR, out.at, ROOM);
	assert_int_equal(be(out.at + 36, 2), 32767);
	assert_told(out.at + FRONT, out.len - FRONT, &datagram);
	assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_STRIPPED), 1);
	assert_int_equal(labels_of(s), 1);
	stand_close(s);
}

static void a_sink_restores_packets_and_exports_their_items(void **state)
{
	(void)state;
	each(ends);
}

static void each_packet_of_a_burst_has_the_ports_item_of_its_time(void **state)
{
	(void)state;
	struct bytes plain = {.len = unhex(UDP4, plain.at)}, out;
	struct stand *s = stand_open(SOURCE, usual(), 0, 0);

	for (unsigned round = 0; round < 2; round++, advance(s, 3 * MS)) {
		for (unsigned i = 0; i < HS_BURST; i++)
			test_node_feed(&s->t, IN, plain.at, plain.len, 0);
		test_node_run(&s->t);
		for (unsigned i = 0; i < HS_BURST; i++) {
			out.len = test_node_take(&s->t, OUT, out.at, ROOM);
			assert_int_equal(out.len, plain.len + 2 + HS_LABEL_ITEM_BYTES);
			assert_own_item(out.at + 14 + 20 + 2, s->now_ns);
		}
	}
	stand_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(nodes_add_items_as_the_other_encoder),
			cmocka_unit_test(a_sink_restores_packets_and_exports_their_items),
			cmocka_unit_test(each_packet_of_a_burst_has_the_ports_item_of_its_time),
	};

	dpdk_env_init("128");
	vectors = json_load_file(HS_GOLDEN, 0, NULL);
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	json_decref(vectors);
	return failed;
}

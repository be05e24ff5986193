// SPDX-License-Identifier: BSD-3-Clause
// Ports to hosts label, too: hosts get what other hosts sent, and the port's item is in the
// datagram with those that the packet brought.
#include "label_stand.h"

#include "rule.h"

#define ROOM	 9600
#define FIRST	 34 // bytes of a first item in IPv4
#define UDP_LEN	 50 // of UDP4
#define OPTION	 34 // where it is in UDP4
#define KEY_PORT 8  // in a datagram over IPv4
#define N_ITEMS	 13
#define FLAGS	 14
#define ITEMS	 16
#define SPECIFIC 0x80
#define EVER	 INT64_C(3600000000000)

static uint8_t frame[ROOM], plain[ROOM], out[ROOM], told[ROOM];
static size_t len, plain_len;

static void use(const char *hex)
{
	len = plain_len = unhex(hex, frame);
	memcpy(plain, frame, len);
}

// As a node in the network does. `specific`: of a first item.
static void add_item(const struct hs_label_settings *wire, uint16_t node, bool specific)
{
	const struct hs_label_item item = {.node_id = node};
	struct hs_packet packet;

	hs_label_parse(wire, frame, len, len, &packet);
	int growth = hs_label_growth(wire, frame, &packet);
	assert_true(growth > 0);
	memmove(frame + growth, frame, len);
	hs_label_item_write(&item, hs_label_insert(wire, frame, &packet, (size_t)growth, specific));
	len += (size_t)growth;
}

static void use_with_items(unsigned n)
{
	const struct hs_label_settings wire = usual();

	use(UDP4);
	for (unsigned i = 0; i < n; i++)
		add_item(&wire, (uint16_t)(20 + i), false);
}

// Takes the frame to the host, who gets it as it was. Returns the bytes of the datagram.
static size_t delivered(struct stand *s)
{
	size_t n = through(s, frame, len, out);

	assert_int_equal(n, plain_len);
	assert_memory_equal(out, plain, n);
	n = test_node_take(&s->t, MONITOR, told, ROOM);
	assert_int_equal(test_node_take(&s->t, MONITOR, out, ROOM), 0);
	memmove(told, told + FRONT, ROOM - FRONT);
	return n ? n - FRONT : 0;
}

// The datagram has n items, the first of them the port's own.
static void assert_told(size_t bytes, unsigned n, uint8_t flags, unsigned egress)
{
	static const uint8_t key[] = {10, 0, 1, 1, 10, 0, 2, 2, 1000 >> 8, 1000 & 0xff, 2000 >> 8,
			2000 & 0xff, 17};

	assert_int_equal(bytes, ITEMS + n * HS_LABEL_ITEM_BYTES);
	assert_memory_equal(told, key, sizeof(key));
	assert_int_equal(told[N_ITEMS], n);
	assert_int_equal(told[FLAGS], flags);
	assert_int_equal(told[ITEMS], NODE_ID & 0xff);
	assert_int_equal(told[ITEMS + 3], NODE_ID >> 8);
	assert_int_equal(told[ITEMS + 1], 11 + IN);
	assert_int_equal(told[ITEMS + 2], 11 + egress);
}

static void a_host_port_labels_after_the_interval_and_the_host_sees_nothing(void **state)
{
	(void)state;
	for (unsigned general = 0; general < 2; general++) {
		if (general)
			setenv("HS_GENERAL_PATH", "1", 1);
		struct stand *s = stand_open(SINK, usual(), 50 * MS, 50 * MS);
		unsetenv("HS_GENERAL_PATH");
		use(UDP4);
		assert_told(delivered(s), 1, 0, OUT);
		assert_int_equal(delivered(s), 0);
		advance(s, 50 * MS);
		assert_int_equal(delivered(s), 0);
		advance(s, 1);
		assert_told(delivered(s), 1, 0, OUT);
		hs_label_port_set_shift(hs_node_label(s->t.node, OUT), 3);
		advance(s, 50 * MS / 8 + 1);
		assert_told(delivered(s), 1, 0, OUT);
		assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_LABELLED_INTERVAL), 3);
		assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_STRIPPED), 0);
		stand_close(s);
	}
}

static void the_ports_item_stands_before_those_that_the_packet_brought(void **state)
{
	(void)state;
	struct stand *s = stand_open(SINK, usual(), 50 * MS, 50 * MS);

	use_with_items(2);
	assert_told(delivered(s), 3, 0, OUT);
	assert_memory_equal(told + ITEMS + HS_LABEL_ITEM_BYTES, frame + OPTION + 2,
			2 * HS_LABEL_ITEM_BYTES);
	assert_int_equal(delivered(s), ITEMS + 2 * HS_LABEL_ITEM_BYTES); // the port is not due
	assert_memory_equal(told + ITEMS, frame + OPTION + 2, 2 * HS_LABEL_ITEM_BYTES);
	assert_int_equal(test_node_event(&s->t, IN, HS_EVENT_STRIPPED), 2);
	assert_int_equal(labels_of(s), 1);
	stand_close(s);
}

static void what_the_packet_brought_decides_on_chance(void **state)
{
	(void)state;
	struct stand *s = stand_open(SINK, usual(), 50 * MS, 10 * MS); // F1: always

	use(UDP4);
	assert_told(delivered(s), 1, 0, OUT);
	use_with_items(1);
	advance(s, 10 * MS);
	assert_int_equal(delivered(s), ITEMS + HS_LABEL_ITEM_BYTES); // rests
	advance(s, 1);
	assert_told(delivered(s), 2, 0, OUT);
	use(UDP4);
	advance(s, 20 * MS);
	assert_int_equal(delivered(s), 0); // f(0) is 0
	use_with_items(HS_LABEL_MAX_HOPS); // which no packet in the network exceeds
	assert_told(delivered(s), HS_LABEL_MAX_HOPS + 1, 0, OUT);
	assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_LABELLED_INTERVAL), 1);
	assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_LABELLED_CHANCE), 2);
	stand_close(s);
}

static void a_burst_has_one_label_and_each_item_its_own_datagram(void **state)
{
	(void)state;
	struct stand *s = stand_open(SINK, usual(), 50 * MS, 50 * MS);
	size_t bytes[4];

	for (unsigned i = 0; i < 4; i++) {
		use_with_items(i % 2);
		test_node_feed(&s->t, IN, frame, len, 0);
	}
	test_node_run(&s->t);
	for (unsigned i = 0; i < 4; i++) {
		assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), UDP_LEN);
		assert_memory_equal(out, plain, UDP_LEN);
		bytes[i] = test_node_take(&s->t, MONITOR, told, ROOM);
	}
	assert_int_equal(bytes[0], FRONT + ITEMS + HS_LABEL_ITEM_BYTES); // the port's
	assert_int_equal(bytes[1], FRONT + ITEMS + HS_LABEL_ITEM_BYTES); // the second packet's
	assert_int_equal(bytes[2], FRONT + ITEMS + HS_LABEL_ITEM_BYTES); // the fourth packet's
	assert_int_equal(bytes[3], 0);
	assert_int_equal(labels_of(s), 1);
	stand_close(s);
}

static struct hs_rule flow_rule(void)
{
	struct hs_rule rule = vector_rule(7);

	rule.method = HS_RULE_LABEL;
	rule.trace_type = HS_RULE_TRACE_LABEL;
	rule.dst_port = 2000;
	rule.mode_setting = 2;
	unhex("00000000000000000000ffff0a000101", rule.src_ip);
	unhex("00000000000000000000ffff0a000202", rule.dst_ip);
	return rule;
}

static void a_specific_flow_has_the_item_of_the_last_port(void **state)
{
	(void)state;
	const struct hs_label_settings wire = usual();
	struct stand *s = stand_open(SINK, usual(), EVER, EVER);

	use(UDP4);
	assert_told(delivered(s), 1, 0, OUT);
	add_item(&wire, 20, true);
	add_item(&wire, 21, false);
	assert_told(delivered(s), 3, SPECIFIC, OUT);
	assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_LABELLED_FLOW), 1);
	stand_close(s);
}

static void a_path_of_one_node_has_specific_flows_too(void **state)
{
	(void)state;
	struct hs_flow_counters counters;
	struct hs_rule rule = flow_rule();
	struct stand *s = stand_open(LOCAL, usual(), EVER, EVER);

	test_node_rule(&s->t, &rule);
	use(UDP4);
	for (unsigned i = 0; i < 4; i++)
		if (i % 2)
			assert_int_equal(delivered(s), 0);
		else
			assert_told(delivered(s), 1, SPECIFIC, OUT);
	test_node_counters(&s->t, 7, &counters);
	assert_int_equal(counters.int_packets, 2);
	assert_int_equal(counters.hop_entries, 0);
	stand_close(s);
}

static void a_rule_that_is_off_has_no_items_of_the_last_port(void **state)
{
	(void)state;
	struct hs_rule rule = flow_rule();
	struct stand *s = stand_open(SINK, usual(), 0, 0);

	rule.hop_enabled = false;
	test_node_rule(&s->t, &rule);
	use_with_items(1);
	assert_int_equal(delivered(s), ITEMS + HS_LABEL_ITEM_BYTES);
	assert_int_equal(labels_of(s), 0);
	stand_close(s);
}

static void items_of_a_packet_that_the_queue_refuses_are_told_alone(void **state)
{
	(void)state;
	struct hs_label_item item;

	stand_rate_bps = 8000000; // a byte in a microsecond
	stand_queue = 1;	  // and one is being sent
	struct stand *s = stand_open(SINK, usual(), 0, 0);
	use_with_items(1);
	for (unsigned i = 0; i < 4; i++)
		test_node_feed(&s->t, IN, frame, len, 0);
	test_node_run(&s->t);
	assert_int_equal(test_node_drops(&s->t, OUT, HS_DROP_QUEUE_FULL), 2);
	assert_int_equal(labels_of(s), 2);
	for (unsigned i = 0; i < 4; i++) {
		unsigned n = i < 2 ? 2 : 1;
		assert_int_equal(test_node_take(&s->t, MONITOR, told, ROOM),
				FRONT + ITEMS + n * HS_LABEL_ITEM_BYTES);
		hs_label_item_read(told + FRONT + ITEMS, &item);
		assert_int_equal(item.node_id, i < 2 ? NODE_ID : 20);
		assert_int_equal(item.enqueue_packets, i == 1);
		assert_int_equal(item.queue_us, i < 2 ? (i + 1) * UDP_LEN : 0);
	}
	advance(s, MS);
	test_node_run(&s->t);
	for (unsigned i = 0; i < 2; i++)
		assert_int_equal(test_node_take(&s->t, OUT, out, ROOM), UDP_LEN);
	stand_close(s);
}

// Nothing else is known of it than its addresses.
static void any_ip_packet_can_be_told_of(void **state)
{
	(void)state;
	struct stand *s = stand_open(SINK, usual(), 0, 0);

	use(UDP4);
	plain[12] = frame[12] = 0x88; // another EtherType
	assert_int_equal(delivered(s), 0);
	assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_UNLABELLED_CARRIER), 1);
	use(UDP4);
	plain[21] = frame[21] = 3; // a later fragment
	assert_int_equal(delivered(s), ITEMS + HS_LABEL_ITEM_BYTES);
	assert_int_equal(told[KEY_PORT] | told[KEY_PORT + 1], 0);
	assert_int_equal(told[12], 17);
	use(UDP4);
	plain[23] = frame[23] = 47; // GRE
	assert_int_equal(delivered(s), ITEMS + HS_LABEL_ITEM_BYTES);
	assert_int_equal(told[12], 47);
	assert_int_equal(labels_of(s), 2);
	stand_close(s);
}

static void a_datagram_has_no_more_items_than_its_byte_says(void **state)
{
	(void)state;
	const struct hs_label_settings wire = {HS_LABEL_IP_PROTOCOL, 255};

	stand_mtu = 9500;
	struct stand *s = stand_open(SINK, wire, 0, 0);
	use(UDP4);
	for (unsigned i = 0; i < 254; i++)
		add_item(&wire, 20, false);
	assert_told(delivered(s), 255, 0, OUT);
	add_item(&wire, 20, false);
	assert_int_equal(delivered(s), ITEMS + 255 * HS_LABEL_ITEM_BYTES);
	assert_int_equal(told[ITEMS], 20);
	assert_int_equal(test_node_event(&s->t, OUT, HS_EVENT_UNLABELLED_FULL), 1);
	assert_int_equal(labels_of(s), 1);
	stand_close(s);
}

static void a_port_without_a_receiver_or_with_its_own_datagrams_does_not_label(void **state)
{
	(void)state;
	struct stand *s = stand_open(SINK, usual(), 50 * MS, 0);
	struct hs_node_config config = *hs_node_config(s->t.node);
	struct test_node node;

	assert_non_null(hs_node_label(s->t.node, IN));
	assert_non_null(hs_node_label(s->t.node, OUT));
	assert_null(hs_node_label(s->t.node, MONITOR));
	config.exports[0].format = HS_INT_REPORT_2_0;
	test_node_open(&node, &config, SINK, N_PORTS, 1500, s->pool, s->clock);
	assert_non_null(hs_node_label(node.node, IN));
	assert_null(hs_node_label(node.node, OUT));
	test_node_close(&node);
	stand_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_host_port_labels_after_the_interval_and_the_host_sees_nothing),
			cmocka_unit_test(
					the_ports_item_stands_before_those_that_the_packet_brought),
			cmocka_unit_test(what_the_packet_brought_decides_on_chance),
			cmocka_unit_test(a_burst_has_one_label_and_each_item_its_own_datagram),
			cmocka_unit_test(a_specific_flow_has_the_item_of_the_last_port),
			cmocka_unit_test(a_path_of_one_node_has_specific_flows_too),
			cmocka_unit_test(a_rule_that_is_off_has_no_items_of_the_last_port),
			cmocka_unit_test(items_of_a_packet_that_the_queue_refuses_are_told_alone),
			cmocka_unit_test(any_ip_packet_can_be_told_of),
			cmocka_unit_test(a_datagram_has_no_more_items_than_its_byte_says),
			cmocka_unit_test(
					a_port_without_a_receiver_or_with_its_own_datagrams_does_not_label),
	};

	dpdk_env_init("128");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

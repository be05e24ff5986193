// SPDX-License-Identifier: BSD-3-Clause
// IPv4 packets at a node: rules, pairs of ports, a bridge. Rules come by the table itself, because
// no method of the API measures IPv4.
#include "fixture.h"
#include "ip_address.h"

// 192.0.2.1 to 198.51.100.2, UDP 0x1234 to 5001, four bytes.
#define TO_2  "020000000002020000000001"
#define UDP   "12341389000c5e94cafe0102"
#define ENDS  "c0000201c6336402"
#define FRAME TO_2 "0800450000200001000040110000" ENDS UDP

static const uint8_t here[] = {192, 0, 2, 1}, there[] = {198, 51, 100, 2};

static struct hs_rule ipv4_rule(uint32_t ns_id, uint8_t protocol, uint16_t sport, uint16_t dport)
{
	struct hs_rule rule = vector_rule(ns_id);

	hs_ip_address_map(here, rule.src_ip);
	hs_ip_address_map(there, rule.dst_ip);
	rule.protocol = protocol;
	rule.src_port = sport;
	rule.dst_port = dport;
	rule.mode = HS_MODE_COUNT;
	rule.mode_setting = UINT32_MAX;
	return rule;
}

static struct fixture *with_rules(void)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	const struct hs_rule rules[] = {
			ipv4_rule(1, IPPROTO_UDP, 0x1234, 5001),
			ipv4_rule(2, IPPROTO_UDP, 0, 5001),
			ipv4_rule(3, IPPROTO_TCP, 0, 0),
			ipv4_rule(4, IPPROTO_ICMPV6, 0, 0),
	};

	for (size_t i = 0; i < RTE_DIM(rules); i++)
		test_node_rule(&f->t, &rules[i]);
	return f;
}

// The rule that counts a frame, which passes unchanged; 0 if there is none.
static uint32_t rule_of(struct fixture *f, const char *hex, uint32_t bytes)
{
	struct hs_flow_counters before[4];
	uint32_t found = 0;

	for (uint32_t n = 0; n < 4; n++)
		before[n] = counters(f, n + 1);
	feed_hex(f, 0, hex);
	test_node_run(&f->t);
	expect_hex(f, 1, hex);
	for (uint32_t n = 0; n < 4; n++) {
		struct hs_flow_counters now = counters(f, n + 1);
		if (now.rx_packets == before[n].rx_packets)
			continue;
		assert_int_equal(found, 0);
		found = n + 1;
		assert_int_equal(now.rx_bytes - before[n].rx_bytes, bytes);
		assert_int_equal(now.tx_bytes - before[n].tx_bytes, bytes);
	}
	return found;
}

#define TAG "81000005"

static void a_packet_matches_the_rule_of_its_five_tuple(void **state)
{
	static const struct {
		const char *hex;
		uint32_t rule, bytes;
	} rows[] = {
			{TO_2 "0800450000200001000040110000" ENDS UDP, 1, 46},
			{TO_2 TAG "0800450000200001000040110000" ENDS UDP, 1, 46},
			{TO_2 "0800450000200001000040110000" ENDS UDP "000000000000", 1, 46},
			{TO_2 "08004600002400010000401100009404000000" ENDS UDP, 0, 0},
			{TO_2 "0800460000240001000040110000" ENDS "94040000" UDP, 1, 50},
			{TO_2 "0800450000200001000040110000" ENDS "12351389000c5e94cafe0102", 2,
					46},
			{TO_2 "0800450000200001000040110000" ENDS "1234138a000c5e94cafe0102", 0, 0},
			{TO_2 "0800450000200001000040060000" ENDS UDP, 3, 46},
			{TO_2 "0800450000200001000040010000" ENDS UDP, 4, 46},
			{TO_2 "08004500002000010000403a0000" ENDS UDP, 0, 0}, // ICMPv6 over IPv4
			{TO_2 "0800450000200001000040110000c6336402c0000201" UDP, 0, 0},
			{TO_2 "0800450000200001200040110000" ENDS UDP, 1, 46}, // the first fragment
			{TO_2 "0800450000200001200140110000" ENDS UDP, 0, 0},  // a later one
			{TO_2 "0800450000200001400040110000" ENDS UDP, 1, 46}, // must not be cut
			{TO_2 "0800450000210001000040110000" ENDS UDP, 0,
					0}, // longer than its frame
	};
	(void)state;
	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		struct fixture *f = with_rules();
		uint32_t rule = rule_of(f, rows[i].hex, rows[i].bytes);
		if (rule != rows[i].rule)
			print_error("row %zu\n", i);
		assert_int_equal(rule, rows[i].rule);
		fixture_close(f);
	}
}

// ::ffff:192.0.2.1 is an address of IPv6, although rules keep 192.0.2.1 in this form.
static void an_ipv6_packet_with_mapped_addresses_is_no_ipv4_packet(void **state)
{
	struct fixture *f = with_rules();
	(void)state;
	assert_int_equal(rule_of(f,
					 TO_2
					 "86dd60000000000c114000000000000000000000ffffc000020100"
					 "000000000000000000ffffc6336402" UDP,
					 66),
			0);
	assert_int_equal(rule_of(f, FRAME, 46), 1); // also in a burst with others
	feed_hex(f, 0, PLAIN);
	feed_hex(f, 0, FRAME);
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	expect_hex(f, 1, FRAME);
	expect_hex(f, 1, PLAIN);
	assert_int_equal(counters(f, 1).rx_packets, 2);
	fixture_close(f);
}

// Flexible INT has no place in IPv4: the packets of a rule are counted, and no room is missed.
static void a_due_packet_of_ipv4_goes_on_without_telemetry(void **state)
{
	static const uint8_t modes[] = {HS_MODE_COUNT, HS_MODE_FREQUENCY, HS_MODE_PROBABILITY};
	(void)state;
	for (size_t mode = 0; mode < RTE_DIM(modes); mode++) {
		struct fixture *f = fixture_open(
				SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
		struct hs_rule rule = ipv4_rule(1, IPPROTO_UDP, 0, 0);
		rule.mode = modes[mode];
		rule.mode_setting = modes[mode] == HS_MODE_PROBABILITY ? 100 : 1;
		test_node_rule(&f->t, &rule);
		for (unsigned n = 0; n < 3; n++) {
			feed_hex(f, 0, FRAME);
			test_node_run(&f->t);
			expect_hex(f, 1, FRAME);
		}
		struct hs_flow_counters c = counters(f, 1);
		assert_int_equal(c.rx_packets, 3);
		assert_int_equal(c.int_packets, 0);
		assert_int_equal(c.no_room_option + c.no_room_mtu + c.no_room_headroom, 0);
		fixture_close(f);
	}
}

static void a_bridge_floods_and_learns_ipv4(void **state)
{
	struct fixture *f = fixture_open(BRIDGE_SIDES, 4, 1500,
			(struct hs_node_config){.id = 1, .forwarding = HS_FORWARD_BRIDGE});
	struct hs_rule rule = ipv4_rule(1, IPPROTO_UDP, 0, 0);
	static const char back[] = "020000000001020000000002"
				   "0800450000200001000040110000"
				   "c6336402c0000201" UDP;
	(void)state;
	test_node_rule(&f->t, &rule);
	feed_hex(f, 0, FRAME);
	test_node_run(&f->t);
	for (unsigned port = 1; port < 4; port++)
		expect_hex(f, port, FRAME);
	feed_hex(f, 2, back);
	test_node_run(&f->t);
	expect_hex(f, 0, back);
	feed_hex(f, 0, FRAME);
	test_node_run(&f->t);
	expect_hex(f, 2, FRAME);
	assert_int_equal(counters(f, 1).rx_packets, 2);
	assert_int_equal(counters(f, 1).tx_packets, 2);
	fixture_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_packet_matches_the_rule_of_its_five_tuple),
			cmocka_unit_test(an_ipv6_packet_with_mapped_addresses_is_no_ipv4_packet),
			cmocka_unit_test(a_due_packet_of_ipv4_goes_on_without_telemetry),
			cmocka_unit_test(a_bridge_floods_and_learns_ipv4),
	};
	dpdk_env_init("256");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
// Ports of several families, and packets of which one family reads more than another: headers that
// are split over segments, and tunnels.
#include "bytes.h"
#include "fixture.h"
#include "flexint_steps.h"
#include "int.h"
#include "int_steps.h"
#include "ip_header.h"

#define MAC  "020000000003"
#define HOST MAC "020000000009"
// 10.0.0.1:1000 to 10.0.0.2:5001, TCP with an MSS of 1460 and 32 bytes, made by scapy.
#define TCP_ACK                                                                                    \
	HOST "0800"                                                                                \
	     "4500004c00004000400626aa0a0000010a000002"                                            \
	     "03e813890000000000000000601000006c850000020405b4"                                    \
	     "0000000000000000000000000000000000000000000000000000000000000000"
#define TCP_SYN                                                                                    \
	HOST "0800"                                                                                \
	     "4500004c00004000400626aa0a0000010a000002"                                            \
	     "03e813890000000000000000600200006c930000020405b4"                                    \
	     "0000000000000000000000000000000000000000000000000000000000000000"

static void set_macs(struct fixture *f, unsigned n)
{
	static const uint8_t mac[] = {2, 0, 0, 0, 0, 3};

	for (unsigned p = 0; p < n; p++)
		memcpy(f->t.ports[p].port.mac, mac, sizeof(mac));
}

// Routes 10.0.0.0/8 to a port.
static void route_to(struct fixture *f, uint16_t port)
{
	const struct hs_fib_change change = {
			.route = {.prefix = {[10] = 0xff, 0xff, 10}, .depth = 104, .port = port}};

	assert_int_equal(hs_fib_change(hs_node_fib(f->t.node), &change, 1, NULL), 0);
}

static void feed_split(struct fixture *f, unsigned port, const char *hex, size_t first)
{
	uint8_t bytes[256];
	size_t len = unhex(hex, bytes);

	test_node_feed(&f->t, port, bytes, len, first);
}

static unsigned count_sent(struct fixture *f, unsigned port)
{
	uint8_t bytes[2048];
	unsigned n = 0;

	while (test_node_take(&f->t, port, bytes, sizeof(bytes)))
		n++;
	return n;
}

// INT of a host in a GRE tunnel of IPv6 that the source added (G), around IPv4, made by scapy.
#define IN_GRE_OF(version_and_d)                                                                   \
	HOST "86dd"                                                                                \
	     "60000000003c2f4020010db800010000000000000000000220010db8000200000000000000000008"    \
	     "000088b5"                                                                            \
	     "18040800" version_and_d "0001078000000000000000"                                     \
	     "00000009"
#define IN_GRE	IN_GRE_OF("20")
#define IN_IPV4 "4500002400010000401166c60a0000010a00000200010002001026037171717171717171"

// What the guard strips may become IPv4. It is routed, whatever else is in its burst.
static void ipv4_that_was_in_a_tunnel_of_ipv6_is_routed(void **state)
{
	struct hs_node_config config = {.id = 7, .forwarding = HS_FORWARD_ROUTE};
	struct hs_int_settings settings;

	(void)state;
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_GRE);
	settings.gre_adds_tunnel = true;
	config.profiles[1] = (struct hs_profile){
			.family = &hs_int_steps[HS_INT_2_1], .settings = &settings};
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, config);
	set_macs(f, 2);
	route_to(f, 1);
	for (unsigned alone = 0; alone < 2; alone++) {
		feed_split(f, 0, IN_GRE IN_IPV4, 0);
		if (!alone)
			feed_split(f, 0, TCP_ACK, 0);
		test_node_run(&f->t);
		assert_int_equal(count_sent(f, 1), 2 - alone);
	}
	assert_int_equal(drops(f, 0, HS_DROP_NOT_IPV6), 0);
	assert_int_equal(event(f, 0, HS_EVENT_HOST_TELEMETRY_STRIPPED), 2);
	fixture_close(f);
}

// D in the INT header says that the packet ends at the sink, also if a bridge floods it there.
static void a_packet_that_ends_at_the_sink_is_not_flooded(void **state)
{
	static const enum hs_port_side sides[] = {HS_SIDE_NETWORK, HS_SIDE_HOST, HS_SIDE_HOST};
	struct hs_node_config config = {.id = 7, .forwarding = HS_FORWARD_BRIDGE};
	struct hs_int_settings settings;

	(void)state;
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_GRE);
	config.profiles[0] = (struct hs_profile){
			.family = &hs_int_steps[HS_INT_2_1], .settings = &settings};
	struct fixture *f = fixture_open(sides, 3, 1500, config);
	feed_split(f, 0, IN_GRE IN_IPV4, 0);
	test_node_run(&f->t);
	assert_int_equal(count_sent(f, 1) + count_sent(f, 2), 2);
	feed_split(f, 0, IN_GRE_OF("28") IN_IPV4, 0);
	test_node_run(&f->t);
	assert_int_equal(count_sent(f, 1) + count_sent(f, 2), 0);
	assert_int_equal(drops(f, 0, HS_DROP_DISCARDED), 1);
	fixture_close(f);
}

// A port whose family reads TCP gets a packet whose TCP header is split, also by flooding.
static void a_flooded_packet_is_joined_for_each_family(void **state)
{
	static const enum hs_port_side sides[] = {HS_SIDE_HOST, HS_SIDE_NETWORK, HS_SIDE_NETWORK};
	struct hs_node_config config = {.id = 7, .forwarding = HS_FORWARD_BRIDGE};
	struct hs_int_settings settings;

	(void)state;
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	settings.mark = HS_INT_MARK_UDP_PORT;
	settings.udp_port = 5555;
	config.profiles[1] = (struct hs_profile){.family = &hs_flexint_steps, .max_hops = 8};
	config.profiles[2] = (struct hs_profile){
			.family = &hs_int_steps[HS_INT_2_1], .settings = &settings};
	struct fixture *f = fixture_open(sides, 3, 1500, config);
	for (size_t first = 0; first < 90; first += 11) {
		if (first && first < 22) // within Ethernet and IPv4
			continue;
		feed_split(f, 0, TCP_ACK, first);
		test_node_run(&f->t);
		expect_hex(f, 1, TCP_ACK);
		expect_hex(f, 2, TCP_ACK);
	}
	assert_int_equal(drops(f, 0, HS_DROP_UNREADABLE), 0);
	fixture_close(f);
}

// The MSS of a SYN is lowered, also if the TCP header is split over segments.
static void a_split_syn_is_clamped(void **state)
{
	struct fixture *f = fixture_open(
			SOURCE_SIDES, 2, 1300, (struct hs_node_config){.id = 7, .mss_clamp = true});
	struct rte_mbuf *held[256];
	uint8_t whole[128], got[128];
	unsigned n = 0, clamped = 0;

	(void)state;
	feed_split(f, 0, TCP_SYN, 0);
	test_node_run(&f->t);
	assert_int_equal(test_node_take(&f->t, 1, whole, sizeof(whole)), 90);
	assert_int_equal(event(f, 0, HS_EVENT_MSS_CLAMPED), ++clamped);
	assert_true(hs_be16_load(whole + 56) < 1460);
	for (size_t first = 35; first < 60; first++) {
		feed_split(f, 0, TCP_SYN, first);
		test_node_run(&f->t);
		assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), 90);
		assert_memory_equal(got, whole, 90);
		assert_int_equal(event(f, 0, HS_EVENT_MSS_CLAMPED), ++clamped);
		feed_split(f, 0, TCP_ACK, first);
		test_node_run(&f->t);
		expect_hex(f, 1, TCP_ACK);
	}
	assert_int_equal(event(f, 0, HS_EVENT_MSS_NOT_CLAMPED), 0);
	// Without a buffer, a SYN whose options are split stays as it is.
	feed_split(f, 0, TCP_SYN, 55);
	feed_split(f, 0, TCP_ACK, 55);
	while ((held[n] = rte_pktmbuf_alloc(f->pool)))
		n++;
	test_node_run(&f->t);
	expect_hex(f, 1, TCP_SYN);
	expect_hex(f, 1, TCP_ACK);
	assert_int_equal(event(f, 0, HS_EVENT_MSS_NOT_CLAMPED), 1);
	rte_pktmbuf_free_bulk(held, n);
	fixture_close(f);
}

// In mode `count`, the first packet of a rule is due until a packet leaves by a port of its method.
static void a_due_packet_waits_for_a_port_of_its_method(void **state)
{
	static const enum hs_port_side sides[] = {HS_SIDE_HOST, HS_SIDE_NETWORK, HS_SIDE_NETWORK};
	struct hs_node_config config = {.id = 7, .forwarding = HS_FORWARD_ROUTE};
	struct hs_int_settings settings;
	struct hs_rule rule = vector_rule(5);
	uint8_t bytes[256];

	(void)state;
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	config.profiles[1] = (struct hs_profile){.family = &hs_flexint_steps, .max_hops = 8};
	config.profiles[2] = (struct hs_profile){
			.family = &hs_int_steps[HS_INT_2_1], .settings = &settings};
	struct fixture *f = fixture_open(sides, 3, 1500, config);
	set_macs(f, 3);
	rule.method = HS_RULE_INT;
	rule.trace_type = HS_RULE_TRACE_INT | HS_RULE_TRACE_BITMAP | 0x8000;
	rule.protocol = 6;
	rule.mode_setting = 1000;
	hs_ip_address_map((uint8_t[]){10, 0, 0, 1}, rule.src_ip);
	hs_ip_address_map((uint8_t[]){10, 0, 0, 2}, rule.dst_ip);
	rule.src_port = 1000;
	rule.dst_port = 5001;
	test_node_rule(&f->t, &rule);
	route_to(f, 1);
	for (unsigned i = 0; i < 3; i++)
		feed_split(f, 0, TCP_ACK, 0);
	test_node_run(&f->t);
	assert_int_equal(count_sent(f, 1), 3);
	route_to(f, 2);
	for (unsigned i = 0; i < 2; i++) {
		feed_split(f, 0, TCP_ACK, 0);
		test_node_run(&f->t);
		size_t len = test_node_take(&f->t, 2, bytes, sizeof(bytes));
		assert_int_equal(len > 90, i == 0);
	}
	fixture_close(f);
}

int main(void)
{
	dpdk_env_init("128");
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(ipv4_that_was_in_a_tunnel_of_ipv6_is_routed),
			cmocka_unit_test(a_packet_that_ends_at_the_sink_is_not_flooded),
			cmocka_unit_test(a_flooded_packet_is_joined_for_each_family),
			cmocka_unit_test(a_split_syn_is_clamped),
			cmocka_unit_test(a_due_packet_waits_for_a_port_of_its_method),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"

#define FROM_A_TO_B "02000000000b02000000000a"
#define FROM_B_TO_A "02000000000a02000000000b"
#define REST                                                                                       \
	"86dd600000000010114020010db800000000000000000000000120010db80000000000000000"             \
	"000000021234138900105e94494e544441544121"

static void a_bridge_floods_the_unknown_and_learns(void **state)
{
	struct fixture *f = fixture_open(BRIDGE_SIDES, 4, 1500,
			(struct hs_node_config){.id = 1, .forwarding = HS_FORWARD_BRIDGE});
	uint8_t got[256];
	(void)state;
	feed_hex(f, 0, FROM_A_TO_B REST);
	test_node_run(&f->t);
	for (unsigned p = 1; p < 4; p++)
		expect_hex(f, p, FROM_A_TO_B REST);
	assert_int_equal(event(f, 0, HS_EVENT_FLOODED), 1);
	feed_hex(f, 2, FROM_B_TO_A REST);
	test_node_run(&f->t);
	feed_hex(f, 0, FROM_A_TO_B REST);
	test_node_run(&f->t);
	expect_hex(f, 0, FROM_B_TO_A REST);
	expect_hex(f, 2, FROM_A_TO_B REST);
	assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), 0);
	assert_int_equal(test_node_take(&f->t, 3, got, sizeof(got)), 0);
	fixture_close(f);
}

static void a_bridge_forgets_what_has_not_spoken(void **state)
{
	struct fixture *f = fixture_open(BRIDGE_SIDES, 4, 1500,
			(struct hs_node_config){
					.id = 1, .forwarding = HS_FORWARD_BRIDGE, .mac_age_s = 10});
	(void)state;
	feed_hex(f, 2, FROM_B_TO_A REST);
	test_node_run(&f->t);
	hs_clock_set(f->clock, NOW + INT64_C(12000000000));
	feed_hex(f, 0, FROM_A_TO_B REST);
	test_node_run(&f->t);
	assert_int_equal(event(f, 0, HS_EVENT_FLOODED), 1);
	fixture_close(f);
}

static void a_bridge_drops_what_is_already_where_it_belongs(void **state)
{
	struct fixture *f = fixture_open(BRIDGE_SIDES, 4, 1500,
			(struct hs_node_config){.id = 1, .forwarding = HS_FORWARD_BRIDGE});
	(void)state;
	feed_hex(f, 0, FROM_B_TO_A REST);
	test_node_run(&f->t);
	feed_hex(f, 0, FROM_A_TO_B REST);
	test_node_run(&f->t);
	assert_int_equal(drops(f, 0, HS_DROP_SAME_PORT), 1);
	fixture_close(f);
}

static void a_flooded_packet_counts_once_and_carries_no_telemetry(void **state)
{
	struct fixture *f = fixture_open(BRIDGE_SIDES, 4, 1500,
			(struct hs_node_config){.id = 1, .forwarding = HS_FORWARD_BRIDGE});
	struct hs_rule rule = vector_rule(7);
	(void)state;
	test_node_rule(&f->t, &rule);
	feed_hex(f, 0, PLAIN);
	feed_hex(f, 2, WITH_TELEMETRY);
	test_node_run(&f->t);
	for (unsigned p = 1; p < 4; p++)
		expect_hex(f, p, PLAIN);
	assert_int_equal(counters(f, 7).rx_packets, 2);
	assert_int_equal(counters(f, 7).tx_packets, 2);
	expect_hex(f, 1, PLAIN);
	expect_hex(f, 3, PLAIN);
	fixture_close(f);
}

// The queue of one port has room for the first packets alone.
static void a_flooded_packet_counts_as_sent_whichever_port_refuses_it(void **state)
{
	(void)state;
	for (unsigned full = 1; full < 4; full++) {
		memset(test_port_configs, 0, sizeof(test_port_configs));
		test_port_configs[full].rate_bps = 1000000;
		test_port_configs[full].queue_packets = 1;
		struct fixture *f = fixture_open(BRIDGE_SIDES, 4, 1500,
				(struct hs_node_config){.id = 1, .forwarding = HS_FORWARD_BRIDGE});
		struct hs_rule rule = vector_rule(7);
		test_node_rule(&f->t, &rule);
		for (int i = 0; i < 10; i++) {
			feed_hex(f, 0, PLAIN);
			test_node_run(&f->t);
		}
		assert_int_not_equal(drops(f, full, HS_DROP_QUEUE_FULL), 0);
		assert_int_equal(counters(f, 7).rx_packets, 10);
		assert_int_equal(counters(f, 7).tx_packets, 10);
		fixture_close(f);
	}
	memset(test_port_configs, 0, sizeof(test_port_configs));
}

static void a_refused_packet_of_a_two_port_bridge_is_not_counted_as_sent(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500,
			(struct hs_node_config){.id = 1, .forwarding = HS_FORWARD_BRIDGE});
	struct hs_rule rule = vector_rule(7);
	(void)state;
	test_node_rule(&f->t, &rule);
	f->t.ports[1].accepts = 0;
	feed_hex(f, 0, PLAIN); // floods to the only other port
	test_node_run(&f->t);
	assert_int_equal(drops(f, 1, HS_DROP_TX_FULL), 1);
	assert_int_equal(counters(f, 7).rx_packets, 1);
	assert_int_equal(counters(f, 7).tx_packets, 0);
	fixture_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_bridge_floods_the_unknown_and_learns),
			cmocka_unit_test(a_bridge_forgets_what_has_not_spoken),
			cmocka_unit_test(a_bridge_drops_what_is_already_where_it_belongs),
			cmocka_unit_test(a_flooded_packet_counts_once_and_carries_no_telemetry),
			cmocka_unit_test(a_flooded_packet_counts_as_sent_whichever_port_refuses_it),
			cmocka_unit_test(
					a_refused_packet_of_a_two_port_bridge_is_not_counted_as_sent),
	};
	dpdk_env_init("256");
	return cmocka_run_group_tests_name("bridge", tests, NULL, NULL);
}

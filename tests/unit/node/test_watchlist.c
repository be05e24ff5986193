// SPDX-License-Identifier: BSD-3-Clause
// Rules for sets of flows at a node: packets of both IP versions count under the most specific one.
#include "fixture.h"
#include "ip_address.h"

#define RULES 5

// 10.1.2.3 to 192.0.2.1, UDP 0x1234 to 5001, four bytes; the second byte of the header is `tos`.
#define IPV4(tos, source)                                                                          \
	"020000000002020000000001080045" tos "00200001000040110000" source "c0000201"              \
	"12341389000c5e94cafe0102"
// 2001:db8::1 to ::2; `class` is two digits and the flow label's first.
#define IPV6(class, protocol)                                                                      \
	"02000000000202000000000186dd6" class "0000000c" protocol                                  \
					      "4020010db800000000000000000000000120010db800000000" \
					      "0000000000000002"                                   \
					      "12341389000c5e94cafe0102"
#define ICMP6 "3a"
#define UDP   "11"

static struct hs_rule watch(uint32_t ns_id, const char *src, const char *dst, int dscp)
{
	struct hs_rule rule = vector_rule(ns_id);
	struct hs_error err = {0};

	rule.method = HS_RULE_INT;
	rule.trace_type = HS_RULE_TRACE_INT | HS_RULE_ASKS_node_id;
	rule.protocol = HS_RULE_ANY_PROTOCOL;
	rule.dst_port = 0;
	rule.dscp = dscp < 0 ? 0 : (uint8_t)(HS_RULE_OF_DSCP | dscp);
	assert_null(hs_ip_prefix_read(src, rule.src_ip, &rule.src_host_bits));
	assert_null(hs_ip_prefix_read(dst, rule.dst_ip, &rule.dst_host_bits));
	assert_int_equal(hs_rule_check(&rule, &err), 0);
	return rule;
}

static struct fixture *with_rules(void)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	const struct hs_rule rules[RULES] = {
			watch(1, "10.0.0.0/8", "0.0.0.0/0", -1),
			watch(2, "10.0.0.0/8", "0.0.0.0/0", 46),
			watch(3, "10.1.2.0/24", "192.0.2.0/24", 10),
			watch(4, "2001:db8::/32", "::/0", -1),
			watch(5, "2001:db8::/32", "::/0", 46),
	};

	for (size_t i = 0; i < RULES; i++)
		test_node_rule(&f->t, &rules[i]);
	return f;
}

static const struct {
	const char *hex;
	uint32_t rule;
} rows[] = {
		{IPV4("00", "0a010203"), 1},
		{IPV4("b8", "0a010203"), 2},
		{IPV4("bb", "0a010203"), 2}, // the lower two bits are not of the class
		{IPV4("28", "0a010203"), 3},
		{IPV4("28", "0a010303"), 1},
		{IPV4("b8", "0b010203"), 0},
		{IPV6("000", UDP), 4},
		{IPV6("b80", UDP), 5},
		{IPV6("bbf", UDP), 5},
		{IPV6("0b8", UDP), 4}, // a flow label
		{IPV6("b80", ICMP6), 5},
		{IPV6("280", ICMP6), 4},
};

static void expect_counts(struct fixture *f, const uint64_t packets[RULES + 1])
{
	for (uint32_t ns_id = 1; ns_id <= RULES; ns_id++) {
		assert_int_equal(counters(f, ns_id).rx_packets, packets[ns_id]);
		assert_int_equal(counters(f, ns_id).tx_packets, packets[ns_id]);
		assert_int_equal(counters(f, ns_id).int_packets, 0);
	}
}

static void a_packet_counts_under_the_most_specific_rule_and_passes_unchanged(void **state)
{
	struct fixture *f = with_rules();
	uint64_t packets[RULES + 1] = {0};
	(void)state;
	for (size_t i = 0; i < RTE_DIM(rows); i++) {
		feed_hex(f, 0, rows[i].hex);
		test_node_run(&f->t);
		expect_hex(f, 1, rows[i].hex);
		packets[rows[i].rule]++;
		expect_counts(f, packets);
	}
	fixture_close(f);
}

static void packets_of_one_burst_do_not_mix(void **state)
{
	struct fixture *f = with_rules();
	uint64_t packets[RULES + 1] = {0};
	(void)state;
	for (unsigned k = 0; k < 2 * RTE_DIM(rows); k++) {
		feed_hex(f, 0, rows[k * 5 % RTE_DIM(rows)].hex);
		packets[rows[k * 5 % RTE_DIM(rows)].rule]++;
	}
	test_node_run(&f->t);
	expect_counts(f, packets);
	for (unsigned k = 0; k < 2 * RTE_DIM(rows); k++)
		expect_hex(f, 1, rows[k * 5 % RTE_DIM(rows)].hex);
	fixture_close(f);
}

// The flow of the worked example has telemetry as before, whatever else is watched.
static void a_rule_of_flexint_has_priority_over_prefixes(void **state)
{
	struct fixture *f = with_rules();
	struct hs_rule rule = vector_rule(7);
	(void)state;
	test_node_rule(&f->t, &rule);
	feed_hex(f, 0, IPV6("b80", UDP));
	test_node_run(&f->t);
	assert_int_equal(counters(f, 7).rx_packets, 1);
	assert_int_equal(counters(f, 7).int_packets, 1);
	assert_int_equal(counters(f, 5).rx_packets, 0);
	fixture_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_packet_counts_under_the_most_specific_rule_and_passes_unchanged),
			cmocka_unit_test(packets_of_one_burst_do_not_mix),
			cmocka_unit_test(a_rule_of_flexint_has_priority_over_prefixes),
	};
	dpdk_env_init("256");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

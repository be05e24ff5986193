// SPDX-License-Identifier: BSD-3-Clause
// Telemetry of a rule in packets that another rule takes (docs/decisions/0003).
#include "fixture.h"
#include "take_reports.h"

// The rule of the vectors' flow alone: more specific than vector_rule.
static struct hs_rule exact_rule(uint32_t ns_id)
{
	struct hs_rule rule = vector_rule(ns_id);
	rule.src_port = 0x1234;
	return rule;
}

// The same packet from another source port, which exact_rule does not take.
#define OTHER_PORT                                                                                 \
	ETHERNET "600000000030004020010db800000000000000000000000120010db800000000000000000000000" \
		 "2"                                                                               \
		 "11033108000000077000e0001112700017979cfe362a0000000003e80007c060"                \
		 "1235138900105e93494e544441544121"

static struct fixture *open_with(const enum hs_port_side *sides)
{
	return fixture_open(sides, 2, 1500, (struct hs_node_config){.id = 5});
}

static void add(struct fixture *f, struct hs_rule rule)
{
	test_node_rule(&f->t, &rule);
}

static void a_transit_whose_rule_gets_no_packet_adds_an_entry_without_counts(void **state)
{
	struct fixture *f = open_with(TRANSIT_SIDES);
	struct hs_decoded telemetry;
	(void)state;
	add(f, vector_rule(7));
	add(f, exact_rule(8));
	for (unsigned i = 0; i < 2; i++) {
		feed_hex(f, 0, WITH_TELEMETRY);
		test_node_run(&f->t);
		take_telemetry(f, 1, &telemetry);
		assert_int_equal(telemetry.ns_id, 7);
		assert_int_equal(telemetry.n_hops, 1);
		assert_int_equal(telemetry.hops[0].node_id, 5);
		assert_int_equal(telemetry.hops[0].bitmap, HS_HOP_TIMESTAMP);
		assert_int_equal(telemetry.hops[0].ts_ns, NOW);
	}
	assert_int_equal(event(f, 0, HS_EVENT_SHADOWED_NAMESPACE), 2);
	assert_int_equal(event(f, 0, HS_EVENT_UNKNOWN_NAMESPACE), 0);
	assert_int_equal(counters(f, 7).shadowed_packets, 2);
	assert_int_equal(counters(f, 7).shadowed_by, 8);
	assert_int_equal(counters(f, 7).rx_packets, 0);
	assert_int_equal(counters(f, 8).rx_packets, 2);
	fixture_close(f);
}

static void a_transit_whose_rule_gets_some_packets_is_missing_in_the_others(void **state)
{
	struct fixture *f = open_with(TRANSIT_SIDES);
	struct hs_decoded telemetry;
	(void)state;
	add(f, vector_rule(7));
	add(f, exact_rule(8));
	for (unsigned i = 0; i < 3; i++) {
		feed_hex(f, 0, OTHER_PORT);
		test_node_run(&f->t);
		take_telemetry(f, 1, &telemetry);
		assert_int_equal(telemetry.hops[0].bitmap, HS_HOP_KNOWN);
		feed_hex(f, 0, WITH_TELEMETRY);
		test_node_run(&f->t);
		expect_hex(f, 1, WITH_TELEMETRY);
	}
	assert_int_equal(counters(f, 7).shadowed_packets, 3);
	fixture_close(f);
}

static void a_rule_that_waits_behind_an_older_one_is_shadowed_too(void **state)
{
	struct fixture *f = open_with(TRANSIT_SIDES);
	(void)state;
	add(f, vector_rule(8));
	add(f, vector_rule(7));
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	assert_int_equal(event(f, 0, HS_EVENT_SHADOWED_NAMESPACE), 1);
	assert_int_equal(counters(f, 7).shadowed_by, 8);
	fixture_close(f);
}

static void a_sink_counts_what_it_does_not_report(void **state)
{
	struct fixture *f = open_with(SINK_SIDES);
	struct hs_report_record record;
	(void)state;
	add(f, vector_rule(7));
	add(f, exact_rule(8));
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	assert_int_equal(take_reports(f->t.node, &record, 1), 0);
	assert_int_equal(event(f, 0, HS_EVENT_SHADOWED_NAMESPACE), 1);
	assert_int_equal(counters(f, 7).shadowed_packets, 1);
	assert_int_equal(counters(f, 7).shadowed_by, 8);
	fixture_close(f);
}

static void a_namespace_of_another_flow_is_told_from_an_unknown_one(void **state)
{
	struct fixture *f = open_with(TRANSIT_SIDES);
	struct hs_rule other = vector_rule(7);
	(void)state;
	other.dst_port = 80;
	add(f, other);
	feed_hex(f, 0, WITH_TELEMETRY); // no rule takes it
	test_node_run(&f->t);
	expect_hex(f, 1, WITH_TELEMETRY);
	add(f, exact_rule(8)); // this one does, and the two have no packet in common
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	expect_hex(f, 1, WITH_TELEMETRY);
	assert_int_equal(event(f, 0, HS_EVENT_OTHER_FLOW), 2);
	assert_int_equal(event(f, 0, HS_EVENT_SHADOWED_NAMESPACE), 0);
	assert_int_equal(event(f, 0, HS_EVENT_UNKNOWN_NAMESPACE), 0);
	assert_int_equal(counters(f, 7).shadowed_packets, 0);
	fixture_close(f);
}

static void a_slot_that_is_used_again_remembers_no_shadow(void **state)
{
	struct fixture *f = open_with(TRANSIT_SIDES);
	struct hs_flow_table *flows = hs_node_flows(f->t.node);
	(void)state;
	add(f, exact_rule(8));
	add(f, vector_rule(7));
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	assert_int_equal(hs_flow_table_shadowed_by(flows, hs_flow_table_find(flows, 7)), 8);
	assert_int_equal(hs_flow_table_remove(flows, 8, NULL), 0);
	assert_int_equal(hs_flow_table_shadowed_by(flows, hs_flow_table_find(flows, 7)), 0);
	assert_int_equal(hs_flow_table_remove(flows, 7, NULL), 0);
	for (uint32_t ns_id = 100; ns_id < 164; ns_id++) // every slot
		add(f, vector_rule(ns_id));
	for (uint32_t ns_id = 100; ns_id < 164; ns_id++)
		assert_int_equal(counters(f, ns_id).shadowed_packets, 0);
	fixture_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_transit_whose_rule_gets_no_packet_adds_an_entry_without_counts),
			cmocka_unit_test(
					a_transit_whose_rule_gets_some_packets_is_missing_in_the_others),
			cmocka_unit_test(a_rule_that_waits_behind_an_older_one_is_shadowed_too),
			cmocka_unit_test(a_sink_counts_what_it_does_not_report),
			cmocka_unit_test(a_namespace_of_another_flow_is_told_from_an_unknown_one),
			cmocka_unit_test(a_slot_that_is_used_again_remembers_no_shadow),
	};
	dpdk_env_init("256");
	return cmocka_run_group_tests_name("shadow", tests, NULL, NULL);
}

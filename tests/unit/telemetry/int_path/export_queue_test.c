// SPDX-License-Identifier: BSD-3-Clause
// Telemetry reports of a node whose queues are deep, and of what these drop.
#include "export_node.h"

#define US INT64_C(1000) // a byte's time at 8 Mbit/s

static void expect_queue_reports(struct test_node *node, unsigned first, unsigned n, size_t len)
{
	struct hs_int_report_reader reader;
	struct hs_int_report report;
	uint8_t got[2048];

	for (unsigned depth = first; depth < first + n; depth++) {
		assert_int_not_equal(receive(node, &report, got, &reader), 0);
		assert_true(report.congested && !report.dropped && report.tracked);
		assert_int_equal(report.queue_packets, depth);
		assert_int_equal(report.egress_port, 2);
		assert_int_equal(report.hop_latency_ns, (depth + 1) * (int64_t)len * US);
		assert_int_equal(report.egress_ns - report.ingress_ns, report.hop_latency_ns);
	}
}

// A source of INT-XD that sends by a port of 8 Mbit/s, whose queue has 10 places. 5 packets are
// deep.
static void open_slow(struct test_node *node, struct hs_int_settings *settings,
		struct hs_export_config *config, uint16_t instructions)
{
	config->queue_packets = 5;
	hs_int_settings_init(settings, HS_INT_2_1, HS_INT_TCP_UDP);
	settings->mode = HS_INT_XD;
	test_port_configs[OUT].rate_bps = 8000000;
	test_port_configs[OUT].queue_packets = 10;
	open_node(node, &SOURCE, settings, config, 1);
	ask(node, instructions);
}

static void send_what_waits(struct test_node *node)
{
	uint8_t got[2048];

	hs_clock_set(hs_test_clock, NOW + INT64_C(9000000000));
	test_node_run(node);
	while (test_node_take(node, OUT, got, sizeof(got)))
		;
	hs_clock_set(hs_test_clock, NOW);
	test_port_configs[OUT].rate_bps = 0;
	test_port_configs[OUT].queue_packets = 0;
}

static void a_deep_queue_and_what_it_drops_are_reported(void **state)
{
	struct hs_export_config config = to_collector(HS_INT_REPORT_2_0);
	struct hs_int_settings settings;
	struct hs_int_report_reader reader;
	struct hs_int_report report;
	struct test_node node;
	uint8_t frame[2048], got[2048];
	size_t len = unhex(PACKET, frame);
	(void)state;

	config.flows = false;
	config.drops = true;
	config.queue_quota = 2;
	open_slow(&node, &settings, &config, HS_RULE_ASKS_node_id);
	for (unsigned round = 0; round < 3; round++) {
		hs_clock_set(hs_test_clock, NOW + round * INT64_C(1000000000));
		test_node_run(&node); // sends what waited
		while (test_node_take(&node, OUT, got, sizeof(got)))
			;
		for (unsigned n = 0; n < 15; n++)
			test_node_feed(&node, IN, frame, len, 0);
		test_node_run(&node);
		expect_queue_reports(&node, 5, 2, len);
		for (unsigned n = 0; n < 4; n++) { // 11 have a place
			assert_int_not_equal(receive(&node, &report, got, &reader), 0);
			assert_int_equal(report.drop_reason, HS_INT_DROP_TRAFFIC_MANAGER);
			assert_int_equal(report.egress_port, 2);
		}
		assert_int_equal(receive(&node, &report, got, &reader), 0);
	}
	send_what_waits(&node);
	close_node(&node);
}

// Also a report of a flow says Q if it says how deep the queue is.
static void a_deep_queue_shows_in_reports_of_flows(void **state)
{
	struct hs_export_config config = to_collector(HS_INT_REPORT_2_0);
	struct hs_int_settings settings;
	struct hs_int_report_reader reader;
	struct hs_int_report report;
	struct test_node node;
	uint8_t frame[2048], got[2048];
	size_t len = unhex(PACKET, frame);
	(void)state;

	config.queue_quota = 0;
	open_slow(&node, &settings, &config, HS_RULE_ASKS_queue);
	for (unsigned n = 0; n < 8; n++)
		test_node_feed(&node, IN, frame, len, 0);
	test_node_run(&node);
	for (unsigned depth = 0; depth < 8; depth++) {
		assert_int_not_equal(receive(&node, &report, got, &reader), 0);
		assert_int_equal(report.queue_packets, depth);
		assert_int_equal(report.congested, depth >= 5);
	}
	assert_int_equal(receive(&node, &report, got, &reader), 0);
	send_what_waits(&node);
	close_node(&node);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_deep_queue_and_what_it_drops_are_reported),
			cmocka_unit_test(a_deep_queue_shows_in_reports_of_flows),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, begin, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
// Nodes of the family int in a row: a host's packet becomes an INT packet, gathers values, and
// leaves as the host sent it.
#include "int_format.h"
#include "path_row.h"
#include "take_reports.h"

static void a_packet_gathers_values_and_leaves_as_it_came(void **state)
{
	static const enum hs_int_version versions[] = {HS_INT_0_5, HS_INT_1_0, HS_INT_2_1};
	(void)state;

	for (unsigned v = 0; v < 3; v++) {
		struct hs_int_settings settings = settings_of(versions[v]);
		struct row *row = open_row(&settings, 1500);
		uint8_t plain[2048], frame[2048];
		size_t bytes = unhex(PACKET, plain), len = bytes;
		struct hs_report_record record;
		struct hs_report report;

		memcpy(frame, plain, bytes);
		ask(&row->nodes[0], HS_RULE_ASKS_node_id | HS_RULE_ASKS_ingress_timestamp);
		ask(&row->nodes[3], HS_RULE_ASKS_node_id);
		for (unsigned n = 0; n < 4; n++) {
			hs_clock_set(row->clock, NOW + 1000 * (n + 1));
			size_t before = len;
			len = through(&row->nodes[n], frame, len);
			assert_true(n == 3 ? len == bytes : len > before);
		}
		assert_memory_equal(frame, plain, bytes);
		assert_int_equal(take_reports(row->nodes[3].node, &record, 1), 1);
		const struct hs_telemetry_family *format =
				hs_node_format(row->nodes[3].node, &record);
		assert_ptr_equal(format, &hs_int_formats[versions[v]]);
		assert_int_equal(hs_report_decode(&record, format, &report), 0);
		assert_int_equal(report.sink_ts_ns, NOW + 4000);
		assert_int_equal(report.telemetry.e2e.ts_ns, NOW + 1000);
		assert_int_equal(report.telemetry.n_hops, 2);
		assert_int_equal(report.telemetry.hops[0].node_id, 3);
		assert_int_equal(report.telemetry.hops[0].ts_ns, NOW + 3000);
		assert_int_equal(report.telemetry.hops[1].node_id, 2);
		assert_int_equal(report.telemetry.hops[1].ts_ns, NOW + 2000);
		assert_int_equal(test_node_event(&row->nodes[3], 0, HS_EVENT_STRIPPED), 1);
		close_row(row);
	}
}

static void a_rule_of_another_method_makes_no_source(void **state)
{
	struct hs_int_settings settings = settings_of(HS_INT_2_1);
	struct row *row = open_row(&settings, 1500);
	uint8_t plain[2048], frame[2048];
	size_t bytes = unhex(PACKET, plain);
	(void)state;

	memcpy(frame, plain, bytes);
	install(&row->nodes[0], 0x7000E000);
	assert_int_equal(through(&row->nodes[0], frame, bytes), bytes);
	assert_memory_equal(frame, plain, bytes);
	close_row(row);
}

static void a_hosts_mark_is_taken_away_and_nothing_is_parsed(void **state)
{
	struct hs_int_settings settings = settings_of(HS_INT_2_1);
	struct row *row = open_row(&settings, 1500);
	uint8_t plain[2048], frame[2048];
	size_t bytes = unhex(PACKET, plain);
	(void)state;

	memcpy(frame, plain, bytes);
	frame[14] = 0x65; // DSCP 0x17
	frame[15] = 0xc0;
	assert_int_equal(through(&row->nodes[0], frame, bytes), bytes);
	assert_memory_equal(frame, plain, bytes);
	assert_int_equal(test_node_event(&row->nodes[0], 0, HS_EVENT_HOST_TELEMETRY_STRIPPED), 1);
	close_row(row);
}

static void a_malformed_claim_reaches_no_host(void **state)
{
	struct hs_int_settings settings = settings_of(HS_INT_2_1);
	struct row *row = open_row(&settings, 1500);
	uint8_t frame[2048];
	size_t bytes = unhex(PACKET, frame);
	struct hs_port_counters counters;
	(void)state;

	frame[14] = 0x65;
	frame[15] = 0xc0;
	test_node_feed(&row->nodes[3], 0, frame, bytes, 0);
	test_node_run(&row->nodes[3]);
	assert_int_equal(row->nodes[3].ports[1].n_out, 0);
	hs_node_port_counters(row->nodes[3].node, 0, &counters);
	assert_int_equal(counters.drops[HS_DROP_UNSTRIPPABLE], 1);
	assert_int_equal(counters.events[HS_EVENT_BAD_TELEMETRY], 1);
	close_row(row);
}

static void the_hop_limit_and_the_mtu_are_written_into_the_packet(void **state)
{
	struct hs_int_settings settings = settings_of(HS_INT_2_1);
	struct row *row;
	uint8_t frame[2048];
	size_t len, at = 14 + 40 + 8 + 4;
	(void)state;

	settings.max_hops = 2;
	row = open_row(&settings, 1500);
	ask(&row->nodes[0], HS_RULE_ASKS_node_id);
	len = through(&row->nodes[0], frame, unhex(PACKET, frame));
	len = through(&row->nodes[1], frame, len);
	assert_int_equal(frame[at] & 0x06, 0);
	assert_int_equal(through(&row->nodes[2], frame, len), len);
	assert_int_equal(frame[at] & 0x06, 0x04); // E
	assert_int_equal(test_node_event(&row->nodes[2], 0, HS_EVENT_HOPS_FULL), 1);
	close_row(row);

	settings.max_hops = 8;
	row = open_row(&settings, 1500);
	ask(&row->nodes[0], HS_RULE_ASKS_node_id);
	len = through(&row->nodes[0], frame, unhex(PACKET, frame));
	row->nodes[1].ports[1].port.mtu = (uint16_t)(len - 14 + 3);
	assert_int_equal(through(&row->nodes[1], frame, len), len);
	assert_int_equal(frame[at] & 0x06, 0x02); // M
	assert_int_equal(test_node_event(&row->nodes[1], 0, HS_EVENT_NO_ROOM_MTU), 1);
	close_row(row);
}

// The mark stands where the class was, but a rule's class is the host's, at every node.
static void a_rule_of_a_class_finds_its_packets_behind_the_mark(void **state)
{
	static const enum hs_int_version versions[] = {HS_INT_0_5, HS_INT_1_0, HS_INT_2_1};
	(void)state;

	for (unsigned v = 0; v < 3; v++) {
		struct hs_int_settings settings = settings_of(versions[v]);
		struct row *row = open_row(&settings, 1500);
		struct hs_rule rule = vector_rule(7);
		struct hs_report_record record;
		uint8_t frame[2048];
		size_t len = unhex(PACKET, frame);

		frame[14] = 0x6b; // DSCP 46
		frame[15] = 0x80;
		rule.method = HS_RULE_INT;
		rule.trace_type = HS_RULE_TRACE_INT | HS_RULE_ASKS_node_id;
		rule.dscp = HS_RULE_OF_DSCP | 46;
		for (unsigned n = 0; n < 4; n++) {
			test_node_rule(&row->nodes[n], &rule);
			len = through(&row->nodes[n], frame, len);
		}
		assert_int_equal(take_reports(row->nodes[3].node, &record, 1), 1);
		close_row(row);
	}
}

// The stack grows by one word at each hop, from one word to more than a record holds.
static void a_sink_reports_each_stack_that_a_record_holds(void **state)
{
	const size_t trace_off = 14 + 40 + 8 + 4;
	struct hs_int_settings settings = settings_of(HS_INT_2_1);
	uint8_t plain[2048], frame[2048], at_sink[2048];
	size_t bytes = unhex(PACKET, plain);
	struct hs_flow_counters counters;
	uint64_t n_reports = 0, n_lost = 0;
	(void)state;

	settings.max_hops = 80;
	struct row *row = open_row(&settings, 1500);
	ask(&row->nodes[0], HS_RULE_ASKS_node_id);
	ask(&row->nodes[3], HS_RULE_ASKS_node_id);
	memcpy(frame, plain, bytes);
	size_t len = through(&row->nodes[0], frame, bytes);
	for (size_t stack = 16; stack <= 320; stack += 4) {
		struct hs_report_record record;
		memcpy(at_sink, frame, len);
		assert_int_equal(through(&row->nodes[3], at_sink, len), bytes);
		assert_memory_equal(at_sink, plain, bytes);
		unsigned n = take_reports(row->nodes[3].node, &record, 1);
		assert_int_equal(n, stack <= HS_INT_MAX_RECORD);
		if (n) {
			assert_int_equal(record.trace_len, stack);
			assert_memory_equal(record.data, frame + trace_off, stack);
			assert_memory_equal(record.data + stack, &record.sink_ts_ns, 8);
		}
		n_reports++;
		n_lost += !n;
		len = through(&row->nodes[1], frame, len);
	}
	struct hs_flow_table *flows = hs_node_flows(row->nodes[3].node);
	hs_flow_table_counters(flows, hs_flow_table_find(flows, 7), &counters);
	assert_int_equal(counters.sink_packets, n_reports);
	assert_int_equal(counters.reports_made, n_reports);
	assert_int_equal(counters.reports_lost, n_lost);
	close_row(row);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_packet_gathers_values_and_leaves_as_it_came),
			cmocka_unit_test(a_rule_of_another_method_makes_no_source),
			cmocka_unit_test(a_hosts_mark_is_taken_away_and_nothing_is_parsed),
			cmocka_unit_test(a_malformed_claim_reaches_no_host),
			cmocka_unit_test(the_hop_limit_and_the_mtu_are_written_into_the_packet),
			cmocka_unit_test(a_rule_of_a_class_finds_its_packets_behind_the_mark),
			cmocka_unit_test(a_sink_reports_each_stack_that_a_record_holds),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

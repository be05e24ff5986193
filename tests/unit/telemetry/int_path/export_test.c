// SPDX-License-Identifier: BSD-3-Clause
// Telemetry reports of nodes of the family int: bytes of each format, sequence numbers without a
// gap, postcards, drops.
#include "export_node.h"

static struct hs_worker_counters counters_of(const struct test_node *node)
{
	struct hs_worker_counters counters;

	hs_node_worker_counters(node->node, 0, &counters);
	return counters;
}

// A frame that a source sent, with one hop.
static size_t measured(const struct hs_int_settings *settings, uint8_t *frame)
{
	struct test_node source;

	open_node(&source, &SOURCE, settings, NULL, 0);
	ask(&source, HS_RULE_ASKS_node_id | HS_RULE_ASKS_ingress_timestamp);
	size_t len = through(&source, frame, unhex(PACKET, frame));
	close_node(&source);
	return len;
}

// ---- bytes ----

// The layouts of the specifications, by hand: node 4, ports 1 and 2, receipt and sending at
// NOW + 4000, F.
static const char *const HEADS[] = {
		[HS_INT_REPORT_0_5] = "02200000"  // Ver 0, NProto 2, F
				      "00000000"  // sequence
				      "362a0fa0"  // ingress timestamp
				      "00000004"  // switch id
				      "00010002"  // ports
				      "ffffffff"  // no queue
				      "362a0fa0", // egress timestamp
		[HS_INT_REPORT_1_0] = "171a0040"  // Ver 1, Length 7, bits 0, 1, 3, F
				      "00000004"
				      "00000000"
				      "362a0fa0"
				      "00010002"
				      "00000000" // hop latency
				      "362a0fa0",
		[HS_INT_REPORT_2_0] = "20000000" // Ver 2, hw_id 0, sequence 0
				      "00000004"
				      "13210620" // RepType 1, InType 3, 33 words, 6 of values, F
				      "6c000000"
				      "00000000"
				      "00010002"
				      "00000000"
				      "17979cfe362a0fa0"
				      "17979cfe362a0fa0",
};

static void a_sink_reports_what_it_takes_out_in_each_format(void **state)
{
	static const char front[] = "020000000009"
				    "020000000003"
				    "0800";
	struct hs_int_settings settings;
	uint8_t frame[2048], host[2048], got[2048], head[64], ethernet[14];
	(void)state;

	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	for (unsigned format = 0; format < 3; format++) {
		struct hs_export_config config = to_collector(format);
		struct hs_int_report_reader reader;
		struct hs_int_report report;
		struct test_node sink;

		hs_clock_set(hs_test_clock, NOW);
		size_t len = measured(&settings, frame);
		hs_clock_set(hs_test_clock, NOW + 4000);
		open_node(&sink, &SINK, &settings, &config, 1);
		memcpy(host, frame, len);
		assert_int_equal(through(&sink, host, len), unhex(PACKET, got));
		size_t bytes = receive(&sink, &report, got, &reader);
		unhex(front, ethernet);
		assert_memory_equal(got, ethernet, 6);
		assert_memory_equal(got + 12, ethernet + 12, 2);
		size_t head_bytes = unhex(HEADS[format], head);
		assert_memory_equal(got + 42, head, head_bytes);
		assert_memory_equal(got + 42 + head_bytes, frame, len);
		assert_in_range(bytes, 42 + head_bytes + len, 42 + head_bytes + len + 3);
		assert_true(report.tracked && !report.dropped && !report.intermediate);
		assert_int_equal(report.ingress_port, 1);
		assert_int_equal(report.egress_port, 2);
		assert_int_equal((uint32_t)report.ingress_ns, (uint32_t)(NOW + 4000));
		assert_int_equal(test_node_take(&sink, MON, got, sizeof(got)), 0);
		assert_int_equal(counters_of(&sink).exports_sent, 1);
		close_node(&sink);
	}
}

static void a_report_has_no_more_of_a_packet_than_it_is_told(void **state)
{
	struct hs_export_config config = to_collector(HS_INT_REPORT_1_0);
	struct hs_int_settings settings;
	struct hs_int_report_reader reader;
	struct hs_int_report report;
	struct test_node sink;
	uint8_t frame[2048], got[2048];
	(void)state;

	config.bytes = 60;
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	size_t len = measured(&settings, frame);
	open_node(&sink, &SINK, &settings, &config, 1);
	test_node_feed(&sink, IN, frame, len, 33); // in two segments
	test_node_run(&sink);
	assert_int_not_equal(receive(&sink, &report, got, &reader), 0);
	assert_int_equal(reader.packet_bytes, 60);
	assert_memory_equal(reader.bytes + reader.packet_at, frame, 60);
	close_node(&sink);
}

static void an_ipv6_collector_gets_a_checksum(void **state)
{
	struct hs_export_config config = to_collector(HS_INT_REPORT_2_0);
	struct hs_int_settings settings;
	struct test_node sink;
	uint8_t frame[2048], got[2048];
	uint32_t sum = 0;
	(void)state;

	assert_null(hs_ip_address_read("2001:db8::9", config.to.address));
	assert_null(hs_ip_address_read("2001:db8::1", config.from));
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	size_t len = measured(&settings, frame);
	open_node(&sink, &SINK, &settings, &config, 1);
	through(&sink, frame, len);
	len = test_node_take(&sink, MON, got, sizeof(got));
	assert_int_equal(got[12] << 8 | got[13], 0x86dd);
	assert_int_equal(got[18] << 8 | got[19], len - 54);
	got[len] = 0;
	for (size_t at = 22; at < len; at += 2) // addresses, UDP, payload
		sum += (uint32_t)(got[at] << 8 | got[at + 1]);
	sum += 17 + (uint32_t)len - 54;
	while (sum >> 16)
		sum = (sum >> 16) + (sum & 0xffff);
	assert_int_equal(sum, 0xffff);
	close_node(&sink);
}

// ---- sequence ----

// Sequence numbers go on.
static void a_port_that_is_back_sends_reports_from_its_new_address(void **state)
{
	struct hs_export_config config = to_collector(HS_INT_REPORT_2_0);
	struct hs_int_settings settings;
	struct hs_int_report_reader reader;
	struct hs_int_report report;
	struct test_node sink;
	uint8_t frame[2048], got[2048];
	(void)state;

	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	size_t len = measured(&settings, frame);
	open_node(&sink, &SINK, &settings, &config, 1);
	for (uint8_t i = 0; i < 3; i++) {
		const uint8_t mac[6] = {2, 0, 0, 0, 1, i};
		memcpy(sink.ports[MON].port.mac, mac, sizeof(mac));
		hs_node_renew_address(sink.node, &sink.ports[MON].port);
		test_node_feed(&sink, IN, frame, len, 0);
		test_node_run(&sink);
		assert_int_not_equal(receive(&sink, &report, got, &reader), 0);
		assert_memory_equal(got, config.mac, sizeof(mac));
		assert_memory_equal(got + 6, mac, sizeof(mac));
		assert_int_equal(report.sequence, i);
		assert_int_not_equal(test_node_take(&sink, OUT, got, sizeof(got)), 0);
	}
	close_node(&sink);
}

static void lost_reports_leave_no_gap(void **state)
{
	struct hs_export_config configs[2] = {
			to_collector(HS_INT_REPORT_1_0), to_collector(HS_INT_REPORT_2_0)};
	struct hs_int_settings settings;
	struct hs_int_report_reader reader;
	struct hs_int_report report;
	struct test_node sink;
	uint8_t frame[2048], got[2048];
	uint32_t next[2] = {0, 0};
	unsigned made = 0;
	(void)state;

	configs[1].hw_id = 16;
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	size_t len = measured(&settings, frame);
	open_node(&sink, &SINK, &settings, configs, 2);
	for (unsigned round = 0; next[0] < 10000; round++) {
		sink.ports[MON].accepts = round % 7 == 3 ? 5 : round % 11 == 0 ? 0 : 64;
		sink.ports[MON].port.usable = round % 13 != 5;
		for (unsigned k = 0; k < 20; k++)
			test_node_feed(&sink, IN, frame, len, 0);
		test_node_run(&sink);
		made += 40;
		while (receive(&sink, &report, got, &reader)) {
			unsigned t = report.hw_id / 16;
			assert_int_equal(report.hw_id % 16, 0);
			assert_int_equal(report.sequence, next[t]++);
		}
		while (test_node_take(&sink, OUT, got, sizeof(got)))
			;
	}
	struct hs_worker_counters c = counters_of(&sink);
	assert_int_equal(c.exports_sent, next[0] + next[1]);
	assert_int_not_equal(c.exports_lost_tx_full, 0);
	assert_int_not_equal(c.exports_lost_port_down, 0);
	assert_int_equal(made, c.exports_sent + c.exports_lost_tx_full + c.exports_lost_port_down);
	close_node(&sink);
}

static void an_empty_pool_loses_reports_and_nothing_else(void **state)
{
	const struct hs_export_config config = to_collector(HS_INT_REPORT_2_0);
	struct hs_int_settings settings;
	struct hs_int_report_reader reader;
	struct hs_int_report report;
	struct rte_mbuf *held[254];
	struct test_node sink;
	uint8_t frame[2048], got[2048];
	(void)state;

	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	size_t len = measured(&settings, frame);
	open_node(&sink, &SINK, &settings, &config, 1);
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, held, 254), 0);
	memcpy(got, frame, len);
	assert_int_not_equal(through(&sink, got, len), 0);
	assert_int_equal(counters_of(&sink).exports_lost_no_mbuf, 1);
	rte_pktmbuf_free_bulk(held, 254);
	through(&sink, frame, len);
	assert_int_not_equal(receive(&sink, &report, got, &reader), 0);
	assert_int_equal(report.sequence, 0);
	close_node(&sink);
}

// ---- postcards ----

// A postcard is no telemetry in a packet.
static void assert_gave_no_telemetry(struct test_node *node)
{
	struct hs_flow_counters counters;

	test_node_counters(node, 7, &counters);
	assert_int_equal(counters.int_packets, 0);
	assert_int_equal(counters.last_int_ns, 0);
	assert_int_not_equal(counters.rx_packets, 0);
}

static void each_node_sends_a_postcard(void **state)
{
	static const struct place *const places[] = {&SOURCE, &TRANSIT, &SINK};
	static const enum hs_int_mode modes[] = {HS_INT_MX, HS_INT_XD};
	const struct hs_export_config config = to_collector(HS_INT_REPORT_2_0);
	(void)state;

	for (unsigned m = 0; m < 2; m++) {
		uint8_t frame[2048], plain[2048], got[2048];
		size_t bytes = unhex(PACKET, plain), len = bytes;
		struct hs_int_settings settings;

		hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
		settings.mode = modes[m];
		memcpy(frame, plain, bytes);
		for (unsigned n = 0; n < 3; n++) {
			struct hs_int_report_reader reader;
			struct hs_int_report report;
			struct test_node node;
			open_node(&node, places[n], &settings, &config, 1);
			if (n == 0 || modes[m] == HS_INT_XD)
				ask(&node, HS_RULE_ASKS_node_id | HS_RULE_ASKS_ports |
								HS_RULE_ASKS_hop_latency);
			len = through(&node, frame, len);
			assert_int_equal(len > bytes, modes[m] == HS_INT_MX && n < 2);
			assert_int_not_equal(receive(&node, &report, got, &reader), 0);
			assert_int_equal(report.node_id, places[n]->id);
			assert_int_equal(report.has, HS_INT_REPORT_NODE | HS_INT_REPORT_PORTS |
								     HS_INT_REPORT_LATENCY);
			assert_true(report.tracked);
			assert_int_equal(receive(&node, &report, got, &reader), 0);
			if (modes[m] == HS_INT_XD)
				assert_gave_no_telemetry(&node);
			close_node(&node);
		}
		assert_memory_equal(frame, plain, bytes);
	}
}

// A report of a watched flow is the node's own data.
static void a_rule_switches_a_watch_off(void **state)
{
	static const struct place *const places[] = {&SOURCE, &TRANSIT, &SINK};
	const struct hs_export_config config = to_collector(HS_INT_REPORT_2_0);
	struct hs_rule rule = vector_rule(7);
	struct hs_int_settings settings;
	(void)state;

	rule.method = HS_RULE_INT;
	rule.trace_type = HS_RULE_TRACE_INT | HS_RULE_ASKS_node_id;
	rule.hop_enabled = false;
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	settings.mode = HS_INT_XD;
	for (unsigned n = 0; n < 3; n++) {
		struct test_node node;
		uint8_t frame[2048];
		open_node(&node, places[n], &settings, &config, 1);
		test_node_rule(&node, &rule);
		assert_int_not_equal(through(&node, frame, unhex(PACKET, frame)), 0);
		assert_int_equal(test_node_take(&node, MON, frame, sizeof(frame)), 0);
		close_node(&node);
	}
}

static void a_transit_of_md_reports_nothing(void **state)
{
	const struct hs_export_config config = to_collector(HS_INT_REPORT_2_0);
	struct hs_int_settings settings;
	struct test_node transit;
	uint8_t frame[2048];
	(void)state;

	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	size_t len = measured(&settings, frame);
	open_node(&transit, &TRANSIT, &settings, &config, 1);
	assert_true(through(&transit, frame, len) > len);
	assert_int_equal(transit.ports[MON].n_out, 0);
	close_node(&transit);
}

// ---- drops ----

static void dropped(const struct place *place, unsigned accepts, unsigned format, bool wanted,
		uint8_t reason, uint16_t egress)
{
	struct hs_export_config config = to_collector(format);
	struct hs_int_settings settings;
	struct hs_int_report_reader reader;
	struct hs_int_report report;
	struct test_node node;
	uint8_t frame[2048], got[2048];
	size_t len = unhex(PACKET, frame);

	config.drops = wanted;
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	open_node(&node, place, &settings, &config, 1);
	ask(&node, HS_RULE_ASKS_node_id);
	node.ports[OUT].accepts = accepts;
	through(&node, frame, len);
	frame[20] ^= 1; // another protocol: no rule's packet
	through(&node, frame, len);
	assert_int_equal(!!receive(&node, &report, got, &reader), wanted);
	if (wanted) {
		assert_true(report.dropped && report.tracked);
		assert_true(report.has & HS_INT_REPORT_DROP);
		assert_int_equal(report.drop_reason, reason);
		assert_int_equal(report.ingress_port, 1);
		assert_int_equal(report.egress_port, egress);
		assert_int_equal(receive(&node, &report, got, &reader), 0);
	}
	close_node(&node);
}

static void drops_of_a_rules_packets_are_reported(void **state)
{
	struct place lost = SOURCE;
	(void)state;

	lost.forwards = false;
	for (unsigned format = 0; format < 3; format++) {
		dropped(&SOURCE, 0, format, true, HS_INT_DROP_TRAFFIC_MANAGER, 2);
		dropped(&lost, 64, format, true, HS_INT_DROP_OUTER_IP_MISS, 0xffff);
		dropped(&SOURCE, 0, format, false, 0, 0);
	}
}

// ---- changes ----

#define LATENCY_AT (14 + 40 + 8 + 4 + 12 + 4) // of the first hop, behind its node's id

static unsigned reports_after(struct test_node *sink, const uint8_t *frame, size_t len)
{
	struct hs_int_report_reader reader;
	struct hs_int_report report;
	uint8_t copy[2048], got[2048];
	unsigned n = 0;

	memcpy(copy, frame, len);
	assert_int_not_equal(through(sink, copy, len), 0);
	while (receive(sink, &report, got, &reader))
		n++;
	return n;
}

static size_t measured_at(const struct hs_int_settings *settings, uint16_t node, uint8_t *frame)
{
	struct place source_place = SOURCE;
	struct test_node source;

	source_place.id = node;
	open_node(&source, &source_place, settings, NULL, 0);
	ask(&source, HS_RULE_ASKS_node_id | HS_RULE_ASKS_hop_latency);
	size_t len = through(&source, frame, unhex(PACKET, frame));
	close_node(&source);
	return len;
}

static void only_a_change_is_reported(void **state)
{
	struct hs_export_config configs[2] = {
			to_collector(HS_INT_REPORT_2_0), to_collector(HS_INT_REPORT_1_0)};
	struct hs_int_settings settings;
	struct test_node sink;
	uint8_t frame[2048], other[2048];
	(void)state;

	configs[0].on = HS_EXPORT_ON_CHANGE;
	configs[0].latency_change_ns = 1000;
	configs[1].flows = false; // gets none
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	size_t len = measured_at(&settings, 1, frame);
	assert_int_equal(measured_at(&settings, 9, other), len);
	open_node(&sink, &SINK, &settings, configs, 2);
	assert_int_equal(reports_after(&sink, frame, len), 1);
	for (unsigned n = 0; n < 5; n++)
		assert_int_equal(reports_after(&sink, frame, len), 0);
	assert_int_equal(reports_after(&sink, other, len), 1); // by another node
	assert_int_equal(reports_after(&sink, frame, len), 1);
	frame[LATENCY_AT + 2] = 1000 >> 8;
	frame[LATENCY_AT + 3] = 1000 & 0xff;
	assert_int_equal(reports_after(&sink, frame, len), 0);
	frame[LATENCY_AT + 3]++; // 1001 ns more than in the last report
	assert_int_equal(reports_after(&sink, frame, len), 1);
	frame[LATENCY_AT + 2] = frame[LATENCY_AT + 3] = 0;
	sink.ports[MON].accepts = 0; // the report of this change is lost
	assert_int_equal(reports_after(&sink, frame, len), 0);
	sink.ports[MON].accepts = 64;
	assert_int_equal(reports_after(&sink, frame, len), 1);
	assert_int_equal(reports_after(&sink, frame, len), 0);
	frame[22 + 15] ^= 1; // another flow
	assert_int_equal(reports_after(&sink, frame, len), 1);
	struct hs_worker_counters c = counters_of(&sink);
	assert_int_equal(c.exports_sent, 6);
	assert_int_equal(c.exports_unchanged, 7);
	assert_int_equal(c.exports_lost_tx_full, 1);
	close_node(&sink);
}

// Two reports of a flow that are lost in one burst: the next packet tells of the flow again.
static void changes_that_are_lost_together_are_told_again(void **state)
{
	struct hs_export_config config = to_collector(HS_INT_REPORT_2_0);
	struct hs_int_settings settings;
	struct test_node sink;
	uint8_t frame[2048], other[2048], got[2048];
	(void)state;

	config.on = HS_EXPORT_ON_CHANGE;
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	size_t len = measured_at(&settings, 1, frame);
	assert_int_equal(measured_at(&settings, 9, other), len);
	open_node(&sink, &SINK, &settings, &config, 1);
	assert_int_equal(reports_after(&sink, frame, len), 1);
	sink.ports[MON].accepts = 0;
	test_node_feed(&sink, IN, frame, len, 0); // as it was told
	test_node_feed(&sink, IN, other, len, 0);
	test_node_feed(&sink, IN, frame, len, 0);
	test_node_run(&sink);
	while (test_node_take(&sink, OUT, got, sizeof(got)))
		;
	sink.ports[MON].accepts = 64;
	assert_int_equal(counters_of(&sink).exports_lost_tx_full, 2);
	assert_int_equal(reports_after(&sink, frame, len), 1);
	assert_int_equal(reports_after(&sink, frame, len), 0);
	close_node(&sink);
}

static void a_quota_limits_each_second(void **state)
{
	struct hs_export_config config = to_collector(HS_INT_REPORT_2_0);
	struct hs_int_settings settings;
	struct hs_int_report_reader reader;
	struct hs_int_report report;
	struct test_node sink;
	uint8_t frame[2048], got[2048];
	uint32_t sequence = 0;
	(void)state;

	config.quota_per_s = 3;
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	size_t len = measured(&settings, frame);
	open_node(&sink, &SINK, &settings, &config, 1);
	for (unsigned second = 0; second < 3; second++) {
		hs_clock_set(hs_test_clock, NOW + second * INT64_C(1000000000));
		for (unsigned n = 0; n < 10; n++)
			test_node_feed(&sink, IN, frame, len, 0);
		test_node_run(&sink);
		while (receive(&sink, &report, got, &reader))
			assert_int_equal(report.sequence, sequence++);
		assert_int_equal(sequence, 3 * (second + 1));
		while (test_node_take(&sink, OUT, got, sizeof(got)))
			;
	}
	assert_int_equal(counters_of(&sink).exports_over_quota, 21);
	hs_clock_set(hs_test_clock, NOW);
	close_node(&sink);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_sink_reports_what_it_takes_out_in_each_format),
			cmocka_unit_test(a_report_has_no_more_of_a_packet_than_it_is_told),
			cmocka_unit_test(an_ipv6_collector_gets_a_checksum),
			cmocka_unit_test(a_port_that_is_back_sends_reports_from_its_new_address),
			cmocka_unit_test(lost_reports_leave_no_gap),
			cmocka_unit_test(an_empty_pool_loses_reports_and_nothing_else),
			cmocka_unit_test(each_node_sends_a_postcard),
			cmocka_unit_test(a_rule_switches_a_watch_off),
			cmocka_unit_test(a_transit_of_md_reports_nothing),
			cmocka_unit_test(drops_of_a_rules_packets_are_reported),
			cmocka_unit_test(only_a_change_is_reported),
			cmocka_unit_test(changes_that_are_lost_together_are_told_again),
			cmocka_unit_test(a_quota_limits_each_second),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, begin, NULL);
}

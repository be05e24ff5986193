// SPDX-License-Identifier: BSD-3-Clause
#include "fixture.h"
#include "take_reports.h"

static void a_switch_without_rules_passes_packets_as_they_are(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	(void)state;
	feed_hex(f, 0, PLAIN);
	feed_hex(f, 1, PLAIN);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	expect_hex(f, 0, PLAIN);
	fixture_close(f);
}

static void stamps_include_their_packet_and_no_later_one_of_the_burst(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	struct hs_rule rule = vector_rule(7);
	(void)state;
	test_node_rule(&f->t, &rule);
	for (unsigned i = 0; i < 20; i++)
		feed_hex(f, 0, PLAIN);
	test_node_run(&f->t); // one burst
	for (uint32_t i = 1; i <= 20; i++) {
		struct hs_decoded telemetry;
		take_telemetry(f, 1, &telemetry);
		assert_int_equal(telemetry.ns_id, 7);
		assert_int_equal(telemetry.e2e.tx_packets, i);
		assert_int_equal(telemetry.e2e.tx_bytes, i * 70); // 14 + 40 + 16
		assert_int_equal(telemetry.e2e.ts_ns, NOW);
	}
	fixture_close(f);
}

static void what_the_port_refuses_is_taken_off_the_transmit_counters(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	struct hs_rule rule = vector_rule(7);
	(void)state;
	test_node_rule(&f->t, &rule);
	f->t.ports[1].accepts = 12;
	for (unsigned i = 0; i < 20; i++)
		feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	assert_int_equal(counters(f, 7).rx_packets, 20);
	assert_int_equal(counters(f, 7).tx_packets, 12);
	assert_int_equal(counters(f, 7).tx_bytes, 12 * 70);
	assert_int_equal(drops(f, 1, HS_DROP_TX_FULL), 8);
	fixture_close(f);
}

static void transit_adds_an_entry_and_counts_without_the_telemetry(void **state)
{
	struct fixture *f = fixture_open(TRANSIT_SIDES, 2, 1500, (struct hs_node_config){.id = 5});
	struct hs_rule rule = vector_rule(7);
	struct hs_decoded telemetry;
	(void)state;
	test_node_rule(&f->t, &rule);
	feed_hex(f, 0, PLAIN);
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	take_telemetry(f, 1, &telemetry);
	assert_int_equal(telemetry.n_hops, 1);
	assert_int_equal(telemetry.hops[0].node_id, 5);
	assert_int_equal(telemetry.hops[0].rx_packets, 2);
	assert_int_equal(telemetry.hops[0].tx_packets, 2);
	assert_int_equal(telemetry.hops[0].rx_bytes, 140);
	assert_int_equal(telemetry.hops[0].ts_ns, NOW);
	fixture_close(f);
}

static void a_disabled_hop_counts_but_inserts_nothing(void **state)
{
	struct fixture *f = fixture_open(TRANSIT_SIDES, 2, 1500, (struct hs_node_config){.id = 5});
	struct hs_rule rule = vector_rule(7);
	(void)state;
	rule.hop_enabled = false;
	test_node_rule(&f->t, &rule);
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	expect_hex(f, 1, WITH_TELEMETRY);
	assert_int_equal(counters(f, 7).rx_packets, 1);
	assert_int_equal(counters(f, 7).hop_entries, 0);
	fixture_close(f);
}

static void transit_leaves_an_unknown_namespace_untouched(void **state)
{
	struct fixture *f = fixture_open(TRANSIT_SIDES, 2, 1500, (struct hs_node_config){.id = 5});
	struct hs_rule rule = vector_rule(8);
	(void)state;
	feed_hex(f, 0, WITH_TELEMETRY); // no rule at all
	test_node_run(&f->t);
	expect_hex(f, 1, WITH_TELEMETRY);
	test_node_rule(&f->t, &rule); // the flow under another namespace
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	expect_hex(f, 1, WITH_TELEMETRY);
	assert_int_equal(event(f, 0, HS_EVENT_UNKNOWN_NAMESPACE), 2);
	fixture_close(f);
}

static void a_sink_strips_and_reports_its_namespace(void **state)
{
	struct fixture *f = fixture_open(SINK_SIDES, 2, 1500, (struct hs_node_config){.id = 9});
	struct hs_rule rule = vector_rule(7);
	struct hs_report_record record;
	struct hs_report report;
	(void)state;
	test_node_rule(&f->t, &rule);
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	assert_int_equal(take_reports(f->t.node, &record, 1), 1);
	assert_int_equal(hs_report_decode(&record, &hs_flexint_family, &report), 0);
	assert_int_equal(report.telemetry.ns_id, 7);
	assert_int_equal(report.telemetry.e2e.tx_packets, 1000);
	assert_int_equal(report.sink_rx_packets, 1);
	assert_int_equal(report.sink_rx_bytes, 70);
	assert_int_equal(report.sink_ts_ns, NOW);
	assert_int_equal(take_reports(f->t.node, &record, 1), 0);
	fixture_close(f);
}

static void a_sink_strips_unknown_namespaces_without_a_report(void **state)
{
	struct fixture *f = fixture_open(SINK_SIDES, 2, 1500, (struct hs_node_config){.id = 9});
	struct hs_report_record record;
	(void)state;
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	assert_int_equal(take_reports(f->t.node, &record, 1), 0);
	assert_int_equal(event(f, 0, HS_EVENT_UNKNOWN_NAMESPACE), 1);
	assert_int_equal(event(f, 0, HS_EVENT_STRIPPED), 1);
	fixture_close(f);
}

static void a_full_report_ring_loses_reports_and_never_packets(void **state)
{
	struct fixture *f = fixture_open(
			SINK_SIDES, 2, 1500, (struct hs_node_config){.id = 9, .report_ring = 16});
	struct hs_rule rule = vector_rule(7);
	(void)state;
	test_node_rule(&f->t, &rule);
	for (unsigned i = 0; i < 20; i++)
		feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	for (unsigned i = 0; i < 20; i++)
		expect_hex(f, 1, PLAIN);
	assert_int_equal(counters(f, 7).reports_made, 20);
	assert_int_equal(counters(f, 7).reports_lost, 8); // 15 places, 4 spare, one of these taken
	fixture_close(f);
}

static unsigned help_once(void *context)
{
	++*(unsigned *)context;
	return 3;
}

static void a_worker_helps_while_more_than_half_of_its_ring_is_full(void **state)
{
	struct fixture *f = fixture_open(
			SINK_SIDES, 2, 1500, (struct hs_node_config){.id = 9, .report_ring = 16});
	struct hs_rule rule = vector_rule(7);
	struct hs_report_record record;
	struct hs_worker_counters worker;
	unsigned helped = 0;
	(void)state;
	test_node_rule(&f->t, &rule);
	hs_node_set_help(f->t.node, help_once, &helped);
	for (unsigned i = 0; i < 8; i++) { // a ring of 16 holds 15
		assert_false(hs_node_reports_pile_up(f->t.node));
		feed_hex(f, 0, WITH_TELEMETRY);
		hs_node_worker_poll(f->t.node, 0);
		hs_node_worker_poll(f->t.node, 0);
		assert_int_equal(helped, i == 7);
	}
	assert_true(hs_node_reports_pile_up(f->t.node));
	assert_int_equal(take_reports(f->t.node, &record, 1), 1);
	assert_false(hs_node_reports_pile_up(f->t.node));
	hs_node_worker_poll(f->t.node, 0);
	hs_node_worker_counters(f->t.node, 0, &worker);
	assert_int_equal(worker.reports_helped, 3);
	hs_node_set_help(f->t.node, NULL, NULL);
	feed_hex(f, 0, WITH_TELEMETRY);
	hs_node_worker_poll(f->t.node, 0);
	hs_node_worker_poll(f->t.node, 0);
	assert_int_equal(helped, 1);
	fixture_close(f);
}

// Places for a burst's reports are often in two parts, at the ring's end and at its begin.
static void reports_of_bursts_of_all_lengths_come_in_order(void **state)
{
	struct fixture *f = fixture_open(
			SINK_SIDES, 2, 1500, (struct hs_node_config){.id = 9, .report_ring = 64});
	struct hs_rule rule = vector_rule(7);
	struct hs_report_record record;
	uint64_t n_reports = 0;
	(void)state;
	test_node_rule(&f->t, &rule);
	for (unsigned i = 0; i < 256; i++) {
		unsigned n = 1 + i * 7 % 32;
		for (unsigned k = 0; k < n; k++)
			feed_hex(f, 0, WITH_TELEMETRY);
		test_node_run(&f->t);
		for (unsigned k = 0; k < n; k++) {
			expect_hex(f, 1, PLAIN);
			assert_int_equal(take_reports(f->t.node, &record, 1), 1);
			assert_int_equal(record.sink_rx_packets, ++n_reports);
		}
		assert_int_equal(take_reports(f->t.node, &record, 1), 0);
	}
	assert_int_equal(counters(f, 7).reports_made, n_reports);
	assert_int_equal(counters(f, 7).reports_lost, 0);
	fixture_close(f);
}

static void telemetry_needs_every_byte_of_the_mtu(void **state)
{
	struct hs_rule rule = vector_rule(7);
	struct hs_decoded telemetry;
	(void)state;
	// 56 bytes of IPv6 and 40 of telemetry in the aligned layout (2 + 2 + 10 + 20 + 6).
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 96, (struct hs_node_config){.id = 1});
	test_node_rule(&f->t, &rule);
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	take_telemetry(f, 1, &telemetry);
	fixture_close(f);

	f = fixture_open(SOURCE_SIDES, 2, 95, (struct hs_node_config){.id = 1});
	test_node_rule(&f->t, &rule);
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	assert_int_equal(counters(f, 7).no_room_mtu, 1);
	assert_int_equal(counters(f, 7).mtu_needed, 96);
	assert_int_equal(counters(f, 7).tx_packets, 1);
	fixture_close(f);
}

static void transit_without_room_forwards_the_packet_as_it_came(void **state)
{
	struct hs_rule rule = vector_rule(7);
	(void)state;
	struct fixture *f = fixture_open(TRANSIT_SIDES, 2, 100, (struct hs_node_config){.id = 5});
	test_node_rule(&f->t, &rule);
	feed_hex(f, 0, WITH_TELEMETRY); // 88 bytes of IPv6, an entry takes 24
	test_node_run(&f->t);
	expect_hex(f, 1, WITH_TELEMETRY);
	assert_int_equal(counters(f, 7).no_room_mtu, 1);
	assert_int_equal(counters(f, 7).mtu_needed, 112);
	fixture_close(f);
}

static void a_buffer_without_headroom_moves_its_payload_instead(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	struct hs_rule rule = vector_rule(7);
	struct hs_decoded telemetry;
	(void)state;
	test_node_rule(&f->t, &rule);
	feed_hex(f, 0, PLAIN);
	struct rte_mbuf *m = f->t.ports[0].in[0];
	memmove(m->buf_addr, rte_pktmbuf_mtod(m, void *), m->data_len);
	m->data_off = 0;
	test_node_run(&f->t);
	take_telemetry(f, 1, &telemetry);
	fixture_close(f);
}

static void a_shared_buffer_is_never_written(void **state)
{
	struct hs_rule rule = vector_rule(7);
	uint8_t want[256];
	size_t len = unhex(WITH_TELEMETRY, want);
	(void)state;
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	test_node_rule(&f->t, &rule);
	feed_hex(f, 0, PLAIN);
	struct rte_mbuf *m = f->t.ports[0].in[0];
	rte_mbuf_refcnt_update(m, 1);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	assert_int_equal(event(f, 0, HS_EVENT_NOT_CHANGEABLE), 1);
	rte_pktmbuf_free(m);
	fixture_close(f);

	f = fixture_open(SINK_SIDES, 2, 1500, (struct hs_node_config){.id = 9});
	feed_hex(f, 0, WITH_TELEMETRY);
	m = f->t.ports[0].in[0];
	rte_mbuf_refcnt_update(m, 1);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN); // a sink must strip: it copies
	assert_memory_equal(rte_pktmbuf_mtod(m, void *), want, len);
	rte_pktmbuf_free(m);
	fixture_close(f);
}

#define SYN_OF_1440                                                                                \
	ETHERNET "600000000018064020010db800000000000000000000000120010db800000000000000000000000" \
		 "2"                                                                               \
		 "03e807d000000000000000006002ffff00000000020405a0"

static void an_mss_that_cannot_be_lowered_is_counted(void **state)
{
	struct fixture *f = fixture_open(
			SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1, .mss_clamp = true});
	struct rte_mbuf *held[256], *shared;
	uint8_t lowered[78];
	unsigned n = 0;
	(void)state;
	feed_hex(f, 0, SYN_OF_1440);
	shared = f->t.ports[0].in[0];
	rte_mbuf_refcnt_update(shared, 1);
	while ((held[n] = rte_pktmbuf_alloc(f->pool)))
		n++;
	test_node_run(&f->t);
	expect_hex(f, 1, SYN_OF_1440);
	assert_int_equal(event(f, 0, HS_EVENT_MSS_NOT_CLAMPED), 1);
	assert_int_equal(event(f, 0, HS_EVENT_MSS_CLAMPED), 0);
	rte_pktmbuf_free_bulk(held, n);
	rte_pktmbuf_free(shared);
	feed_hex(f, 0, SYN_OF_1440);
	test_node_run(&f->t);
	assert_int_equal(test_node_take(&f->t, 1, lowered, sizeof(lowered)), 78);
	assert_int_equal(event(f, 0, HS_EVENT_MSS_NOT_CLAMPED), 1);
	assert_int_equal(event(f, 0, HS_EVENT_MSS_CLAMPED), 1);
	fixture_close(f);
}

static void a_port_without_chains_gets_linear_packets(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	uint8_t bytes[256];
	size_t len = unhex(PLAIN, bytes);
	(void)state;
	f->t.ports[1].port.tx_multi_seg = false;
	test_node_feed(&f->t, 0, bytes, len, 60);
	test_node_run(&f->t);
	assert_int_equal(f->t.ports[1].out[0]->nb_segs, 1);
	expect_hex(f, 1, PLAIN);
	fixture_close(f);
}

static void packets_for_a_port_that_is_gone_are_counted(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	(void)state;
	f->t.ports[1].port.usable = false;
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	assert_int_equal(drops(f, 1, HS_DROP_PORT_DOWN), 1);
	fixture_close(f);
}

static void what_a_port_without_link_refuses_is_told_from_a_full_queue(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	(void)state;
	f->t.ports[1].port.link_down = true;
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t); // the device may know better than the flag
	expect_hex(f, 1, PLAIN);
	f->t.ports[1].accepts = 0;
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	f->t.ports[1].port.link_down = false;
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	assert_int_equal(drops(f, 1, HS_DROP_PORT_DOWN), 1);
	assert_int_equal(drops(f, 1, HS_DROP_TX_FULL), 1);
	fixture_close(f);
}

static void a_chain_that_cannot_be_linear_is_neither_sent_nor_stamped(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 9500, (struct hs_node_config){.id = 1});
	struct hs_rule rule = vector_rule(7);
	struct hs_decoded telemetry;
	struct rte_mbuf *taken[255];
	uint8_t bytes[256];
	size_t len = unhex(PLAIN, bytes);
	(void)state;
	test_node_rule(&f->t, &rule);
	f->t.ports[1].port.tx_multi_seg = false;
	test_node_feed(&f->t, 0, bytes, len, 60);
	feed_hex(f, 0, PLAIN);
	struct rte_mbuf *chain = f->t.ports[0].in[0];
	chain->data_off = (uint16_t)(chain->buf_len - chain->data_len); // no room behind it
	memcpy(rte_pktmbuf_mtod(chain, void *), bytes, 60);
	unsigned n = rte_mempool_avail_count(f->pool);
	assert_int_equal(rte_pktmbuf_alloc_bulk(f->pool, taken, n), 0);
	test_node_run(&f->t);
	rte_pktmbuf_free_bulk(taken, n);
	assert_int_equal(drops(f, 1, HS_DROP_NOT_LINEAR), 1);
	take_telemetry(f, 1, &telemetry);
	assert_int_equal(telemetry.e2e.tx_packets, 1);
	assert_int_equal(counters(f, 7).rx_packets, 2);
	assert_int_equal(counters(f, 7).tx_packets, 1);
	fixture_close(f);
}

static void a_rule_that_two_workers_serve_is_stamped_with_the_sum(void **state)
{
	struct fixture *f = fixture_open(
			SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1, .n_workers = 2});
	struct hs_rule rule = vector_rule(7);
	struct hs_decoded telemetry;
	(void)state;
	test_node_rule(&f->t, &rule);
	// Port 0 is worker 0's, port 1 worker 1's: the flow crosses both.
	f->t.ports[0].port.side = HS_SIDE_NETWORK;
	for (unsigned i = 0; i < 3; i++) {
		feed_hex(f, 0, PLAIN);
		feed_hex(f, 1, PLAIN);
	}
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	uint8_t got[256];
	for (unsigned i = 0; i < 3; i++)
		test_node_take(&f->t, 1, got, sizeof(got));
	assert_int_equal(counters(f, 7).rx_packets, 7);
	take_telemetry(f, 1, &telemetry);
	assert_in_range(telemetry.hops[0].rx_packets, 4, 7); // own four, and what the other had
	fixture_close(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_switch_without_rules_passes_packets_as_they_are),
			cmocka_unit_test(stamps_include_their_packet_and_no_later_one_of_the_burst),
			cmocka_unit_test(what_the_port_refuses_is_taken_off_the_transmit_counters),
			cmocka_unit_test(transit_adds_an_entry_and_counts_without_the_telemetry),
			cmocka_unit_test(a_disabled_hop_counts_but_inserts_nothing),
			cmocka_unit_test(transit_leaves_an_unknown_namespace_untouched),
			cmocka_unit_test(a_sink_strips_and_reports_its_namespace),
			cmocka_unit_test(a_sink_strips_unknown_namespaces_without_a_report),
			cmocka_unit_test(a_full_report_ring_loses_reports_and_never_packets),
			cmocka_unit_test(a_worker_helps_while_more_than_half_of_its_ring_is_full),
			cmocka_unit_test(reports_of_bursts_of_all_lengths_come_in_order),
			cmocka_unit_test(telemetry_needs_every_byte_of_the_mtu),
			cmocka_unit_test(transit_without_room_forwards_the_packet_as_it_came),
			cmocka_unit_test(a_buffer_without_headroom_moves_its_payload_instead),
			cmocka_unit_test(a_shared_buffer_is_never_written),
			cmocka_unit_test(an_mss_that_cannot_be_lowered_is_counted),
			cmocka_unit_test(a_port_without_chains_gets_linear_packets),
			cmocka_unit_test(packets_for_a_port_that_is_gone_are_counted),
			cmocka_unit_test(
					what_a_port_without_link_refuses_is_told_from_a_full_queue),
			cmocka_unit_test(a_chain_that_cannot_be_linear_is_neither_sent_nor_stamped),
			cmocka_unit_test(a_rule_that_two_workers_serve_is_stamped_with_the_sum),
	};
	dpdk_env_init("256");
	return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
// What transit and sink nodes hand up of in-band requests and reports, and what they take out.
#include "bytes.h"
#include "fixture.h"
#include "flow_worker.h"
#include "take_reports.h"

#define FULL 600 // frames are shorter

// A report of namespace 7 in CBOR: {0: 7, 1: 0}.
static const uint8_t report_of_7[] = {0xa2, 0x00, 0x07, 0x01, 0x00};

static struct fixture *open_node(const enum hs_port_side *sides)
{
	return fixture_open(sides, 2, 1500, (struct hs_node_config){.id = 9, .punt_ring = 16});
}

// The vectors' packet with one option for each of n texts, in a header of their own.
static size_t frame_with(uint8_t *frame, uint8_t type, const char *const *texts, unsigned n)
{
	uint8_t plain[FULL];
	size_t len = unhex(PLAIN, plain), at = 56;

	memcpy(frame, plain, 54);
	for (unsigned i = 0; i < n; i++) {
		size_t bytes = strlen(texts[i]);
		frame[at] = type;
		frame[at + 1] = (uint8_t)bytes;
		memcpy(frame + at + 2, texts[i], bytes);
		at += 2 + bytes;
	}
	while ((at - 54) % 8)
		frame[at++] = 0; // Pad1
	frame[20] = 0;
	frame[54] = IPPROTO_UDP;
	frame[55] = (uint8_t)((at - 54) / 8 - 1);
	memcpy(frame + at, plain + 54, len - 54);
	hs_be16_store(frame + 18, (uint16_t)(at + len - 54 - 54));
	return at + len - 54;
}

static size_t frame_with_report(uint8_t *frame, const uint8_t *cbor, size_t bytes)
{
	char text[300] = "";
	const char *texts[] = {text};
	memset(text, '.', bytes); // a text has no zeros
	size_t len = frame_with(frame, HS_OPT_REPORT, texts, 1);
	memcpy(frame + 58, cbor, bytes);
	return len;
}

static void pass(struct fixture *f, const uint8_t *frame, size_t len)
{
	test_node_feed(&f->t, 0, frame, len, 0);
	test_node_run(&f->t);
}

static void expect_frame(struct fixture *f, const uint8_t *want, size_t len)
{
	uint8_t got[2048];
	assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), len);
	assert_memory_equal(got, want, len);
}

static unsigned take(struct fixture *f, struct hs_punt *punts, unsigned n)
{
	return hs_node_take_punts(f->t.node, punts, n);
}

static void expect_none(struct fixture *f)
{
	struct hs_punt punt;
	assert_int_equal(take(f, &punt, 1), 0);
}

static void expect_punt(const struct hs_punt *s, uint8_t type, const char *text, bool taken)
{
	assert_int_equal(s->type, type);
	assert_int_equal(s->len, strlen(text));
	assert_memory_equal(s->data, text, s->len);
	assert_int_equal(s->taken, taken);
	assert_int_equal(s->rx_ns, NOW);
	assert_int_equal(s->port, 0);
}

static struct hs_worker_counters worker_counters(struct fixture *f)
{
	struct hs_worker_counters c;
	hs_node_worker_counters(f->t.node, 0, &c);
	return c;
}

// The rule of the flow whose reports the vectors' packets take back.
static void install_extracting(struct fixture *f, uint32_t ns_id, uint16_t src_port)
{
	struct hs_rule rule = vector_rule(ns_id);

	rule.src_ip[15] = 2;
	rule.dst_ip[15] = 1;
	rule.src_port = src_port;
	rule.dst_port = 0x1234;
	rule.extract_report = true;
	test_node_rule(&f->t, &rule);
}

static void a_request_passes_transit_as_it_is_and_is_handed_up(void **state)
{
	struct fixture *f = open_node(TRANSIT_SIDES);
	static const char *const texts[] = {"request"};
	struct hs_punt s[8];
	uint8_t frame[FULL];
	size_t len = frame_with(frame, HS_OPT_REQUEST, texts, 1);
	(void)state;
	pass(f, frame, len);
	expect_frame(f, frame, len);
	assert_int_equal(take(f, s, 8), 1);
	expect_punt(&s[0], HS_OPT_REQUEST, "request", false);
	assert_int_equal(s[0].part, 0);
	assert_int_equal(s[0].parts, 1);

	struct hs_rule rule = vector_rule(7);
	test_node_rule(&f->t, &rule);
	pass(f, frame, len);
	expect_frame(f, frame, len);
	assert_int_equal(take(f, s, 8), 1);
	assert_int_equal(worker_counters(f).signals_made, 2);
	assert_int_equal(worker_counters(f).signals_lost, 0);
	for (unsigned e = 0; e < HS_EVENT_COUNT; e++)
		assert_int_equal(event(f, 0, e), 0);
	fixture_close(f);
}

static void a_sink_hands_up_what_it_takes_out(void **state)
{
	struct fixture *f = open_node(SINK_SIDES);
	static const char *const requests[] = {"request"}, *const reports[] = {"one", "two"};
	struct hs_punt s[8];
	uint8_t frame[FULL];
	(void)state;
	pass(f, frame, frame_with(frame, HS_OPT_REQUEST, requests, 1));
	expect_hex(f, 1, PLAIN);
	pass(f, frame, frame_with(frame, HS_OPT_REPORT, reports, 2));
	expect_hex(f, 1, PLAIN);
	assert_int_equal(take(f, s, 8), 3);
	expect_punt(&s[0], HS_OPT_REQUEST, "request", true);
	expect_punt(&s[1], HS_OPT_REPORT, "one", true);
	expect_punt(&s[2], HS_OPT_REPORT, "two", true);
	assert_int_equal(s[2].part, 1);
	assert_int_equal(s[2].parts, 2);
	assert_int_equal(event(f, 0, HS_EVENT_STRIPPED), 2);
	assert_int_equal(event(f, 0, HS_EVENT_BAD_TELEMETRY), 0);
	fixture_close(f);
}

static void what_a_host_sent_is_never_handed_up(void **state)
{
	struct fixture *f = open_node(SOURCE_SIDES);
	static const char *const texts[] = {"request"};
	uint8_t frame[FULL];
	(void)state;
	pass(f, frame, frame_with(frame, HS_OPT_REQUEST, texts, 1));
	expect_hex(f, 1, PLAIN);
	expect_none(f);
	assert_int_equal(worker_counters(f).signals_made, 0);
	fixture_close(f);
}

static void what_is_flooded_is_handed_up_once(void **state)
{
	struct fixture *f = fixture_open(BRIDGE_SIDES, 4, 1500,
			(struct hs_node_config){.forwarding = HS_FORWARD_BRIDGE});
	static const char *const texts[] = {"request"};
	struct hs_punt s[8];
	uint8_t frame[FULL];
	(void)state;
	test_node_feed(&f->t, 2, frame, frame_with(frame, HS_OPT_REQUEST, texts, 1), 0);
	test_node_run(&f->t);
	for (unsigned port = 0; port < 4; port++) {
		if (port != 2)
			expect_hex(f, port, PLAIN);
	}
	assert_int_equal(take(f, s, 8), 1);
	assert_int_equal(s[0].port, 2);
	assert_int_equal(s[0].taken, 1);
	fixture_close(f);
}

static void reports_are_taken_out_where_the_rule_they_are_of_says_so(void **state)
{
	struct fixture *f = open_node(TRANSIT_SIDES);
	struct hs_punt s[8];
	uint8_t frame[FULL];
	size_t len = frame_with_report(frame, report_of_7, sizeof(report_of_7));
	(void)state;
	install_extracting(f, 7, 5001);
	pass(f, frame, len);
	expect_hex(f, 1, PLAIN);
	assert_int_equal(take(f, s, 8), 1);
	assert_int_equal(s[0].taken, 1);
	assert_int_equal(s[0].len, sizeof(report_of_7));
	assert_memory_equal(s[0].data, report_of_7, sizeof(report_of_7));
	for (unsigned e = 0; e < HS_EVENT_COUNT; e++)
		assert_int_equal(event(f, 0, e), 0);

	struct hs_rule_update update = {.rows = HS_RULE_BIT(EXTRACT_REPORT)};
	struct hs_error err = {0};
	assert_int_equal(hs_flow_table_update(hs_node_flows(f->t.node), 7, &update, &err), 0);
	pass(f, frame, len);
	expect_frame(f, frame, len);
	assert_int_equal(take(f, s, 8), 1);
	assert_int_equal(s[0].taken, 0);
	fixture_close(f);
}

// Of a rule's namespace and of the way back of its flow, both.
static void reports_of_other_rules_pass(void **state)
{
	static const uint8_t of_8[] = {0xa2, 0x00, 0x08, 0x01, 0x00}, no_cbor[] = {0x80, 0, 0};
	struct hs_punt s[8];
	uint8_t frame[FULL];
	(void)state;
	struct fixture *f = open_node(TRANSIT_SIDES);
	install_extracting(f, 7, 5001);
	size_t len = frame_with_report(frame, of_8, sizeof(of_8));
	pass(f, frame, len);
	expect_frame(f, frame, len);
	len = frame_with_report(frame, no_cbor, sizeof(no_cbor));
	pass(f, frame, len);
	expect_frame(f, frame, len);
	len = frame_with_report(frame, report_of_7, sizeof(report_of_7));
	hs_be16_store(frame + len - 16, 0x1235); // back to another port
	pass(f, frame, len);
	expect_frame(f, frame, len);
	assert_int_equal(take(f, s, 8), 3);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(s[i].taken, 0);
	fixture_close(f);

	// The very flow's own rule is not that of the way back.
	f = open_node(TRANSIT_SIDES);
	struct hs_rule rule = vector_rule(7);
	rule.extract_report = true;
	test_node_rule(&f->t, &rule);
	len = frame_with_report(frame, report_of_7, sizeof(report_of_7));
	pass(f, frame, len);
	expect_frame(f, frame, len);
	fixture_close(f);
}

static void a_rule_for_any_port_takes_its_reports_out(void **state)
{
	struct fixture *f = open_node(TRANSIT_SIDES);
	uint8_t frame[FULL];
	(void)state;
	install_extracting(f, 7, 0);
	pass(f, frame, frame_with_report(frame, report_of_7, sizeof(report_of_7)));
	expect_hex(f, 1, PLAIN);
	fixture_close(f);
}

// A source puts reports in front of its telemetry. Other nodes may put them behind.
static void a_report_goes_and_telemetry_beside_it_gets_its_entry(void **state)
{
	struct fixture *f = open_node(TRANSIT_SIDES);
	uint8_t frame[FULL], grown[FULL] = {0};
	struct hs_decoded told;
	struct hs_packet p;
	(void)state;
	struct hs_rule rule = vector_rule(7);
	test_node_rule(&f->t, &rule);
	install_extracting(f, 8, 5001);
	size_t len = unhex(WITH_TELEMETRY, frame);
	hs_flexint_parse(frame, len, len, &p);
	const uint8_t of_8[] = {HS_OPT_REPORT, 3, 0xa1, 0x00, 0x08};
	size_t growth = hs_flexint_block_growth(&p, sizeof(of_8));
	memcpy(grown + growth, frame, len);
	hs_flexint_block_insert(grown, &p, growth, of_8, sizeof(of_8));
	pass(f, grown, len + growth);
	assert_int_equal(f->t.ports[1].out[0]->pkt_len, len + 24);
	take_telemetry(f, 1, &told);
	assert_int_equal(told.n_hops, 1);
	assert_int_equal(told.hops[0].node_id, 9);
	assert_int_equal(counters(f, 7).hop_entries, 1);
	assert_int_equal(counters(f, 7).tx_bytes, 14 + 56);
	fixture_close(f);
}

// In the place of the padding, the header is as long as if there were none.
static void a_report_behind_telemetry_is_seen_however_short_it_is(void **state)
{
	struct fixture *f = open_node(TRANSIT_SIDES);
	uint8_t frame[FULL];
	struct hs_punt s[8];
	(void)state;
	struct hs_rule rule = vector_rule(7);
	test_node_rule(&f->t, &rule);
	size_t len = unhex(WITH_TELEMETRY, frame);
	memmove(frame + 58, frame + 56, len - 56); // the aligned layout, PadN in front
	memcpy(frame + 56, (const uint8_t[]){1, 0}, 2);
	memmove(frame + 94, frame + 88, len - 86);
	memcpy(frame + 88, (const uint8_t[]){HS_OPT_REPORT, 4, 1, 2, 3, 4}, 6);
	frame[55]++;
	hs_be16_store(frame + 18, (uint16_t)(len + 8 - 54));
	pass(f, frame, len + 8);
	assert_int_equal(take(f, s, 8), 1);
	assert_int_equal(s[0].len, 4);
	assert_int_equal(counters(f, 7).hop_entries, 1);
	fixture_close(f);
}

static void a_report_in_a_buffer_that_others_hold_is_taken_out_of_a_copy(void **state)
{
	struct fixture *f = open_node(TRANSIT_SIDES);
	uint8_t frame[FULL];
	size_t len = frame_with_report(frame, report_of_7, sizeof(report_of_7));
	(void)state;
	install_extracting(f, 7, 5001);
	test_node_feed(&f->t, 0, frame, len, 0);
	struct rte_mbuf *m = f->t.ports[0].in[0];
	rte_mbuf_refcnt_update(m, 1);
	test_node_run(&f->t);
	assert_memory_equal(rte_pktmbuf_mtod(m, uint8_t *), frame, len);
	rte_pktmbuf_free(m);
	expect_hex(f, 1, PLAIN);
	fixture_close(f);
}

static void a_full_ring_loses_punts_whole_and_never_packets(void **state)
{
	struct fixture *f = open_node(TRANSIT_SIDES);
	static const char *const texts[] = {"0", "1", "2", "3"};
	struct hs_punt s[16];
	uint8_t frame[FULL];
	(void)state;
	install_extracting(f, 7, 5001);
	size_t len = frame_with(frame, HS_OPT_REQUEST, texts, 4);
	for (unsigned i = 0; i < 5; i++) { // the ring has place for 15
		pass(f, frame, len);
		expect_frame(f, frame, len);
	}
	assert_int_equal(worker_counters(f).signals_made, 20);
	assert_int_equal(worker_counters(f).signals_lost, 8);
	// Three are free: a report comes up; the fourth does not, and stays in its packet.
	len = frame_with_report(frame, report_of_7, sizeof(report_of_7));
	for (unsigned i = 0; i < 3; i++) {
		pass(f, frame, len);
		expect_hex(f, 1, PLAIN);
	}
	pass(f, frame, len);
	expect_frame(f, frame, len);
	assert_int_equal(worker_counters(f).signals_lost, 9);
	assert_int_equal(take(f, s, 16), 15);
	for (unsigned i = 0; i < 12; i++)
		expect_punt(&s[i], HS_OPT_REQUEST, texts[i % 4], false);
	// Over the end of the ring.
	pass(f, frame, frame_with(frame, HS_OPT_REQUEST, texts, 4));
	assert_int_equal(take(f, s, 16), 4);
	for (unsigned i = 0; i < 4; i++)
		expect_punt(&s[i], HS_OPT_REQUEST, texts[i], false);
	fixture_close(f);
}

static void the_parts_of_a_packet_are_taken_together(void **state)
{
	struct fixture *f = open_node(TRANSIT_SIDES);
	static const char *const texts[] = {"0", "1", "2"};
	struct hs_punt s[8];
	uint8_t frame[FULL];
	size_t len = frame_with(frame, HS_OPT_REPORT, texts, 3);
	(void)state;
	for (unsigned i = 0; i < 4; i++)
		pass(f, frame, len);
	assert_int_equal(take(f, s, 8), 6);
	assert_int_equal(take(f, s, 2), 2); // no room for three: parted after all
	assert_int_equal(take(f, s, 8), 4);
	expect_punt(&s[0], HS_OPT_REPORT, "2", false);
	expect_punt(&s[3], HS_OPT_REPORT, "2", false);
	expect_none(f);
	fixture_close(f);
}

static void the_parts_are_taken_together_off_the_rings_of_two_workers(void **state)
{
	struct fixture *f = fixture_open(
			TRANSIT_SIDES, 2, 1500, (struct hs_node_config){.n_workers = 2});
	static const char *const texts[] = {"0", "1", "2"};
	struct hs_punt s[8];
	uint8_t frame[FULL];
	size_t len = frame_with(frame, HS_OPT_REPORT, texts, 3);
	(void)state;
	for (unsigned i = 0; i < 2; i++) { // six from each worker
		test_node_feed(&f->t, 0, frame, len, 0);
		test_node_feed(&f->t, 1, frame, len, 0);
	}
	test_node_run(&f->t);
	assert_int_equal(take(f, s, 8), 6);
	uint16_t first = s[0].port;
	for (unsigned i = 0; i < 6; i++)
		assert_int_equal(s[i].port, first);
	assert_int_equal(take(f, s, 8), 6);
	assert_int_not_equal(s[0].port, first);
	fixture_close(f);
}

static void more_options_than_eight_are_not_handed_up(void **state)
{
	struct fixture *f = open_node(TRANSIT_SIDES);
	static const char *const texts[] = {"0", "1", "2", "3", "4", "5", "6", "7", "8"};
	struct hs_punt s[8];
	uint8_t frame[FULL];
	(void)state;
	size_t len = frame_with(frame, HS_OPT_REPORT, texts, 9);
	pass(f, frame, len);
	expect_frame(f, frame, len);
	expect_none(f);
	assert_int_equal(event(f, 0, HS_EVENT_BAD_TELEMETRY), 1);
	pass(f, frame, frame_with(frame, HS_OPT_REPORT, texts, 8));
	assert_int_equal(take(f, s, 8), 8);
	fixture_close(f);
}

// A reverse entry has no namespace, and 0 is none that a rule could have.
static void telemetry_of_namespace_0_is_of_no_reverse_entry(void **state)
{
	const enum hs_port_side *sides[] = {TRANSIT_SIDES, SINK_SIDES};
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct fixture *f = open_node(sides[i]);
		struct hs_rule forward = vector_rule(7);
		uint8_t frame[FULL];
		uint32_t slot;
		memcpy(forward.src_ip, vector_rule(7).dst_ip, 16);
		memcpy(forward.dst_ip, vector_rule(7).src_ip, 16);
		forward.src_port = 5001;
		forward.dst_port = 0x1234;
		assert_int_equal(hs_flow_table_add_reverse(
						 hs_node_flows(f->t.node), &forward, &slot),
				0);
		size_t len = unhex(WITH_TELEMETRY, frame);
		hs_be32_store(frame + 58, 0);
		pass(f, frame, len);
		assert_int_equal(event(f, 0, HS_EVENT_UNKNOWN_NAMESPACE), 1);
		if (sides[i] == TRANSIT_SIDES)
			expect_frame(f, frame, len);
		else
			expect_hex(f, 1, PLAIN);
		struct hs_report_record record;
		assert_int_equal(take_reports(f->t.node, &record, 1), 0);
		fixture_close(f);
	}
}

int main(void)
{
	dpdk_env_init("64");
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_request_passes_transit_as_it_is_and_is_handed_up),
			cmocka_unit_test(a_sink_hands_up_what_it_takes_out),
			cmocka_unit_test(what_a_host_sent_is_never_handed_up),
			cmocka_unit_test(what_is_flooded_is_handed_up_once),
			cmocka_unit_test(reports_are_taken_out_where_the_rule_they_are_of_says_so),
			cmocka_unit_test(reports_of_other_rules_pass),
			cmocka_unit_test(a_rule_for_any_port_takes_its_reports_out),
			cmocka_unit_test(a_report_goes_and_telemetry_beside_it_gets_its_entry),
			cmocka_unit_test(a_report_behind_telemetry_is_seen_however_short_it_is),
			cmocka_unit_test(
					a_report_in_a_buffer_that_others_hold_is_taken_out_of_a_copy),
			cmocka_unit_test(a_full_ring_loses_punts_whole_and_never_packets),
			cmocka_unit_test(the_parts_of_a_packet_are_taken_together),
			cmocka_unit_test(the_parts_are_taken_together_off_the_rings_of_two_workers),
			cmocka_unit_test(more_options_than_eight_are_not_handed_up),
			cmocka_unit_test(telemetry_of_namespace_0_is_of_no_reverse_entry),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "fdb.h"
#include "flexint.h"
#include "harness.h"

#define NOW 1700000000000000000

static const enum hs_port_side SOURCE_SIDES[] = {HS_SIDE_HOST, HS_SIDE_NETWORK};
static const enum hs_port_side TRANSIT_SIDES[] = {HS_SIDE_NETWORK, HS_SIDE_NETWORK};
static const enum hs_port_side SINK_SIDES[] = {HS_SIDE_NETWORK, HS_SIDE_HOST};
static const enum hs_port_side BRIDGE_SIDES[] = {
		HS_SIDE_HOST, HS_SIDE_HOST, HS_SIDE_NETWORK, HS_SIDE_NETWORK};

struct fixture {
	struct rte_mempool *pool;
	struct hs_clock *clock;
	struct test_node t;
};

static struct fixture *fixture_open(const enum hs_port_side *sides, unsigned n_ports, uint16_t mtu,
		struct hs_node_config config)
{
	static unsigned serial;
	char name[16];
	struct fixture *f = calloc(1, sizeof(*f));

	snprintf(name, sizeof(name), "node%u", serial++);
	f->pool = rte_pktmbuf_pool_create(name, 255, 0, 0, 9600, SOCKET_ID_ANY);
	assert_non_null(f->pool);
	assert_int_equal(hs_clock_create_manual(NOW, &f->clock), 0);
	config.rules = 64;
	if (!config.n_workers)
		config.n_workers = 1;
	if (config.forwarding == HS_FORWARD_PATCH) {
		config.n_pairs = 1;
		config.pairs[0][1] = 1;
	}
	test_node_open(&f->t, &config, sides, n_ports, mtu, f->pool, f->clock);
	return f;
}

static void fixture_close(struct fixture *f)
{
	test_node_audit(&f->t);
	test_node_close(&f->t);
	assert_int_equal(rte_mempool_avail_count(f->pool), 255);
	rte_mempool_free(f->pool);
	hs_clock_destroy(f->clock);
	free(f);
}

// 2001:db8::1 to ::2, UDP 0x1234 to 5001: the flow of the reference's vectors.
static struct hs_rule vector_rule(uint32_t ns_id)
{
	struct hs_rule rule;

	hs_rule_init(&rule);
	rule.ns_id = ns_id;
	static const uint8_t prefix[] = {0x20, 0x01, 0x0d, 0xb8};
	memcpy(rule.src_ip, prefix, 4);
	memcpy(rule.dst_ip, prefix, 4);
	rule.src_ip[15] = 1;
	rule.dst_ip[15] = 2;
	rule.dst_port = 5001;
	rule.protocol = IPPROTO_UDP;
	rule.trace_type = 0x7000E000;
	rule.mode = HS_MODE_COUNT;
	rule.mode_setting = 1;
	return rule;
}

static size_t from_hex(const char *hex, uint8_t *bytes)
{
	size_t n = 0;
	for (; hex[0] && hex[1]; hex += 2) {
		char pair[3] = {hex[0], hex[1], 0};
		bytes[n++] = (uint8_t)strtoul(pair, NULL, 16);
	}
	return n;
}

#define ETHERNET "02000000000202000000000186dd"
#define PLAIN                                                                                      \
	ETHERNET "600000000010114020010db800000000000000000000000120010db800000000000000000000000" \
		 "2"                                                                               \
		 "1234138900105e94494e544441544121"
#define WITH_TELEMETRY                                                                             \
	ETHERNET "600000000030004020010db800000000000000000000000120010db800000000000000000000000" \
		 "2"                                                                               \
		 "11033108000000077000e0001112700017979cfe362a0000000003e80007c060"                \
		 "1234138900105e94494e544441544121"

static void feed_hex(struct fixture *f, unsigned port, const char *hex)
{
	uint8_t bytes[2048];
	size_t len = from_hex(hex, bytes);
	test_node_feed(&f->t, port, bytes, len, 0);
}

static void expect_hex(struct fixture *f, unsigned port, const char *hex)
{
	uint8_t want[2048], got[2048];
	size_t len = from_hex(hex, want);
	assert_int_equal(test_node_take(&f->t, port, got, sizeof(got)), len);
	assert_memory_equal(got, want, len);
}

static uint64_t event(struct fixture *f, unsigned port, enum hs_event_count event)
{
	struct hs_port_counters c;
	hs_node_port_counters(f->t.node, (uint16_t)port, &c);
	return c.events[event];
}

static uint64_t drops(struct fixture *f, unsigned port, enum hs_drop reason)
{
	struct hs_port_counters c;
	hs_node_port_counters(f->t.node, (uint16_t)port, &c);
	return c.drops[reason];
}

static struct hs_flow_counters counters(struct fixture *f, uint32_t ns_id)
{
	struct hs_flow_counters c;
	test_node_counters(&f->t, ns_id, &c);
	return c;
}

// Decodes the telemetry of a frame that a port sent.
static void take_telemetry(struct fixture *f, unsigned port, struct hs_flexint *telemetry)
{
	uint8_t frame[9600];
	struct hs_packet p;
	size_t len = test_node_take(&f->t, port, frame, sizeof(frame));

	assert_int_not_equal(len, 0);
	hs_packet_parse(frame, len, len, &p);
	assert_true(p.flags & HS_PACKET_TELEMETRY);
	const uint8_t *trace = frame + p.trace_off, *e2e = frame + p.e2e_off;
	assert_int_equal(hs_flexint_decode(trace + 2, trace[1], e2e + 2, e2e[1], telemetry), 0);
}

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
		struct hs_flexint telemetry;
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
	struct hs_flexint telemetry;
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
	assert_int_equal(hs_node_take_reports(f->t.node, &record, 1), 1);
	assert_int_equal(hs_report_decode(&record, &report), 0);
	assert_int_equal(report.telemetry.ns_id, 7);
	assert_int_equal(report.telemetry.e2e.tx_packets, 1000);
	assert_int_equal(report.sink_rx_packets, 1);
	assert_int_equal(report.sink_rx_bytes, 70);
	assert_int_equal(report.sink_ts_ns, NOW);
	assert_int_equal(hs_node_take_reports(f->t.node, &record, 1), 0);
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
	assert_int_equal(hs_node_take_reports(f->t.node, &record, 1), 0);
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
	assert_int_equal(counters(f, 7).reports_lost, 5); // a ring of 16 holds 15
	fixture_close(f);
}

static void telemetry_from_a_host_is_stripped_and_never_believed(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	struct hs_rule rule = vector_rule(7);
	struct hs_flexint telemetry;
	(void)state;
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	assert_int_equal(event(f, 0, HS_EVENT_HOST_TELEMETRY_STRIPPED), 1);
	test_node_rule(&f->t, &rule); // with a rule, only our own word goes in
	feed_hex(f, 0, WITH_TELEMETRY);
	test_node_run(&f->t);
	take_telemetry(f, 1, &telemetry);
	assert_int_equal(telemetry.e2e.tx_packets, 1);
	fixture_close(f);
}

static void telemetry_from_a_host_is_dropped_where_the_policy_says_so(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500,
			(struct hs_node_config){.id = 1, .host_side_policy = HS_HOST_DROP});
	(void)state;
	feed_hex(f, 0, WITH_TELEMETRY);
	feed_hex(f, 0, PLAIN);
	test_node_run(&f->t);
	expect_hex(f, 1, PLAIN);
	assert_int_equal(drops(f, 0, HS_DROP_HOST_TELEMETRY), 1);
	fixture_close(f);
}

static void broken_telemetry_never_reaches_a_host(void **state)
{
	struct fixture *f = fixture_open(SINK_SIDES, 2, 1500, (struct hs_node_config){.id = 9});
	uint8_t bytes[256], got[256];
	size_t len = from_hex(WITH_TELEMETRY, bytes);
	(void)state;
	bytes[14 + 40 + 3] = 0xff; // option 0x31 longer than its header
	test_node_feed(&f->t, 0, bytes, len, 0);
	test_node_run(&f->t);
	assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), 0);
	assert_int_equal(drops(f, 0, HS_DROP_UNSTRIPPABLE), 1);
	fixture_close(f);
}

// A request between two options of the host's: packing them anew needs as many bytes as before.
static void telemetry_is_taken_out_also_where_the_packet_keeps_its_length(void **state)
{
	struct fixture *f = fixture_open(SINK_SIDES, 2, 1500, (struct hs_node_config){.id = 9});
	(void)state;
#define MIXED_IP                                                                                   \
	ETHERNET                                                                                   \
	"600000000020004020010db800000000000000000000000120010db8000000000000000000000002"         \
	"110105020000"
	feed_hex(f, 0,
			MIXED_IP "3202aabb"
				 "1e0401020304"
				 "1234138900105e94494e544441544121");
	test_node_run(&f->t);
	expect_hex(f, 1,
			MIXED_IP "01020000"
				 "1e0401020304"
				 "1234138900105e94494e544441544121");
	assert_int_equal(event(f, 0, HS_EVENT_STRIPPED), 1);
	fixture_close(f);
}

static void telemetry_needs_every_byte_of_the_mtu(void **state)
{
	struct hs_rule rule = vector_rule(7);
	struct hs_flexint telemetry;
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
	struct hs_flexint telemetry;
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
	size_t len = from_hex(WITH_TELEMETRY, want);
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

static void a_port_without_chains_gets_linear_packets(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	uint8_t bytes[256];
	size_t len = from_hex(PLAIN, bytes);
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

// ---- bridge ----

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

// ---- several workers ----

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

// Two workers read the clock one after the other: the later one may look first.
static void an_address_learnt_a_moment_from_now_is_known(void **state)
{
	static const uint8_t mac[] = {2, 0, 0, 0, 0, 9};
	struct hs_fdb *fdb;
	(void)state;
	assert_int_equal(hs_fdb_create(64, 300, &fdb), 0);
	hs_fdb_learn(fdb, mac, 3, INT64_C(101000000000));
	assert_int_equal(hs_fdb_find(fdb, mac, INT64_C(100999000000)), 3);
	hs_fdb_destroy(fdb);
}

#define TAGGED_TELEMETRY(tags)                                                                     \
	"020000000002020000000001" tags                                                            \
	"86dd600000000030004020010db800000000000000000000000120010db8000000000000000000000002"     \
	"11033108000000077000e0001112700017979cfe362a0000000003e80007c060"                         \
	"1234138900105e94494e544441544121"

static void a_third_tag_hides_no_telemetry(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	uint8_t got[256];
	(void)state;
	feed_hex(f, 0, TAGGED_TELEMETRY("810000018100000291000003"));
	test_node_run(&f->t);
	assert_int_equal(event(f, 0, HS_EVENT_HOST_TELEMETRY_STRIPPED), 1);
	assert_int_equal(test_node_take(&f->t, 1, got, sizeof(got)), 14 + 12 + 40 + 16);
	fixture_close(f);
}

static void a_packet_cut_short_hides_no_telemetry(void **state)
{
	struct fixture *f = fixture_open(SINK_SIDES, 2, 1500, (struct hs_node_config){.id = 9});
	uint8_t bytes[256];
	size_t len = from_hex(WITH_TELEMETRY, bytes);
	(void)state;
	test_node_feed(&f->t, 0, bytes, len - 1, 0);
	test_node_run(&f->t);
	assert_int_equal(drops(f, 0, HS_DROP_UNSTRIPPABLE), 1);
	fixture_close(f);
}

// Headers over two buffers, and none free to join them in: what cannot be read may be anything.
static void what_a_host_sent_unreadable_does_not_enter(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 1500, (struct hs_node_config){.id = 1});
	struct rte_mbuf *taken[255];
	uint8_t bytes[256];
	size_t len = from_hex(WITH_TELEMETRY, bytes);
	(void)state;
	test_node_feed(&f->t, 0, bytes, len, 58);
	unsigned n = rte_mempool_avail_count(f->pool);
	assert_int_equal(rte_pktmbuf_alloc_bulk(f->pool, taken, n), 0);
	test_node_run(&f->t);
	assert_int_equal(drops(f, 0, HS_DROP_UNREADABLE), 1);
	rte_pktmbuf_free_bulk(taken, n);
	fixture_close(f);
}

static void a_chain_that_cannot_be_linear_is_neither_sent_nor_stamped(void **state)
{
	struct fixture *f = fixture_open(SOURCE_SIDES, 2, 9500, (struct hs_node_config){.id = 1});
	struct hs_rule rule = vector_rule(7);
	struct hs_flexint telemetry;
	struct rte_mbuf *taken[255];
	uint8_t bytes[256];
	size_t len = from_hex(PLAIN, bytes);
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
	struct hs_flexint telemetry;
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
			cmocka_unit_test(telemetry_from_a_host_is_stripped_and_never_believed),
			cmocka_unit_test(telemetry_from_a_host_is_dropped_where_the_policy_says_so),
			cmocka_unit_test(broken_telemetry_never_reaches_a_host),
			cmocka_unit_test(
					telemetry_is_taken_out_also_where_the_packet_keeps_its_length),
			cmocka_unit_test(telemetry_needs_every_byte_of_the_mtu),
			cmocka_unit_test(transit_without_room_forwards_the_packet_as_it_came),
			cmocka_unit_test(a_buffer_without_headroom_moves_its_payload_instead),
			cmocka_unit_test(a_shared_buffer_is_never_written),
			cmocka_unit_test(a_port_without_chains_gets_linear_packets),
			cmocka_unit_test(packets_for_a_port_that_is_gone_are_counted),
			cmocka_unit_test(
					what_a_port_without_link_refuses_is_told_from_a_full_queue),
			cmocka_unit_test(a_bridge_floods_the_unknown_and_learns),
			cmocka_unit_test(a_bridge_forgets_what_has_not_spoken),
			cmocka_unit_test(a_bridge_drops_what_is_already_where_it_belongs),
			cmocka_unit_test(a_flooded_packet_counts_once_and_carries_no_telemetry),
			cmocka_unit_test(
					a_refused_packet_of_a_two_port_bridge_is_not_counted_as_sent),
			cmocka_unit_test(an_address_learnt_a_moment_from_now_is_known),
			cmocka_unit_test(a_third_tag_hides_no_telemetry),
			cmocka_unit_test(a_packet_cut_short_hides_no_telemetry),
			cmocka_unit_test(what_a_host_sent_unreadable_does_not_enter),
			cmocka_unit_test(a_chain_that_cannot_be_linear_is_neither_sent_nor_stamped),
			cmocka_unit_test(a_rule_that_two_workers_serve_is_stamped_with_the_sum),
	};
	dpdk_env_init("256");
	return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
// The fast path beside the general path: two nodes that differ in nothing else get the same
// packets, of every kind, and must give the same bytes, counters, reports and signals.
#include "bytes.h"
#include "fixture.h"
#include "flow_pending.h"
#include "hbh.h"
#include "rng.h"
#include "sanitized.h"
#include "take_reports.h"

#define FLOWS	 12
#define CARRIERS 2 // of flows behind those of rules
#define ROUNDS	 CASES(1500)
#define ROOM	 1024

struct pair {
	struct hs_rng rng;
	struct rte_mempool *pool;
	struct hs_clock *clock;
	struct test_node nodes[2]; // general path, fast path
	bool routed;
	uint64_t n_carried, n_taken;	    // that there was something to compare
	uint32_t pending[FLOWS + CARRIERS]; // slots that may have one, the same in both
	struct rte_mbuf *held[2 * HARNESS_QUEUE];
	uint8_t held_bytes[2 * HARNESS_QUEUE][ROOM];
	unsigned n_held;
};

static uint32_t below(struct pair *pair, uint32_t n)
{
	return (uint32_t)(((uint64_t)hs_rng_u32(&pair->rng) * n) >> 32);
}

static struct hs_rule rule_of_flow(uint32_t k)
{
	struct hs_rule rule = vector_rule(100 + k);

	rule.src_port = (uint16_t)(k % 4 == 3 ? 0 : 1000 + k);
	rule.trace_type = k % 3 == 2 ? 0xB0006000 : 0x7000E000;
	rule.mode = (uint8_t)(k % 3);
	rule.mode_setting = k % 3 == HS_MODE_PROBABILITY ? 40 : 1 + k % 2;
	rule.hop_enabled = k != 4;
	return rule;
}

// 2001:db8::/32 to the second port, all else back to where it came from.
static void set_routes(struct test_node *node)
{
	static const struct hs_fib_change changes[] = {
			{.route = {.prefix = {0x20, 0x01, 0x0d, 0xb8}, .depth = 32, .port = 1}},
			{.route = {.depth = 0, .port = 0, .next_hop_mac = {2, 0, 0, 0, 9, 9}}},
	};

	assert_int_equal(hs_fib_change(hs_node_fib(node->node), changes, 2, NULL), 0);
	for (uint8_t p = 0; p < 2; p++)
		memcpy(node->ports[p].port.mac, (uint8_t[]){2, 0, 0, 0, p, 7}, 6);
}

// The flow whose reports packets of flow k take back.
static struct hs_rule reverse_of_flow(uint32_t k)
{
	struct hs_rule rule = vector_rule(200 + k);

	rule.src_ip[15] = 2;
	rule.dst_ip[15] = 1;
	rule.src_port = 5001;
	rule.dst_port = (uint16_t)(1000 + k);
	rule.extract_report = k % 2;
	return rule;
}

static void install(struct pair *pair, struct test_node *node)
{
	struct hs_flow_table *flows = hs_node_flows(node->node);

	for (uint32_t k = 0; k < FLOWS; k++) {
		struct hs_rule rule = rule_of_flow(k), reverse = reverse_of_flow(k);
		test_node_rule(node, &rule);
		test_node_rule(node, &reverse);
		pair->pending[k] = hs_flow_table_find(flows, rule.ns_id);
	}
	for (uint32_t k = FLOWS; k < FLOWS + CARRIERS; k++) {
		struct hs_rule reverse = reverse_of_flow(k);
		assert_int_equal(hs_flow_table_add_reverse(flows, &reverse, &pair->pending[k]), 0);
	}
}

static void pair_open(struct pair *pair, const enum hs_port_side *sides,
		struct hs_node_config config, uint64_t seed)
{
	memset(pair, 0, sizeof(*pair));
	hs_rng_init(&pair->rng, seed);
	pair->pool = rte_pktmbuf_pool_create("pair", 1023, 0, 0, 2304, SOCKET_ID_ANY);
	assert_non_null(pair->pool);
	assert_int_equal(hs_clock_create_manual(NOW, &pair->clock), 0);
	config.rules = 64;
	config.report_ring = 64;
	config.punt_ring = 64;
	config.n_workers = RTE_MAX(config.n_workers, 1u);
	pair->routed = config.forwarding == HS_FORWARD_ROUTE;
	config.n_pairs = 1;
	config.pairs[0][1] = 1;
	for (int i = 0; i < 2; i++) {
		i ? unsetenv("HS_GENERAL_PATH") : setenv("HS_GENERAL_PATH", "1", 1);
		test_node_open(&pair->nodes[i], &config, sides, 2, 600, pair->pool, pair->clock);
		pair->nodes[i].ports[1].port.tx_multi_seg = config.layout == HS_LAYOUT_PAPER;
		if (config.forwarding == HS_FORWARD_ROUTE)
			set_routes(&pair->nodes[i]);
		install(pair, &pair->nodes[i]);
	}
}

static void pair_close(struct pair *pair)
{
	for (int i = 0; i < 2; i++) {
		test_node_audit(&pair->nodes[i]);
		test_node_close(&pair->nodes[i]);
	}
	assert_int_equal(rte_mempool_avail_count(pair->pool), 1023);
	rte_mempool_free(pair->pool);
	hs_clock_destroy(pair->clock);
}

// ---- frames ----

static size_t plain_frame(struct pair *pair, uint8_t *frame)
{
	static const uint8_t protocols[] = {
			IPPROTO_UDP, IPPROTO_UDP, IPPROTO_UDP, IPPROTO_TCP, IPPROTO_ICMPV6, 43};
	size_t len = unhex(PLAIN, frame);
	size_t more = below(pair, 8) ? below(pair, 40) : 470 + below(pair, 120);

	memset(frame + len, 0x5a, more);
	len += more;
	hs_be16_store(frame + 18, (uint16_t)(len - 54));
	hs_be16_store(frame + 54, (uint16_t)(1000 + below(pair, FLOWS + 4)));
	frame[20] = protocols[below(pair, 6)];
	if (!below(pair, 20)) { // a tag
		memmove(frame + 16, frame + 12, len - 12);
		hs_be32_store(frame + 12, 0x81000005);
		len += 4;
	}
	return len;
}

static size_t insert_source(struct pair *pair, uint8_t *frame, size_t len)
{
	struct hs_e2e e2e = {.ts_ns = NOW - 5, .tx_packets = below(pair, 1000)};
	uint8_t old[ROOM];
	struct hs_packet p;

	hs_flexint_parse(frame, len, len, &p);
	uint32_t trace_type = below(pair, 6) ? 0x7000E000 : 0xB000A000;
	uint32_t ns_id = below(pair, 8) ? p.src_port - 900u : below(pair, 200);
	enum hs_flexint_layout layout = below(pair, 2);
	size_t growth = hs_flexint_source_growth(&p, trace_type, layout);
	memcpy(old, frame, len);
	memcpy(frame + growth, old, len);
	e2e.bitmap = (uint16_t)(trace_type >> 16);
	if (growth)
		hs_flexint_source_insert(frame, &p, growth, ns_id, trace_type, layout, &e2e);
	return len + growth;
}

static size_t insert_hop(struct pair *pair, uint8_t *frame, size_t len)
{
	struct hs_hop hop = {.node_id = (uint16_t)below(pair, 9), .ts_ns = NOW - 3};
	uint8_t old[ROOM];
	struct hs_packet p;

	hs_flexint_parse(frame, len, len, &p);
	hop.bitmap = (uint16_t)p.trace_type & HS_HOP_KNOWN;
	int growth = hs_flexint_hop_growth(frame, &p, hop.bitmap);
	if (growth < 0 || len + (size_t)growth > ROOM - 100)
		return len;
	memcpy(old, frame, len);
	memcpy(frame + growth, old, len);
	hs_flexint_hop_insert(frame, &p, (size_t)growth, &hop);
	return len + (size_t)growth;
}

// Requests and reports, some of a rule that extracts them, behind all that is there.
static size_t insert_signal(struct pair *pair, uint8_t *frame, size_t len)
{
	uint8_t block[512], old[ROOM], type = below(pair, 3) ? HS_OPT_REPORT : HS_OPT_REQUEST;
	size_t bytes = 0;
	struct hs_packet p;

	hs_flexint_parse(frame, len, len, &p);
	size_t end = p.l3_off + 40u + p.hbh_bytes;
	if (p.flags & HS_PACKET_TELEMETRY && frame[end - 6] == HS_OPT_PADN && frame[end - 5] == 4 &&
			!below(pair, 3)) { // in the place of the padding
		memcpy(frame + end - 6, (const uint8_t[]){type, 4, 0xa1, 0, 0x18, 200}, 6);
		return len;
	}
	for (unsigned n = 1 + below(pair, below(pair, 4) ? 3 : 10); n; n--) {
		uint8_t data = (uint8_t)(4 + below(pair, 30));
		memset(block + bytes, 0x5b, 2u + data);
		memcpy(block + bytes, (const uint8_t[]){type, data, 0xa2, 0, 0x18}, 5);
		block[bytes + 5] = (uint8_t)(below(pair, 8) ? p.src_port - 800u : below(pair, 250));
		bytes += 2u + data;
	}
	size_t growth = hs_flexint_block_growth(&p, bytes);
	if (!growth || len + growth > ROOM - 100)
		return len;
	memcpy(old, frame, len);
	memcpy(frame + growth, old, len);
	hs_flexint_block_insert(frame, &p, growth, block, bytes);
	return len + growth;
}

// Eight bytes of padding between the options of telemetry, or at their end.
static size_t insert_gap(struct pair *pair, uint8_t *frame, size_t len)
{
	static const uint8_t gap[8] = {1, 6};
	struct hs_packet p;

	hs_flexint_parse(frame, len, len, &p);
	if (!(p.flags & HS_PACKET_TELEMETRY))
		return len;
	size_t at = below(pair, 2) ? p.e2e_off : p.l3_off + 40u + p.hbh_bytes;
	memmove(frame + at + 8, frame + at, len - at);
	memcpy(frame + at, gap, 8);
	frame[p.l3_off + 41]++;
	hs_be16_store(frame + p.l3_off + 4, (uint16_t)(p.l3_bytes - 40 + 8));
	return len + 8;
}

// A source's entry without a field, behind eight bytes of padding: so short an end that it looks
// like none where the padding is taken for the entry.
static size_t insert_bare(struct pair *pair, uint8_t *frame, size_t len)
{
	uint8_t header[24] = {0, 2, HS_OPT_TRACE, 8, 0, 0, 0, 0, 0, 0, 0xE0, 0, HS_OPT_PADN, 6};
	struct hs_packet p;

	hs_flexint_parse(frame, len, len, &p);
	if (p.flags != (HS_PACKET_IPV6 | HS_PACKET_FLOW) || p.l4_off != 54)
		return len;
	header[0] = frame[20];
	hs_be32_store(header + 4, below(pair, 8) ? p.src_port - 900u : below(pair, 200));
	header[20] = HS_OPT_E2E;
	header[21] = 2;
	memmove(frame + 54 + sizeof(header), frame + 54, len - 54);
	memcpy(frame + 54, header, sizeof(header));
	frame[20] = 0;
	hs_be16_store(frame + 18, (uint16_t)(p.l3_bytes - 40 + sizeof(header)));
	return len + sizeof(header);
}

// The source's entry in front of the others.
static void swap_options(uint8_t *frame, size_t len)
{
	struct hs_packet p;
	uint8_t trace[300];

	hs_flexint_parse(frame, len, len, &p);
	if (!(p.flags & HS_PACKET_TELEMETRY) || p.e2e_off < p.trace_off)
		return;
	size_t trace_bytes = p.e2e_off - p.trace_off, e2e_bytes = 2u + frame[p.e2e_off + 1];
	memcpy(trace, frame + p.trace_off, trace_bytes);
	memmove(frame + p.trace_off, frame + p.e2e_off, e2e_bytes);
	memcpy(frame + p.trace_off + e2e_bytes, trace, trace_bytes);
}

// Anything from a plain packet to one with some bytes of its headers changed and its end cut off.
static size_t any_frame(struct pair *pair, bool traced, uint8_t *frame)
{
	size_t len = plain_frame(pair, frame);

	if (traced && !below(pair, 8))
		len = insert_bare(pair, frame, len);
	else if (below(pair, 8) < (traced ? 7 : 1))
		len = insert_source(pair, frame, len);
	for (unsigned hops = below(pair, 4) ? below(pair, 4) : below(pair, 12); traced && hops;
			hops--)
		len = insert_hop(pair, frame, len);
	for (unsigned gaps = below(pair, 4) ? 0 : 1 + below(pair, 3); traced && gaps; gaps--)
		len = insert_gap(pair, frame, len);
	if (traced && !below(pair, 4))
		len = insert_signal(pair, frame, len);
	if (traced && !below(pair, 6))
		swap_options(frame, len);
	for (unsigned n = below(pair, 3) ? 0 : 1 + below(pair, 3); n; n--)
		frame[12 + below(pair, 76)] = (uint8_t)below(pair, below(pair, 2) ? 256 : 60);
	return below(pair, 12) ? len : 1 + below(pair, (uint32_t)len);
}

// To a router, which here and there has an objection.
static void address(struct pair *pair, uint8_t *frame, size_t len)
{
	static const uint8_t first[][2] = {{0xff, 0x02}, {0xfe, 0x80}, {0xfe, 0xbf}, {0xfe, 0xc0},
			{0xfc, 0}, {0xfd, 1}, {0x3f, 0xff}, {0x40, 0}, {0x20, 0}, {0, 0}};

	if (len < 54)
		return;
	memcpy(frame, (uint8_t[]){2, 0, 0, 0, 0, 7}, 6);
	if (!below(pair, 10))
		frame[below(pair, 6)] ^= (uint8_t)(1u << below(pair, 8));
	size_t ip = frame[12] == 0x81 ? 18 : 14;
	if (!below(pair, 10)) { // routable, were it untagged IPv6
		hs_be16_store(frame + ip - 2, ip == 14 ? 0x0800 : 0x86dd);
		frame[14 + 7] = 64;
		frame[14 + 8] = frame[14 + 24] = 0x20;
		return;
	}
	frame[ip + 7] = below(pair, 10) ? 64 : (uint8_t)below(pair, 3);
	for (size_t at = ip + 8; at <= ip + 24; at += 16) {
		if (below(pair, 10))
			continue;
		memset(frame + at, 0, 15);
		memcpy(frame + at, first[below(pair, RTE_DIM(first))], 2);
		frame[at + 15] = (uint8_t)below(pair, 3);
	}
}

// The same frame to both; now and then in two segments, with little room in front, or with another
// owner until the round is over.
static void feed(struct pair *pair, const uint8_t *frame, size_t len)
{
	size_t first = below(pair, 12) ? 0 : 1 + below(pair, (uint32_t)len);
	uint32_t headroom = below(pair, 12) ? 128 : below(pair, 60);
	bool held = !below(pair, 12);

	for (int i = 0; i < 2; i++) {
		struct test_port *in = &pair->nodes[i].ports[0];
		test_node_feed(&pair->nodes[i], 0, frame, len, first);
		struct rte_mbuf *m = in->in[in->n_in - 1];
		uint8_t *from = rte_pktmbuf_mtod(m, uint8_t *);
		m->data_off = (uint16_t)headroom;
		memmove(rte_pktmbuf_mtod(m, uint8_t *), from, m->data_len);
		if (!held)
			continue;
		for (struct rte_mbuf *part = m; part; part = part->next)
			rte_mbuf_refcnt_update(part, 1);
		memcpy(pair->held_bytes[pair->n_held], frame, m->data_len);
		pair->held[pair->n_held++] = m;
	}
}

// ---- comparing ----

static void compare_frames(struct pair *pair)
{
	for (unsigned port = 0; port < 2; port++) {
		uint8_t want[2304], got[2304];
		size_t len;
		do {
			len = test_node_take(&pair->nodes[0], port, want, sizeof(want));
			assert_int_equal(test_node_take(&pair->nodes[1], port, got, sizeof(got)),
					len);
			assert_memory_equal(got, want, len);
		} while (len);
	}
}

static void compare_reports(struct pair *pair, unsigned most)
{
	static struct hs_report_record want[64], got[64];
	unsigned n = take_reports(pair->nodes[0].node, want, most);

	assert_int_equal(take_reports(pair->nodes[1].node, got, most), n);
	for (unsigned i = 0; i < n; i++) {
		assert_memory_equal(&got[i], &want[i], offsetof(struct hs_report_record, reserved));
		assert_memory_equal(got[i].data, want[i].data,
				(size_t)want[i].trace_len + want[i].e2e_len);
	}
}

// Control: some pending options are filled, some taken back, the same in both.
static void make_pending(struct pair *pair)
{
	for (uint32_t k = 0; k < FLOWS + CARRIERS; k++) {
		uint8_t bytes[600];
		uint16_t n = 0;
		bool fill = !below(pair, 4), hold = below(pair, 2), look = below(pair, 3);
		for (unsigned parts = 1 + below(pair, 3); parts; parts--) {
			uint8_t data = (uint8_t)(1 + below(pair, below(pair, 3) ? 60 : 180));
			memset(bytes + n, 0x77, 2u + data);
			memcpy(bytes + n, (const uint8_t[]){HS_OPT_REQUEST + (k & 1), data}, 2);
			n = (uint16_t)(n + 2u + data);
		}
		for (int i = 0; i < 2; i++) {
			struct hs_flow_table *flows = hs_node_flows(pair->nodes[i].node);
			struct hs_flow_pending *pending =
					hs_flow_table_pending(flows, pair->pending[k]);
			memcpy(pending->bytes, bytes, n);
			pending->n_bytes = n;
			pending->holds_telemetry = hold;
			pending->state = fill ? HS_PENDING_READY : HS_PENDING_EMPTY;
			hs_flow_table_pending_set(flows, pair->pending[k], look);
		}
	}
}

static void compare_pending(struct pair *pair)
{
	for (uint32_t k = 0; k < FLOWS + CARRIERS; k++) {
		struct hs_flow_pending *a, *b;
		a = hs_flow_table_pending(hs_node_flows(pair->nodes[0].node), pair->pending[k]);
		b = hs_flow_table_pending(hs_node_flows(pair->nodes[1].node), pair->pending[k]);
		assert_int_equal(a->state, b->state);
		assert_int_equal(a->refused, b->refused);
		assert_int_equal(a->sent_ns, b->sent_ns);
		pair->n_carried += a->state == HS_PENDING_SENT;
	}
}

static void compare_signals(struct pair *pair, unsigned most)
{
	static struct hs_punt want[64], got[64];
	unsigned n = hs_node_take_punts(pair->nodes[0].node, want, most);

	assert_int_equal(hs_node_take_punts(pair->nodes[1].node, got, most), n);
	for (unsigned i = 0; i < n; i++) {
		assert_memory_equal(&got[i], &want[i], offsetof(struct hs_punt, data));
		assert_memory_equal(got[i].data, want[i].data, want[i].len);
		pair->n_taken += want[i].taken;
	}
}

static void compare_counters(struct pair *pair)
{
	struct hs_port_counters want[HS_MAX_PORTS], got[HS_MAX_PORTS];
	struct hs_worker_counters workers[2];

	hs_node_snapshot(pair->nodes[0].node, want);
	hs_node_snapshot(pair->nodes[1].node, got);
	assert_memory_equal(got, want, 2 * sizeof(got[0]));
	for (uint32_t k = 0; k < FLOWS; k++) {
		struct hs_flow_counters a, b;
		test_node_counters(&pair->nodes[0], 100 + k, &a);
		test_node_counters(&pair->nodes[1], 100 + k, &b);
		assert_memory_equal(&a, &b, sizeof(a));
	}
	for (int i = 0; i < 2; i++)
		hs_node_worker_counters(pair->nodes[i].node, 0, &workers[i]);
	assert_memory_equal(&workers[0], &workers[1], sizeof(workers[0]));
}

static void round_of(struct pair *pair, bool traced)
{
	unsigned n = 1 + below(pair, 32), accepts = below(pair, 8) ? HARNESS_QUEUE : 20;
	bool usual = below(pair, 2);	  // else every kind in one burst
	bool strangers = !below(pair, 4); // no rule for any of the usual ones

	hs_clock_set(pair->clock, hs_clock_now(pair->clock) + 300000);
	if (!below(pair, 4))
		make_pending(pair);
	for (unsigned i = 0; i < n; i++) {
		uint8_t frame[ROOM];
		size_t len = usual ? plain_frame(pair, frame) : any_frame(pair, traced, frame);
		if (usual && strangers)
			frame[53] = 77;
		else if (usual && traced)
			len = insert_source(pair, frame, len);
		if (pair->routed)
			address(pair, frame, len);
		feed(pair, frame, len);
	}
	for (int i = 0; i < 2; i++) {
		pair->nodes[i].ports[1].accepts = accepts;
		test_node_run(&pair->nodes[i]);
	}
	compare_frames(pair);
	compare_reports(pair, below(pair, 40));
	compare_signals(pair, below(pair, 20));
	compare_pending(pair);
	compare_counters(pair);
	for (unsigned i = 0; i < pair->n_held; i++) // where it began and ended when it was fed
		assert_memory_equal(rte_pktmbuf_mtod(pair->held[i], uint8_t *), pair->held_bytes[i],
				pair->held[i]->data_len);
	rte_pktmbuf_free_bulk(pair->held, pair->n_held);
	pair->n_held = 0;
}

static void pair_agrees(const enum hs_port_side *sides, struct hs_node_config config)
{
	static struct pair pair;

	pair_open(&pair, sides, config, 7u + config.layout + 2u * config.host_side_policy);
	for (int i = 0; i < ROUNDS; i++)
		round_of(&pair, sides[0] == HS_SIDE_NETWORK);
	assert_true(!(sides == SOURCE_SIDES) == !pair.n_carried);
	assert_true(!(sides[0] == HS_SIDE_NETWORK) == !pair.n_taken);
	pair_close(&pair);
}

static void a_source_gives_the_same_with_the_fast_path_and_without(void **state)
{
	(void)state;
	pair_agrees(SOURCE_SIDES, (struct hs_node_config){.layout = HS_LAYOUT_ALIGNED});
	pair_agrees(SOURCE_SIDES, (struct hs_node_config){.layout = HS_LAYOUT_PAPER,
						  .host_side_policy = HS_HOST_DROP});
}

static void a_transit_node_gives_the_same_with_the_fast_path_and_without(void **state)
{
	const struct hs_partial partial = {
			.packets = {.policy = HS_PARTIAL_PROBABILITY, .probability_percent = 40},
			.bytes = {.policy = HS_PARTIAL_THRESHOLD,
					.min_change = 1000,
					.max_age_ns = 2000000},
	};

	(void)state;
	pair_agrees(TRANSIT_SIDES, (struct hs_node_config){.id = 7});
	pair_agrees(TRANSIT_SIDES, (struct hs_node_config){.id = 7, .partial = partial});
}

static void a_sink_gives_the_same_with_the_fast_path_and_without(void **state)
{
	(void)state;
	pair_agrees(SINK_SIDES, (struct hs_node_config){.id = 7});
}

static void hosts_get_the_same_from_hosts_with_the_fast_path_and_without(void **state)
{
	static const enum hs_port_side sides[] = {HS_SIDE_HOST, HS_SIDE_HOST};

	(void)state;
	pair_agrees(sides, (struct hs_node_config){.id = 7});
}

static void sums_over_two_workers_are_the_same_with_the_fast_path_and_without(void **state)
{
	(void)state;
	pair_agrees(SOURCE_SIDES, (struct hs_node_config){.n_workers = 2});
	pair_agrees(SINK_SIDES, (struct hs_node_config){.n_workers = 2});
}

static void a_router_gives_the_same_with_the_fast_path_and_without(void **state)
{
	struct hs_node_config config = {.id = 7, .forwarding = HS_FORWARD_ROUTE};

	(void)state;
	pair_agrees(TRANSIT_SIDES, config);
	pair_agrees(SOURCE_SIDES, config);
	pair_agrees(SINK_SIDES, config);
}

int main(void)
{
	dpdk_env_init("128");
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_source_gives_the_same_with_the_fast_path_and_without),
			cmocka_unit_test(
					a_transit_node_gives_the_same_with_the_fast_path_and_without),
			cmocka_unit_test(a_sink_gives_the_same_with_the_fast_path_and_without),
			cmocka_unit_test(
					hosts_get_the_same_from_hosts_with_the_fast_path_and_without),
			cmocka_unit_test(a_router_gives_the_same_with_the_fast_path_and_without),
			cmocka_unit_test(
					sums_over_two_workers_are_the_same_with_the_fast_path_and_without),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

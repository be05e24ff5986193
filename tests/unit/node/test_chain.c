// SPDX-License-Identifier: BSD-3-Clause
// Source, two transit nodes and a sink in one process, with a frame as it would cross a wire
// between each two: what leaves the last for its host is what entered the first, to the byte.
#include "flexint.h"
#include "frames.h"
#include "harness.h"
#include "sanitized.h"
#include "take_reports.h"

#define NODES  4
#define FRAMES CASES(100000)

struct chain {
	struct test_node nodes[NODES];
	struct rte_mempool *pool;
	struct hs_clock *clock;
	uint64_t reports, hops;
};

static struct hs_rule rule_number(uint32_t k)
{
	static const uint8_t protocols[] = {IPPROTO_TCP, IPPROTO_UDP, IPPROTO_ICMPV6};
	struct hs_rule rule;

	hs_rule_init(&rule);
	rule.ns_id = k + 1;
	rule.src_ip[0] = 0x20;
	hs_be16_store(&rule.src_ip[14], (uint16_t)(k / 3));
	rule.dst_ip[0] = 0x20;
	rule.protocol = protocols[k % 3];
	rule.trace_type = (k / 3 % 16) << 28 | (k / 3 / 16) << 13;
	rule.mode = HS_MODE_COUNT;
	rule.mode_setting = 1;
	return rule;
}

#define TRACE_TYPES 128

static void chain_open(struct chain *c, uint8_t layout, uint16_t mtu)
{
	static const enum hs_port_side sides[NODES][2] = {
			{HS_SIDE_HOST, HS_SIDE_NETWORK},
			{HS_SIDE_NETWORK, HS_SIDE_NETWORK},
			{HS_SIDE_NETWORK, HS_SIDE_NETWORK},
			{HS_SIDE_NETWORK, HS_SIDE_HOST},
	};
	memset(c, 0, sizeof(*c));
	c->pool = rte_pktmbuf_pool_create("chain", 1023, 0, 0, 9600, SOCKET_ID_ANY);
	assert_non_null(c->pool);
	assert_int_equal(hs_clock_create_manual(1700000000000000000, &c->clock), 0);
	for (unsigned n = 0; n < NODES; n++) {
		struct hs_node_config config = {
				.id = (uint16_t)(n + 1),
				.n_workers = 1,
				.rules = 1024,
				.n_pairs = 1,
				.pairs = {{0, 1}},
				.layout = layout,
				.seed = n,
		};
		test_node_open(&c->nodes[n], &config, sides[n], 2, mtu, c->pool, c->clock);
		for (uint32_t k = 0; k < 3 * TRACE_TYPES; k++) {
			struct hs_rule rule = rule_number(k);
			test_node_rule(&c->nodes[n], &rule);
		}
	}
}

static void chain_close(struct chain *c)
{
	for (unsigned n = 0; n < NODES; n++)
		test_node_close(&c->nodes[n]);
	assert_int_equal(rte_mempool_avail_count(c->pool), 1023); // no buffer lost
	rte_mempool_free(c->pool);
	hs_clock_destroy(c->clock);
}

static void count_reports(struct chain *c)
{
	struct hs_report_record records[32];
	unsigned n = take_reports(c->nodes[NODES - 1].node, records, 32);

	for (unsigned i = 0; i < n; i++) {
		struct hs_report report;
		assert_int_equal(hs_report_decode(&records[i], &hs_flexint_family, &report), 0);
		c->reports++;
		c->hops += report.telemetry.n_hops;
		assert_int_equal(report.telemetry.trace_type,
				rule_number(report.telemetry.ns_id - 1).trace_type);
	}
}

// Sends one frame through all nodes; segments of `first` bytes where not 0.
static size_t chain_pass(struct chain *c, const struct frame *f, size_t first, uint8_t *out)
{
	static uint8_t wire[FRAME_MAX + 1024];
	size_t len = f->len;

	memcpy(wire, f->bytes, len);
	for (unsigned n = 0; n < NODES; n++) {
		test_node_feed(&c->nodes[n], 0, wire, len, first);
		test_node_run(&c->nodes[n]);
		len = test_node_take(&c->nodes[n], 1, wire, sizeof(wire));
		assert_int_not_equal(len, 0);
	}
	count_reports(c);
	memcpy(out, wire, len);
	return len;
}

static bool looks_like_telemetry(const struct frame *f)
{
	struct hs_packet packet;

	hs_flexint_parse(f->bytes, f->len, f->len, &packet);
	return packet.flags & HS_PACKET_ANY_TELEMETRY;
}

static void pass_frames(struct chain *c, uint64_t seed, bool segmented, unsigned n)
{
	static uint8_t out[FRAME_MAX + 1024];
	static struct frame f;
	struct hs_rng rng;

	hs_rng_init(&rng, seed);
	for (unsigned i = 0; i < n; i++) {
		frame_make(&f, &rng, (uint16_t)frame_below(&rng, TRACE_TYPES));
		if (looks_like_telemetry(&f)) // by chance of damage: no host may send that
			continue;
		size_t first = segmented ? 1 + frame_below(&rng, (uint32_t)f.len) : 0;
		size_t len = chain_pass(c, &f, first, out);
		assert_int_equal(len, f.len);
		assert_memory_equal(out, f.bytes, len);
	}
	for (unsigned k = 0; k < NODES; k++)
		test_node_audit(&c->nodes[k]);
}

static void counters_agree_along_the_chain(struct chain *c, uint64_t *sampled, uint64_t *made)
{
	*sampled = *made = 0;
	for (uint32_t k = 0; k < 3 * TRACE_TYPES; k++) {
		struct hs_flow_counters first, here;
		test_node_counters(&c->nodes[0], k + 1, &first);
		*sampled += first.int_packets;
		for (unsigned n = 0; n < NODES; n++) {
			test_node_counters(&c->nodes[n], k + 1, &here);
			assert_int_equal(here.rx_packets, first.rx_packets);
			assert_int_equal(here.tx_packets, first.tx_packets);
			assert_int_equal(here.rx_bytes, first.rx_bytes);
			assert_int_equal(here.tx_bytes, first.tx_bytes);
		}
		assert_int_equal(here.sink_packets, first.int_packets);
		*made += here.reports_made;
	}
}

static void run_chain(uint8_t layout, bool segmented, unsigned n)
{
	struct chain c;
	uint64_t sampled, made;

	chain_open(&c, layout, 9500);
	pass_frames(&c, layout + 10u * segmented, segmented, n);
	counters_agree_along_the_chain(&c, &sampled, &made);
	print_message("%u frames, %lu carried telemetry over %lu hops\n", n, c.reports, c.hops);
	assert_true(sampled > n / 3); // the test is about telemetry, not about plain forwarding
	assert_int_equal(made, sampled);
	assert_int_equal(c.reports, sampled);
	assert_true(c.hops > sampled);
	chain_close(&c);
}

static void every_shape_of_frame_comes_out_as_it_went_in_aligned(void **state)
{
	(void)state;
	run_chain(HS_LAYOUT_ALIGNED, false, FRAMES / 2);
}

static void every_shape_of_frame_comes_out_as_it_went_in_paper_layout(void **state)
{
	(void)state;
	run_chain(HS_LAYOUT_PAPER, false, FRAMES / 2);
}

static void chains_split_at_any_byte_come_out_as_they_went_in(void **state)
{
	(void)state;
	run_chain(HS_LAYOUT_ALIGNED, true, FRAMES / 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(every_shape_of_frame_comes_out_as_it_went_in_aligned),
			cmocka_unit_test(every_shape_of_frame_comes_out_as_it_went_in_paper_layout),
			cmocka_unit_test(chains_split_at_any_byte_come_out_as_they_went_in),
	};
	dpdk_env_init("256");
	return cmocka_run_group_tests_name("chain of nodes", tests, NULL, NULL);
}

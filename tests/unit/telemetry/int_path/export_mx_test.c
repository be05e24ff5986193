// SPDX-License-Identifier: BSD-3-Clause
// Reports of INT-MX in transit: the fast path sends what the general path sends, byte for byte, for
// packets of any length and in several segments, and loses what the general path loses, unless
// several receivers share too few buffers.
#include "int_steps.h"
#include "ip_address.h"
#include "toy_flow.h"

#include <stdlib.h>

#define NOW    INT64_C(1700000000000000000)
#define ROUNDS 60
enum {
	IN,
	OUT,
	MON,
	N_PORTS
};
enum {
	GENERAL,
	FAST,
	N_NODES
};

static struct rte_mempool *pool;
static struct hs_clock *hs_test_clock;

static void open_node(struct test_node *node, enum hs_port_side in,
		const struct hs_int_settings *settings, const struct hs_export_config *exports,
		unsigned n)
{
	const enum hs_port_side sides[N_PORTS] = {in, HS_SIDE_NETWORK, HS_SIDE_HOST};
	struct hs_node_config config = {.id = n ? 2 : 1,
			.n_workers = 1,
			.rules = 64,
			.n_pairs = 1,
			.pairs = {{IN, OUT}},
			.n_exports = n};

	if (n)
		memcpy(config.exports, exports, n * sizeof(*exports));
	for (unsigned p = 0; p < N_PORTS; p++)
		config.profiles[p] = (struct hs_profile){
				.family = &hs_int_steps[settings->version], .settings = settings};
	test_node_open(node, &config, sides, N_PORTS, 1500, pool, hs_test_clock);
}

static void close_node(struct test_node *node)
{
	test_node_audit(node);
	test_node_close(node);
	assert_int_equal(rte_mempool_avail_count(pool), 511);
}

// A frame that a source sent, which asks for this.
static size_t asking(const struct hs_int_settings *settings, uint16_t instructions, uint8_t *frame)
{
	struct hs_rule rule = vector_rule(7);
	struct test_node source;

	open_node(&source, HS_SIDE_HOST, settings, NULL, 0);
	rule.method = HS_RULE_INT;
	rule.trace_type = HS_RULE_TRACE_INT | instructions;
	test_node_rule(&source, &rule);
	test_node_feed(&source, IN, frame, unhex(PACKET, frame), 0);
	test_node_run(&source);
	size_t len = test_node_take(&source, OUT, frame, 2048);
	close_node(&source);
	return len;
}

static struct hs_export_config to_collector(
		enum hs_int_report_version format, bool ipv6, uint16_t bytes)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};
	struct hs_export_config config = {.format = format,
			.flows = true,
			.bytes = bytes,
			.port = MON,
			.to.port = 32766,
			.hw_id = (uint8_t)(format + 3)};

	assert_null(hs_ip_address_read(ipv6 ? "2001:db8::9" : "192.0.2.9", config.to.address));
	assert_null(hs_ip_address_read(ipv6 ? "2001:db8::1" : "192.0.2.1", config.from));
	memcpy(config.mac, mac, sizeof(mac));
	return config;
}

struct frames {
	uint8_t bytes[3][2048];
	size_t len[3];
};

// INT-MX with two sets of instructions, and INT-MD, which this node reports nothing of.
static void make_frames(const struct hs_int_settings *mx, struct frames *frames)
{
	struct hs_int_settings md = *mx;

	md.mode = HS_INT_MD;
	memset(frames, 0x5a, sizeof(*frames));
	frames->len[0] = asking(mx,
			HS_RULE_ASKS_node_id | HS_RULE_ASKS_ports | HS_RULE_ASKS_hop_latency |
					HS_RULE_ASKS_ingress_timestamp |
					HS_RULE_ASKS_egress_timestamp,
			frames->bytes[0]);
	frames->len[1] = asking(mx, HS_RULE_ASKS_ports, frames->bytes[1]);
	frames->len[2] = asking(&md, HS_RULE_ASKS_node_id, frames->bytes[2]);
}

// Bytes behind IP make a frame longer.
static void feed(struct test_node *node, const struct frames *frames, unsigned n, unsigned round)
{
	for (unsigned k = 0; k < n; k++) {
		unsigned which = k % 8 == 7 ? 2 : k / 8 & round & 1;
		size_t len = frames->len[which] + (round % 4 == 0 ? 0 : k * round % 300);
		size_t first = k % 5 == 3 ? frames->len[which] / 2 : k % 5 == 4 ? 130 : 0;
		test_node_feed(node, IN, frames->bytes[which], len, first);
	}
	node->ports[MON].accepts = round % 7 == 3 ? 5 : round % 11 == 10 ? 0 : 64;
	node->ports[MON].port.usable = round % 13 != 5;
	test_node_run(node);
}

static unsigned same_frames(struct test_node nodes[N_NODES], unsigned port)
{
	uint8_t got[N_NODES][2048];
	unsigned n = 0;

	for (;; n++) {
		size_t len = test_node_take(&nodes[GENERAL], port, got[GENERAL], 2048);
		assert_int_equal(test_node_take(&nodes[FAST], port, got[FAST], 2048), len);
		if (!len)
			return n;
		assert_memory_equal(got[FAST], got[GENERAL], len);
	}
}

static void same_counters(const struct test_node nodes[N_NODES])
{
	struct hs_worker_counters c[N_NODES];

	for (unsigned k = 0; k < N_NODES; k++)
		hs_node_worker_counters(nodes[k].node, 0, &c[k]);
	assert_int_equal(c[FAST].exports_sent, c[GENERAL].exports_sent);
	assert_int_equal(c[FAST].exports_lost_tx_full, c[GENERAL].exports_lost_tx_full);
	assert_int_equal(c[FAST].exports_lost_port_down, c[GENERAL].exports_lost_port_down);
	assert_int_equal(c[FAST].exports_lost_no_mbuf, c[GENERAL].exports_lost_no_mbuf);
	assert_int_equal(c[FAST].exports_over_quota, c[GENERAL].exports_over_quota);
	assert_int_not_equal(c[FAST].exports_lost_tx_full, 0);
	assert_int_not_equal(c[FAST].exports_lost_port_down, 0);
}

static void open_both(struct test_node nodes[N_NODES], const struct hs_int_settings *settings,
		const struct hs_export_config *exports, unsigned n)
{
	setenv("HS_GENERAL_PATH", "1", 1);
	open_node(&nodes[GENERAL], HS_SIDE_NETWORK, settings, exports, n);
	unsetenv("HS_GENERAL_PATH");
	open_node(&nodes[FAST], HS_SIDE_NETWORK, settings, exports, n);
}

static void compare(const struct hs_int_settings *settings, const struct frames *frames,
		const struct hs_export_config *exports, unsigned n)
{
	struct test_node nodes[N_NODES];
	unsigned reports = 0, packets = n > 1 ? 20 : 40;

	open_both(nodes, settings, exports, n);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned k = 0; k < N_NODES; k++)
			feed(&nodes[k], frames, packets, round);
		reports += same_frames(nodes, MON);
		assert_int_equal(same_frames(nodes, OUT), packets);
	}
	same_counters(nodes);
	assert_true(reports > ROUNDS * 10);
	for (unsigned k = 0; k < N_NODES; k++) {
		test_node_audit(&nodes[k]);
		test_node_close(&nodes[k]);
	}
	assert_int_equal(rte_mempool_avail_count(pool), 511);
}

static void fast_and_general_report_the_same(void **state)
{
	static const uint16_t bytes[] = {
			HS_EXPORT_BYTES, HS_EXPORT_MIN_BYTES, 61, HS_EXPORT_MAX_BYTES};
	static struct frames frames;
	struct hs_int_settings settings;
	(void)state;

	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	settings.mode = HS_INT_MX;
	make_frames(&settings, &frames);
	for (unsigned format = 0; format < 3; format++) {
		for (unsigned k = 0; k < 2 * RTE_DIM(bytes); k++) {
			struct hs_export_config config = to_collector(format, k & 1, bytes[k / 2]);
			config.quota_per_s = k == 2 ? 900 : 0;
			compare(&settings, &frames, &config, 1);
		}
	}
}

static void several_collectors_get_their_own(void **state)
{
	static struct frames frames;
	struct hs_int_settings settings;
	struct hs_export_config configs[] = {to_collector(HS_INT_REPORT_2_0, false, 128),
			to_collector(HS_INT_REPORT_1_0, true, 70),
			to_collector(HS_INT_REPORT_0_5, false, 1000)};
	(void)state;

	configs[1].flows = false;
	configs[1].drops = true;
	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	settings.mode = HS_INT_MX;
	make_frames(&settings, &frames);
	compare(&settings, &frames, configs, 3);
	configs[2].on = HS_EXPORT_ON_CHANGE; // then nothing is prepared
	configs[1].flows = true;
	compare(&settings, &frames, configs, 3);
}

// The run asks for 30 buffers at once. Where there are 10, ten reports are sent.
static void a_pool_that_is_nearly_empty_serves_some(void **state)
{
	const struct hs_export_config config = to_collector(HS_INT_REPORT_2_0, false, 128);
	static struct frames frames;
	struct hs_int_settings settings;
	struct hs_worker_counters c;
	struct rte_mbuf *held[511];
	struct test_node node;
	uint8_t got[2048];
	(void)state;

	hs_int_settings_init(&settings, HS_INT_2_1, HS_INT_TCP_UDP);
	settings.mode = HS_INT_MX;
	make_frames(&settings, &frames);
	open_node(&node, HS_SIDE_NETWORK, &settings, &config, 1);
	for (unsigned k = 0; k < 30; k++)
		test_node_feed(&node, IN, frames.bytes[0], frames.len[0], 0);
	unsigned n = rte_mempool_avail_count(pool) - 10;
	assert_int_equal(rte_pktmbuf_alloc_bulk(pool, held, n), 0);
	test_node_run(&node);
	hs_node_worker_counters(node.node, 0, &c);
	assert_int_equal(c.exports_sent, 10);
	assert_int_equal(c.exports_lost_no_mbuf, 20);
	rte_pktmbuf_free_bulk(held, n);
	while (test_node_take(&node, OUT, got, sizeof(got)) ||
			test_node_take(&node, MON, got, sizeof(got)))
		;
	close_node(&node);
}

static int begin(void **state)
{
	(void)state;
	pool = rte_pktmbuf_pool_create("export mx", 511, 0, 0, 2048, SOCKET_ID_ANY);
	return !pool || hs_clock_create_manual(NOW, &hs_test_clock);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(fast_and_general_report_the_same),
			cmocka_unit_test(several_collectors_get_their_own),
			cmocka_unit_test(a_pool_that_is_nearly_empty_serves_some),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, begin, NULL);
}

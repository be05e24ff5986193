// SPDX-License-Identifier: BSD-3-Clause
// Four nodes in a row that speak INT: a source, two in transit, and a sink.
#pragma once

#include "int_steps.h"
#include "toy_flow.h"

#include <rte_ip.h>

#define NOW INT64_C(1700000000000000000)

struct row {
	struct test_node nodes[4]; // source, two transits, sink
	struct rte_mempool *pool;
	struct hs_clock *clock;
};

// The policies of the next row.
__attribute__((unused)) static enum hs_host_side_policy row_host_side;
__attribute__((unused)) static bool row_passes_malformed;

static inline struct row *open_row(const struct hs_int_settings *settings, uint16_t mtu)
{
	static const enum hs_port_side sides[4][2] = {{HS_SIDE_HOST, HS_SIDE_NETWORK},
			{HS_SIDE_NETWORK, HS_SIDE_NETWORK}, {HS_SIDE_NETWORK, HS_SIDE_NETWORK},
			{HS_SIDE_NETWORK, HS_SIDE_HOST}};
	const struct hs_profile profile = {.family = &hs_int_steps[settings->version],
			.settings = settings,
			.pass_malformed = row_passes_malformed};
	struct row *row = calloc(1, sizeof(*row));

	row->pool = rte_pktmbuf_pool_create("row", 255, 0, 0, 2048, SOCKET_ID_ANY);
	assert_non_null(row->pool);
	assert_int_equal(hs_clock_create_manual(NOW, &row->clock), 0);
	for (unsigned n = 0; n < 4; n++) {
		struct hs_node_config config = {.id = (uint16_t)(n + 1),
				.n_workers = 1,
				.rules = 64,
				.n_pairs = 1,
				.pairs = {{0, 1}},
				.host_side_policy = row_host_side};
		for (unsigned p = 0; p < 2; p++)
			if (sides[n][p] == HS_SIDE_NETWORK)
				config.profiles[p] = profile;
		test_node_open(&row->nodes[n], &config, sides[n], 2, mtu, row->pool, row->clock);
	}
	return row;
}

static inline void close_row(struct row *row)
{
	for (unsigned n = 0; n < 4; n++) {
		test_node_audit(&row->nodes[n]);
		test_node_close(&row->nodes[n]);
	}
	assert_int_equal(rte_mempool_avail_count(row->pool), 255);
	rte_mempool_free(row->pool);
	hs_clock_destroy(row->clock);
	free(row);
}

static inline void ask(struct test_node *node, uint16_t instructions)
{
	struct hs_rule rule = vector_rule(7);

	rule.method = HS_RULE_INT;
	rule.trace_type = HS_RULE_TRACE_INT | instructions;
	test_node_rule(node, &rule);
}

static inline size_t through(struct test_node *node, uint8_t *frame, size_t len)
{
	test_node_feed(node, 0, frame, len, 0);
	test_node_run(node);
	return test_node_take(node, 1, frame, 2048);
}

static inline struct hs_int_settings settings_of(enum hs_int_version version)
{
	struct hs_int_settings settings;

	hs_int_settings_init(&settings, version,
			version == HS_INT_2016_06 ? HS_INT_VXLAN_GPE : HS_INT_TCP_UDP);
	return settings;
}

// 10.0.0.1 to 192.0.2.1, UDP 0x1234 to 5001, 16 bytes; `fragment` is 0x4000 with "don't fragment".
static inline size_t ipv4_packet(uint8_t *frame, uint16_t fragment)
{
	size_t len = unhex("0200000000020200000000010800"
			   "4500002c00010000401100000a000001c0000201"
			   "1234138900180000494e544441544121494e544441544121",
			frame);

	frame[20] = (uint8_t)(fragment >> 8);
	uint16_t sum = rte_ipv4_cksum((const struct rte_ipv4_hdr *)(frame + 14));
	memcpy(frame + 24, &sum, 2);
	return len;
}

// Rule 7 of PACKET, or of ipv4_packet.
static inline struct hs_rule int_rule(bool ipv4, uint16_t instructions)
{
	struct hs_rule rule = vector_rule(7);

	rule.method = HS_RULE_INT;
	rule.trace_type = HS_RULE_TRACE_INT | instructions;
	if (ipv4) {
		unhex("00000000000000000000ffff0a000001", rule.src_ip);
		unhex("00000000000000000000ffffc0000201", rule.dst_ip);
	}
	return rule;
}

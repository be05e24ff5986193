// SPDX-License-Identifier: BSD-3-Clause
// A node of the family int whose third port sends reports to a collector, for tests of what it
// reports.
#pragma once

#include "int_report_reader.h"
#include "int_steps.h"
#include "ip_address.h"
#include "toy_flow.h"

#define NOW INT64_C(1700000000000000000) // 0x17979cfe362a0000
enum {
	IN,
	OUT,
	MON,
	N_PORTS
};

static struct rte_mempool *pool;
static struct hs_clock *hs_test_clock;

static inline struct hs_export_config to_collector(enum hs_int_report_version format)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};
	struct hs_export_config config = {.format = format,
			.flows = true,
			.bytes = HS_EXPORT_BYTES,
			.port = MON,
			.to.port = 32766};

	assert_null(hs_ip_address_read("192.0.2.9", config.to.address));
	assert_null(hs_ip_address_read("192.0.2.1", config.from));
	memcpy(config.mac, mac, sizeof(mac));
	return config;
}

struct place {
	enum hs_port_side in, out;
	uint16_t id;
	bool forwards;
};
static const struct place SOURCE = {HS_SIDE_HOST, HS_SIDE_NETWORK, 1, true};
static const struct place TRANSIT = {HS_SIDE_NETWORK, HS_SIDE_NETWORK, 2, true};
static const struct place SINK = {HS_SIDE_NETWORK, HS_SIDE_HOST, 4, true};

static inline void open_node(struct test_node *node, const struct place *place,
		const struct hs_int_settings *settings, const struct hs_export_config *exports,
		unsigned n)
{
	const enum hs_port_side sides[N_PORTS] = {place->in, place->out, HS_SIDE_HOST};
	struct hs_node_config config = {.id = place->id,
			.n_workers = 1,
			.rules = 64,
			.n_pairs = place->forwards,
			.pairs = {{IN, OUT}},
			.n_exports = n};

	if (n)
		memcpy(config.exports, exports, n * sizeof(*exports));
	for (unsigned p = 0; p < N_PORTS; p++)
		config.profiles[p] = (struct hs_profile){
				.family = &hs_int_steps[settings->version], .settings = settings};
	test_node_open(node, &config, sides, N_PORTS, 1500, pool, hs_test_clock);
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
	test_node_feed(node, IN, frame, len, 0);
	test_node_run(node);
	return test_node_take(node, OUT, frame, 2048);
}

static inline void close_node(struct test_node *node)
{
	test_node_audit(node);
	test_node_close(node);
	assert_int_equal(rte_mempool_avail_count(pool), 255);
}

// Takes a datagram, checks what is in front, and reads its report.
static inline size_t receive(struct test_node *node, struct hs_int_report *report, uint8_t *frame,
		struct hs_int_report_reader *reader)
{
	size_t len = test_node_take(node, MON, frame, 2048);

	if (!len)
		return 0;
	assert_int_equal(frame[16] << 8 | frame[17], len - 14); // IPv4's total length
	assert_int_equal(frame[38] << 8 | frame[39], len - 34); // UDP's
	assert_int_equal(hs_int_report_open(reader, frame + 42, len - 42,
					 HS_INT_REPORT_TAKE_0_5 | HS_INT_REPORT_TAKE_1_0 |
							 HS_INT_REPORT_TAKE_2_0),
			0);
	assert_int_equal(hs_int_report_next(reader, report), 1);
	return len;
}

static inline int begin(void **state)
{
	(void)state;
	pool = rte_pktmbuf_pool_create("export", 255, 0, 0, 2048, SOCKET_ID_ANY);
	return !pool || hs_clock_create_manual(NOW, &hs_test_clock);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "int_row.h"
#include "take_reports.h"

#include <stdio.h>

#define MBUFS 511

bool int_row_passes_malformed;

// How a packet lies in its buffers.
struct shape {
	size_t headroom, first; // bytes in the first segment; 0: all
	bool held;
};

static uint32_t below(struct int_row *row, uint32_t n)
{
	return hs_rng_u32(&row->rng) % n;
}

static void open_node(struct int_row *row, unsigned k, unsigned n, uint16_t mtu,
		enum hs_host_side_policy policy)
{
	static const enum hs_port_side sides[ROW_NODES][2] = {{HS_SIDE_HOST, HS_SIDE_NETWORK},
			{HS_SIDE_NETWORK, HS_SIDE_NETWORK}, {HS_SIDE_NETWORK, HS_SIDE_NETWORK},
			{HS_SIDE_NETWORK, HS_SIDE_HOST}};
	const struct hs_profile profile = {.family = &hs_int_steps[row->settings.version],
			.settings = &row->settings,
			.pass_malformed = int_row_passes_malformed};
	struct hs_node_config config = {.id = (uint16_t)(n + 1),
			.n_workers = 1,
			.rules = 64,
			.report_ring = 64,
			.n_pairs = 1,
			.pairs = {{0, 1}},
			.host_side_policy = policy};

	for (unsigned p = 0; p < 2; p++)
		if (sides[n][p] == HS_SIDE_NETWORK)
			config.profiles[p] = profile;
	k ? unsetenv("HS_GENERAL_PATH") : setenv("HS_GENERAL_PATH", "1", 1);
	test_node_open(&row->nodes[k][n], &config, sides[n], 2, mtu, row->pool, row->clock);
	unsetenv("HS_GENERAL_PATH");
}

struct int_row *int_row_open(const struct hs_int_settings *settings, uint16_t mtu,
		enum hs_host_side_policy policy, uint64_t seed)
{
	struct int_row *row = calloc(1, sizeof(*row));

	assert_non_null(row);
	row->settings = *settings;
	row->next_ns_id = 1;
	hs_rng_init(&row->rng, seed);
	row->pool = rte_pktmbuf_pool_create("int_row", MBUFS, 0, 0, 2304, SOCKET_ID_ANY);
	assert_non_null(row->pool);
	assert_int_equal(hs_clock_create_manual(ROW_NOW, &row->clock), 0);
	for (unsigned k = 0; k < 2; k++)
		for (unsigned n = 0; n < ROW_NODES; n++)
			open_node(row, k, n, mtu, policy);
	return row;
}

void int_row_close(struct int_row *row)
{
	struct hs_port_counters counters[2][HS_MAX_PORTS];

	for (unsigned n = 0; n < ROW_NODES; n++) {
		for (unsigned k = 0; k < 2; k++) {
			test_node_audit(&row->nodes[k][n]);
			memset(counters[k], 0, sizeof(counters[k]));
			hs_node_snapshot(row->nodes[k][n].node, counters[k]);
			test_node_close(&row->nodes[k][n]);
		}
		assert_memory_equal(counters[0], counters[1], sizeof(counters[0]));
	}
	assert_int_equal(rte_mempool_avail_count(row->pool), MBUFS);
	rte_mempool_free(row->pool);
	hs_clock_destroy(row->clock);
	free(row);
}

// ---- rules ----

static void fill_address(uint8_t address[16], bool ipv4, uint8_t byte)
{
	memset(address, byte, 16);
	if (ipv4) {
		memset(address, 0, 10);
		memset(address + 10, 0xff, 2);
	}
}

struct hs_rule int_row_rule(unsigned i, uint32_t ns_id, uint32_t trace_type)
{
	static const uint8_t protocols[2][3] = {{6, 17, 58}, {6, 17, 1}};
	struct hs_rule rule = vector_rule(ns_id);
	bool ipv4 = i / 3;

	rule.method = HS_RULE_INT;
	rule.trace_type = trace_type;
	rule.protocol = protocols[ipv4][i % 3];
	rule.dst_port = 0;
	fill_address(rule.src_ip, ipv4, 0x11);
	fill_address(rule.dst_ip, ipv4, 0x22);
	return rule;
}

static void replace_rules(struct int_row *row, unsigned n, uint32_t trace_type)
{
	for (unsigned i = 0; i < ROW_RULES; i++) {
		struct hs_rule rule = int_row_rule(i, row->next_ns_id + i, trace_type);
		for (unsigned k = 0; k < 2; k++) {
			struct hs_flow_table *flows = hs_node_flows(row->nodes[k][n].node);
			if (row->next_ns_id > ROW_RULES)
				assert_int_equal(hs_flow_table_remove(flows, rule.ns_id - ROW_RULES,
								 NULL),
						0);
			test_node_rule(&row->nodes[k][n], &rule);
		}
	}
}

void int_row_ask(struct int_row *row, uint32_t trace_type)
{
	replace_rules(row, 0, trace_type);
	replace_rules(row, ROW_NODES - 1, trace_type);
	row->next_ns_id += ROW_RULES;
}

// ---- packets ----

static struct shape some_shape(struct int_row *row, size_t len)
{
	static const size_t headrooms[] = {128, 128, 128, 40, 8, 0, 200};

	if (row->usual)
		return (struct shape){.headroom = 256};
	return (struct shape){.headroom = headrooms[below(row, 7)],
			.first = below(row, 4) ? 0 : 1 + below(row, (uint32_t)len),
			.held = !below(row, 6)};
}

static struct rte_mbuf *make(struct int_row *row, const struct frame *frame, struct shape shape)
{
	struct rte_mbuf *m = rte_pktmbuf_alloc(row->pool);
	size_t first = shape.first && shape.first < frame->len ? shape.first : frame->len;

	assert_non_null(m);
	m->data_off = (uint16_t)shape.headroom;
	memcpy(rte_pktmbuf_append(m, (uint16_t)first), frame->bytes, first);
	if (first < frame->len) {
		struct rte_mbuf *rest = rte_pktmbuf_alloc(row->pool);
		assert_non_null(rest);
		memcpy(rte_pktmbuf_append(rest, (uint16_t)(frame->len - first)),
				frame->bytes + first, frame->len - first);
		assert_int_equal(rte_pktmbuf_chain(m, rest), 0);
	}
	return m;
}

// Packet i has i as its first byte.
static void take(struct test_node *node, struct frame out[ROW_BATCH])
{
	uint8_t bytes[ROW_ROOM];
	size_t len;

	while ((len = test_node_take(node, 1, bytes, sizeof(bytes)))) {
		assert_true(bytes[0] < ROW_BATCH);
		assert_null(out[bytes[0]].bytes);
		out[bytes[0]] = frame_of(bytes, len);
	}
}

static void run_one(struct int_row *row, unsigned k, unsigned n, const struct shape *shapes,
		struct frame out[ROW_BATCH])
{
	struct test_node *node = &row->nodes[k][n];
	struct rte_mbuf *held[ROW_BATCH] = {NULL};
	size_t held_len[ROW_BATCH];

	for (unsigned i = 0; i < ROW_BATCH; i++) {
		if (!row->alive[i])
			continue;
		struct rte_mbuf *m = make(row, &row->frames[i], shapes[i]);
		if (shapes[i].held) {
			held[i] = m;
			held_len[i] = rte_pktmbuf_data_len(m);
			rte_mbuf_refcnt_update(m, 1);
		}
		node->ports[0].in[node->ports[0].n_in++] = m;
	}
	test_node_run(node);
	assert_int_equal(node->ports[0].n_out, 0);
	take(node, out);
	for (unsigned i = 0; i < ROW_BATCH; i++) {
		if (!held[i])
			continue;
		assert_memory_equal((uint8_t *)held[i]->buf_addr + shapes[i].headroom,
				row->frames[i].bytes, held_len[i]);
		rte_pktmbuf_free_seg(held[i]);
	}
}

void int_row_step(struct int_row *row, unsigned n)
{
	struct frame out[2][ROW_BATCH] = {0};
	struct shape shapes[ROW_BATCH];

	for (unsigned i = 0; i < ROW_BATCH; i++)
		if (row->alive[i])
			shapes[i] = some_shape(row, row->frames[i].len);
	for (unsigned k = 0; k < 2; k++)
		run_one(row, k, n, shapes, out[k]);
	for (unsigned i = 0; i < ROW_BATCH; i++) {
		if (!row->alive[i])
			continue;
		row->alive[i] = out[1][i].bytes;
		frame_free(&row->frames[i]);
		assert_int_equal(!out[0][i].bytes, !out[1][i].bytes);
		if (!row->alive[i])
			continue;
		frame_assert_equal(&out[1][i], &out[0][i]);
		frame_free(&out[0][i]);
		row->frames[i] = out[1][i];
	}
}

// ---- reports ----

void int_row_take_reports(struct int_row *row, bool decodable)
{
	struct hs_node *general = row->nodes[0][ROW_NODES - 1].node;
	struct hs_node *fast = row->nodes[1][ROW_NODES - 1].node;
	struct hs_report_record a, b;

	while (take_reports(general, &a, 1)) {
		struct hs_report report;
		assert_int_equal(take_reports(fast, &b, 1), 1);
		assert_memory_equal(&a, &b, offsetof(struct hs_report_record, reserved));
		assert_memory_equal(a.data, b.data, a.trace_len + (size_t)a.e2e_len);
		int rc = hs_report_decode(&a, hs_node_format(general, &a), &report);
		assert_true(rc == 0 || !decodable);
		row->n_reports++;
	}
	assert_int_equal(take_reports(fast, &b, 1), 0);
}

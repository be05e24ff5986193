// SPDX-License-Identifier: BSD-3-Clause
// A node of two or four ports, and the flow of the format's worked example, for the tests of a
// node.
#pragma once

#include "flexint.h"
#include "harness.h"
#include "hex.h"

#define NOW 1700000000000000000

__attribute__((unused)) static const enum hs_port_side SOURCE_SIDES[] = {
		HS_SIDE_HOST, HS_SIDE_NETWORK};
__attribute__((unused)) static const enum hs_port_side TRANSIT_SIDES[] = {
		HS_SIDE_NETWORK, HS_SIDE_NETWORK};
__attribute__((unused)) static const enum hs_port_side SINK_SIDES[] = {
		HS_SIDE_NETWORK, HS_SIDE_HOST};
__attribute__((unused)) static const enum hs_port_side BRIDGE_SIDES[] = {
		HS_SIDE_HOST, HS_SIDE_HOST, HS_SIDE_NETWORK, HS_SIDE_NETWORK};

struct fixture {
	struct rte_mempool *pool;
	struct hs_clock *clock;
	struct test_node t;
};

static inline struct fixture *fixture_open(const enum hs_port_side *sides, unsigned n_ports,
		uint16_t mtu, struct hs_node_config config)
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

static inline void fixture_close(struct fixture *f)
{
	test_node_audit(&f->t);
	test_node_close(&f->t);
	assert_int_equal(rte_mempool_avail_count(f->pool), 255);
	rte_mempool_free(f->pool);
	hs_clock_destroy(f->clock);
	free(f);
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

static inline void feed_hex(struct fixture *f, unsigned port, const char *hex)
{
	uint8_t bytes[2048];
	size_t len = unhex(hex, bytes);
	test_node_feed(&f->t, port, bytes, len, 0);
}

static inline void expect_hex(struct fixture *f, unsigned port, const char *hex)
{
	uint8_t want[2048], got[2048];
	size_t len = unhex(hex, want);
	assert_int_equal(test_node_take(&f->t, port, got, sizeof(got)), len);
	assert_memory_equal(got, want, len);
}

static inline uint64_t event(struct fixture *f, unsigned port, enum hs_event_count event)
{
	return test_node_event(&f->t, port, event);
}

static inline uint64_t drops(struct fixture *f, unsigned port, enum hs_drop reason)
{
	return test_node_drops(&f->t, port, reason);
}

static inline struct hs_flow_counters counters(struct fixture *f, uint32_t ns_id)
{
	struct hs_flow_counters c;
	test_node_counters(&f->t, ns_id, &c);
	return c;
}

// Decodes the telemetry of a frame that a port sent.
static inline void take_telemetry(struct fixture *f, unsigned port, struct hs_decoded *telemetry)
{
	uint8_t frame[9600];
	struct hs_packet p;
	size_t len = test_node_take(&f->t, port, frame, sizeof(frame));

	assert_int_not_equal(len, 0);
	hs_flexint_parse(frame, len, len, &p);
	assert_true(p.flags & HS_PACKET_TELEMETRY);
	const uint8_t *trace = frame + p.trace_off, *e2e = frame + p.e2e_off;
	assert_int_equal(hs_flexint_decode(trace + 2, trace[1], e2e + 2, e2e[1], telemetry), 0);
}

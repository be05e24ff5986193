// SPDX-License-Identifier: BSD-3-Clause
// A node with probes at three network ports, and a host port.
#pragma once

#include "harness.h"
#include "probe_bytes.h"
#include "probe_state.h"
#include "probe_steps.h"

#define NOW	INT64_C(1700000000000000000)
#define MS	INT64_C(1000000)
#define BUFFERS 511
#define NODE_ID 7
enum {
	IN, // number 1 on the wire
	OUT,
	MONITOR,
	HOST,
	N_PORTS
};

struct stand {
	struct test_node t;
	struct hs_probe_profile profile;
	struct rte_mempool *pool;
	struct hs_clock *clock;
	int64_t now_ns;
};

static const struct hs_probe_profile usual_profile = {
		.wire = {.dscp = 0x17,
				.feedback_dscp = 0x19,
				.recovery_dscp = 0x21,
				.udp_port = 7777},
		.recovery = true,
		.monitor_port = MONITOR + 1,
		.held = 64,
		.rate_pps = 1000000,
		.timeout_ns = 400 * MS,
		.seen_ns = 1500 * MS,
};

// What the next stand has beside the usual.
__attribute__((unused)) static struct hs_node_config stand_config;
__attribute__((unused)) static uint16_t stand_mtu = 1500;
__attribute__((unused)) static uint64_t stand_rate_bps; // of OUT
__attribute__((unused)) static bool stand_border;	// OUT has no probes
__attribute__((unused)) static uint16_t stand_room = 9600;

static inline struct stand *stand_open(const struct hs_probe_profile *profile)
{
	static const enum hs_port_side sides[] = {
			HS_SIDE_NETWORK, HS_SIDE_NETWORK, HS_SIDE_NETWORK, HS_SIDE_HOST};
	struct stand *s = aligned_alloc(64, (sizeof(*s) + 63) / 64 * 64);
	struct hs_node_config config = stand_config;
	static unsigned serial;
	char name[16];

	assert_non_null(s);
	s->now_ns = NOW;
	s->profile = *profile;
	snprintf(name, sizeof(name), "stand%u", serial++);
	// The threads of a test may share a core. With a ring as its store, each would then wait
	// for the other's next time slice at every buffer.
	s->pool = rte_pktmbuf_pool_create_by_ops(
			name, BUFFERS, 0, 0, stand_room, SOCKET_ID_ANY, "stack");
	assert_non_null(s->pool);
	assert_int_equal(hs_clock_create_manual(NOW, &s->clock), 0);
	config.id = NODE_ID;
	config.n_workers = config.n_workers ? config.n_workers : 1;
	config.rules = 64;
	config.n_pairs = 2;
	config.pairs[0][1] = OUT;
	config.pairs[1][0] = MONITOR;
	config.pairs[1][1] = HOST;
	for (unsigned p = 0; p < HOST; p++) {
		test_port_configs[p] = (struct hs_port_config){.id = p + 1};
		if (p == OUT && stand_border)
			continue;
		config.profiles[p] = (struct hs_profile){
				.family = &hs_probe_steps, .settings = &s->profile};
	}
	test_port_configs[OUT].rate_bps = stand_rate_bps;
	test_port_configs[OUT].queue_packets = stand_rate_bps ? 1000 : 0;
	test_node_open(&s->t, &config, sides, N_PORTS, stand_mtu, s->pool, s->clock);
	return s;
}

static inline void stand_close(struct stand *s)
{
	test_node_audit(&s->t);
	test_node_close(&s->t);
	assert_int_equal(rte_mempool_avail_count(s->pool), BUFFERS);
	rte_mempool_free(s->pool);
	hs_clock_destroy(s->clock);
	free(s);
	stand_config = (struct hs_node_config){0};
	stand_mtu = 1500;
	stand_rate_bps = 0;
	stand_border = false;
	stand_room = 9600;
}

static inline void advance(struct stand *s, int64_t ns)
{
	s->now_ns += ns;
	hs_clock_set(s->clock, s->now_ns);
	test_node_run(&s->t);
}

static inline uint64_t event_at(struct stand *s, unsigned port, enum hs_event_count event)
{
	struct hs_port_counters counters;

	hs_node_port_counters(s->t.node, (uint16_t)port, &counters);
	return counters.events[event];
}

static inline uint64_t drop_at(struct stand *s, unsigned port, enum hs_drop reason)
{
	struct hs_port_counters counters;

	hs_node_port_counters(s->t.node, (uint16_t)port, &counters);
	return counters.drops[reason];
}

static inline void feed(struct stand *s, unsigned port, const struct probe_bytes *bytes)
{
	test_node_feed(&s->t, port, bytes->at, bytes->len, 0);
	test_node_run(&s->t);
}

static inline void feed_made(struct stand *s, unsigned port, unsigned dscp, const char *payload)
{
	struct probe_bytes bytes = probe_made(dscp, payload, false);

	feed(s, port, &bytes);
}

// The port sent this packet next.
static inline void assert_sent(struct stand *s, unsigned port, const struct probe_bytes *should)
{
	static uint8_t is[PROBE_ROOM];

	assert_int_equal(test_node_take(&s->t, port, is, sizeof(is)), should->len);
	assert_memory_equal(is, should->at, should->len);
}

static inline void assert_sent_made(
		struct stand *s, unsigned port, unsigned dscp, const char *payload)
{
	struct probe_bytes should = probe_made(dscp, payload, dscp == 0x19);

	assert_sent(s, port, &should);
}

// Of all that the ports sent, which still lies there.
static inline void assert_bytes_counted(struct stand *s)
{
	for (uint16_t p = 0; p < N_PORTS; p++) {
		struct hs_port_counters counters;
		uint64_t bytes = 0;
		for (unsigned i = 0; i < s->t.ports[p].n_out; i++)
			bytes += rte_pktmbuf_pkt_len(s->t.ports[p].out[i]);
		hs_node_port_counters(s->t.node, p, &counters);
		assert_int_equal(counters.tx_bytes, bytes);
	}
}

// No port sent anything else.
static inline void assert_silent(struct stand *s)
{
	for (unsigned p = 0; p < N_PORTS; p++)
		assert_int_equal(s->t.ports[p].n_out, 0);
}

// Request 5 for packets of ports: by port 2 with [0, 4), by port 3 with [0, 2).
#define PROBE "000b 0002 020004 030002 0000 0000"
// What this node sends on, which received so many packets by IN, and by OUT; eight digits each.
#define FILLED_AFTER(in, out) "000b 0001 030002 0001 07000004 0004" in out "00000000 00000000"
#define FILLED(packets)	      FILLED_AFTER(packets, "00000000")
#define REQUEST		      "000b"

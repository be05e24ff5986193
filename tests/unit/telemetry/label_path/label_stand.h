// SPDX-License-Identifier: BSD-3-Clause
// A node with INT-label between two ports, and a third that sends what it exports.
#pragma once

#include "harness.h"
#include "hex.h"
#include "ip_address.h"
#include "label_export.h"
#include "label_steps.h"

#define NOW   INT64_C(1700000000000000000)
#define MS    INT64_C(1000000)
#define FRONT 42 // of an exported datagram: Ethernet, IPv4, UDP
#ifndef BUFFERS
#define BUFFERS 255
#endif
#define NODE_ID 0x0105
enum {
	IN,
	OUT,
	MONITOR,
	N_PORTS
};

__attribute__((unused)) static const enum hs_port_side SOURCE[] = {
		HS_SIDE_HOST, HS_SIDE_NETWORK, HS_SIDE_HOST};
__attribute__((unused)) static const enum hs_port_side TRANSIT[] = {
		HS_SIDE_NETWORK, HS_SIDE_NETWORK, HS_SIDE_HOST};
__attribute__((unused)) static const enum hs_port_side SINK[] = {
		HS_SIDE_NETWORK, HS_SIDE_HOST, HS_SIDE_HOST};

__attribute__((unused)) static const enum hs_port_side LOCAL[] = {
		HS_SIDE_HOST, HS_SIDE_HOST, HS_SIDE_NETWORK};

struct stand {
	struct test_node t;
	struct hs_label_profile profile;
	struct rte_mempool *pool;
	struct hs_clock *clock;
	int64_t now_ns;
};

// What the next stand has beside its settings.
__attribute__((unused)) static struct hs_node_config stand_config;
__attribute__((unused)) static uint16_t stand_mtu = 1500;
__attribute__((unused)) static uint64_t stand_rate_bps; // of OUT
__attribute__((unused)) static uint32_t stand_queue;
__attribute__((unused)) static bool stand_passes_malformed;

static inline struct stand *stand_open(const enum hs_port_side *sides,
		struct hs_label_settings wire, int64_t interval_ns, int64_t rest_ns)
{
	struct stand *s = aligned_alloc(64, (sizeof(*s) + 63) / 64 * 64);
	struct hs_node_config config = stand_config;
	static unsigned serial;
	char name[16];

	assert_non_null(s);
	s->now_ns = NOW;
	snprintf(name, sizeof(name), "stand%u", serial++);
	s->profile.wire = wire;
	hs_label_rule_init(&s->profile.rule, wire.max_hops, interval_ns, rest_ns, HS_LABEL_F1);
	s->pool = rte_pktmbuf_pool_create(name, BUFFERS, 0, 0, 9600, SOCKET_ID_ANY);
	assert_non_null(s->pool);
	assert_int_equal(hs_clock_create_manual(NOW, &s->clock), 0);
	config.id = NODE_ID;
	config.n_workers = config.n_workers ? config.n_workers : 1;
	config.rules = 64;
	config.n_pairs = 1;
	config.pairs[0][1] = OUT;
	config.n_exports = config.n_exports ? config.n_exports : 1;
	config.exports[0] = (struct hs_export_config){
			.format = HS_EXPORT_LABEL, .port = MONITOR, .to = {.port = 32767}};
	assert_null(hs_ip_address_read("192.0.2.9", config.exports[0].to.address));
	assert_null(hs_ip_address_read("192.0.2.1", config.exports[0].from));
	for (unsigned p = 0; p < N_PORTS; p++) {
		test_port_configs[p] = (struct hs_port_config){.id = 11 + p};
		config.profiles[p] = (struct hs_profile){.family = &hs_label_steps,
				.settings = &s->profile,
				.pass_malformed = stand_passes_malformed};
	}
	test_port_configs[OUT].rate_bps = stand_rate_bps;
	test_port_configs[OUT].queue_packets = stand_queue;
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
	stand_rate_bps = stand_queue = 0;
	stand_passes_malformed = false;
}

static inline void advance(struct stand *s, int64_t ns)
{
	s->now_ns += ns;
	hs_clock_set(s->clock, s->now_ns);
}

// Labels that OUT wrote, of whatever cause.
static inline uint64_t labels_of(struct stand *s)
{
	return test_node_event(&s->t, OUT, HS_EVENT_LABELLED_INTERVAL) +
	       test_node_event(&s->t, OUT, HS_EVENT_LABELLED_CHANCE) +
	       test_node_event(&s->t, OUT, HS_EVENT_LABELLED_FLOW);
}

// Takes a frame through the node; 0: it did not come out.
static inline size_t through(struct stand *s, const uint8_t *frame, size_t len, uint8_t *out)
{
	test_node_feed(&s->t, IN, frame, len, 0);
	test_node_run(&s->t);
	return test_node_take(&s->t, OUT, out, 9600);
}

static inline struct hs_label_settings usual(void)
{
	return (struct hs_label_settings){HS_LABEL_IP_PROTOCOL, HS_LABEL_MAX_HOPS};
}

// IPv4, 10.0.0.1 to 10.0.2.2, UDP 1000 to 2000, "DATADATA".
static const char UDP4[] = "020000000002020000000001080045000024000100004011"
			   "63c60a0001010a00020203e807d00010ac0e4441544144415441";

// SPDX-License-Identifier: BSD-3-Clause
// A node on in-process ports: frames in, frames out, time by hand.
#pragma once

#include "clock.h"
#include "dpdk_env.h"
#include "node.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <netinet/in.h>
#include <rte_mbuf.h>
#include <rte_mempool.h>

#define HARNESS_PORTS 4
#define HARNESS_QUEUE 128u // two of the largest bursts that a build may have

struct test_port {
	struct hs_port port;
	struct rte_mbuf *in[HARNESS_QUEUE];
	unsigned n_in;
	struct rte_mbuf *out[HARNESS_QUEUE];
	unsigned n_out;
	unsigned accepts; // transmit takes no more than this many from a burst
};

struct test_node {
	struct hs_node *node;
	struct test_port ports[HARNESS_PORTS];
	unsigned n_ports;
	struct rte_mempool *pool;
	struct hs_clock *clock;
};

static inline uint16_t test_port_rx(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct test_port *t = port->driver_data;
	unsigned take = t->n_in < n ? t->n_in : n;

	(void)queue;
	memcpy(mbufs, t->in, take * sizeof(mbufs[0]));
	memmove(t->in, t->in + take, (t->n_in - take) * sizeof(mbufs[0]));
	t->n_in -= take;
	return (uint16_t)take;
}

static inline uint16_t test_port_tx(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct test_port *t = port->driver_data;
	unsigned take = n < t->accepts ? n : t->accepts;

	(void)queue;
	assert_true(t->n_out + take <= HARNESS_QUEUE);
	memcpy(t->out + t->n_out, mbufs, take * sizeof(mbufs[0]));
	t->n_out += take;
	return (uint16_t)take;
}

// What the ports of the next node have beside their side and MTU.
__attribute__((unused)) static struct hs_port_config test_port_configs[HARNESS_PORTS];

static inline void test_node_open(struct test_node *t, const struct hs_node_config *config,
		const enum hs_port_side *sides, unsigned n_ports, uint16_t mtu,
		struct rte_mempool *pool, struct hs_clock *clock)
{
	struct hs_error err = {0};

	memset(t, 0, sizeof(*t));
	t->pool = pool;
	t->clock = clock;
	t->n_ports = n_ports;
	assert_int_equal(hs_node_create(config, clock, pool, &t->node, &err), 0);
	for (unsigned p = 0; p < n_ports; p++) {
		struct test_port *port = &t->ports[p];
		port->accepts = HARNESS_QUEUE;
		port->port = (struct hs_port){
				.rx_burst = test_port_rx,
				.tx_burst = test_port_tx,
				.driver_data = port,
				.index = (uint16_t)p,
				.mtu = mtu,
				.rx_queues = 1,
				.tx_queues = (uint16_t)config->n_workers,
				.side = (uint8_t)sides[p],
				.tx_multi_seg = true,
				.usable = true,
				.config = test_port_configs[p],
		};
		assert_int_equal(hs_node_add_port(t->node, &port->port), 0);
	}
}

static inline void test_node_close(struct test_node *t)
{
	for (unsigned p = 0; p < t->n_ports; p++) {
		rte_pktmbuf_free_bulk(t->ports[p].in, t->ports[p].n_in);
		rte_pktmbuf_free_bulk(t->ports[p].out, t->ports[p].n_out);
	}
	hs_node_destroy(t->node);
}

static inline void test_node_rule(struct test_node *t, const struct hs_rule *rule)
{
	struct hs_error err = {0};
	assert_int_equal(hs_flow_table_install(hs_node_flows(t->node), rule, NULL, &err), 0);
}

static inline void test_node_counters(
		struct test_node *t, uint32_t ns_id, struct hs_flow_counters *counters)
{
	uint32_t slot = hs_flow_table_find(hs_node_flows(t->node), ns_id);
	assert_int_not_equal(slot, HS_FLOW_NONE);
	hs_flow_table_counters(hs_node_flows(t->node), slot, counters);
}

static inline uint64_t test_node_event(
		const struct test_node *t, unsigned port, enum hs_event_count event)
{
	struct hs_port_counters counters;

	hs_node_port_counters(t->node, (uint16_t)port, &counters);
	return counters.events[event];
}

static inline uint64_t test_node_drops(
		const struct test_node *t, unsigned port, enum hs_drop reason)
{
	struct hs_port_counters counters;

	hs_node_port_counters(t->node, (uint16_t)port, &counters);
	return counters.drops[reason];
}

// Puts a frame into a port's receive queue; `first` bytes in the first segment, 0 for all.
static inline void test_node_feed(
		struct test_node *t, unsigned port, const void *bytes, size_t len, size_t first)
{
	struct test_port *p = &t->ports[port];
	struct rte_mbuf *m = rte_pktmbuf_alloc(t->pool);

	assert_non_null(m);
	assert_true(p->n_in < HARNESS_QUEUE);
	if (!first || first > len)
		first = len;
	memcpy(rte_pktmbuf_append(m, (uint16_t)first), bytes, first);
	if (first < len) {
		struct rte_mbuf *rest = rte_pktmbuf_alloc(t->pool);
		assert_non_null(rest);
		memcpy(rte_pktmbuf_append(rest, (uint16_t)(len - first)),
				(const uint8_t *)bytes + first, len - first);
		assert_int_equal(rte_pktmbuf_chain(m, rest), 0);
	}
	p->in[p->n_in++] = m;
}

// Runs workers until every receive queue is empty.
static inline void test_node_run(struct test_node *t)
{
	unsigned received;
	do {
		received = 0;
		for (unsigned w = 0; w < hs_node_config(t->node)->n_workers; w++)
			received += hs_node_worker_poll(t->node, w);
	} while (received);
}

// Takes the oldest frame that a port sent; returns its length, 0 if there is none.
static inline size_t test_node_take(struct test_node *t, unsigned port, void *bytes, size_t room)
{
	struct test_port *p = &t->ports[port];

	if (!p->n_out)
		return 0;
	struct rte_mbuf *m = p->out[0];
	size_t len = rte_pktmbuf_pkt_len(m);
	assert_true(len <= room);
	const void *at = rte_pktmbuf_read(m, 0, (uint32_t)len, bytes);
	if (at != bytes)
		memcpy(bytes, at, len);
	rte_pktmbuf_free(m);
	p->n_out--;
	memmove(p->out, p->out + 1, p->n_out * sizeof(p->out[0]));
	return len;
}

// rx + copies = forwarded + drops, offered = tx + queued + drops, on every port; sums agree.
static inline void test_node_audit(struct test_node *t)
{
	struct hs_port_counters c[HS_MAX_PORTS];
	uint64_t forwarded = 0, offered = 0;

	hs_node_snapshot(t->node, c);
	for (unsigned p = 0; p < t->n_ports; p++) {
		uint64_t before = 0, at = 0;
		for (int d = 0; d < HS_DROP_COUNT; d++)
			*(hs_drop_is_at_transmit(d) ? &at : &before) += c[p].drops[d];
		assert_int_equal(c[p].rx_packets + c[p].copies, c[p].forwarded + before);
		assert_int_equal(c[p].offered, c[p].tx_packets + c[p].queued + at);
		forwarded += c[p].forwarded;
		offered += c[p].offered;
	}
	assert_int_equal(forwarded, offered);
}

// 2001:db8::1 to ::2, UDP 0x1234 to 5001: the flow of the reference's vectors.
static inline struct hs_rule vector_rule(uint32_t ns_id)
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

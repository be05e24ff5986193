// SPDX-License-Identifier: BSD-3-Clause
// A collector, and what it told.
#pragma once

#include "hex.h"

#include "collect.h"

#include "bytes.h"

#include <stdlib.h>

#define MAX_TOLD 4096
#define SECOND	 INT64_C(1000000000)

struct told {
	struct hs_collect_point points[MAX_TOLD];
	unsigned n_points;
	unsigned n_events;
	struct hs_collect_flow flow; // of the last event that had one
	bool has_flow;
};

static struct told told;

static inline void tell(void *context, const struct hs_collect_event *event)
{
	(void)context;
	told.n_events++;
	told.has_flow = event->flow;
	if (event->flow)
		told.flow = *event->flow;
	for (unsigned i = 0; i < event->n_points && told.n_points < MAX_TOLD; i++)
		told.points[told.n_points++] = event->points[i];
}

// As the published collector is set: 50 of everything, no gap, no push.
static inline struct hs_collect_config config_50(void)
{
	struct hs_collect_config config;

	hs_collect_config_init(&config);
	for (unsigned i = 0; i < HS_COLLECT_MEASURES; i++)
		config.thresholds[i] = (struct hs_collect_threshold){.absolute = 50};
	config.gap_ns = config.push_ns = 0;
	return config;
}

static inline struct hs_collect *collector(const struct hs_collect_config *config)
{
	struct hs_collect *c;
	struct hs_error err = {0};

	assert_int_equal(hs_collect_create(config, tell, NULL, &c, &err), 0);
	memset(&told, 0, sizeof(told));
	return c;
}

// One datagram of the exporter 127.0.0.1. The bytes are in memory of their own, for sanitizers.
static inline void take(struct hs_collect *c, const uint8_t *bytes, size_t len, int64_t now_ns)
{
	uint8_t *copy = malloc(len ? len : 1);
	struct hs_collect_datagram datagram = {.bytes = copy,
			.len = (uint32_t)len,
			.is_ipv4 = true,
			.address = {127, 0, 0, 1}};

	memcpy(copy, bytes, len);
	hs_collect_take(c, &datagram, 1, now_ns);
	free(copy);
}

static inline void take_hex(struct hs_collect *c, const char *hex, int64_t now_ns)
{
	uint8_t bytes[2048];
	size_t len = unhex(hex, bytes);

	take(c, bytes, len, now_ns);
}

static inline void forget(void)
{
	memset(&told, 0, sizeof(told));
}

static inline unsigned count(enum hs_collect_point_kind kind, enum hs_collect_cause cause)
{
	unsigned n = 0;

	for (unsigned i = 0; i < told.n_points; i++)
		n += told.points[i].kind == kind && told.points[i].cause == cause;
	return n;
}

static inline const struct hs_collect_point *point_of(
		enum hs_collect_point_kind kind, uint32_t node, uint32_t id)
{
	for (unsigned i = 0; i < told.n_points; i++) {
		const struct hs_collect_point *p = &told.points[i];
		if (p->kind == kind && p->id == id &&
				(kind == HS_COLLECT_POINT_FLOW || p->node_id == node))
			return p;
	}
	return NULL;
}

static inline uint64_t refused(const struct hs_collect *c)
{
	uint64_t n = 0;

	for (unsigned i = 0; i < HS_COLLECT_REFUSALS; i++)
		n += hs_collect_counters(c)->refused[i];
	return n;
}

// The equations beside collect_counter.def.
static inline void check_balance(const struct hs_collect *c)
{
	const struct hs_collect_counters *n = hs_collect_counters(c);
	uint64_t datagrams = n->refused[HS_COLLECT_REFUSED_VERSION] +
			     n->refused[HS_COLLECT_REFUSED_SHORT];
	uint64_t points = 0;

	assert_int_equal(n->datagrams, n->datagrams_read + datagrams);
	assert_int_equal(n->reports, n->reports_read + refused(c) - datagrams + n->reports_skipped);
	for (unsigned i = 0; i < HS_COLLECT_POINT_KINDS; i++)
		for (unsigned j = 0; j < HS_COLLECT_CAUSES; j++)
			points += n->events[i][j];
	assert_int_equal(n->points, points);
}

// ---- reports by hand ----

struct bytes {
	uint8_t at[2048];
	size_t n;
};

static inline void put(struct bytes *to, uint64_t value, size_t bytes)
{
	for (size_t i = bytes; i--;)
		to->at[to->n++] = (uint8_t)(value >> 8 * i);
}

static inline void put_hex(struct bytes *to, const char *hex)
{
	to->n += unhex(hex, to->at + to->n);
}

// The head of a report 1.0 with F, of an Ethernet frame, without values.
static inline void put_head_1_0(struct bytes *to, uint32_t node, uint32_t sequence)
{
	put(to, 0x14000040, 4);
	put(to, node, 4);
	put(to, sequence, 4);
	put(to, 1000, 4);
}

static inline void put_ether(struct bytes *to, uint16_t type)
{
	put_hex(to, "020000000002020000000001");
	put(to, type, 2);
}

// IPv4 and UDP of 10.0.0.1:5000 -> 10.0.0.2:<port>, with the DSCP of INT, before `payload` bytes.
static inline void put_udp(struct bytes *to, uint16_t port, size_t payload)
{
	put(to, 0x455c, 2);
	put(to, 28 + payload, 2);
	put_hex(to, "00010000401100000a0000010a0000021388");
	put(to, port, 2);
	put(to, 8 + payload, 2);
	put(to, 0, 2);
}

// A hop that says all of bitmap 0xf500: id, ports, latency, queue, egress time, utilisation.
struct hop {
	uint32_t node, latency, queue, occupancy, port, utilisation;
};

static inline void put_hop(struct bytes *to, const struct hop *hop)
{
	put(to, hop->node, 4);
	put(to, 7, 2);
	put(to, hop->port, 2);
	put(to, hop->latency, 4);
	put(to, hop->queue, 1);
	put(to, hop->occupancy, 3);
	put(to, 2000, 4);
	put(to, hop->utilisation, 4);
}

// A report 1.0 of a UDP flow with INT 1.0: hops[0] is nearest the sink.
static inline void put_report(struct bytes *to, uint32_t reporter, uint32_t sequence, uint16_t port,
		const struct hop *hops, unsigned n)
{
	to->n = 0;
	put_head_1_0(to, reporter, sequence);
	put_ether(to, 0x0800);
	put_udp(to, port, 12 + 24 * n + 4);
	put(to, 0x01000000 | (3 + 6 * n) << 8, 4);
	put(to, 0x10000600 | (64 - n), 4);
	put(to, 0xf5000000, 4);
	for (unsigned i = 0; i < n; i++)
		put_hop(to, &hops[i]);
	put(to, 0xdeadbeef, 4);
}

// Finds the entry of one flow. Returns false if the tables do not have it.
__attribute__((unused)) static bool find_flow(const struct hs_collect *c,
		const struct hs_collect_flow_key *key, struct hs_collect_flow *flow)
{
	uint64_t cursor = 0;

	while (hs_collect_flows(c, &cursor, flow, 1))
		if (memcmp(&flow->key, key, sizeof(*key)) == 0)
			return true;
	return false;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "workers_source.h"

#include "bytes.h"
#include "flexint.h"
#include "packet.h"

#include <stdlib.h>
#include <string.h>

#include <netinet/in.h>
#include <rte_mbuf.h>
#include <rte_prefetch.h>

#define PLAIN_BYTES 128
#define TRACE_TYPE  0x7000E000
#define HOPS	    2

static const uint8_t plain[] = {2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 0x86, 0xdd, 0x60, 0, 0, 0, 0,
		PLAIN_BYTES - 54, IPPROTO_UDP, 64, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0,
		0, 0, 1, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0x12, 0x34, 0x13,
		0x89, 0, PLAIN_BYTES - 54, 0xff, 0xff};

// ---- frames ----

// The plain frame, behind so many free bytes that telemetry can go in front.
static size_t put_telemetry(uint8_t *buffer, size_t at, struct hs_packet *packet)
{
	size_t len = PLAIN_BYTES;

	hs_flexint_parse(buffer + at, len, len, packet);
	size_t growth = hs_flexint_source_growth(packet, TRACE_TYPE, HS_LAYOUT_ALIGNED);
	at -= growth;
	len += growth;
	struct hs_e2e e2e = {.bitmap = TRACE_TYPE >> 16, .ts_ns = 1};
	hs_flexint_source_insert(
			buffer + at, packet, growth, 1, TRACE_TYPE, HS_LAYOUT_ALIGNED, &e2e);
	for (uint16_t hop = 1; hop <= HOPS; hop++) {
		struct hs_hop entry = {hop, TRACE_TYPE & 0xffff, 1, 1, 1, 1, 1};
		hs_flexint_parse(buffer + at, len, len, packet);
		growth = (size_t)hs_flexint_hop_growth(buffer + at, packet, entry.bitmap);
		at -= growth;
		len += growth;
		hs_flexint_hop_insert(buffer + at, packet, growth, &entry);
	}
	hs_flexint_parse(buffer + at, len, len, packet);
	return at;
}

static void make_frame(struct workers_queue *q, bool transit)
{
	uint8_t buffer[2 * WORKERS_BYTES] = {0};
	size_t at = WORKERS_BYTES;
	struct hs_packet packet = {0};

	memcpy(buffer + at, plain, sizeof(plain));
	if (transit)
		at = put_telemetry(buffer, at, &packet);
	q->len = (uint16_t)(WORKERS_BYTES + PLAIN_BYTES - at);
	q->ns_off = transit ? packet.trace_off + 2 : 0;
	memcpy(q->frame, buffer + at, q->len);
}

void workers_source_rule(uint32_t flow, struct hs_rule *rule)
{
	hs_rule_init(rule);
	memcpy(rule->src_ip, plain + 22, 16);
	hs_be32_store(rule->src_ip + 12, flow);
	memcpy(rule->dst_ip, plain + 38, 16);
	rule->ns_id = flow + 1;
	rule->src_port = 0x1234;
	rule->dst_port = 5001;
	rule->protocol = IPPROTO_UDP;
	rule->trace_type = TRACE_TYPE;
}

// ---- queues ----

// The first touch is of a visit's own pass: what a driver would leave in the cache.
static void refresh(struct workers_queue *q, struct rte_mbuf *m)
{
	uint8_t *frame = (uint8_t *)m->buf_addr + q->data_off;

	if (m->data_len != q->len || m->data_off != q->data_off) {
		m->data_off = q->data_off;
		m->data_len = q->len;
		m->pkt_len = q->len;
		memcpy(frame, q->frame, q->len);
	}
	hs_be32_store(frame + WORKERS_FLOW_OFF, q->flow);
	if (q->ns_off)
		hs_be32_store(frame + q->ns_off, q->flow + 1);
	if (++q->flow == q->last)
		q->flow = q->first;
}

uint16_t workers_source_rx(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct workers_source *source = port->driver_data;
	struct workers_queue *q = &source->queues[queue];

	memcpy(mbufs, &q->mbufs[q->at], n * sizeof(mbufs[0]));
	q->at = (q->at + n) % WORKERS_FRAMES; // bursts are full: n divides it
	for (uint16_t i = 0; i < n; i++)
		rte_prefetch0(mbufs[i]);
	for (uint16_t i = 0; i < n; i++)
		refresh(q, mbufs[i]);
	return n;
}

uint16_t workers_nothing_rx(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)port, (void)queue, (void)mbufs, (void)n;
	return 0;
}

uint16_t workers_sink_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	(void)port, (void)queue, (void)mbufs;
	return n;
}

void workers_source_init(struct workers_source *source, struct rte_mempool *pool, bool one_flow,
		bool transit)
{
	for (uint32_t i = 0; i < WORKERS_QUEUES; i++) {
		struct workers_queue *q = &source->queues[i];
		memset(q, 0, sizeof(*q));
		q->first = one_flow ? 0 : i * (WORKERS_FLOWS / WORKERS_QUEUES);
		q->last = one_flow ? 1 : q->first + WORKERS_FLOWS / WORKERS_QUEUES;
		q->flow = q->first;
		make_frame(q, transit);
		if (rte_pktmbuf_alloc_bulk(pool, q->mbufs, WORKERS_FRAMES))
			abort();
		q->data_off = q->mbufs[0]->data_off;
	}
}

void workers_source_fini(struct workers_source *source)
{
	for (unsigned i = 0; i < WORKERS_QUEUES; i++)
		rte_pktmbuf_free_bulk(source->queues[i].mbufs, WORKERS_FRAMES);
}

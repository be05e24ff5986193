// SPDX-License-Identifier: BSD-3-Clause
#include "worker_poll.h"

#include "clock.h"
#include "exporter.h"

#include <assert.h>
#include <stddef.h>

#include <rte_prefetch.h>

// Bits of a word that begins with data_off of a buffer.
#define REFERENCES 16
#define SEGMENTS   32
#define NOT_DIRECT (RTE_MBUF_F_INDIRECT | RTE_MBUF_F_EXTERNAL)
static_assert(offsetof(struct rte_mbuf, refcnt) == offsetof(struct rte_mbuf, rearm_data) + 2 &&
				offsetof(struct rte_mbuf, nb_segs) ==
						offsetof(struct rte_mbuf, rearm_data) + 4,
		"references and segments are read as one word");

// Returns the word with the numbers of references and of segments. Neither is ever 0. Others who
// hold the buffer may change the number of references meanwhile.
static inline uint64_t references_and_segments(const struct rte_mbuf *m)
{
	return __atomic_load_n(m->rearm_data, __ATOMIC_RELAXED);
}

// Counts the packets of a burst and prefetches their first cache lines.
static void count_received(struct hs_worker *worker, struct hs_burst *burst)
{
	struct hs_port_counters *stats = hs_port_stats_of(worker, burst->in->index);
	uint64_t bytes = 0, seen = 0, flags = 0;
	uint32_t max_bytes = 0;

	for (unsigned i = 0; i < burst->n; i++) {
		const struct rte_mbuf *m = burst->mbufs[i];
		uint32_t len = rte_pktmbuf_pkt_len(m);
		rte_prefetch0(rte_pktmbuf_mtod(m, const void *));
		seen |= references_and_segments(m);
		flags |= m->ol_flags;
		bytes += len;
		max_bytes = RTE_MAX(max_bytes, len);
	}
	burst->n_received = burst->n;
	burst->bytes = bytes;
	burst->max_bytes = max_bytes;
	burst->chained = (uint16_t)(seen >> SEGMENTS) != 1;
	burst->changeable = (uint16_t)(seen >> REFERENCES) == 1 && !(flags & NOT_DIRECT);
	stats->rx_packets += burst->n;
	stats->rx_bytes += bytes;
	hs_flow_add(&worker->rx_packets, burst->n);
}

static void count_malformed(struct hs_worker *worker, const struct hs_burst *burst)
{
	for (unsigned i = 0; i < burst->n; i++) {
		if (burst->packets[i].flags & HS_PACKET_MALFORMED)
			hs_event(worker, burst, HS_EVENT_MALFORMED);
	}
}

unsigned hs_worker_poll_queue(struct hs_worker *worker, struct hs_port *port, uint16_t queue)
{
	struct hs_burst *burst = &worker->burst;
	unsigned received = port->rx_burst(port, queue, burst->mbufs, HS_BURST);

	if (!received)
		return 0;
	burst->in = port;
	burst->profile = &worker->profiles[port->index];
	burst->n = (uint16_t)received;
	burst->now_ns = hs_clock_read(worker->clock, &burst->stepped_ns);
	burst->sent_ns = 0;
	hs_flow_begin_burst(&worker->flows, burst->now_ns);
	hs_worker_begin(worker);
	count_received(worker, burst);
	burst->profile->family->classify(worker, burst);
	if (unlikely(burst->flags & HS_PACKET_MALFORMED))
		count_malformed(worker, burst);
	hs_guard(worker, burst);
	worker->forward(worker, burst);
	hs_telemetry(worker, burst);
	hs_transmit(worker);
	if (unlikely(worker->exporter))
		hs_export_flush(worker);
	burst->n_received = 0; // what is sent between bursts is not kept
	hs_worker_end(worker);
	return received;
}

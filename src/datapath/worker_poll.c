// SPDX-License-Identifier: BSD-3-Clause
#include "worker_poll.h"

#include "clock.h"
#include "exporter.h"

#include <rte_prefetch.h>

// Counts the packets of a burst and prefetches their first cache lines.
static void count_received(struct hs_worker *worker, struct hs_burst *burst)
{
	struct hs_port_counters *stats = hs_port_stats_of(worker, burst->in->index);
	uint32_t max_bytes = 0, segments = 1;
	uint64_t bytes = 0;

	for (unsigned i = 0; i < burst->n; i++) {
		const struct rte_mbuf *m = burst->mbufs[i];
		uint32_t len = rte_pktmbuf_pkt_len(m);
		rte_prefetch0(rte_pktmbuf_mtod(m, const void *));
		bytes += len;
		max_bytes = RTE_MAX(max_bytes, len);
		segments |= m->nb_segs;
	}
	burst->n_received = burst->n;
	burst->bytes = bytes;
	burst->max_bytes = max_bytes;
	burst->chained = segments != 1;
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

// SPDX-License-Identifier: BSD-3-Clause
#include "stage.h"

void hs_drop(struct hs_worker *worker, uint16_t port, enum hs_drop reason, struct rte_mbuf *mbuf)
{
	hs_tally(worker, port)->drops[reason]++;
	rte_pktmbuf_free(mbuf);
}

void hs_enqueue(struct hs_worker *worker, struct hs_burst *burst, uint16_t out,
		struct rte_mbuf *mbuf, uint32_t slot, uint32_t bytes)
{
	struct hs_tx_queue *queue = &worker->tx[out];
	struct hs_port *port = worker->ports[out];

	if (unlikely(rte_pktmbuf_pkt_len(mbuf) > port->mtu + 14u + 8u))
		hs_event(worker, burst, HS_EVENT_OVER_MTU);
	queue->mbufs[queue->n] = mbuf;
	queue->slots[queue->n] = slot;
	queue->bytes[queue->n] = bytes;
	queue->n++;
	hs_tally(worker, burst->in->index)->forwarded++;
	hs_tally(worker, out)->offered++;
}

// One transmit of the flow, whatever the number of ports. A flooded packet carries no telemetry:
// its copies would come out at several sinks.
void hs_flood(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	uint16_t in = burst->in->index;
	uint32_t slot = burst->slots[i];
	uint32_t bytes = hs_packet_counted_bytes(&burst->packets[i]);
	int last = -1;

	if (burst->packets[i].flags & (HS_PACKET_ANY_TELEMETRY | HS_PACKET_SHORT)) {
		if (!hs_strip(worker, burst, i)) {
			hs_drop(worker, in, HS_DROP_UNSTRIPPABLE, burst->mbufs[i]);
			return;
		}
		hs_event(worker, burst, HS_EVENT_STRIPPED);
	}
	hs_event(worker, burst, HS_EVENT_FLOODED);
	for (uint16_t out = 0; out < worker->n_ports; out++) {
		if (out == in || !worker->ports[out]->usable)
			continue;
		if (last >= 0) {
			struct rte_mbuf *copy = rte_pktmbuf_copy(
					burst->mbufs[i], worker->pool, 0, UINT32_MAX);
			hs_tally(worker, in)->copies++;
			if (copy)
				hs_enqueue(worker, burst, (uint16_t)last, copy, HS_FLOW_NONE, 0);
			else
				hs_tally(worker, in)->drops[HS_DROP_NO_MBUF]++;
		}
		last = out;
	}
	if (last < 0) {
		hs_drop(worker, in, HS_DROP_NO_ROUTE, burst->mbufs[i]);
		return;
	}
	if (slot != HS_FLOW_NONE)
		hs_flow_count_tx(&worker->flows, slot, bytes);
	hs_enqueue(worker, burst, (uint16_t)last, burst->mbufs[i], HS_FLOW_NONE, 0);
}

// ---- sending ----

static void refuse(struct hs_worker *worker, struct hs_tx_queue *queue, unsigned i, uint16_t port,
		enum hs_drop reason)
{
	if (queue->slots[i] != HS_FLOW_NONE)
		hs_flow_uncount_tx(&worker->flows, queue->slots[i], queue->bytes[i]);
	hs_drop(worker, port, reason, queue->mbufs[i]);
}

static struct rte_mbuf *linear(struct hs_worker *worker, struct rte_mbuf *m)
{
	if (m->nb_segs == 1 || (rte_mbuf_refcnt_read(m) == 1 && rte_pktmbuf_linearize(m) == 0))
		return m;
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, worker->pool, 0, UINT32_MAX);
	if (!copy || copy->nb_segs > 1) {
		rte_pktmbuf_free(copy);
		return NULL;
	}
	rte_pktmbuf_free(m);
	return copy;
}

static void make_linear(struct hs_worker *worker, struct hs_tx_queue *queue, uint16_t port)
{
	uint16_t kept = 0;

	for (unsigned i = 0; i < queue->n; i++) {
		struct rte_mbuf *m = linear(worker, queue->mbufs[i]);
		if (!m) {
			refuse(worker, queue, i, port, HS_DROP_NOT_LINEAR);
			continue;
		}
		queue->mbufs[kept] = m;
		queue->slots[kept] = queue->slots[i];
		queue->bytes[kept] = queue->bytes[i];
		kept++;
	}
	queue->n = kept;
}

static void send(struct hs_worker *worker, struct hs_tx_queue *queue, struct hs_port *port)
{
	struct hs_port_tally *tally = hs_tally(worker, port->index);
	uint32_t lens[HS_BURST];
	uint16_t sent = 0;
	enum hs_drop reason = HS_DROP_PORT_DOWN;

	for (unsigned i = 0; i < queue->n; i++)
		lens[i] = rte_pktmbuf_pkt_len(queue->mbufs[i]);
	if (likely(__atomic_load_n(&port->usable, __ATOMIC_RELAXED))) {
		uint16_t tx_queue = worker->index < port->tx_queues ? worker->index : 0;
		sent = port->tx_burst(port, tx_queue, queue->mbufs, queue->n);
		reason = HS_DROP_TX_FULL;
	}
	tally->tx_packets += sent;
	for (unsigned i = 0; i < sent; i++)
		tally->tx_bytes += lens[i];
	for (unsigned i = sent; i < queue->n; i++)
		refuse(worker, queue, i, port->index, reason);
	queue->n = 0;
}

void hs_transmit(struct hs_worker *worker)
{
	for (uint16_t p = 0; p < worker->n_ports; p++) {
		struct hs_tx_queue *queue = &worker->tx[p];
		if (!queue->n)
			continue;
		if (!worker->ports[p]->tx_multi_seg)
			make_linear(worker, queue, p);
		send(worker, queue, worker->ports[p]);
	}
}

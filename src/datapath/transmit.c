// SPDX-License-Identifier: BSD-3-Clause
#include "exporter.h"
#include "room.h"
#include "stage.h"

void hs_drop(struct hs_worker *worker, uint16_t port, enum hs_drop reason, struct rte_mbuf *mbuf)
{
	hs_port_stats_of(worker, port)->drops[reason]++;
	rte_pktmbuf_free(mbuf);
}

static void tell(struct hs_worker *worker, enum hs_drop reason, const struct rte_mbuf *mbuf,
		uint32_t slot, const struct hs_port *out)
{
	if (worker->exporter)
		hs_export_drop(worker, reason, mbuf, slot, out);
}

void hs_drop_packet(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, enum hs_drop reason)
{
	tell(worker, reason, burst->mbufs[i], burst->slots[i], NULL);
	hs_drop(worker, burst->in->index, reason, burst->mbufs[i]);
}

static struct rte_mbuf *linear(struct hs_worker *worker, struct rte_mbuf *m)
{
	if (hs_room_is_changeable(m) && rte_pktmbuf_linearize(m) == 0)
		return m;
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, worker->pool, 0, UINT32_MAX);
	if (!copy || copy->nb_segs > 1) {
		rte_pktmbuf_free(copy);
		return NULL;
	}
	rte_pktmbuf_free(m);
	return copy;
}

bool hs_make_linear(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	struct rte_mbuf *m = linear(worker, burst->mbufs[i]);
	if (m) {
		burst->mbufs[i] = m;
		return true;
	}
	hs_count_forwarded(worker, burst, out, 1);
	tell(worker, HS_DROP_NOT_LINEAR, burst->mbufs[i], burst->slots[i], out);
	hs_drop(worker, out->index, HS_DROP_NOT_LINEAR, burst->mbufs[i]);
	return false;
}

// ---- sending ----

static void refuse(struct hs_worker *worker, struct hs_tx_queue *queue, unsigned i,
		const struct hs_port *port, enum hs_drop reason)
{
	if (queue->slots[i] != HS_FLOW_NONE)
		hs_flow_uncount_tx(&worker->flows, queue->slots[i], queue->bytes[i]);
	tell(worker, reason, queue->mbufs[i], queue->slots[i], port);
	hs_drop(worker, port->index, reason, queue->mbufs[i]);
}

static void send(struct hs_worker *worker, struct hs_tx_queue *queue, struct hs_port *port)
{
	unsigned n = queue->n;
	enum hs_drop reason;

	for (unsigned i = hs_send(worker, port, queue->mbufs, n, queue->frame_bytes, &reason);
			i < n; i++)
		refuse(worker, queue, i, port, reason);
	queue->n = 0;
	queue->frame_bytes = 0;
}

void hs_transmit(struct hs_worker *worker)
{
	for (uint16_t p = 0; p < worker->n_ports; p++) {
		struct hs_tx_queue *queue = &worker->tx[p];
		if (queue->n)
			send(worker, queue, worker->ports[p]);
	}
}

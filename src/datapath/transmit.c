// SPDX-License-Identifier: BSD-3-Clause
#include "room.h"
#include "stage.h"

void hs_drop(struct hs_worker *worker, uint16_t port, enum hs_drop reason, struct rte_mbuf *mbuf)
{
	hs_port_stats_of(worker, port)->drops[reason]++;
	rte_pktmbuf_free(mbuf);
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
	hs_drop(worker, out->index, HS_DROP_NOT_LINEAR, burst->mbufs[i]);
	return false;
}

// ---- flooding ----

static bool is_usable(const struct hs_port *port)
{
	return __atomic_load_n(&port->usable, __ATOMIC_RELAXED);
}

static unsigned flood_targets(struct hs_worker *worker, uint16_t in, uint16_t *targets)
{
	unsigned n = 0;

	for (uint16_t out = 0; out < worker->n_ports; out++) {
		if (out != in && is_usable(worker->ports[out]))
			targets[n++] = out;
	}
	return n;
}

static void enqueue_one(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, uint32_t slot, uint32_t bytes)
{
	struct hs_tx_queue *queue = &worker->tx[out->index];

	hs_count_length(worker, burst, i, out);
	hs_enqueue_at(queue, queue->n++, burst->mbufs[i], slot, bytes);
	hs_count_forwarded(worker, burst, out, 1);
}

static void flood_copy(struct hs_worker *worker, struct hs_burst *burst, unsigned i, uint16_t out)
{
	struct hs_port_counters *in = hs_port_stats_of(worker, burst->in->index);
	struct rte_mbuf *copy = rte_pktmbuf_copy(burst->mbufs[i], worker->pool, 0, UINT32_MAX);

	in->copies++;
	if (!copy) {
		in->drops[HS_DROP_NO_MBUF]++;
		return;
	}
	struct rte_mbuf *original = burst->mbufs[i];
	burst->mbufs[i] = copy;
	if (hs_make_sendable(worker, burst, i, worker->ports[out]))
		enqueue_one(worker, burst, i, worker->ports[out], HS_FLOW_NONE, 0);
	burst->mbufs[i] = original;
}

static bool flood_strip(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	if (likely(!(burst->packets[i].flags & HS_STAGE_SUSPECT)))
		return true;
	if (worker->family->strip(worker, burst, i, true)) {
		hs_event(worker, burst, HS_EVENT_STRIPPED);
		return true;
	}
	hs_drop(worker, burst->in->index, hs_suspect_drop(&burst->packets[i], HS_DROP_UNSTRIPPABLE),
			burst->mbufs[i]);
	return false;
}

// One transmit of the flow, whatever the number of ports. With one target a refusal takes it back;
// with several the packet counts as sent (docs/decisions/0004-where-telemetry-stays-out.md).
void hs_flood(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	uint32_t slot = burst->slots[i];
	uint32_t bytes = hs_packet_counted_bytes(&burst->packets[i]);
	uint16_t targets[HS_MAX_PORTS];

	if (!flood_strip(worker, burst, i))
		return;
	unsigned n = flood_targets(worker, burst->in->index, targets);
	if (!n) {
		hs_drop(worker, burst->in->index, HS_DROP_NO_ROUTE, burst->mbufs[i]);
		return;
	}
	hs_event(worker, burst, HS_EVENT_FLOODED);
	for (unsigned t = 0; t + 1 < n; t++)
		flood_copy(worker, burst, i, targets[t]);
	struct hs_port *last = worker->ports[targets[n - 1]];
	if (!hs_make_sendable(worker, burst, i, last))
		return;
	if (slot != HS_FLOW_NONE)
		hs_flow_count_tx(&worker->flows, slot, bytes);
	enqueue_one(worker, burst, i, last, n == 1 ? slot : HS_FLOW_NONE, bytes);
}

// ---- sending ----

static void refuse(struct hs_worker *worker, struct hs_tx_queue *queue, unsigned i, uint16_t port,
		enum hs_drop reason)
{
	if (queue->slots[i] != HS_FLOW_NONE)
		hs_flow_uncount_tx(&worker->flows, queue->slots[i], queue->bytes[i]);
	hs_drop(worker, port, reason, queue->mbufs[i]);
}

static void send(struct hs_worker *worker, struct hs_tx_queue *queue, struct hs_port *port)
{
	struct hs_port_counters *stats = hs_port_stats_of(worker, port->index);
	uint32_t lens[HS_BURST];
	uint64_t bytes = 0;
	uint16_t sent = 0;
	enum hs_drop reason = HS_DROP_PORT_DOWN;

	for (unsigned i = 0; i < queue->n; i++) {
		lens[i] = rte_pktmbuf_pkt_len(queue->mbufs[i]);
		bytes += lens[i];
	}
	if (likely(is_usable(port))) {
		uint16_t tx_queue = worker->index < port->tx_queues ? worker->index : 0;
		sent = port->tx_burst(port, tx_queue, queue->mbufs, queue->n);
		if (likely(!__atomic_load_n(&port->link_down, __ATOMIC_RELAXED)))
			reason = HS_DROP_TX_FULL;
	}
	for (unsigned i = sent; i < queue->n; i++) {
		bytes -= lens[i];
		refuse(worker, queue, i, port->index, reason);
	}
	stats->tx_packets += sent;
	stats->tx_bytes += bytes;
	queue->n = 0;
}

void hs_transmit(struct hs_worker *worker)
{
	for (uint16_t p = 0; p < worker->n_ports; p++) {
		struct hs_tx_queue *queue = &worker->tx[p];
		if (queue->n)
			send(worker, queue, worker->ports[p]);
	}
}

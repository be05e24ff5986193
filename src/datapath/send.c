// SPDX-License-Identifier: BSD-3-Clause
#include "stage.h"

static inline uint16_t queue_of(const struct hs_worker *worker, const struct hs_port *port)
{
	return worker->index < port->tx_queues ? (uint16_t)worker->index : 0;
}

// Returns the function that sends a run. More packets may follow a full burst at once, so that the
// port may keep the last packets of one. If none follow, the next round sends them.
static inline hs_port_tx_fn sender(struct hs_worker *worker, const struct hs_port *port)
{
	if (likely(!port->tx_keep || worker->burst.n_received < HS_BURST))
		return port->tx_burst;
	worker->kept_lately |= UINT32_C(1) << port->index;
	worker->kept |= worker->kept_lately;
	return port->tx_keep;
}

unsigned hs_send(struct hs_worker *worker, struct hs_port *port, struct rte_mbuf **mbufs,
		unsigned n, uint64_t bytes, enum hs_drop *reason)
{
	struct hs_port_counters *stats = hs_port_stats_of(worker, port->index);
	uint16_t sent = 0;

	*reason = HS_DROP_PORT_DOWN;
	if (likely(hs_port_is_usable(port))) {
		uint16_t tx_queue = queue_of(worker, port);
		sent = sender(worker, port)(port, tx_queue, mbufs, (uint16_t)n);
		if (likely(!__atomic_load_n(&port->link_down, __ATOMIC_RELAXED)))
			*reason = HS_DROP_TX_FULL;
	}
	for (unsigned i = sent; i < n; i++)
		bytes -= rte_pktmbuf_pkt_len(mbufs[i]);
	stats->tx_packets += sent;
	stats->tx_bytes += bytes;
	return sent;
}

void hs_send_kept(struct hs_worker *worker)
{
	for (uint32_t ports = worker->kept & ~worker->kept_lately; ports; ports &= ports - 1) {
		struct hs_port *port = worker->ports[__builtin_ctz(ports)];
		if (hs_port_is_usable(port))
			port->tx_burst(port, queue_of(worker, port), NULL, 0);
	}
	worker->kept = worker->kept_lately;
	worker->kept_lately = 0;
}

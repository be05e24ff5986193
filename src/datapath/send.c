// SPDX-License-Identifier: BSD-3-Clause
#include "stage.h"

unsigned hs_send(struct hs_worker *worker, struct hs_port *port, struct rte_mbuf **mbufs,
		unsigned n, uint64_t bytes, enum hs_drop *reason)
{
	struct hs_port_counters *stats = hs_port_stats_of(worker, port->index);
	uint16_t sent = 0;

	*reason = HS_DROP_PORT_DOWN;
	if (likely(hs_port_is_usable(port))) {
		uint16_t tx_queue = worker->index < port->tx_queues ? worker->index : 0;
		sent = port->tx_burst(port, tx_queue, mbufs, (uint16_t)n);
		if (likely(!__atomic_load_n(&port->link_down, __ATOMIC_RELAXED)))
			*reason = HS_DROP_TX_FULL;
	}
	for (unsigned i = sent; i < n; i++)
		bytes -= rte_pktmbuf_pkt_len(mbufs[i]);
	stats->tx_packets += sent;
	stats->tx_bytes += bytes;
	return sent;
}

// SPDX-License-Identifier: BSD-3-Clause
// The counters of a node, summed over its workers. node.h has the equations between them.
#include "node_parts.h"

#include <string.h>

static void add_stats(struct hs_port_counters *sum, const struct hs_port_stats *stats)
{
	sum->rx_packets += stats->rx_packets;
	sum->rx_bytes += stats->rx_bytes;
	sum->copies += stats->copies;
	sum->forwarded += stats->forwarded;
	sum->offered += stats->offered;
	sum->tx_packets += stats->tx_packets;
	sum->tx_bytes += stats->tx_bytes;
	for (int d = 0; d < HS_DROP_COUNT; d++)
		sum->drops[d] += stats->drops[d];
	for (int e = 0; e < HS_EVENT_COUNT; e++)
		sum->events[e] += stats->events[e];
}

void hs_node_snapshot(const struct hs_node *node, struct hs_port_counters *out)
{
	struct hs_port_stats stats[HS_MAX_PORTS];

	memset(out, 0, node->n_ports * sizeof(*out));
	for (unsigned w = 0; w < node->config.n_workers; w++) {
		hs_worker_snapshot(&node->seats[w]->worker, stats);
		for (uint16_t p = 0; p < node->n_ports; p++)
			add_stats(&out[p], &stats[p]);
	}
	for (uint16_t p = 0; p < node->n_ports; p++) {
		out[p].tx_packets -= node->tx_errors[p];
		out[p].drops[HS_DROP_PORT_TX_ERROR] += node->tx_errors[p];
	}
}

void hs_node_port_counters(const struct hs_node *node, uint16_t port, struct hs_port_counters *out)
{
	struct hs_port_counters all[HS_MAX_PORTS];

	hs_node_snapshot(node, all);
	*out = all[port];
}

void hs_node_reconcile_tx(struct hs_node *node)
{
	for (uint16_t p = 0; p < node->n_ports; p++) {
		struct hs_port_device_stats stats;
		hs_port_device_stats(node->ports[p], &stats);
		node->tx_errors[p] += stats.tx_errors - node->device_tx_errors[p];
		node->device_tx_errors[p] = stats.tx_errors;
	}
}

void hs_node_worker_counters(
		const struct hs_node *node, unsigned worker, struct hs_worker_counters *out)
{
	const struct hs_worker *w = &node->seats[worker]->worker;

	out->rounds = __atomic_load_n(&w->rounds, __ATOMIC_RELAXED);
	out->idle_rounds = __atomic_load_n(&w->idle_rounds, __ATOMIC_RELAXED);
	out->rx_packets = __atomic_load_n(&w->rx_packets, __ATOMIC_RELAXED);
	out->reports_made = __atomic_load_n(&w->reports_made, __ATOMIC_RELAXED);
	out->reports_lost = __atomic_load_n(&w->reports_lost, __ATOMIC_RELAXED);
	out->signals_made = __atomic_load_n(&w->signals_made, __ATOMIC_RELAXED);
	out->signals_lost = __atomic_load_n(&w->signals_lost, __ATOMIC_RELAXED);
}

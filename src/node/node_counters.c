// SPDX-License-Identifier: BSD-3-Clause
// The counters of a node, summed over its workers. port_counters.h has the equations between them.
#include "node.h"
#include "node_parts.h"
#include "port.h"

#include <string.h>

static void add(struct hs_port_counters *sum, const struct hs_port_counters *counters)
{
	const uint64_t *words = (const uint64_t *)counters;

	for (size_t i = 0; i < sizeof(*sum) / sizeof(*words); i++)
		((uint64_t *)sum)[i] += words[i];
}

void hs_node_snapshot(const struct hs_node *node, struct hs_port_counters *out)
{
	struct hs_port_counters counters[HS_MAX_PORTS];

	memset(out, 0, node->n_ports * sizeof(*out));
	for (unsigned w = 0; w < node->config.n_workers; w++) {
		hs_worker_snapshot(&node->seats[w]->worker, counters);
		for (uint16_t p = 0; p < node->n_ports; p++)
			add(&out[p], &counters[p]);
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

#define HS_WORKER_COUNTER(name, unit, text) out->name = __atomic_load_n(&w->name, __ATOMIC_RELAXED);
#include "worker_counter.def"
#undef HS_WORKER_COUNTER
}

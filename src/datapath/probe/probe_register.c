// SPDX-License-Identifier: BSD-3-Clause
// The registers that probes read. Packets of ports: the index is the port's place in the node's
// list, the value the packets that it received. Hits of rules: the index is the rule's namespace;
// a namespace without a rule has the value 0.
#include "probe_state.h"

#include "flow_worker.h"

static uint32_t port_packets(const struct hs_probe_node *node, uint16_t port)
{
	uint64_t sum = 0;

	for (unsigned w = 0; w < node->n_workers; w++)
		sum += __atomic_load_n(&node->workers[w]->stats[port].rx_packets, __ATOMIC_RELAXED);
	return (uint32_t)sum;
}

static uint32_t rule_hits(const struct hs_flow_view *flows, uint32_t ns_id)
{
	uint32_t slot = hs_flow_named(flows, ns_id);
	struct hs_flow_sums sums;

	if (slot == HS_FLOW_NONE)
		return 0;
	hs_flow_sum(flows, slot, &sums);
	return (uint32_t)sums.rx_packets;
}

bool hs_probe_read_register(const struct hs_worker *worker, enum hs_probe_type type,
		const struct hs_probe_entry *range, uint32_t *values)
{
	unsigned size = type == HS_PROBE_PORT_PACKETS ? worker->n_ports : HS_PROBE_VALUES;

	if (range->first > range->end || range->end > size)
		return false;
	for (unsigned i = range->first; i < range->end; i++)
		*values++ = type == HS_PROBE_PORT_PACKETS
					    ? port_packets(worker->probe->node, (uint16_t)i)
					    : rule_hits(&worker->flows, i);
	return true;
}

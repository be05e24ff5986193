// SPDX-License-Identifier: BSD-3-Clause
// The values that this node knows of a packet, which it adds to the packet or reports.
//
// Thread rule: owner lcore.
#pragma once

#include "egress.h"
#include "int_values.h"

// Adds the values of the port's egress queue: the packet leaves at its departure. Returns false if
// they are not known.
static inline bool hs_int_local_queued(struct hs_worker *worker, const struct hs_burst *burst,
		const struct hs_port *out, uint32_t bytes, struct hs_int_values *values)
{
	struct hs_egress_values queued;

	if (!hs_egress_read(worker, burst, out, bytes, &queued))
		return false;
	values->has |= HS_INT_HAS_QUEUE_ID | HS_INT_HAS_QUEUE_PACKETS | HS_INT_HAS_CONGESTION |
		       HS_INT_HAS_UTILISATION | HS_INT_HAS_BUFFER_ID | HS_INT_HAS_BUFFER_USED;
	values->queue_id = 0;
	values->queue_packets = queued.depth;
	values->queue_congestion = queued.congestion;
	values->link_utilisation = queued.utilisation;
	values->buffer_id = 0;
	values->buffer_used = queued.buffer;
	values->egress_ns = (uint64_t)queued.departs_ns;
	return true;
}

// Reads the values of a packet that will have so many bytes when it leaves by `out`. Without an
// egress queue, the packet is sent at the time that is read once for the burst, and no values of a
// queue and the link are known.
static inline void hs_int_local(struct hs_worker *worker, struct hs_burst *burst,
		const struct hs_port *out, uint32_t bytes, struct hs_int_values *values)
{
	*values = (struct hs_int_values){
			.has = HS_INT_HAS_NODE_ID | HS_INT_HAS_INGRESS_PORT |
			       HS_INT_HAS_INGRESS_NS | HS_INT_HAS_EGRESS_PORT |
			       HS_INT_HAS_EGRESS_NS | HS_INT_HAS_HOP_LATENCY,
			.node_id = worker->node_id,
			.ingress_port = hs_port_id(burst->in),
			.egress_port = hs_port_id(out),
			.ingress_ns = (uint64_t)burst->now_ns,
	};
	if (!hs_int_local_queued(worker, burst, out, bytes, values))
		values->egress_ns = (uint64_t)hs_burst_sent_ns(worker, burst);
	values->hop_latency_ns = values->egress_ns - values->ingress_ns;
}

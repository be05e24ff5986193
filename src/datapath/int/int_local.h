// SPDX-License-Identifier: BSD-3-Clause
// What this node knows of a packet that it adds values to or reports.
//
// Thread rule: owner lcore.
#pragma once

#include "int_values.h"
#include "worker.h"

// What a port is called on the wire.
static inline uint32_t hs_int_port_id(const struct hs_port *port)
{
	return hs_port_id(port);
}

// `out` NULL: the packet has not been sent. A port without a queue of ours knows no depth.
static inline void hs_int_local(const struct hs_worker *worker, struct hs_burst *burst,
		const struct hs_port *out, struct hs_int_values *values)
{
	*values = (struct hs_int_values){
			.has = HS_INT_HAS_NODE_ID | HS_INT_HAS_INGRESS_PORT | HS_INT_HAS_INGRESS_NS,
			.node_id = worker->node_id,
			.ingress_port = hs_int_port_id(burst->in),
			.ingress_ns = (uint64_t)burst->now_ns,
	};
	if (!out)
		return;
	int64_t sent_ns = hs_burst_sent_ns(worker, burst);
	values->has |= HS_INT_HAS_EGRESS_PORT | HS_INT_HAS_EGRESS_NS | HS_INT_HAS_HOP_LATENCY;
	values->egress_port = hs_int_port_id(out);
	values->egress_ns = (uint64_t)sent_ns;
	values->hop_latency_ns = (uint64_t)(sent_ns - burst->now_ns);
}

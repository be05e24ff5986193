// SPDX-License-Identifier: BSD-3-Clause
#include "qos_memory.h"

#include "qos_partial.h"
#include "qos_parts.h"

#define LARGE_BYTES (2 * HS_QOS_SHARE_BYTES) // a flow that takes more is large

// Returns the bytes of all but histograms and finished windows, without a look at each link.
static size_t frame_bytes(const struct hs_qos_flow *flow)
{
	size_t link = sizeof(*flow->links) + flow->n_sums * sizeof(struct hs_qos_link_sum) +
		      (flow->marks ? sizeof(*flow->marks) : 0) +
		      (flow->sums[0].locals ? flow->n_sums * sizeof(struct hs_qos_local_sum) : 0);
	size_t seen = flow->seen == flow->first_seen ? 0
						     : flow->seen_capacity * sizeof(*flow->seen);
	return sizeof(*flow) + sizeof(*flow->place) - sizeof(flow->ring) +
	       hs_qos_ring_bytes(&flow->ring) + seen + flow->link_capacity * link;
}

size_t hs_qos_flow_bytes(const struct hs_qos_flow *flow)
{
	size_t bytes = frame_bytes(flow);
	for (unsigned i = 0; i < flow->n_sums; i++)
		for (unsigned j = 0; j < flow->n_links; j++)
			bytes += hs_qos_hist_bytes(&flow->sums[i].links[j].hist) +
				 (flow->sums[i].locals ? hs_qos_hist_bytes(
									 &flow->sums[i].locals[j]
											  .latency)
						       : 0);
	for (unsigned i = 0; i < HS_QOS_WINDOWS; i++)
		bytes += flow->latest[i].capacity * sizeof(struct hs_qos_hop);
	return bytes;
}

static bool is_scarce(const struct hs_qos *qos)
{
	uint64_t limit = qos->memory.limit_bytes;
	return limit && qos->memory.bytes > limit - limit / 8;
}

void hs_qos_charge(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	uint64_t bytes = frame_bytes(flow) + flow->built_bytes;
	if (bytes < HS_QOS_SHARE_BYTES)
		bytes = HS_QOS_SHARE_BYTES;
	qos->memory.bytes += bytes - flow->charged;
	flow->charged = bytes;
	bool large = bytes > LARGE_BYTES;
	qos->n_large += (uint32_t)large - (uint32_t)flow->large;
	flow->large = large;
	flow->scarce = is_scarce(qos);
}

void hs_qos_charge_all(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	flow->built_bytes = hs_qos_flow_bytes(flow) - frame_bytes(flow);
	hs_qos_charge(qos, flow);
}

void hs_qos_discharge(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	qos->memory.bytes -= flow->charged;
	qos->n_large -= flow->large;
	flow->charged = 0;
	flow->large = false;
}

void hs_qos_memory(const struct hs_qos *qos, struct hs_qos_memory *memory)
{
	*memory = qos->memory;
}

uint64_t hs_qos_most_bytes(void)
{
	uint64_t capacity = 1;
	while (capacity < HS_QOS_FLOW_LINKS)
		capacity *= 2;
	uint64_t link = sizeof(struct hs_qos_link) + sizeof(struct hs_qos_marks) +
			HS_QOS_SUMS * (sizeof(struct hs_qos_link_sum) + HS_QOS_HIST_MOST_BYTES +
						      sizeof(struct hs_qos_local_sum) +
						      HS_QOS_LATENCY_HIST_MOST_BYTES) +
			HS_QOS_WINDOWS * sizeof(struct hs_qos_hop);
	return sizeof(struct hs_qos_flow) + sizeof(struct hs_qos_place) + HS_QOS_RING_BYTES +
	       HS_QOS_SEEN * sizeof(struct hs_qos_seen) + capacity * link;
}

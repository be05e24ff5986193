// SPDX-License-Identifier: BSD-3-Clause
// How much memory flows may take together. Who sends reports of ever new paths makes its flow
// large: such flows give way to others, and not the other way round.
#include "qos_parts.h"

#include "qos_partial.h"

// What each flow is reckoned with at least: a thousand reports of five nodes, and their links. So
// all flows that were taken fit, unless one of them takes more.
#define SHARE_BYTES (256u << 10)
#define LARGE_BYTES (2 * SHARE_BYTES) // of a flow that is no usual one

size_t hs_qos_flow_frame_bytes(const struct hs_qos_flow *flow)
{
	size_t link = sizeof(*flow->links) + flow->n_sums * sizeof(struct hs_qos_link_sum) +
		      (flow->marks ? sizeof(*flow->marks) : 0);
	size_t seen = flow->seen == flow->first_seen ? 0
						     : flow->seen_capacity * sizeof(*flow->seen);
	return sizeof(*flow) - sizeof(flow->ring) + hs_qos_ring_bytes(&flow->ring) + seen +
	       flow->link_capacity * link;
}

size_t hs_qos_flow_bytes(const struct hs_qos_flow *flow)
{
	size_t bytes = hs_qos_flow_frame_bytes(flow);
	for (unsigned i = 0; i < flow->n_sums; i++)
		for (unsigned j = 0; j < flow->n_links; j++)
			bytes += hs_qos_hist_bytes(&flow->sums[i].links[j].hist);
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
	uint64_t bytes = hs_qos_flow_frame_bytes(flow) + flow->built_bytes;
	if (bytes < SHARE_BYTES)
		bytes = SHARE_BYTES;
	qos->memory.bytes += bytes - flow->charged;
	flow->charged = bytes;
	bool large = bytes > LARGE_BYTES;
	qos->n_large += (uint32_t)large - (uint32_t)flow->large;
	flow->large = large;
	flow->scarce = is_scarce(qos);
}

void hs_qos_charge_all(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	flow->built_bytes = hs_qos_flow_bytes(flow) - hs_qos_flow_frame_bytes(flow);
	hs_qos_charge(qos, flow);
}

void hs_qos_discharge(struct hs_qos *qos, struct hs_qos_flow *flow)
{
	qos->memory.bytes -= flow->charged;
	qos->n_large -= flow->large;
	flow->charged = 0;
	flow->large = false;
}

// The flow that takes most goes, with what is open handed out.
static void evict(struct hs_qos *qos)
{
	const struct hs_qos_entry *largest = NULL;
	for (uint32_t i = 0; i <= qos->table_mask; i++) {
		const struct hs_qos_entry *entry = &qos->table[i];
		if (entry->flow && (!largest || entry->flow->charged > largest->flow->charged))
			largest = entry;
	}
	qos->memory.evicted++;
	hs_qos_remove(qos, largest->ns_id);
}

bool hs_qos_has_room(struct hs_qos *qos)
{
	uint64_t limit = qos->memory.limit_bytes;
	while (limit && qos->memory.bytes + SHARE_BYTES > limit) {
		if (!qos->n_large)
			return false;
		evict(qos);
	}
	return true;
}

void hs_qos_keep_to_limit(struct hs_qos *qos)
{
	uint64_t limit = qos->memory.limit_bytes;
	while (limit && qos->memory.bytes > limit && qos->counters.flows)
		evict(qos);
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
			HS_QOS_SUMS * (sizeof(struct hs_qos_link_sum) + HS_QOS_HIST_MOST_BYTES) +
			HS_QOS_WINDOWS * sizeof(struct hs_qos_hop);
	return sizeof(struct hs_qos_flow) + HS_QOS_RING_BYTES +
	       HS_QOS_SEEN * sizeof(struct hs_qos_seen) + capacity * link;
}

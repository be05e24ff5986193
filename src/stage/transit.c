// SPDX-License-Identifier: BSD-3-Clause
#include "fit.h"
#include "flexint.h"
#include "room.h"
#include "stage.h"

static void insert(struct hs_worker *worker, struct hs_burst *burst, unsigned i, size_t growth,
		uint16_t bitmap, const struct hs_flow_sums *sums)
{
	struct hs_flexint_hop hop = {
			.node_id = worker->node_id,
			.bitmap = bitmap,
			.tx_packets = (uint16_t)sums->tx_packets,
			.rx_packets = (uint16_t)sums->rx_packets,
			.ts_ns = (uint64_t)hs_burst_rx_ns(burst, i),
			.tx_bytes = (uint32_t)sums->tx_bytes,
			.rx_bytes = (uint32_t)sums->rx_bytes,
	};
	uint8_t *frame = hs_room_open(burst->mbufs[i], growth);
	hs_flexint_hop_insert(frame, &burst->packets[i], growth, &hop);
	hs_flow_add(&worker->flows.own[burst->slots[i]].hop_entries, 1);
}

// The rule that asked for this packet's telemetry, if this node has it; counts where not.
static struct hs_flow_worker *rule_of(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];

	if (!(packet->flags & HS_PACKET_TELEMETRY)) {
		if (!(packet->flags & HS_PACKET_SIGNAL))
			hs_event(worker, burst, HS_EVENT_BAD_TELEMETRY);
		return NULL;
	}
	if (!hs_flow_is_of(&worker->flows, burst->slots[i], packet->ns_id)) {
		hs_event(worker, burst, HS_EVENT_UNKNOWN_NAMESPACE);
		return NULL;
	}
	return &worker->flows.own[burst->slots[i]];
}

void hs_transit(struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];
	if (unlikely(packet->flags & HS_PACKET_SIGNAL))
		hs_signal_pass(worker, burst, i);
	if (!(packet->flags & HS_PACKET_ANY_TELEMETRY))
		return;
	struct hs_flow_worker *own = rule_of(worker, burst, i);
	if (!own)
		return;
	uint16_t wanted = (uint16_t)packet->trace_type;
	if (!wanted || !hs_flow_hop_enabled(own))
		return;

	uint32_t slot = burst->slots[i];
	int64_t now_ns = hs_burst_rx_ns(burst, i);
	uint16_t bitmap = wanted & HS_HOP_KNOWN;
	struct hs_flow_sums sums;

	hs_flow_sum(&worker->flows, slot, &sums);
	if (unlikely(worker->partial))
		bitmap = hs_partial_choose(worker->partial, &worker->flows, slot, wanted, &sums,
				now_ns, &worker->rng);
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	int growth = hs_flexint_hop_growth(frame, packet, bitmap);
	if (unlikely(growth < 0)) {
		hs_fit_count_option(worker, burst, own);
		return;
	}
	if (unlikely(!hs_fits(worker, burst, i, out, (size_t)growth)))
		return;
	insert(worker, burst, i, (size_t)growth, bitmap, &sums);
	if (unlikely(worker->partial))
		hs_partial_added(worker->partial, &worker->flows, slot, bitmap, &sums, now_ns);
}

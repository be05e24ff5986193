// SPDX-License-Identifier: BSD-3-Clause
#include "fit.h"
#include "flexint_fast.h"
#include "flexint_partial.h"
#include "flexint_steps.h"
#include "room.h"
#include "skeleton.h"

// Inserts an entry. `fast` is a constant: if true, is_fast is true of the packet, and `bitmap` has
// all fields.
static inline __attribute__((always_inline)) void insert(struct hs_worker *worker,
		struct hs_burst *burst, unsigned i, struct hs_flow_worker *own, size_t growth,
		uint16_t bitmap, const struct hs_flow_sums *sums, bool fast)
{
	struct hs_hop hop = {
			.node_id = worker->node_id,
			.bitmap = bitmap,
			.tx_packets = (uint16_t)sums->tx_packets,
			.rx_packets = (uint16_t)sums->rx_packets,
			.ts_ns = (uint64_t)burst->now_ns,
			.tx_bytes = (uint32_t)sums->tx_bytes,
			.rx_bytes = (uint32_t)sums->rx_bytes,
	};
	struct rte_mbuf *m = burst->mbufs[i];
	uint8_t *frame = fast ? hs_room_shift(m, (int)growth) : hs_room_open(m, growth);
	if (fast)
		hs_flexint_fast_hop_insert(frame, &burst->packets[i], &hop);
	else
		hs_flexint_hop_insert(frame, &burst->packets[i], growth, &hop);
	hs_flow_add(&own->hop_entries, 1);
}

// Adds an entry with the fields of `allowed` that the packet asks for, by the rule in the packet's
// slot.
static void add_entry(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct hs_port *out, uint16_t allowed)
{
	const struct hs_packet *packet = &burst->packets[i];
	uint32_t slot = burst->slots[i];
	struct hs_flow_worker *own = &worker->flows.own[slot];
	uint16_t wanted = (uint16_t)packet->trace_type;
	if (!wanted || !(hs_flow_hop_enabled(own) || hs_flow_has_fields(own)))
		return;

	int64_t now_ns = hs_burst_steady_ns(burst);
	uint16_t bitmap = wanted & allowed;
	struct hs_flow_sums sums;

	hs_flow_sum(&worker->flows, slot, &sums);
	struct hs_partial_of partial;
	bool chooses = allowed == HS_HOP_KNOWN &&
		       hs_partial_find(worker->partial, &worker->flows, slot, &partial);
	if (unlikely(chooses))
		bitmap = hs_partial_choose(&partial, wanted, &sums, now_ns, &worker->rng);
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	int growth = hs_flexint_hop_growth(frame, packet, bitmap);
	if (unlikely(growth < 0)) {
		hs_fit_count_option(worker, burst, own);
		return;
	}
	if (unlikely(!hs_fits(worker, burst, i, out, (size_t)growth)))
		return;
	insert(worker, burst, i, own, (size_t)growth, bitmap, &sums, false);
	if (unlikely(chooses))
		hs_partial_added(&partial, bitmap, &sums, now_ns);
}

// Adds an entry of a rule whose packets are all taken by another rule. The counts of the first rule
// would look like loss, so that the entry says only that the packet was here, and when.
static void add_entry_without_counts(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	uint32_t taker = burst->slots[i];
	uint32_t named = hs_flexint_shadow(worker, burst, i);

	if (named == HS_FLOW_NONE)
		return;
	burst->slots[i] = named;
	add_entry(worker, burst, i, out, HS_HOP_TIMESTAMP);
	burst->slots[i] = taker;
}

void hs_flexint_transit(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];
	if (unlikely(packet->flags & HS_PACKET_PUNT))
		hs_flexint_punt_pass(worker, burst, i);
	if (!(packet->flags & HS_PACKET_ANY_TELEMETRY)) // the packet had nothing but reports
		return;
	if (unlikely(!(packet->flags & HS_PACKET_TELEMETRY))) {
		if (!(packet->flags & HS_PACKET_PUNT))
			hs_event(worker, burst, HS_EVENT_BAD_TELEMETRY);
	} else if (likely(hs_flow_is_of(&worker->flows, burst->slots[i], packet->ns_id))) {
		add_entry(worker, burst, i, out, HS_HOP_KNOWN);
	} else {
		add_entry_without_counts(worker, burst, i, out);
	}
}

// Returns whether the packet has telemetry as our nodes write it, of a rule of this node, that asks
// for all fields.
static inline __attribute__((always_inline)) bool is_fast(const struct hs_flow_worker *own,
		const struct hs_burst *burst, unsigned i, const struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];
	const struct rte_mbuf *m = burst->mbufs[i];

	return hs_flexint_fast_is_telemetry(packet) && own->ns_id == packet->ns_id &&
	       ((uint16_t)packet->trace_type & HS_HOP_KNOWN) == HS_HOP_KNOWN &&
	       hs_flow_hop_enabled(own) && hs_may_grow(burst, i, out, HS_FLEXINT_FAST_HOP_BYTES) &&
	       rte_pktmbuf_headroom(m) >= HS_FLEXINT_FAST_HOP_BYTES &&
	       hs_flexint_fast_hop_fits(packet);
}

static inline __attribute__((always_inline)) void fast_transit(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	uint32_t slot = burst->slots[i];
	struct hs_flow_worker *own = &worker->flows.own[slot];
	struct hs_flow_sums sums;

	if (unlikely(slot >= worker->flows.n_rules || !is_fast(own, burst, i, out))) {
		hs_flexint_transit(worker, burst, i, out);
		return;
	}
	hs_flow_sum(&worker->flows, slot, &sums);
	insert(worker, burst, i, own, HS_FLEXINT_FAST_HOP_BYTES, HS_HOP_KNOWN, &sums, true);
}

void hs_flexint_run_transit(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	if (unlikely(worker->partial)) // entries of any size
		hs_to_network_as(worker, burst, first, end, out, HS_IN_TRANSIT, hs_flexint_transit);
	else
		hs_to_network_as(worker, burst, first, end, out, HS_IN_TRANSIT, fast_transit);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "fit.h"
#include "flexint_fast.h"
#include "flexint_pending.h"
#include "flexint_steps.h"
#include "flow_sampling.h"
#include "room.h"
#include "skeleton.h"

static inline enum hs_flexint_layout layout_of(
		const struct hs_worker *worker, const struct hs_port *out)
{
	return worker->profiles[out->index].layout;
}

// Inserts telemetry. `fast` is a constant: if true, is_fast is true of the packet.
static inline __attribute__((always_inline)) void insert(struct hs_worker *worker,
		struct hs_burst *burst, unsigned i, size_t growth, enum hs_flexint_layout layout,
		bool fast)
{
	const struct hs_packet *packet = &burst->packets[i];
	uint32_t slot = burst->slots[i];
	struct hs_flow_worker *own = &worker->flows.own[slot];
	struct hs_flow_sums sums;

	hs_flow_add(&own->int_packets, 1);
	hs_flow_set_ns(&own->last_int_ns, burst->now_ns);
	hs_flow_sum(&worker->flows, slot, &sums);
	struct hs_e2e e2e = {
			.bitmap = (uint16_t)(own->trace_type >> 16) & HS_E2E_KNOWN,
			.int_packets = (uint32_t)sums.int_packets,
			.ts_ns = (uint64_t)burst->now_ns,
			.tx_packets = (uint32_t)sums.tx_packets,
			.tx_bytes = (uint32_t)sums.tx_bytes,
	};
	struct rte_mbuf *m = burst->mbufs[i];
	uint8_t *frame = fast ? hs_room_shift(m, (int)growth) : hs_room_open(m, growth);
	if (!fast)
		hs_flexint_source_insert(
				frame, packet, growth, own->ns_id, own->trace_type, layout, &e2e);
	else
		hs_flexint_fast_source_insert(frame, packet, own->ns_id, layout, &e2e);
}

// Returns whether telemetry has room beside the reports that the packet took. A lack of room is not
// counted, because the next packet carries telemetry alone.
static bool has_room_beside(const struct hs_worker *worker, const struct hs_burst *burst,
		unsigned i, const struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];
	const struct hs_flow_worker *own = &worker->flows.own[burst->slots[i]];
	size_t growth = hs_flexint_source_growth(packet, own->trace_type, layout_of(worker, out));

	return growth && hs_may_grow(burst, i, out, growth) &&
	       hs_room_is_there(burst->mbufs[i], growth);
}

// Puts in pending options and returns whether the packet is to carry telemetry, too. A packet that
// is due and may not carry telemetry leaves the next one due.
static bool is_due_without_pending(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	struct hs_flow_worker *own = &worker->flows.own[burst->slots[i]];
	bool owes = own->seen & HS_FLOW_OWES;
	enum hs_pending_verdict verdict = hs_pending_put(worker, burst, i, out, !owes);
	bool due = hs_flow_due_without_pending(own, &worker->rng, hs_burst_steady_ns(burst)) ||
		   owes;

	if (!due)
		return false;
	if (verdict == HS_PENDING_NOTHING ||
			(verdict == HS_PENDING_REPORTS && has_room_beside(worker, burst, i, out))) {
		own->seen &= (uint8_t)~HS_FLOW_OWES;
		return true;
	}
	if (verdict == HS_PENDING_REPORTS)
		own->seen |= HS_FLOW_OWES;
	hs_flow_postpone(own);
	return false;
}

void hs_flexint_source(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	uint32_t slot = burst->slots[i];
	struct hs_flow_worker *own = &worker->flows.own[slot];
	const struct hs_packet *packet = &burst->packets[i];

	if (unlikely(own->trace_type & HS_RULE_TRACE_OTHERS)) // of another family
		return;
	if (unlikely(packet->flags & HS_PACKET_IPV4)) { // IPv4 has no place for options of IPv6
		hs_flow_claim_without_pending(&worker->flows, slot, hs_burst_steady_ns(burst));
		return;
	}
	if (unlikely(hs_flow_is_pending(own)) && !is_due_without_pending(worker, burst, i, out))
		return;
	enum hs_flexint_layout layout = layout_of(worker, out);
	size_t growth = hs_flexint_source_growth(packet, own->trace_type, layout);
	if (unlikely(!growth || !hs_fits(worker, burst, i, out, growth))) {
		if (!growth)
			hs_fit_count_option(worker, burst, own);
		hs_flow_postpone(own);
		return;
	}
	if (hs_flow_claim_without_pending(&worker->flows, slot, hs_burst_steady_ns(burst)))
		insert(worker, burst, i, growth, layout, false);
}

// Returns whether the rule has the paper's trace type and the packet's front can move as a whole.
static inline __attribute__((always_inline)) bool is_fast(const struct hs_flow_worker *own,
		const struct hs_burst *burst, unsigned i, const struct hs_port *out, size_t growth)
{
	const struct hs_packet *packet = &burst->packets[i];

	return own->trace_type == HS_FLEXINT_FAST_TRACE_TYPE &&
	       packet->flags == (HS_PACKET_IPV6 | HS_PACKET_FLOW) && packet->l3_off == HS_FAST_L3 &&
	       hs_may_grow(burst, i, out, growth) &&
	       rte_pktmbuf_headroom(burst->mbufs[i]) >= growth;
}

// Inserts telemetry on the fast path. `layout` is a constant: that of the port's profile.
static inline __attribute__((always_inline)) void fast_source_as(struct hs_worker *worker,
		struct hs_burst *burst, unsigned i, struct hs_port *out,
		enum hs_flexint_layout layout)
{
	uint32_t slot = burst->slots[i];
	struct hs_flow_worker *own = &worker->flows.own[slot];
	size_t growth = hs_flexint_fast_source_growth(layout);

	if (unlikely(!is_fast(own, burst, i, out, growth)))
		hs_flexint_source(worker, burst, i, out);
	else if (likely(hs_flow_claim(&worker->flows, slot, hs_burst_steady_ns(burst))))
		insert(worker, burst, i, growth, layout, true);
	else if (unlikely(hs_flow_is_pending(own)))
		hs_flexint_source(worker, burst, i, out);
}

static inline __attribute__((always_inline)) void fast_source_aligned(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	fast_source_as(worker, burst, i, out, HS_LAYOUT_ALIGNED);
}

static inline __attribute__((always_inline)) void fast_source_paper(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	fast_source_as(worker, burst, i, out, HS_LAYOUT_PAPER);
}

void hs_flexint_run_source(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	if (layout_of(worker, out) == HS_LAYOUT_ALIGNED)
		hs_to_network_as(worker, burst, first, end, out, HS_AT_SOURCE, fast_source_aligned);
	else
		hs_to_network_as(worker, burst, first, end, out, HS_AT_SOURCE, fast_source_paper);
}

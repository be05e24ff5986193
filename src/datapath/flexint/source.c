// SPDX-License-Identifier: BSD-3-Clause
#include "flexint.h"
#include "fit.h"
#include "pending.h"
#include "room.h"
#include "flexint_steps.h"

static void insert(struct hs_worker *worker, struct hs_burst *burst, unsigned i, size_t growth)
{
	const struct hs_packet *packet = &burst->packets[i];
	uint32_t slot = burst->slots[i];
	struct hs_flow_worker *own = &worker->flows.own[slot];
	struct hs_flow_sums sums;

	hs_flow_add(&own->int_packets, 1);
	hs_flow_set_ns(&own->last_int_ns, hs_burst_rx_ns(burst, i));
	hs_flow_sum(&worker->flows, slot, &sums);
	struct hs_e2e e2e = {
			.bitmap = (uint16_t)(own->trace_type >> 16) & HS_E2E_KNOWN,
			.int_packets = (uint32_t)sums.int_packets,
			.ts_ns = (uint64_t)hs_burst_rx_ns(burst, i),
			.tx_packets = (uint32_t)sums.tx_packets,
			.tx_bytes = (uint32_t)sums.tx_bytes,
	};
	uint8_t *frame = hs_room_open(burst->mbufs[i], growth);
	hs_flexint_source_insert(
			frame, packet, growth, own->ns_id, own->trace_type, worker->layout, &e2e);
}

// Beside reports that the packet took. What finds no room there is not counted: the next packet is
// telemetry's alone.
static bool has_room_beside(const struct hs_worker *worker, const struct hs_burst *burst,
		unsigned i, const struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];
	const struct hs_flow_worker *own = &worker->flows.own[burst->slots[i]];
	size_t growth = hs_flexint_source_growth(packet, own->trace_type, worker->layout);

	return growth && hs_packet_l3_bytes(packet) + growth <= out->mtu &&
	       packet->payload_bytes + growth <= UINT16_MAX &&
	       hs_room_is_there(burst->mbufs[i], growth);
}

// What pending options leave to telemetry. A packet that is due and may not carry it leaves the
// next one due.
static bool is_due_without_pending(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	struct hs_flow_worker *own = &worker->flows.own[burst->slots[i]];
	bool owes = own->seen & HS_FLOW_OWES;
	enum hs_pending_verdict verdict = hs_pending_put(worker, burst, i, out, !owes);
	bool due = hs_flow_due_without_pending(own, &worker->rng, hs_burst_steady_ns(burst, i)) ||
		   owes;

	if (!due)
		return false;
	if (verdict == HS_PENDING_NOTHING ||
			(verdict == HS_PENDING_REPORTS && has_room_beside(worker, burst, i, out))) {
		own->seen &= ~(uint32_t)HS_FLOW_OWES;
		return true;
	}
	if (verdict == HS_PENDING_REPORTS)
		own->seen |= HS_FLOW_OWES;
	hs_flow_postpone(own);
	return false;
}

void hs_source(struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	uint32_t slot = burst->slots[i];
	struct hs_flow_worker *own = &worker->flows.own[slot];
	const struct hs_packet *packet = &burst->packets[i];

	if (unlikely(hs_flow_is_pending(own)) && !is_due_without_pending(worker, burst, i, out))
		return;
	size_t growth = hs_flexint_source_growth(packet, own->trace_type, worker->layout);
	if (unlikely(!growth || !hs_fits(worker, burst, i, out, growth))) {
		if (!growth)
			hs_fit_count_option(worker, burst, own);
		hs_flow_postpone(own);
		return;
	}
	if (hs_flow_claim_without_pending(&worker->flows, slot, hs_burst_steady_ns(burst, i)))
		insert(worker, burst, i, growth);
}

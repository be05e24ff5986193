// SPDX-License-Identifier: BSD-3-Clause
#include "fit.h"
#include "int_export.h"
#include "int_fast.h"
#include "int_local.h"
#include "int_steps.h"
#include "room.h"
#include "rule.h"
#include "skeleton.h"

// Counts why nothing is added, and sets the packet's bit for the reason, where the version has one.
static void refuse(struct hs_worker *worker, struct hs_burst *burst, unsigned i, int refusal)
{
	const struct hs_int_settings *settings = burst->profile->settings;

	switch (refusal) {
	case HS_INT_NOT_ASKED:
		return;
	case HS_INT_MTU:
		hs_event(worker, burst, HS_EVENT_NO_ROOM_MTU);
		break;
	case HS_INT_HOP_LIMIT:
		hs_event(worker, burst, HS_EVENT_HOPS_FULL);
		break;
	case HS_INT_RESERVED:
	case HS_INT_MISMATCH:
		hs_event(worker, burst, HS_EVENT_BAD_TELEMETRY);
		break;
	default:
		hs_event(worker, burst, HS_EVENT_NO_ROOM_OPTION);
	}
	if (hs_is_changeable(burst, i))
		hs_int_transit_refuse(settings, rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *),
				&burst->packets[i], refusal);
}

static bool has_room(struct hs_worker *worker, struct hs_burst *burst, unsigned i, size_t growth)
{
	const struct rte_mbuf *m = burst->mbufs[i];

	if (likely(hs_is_changeable(burst, i) && hs_room_is_there(m, growth)))
		return true;
	hs_event(worker, burst,
			hs_is_changeable(burst, i) ? HS_EVENT_NO_ROOM_HEADROOM
						   : HS_EVENT_NOT_CHANGEABLE);
	return false;
}

static inline bool is_switched_off(const struct hs_worker *worker, uint32_t slot)
{
	return slot != HS_FLOW_NONE && hs_flow_is_off(&worker->flows.own[slot], HS_RULE_TRACE_INT);
}

void hs_int_transit(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	const struct hs_int_settings *settings = burst->profile->settings;
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	struct hs_int_values values;

	if (unlikely(!(packet->flags & HS_PACKET_TELEMETRY))) {
		hs_event(worker, burst, HS_EVENT_BAD_TELEMETRY);
		return;
	}
	if (unlikely(is_switched_off(worker, burst->slots[i])))
		return;
	if (unlikely(worker->exporter))
		hs_int_export_transit(worker, burst, i, out);
	int growth = hs_int_transit_growth(settings, frame, packet);
	if (growth > 0 && unlikely(packet->l3_bytes + (size_t)growth > out->mtu))
		growth = HS_INT_MTU;
	if (unlikely(growth <= 0)) {
		refuse(worker, burst, i, growth);
		return;
	}
	if (unlikely(!has_room(worker, burst, i, (size_t)growth)))
		return;
	hs_int_local(worker, burst, out, rte_pktmbuf_pkt_len(burst->mbufs[i]) + (uint32_t)growth,
			&values);
	hs_int_transit_insert(settings, hs_room_open(burst->mbufs[i], (size_t)growth), packet,
			(size_t)growth, &values);
	if (burst->slots[i] != HS_FLOW_NONE)
		hs_flow_add(&worker->flows.own[burst->slots[i]].hop_entries, 1);
}

// Makes the block that all packets of a run get if they ask for the same. An egress queue makes
// each packet's values differ, so that the block is of one packet.
static __attribute__((noinline)) void prepare(struct hs_worker *worker, struct hs_burst *burst,
		unsigned i, const struct hs_port *out, struct hs_int_fast_block *block)
{
	uint16_t bitmap = (uint16_t)(burst->packets[i].trace_type >> 16);
	uint32_t growth = 4 * hs_int_fast_words(bitmap);
	struct hs_int_values values;

	hs_int_local(worker, burst, out, rte_pktmbuf_pkt_len(burst->mbufs[i]) + growth, &values);
	hs_int_fast_block_make(block, bitmap, &values);
	if (hs_egress_of(worker, out))
		block->bitmap = UINT32_MAX; // no packet asks for this: each one is prepared
}

// Handles the common case; the general step handles the rest.
static inline __attribute__((always_inline)) void fast_transit(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];
	struct hs_int_fast_block *block = worker->run;
	struct rte_mbuf *m = burst->mbufs[i];

	if (unlikely(block->bitmap != packet->trace_type >> 16))
		prepare(worker, burst, i, out, block);
	size_t growth = block->n;
	if (unlikely(!hs_int_fast_may_add(rte_pktmbuf_mtod(m, const uint8_t *), packet, block) ||
			    !hs_may_grow(burst, i, out, growth) ||
			    rte_pktmbuf_headroom(m) < growth ||
			    is_switched_off(worker, burst->slots[i]))) {
		hs_int_transit(worker, burst, i, out);
		return;
	}
	hs_int_fast_transit_insert(hs_room_shift(m, (int)growth), packet, block);
	if (burst->slots[i] != HS_FLOW_NONE)
		hs_flow_add(&worker->flows.own[burst->slots[i]].hop_entries, 1);
}

// Takes a run of a profile without a fast path. Not inlined, so that the fast path beside it keeps
// its registers.
static __attribute__((noinline)) void general_run(struct hs_worker *worker, struct hs_burst *burst,
		unsigned first, unsigned end, struct hs_port *out)
{
	const struct hs_int_settings *settings = burst->profile->settings;

	if (settings->mode == HS_INT_XD && !(burst->flags & HS_STAGE_SUSPECT)) {
		hs_to_network_as(worker, burst, first, end, out, HS_AT_SOURCE,
				hs_int_export_watched);
		return;
	}
	hs_int_watch(worker, burst, first, end, out);
	hs_to_network_as(worker, burst, first, end, out, HS_IN_TRANSIT, hs_int_transit);
}

void hs_int_run_transit(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	struct hs_int_fast_block block = {.bitmap = 0};

	if (!hs_int_fast_is(burst->profile->settings)) {
		general_run(worker, burst, first, end, out);
		return;
	}
	worker->run = &block;
	hs_to_network_as(worker, burst, first, end, out, HS_IN_TRANSIT, fast_transit);
	worker->run = NULL;
}

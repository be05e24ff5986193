// SPDX-License-Identifier: BSD-3-Clause
#include "fit.h"

void hs_fit_need_mtu(struct hs_worker *worker, const struct hs_burst *burst,
		struct hs_flow_worker *own, uint32_t needed)
{
	uint16_t mtu = (uint16_t)RTE_MIN(needed, (uint32_t)UINT16_MAX); // no port has more

	if (mtu > own->mtu_needed)
		__atomic_store_n(&own->mtu_needed, mtu, __ATOMIC_RELAXED);
	hs_event(worker, burst, HS_EVENT_NO_ROOM_MTU);
}

void hs_fit_count_option(
		struct hs_worker *worker, const struct hs_burst *burst, struct hs_flow_worker *own)
{
	hs_flow_add32(&own->no_room_option, 1);
	hs_event(worker, burst, HS_EVENT_NO_ROOM_OPTION);
}

void hs_fit_count_room(
		struct hs_worker *worker, const struct hs_burst *burst, struct hs_flow_worker *own)
{
	hs_flow_add32(&own->no_room_headroom, 1);
	hs_event(worker, burst, HS_EVENT_NO_ROOM_HEADROOM);
}

static void count_why_not(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out, size_t growth)
{
	const struct hs_packet *packet = &burst->packets[i];
	struct hs_flow_worker *own = &worker->flows.own[burst->slots[i]];
	uint32_t needed = packet->l3_bytes + (uint32_t)growth;

	if (needed > out->mtu) {
		hs_flow_add32(&own->no_room_mtu, 1);
		hs_fit_need_mtu(worker, burst, own, needed);
	} else {
		hs_event(worker, burst, HS_EVENT_NOT_CHANGEABLE);
	}
}

bool hs_fits_packet(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out, size_t growth)
{
	if (likely(hs_may_grow(burst, i, out, growth)))
		return true;
	count_why_not(worker, burst, i, out, growth);
	return false;
}

bool hs_fits(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out, size_t growth)
{
	if (unlikely(!hs_fits_packet(worker, burst, i, out, growth)))
		return false;
	if (unlikely(!hs_room_is_there(burst->mbufs[i], growth))) {
		hs_fit_count_room(worker, burst, &worker->flows.own[burst->slots[i]]);
		return false;
	}
	return true;
}

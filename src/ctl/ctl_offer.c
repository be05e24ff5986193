// SPDX-License-Identifier: BSD-3-Clause
// The offer of a slot: who may fill it, and when.
#include "ctl_parts.h"

#include <stdlib.h>
#include <string.h>

enum hs_flow_offer_state hs_ctl_offer_state(const struct hs_flow_offer *offer)
{
	return atomic_load_explicit(&offer->state, memory_order_acquire);
}

bool hs_ctl_offer_withdraw(struct hs_flow_offer *offer)
{
	uint32_t ready = HS_OFFER_READY;
	bool done = atomic_compare_exchange_strong_explicit(&offer->state, &ready, HS_OFFER_EMPTY,
			memory_order_acquire, memory_order_acquire);

	if (done && offer->of)
		atomic_fetch_sub_explicit(&offer->of->n_ready, 1, memory_order_relaxed);
	return done;
}

bool hs_ctl_offer_open(struct hs_flow_offer *offer, bool may_displace)
{
	switch (hs_ctl_offer_state(offer)) {
	case HS_OFFER_EMPTY:
		return true;
	case HS_OFFER_READY:
		// An offer without an owner was left while a packet had it, and that packet had no
		// room for it.
		return (may_displace || offer->ns_id == 0) && hs_ctl_offer_withdraw(offer);
	case HS_OFFER_SENT:
		if (offer->ns_id != 0)
			return false; // its owner has yet to count it
		atomic_store_explicit(&offer->state, HS_OFFER_EMPTY, memory_order_relaxed);
		return true;
	default:
		return false;
	}
}

void hs_ctl_offer_leave(struct hs_ctl *ctl, uint32_t slot, struct hs_flow_offer *offer)
{
	hs_ctl_offer_clear(ctl, slot, offer);
	if (!hs_ctl_offer_withdraw(offer))
		offer->ns_id = 0;
}

void hs_ctl_offer_publish(struct hs_ctl *ctl, uint32_t slot, struct hs_flow_offer *offer,
		uint32_t ns_id, bool holds_telemetry)
{
	struct hs_flow_offer *first = hs_flow_table_offer(ctl->flows, slot);

	first->n_stand += !offer->stands;
	offer->stands = true;
	offer->ns_id = ns_id;
	atomic_store_explicit(&offer->holds_telemetry, holds_telemetry, memory_order_relaxed);
	atomic_store_explicit(&offer->refused, 0, memory_order_relaxed);
	atomic_store_explicit(&offer->state, HS_OFFER_READY, memory_order_release);
	if (offer->of)
		atomic_fetch_add_explicit(&offer->of->n_ready, 1, memory_order_relaxed);
	hs_flow_table_offer_set(ctl->flows, slot, true);
}

void hs_ctl_offer_clear(struct hs_ctl *ctl, uint32_t slot, struct hs_flow_offer *offer)
{
	struct hs_flow_offer *first = hs_flow_table_offer(ctl->flows, slot);

	first->n_stand -= offer->stands;
	offer->stands = false;
	if (!first->n_stand)
		hs_flow_table_offer_set(ctl->flows, slot, false);
}

uint16_t hs_ctl_offer_options(uint8_t *to, uint8_t type, const uint8_t *bytes, size_t len)
{
	uint8_t *at = to;

	do {
		size_t part = len < UINT8_MAX ? len : UINT8_MAX;
		*at++ = type;
		*at++ = (uint8_t)part;
		memcpy(at, bytes, part);
		at += part;
		bytes += part;
		len -= part;
	} while (len > 0);
	return (uint16_t)(at - to);
}

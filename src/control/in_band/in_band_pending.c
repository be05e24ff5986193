// SPDX-License-Identifier: BSD-3-Clause
// The pending options of a slot: who may fill them, and when.
#include "in_band_pending.h"

#include <string.h>

enum hs_flow_pending_state hs_in_band_pending_state(const struct hs_flow_pending *pending)
{
	return atomic_load_explicit(&pending->state, memory_order_acquire);
}

bool hs_in_band_pending_withdraw(struct hs_flow_pending *pending)
{
	uint32_t ready = HS_PENDING_READY;
	bool done = atomic_compare_exchange_strong_explicit(&pending->state, &ready,
			HS_PENDING_EMPTY, memory_order_acquire, memory_order_acquire);

	if (done && pending->of)
		atomic_fetch_sub_explicit(&pending->of->n_ready, 1, memory_order_relaxed);
	return done;
}

bool hs_in_band_pending_open(struct hs_flow_pending *pending, bool may_displace)
{
	switch (hs_in_band_pending_state(pending)) {
	case HS_PENDING_EMPTY:
		return true;
	case HS_PENDING_READY:
		// Pending options without an owner were left while a packet had them, and that
		// packet had no room for them.
		return (may_displace || pending->ns_id == 0) &&
		       hs_in_band_pending_withdraw(pending);
	case HS_PENDING_SENT:
		if (pending->ns_id != 0)
			return false; // the owner has yet to count what was sent
		atomic_store_explicit(&pending->state, HS_PENDING_EMPTY, memory_order_relaxed);
		return true;
	default:
		return false;
	}
}

void hs_in_band_pending_leave(
		struct hs_flow_table *flows, uint32_t slot, struct hs_flow_pending *pending)
{
	hs_in_band_pending_clear(flows, slot, pending);
	if (!hs_in_band_pending_withdraw(pending))
		pending->ns_id = 0;
}

void hs_in_band_pending_publish(struct hs_flow_table *flows, uint32_t slot,
		struct hs_flow_pending *pending, uint32_t ns_id, bool holds_telemetry)
{
	struct hs_flow_pending *first = hs_flow_table_pending(flows, slot);

	first->n_stand += !pending->stands;
	pending->stands = true;
	pending->ns_id = ns_id;
	atomic_store_explicit(&pending->holds_telemetry, holds_telemetry, memory_order_relaxed);
	atomic_store_explicit(&pending->refused, 0, memory_order_relaxed);
	atomic_store_explicit(&pending->state, HS_PENDING_READY, memory_order_release);
	if (pending->of)
		atomic_fetch_add_explicit(&pending->of->n_ready, 1, memory_order_relaxed);
	hs_flow_table_pending_set(flows, slot, true);
}

void hs_in_band_pending_clear(
		struct hs_flow_table *flows, uint32_t slot, struct hs_flow_pending *pending)
{
	struct hs_flow_pending *first = hs_flow_table_pending(flows, slot);

	first->n_stand -= pending->stands;
	pending->stands = false;
	if (!first->n_stand)
		hs_flow_table_pending_set(flows, slot, false);
}

uint16_t hs_in_band_pending_options(uint8_t *to, uint8_t type, const uint8_t *bytes, size_t len)
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

// SPDX-License-Identifier: BSD-3-Clause
#include "qos_offer.h"

#include <errno.h>
#include <sched.h>
#include <stdlib.h>

#define LOOKS 1000 // of an owner that waits, before other threads get its core

int hs_qos_offers_init(struct hs_qos_offers *offers, uint32_t flows)
{
	uint32_t places = 1;
	while (places < flows)
		places *= 2;
	offers->mask = places - 1;
	offers->flows = calloc(places, sizeof(*offers->flows));
	return offers->flows ? 0 : -ENOMEM;
}

void hs_qos_offers_fini(struct hs_qos_offers *offers)
{
	free(offers->flows);
}

bool hs_qos_offer(struct hs_qos_offers *offers, struct hs_qos_flow *flow)
{
	struct hs_qos_place *place = flow->place;
	uint32_t next = atomic_load_explicit(&offers->next, memory_order_relaxed);
	uint32_t at = next & offers->mask;
	if (!offers->wanted || atomic_load_explicit(&offers->flows[at], memory_order_relaxed))
		return false;
	place->left = hs_qos_ring_free(&flow->ring, &place->at);
	place->offered = true;
	flow->offer = at;
	atomic_store_explicit(&flow->helped, false, memory_order_relaxed);
	atomic_store_explicit(&offers->flows[at], flow, memory_order_release);
	atomic_store_explicit(&offers->next, next + 1, memory_order_release);
	return true;
}

void hs_qos_take_back(struct hs_qos_offers *offers, struct hs_qos_flow *flow)
{
	struct hs_qos_flow *offered = flow;
	flow->place->offered = false;
	if (atomic_compare_exchange_strong_explicit(&offers->flows[flow->offer], &offered, NULL,
			    memory_order_relaxed, memory_order_relaxed))
		return;
	for (unsigned looks = 0; !atomic_load_explicit(&flow->helped, memory_order_acquire);
			looks++)
		if (looks >= LOOKS)
			sched_yield();
}

// Several threads may look at the same offers. Then `oldest` may go back, and offers that are gone
// are looked at once more.
struct hs_qos_flow *hs_qos_offers_take(struct hs_qos_offers *offers)
{
	uint32_t next = atomic_load_explicit(&offers->next, memory_order_acquire);
	uint32_t at = atomic_load_explicit(&offers->oldest, memory_order_relaxed);
	struct hs_qos_flow *flow = NULL;
	if (next - at > offers->mask)
		at = next - offers->mask - 1;
	for (; !flow && at != next; at++) {
		_Atomic(struct hs_qos_flow *) *offer = &offers->flows[at & offers->mask];
		if (atomic_load_explicit(offer, memory_order_relaxed))
			flow = atomic_exchange_explicit(offer, NULL, memory_order_acquire);
	}
	atomic_store_explicit(&offers->oldest, at, memory_order_relaxed);
	return flow;
}

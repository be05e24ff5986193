// SPDX-License-Identifier: BSD-3-Clause
// Flows that the owner of a monitor offers to other threads, in the order of the offers. A thread
// that takes an offer has the flow until it is done. Until then, the owner only places further
// reports of the flow. Internal to this folder.
//
// Thread rule: hs_qos_offers_take and hs_qos_offer_done: any thread, several at once. The other
// functions: owner.
#pragma once

#include "qos_flow.h"

#include <stdatomic.h>

struct hs_qos_offers {
	bool wanted;				       // else none is made
	uint32_t mask;				       // of the places
	_Atomic(struct hs_qos_flow *) *flows;	       // [mask + 1]; NULL: taken, or taken back
	_Atomic uint32_t next;			       // number of the next offer
	_Alignas(HS_QOS_LINE) _Atomic uint32_t oldest; // number of the first that may be left
};

// Makes places for the offers of so many flows. Returns 0 or -ENOMEM. hs_qos_offers_fini accepts
// zeroed offers.
int hs_qos_offers_init(struct hs_qos_offers *offers, uint32_t flows);
void hs_qos_offers_fini(struct hs_qos_offers *offers);

// Offers a flow whose placed reports its ring knows of, and finds the place of the next report.
// Returns false, with nothing changed, if no offer is wanted or there is no place for one.
bool hs_qos_offer(struct hs_qos_offers *offers, struct hs_qos_flow *flow);
// Takes an offered flow back, or waits until the thread that has the flow is done. That takes some
// microseconds, and longer if the thread has lost its core.
void hs_qos_take_back(struct hs_qos_offers *offers, struct hs_qos_flow *flow);

// Takes the oldest offer. Returns NULL if there is none.
struct hs_qos_flow *hs_qos_offers_take(struct hs_qos_offers *offers);
// Gives a flow that was taken back to the owner.
static inline void hs_qos_offer_done(struct hs_qos_flow *flow)
{
	atomic_store_explicit(&flow->helped, true, memory_order_release);
}

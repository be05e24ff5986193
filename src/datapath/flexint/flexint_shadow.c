// SPDX-License-Identifier: BSD-3-Clause
#include "flexint_steps.h"

// Counts a packet with a rule's telemetry that another rule took. Returns whether the rule itself
// took no packet since the last call.
static bool note(const struct hs_flow_view *view, uint32_t named, uint32_t taker)
{
	struct hs_flow_shadow *shadow = &view->shadows[named];
	struct hs_flow_sums sums;

	hs_flow_sum(view, named, &sums);
	bool all = sums.rx_packets == shadow->rx_packets;
	shadow->rx_packets = sums.rx_packets;
	hs_flow_add(&shadow->packets, 1);
	__atomic_store_n(&shadow->by, view->own[taker].ns_id, __ATOMIC_RELAXED);
	return all;
}

uint32_t hs_flexint_shadow(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	const struct hs_flow_view *view = &worker->flows;
	uint32_t taker = burst->slots[i];
	uint32_t named = hs_flow_named(view, burst->packets[i].ns_id);

	if (named == HS_FLOW_NONE) {
		hs_event(worker, burst, HS_EVENT_UNKNOWN_NAMESPACE);
		return HS_FLOW_NONE;
	}
	if (taker >= view->n_rules || !hs_flow_overlap(view, named, taker)) {
		hs_event(worker, burst, HS_EVENT_OTHER_FLOW);
		return HS_FLOW_NONE;
	}
	hs_event(worker, burst, HS_EVENT_SHADOWED_NAMESPACE);
	return note(view, named, taker) ? named : HS_FLOW_NONE;
}

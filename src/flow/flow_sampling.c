// SPDX-License-Identifier: BSD-3-Clause
#include "flow_sampling.h"

void hs_flow_see_change(struct hs_flow_worker *own)
{
	// An exchange takes away only marks whose `config` is then seen. A store could take away
	// the mark of a later change, and `config` would be read before that change.
	atomic_exchange_explicit(&own->changed, 0, memory_order_acq_rel);
	hs_flow_settle(own);
}

void hs_flow_postpone(struct hs_flow_worker *own)
{
	hs_flow_settle(own);
	uint64_t config = atomic_load_explicit(&own->config, memory_order_relaxed);

	if (hs_flow_config_mode(config) == HS_MODE_COUNT)
		own->since = (uint32_t)((config & HS_FLOW_CONFIG_SETTING) - 1);
	own->seen &= (uint8_t)~HS_FLOW_UNDRAWN;
}

static bool claim_period(
		const struct hs_flow_view *view, uint32_t slot, int64_t now_ns, int64_t interval_ns)
{
	struct hs_flow_worker *own = &view->own[slot];
	_Atomic int64_t *shared = &view->shared[slot].last_ns;
	int64_t last_ns = atomic_load_explicit(shared, memory_order_relaxed);

	if (now_ns - last_ns >= interval_ns &&
			atomic_compare_exchange_strong_explicit(shared, &last_ns, now_ns,
					memory_order_relaxed, memory_order_relaxed)) {
		own->last_ns = now_ns;
		return true;
	}
	own->last_ns = last_ns;
	return false;
}

// Draws for a packet on which chance has not decided, because pending options were removed after
// hs_flow_due.
static __attribute__((noinline, cold)) bool draw_late(
		const struct hs_flow_view *view, uint32_t slot, uint64_t setting)
{
	view->own[slot].seen &= (uint8_t)~HS_FLOW_UNDRAWN;
	return hs_rng_u32(&view->others->late) < setting;
}

static inline bool claim(const struct hs_flow_view *view, uint32_t slot, uint8_t mode,
		uint64_t setting, int64_t now_ns)
{
	struct hs_flow_worker *own = &view->own[slot];

	hs_flow_settle(own);
	switch (mode) {
	case HS_MODE_COUNT:
		// If pending options were removed after hs_flow_due, the packet is not counted yet.
		if (unlikely(own->since < setting - 1)) {
			own->since++;
			return false;
		}
		own->since = 0;
		return true;
	case HS_MODE_FREQUENCY:
		return claim_period(view, slot, now_ns, (int64_t)setting);
	default:
		return mode == HS_MODE_PROBABILITY &&
		       (likely(!(own->seen & HS_FLOW_UNDRAWN)) || draw_late(view, slot, setting));
	}
}

bool hs_flow_claim_any(const struct hs_flow_view *view, uint32_t slot, int64_t now_ns)
{
	uint64_t config = atomic_load_explicit(&view->own[slot].config, memory_order_relaxed);

	return claim(view, slot, (uint8_t)(config >> HS_FLOW_CONFIG_MODE_SHIFT),
			config & HS_FLOW_CONFIG_SETTING, now_ns);
}

bool hs_flow_claim_without_pending(const struct hs_flow_view *view, uint32_t slot, int64_t now_ns)
{
	uint64_t config = atomic_load_explicit(&view->own[slot].config, memory_order_relaxed);

	return claim(view, slot, hs_flow_config_mode(config), config & HS_FLOW_CONFIG_SETTING,
			now_ns);
}

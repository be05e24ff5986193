// SPDX-License-Identifier: BSD-3-Clause
// The decision which packets carry telemetry: each N-th packet, one in each interval, or by chance.
// First hs_flow_due says whether a packet is due. Where its telemetry fits, hs_flow_claim takes it,
// unless another worker took the packet of the interval.
//
// Thread rule: as in flow_worker.h; a worker claims its own packets.
#pragma once

#include "flow_worker.h"

// Returns whether a packet should carry telemetry by this mode and setting.
static inline bool hs_flow_mode_due(struct hs_flow_worker *own, uint8_t mode, uint64_t setting,
		struct hs_rng *rng, int64_t now_ns)
{
	if (likely(mode == HS_MODE_COUNT)) {
		// The count of a new rule begins at its greatest value but one. Packets stay due
		// until one leaves by a port of the rule's method.
		own->since += own->since != UINT32_MAX;
		return own->since >= setting;
	}
	if (likely(mode == HS_MODE_FREQUENCY))
		return now_ns - own->last_ns >= (int64_t)setting;
	if (likely(mode == HS_MODE_PROBABILITY))
		return hs_rng_u32(rng) < setting;
	// Other modes have ready pending options, which the family handles.
	if (mode == (HS_MODE_PROBABILITY | HS_FLOW_PENDING))
		own->seen |= HS_FLOW_UNDRAWN;
	return true;
}

// Notes how many of the next packets are surely not due, and counts them at once. `since` must be
// below `setting`.
static inline void hs_flow_skip(struct hs_flow_worker *own, uint64_t setting)
{
	uint64_t n = RTE_MIN(setting - 1 - own->since, (uint64_t)UINT8_MAX);

	own->not_due = (uint8_t)n;
	own->since += (uint32_t)n;
}

// Makes `since` the number of packets so far.
static inline void hs_flow_settle(struct hs_flow_worker *own)
{
	own->since -= own->not_due;
	own->not_due = 0;
}

// Settles because control changed `config`. The caller then reads `config`.
void hs_flow_see_change(struct hs_flow_worker *own);

// Returns whether this packet should carry telemetry, or may take pending options. Counts it for
// mode `count`; claims nothing yet.
static inline bool hs_flow_due(struct hs_flow_worker *own, struct hs_rng *rng, int64_t now_ns)
{
	if (own->not_due) {
		if (likely(!atomic_load_explicit(&own->changed, memory_order_relaxed))) {
			own->not_due--;
			return false;
		}
		hs_flow_see_change(own);
	}
	uint64_t config = atomic_load_explicit(&own->config, memory_order_relaxed);
	uint8_t mode = (uint8_t)(config >> HS_FLOW_CONFIG_MODE_SHIFT);
	uint64_t setting = config & HS_FLOW_CONFIG_SETTING;

	if (hs_flow_mode_due(own, mode, setting, rng, now_ns))
		return true;
	if (mode == HS_MODE_COUNT)
		hs_flow_skip(own, setting);
	return false;
}

// Returns the mode's own decision for a rule with ready pending options, for which hs_flow_due has
// returned true at once.
static inline bool hs_flow_due_without_pending(
		struct hs_flow_worker *own, struct hs_rng *rng, int64_t now_ns)
{
	uint64_t config = atomic_load_explicit(&own->config, memory_order_relaxed);

	hs_flow_settle(own);
	own->seen &= (uint8_t)~HS_FLOW_UNDRAWN;
	return hs_flow_mode_due(own, hs_flow_config_mode(config), config & HS_FLOW_CONFIG_SETTING,
			rng, now_ns);
}

// Makes the next packet due in place of a packet that could not carry telemetry. In mode
// `probability`, chance decides on the next packet.
void hs_flow_postpone(struct hs_flow_worker *own);

// Claims a due packet of any mode, as hs_flow_claim does.
bool hs_flow_claim_any(const struct hs_flow_view *view, uint32_t slot, int64_t now_ns);

// Claims the due packet. Returns false if another worker took this period's packet (frequency), or
// if pending options are ready, which must be handled first.
static inline bool hs_flow_claim(const struct hs_flow_view *view, uint32_t slot, int64_t now_ns)
{
	struct hs_flow_worker *own = &view->own[slot];
	uint64_t config = atomic_load_explicit(&own->config, memory_order_relaxed);
	uint64_t setting = config & HS_FLOW_CONFIG_SETTING;

	if (unlikely((uint8_t)(config >> HS_FLOW_CONFIG_MODE_SHIFT) != HS_MODE_COUNT ||
			    own->not_due || own->since < setting - 1))
		return hs_flow_claim_any(view, slot, now_ns);
	own->since = 0;
	return true;
}

// Does the same after the pending options were handled.
bool hs_flow_claim_without_pending(const struct hs_flow_view *view, uint32_t slot, int64_t now_ns);

// SPDX-License-Identifier: BSD-3-Clause
// Decides whether a value is an event.
//
// Thread rule: any; pure functions. For this folder only.
#pragma once

#include "collect_parts.h"

static inline bool hs_collect_is_change(const struct hs_collect *c, enum hs_collect_measure measure,
		uint64_t before, uint64_t now)
{
	const struct hs_collect_threshold *threshold = &c->config.thresholds[measure];
	uint64_t by = now > before ? now - before : before - now;

	if (threshold->off || !by)
		return false;
	if (c->config.interval)
		return before / c->config.interval != now / c->config.interval;
	if (!threshold->relative)
		return by > threshold->absolute;
	return (__extension__(unsigned __int128) by * 10000) >
	       (__extension__(unsigned __int128) before * threshold->relative);
}

// Finds the range of values that are no event after `value` was one, as hs_collect_is_change
// decides.
static inline void hs_collect_quiet(const struct hs_collect *c, enum hs_collect_measure measure,
		uint64_t value, uint64_t most, uint64_t *low, uint64_t *span)
{
	const struct hs_collect_threshold *threshold = &c->config.thresholds[measure];
	__extension__ typedef unsigned __int128 wide;
	wide by = threshold->relative ? (wide)value * threshold->relative / 10000
				      : (wide)threshold->absolute;
	wide high = (wide)value + by;

	*low = by < value ? value - (uint64_t)by : 0;
	if (c->config.interval) {
		*low = value - value % c->config.interval;
		high = (wide)*low + c->config.interval - 1;
	}
	if (threshold->off) {
		*low = 0;
		high = most;
	}
	*span = (high < most ? (uint64_t)high : most) - *low;
}

// Returns the range for a hop's value. `most` is the greatest value that a hop may have.
static inline struct hs_collect_band hs_collect_band_of(const struct hs_collect *c,
		enum hs_collect_measure measure, uint32_t value, uint32_t most)
{
	uint64_t low, span;

	if (value > most)
		return (struct hs_collect_band){0};
	hs_collect_quiet(c, measure, value, most, &low, &span);
	return (struct hs_collect_band){(uint32_t)low, (uint32_t)span + 1};
}

static inline bool hs_collect_is_quiet(struct hs_collect_band band, uint32_t value)
{
	return value - band.low < band.width;
}

// Returns whether the flow's last event is longer ago than gap_ns. After the clock was set back,
// the event may be in the future. More than gap_ns in the future counts as longer ago, too.
static inline bool hs_collect_is_gap(
		const struct hs_collect *c, const struct hs_collect_flow_entry *flow)
{
	uint64_t gap_ns = (uint64_t)c->config.gap_ns;

	return gap_ns && (uint64_t)(c->now_ns - flow->event_ns) + gap_ns > 2 * gap_ns;
}

static inline void hs_collect_set_hop_event(
		const struct hs_collect *c, uint32_t flow, unsigned place)
{
	struct hs_collect_hop_entry *hop = hs_collect_hop_at(c, flow, place);

	*hs_collect_hop_event_at(c, flow, place) = hop->latency;
	hop->band = hs_collect_band_of(c, HS_COLLECT_HOP_LATENCY, hop->latency, UINT32_MAX - 1);
}

static inline void hs_collect_set_flow_event(
		const struct hs_collect *c, struct hs_collect_flow_entry *flow)
{
	flow->event_ns = c->now_ns;
	flow->event_latency = flow->latency;
	hs_collect_quiet(c, HS_COLLECT_FLOW_LATENCY, flow->latency, UINT64_MAX, &flow->latency_low,
			&flow->latency_span);
}

static inline void hs_collect_set_occupancy_event(
		const struct hs_collect *c, struct hs_collect_queue_entry *queue)
{
	uint32_t id = hs_collect_key_id(queue->key);

	queue->event_occupancy = queue->occupancy;
	queue->band = (struct hs_collect_band){0};
	// On a stack, these numbers stand for no queue, so the fast path must not take this one.
	if (id == UINT8_MAX || id == UINT16_MAX)
		return;
	queue->band = hs_collect_band_of(c, HS_COLLECT_QUEUE_OCCUPANCY, queue->occupancy,
			c->config.intercollector ? UINT16_MAX - 1 : 0xffffff - 1);
}

static inline void hs_collect_set_link_event(
		const struct hs_collect *c, struct hs_collect_link_entry *link)
{
	link->event_utilisation = link->utilisation;
	link->band = (struct hs_collect_band){0};
	if (hs_collect_key_id(link->key) == UINT16_MAX) // as for queues
		return;
	link->band = hs_collect_band_of(
			c, HS_COLLECT_LINK_UTILISATION, link->utilisation, UINT32_MAX - 1);
}

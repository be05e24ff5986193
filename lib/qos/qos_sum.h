// SPDX-License-Identifier: BSD-3-Clause
// The sums of windows: values of steps, delays, pairs of delays. Internal to this folder.
//
// Thread rule: owner.
#pragma once

#include "qos_flow.h"

#define HS_QOS_EXACT_VALUES 1000 // rule 17
// Between two packets, a delay changes by more than this only if a clock steps.
#define HS_QOS_CLOCK_STEP_NS 10000000000ll
#define HS_QOS_STAMP_BACK_NS 1000000ll
// The least step of a clock that shows against the other nodes' stamps, beyond the flow's jitter.
#define HS_QOS_STEP_NS 500000000ll

static inline uint64_t hs_qos_distance(int64_t a, int64_t b)
{
	return a < b ? (uint64_t)b - (uint64_t)a : (uint64_t)a - (uint64_t)b;
}

void hs_qos_sum_clear(struct hs_qos_flow *flow, struct hs_qos_sum *sum);
void hs_qos_sum_wipe_link(struct hs_qos_link_sum *sum);
// Ends the carry of a link (rule 14). Nothing is carried over an epoch of either node of a link,
// neither by the open windows nor by the window that is about to close.
void hs_qos_sum_end_carry(struct hs_qos_flow *flow, unsigned link);

// Counts a report with this sink time.
static inline void hs_qos_sum_count(struct hs_qos_flow *flow, struct hs_qos_sum *sum, int64_t ts_ns)
{
	if (!sum->reports++ || ts_ns < sum->first_ns)
		sum->first_ns = ts_ns;
	if (ts_ns > sum->last_ns)
		sum->last_ns = ts_ns;
	if (ts_ns > flow->newest_ts_ns)
		flow->newest_ts_ns = ts_ns;
}

// Adds a pair of neighbours' delays. A `sign` of -1 removes the pair.
static inline void hs_qos_sum_add_pair(struct hs_qos_link_sum *sum, int64_t a, int64_t b, int sign)
{
	sum->jitter_n += (uint64_t)(int64_t)sign;
	sum->jitter_sum += sign * (hs_qos_wide)hs_qos_distance(a, b);
}

// Adds the bytes and the time of a step that has both.
static inline void hs_qos_sum_add_rate(
		struct hs_qos_link_sum *sum, const struct hs_qos_delta *delta, int sign)
{
	const uint32_t both = HS_QOS_HAS_BYTES | HS_QOS_HAS_SPAN;
	if ((delta->has & both) != both)
		return;
	sum->rate_bytes = hs_qos_plus(sum->rate_bytes, sign * delta->rx_bytes);
	uint64_t span = (uint64_t)delta->span_end_ns - (uint64_t)delta->span_start_ns;
	sum->span_ns = (int64_t)((uint64_t)sum->span_ns + (uint64_t)(int64_t)sign * span);
}

// Adds a step. A `sign` of -1 removes the step.
static inline void hs_qos_sum_add_delta(
		struct hs_qos_link_sum *sum, const struct hs_qos_delta *delta, int sign)
{
	sum->lost = hs_qos_plus(sum->lost, sign * delta->lost);
	if (sign < 0) // the first step is removed, which shifts all later values of `lost`
		sum->lost_low = hs_qos_plus(sum->lost_low, -delta->lost);
	if (sum->lost < sum->lost_low)
		sum->lost_low = sum->lost;
	if (sum->lost_low > 0)
		sum->lost_low = 0;
	sum->node_lost = hs_qos_plus(sum->node_lost, sign * delta->node_lost);
	sum->tx = hs_qos_plus(sum->tx, sign * delta->tx);
	sum->rx = hs_qos_plus(sum->rx, sign * delta->rx);
	sum->rx_bytes = hs_qos_plus(sum->rx_bytes, sign * delta->rx_bytes);
	hs_qos_sum_add_rate(sum, delta, sign);
	if (delta->has & HS_QOS_HAS_SPAN) {
		if (sign < 0)
			sum->span_start_ns = delta->span_end_ns;
		else if (!(sum->has & HS_QOS_HAS_SPAN))
			sum->span_start_ns = delta->span_start_ns;
		if (sign > 0)
			sum->span_end_ns = delta->span_end_ns;
	}
	sum->has |= delta->has;
}

// Returns the smoothed jitter of RFC 3550 appendix A.8, in sixteenths.
static inline uint64_t hs_qos_smoothed(uint64_t rfc3550, uint64_t change)
{
	return change <= UINT64_MAX / 2 ? rfc3550 + change - ((rfc3550 + 8) >> 4) : rfc3550;
}

// Keeps the smoothed jitter of a window that ends (rule 18). Reports of this window may still come
// after the next one has begun; hs_qos_sum_smooth_closing adds these.
void hs_qos_sum_keep_smoothed(const struct hs_qos_flow *flow, struct hs_qos_sum *sum);
void hs_qos_sum_smooth_closing(struct hs_qos_link_sum *sum, int64_t delay);

// Widens the range of a link's delays to those from `low` to `high`. The first ones also set the
// origin of the histogram, so that it does not depend on when delays are added to the histogram.
static inline void hs_qos_sum_widen(const struct hs_qos_link *link,
		struct hs_qos_link_sum *link_sum, int64_t low, int64_t high)
{
	if (!link_sum->delay_n) {
		link_sum->delay_min = low;
		link_sum->delay_max = high;
		link_sum->hist.origin = link->origin;
		return;
	}
	if (low < link_sum->delay_min)
		link_sum->delay_min = low;
	if (high > link_sum->delay_max)
		link_sum->delay_max = high;
}

// Adds a delay on a link, except to the histogram. `newest` says that the delay is of the newest
// report in source order.
static inline void hs_qos_sum_absorb_delay(struct hs_qos_link *link, struct hs_qos_sum *sum,
		struct hs_qos_link_sum *link_sum, int64_t delay, bool newest)
{
	if (!link->has_origin) {
		link->has_origin = true;
		link->origin = delay;
	}
	hs_qos_sum_widen(link, link_sum, delay, delay);
	link_sum->delay_n++;
	link_sum->delay_sum += delay;
	if (delay < 0)
		sum->flags |= HS_QOS_NEGATIVE_DELAY;
	if (link->has_arrived)
		link->rfc3550 = hs_qos_smoothed(
				link->rfc3550, hs_qos_distance(delay, link->arrived));
	link->has_arrived = true;
	link->arrived = delay;
	if (!newest)
		return;
	if (link->has_ordered) {
		hs_qos_sum_add_pair(link_sum, delay, link->ordered, 1);
		if (hs_qos_distance(delay, link->ordered) > HS_QOS_CLOCK_STEP_NS)
			sum->clock_stepped = true;
	}
	link->has_ordered = true;
	link->ordered = delay;
}

// Returns whether some link has more delays than percentiles are exact for.
bool hs_qos_sum_needs_hist(const struct hs_qos_flow *flow, const struct hs_qos_sum *sum);

// Adds the values and histograms of a sum to another.
void hs_qos_sum_merge(const struct hs_qos_flow *flow, struct hs_qos_sum *into,
		const struct hs_qos_sum *from);

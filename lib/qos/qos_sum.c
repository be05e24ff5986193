// SPDX-License-Identifier: BSD-3-Clause
#include "qos_sum.h"

void hs_qos_sum_wipe_link(struct hs_qos_link_sum *sum)
{
	struct hs_qos_hist hist = sum->hist;
	hs_qos_hist_clear(&hist, 0);
	*sum = (struct hs_qos_link_sum){.hist = hist};
}

void hs_qos_sum_clear(struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	for (unsigned i = 0; i < flow->n_links; i++)
		hs_qos_sum_wipe_link(&sum->links[i]);
	*sum = (struct hs_qos_sum){.links = sum->links};
}

// `sign` -1 takes a step back out.
void hs_qos_sum_add_delta(struct hs_qos_link_sum *sum, const struct hs_qos_delta *delta, int sign)
{
	const uint32_t both = HS_QOS_HAS_BYTES | HS_QOS_HAS_SPAN;
	sum->lost += sign * delta->lost;
	if (sign < 0) // the first step goes: all that came after it stands so much lower or higher
		sum->lost_low -= delta->lost;
	if (sum->lost < sum->lost_low)
		sum->lost_low = sum->lost;
	if (sum->lost_low > 0)
		sum->lost_low = 0;
	sum->node_lost += sign * delta->node_lost;
	sum->tx += sign * delta->tx;
	sum->rx += sign * delta->rx;
	sum->rx_bytes += sign * delta->rx_bytes;
	if ((delta->has & both) == both) {
		sum->rate_bytes += sign * delta->rx_bytes;
		// Stamps are a peer's: they may wrap, not overflow.
		uint64_t span = (uint64_t)delta->span_end_ns - (uint64_t)delta->span_start_ns;
		sum->span_ns = (int64_t)((uint64_t)sum->span_ns + (uint64_t)(int64_t)sign * span);
	}
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

void hs_qos_sum_add_delay(const struct hs_qos_flow *flow, struct hs_qos_sum *sum, uint16_t link,
		int64_t delay)
{
	struct hs_qos_hist *hist = &sum->links[link].hist;
	if (!hist->n)
		hist->origin = flow->links[link].origin;
	hs_qos_hist_add(hist, delay);
}

bool hs_qos_sum_needs_hist(const struct hs_qos_flow *flow, const struct hs_qos_sum *sum)
{
	for (unsigned i = 0; i < flow->n_links; i++)
		if (sum->links[i].delay_n > HS_QOS_EXACT_VALUES)
			return true;
	return false;
}

static void merge_link(struct hs_qos_link_sum *into, const struct hs_qos_link_sum *from)
{
	if (from->delay_n) {
		if (!into->delay_n || from->delay_min < into->delay_min)
			into->delay_min = from->delay_min;
		if (!into->delay_n || from->delay_max > into->delay_max)
			into->delay_max = from->delay_max;
	}
	into->delay_n += from->delay_n;
	into->delay_sum += from->delay_sum;
	into->jitter_n += from->jitter_n;
	into->jitter_sum += from->jitter_sum;
	into->lost += from->lost;
	into->node_lost += from->node_lost;
	into->tx += from->tx;
	into->rx += from->rx;
	into->rx_bytes += from->rx_bytes;
	into->rate_bytes += from->rate_bytes;
	into->span_ns = (int64_t)((uint64_t)into->span_ns + (uint64_t)from->span_ns);
	if (from->has & HS_QOS_HAS_SPAN) {
		if (!(into->has & HS_QOS_HAS_SPAN))
			into->span_start_ns = from->span_start_ns;
		into->span_end_ns = from->span_end_ns;
	}
	into->has |= from->has;
	into->differs |= from->differs;
	if (from->hist.n)
		hs_qos_hist_merge(&into->hist, &from->hist);
}

void hs_qos_sum_merge(const struct hs_qos_flow *flow, struct hs_qos_sum *into,
		const struct hs_qos_sum *from)
{
	if (from->reports) {
		if (!into->reports || from->first_ns < into->first_ns)
			into->first_ns = from->first_ns;
		if (!into->reports || from->last_ns > into->last_ns)
			into->last_ns = from->last_ns;
	}
	into->open = true;
	into->reports += from->reports;
	into->flags |= from->flags;
	into->path_changed |= from->path_changed;
	into->clock_stepped |= from->clock_stepped;
	for (unsigned i = 0; i < flow->n_links; i++)
		merge_link(&into->links[i], &from->links[i]);
}

void hs_qos_sum_add_pair(struct hs_qos_link_sum *sum, int64_t a, int64_t b, int sign)
{
	sum->jitter_n += (uint64_t)(int64_t)sign;
	sum->jitter_sum += sign * (hs_qos_wide)hs_qos_distance(a, b);
}

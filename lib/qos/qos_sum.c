// SPDX-License-Identifier: BSD-3-Clause
#include "qos_sum.h"

#include "qos_local.h"

#include <string.h>

void hs_qos_sum_wipe_link(struct hs_qos_link_sum *sum)
{
	struct hs_qos_hist hist = sum->hist;
	hs_qos_hist_clear(&hist, 0);
	*sum = (struct hs_qos_link_sum){.hist = hist};
}

void hs_qos_sum_end_carry(struct hs_qos_flow *flow, unsigned index)
{
	struct hs_qos_link *link = &flow->links[index];
	memset(link->carry, 0, sizeof(link->carry));
	link->negative = 0;
	link->surplus = 0;
	link->differs = false;
	for (unsigned i = 0; i < flow->n_sums; i++)
		flow->sums[i].links[index].renewed |= flow->sums[i].open;
}

void hs_qos_sum_clear(struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	for (unsigned i = 0; i < flow->n_links; i++)
		hs_qos_sum_wipe_link(&sum->links[i]);
	hs_qos_local_clear(flow, sum);
	*sum = (struct hs_qos_sum){.links = sum->links, .locals = sum->locals};
}

void hs_qos_sum_keep_smoothed(const struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	for (unsigned i = 0; i < flow->n_links; i++) {
		sum->links[i].has_arrived = flow->links[i].has_arrived;
		sum->links[i].arrived = flow->links[i].arrived;
		sum->links[i].rfc3550 = flow->links[i].rfc3550;
	}
}

void hs_qos_sum_smooth_closing(struct hs_qos_link_sum *sum, int64_t delay)
{
	if (sum->has_arrived)
		sum->rfc3550 = hs_qos_smoothed(sum->rfc3550, hs_qos_distance(delay, sum->arrived));
	sum->has_arrived = true;
	sum->arrived = delay;
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
	if (from->delay_n)
		into->rfc3550 = from->rfc3550;
	into->delay_n += from->delay_n;
	into->delay_sum += from->delay_sum;
	into->lack_loss += from->lack_loss;
	into->lack_rate += from->lack_rate;
	into->jitter_n += from->jitter_n;
	into->jitter_sum += from->jitter_sum;
	into->lost = hs_qos_plus(into->lost, from->lost);
	into->node_lost = hs_qos_plus(into->node_lost, from->node_lost);
	into->tx = hs_qos_plus(into->tx, from->tx);
	into->rx = hs_qos_plus(into->rx, from->rx);
	into->rx_bytes = hs_qos_plus(into->rx_bytes, from->rx_bytes);
	into->rate_bytes = hs_qos_plus(into->rate_bytes, from->rate_bytes);
	into->span_ns = hs_qos_plus(into->span_ns, from->span_ns);
	if (from->has & HS_QOS_HAS_SPAN) {
		if (!(into->has & HS_QOS_HAS_SPAN))
			into->span_start_ns = from->span_start_ns;
		into->span_end_ns = from->span_end_ns;
	}
	into->has |= from->has;
	into->differs |= from->differs;
	into->unpaired |= from->unpaired;
	into->renewed |= from->renewed;
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
	into->partial |= from->partial;
	into->clock_stepped |= from->clock_stepped;
	into->odd_length |= from->odd_length;
	for (unsigned i = 0; i < flow->n_links; i++)
		merge_link(&into->links[i], &from->links[i]);
	hs_qos_local_merge(flow, into, from);
}

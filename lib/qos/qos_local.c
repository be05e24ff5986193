// SPDX-License-Identifier: BSD-3-Clause
#include "qos_local.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define UTILISATION_UNIT 10000.0 // wire units in a ratio of 1
#define P99_VALUES	 100

// ---- memory ----

static bool has_locals(const struct hs_qos_flow *flow)
{
	return flow->ring.family && flow->ring.family->has_locals;
}

int hs_qos_local_grow(struct hs_qos_flow *flow, unsigned capacity)
{
	size_t old = flow->link_capacity;
	for (unsigned i = 0; i < flow->n_sums && has_locals(flow); i++) {
		struct hs_qos_local_sum *locals =
				realloc(flow->sums[i].locals, capacity * sizeof(*locals));
		if (!locals)
			return -ENOMEM;
		memset(locals + old, 0, (capacity - old) * sizeof(*locals));
		flow->sums[i].locals = locals;
	}
	return 0;
}

int hs_qos_local_begin(const struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	if (!has_locals(flow))
		return 0;
	sum->locals = calloc(flow->n_links, sizeof(*sum->locals));
	return sum->locals ? 0 : -ENOMEM;
}

// Clears a link's values, and keeps the memory of the histogram.
static void clear_link(struct hs_qos_local_sum *local)
{
	struct hs_qos_hist latency = local->latency;

	hs_qos_hist_clear(&latency, 0);
	*local = (struct hs_qos_local_sum){.latency = latency};
}

void hs_qos_local_clear(const struct hs_qos_flow *flow, struct hs_qos_sum *sum)
{
	for (unsigned i = 0; i < flow->n_links && sum->locals; i++)
		clear_link(&sum->locals[i]);
}

void hs_qos_local_wipe(struct hs_qos_flow *flow, unsigned link)
{
	for (unsigned i = 0; i < flow->n_sums; i++)
		if (flow->sums[i].locals)
			clear_link(&flow->sums[i].locals[link]);
}

// ---- adding up ----

static void absorb_latency(struct hs_qos_local_sum *sum, uint32_t latency_ns)
{
	if (!sum->latency_n || latency_ns < sum->latency_min)
		sum->latency_min = latency_ns;
	if (latency_ns > sum->latency_max)
		sum->latency_max = latency_ns;
	sum->latency_sum += latency_ns;
	sum->latency_n++;
	hs_qos_hist_add(&sum->latency, latency_ns);
}

static void absorb_node(struct hs_qos_local_sum *sum, const struct hs_hop_local *local)
{
	if (local->has & HS_LOCAL_HOP_LATENCY)
		absorb_latency(sum, local->hop_latency_ns);
	if (local->has & HS_LOCAL_QUEUE_PACKETS) {
		if (local->queue_packets > sum->queue_max)
			sum->queue_max = local->queue_packets;
		sum->queue_sum += local->queue_packets;
		sum->queue_n++;
	}
	if (local->has & HS_LOCAL_LINK_UTILISATION) {
		if (local->link_utilisation > sum->utilisation_max)
			sum->utilisation_max = local->link_utilisation;
		sum->utilisation_sum += local->link_utilisation;
		sum->utilisation_n++;
	}
}

void hs_qos_local_absorb(
		struct hs_qos_sum *sum, const struct hs_report *report, const uint16_t *path_links)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	for (unsigned i = 0; i <= telemetry->n_hops && sum->locals; i++)
		if (path_links[i])
			absorb_node(&sum->locals[path_links[i]],
					&telemetry->locals[telemetry->n_hops - i]);
}

static void merge_link(struct hs_qos_local_sum *into, const struct hs_qos_local_sum *from)
{
	if (from->latency_n && (!into->latency_n || from->latency_min < into->latency_min))
		into->latency_min = from->latency_min;
	if (from->latency_max > into->latency_max)
		into->latency_max = from->latency_max;
	if (from->queue_max > into->queue_max)
		into->queue_max = from->queue_max;
	if (from->utilisation_max > into->utilisation_max)
		into->utilisation_max = from->utilisation_max;
	into->latency_sum += from->latency_sum;
	into->latency_n += from->latency_n;
	if (from->latency.n)
		hs_qos_hist_merge(&into->latency, &from->latency);
	into->queue_sum += from->queue_sum;
	into->queue_n += from->queue_n;
	into->utilisation_sum += from->utilisation_sum;
	into->utilisation_n += from->utilisation_n;
}

void hs_qos_local_merge(const struct hs_qos_flow *flow, struct hs_qos_sum *into,
		const struct hs_qos_sum *from)
{
	for (unsigned i = 0; i < flow->n_links && into->locals && from->locals; i++)
		merge_link(&into->locals[i], &from->locals[i]);
}

// ---- the window ----

bool hs_qos_local_some(const struct hs_qos_sum *sum, unsigned link)
{
	const struct hs_qos_local_sum *local = sum->locals ? &sum->locals[link] : NULL;
	return local && (local->latency_n || local->queue_n || local->utilisation_n);
}

// Returns a percentile by nearest rank (rule 17), from the histogram alone.
static uint64_t percentile(const struct hs_qos_local_sum *local, uint64_t per_mille)
{
	uint64_t rank = (local->latency_n * per_mille + 999) / 1000;
	uint64_t value = (uint64_t)hs_qos_hist_value(&local->latency, rank);

	if (value < local->latency_min)
		return local->latency_min;
	return value > local->latency_max ? local->latency_max : value;
}

static void fill_latency(const struct hs_qos_local_sum *local, struct hs_qos_hop *hop)
{
	uint64_t n = local->latency_n;

	if (!n)
		return;
	hop->hop_latency_ns.min = local->latency_min;
	hop->hop_latency_ns.mean = (uint64_t)((local->latency_sum + n / 2) / n);
	hop->hop_latency_ns.max = local->latency_max;
	hop->has |= HS_QOS_HAS_HOP_LATENCY;
	if (local->latency.n != n) // there was no memory for some
		return;
	hop->hop_latency_ns.p50 = percentile(local, 500);
	hop->has |= HS_QOS_HAS_LATENCY_P50;
	if (n < P99_VALUES)
		return;
	hop->hop_latency_ns.p99 = percentile(local, 990);
	hop->has |= HS_QOS_HAS_LATENCY_P99;
}

void hs_qos_local_fill(const struct hs_qos_sum *sum, unsigned link, struct hs_qos_hop *hop)
{
	if (!hs_qos_local_some(sum, link))
		return;
	const struct hs_qos_local_sum *local = &sum->locals[link];
	fill_latency(local, hop);
	if (local->queue_n) {
		hop->queue_packets.mean = (double)local->queue_sum / (double)local->queue_n;
		hop->queue_packets.max = local->queue_max;
		hop->has |= HS_QOS_HAS_QUEUE;
	}
	if (!local->utilisation_n)
		return;
	hop->link_utilisation_ratio.mean = (double)local->utilisation_sum /
					   (double)local->utilisation_n / UTILISATION_UNIT;
	hop->link_utilisation_ratio.max = local->utilisation_max / UTILISATION_UNIT;
	hop->has |= HS_QOS_HAS_UTILISATION;
}

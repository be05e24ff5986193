// SPDX-License-Identifier: BSD-3-Clause
#include "partial.h"
#include "flexint.h"

#include <errno.h>

#include <rte_malloc.h>

static bool is_threshold(const struct hs_partial_field *field)
{
	return !field->unsupported && field->policy == HS_PARTIAL_THRESHOLD;
}

static bool has_threshold(const struct hs_partial *config)
{
	return is_threshold(&config->packets) || is_threshold(&config->timestamp) ||
	       is_threshold(&config->bytes);
}

static void add_row(struct hs_partial_worker *worker, uint16_t bit,
		const struct hs_partial_field *field)
{
	if (field->unsupported)
		return;
	if (field->policy == HS_PARTIAL_ALWAYS) {
		worker->always |= bit;
		return;
	}
	worker->rows[worker->n_rows++] = (struct hs_partial_row){
			.bit = bit,
			.policy = field->policy,
			.share = (uint64_t)(field->probability_percent / 100 * 4294967296.0 + 0.5),
			.min_change = field->min_change,
			.max_age_ns = field->max_age_ns,
	};
}

int hs_partial_create(
		const struct hs_partial *config, uint32_t rules, struct hs_partial_worker **out)
{
	struct hs_partial_worker made = {0}, *worker;

	*out = NULL;
	add_row(&made, HS_HOP_PACKETS, &config->packets);
	add_row(&made, HS_HOP_TIMESTAMP, &config->timestamp);
	add_row(&made, HS_HOP_BYTES, &config->bytes);
	if (made.always == HS_HOP_KNOWN)
		return 0;
	worker = rte_zmalloc("partial", sizeof(*worker), RTE_CACHE_LINE_SIZE);
	if (!worker)
		return -ENOMEM;
	*worker = made;
	if (has_threshold(config)) {
		worker->last = rte_zmalloc(
				"partial last", rules * sizeof(*worker->last), RTE_CACHE_LINE_SIZE);
		if (!worker->last) {
			rte_free(worker);
			return -ENOMEM;
		}
	}
	*out = worker;
	return 0;
}

void hs_partial_destroy(struct hs_partial_worker *worker)
{
	if (!worker)
		return;
	rte_free(worker->last);
	rte_free(worker);
}

uint64_t hs_partial_bytes(const struct hs_partial *config, uint32_t rules)
{
	return has_threshold(config) ? (uint64_t)rules * sizeof(struct hs_partial_last) : 0;
}

static uint32_t generation_of(const struct hs_flow_view *flows, uint32_t slot)
{
	return atomic_load_explicit(&flows->shared[slot].generation, memory_order_relaxed);
}

// Of the two counters of a node, what came in: it moves wherever what went out does.
static uint64_t value_of(uint16_t bit, const struct hs_flow_sums *sums, int64_t now_ns)
{
	switch (bit) {
	case HS_HOP_PACKETS:
		return sums->rx_packets;
	case HS_HOP_BYTES:
		return sums->rx_bytes;
	default:
		return (uint64_t)now_ns;
	}
}

static bool has_moved(const struct hs_partial_row *row, const struct hs_partial_last *last,
		unsigned k, uint64_t value, int64_t now_ns)
{
	int64_t change = (int64_t)(value - last->values[k]);

	if (!(last->added & row->bit))
		return true;
	return (uint64_t)(change < 0 ? -change : change) > row->min_change ||
	       now_ns - last->added_ns[k] >= row->max_age_ns;
}

uint16_t hs_partial_choose(const struct hs_partial_worker *worker, const struct hs_flow_view *flows,
		uint32_t slot, uint16_t wanted, const struct hs_flow_sums *sums, int64_t now_ns,
		struct hs_rng *rng)
{
	uint16_t bitmap = wanted & worker->always;

	for (unsigned k = 0; k < worker->n_rows; k++) {
		const struct hs_partial_row *row = &worker->rows[k];
		if (!(wanted & row->bit))
			continue;
		if (row->policy == HS_PARTIAL_PROBABILITY) {
			bitmap |= hs_rng_u32(rng) < row->share ? row->bit : 0;
			continue;
		}
		const struct hs_partial_last *last = &worker->last[slot];
		if (last->generation != generation_of(flows, slot) ||
				has_moved(row, last, k, value_of(row->bit, sums, now_ns), now_ns))
			bitmap |= row->bit;
	}
	return bitmap;
}

void hs_partial_added(struct hs_partial_worker *worker, const struct hs_flow_view *flows,
		uint32_t slot, uint16_t bitmap, const struct hs_flow_sums *sums, int64_t now_ns)
{
	if (!worker->last)
		return;
	struct hs_partial_last *last = &worker->last[slot];
	if (last->generation != generation_of(flows, slot))
		*last = (struct hs_partial_last){.generation = generation_of(flows, slot)};
	last->added |= bitmap;
	for (unsigned k = 0; k < worker->n_rows; k++) {
		if (!(bitmap & worker->rows[k].bit))
			continue;
		last->values[k] = value_of(worker->rows[k].bit, sums, now_ns);
		last->added_ns[k] = now_ns;
	}
}

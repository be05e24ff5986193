// SPDX-License-Identifier: BSD-3-Clause
#include "flexint_partial.h"
#include "flexint.h"

#include <errno.h>

#include <rte_malloc.h>

int hs_partial_create(
		const struct hs_partial *config, uint32_t rules, struct hs_partial_worker **out)
{
	struct hs_partial_worker made = {0}, *worker;

	*out = NULL;
	hs_partial_rows_make(config, &made.rows);
	if (made.rows.always == HS_HOP_KNOWN)
		return 0;
	worker = rte_zmalloc("partial", sizeof(*worker), RTE_CACHE_LINE_SIZE);
	if (!worker)
		return -ENOMEM;
	*worker = made;
	if (hs_partial_has_threshold(config)) {
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
	return hs_partial_has_threshold(config) ? (uint64_t)rules * sizeof(struct hs_partial_last)
						: 0;
}

// Returns the value of a field. A node has two counters of packets and of bytes. The received one
// stands for both, because it changes wherever the sent one does.
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

bool hs_partial_find(const struct hs_partial_worker *worker, const struct hs_flow_view *flows,
		uint32_t slot, struct hs_partial_of *of)
{
	struct hs_flow_fields *fields = NULL;
	struct hs_flow_pending *pending = NULL;

	if (hs_flow_has_fields(&flows->own[slot]))
		pending = atomic_load_explicit(&flows->pending[slot], memory_order_acquire);
	if (pending)
		fields = atomic_load_explicit(&pending->fields, memory_order_acquire);
	if (!fields && !worker)
		return false;
	of->rows = fields ? &fields->rows : &worker->rows;
	of->last = NULL;
	if (fields)
		of->last = &fields->last[flows->worker];
	else if (worker->last)
		of->last = &worker->last[slot];
	of->generation = flows->own[slot].generation;
	return true;
}

uint16_t hs_partial_choose(const struct hs_partial_of *of, uint16_t wanted,
		const struct hs_flow_sums *sums, int64_t now_ns, struct hs_rng *rng)
{
	uint16_t bitmap = wanted & of->rows->always;

	for (unsigned k = 0; k < of->rows->n_rows; k++) {
		const struct hs_partial_row *row = &of->rows->rows[k];
		if (!(wanted & row->bit))
			continue;
		if (row->policy == HS_PARTIAL_PROBABILITY) {
			bitmap |= hs_rng_u32(rng) < row->share ? row->bit : 0;
			continue;
		}
		if (of->last->generation != of->generation ||
				has_moved(row, of->last, k, value_of(row->bit, sums, now_ns),
						now_ns))
			bitmap |= row->bit;
	}
	return bitmap;
}

void hs_partial_added(const struct hs_partial_of *of, uint16_t bitmap,
		const struct hs_flow_sums *sums, int64_t now_ns)
{
	struct hs_partial_last *last = of->last;

	if (!last)
		return;
	if (last->generation != of->generation)
		*last = (struct hs_partial_last){.generation = of->generation};
	last->added |= bitmap;
	for (unsigned k = 0; k < of->rows->n_rows; k++) {
		if (!(bitmap & of->rows->rows[k].bit))
			continue;
		last->values[k] = value_of(of->rows->rows[k].bit, sums, now_ns);
		last->added_ns[k] = now_ns;
	}
}

// SPDX-License-Identifier: BSD-3-Clause
#include "qos_columns.h"

#include "qos_delays.h"
#include "qos_sum.h"
#include "qos_vector.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void hs_qos_columns_fini(struct hs_qos_columns *columns)
{
	free(columns->values);
	memset(columns, 0, sizeof(*columns));
}

// ---- collecting ----

static int reserve(struct hs_qos_columns *columns, uint32_t links)
{
	if (links <= columns->capacity)
		return 0;
	size_t bytes = (links + 1) * (size_t)HS_QOS_RING_MAX * sizeof(int64_t);
	int64_t *values = realloc(columns->values, bytes);
	if (!values)
		return -ENOMEM;
	columns->values = values;
	columns->capacity = links;
	return 0;
}

static void clear(struct hs_qos_columns *columns)
{
	for (unsigned i = 0; i < columns->capacity && i < HS_QOS_FLOW_LINKS; i++)
		columns->n[i] = 0;
	columns->narrow = false;
}

// Returns whether some link's percentiles are found from the values themselves.
static bool is_needed(const struct hs_qos_flow *flow, const struct hs_qos_sum *sum)
{
	for (unsigned i = 0; i < flow->n_links; i++)
		if (sum->links[i].delay_n && sum->links[i].delay_n <= HS_QOS_EXACT_VALUES)
			return true;
	return false;
}

// The reports of a window.
struct reports {
	const struct hs_qos_flow *flow;
	int64_t after, until; // their tags
	uint64_t n;	      // as the sum has counted: the newest with these tags
	struct hs_qos_known_links known;
};

// Fills columns of 64 bits. A report has at most one value for a link, so a column cannot overflow.
static void collect_wide(struct hs_qos_columns *columns, const struct reports *reports)
{
	const struct hs_qos_flow *flow = reports->flow;
	struct hs_qos_delays delays;
	uint64_t oldest = hs_qos_ring_oldest(&flow->ring), left = reports->n;
	for (uint64_t number = flow->ring.next; number-- > oldest && left;) {
		const struct hs_packed *packed = hs_qos_ring_packed(&flow->ring, number);
		if (packed->tag <= reports->after || packed->tag > reports->until)
			continue;
		left--;
		const uint16_t *links =
				hs_qos_delays_at(flow, &reports->known, number, packed, &delays);
		for (unsigned i = 0; i < delays.n; i++)
			hs_qos_column(columns, links[i])[columns->n[links[i]]++] = delays.ns[i];
	}
}

// Usual reports whose delays go into narrow columns.
struct narrow {
	uint32_t n, n_hops;
	uint64_t far; // bits of all values
	struct lane {
		uint64_t base_ns;
		int32_t *to;
		uint32_t id;	     // and bitmap of the far end's entry; 0 for the sink
	} lanes[HS_PACKED_HOPS + 2]; // end to end, and each link in path order
};

static inline void put(struct narrow *narrow, const struct lane *lane, uint64_t ns)
{
	uint64_t value = ns - lane->base_ns;
	narrow->far |= value;
	lane->to[narrow->n] = (int32_t)value;
}

// Returns false if the report is not common.
static inline bool put_delays(struct narrow *narrow, const struct hs_packed *packed)
{
	const struct hs_packed_hop *hop = hs_packed_hops(packed), *end = hop + narrow->n_hops;
	const struct lane *lane = &narrow->lanes[narrow->n_hops + 1];
	uint64_t next_ns = (uint64_t)packed->sink_ts_ns;
	uint32_t differ = 0;
	if (packed->form || packed->n_hops != narrow->n_hops ||
			!(packed->e2e_bitmap & HS_E2E_TIMESTAMP))
		return false;
	put(narrow, narrow->lanes, next_ns - packed->ts_ns);
	for (; hop < end; hop++, lane--) {
		differ |= hop->id ^ lane[-1].id;
		put(narrow, lane, next_ns - hop->ts_ns);
		next_ns = hop->ts_ns;
	}
	put(narrow, lane, next_ns - packed->ts_ns);
	narrow->n++;
	return !differ;
}

// Puts the delays of `n` reports that are contiguous in memory. Returns false if one of the
// window's reports is not common.
static bool put_stretch(struct narrow *narrow, const struct reports *reports,
		const struct hs_packed *packed, uint32_t n)
{
	uint32_t slot_bytes = reports->flow->ring.slot_bytes;
	for (; n--; packed = (const struct hs_packed *)((const uint8_t *)packed + slot_bytes)) {
		if (packed->tag <= reports->after || packed->tag > reports->until)
			continue;
		if (!put_delays(narrow, packed))
			return false;
	}
	return true;
}

static bool put_all(struct narrow *narrow, const struct reports *reports)
{
	const struct hs_qos_ring *ring = &reports->flow->ring;
	uint64_t oldest = hs_qos_ring_oldest(ring), first = ring->next;
	while (first > oldest && narrow->n < reports->n) {
		uint32_t n = hs_qos_ring_stretch(ring, first);
		first -= n;
		if (first < reports->known.from ||
				!put_stretch(narrow, reports, hs_qos_ring_packed(ring, first), n))
			return false;
	}
	return narrow->far <= INT32_MAX && narrow->n <= reports->n;
}

static bool are_at_most(const int32_t *values, uint32_t n, int32_t most)
{
	vector beyond = {0};
	int32_t any = 0;
	uint32_t i = 0;
	for (; i < n / LANES * LANES; i += LANES)
		beyond |= most - load(values + i);
	for (; i < n; i++)
		any |= most - values[i];
	return (any | beyond[0] | beyond[1] | beyond[2] | beyond[3]) >= 0;
}

// Sets the bounds of a link's delays from the sum. The bounds hold only if the sum has all delays.
static bool set_bounds(struct hs_qos_columns *columns, const struct hs_qos_sum *sum, uint16_t link)
{
	const struct hs_qos_link_sum *link_sum = &sum->links[link];
	uint64_t most = (uint64_t)link_sum->delay_max - (uint64_t)link_sum->delay_min;
	columns->base_ns[link] = link_sum->delay_min;
	columns->most[link] = (int32_t)most;
	return most <= HS_QOS_NARROW_MOST && link_sum->delay_min <= link_sum->delay_max;
}

static bool collect_narrow(struct hs_qos_columns *columns, const struct reports *reports,
		const struct hs_qos_sum *sum)
{
	const struct hs_qos_known_links *known = &reports->known;
	struct narrow narrow = {.n_hops = known->n_hops};
	if (known->from == UINT64_MAX ||
			!hs_qos_ring_has_common(&reports->flow->ring, known->n_hops))
		return false;
	for (unsigned i = 0; i < known->n_hops + 2; i++) {
		uint16_t link = known->links[i];
		if (!set_bounds(columns, sum, link))
			return false;
		narrow.lanes[i].base_ns = (uint64_t)columns->base_ns[link];
		narrow.lanes[i].to = hs_qos_column_narrow(columns, link);
		narrow.lanes[i].id = i && i <= known->n_hops ? known->ids[known->n_hops - i] : 0;
	}
	if (!put_all(&narrow, reports))
		return false;
	for (unsigned i = 0; i < known->n_hops + 2; i++)
		if (!are_at_most(narrow.lanes[i].to, narrow.n, columns->most[known->links[i]]))
			return false;
	for (unsigned i = 0; i < known->n_hops + 2; i++)
		columns->n[known->links[i]] = narrow.n;
	columns->narrow = true;
	return true;
}

int hs_qos_columns_collect(struct hs_qos_columns *columns, const struct hs_qos_flow *flow,
		int64_t after, int64_t until, const struct hs_qos_sum *sum)
{
	struct reports reports = {flow, after, until, sum->reports, .known = {0}};
	int rc = reserve(columns, flow->n_links);
	clear(columns);
	if (rc || !is_needed(flow, sum))
		return rc;
	hs_qos_delays_known(flow, &reports.known);
	if (!collect_narrow(columns, &reports, sum))
		collect_wide(columns, &reports);
	return 0;
}

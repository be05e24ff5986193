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
		pair bases_ns;	  // twice the same
		wide_vector most; // of the values so far
		int32_t *to;
		uint32_t id;	     // and bitmap of the far end's entry; 0 for the sink
	} lanes[HS_PACKED_HOPS + 2]; // end to end, and each link in path order
};

static inline void put(struct narrow *narrow, struct lane *lane, uint64_t ns)
{
	uint64_t value = ns - lane->bases_ns[0];
	narrow->far |= value;
	lane->most[0] = lane->most[0] > (uint32_t)value ? lane->most[0] : (uint32_t)value;
	lane->to[narrow->n] = (int32_t)value;
}

// Returns false if the report is not common.
static inline bool put_delays(struct narrow *narrow, const struct hs_packed *packed)
{
	const struct hs_packed_hop *hop = hs_packed_hops(packed), *end = hop + narrow->n_hops;
	struct lane *lane = &narrow->lanes[narrow->n_hops + 1];
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

// ---- four reports at a time ----

// The stamps at one place of four reports.
struct stamps {
	pair first, second;
};

static inline pair load_pair(const uint8_t *a, const uint8_t *b)
{
	uint64_t x, y;
	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return (pair){x, y};
}

static inline struct stamps stamps_at(const uint8_t *at, size_t slot_bytes)
{
	return (struct stamps){load_pair(at, at + slot_bytes),
			load_pair(at + 2 * slot_bytes, at + 3 * slot_bytes)};
}

// Puts the delays between two places. Returns bits of all values.
static inline pair put_four(const struct narrow *narrow, struct lane *lane, const struct stamps *to,
		const struct stamps *from)
{
	pair a = to->first - from->first - lane->bases_ns;
	pair b = to->second - from->second - lane->bases_ns;
	vector low = __builtin_shufflevector((vector)a, (vector)b, 0, 2, 4, 6);
	memcpy(lane->to + narrow->n, &low, sizeof(low));
	lane->most = greatest_wide((wide_vector)low, lane->most);
	return a | b;
}

// Puts the delays of four reports in a row, which are common.
static inline void put_four_delays(struct narrow *narrow, const uint8_t *at, size_t slot_bytes)
{
	struct lane *lane = &narrow->lanes[narrow->n_hops + 1];
	struct stamps to = stamps_at(at + offsetof(struct hs_packed, sink_ts_ns), slot_bytes);
	struct stamps source = stamps_at(at + offsetof(struct hs_packed, ts_ns), slot_bytes);
	pair far = put_four(narrow, narrow->lanes, &to, &source);
	at += offsetof(struct hs_packed, hops) + offsetof(struct hs_packed_hop, ts_ns);
	for (; lane > narrow->lanes + 1; lane--, at += HS_PACKED_HOP_BYTES) {
		struct stamps from = stamps_at(at, slot_bytes);
		far |= put_four(narrow, lane, &to, &from);
		to = from;
	}
	far |= put_four(narrow, lane, &to, &source);
	narrow->far |= far[0] | far[1];
	narrow->n += LANES;
}

static inline bool is_within(const struct reports *reports, const uint8_t *packed)
{
	int64_t tag = ((const struct hs_packed *)packed)->tag;
	return tag > reports->after && tag <= reports->until;
}

static inline bool are_within(const struct reports *reports, const uint8_t *at, size_t slot_bytes)
{
	return is_within(reports, at) && is_within(reports, at + slot_bytes) &&
	       is_within(reports, at + 2 * slot_bytes) && is_within(reports, at + 3 * slot_bytes);
}

// Puts the delays of `n` reports that are contiguous in memory. Returns false if one of the
// window's reports is not common.
static bool put_stretch(
		struct narrow *narrow, const struct reports *reports, uint64_t first, uint32_t n)
{
	const struct hs_qos_ring *ring = &reports->flow->ring;
	const uint8_t *at = (const uint8_t *)hs_qos_ring_packed(ring, first);
	bool common = first >= reports->flow->common_from;
	size_t slot_bytes = ring->slot_bytes;
	while (n) {
		if (common && n >= LANES && are_within(reports, at, slot_bytes)) {
			hs_qos_fetch(at + HS_QOS_RING_FETCHED * slot_bytes, LANES * slot_bytes);
			put_four_delays(narrow, at, slot_bytes);
			at += LANES * slot_bytes;
			n -= LANES;
			continue;
		}
		if (is_within(reports, at) && !put_delays(narrow, (const struct hs_packed *)at))
			return false;
		at += slot_bytes;
		n--;
	}
	return true;
}

static bool put_all(struct narrow *narrow, const struct reports *reports)
{
	const struct hs_qos_ring *ring = &reports->flow->ring;
	uint64_t oldest = hs_qos_ring_oldest(ring), first = ring->next;
	while (first > oldest && narrow->n < reports->n) {
		uint32_t n = hs_qos_ring_contiguous(ring, first);
		first -= n;
		if (first < reports->known.from || !put_stretch(narrow, reports, first, n))
			return false;
	}
	return narrow->far <= INT32_MAX && narrow->n <= reports->n;
}

static bool are_at_most(const struct lane *lane, int32_t most)
{
	wide_vector beyond = (wide_vector)(lane->most > (uint32_t)most);
	return !(beyond[0] | beyond[1] | beyond[2] | beyond[3]);
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
		narrow.lanes[i].bases_ns = (pair){0} + (uint64_t)columns->base_ns[link];
		narrow.lanes[i].to = hs_qos_column_narrow(columns, link);
		narrow.lanes[i].id = i && i <= known->n_hops ? known->ids[known->n_hops - i] : 0;
	}
	if (!put_all(&narrow, reports))
		return false;
	for (unsigned i = 0; i < known->n_hops + 2; i++)
		if (!are_at_most(&narrow.lanes[i], columns->most[known->links[i]]))
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

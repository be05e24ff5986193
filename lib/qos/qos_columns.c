// SPDX-License-Identifier: BSD-3-Clause
#include "qos_columns.h"

#include "qos_delays.h"
#include "qos_sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FEW	   16 // values, that are not worth buckets
#define MANY	   256
#define FEW_BITS   6 // of buckets
#define MANY_BITS  8
#define MOST_WIDTH 56 // bits of the distance between the bounds
#define MOST_LOW   (1ll << 61)

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
		columns->ends[i] = hs_qos_column(columns, i);
}

// Of some link, percentiles are found by the values alone.
static bool is_needed(const struct hs_qos_flow *flow, const struct hs_qos_sum *sum)
{
	for (unsigned i = 0; i < flow->n_links; i++)
		if (sum->links[i].delay_n && sum->links[i].delay_n <= HS_QOS_EXACT_VALUES)
			return true;
	return false;
}

// A report has at most one value for a link, so a column is never full.
int hs_qos_columns_collect(struct hs_qos_columns *columns, const struct hs_qos_flow *flow,
		int64_t after, int64_t until, const struct hs_qos_sum *sum)
{
	struct hs_qos_usual usual;
	struct hs_qos_delays delays;
	int rc = reserve(columns, flow->n_links);
	clear(columns);
	if (rc || !is_needed(flow, sum))
		return rc;
	uint64_t oldest = hs_qos_ring_oldest(&flow->ring), reports = sum->reports;
	hs_qos_delays_usual(flow, &usual);
	for (uint64_t number = flow->ring.next; number-- > oldest && reports;) {
		const struct hs_packed *packed = hs_qos_ring_packed(&flow->ring, number);
		if (packed->tag <= after || packed->tag > until)
			continue;
		reports--;
		const uint16_t *links = hs_qos_delays_at(flow, &usual, number, packed, &delays);
		for (unsigned i = 0; i < delays.n; i++)
			*columns->ends[links[i]]++ = delays.ns[i];
	}
	return 0;
}

// ---- ranks ----

static inline void swap(int64_t *a, int64_t *b)
{
	int64_t t = *a;
	*a = *b;
	*b = t;
}

// The value of index k were v[low ... n - 1] sorted (and all before them smaller, all behind them
// greater): Hoare's selection, median of three.
static int64_t select_value(int64_t *v, int64_t low, int64_t n, int64_t k)
{
	int64_t high = n - 1;
	while (low < high) {
		int64_t middle = low + (high - low) / 2;
		if (v[middle] < v[low])
			swap(&v[middle], &v[low]);
		if (v[high] < v[low])
			swap(&v[high], &v[low]);
		if (v[high] < v[middle])
			swap(&v[high], &v[middle]);
		int64_t pivot = v[middle], i = low, j = high;
		while (i <= j) {
			while (v[i] < pivot)
				i++;
			while (v[j] > pivot)
				j--;
			if (i <= j)
				swap(&v[i++], &v[j--]);
		}
		if (k <= j)
			high = j;
		else if (k >= i)
			low = i;
		else
			break;
	}
	return v[k];
}

// Values in buckets of one width between the least and the greatest.
struct buckets {
	int64_t low;
	unsigned bits, shift;
	uint16_t ends[(1u << MANY_BITS) + 1];
};

static inline uint64_t bucket_of(const struct buckets *buckets, int64_t value)
{
	return ((uint64_t)value - (uint64_t)buckets->low) >> buckets->shift;
}

// Puts the values into `sorted` by their buckets. False where one is not between the bounds.
static bool sort(struct buckets *buckets, const int64_t *values, uint32_t n, int64_t *sorted)
{
	uint32_t n_buckets = 1u << buckets->bits, mask = n_buckets - 1;
	uint16_t *begins = buckets->ends;
	uint64_t seen = 0;
	memset(begins, 0, (n_buckets + 1) * sizeof(begins[0]));
	for (uint32_t i = 0; i < n; i++) {
		uint64_t bucket = bucket_of(buckets, values[i]);
		seen |= bucket;
		begins[(bucket & mask) + 1]++;
	}
	if (seen > mask)
		return false;
	for (uint32_t i = 1; i < n_buckets; i++)
		begins[i] = (uint16_t)(begins[i] + begins[i - 1]);
	for (uint32_t i = 0; i < n; i++)
		sorted[begins[bucket_of(buckets, values[i])]++] = values[i];
	return true;
}

// False for bounds so far apart, or so far out, that what is beyond them may seem to be between.
static bool set_width(struct buckets *buckets, int64_t low, int64_t high, uint32_t n)
{
	uint64_t range = (uint64_t)high - (uint64_t)low;
	unsigned width = range ? 64u - (unsigned)__builtin_clzll(range) : 0;
	buckets->low = low;
	buckets->bits = n < MANY ? FEW_BITS : MANY_BITS;
	buckets->shift = width > buckets->bits ? width - buckets->bits : 0;
	return width <= MOST_WIDTH && low >= -MOST_LOW && low <= MOST_LOW;
}

void hs_qos_columns_select(struct hs_qos_columns *columns, unsigned link, int64_t low, int64_t high,
		unsigned n, const uint32_t *ranks, int64_t *found)
{
	int64_t *values = hs_qos_column(columns, link);
	int64_t *sorted = hs_qos_column(columns, columns->capacity);
	uint32_t n_values = hs_qos_columns_count(columns, link);
	struct buckets buckets;
	bool sorts = n_values >= FEW && set_width(&buckets, low, high, n_values) &&
		     sort(&buckets, values, n_values, sorted);
	for (unsigned i = 0; i < n; i++) {
		if (!sorts) {
			found[i] = select_value(values, 0, n_values, ranks[i]);
			continue;
		}
		uint64_t bucket = bucket_of(&buckets, sorted[ranks[i]]);
		uint32_t begin = bucket ? buckets.ends[bucket - 1] : 0;
		found[i] = select_value(sorted, begin, buckets.ends[bucket], ranks[i]);
	}
}

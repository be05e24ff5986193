// SPDX-License-Identifier: BSD-3-Clause
#include "qos_hist.h"

#include "qos_vector.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_BITS 6 // deviations below 64 have a bucket each
#define SUB_BITS   5 // buckets in a doubling: 32

// Returns a deviation's bucket. Below 2 * 2^SUB_BITS each deviation has its own bucket. Above, each
// doubling has 2^SUB_BITS buckets.
static inline uint32_t bucket_of(uint64_t deviation)
{
	unsigned above = 63u - SUB_BITS - (unsigned)__builtin_clzll(deviation | 1u << SUB_BITS);
	return (above << SUB_BITS) + (uint32_t)(deviation >> above);
}

static uint64_t middle_of(uint32_t bucket)
{
	if (bucket < (1u << EXACT_BITS))
		return bucket;
	uint32_t above = bucket - (1u << EXACT_BITS);
	unsigned exponent = EXACT_BITS + (above >> SUB_BITS);
	uint64_t sub = above & ((1u << SUB_BITS) - 1);
	uint64_t low = (1ull << exponent) + (sub << (exponent - SUB_BITS));
	return low + (1ull << (exponent - SUB_BITS)) / 2;
}

// Returns a value's distance from the origin, and sets *below. Implausible values of a peer cause
// no overflow.
static inline uint64_t deviation_of(const struct hs_qos_hist *hist, int64_t value, bool *below)
{
	*below = value < hist->origin;
	return *below ? (uint64_t)hist->origin - (uint64_t)value
		      : (uint64_t)value - (uint64_t)hist->origin;
}

// Returns the bucket farthest below the origin.
static uint32_t *first_of(const struct hs_qos_hist *hist)
{
	return hist->buckets ? hist->buckets - hist->n_buckets[1] : NULL;
}

static int grow(struct hs_qos_hist *hist, bool below, uint32_t n)
{
	uint32_t sizes[2] = {hist->n_buckets[0], hist->n_buckets[1]};
	sizes[below] = (n + 63) & ~63u;
	uint32_t *first = calloc(sizes[0] + sizes[1], sizeof(*first));
	if (!first)
		return -ENOMEM;
	if (hist->buckets)
		memcpy(first + sizes[1] - hist->n_buckets[1], first_of(hist),
				hs_qos_hist_bytes(hist));
	free(first_of(hist));
	hist->buckets = first + sizes[1];
	memcpy(hist->n_buckets, sizes, sizeof(sizes));
	return 0;
}

static inline int reserve(struct hs_qos_hist *hist, bool below, uint32_t n)
{
	return n <= hist->n_buckets[below] ? 0 : grow(hist, below, n);
}

static inline int32_t place_of(bool below, uint32_t bucket)
{
	return (int32_t)(below ? ~bucket : bucket);
}

static inline int add_times(struct hs_qos_hist *hist, int64_t value, uint32_t times)
{
	bool below;
	uint32_t bucket = bucket_of(deviation_of(hist, value, &below));
	if (reserve(hist, below, bucket + 1))
		return -ENOMEM;
	hist->buckets[place_of(below, bucket)] += times;
	hist->n += times;
	return 0;
}

void hs_qos_hist_fini(struct hs_qos_hist *hist)
{
	free(first_of(hist));
	memset(hist, 0, sizeof(*hist));
}

void hs_qos_hist_clear(struct hs_qos_hist *hist, int64_t origin)
{
	if (hist->buckets)
		memset(first_of(hist), 0, hs_qos_hist_bytes(hist));
	hist->n = 0;
	hist->origin = origin;
}

int hs_qos_hist_add(struct hs_qos_hist *hist, int64_t value)
{
	return add_times(hist, value, 1);
}

void hs_qos_hist_add_all(struct hs_qos_hist *hist, const int64_t *values, size_t n)
{
	const int64_t origin = hist->origin;
	uint64_t added = 0;
	for (size_t i = 0; i < n; i++) {
		bool below = values[i] < origin;
		uint64_t above = (uint64_t)values[i] - (uint64_t)origin;
		uint32_t bucket = bucket_of(below ? 0 - above : above);
		if (reserve(hist, below, bucket + 1))
			continue;
		hist->buckets[place_of(below, bucket)]++;
		added++;
	}
	hist->n += added;
}

// ---- four values at a time ----

#define REAL_BITS     23 // of a fraction
#define REAL_EXPONENT 127

// Returns the buckets that bucket_of returns. In a floating-point number, the exponent and the
// highest bits of the fraction lie side by side. Each bit that lies eight below a set bit is
// cleared, so that no number is rounded up to the next bucket. Below 2^SUB_BITS, the result is less
// than the deviation, which is its bucket.
static inline vector buckets_of(vector deviation)
{
	const int32_t first = (REAL_EXPONENT + SUB_BITS - 1) << SUB_BITS;
	real_vector real = __builtin_convertvector(deviation & ~(deviation >> 8), real_vector);
	vector bucket = ((vector)real >> (REAL_BITS - SUB_BITS)) - first;
	return greatest(bucket, least(deviation, (vector){0} + (1 << SUB_BITS)));
}

static inline void add_four(uint32_t *buckets, vector deviation)
{
	vector below = deviation < 0;
	vector at = buckets_of(magnitude(deviation)) ^ below;
	uint64_t pairs[LANES / 2]; // are taken apart in fewer instructions
	memcpy(pairs, &at, sizeof(pairs));
	for (unsigned k = 0; k < LANES / 2; k++) {
		buckets[(int32_t)(uint32_t)pairs[k]]++;
		buckets[(int32_t)(pairs[k] >> 32)]++;
	}
}

void hs_qos_hist_expect(const struct hs_qos_hist *hist, int64_t value)
{
	bool below;
	uint32_t bucket = bucket_of(deviation_of(hist, value, &below));
	if (bucket < hist->n_buckets[below])
		__builtin_prefetch(hist->buckets + place_of(below, bucket), 1);
}

static bool reserve_for(struct hs_qos_hist *hist, int64_t value)
{
	bool below;
	uint32_t bucket = bucket_of(deviation_of(hist, value, &below));
	return !reserve(hist, below, bucket + 1);
}

void hs_qos_hist_add_narrow(struct hs_qos_hist *hist, int64_t base, int32_t most,
		const int32_t *values, size_t n)
{
	size_t whole = n / LANES * LANES, i = 0;
	int64_t origin, high;
	if (whole && !__builtin_sub_overflow(hist->origin, base, &origin) &&
			!__builtin_add_overflow(base, most, &high) &&
			origin >= -HS_QOS_NARROW_MOST && origin <= HS_QOS_NARROW_MOST &&
			reserve_for(hist, base) && reserve_for(hist, high)) {
		for (vector four; i < whole; i += LANES) {
			memcpy(&four, values + i, sizeof(four));
			add_four(hist->buckets, four - (int32_t)origin);
		}
		hist->n += whole;
	}
	for (; i < n; i++)
		hs_qos_hist_add(hist, (int64_t)((uint64_t)base + (uint32_t)values[i]));
}

static int64_t value_of(const struct hs_qos_hist *hist, bool below, uint32_t bucket)
{
	uint64_t middle = middle_of(bucket);
	uint64_t origin = (uint64_t)hist->origin;
	return (int64_t)(below ? origin - middle : origin + middle);
}

// Merges histograms of different origins, as of different epochs. Each value counts as the middle
// of its bucket.
static int merge_moved(struct hs_qos_hist *into, const struct hs_qos_hist *from)
{
	for (unsigned below = 0; below < 2; below++)
		for (uint32_t i = 0; i < from->n_buckets[below]; i++)
			if (from->buckets[place_of(below, i)] &&
					add_times(into, value_of(from, below, i),
							from->buckets[place_of(below, i)]))
				return -ENOMEM;
	return 0;
}

int hs_qos_hist_merge(struct hs_qos_hist *into, const struct hs_qos_hist *from)
{
	if (!into->n)
		into->origin = from->origin;
	if (into->origin != from->origin)
		return merge_moved(into, from);
	if (reserve(into, false, from->n_buckets[0]) || reserve(into, true, from->n_buckets[1]))
		return -ENOMEM;
	for (int32_t i = -(int32_t)from->n_buckets[1]; i < (int32_t)from->n_buckets[0]; i++)
		into->buckets[i] += from->buckets[i];
	into->n += from->n;
	return 0;
}

int64_t hs_qos_hist_value(const struct hs_qos_hist *hist, uint64_t rank)
{
	uint64_t seen = 0;
	for (uint32_t i = hist->n_buckets[1]; i-- > 0;) {
		seen += hist->buckets[place_of(true, i)];
		if (seen >= rank)
			return value_of(hist, true, i);
	}
	for (uint32_t i = 0; i < hist->n_buckets[0]; i++) {
		seen += hist->buckets[i];
		if (seen >= rank)
			return value_of(hist, false, i);
	}
	return 0;
}

size_t hs_qos_hist_bytes(const struct hs_qos_hist *hist)
{
	return (hist->n_buckets[0] + hist->n_buckets[1]) * sizeof(uint32_t);
}

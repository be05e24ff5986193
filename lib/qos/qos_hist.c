// SPDX-License-Identifier: BSD-3-Clause
#include "qos_hist.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_BITS 6 // deviations below 64 have a bucket each
#define SUB_BITS   5 // buckets in a doubling: 32

// Below 2 * 2^SUB_BITS a deviation is its own bucket; above, each doubling has 2^SUB_BITS of them.
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

// Below the origin, without the overflow that a peer's nonsense could provoke.
static inline uint64_t deviation_of(const struct hs_qos_hist *hist, int64_t value, bool *below)
{
	*below = value < hist->origin;
	return *below ? (uint64_t)hist->origin - (uint64_t)value
		      : (uint64_t)value - (uint64_t)hist->origin;
}

static int grow(struct hs_qos_hist *hist, bool below, uint32_t n)
{
	n = (n + 63) & ~63u;
	uint32_t *buckets = realloc(hist->buckets[below], n * sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	uint32_t old = hist->n_buckets[below];
	memset(buckets + old, 0, (n - old) * sizeof(*buckets));
	hist->buckets[below] = buckets;
	hist->n_buckets[below] = n;
	return 0;
}

static inline int reserve(struct hs_qos_hist *hist, bool below, uint32_t n)
{
	return n <= hist->n_buckets[below] ? 0 : grow(hist, below, n);
}

static inline int add_times(struct hs_qos_hist *hist, int64_t value, uint32_t times)
{
	bool below;
	uint32_t bucket = bucket_of(deviation_of(hist, value, &below));
	if (reserve(hist, below, bucket + 1))
		return -ENOMEM;
	hist->buckets[below][bucket] += times;
	hist->n += times;
	return 0;
}

void hs_qos_hist_fini(struct hs_qos_hist *hist)
{
	free(hist->buckets[0]);
	free(hist->buckets[1]);
	memset(hist, 0, sizeof(*hist));
}

void hs_qos_hist_clear(struct hs_qos_hist *hist, int64_t origin)
{
	for (unsigned i = 0; i < 2; i++)
		if (hist->buckets[i])
			memset(hist->buckets[i], 0, hist->n_buckets[i] * sizeof(uint32_t));
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
		hist->buckets[below][bucket]++;
		added++;
	}
	hist->n += added;
}

static int64_t value_of(const struct hs_qos_hist *hist, bool below, uint32_t bucket)
{
	uint64_t middle = middle_of(bucket);
	uint64_t origin = (uint64_t)hist->origin;
	return (int64_t)(below ? origin - middle : origin + middle);
}

// Histograms of different epochs have different origins: their values move by bucket.
static int merge_moved(struct hs_qos_hist *into, const struct hs_qos_hist *from)
{
	for (unsigned below = 0; below < 2; below++)
		for (uint32_t i = 0; i < from->n_buckets[below]; i++)
			if (from->buckets[below][i] && add_times(into, value_of(from, below, i),
								       from->buckets[below][i]))
				return -ENOMEM;
	return 0;
}

int hs_qos_hist_merge(struct hs_qos_hist *into, const struct hs_qos_hist *from)
{
	if (!into->n)
		into->origin = from->origin;
	if (into->origin != from->origin)
		return merge_moved(into, from);
	for (unsigned below = 0; below < 2; below++) {
		if (reserve(into, below, from->n_buckets[below]))
			return -ENOMEM;
		for (uint32_t i = 0; i < from->n_buckets[below]; i++)
			into->buckets[below][i] += from->buckets[below][i];
	}
	into->n += from->n;
	return 0;
}

int64_t hs_qos_hist_value(const struct hs_qos_hist *hist, uint64_t rank)
{
	uint64_t seen = 0;
	for (uint32_t i = hist->n_buckets[1]; i-- > 0;) {
		seen += hist->buckets[1][i];
		if (seen >= rank)
			return value_of(hist, true, i);
	}
	for (uint32_t i = 0; i < hist->n_buckets[0]; i++) {
		seen += hist->buckets[0][i];
		if (seen >= rank)
			return value_of(hist, false, i);
	}
	return 0;
}

size_t hs_qos_hist_bytes(const struct hs_qos_hist *hist)
{
	return (hist->n_buckets[0] + hist->n_buckets[1]) * sizeof(uint32_t);
}

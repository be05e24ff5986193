// SPDX-License-Identifier: BSD-3-Clause
// Times as counts in buckets: exact below 64, above that 64 buckets for each doubling, so that a
// value read back is at most 1/64 off. Fixed size, mergeable by addition.
//
// Thread rule: one thread.
#pragma once

#include <stdint.h>
#include <string.h>

#define LOAD_HISTOGRAM_BUCKETS (64 * (64 - 6 + 1))

struct load_histogram {
	uint64_t n, sum, min, max;
	uint64_t buckets[LOAD_HISTOGRAM_BUCKETS];
};

static inline void load_histogram_clear(struct load_histogram *h)
{
	memset(h, 0, sizeof(*h));
	h->min = UINT64_MAX;
}

static inline unsigned load_histogram_bucket(uint64_t value)
{
	if (value < 64)
		return (unsigned)value;
	unsigned shift = 63 - 6 - (unsigned)__builtin_clzll(value);
	return 64 * (shift + 1) + (unsigned)(value >> shift) - 64;
}

// The smallest value of a bucket.
static inline uint64_t load_histogram_floor(unsigned bucket)
{
	if (bucket < 64)
		return bucket;
	return (uint64_t)(64 + bucket % 64) << (bucket / 64 - 1);
}

static inline void load_histogram_add(struct load_histogram *h, uint64_t value)
{
	h->buckets[load_histogram_bucket(value)]++;
	h->n++;
	h->sum += value;
	h->min = value < h->min ? value : h->min;
	h->max = value > h->max ? value : h->max;
}

// The value that a share of all (0 to 1) does not exceed; 0 where there are none.
static inline uint64_t load_histogram_quantile(const struct load_histogram *h, double share)
{
	uint64_t wanted = (uint64_t)(share * (double)h->n), seen = 0;

	for (unsigned i = 0; i < LOAD_HISTOGRAM_BUCKETS; i++) {
		seen += h->buckets[i];
		if (seen > wanted)
			return load_histogram_floor(i);
	}
	return h->n ? h->max : 0;
}

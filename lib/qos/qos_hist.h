// SPDX-License-Identifier: BSD-3-Clause
// A signed log-linear histogram of delays around an origin: 32 buckets for each doubling of the
// deviation, so that a bucket's middle is at most 1/64 of the deviation away from its values.
// Histograms are merged by addition.
//
// Source: docs/metrics.md, rule 17.
// Thread rule: owner.
#pragma once

#include <stddef.h>
#include <stdint.h>

#define HS_QOS_HIST_MOST_BYTES	       (2u * 1984 * sizeof(uint32_t)) // deviations of 64 bits on both sides
#define HS_QOS_LATENCY_HIST_MOST_BYTES (896u * sizeof(uint32_t)) // of 32 bits, above 0
#define HS_QOS_NARROW_MOST	       ((1 << 30) - 1)

struct hs_qos_hist {
	int64_t origin;
	uint64_t n;
	uint32_t *buckets; // from the origin upwards; buckets below the origin from index -2 down
	uint32_t n_buckets[2]; // at and above the origin, below it
};

// A zeroed struct is an empty histogram; the first value, or the caller before it, sets `origin`.
void hs_qos_hist_fini(struct hs_qos_hist *hist);
// Forgets the values and keeps the memory.
void hs_qos_hist_clear(struct hs_qos_hist *hist, int64_t origin);
// Adds a value. Returns 0, or -ENOMEM: the value was not added.
int hs_qos_hist_add(struct hs_qos_hist *hist, int64_t value);
// Adds n values. Values for which there is no memory are left out.
void hs_qos_hist_add_all(struct hs_qos_hist *hist, const int64_t *values, size_t n);
// Does the same with the values `base` + values[i]. Each values[i] is from 0 to `most`, and `most`
// is at most HS_QOS_NARROW_MOST.
void hs_qos_hist_add_narrow(struct hs_qos_hist *hist, int64_t base, int32_t most,
		const int32_t *values, size_t n);
// Prefetches the memory for a value, which is to be added soon.
void hs_qos_hist_expect(const struct hs_qos_hist *hist, int64_t value);
int hs_qos_hist_merge(struct hs_qos_hist *into, const struct hs_qos_hist *from);
// Returns the value of this rank (1 is the smallest): the middle of its bucket. Returns 0 for an
// empty histogram.
int64_t hs_qos_hist_value(const struct hs_qos_hist *hist, uint64_t rank);
size_t hs_qos_hist_bytes(const struct hs_qos_hist *hist);

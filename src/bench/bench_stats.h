// SPDX-License-Identifier: BSD-3-Clause
// Samples of one figure over rounds.
//
// Thread rule: any; values.
#pragma once

#define HS_BENCH_MAX_ROUNDS 200

struct hs_bench_samples {
	unsigned n;
	double values[HS_BENCH_MAX_ROUNDS];
};

struct hs_bench_summary {
	double median, min, max; // 0 without samples
};

// Samples beyond the maximum are left out.
void hs_bench_samples_add(struct hs_bench_samples *samples, double value);
struct hs_bench_summary hs_bench_samples_summary(const struct hs_bench_samples *samples);

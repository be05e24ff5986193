// SPDX-License-Identifier: BSD-3-Clause
#include "bench_stats.h"

#include <stdlib.h>
#include <string.h>

void hs_bench_samples_add(struct hs_bench_samples *samples, double value)
{
	if (samples->n < HS_BENCH_MAX_ROUNDS)
		samples->values[samples->n++] = value;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

struct hs_bench_summary hs_bench_samples_summary(const struct hs_bench_samples *samples)
{
	double sorted[HS_BENCH_MAX_ROUNDS];
	unsigned n = samples->n;

	if (!n)
		return (struct hs_bench_summary){0};
	memcpy(sorted, samples->values, n * sizeof(sorted[0]));
	qsort(sorted, n, sizeof(sorted[0]), ascending);
	return (struct hs_bench_summary){
			.median = (sorted[(n - 1) / 2] + sorted[n / 2]) / 2,
			.min = sorted[0],
			.max = sorted[n - 1],
	};
}

// SPDX-License-Identifier: BSD-3-Clause
// Ratios that a run is compared with. Times are never compared, because they belong to one machine
// and one day.
//
// Thread rule: owner.
#pragma once

#include "bench_result.h"

#include "error.h"

// The factor by which noise may increase a ratio before it counts as a regression.
#define HS_BENCH_NOISE 1.15

// Loads {"ratios": {"no_rules": 1.2, ...}, "ratios_of_least": {...}}: ratios of medians, and of the
// least figures, which may be missing. The caller owns the result. Returns 0, or -EINVAL with *err.
int hs_bench_baseline_load(const char *path, json_t **baseline, struct hs_error *err);

// Makes a baseline from a measurement, for the cases that have a ratio.
json_t *hs_bench_baseline_of(const struct hs_bench_result *result);

// The verdict about a case. HELD: the case is right, or there is nothing to compare with.
enum hs_bench_verdict {
	HS_BENCH_HELD,
	HS_BENCH_SLOWER, // slower than its baseline in both ratios: noise changes only one of them
	HS_BENCH_OVER,	 // over its limit, which the baseline kept
	HS_BENCH_FAILED, // not measured
};
enum hs_bench_verdict hs_bench_baseline_judge(const struct hs_bench_result *result,
		const struct hs_bench_row *row, const json_t *baseline);

// Prints one line for each requested case of the baseline, beginning with PASS or FAIL. Returns how
// many failed.
int hs_bench_baseline_print(const struct hs_bench_result *result, const json_t *baseline, FILE *to);

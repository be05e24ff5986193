// SPDX-License-Identifier: BSD-3-Clause
// Ratios that a run is held against. Never times: those are of one machine and one day.
//
// Thread rule: owner.
#pragma once

#include "bench_result.h"

#include "error.h"

// What noise may add to a ratio before it is a regression.
#define HS_BENCH_NOISE 1.15

// {"ratios": {"no_rules": 1.2, ...}, "ratios_of_least": {...}}: of medians, and of the least
// figures, which may be left out. The caller owns it. 0 or -EINVAL with *err.
int hs_bench_baseline_load(const char *path, json_t **baseline, struct hs_error *err);

// A baseline of what was measured, for the cases that have a ratio.
json_t *hs_bench_baseline_of(const struct hs_bench_result *result);

// How a case stands. HELD: nothing to complain about, or nothing to compare with.
enum hs_bench_verdict {
	HS_BENCH_HELD,
	HS_BENCH_SLOWER, // than its baseline, in both ratios: a neighbour's noise moves one of them
	HS_BENCH_OVER,	 // its limit, which the baseline kept
	HS_BENCH_FAILED, // not measured
};
enum hs_bench_verdict hs_bench_baseline_judge(const struct hs_bench_result *result,
		const struct hs_bench_row *row, const json_t *baseline);

// One line for each case of the baseline that was asked for, beginning with PASS or FAIL. Returns
// how many failed.
int hs_bench_baseline_print(const struct hs_bench_result *result, const json_t *baseline, FILE *to);

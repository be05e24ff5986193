// SPDX-License-Identifier: BSD-3-Clause
// The order of measurements: every case and every peer once in each round, each in a process of its
// own.
//
// Thread rule: the main thread.
#pragma once

#include "bench_result.h"

#include "error.h"

struct hs_bench_plan {
	const struct hs_bench_case *const *cases;
	int n_cases;
	unsigned rounds;
	double seconds;
	int worker_core, control_core;
	bool peers; // dpdk-testpmd is installed
	bool quick; // only the peers that ratios need
};

// Makes rows for the cases and for the peers that they are compared with. The caller owns
// result->rows. Returns 0 or -ENOMEM.
int hs_bench_result_init(struct hs_bench_result *result, const struct hs_bench_plan *plan);
void hs_bench_result_fini(struct hs_bench_result *result);

// Measures all rows, or those of `again` (one for each row) and what they are compared with, and
// adds the samples. A failed case has the reason in its row. Returns -EINTR after a signal.
int hs_bench_run(const struct hs_bench_plan *plan, struct hs_bench_result *result,
		const bool *again, struct hs_error *err);

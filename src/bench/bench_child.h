// SPDX-License-Identifier: BSD-3-Clause
// One measurement in a process of its own: set up, warm up, run, check, and print one line of JSON
// on stdout: {"packets", "cpu_ns", ...}, {"per_second"} or {"error"}.
//
// Thread rule: the main thread, once per process.
#pragma once

#include "bench_setup.h"

// Returns 0, or -EINVAL if the measurement failed; the line contains the reason.
int hs_bench_child_run(
		const struct hs_bench_case *spec, const struct hs_bench_child_config *config);

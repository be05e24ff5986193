// SPDX-License-Identifier: BSD-3-Clause
// Measures control's operations in a second: rule changes, reports into the monitor, reports as
// text.
//
// Thread rule: the main thread, once per process.
#pragma once

#include "bench_setup.h"

// Returns 0, or a negative errno with *err.
int hs_bench_control(const struct hs_bench_case *spec, const struct hs_bench_child_config *config,
		double *per_second, struct hs_error *err);

// SPDX-License-Identifier: BSD-3-Clause
// Measures what reports cost a collector that sleeps between them: its own collecting thread
// (src/collector) takes them from a queue of ready buffers, which another thread fills at a steady
// rate, as a NIC does.
//
// Thread rule: the main thread, once per process.
#pragma once

#include "bench_collect.h"

// Returns 0, or a negative errno with *err, as hs_bench_collect does.
int hs_bench_offered(const struct hs_bench_case *spec, const struct hs_bench_child_config *config,
		struct hs_bench_collected *collected, struct hs_error *err);

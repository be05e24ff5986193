// SPDX-License-Identifier: BSD-3-Clause
// Measures what reports cost a collector: datagrams lie ready in memory, and one thread takes them.
//
// Thread rule: the main thread, once per process.
#pragma once

#include "bench_setup.h"

struct hs_bench_collected {
	double per_second; // of the thread's own processor time
	uint64_t reports;  // that were measured
	// Where they are offered at a rate, else 0:
	double share;	  // of the core that they take
	double left_out;  // share of them that could not be offered: a thread was off its core
	const char *kind; // of garbage: the most expensive one; else NULL
};

// Returns 0, or a negative errno with *err. The process ends after it, so nothing is released.
int hs_bench_collect(const struct hs_bench_case *spec, const struct hs_bench_child_config *config,
		struct hs_bench_collected *collected, struct hs_error *err);

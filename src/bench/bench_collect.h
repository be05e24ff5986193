// SPDX-License-Identifier: BSD-3-Clause
// Measures what reports cost a collector: datagrams lie ready in memory, and one thread takes them.
//
// Thread rule: the main thread, once per process.
#pragma once

#include "bench_setup.h"

struct hs_bench_collected {
	double per_second; // of the thread's own processor time
	uint64_t reports;  // that were measured
	// If reports are offered at a given rate; otherwise 0:
	double share;	 // share of the core that the reports take
	double left_out; // share of the reports that could not be offered, because a thread was off
			 // its core
	const char *kind; // for garbage: the most expensive kind; otherwise NULL
};

// Returns 0, or a negative errno with *err. The process ends after it, so nothing is released.
int hs_bench_collect(const struct hs_bench_case *spec, const struct hs_bench_child_config *config,
		struct hs_bench_collected *collected, struct hs_error *err);

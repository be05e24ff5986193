// SPDX-License-Identifier: BSD-3-Clause
// Measures dpdk-testpmd as we measure ourselves: its worker thread's own processor time divided by
// the packets that it received.
//
// Thread rule: the main thread.
#pragma once

#include "bench_process.h"

#include "error.h"

#include <stdint.h>

struct hs_bench_peer_config {
	const char *mode; // --forward-mode
	const char *devices[2];
	int worker_core, control_core;
	const char *prefix;
};

bool hs_bench_peer_is_there(void);

int hs_bench_peer_start(struct hs_bench_process *process, const struct hs_bench_peer_config *config,
		struct hs_error *err);

// Starts a testpmd, measures for some seconds, and ends it. Returns 0, or a negative errno with
// *err.
int hs_bench_peer_measure(const struct hs_bench_peer_config *config, double seconds,
		double *ns_per_packet, struct hs_error *err);

// SPDX-License-Identifier: BSD-3-Clause
// Sets up one case in this process: EAL, ports, and a node with its rules or routes.
//
// Thread rule: control.
#pragma once

#include "bench_case.h"
#include "bench_source.h"

#include "clock.h"
#include "error.h"
#include "node.h"

struct hs_bench_child_config {
	const char *pcap; // the case's traffic
	double seconds;
	uint64_t packets; // if not 0: this many packets instead, without warming up, to count
			  // instructions
	int worker_core, control_core;
	bool huge_pages;     // for the packets and all tables; not with memif
	char prefix[32];     // of EAL's files
	const char *sockets; // folder for memif
};

enum {
	HS_BENCH_IN,
	HS_BENCH_OUT,
	HS_BENCH_PORTS
};

struct hs_bench_setup {
	const struct hs_bench_case *spec;
	const struct hs_bench_child_config *config;
	struct hs_clock *clock;
	struct rte_mempool *pool;
	struct hs_bench_source source;
	struct hs_port *ports[HS_BENCH_PORTS];
	struct hs_node *node;
	struct hs_port_counters before[HS_BENCH_PORTS]; // counts from before the measurement
};

// Returns 0, or a negative errno with *err. The process ends after it, so nothing is released.
int hs_bench_setup_open(struct hs_bench_setup *setup, const struct hs_bench_case *spec,
		const struct hs_bench_child_config *config, struct hs_error *err);

// The counts that the packets of the measurement have added.
struct hs_bench_outcome {
	uint64_t received, tx_full;
	uint64_t reports_made, reports_lost;
};
// Checks a measurement. Returns 0, or -EINVAL with *err if a packet took another path through the
// node than its case is about. Call this after the worker has ended.
int hs_bench_setup_check(const struct hs_bench_setup *setup, struct hs_bench_outcome *outcome,
		struct hs_error *err);

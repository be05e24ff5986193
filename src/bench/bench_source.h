// SPDX-License-Identifier: BSD-3-Clause
// A source port around another port. Packets of a capture file become packets of more flows than
// the file could hold, or get telemetry that advances. This takes a few stores into a line that the
// file's driver has just written, and their cost counts against the case.
//
// Thread rule: rx by the worker.
#pragma once

#include "clock.h"
#include "port.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_bench_source {
	struct hs_port *inner;
	uint32_t flows, step, next; // 0 flows: addresses stay as they are
	bool stamped;
	const struct hs_clock *clock;
	uint16_t frames, trace_off, e2e_off, hops;
	uint32_t counted_bytes; // of a packet, as telemetry counts them
	uint64_t received;
};

// Visits every flow once in so many packets, each far from the one before.
void hs_bench_source_spread(struct hs_bench_source *source, uint32_t flows);

uint16_t hs_bench_source_rx(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);
uint16_t hs_bench_source_tx(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);

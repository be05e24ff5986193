// SPDX-License-Identifier: BSD-3-Clause
// A source port around another port. Packets of a capture file become packets of more flows than
// the file could hold, or get telemetry that advances. The port makes a few stores into a cache
// line that the file's driver has just written. The cost of these stores is a part of the
// measurement.
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

// Makes packets of this number of flows. Each flow has one packet before a flow repeats, and is far
// from the flow before.
void hs_bench_source_spread(struct hs_bench_source *source, uint32_t flows);

uint16_t hs_bench_source_rx(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);
uint16_t hs_bench_source_tx(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);

// SPDX-License-Identifier: BSD-3-Clause
#include "bench_source.h"

#include "bench_frames.h"

#include "bytes.h"

#include <rte_mbuf.h>

#define HOP_NS	    1000000 // least simulated time between two nodes
#define ENTRIES_OFF 10	    // of option 0x31: type, length, namespace, trace type
#define ENTRY_BYTES 24

static uint32_t gcd(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

void hs_bench_source_spread(struct hs_bench_source *source, uint32_t flows)
{
	source->flows = flows;
	source->next = 0;
	// The step is near the golden ratio's part of the flows and has no common divisor with
	// their number, so that all flows are met.
	source->step = (uint32_t)((uint64_t)flows * 618 / 1000) | 1;
	while (gcd(source->step, flows) != 1)
		source->step += 2;
}

static void readdress(struct hs_bench_source *source, uint8_t *frame)
{
	hs_be32_store(frame + HS_BENCH_SOURCE_OFFSET, hs_bench_flow_word(source->next));
	hs_be16_store(frame + HS_BENCH_PORT_OFFSET, hs_bench_flow_port(source->next));
	source->next += source->step;
	if (source->next >= source->flows)
		source->next -= source->flows;
}

// Returns the time from one node to the next, with some scatter, because a monitor's work depends
// on the scatter.
static int64_t delay_ns(uint32_t packets, unsigned hop)
{
	return HOP_NS + (int64_t)((packets * 2654435761u >> (hop + 8)) & 4095);
}

// Stamps a frame as if source and hops had counted every packet of a flow and none was lost.
static void stamp(const struct hs_bench_source *source, uint8_t *frame, uint64_t number, int64_t ns)
{
	uint32_t packets = (uint32_t)number, bytes = packets * source->counted_bytes;
	uint8_t *e2e = frame + source->e2e_off + 4;
	uint8_t *entry = frame + source->trace_off + ENTRIES_OFF;

	for (unsigned hop = 0; hop < source->hops; hop++, entry += ENTRY_BYTES) {
		ns -= delay_ns(packets, hop);
		hs_be16_store(entry + 4, (uint16_t)packets);
		hs_be16_store(entry + 6, (uint16_t)packets);
		hs_be64_store(entry + 8, (uint64_t)ns);
		hs_be32_store(entry + 16, bytes);
		hs_be32_store(entry + 20, bytes);
	}
	hs_be64_store(e2e, (uint64_t)(ns - delay_ns(packets, source->hops)));
	hs_be32_store(e2e + 8, packets);
	hs_be32_store(e2e + 12, bytes);
}

uint16_t hs_bench_source_rx(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct hs_bench_source *source = port->driver_data;
	uint16_t received = source->inner->rx_burst(source->inner, queue, mbufs, n);

	for (uint16_t i = 0; source->flows && i < received; i++)
		readdress(source, rte_pktmbuf_mtod(mbufs[i], uint8_t *));
	if (source->stamped) {
		int64_t now_ns = hs_clock_now(source->clock);
		for (uint16_t i = 0; i < received; i++)
			stamp(source, rte_pktmbuf_mtod(mbufs[i], uint8_t *),
					1 + (source->received + i) / source->frames, now_ns);
		source->received += received;
	}
	return received;
}

uint16_t hs_bench_source_tx(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	const struct hs_bench_source *source = port->driver_data;

	return source->inner->tx_burst(source->inner, queue, mbufs, n);
}

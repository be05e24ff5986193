// SPDX-License-Identifier: BSD-3-Clause
// A port whose packets lie ready in memory, a share of the flows in each of its receive queues as a
// NIC's RSS would deal them out; what is sent comes back to be received again.
//
// Thread rule: rx of a queue by one thread; the rest control.
#pragma once

#include "node.h"

#include <stdbool.h>
#include <stdint.h>

struct rte_mempool;

#define WORKERS_FLOWS  4096
#define WORKERS_QUEUES 2
#define WORKERS_FRAMES 512 // in each queue
#define WORKERS_BYTES  256

#define WORKERS_FLOW_OFF (14 + 8 + 12) // in a frame: the last four bytes of the source address

struct workers_queue {
	struct rte_mbuf *mbufs[WORKERS_FRAMES];
	unsigned at;
	uint32_t flow;
	// As the queue's packets are to be: copied, so that no queue reads another's lines.
	uint32_t first, last;
	uint16_t len, data_off, ns_off;
	uint8_t frame[WORKERS_BYTES];
} __attribute__((aligned(128)));

struct workers_source {
	struct workers_queue queues[WORKERS_QUEUES];
};

void workers_source_init(struct workers_source *source, struct rte_mempool *pool, bool one_flow,
		bool transit);
void workers_source_fini(struct workers_source *source);
// The rule that matches flow number so and so.
void workers_source_rule(uint32_t flow, struct hs_rule *rule);

uint16_t workers_source_rx(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);
uint16_t workers_nothing_rx(
		struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);
uint16_t workers_sink_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n);

// SPDX-License-Identifier: BSD-3-Clause
// What a node is made of, for the files of this folder only.
//
// Thread rule: as in node.h.
#pragma once

#include "node.h"
#include "worker.h"

struct rte_rcu_qsbr;

// A receive queue that a worker polls.
struct rx_queue {
	struct hs_port *port;
	uint16_t queue;
};

// A worker and what the node keeps beside it.
struct seat {
	struct hs_worker worker;
	unsigned n_queues;
	struct rx_queue queues[HS_MAX_PORTS * 4];
	bool online; // by hs_node_worker_online; else each poll brackets itself
};

struct hs_node {
	struct hs_node_config config;
	struct hs_clock *clock;
	struct rte_rcu_qsbr *qsbr;
	struct hs_flow_table *flows;
	struct hs_fdb *fdb;
	struct hs_fib *fib;
	bool paused; // control's word to workers (atomic): begin no burst
	struct seat *seats[HS_MAX_WORKERS];
	uint16_t n_ports;
	struct hs_port *ports[HS_MAX_PORTS];
	unsigned next_ring; // whose reports are taken first
	unsigned next_signal_ring;
	unsigned next_seat;			 // who gets the next single-queue port
	uint64_t device_tx_errors[HS_MAX_PORTS]; // at the last reconciliation
	uint64_t tx_errors[HS_MAX_PORTS];	 // taken off tx_packets so far
};

// The number under which a worker reports quiescent states. Every other one is left out: it writes
// its line once a round, and a neighbour's would be fetched with it.
static inline unsigned hs_node_reader(unsigned worker)
{
	return worker * 2;
}

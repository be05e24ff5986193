// SPDX-License-Identifier: BSD-3-Clause
// The internals of a node, for the files of this folder only.
//
// Thread rule: as in node.h.
#pragma once

#include "flexint_parse_fast.h"
#include "node_config.h"
#include "worker.h"

#include <rte_ring.h>

struct rte_rcu_qsbr;

// A receive queue that a worker polls.
struct rx_queue {
	struct hs_port *port;
	uint16_t queue;
};

// A worker and the data that the node keeps for it.
struct seat {
	struct hs_worker worker;
	unsigned n_queues;
	struct rx_queue queues[HS_MAX_PORTS * 4];
	struct hs_flexint_templates templates; // of the worker
	bool online; // set by hs_node_worker_online; otherwise each poll brackets itself
};

struct hs_node {
	struct hs_node_config config;
	struct hs_clock *clock;
	struct rte_rcu_qsbr *qsbr;
	struct hs_flow_table *flows;
	struct hs_fdb *fdb;
	struct hs_fib *fib;
	bool paused; // written by control (atomic): workers must begin no burst
	struct seat *seats[HS_MAX_WORKERS];
	uint16_t n_ports;
	struct hs_egress *egress[HS_MAX_PORTS]; // NULL: the port has no queue
	struct hs_label_port *labels; // [HS_MAX_PORTS], of ports that label; NULL: none yet
	struct hs_probe_node *probes; // NULL: no port has probes
	struct hs_port *ports[HS_MAX_PORTS];
	unsigned next_ring; // the worker whose reports are taken first
	unsigned next_punt_ring;
	unsigned next_export_ring;
	unsigned next_seat; // the worker that gets the next port with one queue
	uint64_t device_tx_errors[HS_MAX_PORTS]; // at the last reconciliation
	uint64_t tx_errors[HS_MAX_PORTS];	 // subtracted from tx_packets so far
};

// Makes the queue of a port that was just added, if the port has one. Returns 0 or -ENOMEM.
int hs_node_add_egress(struct hs_node *node, const struct hs_port *port);
void hs_node_free_egress(struct hs_node *node);
// Does the work that is due between bursts, in each round of a worker with worker->serves.
void hs_node_serve(struct hs_worker *worker);

// Returns whether more than half of a worker's ring of reports is full.
static inline bool hs_node_is_behind(const struct hs_worker *worker)
{
	return rte_ring_count(worker->reports) > worker->reports->capacity / 2;
}

// Gives each port that labels its shared state, and workers memory for fragments where items end.
// Called again for each port that is added. Returns 0 or -ENOMEM.
int hs_node_set_labels(struct hs_node *node);
void hs_node_free_labels(struct hs_node *node);
// Returns the EAL memory for labels.
uint64_t hs_node_label_bytes(const struct hs_node_config *config);

// Gives each worker its state for probes, once some network port has a profile of probes. Returns 0
// or -ENOMEM.
int hs_node_set_probes(struct hs_node *node);
void hs_node_free_probes(struct hs_node *node);

// Returns the number under which a worker reports quiescent states. Every second number is left
// out: a worker writes its line once a round, and the processor would fetch a neighbour's line,
// too.
static inline unsigned hs_node_reader(unsigned worker)
{
	return worker * 2;
}

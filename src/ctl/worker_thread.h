// SPDX-License-Identifier: BSD-3-Clause
// A worker of a node on an lcore of its own: polls, and rests when there is nothing.
//
// Thread rule: control; the loop itself runs on the lcore.
#pragma once

#include "idle.h"
#include "node.h"

#include <semaphore.h>
#include <stdbool.h>

struct hs_worker_thread {
	struct hs_node *node;
	unsigned index;
	unsigned lcore;
	struct hs_idle *idle;
	bool stop; // atomic: control's word to the worker
	bool running;
	sem_t ready;
} __attribute__((aligned(64)));

// Makes the worker ready to rest on the queues that the node gave it. 0 or negative errno.
int hs_worker_thread_init(struct hs_worker_thread *thread, struct hs_node *node, unsigned index,
		unsigned lcore, bool adaptive);
// Stops it if need be.
void hs_worker_thread_fini(struct hs_worker_thread *thread);

// Returns when the worker polls. 0 or negative errno.
int hs_worker_thread_start(struct hs_worker_thread *thread);
// Returns when the worker has left its lcore; packets in its queues stay there.
void hs_worker_thread_stop(struct hs_worker_thread *thread);

// Rests on the worker's queues of a port, or no longer. Ports that it does not poll are ignored.
int hs_worker_thread_add_port(struct hs_worker_thread *thread, struct hs_port *port);
void hs_worker_thread_remove_port(struct hs_worker_thread *thread, struct hs_port *port);

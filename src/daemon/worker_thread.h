// SPDX-License-Identifier: BSD-3-Clause
// A worker of a node on its own lcore: it polls, and sleeps when there is nothing to do.
//
// Thread rule: control; the loop itself runs on the lcore.
#pragma once

#include "idle.h"
#include "node.h"
#include "scheduling.h"

#include <semaphore.h>
#include <stdbool.h>

struct hs_worker_thread {
	struct hs_node *node;
	unsigned index;
	unsigned lcore;
	struct hs_idle *idle;
	bool stop; // atomic, written by control
	bool running;
	const struct hs_scheduling *scheduling;
	int failed; // to start, a negative errno
	sem_t ready;
} __attribute__((aligned(64)));

// Prepares the worker to sleep on the queues that the node gave it. `scheduling` outlives it.
// Returns 0 or a negative errno.
int hs_worker_thread_init(struct hs_worker_thread *thread, struct hs_node *node, unsigned index,
		unsigned lcore, bool adaptive, const struct hs_scheduling *scheduling);
// Stops the worker if it runs.
void hs_worker_thread_fini(struct hs_worker_thread *thread);

// Starts the worker and waits until it polls. Returns 0 or a negative errno: -EPERM if the process
// may not schedule the worker as `scheduling` says.
int hs_worker_thread_start(struct hs_worker_thread *thread);
// Stops the worker and waits until it has left its lcore. Packets stay in its queues.
void hs_worker_thread_stop(struct hs_worker_thread *thread);

// Add or remove the queues of a port on which the worker sleeps. Ports that the worker does not
// poll are ignored.
int hs_worker_thread_add_port(struct hs_worker_thread *thread, struct hs_port *port);
void hs_worker_thread_remove_port(struct hs_worker_thread *thread, struct hs_port *port);

// SPDX-License-Identifier: BSD-3-Clause
#include "worker_thread.h"

#include <rte_launch.h>

#include <errno.h>

static void sleep_or_rest(struct hs_worker_thread *thread, enum hs_pace_step step)
{
	unsigned packets = 0;

	if (step == HS_PACE_SLEEP) {
		hs_idle_arm(thread->idle);
		// A packet that came between the last round and the arming would wake nobody.
		packets = hs_node_worker_poll(thread->node, thread->index);
	}
	if (packets > 0) {
		hs_idle_work(thread->idle, packets);
		return;
	}
	int64_t due_ns = hs_node_worker_due_ns(thread->node, thread->index);
	hs_node_worker_offline(thread->node, thread->index);
	if (step == HS_PACE_SLEEP)
		hs_idle_sleep(thread->idle, due_ns);
	else
		hs_idle_rest(thread->idle, due_ns);
	hs_node_worker_online(thread->node, thread->index);
}

static void look(struct hs_worker_thread *thread)
{
	unsigned packets = hs_node_worker_poll(thread->node, thread->index);

	if (packets > 0) {
		hs_idle_work(thread->idle, packets);
		return;
	}
	enum hs_pace_step step = hs_idle_next(thread->idle);
	if (step != HS_PACE_SPIN)
		sleep_or_rest(thread, step);
}

static int loop(void *context)
{
	struct hs_worker_thread *thread = context;

	thread->failed = hs_scheduling_apply(thread->scheduling);
	if (thread->failed < 0) {
		sem_post(&thread->ready);
		return thread->failed;
	}
	hs_node_worker_online(thread->node, thread->index);
	sem_post(&thread->ready);
	while (!__atomic_load_n(&thread->stop, __ATOMIC_RELAXED))
		look(thread);
	hs_node_worker_offline(thread->node, thread->index);
	return 0;
}

int hs_worker_thread_init(struct hs_worker_thread *thread, struct hs_node *node, unsigned index,
		unsigned lcore, bool adaptive, const struct hs_scheduling *scheduling)
{
	struct hs_port *ports[HS_MAX_PORTS];
	unsigned n = hs_node_worker_ports(node, index, ports);

	*thread = (struct hs_worker_thread){
			.node = node, .index = index, .lcore = lcore, .scheduling = scheduling};
	int rc = hs_idle_create(adaptive, &thread->idle);
	if (rc < 0)
		return rc;
	sem_init(&thread->ready, 0, 0);
	for (unsigned i = 0; i < n; i++) {
		rc = hs_worker_thread_add_port(thread, ports[i]);
		if (rc < 0) {
			hs_worker_thread_fini(thread);
			return rc;
		}
	}
	return 0;
}

void hs_worker_thread_fini(struct hs_worker_thread *thread)
{
	if (!thread->idle)
		return;
	hs_worker_thread_stop(thread);
	hs_idle_destroy(thread->idle);
	sem_destroy(&thread->ready);
	thread->idle = NULL;
}

int hs_worker_thread_start(struct hs_worker_thread *thread)
{
	int rc = rte_eal_remote_launch(loop, thread, thread->lcore);
	if (rc < 0)
		return rc;
	thread->running = true;
	while (sem_wait(&thread->ready) < 0 && errno == EINTR)
		;
	if (thread->failed < 0)
		hs_worker_thread_stop(thread);
	return thread->failed;
}

void hs_worker_thread_stop(struct hs_worker_thread *thread)
{
	if (!thread->running)
		return;
	__atomic_store_n(&thread->stop, true, __ATOMIC_RELAXED);
	hs_idle_wake(thread->idle);
	rte_eal_wait_lcore(thread->lcore);
	thread->running = false;
}

// Returns whether the worker polls a port. The queues of a port with several queues are assigned to
// all workers in turn, see hs_node_add_port.
static bool polls(const struct hs_worker_thread *thread, const struct hs_port *port)
{
	struct hs_port *ports[HS_MAX_PORTS];
	unsigned n = hs_node_worker_ports(thread->node, thread->index, ports);
	for (unsigned i = 0; i < n; i++) {
		if (ports[i] == port)
			return true;
	}
	return false;
}

int hs_worker_thread_add_port(struct hs_worker_thread *thread, struct hs_port *port)
{
	if (!polls(thread, port))
		return 0;
	if (port->rx_queues == 1)
		return hs_idle_add_queue(thread->idle, port, 0);
	unsigned n_workers = hs_node_config(thread->node)->n_workers;
	for (unsigned q = thread->index; q < port->rx_queues; q += n_workers) {
		int rc = hs_idle_add_queue(thread->idle, port, (uint16_t)q);
		if (rc < 0)
			return rc;
	}
	return 0;
}

void hs_worker_thread_remove_port(struct hs_worker_thread *thread, struct hs_port *port)
{
	if (polls(thread, port))
		hs_idle_remove_port(thread->idle, port);
}

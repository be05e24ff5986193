// SPDX-License-Identifier: BSD-3-Clause
// Egress queues of the ports that have one.
#include "egress.h"
#include "label_fragments.h"
#include "node.h"
#include "node_parts.h"
#include "probe_state.h"
#include "report_put.h"

#include <errno.h>

#include <rte_malloc.h>

#define KEPT_NS 50000 // until a worker looks again, while ports keep packets

// Returns whether several workers send by the port. In mode patch, only the workers that poll a
// port's partner do, unless the node takes probes: a probe names the port that it leaves by, and
// feedback leaves by the port that the probe came by.
static bool is_shared(const struct hs_node *node, uint16_t port)
{
	const struct hs_node_config *config = &node->config;

	if (config->n_workers == 1)
		return false;
	if (node->ports[port]->config.rate_of_node || node->probes)
		return true;
	for (unsigned i = 0; i < config->n_pairs; i++) {
		for (unsigned side = 0; side < 2; side++) {
			uint16_t partner = config->pairs[i][!side];
			if (config->pairs[i][side] == port && partner < node->n_ports)
				return node->ports[partner]->rx_queues > 1;
		}
	}
	return true;
}

static void set_shared(struct hs_node *node)
{
	for (uint16_t p = 0; p < node->n_ports; p++) {
		if (node->egress[p])
			node->egress[p]->shared = is_shared(node, p);
	}
}

// Returns the queue that an earlier port made for all ports that share a rate, or a new queue.
static struct hs_egress *find_egress(const struct hs_node *node, const struct hs_port *port)
{
	const struct hs_port_config *config = &port->config;

	for (uint16_t p = 0; config->rate_of_node && p < port->index; p++) {
		if (node->egress[p] && node->ports[p]->config.rate_of_node)
			return node->egress[p];
	}
	if (config->rate_pps)
		return hs_egress_create_by_packet(config->rate_pps, config->queue_packets);
	return config->rate_bps ? hs_egress_create(config->rate_bps, config->queue_packets) : NULL;
}

int hs_node_add_egress(struct hs_node *node, const struct hs_port *port)
{
	const struct hs_port_config *config = &port->config;
	struct hs_egress *egress = find_egress(node, port);

	if (!egress && (config->rate_pps || config->rate_bps))
		return -ENOMEM;
	node->egress[port->index] = egress;
	set_shared(node); // of ports before this one, too
	for (unsigned w = 0; egress && w < node->config.n_workers; w++) {
		struct hs_worker *worker = &node->seats[w]->worker;
		worker->egress[port->index] = hs_egress_join(egress);
		worker->has_egress = worker->serves = true;
		if (!worker->egress[port->index])
			return -ENOMEM;
	}
	return 0;
}

void hs_node_serve(struct hs_worker *worker)
{
	if (worker->has_egress)
		hs_egress_send_due(worker);
	if (worker->probe)
		hs_probe_serve(worker);
	if (worker->fragments)
		hs_label_fragments_serve(worker);
	if (!worker->help)
		return;
	// hs_node_is_behind reads the tail. A later read tells how far control's core is only if
	// control wrote the tail since.
	hs_report_look(worker);
	worker->report_reader.tail = hs_report_tail(worker->reports);
	if (hs_node_is_behind(worker))
		hs_flow_add(&worker->reports_helped, worker->help(worker->help_context));
}

int64_t hs_node_worker_due_ns(const struct hs_node *node, unsigned worker)
{
	const struct hs_worker *w = &node->seats[worker]->worker;
	int64_t stepped_ns, next_ns = w->has_egress ? hs_egress_next_ns(w) : INT64_MAX;

	if (w->kept) // the node is paused: no round sends the packets
		return KEPT_NS;
	if (w->probe)
		next_ns = RTE_MIN(next_ns, hs_probe_next_ns(w->probe));
	if (w->fragments)
		next_ns = RTE_MIN(next_ns, hs_label_fragments_next_ns(w->fragments));
	if (next_ns == INT64_MAX)
		return INT64_MAX;
	int64_t now_ns = hs_clock_read(node->clock, &stepped_ns);
	return RTE_MAX(next_ns - (now_ns - stepped_ns), 0);
}

void hs_node_drop_queued(struct hs_node *node)
{
	for (unsigned w = 0; w < node->config.n_workers; w++) {
		if (node->seats[w] && node->seats[w]->worker.has_egress)
			hs_egress_drop_all(&node->seats[w]->worker);
		if (node->seats[w] && node->seats[w]->worker.fragments)
			hs_label_fragments_drop_all(&node->seats[w]->worker);
	}
}

uint32_t hs_node_depth_max(const struct hs_node *node, uint16_t port)
{
	uint32_t max = 0;

	for (unsigned w = 0; node->egress[port] && w < node->config.n_workers; w++) {
		const struct hs_egress_worker *own = node->seats[w]->worker.egress[port];
		max = RTE_MAX(max, __atomic_load_n(&own->depth_max, __ATOMIC_RELAXED));
	}
	return max;
}

void hs_node_free_egress(struct hs_node *node)
{
	hs_node_drop_queued(node);
	for (uint16_t p = 0; p < node->n_ports; p++) {
		for (unsigned w = 0; w < node->config.n_workers; w++) {
			if (node->seats[w])
				rte_free(node->seats[w]->worker.egress[p]);
		}
		for (uint16_t q = p + 1; q < node->n_ports; q++) {
			if (node->egress[q] == node->egress[p])
				node->egress[q] = NULL;
		}
		hs_egress_destroy(node->egress[p]);
	}
}

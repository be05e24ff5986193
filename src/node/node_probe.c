// SPDX-License-Identifier: BSD-3-Clause
// The state that workers need for probes.
#include "node.h"
#include "node_parts.h"

#include "probe_state.h"
#include "probe_steps.h"

#include <errno.h>

#include <rte_malloc.h>

#define SECOND_NS INT64_C(1000000000)

static bool has_probes(const struct hs_node *node, uint16_t port)
{
	return node->ports[port]->side == HS_SIDE_NETWORK &&
	       node->seats[0]->worker.profiles[port].family == &hs_probe_steps;
}

static int make_worker(struct hs_node *node, struct hs_worker *worker)
{
	uint32_t n = node->probes->profile->held;
	struct hs_probe_worker *own = rte_zmalloc("probes", sizeof(*own), RTE_CACHE_LINE_SIZE);

	if (!own)
		return -ENOMEM;
	worker->probe = own;
	worker->serves = true;
	own->node = node->probes;
	own->keys = rte_zmalloc("probe keys", n * sizeof(*own->keys), RTE_CACHE_LINE_SIZE);
	own->held = rte_zmalloc("probes held", n * sizeof(*own->held), RTE_CACHE_LINE_SIZE);
	return own->keys && own->held ? 0 : -ENOMEM;
}

static int make(struct hs_node *node, const struct hs_probe_profile *profile)
{
	struct hs_probe_node *probes = rte_zmalloc("probes", sizeof(*probes), RTE_CACHE_LINE_SIZE);
	int rc = 0;

	if (!probes)
		return -ENOMEM;
	node->probes = probes;
	probes->profile = profile;
	for (unsigned number = 0; number <= HS_PROBE_MAX_PORT; number++)
		probes->ports[number] = HS_PROBE_NO_PORT;
	for (unsigned w = 0; !rc && w < node->config.n_workers; w++) {
		probes->workers[w] = &node->seats[w]->worker;
		rc = make_worker(node, &node->seats[w]->worker);
	}
	probes->n_workers = node->config.n_workers;
	return rc;
}

// Registers a port. A worker that polls some of a port's queues has a share of the port's rate.
static void set_port(struct hs_node *node, const struct hs_port *port)
{
	struct hs_probe_node *probes = node->probes;
	uint32_t number = hs_port_id(port);
	int64_t n_sharing = RTE_MIN((unsigned)port->rx_queues, node->config.n_workers);

	if (number <= HS_PROBE_MAX_PORT)
		probes->ports[number] = port->index;
	for (unsigned w = 0; w < node->config.n_workers; w++)
		node->seats[w]->worker.probe->interval_ns[port->index] =
				SECOND_NS * n_sharing / probes->profile->rate_pps;
}

int hs_node_set_probes(struct hs_node *node)
{
	for (uint16_t p = 0; p < node->n_ports; p++) {
		if (!has_probes(node, p))
			continue;
		if (!node->probes && make(node, node->seats[0]->worker.profiles[p].settings) < 0)
			return -ENOMEM;
		set_port(node, node->ports[p]);
	}
	return 0;
}

void hs_node_free_probes(struct hs_node *node)
{
	for (unsigned w = 0; w < node->config.n_workers; w++) {
		struct hs_probe_worker *own = node->seats[w] ? node->seats[w]->worker.probe : NULL;
		if (!own)
			continue;
		if (own->keys && own->held)
			hs_probe_free_held(own);
		rte_free(own->keys);
		rte_free(own->held);
		rte_free(own);
	}
	rte_free(node->probes);
}

const struct hs_probe_profile *hs_node_probe_profile(const struct hs_node *node)
{
	return node->probes ? node->probes->profile : NULL;
}

uint32_t hs_node_probes_held(const struct hs_node *node)
{
	uint32_t n = 0;

	for (unsigned w = 0; node->probes && w < node->config.n_workers; w++) {
		struct hs_probe_worker *own = node->seats[w]->worker.probe;
		for (uint32_t at = 0; at < node->probes->profile->held; at++) {
			uint32_t key = atomic_load_explicit(&own->keys[at], memory_order_relaxed);
			n += key && !(key & HS_PROBE_CONFIRMED);
		}
	}
	return n;
}

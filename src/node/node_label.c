// SPDX-License-Identifier: BSD-3-Clause
// What workers share of ports that label.
#include "node_parts.h"

#include "label_steps.h"

#include <errno.h>

#include <rte_malloc.h>

// The items of host ports need a receiver. The node's own datagrams are not labelled: a host port
// that sends them would seem busy and not seen.
static bool does_host_port(const struct hs_node_config *config, uint16_t port)
{
	bool taken = false;

	for (unsigned i = 0; i < config->n_exports; i++) {
		if (config->exports[i].port == port)
			return false;
		taken |= config->exports[i].format == HS_EXPORT_LABEL;
	}
	return taken;
}

static bool does_label(const struct hs_node *node, uint16_t port)
{
	return node->seats[0]->worker.profiles[port].family == &hs_label_steps &&
	       (node->ports[port]->side == HS_SIDE_NETWORK || does_host_port(&node->config, port));
}

static int make(struct hs_node *node)
{
	node->labels = rte_malloc("labels", HS_MAX_PORTS * sizeof(*node->labels),
			alignof(struct hs_label_port));
	for (unsigned p = 0; node->labels && p < HS_MAX_PORTS; p++)
		hs_label_port_init(&node->labels[p]);
	return node->labels ? 0 : -ENOMEM;
}

int hs_node_set_labels(struct hs_node *node)
{
	for (uint16_t p = 0; p < node->n_ports; p++) {
		bool labels = does_label(
				node, p); // of a host port, as long as no other port differs
		if (labels && !node->labels && make(node) < 0)
			return -ENOMEM;
		for (unsigned w = 0; w < node->config.n_workers; w++)
			node->seats[w]->worker.labels[p] = labels ? &node->labels[p] : NULL;
	}
	return 0;
}

struct hs_label_port *hs_node_label(const struct hs_node *node, uint16_t port)
{
	return node->seats[0]->worker.labels[port];
}

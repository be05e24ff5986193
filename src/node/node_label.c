// SPDX-License-Identifier: BSD-3-Clause
// The state that workers share of ports that label, and the memory that they need where items end.
#include "node.h"
#include "node_parts.h"

#include "label_fragments.h"
#include "label_steps.h"

#include <errno.h>

#include <rte_malloc.h>

static bool has_labels(const struct hs_node *node, uint16_t port)
{
	return node->seats[0]->worker.profiles[port].family == &hs_label_steps;
}

// Returns whether a host port labels. Its items need a receiver. A port that sends the node's own
// datagrams does not label: these are never labelled, so that the port would seem busy without
// labels.
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
	return has_labels(node, port) &&
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

// ---- where items end ----

// Returns whether items end here: at a port to a host, at a port of another family, or by flooding.
static bool ends_labels(const struct hs_node *node)
{
	bool some = false, ends = node->config.forwarding == HS_FORWARD_BRIDGE;

	for (uint16_t p = 0; p < node->n_ports; p++) {
		some |= has_labels(node, p);
		ends |= !has_labels(node, p) || node->ports[p]->side == HS_SIDE_HOST;
	}
	return some && ends;
}

static int make_fragments(struct hs_node *node)
{
	for (unsigned w = 0; w < node->config.n_workers; w++) {
		struct hs_worker *worker = &node->seats[w]->worker;
		if (!worker->fragments)
			worker->fragments = hs_label_fragments_create();
		if (!worker->fragments)
			return -ENOMEM;
	}
	return 0;
}

void hs_node_free_labels(struct hs_node *node)
{
	for (unsigned w = 0; w < node->config.n_workers; w++) {
		if (node->seats[w])
			hs_label_fragments_destroy(node->seats[w]->worker.fragments);
	}
	rte_free(node->labels);
}

uint64_t hs_node_label_bytes(const struct hs_node_config *config)
{
	bool some = config->family == &hs_label_steps;

	for (unsigned p = 0; p < HS_MAX_PORTS; p++)
		some |= config->profiles[p].family == &hs_label_steps;
	return some ? config->n_workers * hs_label_fragments_bytes() : 0;
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
	return ends_labels(node) ? make_fragments(node) : 0;
}

struct hs_label_port *hs_node_label(const struct hs_node *node, uint16_t port)
{
	return node->seats[0]->worker.labels[port];
}

// SPDX-License-Identifier: BSD-3-Clause
// Paths with the fewest hops from every node to every host, over the links that are up.
#include "lab_parts.h"

#include "fib.h"
#include "rng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- paths ----

// The paths of a bridge do not change. Packets into a link that is down are lost.
static bool is_up(const struct hs_lab *lab, const struct hs_link *link)
{
	return lab->scenario->forwarding == HS_LAB_BRIDGE || !hs_link_config(link)->down;
}

// Of several ports at the same distance, the one with the highest draw is used. If a link fails,
// only the destinations that used it move.
static uint8_t nearest_port(const struct lab_node *node, uint32_t destination, const uint32_t *hops)
{
	uint64_t best_draw = 0;
	uint8_t best = LAB_FAR;

	for (uint8_t p = 0; p < node->n_ports; p++) {
		const struct lab_port *port = &node->ports[p];
		if (!port->out || !is_up(node->lab, port->out) ||
				hops[port->peer->node->index] != hops[node->index] - 1)
			continue;
		struct hs_rng rng;
		hs_rng_init(&rng, node->lab->scenario->seed + ((uint64_t)node->index << 40) +
						  ((uint64_t)destination << 16) + p);
		uint64_t draw = hs_rng_u64(&rng);
		if (best == LAB_FAR || draw > best_draw) {
			best = p;
			best_draw = draw;
		}
	}
	return best;
}

static int find_routes(struct hs_lab *lab, uint8_t *next)
{
	const struct hs_scenario *s = lab->scenario;
	uint32_t *hops = malloc((s->n_nodes + 1) * sizeof(*hops));
	bool *up = malloc(2 * s->n_links + 1);
	int rc = hops && up ? 0 : -ENOMEM;

	for (size_t arc = 0; rc == 0 && arc < 2 * s->n_links; arc++)
		up[arc] = is_up(lab, lab->links[arc / 2][arc % 2]);
	for (uint32_t to = 0; rc == 0 && to < s->n_nodes; to++) {
		uint8_t *first_ports = &next[to * s->n_nodes];
		if (s->nodes[to].n_hosts == 0)
			continue; // nothing goes there
		memset(first_ports, LAB_FAR, s->n_nodes);
		hs_scenario_distances(s, up, to, hops);
		for (uint32_t node = 0; node < s->n_nodes; node++)
			if (node != to && hops[node] != HS_FAR)
				first_ports[node] = nearest_port(&lab->nodes[node], to, hops);
	}
	free(hops);
	free(up);
	return rc;
}

int lab_routes_make(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;

	if (s->forwarding == HS_LAB_PATCH)
		return 0;
	lab->next_ports = malloc(s->n_nodes * s->n_nodes);
	return lab->next_ports ? find_routes(lab, lab->next_ports) : -ENOMEM;
}

// ---- into the nodes ----

uint8_t lab_port_to(const struct lab_node *node, uint32_t host, const uint8_t *next)
{
	const struct hs_scenario *s = node->lab->scenario;

	if (s->hosts[host].at == node->index)
		return (uint8_t)(node->lab->host_ports[host] - node->ports);
	return next[s->hosts[host].at * s->n_nodes + node->index];
}

static struct hs_fib_change route_to(const struct lab_node *node, uint32_t host, uint8_t port)
{
	struct hs_fib_change change = {
			.remove = port == LAB_FAR,
			.route = {.depth = 128, .port = port},
	};

	memcpy(change.route.prefix, node->lab->scenario->hosts[host].addr, 16);
	if (!change.remove && node->ports[port].out)
		lab_port_mac(node->ports[port].peer, change.route.next_hop_mac);
	else
		lab_host_mac(host, change.route.next_hop_mac);
	return change;
}

// Installs the routes that differ. before NULL: the node has none.
static int change_node(struct lab_node *node, const uint8_t *before, const uint8_t *next,
		struct hs_error *err)
{
	uint32_t n_hosts = (uint32_t)node->lab->scenario->n_hosts;
	struct hs_fib_change *changes = malloc(n_hosts * sizeof(*changes));
	size_t n = 0;

	if (!changes)
		return -ENOMEM;
	for (uint32_t h = 0; h < n_hosts; h++) {
		uint8_t port = lab_port_to(node, h, next);
		if (port != (before ? lab_port_to(node, h, before) : LAB_FAR))
			changes[n++] = route_to(node, h, port);
	}
	int rc = n && node->node ? hs_fib_change(hs_node_fib(node->node), changes, n, err) : 0;
	if (rc < 0)
		hs_error_prefix(err, node->scenario->name);
	free(changes);
	return rc;
}

int lab_routes_install(struct lab_node *node, struct hs_error *err)
{
	return change_node(node, NULL, node->lab->next_ports, err);
}

void lab_reroute(struct hs_lab *lab, const struct hs_lab_event *event)
{
	(void)event;
	const struct hs_scenario *s = lab->scenario;
	uint8_t *before = lab->next_ports, *next = malloc(s->n_nodes * s->n_nodes);
	struct hs_error err = {0};
	int rc = next ? find_routes(lab, next) : -ENOMEM;

	for (uint32_t i = 0; rc == 0 && i < s->n_nodes; i++)
		rc = change_node(&lab->nodes[i], before, next, &err);
	if (rc < 0)
		lab_fail_as(lab, rc, &err);
	lab->next_ports = rc < 0 ? before : next;
	free(rc < 0 ? next : before);
}

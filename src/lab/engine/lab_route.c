// SPDX-License-Identifier: BSD-3-Clause
// Paths with the fewest hops from every node to every other, over the links that are up.
#include "lab_parts.h"

#include "fib.h"
#include "rng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// ---- ways ----

static bool is_up(const struct hs_link *link)
{
	return !hs_link_config(link)->down;
}

// Of several ports at the same distance, the one with the highest draw is used. If a link fails,
// only the destinations that used it move.
static uint8_t nearest_port(const struct lab_node *node, uint32_t destination, const uint32_t *hops)
{
	uint64_t best_draw = 0;
	uint8_t best = LAB_FAR;

	for (uint8_t p = 0; p < node->n_ports; p++) {
		const struct lab_port *port = &node->ports[p];
		if (!port->out || !is_up(port->out) ||
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
		up[arc] = is_up(lab->links[arc / 2][arc % 2]);
	for (uint32_t to = 0; rc == 0 && to < s->n_nodes; to++) {
		uint8_t *first_ports = &next[to * s->n_nodes];
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

// ---- prefixes ----

#define SUBNET_BITS 64

// Returns the depth of the host's route. One route serves a subnet if the whole subnet lies behind
// one node. Returns 0 if the route of an earlier host serves this one.
static uint8_t depth_of(const struct hs_scenario *s, uint32_t host)
{
	const struct hs_scenario_host *own = &s->hosts[host];
	bool divided = false, served = false;

	for (uint32_t h = 0; h < s->n_hosts; h++) {
		if (memcmp(s->hosts[h].addr, own->addr, SUBNET_BITS / 8) == 0) {
			divided |= s->hosts[h].at != own->at;
			served |= h < host;
		}
	}
	if (divided)
		return 128;
	return served ? 0 : SUBNET_BITS;
}

int lab_routes_make(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;

	if (s->forwarding != HS_LAB_SHORTEST_PATH)
		return 0;
	lab->next_ports = malloc(s->n_nodes * s->n_nodes);
	lab->route_depths = malloc(s->n_hosts + 1);
	if (!lab->next_ports || !lab->route_depths)
		return -ENOMEM;
	for (uint32_t h = 0; h < s->n_hosts; h++)
		lab->route_depths[h] = depth_of(s, h);
	return find_routes(lab, lab->next_ports);
}

// ---- into the nodes ----

// Fills in a change of the node's route to a host's subnet, or to the host. LAB_FAR: there is none.
static void change_route(const struct lab_node *node, uint32_t host, uint8_t depth, uint8_t port,
		struct hs_fib_change *change)
{
	*change = (struct hs_fib_change){
			.remove = port == LAB_FAR,
			.route = {.depth = depth, .port = port},
	};
	memcpy(change->route.prefix, node->lab->scenario->hosts[host].addr, depth / 8);
	if (change->remove)
		return;
	if (node->ports[port].out)
		lab_port_mac(node->ports[port].peer, change->route.next_hop_mac);
	else
		lab_host_mac(host, change->route.next_hop_mac);
}

// Installs what differs. before NULL: the node has no routes.
static int change_node(struct lab_node *node, const uint8_t *before, const uint8_t *next,
		struct hs_error *err)
{
	const struct hs_lab *lab = node->lab;
	const struct hs_scenario *s = lab->scenario;
	struct hs_fib_change *changes = calloc(s->n_hosts + HS_MAX_PORTS, sizeof(*changes));
	size_t n = 0;

	if (!changes)
		return -ENOMEM;
	for (uint32_t h = 0; h < s->n_hosts; h++) {
		size_t index = s->hosts[h].at * s->n_nodes + node->index;
		if (lab->route_depths[h] && next[index] != (before ? before[index] : LAB_FAR))
			change_route(node, h, lab->route_depths[h], next[index], &changes[n++]);
	}
	for (uint8_t p = 0; !before && p < node->n_ports; p++) {
		if (!node->ports[p].out)
			change_route(node, node->ports[p].place, 128, p, &changes[n++]);
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

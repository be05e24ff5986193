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
static uint8_t nearest_port(
		struct hs_lab *lab, uint32_t node, uint32_t destination, const uint32_t *hops)
{
	const struct lab_node *at = &lab->nodes[node];
	uint64_t best_draw = 0;
	uint8_t best = LAB_FAR;

	for (uint16_t p = 0; p < at->n_ports; p++) {
		const struct lab_port *port = &lab->ports[at->first_port + p];
		if (!port->out || !is_up(port->out) ||
				hops[lab->ports[port->peer].node] != hops[node] - 1)
			continue;
		struct hs_rng rng;
		hs_rng_init(&rng, lab->scenario->seed + ((uint64_t)node << 40) +
						  ((uint64_t)destination << 16) + p);
		uint64_t draw = hs_rng_u64(&rng);
		if (best == LAB_FAR || draw > best_draw) {
			best = (uint8_t)p;
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
				first_ports[node] = nearest_port(lab, node, to, hops);
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
	struct lab_routes *routes = &lab->routes;

	if (s->forwarding != HS_LAB_SHORTEST_PATH)
		return 0;
	routes->next = malloc(s->n_nodes * s->n_nodes + 1);
	routes->depths = malloc(s->n_hosts + 1);
	if (!routes->next || !routes->depths)
		return -ENOMEM;
	for (uint32_t h = 0; h < s->n_hosts; h++)
		routes->depths[h] = depth_of(s, h);
	return find_routes(lab, routes->next);
}

void lab_routes_free(struct lab_routes *routes)
{
	free(routes->next);
	free(routes->depths);
	*routes = (struct lab_routes){0};
}

// ---- into the nodes ----

static struct hs_fib_change route_to(
		const struct hs_lab *lab, uint32_t host, uint8_t depth, uint16_t port)
{
	struct hs_fib_change change = {
			.remove = port == LAB_FAR,
			.route = {.depth = depth, .port = port},
	};

	memcpy(change.route.prefix, lab->scenario->hosts[host].addr, depth / 8);
	return change;
}

// Adds what differs in the node's way to a host's subnet. before NULL: the node has no routes.
static size_t change_one_route(const struct hs_lab *lab, uint32_t node, uint32_t host,
		const uint8_t *before, const uint8_t *next, struct hs_fib_change *change)
{
	size_t index = lab->scenario->hosts[host].at * lab->scenario->n_nodes + node;
	const struct lab_port *ports = &lab->ports[lab->nodes[node].first_port];
	uint8_t depth = lab->routes.depths[host];

	if (!depth || next[index] == (before ? before[index] : LAB_FAR))
		return 0;
	*change = route_to(lab, host, depth, next[index]);
	if (!change->remove)
		lab_port_mac(lab, ports[next[index]].peer, change->route.next_hop_mac);
	return 1;
}

static int change_node(struct hs_lab *lab, uint32_t node, const uint8_t *before,
		const uint8_t *next, struct hs_error *err)
{
	const struct hs_scenario *s = lab->scenario;
	const struct lab_node *at = &lab->nodes[node];
	struct hs_fib_change *changes = calloc(s->n_hosts + HS_MAX_PORTS, sizeof(*changes));
	size_t n = 0;

	if (!changes)
		return -ENOMEM;
	for (uint32_t h = 0; h < s->n_hosts; h++)
		n += change_one_route(lab, node, h, before, next, &changes[n]);
	for (uint16_t p = 0; !before && p < at->n_ports; p++) {
		const struct lab_port *port = &lab->ports[at->first_port + p];
		if (port->out)
			continue;
		changes[n] = route_to(lab, port->host, 128, port->index);
		lab_host_mac(port->host, changes[n++].route.next_hop_mac);
	}
	int rc = n && at->node ? hs_fib_change(hs_node_fib(at->node), changes, n, err) : 0;
	if (rc < 0)
		hs_error_prefix(err, s->nodes[node].name);
	free(changes);
	return rc;
}

int lab_routes_install(struct hs_lab *lab, uint32_t node, struct hs_error *err)
{
	return change_node(lab, node, NULL, lab->routes.next, err);
}

void lab_reroute(struct hs_lab *lab, const struct hs_lab_event *event)
{
	(void)event;
	const struct hs_scenario *s = lab->scenario;
	uint8_t *next = malloc(s->n_nodes * s->n_nodes + 1);
	struct hs_error err = {0};
	int rc = next ? find_routes(lab, next) : -ENOMEM;

	for (uint32_t i = 0; rc == 0 && i < s->n_nodes; i++)
		rc = change_node(lab, i, lab->routes.next, next, &err);
	if (rc < 0) {
		lab_fail(lab, -EINVAL, "routes", err.path, "%s", err.message);
		free(next);
		return;
	}
	free(lab->routes.next);
	lab->routes.next = next;
}

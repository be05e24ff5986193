// SPDX-License-Identifier: BSD-3-Clause
// Paths with the fewest hops from every node to every other, over the links that are up.
#include "lab_parts.h"

#include "fib.h"
#include "rng.h"
#include "scenario_graph.h"

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

static int find_ways(struct hs_lab *lab, uint8_t *next)
{
	const struct hs_scenario *s = lab->scenario;
	uint32_t *hops = malloc((s->n_nodes + 1) * sizeof(*hops));
	struct hs_graph *graph = NULL;
	int rc = hops ? hs_graph_create(s, &graph) : -ENOMEM;

	for (uint32_t link = 0; rc == 0 && link < s->n_links; link++)
		for (unsigned way = 0; way < 2; way++)
			hs_graph_set_up(graph, link, way, is_up(lab->links[link][way]));
	for (uint32_t to = 0; rc == 0 && to < s->n_nodes; to++) {
		uint8_t *ways = &next[to * s->n_nodes];
		memset(ways, LAB_FAR, s->n_nodes);
		hs_graph_distances(graph, to, hops);
		for (uint32_t node = 0; node < s->n_nodes; node++)
			if (node != to && hops[node] != HS_GRAPH_FAR)
				ways[node] = nearest_port(lab, node, to, hops);
	}
	hs_graph_destroy(graph);
	free(hops);
	return rc;
}

// ---- prefixes ----

#define SHARED_BITS 64

static bool same_subnet(const struct hs_scenario_host *a, const struct hs_scenario_host *b)
{
	return memcmp(a->addr, b->addr, SHARED_BITS / 8) == 0;
}

// Adds one route for a subnet if the whole subnet lies behind one node, otherwise one for each
// host.
static void add_prefix(struct hs_lab *lab, uint32_t host)
{
	const struct hs_scenario *s = lab->scenario;
	const struct hs_scenario_host *own = &s->hosts[host];
	bool divided = false, added = false;

	for (uint32_t h = 0; h < s->n_hosts; h++) {
		if (same_subnet(&s->hosts[h], own)) {
			divided |= s->hosts[h].at != own->at;
			added |= h < host;
		}
	}
	if (added && !divided)
		return;
	struct lab_prefix *prefix = &lab->routes.prefixes[lab->routes.n_prefixes++];
	prefix->node = own->at;
	prefix->depth = divided ? 128 : SHARED_BITS;
	memcpy(prefix->addr, own->addr, prefix->depth / 8);
}

int lab_routes_make(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;
	struct lab_routes *routes = &lab->routes;

	if (s->forwarding != HS_LAB_SHORTEST_PATH)
		return 0;
	routes->next = malloc(s->n_nodes * s->n_nodes + 1);
	routes->prefixes = calloc(s->n_hosts + 1, sizeof(*routes->prefixes));
	if (!routes->next || !routes->prefixes)
		return -ENOMEM;
	for (uint32_t h = 0; h < s->n_hosts; h++)
		add_prefix(lab, h);
	return find_ways(lab, routes->next);
}

void lab_routes_free(struct lab_routes *routes)
{
	free(routes->next);
	free(routes->prefixes);
	*routes = (struct lab_routes){0};
}

// ---- into the nodes ----

static struct hs_fib_change to_prefix(const struct hs_lab *lab, const struct lab_prefix *prefix,
		uint32_t node, uint8_t port)
{
	struct hs_fib_change change = {
			.remove = port == LAB_FAR,
			.route = {.depth = prefix->depth, .port = port},
	};

	memcpy(change.route.prefix, prefix->addr, sizeof(prefix->addr));
	if (!change.remove) {
		const struct lab_port *out = &lab->ports[lab->nodes[node].first_port + port];
		lab_port_mac(lab, out->peer, change.route.next_hop_mac);
	}
	return change;
}

static struct hs_fib_change to_host(const struct hs_lab *lab, const struct lab_port *port)
{
	struct hs_fib_change change = {.route = {.depth = 128, .port = port->index}};

	memcpy(change.route.prefix, lab->scenario->hosts[port->host].addr, 16);
	lab_host_mac(port->host, change.route.next_hop_mac);
	return change;
}

// Installs the node's part of `next` where it differs from `before`; NULL: all of it.
static int change_node(struct hs_lab *lab, uint32_t node, const uint8_t *before,
		const uint8_t *next, struct hs_error *err)
{
	const struct lab_node *at = &lab->nodes[node];
	struct hs_fib_change *changes =
			calloc(lab->routes.n_prefixes + HS_MAX_PORTS, sizeof(*changes));
	size_t n = 0;

	if (!changes)
		return -ENOMEM;
	for (uint32_t i = 0; i < lab->routes.n_prefixes; i++) {
		const struct lab_prefix *prefix = &lab->routes.prefixes[i];
		size_t way = prefix->node * lab->scenario->n_nodes + node;
		if (next[way] != (before ? before[way] : LAB_FAR))
			changes[n++] = to_prefix(lab, prefix, node, next[way]);
	}
	for (uint16_t p = 0; !before && p < at->n_ports; p++) {
		const struct lab_port *port = &lab->ports[at->first_port + p];
		if (!port->out)
			changes[n++] = to_host(lab, port);
	}
	int rc = n && at->node ? hs_fib_change(hs_node_fib(at->node), changes, n, err) : 0;
	if (rc < 0)
		hs_error_prefix(err, lab->scenario->nodes[node].name);
	free(changes);
	return rc;
}

int lab_routes_install(struct hs_lab *lab, uint32_t node, struct hs_error *err)
{
	return change_node(lab, node, NULL, lab->routes.next, err);
}

void lab_reroute(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;
	uint8_t *next = malloc(s->n_nodes * s->n_nodes + 1);
	struct hs_error err = {0};
	int rc = next ? find_ways(lab, next) : -ENOMEM;

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

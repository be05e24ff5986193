// SPDX-License-Identifier: BSD-3-Clause
// Paths with the fewest hops from every node to every host, over the links that are up. The
// scenario's routes choose among them.
#include "lab_parts.h"

#include "fdb.h"
#include "fib.h"
#include "rng.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Returns whether paths may use this direction of a link. The paths of a bridge do not change:
// packets into a link that is down are lost.
static bool is_up(const void *context, uint32_t arc)
{
	const struct hs_lab *lab = context;

	return lab->scenario->forwarding == HS_LAB_BRIDGE ||
	       !hs_link_config(lab->links[arc / 2][arc % 2])->down;
}

// Returns whether the port leads along a shortest way.
static bool is_near(const struct lab_port *port, const uint32_t *hops)
{
	const struct lab_node *node = port->node;

	return port->out && is_up(node->lab, lab_place_of(port)) &&
	       hops[port->peer->node->index] == hops[node->index] - 1;
}

// Returns the port of a shortest way. Of several ports at the same distance, the port with the
// highest random number is used. If a link fails, only the destinations that used the link move.
static uint8_t nearest_port(const struct lab_node *node, uint32_t destination, const uint32_t *hops)
{
	uint64_t best_draw = 0;
	uint8_t best = LAB_FAR;

	for (uint8_t p = 0; p < node->n_ports; p++) {
		if (!is_near(&node->ports[p], hops))
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

static uint8_t port_via(const struct lab_node *node, uint32_t via, const uint32_t *hops)
{
	for (uint8_t p = 0; p < node->n_ports; p++)
		if (is_near(&node->ports[p], hops) && node->ports[p].peer->node->index == via)
			return p;
	return LAB_FAR;
}

// Finds the ports of the scenario's routes to hosts at this node.
static void find_given(struct hs_lab *lab, uint32_t to, const uint32_t *hops)
{
	const struct hs_scenario *s = lab->scenario;

	for (size_t r = 0; r < s->n_routes; r++)
		if (s->hosts[s->routes[r].to].at == to)
			lab->route_ports[r] = port_via(
					&lab->nodes[s->routes[r].node], s->routes[r].via, hops);
}

int lab_find_routes(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;
	uint32_t *hops = malloc((s->n_nodes + 1) * sizeof(*hops));

	if (!hops)
		return -ENOMEM;
	for (uint32_t to = 0; to < s->n_nodes; to++) {
		uint8_t *first_ports = &lab->next_ports[to * s->n_nodes];
		if (s->nodes[to].n_hosts == 0)
			continue; // nothing goes there
		memset(first_ports, LAB_FAR, s->n_nodes);
		hs_scenario_distances(s, is_up, lab, to, hops);
		for (uint32_t node = 0; node < s->n_nodes; node++)
			if (node != to && hops[node] != HS_FAR)
				first_ports[node] = nearest_port(&lab->nodes[node], to, hops);
		find_given(lab, to, hops);
	}
	free(hops);
	return 0;
}

uint8_t lab_port_to(const struct lab_node *node, uint32_t host)
{
	const struct hs_lab *lab = node->lab;
	uint32_t at = lab->scenario->hosts[host].at;

	if (at == node->index)
		return (uint8_t)(lab->host_ports[host] - node->ports);
	for (size_t r = 0; r < lab->scenario->n_routes; r++) {
		const struct hs_scenario_route *route = &lab->scenario->routes[r];
		if (route->node == node->index && route->to == host &&
				lab->route_ports[r] != LAB_FAR)
			return lab->route_ports[r];
	}
	return lab->next_ports[at * lab->scenario->n_nodes + node->index];
}

void lab_teach_bridge(struct lab_node *node)
{
	struct hs_fdb *fdb = hs_node_fdb(node->node);

	for (uint32_t h = 0; h < node->lab->scenario->n_hosts; h++) {
		uint8_t mac[6], port = lab_port_to(node, h);
		lab_host_mac(h, mac);
		if (port != LAB_FAR)
			hs_fdb_learn(fdb, mac, port, hs_fdb_seconds(lab_shown_ns(node)));
	}
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

// Sets the routes to all hosts. The node has no other routes, because the requests of a scenario
// cannot change routes.
int lab_set_routes(struct lab_node *node, struct hs_error *err)
{
	const struct hs_scenario *s = node->lab->scenario;
	struct hs_fib *fib = hs_node_fib(node->node);
	struct hs_fib_change *changes = malloc(s->n_hosts * sizeof(*changes));
	struct hs_route now;
	size_t n = 0;

	if (!changes)
		return -ENOMEM;
	for (uint32_t h = 0; h < s->n_hosts; h++) {
		bool is_set = hs_fib_find(fib, s->hosts[h].addr, 128, &now);
		uint8_t port = lab_port_to(node, h);
		if (port != (is_set ? now.port : LAB_FAR))
			changes[n++] = route_to(node, h, port);
	}
	int rc = n ? hs_fib_change(fib, changes, n, err) : 0;
	if (rc < 0)
		hs_error_prefix(err, node->scenario->name);
	free(changes);
	return rc;
}

void lab_reroute(struct hs_lab *lab, const struct hs_lab_event *event)
{
	struct hs_error err = {0};
	int rc = lab_find_routes(lab);

	(void)event;
	for (uint32_t i = 0; rc == 0 && i < lab->scenario->n_nodes; i++) {
		if (lab->nodes[i].node)
			rc = lab_set_routes(&lab->nodes[i], &err);
	}
	if (rc < 0)
		lab_fail_as(lab, rc, &err);
}

// SPDX-License-Identifier: BSD-3-Clause
// The network: nodes with their ports, the links between them, the hosts, and their traffic.
#include "lab_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- addresses ----

static void make_mac(uint8_t mac[6], uint8_t kind, uint16_t high, uint16_t low)
{
	const uint8_t made[6] = {2, kind, (uint8_t)(high >> 8), (uint8_t)high, (uint8_t)(low >> 8),
			(uint8_t)low};

	memcpy(mac, made, sizeof(made));
}

void lab_port_mac(const struct hs_lab *lab, uint32_t port, uint8_t mac[6])
{
	make_mac(mac, 0, (uint16_t)lab->ports[port].node, lab->ports[port].index);
}

void lab_host_mac(uint32_t host, uint8_t mac[6])
{
	make_mac(mac, 1, (uint16_t)(host >> 16), (uint16_t)host);
}

// ---- ports ----

static struct lab_port *next_port(struct hs_lab *lab, uint32_t node)
{
	struct lab_node *at = &lab->nodes[node];
	struct lab_port *port = &lab->ports[at->first_port + at->n_ports];

	*port = (struct lab_port){
			.lab = lab,
			.node = node,
			.link = HS_NO_INDEX,
			.peer = HS_NO_INDEX,
			.host = HS_NO_INDEX,
			.index = at->n_ports++,
	};
	return port;
}

static void place_link(struct hs_lab *lab, uint32_t link)
{
	const struct hs_scenario_link *l = &lab->scenario->links[link];
	struct lab_port *ends[2] = {next_port(lab, l->from), next_port(lab, l->to)};

	for (unsigned direction = 0; direction < 2; direction++) {
		ends[direction]->link = link;
		ends[direction]->direction = (uint8_t)direction;
		ends[direction]->out = lab->links[link][direction];
		ends[direction]->peer = (uint32_t)(ends[!direction] - lab->ports);
	}
}

// The ports of a node are its links in their order, then its hosts in theirs.
static int place_ports(struct hs_lab *lab, struct hs_error *err)
{
	const struct hs_scenario *s = lab->scenario;
	uint32_t first = 0;

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		uint32_t n = 0;
		for (uint32_t l = 0; l < s->n_links; l++)
			n += (s->links[l].from == i) + (s->links[l].to == i);
		for (uint32_t h = 0; h < s->n_hosts; h++)
			n += s->hosts[h].at == i;
		if (n > HS_MAX_PORTS)
			return hs_error_set(err, "out_of_range", "nodes", "at most 32 ports",
					"node \"%s\" has %u links and hosts", s->nodes[i].name, n);
		lab->nodes[i].first_port = first;
		first += n;
	}
	for (uint32_t l = 0; l < s->n_links; l++)
		place_link(lab, l);
	for (uint32_t h = 0; h < s->n_hosts; h++) {
		struct lab_port *port = next_port(lab, s->hosts[h].at);
		port->host = h;
		lab->host_ports[h] = (uint32_t)(port - lab->ports);
	}
	return 0;
}

static void port_config(const struct hs_lab *lab, const struct lab_port *port,
		struct hs_port_config *config)
{
	const struct hs_scenario *s = lab->scenario;
	bool host = port->host != HS_NO_INDEX;
	const char *name = host ? s->hosts[port->host].name
				: s->nodes[lab->ports[port->peer].node].name;

	*config = (struct hs_port_config){
			.kind = HS_PORT_CUSTOM,
			.side = host ? HS_SIDE_HOST : HS_SIDE_NETWORK,
			.mtu = s->mtu,
			.rx_queues = 1,
	};
	snprintf(config->name, sizeof(config->name), "%s", name);
}

static int open_ports(struct hs_lab *lab, struct lab_node *node)
{
	for (uint16_t i = 0; i < node->n_ports; i++) {
		struct lab_port *port = &lab->ports[node->first_port + i];
		struct hs_port_config config;
		port_config(lab, port, &config);
		int rc = hs_port_open_custom(
				lab_port_rx, lab_port_tx, port, &config, i, 1, &port->port);
		if (rc == 0) {
			lab_port_mac(lab, node->first_port + i, port->port->mac);
			rc = hs_node_add_port(node->node, port->port);
		}
		if (rc < 0)
			return rc;
	}
	return 0;
}

// ---- nodes ----

static int make_node(struct hs_lab *lab, uint32_t index, struct hs_error *err)
{
	struct lab_node *node = &lab->nodes[index];
	struct hs_control_config config = {
			.monitored_rules = lab->scenario->rules,
			.in_band = &lab->scenario->in_band,
	};
	memcpy(config.window_ns, lab->scenario->windows_ns, sizeof(config.window_ns));
	struct hs_control_output output = {.context = lab, .publish = lab_publish};
	struct hs_node_config node_config;

	lab_node_config(lab->scenario, index, node->n_ports, &node_config);
	snprintf(config.boot_id, sizeof(config.boot_id), "%016" PRIx64,
			lab_seed(lab->scenario, "boot", ((uint64_t)node->restarts << 32) + index));
	int rc = hs_node_create(&node_config, node->clock, lab->pool, &node->node, err);
	if (rc == 0)
		rc = open_ports(lab, node);
	if (rc == 0)
		rc = hs_control_create(&config, node->node, node->clock, &output,
				lab_shown_ns(node), &node->control);
	return rc;
}

int lab_node_start(struct hs_lab *lab, uint32_t index, struct hs_error *err)
{
	int rc = make_node(lab, index, err);

	if (rc < 0) {
		if (!hs_error_is_set(err))
			hs_error_set(err, "no_memory", "nodes", "fewer, or more memory",
					"node \"%s\" does not fit",
					lab->scenario->nodes[index].name);
		return rc;
	}
	lab->nodes[index].reports_seen = lab->nodes[index].punts_seen = 0;
	if (lab->scenario->forwarding == HS_LAB_SHORTEST_PATH)
		rc = lab_routes_install(lab, index, err);
	return rc == 0 ? lab_install(lab, index, err) : rc;
}

uint64_t lab_node_drops(const struct lab_node *node)
{
	struct hs_port_counters ports[HS_MAX_PORTS];
	uint64_t sum = 0;

	hs_node_snapshot(node->node, ports);
	for (uint16_t p = 0; p < hs_node_port_count(node->node); p++) {
		for (unsigned d = 0; d < HS_DROP_COUNT; d++)
			sum += ports[p].drops[d];
	}
	return sum;
}

void lab_count_node(struct hs_lab *lab, uint32_t index)
{
	struct hs_node_counts *counts = &lab->node_counts[index];
	struct hs_node_totals totals;

	if (!lab->nodes[index].control)
		return;
	hs_control_totals(lab->nodes[index].control, &totals);
#define ADD(X, key) counts->key += totals.key;
	HS_NODE_COUNTS(ADD, )
#undef ADD
}

void lab_node_stop(struct hs_lab *lab, uint32_t index)
{
	struct lab_node *node = &lab->nodes[index];

	if (node->node) {
		lab->run.node_drops += lab_node_drops(node);
		lab_count_node(lab, index);
	}
	hs_control_destroy(node->control);
	hs_node_destroy(node->node);
	for (uint16_t i = 0; i < node->n_ports; i++) {
		struct lab_port *port = &lab->ports[node->first_port + i];
		hs_port_close(port->port);
		port->port = NULL;
	}
	node->control = NULL;
	node->node = NULL;
}

// ---- links and streams ----

static int make_links(struct hs_lab *lab)
{
	for (uint32_t l = 0; l < lab->scenario->n_links; l++) {
		for (unsigned direction = 0; direction < 2; direction++) {
			int rc = hs_link_create(&lab->scenario->links[l].directions[direction],
					lab_seed(lab->scenario, "link", 2 * l + direction),
					&lab->links[l][direction]);
			if (rc < 0)
				return rc;
		}
	}
	return 0;
}

static int make_stream(struct hs_lab *lab, uint32_t traffic, struct hs_error *err)
{
	const struct hs_scenario_traffic *t = &lab->scenario->traffic[traffic];
	const uint32_t hosts[2] = {t->from, t->to};
	struct hs_stream_macs macs;

	for (unsigned end = 0; end < 2; end++) {
		lab_host_mac(hosts[end], macs.own[end]);
		if (lab->scenario->forwarding == HS_LAB_SHORTEST_PATH)
			lab_port_mac(lab, lab->host_ports[hosts[end]], macs.next[end]);
		else
			lab_host_mac(hosts[!end], macs.next[end]);
	}
	return hs_stream_create(lab->scenario, traffic, lab_seed(lab->scenario, "traffic", traffic),
			lab->run.start_ns, &macs, &lab->streams[traffic], err);
}

static void find_flows(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;

	for (uint32_t t = 0; t < s->n_traffic; t++)
		lab->flows[t][0] = lab->flows[t][1] = HS_NO_INDEX;
	for (uint32_t f = (uint32_t)s->n_flows; f-- > 0;) {
		if (s->flows[f].traffic != HS_NO_INDEX)
			lab->flows[s->flows[f].traffic][s->flows[f].reverse] = f;
	}
}

// ---- all of it ----

// Returns zeroed memory that is freed with the network.
static void *array(struct hs_lab *lab, size_t n, size_t bytes)
{
	void *made = calloc(n + 1, bytes); // not 0 bytes, because NULL would look like a failure

	lab->arrays[lab->n_arrays++] = made;
	return made;
}

static int make_arrays(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;

	lab->nodes = array(lab, s->n_nodes, sizeof(*lab->nodes));
	lab->node_counts = array(lab, s->n_nodes, sizeof(*lab->node_counts));
	lab->ports = array(lab, 2 * s->n_links + s->n_hosts, sizeof(*lab->ports));
	lab->host_ports = array(lab, s->n_hosts, sizeof(*lab->host_ports));
	lab->links = array(lab, s->n_links, sizeof(*lab->links));
	lab->link_counters = array(lab, s->n_links, sizeof(*lab->link_counters));
	lab->streams = array(lab, s->n_traffic, sizeof(*lab->streams));
	lab->sent_ns = array(lab, s->n_traffic, sizeof(*lab->sent_ns));
	lab->flows = array(lab, s->n_traffic, sizeof(*lab->flows));
	lab->run.streams = lab->streams;
	lab->run.node_counts = lab->node_counts;
	lab->run.links = (const struct hs_link_counters(*)[2])lab->link_counters;
	for (unsigned i = 0; i < lab->n_arrays; i++) {
		if (!lab->arrays[i])
			return -ENOMEM;
	}
	return 0;
}

int lab_make_net(struct hs_lab *lab, struct hs_error *err)
{
	const struct hs_scenario *s = lab->scenario;

	int rc = make_arrays(lab);

	if (rc == 0)
		rc = make_links(lab);
	if (rc == 0)
		rc = place_ports(lab, err);
	if (rc == 0)
		rc = lab_routes_make(lab);
	for (uint32_t i = 0; rc == 0 && i < s->n_nodes; i++)
		rc = lab_make_clock(lab, i);
	for (uint32_t i = 0; rc == 0 && i < s->n_nodes; i++)
		rc = lab_node_start(lab, i, err);
	for (uint32_t t = 0; rc == 0 && t < s->n_traffic; t++)
		rc = make_stream(lab, t, err);
	if (rc == 0)
		find_flows(lab);
	return rc;
}

void lab_free_net(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;

	for (uint32_t t = 0; lab->streams && t < s->n_traffic; t++)
		hs_stream_destroy(lab->streams[t]);
	for (uint32_t i = 0; lab->nodes && lab->ports && i < s->n_nodes; i++) {
		lab_node_stop(lab, i);
		hs_clock_destroy(lab->nodes[i].clock);
		hs_lab_clock_destroy(lab->nodes[i].model);
	}
	for (uint32_t l = 0; lab->links && l < s->n_links; l++) {
		hs_link_destroy(lab->links[l][0]);
		hs_link_destroy(lab->links[l][1]);
	}
	lab_routes_free(&lab->routes);
	for (unsigned i = 0; i < lab->n_arrays; i++)
		free(lab->arrays[i]);
}

// SPDX-License-Identifier: BSD-3-Clause
// The network: nodes with their ports, the links between them, the hosts, and their traffic.
#include "lab_parts.h"

#include <rte_common.h>

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

void lab_port_mac(const struct lab_port *port, uint8_t mac[6])
{
	make_mac(mac, 0, (uint16_t)port->node->index, (uint16_t)(port - port->node->ports));
}

void lab_host_mac(uint32_t host, uint8_t mac[6])
{
	make_mac(mac, 1, (uint16_t)(host >> 16), (uint16_t)host);
}

// ---- ports ----

static struct lab_port *next_port(struct lab_node *node, uint32_t place)
{
	struct lab_port *port = &node->ports[node->n_ports++];

	port->node = node;
	port->place = place;
	return port;
}

static int place_link(struct hs_lab *lab, uint32_t link)
{
	const struct hs_scenario_link *l = &lab->scenario->links[link];
	struct lab_port *ends[2] = {
			next_port(&lab->nodes[l->from], link), next_port(&lab->nodes[l->to], link)};

	for (unsigned direction = 0; direction < 2; direction++) {
		struct hs_link **made = &lab->links[link][direction];
		struct hs_link_config config = lab_link_config(l, direction);
		ends[direction]->direction = direction;
		int rc = hs_link_create(&config,
				lab_seed(lab->scenario, "link", 2 * link + direction), made);
		if (rc < 0)
			return rc;
		ends[direction]->out = *made;
		ends[direction]->peer = ends[!direction];
	}
	return 0;
}

// Places the ports of each node: its links in their order, then its hosts in their order, then the
// port to the monitoring host.
static int place_ports(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;
	struct lab_port *ports = lab->ports;
	int rc = 0;

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct hs_scenario_node *node = &s->nodes[i];
		lab->nodes[i] = (struct lab_node){
				.lab = lab, .scenario = node, .index = i, .ports = ports};
		ports += node->n_links + node->n_hosts + s->probing.given;
	}
	for (uint32_t l = 0; rc == 0 && l < s->n_links; l++)
		rc = place_link(lab, l);
	for (uint32_t h = 0; h < s->n_hosts; h++)
		lab->host_ports[h] = next_port(&lab->nodes[s->hosts[h].at], h);
	for (uint32_t i = 0; s->probing.given && i < s->n_nodes; i++)
		next_port(&lab->nodes[i], HS_NO_INDEX)->to_monitor = true;
	for (size_t p = 0; rc == 0 && p < lab_ports(s); p++)
		rc = lab_make_queue(&lab->ports[p]);
	return rc;
}

static int open_port(struct lab_port *port)
{
	struct lab_node *node = port->node;
	const struct hs_scenario *s = node->lab->scenario;
	const struct hs_queue_rate rate = lab_queue_rate(port);
	struct hs_port_config config = {
			.kind = HS_PORT_CUSTOM,
			.side = port->out || port->to_monitor ? HS_SIDE_NETWORK : HS_SIDE_HOST,
			.mtu = s->mtu,
			.rx_queues = 1,
			.rate_bps = rate.bps,
			.rate_pps = rate.pps,
			.rate_of_node = node->scenario->rate_of_node,
			.queue_packets = rate.queue_packets,
	};

	snprintf(config.name, sizeof(config.name), "%s",
			port->to_monitor ? "monitor"
			: port->out	 ? port->peer->node->scenario->name
					 : s->hosts[port->place].name);
	int rc = hs_port_open_custom(lab_port_rx, lab_port_tx, port, &config,
			(uint16_t)(port - node->ports), 1, &port->port);
	if (rc < 0)
		return rc;
	lab_port_mac(port, port->port->mac);
	port->received = 0;
	return hs_node_add_port(node->node, port->port);
}

// ---- nodes ----

static int make_node(struct lab_node *node, struct hs_error *err)
{
	struct hs_lab *lab = node->lab;
	struct hs_control_config config = {
			.monitored_rules = lab->scenario->rules,
			.in_band = &lab->scenario->in_band,
	};
	memcpy(config.window_ns, lab->scenario->windows_ns, sizeof(config.window_ns));
	struct hs_control_output output = {.context = lab,
			.publish = lab_publish,
			.send_export = lab->label ? lab_label_send : NULL};
	struct hs_node_config node_config;

	lab_node_config(lab->scenario, node->index, &node_config);
	lab_probe_config(node, &node_config);
	snprintf(config.boot_id, sizeof(config.boot_id), "%016" PRIx64,
			lab_seed(lab->scenario, "boot",
					((uint64_t)node->restarts << 32) + node->index));
	int rc = hs_node_create(&node_config, node->clock, lab->pool, &node->node, err);
	for (uint16_t i = 0; rc == 0 && i < node->n_ports; i++)
		rc = open_port(&node->ports[i]);
	if (rc == 0)
		rc = hs_control_create(&config, node->node, node->clock, &output,
				lab_shown_ns(node), &node->control);
	return rc;
}

int lab_node_start(struct lab_node *node, struct hs_error *err)
{
	int rc = make_node(node, err);

	if (rc < 0 && !hs_error_is_set(err))
		hs_error_set(err, "no_memory", "nodes", "fewer, or more memory",
				"node \"%s\" does not fit", node->scenario->name);
	node->seen = (struct lab_handed){0};
	if (rc == 0 && node->lab->scenario->forwarding == HS_LAB_SHORTEST_PATH)
		rc = lab_set_routes(node, err);
	if (rc == 0 && node->lab->scenario->forwarding == HS_LAB_BRIDGE)
		lab_teach_bridge(node);
	return rc == 0 ? lab_install(node, err) : rc;
}

static uint64_t drops_of(const struct lab_node *node)
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

void lab_node_count(const struct lab_node *node)
{
	struct hs_run *run = &node->lab->run;
	struct hs_node_totals totals;
	uint64_t *sums = (uint64_t *)&run->totals[node->index];
	const uint64_t *words = (const uint64_t *)&totals;

	run->node_drops += drops_of(node);
	hs_control_totals(node->control, &totals);
	for (size_t i = 0; i < sizeof(totals) / sizeof(*words); i++)
		sums[i] += words[i];
}

void lab_node_stop(struct lab_node *node)
{
	hs_control_destroy(node->control);
	hs_node_destroy(node->node);
	for (uint16_t i = 0; i < node->n_ports; i++) {
		hs_port_close(node->ports[i].port);
		node->ports[i].port = NULL;
	}
	node->control = NULL;
	node->node = NULL;
}

// ---- traffic ----

static int make_stream(struct hs_lab *lab, uint32_t traffic, struct hs_error *err)
{
	const struct hs_scenario_traffic *t = &lab->scenario->traffic[traffic];
	const uint32_t hosts[2] = {t->from, t->to};
	struct hs_stream_macs macs;

	for (unsigned end = 0; end < 2; end++) {
		lab_host_mac(hosts[end], macs.own[end]);
		if (lab->scenario->forwarding == HS_LAB_SHORTEST_PATH)
			lab_port_mac(lab->host_ports[hosts[end]], macs.next[end]);
		else
			lab_host_mac(hosts[!end], macs.next[end]);
	}
	return hs_stream_create(lab->scenario, traffic, lab_seed(lab->scenario, "traffic", traffic),
			lab->run.start_ns, &macs, &lab->run.streams[traffic], err);
}

// ---- all of it ----

static bool make_arrays(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;
	struct hs_run *run = &lab->run;

	lab->nodes = calloc(s->n_nodes, sizeof(*lab->nodes));
	lab->ports = calloc(lab_ports(s), sizeof(*lab->ports));
	lab->host_ports = calloc(s->n_hosts, sizeof(*lab->host_ports));
	lab->links = calloc(s->n_links, sizeof(*lab->links));
	lab->next_ports = calloc(s->n_nodes, s->n_nodes);
	lab->route_ports = malloc(s->n_routes + 1);
	run->streams = calloc(s->n_traffic, sizeof(*run->streams));
	run->links = calloc(s->n_links, sizeof(*run->links));
	run->totals = calloc(s->n_nodes, sizeof(*run->totals));
	return lab->nodes && lab->ports && lab->host_ports && lab->links && lab->next_ports &&
	       lab->route_ports && run->streams && run->links && run->totals;
}

int lab_make_net(struct hs_lab *lab, struct hs_error *err)
{
	const struct hs_scenario *s = lab->scenario;
	int rc = make_arrays(lab) ? place_ports(lab) : -ENOMEM;

	if (rc == 0 && s->forwarding != HS_LAB_PATCH)
		rc = lab_find_routes(lab);
	for (uint32_t i = 0; rc == 0 && i < s->n_nodes; i++)
		rc = lab_make_clock(&lab->nodes[i]);
	for (uint32_t i = 0; rc == 0 && i < s->n_nodes; i++)
		rc = lab_node_start(&lab->nodes[i], err);
	for (uint32_t t = 0; rc == 0 && t < s->n_traffic; t++)
		rc = make_stream(lab, t, err);
	return rc;
}

void lab_free_net(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;
	void *arrays[] = {lab->nodes, lab->ports, lab->host_ports, lab->links, lab->next_ports,
			lab->route_ports, lab->run.streams, lab->run.links, lab->run.totals,
			lab->run.queues};

	for (uint32_t t = 0; lab->run.streams && t < s->n_traffic; t++)
		hs_stream_destroy(lab->run.streams[t]);
	// A node without a lab was not placed.
	for (uint32_t i = 0; lab->nodes && i < s->n_nodes && lab->nodes[i].lab; i++) {
		lab_node_stop(&lab->nodes[i]);
		hs_clock_destroy(lab->nodes[i].clock);
	}
	for (size_t p = 0; lab->ports && p < lab_ports(s); p++)
		if (lab->ports[p].queue)
			hs_queue_truth_fini(lab->ports[p].queue);
	for (uint32_t l = 0; lab->links && l < s->n_links; l++) {
		hs_link_destroy(lab->links[l][0]);
		hs_link_destroy(lab->links[l][1]);
	}
	for (unsigned i = 0; i < RTE_DIM(arrays); i++)
		free(arrays[i]);
}

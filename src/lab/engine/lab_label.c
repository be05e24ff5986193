// SPDX-License-Identifier: BSD-3-Clause
// INT-label in the lab: the labels on links, the nodes' datagrams to a controller, the controller
// with its database and Pro, and the changes of S that the controller sends to the nodes.
#include "lab_parts.h"

#include "label_decision.h"
#include "label_pro.h"
#include "label_profile.h"
#include "variate.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define AGE_NS INT64_C(3600000000000)

struct lab_label {
	struct hs_label_truth truth;
	struct hs_label_database *database;
	struct hs_rng rng; // of losses
	// A packet that its node handed to a host while the node was polled; NULL: none. Its truth
	// has the port.
	struct rte_mbuf *handed;
};

struct datagram {
	size_t bytes;
	uint8_t payload[];
};

static const struct hs_scenario_label *config_of(const struct hs_lab *lab)
{
	return &lab->scenario->label;
}

// Returns the profile of a port that labels on a link, or NULL.
static const struct hs_label_profile *profile_of(const struct lab_port *port)
{
	return port->out ? hs_profile_label(lab_profile(port)) : NULL;
}

// ---- links ----

static uint32_t items_of(const struct hs_label_profile *profile, const struct hs_packet *packet)
{
	return packet->flags & HS_PACKET_TELEMETRY
			       ? hs_label_items(&profile->wire, packet->trace_type)
			       : 0;
}

bool lab_label_newest(const struct lab_port *port, const struct hs_packet_truth *packet_truth,
		const struct rte_mbuf *m, const struct hs_packet *packet,
		struct hs_label_item *item)
{
	const struct hs_label_profile *profile = profile_of(port);

	if (!profile || items_of(profile, packet) <= packet_truth->labels)
		return false;
	struct hs_label_stack stack = hs_label_stack_of(
			&profile->wire, rte_pktmbuf_mtod(m, const uint8_t *), packet);
	hs_label_item_read(stack.items, item);
	return true;
}

void lab_label_depart(const struct lab_port *port, struct hs_packet_truth *packet_truth,
		const struct rte_mbuf *m, const struct hs_packet *packet)
{
	struct hs_lab *lab = port->node->lab;
	const struct hs_label_profile *profile = lab->label ? profile_of(port) : NULL;

	if (!profile)
		return;
	uint32_t labels = items_of(profile, packet);
	struct hs_label_counts *counts = &lab->label->truth.counts;
	counts->telemetry_bytes += packet->telemetry_bytes;
	counts->traffic_bytes += rte_pktmbuf_pkt_len(m) - packet->telemetry_bytes;
	hs_label_truth_depart(&lab->label->truth, lab_place_of(port), lab->now_ns,
			packet_truth->came_ns, packet_truth->labels, labels,
			profile->rule.interval_ns);
	packet_truth->labels = (uint8_t)labels;
}

// ---- hosts ----

static void settle(struct hs_lab *lab, const struct hs_packet_truth *of)
{
	const struct lab_port *port = &lab->ports[of->port];
	const struct hs_label_profile *profile = hs_profile_label(lab_profile(port));

	hs_label_truth_depart(&lab->label->truth, lab_place_of(port), lab->now_ns, of->came_ns,
			of->labels, of->labels + of->host_label, profile->rule.interval_ns);
	hs_label_truth_deliver(&lab->label->truth, of->traffic, of->labels + of->host_label);
}

bool lab_label_deliver(const struct lab_port *port, struct rte_mbuf *m)
{
	struct hs_packet_truth *of = rte_mbuf_to_priv(m);
	struct hs_lab *lab = port->node->lab;

	if (!hs_node_label(port->node->node, port->port->index)) {
		hs_label_truth_deliver(&lab->label->truth, of->traffic, of->labels);
		return false;
	}
	of->port = (uint32_t)(port - lab->ports);
	if (of == lab->polled) {
		lab->label->handed = m; // its datagram follows
		return true;
	}
	settle(lab, of);
	return false;
}

void lab_label_polled(struct hs_lab *lab)
{
	struct rte_mbuf *m = lab->label->handed;

	if (!m)
		return;
	settle(lab, rte_mbuf_to_priv(m));
	rte_pktmbuf_free(m);
	lab->label->handed = NULL;
}

// ---- datagrams ----

// Returns the port that added the item, or NULL if there is no such port.
static const struct lab_port *port_of(const struct hs_lab *lab, const struct hs_label_item *item)
{
	uint32_t index = lab->by_id[item->node_id];
	const struct lab_node *node = index == HS_NO_INDEX ? NULL : &lab->nodes[index];

	return node && item->egress_port && item->egress_port <= node->n_ports
			       ? &node->ports[item->egress_port - 1]
			       : NULL;
}

// Notes whether the port to the host labelled the packet that is being polled. The newest item is
// then of that port.
static void note_host(struct hs_lab *lab, const uint8_t *payload, size_t bytes)
{
	struct hs_label_export export;
	struct hs_label_item item;

	if (hs_label_export_read(payload, bytes, &export) < 0 || !export.n_items)
		return; // take() reports a malformed datagram
	hs_label_item_read(export.items, &item);
	const struct lab_port *port = port_of(lab, &item);
	if (port && !port->out)
		lab->polled->host_label = true;
}

static bool is_lost(struct hs_lab *lab, double ratio)
{
	return ratio > 0 && hs_variate_chance(&lab->label->rng, ratio);
}

static void take(struct hs_lab *lab, const struct datagram *datagram)
{
	struct lab_label *label = lab->label;
	struct hs_label_export export;
	struct hs_label_item item;

	if (hs_label_export_read(datagram->payload, datagram->bytes, &export) < 0) {
		lab_fail(lab, -EBADMSG, "internal", "", "", "a datagram was not understood");
		return;
	}
	label->truth.counts.received++;
	hs_label_database_take_export(label->database, lab->now_ns, &export);
	for (unsigned i = 0; i < export.n_items; i++) {
		hs_label_item_read(export.items + i * HS_LABEL_ITEM_BYTES, &item);
		const struct lab_port *port = port_of(lab, &item);
		if (port)
			hs_label_truth_take(&label->truth, lab_place_of(port), lab->now_ns);
		else
			lab_fail(lab, -EBADMSG, "internal", "", "", "an item is of no port");
	}
}

static void take_datagram(struct hs_lab *lab, const struct hs_lab_event *event)
{
	take(lab, (const struct datagram *)event->about);
	free((void *)event->about);
}

int lab_label_send(void *context, unsigned receiver, const uint8_t *payload, size_t bytes)
{
	struct hs_lab *lab = context;
	const struct hs_scenario_label *config = config_of(lab);

	(void)receiver;
	lab->label->truth.counts.exported++;
	note_host(lab, payload, bytes);
	if (is_lost(lab, config->loss_ratio))
		return 0;
	struct datagram *datagram = malloc(sizeof(*datagram) + bytes);
	if (!datagram) {
		lab_fail(lab, -ENOMEM, "no_memory", "", "", "no memory for a datagram");
		return 0;
	}
	datagram->bytes = bytes;
	memcpy(datagram->payload, payload, bytes);
	if (!lab_push(lab, lab->now_ns + config->delay_ns, take_datagram, (uintptr_t)datagram))
		free(datagram);
	return 0;
}

// ---- Pro ----

// Packs a node, a port and its S into the argument of an event.
static uintptr_t pack(uint32_t node, uint8_t port, uint8_t shift)
{
	return (uintptr_t)node << 16 | (uintptr_t)port << 8 | shift;
}

static struct lab_node *told_node(struct hs_lab *lab, uintptr_t about)
{
	return &lab->nodes[about >> 16];
}

static void confirmed(struct hs_lab *lab, const struct hs_lab_event *event)
{
	hs_label_pro_confirm(lab->label->database, told_node(lab, event->about)->scenario->id,
			(uint8_t)(event->about >> 8), (uint8_t)event->about);
}

static void told(struct hs_lab *lab, const struct hs_lab_event *event)
{
	struct lab_node *node = told_node(lab, event->about);
	uint8_t port = (uint8_t)(event->about >> 8);

	if (!node->node)
		return;
	hs_label_port_set_shift(hs_node_label(node->node, port - 1u), (uint8_t)event->about);
	if (!is_lost(lab, config_of(lab)->pro_loss_ratio))
		lab_push(lab, lab->now_ns + config_of(lab)->delay_ns, confirmed, event->about);
}

static bool tell(void *context, uint16_t node_id, uint8_t port, uint8_t shift)
{
	struct hs_lab *lab = context;
	struct hs_label_counts *counts = &lab->label->truth.counts;
	bool lost = is_lost(lab, config_of(lab)->pro_loss_ratio);

	counts->shifts_told++;
	counts->shifts_lost += lost;
	if (!lost)
		lab_push(lab, lab->now_ns + config_of(lab)->delay_ns, told,
				pack(lab->by_id[node_id], port, shift));
	return true;
}

static void pro_step(struct hs_lab *lab, const struct hs_lab_event *event)
{
	const struct hs_scenario_label *config = config_of(lab);

	hs_label_database_step(lab->label->database, lab->now_ns);
	hs_label_pro_step(&config->pro, lab->label->database, lab->now_ns, tell, lab);
	if (lab->now_ns < lab->run.end_ns)
		lab_push(lab, lab->now_ns + config->pro_step_ns, event->run, 0);
}

// Tells the controller's database of the restart, which a real controller sees by the node's boot
// id.
void lab_label_back(const struct lab_node *node)
{
	hs_label_pro_restart(node->lab->label->database, node->scenario->id);
}

// ---- making ----

int lab_make_label(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;
	const struct hs_label_truth_config truth = {
			.n_ports = (uint32_t)(2 * s->n_links + s->n_hosts),
			.n_traffic = (uint32_t)s->n_traffic,
			.start_ns = lab->run.start_ns,
			.interval_ns = s->label.interval_ns,
			.keep = s->keep_windows,
			.stop_ns = lab->run.end_ns,
	};
	const struct hs_label_database_config database = {
			.ports = truth.n_ports,
			.series = 1,
			.interval_ns = truth.interval_ns,
			.age_ns = AGE_NS,
	};

	if (!s->label.given)
		return 0;
	struct lab_label *label = calloc(1, sizeof(*label));
	lab->label = label;
	if (!label || hs_label_truth_init(&label->truth, &truth) < 0 ||
			hs_label_database_create(&database, &label->database) < 0)
		return -ENOMEM;
	lab->run.label = &label->truth;
	hs_rng_init(&label->rng, lab_seed(s, "label", 0));
	if (s->label.pro_step_ns)
		lab_push(lab, lab->run.start_ns + s->label.pro_step_ns, pro_step, 0);
	return lab->rc;
}

void lab_free_label(struct hs_lab *lab)
{
	if (!lab->label)
		return;
	for (size_t i = 0; i < lab->queue.n; i++)
		if (lab->queue.heap[i].run == take_datagram)
			free((void *)lab->queue.heap[i].about);
	hs_label_truth_fini(&lab->label->truth);
	hs_label_database_destroy(lab->label->database);
	free(lab->label);
}

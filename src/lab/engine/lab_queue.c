// SPDX-License-Identifier: BSD-3-Clause
// Queues that stand in nodes, before a link. The node is polled when a packet departs, and what its
// telemetry says of the queue is compared with the truth.
#include "lab_parts.h"

#include "int.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>

// Smaller utilisations are not compared, because the unit of the value is a large share of them.
#define LEAST_UTILISATION 0.1
#define US_NS		  INT64_C(1000)
#define WHOLE		  10000 // utilisation and congestion are in 1/10000

struct hs_link_config lab_link_config(const struct hs_scenario_link *link, unsigned direction)
{
	struct hs_link_config config = link->directions[direction];

	if (link->queue_at_node)
		config.rate_bps = 0;
	return config;
}

struct hs_queue_rate lab_queue_rate(const struct lab_port *port)
{
	const struct hs_scenario *s = port->node->lab->scenario;
	const struct hs_scenario_node *node = port->node->scenario;
	const struct hs_scenario_link *link = port->out ? &s->links[port->place] : NULL;
	bool served = !port->to_monitor || node->rate_of_node;
	struct hs_queue_rate rate = {.pps = served ? node->rate_pps : 0};

	if (rate.pps)
		rate.queue_packets = node->queue_packets;
	if (link && link->queue_at_node) {
		rate.bps = link->directions[port->direction].rate_bps;
		rate.queue_packets = link->directions[port->direction].queue_packets;
	}
	return rate;
}

int lab_make_queue(struct lab_port *port)
{
	const struct hs_scenario *s = port->node->lab->scenario;
	struct hs_run *run = &port->node->lab->run;
	struct hs_queue_rate rate = lab_queue_rate(port);

	// Nodes hold copies of probes, too. The model of a queue knows no packets that nodes make.
	port->node->has_queue |= s->probing.given || rate.bps || rate.pps;
	if (s->probing.given || (!rate.bps && !rate.pps))
		return 0;
	if (!run->queues)
		run->queues = calloc(2 * s->n_links + s->n_hosts, sizeof(*run->queues));
	if (!run->queues)
		return -ENOMEM;
	port->queue = &run->queues[lab_place_of(port)];
	port->queue->rate = rate;
	return 0;
}

// ---- when nodes are polled ----

static size_t timer_of(const struct lab_node *node)
{
	return lab_control_timer(node) + node->lab->scenario->n_nodes;
}

static void set_timer(struct lab_node *node, int64_t at_ns)
{
	bool waits = at_ns != HS_EVENT_NEVER;

	node->lab->n_waiting += (uint32_t)waits - (uint32_t)node->waits;
	node->waits = waits;
	hs_event_set_timer(&node->lab->queue, timer_of(node), at_ns);
}

void lab_queue_follow(struct lab_node *node)
{
	int64_t due_ns = hs_node_worker_due_ns(node->node, 0), now_ns = node->lab->now_ns;

	if (due_ns == INT64_MAX)
		set_timer(node, HS_EVENT_NEVER);
	else // the conversion of clocks may fall short by a fraction
		set_timer(node, RTE_MAX(lab_clock_when(node, lab_shown_ns(node) + due_ns),
						now_ns + (due_ns > 0)));
}

void lab_departure(struct hs_lab *lab, const struct hs_lab_event *event)
{
	struct lab_node *node = &lab->nodes[event->about];

	lab->polled = NULL;
	hs_node_worker_poll(node->node, 0);
	lab_control_look(node);
	lab_queue_follow(node);
}

void lab_queue_stop(struct lab_node *node)
{
	if (!node->has_queue)
		return;
	set_timer(node, HS_EVENT_NEVER);
	for (uint16_t p = 0; p < node->n_ports; p++)
		if (node->ports[p].queue)
			hs_queue_truth_restart(node->ports[p].queue);
}

// ---- the truth ----

void lab_queue_arrive(const struct lab_port *in, const struct hs_packet_truth *packet_truth)
{
	const struct lab_node *node = in->node;
	const struct hs_scenario *s = node->lab->scenario;
	const struct hs_scenario_traffic *t = &s->traffic[packet_truth->traffic];
	uint8_t out = s->forwarding == HS_LAB_PATCH
				      ? node->ports == in // the other of its two ports
				      : lab_port_to(node, packet_truth->reply ? t->from : t->to);

	if (out != LAB_FAR && node->ports[out].queue)
		hs_queue_truth_arrive(node->ports[out].queue, packet_truth, node->lab->now_ns);
}

// Reads the INT values of this node, which is the newest hop. Returns false if the node added none.
static bool read_newest(const struct lab_port *port, const struct hs_packet_truth *packet_truth,
		const struct rte_mbuf *m, const struct hs_packet *packet,
		struct hs_int_values *values)
{
	const struct hs_int_settings *settings = hs_profile_int(lab_profile(port));
	struct hs_int_stack stack;

	return settings && packet->flags & HS_PACKET_TELEMETRY && packet->trace_off &&
	       hs_int_stack_open(settings, hs_int_type_of(packet),
			       rte_pktmbuf_mtod_offset(m, const uint8_t *, packet->trace_off),
			       hs_int_stack_bytes(settings->version, packet), &stack) == 0 &&
	       stack.n_hops == packet_truth->n_stops && hs_int_stack_hop(&stack, 0, values) == 0;
}

// Compares the values of telemetry with the truth. unit_ns is the unit of their latency.
static void compare(struct hs_queue_truth *queue, const struct hs_int_values *values,
		const struct hs_queued *queued, int64_t unit_ns)
{
	struct hs_queue_counts *counts = &queue->counts;
	int64_t latency_ns = (queued->departs_ns - queued->arrived_ns) / unit_ns * unit_ns;
	uint32_t congestion =
			(uint32_t)((uint64_t)queued->depth * WHOLE / queue->rate.queue_packets);

	if (values->has & HS_INT_HAS_QUEUE_PACKETS) {
		counts->stamped++;
		counts->wrong_depths += values->queue_packets != queued->depth;
	}
	counts->wrong_congestions += values->has & HS_INT_HAS_CONGESTION &&
				     values->queue_congestion != congestion;
	if (values->has & HS_INT_HAS_HOP_LATENCY) {
		uint64_t error_ns = (uint64_t)llabs((int64_t)values->hop_latency_ns - latency_ns);
		counts->latency_error_max_ns = RTE_MAX(counts->latency_error_max_ns, error_ns);
	}
	if (values->has & HS_INT_HAS_UTILISATION && queued->utilisation >= LEAST_UTILISATION) {
		double error = fabs(
				(double)values->link_utilisation / WHOLE / queued->utilisation - 1);
		counts->utilisation_error_max = RTE_MAX(counts->utilisation_error_max, error);
	}
}

// Returns what an item of INT-label says of the queue. The item's times are in microseconds.
static struct hs_int_values values_of(const struct hs_label_item *item)
{
	return (struct hs_int_values){
			.has = HS_INT_HAS_QUEUE_PACKETS | HS_INT_HAS_HOP_LATENCY,
			.queue_packets = item->enqueue_packets,
			.hop_latency_ns = item->queue_us * US_NS,
	};
}

void lab_queue_depart(const struct lab_port *port, struct hs_packet_truth *packet_truth,
		const struct rte_mbuf *m, const struct hs_packet *packet)
{
	struct hs_label_item item;
	struct hs_int_values values;
	struct hs_queued queued;

	if (!hs_queue_truth_depart(port->queue, packet_truth, port->node->lab->now_ns,
			    rte_pktmbuf_pkt_len(m), &queued))
		return;
	if (packet_truth->n_stops) {
		struct hs_truth_stop *stop = &packet_truth->stops[packet_truth->n_stops - 1];
		stop->depth = queued.depth;
		stop->latency_ns = (uint32_t)(queued.departs_ns - queued.arrived_ns);
		stop->utilisation = (float)queued.utilisation;
	}
	if (packet && lab_label_newest(port, packet_truth, m, packet, &item)) {
		values = values_of(&item);
		compare(port->queue, &values, &queued, US_NS);
	} else if (packet && read_newest(port, packet_truth, m, packet, &values)) {
		compare(port->queue, &values, &queued, 1);
	}
}

int lab_queue_collect(struct hs_lab *lab)
{
	int rc = 0;

	for (size_t p = 0; p < lab_ports(lab->scenario); p++) {
		struct hs_queue_truth *queue = lab->ports[p].queue;
		if (!queue)
			continue;
		hs_queue_truth_end(queue);
		rc = rc ?: queue->status;
	}
	return rc;
}

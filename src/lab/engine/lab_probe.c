// SPDX-License-Identifier: BSD-3-Clause
// Packets of probes: from the monitoring host into the nodes, over the links, and back to the host.
// The values that a node adds are compared with the frames that came to its ports.
#include "lab_probing.h"

#include "bytes.h"
#include "udp_front.h"

#include <rte_mbuf.h>

#define SRC_PORT 40000
#define TTL	 64
#define MAX_HOPS (HS_PORT_MTU_MAX / HS_PROBE_HOP_BYTES)

void lab_probe_config(const struct lab_node *node, struct hs_node_config *config)
{
	const struct hs_scenario_probing *s = &node->lab->scenario->probing;
	uint16_t last = (uint16_t)(node->n_ports - 1);

	if (!s->given)
		return;
	struct hs_probe_profile *own = &node->lab->probing->profiles[node->index];
	*own = *hs_profile_probe(&config->profiles[0]);
	own->monitor_port = (uint8_t)node->n_ports;
	own->recovery = s->recovery;
	own->timeout_ns = s->tuning.feedback_ns;
	for (uint16_t p = 0; p < last; p++)
		if (node->ports[p].out)
			config->profiles[p].settings = own;
	config->profiles[last] = config->profiles[0];
}

// ---- values ----

static const struct hs_probe_settings *wire_of(const struct lab_node *node)
{
	return &node->lab->probing->profiles[node->index].wire;
}

static enum hs_probe_kind parse(
		const struct lab_node *node, const struct rte_mbuf *m, struct hs_packet *packet)
{
	hs_probe_parse(wire_of(node), rte_pktmbuf_mtod(m, const uint8_t *), rte_pktmbuf_data_len(m),
			rte_pktmbuf_pkt_len(m), packet);
	return packet->flags & HS_PACKET_TELEMETRY ? packet->trace_type : HS_PROBE_NONE;
}

// Adds a word to a hash (FNV-1a over words).
static uint64_t mix(uint64_t hash, uint32_t value)
{
	return (hash ^ value) * UINT64_C(0x100000001b3);
}

// Keeps a hash of the values that the node must add, in the packet's truth until the packet
// departs.
void lab_probe_arrive(const struct lab_port *port, struct rte_mbuf *m)
{
	const struct lab_node *node = port->node;
	struct hs_packet_truth *packet_truth = rte_mbuf_to_priv(m);
	struct hs_packet packet;

	packet_truth->number = 0;
	if (parse(node, m, &packet) != HS_PROBE_COLLECTS)
		return;
	struct hs_probe_stack stack =
			hs_probe_stack_of(rte_pktmbuf_mtod(m, const uint8_t *), &packet);
	if (!stack.n_entries)
		return;
	struct hs_probe_entry entry = hs_probe_stack_entry(&stack, 0);
	for (uint32_t p = entry.first; p < entry.end && p < node->n_ports; p++)
		packet_truth->number = mix(packet_truth->number, (uint32_t)node->ports[p].received);
}

static void compare_values(const struct lab_node *node, const struct hs_packet_truth *packet_truth,
		const struct hs_probe_stack *stack)
{
	struct hs_probing_counts *counts = &node->lab->probing->counts;
	const uint8_t *values;
	struct hs_probe_hop hop = hs_probe_stack_hop(stack, stack->n_hops - 1u, &values);
	uint64_t hash = 0;

	for (unsigned i = 0; i < hop.n_values; i++)
		hash = mix(hash, hs_be32_load(values + (size_t)i * HS_PROBE_VALUE_BYTES));
	counts->values++;
	counts->wrong_values +=
			hop.node != (uint8_t)node->scenario->id || hash != packet_truth->number;
}

// ---- answers to the host ----

static void take_data(
		struct hs_lab *lab, enum hs_gpint_answer answer, const struct hs_probe_stack *stack)
{
	uint8_t ids[MAX_HOPS];
	const uint8_t *values;

	for (unsigned i = 0; i < stack->n_hops; i++)
		ids[i] = hs_probe_stack_hop(stack, i, &values).node;
	lab_monitor_take(lab, answer, stack->id, ids, stack->n_hops);
}

static void take_answer(struct hs_lab *lab, const struct hs_lab_event *event)
{
	struct rte_mbuf *m = (struct rte_mbuf *)event->about;
	const struct hs_packet_truth *packet_truth = rte_mbuf_to_priv(m);
	const uint8_t *frame = rte_pktmbuf_mtod(m, const uint8_t *);
	struct hs_probing_counts *counts = &lab->probing->counts;
	struct hs_packet packet;
	enum hs_probe_kind kind = parse(lab->ports[packet_truth->port].node, m, &packet);

	lab->in_flight--;
	if (kind == HS_PROBE_FEEDBACK) {
		lab_monitor_take(lab, HS_GPINT_FEEDBACK, hs_probe_id(frame, &packet), NULL, 0);
	} else {
		struct hs_probe_stack stack = hs_probe_stack_of(frame, &packet);
		bool done = kind == HS_PROBE_COLLECTS;
		uint32_t ip_bytes = rte_pktmbuf_pkt_len(m) - packet.l3_off;
		counts->recovery_packets += !done;
		if (ip_bytes > counts->max_probe_bytes)
			counts->max_probe_bytes = ip_bytes;
		take_data(lab, done ? HS_GPINT_DONE : HS_GPINT_RECOVERED, &stack);
	}
	rte_pktmbuf_free(m);
}

// ---- nodes ----

static void put_on_link(
		struct hs_lab *lab, const struct lab_port *port, struct rte_mbuf *m, bool collects)
{
	struct hs_link_fate fates[2];
	unsigned n = hs_link_send(port->out, lab->now_ns, rte_pktmbuf_pkt_len(m), true, fates);

	lab->packets++;
	lab->probing->counts.probes_lost_on_links += collects && fates[0].loss != HS_LINK_NOT_LOST;
	lab_put_on_link(lab, port, m, fates, n);
}

bool lab_probe_depart(const struct lab_port *port, struct rte_mbuf *m)
{
	struct hs_lab *lab = port->node->lab;
	struct hs_packet_truth *packet_truth = rte_mbuf_to_priv(m);
	struct hs_packet packet;
	enum hs_probe_kind kind = parse(port->node, m, &packet);

	if (kind == HS_PROBE_NONE)
		return false;
	if (kind == HS_PROBE_COLLECTS) {
		struct hs_probe_stack stack =
				hs_probe_stack_of(rte_pktmbuf_mtod(m, const uint8_t *), &packet);
		compare_values(port->node, packet_truth, &stack);
	}
	lab_begin_truth(lab, m, LAB_PROBE);
	if (!port->to_monitor) {
		put_on_link(lab, port, m, kind == HS_PROBE_COLLECTS);
		return true;
	}
	lab->in_flight++;
	packet_truth->port = (uint32_t)(port - lab->ports);
	if (!lab_push(lab, lab->now_ns + lab->scenario->probing.delay_ns, take_answer,
			    (uintptr_t)m))
		rte_pktmbuf_free(m);
	return true;
}

// ---- from the host ----

static void make_front(const struct lab_port *to, struct hs_udp_front *front)
{
	struct hs_udp_front_settings settings = {
			.src_mac = {2, 2},
			.src_ip = {10, 255, 255, 254},
			.dst_ip = {10, 255, 255, 253},
			.dst_port = wire_of(to->node)->udp_port,
			.dscp = wire_of(to->node)->dscp,
			.hop_limit = TTL,
			.ipv4_checksum = true,
	};

	lab_port_mac(to, settings.dst_mac);
	hs_udp_front_init(front, &settings);
}

void lab_probe_send(struct hs_lab *lab, uint16_t request_id, const struct hs_gpint_hop *hops,
		uint32_t n_hops)
{
	const struct lab_node *node = &lab->nodes[hops[0].at];
	const struct lab_port *to = &node->ports[node->n_ports - 1];
	struct hs_probe_entry entries[MAX_HOPS];
	uint8_t bytes[HS_UDP_FRONT_MAX_BYTES + HS_PROBE_BYTES + MAX_HOPS * HS_PROBE_ENTRY_BYTES];
	struct hs_udp_front front;

	for (uint32_t i = 0; i < n_hops; i++)
		entries[i] = (struct hs_probe_entry){hops[i].next_port, hops[i].first, hops[i].end};
	make_front(to, &front);
	size_t payload = hs_probe_stack_write(bytes + front.len, request_id, HS_PROBE_PORT_PACKETS,
			entries, (uint16_t)n_hops);
	hs_udp_front_write(&front, bytes, payload, SRC_PORT);
	struct rte_mbuf *m = lab_make_frame(lab, bytes, (uint32_t)(front.len + payload), LAB_PROBE);
	if (m)
		lab_put_under_way(lab, to, m, lab->now_ns + lab->scenario->probing.delay_ns);
}

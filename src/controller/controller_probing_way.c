// SPDX-License-Identifier: BSD-3-Clause
// Probes: the way to the first node of a path, packets that leave, and packets that come back.
#include "controller_probing.h"

#include "controller_state.h"

#include "bytes.h"
#include "probe.h"
#include "udp_front.h"

#include <stdlib.h>
#include <string.h>

#define SOURCE_PORT 40000
#define HOP_LIMIT   64
#define DEBT_HOPS   4  // a probe that did not come back counts as so many hops of its way
#define DEBT_COPY   16 // probes that did not come back: a copy says on which link one was lost
#define DEBT_MOST   1000

// ---- what others ask, too ----

int64_t controller_probing_ns(const struct hs_controller *controller)
{
	return controller->now_ns - controller->probing->skew_ns;
}

const char *controller_probing_name(const struct hs_controller *controller, unsigned node)
{
	unsigned none = controller->config->n_nodes;
	unsigned i = controller->by_id[controller->probing->config->nodes[node].id];

	return i == none || controller->nodes[i].next_same_id != none
			       ? ""
			       : controller->config->nodes[i].name;
}

json_t *controller_probing_arc_details(
		const struct hs_controller *controller, const struct probing_arc *arc)
{
	const struct hs_probing_node *nodes = controller->probing->config->nodes;

	return json_pack("{s:s, s:i, s:i, s:i, s:i}", "node",
			controller_probing_name(controller, arc->from), "node_id",
			nodes[arc->from].id, "port_id", arc->port, "peer_id", nodes[arc->to].id,
			"peer_port_id", arc->peer_port);
}

// ---- ways ----

struct probing_arc *probing_find_arc(
		const struct controller_probing *probing, uint32_t from, uint8_t port)
{
	for (unsigned i = 0; i < probing->n_arcs; i++)
		if (probing->arcs[i].from == from && probing->arcs[i].port == port)
			return &probing->arcs[i];
	return NULL;
}

// Returns the arc that a packet takes from a hop, which is not its last.
static struct probing_arc *arc_behind(const struct controller_probing *probing,
		const struct probing_packet *packet, unsigned hop)
{
	return probing_find_arc(probing, packet->hops[hop].node, packet->hops[hop].port);
}

static uint32_t cost_of(const struct controller_probing *probing, unsigned arc, bool debts)
{
	bool lost = probing->arcs[arc].state == HS_GPINT_UNAVAILABLE ||
		    probing->arcs[arc ^ 1].state == HS_GPINT_UNAVAILABLE;

	return debts ? 1 + DEBT_HOPS * (probing->arcs[arc].debt + lost) : 1;
}

// Finds the arc by which the cheapest way comes to each node from the first one, or leads from it
// back. Links over which probes did not come back cost more, so that the next attempt goes another
// way if there is one.
static void weigh(const struct controller_probing *probing, bool back, bool debts,
		const struct probing_arc *by[HS_PROBING_NODES])
{
	uint32_t costs[HS_PROBING_NODES];
	int first = hs_probing_node(probing->config, probing->config->first_node);
	bool more = true;

	memset(costs, 0xff, sizeof(costs));
	costs[first] = 0;
	while (more) {
		more = false;
		for (unsigned i = 0; i < probing->n_arcs; i++) {
			const struct probing_arc *arc = &probing->arcs[i];
			uint32_t cost = cost_of(probing, i, debts);
			uint32_t near = back ? arc->to : arc->from;
			uint32_t far = back ? arc->from : arc->to;
			if (costs[near] == UINT32_MAX || costs[near] + cost >= costs[far])
				continue;
			costs[far] = costs[near] + cost;
			by[far] = arc;
			more = true;
		}
	}
}

static uint32_t count_hops(const struct controller_probing *probing, bool back,
		const struct probing_arc *const *by, uint32_t to)
{
	uint32_t first = (uint32_t)hs_probing_node(probing->config, probing->config->first_node);
	uint32_t n = 0;

	for (uint32_t at = to; at != first; at = back ? by[at]->to : by[at]->from)
		n++;
	return n;
}

// Chooses a way for which a probe has room. Returns its number of hops.
static uint32_t choose_way(const struct controller_probing *probing, bool back, uint32_t to,
		const struct probing_arc *by[HS_PROBING_NODES])
{
	weigh(probing, back, true, by);
	uint32_t n = count_hops(probing, back, by, to);
	if (n <= probing->way_room)
		return n;
	weigh(probing, back, false, by);
	return count_hops(probing, back, by, to);
}

// Writes the entries of the nodes on the way to a node. Returns their number.
static uint32_t find_way(struct controller_probing *probing, uint32_t to, struct hs_gpint_hop *hops)
{
	const struct probing_arc *by[HS_PROBING_NODES];
	uint32_t n = choose_way(probing, false, to, by);

	for (uint32_t i = n, at = to; i > 0; at = by[at]->from)
		hops[--i] = (struct hs_gpint_hop){.at = by[at]->from, .next_port = by[at]->port};
	return n;
}

// Writes the entries of the nodes on the way back from the node of the last entry, and the port of
// that entry. Returns their number.
static uint32_t find_way_back(struct controller_probing *probing, struct hs_gpint_hop *last)
{
	const struct probing_arc *by[HS_PROBING_NODES];
	uint32_t n = choose_way(probing, true, last->at, by);

	for (uint32_t i = 0; i < n; i++) {
		const struct probing_arc *arc = by[last[i].at];
		last[i].next_port = arc->port;
		last[i + 1] = (struct hs_gpint_hop){.at = arc->to};
	}
	return n;
}

// Adds a debt to each link on the way to the path's first node and on the way back from its last
// node. An answer shows that the links up to its node work: see pay_debts.
static void add_debts(struct controller_probing *probing, const struct probing_packet *packet)
{
	for (unsigned i = 0; i + 1 < packet->n; i++) {
		if (i >= packet->n_way && i + 1 < packet->n_end)
			continue;
		struct probing_arc *arc = arc_behind(probing, packet, i);
		arc->debt += arc->debt < DEBT_MOST;
	}
}

static void pay_debts(struct controller_probing *probing, const struct probing_packet *packet,
		unsigned n_hops)
{
	for (unsigned i = 0; i + 1 < n_hops; i++)
		arc_behind(probing, packet, i)->debt = 0;
}

static void add_debt_of_copy(struct controller_probing *probing,
		const struct probing_packet *packet, unsigned n_hops)
{
	struct probing_arc *arc = arc_behind(probing, packet, n_hops - 1);

	if (arc->debt < DEBT_COPY)
		arc->debt = DEBT_COPY;
}

// ---- packets that leave ----

void probing_forget_packets(struct controller_probing *probing)
{
	for (unsigned i = 0; i < PROBING_IDS; i++) {
		free(probing->packets[i]);
		probing->packets[i] = NULL;
	}
}

static size_t write_frame(struct controller_probing *probing, uint16_t id, uint32_t n)
{
	const struct hs_probing_config *config = probing->config;
	struct hs_udp_front_settings settings = {
			.dst_mac = {0x02, 0, 0, 0, 0, config->first_node},
			.src_mac = {0x02, 0, 0, 0, 1, config->first_node},
			.dst_port = config->packets.udp_port,
			.dscp = config->packets.dscp,
			.hop_limit = HOP_LIMIT,
			.ipv4_checksum = true,
	};
	struct hs_udp_front front;

	for (uint32_t i = 0; i < n; i++) {
		const struct hs_gpint_hop *hop = &probing->hops[i];
		uint8_t first = config->nodes[hop->at].first;
		probing->entries[i] = (struct hs_probe_entry){.port = hop->next_port,
				.first = (uint8_t)(first + hop->first),
				.end = (uint8_t)(first + hop->end)};
	}
	memcpy(settings.src_ip, config->address + 12, 4);
	memcpy(settings.dst_ip, config->address + 12, 4);
	hs_udp_front_init(&front, &settings);
	size_t bytes = hs_probe_stack_write(probing->frame + front.len, id,
			(enum hs_probe_type)config->measure, probing->entries, (uint16_t)n);
	hs_udp_front_write(&front, probing->frame, bytes, SOURCE_PORT);
	return front.len + bytes;
}

// Sends a probe over the first n hops and back to the first node.
static void send_packet(struct hs_controller *controller, uint16_t attempt, uint32_t n_way,
		uint32_t n_end, bool knock)
{
	struct controller_probing *probing = controller->probing;
	uint16_t id = probing->next_id;
	uint32_t n = n_end + find_way_back(probing, &probing->hops[n_end - 1]);
	struct probing_packet *packet = malloc(sizeof(*packet) + n * sizeof(packet->hops[0]));

	if (!packet) {
		probing->counters.not_sent++;
		return;
	}
	*packet = (struct probing_packet){.attempt = attempt,
			.knock = knock,
			.n_way = (uint16_t)n_way,
			.n_end = (uint16_t)n_end,
			.n = (uint16_t)n,
			.sent_ns = controller_probing_ns(controller)};
	for (uint32_t i = 0; i < n; i++) {
		packet->hops[i].node = (uint8_t)probing->hops[i].at;
		packet->hops[i].port = probing->hops[i].next_port;
	}
	free(probing->packets[id]);
	probing->packets[id] = packet;
	probing->next_id = (uint16_t)((id + 1) % PROBING_IDS);
	add_debts(probing, packet);
	size_t len = write_frame(probing, id, n);
	if (!controller->output.probe || controller->output.probe(controller->output.context,
							 probing->frame, len) < 0)
		probing->counters.not_sent++;
}

void probing_send(void *context, uint16_t attempt, const struct hs_gpint_hop *hops, uint32_t n_hops)
{
	struct hs_controller *controller = context;
	struct controller_probing *probing = controller->probing;
	uint32_t n_way = find_way(probing, hops[0].at, probing->hops);

	memcpy(probing->hops + n_way, hops, n_hops * sizeof(*hops));
	send_packet(controller, attempt, n_way, n_way + n_hops, false);
	if (n_way == 0 || n_hops == 1)
		return;
	probing->hops[n_way] = (struct hs_gpint_hop){.at = hops[0].at};
	send_packet(controller, attempt, n_way, n_way + 1, true);
	probing->knocks++;
}

// ---- packets that come ----

// Returns whether these are the nodes that the packet was to visit, with the values that were asked
// for.
static bool are_right(const struct controller_probing *probing, const struct probing_packet *packet,
		const struct hs_probe_stack *stack)
{
	for (unsigned i = 0; i < stack->n_hops; i++) {
		const struct hs_probing_node *node = &probing->config->nodes[packet->hops[i].node];
		const uint8_t *values;
		struct hs_probe_hop hop = hs_probe_stack_hop(stack, i, &values);
		if (hop.node != node->id ||
				(hop.n_values && hop.n_values != node->end - node->first))
			return false;
	}
	return true;
}

static void keep_values(struct hs_controller *controller, const struct probing_packet *packet,
		const struct hs_probe_stack *stack)
{
	struct controller_probing *probing = controller->probing;

	for (unsigned i = packet->n_way; i < stack->n_hops && i < packet->n_end; i++) {
		struct probing_node *node = &probing->nodes[packet->hops[i].node];
		const struct hs_probing_node *asked = &probing->config->nodes[packet->hops[i].node];
		const uint8_t *values;
		struct hs_probe_hop hop = hs_probe_stack_hop(stack, i, &values);
		bool none = asked->end == asked->first;
		if ((!hop.n_values && !none) || (node->session && packet->sent_ns < node->sent_ns))
			continue;
		for (unsigned v = 0; v < hop.n_values; v++)
			node->values[v] = hs_be32_load(values + (size_t)v * HS_PROBE_VALUE_BYTES);
		node->n_values = hop.n_values;
		node->depth = hop.depth;
		node->session = probing->counters.sessions + 1;
		node->sent_ns = packet->sent_ns;
		node->at_ns = controller_probing_ns(controller);
	}
}

// Returns whether the hops and the entries that are left are those of the packet.
static bool is_ours(const struct controller_probing *probing, const struct probing_packet *packet,
		const struct hs_probe_stack *stack, bool copy)
{
	return stack->n_hops && stack->n_hops + stack->n_entries == packet->n &&
	       (stack->n_entries > 0) == copy && stack->type == probing->config->measure &&
	       are_right(probing, packet, stack);
}

// Takes the data of a probe, or of a copy of one. A copy from the way back is as good as the probe.
static void take_data(struct hs_controller *controller, const struct probing_packet *packet,
		const struct hs_probe_stack *stack, bool copy)
{
	struct controller_probing *probing = controller->probing;
	uint32_t n = stack->n_hops < packet->n_end ? stack->n_hops : packet->n_end;
	enum hs_gpint_answer answer = packet->knock	  ? HS_GPINT_FEEDBACK
				      : n < packet->n_end ? HS_GPINT_RECOVERED
							  : HS_GPINT_DONE;

	if (!is_ours(probing, packet, stack, copy)) {
		probing->counters.malformed++;
		return;
	}
	pay_debts(probing, packet, stack->n_hops);
	if (copy)
		add_debt_of_copy(probing, packet, stack->n_hops);
	if (stack->n_hops <= packet->n_way) // lost on its way: another attempt takes another way
		return;
	if (!packet->knock)
		keep_values(controller, packet, stack);
	hs_gpint_prober_take(probing->prober, controller_probing_ns(controller), answer,
			packet->attempt, packet->knock ? 0 : n - packet->n_way);
}

static void take_feedback(struct hs_controller *controller, const struct probing_packet *packet)
{
	if (packet->n_way == 0)
		hs_gpint_prober_take(controller->probing->prober, controller_probing_ns(controller),
				HS_GPINT_FEEDBACK, packet->attempt, 0);
}

void controller_probe_take(struct hs_controller *controller, const uint8_t *frame, size_t len)
{
	struct controller_probing *probing = controller->probing;
	struct hs_packet packet;

	hs_probe_parse(&probing->config->packets, frame, len, len, &packet);
	if (!(packet.flags & HS_PACKET_ANY_TELEMETRY))
		return;
	probing->counters.received++;
	if (!(packet.flags & HS_PACKET_TELEMETRY)) {
		probing->counters.malformed++;
		return;
	}
	const struct probing_packet *sent = probing->packets[hs_probe_id(frame, &packet)];
	if (!sent || !probing->running) {
		probing->counters.strange++;
		return;
	}
	if (packet.trace_type == HS_PROBE_FEEDBACK) {
		take_feedback(controller, sent);
		return;
	}
	struct hs_probe_stack stack = hs_probe_stack_of(frame, &packet);
	take_data(controller, sent, &stack, packet.trace_type == HS_PROBE_RECOVERY);
}

// SPDX-License-Identifier: BSD-3-Clause
// The path of a frame: from a stream into its node, from node to link, from link to node, from node
// to host.
#include "lab_parts.h"

#include "family.h"
#include "int.h"
#include "packet.h"

#include <rte_mbuf.h>

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define HEADER_BYTES 2048

// ---- packet truth ----

struct hs_packet_truth *lab_begin_truth(
		const struct hs_lab *lab, struct rte_mbuf *m, uint32_t traffic)
{
	struct hs_packet_truth *packet_truth = rte_mbuf_to_priv(m);

	memset(packet_truth, 0, offsetof(struct hs_packet_truth, stops));
	packet_truth->traffic = traffic;
	packet_truth->flow = HS_NO_INDEX;
	*RTE_MBUF_DYNFIELD(m, lab->stamp_offset, struct rte_mbuf **) = m;
	return packet_truth;
}

// Returns the packet truth of a buffer. A bridge floods packets to unknown addresses. A copy that
// it makes has the stamp of the original, but a private area with old content. A host still takes
// such a copy, but the copy is no packet of the flow.
static struct hs_packet_truth *packet_truth_of(const struct hs_lab *lab, struct rte_mbuf *m)
{
	if (likely(*RTE_MBUF_DYNFIELD(m, lab->stamp_offset, struct rte_mbuf **) == m))
		return rte_mbuf_to_priv(m);
	struct hs_packet_truth *packet_truth = lab_begin_truth(lab, m, lab->polled->traffic);
	packet_truth->reply = lab->polled->reply;
	packet_truth->number = lab->polled->number;
	packet_truth->bytes = lab->polled->bytes;
	return packet_truth;
}

// ---- polling ----

static void poll_node(struct lab_port *port, struct rte_mbuf *m)
{
	port->node->lab->polled = rte_mbuf_to_priv(m);
	port->arrived = m;
	hs_node_worker_poll(port->node->node, 0);
	lab_control_look(port->node);
	if (unlikely(port->node->lab->label))
		lab_label_polled(port->node->lab);
	if (unlikely(port->node->has_queue))
		lab_queue_follow(port->node);
}

uint16_t lab_port_rx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	struct lab_port *p = port->driver_data;

	(void)queue, (void)n;
	if (!p->arrived)
		return 0;
	mbufs[0] = p->arrived;
	p->arrived = NULL;
	return 1;
}

// Returns whether the host that the packet is addressed to is at the node, which is the packet's
// sink.
static bool is_sink(const struct lab_node *node, const struct hs_packet_truth *packet_truth)
{
	const struct hs_scenario *s = node->lab->scenario;
	const struct hs_scenario_traffic *of = &s->traffic[packet_truth->traffic];

	return s->hosts[packet_truth->reply ? of->from : of->to].at == node->index;
}

// Lets each relay that follows this traffic send a packet, if the packet is at the node of its
// destination.
static void relay(struct lab_node *node, const struct hs_packet_truth *packet_truth)
{
	const struct hs_scenario *s = node->lab->scenario;
	const struct hs_scenario_traffic *of = &s->traffic[packet_truth->traffic];

	if (packet_truth->reply || !is_sink(node, packet_truth))
		return;
	for (uint32_t t = of->relay; t != HS_NO_INDEX; t = s->traffic[t].next_relay) {
		hs_stream_relay(node->lab->run.streams[t], node->lab->now_ns);
		lab_follow_stream(node->lab, t);
	}
}

// Counts a packet that arrives at a node that is up, and polls the node. A sink measures a packet
// before the packet finds its queue to the host full.
static void arrive(struct lab_port *port, struct rte_mbuf *m)
{
	struct lab_node *node = port->node;
	struct hs_lab *lab = node->lab;
	struct hs_packet_truth *packet_truth = rte_mbuf_to_priv(m);

	port->received++;
	node->received++;
	if (unlikely(packet_truth->traffic == LAB_PROBE)) {
		lab_probe_arrive(port, m);
	} else {
		packet_truth->came_ns = lab->now_ns;
		relay(node, packet_truth);
		hs_truth_arrive(lab->run.truth, packet_truth, node->index, lab->now_ns,
				lab_told_ns(node), rte_pktmbuf_pkt_len(m));
		if (is_sink(node, packet_truth))
			hs_truth_sink(lab->run.truth, packet_truth);
		if (unlikely(node->has_queue) && !lab->probing)
			lab_queue_arrive(port, packet_truth);
	}
	poll_node(port, m);
}

// Gives a buffer to the node that it is under way to, which polls the buffer.
static void frame_arrives(struct hs_lab *lab, const struct hs_lab_event *event)
{
	struct rte_mbuf *m = (struct rte_mbuf *)event->about;
	const struct hs_packet_truth *packet_truth = rte_mbuf_to_priv(m);
	struct lab_port *port = &lab->ports[packet_truth->port];

	lab->in_flight--;
	if (likely(port->port)) {
		arrive(port, m);
		return;
	}
	lab->run.dropped_down++;
	rte_pktmbuf_free(m);
}

// ---- from hosts ----

static void no_buffer(struct hs_lab *lab)
{
	lab_fail(lab, -ENOBUFS, "no_mbufs", "mbufs", "",
			"%u packets are under way, and the scenario has buffers for %u",
			lab->in_flight, lab->scenario->mbufs);
}

struct rte_mbuf *lab_make_frame(
		struct hs_lab *lab, const void *bytes, uint32_t len, uint32_t traffic)
{
	if (len > lab->frame_room) {
		lab_fail(lab, -EMSGSIZE, "out_of_range", "mtu", "",
				"a frame of %u bytes does not fit into buffers for an MTU of %u",
				len, lab->scenario->mtu);
		return NULL;
	}
	struct rte_mbuf *m = rte_pktmbuf_alloc(lab->pool);
	if (!m) {
		no_buffer(lab);
		return NULL;
	}
	memcpy(rte_pktmbuf_append(m, (uint16_t)len), bytes, len);
	lab_begin_truth(lab, m, traffic)->bytes = len;
	return m;
}

static void enter(struct hs_lab *lab, uint32_t traffic, const struct hs_stream_frame *frame)
{
	const struct hs_scenario_traffic *t = &lab->scenario->traffic[traffic];
	struct lab_port *port = lab->host_ports[frame->reply ? t->to : t->from];

	if (unlikely(!port->port)) {
		lab->run.dropped_down++;
		return;
	}
	struct rte_mbuf *m = lab_make_frame(lab, frame->bytes, frame->len, traffic);
	if (unlikely(!m))
		return;
	struct hs_packet_truth *packet_truth = rte_mbuf_to_priv(m);
	packet_truth->flow = t->flows[frame->reply];
	packet_truth->reply = frame->reply;
	packet_truth->number = frame->number;
	if (unlikely(lab->label)) {
		lab->run.label->counts.packets++;
		lab->run.label->counts.labels_per_packet[0]++;
	}
	arrive(port, m);
}

void lab_stream_due(struct hs_lab *lab, const struct hs_lab_event *event)
{
	uint32_t traffic = (uint32_t)event->about;
	struct hs_stream_frame frame;

	if (hs_stream_send(lab->run.streams[traffic], lab->now_ns, &frame))
		enter(lab, traffic, &frame);
	lab_follow_stream(lab, traffic);
}

// ---- a line for each packet ----

void lab_packets_header(FILE *file)
{
	fputs("sent_ns,link,direction,traffic,reply,number,copy,bytes,telemetry,fate,wait_ns,"
	      "arrives_ns,shown_ns,header\n",
			file);
}

// Writes the telemetry of a frame as it is on the wire, for programs with their own decoder: the
// Hop-by-Hop header, or the bytes of INT and INT-label.
static void write_header(FILE *file, const struct rte_mbuf *m, const struct hs_packet *packet)
{
	uint8_t buffer[HEADER_BYTES];
	int own = packet->e2e_off ? packet->e2e_off : packet->trace_off;
	uint32_t at = (uint32_t)(packet->hbh_bytes ? packet->l3_off + HS_IPV6_BYTES : own);
	uint32_t len = packet->hbh_bytes ? packet->hbh_bytes : packet->telemetry_bytes;
	const uint8_t *header = len <= sizeof(buffer) ? rte_pktmbuf_read(m, at, len, buffer) : NULL;

	for (uint32_t i = 0; header && i < len; i++)
		fprintf(file, "%02x", header[i]);
}

// Writes the line of a packet. `fate` is NULL if the packet was handed to its host. `packet` is
// NULL if it has no telemetry.
static void write_line(struct hs_lab *lab, const struct lab_port *port, struct rte_mbuf *m,
		bool copy, const struct hs_packet *packet, const struct hs_link_fate *fate)
{
	const struct hs_scenario *s = lab->scenario;
	const struct hs_packet_truth *packet_truth = rte_mbuf_to_priv(m);
	FILE *file = lab->config.packets;

	fprintf(file, "%" PRId64 ",%s,%s,%s,%d,%" PRIu64 ",%d,%" PRIu32 ",%d,", lab->now_ns,
			fate ? s->links[port->place].name : s->hosts[port->place].name,
			fate ? hs_scenario_directions[port->direction] : "host",
			s->traffic[packet_truth->traffic].name, packet_truth->reply,
			packet_truth->number, copy, rte_pktmbuf_pkt_len(m), packet != NULL);
	if (fate && fate->loss != HS_LINK_NOT_LOST)
		fprintf(file, "%s,,", hs_link_loss_name(fate->loss));
	else
		fprintf(file, "delivered,%" PRId64 ",%" PRId64, fate ? fate->wait_ns : 0,
				fate ? fate->arrives_ns : lab->now_ns);
	fprintf(file, ",%" PRId64 ",", lab_shown_ns(port->node));
	if (packet)
		write_header(file, m, packet);
	fputc('\n', file);
}

// ---- to hosts ----

static void deliver(struct hs_lab *lab, const struct lab_port *port, struct rte_mbuf *m)
{
	struct hs_packet_truth *packet_truth = packet_truth_of(lab, m);
	const struct hs_scenario_traffic *all = lab->scenario->traffic;
	uint32_t traffic = packet_truth->traffic, len = rte_pktmbuf_pkt_len(m);

	// A host takes only packets that are addressed to it.
	if ((packet_truth->reply ? all[traffic].from : all[traffic].to) != port->place) {
		rte_pktmbuf_free(m);
		return;
	}
	if (unlikely(port->queue))
		lab_queue_depart(port, packet_truth, m, NULL);
	if (unlikely(lab->config.packets))
		write_line(lab, port, m, false, NULL, NULL);
	if (unlikely(m->nb_segs > 1) && rte_pktmbuf_linearize(m) < 0)
		lab_fail(lab, -EMSGSIZE, "internal", "", "", "a frame of %u bytes came in pieces",
				len);
	else
		hs_stream_arrived(lab->run.streams[traffic], lab->now_ns, packet_truth->reply,
				packet_truth->number, rte_pktmbuf_mtod(m, const uint8_t *), len);
	lab_follow_stream(lab, traffic);
	if (likely(!lab->label) || !lab_label_deliver(port, m))
		rte_pktmbuf_free(m);
}

// ---- to links ----

void lab_put_under_way(struct hs_lab *lab, const struct lab_port *to, struct rte_mbuf *m,
		int64_t arrives_ns)
{
	struct hs_packet_truth *packet_truth = rte_mbuf_to_priv(m);

	packet_truth->port = (uint32_t)(to - lab->ports);
	if (unlikely(!lab_push(lab, arrives_ns, frame_arrives, (uintptr_t)m)))
		rte_pktmbuf_free(m);
	else if (unlikely(++lab->in_flight > lab->scenario->mbufs))
		no_buffer(lab);
}

// Puts a copy of the frame on the link. Its packet truth is the same, with the mark of a copy.
static void put_copy_on_link(struct hs_lab *lab, const struct lab_port *port, struct rte_mbuf *m,
		int64_t arrives_ns)
{
	const struct hs_packet_truth *packet_truth = rte_mbuf_to_priv(m);
	struct rte_mbuf *copy = rte_pktmbuf_copy(m, lab->pool, 0, UINT32_MAX);

	if (!copy) {
		no_buffer(lab);
		return;
	}
	struct hs_packet_truth *own = lab_begin_truth(lab, copy, packet_truth->traffic);
	// The area behind the last stop is not initialised.
	memcpy(own, packet_truth,
			offsetof(struct hs_packet_truth, stops) +
					packet_truth->n_stops * sizeof(packet_truth->stops[0]));
	own->copy = true;
	lab_put_under_way(lab, port->peer, copy, arrives_ns);
}

void lab_put_on_link(struct hs_lab *lab, const struct lab_port *port, struct rte_mbuf *m,
		const struct hs_link_fate *fates, unsigned n)
{
	if (n == 2 && fates[1].loss == HS_LINK_NOT_LOST)
		put_copy_on_link(lab, port, m, fates[1].arrives_ns);
	if (fates[0].loss == HS_LINK_NOT_LOST)
		lab_put_under_way(lab, port->peer, m, fates[0].arrives_ns);
	else
		rte_pktmbuf_free(m);
}

// Parses the frame like the node that sends it by this port. Returns whether its telemetry makes a
// report at a sink. A request, another flow's reports, INT-MX (it has no values) and INT-label (its
// items go to a controller) make none.
static bool parse(const struct lab_port *port, const struct rte_mbuf *m, struct hs_packet *packet)
{
	const struct hs_profile *profile = lab_profile(port);

	profile->family->parse(profile, rte_pktmbuf_mtod(m, const uint8_t *),
			rte_pktmbuf_data_len(m), rte_pktmbuf_pkt_len(m), packet);
	return profile->family->format && packet->flags & HS_PACKET_TELEMETRY &&
	       !(hs_profile_int(profile) && packet->trace_type & HS_INT_TRACE_MX);
}

// Sends a frame into a link. The packet departs from its node now, because the queue for the link's
// rate is a part of the link.
static void send_frame(struct hs_lab *lab, const struct lab_port *port, struct rte_mbuf *m)
{
	struct hs_packet_truth *packet_truth = packet_truth_of(lab, m);
	uint32_t len = rte_pktmbuf_pkt_len(m);
	struct hs_link_fate fates[2];
	struct hs_packet packet;
	bool makes_report = parse(port, m, &packet);
	bool telemetry = packet.flags & HS_PACKET_ANY_TELEMETRY;
	hs_truth_send(lab->run.truth, packet_truth, port->peer->node->index, len, telemetry);
	packet_truth->telemetry = makes_report;
	if (unlikely(port->queue))
		lab_queue_depart(port, packet_truth, m, &packet);
	lab_label_depart(port, packet_truth, m, &packet);
	unsigned n = hs_link_send(port->out, lab->now_ns, len, telemetry, fates);
	lab->packets++;
	for (unsigned i = 0; unlikely(lab->config.packets) && i < n; i++)
		write_line(lab, port, m, i > 0, telemetry ? &packet : NULL, &fates[i]);
	lab_put_on_link(lab, port, m, fates, n);
}

uint16_t lab_port_tx(struct hs_port *port, uint16_t queue, struct rte_mbuf **mbufs, uint16_t n)
{
	const struct lab_port *p = port->driver_data;
	struct hs_lab *lab = p->node->lab;

	(void)queue;
	for (uint16_t i = 0; i < n; i++) {
		if (unlikely(lab->probing) && lab_probe_depart(p, mbufs[i]))
			continue;
		else if (p->out)
			send_frame(lab, p, mbufs[i]);
		else
			deliver(lab, p, mbufs[i]);
	}
	return n;
}

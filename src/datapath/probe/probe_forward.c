// SPDX-License-Identifier: BSD-3-Clause
// Handles the packets of probes in a burst.
#include "probe_send.h"
#include "probe_steps.h"

#include "room.h"
#include "stage.h"

#include <string.h>

#define DEPTH_MAX 255

// The values and the way of a probe that goes on.
struct passage {
	struct hs_probe_stack stack;
	struct hs_probe_entry entry;
	struct hs_port *out; // NULL: as the node forwards other packets
	struct hs_probe_hop hop;
	uint32_t values[HS_PROBE_VALUES];
};

static const struct hs_probe_profile *profile_of(const struct hs_worker *worker)
{
	return worker->probe->node->profile;
}

static const uint8_t *frame_of(const struct hs_burst *burst, unsigned i)
{
	return rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
}

static bool refuse(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, enum hs_drop reason)
{
	hs_drop_packet(worker, burst, i, reason);
	return false;
}

// ---- feedback ----

static struct rte_mbuf *make_feedback(
		struct hs_worker *worker, const struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];
	struct rte_mbuf *m = rte_pktmbuf_alloc(worker->pool);
	uint8_t *to = m ? (uint8_t *)rte_pktmbuf_append(
					  m, (uint16_t)hs_probe_feedback_bytes(packet))
			: NULL;

	if (to)
		hs_probe_feedback(&profile_of(worker)->wire, frame_of(burst, i), packet, to);
	else
		rte_pktmbuf_free(m);
	return to ? m : NULL;
}

// Tells the node before this one that the probe came. `feedback` NULL: there was no buffer.
static void answer(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct rte_mbuf *feedback)
{
	struct rte_mbuf *probe = burst->mbufs[i];

	if (unlikely(!feedback)) {
		hs_event(worker, burst, HS_EVENT_PROBE_UNANSWERED);
		return;
	}
	burst->mbufs[i] = feedback;
	hs_port_stats_of(worker, burst->in->index)->copies++;
	hs_event(worker, burst, HS_EVENT_PROBE_ANSWERED);
	hs_probe_send(worker, burst, i, burst->in);
	burst->mbufs[i] = probe;
}

static void take_feedback(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	uint16_t id = hs_probe_id(frame_of(burst, i), &burst->packets[i]);
	bool known = hs_probe_confirm(worker->probe, burst->in->index, id);

	refuse(worker, burst, i, known ? HS_DROP_PROBE_CONFIRMED : HS_DROP_PROBE_STRAY);
}

// ---- a probe that goes on ----

// Makes the buffer the worker's own, of one segment, without Ethernet's padding.
static bool prepare(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];

	if (unlikely(!hs_make_changeable(worker, burst, i)))
		return refuse(worker, burst, i, HS_DROP_NO_MBUF);
	if (unlikely(!(packet->flags & HS_PACKET_TELEMETRY)))
		return refuse(worker, burst, i, HS_DROP_UNREADABLE);
	struct rte_mbuf *m = burst->mbufs[i];
	rte_pktmbuf_free(m->next);
	m->next = NULL;
	m->nb_segs = 1;
	m->data_len = (uint16_t)(packet->l3_off + packet->l3_bytes);
	m->pkt_len = m->data_len;
	return true;
}

static void read_values(
		struct hs_worker *worker, const struct hs_burst *burst, struct passage *passage)
{
	const struct hs_probe_entry *entry = &passage->entry;

	passage->hop = (struct hs_probe_hop){.node = (uint8_t)worker->node_id};
	if (unlikely(!hs_probe_read_register(worker, passage->stack.type, entry, passage->values)))
		hs_event(worker, burst, HS_EVENT_PROBE_BAD_RANGE);
	else
		passage->hop.n_values = (uint16_t)(entry->end - entry->first);
}

// Returns the least MTU of all ports with probes. If the node forwards the probe as other packets,
// the probe may leave by any of them.
static uint32_t least_mtu(const struct hs_worker *worker)
{
	uint32_t least = UINT16_MAX;

	for (unsigned p = 0; p < worker->n_ports; p++) {
		const struct hs_port *port = worker->ports[p];
		if (port->side == HS_SIDE_NETWORK && worker->profiles[p].family == &hs_probe_steps)
			least = RTE_MIN(least, (uint32_t)port->mtu);
	}
	return least;
}

// Reads where the probe goes and what it gets. False: it was dropped.
static bool plan(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct passage *passage)
{
	const struct hs_packet *packet = &burst->packets[i];
	const struct rte_mbuf *m = burst->mbufs[i];
	uint8_t number;

	passage->stack = hs_probe_stack_of(frame_of(burst, i), packet);
	passage->entry = hs_probe_stack_entry(&passage->stack, 0);
	number = passage->entry.port ? passage->entry.port : profile_of(worker)->monitor_port;
	passage->out = hs_probe_port(worker, number);
	if (unlikely(!passage->out && number))
		return refuse(worker, burst, i, HS_DROP_PROBE_NO_PORT);
	read_values(worker, burst, passage);
	size_t growth = hs_probe_stack_growth(passage->hop.n_values);
	uint32_t mtu = passage->out ? passage->out->mtu : least_mtu(worker);
	if (unlikely(packet->l3_bytes + growth > mtu ||
			    (rte_pktmbuf_tailroom(m) < growth && rte_pktmbuf_headroom(m) < growth)))
		return refuse(worker, burst, i, HS_DROP_PROBE_TOO_LONG);
	return true;
}

// Makes the room behind the packet that plan has found.
static void open_room(struct rte_mbuf *m, size_t growth)
{
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	size_t bytes = rte_pktmbuf_data_len(m);

	if (likely(rte_pktmbuf_tailroom(m) >= growth)) {
		rte_pktmbuf_append(m, (uint16_t)growth);
		return;
	}
	memmove(hs_room_shift(m, (int)growth), frame, bytes);
}

static void fill(struct hs_burst *burst, unsigned i, struct passage *passage, uint32_t depth)
{
	struct rte_mbuf *m = burst->mbufs[i];
	struct hs_packet *packet = &burst->packets[i];

	passage->hop.depth = (uint8_t)RTE_MIN(depth, (uint32_t)DEPTH_MAX);
	open_room(m, hs_probe_stack_growth(passage->hop.n_values));
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	struct hs_probe_stack stack = hs_probe_stack_of(frame, packet);
	hs_probe_add(frame, packet, &stack, &passage->hop, passage->values);
}

static bool is_repeated(struct hs_worker *worker, struct hs_burst *burst,
		const struct hs_probe_stack *stack)
{
	enum hs_probe_sight sight = hs_probe_see(worker->probe->node, stack->id, stack->n_entries,
			hs_burst_steady_ns(burst));

	if (unlikely(sight == HS_PROBE_AGAIN))
		hs_event(worker, burst, HS_EVENT_PROBE_LOOPED);
	if (unlikely(sight == HS_PROBE_REPEATED))
		hs_event(worker, burst, HS_EVENT_PROBE_REPEATED);
	return sight == HS_PROBE_REPEATED;
}

static void hold(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out)
{
	bool held = hs_probe_hold(worker, burst->mbufs[i], &burst->packets[i], out,
			hs_burst_steady_ns(burst));

	hs_event(worker, burst, held ? HS_EVENT_PROBE_HELD : HS_EVENT_PROBE_NOT_HELD);
}

// Sends the probe. Returns false if the port's queue is full and the probe was dropped. A copy
// waits for feedback only if the next node has an entry, too.
static bool send_on(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		struct passage *passage, bool recovers)
{
	struct hs_port *out = passage->out;
	size_t growth = hs_probe_stack_growth(passage->hop.n_values);
	uint32_t bytes = rte_pktmbuf_pkt_len(burst->mbufs[i]) + (uint32_t)growth, depth;

	if (!hs_probe_take_place(worker, burst, i, out, bytes, &depth))
		return false;
	fill(burst, i, passage, depth);
	if (recovers && passage->stack.n_entries > 1)
		hold(worker, burst, i, out);
	hs_probe_put(worker, burst, i, out);
	return true;
}

static bool pass_on(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	struct passage passage;

	if (!prepare(worker, burst, i) || !plan(worker, burst, i, &passage))
		return false;
	bool recovers = !is_repeated(worker, burst, &passage.stack) && profile_of(worker)->recovery;
	struct rte_mbuf *feedback = recovers ? make_feedback(worker, burst, i) : NULL;
	if (!passage.out) {
		fill(burst, i, &passage, 0);
		hs_probe_leave(worker, burst, i);
		// The node does not know by which port feedback would come.
		if (recovers && passage.stack.n_entries > 1)
			hs_event(worker, burst, HS_EVENT_PROBE_NOT_HELD);
	} else if (!send_on(worker, burst, i, &passage, recovers)) {
		rte_pktmbuf_free(feedback);
		return false;
	}
	hs_event(worker, burst, HS_EVENT_PROBE_FILLED);
	if (recovers)
		answer(worker, burst, i, feedback);
	return !passage.out;
}

// ---- the burst ----

static bool take_one(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];

	if (!hs_probe_has_rate(worker->probe, burst->in->index, hs_burst_steady_ns(burst)))
		return refuse(worker, burst, i, HS_DROP_PROBE_RATE);
	if (!(packet->flags & HS_PACKET_TELEMETRY))
		return refuse(worker, burst, i,
				packet->flags & HS_PACKET_SHORT ? HS_DROP_UNREADABLE
								: HS_DROP_PROBE_MALFORMED);
	if (packet->trace_type == HS_PROBE_FEEDBACK) {
		take_feedback(worker, burst, i);
		return false;
	}
	if (packet->trace_type == HS_PROBE_COLLECTS &&
			hs_probe_stack_of(frame_of(burst, i), packet).n_entries)
		return pass_on(worker, burst, i);
	return hs_probe_to_monitor(worker, burst, i);
}

void hs_probe_take(struct hs_worker *worker, struct hs_burst *burst)
{
	unsigned kept = 0;

	burst->flags = 0;
	for (unsigned i = 0; i < burst->n; i++) {
		if (burst->packets[i].flags & HS_PACKET_ANY_TELEMETRY) {
			burst->slots[i] = HS_FLOW_NONE; // probes are packets of no rule
			if (!take_one(worker, burst, i))
				continue;
		}
		burst->flags |= burst->packets[i].flags;
		burst->mbufs[kept] = burst->mbufs[i];
		burst->packets[kept] = burst->packets[i];
		burst->slots[kept] = burst->slots[i];
		kept++;
	}
	burst->n = (uint16_t)kept;
	hs_transmit(worker); // the queues have places for the rest of the burst again
}

// SPDX-License-Identifier: BSD-3-Clause
// Labels packets that leave by a host port: the host gets the packet as the other host sent it, and
// the port's item goes into the datagram alone, with the items that the packet brought.
#include "label_export.h"
#include "label_fragments.h"
#include "label_run.h"

#include <string.h>

#define MOST UINT8_MAX // items of a datagram

// The items that a packet brought wait until the packet has its place at the port.
struct hs_label_held {
	bool waits; // for the packet with this number
	unsigned i;
	unsigned int_num; // that the packet brought
	struct hs_label_export export;
	uint8_t items[(1 + MOST) * HS_LABEL_ITEM_BYTES]; // the first is the port's own
};

static void send_held(struct hs_worker *worker, struct hs_label_held *held)
{
	if (held->waits)
		hs_label_send(worker, &held->export);
	held->waits = false;
}

static void hold(struct hs_worker *worker, const struct hs_burst *burst, unsigned i)
{
	const struct hs_label_run *run = worker->run;
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	struct hs_label_held *held = run->held;

	send_held(worker, held); // of a packet that was dropped
	hs_label_export_of(&run->profile->wire, frame, &burst->packets[i], &held->export);
	memcpy(held->items + HS_LABEL_ITEM_BYTES, held->export.items,
			(size_t)HS_LABEL_ITEM_BYTES * held->export.n_items);
	held->export.items = held->items + HS_LABEL_ITEM_BYTES;
	held->int_num = burst->packets[i].trace_type;
	held->i = i;
	held->waits = true;
}

static bool take_items(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	return hs_label_end(worker, burst, i, hold);
}

// Returns whether the datagram can say that the port labelled packet i, which has no items now. If
// not, a counter says why.
static bool can_tell(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out)
{
	const uint16_t no = HS_PACKET_MALFORMED | HS_PACKET_SHORT | HS_PACKET_HIDDEN;
	const struct hs_label_run *run = worker->run;
	uint16_t flags = burst->packets[i].flags;

	if (unlikely(flags & no || !(flags & (HS_PACKET_IPV4 | HS_PACKET_IPV6))))
		hs_label_count(worker, out, HS_EVENT_UNLABELLED_CARRIER);
	else if (unlikely(flags & HS_PACKET_ANY_TELEMETRY))
		hs_label_count(worker, out, HS_EVENT_UNLABELLED_FOREIGN);
	else if (unlikely(run->held->waits && run->held->export.n_items == MOST))
		hs_label_count(worker, out, HS_EVENT_UNLABELLED_FULL);
	else
		return true;
	return false;
}

static void label(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out, unsigned int_num, struct hs_label_decision *decision)
{
	const struct hs_label_run *run = worker->run;
	const struct rte_mbuf *m = burst->mbufs[i];
	struct hs_label_held *held = run->held;

	if (!can_tell(worker, burst, i, out)) {
		if (run->specific)
			hs_flow_postpone(&worker->flows.own[burst->slots[i]]);
		return;
	}
	if (!hs_label_note(worker, burst, i, out, int_num, decision))
		return;
	if (!held->waits)
		hs_label_export_of(&run->profile->wire, rte_pktmbuf_mtod(m, const uint8_t *),
				&burst->packets[i], &held->export);
	hs_label_put_own(worker, burst, out, rte_pktmbuf_pkt_len(m), held->items);
	held->export.items = held->items;
	held->export.n_items++;
	held->export.specific |= run->specific;
	held->waits = true;
}

// Returns whether packet i begins a specific flow: a path from host to host may have this node
// alone.
static bool begins_flow(struct hs_worker *worker, const struct hs_burst *burst, unsigned i)
{
	uint32_t slot = burst->slots[i];

	if (likely(burst->in->side != HS_SIDE_HOST || slot == HS_FLOW_NONE))
		return false;
	struct hs_flow_worker *own = &worker->flows.own[slot];
	return own->trace_type & HS_RULE_TRACE_LABEL &&
	       hs_flow_due(own, &worker->rng, hs_burst_steady_ns(burst));
}

static inline void look_at(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	struct hs_label_run *run = worker->run;
	struct hs_label_held *held = run->held;

	if (unlikely(held->waits && held->i != i))
		send_held(worker, held);
	run->specific = begins_flow(worker, burst, i);
	hs_label_look(worker, burst, i, out, held->waits ? held->int_num : 0, label);
	send_held(worker, held);
}

void hs_label_run_host(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	struct hs_label_run run = hs_label_run_of(worker, burst, out->index);
	struct hs_label_held held;

	if (unlikely(burst->flags & HS_PACKET_FRAGMENT))
		end = hs_label_join(worker, burst, first, end, out);
	if (!run.port) { // the port does not label
		hs_to_host_as(worker, burst, first, end, out, hs_label_sink);
		return;
	}
	held.waits = false;
	run.held = &held;
	worker->run = &run;
	hs_to_host_each(worker, burst, first, end, out, take_items, look_at);
	send_held(worker, &held);
	worker->run = NULL;
}

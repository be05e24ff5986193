// SPDX-License-Identifier: BSD-3-Clause
// Labels packets that leave by a network port.
#include "fit.h"
#include "label_run.h"
#include "room.h"

// Returns why a packet does not grow: `growth` is the number of bytes, or a refusal.
static enum hs_event_count event_of(
		const struct hs_packet *packet, const struct hs_port *out, int growth)
{
	switch (growth) {
	case HS_LABEL_NO_CARRIER:
		return HS_EVENT_UNLABELLED_CARRIER;
	case HS_LABEL_FOREIGN:
		return HS_EVENT_UNLABELLED_FOREIGN;
	case HS_LABEL_FULL:
		return HS_EVENT_UNLABELLED_FULL;
	case HS_LABEL_NO_ROOM:
		return HS_EVENT_UNLABELLED_ROOM;
	default:
		return packet->l3_bytes + (size_t)growth > out->mtu ? HS_EVENT_UNLABELLED_MTU
								    : HS_EVENT_UNLABELLED_ROOM;
	}
}

// Counts a refusal of a rule's packet as other families do.
static void tell_rule(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out, int growth)
{
	if (growth < 0)
		hs_fit_count_option(worker, burst, &worker->flows.own[burst->slots[i]]);
	else
		hs_fits(worker, burst, i, out, (size_t)growth);
}

// Returns by how many bytes packet i is to grow. 0: the packet does not grow, and a counter says
// why.
static size_t growth_of(struct hs_worker *worker, const struct hs_burst *burst, unsigned i,
		const struct hs_port *out, const struct hs_label_settings *wire)
{
	const struct hs_packet *packet = &burst->packets[i];
	const struct rte_mbuf *m = burst->mbufs[i];
	const struct hs_label_run *run = worker->run;
	int growth = hs_label_growth(wire, rte_pktmbuf_mtod(m, const uint8_t *), packet);

	if (likely(growth > 0 && hs_may_grow(burst, i, out, (size_t)growth) &&
			    hs_room_is_there(m, (size_t)growth)))
		return (size_t)growth;
	hs_label_count(worker, out, event_of(packet, out, growth));
	if (run->specific)
		tell_rule(worker, burst, i, out, growth);
	return 0;
}

static void label(struct hs_worker *worker, struct hs_burst *burst, unsigned i,
		const struct hs_port *out, unsigned int_num, struct hs_label_decision *decision)
{
	const struct hs_label_run *run = worker->run;
	const struct hs_label_settings *wire = &run->profile->wire;
	size_t growth = growth_of(worker, burst, i, out, wire);
	struct rte_mbuf *m = burst->mbufs[i];

	if (unlikely(!growth)) {
		if (run->specific)
			hs_flow_postpone(&worker->flows.own[burst->slots[i]]);
		return;
	}
	if (!hs_label_note(worker, burst, i, out, int_num, decision))
		return;
	uint8_t *item = hs_label_insert(
			wire, hs_room_open(m, growth), &burst->packets[i], growth, run->specific);
	if (unlikely(hs_label_put_own(worker, burst, out, rte_pktmbuf_pkt_len(m), item)))
		// When the packet leaves, the depth of the queue is written into this item.
		hs_egress_mark(worker->egress[out->index], item + HS_LABEL_DEQUEUE);
}

// Notes whether packet i, which hs_flow_due names, is of a specific flow.
static inline void mark_specific(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	struct hs_label_run *run = worker->run;

	(void)out;
	run->specific = worker->flows.own[burst->slots[i]].trace_type & HS_RULE_TRACE_LABEL;
}

static inline __attribute__((always_inline)) void look_at(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i, struct hs_port *out)
{
	const struct hs_packet *packet = &burst->packets[i];
	unsigned int_num = packet->flags & HS_PACKET_TELEMETRY ? packet->trace_type : 0;

	hs_label_look(worker, burst, i, out, int_num, label);
}

bool hs_label_is_run_due(const struct hs_worker *worker, const struct hs_burst *burst,
		const struct hs_port *out)
{
	const struct hs_label_profile *profile = worker->profiles[out->index].settings;
	const struct hs_label_port *port = worker->labels[out->index];

	return port && (profile->rule.chance[0] || hs_label_is_due(&profile->rule, port,
								   hs_burst_steady_ns(burst)));
}

void hs_label_run_network(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	struct hs_label_run run = hs_label_run_of(worker, burst, out->index);

	worker->run = &run;
	if (burst->in->side == HS_SIDE_HOST)
		hs_to_network_each(worker, burst, first, end, out, HS_AT_SOURCE, mark_specific,
				look_at);
	else if (burst == &worker->beyond)
		hs_to_network_each(worker, burst, first, end, out, HS_AT_BORDER, mark_specific,
				look_at);
	else // the packet says whether it is of a specific flow
		hs_to_network_each(
				worker, burst, first, end, out, HS_IN_TRANSIT, hs_no_step, look_at);
	worker->run = NULL;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "qos_order.h"

#include "qos_delays.h"
#include "qos_reorder.h"
#include "qos_sum.h"

#include <stdlib.h>

#define MS   1000000ll
#define NEAR 64 // reports that are searched for a neighbour on the same link

// A source's stamps and counts grow together. A packet with an older count and a stamp this much
// newer comes from a source that restarted. (Workers of one source may be a burst apart.)
#define RESTART_NS (100 * MS)
// No software source sends faster. No network loses this much between two sampled packets.
#define MIN_PACKET_NS	    5
#define IMPLAUSIBLE_PACKETS (1ll << 28)
// More late packets than the missing ones by this many are not reordering.
#define HELD_PACKETS 64
// A burst of each of several workers.
#define YOUNG_PACKETS 64
#define LATE_PACKETS  256
// A surplus of received packets up to this, or half of the packets sent, may be reordering.
#define SURPLUS_PACKETS 16

// Returns how much newer than the newest a report is, by the best count there is (serial
// arithmetic). All packets of a burst have the same stamp. If there is only the stamp, the packets
// of a burst are in the order of arrival.
static int64_t order_ahead(const struct hs_report *newest, const struct hs_report *report)
{
	const struct hs_e2e *edge = &newest->telemetry.e2e, *e2e = &report->telemetry.e2e;
	uint16_t bits = edge->bitmap & e2e->bitmap;
	if (bits & HS_E2E_TX_PACKETS)
		return (int32_t)(e2e->tx_packets - edge->tx_packets);
	if (bits & HS_E2E_INT_PACKETS)
		return (int32_t)(e2e->int_packets - edge->int_packets);
	if (!(bits & HS_E2E_TIMESTAMP))
		return 1;
	int64_t arrived = (int64_t)(report->sink_rx_packets - newest->sink_rx_packets);
	int64_t ahead = (int64_t)(e2e->ts_ns - edge->ts_ns);
	return ahead ? ahead : (arrived > 0) - (arrived < 0);
}

static int64_t may_come_late(const struct hs_qos_flow *flow)
{
	return flow->missing + flow->missing_before;
}

// Returns how many packets may have been under way during a pause: they were sent before the pause
// and received after it. A source that restarts so early cannot have lost more packets than it had
// sent.
static int64_t may_have_waited(const struct hs_qos_flow *flow)
{
	int64_t deficit = flow->deficit < flow->slack ? flow->deficit : flow->slack;
	int64_t late = may_come_late(flow);
	return late > deficit ? late : deficit;
}

void hs_qos_order_begin(struct hs_qos_flow *flow, const struct hs_report *report)
{
	int64_t received = flow->has_edge ? 0 : (int64_t)(uint32_t)report->sink_rx_packets;
	int64_t ahead = (int64_t)report->telemetry.e2e.tx_packets - received;
	flow->deficit += ahead > 0 ? ahead : 0;
	if (flow->deficit > flow->slack)
		flow->deficit = flow->slack;
}

void hs_qos_order_note_step(struct hs_qos_flow *flow, const struct hs_qos_delta *e2e)
{
	if (!(e2e->has & HS_QOS_HAS_LOSS))
		return;
	flow->missing += e2e->lost;
	flow->deficit += e2e->lost;
	if (flow->deficit < 0)
		flow->deficit = 0;
	flow->missing_sent += e2e->tx;
	if (flow->missing < 0) { // packets missing before have come
		int64_t left = flow->missing_before + flow->missing;
		flow->missing_before = left > 0 ? left : 0;
		flow->missing = 0;
	}
	if (flow->missing_sent <= flow->slack)
		return;
	flow->missing_before = flow->missing;
	flow->missing = flow->missing_sent = 0;
}

// Returns how long ago a report newer than this order came.
static int64_t held_ns(const struct hs_qos_flow *flow, int64_t order, int64_t now_ns)
{
	struct hs_report newer;
	for (unsigned i = 0; i < flow->n_seen; i++) {
		unsigned at = (flow->seen_head + i) & (flow->seen_capacity - 1);
		if (flow->seen[at].order <= order ||
				flow->seen[at].number < hs_qos_ring_oldest(&flow->ring))
			continue;
		hs_qos_ring_get(&flow->ring, flow->seen[at].number, &newer);
		return now_ns - newer.sink_ts_ns;
	}
	return 0;
}

// Returns whether late reports show a restart of a source without stamps. A restart at a count just
// below that of the newest report looks like reordering at first. But only packets that were
// missing come late, they come between newer ones, and they come soon.
static bool late_for_too_long(
		struct hs_qos_flow *flow, const struct hs_report *report, int64_t ahead, bool sent)
{
	int64_t order = hs_qos_plus(flow->edge_order, ahead);
	bool ascends = flow->late_in_row && order > flow->late_order;
	flow->late_in_row = ascends ? flow->late_in_row + 1 : 1;
	flow->late_order = order;
	if (flow->late_in_row < 3)
		return false;
	int64_t received = (int64_t)(report->sink_rx_packets - flow->edge.sink_rx_packets);
	if (sent && received <= may_come_late(flow))
		return false;
	return held_ns(flow, order, report->sink_ts_ns) > HS_QOS_HELD_NS ||
	       (sent && received > -ahead && received > may_come_late(flow) + HELD_PACKETS);
}

void hs_qos_order_restart(struct hs_qos_flow *flow, const struct hs_report *report)
{
	const struct hs_e2e *e2e = &report->telemetry.e2e;
	flow->restarted = true;
	flow->restart_tx_packets = e2e->tx_packets;
	flow->restart_ts_ns = e2e->ts_ns;
	flow->restart_sink_ts_ns = report->sink_ts_ns;
}

// Returns whether all packets of a count may have been sent since the newest report.
static bool is_young(const struct hs_qos_flow *flow, const struct hs_report *report)
{
	const struct hs_e2e *e2e = &report->telemetry.e2e;
	int64_t received = (int64_t)(report->sink_rx_packets - flow->edge.sink_rx_packets);
	bool sent = flow->edge.telemetry.e2e.bitmap & e2e->bitmap & HS_E2E_TX_PACKETS;
	return received >= 0 &&
	       (sent ? e2e->tx_packets : e2e->int_packets) <= 2 * received + YOUNG_PACKETS;
}

// Returns whether a report without stamps is later than any network delays a packet, or late by far
// more packets than were missing.
static bool too_late(const struct hs_qos_flow *flow, const struct hs_report *report, int64_t ahead,
		bool sent)
{
	if (!is_young(flow, report))
		return false;
	return report->sink_ts_ns - flow->edge.sink_ts_ns > HS_QOS_HELD_NS ||
	       (sent && -ahead > may_come_late(flow) + LATE_PACKETS);
}

static enum hs_qos_relation relate_back(struct hs_qos_flow *flow, const struct hs_report *report,
		int64_t ahead, bool stamped, int64_t elapsed_ns)
{
	bool far_back = ahead < -(int64_t)flow->slack;
	bool sent = flow->edge.telemetry.e2e.bitmap & report->telemetry.e2e.bitmap &
		    HS_E2E_TX_PACKETS;
	bool anew;
	if (stamped)
		anew = elapsed_ns > RESTART_NS ||
		       (elapsed_ns > 0 && (far_back || is_young(flow, report)));
	else
		anew = far_back || too_late(flow, report, ahead, sent) ||
		       late_for_too_long(flow, report, ahead, sent);
	return anew ? HS_QOS_NEW_EPOCH : HS_QOS_LATE;
}

// Relates a report whose count equals that of the newest. One packet has one count and one stamp.
// Two workers of a source may use a count twice within a burst. Without stamps, a report that comes
// so late and after so many packets is no copy of the newest.
static enum hs_qos_relation relate_equal(
		struct hs_qos_flow *flow, const struct hs_report *report, bool stamped)
{
	const struct hs_e2e *edge = &flow->edge.telemetry.e2e, *e2e = &report->telemetry.e2e;
	int64_t elapsed_ns = (int64_t)(e2e->ts_ns - edge->ts_ns);
	if (stamped && elapsed_ns >= -MS && elapsed_ns <= MS)
		return HS_QOS_DUPLICATE;
	if (stamped)
		return elapsed_ns > 0 ? HS_QOS_NEW_EPOCH : HS_QOS_LATE;
	int64_t received = (int64_t)(report->sink_rx_packets - flow->edge.sink_rx_packets);
	return report->sink_ts_ns - flow->edge.sink_ts_ns > RESTART_NS &&
					       received > may_come_late(flow) + HELD_PACKETS
			       ? HS_QOS_NEW_EPOCH
			       : HS_QOS_DUPLICATE;
}

// Returns whether the sink's own count went back while its stamp went forward.
static bool sink_restarted(
		const struct hs_qos_flow *flow, const struct hs_report *report, int64_t ahead)
{
	int64_t received = (int64_t)(report->sink_rx_packets - flow->edge.sink_rx_packets);
	int64_t elapsed_ns = report->sink_ts_ns - flow->edge.sink_ts_ns;
	bool plausible = received >= -(int64_t)flow->slack && received <= HS_QOS_MOST_PACKETS;
	return !plausible ||
	       (received < 0 && ahead > 0 && elapsed_ns > 0 &&
			       (elapsed_ns > RESTART_NS || report->sink_rx_packets <= flow->slack));
}

// Returns whether counts cannot belong to one epoch: the sink received more than was sent, or the
// source's count went back although serial arithmetic shows a step forward.
static bool counts_disagree(const struct hs_qos_flow *flow, const struct hs_report *report,
		int64_t sent, bool stamped, int64_t elapsed_ns, bool *doubtful)
{
	int64_t received = (int64_t)(report->sink_rx_packets - flow->edge.sink_rx_packets);
	int64_t slack = flow->slack;
	if (sent - received < -slack)
		return true;
	if (sent >= IMPLAUSIBLE_PACKETS && received < sent / 2)
		return true;
	if (!stamped || elapsed_ns < 0)
		return false;
	// The first reports after a restart may be lost. Then the new count may have passed the old
	// one already.
	int64_t most = may_have_waited(flow) +
		       (sent > 2 * SURPLUS_PACKETS ? sent / 2 : SURPLUS_PACKETS);
	if (sent - slack > elapsed_ns / MIN_PACKET_NS)
		return true;
	if (elapsed_ns <= RESTART_NS || received - sent <= most)
		return false;
	int64_t passed_ns =
			(int64_t)((uint64_t)report->sink_ts_ns - (uint64_t)flow->edge.sink_ts_ns);
	*doubtful = received - sent <= hs_qos_reorder_under_way(flow, flow->ring.next,
						       received > sent ? received : sent,
						       passed_ns);
	return !*doubtful;
}

enum hs_qos_relation hs_qos_order_relate(struct hs_qos_flow *flow, const struct hs_report *report,
		int64_t *ahead, bool *doubtful)
{
	*ahead = 0;
	if (!flow->has_edge)
		return HS_QOS_FIRST;
	if (flow->new_time) {
		flow->new_time = false;
		return HS_QOS_NEW_EPOCH;
	}
	const struct hs_e2e *edge = &flow->edge.telemetry.e2e;
	const struct hs_e2e *e2e = &report->telemetry.e2e;
	uint16_t bits = edge->bitmap & e2e->bitmap;
	bool stamped = bits & HS_E2E_TIMESTAMP;
	int64_t elapsed_ns = (int64_t)(e2e->ts_ns - edge->ts_ns);
	*ahead = order_ahead(&flow->edge, report);
	bool counted = bits & (HS_E2E_TX_PACKETS | HS_E2E_INT_PACKETS);
	if (sink_restarted(flow, report, *ahead))
		return HS_QOS_NEW_EPOCH;
	if (!*ahead)
		return counted ? relate_equal(flow, report, stamped) : HS_QOS_DUPLICATE;
	if (*ahead < 0 && counted)
		return relate_back(flow, report, *ahead, stamped, elapsed_ns);
	if (*ahead < 0 && !hs_qos_flow_source_went_back(flow, report))
		return HS_QOS_LATE;
	if (*ahead < 0) {
		*ahead = 1;
		return HS_QOS_NEWER;
	}
	if (bits & HS_E2E_TX_PACKETS && stamped && hs_qos_flow_is_of_life_before(flow, report))
		return HS_QOS_STRAGGLER;
	if (counted && stamped && *ahead > flow->slack && elapsed_ns < -RESTART_NS &&
			++flow->stragglers < 3)
		return HS_QOS_STRAGGLER;
	flow->stragglers = 0;
	if (!(bits & HS_E2E_TX_PACKETS) ||
			!counts_disagree(flow, report, *ahead, stamped, elapsed_ns, doubtful)) {
		flow->disagreements = 0;
		return HS_QOS_NEWER;
	}
	// One disagreement is a restart. Repeated disagreements are rules that differ, or
	// duplicates.
	return flow->disagreements++ ? HS_QOS_NEWER : HS_QOS_NEW_EPOCH;
}

// ---- jitter of late reports (rule 18) ----

static unsigned seen_index(const struct hs_qos_flow *flow, unsigned i)
{
	return (flow->seen_head + i) & (flow->seen_capacity - 1);
}

void hs_qos_order_forget(struct hs_qos_flow *flow)
{
	flow->n_seen = 0;
	flow->seen_lost = false;
	flow->seen_from = flow->ring.next - 1;
}

static void drop_oldest(struct hs_qos_flow *flow)
{
	flow->seen_head = seen_index(flow, 1);
	flow->n_seen--;
	flow->seen_lost = true;
}

void hs_qos_order_newest(struct hs_qos_flow *flow, int64_t order, uint64_t number)
{
	flow->late_in_row = 0;
	if (flow->n_seen == flow->seen_capacity)
		drop_oldest(flow);
	flow->seen[seen_index(flow, flow->n_seen++)] = (struct hs_qos_seen){order, number};
}

// Does what hs_qos_order_note_step does with each of these steps. The steps lose nothing.
static void note_sent(struct hs_qos_flow *flow, const struct hs_packed *before,
		const struct hs_packed *const *reports, unsigned n)
{
	uint32_t sent = reports[n - 1]->tx_packets - before->tx_packets;
	if (flow->missing_sent + sent <= flow->slack) {
		flow->missing_sent += sent;
		return;
	}
	for (unsigned i = 0; i < n; before = reports[i++]) {
		const struct hs_qos_delta e2e = {.has = HS_QOS_HAS_LOSS,
				.tx = reports[i]->tx_packets - before->tx_packets};
		hs_qos_order_note_step(flow, &e2e);
	}
}

void hs_qos_order_newest_run(struct hs_qos_flow *flow, const struct hs_packed *before,
		const struct hs_packed *const *reports, unsigned n)
{
	const struct hs_packed *last = reports[n - 1];
	unsigned begin = flow->seen_head + flow->n_seen, all = flow->n_seen + n;
	unsigned kept = n < flow->seen_capacity ? n : flow->seen_capacity;
	note_sent(flow, before, reports, n);
	flow->late_in_row = 0;
	flow->edge_order = hs_qos_plus(flow->edge_order, last->tx_packets - before->tx_packets);
	for (unsigned i = n - kept; i < n; i++) {
		uint32_t newer = last->tx_packets - reports[i]->tx_packets;
		flow->seen[(begin + i) & (flow->seen_capacity - 1)] =
				(struct hs_qos_seen){hs_qos_plus(flow->edge_order, -(int64_t)newer),
						flow->ring.next - n + i};
	}
	if (all > flow->seen_capacity) {
		flow->seen_head = seen_index(flow, all - flow->seen_capacity);
		flow->seen_lost = true;
		all = flow->seen_capacity;
	}
	flow->n_seen = all;
}

// Returns the index of the first seen report that is newer than this order. Sets *there if a
// seen report has this order.
static unsigned seen_position(const struct hs_qos_flow *flow, int64_t order, bool *there)
{
	unsigned i = flow->n_seen;
	while (i > 0 && flow->seen[seen_index(flow, i - 1)].order > order)
		i--;
	*there = i > 0 && flow->seen[seen_index(flow, i - 1)].order == order;
	return i;
}

static void see_at(struct hs_qos_flow *flow, unsigned position, int64_t order, uint64_t number)
{
	if (flow->n_seen == flow->seen_capacity) {
		if (!position) { // this is the oldest
			flow->seen_lost = true;
			return;
		}
		drop_oldest(flow);
		position--;
	}
	for (unsigned i = flow->n_seen++; i > position; i--)
		flow->seen[seen_index(flow, i)] = flow->seen[seen_index(flow, i - 1)];
	flow->seen[seen_index(flow, position)] = (struct hs_qos_seen){order, number};
}

// Grows the memory of seen reports once, and fills it with the reports that the ring still has.
// Returns false if it has grown already, or if there is no memory.
static bool remember_more(struct hs_qos_flow *flow)
{
	struct hs_report report;
	struct hs_qos_seen *more = flow->seen_capacity < HS_QOS_SEEN
						   ? malloc(HS_QOS_SEEN * sizeof(*more))
						   : NULL;
	if (!more)
		return false;
	flow->seen = more;
	flow->seen_capacity = HS_QOS_SEEN;
	flow->seen_head = flow->n_seen = 0;
	uint64_t oldest = hs_qos_ring_oldest(&flow->ring);
	uint64_t number = flow->seen_from > oldest ? flow->seen_from : oldest;
	flow->seen_lost = number > flow->seen_from;
	for (; number + 1 < flow->ring.next; number++) {
		bool there;
		hs_qos_ring_get(&flow->ring, number, &report);
		int64_t order = hs_qos_plus(flow->edge_order, order_ahead(&flow->edge, &report));
		unsigned position = seen_position(flow, order, &there);
		if (!there)
			see_at(flow, position, order, number);
	}
	return true;
}

static bool delay_on(const struct hs_qos_flow *flow, uint64_t number, uint16_t link, int64_t *delay)
{
	struct hs_qos_delays delays;
	hs_qos_delays_of(flow, number, &delays);
	for (unsigned i = 0; i < delays.n; i++) {
		if (delays.links[i] == link) {
			*delay = delays.ns[i];
			return true;
		}
	}
	return false;
}

enum found {
	FOUND,
	NONE,
	UNKNOWN
};

// Finds the nearest report in source order that has a delay on the link, from `i` in direction
// `step`.
static enum found neighbour(const struct hs_qos_flow *flow, int i, int step, uint16_t link,
		int64_t *delay, uint64_t *number)
{
	for (unsigned n = 0; n < NEAR; i += step, n++) {
		if (i >= (int)flow->n_seen || (i < 0 && !flow->seen_lost))
			return NONE;
		if (i < 0)
			return UNKNOWN;
		*number = flow->seen[seen_index(flow, (unsigned)i)].number;
		if (*number < hs_qos_ring_oldest(&flow->ring))
			return UNKNOWN;
		if (delay_on(flow, *number, link, delay))
			return FOUND;
	}
	return UNKNOWN;
}

// Puts a late report between two reports that were a pair. Removes their pair and adds two new
// ones, each to the window of its later packet. Pairs of closed windows do not change.
static bool late_pair(struct hs_qos_flow *flow, struct hs_qos_sum *sum, unsigned position,
		uint16_t link, int64_t delay)
{
	int64_t before, after;
	uint64_t number;
	int at = (int)position;
	enum found is_before = neighbour(flow, at - 1, -1, link, &before, &number);
	enum found is_after = neighbour(flow, at, 1, link, &after, &number);
	if (is_before == UNKNOWN || is_after == UNKNOWN)
		return false;
	if (is_after == FOUND) {
		struct hs_qos_sum *later =
				hs_qos_flow_sum(flow, hs_qos_ring_window(&flow->ring, number));
		if (later && is_before == FOUND)
			hs_qos_sum_add_pair(&later->links[link], after, before, -1);
		if (later) // else its window is closed
			hs_qos_sum_add_pair(&later->links[link], after, delay, 1);
	} else {
		flow->links[link].has_ordered = true;
		flow->links[link].ordered = delay;
	}
	if (is_before == FOUND)
		hs_qos_sum_add_pair(&sum->links[link], delay, before, 1);
	return true;
}

// Marks the open windows of a late report whose neighbours are not remembered. Some window has a
// wrong pair and lacks two.
static void leave_unpaired(struct hs_qos_flow *flow, struct hs_qos_sum *sum, uint16_t link)
{
	sum->links[link].unpaired = true;
	for (unsigned i = HS_QOS_CURRENT; i <= HS_QOS_CLOSING; i++)
		if (flow->sums[i].open)
			flow->sums[i].links[link].unpaired = true;
}

void hs_qos_order_late(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_qos_plan *plan, unsigned n, const uint16_t *links,
		const int64_t *delays)
{
	bool there;
	unsigned position = seen_position(flow, plan->order, &there);
	if (!position && flow->seen_lost && remember_more(flow))
		position = seen_position(flow, plan->order, &there);
	if (there)
		return;
	for (unsigned i = 0; i < n; i++)
		if (!late_pair(flow, sum, position, links[i], delays[i]))
			leave_unpaired(flow, sum, links[i]);
	if (position || !flow->seen_lost)
		see_at(flow, position, plan->order, flow->ring.next - 1);
}

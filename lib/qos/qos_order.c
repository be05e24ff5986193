// SPDX-License-Identifier: BSD-3-Clause
#include "qos_order.h"

#include "qos_sum.h"

#define MS 1000000ll

// A source's stamps and counts run together: a packet with an older count and a stamp this much
// newer (workers of one source may be a burst apart) comes from a source that began anew.
#define RESTART_NS (100 * MS)
// No software source sends faster, and no network loses this much between two sampled packets.
#define MIN_PACKET_NS	    5
#define IMPLAUSIBLE_PACKETS (1ll << 28)

// How much newer than the newest a report is, by the best count there is (serial arithmetic).
static int64_t order_ahead(const struct hs_flexint_e2e *edge, const struct hs_flexint_e2e *e2e)
{
	uint16_t bits = edge->bitmap & e2e->bitmap;
	if (bits & HS_E2E_TX_PACKETS)
		return (int32_t)(e2e->tx_packets - edge->tx_packets);
	if (bits & HS_E2E_INT_PACKETS)
		return (int32_t)(e2e->int_packets - edge->int_packets);
	if (bits & HS_E2E_TIMESTAMP)
		return (int64_t)(e2e->ts_ns - edge->ts_ns);
	return 1;
}

static enum hs_qos_relation relate_back(
		const struct hs_qos_flow *flow, int64_t ahead, bool stamped, int64_t elapsed_ns)
{
	bool far_back = ahead < -(int64_t)flow->slack;
	if (!stamped)
		return far_back ? HS_QOS_NEW_EPOCH : HS_QOS_LATE;
	return elapsed_ns > RESTART_NS || (far_back && elapsed_ns > 0) ? HS_QOS_NEW_EPOCH
								       : HS_QOS_LATE;
}

// Counts that cannot belong to one epoch: the sink received more than was sent, or the source's
// serial step forward is really one back.
static bool counts_disagree(const struct hs_qos_flow *flow, const struct hs_report *report,
		int64_t sent, bool stamped, int64_t elapsed_ns)
{
	int64_t received = (int64_t)(report->sink_rx_packets - flow->edge.sink_rx_packets);
	int64_t slack = flow->slack;
	if (received < -slack || sent - received < -slack)
		return true;
	if (sent >= IMPLAUSIBLE_PACKETS && received < sent / 2)
		return true;
	return stamped && elapsed_ns >= 0 && sent - slack > elapsed_ns / MIN_PACKET_NS;
}

enum hs_qos_relation hs_qos_order_relate(
		struct hs_qos_flow *flow, const struct hs_report *report, int64_t *ahead)
{
	*ahead = 0;
	if (!flow->has_edge)
		return HS_QOS_FIRST;
	const struct hs_flexint_e2e *edge = &flow->edge.telemetry.e2e;
	const struct hs_flexint_e2e *e2e = &report->telemetry.e2e;
	uint16_t bits = edge->bitmap & e2e->bitmap;
	bool stamped = bits & HS_E2E_TIMESTAMP;
	int64_t elapsed_ns = (int64_t)(e2e->ts_ns - edge->ts_ns);
	*ahead = order_ahead(edge, e2e);
	if (!*ahead)
		return HS_QOS_DUPLICATE;
	bool counted = bits & (HS_E2E_TX_PACKETS | HS_E2E_INT_PACKETS);
	if (*ahead < 0)
		return counted ? relate_back(flow, *ahead, stamped, elapsed_ns) : HS_QOS_LATE;
	if (counted && stamped && elapsed_ns<-RESTART_NS && * ahead> flow->slack &&
			++flow->stragglers < 3)
		return HS_QOS_STRAGGLER;
	flow->stragglers = 0;
	if (!(bits & HS_E2E_TX_PACKETS) ||
			!counts_disagree(flow, report, *ahead, stamped, elapsed_ns)) {
		flow->disagreements = 0;
		return HS_QOS_NEWER;
	}
	// Once is a restart; again and again is what rules that differ, or duplicates, look like.
	return flow->disagreements++ ? HS_QOS_NEWER : HS_QOS_NEW_EPOCH;
}

// ---- jitter of late reports (rule 18) ----

static unsigned seen_index(const struct hs_qos_flow *flow, unsigned i)
{
	return (flow->seen_head + i) % HS_QOS_SEEN;
}

void hs_qos_order_newest(struct hs_qos_flow *flow, int64_t order, uint64_t number)
{
	if (flow->n_seen == HS_QOS_SEEN) {
		flow->seen_head = seen_index(flow, 1);
		flow->n_seen--;
	}
	unsigned at = seen_index(flow, flow->n_seen++);
	flow->seen[at].order = order;
	flow->seen[at].number = number;
}

// Where a late report stands among the seen: the index of the first that is newer; -1 where it is
// older than all that are remembered, or is there already.
static int seen_position(const struct hs_qos_flow *flow, int64_t order)
{
	unsigned i = flow->n_seen;
	while (i > 0 && flow->seen[seen_index(flow, i - 1)].order > order)
		i--;
	if (i > 0 && flow->seen[seen_index(flow, i - 1)].order == order)
		return -1;
	return i == 0 && flow->n_seen == HS_QOS_SEEN ? -1 : (int)i;
}

static void see_late(struct hs_qos_flow *flow, int position, int64_t order, uint64_t number)
{
	if (flow->n_seen == HS_QOS_SEEN) {
		flow->seen_head = seen_index(flow, 1);
		flow->n_seen--;
		position--;
	}
	for (unsigned i = flow->n_seen++; (int)i > position; i--)
		flow->seen[seen_index(flow, i)] = flow->seen[seen_index(flow, i - 1)];
	unsigned at = seen_index(flow, (unsigned)position);
	flow->seen[at].order = order;
	flow->seen[at].number = number;
}

static bool delay_on(const struct hs_qos_flow *flow, uint64_t number, uint16_t link, int64_t *delay)
{
	uint16_t links[HS_QOS_MAX_LINKS + 1];
	int64_t delays[HS_QOS_MAX_LINKS + 1];
	struct hs_report report;
	if (number < hs_qos_ring_oldest(&flow->ring))
		return false;
	hs_qos_ring_get(&flow->ring, number, &report);
	unsigned n = hs_qos_flow_delays(flow, &report, number, links, delays);
	for (unsigned i = 0; i < n; i++) {
		if (links[i] == link) {
			*delay = delays[i];
			return true;
		}
	}
	return false;
}

// The neighbour in source order that was on the link too, looking from `i` in direction `step`.
static bool neighbour(const struct hs_qos_flow *flow, int i, int step, uint16_t link,
		int64_t *delay, uint64_t *number)
{
	for (; i >= 0 && i < (int)flow->n_seen; i += step) {
		*number = flow->seen[seen_index(flow, (unsigned)i)].number;
		if (delay_on(flow, *number, link, delay))
			return true;
	}
	return false;
}

// A late report comes between two that were a pair: their pair goes, two new ones come, each into
// the window of its later packet. Pairs of windows that are closed stay as they are.
static void late_pair(struct hs_qos_flow *flow, struct hs_qos_sum *sum, int position, uint16_t link,
		int64_t delay)
{
	int64_t before, after;
	uint64_t number;
	bool has_before = neighbour(flow, position - 1, -1, link, &before, &number);
	if (!has_before && flow->n_seen == HS_QOS_SEEN)
		return;
	if (neighbour(flow, position, 1, link, &after, &number)) {
		struct hs_qos_sum *later =
				hs_qos_flow_sum(flow, hs_qos_ring_tag(&flow->ring, number));
		if (!later)
			return;
		if (has_before)
			hs_qos_sum_add_pair(&later->links[link], after, before, -1);
		hs_qos_sum_add_pair(&later->links[link], after, delay, 1);
	} else {
		flow->links[link].has_ordered = true;
		flow->links[link].ordered = delay;
	}
	if (has_before)
		hs_qos_sum_add_pair(&sum->links[link], delay, before, 1);
}

void hs_qos_order_late(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_qos_plan *plan, unsigned n, const uint16_t *links,
		const int64_t *delays)
{
	int position = seen_position(flow, plan->order);
	if (position < 0)
		return;
	for (unsigned i = 0; i < n; i++)
		late_pair(flow, sum, position, links[i], delays[i]);
	see_late(flow, position, plan->order, flow->ring.next - 1);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "qos_partial.h"

#include "qos_reorder.h"
#include "qos_sum.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

// The entries of the nodes at the ends of a link, in a report. `from` NULL: the source; `to` NULL:
// the sink.
struct ends {
	const struct hs_hop *from, *to;
};

static struct ends ends_of(
		const struct hs_report *report, const uint8_t *at, unsigned n, unsigned link)
{
	const struct hs_hop *hops = report->telemetry.hops;
	return (struct ends){
			.from = link > 0 ? &hops[at[link - 1]] : NULL,
			.to = link < n ? &hops[at[link]] : NULL,
	};
}

static bool has(const struct hs_report *report, const struct ends *ends, enum hs_qos_count count)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	uint16_t to = ends->to ? ends->to->bitmap : HS_HOP_MEASURED;
	bool bytes = to & HS_HOP_BYTES;
	switch (count) {
	case HS_QOS_COUNT_LOSS:
		return (ends->from ? ends->from->bitmap & HS_HOP_PACKETS
				   : telemetry->e2e.bitmap & HS_E2E_TX_PACKETS) &&
		       to & HS_HOP_PACKETS;
	case HS_QOS_COUNT_NODE:
		return ends->to && to & HS_HOP_PACKETS;
	case HS_QOS_COUNT_BYTES:
		return bytes;
	case HS_QOS_COUNT_SPAN:
		return to & HS_HOP_TIMESTAMP;
	default:
		return bytes && to & HS_HOP_TIMESTAMP;
	}
}

static void set_mark(
		struct hs_qos_mark *mark, const struct hs_report *report, const struct ends *ends)
{
	mark->valid = true;
	mark->e2e = report->telemetry.e2e;
	if (ends->from)
		mark->from = *ends->from;
	if (ends->to)
		mark->to = *ends->to;
	mark->sink_ts_ns = report->sink_ts_ns;
	mark->sink_rx_packets = report->sink_rx_packets;
	mark->sink_rx_bytes = report->sink_rx_bytes;
}

// Returns the fields that all entries have.
static unsigned fields_of(const struct hs_report *report)
{
	unsigned bits = HS_HOP_MEASURED;
	for (unsigned i = 0; i < report->telemetry.n_hops; i++)
		bits &= report->telemetry.hops[i].bitmap;
	return bits;
}

static bool is_whole(const struct hs_report *report)
{
	return !(report->telemetry.trace_type & HS_HOP_MEASURED & ~fields_of(report));
}

// ---- the step of one count ----

// Makes a report of the needed nodes alone. The other nodes count as nodes without counts.
static void reduce(const struct hs_qos_mark *mark, bool from, bool to, struct hs_report *report)
{
	struct hs_decoded *telemetry = &report->telemetry;
	telemetry->e2e = mark->e2e;
	telemetry->n_hops = 0;
	if (from)
		telemetry->hops[telemetry->n_hops++] = mark->from;
	if (to)
		telemetry->hops[telemetry->n_hops++] = mark->to;
	report->sink_ts_ns = mark->sink_ts_ns;
	report->sink_rx_packets = mark->sink_rx_packets;
	report->sink_rx_bytes = mark->sink_rx_bytes;
}

// Computes the step from mark a to mark b. Returns its flags.
static uint32_t step_between(const struct hs_qos_flow *flow, const struct hs_qos_mark *a,
		const struct hs_qos_mark *b, const struct ends *ends, enum hs_qos_count count,
		struct hs_qos_delta *delta)
{
	struct hs_report report_a, report_b;
	struct hs_qos_step step;
	struct hs_qos_chain chain = {.at_a = {0, 1}, .at_b = {0, 1}};
	bool from = ends->from && count == HS_QOS_COUNT_LOSS, to = ends->to;
	unsigned link = from;

	chain.n = from + to;
	chain.joined[link] = true;
	reduce(a, from, to, &report_a);
	reduce(b, from, to, &report_b);
	hs_qos_reorder_step(flow, &report_a, &report_b, &chain, &step);
	*delta = step.links[link];
	return step.flags;
}

// Returns with which count the packets received at the link's far end are added. The sink's own
// counts are in each report. A first node's loss needs a count of the source, which may not be
// carried.
static enum hs_qos_count count_of_received(const struct hs_report *report, const struct ends *ends)
{
	if (!ends->to)
		return HS_QOS_COUNT_BYTES;
	if (!ends->from && !(report->telemetry.e2e.bitmap & HS_E2E_TX_PACKETS))
		return HS_QOS_COUNT_NODE;
	return HS_QOS_COUNT_LOSS;
}

static void add(struct hs_qos_link_sum *sum, const struct hs_qos_delta *delta,
		enum hs_qos_count received, enum hs_qos_count count)
{
	struct hs_qos_delta part = {0};
	switch (count) {
	case HS_QOS_COUNT_LOSS:
		part.has = delta->has & HS_QOS_HAS_LOSS;
		part.lost = delta->lost;
		part.tx = delta->tx;
		break;
	case HS_QOS_COUNT_NODE:
		part.has = delta->has & HS_QOS_HAS_NODE_LOSS;
		part.node_lost = delta->node_lost;
		break;
	case HS_QOS_COUNT_BYTES:
		part.has = delta->has & HS_QOS_HAS_BYTES;
		part.rx_bytes = delta->rx_bytes;
		break;
	case HS_QOS_COUNT_SPAN:
		part.has = delta->has & HS_QOS_HAS_SPAN;
		part.span_start_ns = delta->span_start_ns;
		part.span_end_ns = delta->span_end_ns;
		break;
	default:
		hs_qos_sum_add_rate(sum, delta, 1);
		return;
	}
	if (count == received) {
		part.has |= delta->has & HS_QOS_HAS_RX_PACKETS;
		part.rx = delta->rx;
	}
	hs_qos_sum_add_delta(sum, &part, 1);
}

// Notes a restart of a node. The restart shows on each link of the node and in each count. Only the
// count that needs this node alone counts the epoch.
static void note_reset(struct hs_qos_flow *flow, struct hs_qos_sum *sum, uint16_t index,
		struct hs_qos_mark *mark, enum hs_qos_count count)
{
	if (count != HS_QOS_COUNT_LOSS && count != HS_QOS_COUNT_NODE)
		return;
	if (++mark->resets >= 3) { // as in note_step_flags of qos_absorb.c
		sum->flags |= HS_QOS_RULES_DIFFER;
		return;
	}
	sum->flags |= HS_QOS_EPOCH;
	flow->epochs += count == HS_QOS_COUNT_NODE;
	hs_qos_sum_end_carry(flow, index);
}

static void take_count(struct hs_qos_flow *flow, struct hs_qos_sum *sum, uint16_t index,
		const struct hs_report *report, const struct ends *ends, enum hs_qos_count count)
{
	struct hs_qos_mark *mark = &flow->marks[index].marks[count], before = *mark;
	struct hs_qos_delta delta;

	set_mark(mark, report, ends);
	if (!before.valid) {
		// The window in which the epoch began may have ended. The gap is in this window.
		sum->flags |= flow->epochs ? HS_QOS_EPOCH : 0;
		return;
	}
	uint32_t flags = step_between(flow, &before, mark, ends, count, &delta);
	if (flags & HS_QOS_STEP_RESETS) {
		note_reset(flow, sum, index, mark, count);
		return;
	}
	mark->resets = 0;
	if (flags & (HS_QOS_STEP_AMBIGUOUS | HS_QOS_STEP_DOUBTFUL) && count <= HS_QOS_COUNT_NODE)
		sum->flags |= HS_QOS_COUNTER_AMBIGUOUS;
	if (flags & HS_QOS_STEP_DOUBTFUL)
		hs_qos_sum_end_carry(flow, index);
	add(&sum->links[index], &delta, count_of_received(report, ends), count);
}

// ---- the step ----

static bool is_stamped(enum hs_qos_count count)
{
	return count == HS_QOS_COUNT_SPAN || count == HS_QOS_COUNT_RATE;
}

// Drops the marks of stamps after a step of a clock, so that spans begin anew (rule 20).
static void forget_stamps(struct hs_qos_flow *flow)
{
	for (unsigned i = 0; i < flow->n_links; i++)
		for (enum hs_qos_count count = 0; count < HS_QOS_COUNTS; count++)
			if (is_stamped(count))
				flow->marks[i].marks[count].valid = false;
}

static void take_link(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_report *report, const struct hs_qos_plan *plan, unsigned i)
{
	uint16_t index = plan->chain_links[i];
	struct hs_qos_marks *marks = &flow->marks[index];
	struct ends before = ends_of(&flow->edge, plan->chain.at_a, plan->chain.n, i);
	struct ends now = ends_of(report, plan->chain.at_b, plan->chain.n, i);

	if (marks->used != flow->edges) // the last step was whole, or over another link
		memset(marks->marks, 0, sizeof(marks->marks));
	marks->used = flow->edges + 1;
	for (enum hs_qos_count count = 0; count < HS_QOS_COUNTS; count++) {
		bool cut = flow->stepped && is_stamped(count);
		if (!cut && !marks->marks[count].valid && has(&flow->edge, &before, count))
			set_mark(&marks->marks[count], &flow->edge, &before);
		if (has(report, &now, count))
			take_count(flow, sum, index, report, &now, count);
	}
}

void hs_qos_partial_step(struct hs_qos_flow *flow, struct hs_qos_sum *sum,
		const struct hs_report *report, const struct hs_qos_plan *plan)
{
	if (flow->stepped)
		forget_stamps(flow);
	for (unsigned i = 0; i <= plan->chain.n; i++)
		if (plan->chain.joined[i])
			take_link(flow, sum, report, plan, i);
	flow->partial = !is_whole(report); // after a whole report, all marks are at it
}

// ---- whether to take a step in parts ----

static bool bitmaps_differ(const struct hs_report *a, const struct hs_report *b,
		const struct hs_qos_chain *chain)
{
	unsigned differ = 0;
	for (unsigned i = 0; i < chain->n; i++)
		differ |= a->telemetry.hops[chain->at_a[i]].bitmap ^
			  b->telemetry.hops[chain->at_b[i]].bitmap;
	return differ;
}

// Returns whether the bitmaps of some node may differ, among all nodes that the chain may have.
static bool may_differ(const struct hs_decoded *a, const struct hs_decoded *b, bool same_path)
{
	for (unsigned i = 0; i < b->n_hops; i++)
		for (unsigned j = same_path ? i : 0; j < (same_path ? i + 1 : a->n_hops); j++)
			if (b->hops[i].bitmap != a->hops[j].bitmap &&
					b->hops[i].node_id == a->hops[j].node_id)
				return true;
	return false;
}

int hs_qos_partial_reserve(struct hs_qos_flow *flow, const struct hs_report *report, bool same_path)
{
	if (flow->marks || !flow->has_edge ||
			!may_differ(&flow->edge.telemetry, &report->telemetry, same_path))
		return 0;
	flow->marks = calloc(flow->link_capacity, sizeof(*flow->marks));
	return flow->marks ? 0 : -ENOMEM;
}

void hs_qos_partial_plan(
		struct hs_qos_flow *flow, const struct hs_report *report, struct hs_qos_plan *plan)
{
	plan->partial = flow->partial || bitmaps_differ(&flow->edge, report, &plan->chain);
	flow->partial = plan->partial;
}

void hs_qos_partial_count(
		struct hs_qos_sum *sum, const struct hs_report *report, const uint16_t *path_links)
{
	uint8_t at[HS_TELEMETRY_MAX_HOPS];
	unsigned n = report->telemetry.n_hops;

	if (fields_of(report) == HS_HOP_MEASURED)
		return;
	for (unsigned i = 0; i < n; i++)
		at[i] = (uint8_t)(n - 1 - i);
	for (unsigned i = 0; i <= n; i++) {
		struct ends ends = ends_of(report, at, n, i);
		struct hs_qos_link_sum *link = &sum->links[path_links[i]];
		link->lack_loss += !has(report, &ends, HS_QOS_COUNT_LOSS);
		link->lack_rate += !has(report, &ends, HS_QOS_COUNT_RATE);
	}
}

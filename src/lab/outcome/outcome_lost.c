// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_parts.h"

#include <math.h>

static const struct hs_measured_hop *hop_of(
		const struct hs_measured_window *window, const struct hs_outcome_row *row)
{
	if (row->e2e)
		return &window->e2e;
	for (uint32_t i = 0; i < window->n_hops; i++)
		if (window->hops[i].from == row->from_id && window->hops[i].to == row->to_id)
			return &window->hops[i];
	return NULL;
}

// The run's own word, or else what its windows add up to.
static void lose_measured(struct hs_outcome_work *work, struct hs_outcome_line *line)
{
	struct hs_outcome_lost *lost = &line->lost;
	const struct hs_measured_window *run =
			hs_measured_run(work->outcome->run->measured, line->row.flow);
	const struct hs_measured_hop *whole = run ? hop_of(run, &line->row) : NULL;
	for (size_t i = 0; i < work->n_windows; i++) {
		const struct hs_measured_window *window = work->windows[i];
		const struct hs_measured_hop *hop =
				window->stale ? NULL : hop_of(window, &line->row);
		if (!hop || !(hop->has & HS_MEASURED_LOSS))
			continue;
		lost->has_measured = true;
		lost->measured += hop->lost_packets;
		lost->shown += llround(hop->loss_ratio * (double)hop->tx_packets);
	}
	if (!whole || !(whole->has & HS_MEASURED_LOSS))
		return;
	lost->has_measured = true;
	lost->measured = whole->lost_packets;
}

// Between two successive reports; false: they went other ways, or a node began anew in between, of
// which lib/qos leaves out all hops.
static bool lost_between(const struct hs_outcome_flow *flow, const struct hs_outcome_report *a,
		const struct hs_outcome_report *b, struct hs_outcome_ends ends, int64_t *lost)
{
	struct hs_outcome_stops at_a, at_b;
	if (a->epoch != b->epoch || !hs_outcome_flow_stops(flow, &a->truth, ends, &at_a) ||
			!hs_outcome_flow_stops(flow, &b->truth, ends, &at_b))
		return false;
	if (!ends.e2e && hs_outcome_flow_forgot(&a->truth, &b->truth))
		return false;
	int64_t sent = (int64_t)(b->truth.stops[at_b.from].tx_packets -
				 a->truth.stops[at_a.from].tx_packets);
	int64_t received = (int64_t)(b->truth.stops[at_b.to].rx_packets -
				     a->truth.stops[at_a.to].rx_packets);
	*lost = sent - received;
	return true;
}

// From the first report to the newest, step by step along the newest of each time.
static void lose_truly(const struct hs_outcome_work *work, struct hs_outcome_line *line)
{
	const struct hs_outcome_flow *flow = &work->flow;
	struct hs_outcome_ends ends = {line->row.e2e, line->row.from_id, line->row.to_id};
	size_t last = flow->first;
	for (size_t i = flow->first; i < flow->n; i++) {
		size_t newest = flow->newest[i];
		int64_t lost;
		if (flow->reports[newest].truth.number <= flow->reports[last].truth.number)
			continue;
		if (lost_between(flow, &flow->reports[last], &flow->reports[newest], ends, &lost)) {
			line->lost.has_truth = true;
			line->lost.truth += lost;
		}
		last = newest;
	}
}

// Copies that a link made were received and never sent. End to end is what left the source and did
// not come to the sink: nodes lose, too.
static int64_t part_of_all(const struct hs_outcome_line *line, const struct hs_truth_hop *hop)
{
	int64_t sent = (int64_t)hop->sent_packets, received = (int64_t)hop->received_packets;
	if (!line->row.e2e)
		return sent + (int64_t)hop->copies - received;
	return (hop->from == line->from_node ? sent : 0) + (int64_t)hop->copies -
	       (hop->to == line->to_node ? received : 0);
}

static void lose_all(const struct hs_outcome_work *work, struct hs_outcome_line *line)
{
	const struct hs_truth *truth = work->outcome->run->truth;
	struct hs_truth_hop hop;
	line->lost.has_all = line->row.e2e && line->to_node != HS_NO_INDEX;
	for (size_t i = 0; i < hs_truth_hops(truth, line->row.flow); i++) {
		hs_truth_hop(truth, line->row.flow, i, &hop);
		if (line->row.e2e)
			line->lost.all += part_of_all(line, &hop);
		if (line->row.e2e || hop.from != line->from_node || hop.to != line->to_node)
			continue;
		line->lost.all = part_of_all(line, &hop);
		line->lost.has_all = true;
		line->lost.hop = hop;
		line->lost.has_hop = true;
	}
}

void hs_outcome_lose(struct hs_outcome_work *work, struct hs_outcome_line *line)
{
	lose_measured(work, line);
	lose_truly(work, line);
	lose_all(work, line);
}

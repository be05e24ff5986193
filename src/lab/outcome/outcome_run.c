// SPDX-License-Identifier: BSD-3-Clause
// Loss and overhead of a row over the whole run.
#include "outcome_parts.h"

#include <math.h>

// The first value takes the place of NAN.
static void add(double *sum, double value)
{
	*sum = isnan(*sum) ? value : *sum + value;
}

// ---- the truth ----

// Returns whether a node that both packets passed forgot its counts in between.
static bool a_node_forgot(const struct hs_truth_report *a, const struct hs_truth_report *b)
{
	for (uint32_t i = 0; i < a->n_stops; i++)
		for (uint32_t j = 0; j < b->n_stops; j++)
			if (a->stops[i].node == b->stops[j].node &&
					a->stops[i].life != b->stops[j].life)
				return true;
	return false;
}

// Adds the loss between two successive reports, unless their paths differ or a node restarted in
// between: lib/qos then leaves out all hops.
static void lose_between(const struct outcome_flow *flow, const struct outcome_report *a,
		const struct outcome_report *b, struct outcome_row *row)
{
	struct outcome_stops at_a, at_b;
	if (a->epoch != b->epoch || !outcome_flow_stops(flow, a->truth, row->ends, &at_a) ||
			!outcome_flow_stops(flow, b->truth, row->ends, &at_b) ||
			(!row->ends.e2e && a_node_forgot(a->truth, b->truth)))
		return;
	int64_t sent = (int64_t)(at_b.from->tx_packets - at_a.from->tx_packets);
	int64_t received = (int64_t)(at_b.to->rx_packets - at_a.to->rx_packets);
	add(&row->numbers.lost_truth, (double)(sent - received));
}

// Sums from the first report to the newest, over the reports that were the newest when they
// arrived.
static void lose_truly(const struct outcome_flow *flow, struct outcome_row *row)
{
	const struct outcome_report *last = &flow->reports[flow->first];
	for (size_t i = flow->first; i < flow->n; i++) {
		const struct outcome_report *newest = &flow->reports[flow->reports[i].newest];
		if (newest->truth->number <= last->truth->number)
			continue;
		lose_between(flow, last, newest, row);
		last = newest;
	}
}

// A copy that a link made was received but never sent. The loss from end to end is what left the
// source and did not reach the sink, because nodes also lose packets.
static void lose_all(const struct outcome_flow *flow, struct outcome_row *row)
{
	bool e2e = row->ends.e2e;
	for (size_t i = 0; i < flow->truth.n_hops; i++) {
		const struct hs_truth_hop *hop = &flow->truth.hops[i];
		bool begins = hop->from == row->from_node, ends = hop->to == row->to_node;
		if (row->to_node == HS_NO_INDEX || (!e2e && !(begins && ends)))
			continue;
		add(&row->numbers.lost_all,
				(begins ? (double)hop->sent_packets : 0) + (double)hop->copies -
						(ends ? (double)hop->received_packets : 0));
		if (!e2e)
			row->link = *hop;
	}
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

void outcome_run_begin(const struct outcome_flow *flow, struct outcome_row *row)
{
	row->numbers = (struct hs_row_numbers){.lost = NAN, .lost_truth = NAN, .lost_all = NAN};
	row->shown = NAN;
	lose_truly(flow, row);
	lose_all(flow, row);
	row->numbers.bytes_ratio = ratio(row->link.telemetry_bytes, row->link.sent_bytes);
	row->numbers.packets_ratio = ratio(row->link.telemetry_packets, row->link.sent_packets);
}

// ---- what was measured ----

void outcome_run_add(struct outcome_row *row, const json_t *measured)
{
	double sent = (double)hs_measured_integer(measured, "tx_packets");
	if (!hs_measured_has(measured, "loss_ratio"))
		return;
	add(&row->numbers.lost, (double)hs_measured_integer(measured, "lost_packets"));
	add(&row->shown, round(hs_measured_number(measured, HS_LAB_LOSS) * sent));
}

// The published loss of the whole run takes the place of the sum over the windows.
void outcome_run_end(const struct outcome_flow *flow, struct outcome_row *row)
{
	const struct hs_measured_window *run = hs_measured_run(flow->run->measured, flow->index);
	struct hs_row_numbers *numbers = &row->numbers;
	uint32_t hop = 0;
	while (run && hop <= run->n_hops &&
			!outcome_same_ends(hs_measured_ends(run, hop), row->ends))
		hop++;
	const json_t *of = run && hop <= run->n_hops ? hs_measured_hop(run, hop) : NULL;
	if (hs_measured_has(of, "loss_ratio"))
		numbers->lost = (double)hs_measured_integer(of, "lost_packets");
	numbers->lost_error = fabs(numbers->lost - numbers->lost_truth);
	numbers->false_lost = row->shown - numbers->lost_truth;
}

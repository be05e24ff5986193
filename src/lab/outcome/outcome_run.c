// SPDX-License-Identifier: BSD-3-Clause
// Loss and overhead of a hop over the whole run.
#include "outcome_parts.h"

#include <math.h>

static uint32_t hop_of(const struct hs_measured_window *window, struct outcome_ends ends)
{
	for (uint32_t i = 0; i < window->n_hops && !ends.e2e; i++)
		if (hs_measured_from(window, i) == ends.from &&
				hs_measured_to(window, i) == ends.to)
			return i;
	return ends.e2e ? window->n_hops : UINT32_MAX;
}

// Returns the published loss of the whole run, or the sum of its windows if the run was not
// published.
static double lose_measured(
		const struct outcome_flow *flow, struct outcome_ends ends, double *shown)
{
	const struct hs_measured_window *run = hs_measured_run(flow->run->measured, flow->index);
	double lost = NAN;
	*shown = NAN;
	for (size_t i = 0; i <= flow->n_windows; i++) {
		const struct hs_measured_window *window =
				i < flow->n_windows ? flow->windows[i] : run;
		bool says = window && (window == run || !window->stale);
		uint32_t hop = says ? hop_of(window, ends) : UINT32_MAX;
		const json_t *of = hop != UINT32_MAX ? hs_measured_hop(window, hop) : NULL;
		if (!hs_measured_has(of, "loss_ratio"))
			continue;
		double packets = (double)hs_measured_integer(of, "lost_packets");
		lost = window == run || isnan(lost) ? packets : lost + packets;
		if (window == run)
			continue;
		double ratio = hs_measured_number(of, HS_LAB_LOSS);
		double of_window = round(ratio * (double)hs_measured_integer(of, "tx_packets"));
		*shown = isnan(*shown) ? of_window : *shown + of_window;
	}
	return lost;
}

// Computes the loss between two successive reports. Returns false if their paths differ, or if a
// node restarted in between: lib/qos then leaves out all hops.
static bool lost_between(const struct outcome_flow *flow, const struct outcome_report *a,
		const struct outcome_report *b, struct outcome_ends ends, double *lost)
{
	struct outcome_stops at_a, at_b;
	if (a->epoch != b->epoch || !outcome_flow_stops(flow, &a->truth, ends, &at_a) ||
			!outcome_flow_stops(flow, &b->truth, ends, &at_b))
		return false;
	if (!ends.e2e && outcome_flow_forgot(&a->truth, &b->truth))
		return false;
	int64_t sent = (int64_t)(b->truth.stops[at_b.from].tx_packets -
				 a->truth.stops[at_a.from].tx_packets);
	int64_t received = (int64_t)(b->truth.stops[at_b.to].rx_packets -
				     a->truth.stops[at_a.to].rx_packets);
	*lost = (double)(sent - received);
	return true;
}

// Sums from the first report to the newest, over the reports that were the newest when they
// arrived.
static double lose_truly(const struct outcome_flow *flow, struct outcome_ends ends)
{
	size_t last = flow->first;
	double sum = NAN, lost;
	for (size_t i = flow->first; i < flow->n; i++) {
		size_t newest = flow->newest[i];
		if (flow->reports[newest].truth.number <= flow->reports[last].truth.number)
			continue;
		if (lost_between(flow, &flow->reports[last], &flow->reports[newest], ends, &lost))
			sum = isnan(sum) ? lost : sum + lost;
		last = newest;
	}
	return sum;
}

// A copy that a link made was received but never sent. The loss from end to end is what left the
// source and did not reach the sink, because nodes also lose packets.
static double part_of_all(const struct outcome_row *row, const struct hs_truth_hop *hop)
{
	double sent = (double)hop->sent_packets, received = (double)hop->received_packets;
	if (!row->ends.e2e)
		return sent + (double)hop->copies - received;
	return (hop->from == row->from_node ? sent : 0) + (double)hop->copies -
	       (hop->to == row->to_node ? received : 0);
}

static void lose_all(const struct outcome_flow *flow, struct outcome_row *row)
{
	const struct hs_truth *truth = flow->run->truth;
	bool e2e = row->ends.e2e;
	struct hs_truth_hop hop;
	row->numbers.lost_all = e2e && row->to_node != HS_NO_INDEX ? 0 : NAN;
	for (size_t i = 0; i < hs_truth_hops(truth, flow->index); i++) {
		hs_truth_hop(truth, flow->index, i, &hop);
		if (e2e)
			row->numbers.lost_all += part_of_all(row, &hop);
		if (e2e || hop.from != row->from_node || hop.to != row->to_node)
			continue;
		row->numbers.lost_all = part_of_all(row, &hop);
		row->link = hop;
	}
}

static double ratio(uint64_t part, uint64_t whole)
{
	return whole ? (double)part / (double)whole : NAN;
}

void outcome_run_row(const struct outcome_flow *flow, struct outcome_row *row)
{
	struct hs_row_numbers *numbers = &row->numbers;
	const struct hs_truth_hop *link = &row->link;
	double shown;
	numbers->lost = lose_measured(flow, row->ends, &shown);
	numbers->lost_truth = lose_truly(flow, row->ends);
	numbers->lost_error = fabs(numbers->lost - numbers->lost_truth);
	numbers->false_lost = shown - numbers->lost_truth;
	lose_all(flow, row);
	numbers->bytes_ratio = ratio(link->telemetry_bytes, link->sent_bytes);
	numbers->packets_ratio = ratio(link->telemetry_packets, link->sent_packets);
}

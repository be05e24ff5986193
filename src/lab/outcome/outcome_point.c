// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define MEAN_DISTANCE 0.7978845608028654 // root of 2/pi: E|x| of a normal with sigma 1

static double if_has(uint32_t has, uint32_t bit, double value)
{
	return has & bit ? value : NAN;
}

static void put_measured(const struct hs_measured_hop *hop, struct hs_point points[HS_METRIC_KINDS])
{
	const double values[HS_METRIC_KINDS] = {
			[HS_METRIC_THROUGHPUT] = if_has(
					hop->has, HS_MEASURED_THROUGHPUT, hop->throughput_bps),
			[HS_METRIC_WINDOW_THROUGHPUT] = if_has(hop->has,
					HS_MEASURED_WINDOW_THROUGHPUT, hop->window_throughput_bps),
			[HS_METRIC_DELAY] = if_has(
					hop->has, HS_MEASURED_DELAY, (double)hop->delay_mean_ns),
			[HS_METRIC_JITTER] = if_has(
					hop->has, HS_MEASURED_JITTER, (double)hop->jitter_ns),
			[HS_METRIC_LOSS] = if_has(hop->has, HS_MEASURED_LOSS, hop->loss_ratio),
			[HS_METRIC_LOST_PACKETS] = if_has(
					hop->has, HS_MEASURED_LOSS, (double)hop->lost_packets),
			[HS_METRIC_RX_BYTES] =
					if_has(hop->has, HS_MEASURED_BYTES, (double)hop->rx_bytes),
			[HS_METRIC_SPAN] = if_has(hop->has, HS_MEASURED_SPAN,
					(double)(hop->span_end_ns - hop->span_start_ns)),
	};
	for (unsigned i = 0; i < HS_METRIC_KINDS; i++)
		points[i] = (struct hs_point){values[i], NAN, NAN, NAN};
}

// As nodes publish it, in 15 digits: else equal ratios would differ in their last bit.
static double published(double ratio)
{
	char text[32];
	snprintf(text, sizeof(text), "%.15g", ratio);
	return strtod(text, NULL);
}

// Rule 14 for the truth, too: packets under way at a window's end are none that were lost. Of a hop
// that lost nothing in all the run this is known to be 0.
static double true_loss(const struct hs_outcome_truth *truth, struct hs_outcome_lost *lost)
{
	int64_t owed = truth->lost_packets + lost->owed;
	lost->owed = owed < 0 ? owed : 0;
	if (owed <= 0 || truth->tx_packets <= 0 || (lost->has_all && !lost->all))
		return 0;
	double ratio = (double)owed / (double)truth->tx_packets;
	return published(ratio < 1 ? ratio : 1);
}

static void put_truth(const struct hs_outcome_truth *truth, struct hs_point points[HS_METRIC_KINDS])
{
	if (truth->delays)
		points[HS_METRIC_DELAY].truth = (double)truth->delay_mean_ns;
	if (truth->pairs)
		points[HS_METRIC_JITTER].truth = (double)truth->jitter_ns;
	if (truth->has_window)
		points[HS_METRIC_WINDOW_THROUGHPUT].truth = truth->window_throughput_bps;
	if (truth->has_gap)
		points[HS_METRIC_WINDOW_THROUGHPUT].bound = truth->gap_throughput_bps;
	if (truth->has_span)
		points[HS_METRIC_SPAN].truth = (double)(truth->span_end_ns - truth->span_start_ns);
	if (!truth->has_counts)
		return;
	points[HS_METRIC_THROUGHPUT].truth = truth->throughput_bps;
	points[HS_METRIC_LOSS].truth = truth->loss_ratio;
	points[HS_METRIC_LOST_PACKETS].truth = (double)truth->lost_packets;
	points[HS_METRIC_RX_BYTES].truth = (double)truth->rx_bytes;
}

// |measured - configured| of a mean of n: NAN where that is nothing.
static double off_by(double sigma, double n)
{
	return sigma > 0 && n > 0 ? MEAN_DISTANCE * sigma / sqrt(n) : NAN;
}

static void put_others(const struct hs_outcome_configured *configured,
		const struct hs_outcome_hop *hop, size_t reports, struct hs_point *points)
{
	points[HS_METRIC_DELAY].configured = configured->delay_ns;
	if (!isnan(configured->delay_ns))
		points[HS_METRIC_DELAY].bound = off_by(configured->delay_sigma_ns, (double)reports);
	points[HS_METRIC_JITTER].configured = configured->jitter_ns;
	points[HS_METRIC_JITTER].bound =
			off_by(configured->jitter_sigma_ns, (double)hop->truth.pairs);
}

static void put_throughput(const struct hs_outcome_configured *configured,
		const struct hs_measured_hop *hop, bool first, struct hs_point *points)
{
	double taken = configured->throughput_bps - configured->reachable_bps;
	points[HS_METRIC_THROUGHPUT].configured = configured->throughput_bps;
	points[HS_METRIC_THROUGHPUT].bound = taken > 0 ? taken : NAN;
	if (!first) // that one began before its flow did
		points[HS_METRIC_WINDOW_THROUGHPUT].configured = configured->throughput_bps;
	points[HS_METRIC_LOSS].configured = configured->loss_ratio;
	if (hop->has & HS_MEASURED_LOSS)
		points[HS_METRIC_LOSS].bound =
				off_by(configured->loss_sigma, (double)hop->tx_packets);
}

// The newest report by the window's end that passed the hop tells the way; the newest report tells
// whether the configuration still held.
static void put_configured(struct hs_outcome_work *work, const struct hs_measured_window *window,
		struct hs_outcome_ends ends, struct hs_outcome_hop *hop)
{
	const struct hs_outcome_flow *flow = &work->flow;
	size_t low = hs_outcome_flow_until(flow, window->start_ns);
	size_t high = hs_outcome_flow_until(flow, window->end_ns);
	struct hs_outcome_stops stops;
	struct hs_outcome_configured configured;
	if (low >= high)
		return;
	const struct hs_truth_report *report = &flow->reports[flow->newest[high - 1]].truth;
	int64_t at_ns = flow->reports[high - 1].truth.sink_ns;
	if (!hs_outcome_flow_passes(flow, report, ends, &stops))
		return;
	hs_outcome_configured_of(flow, report, stops, low, high, &work->path, &configured);
	if (at_ns < work->others_until_ns)
		put_others(&configured, hop, high - low, hop->points);
	if (at_ns < work->throughput_until_ns)
		put_throughput(&configured, hop->measured, low == 0, hop->points);
}

void hs_outcome_points(struct hs_outcome_work *work, const struct hs_measured_window *window,
		struct hs_outcome_ends ends, struct hs_outcome_hop *hop)
{
	put_measured(hop->measured, hop->points);
	if (hop->truth.has_counts)
		hop->truth.loss_ratio =
				true_loss(&hop->truth, &work->outcome->lines[hop->row].lost);
	put_truth(&hop->truth, hop->points);
	put_configured(work, window, ends, hop);
}

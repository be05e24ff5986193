// SPDX-License-Identifier: BSD-3-Clause
// The truth of one hop in one window: about exactly the packets that were sampled, and about all
// packets over the span that the window should state.
//
// Source: docs/metrics.md, rules 7, 8, 11, 14, 16 to 18. Rounding is that of lib/qos, so that equal
// values compare as equal.
#include "outcome_parts.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define P99_VALUES 100
#define ALTERNATES (HS_FLAG_MULTIPATH | HS_FLAG_ENTRIES_MISSING)

typedef __int128 wide;

// A hop in a window, whose truth is wanted.
struct question {
	const struct outcome_flow *flow;
	const struct hs_measured_window *window;
	const json_t *hop; // as it was published
	struct outcome_ends ends;
	size_t low, high; // reports of the window
};

// ---- delay and jitter ----

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static int64_t rounded_mean(wide sum, uint64_t n)
{
	wide half = (wide)(n / 2);
	return (int64_t)((sum < 0 ? sum - half : sum + half) / (wide)n);
}

static json_int_t ranked(const int64_t *values, uint64_t n, uint64_t per_mille)
{
	return values[(n * per_mille + 999) / 1000 - 1];
}

static bool delay_of(const struct question *question, size_t index, int64_t *delay)
{
	const struct hs_truth_report *report = &question->flow->reports[index].truth;
	struct outcome_stops stops;
	if (!outcome_flow_passes(question->flow, report, question->ends, &stops))
		return false;
	*delay = report->stops[stops.to].rx_ns - report->stops[stops.from].rx_ns;
	return true;
}

static int fill_delay(const struct question *question, struct outcome_truth *truth)
{
	int64_t *values = malloc((question->high - question->low + 1) * sizeof(*values));
	wide sum = 0;
	size_t n = 0;
	if (!values)
		return -ENOMEM;
	for (size_t i = question->low; i < question->high; i++)
		if (delay_of(question, i, &values[n]))
			sum += values[n++];
	if (n) {
		qsort(values, n, sizeof(*values), by_value);
		truth->has_delay = true;
		truth->delay_mean_ns = rounded_mean(sum, n);
		truth->delay = json_pack("{s:I, s:I, s:I, s:I}", "mean",
				(json_int_t)truth->delay_mean_ns, "min", (json_int_t)values[0],
				"p50", ranked(values, n, 500), "max", (json_int_t)values[n - 1]);
		if (n >= P99_VALUES)
			json_object_set_new(
					truth->delay, "p99", json_integer(ranked(values, n, 990)));
	}
	free(values);
	return 0;
}

// Finds the delay of the previous packet in source order that also passed the hop.
static bool delay_before(const struct question *question, const struct outcome_report *report,
		int64_t *delay)
{
	const struct outcome_flow *flow = question->flow;
	for (size_t place = report->place; place-- > 0;) {
		if (flow->reports[flow->ordered[place]].epoch != report->epoch)
			return false;
		if (delay_of(question, flow->ordered[place], delay))
			return true;
	}
	return false;
}

static void fill_jitter(const struct question *question, struct outcome_truth *truth)
{
	wide sum = 0;
	uint64_t pairs = 0;
	for (size_t i = question->low; i < question->high; i++) {
		const struct outcome_report *report = &question->flow->reports[i];
		int64_t delay, before;
		if (report->place == SIZE_MAX || !delay_of(question, i, &delay) ||
				!delay_before(question, report, &before))
			continue;
		sum += delay < before ? (wide)before - delay : (wide)delay - before;
		pairs++;
	}
	truth->has_jitter = pairs;
	if (pairs)
		truth->jitter_ns = rounded_mean(sum, pairs);
}

// ---- the span ----

// Finds the report at which the span begins or ends: the newest of the first n, or the first of
// all. Returns false if the report did not pass the hop.
static bool edge_of(const struct question *question, size_t n, const struct hs_truth_stop **from,
		const struct hs_truth_stop **to, bool *sent_on)
{
	const struct outcome_flow *flow = question->flow;
	struct outcome_stops stops;
	if (!flow->n)
		return false;
	const struct hs_truth_report *report =
			&flow->reports[n ? flow->newest[n - 1] : flow->first].truth;
	if (!outcome_flow_stops(flow, report, question->ends, &stops))
		return false;
	*from = &report->stops[stops.from];
	*to = &report->stops[stops.to];
	*sent_on = stops.to + 1 < report->n_stops;
	return true;
}

// Rounds to 15 digits like nodes. Otherwise equal ratios would differ in their last bit.
static double published(double ratio)
{
	char text[32];
	snprintf(text, sizeof(text), "%.15g", ratio);
	return strtod(text, NULL);
}

// Rule 14 also applies to the truth: packets under way at a window's end are not lost. If a hop
// lost nothing in the whole run, its loss is 0.
static double loss_of(const struct outcome_truth *truth, struct outcome_row *row)
{
	int64_t owed = truth->lost_packets + row->owed;
	row->owed = owed < 0 ? owed : 0;
	if (owed <= 0 || truth->tx_packets <= 0 || row->numbers.lost_all == 0)
		return 0;
	double ratio = (double)owed / (double)truth->tx_packets;
	return published(ratio < 1 ? ratio : 1);
}

static bool states_another(const struct question *question, const struct outcome_truth *truth)
{
	return hs_measured_has(question->hop, "span_end_ns") &&
	       (hs_measured_integer(question->hop, "span_start_ns") != truth->span_start_ns ||
			       hs_measured_integer(question->hop, "span_end_ns") !=
					       truth->span_end_ns);
}

// Counts are those of the span that the window should state. If the window says that the path
// changed or that a node restarted, a hop may state another span. Nothing is compared with another
// span.
static void fill_span(const struct question *question, struct outcome_row *row,
		struct outcome_truth *truth)
{
	const struct hs_measured_window *window = question->window;
	const struct hs_truth_stop *from_a, *from_b, *to_a, *to_b;
	bool on_a, on_b;
	bool differs = window->flags & HS_FLAG_EPOCH ||
		       (!question->ends.e2e &&
				       (window->path_changed || window->flags & ALTERNATES));
	size_t before = outcome_flow_until(question->flow, window->start_ns);
	if (differs || !edge_of(question, before, &from_a, &to_a, &on_a) ||
			!edge_of(question, question->high, &from_b, &to_b, &on_b))
		return;
	truth->has_span = true;
	truth->span_start_ns = to_a->rx_shown_ns;
	truth->span_end_ns = to_b->rx_shown_ns;
	if (states_another(question, truth))
		return;
	truth->has_counts = true;
	truth->tx_packets = (int64_t)(from_b->tx_packets - from_a->tx_packets);
	truth->rx_packets = (int64_t)(to_b->rx_packets - to_a->rx_packets);
	truth->rx_bytes = (int64_t)(to_b->rx_bytes - to_a->rx_bytes);
	truth->lost_packets = truth->tx_packets - truth->rx_packets;
	truth->loss_ratio = loss_of(truth, row);
	int64_t sent_on = (int64_t)(to_b->tx_packets - to_a->tx_packets);
	truth->has_node_loss = on_a && on_b && sent_on >= 0;
	truth->node_lost_packets = truth->rx_packets - sent_on;
	int64_t span_ns = to_b->rx_ns - to_a->rx_ns;
	truth->throughput_bps = NAN;
	if (span_ns > 0)
		truth->throughput_bps =
				(double)(int64_t)((wide)truth->rx_bytes * 8 * 1000000000 / span_ns);
}

// ---- the window ----

// Finds the bytes that `to` had received by this time. Returns false if they are unknown.
static bool bytes_by(const struct question *question, int64_t shown_ns, uint64_t *bytes)
{
	const struct outcome_flow *flow = question->flow;
	struct hs_truth_edge edge;
	struct outcome_stops stops;
	*bytes = 0;
	if (!hs_truth_edge(flow->run->truth, flow->index, shown_ns, &edge))
		return true;
	struct hs_truth_report newest = {.n_stops = edge.n_stops, .stops = edge.stops};
	if (!outcome_flow_stops(flow, &newest, question->ends, &stops))
		return false;
	bool sink = stops.to + 1 == edge.n_stops;
	*bytes = sink ? edge.sink_rx_bytes : edge.stops[stops.to].rx_bytes;
	return true;
}

// By rule 10, an interval with a node's restart is missing from the hops' counts, but not from
// their span. With several paths, only the hops on all paths are counted throughout.
static bool counts_have_gaps(const struct question *question)
{
	uint32_t flags = question->window->flags;
	if (question->ends.e2e)
		return false;
	return flags & HS_FLAG_EPOCH ||
	       (flags & ALTERNATES && !hs_measured_has(question->hop, "loss_ratio"));
}

static void fill_window(const struct question *question, struct outcome_truth *truth)
{
	const struct hs_measured_window *window = question->window;
	uint64_t before, after;
	int64_t length_ns = window->end_ns - window->start_ns;
	if (length_ns <= 0 || counts_have_gaps(question) ||
			!bytes_by(question, window->start_ns, &before) ||
			!bytes_by(question, window->end_ns, &after) || after < before)
		return;
	truth->has_window = true;
	truth->window_throughput_bps =
			(double)(int64_t)((wide)(after - before) * 8 * 1000000000 / length_ns);
}

int outcome_truth_of(const struct outcome_flow *flow, const struct hs_measured_window *window,
		uint32_t hop, struct outcome_row *row, struct outcome_truth *truth)
{
	struct question question = {
			.flow = flow,
			.window = window,
			.hop = hs_measured_hop(window, hop),
			.ends = row->ends,
			.low = outcome_flow_until(flow, window->start_ns),
			.high = outcome_flow_until(flow, window->end_ns),
	};
	*truth = (struct outcome_truth){.has_delay = false};
	if (fill_delay(&question, truth))
		return -ENOMEM;
	fill_jitter(&question, truth);
	fill_span(&question, row, truth);
	fill_window(&question, truth);
	return 0;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_truth.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#define ALTERNATES (HS_MEASURED_MULTIPATH | HS_MEASURED_ENTRIES_MISSING)
#define P99_VALUES 100

typedef __int128 wide;

// One question: a hop in a window.
struct question {
	const struct hs_outcome_flow *flow;
	const struct hs_measured_window *window;
	const struct hs_measured_hop *hop;
	struct hs_outcome_ends ends;
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

static int64_t ranked(const int64_t *values, uint64_t n, uint64_t per_mille)
{
	return values[(n * per_mille + 999) / 1000 - 1];
}

static bool delay_of(const struct question *question, size_t index, int64_t *delay)
{
	const struct hs_truth_report *report = &question->flow->reports[index].truth;
	struct hs_outcome_stops stops;
	if (!hs_outcome_flow_passes(question->flow, report, question->ends, &stops))
		return false;
	*delay = report->stops[stops.to].rx_ns - report->stops[stops.from].rx_ns;
	return true;
}

static void fill_delay(const struct question *question, struct hs_outcome_room *room,
		struct hs_outcome_truth *truth)
{
	int64_t *values = room->values;
	wide sum = 0;
	size_t n = 0;
	for (size_t i = question->low; i < question->high; i++)
		n += delay_of(question, i, &values[n]);
	truth->delays = n;
	if (!n)
		return;
	qsort(values, n, sizeof(*values), by_value);
	for (size_t i = 0; i < n; i++)
		sum += values[i];
	truth->delay_mean_ns = rounded_mean(sum, n);
	truth->delay_min_ns = values[0];
	truth->delay_p50_ns = ranked(values, n, 500);
	truth->delay_p99_ns = n >= P99_VALUES ? ranked(values, n, 990) : 0;
	truth->delay_max_ns = values[n - 1];
}

// The delay of the packet before it in source order that was on the hop too.
static bool delay_before(const struct question *question, const struct hs_outcome_report *report,
		int64_t *delay)
{
	const struct hs_outcome_flow *flow = question->flow;
	for (size_t place = report->place; place-- > 0;) {
		if (flow->reports[flow->ordered[place]].epoch != report->epoch)
			return false;
		if (delay_of(question, flow->ordered[place], delay))
			return true;
	}
	return false;
}

static void fill_jitter(const struct question *question, struct hs_outcome_truth *truth)
{
	wide sum = 0;
	for (size_t i = question->low; i < question->high; i++) {
		const struct hs_outcome_report *report = &question->flow->reports[i];
		int64_t delay, before;
		if (report->place == SIZE_MAX || !delay_of(question, i, &delay) ||
				!delay_before(question, report, &before))
			continue;
		sum += delay < before ? (wide)before - delay : (wide)delay - before;
		truth->pairs++;
	}
	if (truth->pairs)
		truth->jitter_ns = rounded_mean(sum, truth->pairs);
}

// ---- the span ----

struct edge {
	bool known;
	struct hs_truth_report report;
	struct hs_outcome_stops stops;
};

static int64_t shown_at(const struct edge *edge)
{
	return edge->report.stops[edge->stops.to].rx_shown_ns;
}

// The report at which the span should begin or end: the newest by then, or the very first.
static struct edge due_edge(const struct question *question, size_t n)
{
	const struct hs_outcome_flow *flow = question->flow;
	struct edge edge = {.known = false};
	if (!flow->n)
		return edge;
	edge.report = flow->reports[n ? flow->newest[n - 1] : flow->first].truth;
	edge.known = hs_outcome_flow_stops(flow, &edge.report, question->ends, &edge.stops);
	return edge;
}

// Where on the flow's way a hop ends: a node's index.
static bool find_node(const struct question *question, const struct edge *due, uint32_t *node)
{
	struct hs_outcome_stops stops;
	if (due->known) {
		*node = due->report.stops[due->stops.to].node;
		return true;
	}
	for (size_t i = question->high; i-- > question->low;) {
		const struct hs_truth_report *report = &question->flow->reports[i].truth;
		if (hs_outcome_flow_stops(question->flow, report, question->ends, &stops)) {
			*node = report->stops[stops.to].node;
			return true;
		}
	}
	return false;
}

// The report at which the span was said to begin or end.
static struct edge stated_edge(
		const struct question *question, const struct edge *due, int64_t stated_ns)
{
	const struct hs_outcome_flow *flow = question->flow;
	struct edge edge = {.known = false};
	uint32_t node;
	if (due->known && shown_at(due) == stated_ns)
		return *due;
	if (!find_node(question, due, &node))
		return edge;
	edge.known = hs_truth_find(flow->run->truth, flow->flow, node, stated_ns, &edge.report) &&
		     hs_outcome_flow_stops(flow, &edge.report, question->ends, &edge.stops);
	return edge;
}

// Where the path changed or a node began anew, a hop's span need not be the window's.
static bool may_differ(const struct question *question)
{
	const struct hs_measured_window *window = question->window;
	if (window->flags & HS_MEASURED_EPOCH)
		return true;
	return !question->ends.e2e && (window->path_changed || window->flags & ALTERNATES);
}

// Rule 10: a step across a node's new beginning is in no hop's counts, though in its span; and
// with several paths only the hops that all of them have are counted throughout.
static bool counts_have_gaps(const struct question *question)
{
	uint32_t flags = question->window->flags;
	if (question->ends.e2e)
		return false;
	return flags & HS_MEASURED_EPOCH ||
	       (flags & ALTERNATES && !(question->hop->has & HS_MEASURED_LOSS));
}

static void fill_rate(struct hs_outcome_truth *truth)
{
	truth->throughput_bps = NAN;
	if (truth->span_true_ns > 0)
		truth->throughput_bps = (double)(int64_t)((wide)truth->rx_bytes * 8 * 1000000000 /
							  truth->span_true_ns);
}

static void fill_counts(const struct edge *a, const struct edge *b, struct hs_outcome_truth *truth)
{
	const struct hs_truth_stop *from_a = &a->report.stops[a->stops.from];
	const struct hs_truth_stop *from_b = &b->report.stops[b->stops.from];
	const struct hs_truth_stop *to_a = &a->report.stops[a->stops.to];
	const struct hs_truth_stop *to_b = &b->report.stops[b->stops.to];
	truth->tx_packets = (int64_t)(from_b->tx_packets - from_a->tx_packets);
	truth->rx_packets = (int64_t)(to_b->rx_packets - to_a->rx_packets);
	truth->rx_bytes = (int64_t)(to_b->rx_bytes - to_a->rx_bytes);
	truth->lost_packets = truth->tx_packets - truth->rx_packets;
	truth->span_true_ns = to_b->rx_ns - to_a->rx_ns;
	int64_t sent_on = (int64_t)(to_b->tx_packets - to_a->tx_packets);
	truth->has_node_loss = a->stops.to + 1 < a->report.n_stops &&
			       b->stops.to + 1 < b->report.n_stops && sent_on >= 0;
	truth->node_lost_packets = truth->rx_packets - sent_on;
	truth->has_counts = true;
	fill_rate(truth);
}

static bool forgot_ends(const struct edge *a, const struct edge *b)
{
	struct hs_truth_stop ends_a[2] = {
			a->report.stops[0], a->report.stops[a->report.n_stops - 1]};
	struct hs_truth_stop ends_b[2] = {
			b->report.stops[0], b->report.stops[b->report.n_stops - 1]};
	struct hs_truth_report only_a = {.n_stops = 2, .stops = ends_a};
	struct hs_truth_report only_b = {.n_stops = 2, .stops = ends_b};
	return hs_outcome_flow_forgot(&only_a, &only_b);
}

static bool states(const struct hs_measured_hop *hop, const struct hs_outcome_truth *truth)
{
	return hop->span_start_ns == truth->span_start_ns && hop->span_end_ns == truth->span_end_ns;
}

static void fill_span(const struct question *question, struct hs_outcome_truth *truth)
{
	const struct hs_measured_hop *hop = question->hop;
	bool stated = hop->has & HS_MEASURED_SPAN;
	size_t before = hs_outcome_flow_until(question->flow, question->window->start_ns);
	struct edge due_a = due_edge(question, before);
	struct edge due_b = due_edge(question, question->high);
	struct edge a = stated ? stated_edge(question, &due_a, hop->span_start_ns) : due_a;
	struct edge b = stated ? stated_edge(question, &due_b, hop->span_end_ns) : due_b;
	bool due = due_a.known && due_b.known && !may_differ(question);
	if (due) {
		truth->has_span = true;
		truth->span_start_ns = shown_at(&due_a);
		truth->span_end_ns = shown_at(&due_b);
	}
	if (stated)
		truth->mismatch = !a.known || !b.known ||
				  (!may_differ(question) && !(due && states(hop, truth)));
	// Where an end began anew, and the window says so, the step across that is in no count.
	bool forgot = a.known && b.known && question->window->flags & HS_MEASURED_EPOCH &&
		      forgot_ends(&a, &b);
	bool counted = hop->has & (HS_MEASURED_SPAN | HS_MEASURED_LOSS | HS_MEASURED_BYTES);
	if (a.known && b.known && counted && !forgot && !counts_have_gaps(question))
		fill_counts(&a, &b, truth);
}

// ---- the window ----

// What `to` had received by then; false: unknown.
static bool bytes_by(const struct question *question, int64_t shown_ns, uint64_t *bytes)
{
	const struct hs_outcome_flow *flow = question->flow;
	struct hs_truth_edge edge;
	struct hs_outcome_stops stops;
	*bytes = 0;
	if (!hs_truth_edge(flow->run->truth, flow->flow, shown_ns, &edge))
		return true;
	struct hs_truth_report newest = {.n_stops = edge.n_stops, .stops = edge.stops};
	if (!hs_outcome_flow_stops(flow, &newest, question->ends, &stops))
		return false;
	bool sink = stops.to + 1 == edge.n_stops;
	*bytes = sink ? edge.sink_rx_bytes : edge.stops[stops.to].rx_bytes;
	return true;
}

static void fill_window(const struct question *question, struct hs_outcome_truth *truth)
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

// What `to` had received when the packet of the newest of the first n reports came by; of none: 0.
static bool bytes_of(const struct question *question, size_t n, uint64_t *bytes)
{
	const struct hs_outcome_flow *flow = question->flow;
	struct hs_outcome_stops stops;
	*bytes = 0;
	if (!n)
		return true;
	const struct hs_truth_report *report = &flow->reports[flow->newest[n - 1]].truth;
	if (!hs_outcome_flow_stops(flow, report, question->ends, &stops))
		return false;
	*bytes = report->stops[stops.to].rx_bytes;
	return true;
}

// Between the newest report at or before the end of a window and the first newer one; false: not
// known, or counted the other way round, as where packets overtake each other.
static bool gap_at(const struct question *question, int64_t shown_ns, uint64_t *gap)
{
	const struct hs_outcome_flow *flow = question->flow;
	size_t n = hs_outcome_flow_until(flow, shown_ns), next = n + 1;
	uint64_t before, after;
	while (n && next <= flow->n && flow->newest[next - 1] == flow->newest[n - 1])
		next++;
	bool known = bytes_of(question, n, &before) &&
		     (next > flow->n ? bytes_by(question, INT64_MAX, &after)
				     : bytes_of(question, next, &after));
	if (!known || after < before)
		return false;
	*gap = after - before;
	return true;
}

static void fill_gap(const struct question *question, struct hs_outcome_truth *truth)
{
	const struct hs_measured_window *window = question->window;
	int64_t length_ns = window->end_ns - window->start_ns;
	uint64_t first, last;
	if (!truth->has_window || !gap_at(question, window->start_ns, &first) ||
			!gap_at(question, window->end_ns, &last))
		return;
	// Rounded up: the two that differ by it are rounded down.
	wide bits = (wide)(first > last ? first : last) * 8 * 1000000000;
	truth->has_gap = true;
	truth->gap_throughput_bps = (double)(int64_t)((bits + length_ns - 1) / length_ns);
}

static int reserve(struct hs_outcome_room *room, size_t n)
{
	if (n <= room->capacity)
		return 0;
	int64_t *values = realloc(room->values, n * sizeof(*values));
	if (!values)
		return -ENOMEM;
	room->values = values;
	room->capacity = n;
	return 0;
}

int hs_outcome_truth_of(const struct hs_outcome_flow *flow, const struct hs_measured_window *window,
		const struct hs_measured_hop *hop, struct hs_outcome_ends ends,
		struct hs_outcome_room *room, struct hs_outcome_truth *truth)
{
	struct question question = {
			.flow = flow,
			.window = window,
			.hop = hop,
			.ends = ends,
			.low = hs_outcome_flow_until(flow, window->start_ns),
			.high = hs_outcome_flow_until(flow, window->end_ns),
	};
	*truth = (struct hs_outcome_truth){.delays = 0};
	if (reserve(room, question.high - question.low + 1))
		return -ENOMEM;
	fill_delay(&question, room, truth);
	fill_jitter(&question, truth);
	fill_span(&question, truth);
	fill_window(&question, truth);
	fill_gap(&question, truth);
	return 0;
}

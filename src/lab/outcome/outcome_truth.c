// SPDX-License-Identifier: BSD-3-Clause
// The truth of one hop in one window: about exactly the packets that were sampled, and about all
// packets over the span that the window should state.
//
// Source: docs/metrics.md, rules 7, 8, 11, 14, 16 to 18. Rounding is that of lib/qos, so that equal
// values compare as equal.
#include "outcome_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define P99_VALUES 100
#define ALTERNATES (HS_QOS_MULTIPATH | HS_QOS_ENTRIES_MISSING)

typedef __int128 wide;

// ---- delay and jitter ----

static json_int_t rounded_mean(wide sum, uint64_t n)
{
	wide half = (wide)(n / 2);
	return (json_int_t)((sum < 0 ? sum - half : sum + half) / (wide)n);
}

static bool delay_of(
		const struct outcome_hop *hop, const struct outcome_report *report, int64_t *delay)
{
	struct outcome_stops stops;
	if (!outcome_stops_of(hop, report->truth, &stops) || !stops.direct)
		return false;
	*delay = stops.to->rx_ns - stops.from->rx_ns;
	return true;
}

static void put_delay(json_t *to, const struct outcome_hop *hop)
{
	int64_t *values = hop->flow->values;
	wide sum = 0;
	size_t n = 0;
	for (size_t i = hop->low; i < hop->high; i++)
		if (delay_of(hop, hop->flow->reports[i], &values[n]))
			sum += values[n++];
	if (!n)
		return;
	outcome_sort(values, n);
	json_t *p99 = n < P99_VALUES ? NULL : json_integer(values[(n * 99 + 99) / 100 - 1]);
	json_object_set_new(to, "delay_ns",
			json_pack("{s:I, s:I, s:I, s:I, s:o*}", "mean", rounded_mean(sum, n), "min",
					(json_int_t)values[0], "p50",
					(json_int_t)values[(n + 1) / 2 - 1], "max",
					(json_int_t)values[n - 1], "p99", p99));
}

// Finds the delay of the previous packet in source order that also passed the hop.
static bool delay_before(
		const struct outcome_hop *hop, const struct outcome_report *report, int64_t *delay)
{
	for (const struct outcome_report *before = report->before;
			before && before->epoch == report->epoch; before = before->before)
		if (delay_of(hop, before, delay))
			return true;
	return false;
}

static void put_jitter(json_t *to, const struct outcome_hop *hop)
{
	wide sum = 0;
	uint64_t pairs = 0;
	for (size_t i = hop->low; i < hop->high; i++) {
		const struct outcome_report *report = hop->flow->reports[i];
		int64_t delay, before;
		if (report->repeats || !delay_of(hop, report, &delay) ||
				!delay_before(hop, report, &before))
			continue;
		sum += delay < before ? (wide)before - delay : (wide)delay - before;
		pairs++;
	}
	if (pairs)
		outcome_put_integer(to, "jitter_ns", rounded_mean(sum, pairs));
}

// ---- what the node at the begin of the hop says of itself ----

// Rounds to 15 digits like nodes. Otherwise equal numbers would differ in their last bit.
static double as_published(double value)
{
	char text[32];
	snprintf(text, sizeof(text), "%.15g", value);
	return strtod(text, NULL);
}

// Puts the means of the latency, of the queue and of the utilisation, each only if it was measured.
static void put_local(json_t *to, const struct outcome_hop *hop)
{
	double sums[HS_LAB_KINDS] = {0};
	struct outcome_stops stops;
	uint64_t n = 0;
	for (size_t i = hop->low; i < hop->high; i++) {
		if (!outcome_stops_of(hop, hop->flow->reports[i]->truth, &stops) || !stops.direct)
			continue;
		sums[HS_LAB_HOP_LATENCY] += stops.from->latency_ns;
		sums[HS_LAB_QUEUE] += stops.from->depth;
		sums[HS_LAB_UTILISATION] += (double)stops.from->utilisation;
		n++;
	}
	for (unsigned kind = HS_LAB_HOP_LATENCY; n && kind < HS_LAB_KINDS; kind++) {
		const char *word = hs_lab_kinds[kind].word;
		double mean = sums[kind] / (double)n;
		if (json_object_get(hop->measured, word))
			outcome_put(to, word,
					as_published(kind == HS_LAB_HOP_LATENCY ? floor(mean + 0.5)
										: mean));
	}
}

// ---- the window ----

// Finds the bytes that `to` had received by this time. Returns false if they are unknown.
static bool bytes_by(const struct outcome_hop *hop, int64_t shown_ns, uint64_t *bytes)
{
	const struct hs_truth_edge *edge = hs_truth_edge(hop->flow->truth, shown_ns);
	struct outcome_stops stops;
	*bytes = 0;
	if (!edge)
		return true;
	if (!outcome_stops_of(hop, &edge->newest, &stops))
		return false;
	*bytes = stops.at_sink ? edge->sink_rx_bytes : stops.to->rx_bytes;
	return true;
}

// Returns whether the counts of the hop miss an interval. By rule 10, an interval with a node's
// restart is missing from the hops' counts, but not from their span. With several paths, only the
// hops on all paths are counted throughout.
static bool counts_have_gaps(const struct outcome_hop *hop)
{
	uint32_t flags = hop->window->flags;
	return !hop->ends.e2e &&
	       (flags & HS_QOS_EPOCH || (flags & ALTERNATES && !json_object_get(hop->measured,
									       "loss_ratio")));
}

// Returns a rate as a whole number of bits per second.
static double rate_of(int64_t bytes, int64_t ns)
{
	return ns > 0 ? (double)(int64_t)((wide)bytes * 8 * 1000000000 / ns) : NAN;
}

static void put_window(json_t *to, const struct outcome_hop *hop)
{
	const struct hs_measured_window *window = hop->window;
	uint64_t before, after;
	// The truth has the bytes at the ends of whole windows.
	if (window->end_ns - window->start_ns != window->window_ns)
		return;
	if (counts_have_gaps(hop) || !bytes_by(hop, window->start_ns, &before) ||
			!bytes_by(hop, window->end_ns, &after) || after < before)
		return;
	outcome_put(to, "window_throughput_bps",
			rate_of((int64_t)(after - before), window->end_ns - window->start_ns));
}

// ---- the span ----

// Finds the stops of the report at which the span begins or ends: the newest of the first n, or the
// first of all. Returns false if the report did not pass the hop.
static bool edge_of(const struct outcome_hop *hop, size_t n, struct outcome_stops *stops)
{
	const struct outcome_flow *flow = hop->flow;
	const struct outcome_report *report = n ? flow->reports[n - 1]->newest : flow->arrived;
	return flow->n && outcome_stops_of(hop, report->truth, stops);
}

// Returns the true loss ratio of a window. Rule 14 also applies to the truth: packets under way at
// a window's end are not lost. If a hop lost nothing in the whole run, its loss is 0.
static double loss_of(struct outcome_row *row, int64_t sent, int64_t lost)
{
	int64_t owed = lost + row->owed;
	row->owed = owed < 0 ? owed : 0;
	if (owed <= 0 || sent <= 0 || row->lost_all == 0)
		return 0;
	return as_published(fmin((double)owed / (double)sent, 1));
}

static bool states_another(const json_t *measured, int64_t start_ns, int64_t end_ns)
{
	return json_object_get(measured, "span_end_ns") &&
	       (hs_measured_integer(measured, "span_start_ns") != start_ns ||
			       hs_measured_integer(measured, "span_end_ns") != end_ns);
}

// Puts the counts of the span. Counts are those of the span that the window should state. If the
// window says that the path changed or that a node restarted, a hop may state another span. Nothing
// is compared with another span.
static void put_span(json_t *to, const struct outcome_hop *hop, struct outcome_row *row)
{
	const struct hs_measured_window *window = hop->window;
	bool e2e = hop->ends.e2e;
	struct outcome_stops a, b;
	if (window->flags & HS_QOS_EPOCH ||
			(!e2e && (window->path_changed || window->flags & ALTERNATES)) ||
			!edge_of(hop, hop->low, &a) || !edge_of(hop, hop->high, &b))
		return;
	outcome_put_integer(to, "span_start_ns", a.to->rx_shown_ns);
	outcome_put_integer(to, "span_end_ns", b.to->rx_shown_ns);
	if (states_another(hop->measured, a.to->rx_shown_ns, b.to->rx_shown_ns))
		return;
	int64_t sent = (int64_t)(b.from->tx_packets - a.from->tx_packets);
	int64_t received = (int64_t)(b.to->rx_packets - a.to->rx_packets);
	int64_t bytes = (int64_t)(b.to->rx_bytes - a.to->rx_bytes);
	int64_t sent_on = (int64_t)(b.to->tx_packets - a.to->tx_packets);
	outcome_put(to, "throughput_bps", rate_of(bytes, b.to->rx_ns - a.to->rx_ns));
	outcome_put(to, "loss_ratio", loss_of(row, sent, sent - received));
	outcome_put_integer(to, "tx_packets", sent);
	outcome_put_integer(to, "rx_packets", received);
	outcome_put_integer(to, "rx_bytes", bytes);
	outcome_put_integer(to, "lost_packets", sent - received);
	if (!a.at_sink && !b.at_sink && sent_on >= 0)
		outcome_put_integer(to, "node_lost_packets", received - sent_on);
}

json_t *outcome_truth_json(const struct outcome_hop *hop, struct outcome_row *row)
{
	json_t *json = json_object();
	put_delay(json, hop);
	put_jitter(json, hop);
	put_local(json, hop);
	put_window(json, hop);
	put_span(json, hop, row);
	return json;
}

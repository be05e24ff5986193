// SPDX-License-Identifier: BSD-3-Clause
#include "truth_parts.h"

#include <assert.h>
#include <stdlib.h>

int hs_truth_status(const struct hs_truth *truth)
{
	return truth->status;
}

size_t hs_truth_reports(const struct hs_truth *truth, uint32_t flow)
{
	return truth->status < 0 ? 0 : truth->flows[flow].n_reports;
}

void hs_truth_report(const struct hs_truth *truth, uint32_t flow, size_t index,
		struct hs_truth_report *report)
{
	const struct hs_truth_flow *of = &truth->flows[flow];
	assert(index < of->n_reports);
	const struct hs_truth_kept *kept = &of->reports[index];
	const struct hs_truth_stop *stops = &of->stops[kept->first_stop];
	*report = (struct hs_truth_report){
			.number = kept->number,
			.copy = kept->copy,
			.sink_ns = stops[kept->n_stops - 1].rx_ns,
			.sink_shown_ns = stops[kept->n_stops - 1].rx_shown_ns,
			.n_stops = kept->n_stops,
			.stops = stops,
	};
}

static int by_place(const void *a, const void *b)
{
	const struct hs_truth_sighting *x = a, *y = b;
	if (x->shown_ns != y->shown_ns)
		return x->shown_ns < y->shown_ns ? -1 : 1;
	return (x->node > y->node) - (x->node < y->node);
}

// Newest first, of copies the first to arrive.
static int by_place_and_age(const void *a, const void *b)
{
	const struct hs_truth_sighting *x = a, *y = b;
	int place = by_place(a, b);
	if (place)
		return place;
	if (x->number != y->number)
		return x->number > y->number ? -1 : 1;
	return (x->report > y->report) - (x->report < y->report);
}

static bool make_sightings(struct hs_truth_flow *flow)
{
	size_t n = 0;
	if (flow->sightings && flow->sighted_reports == flow->n_reports)
		return true;
	for (size_t i = 0; i < flow->n_reports; i++)
		n += flow->reports[i].n_stops;
	struct hs_truth_sighting *sightings =
			realloc(flow->sightings, (n + 1) * sizeof(*sightings));
	if (!sightings)
		return false;
	flow->sightings = sightings;
	flow->n_sightings = n;
	flow->sighted_reports = flow->n_reports;
	for (size_t i = flow->n_reports; i-- > 0;) {
		const struct hs_truth_kept *report = &flow->reports[i];
		const struct hs_truth_stop *stop = &flow->stops[report->first_stop];
		for (uint32_t j = 0; j < report->n_stops; j++, stop++)
			sightings[--n] = (struct hs_truth_sighting){
					stop->rx_shown_ns, report->number, stop->node, i};
	}
	qsort(sightings, flow->n_sightings, sizeof(*sightings), by_place_and_age);
	return true;
}

// Without an index: slow, and as right.
static const struct hs_truth_sighting *search(const struct hs_truth_flow *flow,
		const struct hs_truth_sighting *wanted, struct hs_truth_sighting *best)
{
	bool found = false;
	for (size_t i = 0; i < flow->n_reports; i++) {
		const struct hs_truth_kept *report = &flow->reports[i];
		const struct hs_truth_stop *stop = &flow->stops[report->first_stop];
		for (uint32_t j = 0; j < report->n_stops; j++, stop++) {
			struct hs_truth_sighting here = {
					stop->rx_shown_ns, report->number, stop->node, i};
			if (by_place(&here, wanted) ||
					(found && by_place_and_age(&here, best) >= 0))
				continue;
			*best = here;
			found = true;
		}
	}
	return found ? best : NULL;
}

static const struct hs_truth_sighting *look_up(
		const struct hs_truth_flow *flow, const struct hs_truth_sighting *wanted)
{
	size_t low = 0, high = flow->n_sightings;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (by_place(&flow->sightings[middle], wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < flow->n_sightings && by_place(&flow->sightings[low], wanted) == 0;
	return found ? &flow->sightings[low] : NULL;
}

bool hs_truth_find(const struct hs_truth *truth, uint32_t flow, uint32_t node, int64_t shown_ns,
		struct hs_truth_report *report)
{
	struct hs_truth_sighting wanted = {.shown_ns = shown_ns, .node = node}, best;
	struct hs_truth_flow *of = &truth->flows[flow];
	if (truth->status < 0)
		return false;
	const struct hs_truth_sighting *found =
			make_sightings(of) ? look_up(of, &wanted) : search(of, &wanted, &best);
	if (found)
		hs_truth_report(truth, flow, found->report, report);
	return found;
}

static const struct hs_truth_kept_edge *find_edge(
		const struct hs_truth_flow *flow, int64_t end_shown_ns)
{
	size_t low = 0, high = flow->n_edges;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (flow->edges[middle].last_shown_ns < end_shown_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < flow->n_edges ? &flow->edges[low] : NULL;
}

// The true time at which a clock that showed one time at one instant shows another; INT64_MAX, the
// end of all times, stays what it is whichever way the clock is off.
static int64_t time_of(int64_t ns, int64_t shown_ns, int64_t wanted_shown_ns, int64_t not_before)
{
	__int128 at = (__int128)ns + wanted_shown_ns - shown_ns;
	if (at > INT64_MAX)
		return INT64_MAX;
	return at < not_before ? not_before : (int64_t)at;
}

bool hs_truth_edge(const struct hs_truth *truth, uint32_t flow, int64_t end_shown_ns,
		struct hs_truth_edge *edge)
{
	const struct hs_truth_flow *of = &truth->flows[flow];
	if (truth->status < 0 || !of->arrived || end_shown_ns < of->first_edge_ns)
		return false;
	const struct hs_truth_kept_edge *kept = find_edge(of, end_shown_ns);
	const struct hs_truth_state *state = kept ? &kept->state : &of->state;
	*edge = (struct hs_truth_edge){
			.at_shown_ns = end_shown_ns,
			.at_ns = kept ? time_of(kept->passed_ns, kept->passed_shown_ns,
							end_shown_ns, state->ns)
				      : time_of(state->ns, state->shown_ns, end_shown_ns,
							state->ns),
			.number = state->number,
			.sink_rx_bytes = state->sink_rx_bytes,
			.sink_rx_packets = state->sink_rx_packets,
			.n_stops = state->n_stops,
			.stops = kept ? &of->stops[kept->first_stop] : of->newest,
	};
	return true;
}

size_t hs_truth_hops(const struct hs_truth *truth, uint32_t flow)
{
	return truth->status < 0 ? 0 : truth->flows[flow].n_hops;
}

void hs_truth_hop(
		const struct hs_truth *truth, uint32_t flow, size_t index, struct hs_truth_hop *hop)
{
	assert(index < truth->flows[flow].n_hops);
	*hop = truth->flows[flow].hops[index];
}

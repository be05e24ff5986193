// SPDX-License-Identifier: BSD-3-Clause
// Round trips of pings, by telemetry of the two directions and by the sending host.
//
// Source: docs/metrics.md, rule 19; 000_616928c59136b059.txt table V.
#include "outcome_parts.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A reply leaves at once, or after the scenario's delay. A reply whose request was not sampled may
// be paired with an earlier request, at most this much earlier.
#define MAX_GAP_NS INT64_C(1000000000)

struct pinged {
	int64_t shown_ns, rtt_ns; // arrival of the reply, by the pinging node's clock
};

// The input for a pair of flows.
struct ends {
	const struct hs_run *run;
	size_t n_up, n_down, n_pinged;
	const struct hs_trip *up, *down; // in the order of arrival at the sink
	struct pinged *pinged;
	struct hs_trip *room; // [n_up + n_down]
};

// ---- the host's round trips ----

static int by_shown(const void *a, const void *b)
{
	const struct pinged *x = a, *y = b;
	return (x->shown_ns > y->shown_ns) - (x->shown_ns < y->shown_ns);
}

// shown_ns is true time at first. The sink's clock is then ahead by as much as at the latest report
// up to that time.
static void show_by_sink(struct ends *ends, uint32_t flow)
{
	const struct hs_truth *truth = ends->run->truth;
	size_t n = hs_truth_reports(truth, flow), next = 0;
	struct hs_truth_report report;
	for (size_t i = 0; n && i < ends->n_pinged; i++) {
		for (; next < n; next++) {
			hs_truth_report(truth, flow, next, &report);
			if (report.sink_ns > ends->pinged[i].shown_ns)
				break;
		}
		hs_truth_report(truth, flow, next ? next - 1 : 0, &report);
		ends->pinged[i].shown_ns += report.sink_shown_ns - report.sink_ns;
	}
}

static int read_pings(struct ends *ends, uint32_t down)
{
	const struct hs_run *run = ends->run;
	uint32_t traffic = run->scenario->flows[down].traffic;
	const struct hs_stream_trip *trips =
			hs_stream_trips(run->streams[traffic], &ends->n_pinged);
	ends->pinged = calloc(ends->n_pinged + 1, sizeof(*ends->pinged));
	if (!ends->pinged)
		return -ENOMEM;
	// The host's round trip contains the far host's delay. Telemetry's round trip does not.
	for (size_t i = 0; i < ends->n_pinged; i++)
		ends->pinged[i] = (struct pinged){trips[i].sent_ns + trips[i].rtt_ns,
				trips[i].rtt_ns - run->scenario->traffic[traffic].reply_delay_ns};
	qsort(ends->pinged, ends->n_pinged, sizeof(*ends->pinged), by_shown);
	show_by_sink(ends, down);
	qsort(ends->pinged, ends->n_pinged, sizeof(*ends->pinged), by_shown);
	return 0;
}

// ---- each ping ----

// The number of frames that a frame may overtake on the path of requests.
#define OVERTAKEN 8

// If every reply that the host saw was sampled, and so was its request, they are compared one by
// one in the order of arrival. The request of reply i is request i, or a later one: as many later
// as replies were lost.
static double error_of_pings(const struct ends *ends)
{
	double error = 0;
	if (!ends->n_pinged || ends->n_down != ends->n_pinged || ends->n_up < ends->n_down)
		return NAN;
	for (size_t i = 0; i < ends->n_down; i++) {
		struct hs_trip down = ends->down[i];
		struct hs_round_trip pair;
		size_t low = i < OVERTAKEN ? 0 : i - OVERTAKEN;
		size_t high = i + (ends->n_up - ends->n_down) + OVERTAKEN + 1;
		high = high < ends->n_up ? high : ends->n_up;
		memcpy(ends->room, &ends->up[low], (high - low) * sizeof(*ends->room));
		if (hs_round_trip(ends->room, high - low, &down, 1, MAX_GAP_NS, &pair))
			return NAN;
		error += fabs((double)(pair.mean_ns - ends->pinged[i].rtt_ns));
	}
	return error / (double)ends->n_down;
}

// ---- windows: (start, end] of the pinging node's clock, in which replies arrived ----

// Finds the replies of the window, and the requests that they may belong to. Returns false if there
// are none.
static bool measure(const struct ends *ends, int64_t start_ns, int64_t end_ns,
		struct hs_round_trip *result)
{
	struct hs_trip *up = ends->room, *down = ends->room + ends->n_up;
	size_t n_up = 0, n_down = 0;
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (size_t i = 0; i < ends->n_down; i++) {
		const struct hs_trip *trip = &ends->down[i];
		if (trip->sink_ns <= start_ns || trip->sink_ns > end_ns)
			continue;
		down[n_down++] = *trip;
		first = trip->source_ns < first ? trip->source_ns : first;
		last = trip->source_ns > last ? trip->source_ns : last;
	}
	for (size_t i = 0; i < ends->n_up && n_down; i++)
		if (ends->up[i].sink_ns >= first - MAX_GAP_NS && ends->up[i].sink_ns <= last)
			up[n_up++] = ends->up[i];
	return hs_round_trip(up, n_up, down, n_down, MAX_GAP_NS, result) == 0;
}

static double ping_mean(const struct ends *ends, int64_t start_ns, int64_t end_ns, size_t *n)
{
	double sum = 0;
	*n = 0;
	for (size_t i = 0; i < ends->n_pinged; i++) {
		if (ends->pinged[i].shown_ns <= start_ns || ends->pinged[i].shown_ns > end_ns)
			continue;
		sum += (double)ends->pinged[i].rtt_ns;
		(*n)++;
	}
	return floor(outcome_mean(sum, *n));
}

static void compare(const struct ends *ends, struct outcome_trip *trip)
{
	int64_t length_ns = ends->run->scenario->window_ns, last_ns = INT64_MIN;
	double measured = 0, truth = 0, error = 0, n = 0;
	struct hs_trip_numbers *numbers = &trip->numbers;
	for (size_t i = 0; i < ends->n_pinged; i++) {
		int64_t end_ns = (ends->pinged[i].shown_ns + length_ns - 1) / length_ns * length_ns;
		int64_t start_ns = end_ns - length_ns;
		struct hs_round_trip of = {.pairs = 0};
		size_t pings;
		if (end_ns == last_ns)
			continue;
		last_ns = end_ns;
		bool told = measure(ends, start_ns, end_ns, &of);
		double mean = ping_mean(ends, start_ns, end_ns, &pings);
		json_t *window = json_pack("{s:I, s:I, s:I, s:b, s:o*, s:o*}", "start_ns",
				(json_int_t)start_ns, "pairs", (json_int_t)of.pairs, "pings",
				(json_int_t)pings, "clocks_differ", of.clocks_differ, "measured_ns",
				told ? json_integer(of.mean_ns) : NULL, "truth_ns",
				outcome_number(mean));
		json_array_append_new(trip->windows, window);
		numbers->pairs += (double)of.pairs;
		numbers->clocks_differ += of.clocks_differ;
		if (!told)
			continue;
		n++;
		measured += (double)of.mean_ns;
		truth += mean;
		error += fabs((double)of.mean_ns - mean);
	}
	numbers->measured_ns = n > 0 ? measured / n : NAN;
	numbers->truth_ns = n > 0 ? truth / n : NAN;
	numbers->mae_windows_ns = n > 0 ? error / n : NAN;
	numbers->mae_pings_ns = error_of_pings(ends);
	numbers->mae_ns = fmax(numbers->mae_windows_ns, numbers->mae_pings_ns);
}

// ---- pairs of flows ----

static int compare_pair(const struct hs_run *run, struct outcome_trip *trip)
{
	struct ends ends = {.run = run};
	ends.n_up = hs_measured_trips(run->measured, trip->up, &ends.up);
	ends.n_down = hs_measured_trips(run->measured, trip->down, &ends.down);
	ends.room = malloc((ends.n_up + ends.n_down + 1) * sizeof(*ends.room));
	trip->windows = json_array();
	int rc = ends.room && trip->windows ? read_pings(&ends, trip->down) : -ENOMEM;
	if (!rc)
		compare(&ends, trip);
	free(ends.room);
	free(ends.pinged);
	return rc;
}

static bool is_pair(const struct hs_scenario *scenario, uint32_t up, uint32_t down)
{
	const struct hs_scenario_flow *a = &scenario->flows[up], *b = &scenario->flows[down];
	return !a->reverse && b->reverse && a->app_id == b->app_id && a->traffic == b->traffic &&
	       a->traffic < scenario->n_traffic &&
	       scenario->traffic[a->traffic].kind == HS_TRAFFIC_PING;
}

int outcome_trips_make(struct outcome *outcome)
{
	const struct hs_scenario *scenario = outcome->run->scenario;
	for (uint32_t up = 0; up < scenario->n_flows; up++) {
		for (uint32_t down = 0; down < scenario->n_flows; down++) {
			if (!is_pair(scenario, up, down))
				continue;
			struct outcome_trip *trips = reallocarray(
					outcome->trips, outcome->n_trips + 1, sizeof(*trips));
			if (!trips)
				return -ENOMEM;
			outcome->trips = trips;
			trips[outcome->n_trips] = (struct outcome_trip){.up = up, .down = down};
			if (compare_pair(outcome->run, &trips[outcome->n_trips++]))
				return -ENOMEM;
		}
	}
	return 0;
}

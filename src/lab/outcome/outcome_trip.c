// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_trip.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// A reply leaves at once, or after the scenario's delay; beyond it a ping that was not sampled on
// its way up may be paired with an earlier one, so far back.
#define MAX_GAP_NS INT64_C(1000000000)

struct pinged {
	int64_t shown_ns, rtt_ns; // reply received, by the pinging node's clock
};

// What a pair of flows is computed from.
struct ends {
	const struct hs_run *run;
	int64_t delay_ns; // at the far host: in the host's round trip, not in telemetry's
	size_t n_up, n_down, n_pinged;
	struct hs_trip *up, *down; // in the order of arrival at the sink; copies
	struct pinged *pinged;	   // in the order of arrival
};

// ---- what the hosts saw ----

// The sink's clock at a true time: as far ahead as at the latest report by then.
static int64_t shown_by_sink(const struct hs_run *run, uint32_t flow, int64_t true_ns, size_t *next)
{
	size_t n = hs_truth_reports(run->truth, flow);
	struct hs_truth_report report;
	if (!n)
		return true_ns;
	for (; *next < n; (*next)++) {
		hs_truth_report(run->truth, flow, *next, &report);
		if (report.sink_ns > true_ns)
			break;
	}
	hs_truth_report(run->truth, flow, *next ? *next - 1 : 0, &report);
	return true_ns + (report.sink_shown_ns - report.sink_ns);
}

static int by_arrival(const void *a, const void *b)
{
	const struct hs_stream_trip *x = a, *y = b;
	int64_t at_x = x->sent_ns + x->rtt_ns, at_y = y->sent_ns + y->rtt_ns;
	if (at_x != at_y)
		return at_x < at_y ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

static int read_pings(struct ends *ends, uint32_t down)
{
	const struct hs_run *run = ends->run;
	const struct hs_stream_trip *trips = hs_stream_trips(
			run->streams[run->scenario->flows[down].traffic], &ends->n_pinged);
	struct hs_stream_trip *sorted = calloc(ends->n_pinged + 1, sizeof(*sorted));
	ends->pinged = calloc(ends->n_pinged + 1, sizeof(*ends->pinged));
	size_t next = 0;
	if (!sorted || !ends->pinged) {
		free(sorted);
		return -ENOMEM;
	}
	if (ends->n_pinged)
		memcpy(sorted, trips, ends->n_pinged * sizeof(*sorted));
	qsort(sorted, ends->n_pinged, sizeof(*sorted), by_arrival);
	for (size_t i = 0; i < ends->n_pinged; i++)
		ends->pinged[i] = (struct pinged){
				.shown_ns = shown_by_sink(run, down,
						sorted[i].sent_ns + sorted[i].rtt_ns, &next),
				.rtt_ns = sorted[i].rtt_ns - ends->delay_ns,
		};
	free(sorted);
	return 0;
}

static int read_trips(const struct hs_measured *measured, uint32_t flow, struct hs_trip **trips,
		size_t *n)
{
	const struct hs_trip *from;
	*n = hs_measured_trips(measured, flow, &from);
	*trips = malloc((*n + 1) * sizeof(**trips));
	if (!*trips)
		return -ENOMEM;
	if (*n)
		memcpy(*trips, from, *n * sizeof(**trips));
	return 0;
}

static void ends_fini(struct ends *ends)
{
	free(ends->up);
	free(ends->down);
	free(ends->pinged);
}

static int ends_init(struct ends *ends, const struct hs_run *run, uint32_t up, uint32_t down)
{
	uint32_t traffic = run->scenario->flows[down].traffic;
	*ends = (struct ends){
			.run = run, .delay_ns = run->scenario->traffic[traffic].reply_delay_ns};
	if (read_trips(run->measured, up, &ends->up, &ends->n_up) ||
			read_trips(run->measured, down, &ends->down, &ends->n_down) ||
			read_pings(ends, down)) {
		ends_fini(ends);
		return -ENOMEM;
	}
	return 0;
}

// ---- windows ----

static int64_t window_of(int64_t shown_ns, int64_t length_ns)
{
	return (shown_ns + length_ns - 1) / length_ns;
}

static int by_end(const void *a, const void *b)
{
	int64_t x = ((const struct hs_outcome_trip_window *)a)->end_ns;
	int64_t y = ((const struct hs_outcome_trip_window *)b)->end_ns;
	return (x > y) - (x < y);
}

// One window for each number in which a reply arrived.
static int make_windows(const struct ends *ends, int64_t length_ns, struct hs_outcome_trip *trip)
{
	size_t n = 0, kept = 0;
	struct hs_outcome_trip_window *windows =
			calloc(ends->n_down + ends->n_pinged + 1, sizeof(*windows));
	if (!windows)
		return -ENOMEM;
	for (size_t i = 0; i < ends->n_down; i++)
		windows[n++].end_ns = window_of(ends->down[i].sink_ns, length_ns) * length_ns;
	for (size_t i = 0; i < ends->n_pinged; i++)
		windows[n++].end_ns = window_of(ends->pinged[i].shown_ns, length_ns) * length_ns;
	qsort(windows, n, sizeof(*windows), by_end);
	for (size_t i = 0; i < n; i++)
		if (!i || windows[i].end_ns != windows[kept - 1].end_ns)
			windows[kept++] = windows[i];
	for (size_t i = 0; i < kept; i++)
		windows[i].start_ns = windows[i].end_ns - length_ns;
	trip->windows = windows;
	trip->n_windows = kept;
	return 0;
}

static int measure_window(const struct ends *ends, struct hs_trip *room,
		struct hs_outcome_trip_window *window)
{
	struct hs_trip *up = room, *down = room + ends->n_up;
	size_t n_up = 0, n_down = 0;
	int64_t first = INT64_MAX, last = INT64_MIN;
	for (size_t i = 0; i < ends->n_down; i++) {
		const struct hs_trip *trip = &ends->down[i];
		if (trip->sink_ns <= window->start_ns || trip->sink_ns > window->end_ns)
			continue;
		down[n_down++] = *trip;
		first = trip->source_ns < first ? trip->source_ns : first;
		last = trip->source_ns > last ? trip->source_ns : last;
	}
	for (size_t i = 0; i < ends->n_up && n_down; i++)
		if (ends->up[i].sink_ns >= first - MAX_GAP_NS && ends->up[i].sink_ns <= last)
			up[n_up++] = ends->up[i];
	int rc = hs_round_trip(up, n_up, down, n_down, MAX_GAP_NS, &window->measured);
	window->has_measured = !rc;
	return rc == -ENOMEM ? rc : 0;
}

static void ping_window(const struct ends *ends, struct hs_outcome_trip_window *window)
{
	__int128 sum = 0;
	for (size_t i = 0; i < ends->n_pinged; i++) {
		const struct pinged *pinged = &ends->pinged[i];
		if (pinged->shown_ns <= window->start_ns || pinged->shown_ns > window->end_ns)
			continue;
		window->truth_trips++;
		sum += pinged->rtt_ns;
	}
	window->has_truth = window->truth_trips;
	if (window->has_truth)
		window->truth_ns = (int64_t)(sum / (__int128)window->truth_trips);
}

static void sum_up(struct hs_outcome_trip *trip)
{
	double measured = 0, truth = 0, error = 0;
	for (size_t i = 0; i < trip->n_windows; i++) {
		const struct hs_outcome_trip_window *window = &trip->windows[i];
		trip->pairs += window->measured.pairs;
		trip->clocks_differ += window->measured.clocks_differ;
		if (!window->has_measured || !window->has_truth)
			continue;
		trip->compared++;
		measured += (double)window->measured.mean_ns;
		truth += (double)window->truth_ns;
		error += fabs((double)(window->measured.mean_ns - window->truth_ns));
	}
	double n = (double)trip->compared;
	trip->measured_ns = trip->compared ? measured / n : NAN;
	trip->truth_ns = trip->compared ? truth / n : NAN;
	trip->mae_windows_ns = trip->compared ? error / n : NAN;
}

// ---- each ping ----

// How far frames may overtake each other on the way up.
#define OVERTAKEN 8

// Where every reply that the host saw was sampled, and so was its request, they can be compared one
// by one, in the order in which they arrived: the request of reply i is request i, or as many later
// as replies were lost.
static double error_of_pings(const struct ends *ends, struct hs_trip *room)
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
		memcpy(room, &ends->up[low], (high - low) * sizeof(*room));
		if (hs_round_trip(room, high - low, &down, 1, MAX_GAP_NS, &pair))
			return NAN;
		error += fabs((double)(pair.mean_ns - ends->pinged[i].rtt_ns));
	}
	return error / (double)ends->n_down;
}

// ---- pairs of flows ----

static int compute(const struct hs_run *run, struct hs_outcome_trip *trip)
{
	struct ends ends;
	if (ends_init(&ends, run, trip->up, trip->down))
		return -ENOMEM;
	int rc = -ENOMEM;
	struct hs_trip *room = malloc((ends.n_up + ends.n_down + 1) * sizeof(*room));
	if (!room || make_windows(&ends, run->scenario->window_ns, trip))
		goto free_room;
	for (size_t i = 0; i < trip->n_windows; i++) {
		if (measure_window(&ends, room, &trip->windows[i]))
			goto free_room;
		ping_window(&ends, &trip->windows[i]);
	}
	sum_up(trip);
	trip->mae_pings_ns = error_of_pings(&ends, room);
	trip->mae_ns = fmax(trip->mae_windows_ns, trip->mae_pings_ns);
	rc = 0;

free_room:
	free(room);
	ends_fini(&ends);
	return rc;
}

static bool is_pair(const struct hs_scenario *scenario, uint32_t up, uint32_t down)
{
	const struct hs_scenario_flow *a = &scenario->flows[up], *b = &scenario->flows[down];
	return !a->reverse && b->reverse && a->app_id == b->app_id && a->traffic == b->traffic &&
	       a->traffic < scenario->n_traffic &&
	       scenario->traffic[a->traffic].kind == HS_TRAFFIC_PING;
}

static size_t find_pairs(const struct hs_scenario *scenario, struct hs_outcome_trip *trips)
{
	size_t n = 0;
	for (uint32_t up = 0; up < scenario->n_flows; up++) {
		for (uint32_t down = 0; down < scenario->n_flows; down++) {
			if (!is_pair(scenario, up, down))
				continue;
			if (trips)
				trips[n] = (struct hs_outcome_trip){.up = up, .down = down};
			n++;
		}
	}
	return n;
}

int hs_outcome_trips_init(struct hs_outcome_trips *trips, const struct hs_run *run)
{
	trips->n = find_pairs(run->scenario, NULL);
	trips->trips = calloc(trips->n + 1, sizeof(*trips->trips));
	if (!trips->trips)
		return -ENOMEM;
	find_pairs(run->scenario, trips->trips);
	for (size_t i = 0; i < trips->n; i++) {
		if (compute(run, &trips->trips[i])) {
			hs_outcome_trips_fini(trips);
			return -ENOMEM;
		}
	}
	return 0;
}

void hs_outcome_trips_fini(struct hs_outcome_trips *trips)
{
	for (size_t i = 0; i < trips->n; i++)
		free(trips->trips[i].windows);
	free(trips->trips);
	*trips = (struct hs_outcome_trips){0};
}

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

// The input for a pair of flows, whose trips are in the order of arrival at the sink.
struct ends {
	const struct hs_run *run;
	const struct hs_measured_flow *up, *down;
	size_t n_pinged;
	struct pinged *pinged; // by shown_ns
	// Of all trips up, then of those down that are in a window.
	struct hs_trip *room;
};

static int by_shown(const void *a, const void *b)
{
	const struct pinged *x = a, *y = b;
	return (x->shown_ns > y->shown_ns) - (x->shown_ns < y->shown_ns);
}

// Reads the host's round trips, and subtracts the far host's delay. The round trips of telemetry do
// not contain this delay. The sink's clock is ahead by as much as at the latest report up to the
// reply's arrival.
static int read_pings(struct ends *ends, uint32_t down)
{
	const struct hs_scenario *scenario = ends->run->scenario;
	uint32_t traffic = scenario->flows[down].traffic;
	const struct hs_stream *stream = ends->run->streams[traffic];
	const struct hs_truth_flow *truth = &ends->run->truth->flows[down];
	int64_t ahead_ns = 0;
	size_t next = 0;
	ends->n_pinged = stream->n_trips;
	ends->pinged = calloc(ends->n_pinged + 1, sizeof(*ends->pinged));
	if (!ends->pinged)
		return -ENOMEM;
	for (size_t i = 0; i < ends->n_pinged; i++) {
		const struct hs_stream_trip *trip = &stream->trips[i];
		int64_t arrived_ns = trip->sent_ns + trip->rtt_ns;
		for (; next < truth->n_reports; next++) {
			const struct hs_truth_report *report = &truth->reports[next];
			if (next && report->sink_ns > arrived_ns)
				break;
			ahead_ns = report->sink_shown_ns - report->sink_ns;
		}
		ends->pinged[i] = (struct pinged){arrived_ns + ahead_ns,
				trip->rtt_ns - scenario->traffic[traffic].reply_delay_ns};
	}
	qsort(ends->pinged, ends->n_pinged, sizeof(*ends->pinged), by_shown);
	return 0;
}

// ---- each ping ----

// The number of frames that a frame may overtake on the path of requests.
#define OVERTAKEN 8

// Returns the mean error of single pings, or NAN. If every reply that the host saw was sampled, and
// so was its request, the pings are compared one by one in the order of arrival. The request of
// reply i is request i, or a later one: as many later as replies were lost.
static double error_of_pings(const struct ends *ends)
{
	double error = 0;
	if (!ends->n_pinged || ends->down->n_trips != ends->n_pinged ||
			ends->up->n_trips < ends->down->n_trips)
		return NAN;
	for (size_t i = 0; i < ends->down->n_trips; i++) {
		struct hs_trip down = ends->down->trips[i];
		struct hs_round_trip pair;
		size_t low = i < OVERTAKEN ? 0 : i - OVERTAKEN;
		size_t high = i + (ends->up->n_trips - ends->down->n_trips) + OVERTAKEN + 1;
		high = high < ends->up->n_trips ? high : ends->up->n_trips;
		memcpy(ends->room, &ends->up->trips[low], (high - low) * sizeof(*ends->room));
		if (hs_round_trip(ends->room, high - low, &down, 1, MAX_GAP_NS, &pair))
			return NAN;
		error += fabs((double)(pair.mean_ns - ends->pinged[i].rtt_ns));
	}
	return error / (double)ends->down->n_trips;
}

// ---- windows of the pinging node's clock, in which replies arrived ----

// The round trips of a pair of flows, by telemetry and by the host.
struct numbers {
	double measured_ns, truth_ns;
	double mae_ns;			     // the larger of the two that follow
	double mae_windows_ns, mae_pings_ns; // of means of windows; of single pings
	double pairs, clocks_differ;
};

// Adds the window that ends here to the sums of the numbers. truth_ns is the mean of its pings.
// Returns whether telemetry says something about it.
static bool compare_window(const struct ends *ends, int64_t end_ns, size_t pings, double truth_ns,
		struct numbers *numbers, json_t *windows)
{
	int64_t start_ns = end_ns - ends->run->scenario->window_ns;
	struct hs_trip *down = ends->room + ends->up->n_trips;
	struct hs_round_trip of;
	size_t n_down = 0;
	for (size_t i = 0; i < ends->down->n_trips; i++)
		if (ends->down->trips[i].sink_ns > start_ns &&
				ends->down->trips[i].sink_ns <= end_ns)
			down[n_down++] = ends->down->trips[i];
	bool told = !hs_round_trip(ends->room, ends->up->n_trips, down, n_down, MAX_GAP_NS, &of);
	json_array_append_new(
			windows, json_pack("{s:I, s:I, s:I, s:b, s:o*, s:o*}", "start_ns",
						 (json_int_t)start_ns, "pairs",
						 (json_int_t)of.pairs, "pings", (json_int_t)pings,
						 "clocks_differ", of.clocks_differ, "measured_ns",
						 told ? json_integer(of.mean_ns) : NULL, "truth_ns",
						 outcome_number(truth_ns)));
	numbers->pairs += (double)of.pairs;
	numbers->clocks_differ += of.clocks_differ;
	if (!told)
		return false;
	numbers->measured_ns += (double)of.mean_ns;
	numbers->truth_ns += truth_ns;
	numbers->mae_windows_ns += fabs((double)of.mean_ns - truth_ns);
	return true;
}

static struct numbers compare(const struct ends *ends, json_t *windows)
{
	int64_t length_ns = ends->run->scenario->window_ns;
	struct numbers numbers = {0};
	size_t n = 0;
	if (ends->up->n_trips)
		memcpy(ends->room, ends->up->trips, ends->up->n_trips * sizeof(*ends->room));
	for (size_t i = 0, next = 0; i < ends->n_pinged; i = next) {
		int64_t end_ns = (ends->pinged[i].shown_ns + length_ns - 1) / length_ns * length_ns;
		double sum = 0;
		for (; next < ends->n_pinged && ends->pinged[next].shown_ns <= end_ns; next++)
			sum += (double)ends->pinged[next].rtt_ns;
		n += compare_window(ends, end_ns, next - i, floor(sum / (double)(next - i)),
				&numbers, windows);
	}
	numbers.measured_ns = outcome_mean(numbers.measured_ns, n);
	numbers.truth_ns = outcome_mean(numbers.truth_ns, n);
	numbers.mae_windows_ns = outcome_mean(numbers.mae_windows_ns, n);
	numbers.mae_pings_ns = error_of_pings(ends);
	numbers.mae_ns = fmax(numbers.mae_windows_ns, numbers.mae_pings_ns);
	return numbers;
}

// ---- pairs of flows ----

#define TRIP(member) HS_SCHEMA_ROW(struct numbers, NUMBER, member, NULL)
static const struct hs_schema_field trip_fields[] = {
		TRIP(measured_ns),
		TRIP(truth_ns),
		TRIP(mae_ns),
		TRIP(mae_windows_ns),
		TRIP(mae_pings_ns),
		TRIP(pairs),
		TRIP(clocks_differ),
		{NULL},
};

static int compare_pair(const struct hs_run *run, uint32_t up, uint32_t down, json_t *list)
{
	const struct hs_scenario *scenario = run->scenario;
	const struct hs_measured_flow *flows = run->measured->flows;
	struct ends ends = {.run = run, .up = &flows[up], .down = &flows[down]};
	json_t *windows = json_array();
	ends.room = malloc((flows[up].n_trips + flows[down].n_trips + 1) * sizeof(*ends.room));
	int rc = ends.room ? read_pings(&ends, down) : -ENOMEM;
	if (!rc) {
		const struct numbers numbers = compare(&ends, windows);
		json_t *json = json_pack("{s:I, s:s, s:s}", "app_id",
				(json_int_t)scenario->flows[up].app_id, "up",
				scenario->flows[up].name, "down", scenario->flows[down].name);
		hs_schema_print_into(json, trip_fields, &numbers);
		if (scenario->keep_windows)
			json_object_set(json, "windows", windows);
		json_array_append_new(list, json);
	}
	json_decref(windows);
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

int outcome_trips_put(const struct hs_run *run, json_t *result)
{
	const struct hs_scenario *scenario = run->scenario;
	int rc = 0;
	for (uint32_t up = 0; up < scenario->n_flows; up++)
		for (uint32_t down = 0; down < scenario->n_flows && !rc; down++)
			if (is_pair(scenario, up, down))
				rc = compare_pair(run, up, down,
						json_object_get(result, "round_trip"));
	return rc;
}

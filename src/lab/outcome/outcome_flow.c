// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_parts.h"

#include <errno.h>
#include <stdlib.h>

// ---- orders ----

// Orders reports by their place. Reports of the same place are in the order of arrival.
static int by_place(const void *a, const void *b)
{
	const struct outcome_report *x = *(struct outcome_report *const *)a;
	const struct outcome_report *y = *(struct outcome_report *const *)b;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x > y) - (x < y);
}

// Returns whether source or sink forgot its counts.
static bool began_anew(const struct hs_truth_report *before, const struct hs_truth_report *newest,
		const struct hs_truth_report *report)
{
	return report->stops[report->n_stops - 1].life != before->stops[before->n_stops - 1].life ||
	       (report->number > newest->number && report->stops[0].life != newest->stops[0].life);
}

// The monitor closes a window this long after its end.
#define LATENESS_NS INT64_C(100000000)

// Returns the time by which the report counts in a window. If the sink's clock goes back, closed
// windows stay closed. Later packets count in the next window.
static int64_t counted_at(const struct outcome_flow *flow, int64_t shown_ns, int64_t latest_ns)
{
	const struct hs_scenario *scenario = flow->run->scenario;
	int64_t shortest_ns =
			scenario->windows_ns[0] ? scenario->windows_ns[0] : scenario->window_ns;
	int64_t closed_ns = (latest_ns - LATENESS_NS) / shortest_ns * shortest_ns;
	return shown_ns > closed_ns ? shown_ns : closed_ns + 1;
}

static void read_reports(struct outcome_flow *flow)
{
	const struct hs_truth_report *newest = flow->truth->reports;
	int64_t latest_ns = INT64_MIN / 2;
	uint32_t epoch = 0;
	for (size_t i = 0; i < flow->n; i++) {
		const struct hs_truth_report *report = &flow->truth->reports[i];
		if (i && began_anew(report - 1, newest, report))
			epoch++;
		if (report->number > newest->number)
			newest = report;
		if (report->sink_shown_ns > latest_ns)
			latest_ns = report->sink_shown_ns;
		flow->arrived[i] = (struct outcome_report){.truth = report,
				.place = (int64_t)report->number,
				.counted_ns = counted_at(flow, report->sink_shown_ns, latest_ns),
				.epoch = epoch};
		flow->reports[i] = &flow->arrived[i];
	}
}

static void order_reports(struct outcome_flow *flow)
{
	struct outcome_report **reports = flow->reports, *last = NULL;
	qsort(reports, flow->n, sizeof(*reports), by_place);
	for (size_t i = 0; i < flow->n; i++) {
		reports[i]->before = last;
		reports[i]->repeats = last && reports[i]->truth->number == last->truth->number;
		if (!reports[i]->repeats)
			last = reports[i];
		reports[i]->place = reports[i]->counted_ns;
	}
	qsort(reports, flow->n, sizeof(*reports), by_place);
	for (size_t i = 0; i < flow->n; i++) {
		const struct outcome_report *before = reports[i ? i - 1 : 0]->newest;
		bool newer = !before || reports[i]->truth->number > before->truth->number;
		reports[i]->newest = newer ? reports[i] : before;
	}
}

// ---- init, fini ----

static void take_windows(struct outcome_flow *flow)
{
	const struct hs_measured *measured = flow->run->measured;
	for (size_t i = 0; i < measured->n_windows; i++) {
		const struct hs_measured_window *window = &measured->windows[i];
		if (window->flow != flow->index)
			continue;
		flow->windows[flow->n_windows++] = window;
		for (uint32_t j = 0; j < window->n_hops; j++)
			flow->publishes[hs_measured_ends(window, j).to] = true;
	}
	flow->publishes[0] = false; // the source, whatever its id
}

int outcome_flow_init(struct outcome_flow *flow, const struct hs_run *run, uint32_t index)
{
	const struct hs_truth_flow *truth = &run->truth->flows[index];
	size_t n = truth->n_reports;
	*flow = (struct outcome_flow){
			.run = run,
			.index = index,
			.config = &run->scenario->flows[index],
			.truth = truth,
			.n = n,
			.publishes = calloc(UINT16_MAX + 1, sizeof(bool)),
			.arrived = calloc(n + 1, sizeof(struct outcome_report)),
			.reports = calloc(n + 1, sizeof(struct outcome_report *)),
			.values = calloc(n + 1, sizeof(int64_t)),
			.windows = calloc(run->measured->n_windows + 1, sizeof(void *)),
	};
	if (!flow->publishes || !flow->arrived || !flow->reports || !flow->values || !flow->windows)
		return -ENOMEM;
	take_windows(flow);
	read_reports(flow);
	order_reports(flow);
	return 0;
}

void outcome_flow_fini(struct outcome_flow *flow)
{
	free(flow->publishes);
	free(flow->arrived);
	free(flow->reports);
	free(flow->values);
	free(flow->windows);
	free(flow->rows);
}

// ---- questions ----

// Returns the number of reports in windows up to this time.
static size_t until(const struct outcome_flow *flow, int64_t shown_ns)
{
	size_t low = 0, high = flow->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (flow->reports[middle]->counted_ns <= shown_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct outcome_hop outcome_hop_of(const struct outcome_flow *flow,
		const struct hs_measured_window *window, uint32_t index)
{
	return (struct outcome_hop){
			.flow = flow,
			.window = window,
			.measured = hs_measured_hop(window, index),
			.ends = hs_measured_ends(window, index),
			.low = until(flow, window->start_ns),
			.high = until(flow, window->end_ns),
	};
}

// Returns the first stop at the node with this id, from this stop on, or NULL. In paths, the source
// has id 0, whatever its real id.
static const struct hs_truth_stop *find_stop(const struct outcome_flow *flow,
		const struct hs_truth_report *report, const struct hs_truth_stop *stop, uint16_t id)
{
	const struct hs_scenario_node *nodes = flow->run->scenario->nodes;
	for (; stop < report->stops + report->n_stops; stop++)
		if ((stop == report->stops ? 0 : nodes[stop->node].id) == id)
			return stop;
	return NULL;
}

bool outcome_stops_of(const struct outcome_hop *hop, const struct hs_truth_report *report,
		struct outcome_stops *stops)
{
	const struct outcome_flow *flow = hop->flow;
	const struct hs_truth_stop *last = &report->stops[report->n_stops - 1];
	*stops = (struct outcome_stops){report->stops, last, true, true};
	if (hop->ends.e2e)
		return report->n_stops > 1;
	stops->from = find_stop(flow, report, report->stops, hop->ends.from);
	stops->to = stops->from ? find_stop(flow, report, stops->from + 1, hop->ends.to) : NULL;
	if (!stops->to)
		return false;
	stops->at_sink = stops->to == last;
	for (const struct hs_truth_stop *stop = stops->from + 1; stop < stops->to; stop++)
		stops->direct &= !flow->publishes[flow->run->scenario->nodes[stop->node].id];
	return true;
}

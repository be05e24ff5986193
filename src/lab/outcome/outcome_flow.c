// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_parts.h"

#include <errno.h>
#include <stdlib.h>

// ---- which nodes stand in paths ----

// In paths, the source has id 0, whatever its real id.
static uint16_t published_id(const struct outcome_flow *flow, const struct hs_truth_report *report,
		uint32_t stop)
{
	return stop == 0 ? 0 : flow->run->scenario->nodes[report->stops[stop].node].id;
}

static void note_publisher(struct outcome_flow *flow, uint16_t id)
{
	const struct hs_scenario *scenario = flow->run->scenario;
	for (size_t i = 0; i < scenario->n_nodes; i++)
		if (scenario->nodes[i].id == id && id != 0)
			flow->publishes[i] = true;
}

static void note_publishers(struct outcome_flow *flow)
{
	bool known[UINT16_MAX + 1] = {false};
	for (size_t i = 0; i < flow->n_windows; i++) {
		for (uint32_t j = 0; j < flow->windows[i]->n_hops; j++) {
			uint16_t id = hs_measured_to(flow->windows[i], j);
			if (!known[id])
				note_publisher(flow, id);
			known[id] = true;
		}
	}
}

// ---- orders ----

static int by_sink(const void *a, const void *b)
{
	const struct outcome_report *x = a, *y = b;
	if (x->counted_ns != y->counted_ns)
		return x->counted_ns < y->counted_ns ? -1 : 1;
	return (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

struct key {
	uint64_t number;
	size_t arrival, index;
};

static int by_source(const void *a, const void *b)
{
	const struct key *x = a, *y = b;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	return (x->arrival > y->arrival) - (x->arrival < y->arrival);
}

static const struct hs_truth_stop *sink_of(const struct hs_truth_report *report)
{
	return &report->stops[report->n_stops - 1];
}

// Returns whether source or sink forgot its counts.
static bool began_anew(const struct hs_truth_report *before, const struct hs_truth_report *newest,
		const struct hs_truth_report *report)
{
	return sink_of(report)->life != sink_of(before)->life ||
	       (report->number > newest->number && report->stops[0].life != newest->stops[0].life);
}

// The monitor closes a window this long after its end.
#define LATENESS_NS INT64_C(100000000)

// If the sink's clock goes back, closed windows stay closed. Later packets count in the next
// window.
static int64_t counted_at(int64_t shown_ns, int64_t latest_ns, int64_t shortest_ns)
{
	int64_t closed_ns = (latest_ns - LATENESS_NS) / shortest_ns * shortest_ns;
	return shown_ns > closed_ns ? shown_ns : closed_ns + 1;
}

static void read_reports(struct outcome_flow *flow)
{
	struct outcome_report *reports = flow->reports;
	const struct hs_truth_report *newest = &reports[0].truth;
	int64_t latest_ns = INT64_MIN / 2;
	const struct hs_scenario *scenario = flow->run->scenario;
	int64_t shortest_ns =
			scenario->windows_ns[0] ? scenario->windows_ns[0] : scenario->window_ns;
	uint32_t epoch = 0;
	for (size_t i = 0; i < flow->n; i++) {
		struct hs_truth_report *report = &reports[i].truth;
		hs_truth_report(flow->run->truth, flow->index, i, report);
		if (i && began_anew(&reports[i - 1].truth, newest, report))
			epoch++;
		if (report->number > newest->number)
			newest = report;
		if (report->sink_shown_ns > latest_ns)
			latest_ns = report->sink_shown_ns;
		reports[i].counted_ns = counted_at(report->sink_shown_ns, latest_ns, shortest_ns);
		reports[i].arrival = i;
		reports[i].epoch = epoch;
		reports[i].place = SIZE_MAX;
	}
}

static void order_by_sink(struct outcome_flow *flow)
{
	const struct outcome_report *reports = flow->reports;
	qsort(flow->reports, flow->n, sizeof(*flow->reports), by_sink);
	for (size_t i = 0; i < flow->n; i++) {
		size_t before = i ? flow->newest[i - 1] : 0;
		bool newer = reports[i].truth.number > reports[before].truth.number;
		flow->newest[i] = newer ? i : before;
		if (!reports[i].arrival)
			flow->first = i;
	}
}

static int order_by_source(struct outcome_flow *flow)
{
	struct key *keys = malloc((flow->n + 1) * sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < flow->n; i++)
		keys[i] = (struct key){flow->reports[i].truth.number, flow->reports[i].arrival, i};
	qsort(keys, flow->n, sizeof(*keys), by_source);
	for (size_t i = 0; i < flow->n; i++) {
		if (i && keys[i].number == keys[i - 1].number)
			continue;
		flow->reports[keys[i].index].place = flow->n_ordered;
		flow->ordered[flow->n_ordered++] = keys[i].index;
	}
	free(keys);
	return 0;
}

// ---- init, fini ----

static void take_windows(struct outcome_flow *flow)
{
	const struct hs_measured *measured = flow->run->measured;
	for (size_t i = 0; i < hs_measured_windows(measured); i++) {
		if (hs_measured_window(measured, i)->flow != flow->index)
			continue;
		flow->places[flow->n_windows] = i;
		flow->windows[flow->n_windows++] = hs_measured_window(measured, i);
	}
}

int outcome_flow_init(struct outcome_flow *flow, const struct hs_run *run, uint32_t index)
{
	size_t n = hs_truth_reports(run->truth, index);
	size_t n_windows = hs_measured_windows(run->measured);
	*flow = (struct outcome_flow){
			.run = run,
			.index = index,
			.n = n,
			.publishes = calloc(run->scenario->n_nodes + 1, sizeof(bool)),
			.reports = calloc(n + 1, sizeof(struct outcome_report)),
			.newest = calloc(n + 1, sizeof(size_t)),
			.ordered = calloc(n + 1, sizeof(size_t)),
			.windows = malloc((n_windows + 1) * sizeof(*flow->windows)),
			.places = malloc((n_windows + 1) * sizeof(*flow->places)),
	};
	if (!flow->publishes || !flow->reports || !flow->newest || !flow->ordered ||
			!flow->windows || !flow->places)
		return -ENOMEM;
	take_windows(flow);
	note_publishers(flow);
	read_reports(flow);
	order_by_sink(flow);
	return order_by_source(flow);
}

void outcome_flow_fini(struct outcome_flow *flow)
{
	free(flow->publishes);
	free(flow->reports);
	free(flow->newest);
	free(flow->ordered);
	free(flow->windows);
	free(flow->places);
}

// ---- questions ----

size_t outcome_flow_until(const struct outcome_flow *flow, int64_t shown_ns)
{
	size_t low = 0, high = flow->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (flow->reports[middle].counted_ns <= shown_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool outcome_flow_stops(const struct outcome_flow *flow, const struct hs_truth_report *report,
		struct outcome_ends ends, struct outcome_stops *stops)
{
	if (ends.e2e) {
		*stops = (struct outcome_stops){0, report->n_stops - 1};
		return report->n_stops > 1;
	}
	for (uint32_t i = 0; i + 1 < report->n_stops; i++) {
		if (published_id(flow, report, i) != ends.from)
			continue;
		for (uint32_t j = i + 1; j < report->n_stops; j++) {
			if (published_id(flow, report, j) != ends.to)
				continue;
			*stops = (struct outcome_stops){i, j};
			return true;
		}
	}
	return false;
}

bool outcome_flow_passes(const struct outcome_flow *flow, const struct hs_truth_report *report,
		struct outcome_ends ends, struct outcome_stops *stops)
{
	if (!outcome_flow_stops(flow, report, ends, stops))
		return false;
	for (uint32_t i = stops->from + 1; i < stops->to && !ends.e2e; i++)
		if (flow->publishes[report->stops[i].node])
			return false;
	return true;
}

static bool stop_forgot(const struct hs_truth_stop *a, const struct hs_truth_stop *b)
{
	return a->node == b->node && a->life != b->life;
}

bool outcome_flow_forgot(const struct hs_truth_report *a, const struct hs_truth_report *b)
{
	for (uint32_t i = 0; i < a->n_stops; i++)
		for (uint32_t j = 0; j < b->n_stops; j++)
			if (stop_forgot(&a->stops[i], &b->stops[j]))
				return true;
	return false;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "outcome.h"

#include "outcome_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hs_outcome_flow_name(
		const struct hs_scenario *scenario, uint32_t flow, char name[HS_OUTCOME_FLOW_NAME])
{
	const struct hs_scenario_flow *of = &scenario->flows[flow];
	if (of->traffic < scenario->n_traffic)
		snprintf(name, HS_OUTCOME_FLOW_NAME, "%s%s", scenario->traffic[of->traffic].name,
				of->reverse ? "/reply" : "");
	else
		snprintf(name, HS_OUTCOME_FLOW_NAME, "ns-%u", of->ns_id);
}

// ---- when a flow has traffic ----

static int64_t length_of(const struct hs_scenario_traffic *traffic)
{
	int64_t length_ns = traffic->stop_ns - traffic->start_ns - traffic->opening_ns;
	bool paced = traffic->kind != HS_TRAFFIC_BURSTY && traffic->kind != HS_TRAFFIC_PCAP;
	if (!traffic->packets || traffic->rate_pps <= 0 || !paced)
		return length_ns;
	double packets_ns = (double)traffic->packets / traffic->rate_pps * 1e9;
	return packets_ns < (double)length_ns ? (int64_t)packets_ns : length_ns;
}

static void limit_traffic(struct hs_outcome_work *work, const struct hs_run *run, uint32_t flow)
{
	const struct hs_scenario *scenario = run->scenario;
	uint32_t index = scenario->flows[flow].traffic;
	work->start_ns = run->start_ns;
	work->end_ns = run->end_ns;
	if (index >= scenario->n_traffic)
		return;
	const struct hs_scenario_traffic *traffic = &scenario->traffic[index];
	work->start_ns += traffic->start_ns + traffic->opening_ns;
	int64_t end_ns = work->start_ns + length_of(traffic);
	work->end_ns = end_ns < run->end_ns ? end_ns : run->end_ns;
	// The window that begins where the silence ends has half of it in its span.
	work->start_ns += traffic->opening_ns > 0;
}

// What the sink's clock is ahead of the true time around a window of its own.
static int64_t sink_ahead(
		const struct hs_outcome_flow *flow, const struct hs_measured_window *window)
{
	size_t n = hs_outcome_flow_until(flow, window->end_ns);
	if (!flow->n)
		return 0;
	const struct hs_truth_report *report = &flow->reports[n ? n - 1 : 0].truth;
	return report->sink_shown_ns - report->sink_ns;
}

static bool is_partial(const struct hs_outcome_work *work, const struct hs_measured_window *window)
{
	int64_t ahead = sink_ahead(&work->flow, window);
	return window->start_ns - ahead < work->start_ns || window->end_ns - ahead > work->end_ns;
}

static void keep_points(struct hs_outcome_work *work, const struct hs_outcome_hop *hop,
		const struct hs_measured_window *window)
{
	struct hs_outcome_line *line = &work->outcome->lines[hop->row];
	size_t n = line->row.n++;
	memcpy(line->points[n], hop->points, sizeof(hop->points));
	line->start_ns[n] = window->start_ns;
	line->true_start_ns[n] = window->start_ns - sink_ahead(&work->flow, window);
}

// ---- windows ----

static bool seen_before(const struct hs_measured_window *window, uint32_t hop)
{
	for (uint32_t i = 0; i < hop; i++)
		if (window->hops[i].from == window->hops[hop].from &&
				window->hops[i].to == window->hops[hop].to)
			return true;
	return false;
}

static struct hs_outcome_ends ends_of(const struct hs_measured_window *window, uint32_t index)
{
	if (index == window->n_hops)
		return (struct hs_outcome_ends){.e2e = true, .from = 0, .to = window->node_id};
	return (struct hs_outcome_ends){
			.from = window->hops[index].from, .to = window->hops[index].to};
}

// A line for each hop in the order in which they appear, then one for end to end.
static int make_lines(struct hs_outcome_work *work)
{
	const struct hs_measured_window *last = NULL;
	for (size_t i = 0; i < work->n_windows; i++) {
		const struct hs_measured_window *window = work->windows[i];
		if (window->stale)
			continue;
		last = window;
		for (uint32_t j = 0; j < window->n_hops; j++)
			if (hs_outcome_line_make(work, window, ends_of(window, j)) == SIZE_MAX)
				return -ENOMEM;
	}
	if (last && hs_outcome_line_make(work, last, ends_of(last, last->n_hops)) == SIZE_MAX)
		return -ENOMEM;
	return 0;
}

static void note_published(struct hs_outcome_work *work)
{
	struct hs_outcome_line *lines = work->outcome->lines;
	for (size_t i = 0; i < work->n_windows; i++) {
		const struct hs_measured_window *window = work->windows[i];
		for (uint32_t j = 0; j <= window->n_hops && !window->stale; j++) {
			size_t line = hs_outcome_line_find(work, ends_of(window, j));
			lines[line].published |=
					j < window->n_hops ? window->hops[j].has : window->e2e.has;
		}
	}
}

// A loop passes between the same two nodes twice: the truth cannot tell which is which.
static int compute_hop(struct hs_outcome_work *work, const struct hs_measured_window *window,
		uint32_t index, struct hs_outcome_hop *result)
{
	bool e2e = index == window->n_hops;
	struct hs_outcome_ends ends = ends_of(window, index);
	const struct hs_measured_hop *hop = e2e ? &window->e2e : &window->hops[index];
	bool again = !e2e && seen_before(window, index);
	*result = (struct hs_outcome_hop){.measured = hop, .row = SIZE_MAX};
	if (again)
		return 0;
	result->row = hs_outcome_line_find(work, ends);
	if (hs_outcome_truth_of(&work->flow, window, hop, ends, &work->room, &result->truth))
		return -ENOMEM;
	hs_outcome_points(work, window, ends, result);
	result->mismatches = hs_outcome_match(&work->flow, window, ends,
			work->outcome->lines[result->row].published, hop, &result->truth);
	return 0;
}

static void count_window(struct hs_outcome_totals *totals, const struct hs_outcome_window *of)
{
	const struct hs_measured_window *window = of->measured;
	totals->stale += window->stale;
	totals->empty += !window->reports;
	if (window->stale)
		return;
	totals->windows += !of->partial;
	totals->path_changes += window->path_changed;
	totals->unsynchronised += window->clock_known && !window->synchronised;
	totals->marked += window->flags || window->path_changed ||
			  (window->clock_known && !window->synchronised);
	totals->reports += window->reports;
	totals->unattributed_lost_packets += window->unattributed_lost_packets;
	for (unsigned i = 0; i < sizeof(totals->flags) / sizeof(totals->flags[0]); i++)
		totals->flags[i] += window->flags >> i & 1;
}

static bool is_negative(const struct hs_measured_hop *hop)
{
	return (hop->has & HS_MEASURED_LOSS && hop->tx_packets < 0) ||
	       (hop->has & HS_MEASURED_RX_PACKETS && hop->rx_packets < 0) ||
	       (hop->has & HS_MEASURED_BYTES && hop->rx_bytes < 0);
}

static int compute_window(struct hs_outcome_work *work, size_t index)
{
	struct hs_outcome *outcome = work->outcome;
	struct hs_outcome_window *of = &outcome->windows[index];
	const struct hs_measured_window *window = of->measured;
	struct hs_outcome_totals *totals = &outcome->totals[window->flow];
	bool mismatch = false, negative = false;
	of->partial = is_partial(work, window);
	of->truth_reports = hs_outcome_flow_until(&work->flow, window->end_ns) -
			    hs_outcome_flow_until(&work->flow, window->start_ns);
	of->way_differs = !window->stale && !hs_outcome_match_way(&work->flow, window);
	count_window(totals, of);
	bool wrong = of->way_differs || of->truth_reports != window->reports;
	for (uint32_t i = 0; i <= window->n_hops && !window->stale; i++) {
		struct hs_outcome_hop *hop = &outcome->hops[of->first_hop + i];
		if (compute_hop(work, window, i, hop))
			return -ENOMEM;
		mismatch |= hop->truth.mismatch;
		negative |= is_negative(hop->measured);
		wrong |= hop->mismatches != 0;
		if (!of->partial && hop->row != SIZE_MAX)
			keep_points(work, hop, window);
	}
	totals->span_mismatches += mismatch;
	totals->number_mismatches += wrong;
	totals->negative += negative && !(window->flags & ~(uint32_t)HS_MEASURED_NEGATIVE_DELAY);
	return 0;
}

// Windows between the first and the last that nobody published.
static void count_gaps(struct hs_outcome_work *work)
{
	struct hs_outcome_totals *totals = &work->outcome->totals[work->flow.flow];
	for (size_t i = 1; i < work->n_windows; i++) {
		int64_t gap_ns = work->windows[i]->start_ns - work->windows[i - 1]->end_ns;
		if (gap_ns > 0)
			totals->empty += (uint64_t)(gap_ns /
						    work->outcome->run->scenario->window_ns);
	}
}

// ---- flows ----

static bool has_partial_entries(const struct hs_scenario *scenario)
{
	static const struct hs_partial whole;
	for (size_t i = 0; i < scenario->n_nodes; i++)
		if (memcmp(&scenario->nodes[i].partial, &whole, sizeof(whole)) != 0)
			return true;
	return false;
}

// What a flow that nobody marked lost over the run, by its sink and by what the links did to it. Of
// hops whose counts reports lack in turns the end is another, a sink that began anew speaks of its
// last life, and one that learned of a rule late missed reports.
static void compare_run(struct hs_outcome_work *work)
{
	struct hs_outcome *outcome = work->outcome;
	const struct hs_outcome_flow *flow = &work->flow;
	struct hs_outcome_totals *totals = &outcome->totals[flow->flow];
	bool partial = has_partial_entries(outcome->run->scenario);
	bool told = totals->reports == flow->n && !totals->marked;
	for (size_t i = 0; i < flow->n && told; i++)
		told = !flow->reports[i].epoch;
	for (size_t i = work->first_line; i < outcome->n_lines && told; i++) {
		const struct hs_outcome_lost *lost = &outcome->lines[i].lost;
		bool whole = outcome->lines[i].row.e2e || !partial;
		totals->run_mismatches += whole && lost->has_measured && lost->has_truth &&
					  lost->measured != lost->truth;
	}
}

static int compute_flow(struct hs_outcome *outcome, uint32_t index, struct hs_outcome_work *work)
{
	const struct hs_run *run = outcome->run;
	work->outcome = outcome;
	work->first_line = outcome->n_lines;
	limit_traffic(work, run, index);
	work->throughput_until_ns = hs_outcome_configured_until(run, index, true);
	work->others_until_ns = hs_outcome_configured_until(run, index, false);
	work->path.n_stops = 0;
	work->path.n_widths = 0;
	int rc = hs_outcome_flow_init(&work->flow, run, index, work->windows, work->n_windows);
	if (rc)
		return rc;
	rc = make_lines(work);
	if (!rc)
		note_published(work);
	for (size_t i = work->first_line; i < outcome->n_lines; i++)
		hs_outcome_lose(work, &outcome->lines[i]);
	for (size_t i = 0; i < work->n_windows && !rc; i++)
		rc = compute_window(work, work->indices[i]);
	count_gaps(work);
	compare_run(work);
	outcome->totals[index].number_mismatches +=
			hs_outcome_match_gaps(&work->flow, work->windows, work->n_windows);
	hs_outcome_flow_fini(&work->flow);
	return rc;
}

// Windows of flow f: indices[starts[f]] to indices[starts[f + 1] - 1], in their order.
static size_t *sort_windows(const struct hs_outcome *outcome, size_t *indices)
{
	size_t n_flows = outcome->run->scenario->n_flows;
	size_t *starts = calloc(n_flows + 2, sizeof(*starts));
	if (!starts)
		return NULL;
	for (size_t i = 0; i < outcome->n_windows; i++)
		starts[outcome->windows[i].measured->flow + 2]++;
	for (size_t i = 2; i < n_flows + 2; i++)
		starts[i] += starts[i - 1];
	for (size_t i = 0; i < outcome->n_windows; i++)
		indices[starts[outcome->windows[i].measured->flow + 1]++] = i;
	return starts;
}

static int compute_flows(struct hs_outcome *outcome)
{
	struct hs_outcome_work work = {.outcome = outcome};
	size_t *indices = calloc(outcome->n_windows + 1, sizeof(*indices));
	const struct hs_measured_window **windows =
			calloc(outcome->n_windows + 1, sizeof(*windows));
	size_t *starts = indices && windows ? sort_windows(outcome, indices) : NULL;
	int rc = starts ? 0 : -ENOMEM;
	for (size_t i = 0; !rc && i < outcome->n_windows; i++)
		windows[i] = outcome->windows[indices[i]].measured;
	for (uint32_t i = 0; !rc && i < outcome->run->scenario->n_flows; i++) {
		work.windows = windows + starts[i];
		work.indices = indices + starts[i];
		work.n_windows = starts[i + 1] - starts[i];
		rc = compute_flow(outcome, i, &work);
	}
	free(work.room.values);
	free(indices);
	free(windows);
	free(starts);
	return rc;
}

// ---- create, destroy ----

static int take_windows(struct hs_outcome *outcome)
{
	const struct hs_measured *measured = outcome->run->measured;
	outcome->n_windows = hs_measured_windows(measured);
	outcome->windows = calloc(outcome->n_windows + 1, sizeof(*outcome->windows));
	outcome->totals = calloc(outcome->run->scenario->n_flows + 1, sizeof(*outcome->totals));
	if (!outcome->windows || !outcome->totals)
		return -ENOMEM;
	for (size_t i = 0; i < outcome->n_windows; i++) {
		struct hs_outcome_window *window = &outcome->windows[i];
		window->measured = hs_measured_window(measured, i);
		window->first_hop = outcome->n_hops;
		if (!window->measured->stale)
			outcome->n_hops += window->measured->n_hops + 1;
	}
	outcome->hops = calloc(outcome->n_hops + 1, sizeof(*outcome->hops));
	return outcome->hops ? 0 : -ENOMEM;
}

int hs_outcome_create(const struct hs_run *run, struct hs_outcome **out)
{
	struct hs_outcome *outcome = calloc(1, sizeof(*outcome));
	if (!outcome)
		return -ENOMEM;
	outcome->run = run;
	if (hs_truth_status(run->truth) || take_windows(outcome) || compute_flows(outcome) ||
			hs_outcome_trips_init(&outcome->trips, run)) {
		hs_outcome_destroy(outcome);
		return -ENOMEM;
	}
	*out = outcome;
	return 0;
}

void hs_outcome_destroy(struct hs_outcome *outcome)
{
	if (!outcome)
		return;
	for (size_t i = 0; i < outcome->n_lines; i++) {
		free(outcome->lines[i].points);
		free(outcome->lines[i].start_ns);
		free(outcome->lines[i].true_start_ns);
	}
	hs_outcome_trips_fini(&outcome->trips);
	free(outcome->lines);
	free(outcome->windows);
	free(outcome->hops);
	free(outcome->totals);
	free(outcome);
}

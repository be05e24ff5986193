// SPDX-License-Identifier: BSD-3-Clause
#include "outcome.h"

#include "outcome_parts.h"

#include "lab_array.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *outcome_flow_name(
		const struct hs_scenario *scenario, uint32_t flow, char name[OUTCOME_FLOW_NAME])
{
	const struct hs_scenario_flow *of = &scenario->flows[flow];
	if (of->traffic < scenario->n_traffic)
		snprintf(name, OUTCOME_FLOW_NAME, "%s%s", scenario->traffic[of->traffic].name,
				of->reverse ? "/reply" : "");
	else
		snprintf(name, OUTCOME_FLOW_NAME, "ns-%u", of->ns_id);
	return name;
}

double outcome_mean(double sum, size_t n)
{
	return n ? sum / (double)n : NAN;
}

// ---- when a flow has traffic ----

// Returns by how much the sink's clock is ahead of the true time around a window.
static int64_t sink_ahead(const struct outcome_flow *flow, const struct hs_measured_window *window)
{
	size_t n = outcome_flow_until(flow, window->end_ns);
	if (!flow->n)
		return 0;
	const struct hs_truth_report *report = &flow->reports[n ? n - 1 : 0].truth;
	return report->sink_shown_ns - report->sink_ns;
}

static int64_t length_of(const struct hs_scenario_traffic *traffic)
{
	int64_t length_ns = traffic->stop_ns - traffic->start_ns - traffic->opening_ns;
	bool paced = traffic->kind != HS_TRAFFIC_BURSTY && traffic->kind != HS_TRAFFIC_PCAP;
	if (!traffic->packets || traffic->rate_pps <= 0 || !paced)
		return length_ns;
	double packets_ns = (double)traffic->packets / traffic->rate_pps * 1e9;
	return packets_ns < (double)length_ns ? (int64_t)packets_ns : length_ns;
}

// Returns whether the window was cut short by the start or the end of its flow's traffic.
static bool is_partial(const struct outcome_flow *flow, const struct hs_measured_window *window)
{
	const struct hs_run *run = flow->run;
	const struct hs_scenario *scenario = run->scenario;
	uint32_t index = scenario->flows[flow->index].traffic;
	int64_t start_ns = run->start_ns, end_ns = run->end_ns, ahead = sink_ahead(flow, window);
	if (index < scenario->n_traffic) {
		const struct hs_scenario_traffic *traffic = &scenario->traffic[index];
		start_ns += traffic->start_ns + traffic->opening_ns;
		if (start_ns + length_of(traffic) < end_ns)
			end_ns = start_ns + length_of(traffic);
		// The window that begins at the end of the silence has half of the silence in its
		// span.
		start_ns += traffic->opening_ns > 0;
	}
	return window->start_ns - ahead < start_ns || window->end_ns - ahead > end_ns;
}

// ---- rows ----

static struct outcome_row *find_row(
		const struct outcome *outcome, uint32_t flow, struct outcome_ends ends)
{
	for (size_t i = outcome->n_rows; i-- > 0 && outcome->rows[i].flow == flow;) {
		struct outcome_row *row = &outcome->rows[i];
		if (row->ends.e2e == ends.e2e &&
				(ends.e2e || (row->ends.from == ends.from &&
							     row->ends.to == ends.to)))
			return row;
	}
	return NULL;
}

// Finds the packet that shows between which nodes a hop of the window lies.
static void find_nodes(const struct outcome_flow *flow, const struct hs_measured_window *window,
		struct outcome_row *row)
{
	struct outcome_stops stops;
	for (size_t i = outcome_flow_until(flow, window->end_ns); i-- > 0;) {
		const struct hs_truth_report *report = &flow->reports[i].truth;
		if (!outcome_flow_stops(flow, report, row->ends, &stops))
			continue;
		row->from_node = report->stops[stops.from].node;
		row->to_node = report->stops[stops.to].node;
		return;
	}
}

// A hop has the name of its link. If the hop spans several links, or no known link, its name
// consists of the names of its ends.
static void name_row(const struct hs_scenario *scenario, struct outcome_row *row)
{
	const char *name = row->ends.e2e ? "e2e" : NULL;
	for (size_t i = 0; !name && i < scenario->n_links; i++) {
		const struct hs_scenario_link *link = &scenario->links[i];
		if ((link->from == row->from_node && link->to == row->to_node) ||
				(link->to == row->from_node && link->from == row->to_node))
			name = link->name;
	}
	if (name)
		snprintf(row->hop, sizeof(row->hop), "%s", name);
	else
		snprintf(row->hop, sizeof(row->hop), "%u..%u", row->ends.from, row->ends.to);
}

static int make_row(struct outcome *outcome, const struct outcome_flow *flow,
		const struct hs_measured_window *window, uint32_t hop)
{
	struct outcome_row row = {
			.flow = flow->index,
			.ends = {hop == window->n_hops, hs_measured_from(window, hop),
					hs_measured_to(window, hop)},
			.from_node = HS_NO_INDEX,
			.to_node = HS_NO_INDEX,
	};
	if (find_row(outcome, flow->index, row.ends))
		return 0;
	if (!HS_LAB_ROOM(outcome->rows, outcome->rows_capacity, outcome->n_rows + 1))
		return -ENOMEM;
	find_nodes(flow, window, &row);
	name_row(flow->run->scenario, &row);
	outcome_run_row(flow, &row);
	outcome->rows[outcome->n_rows++] = row;
	return 0;
}

// Makes a row for each hop in the order in which the hops appear, then one for end to end.
static int make_rows(struct outcome *outcome, const struct outcome_flow *flow)
{
	const struct hs_measured_window *last = NULL;
	for (size_t i = 0; i < flow->n_windows; i++) {
		const struct hs_measured_window *window = flow->windows[i];
		if (window->stale)
			continue;
		last = window;
		for (uint32_t j = 0; j < window->n_hops; j++)
			if (make_row(outcome, flow, window, j))
				return -ENOMEM;
	}
	return last ? make_row(outcome, flow, last, last->n_hops) : 0;
}

// ---- windows ----

static void add(struct outcome_sums *sums, const struct outcome_point *point)
{
	double off = point->measured - point->truth, from = point->measured - point->configured;
	if (isnan(point->measured))
		return;
	sums->n++;
	sums->measured += point->measured;
	if (!isnan(off)) {
		sums->n_truth++;
		sums->truth += point->truth;
		sums->off_truth += fabs(off);
		sums->max_off_truth = fmax(sums->max_off_truth, fabs(off));
	}
	if (!isnan(from)) {
		sums->n_configured++;
		sums->configured += point->configured;
		sums->off_configured += fabs(from);
		sums->off_signed += from;
	}
}

static void put_truth(const struct outcome_truth *truth, struct outcome_point *points)
{
	const struct {
		bool has;
		double value;
	} values[HS_LAB_KINDS] = {
			[HS_LAB_THROUGHPUT] = {truth->has_counts, truth->throughput_bps},
			[HS_LAB_WINDOW_THROUGHPUT] = {truth->has_window,
					truth->window_throughput_bps},
			[HS_LAB_DELAY] = {truth->has_delay, (double)truth->delay_mean_ns},
			[HS_LAB_JITTER] = {truth->has_jitter, (double)truth->jitter_ns},
			[HS_LAB_LOSS] = {truth->has_counts, truth->loss_ratio},
			[HS_LAB_LOST_PACKETS] = {truth->has_counts, (double)truth->lost_packets},
			[HS_LAB_RX_BYTES] = {truth->has_counts, (double)truth->rx_bytes},
			[HS_LAB_SPAN] = {truth->has_span,
					(double)(truth->span_end_ns - truth->span_start_ns)},
	};
	for (unsigned i = 0; i < HS_LAB_KINDS; i++)
		points[i].truth = values[i].has ? values[i].value : NAN;
}

static json_t *configured_json(const struct outcome_point points[HS_LAB_KINDS])
{
	json_t *json = json_object();
	for (unsigned i = 0; i < HS_LAB_KINDS; i++)
		if (!isnan(points[i].configured))
			json_object_set_new(json, hs_lab_metric_word(i),
					outcome_number(points[i].configured));
	return json;
}

// Compares the measured, the true and the configured values of a hop. A packet in a loop passes
// between the same two nodes twice. The truth cannot tell the two passages apart, so the second is
// not compared.
static int compare_hop(struct outcome *outcome, const struct outcome_flow *flow,
		const struct hs_measured_window *window, uint32_t hop, bool partial, json_t *to)
{
	struct outcome_ends ends = {hop == window->n_hops, hs_measured_from(window, hop),
			hs_measured_to(window, hop)};
	struct outcome_row *row = find_row(outcome, flow->index, ends);
	const json_t *measured = hs_measured_hop(window, hop);
	struct outcome_point points[HS_LAB_KINDS];
	struct outcome_truth truth;
	for (uint32_t i = 0; i < hop && !ends.e2e; i++)
		if (hs_measured_from(window, i) == ends.from &&
				hs_measured_to(window, i) == ends.to)
			return 0;
	if (outcome_truth_of(flow, window, hop, row, &truth))
		return -ENOMEM;
	for (unsigned i = 0; i < HS_LAB_KINDS; i++)
		points[i] = (struct outcome_point){hs_measured_number(measured, i), NAN, NAN};
	put_truth(&truth, points);
	outcome_configure(flow, window, ends, points);
	for (unsigned i = 0; i < HS_LAB_KINDS && !partial; i++)
		add(&row->sums[i], &points[i]);
	if (!ends.e2e)
		json_object_set_new(to, "link", json_string(row->hop));
	json_object_set_new(to, "truth", outcome_truth_json(&truth));
	json_object_set_new(to, "configured", configured_json(points));
	json_decref(truth.delay);
	return 0;
}

static json_t *hop_json(const struct hs_measured_window *window, uint32_t hop)
{
	json_t *json = json_object(), *measured = json_copy((json_t *)hs_measured_hop(window, hop));
	if (hop < window->n_hops) {
		json_object_set(json, "from", json_object_get(measured, "from"));
		json_object_set(json, "to", json_object_get(measured, "to"));
		json_object_del(measured, "from");
		json_object_del(measured, "to");
	}
	json_object_set_new(json, "measured", measured);
	return json;
}

static json_t *window_json(const struct outcome_flow *flow, const struct hs_measured_window *window)
{
	char name[OUTCOME_FLOW_NAME];
	size_t n = outcome_flow_until(flow, window->end_ns) -
		   outcome_flow_until(flow, window->start_ns);
	return json_pack("{s:I, s:I, s:s, s:I, s:i, s:I, s:I, s:b, s:b, s:O*, s:O*, s:b, s:O*}",
			"start_ns", (json_int_t)window->start_ns, "end_ns",
			(json_int_t)window->end_ns, "flow",
			outcome_flow_name(flow->run->scenario, flow->index, name), "ns_id",
			(json_int_t)flow->run->scenario->flows[flow->index].ns_id, "node_id",
			window->node_id, "reports", (json_int_t)window->reports, "true_reports",
			(json_int_t)n, "stale", window->stale, "partial", is_partial(flow, window),
			"flags", json_object_get(window->body, "flags"), "path",
			json_object_get(window->body, "path"), "path_changed", window->path_changed,
			"clock", json_object_get(window->body, "clock"));
}

static bool is_negative(const struct hs_measured_window *window)
{
	static const char *const counts[] = {"tx_packets", "rx_packets", "rx_bytes"};
	for (uint32_t i = 0; i <= window->n_hops; i++)
		for (unsigned j = 0; j < sizeof(counts) / sizeof(counts[0]); j++)
			if (hs_measured_integer(hs_measured_hop(window, i), counts[j]) < 0)
				return true;
	return false;
}

static void count_window(struct hs_flow_counts *counts, const struct hs_measured_window *window,
		bool partial)
{
	bool unsynchronised = window->clock_known && !window->synchronised;
	counts->stale_windows += window->stale;
	counts->empty_windows += !window->reports;
	if (window->stale)
		return;
	counts->windows += !partial;
	counts->path_changes += window->path_changed;
	counts->unsynchronised_windows += unsynchronised;
	counts->marked_windows += window->flags || window->path_changed || unsynchronised;
	counts->reports += window->reports;
	counts->unattributed_lost_packets += hs_measured_integer(
			hs_measured_hop(window, window->n_hops), "unattributed_lost_packets");
	counts->negative_windows +=
			!(window->flags & ~HS_FLAG_NEGATIVE_DELAY) && is_negative(window);
	for (unsigned i = 0; i < HS_LAB_FLAGS; i++)
		counts->flags[i] += window->flags >> i & 1;
}

static int compare_window(struct outcome *outcome, const struct outcome_flow *flow, size_t index)
{
	const struct hs_measured_window *window = flow->windows[index];
	bool partial = is_partial(flow, window);
	json_t *json = window_json(flow, window), *hops = json_array();
	int rc = json && hops ? 0 : -ENOMEM;
	count_window(&outcome->counts[flow->index], window, partial);
	for (uint32_t i = 0; !rc && i <= window->n_hops && !window->stale; i++) {
		json_t *hop = hop_json(window, i);
		rc = compare_hop(outcome, flow, window, i, partial, hop);
		if (i == window->n_hops)
			json_object_set_new(json, "e2e", hop);
		else
			json_array_append_new(hops, hop);
	}
	if (!window->stale)
		json_object_set(json, "hops", hops);
	json_decref(hops);
	if (flow->run->scenario->keep_windows)
		outcome->windows[flow->places[index]] = json;
	else
		json_decref(json);
	return rc;
}

// Counts the windows between the first and the last that no sink published.
static int64_t gaps_of(const struct outcome_flow *flow)
{
	int64_t n = 0;
	for (size_t i = 1; i < flow->n_windows; i++) {
		int64_t gap_ns = flow->windows[i]->start_ns - flow->windows[i - 1]->end_ns;
		if (gap_ns > 0)
			n += gap_ns / flow->run->scenario->window_ns;
	}
	return n;
}

static int compare_flow(struct outcome *outcome, uint32_t index)
{
	struct outcome_flow flow;
	int rc = outcome_flow_init(&flow, outcome->run, index);
	if (!rc)
		rc = make_rows(outcome, &flow);
	for (size_t i = 0; !rc && i < flow.n_windows; i++)
		rc = compare_window(outcome, &flow, i);
	if (!rc)
		outcome->counts[index].empty_windows += gaps_of(&flow);
	outcome_flow_fini(&flow);
	return rc;
}

// ---- all of it ----

static void fini(struct outcome *outcome)
{
	for (size_t i = 0; outcome->windows && i < hs_measured_windows(outcome->run->measured); i++)
		json_decref(outcome->windows[i]);
	for (size_t i = 0; i < outcome->n_trips; i++)
		json_decref(outcome->trips[i].windows);
	free(outcome->windows);
	free(outcome->trips);
	free(outcome->rows);
	free(outcome->counts);
}

json_t *hs_outcome_json(const struct hs_run *run)
{
	size_t n_flows = run->scenario->n_flows, n_windows = hs_measured_windows(run->measured);
	struct outcome outcome = {
			.run = run,
			.counts = calloc(n_flows + 1, sizeof(struct hs_flow_counts)),
			.windows = calloc(n_windows + 1, sizeof(json_t *)),
	};
	int rc = outcome.counts && outcome.windows ? hs_truth_status(run->truth) : -ENOMEM;
	for (uint32_t i = 0; !rc && i < n_flows; i++)
		rc = compare_flow(&outcome, i);
	if (!rc)
		rc = outcome_trips_make(&outcome);
	json_t *json = rc ? NULL : outcome_json(&outcome);
	fini(&outcome);
	return json;
}

size_t hs_outcome_unmet(const json_t *result)
{
	size_t unmet = 0, i;
	const json_t *expect;
	json_array_foreach (json_object_get(result, "expect"), i, expect)
		unmet += !json_is_true(json_object_get(expect, "met"));
	return unmet;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "outcome.h"

#include "outcome_parts.h"

#include "lab_array.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

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

const struct hs_scenario_link *outcome_link(
		const struct hs_scenario *scenario, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < scenario->n_links; i++) {
		const struct hs_scenario_link *link = &scenario->links[i];
		if ((link->from == a && link->to == b) || (link->to == a && link->from == b))
			return link;
	}
	return NULL;
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

// Returns whether the window was cut short by the start or the end of its flow's traffic. The
// sink's clock is ahead of the true time by as much as at the window's latest report.
static bool is_partial(const struct outcome_hop *e2e)
{
	const struct outcome_flow *flow = e2e->flow;
	const struct hs_scenario *scenario = flow->run->scenario;
	const struct outcome_report *latest = &flow->reports[e2e->high ? e2e->high - 1 : 0];
	uint32_t index = scenario->flows[flow->index].traffic;
	int64_t start_ns = flow->run->start_ns, end_ns = flow->run->end_ns;
	int64_t ahead_ns = flow->n ? latest->truth->sink_shown_ns - latest->truth->sink_ns : 0;
	if (index < scenario->n_traffic) {
		const struct hs_scenario_traffic *traffic = &scenario->traffic[index];
		start_ns += traffic->start_ns + traffic->opening_ns;
		if (start_ns + length_of(traffic) < end_ns)
			end_ns = start_ns + length_of(traffic);
		// The window that begins at the end of the silence has half of the silence in its
		// span.
		start_ns += traffic->opening_ns > 0;
	}
	return e2e->window->start_ns - ahead_ns < start_ns ||
	       e2e->window->end_ns - ahead_ns > end_ns;
}

// ---- rows ----

static struct outcome_hop hop_of(const struct outcome_flow *flow,
		const struct hs_measured_window *window, uint32_t index)
{
	return (struct outcome_hop){
			.flow = flow,
			.window = window,
			.measured = hs_measured_hop(window, index),
			.ends = hs_measured_ends(window, index),
			.low = outcome_flow_until(flow, window->start_ns),
			.high = outcome_flow_until(flow, window->end_ns),
	};
}

bool outcome_same_ends(struct hs_measured_ends a, struct hs_measured_ends b)
{
	return a.e2e == b.e2e && (a.e2e || (a.from == b.from && a.to == b.to));
}

static struct outcome_row *find_row(const struct outcome *outcome, const struct outcome_hop *hop)
{
	for (size_t i = outcome->n_rows; i-- > 0 && outcome->rows[i].flow == hop->flow->index;)
		if (outcome_same_ends(outcome->rows[i].ends, hop->ends))
			return &outcome->rows[i];
	return NULL;
}

// Finds the packet that shows between which nodes a hop of the window lies.
static void find_nodes(const struct outcome_hop *hop, struct outcome_row *row)
{
	struct outcome_stops stops;
	row->from_node = row->to_node = HS_NO_INDEX;
	for (size_t i = hop->high; i-- > 0 && row->to_node == HS_NO_INDEX;) {
		if (!outcome_flow_stops(hop->flow, hop->flow->reports[i].truth, row->ends, &stops))
			continue;
		row->from_node = stops.from->node;
		row->to_node = stops.to->node;
	}
}

// A hop has the name of its link. If the hop spans several links, or no known link, its name
// consists of the ids of its ends.
static void name_row(const struct hs_scenario *scenario, struct outcome_row *row)
{
	const struct hs_scenario_link *link = outcome_link(scenario, row->from_node, row->to_node);
	if (row->ends.e2e || link)
		snprintf(row->hop, sizeof(row->hop), "%s", row->ends.e2e ? "e2e" : link->name);
	else
		snprintf(row->hop, sizeof(row->hop), "%u..%u", row->ends.from, row->ends.to);
}

static int make_row(struct outcome *outcome, const struct outcome_hop *hop)
{
	struct outcome_row row = {.flow = hop->flow->index, .ends = hop->ends};
	if (find_row(outcome, hop))
		return 0;
	if (!HS_LAB_ROOM(outcome->rows, outcome->rows_capacity, outcome->n_rows + 1))
		return -ENOMEM;
	find_nodes(hop, &row);
	name_row(hop->flow->run->scenario, &row);
	outcome_run_begin(hop->flow, &row);
	outcome->rows[outcome->n_rows++] = row;
	return 0;
}

// Makes a row for each hop in the order in which the hops appear, then one for end to end.
static int make_rows(struct outcome *outcome, const struct outcome_flow *flow)
{
	const struct hs_measured_window *last = NULL;
	struct outcome_hop hop;
	int rc = 0;
	for (size_t i = 0; i < flow->n_windows; i++) {
		if (flow->windows[i]->stale)
			continue;
		last = flow->windows[i];
		for (uint32_t j = 0; j < last->n_hops && !rc; j++) {
			hop = hop_of(flow, last, j);
			rc = make_row(outcome, &hop);
		}
	}
	if (!last || rc)
		return rc;
	hop = hop_of(flow, last, last->n_hops);
	return make_row(outcome, &hop);
}

// ---- windows ----

static void add(struct outcome_column *column, double measured, double value)
{
	double off = measured - value;
	if (isnan(off))
		return;
	column->n++;
	column->sum += value;
	column->off += fabs(off);
	column->off_signed += off;
	column->max_off = fmax(column->max_off, fabs(off));
}

// Compares the measured, the true and the configured values of a hop. A packet in a loop passes
// between the same two nodes twice. The truth cannot tell the two passages apart, so the second is
// not compared.
static json_t *compare_hop(struct outcome *outcome, const struct outcome_hop *hop, bool partial)
{
	struct outcome_row *row = find_row(outcome, hop);
	json_t *truth = NULL, *configured = NULL, *measured = json_copy((json_t *)hop->measured);
	bool compared = row->latest != hop->window;
	row->latest = hop->window;
	if (compared) {
		truth = outcome_truth_json(hop, row);
		configured = outcome_configured_json(hop);
		outcome_run_add(row, measured);
	}
	for (unsigned kind = 0; kind < HS_LAB_KINDS && compared && !partial; kind++) {
		struct outcome_columns *columns = &row->columns[kind];
		double number = hs_measured_number(measured, kind);
		add(&columns->measured, number, number);
		add(&columns->truth, number, hs_measured_number(truth, kind));
		add(&columns->configured, number, hs_measured_number(configured, kind));
	}
	json_object_del(measured, "from");
	json_object_del(measured, "to");
	return json_pack("{s:O*, s:O*, s:o, s:s*, s:o*, s:o*}", "from",
			json_object_get(hop->measured, "from"), "to",
			json_object_get(hop->measured, "to"), "measured", measured, "link",
			compared && !hop->ends.e2e ? row->hop : NULL, "truth", truth, "configured",
			configured);
}

static json_t *window_json(const struct outcome_hop *e2e, bool partial)
{
	const struct hs_measured_window *window = e2e->window;
	const struct hs_scenario *scenario = e2e->flow->run->scenario;
	const json_t *body = window->body;
	char name[OUTCOME_FLOW_NAME];
	return json_pack("{s:I, s:I, s:s, s:I, s:i, s:I, s:I, s:b, s:b, s:O*, s:O*, s:b, s:O*}",
			"start_ns", window->start_ns, "end_ns", window->end_ns, "flow",
			outcome_flow_name(scenario, window->flow, name), "ns_id",
			(json_int_t)scenario->flows[window->flow].ns_id, "node_id", window->node_id,
			"reports", window->reports, "true_reports",
			(json_int_t)(e2e->high - e2e->low), "stale", window->stale, "partial",
			partial, "flags", json_object_get(body, "flags"), "path",
			json_object_get(body, "path"), "path_changed", window->path_changed,
			"clock", json_object_get(body, "clock"));
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

static int compare_window(struct outcome *outcome, const struct outcome_flow *flow,
		const struct hs_measured_window *window)
{
	size_t place = (size_t)(window - hs_measured_window(flow->run->measured, 0));
	struct outcome_hop hop = hop_of(flow, window, window->n_hops);
	bool partial = is_partial(&hop);
	json_t *json = window_json(&hop, partial), *hops = json_array(), *of = json;
	count_window(&outcome->counts[flow->index], window, partial);
	for (uint32_t i = 0; of && i <= window->n_hops && !window->stale; i++) {
		hop = hop_of(flow, window, i);
		of = compare_hop(outcome, &hop, partial);
		if (i < window->n_hops)
			json_array_append_new(hops, of);
		else
			json_object_set_new(json, "e2e", of);
	}
	if (!window->stale)
		json_object_set(json, "hops", hops);
	json_decref(hops);
	if (flow->run->scenario->keep_windows)
		json_array_set_new(outcome->windows, place, json);
	else
		json_decref(json);
	return of ? 0 : -ENOMEM;
}

static int compare_flow(struct outcome *outcome, uint32_t index)
{
	struct outcome_flow flow;
	int rc = outcome_flow_init(&flow, outcome->run, index);
	size_t first_row = outcome->n_rows;
	if (!rc)
		rc = make_rows(outcome, &flow);
	for (size_t i = 0; !rc && i < flow.n_windows; i++) {
		// Between two windows there may be some that no sink published.
		int64_t gap_ns = i ? flow.windows[i]->start_ns - flow.windows[i - 1]->end_ns : 0;
		if (gap_ns > 0)
			outcome->counts[index].empty_windows +=
					gap_ns / outcome->run->scenario->window_ns;
		rc = compare_window(outcome, &flow, flow.windows[i]);
	}
	for (size_t i = first_row; !rc && i < outcome->n_rows; i++)
		outcome_run_end(&flow, &outcome->rows[i]);
	outcome_flow_fini(&flow);
	return rc;
}

// ---- all of it ----

json_t *hs_outcome_json(const struct hs_run *run)
{
	size_t n_flows = run->scenario->n_flows;
	struct outcome outcome = {
			.run = run,
			.counts = calloc(n_flows + 1, sizeof(struct hs_flow_counts)),
			.windows = json_array(),
	};
	int rc = outcome.counts && outcome.windows ? hs_truth_status(run->truth) : -ENOMEM;
	for (size_t i = 0; i < hs_measured_windows(run->measured); i++)
		json_array_append_new(outcome.windows, json_null());
	for (uint32_t i = 0; !rc && i < n_flows; i++)
		rc = compare_flow(&outcome, i);
	if (!rc)
		rc = outcome_trips_make(&outcome);
	json_t *json = rc ? NULL : outcome_json(&outcome);
	for (size_t i = 0; i < outcome.n_trips; i++)
		json_decref(outcome.trips[i].windows);
	json_decref(outcome.windows);
	free(outcome.trips);
	free(outcome.rows);
	free(outcome.counts);
	return json;
}

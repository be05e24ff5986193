// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_metric.h"
#include "outcome_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// ---- what is measured of one row ----

double hs_outcome_overhead(const struct hs_outcome_line *line, bool packets)
{
	const struct hs_truth_hop *hop = &line->lost.hop;
	uint64_t of = packets ? hop->sent_packets : hop->sent_bytes;
	if (!line->lost.has_hop || !of)
		return NAN;
	return (double)(packets ? hop->telemetry_packets : hop->telemetry_bytes) / (double)of;
}

static double lost_of(const struct hs_outcome_lost *lost, enum hs_outcome_form form)
{
	bool both = lost->has_measured && lost->has_truth;
	switch (form) {
	case HS_FORM_RUN_LOST:
		return lost->has_measured ? (double)lost->measured : NAN;
	case HS_FORM_RUN_LOST_TRUTH:
		return lost->has_truth ? (double)lost->truth : NAN;
	case HS_FORM_RUN_LOST_ALL:
		return lost->has_all ? (double)lost->all : NAN;
	case HS_FORM_RUN_LOST_ERROR:
		return both ? fabs((double)(lost->measured - lost->truth)) : NAN;
	default: // HS_FORM_RUN_FALSE_LOST
		return both ? (double)(lost->shown - lost->truth) : NAN;
	}
}

static double value_of_row(const struct hs_outcome *outcome, size_t row,
		const struct hs_outcome_metric *metric)
{
	const struct hs_outcome_line *line = &outcome->lines[row];
	struct hs_outcome_mean mean;
	switch (metric->form) {
	case HS_FORM_RUN_LOST:
	case HS_FORM_RUN_LOST_TRUTH:
	case HS_FORM_RUN_LOST_ALL:
	case HS_FORM_RUN_LOST_ERROR:
	case HS_FORM_RUN_FALSE_LOST:
		return lost_of(&line->lost, metric->form);
	case HS_FORM_OVERHEAD_BYTES:
	case HS_FORM_OVERHEAD_PACKETS:
		return hs_outcome_overhead(line, metric->form == HS_FORM_OVERHEAD_PACKETS);
	default:
		hs_outcome_mean(outcome, row, metric->detail, &mean);
	}
	switch (metric->form) {
	case HS_FORM_HOP_WINDOWS:
		return (double)mean.n;
	case HS_FORM_MAE_TRUTH:
		return mean.mae_truth;
	case HS_FORM_MAE_CONFIGURED:
		return mean.mae_configured;
	case HS_FORM_MAX_ERROR_TRUTH:
		return mean.max_error_truth;
	case HS_FORM_MAE_OVER_BOUND:
		return mean.bound > 0 ? mean.mae_configured / mean.bound : NAN;
	case HS_FORM_MEAN_ERROR_CONFIGURED:
		return mean.mean_error_configured;
	case HS_FORM_MEAN_ERROR_OVER_BOUND:
		return mean.mean_error_configured / mean.standard_error;
	case HS_FORM_MAX_OVER_BOUND:
		return mean.max_over_bound;
	default:
		return mean.measured;
	}
}

// ---- several rows together ----

static bool of_flow(uint32_t wanted, uint32_t flow)
{
	return wanted == HS_NO_INDEX || wanted == flow;
}

static double mae_over_bound(const struct hs_outcome *outcome, uint32_t flow, unsigned kind)
{
	struct hs_outcome_mean mean;
	double mae = 0, bound = 0;
	for (size_t i = 0; i < outcome->n_lines; i++) {
		if (!of_flow(flow, outcome->lines[i].row.flow))
			continue;
		hs_outcome_mean(outcome, i, kind, &mean);
		if (!(mean.bound > 0))
			continue;
		mae += mean.mae_configured;
		bound += mean.bound;
	}
	return bound > 0 ? mae / bound : NAN;
}

static double together(const struct hs_outcome *outcome, uint32_t flow,
		const struct hs_outcome_metric *metric)
{
	bool largest = metric->form == HS_FORM_MAX_ERROR_TRUTH ||
		       metric->form == HS_FORM_MEAN_ERROR_OVER_BOUND ||
		       metric->form == HS_FORM_MAX_OVER_BOUND ||
		       metric->form == HS_FORM_RUN_LOST_ERROR ||
		       metric->form == HS_FORM_RUN_FALSE_LOST;
	double sum = 0, max = NAN;
	size_t n = 0;
	if (metric->form == HS_FORM_MAE_OVER_BOUND)
		return mae_over_bound(outcome, flow, metric->detail);
	for (size_t i = 0; i < outcome->n_lines; i++) {
		if (!of_flow(flow, outcome->lines[i].row.flow))
			continue;
		double value = value_of_row(outcome, i, metric);
		if (isnan(value))
			continue;
		sum += value;
		max = fmax(max, value);
		n++;
	}
	return largest ? max : n ? sum / (double)n : NAN;
}

// ---- met or not ----

static void explain(struct hs_outcome_verdict *verdict, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
static void explain(struct hs_outcome_verdict *verdict, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(verdict->reason, sizeof(verdict->reason), format, args);
	va_end(args);
}

// How far within what is expected; below 0: not met.
static double slack_of(const struct hs_scenario_expect *expect, double value)
{
	double slack = INFINITY;
	if (isnan(value))
		return -INFINITY;
	if (expect->has_value)
		slack = fmin(slack, expect->tolerance - fabs(value - expect->value));
	if (expect->has_min)
		slack = fmin(slack, value - expect->min);
	if (expect->has_max)
		slack = fmin(slack, expect->max - value);
	return slack;
}

static void judge_one(const struct hs_scenario_expect *expect, double value,
		struct hs_outcome_verdict *verdict)
{
	verdict->value = value;
	verdict->met = slack_of(expect, value) >= 0;
	if (isnan(value))
		explain(verdict, "nothing to compute it from");
}

static bool names_row(const struct hs_scenario_expect *expect,
		const struct hs_outcome_metric *metric, const struct hs_outcome_row *row)
{
	bool overhead = metric->form == HS_FORM_OVERHEAD_BYTES ||
			metric->form == HS_FORM_OVERHEAD_PACKETS;
	if (!of_flow(expect->flow, row->flow))
		return false;
	if (!strcmp(expect->hop, "*"))
		return !row->e2e || !overhead; // a way of several links has none of its own
	return !strcmp(row->hop, expect->hop[0] ? expect->hop : "e2e");
}

// Each row of that name must meet it, and a row in which it cannot be computed does not.
static void judge_rows(const struct hs_outcome *outcome, const struct hs_scenario_expect *expect,
		const struct hs_outcome_metric *metric, struct hs_outcome_verdict *verdict)
{
	double worst = INFINITY;
	size_t n = 0;
	for (size_t i = 0; i < outcome->n_lines; i++) {
		const struct hs_outcome_row *row = &outcome->lines[i].row;
		if (!names_row(expect, metric, row))
			continue;
		double value = value_of_row(outcome, i, metric);
		double slack = slack_of(expect, value);
		if (n++ && slack >= worst)
			continue;
		worst = slack;
		verdict->value = value;
		verdict->met = slack >= 0;
		if (isnan(value))
			explain(verdict, "%s has none", row->hop);
	}
	if (!n)
		explain(verdict, "no window has such a hop");
}

static bool is_of_row(enum hs_outcome_form form)
{
	return form <= HS_FORM_OVERHEAD_PACKETS;
}

static bool is_end_to_end(enum hs_outcome_form form)
{
	return form == HS_FORM_MEAN || form == HS_FORM_RUN_LOST || form == HS_FORM_RUN_LOST_TRUTH ||
	       form == HS_FORM_RUN_LOST_ALL;
}

// ---- of flows ----

static double value_of_totals(
		const struct hs_outcome_totals *totals, const struct hs_outcome_metric *metric)
{
	switch (metric->form) {
	case HS_FORM_WINDOWS:
		return (double)totals->windows;
	case HS_FORM_STALE:
		return (double)totals->stale;
	case HS_FORM_EMPTY:
		return (double)totals->empty;
	case HS_FORM_PATH_CHANGES:
		return (double)totals->path_changes;
	case HS_FORM_UNSYNCHRONISED:
		return (double)totals->unsynchronised;
	case HS_FORM_UNATTRIBUTED:
		return (double)totals->unattributed_lost_packets;
	case HS_FORM_FLAG:
		return (double)totals->flags[__builtin_ctz(metric->detail)];
	case HS_FORM_REPORTS:
		return (double)totals->reports;
	case HS_FORM_NUMBER_MISMATCHES:
		return (double)totals->number_mismatches;
	case HS_FORM_MARKED:
		return (double)totals->marked;
	case HS_FORM_NEGATIVE:
		return (double)totals->negative;
	case HS_FORM_RUN_MISMATCHES:
		return (double)totals->run_mismatches;
	default: // HS_FORM_SPAN_MISMATCHES
		return (double)totals->span_mismatches;
	}
}

static double sum_of_flows(const struct hs_outcome *outcome, uint32_t flow,
		const struct hs_outcome_metric *metric)
{
	double sum = 0;
	size_t n_flows = outcome->run->scenario->n_flows;
	for (uint32_t i = 0; i < n_flows; i++)
		if (of_flow(flow, i))
			sum += value_of_totals(&outcome->totals[i], metric);
	return n_flows ? sum : NAN;
}

// ---- of round trips ----

static double value_of_trip(const struct hs_outcome_trip *trip, enum hs_outcome_form form)
{
	switch (form) {
	case HS_FORM_TRIP_MAE:
		return trip->mae_ns;
	case HS_FORM_TRIP_MEASURED:
		return trip->measured_ns;
	case HS_FORM_TRIP_TRUTH:
		return trip->truth_ns;
	case HS_FORM_TRIP_PAIRS:
		return (double)trip->pairs;
	default: // HS_FORM_TRIP_CLOCKS_DIFFER
		return (double)trip->clocks_differ;
	}
}

// The largest error, the mean of times, the sum of counts.
static double value_of_trips(
		const struct hs_outcome *outcome, uint32_t flow, enum hs_outcome_form form)
{
	const struct hs_outcome_trips *trips = &outcome->trips;
	double sum = 0, max = 0;
	size_t n = 0;
	for (size_t i = 0; i < trips->n; i++) {
		const struct hs_outcome_trip *trip = &trips->trips[i];
		if (!of_flow(flow, trip->up) && !of_flow(flow, trip->down))
			continue;
		double value = value_of_trip(trip, form);
		if (isnan(value))
			return NAN;
		sum += value;
		max = fmax(max, value);
		n++;
	}
	if (!n)
		return NAN;
	if (form == HS_FORM_TRIP_MAE)
		return max;
	return form == HS_FORM_TRIP_MEASURED || form == HS_FORM_TRIP_TRUTH ? sum / (double)n : sum;
}

// ---- of traffic, and of the run ----

void hs_outcome_traffic_of(
		const struct hs_run *run, uint32_t traffic, struct hs_outcome_traffic *result)
{
	const struct hs_stream_counters *counters = &result->counters;
	double seconds = (double)(run->end_ns - run->start_ns) / 1e9;
	hs_stream_counters(run->streams[traffic], &result->counters);
	result->delivered_ratio = counters->sent[0] ? (double)counters->delivered[0] /
								      (double)counters->sent[0]
						    : NAN;
	result->goodput_bps = NAN;
	if (counters->sent[0] && seconds > 0)
		result->goodput_bps = (double)counters->bytes_goodput * 8 / seconds;
}

static double value_of_traffic(
		const struct hs_outcome *outcome, uint32_t flow, enum hs_outcome_form form)
{
	const struct hs_scenario *scenario = outcome->run->scenario;
	bool reply = flow != HS_NO_INDEX && scenario->flows[flow].reverse;
	double sent = 0, delivered = 0, altered = 0, payload = 0;
	for (uint32_t i = 0; i < scenario->n_traffic; i++) {
		struct hs_stream_counters counters;
		if (flow != HS_NO_INDEX && scenario->flows[flow].traffic != i)
			continue;
		hs_stream_counters(outcome->run->streams[i], &counters);
		sent += (double)counters.sent[reply];
		delivered += (double)counters.delivered[reply];
		altered += (double)counters.altered;
		payload += (double)counters.bytes_goodput;
	}
	if (form == HS_FORM_ALTERED)
		return altered;
	if (sent <= 0)
		return NAN;
	if (form == HS_FORM_DELIVERED_RATIO)
		return delivered / sent;
	double seconds = (double)(outcome->run->end_ns - outcome->run->start_ns) / 1e9;
	return seconds > 0 ? payload * 8 / seconds : NAN;
}

static double audit_failures(const struct hs_run *run)
{
	size_t n = json_array_size(run->audit);
	return (double)(n || run->audit_ok ? n : 1);
}

static double value_of_nodes(const struct hs_run *run, uint32_t node, unsigned offset)
{
	uint64_t sum = 0, value;

	if (!run->node_counts)
		return NAN;
	for (uint32_t i = 0; i < run->scenario->n_nodes; i++) {
		if (node != HS_NO_INDEX && node != i)
			continue;
		memcpy(&value, (const char *)&run->node_counts[i] + offset, sizeof(value));
		sum += value;
	}
	return (double)sum;
}

static double value_of_run(const struct hs_outcome *outcome,
		const struct hs_scenario_expect *expect, const struct hs_outcome_metric *metric)
{
	uint32_t flow = expect->flow;

	switch (metric->form) {
	case HS_FORM_TRIP_MAE:
	case HS_FORM_TRIP_MEASURED:
	case HS_FORM_TRIP_TRUTH:
	case HS_FORM_TRIP_PAIRS:
	case HS_FORM_TRIP_CLOCKS_DIFFER:
		return value_of_trips(outcome, flow, metric->form);
	case HS_FORM_ALTERED:
	case HS_FORM_DELIVERED_RATIO:
	case HS_FORM_GOODPUT:
		return value_of_traffic(outcome, flow, metric->form);
	case HS_FORM_NODE_DROPS:
		return (double)outcome->run->node_drops;
	case HS_FORM_NODES:
		return value_of_nodes(outcome->run, expect->node, metric->detail);
	case HS_FORM_AUDIT_FAILURES:
		return audit_failures(outcome->run);
	default:
		return sum_of_flows(outcome, flow, metric);
	}
}

// ---- expectations ----

void hs_outcome_judge(const struct hs_outcome *outcome, const struct hs_scenario_expect *expect,
		struct hs_outcome_verdict *verdict)
{
	const struct hs_outcome_metric *metric = hs_outcome_metric_find(expect->metric);
	*verdict = (struct hs_outcome_verdict){.value = NAN};
	if (!metric)
		explain(verdict, "there is no such metric");
	else if (!is_of_row(metric->form))
		judge_one(expect, value_of_run(outcome, expect, metric), verdict);
	else if (expect->hop[0] || is_end_to_end(metric->form))
		judge_rows(outcome, expect, metric, verdict);
	else
		judge_one(expect, together(outcome, expect->flow, metric), verdict);
}

const struct hs_scenario_expect *hs_outcome_broken(const struct hs_outcome *outcome, size_t index)
{
	static const struct hs_scenario_expect none[HS_OUTCOME_BUILT_IN] = {
			{.metric = "negative_windows",
					.flow = HS_NO_INDEX,
					.node = HS_NO_INDEX,
					.has_max = true},
			{.metric = "run_mismatches",
					.flow = HS_NO_INDEX,
					.node = HS_NO_INDEX,
					.has_max = true},
	};
	struct hs_outcome_verdict verdict;
	if (!outcome->run->scenario->n_flows)
		return NULL;
	hs_outcome_judge(outcome, &none[index], &verdict);
	return verdict.met ? NULL : &none[index];
}

size_t hs_outcome_unmet(const struct hs_outcome *outcome)
{
	const struct hs_scenario *scenario = outcome->run->scenario;
	size_t unmet = 0;
	for (size_t i = 0; i < scenario->n_expects; i++) {
		struct hs_outcome_verdict verdict;
		hs_outcome_judge(outcome, &scenario->expects[i], &verdict);
		unmet += !verdict.met;
	}
	for (size_t i = 0; i < HS_OUTCOME_BUILT_IN; i++)
		unmet += hs_outcome_broken(outcome, i) != NULL;
	return unmet;
}

// SPDX-License-Identifier: BSD-3-Clause
// Decides whether a scenario's expectations are met.
#include "outcome_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// The verdict on an expectation. value: the worst if several rows must meet it; NAN, with a reason,
// if it could not be computed.
struct verdict {
	double value;
	bool met;
	char reason[128];
};

static bool of_flow(uint32_t wanted, uint32_t flow)
{
	return wanted == HS_NO_INDEX || wanted == flow;
}

static double double_at(const void *from, unsigned offset)
{
	double value;
	memcpy(&value, (const char *)from + offset, sizeof(value));
	return value;
}

static double integer_at(const void *from, unsigned offset)
{
	int64_t value;
	memcpy(&value, (const char *)from + offset, sizeof(value));
	return (double)value;
}

// ---- rows ----

static double value_of_row(const struct outcome_row *row, const struct hs_lab_metric *metric)
{
	if (metric->form == HS_FORM_ROW)
		return double_at(&row->numbers, metric->detail);
	const struct outcome_sums *sums = &row->sums[metric->detail];
	switch (metric->form) {
	case HS_FORM_MAE_TRUTH:
		return outcome_mean(sums->off_truth, sums->n_truth);
	case HS_FORM_MAE_CONFIGURED:
		return outcome_mean(sums->off_configured, sums->n_configured);
	case HS_FORM_MEAN_ERROR:
		return fabs(outcome_mean(sums->off_signed, sums->n_configured));
	case HS_FORM_MAX_ERROR:
		return sums->n_truth ? sums->max_off_truth : NAN;
	case HS_FORM_WINDOWS:
		return (double)sums->n;
	default:
		return outcome_mean(sums->measured, sums->n);
	}
}

static double value_over_rows(
		const struct outcome *outcome, uint32_t flow, const struct hs_lab_metric *metric)
{
	double sum = 0, max = NAN;
	size_t n = 0;
	for (size_t i = 0; i < outcome->n_rows; i++) {
		double value = value_of_row(&outcome->rows[i], metric);
		if (!of_flow(flow, outcome->rows[i].flow) || isnan(value))
			continue;
		sum += value;
		max = fmax(max, value);
		n++;
	}
	return metric->over == HS_OVER_MAX ? max : outcome_mean(sum, n);
}

// ---- flows, round trips, traffic, nodes ----

static double value_of_flows(const struct outcome *outcome, uint32_t flow, unsigned offset)
{
	size_t n_flows = outcome->run->scenario->n_flows;
	double sum = n_flows ? 0 : NAN;
	for (uint32_t i = 0; i < n_flows; i++)
		if (of_flow(flow, i))
			sum += integer_at(&outcome->counts[i], offset);
	return sum;
}

// Returns the largest error, the mean of times, or the sum of counts.
static double value_of_trips(const struct outcome *outcome, uint32_t flow, unsigned offset)
{
	double sum = 0, max = 0;
	size_t n = 0;
	for (size_t i = 0; i < outcome->n_trips; i++) {
		const struct outcome_trip *trip = &outcome->trips[i];
		if (!of_flow(flow, trip->up) && !of_flow(flow, trip->down))
			continue;
		double value = double_at(&trip->numbers, offset);
		sum += value;
		max = isnan(value) ? value : fmax(max, value);
		n++;
	}
	if (!n || isnan(sum))
		return NAN;
	if (offset == offsetof(struct hs_trip_numbers, mae_ns))
		return max;
	return offset >= offsetof(struct hs_trip_numbers, pairs) ? sum : sum / (double)n;
}

double outcome_goodput(const struct hs_run *run, double bytes)
{
	double seconds = (double)(run->end_ns - run->start_ns) / 1e9;
	return seconds > 0 ? bytes * 8 / seconds : NAN;
}

static double value_of_traffic(
		const struct outcome *outcome, uint32_t flow, enum hs_lab_metric_form form)
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
	return form == HS_FORM_DELIVERED_RATIO ? delivered / sent
					       : outcome_goodput(outcome->run, payload);
}

static double value_of_nodes(const struct hs_run *run, uint32_t node, unsigned offset)
{
	double sum = run->node_counts ? 0 : NAN;
	for (uint32_t i = 0; run->node_counts && i < run->scenario->n_nodes; i++)
		if (node == HS_NO_INDEX || node == i)
			sum += integer_at(&run->node_counts[i], offset);
	return sum;
}

static double value_of_run(const struct outcome *outcome, const struct hs_scenario_expect *expect,
		const struct hs_lab_metric *metric)
{
	const struct hs_run *run = outcome->run;
	size_t failures = json_array_size(run->audit);
	switch (metric->form) {
	case HS_FORM_FLOW:
		return value_of_flows(outcome, expect->flow, metric->detail);
	case HS_FORM_TRIP:
		return value_of_trips(outcome, expect->flow, metric->detail);
	case HS_FORM_NODES:
		return value_of_nodes(run, expect->node, metric->detail);
	case HS_FORM_NODE_DROPS:
		return (double)run->node_drops;
	case HS_FORM_AUDIT_FAILURES:
		return (double)(failures || run->audit_ok ? failures : 1);
	default:
		return value_of_traffic(outcome, expect->flow, metric->form);
	}
}

// ---- met or not ----

static void explain(struct verdict *verdict, const char *format, ...)
		__attribute__((format(printf, 2, 3)));
static void explain(struct verdict *verdict, const char *format, ...)
{
	va_list args;
	va_start(args, format);
	vsnprintf(verdict->reason, sizeof(verdict->reason), format, args);
	va_end(args);
}

// Returns the distance of the value from the bounds; below 0: the expectation is not met.
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

static void judge_one(
		const struct hs_scenario_expect *expect, double value, struct verdict *verdict)
{
	verdict->value = value;
	verdict->met = slack_of(expect, value) >= 0;
	if (isnan(value))
		explain(verdict, "nothing to compute it from");
}

static bool names_row(const struct hs_scenario_expect *expect, const struct hs_lab_metric *metric,
		const struct outcome_row *row)
{
	if (!of_flow(expect->flow, row->flow))
		return false;
	// A path of several links has no overhead of its own.
	if (!strcmp(expect->hop, "*"))
		return !row->ends.e2e || strncmp(metric->name, "overhead.", 9) != 0;
	return !strcmp(row->hop, expect->hop[0] ? expect->hop : "e2e");
}

// Each row of this name must meet the expectation. A row without a value does not meet it.
static void judge_rows(const struct outcome *outcome, const struct hs_scenario_expect *expect,
		const struct hs_lab_metric *metric, struct verdict *verdict)
{
	double worst = INFINITY;
	size_t n = 0;
	for (size_t i = 0; i < outcome->n_rows; i++) {
		const struct outcome_row *row = &outcome->rows[i];
		if (!names_row(expect, metric, row))
			continue;
		double value = value_of_row(row, metric);
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

static void judge(const struct outcome *outcome, const struct hs_scenario_expect *expect,
		struct verdict *verdict)
{
	const struct hs_lab_metric *metric = hs_lab_metric_find(expect->metric);
	*verdict = (struct verdict){.value = NAN};
	if (metric->form > HS_FORM_ROW)
		judge_one(expect, value_of_run(outcome, expect, metric), verdict);
	else if (expect->hop[0] || metric->over == HS_OVER_E2E)
		judge_rows(outcome, expect, metric, verdict);
	else
		judge_one(expect, value_over_rows(outcome, expect->flow, metric), verdict);
}

static json_t *one_json(const struct outcome *outcome, const struct hs_scenario_expect *expect,
		const struct verdict *verdict)
{
	const struct hs_scenario *scenario = outcome->run->scenario;
	bool has_flow = expect->flow != HS_NO_INDEX, has_node = expect->node != HS_NO_INDEX;
	char flow[OUTCOME_FLOW_NAME];
	return json_pack("{s:s, s:s*, s:s*, s:s*, s:o*, s:o*, s:o*, s:o*, s:o*, s:b, s:s*}",
			"metric", expect->metric, "hop", expect->hop[0] ? expect->hop : NULL,
			"flow", has_flow ? outcome_flow_name(scenario, expect->flow, flow) : NULL,
			"node", has_node ? scenario->nodes[expect->node].name : NULL, "value",
			expect->has_value ? outcome_number(expect->value) : NULL, "tolerance",
			expect->has_value ? outcome_number(expect->tolerance) : NULL, "min",
			expect->has_min ? outcome_number(expect->min) : NULL, "max",
			expect->has_max ? outcome_number(expect->max) : NULL, "measured",
			outcome_number(verdict->value), "met", verdict->met, "reason",
			verdict->reason[0] ? verdict->reason : NULL);
}

json_t *outcome_expect_json(const struct outcome *outcome)
{
	// Every scenario has this expectation. It is listed only if it is not met.
	static const struct hs_scenario_expect no_negatives = {.metric = "negative_windows",
			.flow = HS_NO_INDEX,
			.node = HS_NO_INDEX,
			.has_max = true};
	const struct hs_scenario *scenario = outcome->run->scenario;
	json_t *list = json_array();
	struct verdict verdict;
	for (size_t i = 0; i < scenario->n_expects; i++) {
		judge(outcome, &scenario->expects[i], &verdict);
		json_array_append_new(list, one_json(outcome, &scenario->expects[i], &verdict));
	}
	judge(outcome, &no_negatives, &verdict);
	if (scenario->n_flows && !verdict.met)
		json_array_append_new(list, one_json(outcome, &no_negatives, &verdict));
	return list;
}

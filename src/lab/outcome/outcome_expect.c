// SPDX-License-Identifier: BSD-3-Clause
// Decides whether a scenario's expectations are met.
#include "outcome_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// The verdict on an expectation. value: the worst if several rows must meet it; NAN, with a reason,
// if it could not be computed. slack: its distance from the bounds; below 0, the expectation is not
// met.
struct verdict {
	double value, slack;
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

// ---- rows ----

static double value_of_row(const struct outcome_row *row, const struct hs_lab_metric *metric)
{
	if (metric->form == HS_FORM_ROW)
		return double_at(&row->numbers, metric->detail);
	const struct outcome_columns *columns = &row->columns[metric->detail];
	const struct outcome_column *truth = &columns->truth, *configured = &columns->configured;
	switch (metric->form) {
	case HS_FORM_MAE_TRUTH:
		return outcome_mean(truth->off, truth->n);
	case HS_FORM_MAE_CONFIGURED:
		return outcome_mean(configured->off, configured->n);
	case HS_FORM_MEAN_ERROR:
		return fabs(outcome_mean(configured->off_signed, configured->n));
	case HS_FORM_MAX_ERROR:
		return truth->n ? truth->max_off : NAN;
	case HS_FORM_WINDOWS:
		return (double)columns->measured.n;
	default:
		return outcome_mean(columns->measured.sum, columns->measured.n);
	}
}

double outcome_over_rows(
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

// Takes an integer at this offset of one struct of an array (HS_NO_INDEX: sums that of all).
static double sum_of(const void *array, size_t n, size_t bytes, uint32_t one, unsigned offset)
{
	double sum = n ? 0 : NAN;
	for (size_t i = 0; i < n; i++) {
		int64_t value;
		memcpy(&value, (const char *)array + i * bytes + offset, sizeof(value));
		sum += one == HS_NO_INDEX || one == i ? (double)value : 0;
	}
	return sum;
}

// Returns the largest error, the mean of times, or the sum of counts.
static double value_of_trips(const struct outcome *outcome, uint32_t flow, unsigned offset)
{
	bool is_error = offset == offsetof(struct hs_trip_numbers, mae_ns);
	bool is_count = offset >= offsetof(struct hs_trip_numbers, pairs);
	double sum = 0, max = 0;
	size_t n = 0;
	for (size_t i = 0; i < outcome->n_trips; i++) {
		const struct outcome_trip *trip = &outcome->trips[i];
		double value = double_at(&trip->numbers, offset);
		if (!of_flow(flow, trip->up) && !of_flow(flow, trip->down))
			continue;
		sum += value;
		max = fmax(max, value);
		n++;
	}
	double mean = outcome_mean(sum, n); // NAN if a value is
	return isnan(mean) ? NAN : is_error ? max : is_count ? sum : mean;
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

static double value_of_run(const struct outcome *outcome, const struct hs_scenario_expect *expect,
		const struct hs_lab_metric *metric)
{
	const struct hs_run *run = outcome->run;
	const struct hs_scenario *scenario = run->scenario;
	size_t failures = json_array_size(run->audit);
	switch (metric->form) {
	case HS_FORM_FLOW:
		return sum_of(outcome->counts, scenario->n_flows, sizeof(*outcome->counts),
				expect->flow, metric->detail);
	case HS_FORM_TRIP:
		return value_of_trips(outcome, expect->flow, metric->detail);
	case HS_FORM_NODES:
		return sum_of(run->node_counts, run->node_counts ? scenario->n_nodes : 0,
				sizeof(*run->node_counts), expect->node, metric->detail);
	case HS_FORM_NODE_DROPS:
		return (double)run->node_drops;
	case HS_FORM_AUDIT_FAILURES:
		return (double)(failures || run->audit_ok ? failures : 1);
	default:
		return value_of_traffic(outcome, expect->flow, metric->form);
	}
}

// ---- met or not ----

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
static struct verdict judge_rows(const struct outcome *outcome,
		const struct hs_scenario_expect *expect, const struct hs_lab_metric *metric)
{
	struct verdict worst = {NAN, -INFINITY, "no window has such a hop"};
	size_t n = 0;
	for (size_t i = 0; i < outcome->n_rows; i++) {
		const struct outcome_row *row = &outcome->rows[i];
		if (!names_row(expect, metric, row))
			continue;
		double value = value_of_row(row, metric), slack = slack_of(expect, value);
		if (n++ && slack >= worst.slack)
			continue;
		worst = (struct verdict){value, slack, ""};
		if (isnan(value))
			snprintf(worst.reason, sizeof(worst.reason), "%s has none", row->hop);
	}
	return worst;
}

static struct verdict judge(const struct outcome *outcome, const struct hs_scenario_expect *expect)
{
	const struct hs_lab_metric *metric = hs_lab_metric_find(expect->metric);
	bool of_run = metric->form > HS_FORM_ROW;
	if (!of_run && (expect->hop[0] || metric->over == HS_OVER_E2E))
		return judge_rows(outcome, expect, metric);
	double value = of_run ? value_of_run(outcome, expect, metric)
			      : outcome_over_rows(outcome, expect->flow, metric);
	struct verdict verdict = {value, slack_of(expect, value), "nothing to compute it from"};
	if (!isnan(value))
		verdict.reason[0] = '\0';
	return verdict;
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
			outcome_number(verdict->value), "met", verdict->slack >= 0, "reason",
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
		verdict = judge(outcome, &scenario->expects[i]);
		json_array_append_new(list, one_json(outcome, &scenario->expects[i], &verdict));
	}
	verdict = judge(outcome, &no_negatives);
	if (scenario->n_flows && verdict.slack < 0)
		json_array_append_new(list, one_json(outcome, &no_negatives, &verdict));
	return list;
}

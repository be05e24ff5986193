// SPDX-License-Identifier: BSD-3-Clause
// Decides whether a scenario's expectations are met. Their values are numbers of the result.
#include "outcome.h"

#include "outcome_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

// An expectation, with the metric and the list that it is about.
struct question {
	const struct hs_scenario *scenario;
	const struct hs_scenario_expect *expect;
	const struct hs_lab_metric *metric;
	const json_t *list; // the elements that may have the number
};

// The verdict on an expectation. value: the worst if several rows must meet it; NAN, with a reason,
// if it could not be computed. slack: its distance from the bounds; below 0, the expectation is not
// met.
struct verdict {
	double value, slack;
	char reason[HS_SCENARIO_NAME + 32];
};

double hs_outcome_number(const json_t *object, const char *path)
{
	for (const char *dot; (dot = strchr(path, '.')); path = dot + 1)
		object = json_object_getn(object, path, (size_t)(dot - path));
	const json_t *value = json_object_get(object, path);
	if (json_is_array(value))
		return (double)json_array_size(value);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

// ---- values ----

static bool is(const json_t *element, const char *key, const char *name)
{
	const char *text = json_string_value(json_object_get(element, key));
	return text && !strcmp(text, name);
}

// Returns whether the element is of the node, or of the flow, that the expectation names.
static bool is_asked(const struct question *question, const json_t *element)
{
	const struct hs_scenario *scenario = question->scenario;
	uint32_t node = question->expect->node, flow = question->expect->flow;
	if (json_object_get(element, "node"))
		return node == HS_NO_INDEX || is(element, "node", scenario->nodes[node].name);
	if (flow == HS_NO_INDEX)
		return true;
	if (json_object_get(element, "ns_id"))
		return hs_outcome_number(element, "ns_id") == scenario->flows[flow].ns_id;
	const char *name = scenario->flows[flow].name;
	return is(element, "up", name) || is(element, "down", name) ||
	       is(element, "name", scenario->traffic[scenario->flows[flow].traffic].name);
}

// Returns the number of an element, or NAN.
static double value_of(const struct hs_lab_metric *metric, const json_t *element, const char *path)
{
	double value = hs_outcome_number(element, path);
	if (metric->minus)
		value -= hs_outcome_number(element, metric->minus);
	if (metric->or_zero && isnan(value))
		return 0;
	return metric->distance ? fabs(value) : value;
}

// Returns the number of all elements together, or NAN.
static double combine(const struct question *question, const char *path)
{
	enum hs_lab_metric_over over = question->metric->over;
	bool needs_all = over == HS_OVER_MEAN || over == HS_OVER_MAX;
	double sum = 0, max = NAN;
	const json_t *element;
	size_t n = 0, i;
	json_array_foreach (question->list, i, element) {
		double value = value_of(question->metric, element, path);
		if (!is_asked(question, element) || (isnan(value) && !needs_all))
			continue;
		sum += value;
		max = fmax(max, value);
		n++;
	}
	if (!n || isnan(sum))
		return NAN;
	if (over == HS_OVER_MAX || over == HS_OVER_HOPS_MAX)
		return max;
	return over == HS_OVER_SUM || over == HS_OVER_RATIO ? sum : sum / (double)n;
}

static double delivered_ratio(const struct question *question)
{
	uint32_t flow = question->expect->flow;
	bool replies = flow != HS_NO_INDEX && question->scenario->flows[flow].reverse;
	return combine(question, replies ? "replies_delivered" : "delivered") /
	       combine(question, replies ? "replies_sent" : "sent");
}

// ---- met or not ----

static double slack_of(const struct hs_scenario_expect *expect, double value)
{
	// fmin ignores NAN, which stands for a bound that is not given.
	double slack = expect->tolerance - fabs(value - expect->value);
	slack = fmin(slack, fmin(value - expect->min, expect->max - value));
	return isnan(value) ? -INFINITY : slack;
}

// Judges the rows of a hop. Each row of this name must meet the expectation. A row without a value
// does not meet it.
static struct verdict judge_rows(const struct question *question)
{
	const char *hop = question->expect->hop[0] ? question->expect->hop : "e2e";
	struct verdict worst = {NAN, -INFINITY, "no window has such a hop"};
	const json_t *row;
	size_t n = 0, i;
	json_array_foreach (question->list, i, row) {
		double value = value_of(question->metric, row, question->metric->path);
		double slack = slack_of(question->expect, value);
		bool named = !strcmp(hop, "*") || is(row, "hop", hop);
		if (!named || !is_asked(question, row) || (n++ && slack >= worst.slack))
			continue;
		worst = (struct verdict){value, slack, ""};
		if (isnan(value))
			snprintf(worst.reason, sizeof(worst.reason), "%s has none",
					json_string_value(json_object_get(row, "hop")));
	}
	return worst;
}

static struct verdict judge(const struct question *question)
{
	const struct hs_lab_metric *metric = question->metric;
	if (metric->over == HS_OVER_E2E ||
			(metric->over <= HS_OVER_HOPS_MAX && question->expect->hop[0]))
		return judge_rows(question);
	double value = metric->over == HS_OVER_RATIO ? delivered_ratio(question)
						     : combine(question, metric->path);
	struct verdict verdict = {value, slack_of(question->expect, value), ""};
	if (isnan(value))
		snprintf(verdict.reason, sizeof(verdict.reason), "nothing to compute it from");
	return verdict;
}

static json_t *one_json(const struct hs_scenario *scenario, const struct hs_scenario_expect *expect,
		const struct verdict *verdict)
{
	bool has_flow = expect->flow != HS_NO_INDEX, has_node = expect->node != HS_NO_INDEX;
	double tolerance = isnan(expect->value) ? NAN : expect->tolerance;
	return json_pack("{s:s, s:s*, s:s*, s:s*, s:o*, s:o*, s:o*, s:o*, s:o*, s:b, s:s*}",
			"metric", expect->metric, "hop", expect->hop[0] ? expect->hop : NULL,
			"flow", has_flow ? scenario->flows[expect->flow].name : NULL, "node",
			has_node ? scenario->nodes[expect->node].name : NULL, "value",
			outcome_number(expect->value), "tolerance", outcome_number(tolerance),
			"min", outcome_number(expect->min), "max", outcome_number(expect->max),
			"measured", outcome_number(verdict->value), "met", verdict->slack >= 0,
			"reason", verdict->reason[0] ? verdict->reason : NULL);
}

// ---- all of it ----

// Every scenario has this expectation. It is listed only if it is not met.
static const struct hs_scenario_expect no_negatives = {.metric = "negative_windows",
		.flow = HS_NO_INDEX,
		.node = HS_NO_INDEX,
		.value = NAN,
		.min = NAN};

void outcome_maes_put(const struct hs_run *run, json_t *result)
{
	static const char *const yardsticks[] = {"configured", "truth"};
	const struct hs_lab_metric mean = {.over = HS_OVER_HOPS};
	const struct question question = {
			run->scenario, &no_negatives, &mean, json_object_get(result, "rows")};
	char path[64];
	for (unsigned kind = 0; kind < HS_LAB_KINDS; kind++) {
		json_t *of = json_object();
		for (unsigned i = 0; i < 2; i++) {
			snprintf(path, sizeof(path), "%s.mae.%s", hs_lab_kinds[kind].word,
					yardsticks[i]);
			outcome_put(of, yardsticks[i], combine(&question, path));
		}
		if (kind < HS_LAB_HOP_LATENCY || json_object_size(of) > 0)
			json_object_set(json_object_get(result, "mae"), hs_lab_kinds[kind].word,
					of);
		json_decref(of);
	}
}

// Returns the counts of each node, which the result does not list.
static json_t *nodes_json(const struct hs_run *run)
{
	static const struct hs_schema_field count_fields[] = {{HS_METRIC_MEMBERS(node)}, {NULL}};
	json_t *list = json_array();
	for (size_t i = 0; run->totals && i < run->scenario->n_nodes; i++) {
		const struct hs_metric_view view = {.node = run->totals[i]};
		json_t *json = json_pack("{s:s}", "node", run->scenario->nodes[i].name);
		hs_schema_print_into(json, count_fields, &view);
		json_array_append_new(list, json);
	}
	return list;
}

void outcome_expects_put(const struct hs_run *run, json_t *result)
{
	const struct hs_scenario *scenario = run->scenario;
	json_t *lists = json_copy(result);
	json_object_set_new(lists, "nodes", nodes_json(run));
	json_object_set_new(lists, "run", json_pack("[O]", result));
	for (size_t i = 0; i <= scenario->n_expects; i++) {
		bool given = i < scenario->n_expects;
		struct question question = {
				scenario, given ? &scenario->expects[i] : &no_negatives};
		question.metric = hs_lab_metric_find(question.expect->metric);
		question.list = json_object_get(lists, question.metric->list);
		const struct verdict verdict = judge(&question);
		if (given || (scenario->n_flows && verdict.slack < 0))
			json_array_append_new(json_object_get(result, "expect"),
					one_json(scenario, question.expect, &verdict));
	}
	json_decref(lists);
}

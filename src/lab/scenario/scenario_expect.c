// SPDX-License-Identifier: BSD-3-Clause
// The expectations of a scenario.
#include "scenario_draft.h"

#include "lab_metric.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_VALUE 1e18

static int read_metric(json_t *value, const char *path, void *at, struct hs_error *err)
{
	if (!json_is_string(value))
		return hs_schema_wrong_type(value, path, hs_lab_metric_names, err);
	const struct hs_lab_metric *metric = hs_lab_metric_find(json_string_value(value));
	if (!metric)
		return hs_error_set(err, "unknown_metric", path, hs_lab_metric_names,
				"there is no metric \"%.64s\"", json_string_value(value));
	strcpy(at, metric->name); // a test compares the lengths of all names with the room
	return 0;
}

static uint32_t find_flow(const void *root, const char *wanted)
{
	const struct hs_scenario *scenario = &((const struct hs_draft *)root)->scenario;

	for (uint32_t i = 0; i < scenario->n_flows; i++)
		if (scenario->flows[i].traffic != HS_NO_INDEX &&
				strcmp(scenario->flows[i].name, wanted) == 0)
			return i;
	return hs_draft_may_be((void *)root, "requests", wanted) ? 0 : HS_NO_INDEX;
}

static const struct hs_schema_names flow_names = {"unknown_name", "monitored flow",
		"NAME or NAME/reply of traffic that a request monitors", find_flow, NULL};
static const struct hs_schema_word hop_words[] = {{"e2e", 0}, {"*", 0}, {NULL, 0}};

#define EXPECT(member) HS_SCHEMA_MEMBER(struct hs_scenario_expect, member)
#define ANY	       .least = -MAX_VALUE, .most = MAX_VALUE
static const struct hs_schema_field expect_fields[] = {
		{"metric", HS_SCHEMA_CUSTOM, EXPECT(metric), .read = read_metric, .required = true,
				.shape = "{'type': 'string'}", .expected = "the name of a metric"},
		{"hop", HS_SCHEMA_NAME, .names = &hs_draft_link_names, .words = hop_words,
				.expected = "the name of a link, \"e2e\" or \"*\""},
		{"flow", HS_SCHEMA_NAME, EXPECT(flow), .names = &flow_names},
		{"node", HS_SCHEMA_NAME, EXPECT(node), .names = &hs_draft_node_names},
		{"value", HS_SCHEMA_REAL, EXPECT(value), ANY},
		{"tolerance", HS_SCHEMA_REAL, EXPECT(tolerance), .most = MAX_VALUE},
		{"min", HS_SCHEMA_REAL, EXPECT(min), ANY},
		{"max", HS_SCHEMA_REAL, EXPECT(max), ANY},
		{NULL},
};

static int check_bounds(const struct hs_draft *draft, const struct hs_scenario_expect *expect)
{
	if (expect->node != HS_NO_INDEX && strncmp(expect->metric, "nodes.", 6) != 0)
		return hs_draft_refuse(draft, "node", "conflict", "only beside metrics nodes.*",
				"%s is no metric of nodes", expect->metric);
	if (isnan(expect->value) && isnan(expect->min) && isnan(expect->max))
		return hs_draft_refuse(draft, NULL, "missing_field", "value, min or max",
				"nothing is expected of the metric");
	if (hs_draft_has(draft, "tolerance") && isnan(expect->value))
		return hs_draft_refuse(draft, "tolerance", "conflict", "only beside value",
				"there is no value to be near");
	if (expect->min > expect->max)
		return hs_draft_refuse(draft, "min", "out_of_range", "at most max",
				"%.12g is above the maximum of %.12g", expect->min, expect->max);
	return 0;
}

// The row of "hop" has no member, because an expectation keeps the name itself.
static int take_expect(struct hs_draft *draft, struct hs_scenario_expect *expect)
{
	if (hs_draft_has(draft, "hop"))
		snprintf(expect->hop, sizeof(expect->hop), "%s",
				json_string_value(json_object_get(draft->item.value, "hop")));
	return check_bounds(draft, expect) ?: HS_DRAFT_APPEND(draft, expects, expect);
}

HS_DRAFT_LIST(expect, struct hs_scenario_expect, expect_fields, take_expect,
		{.flow = HS_NO_INDEX, .node = HS_NO_INDEX, .value = NAN, .min = NAN, .max = NAN});

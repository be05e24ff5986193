// SPDX-License-Identifier: BSD-3-Clause
// The expectations of a scenario.
#include "scenario_parts.h"

#include "lab_metric.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_EXPECTS 100000
#define MAX_VALUE   1e18

struct entry {
	const struct hs_scenario_draft *draft;
	struct hs_scenario_expect expect;
};

static int read_metric(json_t *value, const char *path, void *into, struct hs_error *err)
{
	struct entry *entry = into;

	if (!json_is_string(value))
		return hs_schema_wrong_type(value, path, hs_lab_metric_names, err);
	const char *metric = json_string_value(value);
	if (strlen(metric) >= sizeof(entry->expect.metric) || !hs_lab_metric_find(metric))
		return hs_error_set(err, "unknown_metric", path, hs_lab_metric_names,
				"there is no metric \"%.64s\"", metric);
	snprintf(entry->expect.metric, sizeof(entry->expect.metric), "%s", metric);
	return 0;
}

static int read_hop(json_t *value, const char *path, void *into, struct hs_error *err)
{
	static const char expected[] = "the name of a link, \"e2e\" or \"*\"";
	struct entry *entry = into;

	if (!json_is_string(value))
		return hs_schema_wrong_type(value, path, expected, err);
	const char *hop = json_string_value(value);
	if (strcmp(hop, "e2e") != 0 && strcmp(hop, "*") != 0 &&
			hs_scenario_names_find(&entry->draft->link_names, hop) == HS_NO_INDEX)
		return hs_error_set(err, "unknown_name", path, expected,
				"no link is called \"%.64s\"", hop);
	snprintf(entry->expect.hop, sizeof(entry->expect.hop), "%s", hop);
	return 0;
}

static uint32_t find_flow(const struct hs_scenario *scenario, uint32_t traffic, bool reverse)
{
	for (uint32_t i = 0; i < scenario->n_flows; i++) {
		const struct hs_scenario_flow *flow = &scenario->flows[i];
		if (flow->traffic == traffic && flow->reverse == reverse)
			return i;
	}
	return HS_NO_INDEX;
}

static int read_flow(json_t *value, const char *path, void *into, struct hs_error *err)
{
	static const char expected[] = "NAME or NAME/reply of an entry of traffic";
	static const char suffix[] = "/reply";
	struct entry *entry = into;
	char name[64];

	if (!json_is_string(value))
		return hs_schema_wrong_type(value, path, expected, err);
	const char *text = json_string_value(value);
	size_t len = strlen(text), tail = sizeof(suffix) - 1;
	bool reverse = len > tail && strcmp(text + len - tail, suffix) == 0;
	snprintf(name, sizeof(name), "%.*s", (int)(reverse ? len - tail : len), text);
	uint32_t traffic = hs_scenario_names_find(&entry->draft->traffic_names, name);
	if (traffic == HS_NO_INDEX)
		return hs_error_set(err, "unknown_name", path, expected,
				"no entry of traffic is called \"%.64s\"", name);
	entry->expect.flow = find_flow(&entry->draft->scenario, traffic, reverse);
	if (entry->expect.flow == HS_NO_INDEX)
		return hs_error_set(err, "unknown_name", path, "a flow that a request monitors",
				"no request monitors \"%.64s\"", text);
	return 0;
}

#define TEXT	      "{'type': 'string'}"
#define ENTRY(member) HS_SCHEMA_MEMBER(struct entry, expect.member)
static const struct hs_schema_field expect_fields[] = {
		{"metric", HS_SCHEMA_CUSTOM, .read = read_metric, .required = true, .shape = TEXT,
				.expected = "the name of a metric"},
		{"hop", HS_SCHEMA_CUSTOM, .read = read_hop, .shape = TEXT},
		{"flow", HS_SCHEMA_CUSTOM, .read = read_flow, .shape = TEXT},
		{"node", HS_SCHEMA_NAME, ENTRY(node), .names = &hs_scenario_node_names},
		{"value", HS_SCHEMA_REAL, ENTRY(value), .least = -MAX_VALUE, .most = MAX_VALUE},
		{"tolerance", HS_SCHEMA_REAL, ENTRY(tolerance), .least = 0, .most = MAX_VALUE},
		{"min", HS_SCHEMA_REAL, ENTRY(min), .least = -MAX_VALUE, .most = MAX_VALUE},
		{"max", HS_SCHEMA_REAL, ENTRY(max), .least = -MAX_VALUE, .most = MAX_VALUE},
		{NULL},
};

const struct hs_schema_list hs_scenario_expect_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = expect_fields}};

static int check_bounds(const struct hs_scenario_expect *expect, bool has_tolerance,
		const char *path, struct hs_error *err)
{
	if (expect->node != HS_NO_INDEX && strncmp(expect->metric, "nodes.", 6) != 0) {
		return hs_error_set(err, "conflict", AT(path, "node"),
				"only beside metrics nodes.*", "%s is no metric of nodes",
				expect->metric);
	}
	if (!expect->has_value && !expect->has_min && !expect->has_max)
		return hs_error_set(err, "missing_field", path, "value, min or max",
				"nothing is expected of the metric");
	if (has_tolerance && !expect->has_value)
		return hs_error_set(err, "conflict", AT(path, "tolerance"), "only beside value",
				"there is no value to be near");
	if (expect->has_min && expect->has_max && expect->min > expect->max)
		return hs_error_set(err, "out_of_range", AT(path, "min"), "at most max",
				"%.12g is above the maximum of %.12g", expect->min, expect->max);
	return 0;
}

static int read_expect(struct hs_scenario_draft *draft, json_t *object, size_t i, const char *at,
		struct hs_error *err)
{
	struct entry entry = {.draft = draft, .expect = {.flow = HS_NO_INDEX, .node = HS_NO_INDEX}};
	struct hs_scenario_expect *expect = &entry.expect;

	if (hs_schema_read(expect_fields, object, at, &entry, err) < 0)
		return -EINVAL;
	expect->has_value = json_object_get(object, "value");
	expect->has_min = json_object_get(object, "min");
	expect->has_max = json_object_get(object, "max");
	draft->scenario.expects[i] = *expect;
	draft->scenario.n_expects = i + 1;
	return check_bounds(expect, json_object_get(object, "tolerance"), at, err);
}

int hs_scenario_read_expects(struct hs_scenario_draft *draft, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;
	size_t n;
	int rc = hs_scenario_list(draft->expect, "expect", MAX_EXPECTS, &n, err);

	if (rc < 0)
		return rc;
	scenario->expects = hs_scenario_room(n, sizeof(*scenario->expects), err);
	if (!scenario->expects)
		return -ENOMEM;
	return hs_scenario_each(draft, draft->expect, "expect", read_expect, err);
}

// SPDX-License-Identifier: BSD-3-Clause
// The expectations of a scenario.
#include "scenario_draft.h"

#include "lab_metric.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define MAX_VALUE 1e18
#define E2E	  (UINT32_MAX - 2)

struct entry {
	struct hs_scenario_expect expect;
	uint32_t hop; // a link, E2E, HS_DRAFT_ALL; HS_NO_INDEX: not given
	json_t *flow;
};

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

static int read_flow(const struct hs_draft *draft, json_t *value, uint32_t *flow)
{
	static const char expected[] = "NAME or NAME/reply of an entry of traffic";
	static const char suffix[] = "/reply";
	const struct hs_scenario *scenario = &draft->scenario;
	char name[64];

	if (!json_is_string(value))
		return hs_schema_wrong_type(
				value, AT(draft->item.path, "flow"), expected, draft->err);
	const char *text = json_string_value(value);
	size_t len = strlen(text), tail = sizeof(suffix) - 1;
	bool reverse = len > tail && strcmp(text + len - tail, suffix) == 0;
	snprintf(name, sizeof(name), "%.*s", (int)(reverse ? len - tail : len), text);
	uint32_t traffic = hs_draft_find_name(draft, HS_NAME_TRAFFIC, name);
	if (traffic == HS_NO_INDEX)
		return hs_draft_refuse(draft, "flow", "unknown_name", expected,
				"no entry of traffic is called \"%.64s\"", name);
	for (*flow = 0; *flow < scenario->n_flows; (*flow)++)
		if (scenario->flows[*flow].traffic == traffic &&
				scenario->flows[*flow].reverse == reverse)
			return 0;
	return hs_draft_refuse(draft, "flow", "unknown_name", "a flow that a request monitors",
			"no request monitors \"%.64s\"", text);
}

static const struct hs_schema_word hop_words[] = {{"e2e", E2E}, {"*", HS_DRAFT_ALL}, {NULL, 0}};

#define TEXT	       "{'type': 'string'}"
#define ENTRY(member)  HS_SCHEMA_MEMBER(struct entry, member)
#define EXPECT(member) ENTRY(expect.member)
#define ANY	       .least = -MAX_VALUE, .most = MAX_VALUE
static const struct hs_schema_field expect_fields[] = {
		{"metric", HS_SCHEMA_CUSTOM, EXPECT(metric), .read = read_metric, .required = true,
				.shape = TEXT, .expected = "the name of a metric"},
		{"hop", HS_SCHEMA_NAME, ENTRY(hop), .names = &hs_draft_link_names,
				.words = hop_words,
				.expected = "the name of a link, \"e2e\" or \"*\""},
		{"flow", HS_SCHEMA_JSON, ENTRY(flow), .shape = TEXT},
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
	if (!expect->has_value && !expect->has_min && !expect->has_max)
		return hs_draft_refuse(draft, NULL, "missing_field", "value, min or max",
				"nothing is expected of the metric");
	if (hs_draft_has(draft, "tolerance") && !expect->has_value)
		return hs_draft_refuse(draft, "tolerance", "conflict", "only beside value",
				"there is no value to be near");
	if (expect->has_min && expect->has_max && expect->min > expect->max)
		return hs_draft_refuse(draft, "min", "out_of_range", "at most max",
				"%.12g is above the maximum of %.12g", expect->min, expect->max);
	return 0;
}

static int take_expect(void *into, const struct hs_schema_item *item, struct hs_error *err)
{
	struct hs_draft *draft = hs_draft_begin(into, item, err);
	struct entry *entry = item->read;
	struct hs_scenario_expect *expect = &entry->expect;

	expect->has_value = hs_draft_has(draft, "value");
	expect->has_min = hs_draft_has(draft, "min");
	expect->has_max = hs_draft_has(draft, "max");
	if (entry->hop != HS_NO_INDEX)
		snprintf(expect->hop, sizeof(expect->hop), "%s",
				json_string_value(json_object_get(item->value, "hop")));
	if (entry->flow && read_flow(draft, entry->flow, &expect->flow) < 0)
		return -EINVAL;
	if (check_bounds(draft, expect) < 0)
		return -EINVAL;
	return HS_DRAFT_APPEND(draft, expects, expect);
}

const struct hs_schema_list hs_draft_expect_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = expect_fields},
		.item_bytes = sizeof(struct entry),
		.fresh = &(const struct entry){.expect = {.flow = HS_NO_INDEX, .node = HS_NO_INDEX},
				.hop = HS_NO_INDEX},
		.take = take_expect};

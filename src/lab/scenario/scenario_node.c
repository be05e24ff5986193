// SPDX-License-Identifier: BSD-3-Clause
// The nodes of a scenario and their clocks.
#include "scenario_parts.h"

#include "config_partial.h"
#include "flexint.h"

#include <errno.h>

#define MAX_OFFSET_NS INT64_C(1000000000000000000) // 31 years
#define MAX_DRIFT_PPB INT64_C(100000000)	   // a tenth
#define MAX_ERROR_NS  INT64_C(1000000000000)

static const struct hs_schema_word layout_words[] = {
		{"aligned", HS_LAYOUT_ALIGNED},
		{"paper", HS_LAYOUT_PAPER},
		{NULL, 0},
};
static const struct hs_schema_word correction_words[] = {
		{"step", false},
		{"slew", true},
		{NULL, 0},
};

#define NODE(member) HS_SCHEMA_MEMBER(struct hs_scenario_node, member)
static const struct hs_schema_field sync_fields[] = {
		{"interval_s", HS_SCHEMA_SECONDS, NODE(clock.sync.interval_ns), .required = true,
				.least = 0.001, .most = HS_SCENARIO_MAX_S,
				.expected = "seconds between two polls"},
		{"first_s", HS_SCHEMA_SECONDS, NODE(clock.sync.first_ns), .least = 0,
				.most = HS_SCENARIO_MAX_S},
		{"error_ns", HS_SCHEMA_UINT, NODE(clock.sync.error_ns), .max = MAX_ERROR_NS},
		{"frequency_error_ppb", HS_SCHEMA_UINT, NODE(clock.sync.frequency_error_ppb),
				.max = MAX_DRIFT_PPB},
		{"correction", HS_SCHEMA_WORD, NODE(clock.sync.slew), .words = correction_words,
				.expected = "step or slew"},
		{"step_threshold_ns", HS_SCHEMA_UINT, NODE(clock.sync.step_threshold_ns),
				.max = MAX_ERROR_NS},
		{NULL},
};

static const struct hs_schema_field clock_fields[] = {
		{"offset_ns", HS_SCHEMA_INT, NODE(clock.offset_ns), .min = (uint64_t)-MAX_OFFSET_NS,
				.max = MAX_OFFSET_NS},
		{"drift_ppb", HS_SCHEMA_INT, NODE(clock.drift_ppb), .min = (uint64_t)-MAX_DRIFT_PPB,
				.max = MAX_DRIFT_PPB},
		{"drift_sigma_ppb", HS_SCHEMA_UINT, NODE(clock.drift_sigma_ppb),
				.max = MAX_DRIFT_PPB},
		{"sync", HS_SCHEMA_OBJECT, .fields = sync_fields},
		{NULL},
};

static const struct hs_schema_field node_fields[] = {
		{"id", HS_SCHEMA_UINT, NODE(id), .required = true, .max = UINT16_MAX,
				.expected = "an integer from 0 to 65535"},
		{"name", HS_SCHEMA_TEXT, NODE(name), .required = true, .min = 1, .max = 31,
				.expected = "a string of 1 to 31 bytes"},
		{"layout", HS_SCHEMA_WORD, NODE(layout), .words = layout_words,
				.expected = "aligned or paper"},
		{"clock", HS_SCHEMA_OBJECT, .fields = clock_fields},
		{"fields", HS_SCHEMA_OBJECT, NODE(partial), .fields = hs_partial_fields},
		{NULL},
};

const struct hs_schema_list hs_scenario_node_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = node_fields}};

int hs_scenario_add_node(struct hs_scenario_draft *draft, const struct hs_scenario_node *node,
		const char *path, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;

	int rc = hs_scenario_names_add(
			&draft->node_names, node->name, scenario->n_nodes, AT(path, "name"), err);
	if (rc == 0)
		scenario->nodes[scenario->n_nodes++] = *node;
	return rc;
}

static int read_node(struct hs_scenario_draft *draft, json_t *item, size_t i, const char *at,
		struct hs_error *err)
{
	struct hs_scenario_node node = {.layout = HS_LAYOUT_ALIGNED};
	int rc = hs_schema_read(node_fields, item, at, &node, err);

	(void)i;
	return rc ? rc : hs_scenario_add_node(draft, &node, at, err);
}

int hs_scenario_read_nodes(struct hs_scenario_draft *draft, struct hs_error *err)
{
	struct hs_scenario *scenario = &draft->scenario;
	// This is checked before memory is allocated for the nodes.
	bool routed = scenario->forwarding == HS_LAB_SHORTEST_PATH;
	size_t n;
	int rc = hs_scenario_list(draft->nodes, "nodes", routed ? 560 : 1200, &n, err);

	if (rc == 0 && n == 0)
		rc = hs_error_set(err, "missing_field", "nodes", "at least one node, or a topology",
				"the scenario has no nodes");
	if (rc < 0)
		return rc;
	scenario->nodes = hs_scenario_room(n, sizeof(*scenario->nodes), err);
	if (!scenario->nodes)
		return -ENOMEM;
	return hs_scenario_each(draft, draft->nodes, "nodes", read_node, err);
}

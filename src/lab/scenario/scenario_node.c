// SPDX-License-Identifier: BSD-3-Clause
// The nodes of a scenario and their clocks.
#include "scenario_draft.h"

#include "config_partial.h"

#define MAX_OFFSET_NS INT64_C(1000000000000000000) // 31 years
#define MAX_DRIFT_PPB INT64_C(100000000)	   // a tenth
#define MAX_ERROR_NS  INT64_C(1000000000000)
#define MAX_PPS	      1000000000
#define MAX_ROUTED    560 // nodes that have routes to all others

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

#define NODE(member)  HS_SCHEMA_MEMBER(struct hs_scenario_node, member)
#define CLOCK(member) NODE(clock.member)
#define SYNC(member)  NODE(clock.sync.member)
static const struct hs_schema_field sync_fields[] = {
		{"interval_s", HS_SCHEMA_SECONDS, SYNC(interval_ns), .required = true,
				.least = 0.001, .most = HS_DRAFT_MAX_S,
				.expected = "seconds between two polls"},
		{"first_s", HS_SCHEMA_SECONDS, SYNC(first_ns), .most = HS_DRAFT_MAX_S},
		{"error_ns", HS_SCHEMA_UINT, SYNC(error_ns), .max = MAX_ERROR_NS},
		{"frequency_error_ppb", HS_SCHEMA_UINT, SYNC(frequency_error_ppb),
				.max = MAX_DRIFT_PPB},
		{"correction", HS_SCHEMA_WORD, SYNC(slew), .words = correction_words},
		{"step_threshold_ns", HS_SCHEMA_UINT, SYNC(step_threshold_ns), .max = MAX_ERROR_NS},
		{NULL},
};

static const struct hs_schema_field clock_fields[] = {
		{"offset_ns", HS_SCHEMA_INT, CLOCK(offset_ns), .min = (uint64_t)-MAX_OFFSET_NS,
				.max = MAX_OFFSET_NS},
		{"drift_ppb", HS_SCHEMA_INT, CLOCK(drift_ppb), .min = (uint64_t)-MAX_DRIFT_PPB,
				.max = MAX_DRIFT_PPB},
		{"drift_sigma_ppb", HS_SCHEMA_UINT, CLOCK(drift_sigma_ppb), .max = MAX_DRIFT_PPB},
		{"sync", HS_SCHEMA_OBJECT, .fields = sync_fields},
		{NULL},
};

static const struct hs_schema_word rate_words[] = {{"port", false}, {"node", true}, {NULL, 0}};

#define SERVICE_ROWS                                                                               \
	{"rate_of", HS_SCHEMA_WORD, NODE(rate_of_node), .words = rate_words,                       \
			.expected = "port or node"},                                               \
			{"rate_pps", HS_SCHEMA_UINT, NODE(rate_pps), .max = MAX_PPS},              \
	{                                                                                          \
		"queue_packets", HS_SCHEMA_UINT, NODE(queue_packets), .min = 1,                    \
								      .max = HS_PORT_QUEUE_MAX     \
	}
const struct hs_schema_field hs_draft_service_fields[] = {SERVICE_ROWS, {NULL}};

static const struct hs_schema_field node_fields[] = {
		{"id", HS_SCHEMA_UINT, NODE(id), .required = true, .max = UINT16_MAX},
		{"name", HS_SCHEMA_TEXT, NODE(name), .required = true, .min = 1, .max = 31},
		{"layout", HS_SCHEMA_WORD, NODE(layout), .words = layout_words},
		{"clock", HS_SCHEMA_OBJECT, .fields = clock_fields},
		{"fields", HS_SCHEMA_OBJECT, NODE(partial), .fields = hs_partial_fields},
		SERVICE_ROWS,
		{NULL},
};

int hs_draft_add_node(struct hs_draft *draft, const struct hs_scenario_node *node)
{
	return hs_draft_add_name(draft, HS_NAME_NODE, node->name, draft->scenario.n_nodes)
			       ?: HS_DRAFT_APPEND(draft, nodes, node);
}

static int take_node(void *into, const struct hs_schema_item *item, struct hs_error *err)
{
	struct hs_draft *draft = hs_draft_begin(into, item, err);
	size_t n = json_array_size(json_object_get(draft->root, "nodes"));

	if (draft->scenario.forwarding == HS_LAB_SHORTEST_PATH && n > MAX_ROUTED)
		return hs_error_set(
				err, "out_of_range", "nodes", "at most 560", "the list has %zu", n);
	return hs_draft_add_node(draft, item->read);
}

const struct hs_schema_list hs_draft_node_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = node_fields},
		.item_bytes = sizeof(struct hs_scenario_node),
		.fresh = &(const struct hs_scenario_node)HS_DRAFT_NEW_NODE,
		.take = take_node};

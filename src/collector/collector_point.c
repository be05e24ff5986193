// SPDX-License-Identifier: BSD-3-Clause
#include "collector_point.h"

#include "collector_shape.h"

// ---- words ----

static const struct hs_schema_word kind_words[] = {
		{"flow", HS_COLLECT_POINT_FLOW},
		{"hop_latency", HS_COLLECT_POINT_HOP},
		{"queue_occupancy", HS_COLLECT_POINT_OCCUPANCY},
		{"queue_congestion", HS_COLLECT_POINT_CONGESTION},
		{"link_utilisation", HS_COLLECT_POINT_LINK},
		{"drop", HS_COLLECT_POINT_DROP},
		{NULL, 0},
};
static const struct hs_schema_word cause_words[] = {
		{"new", HS_COLLECT_NEW},
		{"path", HS_COLLECT_PATH},
		{"change", HS_COLLECT_CHANGE},
		{"gap", HS_COLLECT_GAP},
		{"push", HS_COLLECT_PUSH},
		{NULL, 0},
};

const char *hs_collector_kind_name(enum hs_collect_point_kind kind)
{
	return kind_words[kind].text;
}

const char *hs_collector_cause_name(enum hs_collect_cause cause)
{
	return cause_words[cause].text;
}

// ---- points ----

struct shown_point {
	const struct hs_collect_point *point;
	const char *unit;
	uint32_t node_id, id;
};

static const struct hs_collect_point *point_of(const void *from)
{
	return ((const struct shown_point *)from)->point;
}

static bool is_of_flow(const void *from)
{
	return point_of(from)->kind == HS_COLLECT_POINT_FLOW;
}

static bool point_has_node(const void *from)
{
	return !is_of_flow(from) && point_of(from)->node_id != UINT32_MAX;
}

static bool is_hop(const void *from)
{
	return point_of(from)->kind == HS_COLLECT_POINT_HOP;
}

static bool is_queue(const void *from)
{
	return point_of(from)->id != UINT32_MAX &&
	       (point_of(from)->kind == HS_COLLECT_POINT_OCCUPANCY ||
			       point_of(from)->kind == HS_COLLECT_POINT_CONGESTION);
}

static bool is_link(const void *from)
{
	return point_of(from)->kind == HS_COLLECT_POINT_LINK;
}

static bool is_drop(const void *from)
{
	return point_of(from)->kind == HS_COLLECT_POINT_DROP;
}

static bool has_value(const void *from)
{
	return ((const struct hs_collect_point *)from)->has_value;
}

static bool is_change(const void *from)
{
	return has_value(from) &&
	       ((const struct hs_collect_point *)from)->cause == HS_COLLECT_CHANGE;
}

#define POINT(...) HS_SCHEMA_ROW(struct hs_collect_point, __VA_ARGS__)
static const struct hs_schema_field point_rows[] = {
		POINT(WORD, kind, "what it is a value of", .words = kind_words),
		POINT(WORD, cause, "why it was told", .words = cause_words),
		POINT(UINT, value, "the value, in the unit beside it", .given = has_value),
		POINT(UINT, before, "the value of the event before", .given = is_change),
		POINT(BOOL, by_q, "congestion that Q of the report tells: 1 or 0",
				.optional = true),
		POINT(UINT, device_ns, "the node's time of it", .optional = true),
		{NULL},
};
#define SHOWN_POINT(...) HS_SCHEMA_ROW_AS(struct shown_point, __VA_ARGS__)
const struct hs_schema_field hs_collector_point_fields[] = {
		{"", HS_SCHEMA_MEMBERS, .offset = offsetof(struct shown_point, point),
				.behind = true, .fields = point_rows},
		SHOWN_POINT(STRING, "unit", unit, "of the value", .optional = true),
		SHOWN_POINT(UINT, "node_id", node_id, "the node", .given = point_has_node),
		SHOWN_POINT(UINT, "hop", id, "the hop's place in the path, the source is 0",
				.given = is_hop),
		SHOWN_POINT(UINT, "queue_id", id, "the queue", .given = is_queue),
		SHOWN_POINT(UINT, "port", id, "the port that packets leave by", .given = is_link),
		SHOWN_POINT(UINT, "reason_id", id, "of a drop, as the node numbers it",
				.given = is_drop),
		{NULL},
};

const char *hs_collector_point_unit(const struct hs_collector_config *config,
		const struct hs_collect_flow *flow, const struct hs_collect_point *point)
{
	const struct hs_collector_units *units = hs_collector_units_of(config, point->node_id);

	switch (point->kind) {
	case HS_COLLECT_POINT_FLOW:
		return hs_collector_flow_unit(config, flow);
	case HS_COLLECT_POINT_HOP:
		return hs_collector_latency_words[units->latency].text;
	case HS_COLLECT_POINT_OCCUPANCY:
		return hs_collector_occupancy_words[units->occupancy].text;
	case HS_COLLECT_POINT_LINK:
		return hs_collector_utilisation_words[units->utilisation].text;
	default:
		return NULL;
	}
}

json_t *hs_collector_point_json(const struct hs_collector_config *config,
		const struct hs_collect_flow *flow, const struct hs_collect_point *point)
{
	const struct shown_point shown = {point, hs_collector_point_unit(config, flow, point),
			point->node_id, point->id};

	return hs_schema_print(hs_collector_point_fields, &shown);
}

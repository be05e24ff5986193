// SPDX-License-Identifier: BSD-3-Clause
#include "collector_publish.h"

#include "collector_influx.h"
#include "collector_point.h"
#include "collector_record.h"
#include "collector_shape.h"

#include "bus.h"
#include "os_clock.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define LOOK_AT_TIME 8 // events between two looks at the clock
#define NO_NODE	     UINT32_MAX

// ---- messages ----

// Publishes {key: content} and takes the content over.
static void publish(
		struct hs_collector *collector, const char *topic, const char *key, json_t *content)
{
	json_object_set_new(content, "seq", json_integer((json_int_t)++collector->seq));
	json_object_set_new(content, "boot_id", json_string(collector->boot_id));
	json_t *message = json_pack("{s:o}", key, content);
	char *text = message ? json_dumps(message, HS_API_DUMP) : NULL;
	bool sent = text && hs_bus_publish(collector->bus, topic, text) == 0;

	collector->outcome.published += sent;
	collector->outcome.publish_lost += !sent;
	free(text);
	json_decref(message);
}

static void tell(struct hs_collector *collector, const char *kind, json_t *details,
		const char *format, va_list args)
{
	char topic[80];
	json_t *event = hs_event_log_add(
			&collector->events, collector->now_ns, kind, details, format, args);

	snprintf(topic, sizeof(topic), "event.%s", kind);
	if (event && collector->publishes)
		publish(collector, topic, "event", event);
	else
		json_decref(event);
}

void hs_collector_event(void *owner, const char *kind, json_t *details, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	tell(owner, kind, details, format, args);
	va_end(args);
}

// ---- events of the tables ----

// Returns the kind of the event that a point belongs to. NULL: pushed values are no event.
static const char *kind_of(const struct hs_collect_point *point)
{
	if (point->cause == HS_COLLECT_PUSH)
		return NULL;
	if (point->kind != HS_COLLECT_POINT_FLOW)
		return hs_collector_kind_name(point->kind);
	switch (point->cause) {
	case HS_COLLECT_NEW:
		return "flow_new";
	case HS_COLLECT_PATH:
		return "path_change";
	case HS_COLLECT_GAP:
		return "flow_gap";
	default:
		return "flow_latency";
	}
}

// Writes the place of a point. Ids that the node did not report are left out.
static void write_place(const struct hs_collect_point *point, char *text, size_t size)
{
	static const char *const ids[HS_COLLECT_POINT_KINDS] = {
			[HS_COLLECT_POINT_OCCUPANCY] = "queue",
			[HS_COLLECT_POINT_CONGESTION] = "queue",
			[HS_COLLECT_POINT_LINK] = "port",
			[HS_COLLECT_POINT_DROP] = "reason",
	};
	char node[24] = "a node", id[32] = "";

	if (point->node_id != NO_NODE)
		snprintf(node, sizeof(node), "node %" PRIu32, point->node_id);
	if (ids[point->kind] && point->id != UINT32_MAX)
		snprintf(id, sizeof(id), ", %s %" PRIu32, ids[point->kind], point->id);
	snprintf(text, size, " of %s%s", node, id);
}

static void write_point(const struct hs_collector *collector, const struct hs_collect_flow *flow,
		const struct hs_collect_point *point, char *text, size_t size)
{
	const char *unit = hs_collector_point_unit(collector->config, flow, point);
	char value[64] = "", before[64] = "", where[64] = "";

	if (point->has_value)
		snprintf(value, sizeof(value), " is %" PRIu64 "%s%s", point->value, unit ? " " : "",
				unit ? unit : "");
	if (point->has_value && point->cause == HS_COLLECT_CHANGE)
		snprintf(before, sizeof(before), ", was %" PRIu64, point->before);
	if (point->kind != HS_COLLECT_POINT_FLOW)
		write_place(point, where, sizeof(where));
	snprintf(text, size, "%s%s%s%s",
			point->kind == HS_COLLECT_POINT_FLOW ? "flow latency"
							     : hs_collector_kind_name(point->kind),
			where, value, before);
}

// Publishes all points of a kind in one message.
static void tell_kind(struct hs_collector *collector, const struct hs_collect_event *event,
		const char *kind, unsigned first)
{
	json_t *points = json_array(), *details = json_object();
	char flow[128] = "", text[256], more[32] = "";

	for (unsigned i = first; i < event->n_points; i++) {
		const char *own = kind_of(&event->points[i]);
		if (own == kind)
			json_array_append_new(
					points, hs_collector_point_json(collector->config,
								event->flow, &event->points[i]));
	}
	write_point(collector, event->flow, &event->points[first], text, sizeof(text));
	if (json_array_size(points) > 1)
		snprintf(more, sizeof(more), ", and %zu more", json_array_size(points) - 1);
	if (event->flow) {
		hs_collector_key_text(&event->flow->key, flow, sizeof(flow));
		json_object_set_new(details, "flow",
				first == 0 && event->points[0].kind == HS_COLLECT_POINT_FLOW
						? hs_collector_flow_json(
								  collector->config, event->flow)
						: hs_collector_key_json(&event->flow->key));
	}
	json_object_set_new(details, "points", points);
	hs_collector_event(collector, kind, details, "%s%s%s%s%s", text, more, flow[0] ? " (" : "",
			flow, flow[0] ? ")" : "");
}

static void tell_events(struct hs_collector *collector, const struct hs_collect_event *event)
{
	const char *told[HS_COLLECT_POINT_KINDS + HS_COLLECT_CAUSES];
	unsigned n_told = 0;

	for (unsigned i = 0; i < event->n_points; i++) {
		const char *kind = kind_of(&event->points[i]);
		unsigned j = 0;
		while (j < n_told && told[j] != kind)
			j++;
		if (!kind || j < n_told)
			continue;
		told[n_told++] = kind;
		tell_kind(collector, event, kind, i);
	}
}

// ---- values of nodes ----

struct hop_message {
	uint32_t node_id;
	int64_t ts_ns;
	json_t *flow, *points;
	uint64_t seq;
	const char *boot_id;
};

#define HOP(...) HS_SCHEMA_ROW(struct hop_message, __VA_ARGS__)
static const struct hs_schema_field hop_fields[] = {
		HOP(UINT, node_id, "the node"),
		HOP(INT, ts_ns, "when the collector got the report, of pushed values as well"),
		HOP(TAKEN, flow, "the flow whose packet told it", .optional = true,
				.fields = hs_collector_key_fields),
		HOP(TAKEN, points, "values of the node that came together",
				.items = hs_collector_point_fields),
		{NULL},
};
// The fields that publishing adds.
static const struct hs_schema_field origin_fields[] = {
		HOP(UINT, seq, "counts messages"),
		HOP(STRING, boot_id, "of the collector"),
		{NULL},
};

json_t *hs_collector_hop_schema(void)
{
	static const struct hs_schema_field published[] = {
			{"", HS_SCHEMA_MEMBERS, .fields = hop_fields},
			{"", HS_SCHEMA_MEMBERS, .fields = origin_fields},
			{NULL},
	};
	static const struct hs_schema_field message[] = {
			{"hop", HS_SCHEMA_OBJECT, .fields = published, .help = "values of a node"},
			{NULL},
	};
	return hs_schema_describe_printed(message);
}

static void publish_node(struct hs_collector *collector, const struct hs_collect_event *event,
		unsigned first)
{
	uint32_t node_id = event->points[first].node_id;
	struct hop_message hop = {.node_id = node_id,
			.ts_ns = event->told_ns,
			.flow = event->flow ? hs_collector_key_json(&event->flow->key) : NULL,
			.points = json_array()};
	char topic[32];

	for (unsigned i = first; i < event->n_points; i++) {
		const struct hs_collect_point *point = &event->points[i];
		if (point->kind != HS_COLLECT_POINT_FLOW && point->node_id == node_id)
			json_array_append_new(hop.points, hs_collector_point_json(collector->config,
									  event->flow, point));
	}
	snprintf(topic, sizeof(topic), "hop.%" PRIu32, node_id);
	publish(collector, topic, "hop", hs_schema_print(hop_fields, &hop));
}

static bool was_before(const struct hs_collect_event *event, unsigned index)
{
	for (unsigned i = 0; i < index; i++) {
		if (event->points[i].kind != HS_COLLECT_POINT_FLOW &&
				event->points[i].node_id == event->points[index].node_id)
			return true;
	}
	return false;
}

static void publish_nodes(struct hs_collector *collector, const struct hs_collect_event *event)
{
	for (unsigned i = 0; i < event->n_points; i++) {
		const struct hs_collect_point *point = &event->points[i];
		if (point->kind != HS_COLLECT_POINT_FLOW && point->node_id != NO_NODE &&
				!was_before(event, i))
			publish_node(collector, event, i);
	}
}

// ---- the ring ----

unsigned hs_collector_take_events(struct hs_collector *collector, unsigned most, int64_t limit_ns)
{
	int64_t end_ns = hs_os_clock_spent_ns() + limit_ns;
	struct hs_collect_event event;
	unsigned n = 0;

	while (n < most && hs_collector_record_take(collector->worker.ring, &event)) {
		collector->now_ns = event.time_ns;
		hs_collector_hops_note(&collector->hops, &event);
		tell_events(collector, &event);
		hs_collector_influx_event(collector->influx, &event);
		if (collector->publishes)
			publish_nodes(collector, &event);
		collector->outcome.events++;
		collector->outcome.points += event.n_points;
		hs_collector_record_drop(collector->worker.ring);
		if (++n % LOOK_AT_TIME == 0 && hs_os_clock_spent_ns() >= end_ns)
			break;
	}
	return n;
}

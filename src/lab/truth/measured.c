// SPDX-License-Identifier: BSD-3-Clause
#include "measured.h"

#include "array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

// ---- hops ----

const json_t *hs_measured_hop(const struct hs_measured_window *window, uint32_t index)
{
	if (index == window->n_hops)
		return json_object_get(window->body, "e2e");
	return json_array_get(json_object_get(window->body, "hops"), index);
}

int64_t hs_measured_integer(const json_t *hop, const char *key)
{
	return json_integer_value(json_object_get(hop, key));
}

// Returns the id of the node at which the hop begins. The source is 0 in the lab's rows, whether or
// not the format has its id.
static uint16_t from_of(const struct hs_measured_window *window, const json_t *hop)
{
	const json_t *source = json_array_get(json_object_get(window->body, "path"), 0);
	json_int_t from = hs_measured_integer(hop, "from");

	return from == json_integer_value(source) ? 0 : (uint16_t)from;
}

struct hs_measured_ends hs_measured_ends(const struct hs_measured_window *window, uint32_t index)
{
	const json_t *hop = hs_measured_hop(window, index);
	if (index == window->n_hops)
		return (struct hs_measured_ends){true, 0, window->node_id};
	return (struct hs_measured_ends){
			false, from_of(window, hop), (uint16_t)hs_measured_integer(hop, "to")};
}

double hs_measured_number(const json_t *hop, enum hs_lab_metric_kind kind)
{
	if (kind == HS_LAB_SPAN) {
		if (!json_object_get(hop, "span_end_ns"))
			return NAN;
		return (double)(hs_measured_integer(hop, "span_end_ns") -
				hs_measured_integer(hop, "span_start_ns"));
	}
	const json_t *value = json_object_get(hop, hs_lab_kinds[kind].word);
	if (json_is_object(value))
		value = json_object_get(value, "mean");
	return value ? json_number_value(value) : NAN;
}

// ---- flows ----

int hs_measured_create(const struct hs_scenario *scenario, struct hs_measured **out)
{
	size_t n = scenario->n_flows;
	struct hs_measured *measured =
			calloc(1, sizeof(*measured) + n * sizeof(measured->flows[0]));
	if (!measured)
		return -ENOMEM;
	measured->scenario = scenario;
	for (uint32_t i = 0; i < n; i++) {
		if (hs_u32_map_add(&measured->by_ns_id, scenario->flows[i].ns_id, i) < 0) {
			hs_measured_destroy(measured);
			return -ENOMEM;
		}
	}
	*out = measured;
	return 0;
}

void hs_measured_destroy(struct hs_measured *measured)
{
	if (!measured)
		return;
	for (size_t i = 0; i < measured->scenario->n_flows; i++) {
		free(measured->flows[i].trips);
		json_decref(measured->flows[i].run.body);
	}
	for (size_t i = 0; i < measured->n_windows; i++)
		json_decref(measured->windows[i].body);
	free(measured->windows);
	hs_u32_map_fini(&measured->by_ns_id);
	free(measured);
}

// ---- windows ----

// Returns the place of a window in the order: by start, then flow, then node.
static __int128 order_of(const struct hs_measured_window *window)
{
	return (__int128)window->start_ns * ((__int128)1 << 64) +
	       ((uint64_t)window->flow << 16 | window->node_id);
}

// Inserts a window, searching from the end because windows come almost in their order.
static int keep_window(struct hs_measured *measured, const struct hs_measured_window *window)
{
	size_t at = measured->n_windows;
	while (at && order_of(&measured->windows[at - 1]) > order_of(window))
		at--;
	struct hs_measured_window *place;
	if (at && order_of(&measured->windows[at - 1]) == order_of(window)) {
		place = &measured->windows[at - 1];
		json_decref(place->body);
	} else if (HS_ARRAY_ADD(measured->windows, measured->n_windows)) {
		place = &measured->windows[at];
		memmove(place + 1, place, (measured->n_windows - 1 - at) * sizeof(*place));
	} else {
		return -ENOMEM;
	}
	*place = *window;
	json_incref(place->body);
	return 0;
}

// Returns what is added to the times of a node that a window of the flow names. Several nodes may
// have id 0; of these, the sink is meant.
static int64_t ahead_of(const struct hs_measured *measured, uint32_t flow, uint16_t node_id)
{
	const struct hs_scenario *scenario = measured->scenario;
	uint32_t sink = scenario->flows[flow].sink, index = 0;

	if (scenario->nodes[sink].id == node_id)
		return measured->ahead_ns[sink];
	while (index < scenario->n_nodes && scenario->nodes[index].id != node_id)
		index++;
	return index < scenario->n_nodes ? measured->ahead_ns[index] : 0;
}

static void move_window(const struct hs_measured *measured, struct hs_measured_window *window)
{
	static const char *const keys[] = {"span_start_ns", "span_end_ns"};
	int64_t ahead_ns = ahead_of(measured, window->flow, window->node_id);
	window->start_ns += ahead_ns;
	window->end_ns += ahead_ns;
	for (uint32_t i = 0; i < 2 * (window->n_hops + 1); i++) {
		json_t *time = json_object_get(hs_measured_hop(window, i / 2), keys[i % 2]);
		ahead_ns = ahead_of(measured, window->flow, hs_measured_ends(window, i / 2).to);
		json_integer_set(time, json_integer_value(time) + ahead_ns);
	}
}

// Reads a window from its body, which is borrowed. A reply of qos_get names no publisher: the sink
// is the last node of the path.
static int read_window(json_t *body, uint32_t flow, struct hs_measured_window *window)
{
	struct hs_qos_window read;
	const json_t *node_id = json_object_get(body, "node_id");
	int rc = hs_qos_window_read(body, &read);
	if (rc == 0 && read.n_path < 2)
		rc = -EINVAL;
	if (rc == 0)
		*window = (struct hs_measured_window){
				.flow = flow,
				.node_id = (uint16_t)(node_id ? json_integer_value(node_id)
							      : read.path[read.n_path - 1]),
				.window_ns = read.window_ns,
				.start_ns = read.start_ns,
				.end_ns = read.end_ns,
				.reports = read.reports,
				.stale = read.stale,
				.path_changed = read.path_changed,
				.clock_known = json_object_size(json_object_get(body, "clock")) > 0,
				.synchronised = read.clock.synchronised,
				.flags = read.flags,
				.n_hops = read.n_hops,
				.body = body,
		};
	hs_qos_window_free(&read);
	return rc;
}

static int take_window(struct hs_measured *measured, uint32_t flow, json_t *body)
{
	struct hs_measured_window window;
	int rc = read_window(body, flow, &window);
	if (rc < 0 || window.window_ns != measured->scenario->window_ns)
		return rc;
	move_window(measured, &window);
	return keep_window(measured, &window);
}

int hs_measured_take_run(struct hs_measured *measured, json_t *qos_report)
{
	struct hs_measured_window window;
	uint32_t flow = hs_u32_map_find(
			&measured->by_ns_id, (uint32_t)hs_measured_integer(qos_report, "ns_id"));
	int rc = read_window(qos_report, flow, &window);
	if (rc < 0 || flow == HS_U32_MAP_NONE)
		return rc;
	json_decref(measured->flows[flow].run.body);
	measured->flows[flow].run = window;
	json_incref(qos_report);
	return 0;
}

// ---- reports ----

// Returns whether the flow is of pings. Round trips are computed for pings only.
static bool is_ping(const struct hs_scenario *scenario, uint32_t flow)
{
	uint32_t traffic = scenario->flows[flow].traffic;
	return traffic != HS_NO_INDEX && scenario->traffic[traffic].kind == HS_TRAFFIC_PING;
}

static int take_report(struct hs_measured *measured, uint32_t index, json_t *body)
{
	const struct hs_scenario *scenario = measured->scenario;
	const struct hs_scenario_flow *of = &scenario->flows[index];
	struct hs_measured_flow *flow = &measured->flows[index];
	json_int_t source_ns = INT64_MIN, sink_ns;
	if (json_unpack(body, "{s?{s?I}, s:{s:I}}", "e2e", "ts_ns", &source_ns, "sink", "ts_ns",
			    &sink_ns) < 0)
		return -EINVAL;
	if (source_ns == INT64_MIN) // the source wrote none
		return 0;
	const struct hs_trip trip = {
			.source_ns = source_ns + measured->ahead_ns[of->source],
			.sink_ns = sink_ns + measured->ahead_ns[of->sink],
	};
	return HS_ARRAY_APPEND(flow->trips, flow->n_trips, trip) ? 0 : -ENOMEM;
}

// ---- messages ----

int hs_measured_take(struct hs_measured *measured, const char *topic, const char *json)
{
	bool window = strncmp(topic, "qos.", 4) == 0, report = strncmp(topic, "report.", 7) == 0;
	if (!window && !report)
		return 0;
	uint32_t ns_id = (uint32_t)strtoul(strchr(topic, '.') + 1, NULL, 10);
	uint32_t flow = hs_u32_map_find(&measured->by_ns_id, ns_id);
	if (flow == HS_U32_MAP_NONE || (report && !is_ping(measured->scenario, flow)))
		return 0;
	json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
	json_t *body = json_object_get(root, window ? "qos_report" : "int_report");
	int rc = -EINVAL;
	if (hs_measured_integer(body, "ns_id") == ns_id)
		rc = window ? take_window(measured, flow, body) : take_report(measured, flow, body);
	json_decref(root);
	return rc;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "measured.h"

#include "u32_map.h"
#include "lab_array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct flow {
	bool paired;	       // its trips are needed
	uint16_t source, sink; // node ids of its ends
	struct hs_trip *trips;
	size_t n_trips, trips_capacity;
	struct hs_measured_window *run;
};

struct hs_measured {
	int64_t window_ns;
	struct hs_u32_map by_ns_id; // -> flows[]
	struct flow *flows;
	uint32_t n_flows;
	struct hs_measured_window **windows; // in order
	size_t n_windows, windows_capacity;
	int64_t ahead_ns[UINT16_MAX + 1]; // of nodes by id: hs_measured_set_ahead
};

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

bool hs_measured_has(const json_t *hop, const char *key)
{
	return json_object_get(hop, key) != NULL;
}

uint16_t hs_measured_from(const struct hs_measured_window *window, uint32_t index)
{
	if (index == window->n_hops)
		return 0;
	return (uint16_t)hs_measured_integer(hs_measured_hop(window, index), "from");
}

uint16_t hs_measured_to(const struct hs_measured_window *window, uint32_t index)
{
	if (index == window->n_hops)
		return window->node_id;
	return (uint16_t)hs_measured_integer(hs_measured_hop(window, index), "to");
}

double hs_measured_number(const json_t *hop, enum hs_lab_metric_kind kind)
{
	if (kind == HS_LAB_SPAN) {
		if (!hs_measured_has(hop, "span_end_ns"))
			return NAN;
		return (double)(hs_measured_integer(hop, "span_end_ns") -
				hs_measured_integer(hop, "span_start_ns"));
	}
	const json_t *value = json_object_get(hop, hs_lab_metric_word(kind));
	if (kind == HS_LAB_DELAY)
		value = json_object_get(value, "mean");
	return value ? json_number_value(value) : NAN;
}

// ---- making ----

static uint16_t node_of(const struct hs_scenario *scenario, uint32_t host)
{
	return scenario->nodes[scenario->hosts[host].at].id;
}

// Only the trips of pings are needed, because only pings return.
static void find_ends(struct hs_measured *measured, const struct hs_scenario *scenario)
{
	for (uint32_t i = 0; i < measured->n_flows; i++) {
		const struct hs_scenario_flow *flow = &scenario->flows[i];
		if (flow->traffic == HS_NO_INDEX)
			continue;
		const struct hs_scenario_traffic *traffic = &scenario->traffic[flow->traffic];
		measured->flows[i].paired = traffic->kind == HS_TRAFFIC_PING;
		measured->flows[i].source =
				node_of(scenario, flow->reverse ? traffic->to : traffic->from);
		measured->flows[i].sink =
				node_of(scenario, flow->reverse ? traffic->from : traffic->to);
	}
}

int hs_measured_create(const struct hs_scenario *scenario, struct hs_measured **out)
{
	struct hs_measured *measured = calloc(1, sizeof(*measured));
	if (!measured)
		return -ENOMEM;
	measured->window_ns = scenario->window_ns;
	measured->n_flows = (uint32_t)scenario->n_flows;
	measured->flows = calloc(scenario->n_flows + 1, sizeof(*measured->flows));
	int rc = measured->flows ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < measured->n_flows && rc == 0; i++)
		rc = hs_u32_map_add(&measured->by_ns_id, scenario->flows[i].ns_id, i);
	if (rc < 0) {
		hs_measured_destroy(measured);
		return rc;
	}
	if (scenario->hosts && scenario->nodes && scenario->traffic)
		find_ends(measured, scenario);
	*out = measured;
	return 0;
}

static void free_window(struct hs_measured_window *window)
{
	if (window)
		json_decref(window->body);
	free(window);
}

void hs_measured_destroy(struct hs_measured *measured)
{
	if (!measured)
		return;
	for (uint32_t i = 0; measured->flows && i < measured->n_flows; i++) {
		free(measured->flows[i].trips);
		free_window(measured->flows[i].run);
	}
	for (size_t i = 0; i < measured->n_windows; i++)
		free_window(measured->windows[i]);
	free(measured->windows);
	free(measured->flows);
	hs_u32_map_fini(&measured->by_ns_id);
	free(measured);
}

// ---- windows ----

static int compare(const struct hs_measured_window *a, const struct hs_measured_window *b)
{
	if (a->start_ns != b->start_ns)
		return a->start_ns < b->start_ns ? -1 : 1;
	if (a->flow != b->flow)
		return a->flow < b->flow ? -1 : 1;
	return (a->node_id > b->node_id) - (a->node_id < b->node_id);
}

static size_t place_of(const struct hs_measured *measured, const struct hs_measured_window *window)
{
	size_t low = 0, high = measured->n_windows;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare(measured->windows[middle], window) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

// Takes ownership of the window if it returns 0.
static int keep_window(struct hs_measured *measured, struct hs_measured_window *window)
{
	size_t at = place_of(measured, window);
	if (at < measured->n_windows && compare(measured->windows[at], window) == 0) {
		free_window(measured->windows[at]);
		measured->windows[at] = window;
		return 0;
	}
	if (!HS_LAB_ROOM(measured->windows, measured->windows_capacity, measured->n_windows + 1))
		return -ENOMEM;
	struct hs_measured_window **slot = &measured->windows[at];
	memmove(slot + 1, slot, (measured->n_windows - at) * sizeof(window));
	*slot = window;
	measured->n_windows++;
	return 0;
}

void hs_measured_set_ahead(struct hs_measured *measured, uint16_t node_id, int64_t ahead_ns)
{
	measured->ahead_ns[node_id] = ahead_ns;
}

static void move_time(json_t *object, const char *key, int64_t ahead_ns)
{
	json_t *time = json_object_get(object, key);
	json_integer_set(time, json_integer_value(time) + ahead_ns);
}

static void move_window(const struct hs_measured *measured, struct hs_measured_window *window)
{
	window->start_ns += measured->ahead_ns[window->node_id];
	window->end_ns += measured->ahead_ns[window->node_id];
	for (uint32_t i = 0; i <= window->n_hops; i++) {
		json_t *hop = (json_t *)hs_measured_hop(window, i);
		int64_t ahead_ns = measured->ahead_ns[hs_measured_to(window, i)];
		move_time(hop, "span_start_ns", ahead_ns);
		move_time(hop, "span_end_ns", ahead_ns);
	}
}

static uint32_t flags_of(const json_t *body)
{
	const json_t *name;
	uint32_t flags = 0;
	size_t i;
	json_array_foreach (json_object_get(body, "flags"), i, name) {
		unsigned bit = 0;
		while (bit < HS_LAB_FLAGS && strcmp(hs_lab_flags[bit], json_string_value(name)))
			bit++;
		flags |= UINT32_C(1) << bit;
	}
	return flags;
}

static bool is_window(const json_t *body)
{
	static const char *const integers[] = {"window_ns", "start_ns", "end_ns", "reports"};
	for (size_t i = 0; i < sizeof(integers) / sizeof(integers[0]); i++)
		if (!json_is_integer(json_object_get(body, integers[i])))
			return false;
	return json_is_boolean(json_object_get(body, "stale")) &&
	       json_is_array(json_object_get(body, "hops")) &&
	       json_is_object(json_object_get(body, "e2e")) &&
	       json_array_size(json_object_get(body, "path")) >= 2;
}

// A reply of qos_get names no publisher: the sink is the last node of the path.
static int read_window(json_t *body, struct hs_measured_window **out)
{
	const json_t *path = json_object_get(body, "path"),
		     *node = json_object_get(body, "node_id");
	const json_t *clock = json_object_get(body, "clock");
	if (!is_window(body))
		return -EINVAL;
	if (!node)
		node = json_array_get(path, json_array_size(path) - 1);
	struct hs_measured_window *window = malloc(sizeof(*window));
	if (!window)
		return -ENOMEM;
	*window = (struct hs_measured_window){
			.node_id = (uint16_t)json_integer_value(node),
			.window_ns = hs_measured_integer(body, "window_ns"),
			.start_ns = hs_measured_integer(body, "start_ns"),
			.end_ns = hs_measured_integer(body, "end_ns"),
			.reports = hs_measured_integer(body, "reports"),
			.stale = json_is_true(json_object_get(body, "stale")),
			.path_changed = json_is_true(json_object_get(body, "path_changed")),
			.clock_known = json_object_size(clock) > 0,
			.synchronised = json_is_true(json_object_get(clock, "synchronised")),
			.flags = flags_of(body),
			.n_hops = (uint32_t)json_array_size(json_object_get(body, "hops")),
			.body = json_incref(body),
	};
	*out = window;
	return 0;
}

static int take_window(struct hs_measured *measured, uint32_t flow, json_t *body)
{
	struct hs_measured_window *window;
	int rc = read_window(body, &window);
	if (rc < 0)
		return rc;
	window->flow = flow;
	move_window(measured, window);
	bool wanted = window->window_ns == measured->window_ns;
	rc = wanted ? keep_window(measured, window) : 0;
	if (!wanted || rc < 0)
		free_window(window);
	return rc;
}

int hs_measured_take_run(struct hs_measured *measured, json_t *qos_report)
{
	struct hs_measured_window *window;
	uint32_t flow = hs_u32_map_find(
			&measured->by_ns_id, (uint32_t)hs_measured_integer(qos_report, "ns_id"));
	int rc = read_window(qos_report, &window);
	if (rc < 0)
		return rc;
	if (flow == HS_U32_MAP_NONE) {
		free_window(window);
		return 0;
	}
	window->flow = flow;
	free_window(measured->flows[flow].run);
	measured->flows[flow].run = window;
	return 0;
}

// ---- reports ----

static int take_report(struct hs_measured *measured, uint32_t index, json_t *body)
{
	struct flow *flow = &measured->flows[index];
	const json_t *source = json_object_get(json_object_get(body, "e2e"), "ts_ns");
	const json_t *sink = json_object_get(json_object_get(body, "sink"), "ts_ns");
	if (!json_is_integer(sink))
		return -EINVAL;
	if (!source) // the source wrote no stamp
		return 0;
	if (!HS_LAB_ROOM(flow->trips, flow->trips_capacity, flow->n_trips + 1))
		return -ENOMEM;
	flow->trips[flow->n_trips++] = (struct hs_trip){
			.source_ns = json_integer_value(source) + measured->ahead_ns[flow->source],
			.sink_ns = json_integer_value(sink) + measured->ahead_ns[flow->sink],
	};
	return 0;
}

// ---- messages ----

static int take_json(struct hs_measured *measured, uint32_t flow, uint64_t ns_id, const char *json,
		bool window)
{
	json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
	json_t *body = json_object_get(root, window ? "qos_report" : "int_report");
	bool right = (uint64_t)hs_measured_integer(body, "ns_id") == ns_id;
	int rc = !right	  ? -EINVAL
		 : window ? take_window(measured, flow, body)
			  : take_report(measured, flow, body);
	json_decref(root);
	return rc;
}

int hs_measured_take(struct hs_measured *measured, const char *topic, const char *json)
{
	bool window = strncmp(topic, "qos.", 4) == 0, report = strncmp(topic, "report.", 7) == 0;
	if (!window && !report)
		return 0;
	uint32_t ns_id = (uint32_t)strtoul(strchr(topic, '.') + 1, NULL, 10);
	uint32_t flow = hs_u32_map_find(&measured->by_ns_id, ns_id);
	if (flow == HS_U32_MAP_NONE || (report && !measured->flows[flow].paired))
		return 0;
	return take_json(measured, flow, ns_id, json, window);
}

// ---- reading ----

size_t hs_measured_windows(const struct hs_measured *measured)
{
	return measured->n_windows;
}

const struct hs_measured_window *hs_measured_window(
		const struct hs_measured *measured, size_t index)
{
	return measured->windows[index];
}

const struct hs_measured_window *hs_measured_run(const struct hs_measured *measured, uint32_t flow)
{
	return measured->flows[flow].run;
}

size_t hs_measured_trips(
		const struct hs_measured *measured, uint32_t flow, const struct hs_trip **trips)
{
	*trips = measured->flows[flow].trips;
	return measured->flows[flow].n_trips;
}

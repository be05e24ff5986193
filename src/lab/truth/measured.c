// SPDX-License-Identifier: BSD-3-Clause
#include "measured.h"

#include "index_map.h"
#include "measured_window.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct flow {
	bool paired;	       // its trips are of use
	uint16_t source, sink; // node ids of its ends
	struct hs_trip *trips;
	size_t n_trips, trips_capacity;
	struct hs_measured_window *run;
};

struct hs_measured {
	int64_t window_ns;
	struct hs_index_map by_ns_id; // -> flows[]
	struct flow *flows;
	uint32_t n_flows;
	struct hs_measured_window **windows; // in order
	size_t n_windows, windows_capacity;
	struct hs_measured_counters counters;
	int64_t ahead_ns[UINT16_MAX + 1]; // of nodes by id: hs_measured_set_ahead
};

// ---- making ----

// A flow is paired where another has its app_id and entry of traffic and the other direction. seen:
// of the first flow with an app_id and entry, the directions of all of them.
static int find_directions(struct hs_index_map *firsts, uint8_t *seen,
		const struct hs_scenario_flow *flows, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t key = (uint64_t)flows[i].app_id << 32 | flows[i].traffic;
		uint32_t first = hs_index_map_find(firsts, key);
		if (first == HS_INDEX_MAP_NONE && hs_index_map_add(firsts, key, i) < 0)
			return -ENOMEM;
		seen[first == HS_INDEX_MAP_NONE ? i : first] |= flows[i].reverse ? 2 : 1;
	}
	return 0;
}

static int pair_flows(struct hs_measured *measured, const struct hs_scenario_flow *flows)
{
	struct hs_index_map firsts = {0};
	uint8_t *seen = calloc(measured->n_flows + 1, sizeof(*seen));
	int rc = seen ? find_directions(&firsts, seen, flows, measured->n_flows) : -ENOMEM;
	for (uint32_t i = 0; i < measured->n_flows && rc == 0; i++) {
		uint64_t key = (uint64_t)flows[i].app_id << 32 | flows[i].traffic;
		measured->flows[i].paired = flows[i].traffic != HS_NO_INDEX &&
					    seen[hs_index_map_find(&firsts, key)] == 3;
	}
	hs_index_map_fini(&firsts);
	free(seen);
	return rc;
}

static uint16_t node_of(const struct hs_scenario *scenario, uint32_t host)
{
	return scenario->nodes[scenario->hosts[host].at].id;
}

static void find_ends(struct hs_measured *measured, const struct hs_scenario *scenario)
{
	for (uint32_t i = 0; i < measured->n_flows; i++) {
		const struct hs_scenario_flow *flow = &scenario->flows[i];
		if (flow->traffic == HS_NO_INDEX)
			continue;
		const struct hs_scenario_traffic *traffic = &scenario->traffic[flow->traffic];
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
	int rc = measured->flows ? pair_flows(measured, scenario->flows) : -ENOMEM;
	for (uint32_t i = 0; i < measured->n_flows && rc == 0; i++)
		rc = hs_index_map_add(&measured->by_ns_id, scenario->flows[i].ns_id, i);
	if (rc < 0) {
		hs_measured_destroy(measured);
		return rc;
	}
	if (scenario->hosts && scenario->nodes && scenario->traffic)
		find_ends(measured, scenario);
	*out = measured;
	return 0;
}

void hs_measured_destroy(struct hs_measured *measured)
{
	if (!measured)
		return;
	for (uint32_t i = 0; measured->flows && i < measured->n_flows; i++) {
		free(measured->flows[i].trips);
		free(measured->flows[i].run);
	}
	for (size_t i = 0; i < measured->n_windows; i++)
		free(measured->windows[i]);
	free(measured->windows);
	free(measured->flows);
	hs_index_map_fini(&measured->by_ns_id);
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

static int reserve_window(struct hs_measured *measured)
{
	if (measured->n_windows < measured->windows_capacity)
		return 0;
	size_t capacity = measured->windows_capacity ? 2 * measured->windows_capacity : 64;
	struct hs_measured_window **windows =
			realloc(measured->windows, capacity * sizeof(struct hs_measured_window *));
	if (!windows)
		return -ENOMEM;
	measured->windows = windows;
	measured->windows_capacity = capacity;
	return 0;
}

// Takes the window over where it returns 0.
static int keep_window(struct hs_measured *measured, struct hs_measured_window *window)
{
	size_t at = place_of(measured, window);
	struct hs_measured_window **slot;
	if (at < measured->n_windows && compare(measured->windows[at], window) == 0) {
		free(measured->windows[at]);
		measured->windows[at] = window;
		return 0;
	}
	if (reserve_window(measured) < 0)
		return -ENOMEM;
	slot = &measured->windows[at];
	memmove(slot + 1, slot, (measured->n_windows - at) * sizeof(struct hs_measured_window *));
	*slot = window;
	measured->n_windows++;
	return 0;
}

void hs_measured_set_ahead(struct hs_measured *measured, uint16_t node_id, int64_t ahead_ns)
{
	measured->ahead_ns[node_id] = ahead_ns;
}

static void move_hop(const struct hs_measured *measured, struct hs_measured_hop *hop)
{
	hop->span_start_ns += measured->ahead_ns[hop->to];
	hop->span_end_ns += measured->ahead_ns[hop->to];
}

static void move_window(const struct hs_measured *measured, struct hs_measured_window *window)
{
	window->start_ns += measured->ahead_ns[window->node_id];
	window->end_ns += measured->ahead_ns[window->node_id];
	for (uint32_t i = 0; i < window->n_hops; i++)
		move_hop(measured, &window->hops[i]);
	move_hop(measured, &window->e2e);
}

static int take_window(struct hs_measured *measured, uint32_t flow, const json_t *body)
{
	struct hs_measured_window *window;
	int rc = hs_measured_read_window(body, false, &window);
	if (rc < 0)
		return rc;
	window->flow = flow;
	move_window(measured, window);
	bool wanted = window->window_ns == measured->window_ns;
	rc = wanted ? keep_window(measured, window) : 0;
	if (!wanted || rc < 0)
		free(window);
	measured->counters.windows += rc == 0;
	return rc;
}

// ---- reports and events ----

static int take_report(struct hs_measured *measured, uint32_t index, const json_t *body)
{
	struct flow *flow = &measured->flows[index];
	struct hs_trip trip;
	int rc = hs_measured_read_trip(body, &trip);
	if (rc < 0)
		return rc;
	if (rc > 0) {
		if (flow->n_trips == flow->trips_capacity) {
			size_t capacity = flow->trips_capacity ? 2 * flow->trips_capacity : 64;
			struct hs_trip *trips = realloc(flow->trips, capacity * sizeof(*trips));
			if (!trips)
				return -ENOMEM;
			flow->trips = trips;
			flow->trips_capacity = capacity;
		}
		trip.sink_ns += measured->ahead_ns[flow->sink];
		trip.source_ns += measured->ahead_ns[flow->source];
		flow->trips[flow->n_trips++] = trip;
	}
	measured->counters.reports++;
	return 0;
}

static int take_event(struct hs_measured *measured, const char *kind, const char *json)
{
	json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
	const char *said =
			json_string_value(json_object_get(json_object_get(root, "event"), "kind"));
	int rc = said && strcmp(said, kind) == 0 ? 0 : -EINVAL;
	json_decref(root);
	measured->counters.events += rc == 0;
	return rc;
}

// ---- messages ----

// A decimal number as a node prints it; 0: it is none.
static uint32_t parse_ns_id(const char *text)
{
	uint64_t value = 0;
	if (*text == '0')
		return 0;
	for (; *text >= '0' && *text <= '9' && value <= UINT32_MAX; text++)
		value = 10 * value + (uint64_t)(*text - '0');
	return *text || value > UINT32_MAX ? 0 : (uint32_t)value;
}

static const char *behind(const char *topic, const char *prefix)
{
	size_t len = strlen(prefix);
	return strncmp(topic, prefix, len) == 0 ? topic + len : NULL;
}

typedef int take_body(struct hs_measured *measured, uint32_t flow, const json_t *body);

static int take_json(struct hs_measured *measured, uint32_t flow, uint32_t ns_id, const char *json,
		const char *key, take_body *take)
{
	json_t *root = json_loads(json, JSON_REJECT_DUPLICATES, NULL);
	const json_t *body = json_object_get(root, key);
	int64_t said;
	int rc = hs_measured_integer(body, "ns_id", ns_id, ns_id, &said) ? 0 : -EINVAL;
	if (rc == 0)
		rc = take(measured, flow, body);
	json_decref(root);
	return rc;
}

static int take_of_flow(
		struct hs_measured *measured, const char *number, const char *json, bool window)
{
	uint32_t ns_id = parse_ns_id(number);
	uint32_t flow = hs_index_map_find(&measured->by_ns_id, ns_id);
	if (!ns_id)
		return -EINVAL;
	if (flow == HS_INDEX_MAP_NONE) {
		measured->counters.others++;
		return 0;
	}
	if (window)
		return take_json(measured, flow, ns_id, json, "qos_report", take_window);
	if (measured->flows[flow].paired)
		return take_json(measured, flow, ns_id, json, "int_report", take_report);
	measured->counters.reports++;
	return 0;
}

int hs_measured_take(struct hs_measured *measured, const char *topic, const char *json)
{
	const char *rest;
	if ((rest = behind(topic, "report.")))
		return take_of_flow(measured, rest, json, false);
	if ((rest = behind(topic, "qos.")))
		return take_of_flow(measured, rest, json, true);
	if ((rest = behind(topic, "event.")))
		return take_event(measured, rest, json);
	measured->counters.others++;
	return 0;
}

int hs_measured_take_run(struct hs_measured *measured, json_t *qos_report)
{
	struct hs_measured_window *window;
	int64_t ns_id;
	if (!hs_measured_integer(qos_report, "ns_id", 1, UINT32_MAX, &ns_id))
		return -EINVAL;
	int rc = hs_measured_read_window(qos_report, true, &window);
	if (rc < 0)
		return rc;
	window->flow = hs_index_map_find(&measured->by_ns_id, (uint64_t)ns_id);
	if (window->flow == HS_INDEX_MAP_NONE) {
		measured->counters.others++;
		free(window);
		return 0;
	}
	free(measured->flows[window->flow].run);
	measured->flows[window->flow].run = window;
	return 0;
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

void hs_measured_counters(const struct hs_measured *measured, struct hs_measured_counters *counters)
{
	*counters = measured->counters;
}

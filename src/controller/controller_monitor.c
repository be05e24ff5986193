// SPDX-License-Identifier: BSD-3-Clause
// Takes what nodes publish. Reports become metrics here if their sink computes none. Metrics are
// kept for questions (controller_qos.c), events are passed on, and missing messages are counted.
#include "controller_monitor.h"

#include "controller_call.h"
#include "controller_flow.h"
#include "controller_format.h"
#include "controller_node.h"
#include "controller_rule.h"
#include "controller_state.h"

#include "log.h"
#include "qos_lengths.h"
#include "qos_window.h"
#include "report_json.h"

#include <inttypes.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLOWS_AT_ONCE	 128
#define METRICS_FRESH_NS INT64_C(3000000000) // or three of the sink's shortest windows, if longer

#define AHEAD_NS INT64_C(10000000000) // a sink's clock may be so far ahead of ours

// A node's longest message is a window of 62 hops with all numbers, of 42,400 bytes.
#define MAX_MESSAGE (64u << 10)

static int by_ns(const void *a, const void *b)
{
	const struct controller_flow *left = a, *right = b;
	return (left->ns_id > right->ns_id) - (left->ns_id < right->ns_id);
}

struct controller_flow *controller_find_flow(struct hs_controller *controller, uint32_t ns_id)
{
	struct controller_flow key = {.ns_id = ns_id};
	void *found = tfind(&key, &controller->metrics.by_ns, by_ns);
	return found ? *(struct controller_flow **)found : NULL;
}

static void free_flow(struct hs_controller *controller, struct controller_flow *flow)
{
	tdelete(flow, &controller->metrics.by_ns, by_ns);
	TAILQ_REMOVE(&controller->metrics.flows, flow, order);
	if (flow->unwanted)
		TAILQ_REMOVE(&controller->metrics.unwanted, flow, at_unwanted);
	controller->metrics.n--;
	controller_drop_windows(controller, flow);
	hs_trips_fini(&flow->trips);
	hs_delay_buckets_fini(&flow->delays);
	free(flow);
}

static struct controller_flow *add_flow_of(struct hs_controller *controller, uint32_t ns_id)
{
	struct controller_flow *flow = calloc(1, sizeof(*flow));

	if (!flow)
		return NULL;
	flow->ns_id = ns_id;
	flow->published_ns = controller->now_ns;
	if (!tsearch(flow, &controller->metrics.by_ns, by_ns)) {
		free(flow);
		return NULL;
	}
	TAILQ_INSERT_TAIL(&controller->metrics.flows, flow, order);
	controller->metrics.n++;
	return flow;
}

static void set_unwanted(
		struct hs_controller *controller, struct controller_flow *flow, bool unwanted)
{
	if (flow->unwanted)
		TAILQ_REMOVE(&controller->metrics.unwanted, flow, at_unwanted);
	if (unwanted)
		TAILQ_INSERT_TAIL(&controller->metrics.unwanted, flow, at_unwanted);
	flow->unwanted = unwanted;
}

// Returns the flow of a namespace, and adds the flow if it is new. If there is no room, a flow of
// an unwanted rule gives way: the one that was silent for longest.
static struct controller_flow *flow_of(struct hs_controller *controller, uint32_t ns_id)
{
	const struct controller_rule *rule = controller_find_rule(controller, ns_id);
	struct controller_flow *flow = controller_find_flow(controller, ns_id);
	bool unwanted = !rule || rule->deleted;

	if (!flow && controller->metrics.n >= controller->config->monitored_rules) {
		struct controller_flow *oldest = TAILQ_FIRST(&controller->metrics.unwanted);
		if (unwanted || !oldest) {
			controller->metrics.counters.refused++;
			return NULL;
		}
		controller_forget_flow(controller, oldest->ns_id);
		controller->metrics.counters.replaced++;
	}
	if (!flow)
		flow = add_flow_of(controller, ns_id);
	if (flow)
		set_unwanted(controller, flow, unwanted);
	return flow;
}

void controller_forget_flow(struct hs_controller *controller, uint32_t ns_id)
{
	struct controller_flow *flow = controller_find_flow(controller, ns_id);

	if (!flow)
		return;
	if (flow->computed)
		hs_qos_remove(controller->metrics.qos, ns_id);
	free_flow(controller, flow);
}

// Counts a message that could not be read, and logs the member that was wrong: at once, then at
// most once a minute.
static void bad_message(
		struct hs_controller *controller, const char *key, const struct hs_error *err)
{
	char text[HS_ERROR_TEXT];
	uint64_t grown;

	controller->metrics.counters.bad++;
	if (hs_event_limit(&controller->metrics.bad_limit, controller->now_ns,
			    controller->metrics.counters.bad, &grown))
		hs_log_at(controller->now_ns, HS_LOG_WARNING, "controller",
				"%" PRIu64 " messages of nodes could not be read, the last one, "
				"%.40s: %s",
				grown, key, hs_error_text(err, text));
}

// ---- metrics ----

// Returns whether the flow's sink had no window for so long that it publishes none.
static bool is_overdue(const struct hs_controller *controller, const struct controller_flow *flow)
{
	int64_t every_ns = flow->every_ns ? flow->every_ns : controller->config->window_ns[0];
	int64_t fresh_ns = 3 * every_ns;
	if (fresh_ns < METRICS_FRESH_NS)
		fresh_ns = METRICS_FRESH_NS;
	return controller->now_ns - flow->published_ns >= fresh_ns;
}

// Returns whether the flow's sink computes metrics itself, and its next ones are not overdue.
static bool publishes(const struct hs_controller *controller, const struct controller_flow *flow)
{
	return flow->every_ns && !is_overdue(controller, flow);
}

static void keep(struct hs_controller *controller, struct controller_flow *flow, int64_t length,
		json_t *content)
{
	int i = hs_qos_lengths_find(controller->config->window_ns, length);
	if (i >= 0)
		controller_keep_window(controller, flow, (unsigned)i, content);
}

static void publish(struct hs_controller *controller, uint32_t ns_id, json_t *content)
{
	char topic[32];

	snprintf(topic, sizeof(topic), "qos.%" PRIu32, ns_id);
	controller->metrics.counters.windows++;
	controller_publish(controller, topic, "qos_report", json_incref(content));
}

static void on_window(void *user, const struct hs_qos_window *window)
{
	struct hs_controller *controller = user;
	struct controller_flow *flow = controller_find_flow(controller, window->ns_id);
	json_t *message = flow && flow->computed ? hs_qos_window_json(window, NULL) : NULL;
	json_t *content = json_object_get(message, "qos_report");

	if (message)
		keep(controller, flow, window->window_ns, content);
	// The sink of a new flow may be about to publish the same window.
	if (message && (controller->config->metrics == HS_CONTROLLER_METRICS_ALWAYS ||
				       is_overdue(controller, flow)))
		publish(controller, window->ns_id, content);
	json_decref(message);
}

static void take_window(struct hs_controller *controller, json_t *content)
{
	struct reply_window window;
	struct hs_error err;

	if (reply_read_window(content, &window, &err) < 0) {
		bad_message(controller, "qos_report", &err);
		return;
	}
	if (!hs_qos_window_take(content)) {
		hs_error_set(&err, "bad_value", "", "", "this is no window of metrics");
		bad_message(controller, "qos_report", &err);
		return;
	}
	struct controller_flow *flow = flow_of(controller, window.ns_id);
	if (!flow)
		return;
	if (!publishes(controller, flow) || window.length_ns < flow->every_ns)
		flow->every_ns = window.length_ns;
	flow->published_ns = controller->now_ns;
	flow->app_id = window.app_id;
	if (flow->computed && controller->config->metrics == HS_CONTROLLER_METRICS_AUTO) {
		// hs_qos_remove closes the open window, which on_window must not publish: the sink
		// publishes the whole window.
		flow->computed = false;
		hs_qos_remove(controller->metrics.qos, window.ns_id);
		// No window replaces those of the lengths that the sink does not publish.
		controller_drop_windows(controller, flow);
	}
	if (!flow->computed) {
		keep(controller, flow, window.length_ns, content);
		publish(controller, window.ns_id, content);
	}
}

static bool computes(const struct hs_controller *controller, const struct controller_flow *flow)
{
	if (controller->config->metrics != HS_CONTROLLER_METRICS_AUTO)
		return controller->config->metrics == HS_CONTROLLER_METRICS_ALWAYS;
	return !publishes(controller, flow);
}

// Notes that a report came. A sink that publishes metrics publishes none of a flow that is silent
// for long. When the flow goes on, such a sink has time for its next window, as with a new flow. A
// sink that has published nothing since the report before has none.
static void hear(struct hs_controller *controller, struct controller_flow *flow)
{
	bool paused = controller->now_ns - flow->heard_ns > HS_QOS_STALE_NS;

	if (paused && flow->published_ns > flow->heard_ns)
		flow->published_ns = controller->now_ns;
	flow->heard_ns = controller->now_ns;
}

// Keeps the trip of a report if the rule is wanted. Only applications need trips, and their flows
// are wanted.
static void take_trip(struct controller_flow *flow, const struct hs_report *report)
{
	struct hs_trip trip;

	if (!flow->unwanted && hs_trip_of(report, &trip))
		hs_trips_add(&flow->trips, &trip); // without memory, one pair is missing
}

// Counts a report of an unknown format. No metrics are computed from such a report, because its
// numbers may mean something else.
static void refuse_format(struct hs_controller *controller, uint32_t ns_id, const char *why)
{
	struct controller_flow *flow = flow_of(controller, ns_id);

	controller->metrics.counters.formats_unknown++;
	if (!flow || flow->told)
		return;
	flow->told = true;
	hs_controller_event(controller, "report_not_read",
			json_pack("{s:I}", "ns_id", (json_int_t)ns_id),
			"a report of rule %" PRIu32
			" is not read: %s; no metrics are computed of it",
			ns_id, why);
}

static void take_report(struct hs_controller *controller, const json_t *message)
{
	struct hs_report_message read;
	struct hs_error err = {0};
	uint32_t ns_id;

	if (reply_read_report(json_object_get(message, "int_report"), &ns_id, &err) < 0) {
		bad_message(controller, "int_report", &err);
		return;
	}
	const struct hs_telemetry_family *family =
			controller_report_family(controller, message, ns_id, &err);
	if (!family) {
		refuse_format(controller, ns_id, err.message);
		return;
	}
	if (hs_report_from_json(message, family, &read, &err) < 0) {
		bad_message(controller, "int_report", &err);
		return;
	}
	controller->metrics.counters.reports++;
	struct controller_flow *flow = flow_of(controller, ns_id);
	if (!flow)
		return;
	// A report of a future time would close all windows up to that time, so that later reports
	// would come too late.
	if (read.report.sink_ts_ns > controller->now_ns + AHEAD_NS) {
		controller->metrics.counters.ahead++;
		return;
	}
	hear(controller, flow);
	take_trip(flow, &read.report);
	if (controller->config->prometheus.on)
		hs_delay_buckets_add(
				&flow->delays, &read.report, read.sink_node_id, controller->now_ns);
	if (!computes(controller, flow))
		return;
	struct hs_qos_key key = {
			.ns_id = ns_id,
			.app_id = read.app_id,
			.sink_node_id = read.sink_node_id,
	};
	flow->app_id = read.app_id;
	flow->computed = true;
	if (hs_qos_report(controller->metrics.qos, &key, &read.report) < 0)
		controller->metrics.counters.refused++;
}

// ---- events ----

static void take_event(struct hs_controller *controller, const struct controller_node *node,
		json_t *content)
{
	struct reply_event event;
	struct hs_error err;

	if (reply_read_event(content, &event, &err) < 0) {
		bad_message(controller, "event", &err);
		return;
	}
	hs_controller_event(controller, event.kind,
			json_pack("{s:s, s:i}", "node", node->config->name, "node_id",
					node->config->id),
			"%s: %s", node->config->name, event.message);
}

// ---- messages ----

static void take_message(struct hs_controller *controller, const struct reply_origin *origin,
		json_t *message, const char *key)
{
	json_t *content = json_object_get(message, key);
	struct controller_node *node;
	struct hs_error err;

	if (!controller_publisher(controller, origin, &node)) {
		controller->metrics.counters.unknown_node++;
		return;
	}
	if (node)
		controller_follow(controller, node, origin);
	if (strcmp(key, "int_report") == 0) {
		take_report(controller, message);
	} else if (strcmp(key, "qos_report") == 0) {
		take_window(controller, content);
	} else if (strcmp(key, "event") != 0) {
		hs_error_set(&err, "unknown_field", "", "int_report, qos_report, event",
				"this is no message of a node");
		bad_message(controller, key, &err);
	} else if (node) {
		take_event(controller, node, content);
	}
}

void controller_take_message(struct hs_controller *controller, const char *json, size_t len)
{
	controller->metrics.counters.messages++;
	if (len > MAX_MESSAGE) { // parsing it would keep clients waiting
		controller->metrics.counters.too_large++;
		return;
	}
	json_t *message = json_loadb(json, len, JSON_REJECT_DUPLICATES, NULL), *content;
	const char *key = json_object_iter_key(json_object_iter(message));
	content = key ? json_object_get(message, key) : NULL;
	struct reply_origin origin;
	struct hs_error err;
	if (reply_read_origin(content, &origin, &err) < 0)
		bad_message(controller, key ? key : "message", &err);
	else
		take_message(controller, &origin, message, key);
	json_decref(message);
}

// ---- life ----

void controller_step_monitor(struct hs_controller *controller)
{
	hs_qos_advance(controller->metrics.qos, controller->now_ns);
}

int controller_open_monitor(struct hs_controller *controller)
{
	struct hs_qos_config qos = {
			.max_flows = controller->config->monitored_rules,
			.memory_bytes = (uint64_t)controller->config->monitor_mib << 20,
			.flows_per_advance = FLOWS_AT_ONCE,
			.on_window = on_window,
			.user = controller,
	};

	memcpy(qos.window_ns, controller->config->window_ns, sizeof(qos.window_ns));
	hs_api_set_windows(qos.window_ns);
	TAILQ_INIT(&controller->metrics.flows);
	TAILQ_INIT(&controller->metrics.unwanted);
	return hs_qos_create(&qos, &controller->metrics.qos);
}

void controller_close_monitor(struct hs_controller *controller)
{
	hs_qos_destroy(controller->metrics.qos);
	while (!TAILQ_EMPTY(&controller->metrics.flows))
		free_flow(controller, TAILQ_FIRST(&controller->metrics.flows));
}

// SPDX-License-Identifier: BSD-3-Clause
// The nodes' clocks. Steps the nodes' control in the lab's time, and passes on the messages that
// control publishes.
#include "lab_parts.h"

#include "clock_servo.h"

#include <rte_common.h>

#include <stdlib.h>
#include <string.h>

// The longest time from a report after silence to the next step of control, as in the daemon. This
// time bounds the reports that a ring gets before control looks at the ring.
#define QUIET_NS  INT64_C(10000000)
#define MINUTE_NS INT64_C(60000000000)

// ---- clocks ----

// Makes the node's clock. A counter runs like the node's oscillator, and the node's clock follows
// the system's clock (lab_clock.h) as a daemon's clock does.
int lab_make_clock(struct lab_node *node)
{
	const struct hs_scenario *scenario = node->lab->scenario;
	const struct hs_clock_source source = {
			.ticks = hs_lab_clock_ticks,
			.realtime_ns = hs_lab_clock_realtime,
			.monotonic_ns = hs_lab_clock_monotonic,
			.context = &node->model,
			.kernel = hs_lab_clock_kernel,
			.rate = UINT64_C(1) << HS_CLOCK_RATE_SHIFT,
	};

	hs_lab_clock_init(&node->model, &node->scenario->clock,
			lab_seed(scenario, "clock", node->index), &node->lab->now_ns);
	int rc = hs_clock_create_from(&source, HS_CLOCK_UTC, &node->clock);
	if (rc == 0)
		hs_clock_set_step(node->clock, scenario->clock_step_ms * INT64_C(1000000));
	return rc;
}

void lab_clock_stepped(struct lab_node *node, int64_t stepped_ns)
{
	int64_t back_ns = node->stepped_ns - stepped_ns;

	if (back_ns > 0)
		node->unfold_ns += (back_ns + MINUTE_NS - 1) / MINUTE_NS * MINUTE_NS;
	node->unfold_ns += MINUTE_NS;
	node->stepped_ns = stepped_ns;
	node->lab->run.measured->ahead_ns[node->index] = node->unfold_ns;
}

int64_t lab_clock_when(const struct lab_node *node, int64_t shown_ns)
{
	int64_t now_ns = node->lab->now_ns;
	struct hs_clock_line line;

	hs_clock_line(node->clock, &line);
	if (shown_ns > now_ns + INT64_MAX / 4)
		return HS_EVENT_NEVER;
	// The first count at which the line has reached the time.
	__int128 ahead = ((__int128)shown_ns - line.base_ns) << HS_CLOCK_RATE_SHIFT;
	__int128 count = line.base_ticks + (ahead + line.rate - 1) / line.rate;
	return RTE_MAX(now_ns, hs_lab_clock_ticked(&node->model, (uint64_t)RTE_MAX(count, 0)));
}

// ---- messages ----

int lab_publish(void *context, const char *topic, const char *json)
{
	struct hs_lab *lab = context;
	int rc = hs_measured_take(lab->run.measured, topic, json);

	if (lab->config.published)
		lab->config.published(lab->config.context, lab->now_ns, topic, json);
	if (rc < 0)
		lab_fail(lab, rc, "internal", "", "",
				"a message of topic \"%s\" was not understood: %s", topic,
				strerror(-rc));
	return 0;
}

// ---- requests ----

int lab_install(struct lab_node *node, struct hs_error *err)
{
	json_t *list = json_array(), *places = json_array();
	int rc = hs_scenario_list_requests(node->lab->scenario, node->index, list, places);

	if (rc == 0 && json_array_size(list) > 0)
		rc = hs_control_install(
				node->control, lab_shown_ns(node), list, HS_ORIGIN_CONFIG, err);
	if (rc < 0)
		hs_scenario_place_error(places, err);
	json_decref(list);
	json_decref(places);
	return rc;
}

static void take_error(json_t *error, struct hs_error *err)
{
	const char *code = "internal", *path = "", *message = "", *expected = "";

	json_unpack(error, "{s?s, s?s, s?s, s?s}", "code", &code, "path", &path, "message",
			&message, "expected", &expected);
	hs_error_set(err, code, path, expected, "%s", message);
}

json_t *lab_ask(struct lab_node *node, json_t *request, struct hs_error *err)
{
	char *text = json_dumps(request, JSON_COMPACT);
	char *answer = text && node->control ? hs_control_request(node->control, lab_shown_ns(node),
							       text, strlen(text), true)
					     : NULL;
	json_t *reply = answer ? json_loads(answer, 0, NULL) : NULL;
	json_t *ok = json_incref(json_object_get(reply, "ok"));

	if (!reply && node->control)
		hs_error_set(err, "no_memory", "", "", "no memory for a request");
	else if (reply && !ok)
		take_error(json_object_get(reply, "error"), err);
	json_decref(reply);
	json_decref(request);
	free(answer);
	free(text);
	return ok;
}

// ---- steps ----

static struct lab_handed handed_over(const struct lab_node *node)
{
	struct hs_worker_counters counters;

	hs_node_worker_counters(node->node, 0, &counters);
	return (struct lab_handed){
			.reports = counters.reports_made - counters.reports_lost,
			.punts = counters.signals_made - counters.signals_lost,
	};
}

void lab_control_step(struct lab_node *node)
{
	struct hs_lab *lab = node->lab;

	hs_control_step(node->control, lab_shown_ns(node));
	lab_told_ns(node); // the clock may have stepped
	node->seen = handed_over(node);
	int64_t due_ns = lab_clock_when(node, hs_control_next_ns(node->control));
	// If something is still due because it takes several steps, time must go on.
	hs_event_set_timer(&lab->queue, lab_control_timer(node), RTE_MAX(due_ns, lab->now_ns + 1));
}

void lab_control_due(struct hs_lab *lab, const struct hs_lab_event *event)
{
	lab_control_step(&lab->nodes[event->about]);
}

void lab_control_look(struct lab_node *node)
{
	struct hs_event_queue *queue = &node->lab->queue;
	struct lab_handed now = handed_over(node);
	uint64_t reports = now.reports - node->seen.reports;
	uint64_t punts = now.punts - node->seen.punts;
	int64_t soon_ns = node->lab->now_ns + QUIET_NS;

	if (unlikely(node->lab->label) && hs_node_exports_waiting(node->node) > 0) {
		lab_control_step(node);
		return;
	}
	if (likely(!reports && !punts))
		return;
	if (reports >= LAB_REPORT_RING / 2 || punts >= LAB_PUNT_RING / 2)
		lab_control_step(node);
	else if (hs_event_timer_ns(queue, lab_control_timer(node)) > soon_ns)
		hs_event_set_timer(queue, lab_control_timer(node), soon_ns);
}

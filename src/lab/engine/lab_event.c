// SPDX-License-Identifier: BSD-3-Clause
// The scenario's events: links change, nodes restart, requests arrive, rates change.
#include "lab_parts.h"

#include <rte_common.h>

#include <errno.h>
#include <stdio.h>

// ---- links ----

static int change_link(
		struct hs_lab *lab, const struct hs_scenario_event *event, struct hs_error *err)
{
	bool up_changed = false;

	lab->run.config_changed_ns = RTE_MIN(lab->run.config_changed_ns, lab->now_ns);
	for (unsigned direction = 0; direction < 2; direction++) {
		struct hs_link *link = lab->links[event->link][direction];
		struct hs_link_config config = *hs_link_config(link);
		bool was_down = config.down;
		if (!(event->directions & 1u << direction))
			continue;
		int rc = hs_scenario_set_link(event->set, "set", &config, err);
		if (rc == 0)
			rc = hs_link_change(link, &config);
		if (rc < 0)
			return rc;
		up_changed |= config.down != was_down;
	}
	if (up_changed && lab->scenario->forwarding == HS_LAB_SHORTEST_PATH)
		lab_push(lab, lab->now_ns + lab->scenario->reroute_ns, lab_reroute, 0);
	return 0;
}

// ---- nodes ----

static void node_back(struct hs_lab *lab, const struct hs_lab_event *event)
{
	struct lab_node *node = &lab->nodes[event->about];
	struct hs_error err = {0};
	int rc = lab_node_start(node, &err);

	if (rc < 0)
		lab_fail_as(lab, rc, &err);
	else
		lab_control_step(node);
	if (lab->label)
		lab_label_back(node);
}

static void restart(struct lab_node *node, const struct hs_scenario_event *event)
{
	struct hs_lab *lab = node->lab;

	if (!node->node)
		return; // the node is down already
	lab_node_count(node);
	lab_queue_stop(node);
	lab_node_stop(node);
	hs_event_set_timer(&lab->queue, lab_control_timer(node), HS_EVENT_NEVER);
	hs_truth_restart(lab->run.truth, node->index);
	node->restarts++;
	lab_push(lab, lab->now_ns + event->down_ns, node_back, node->index);
}

// Forgets the node's counts of a flow whose rule the node removed. `removed` is NULL if the node
// removed no rule.
static void forget(struct hs_lab *lab, uint32_t node, const json_t *removed)
{
	uint32_t ns_id = (uint32_t)json_integer_value(json_object_get(removed, "ns_id"));
	uint32_t flow = hs_u32_map_find(&lab->run.measured->by_ns_id, ns_id);

	if (removed && flow != HS_U32_MAP_NONE)
		hs_truth_forget(lab->run.truth, flow, node);
}

static int ask_node(
		struct lab_node *node, const struct hs_scenario_event *event, struct hs_error *err)
{
	json_t *ok = lab_ask(node, json_incref(event->request), err);

	if (ok)
		forget(node->lab, node->index, json_object_get(event->request, "int_delete"));
	json_decref(ok);
	return hs_error_is_set(err) ? -EINVAL : 0;
}

static int run_at_node(
		struct lab_node *node, const struct hs_scenario_event *event, struct hs_error *err)
{
	if (event->kind == HS_LAB_EVENT_REQUEST)
		return ask_node(node, event, err);
	if (event->kind == HS_LAB_EVENT_RESTART)
		restart(node, event);
	else
		hs_lab_clock_set(&node->model, event->clock_step_ns);
	return 0;
}

// ---- all kinds ----

static int run_event(
		struct hs_lab *lab, const struct hs_scenario_event *event, struct hs_error *err)
{
	int rc = 0;

	if (event->kind == HS_LAB_EVENT_LINK)
		return change_link(lab, event, err);
	if (event->kind == HS_LAB_EVENT_TRAFFIC) {
		hs_stream_pace_set_rate(&lab->run.streams[event->traffic]->pace, lab->now_ns,
				event->rate_pps);
		lab_follow_stream(lab, event->traffic);
		return 0;
	}
	for (uint32_t i = 0; rc == 0 && i < lab->scenario->n_nodes; i++) {
		if (hs_scenario_has_node(event->node, i))
			rc = run_at_node(&lab->nodes[i], event, err);
	}
	return rc;
}

static void push_next(struct hs_lab *lab, const struct hs_lab_event *due)
{
	const struct hs_scenario_event *event = &lab->scenario->events[due->about];
	int64_t duration_ns = lab->scenario->duration_ns;
	int64_t until_ns = event->until_ns ? RTE_MIN(event->until_ns, duration_ns) : duration_ns;
	int64_t next_ns = due->at_ns + event->every_ns;

	if (event->every_ns && next_ns <= lab->run.start_ns + until_ns)
		lab_push(lab, next_ns, due->run, due->about);
}

static void happen(struct hs_lab *lab, const struct hs_lab_event *due)
{
	const struct hs_scenario_event *event = &lab->scenario->events[due->about];
	struct hs_error err = {0};
	char path[48];
	int rc = run_event(lab, event, &err);

	if (rc == 0) {
		push_next(lab, due);
		return;
	}
	snprintf(path, sizeof(path), "events[%u]", event->entry);
	hs_error_prefix(&err, path);
	lab_fail_as(lab, rc, &err);
}

void lab_push_events(struct hs_lab *lab)
{
	for (uint32_t i = 0; i < lab->scenario->n_events; i++)
		lab_push(lab, lab->run.start_ns + lab->scenario->events[i].at_ns, happen, i);
}

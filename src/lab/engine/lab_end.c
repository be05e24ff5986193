// SPDX-License-Identifier: BSD-3-Clause
// Beginning and end of a run: the first and the last packet of each monitored stream, with
// telemetry and silence around them; then the nodes' last messages and the sums.
#include "lab_parts.h"

#include <rte_common.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CLOSING_NS INT64_C(1000000000) // after a stream's last frame

// Asks the node, and releases the request. Returns NULL if the node is down, or if the scenario
// removed the rule.
static json_t *ask(struct lab_node *node, json_t *request)
{
	struct hs_error err = {0};
	json_t *ok = lab_ask(node, request, &err);

	if (hs_error_is_set(&err) && strcmp(err.code, "no_such_rule") != 0)
		lab_fail_as(node->lab, -EINVAL, &err);
	return ok;
}

// ---- opening and closing packets ----

// Returns the int_request that the scenario made at the start to the flow's source, or NULL.
static const json_t *asked(const struct hs_lab *lab, const struct hs_scenario_flow *flow)
{
	const struct hs_scenario *s = lab->scenario;

	for (size_t i = 0; i < s->n_requests; i++) {
		const struct hs_scenario_request *request = &s->requests[i];
		const json_t *content = json_object_get(request->request, "int_request");
		if (content && hs_scenario_has_node(request->node, flow->source) &&
				json_integer_value(json_object_get(content, "ns_id")) ==
						flow->ns_id)
			return content;
	}
	return NULL;
}

// Changes the mode of the rules of the traffic's flows at their sources. The new mode is that of
// `rule` or, if `rule` is NULL, that of the scenario's request.
static void set_modes(struct hs_lab *lab, uint32_t traffic, const json_t *rule)
{
	for (size_t f = 0; f < lab->scenario->n_flows; f++) {
		const struct hs_scenario_flow *flow = &lab->scenario->flows[f];
		if (flow->traffic != traffic)
			continue;
		const json_t *wanted = rule ? rule : asked(lab, flow);
		if (wanted)
			json_decref(ask(&lab->nodes[flow->source],
					json_pack("{s:{s:I, s:O, s:O}}", "int_update", "ns_id",
							(json_int_t)flow->ns_id, "mode",
							json_object_get(wanted, "mode"),
							"mode_setting",
							json_object_get(wanted, "mode_setting"))));
	}
}

static void opened(struct hs_lab *lab, const struct hs_lab_event *event)
{
	set_modes(lab, (uint32_t)event->about, NULL);
}

// Makes the stream send one more packet. The packet carries telemetry, whatever the mode of its
// rule.
static void extra(struct hs_lab *lab, const struct hs_lab_event *event)
{
	json_t *every = json_pack("{s:s, s:i}", "mode", "count", "mode_setting", 1);
	uint32_t traffic = (uint32_t)event->about;

	lab->extras--;
	set_modes(lab, traffic, every);
	json_decref(every);
	lab->run.streams[traffic]->extra_ns = lab->now_ns;
	lab_follow_stream(lab, traffic);
}

void lab_push_openings(struct hs_lab *lab)
{
	for (uint32_t t = 0; t < lab->scenario->n_traffic; t++) {
		const struct hs_scenario_traffic *traffic = &lab->scenario->traffic[t];
		int64_t at_ns = lab->run.start_ns + traffic->start_ns;
		if (!traffic->opening_ns || traffic->start_ns >= traffic->stop_ns)
			continue;
		lab->extras += lab_push(lab, at_ns, extra, t);
		lab_push(lab, at_ns + traffic->opening_ns / 2, opened, t);
	}
}

void lab_push_closings(struct hs_lab *lab)
{
	for (uint32_t t = 0; lab->scenario->closing_packet && t < lab->scenario->n_traffic; t++) {
		const uint32_t *flows = lab->scenario->traffic[t].flows;
		int64_t latest_ns = lab->run.streams[t]->latest_ns;
		bool monitored = flows[0] != HS_NO_INDEX || flows[1] != HS_NO_INDEX;
		if (monitored && latest_ns != 0)
			lab->extras += lab_push(lab, RTE_MAX(lab->now_ns, latest_ns + CLOSING_NS),
					extra, t);
	}
}

// ---- sums ----

// Passes on the metrics of the whole run as if the node had published them.
static void tell_run(struct hs_lab *lab, json_t *report)
{
	json_t *message = json_pack("{s:O}", "qos_report", report);
	char *text = message ? json_dumps(message, JSON_COMPACT | JSON_REAL_PRECISION(15)) : NULL;

	if (text)
		lab->config.published(lab->config.context, lab->now_ns, "run", text);
	free(text);
	json_decref(message);
}

static void take_run(struct hs_lab *lab, const struct hs_scenario_flow *flow)
{
	json_t *ok = ask(&lab->nodes[flow->sink],
			json_pack("{s:{s:I, s:s}}", "qos_get", "ns_id", (json_int_t)flow->ns_id,
					"window", "run"));
	json_t *report = json_array_get(json_object_get(ok, "qos"), 0);
	int rc = report ? hs_measured_take_run(lab->run.measured, report) : 0;

	if (report && lab->config.published)
		tell_run(lab, report);
	if (rc < 0)
		lab_fail(lab, rc, "internal", "", "",
				"what a node said of the run was not understood");
	json_decref(ok);
}

// Takes the sums of a node that is up, and lets it publish what it still has.
static void close_node(struct lab_node *node)
{
	json_t *ok = ask(node, json_pack("{s:{}}", "audit"));

	if (!node->node)
		return;
	if (ok && !json_is_true(json_object_get(ok, "ok")))
		json_array_append(node->lab->run.audit, ok);
	json_decref(ok);
	lab_node_count(node);
	while (hs_control_finish(node->control, lab_shown_ns(node)) > 0)
		;
}

void lab_collect(struct hs_lab *lab)
{
	const struct hs_scenario *s = lab->scenario;

	for (size_t f = 0; f < s->n_flows; f++) {
		if (s->flows[f].traffic != HS_NO_INDEX)
			take_run(lab, &s->flows[f]);
	}
	for (uint32_t i = 0; i < s->n_nodes; i++)
		close_node(&lab->nodes[i]);
	for (size_t l = 0; l < s->n_links; l++) {
		for (unsigned direction = 0; direction < 2; direction++)
			hs_link_counters(lab->links[l][direction], &lab->run.links[l][direction]);
	}
	int rc = lab->run.truth->status ?: lab_queue_collect(lab);
	if (lab->label) {
		hs_label_truth_end(lab->run.label, lab->run.end_ns);
		rc = rc ?: lab->run.label->status;
	}
	if (lab->probing)
		lab_monitor_end(lab);
	for (size_t t = 0; rc == 0 && t < s->n_traffic; t++)
		rc = lab->run.streams[t]->status;
	if (rc < 0)
		lab_fail(lab, rc, "no_memory", "", "", "no memory for what was to be remembered");
}

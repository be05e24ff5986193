// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_json.h"

#include <math.h>

#define NS_PER_S   1e9
#define EXACT_REAL 9007199254740992.0 // 2^53: up to here each whole number is a double

// ---- members ----

int hs_outcome_put_value(json_t *to, const char *key, json_t *value)
{
	return key ? json_object_set_new(to, key, value) : json_array_append_new(to, value);
}

int hs_outcome_put_integer(json_t *to, const char *key, int64_t value)
{
	return hs_outcome_put_value(to, key, json_integer(value));
}

int hs_outcome_put(json_t *to, const char *key, double value)
{
	if (!isfinite(value))
		return 0;
	if (fabs(value) < EXACT_REAL && floor(value) == value)
		return hs_outcome_put_integer(to, key, (int64_t)value);
	return hs_outcome_put_value(to, key, json_real(value));
}

int hs_outcome_put_flow(json_t *to, const struct hs_scenario *scenario, uint32_t flow)
{
	char name[HS_OUTCOME_FLOW_NAME];
	hs_outcome_flow_name(scenario, flow, name);
	int rc = json_object_set_new(to, "flow", json_string(name));
	return rc | hs_outcome_put_integer(to, "ns_id", scenario->flows[flow].ns_id);
}

// ---- flows ----

const char *const hs_outcome_flag_names[HS_OUTCOME_FLAGS] = {"multipath", "rules_differ",
		"counter_ambiguous", "negative_delay", "epoch", "counts_missing", "clock_step",
		"bypassed", "entries_missing"};

static json_t *flow_json(const struct hs_outcome *outcome, uint32_t flow)
{
	const struct hs_outcome_totals *totals = &outcome->totals[flow];
	const struct {
		const char *key;
		int64_t value;
	} counts[] = {
			{"windows", (int64_t)totals->windows},
			{"stale_windows", (int64_t)totals->stale},
			{"empty_windows", (int64_t)totals->empty},
			{"path_changes", (int64_t)totals->path_changes},
			{"unsynchronised_windows", (int64_t)totals->unsynchronised},
			{"reports", (int64_t)totals->reports},
			{"true_reports", (int64_t)hs_truth_reports(outcome->run->truth, flow)},
			{"span_mismatches", (int64_t)totals->span_mismatches},
			{"number_mismatches", (int64_t)totals->number_mismatches},
			{"marked_windows", (int64_t)totals->marked},
			{"negative_windows", (int64_t)totals->negative},
			{"run_mismatches", (int64_t)totals->run_mismatches},
			{"unattributed_lost_packets", totals->unattributed_lost_packets},
	};
	json_t *json = json_object(), *flags = json_object();
	int rc = hs_outcome_put_flow(json, outcome->run->scenario, flow);
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		rc |= hs_outcome_put_integer(json, counts[i].key, counts[i].value);
	for (size_t i = 0; i < HS_OUTCOME_FLAGS; i++)
		rc |= hs_outcome_put_integer(
				flags, hs_outcome_flag_names[i], (int64_t)totals->flags[i]);
	rc |= json_object_set_new(json, "flags", flags);
	if (!rc)
		return json;
	json_decref(json);
	return NULL;
}

static json_t *flows_json(const struct hs_outcome *outcome)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < outcome->run->scenario->n_flows; i++) {
		if (!json_array_append_new(list, flow_json(outcome, i)))
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}

// ---- links ----

static int put_lost(json_t *to, const struct hs_link_counters *counters)
{
	json_t *lost = json_object();
	int rc = json_object_set_new(to, "lost", lost);
	for (unsigned i = HS_LINK_NOT_LOST + 1; i < HS_LINK_LOSSES; i++)
		rc |= hs_outcome_put_integer(
				lost, hs_link_loss_name(i), (int64_t)counters->lost[i]);
	return rc;
}

static int put_link(json_t *list, const struct hs_scenario_link *link, unsigned way,
		const struct hs_link_counters *of)
{
	const struct {
		const char *key;
		uint64_t value;
	} counters[] = {
			{"sent_packets", of->sent_packets},
			{"sent_bytes", of->sent_bytes},
			{"copies", of->copies},
			{"delivered_packets", of->delivered_packets},
			{"delivered_bytes", of->delivered_bytes},
			{"lost_bytes", of->lost_bytes},
			{"telemetry_sent", of->telemetry_sent},
			{"telemetry_lost", of->telemetry_lost},
			{"late", of->late},
			{"queue_max_packets", of->queue_max_packets},
			{"wait_max_ns", (uint64_t)of->wait_max_ns},
	};
	json_t *json = json_object();
	int rc = json_array_append_new(list, json);
	rc |= json_object_set_new(json, "name", json_string(link->name));
	rc |= json_object_set_new(json, "direction", json_string(way ? "reverse" : "forward"));
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		rc |= hs_outcome_put_integer(json, counters[i].key, (int64_t)counters[i].value);
	return rc | put_lost(json, of);
}

// Directions that nothing was sent into say nothing.
static json_t *links_json(const struct hs_run *run)
{
	json_t *list = json_array();
	int rc = list ? 0 : -1;
	for (size_t i = 0; run->links && i < run->scenario->n_links; i++)
		for (unsigned way = 0; way < 2; way++)
			if (run->links[i][way].sent_packets)
				rc |= put_link(list, &run->scenario->links[i], way,
						&run->links[i][way]);
	if (!rc)
		return list;
	json_decref(list);
	return NULL;
}

// ---- traffic ----

static int put_traffic(json_t *list, const struct hs_run *run, uint32_t index)
{
	struct hs_outcome_traffic traffic;
	const struct hs_stream_counters *of = &traffic.counters;
	hs_outcome_traffic_of(run, index, &traffic);
	const struct {
		const char *key;
		uint64_t value;
	} counters[] = {
			{"sent", of->sent[0]},
			{"delivered", of->delivered[0]},
			{"bytes_sent", of->bytes_sent[0]},
			{"bytes_delivered", of->bytes_delivered[0]},
			{"replies_sent", of->sent[1]},
			{"replies_delivered", of->delivered[1]},
			{"reply_bytes_sent", of->bytes_sent[1]},
			{"reply_bytes_delivered", of->bytes_delivered[1]},
			{"altered", of->altered},
			{"retransmitted", of->retransmitted},
			{"skipped", of->skipped},
	};
	json_t *json = json_object();
	int rc = json_array_append_new(list, json);
	rc |= json_object_set_new(json, "name", json_string(run->scenario->traffic[index].name));
	for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++)
		rc |= hs_outcome_put_integer(json, counters[i].key, (int64_t)counters[i].value);
	rc |= hs_outcome_put(json, "delivered_ratio", traffic.delivered_ratio);
	return rc | hs_outcome_put(json, "goodput_bps", traffic.goodput_bps);
}

static json_t *traffic_json(const struct hs_run *run)
{
	json_t *list = json_array();
	int rc = list ? 0 : -1;
	for (uint32_t i = 0; i < run->scenario->n_traffic; i++)
		rc |= put_traffic(list, run, i);
	if (!rc)
		return list;
	json_decref(list);
	return NULL;
}

// ---- expectations ----

static int put_limits(json_t *json, const struct hs_scenario_expect *expect)
{
	int rc = 0;
	if (expect->has_value) {
		rc |= hs_outcome_put(json, "value", expect->value);
		rc |= hs_outcome_put(json, "tolerance", expect->tolerance);
	}
	if (expect->has_min)
		rc |= hs_outcome_put(json, "min", expect->min);
	if (expect->has_max)
		rc |= hs_outcome_put(json, "max", expect->max);
	return rc;
}

static int put_expect(json_t *list, const struct hs_outcome *outcome,
		const struct hs_scenario_expect *expect)
{
	struct hs_outcome_verdict verdict;
	char flow[HS_OUTCOME_FLOW_NAME];
	json_t *json = json_object();
	int rc = json_array_append_new(list, json);
	hs_outcome_judge(outcome, expect, &verdict);
	rc |= json_object_set_new(json, "metric", json_string(expect->metric));
	if (expect->hop[0])
		rc |= json_object_set_new(json, "hop", json_string(expect->hop));
	if (expect->flow != HS_NO_INDEX) {
		hs_outcome_flow_name(outcome->run->scenario, expect->flow, flow);
		rc |= json_object_set_new(json, "flow", json_string(flow));
	}
	if (expect->node != HS_NO_INDEX) {
		const char *name = outcome->run->scenario->nodes[expect->node].name;
		rc |= json_object_set_new(json, "node", json_string(name));
	}
	rc |= put_limits(json, expect);
	rc |= hs_outcome_put(json, "measured", verdict.value);
	rc |= json_object_set_new(json, "met", json_boolean(verdict.met));
	if (verdict.reason[0])
		rc |= json_object_set_new(json, "reason", json_string(verdict.reason));
	return rc;
}

static json_t *expect_json(const struct hs_outcome *outcome)
{
	const struct hs_scenario *scenario = outcome->run->scenario;
	json_t *list = json_array();
	int rc = list ? 0 : -1;
	for (size_t i = 0; i < scenario->n_expects; i++)
		rc |= put_expect(list, outcome, &scenario->expects[i]);
	for (size_t i = 0; i < HS_OUTCOME_BUILT_IN; i++) {
		const struct hs_scenario_expect *broken = hs_outcome_broken(outcome, i);
		rc |= broken ? put_expect(list, outcome, broken) : 0;
	}
	if (!rc)
		return list;
	json_decref(list);
	return NULL;
}

// ---- the result ----

static json_t *audit_json(const struct hs_run *run)
{
	json_t *json = json_object();
	int rc = json_object_set_new(json, "ok", json_boolean(run->audit_ok));
	rc |= json_object_set_new(
			json, "nodes", run->audit ? json_deep_copy(run->audit) : json_array());
	rc |= hs_outcome_put_integer(json, "node_drops", (int64_t)run->node_drops);
	rc |= hs_outcome_put_integer(json, "dropped_down", (int64_t)run->dropped_down);
	if (!rc)
		return json;
	json_decref(json);
	return NULL;
}

static int put_head(json_t *json, const struct hs_run *run)
{
	const struct hs_scenario *scenario = run->scenario;
	int rc = json_object_set_new(json, "name", json_string(scenario->name));
	rc |= json_object_set_new(json, "source", json_string(scenario->source));
	rc |= hs_outcome_put_integer(json, "seed", (int64_t)scenario->seed);
	rc |= hs_outcome_put(json, "wall_s", run->wall_s);
	rc |= json_object_set_new(json, "partial", json_boolean(run->partial));
	rc |= json_object_set_new(json, "real", json_boolean(run->real));
	rc |= hs_outcome_put(json, "duration_s", (double)scenario->duration_ns / NS_PER_S);
	rc |= hs_outcome_put_integer(json, "start_ns", run->start_ns);
	rc |= hs_outcome_put_integer(json, "end_ns", run->end_ns);
	return rc | hs_outcome_put_integer(json, "window_ns", scenario->window_ns);
}

json_t *hs_outcome_json(const struct hs_outcome *outcome)
{
	const struct hs_run *run = outcome->run;
	json_t *json = json_object();
	int rc = json ? put_head(json, run) : -1;
	if (run->scenario->keep_windows)
		rc |= json_object_set_new(json, "windows", hs_outcome_json_windows(outcome));
	rc |= json_object_set_new(json, "mae", hs_outcome_json_mae(outcome));
	rc |= json_object_set_new(json, "rows", hs_outcome_json_rows(outcome));
	rc |= json_object_set_new(json, "flows", flows_json(outcome));
	rc |= json_object_set_new(json, "lost_packets", hs_outcome_json_lost(outcome));
	rc |= json_object_set_new(json, "round_trip", hs_outcome_json_trips(outcome));
	rc |= json_object_set_new(json, "overhead", hs_outcome_json_overhead(outcome));
	rc |= json_object_set_new(json, "links", links_json(run));
	rc |= json_object_set_new(json, "traffic", traffic_json(run));
	rc |= json_object_set_new(json, "audit", audit_json(run));
	rc |= hs_outcome_put_integer(json, "events", (int64_t)run->events);
	rc |= json_object_set_new(json, "expect", expect_json(outcome));
	if (!rc)
		return json;
	json_decref(json);
	return NULL;
}

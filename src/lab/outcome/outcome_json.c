// SPDX-License-Identifier: BSD-3-Clause
// The result as JSON. If memory is out, functions of jansson get NULL and do nothing. The result is
// then NULL, or lacks a member.
#include "outcome_parts.h"

#include <math.h>

#define EXACT_REAL 9007199254740992.0 // 2^53: up to here a double represents each whole number

json_t *outcome_number(double value)
{
	if (!isfinite(value))
		return NULL;
	if (fabs(value) < EXACT_REAL && floor(value) == value)
		return json_integer((json_int_t)value);
	return json_real(value);
}

void outcome_put(json_t *to, const char *key, double value)
{
	if (isfinite(value))
		json_object_set_new(to, key, outcome_number(value));
}

void outcome_put_integer(json_t *to, const char *key, json_int_t value)
{
	json_object_set_new(to, key, json_integer(value));
}

static json_t *flow_object(const struct outcome *outcome, uint32_t flow)
{
	char name[OUTCOME_FLOW_NAME];
	return json_pack("{s:s, s:I}", "flow",
			outcome_flow_name(outcome->run->scenario, flow, name), "ns_id",
			(json_int_t)outcome->run->scenario->flows[flow].ns_id);
}

// ---- rows ----

// Appends an object that names the row, and returns it.
static json_t *append_row(
		json_t *list, const struct outcome *outcome, const struct outcome_row *row)
{
	json_t *json = flow_object(outcome, row->flow);
	json_object_set_new(json, "hop", json_string(row->hop));
	outcome_put_integer(json, "from", row->ends.from);
	outcome_put_integer(json, "to", row->ends.to);
	json_array_append_new(list, json);
	return json;
}

static json_t *columns_json(const struct outcome_columns *columns)
{
	const struct outcome_column *truth = &columns->truth, *configured = &columns->configured;
	json_t *json = json_object(), *mae = json_object();
	outcome_put(json, "measured", outcome_mean(columns->measured.sum, columns->measured.n));
	outcome_put(json, "truth", outcome_mean(truth->sum, truth->n));
	outcome_put(json, "configured", outcome_mean(configured->sum, configured->n));
	outcome_put(mae, "configured", outcome_mean(configured->off, configured->n));
	outcome_put(mae, "truth", outcome_mean(truth->off, truth->n));
	json_object_set_new(json, "mae", mae);
	outcome_put(json, "max_error", truth->n ? truth->max_off : NAN);
	outcome_put(json, "mean_error", fabs(outcome_mean(configured->off_signed, configured->n)));
	outcome_put_integer(json, "windows", (json_int_t)columns->measured.n);
	return json;
}

static void put_rows(const struct outcome *outcome, json_t *rows, json_t *lost, json_t *overhead)
{
	for (size_t i = 0; i < outcome->n_rows; i++) {
		const struct outcome_row *row = &outcome->rows[i];
		const struct hs_row_numbers *numbers = &row->numbers;
		json_t *json = append_row(rows, outcome, row);
		for (unsigned kind = 0; kind < HS_LAB_KINDS; kind++)
			if (row->columns[kind].measured.n)
				json_object_set_new(json, hs_lab_metric_word(kind),
						columns_json(&row->columns[kind]));
		json = append_row(lost, outcome, row);
		outcome_put(json, "measured", numbers->lost);
		outcome_put(json, "shown", numbers->lost_truth + numbers->false_lost);
		outcome_put(json, "truth", numbers->lost_truth);
		outcome_put(json, "truth_all", numbers->lost_all);
		if (!row->link.sent_packets)
			continue;
		json = append_row(overhead, outcome, row);
		outcome_put(json, "bytes_ratio", numbers->bytes_ratio);
		outcome_put(json, "packets_ratio", numbers->packets_ratio);
		outcome_put(json, "packets", (double)row->link.sent_packets);
		outcome_put(json, "bytes", (double)row->link.sent_bytes);
		outcome_put(json, "telemetry_packets", (double)row->link.telemetry_packets);
		outcome_put(json, "telemetry_bytes", (double)row->link.telemetry_bytes);
	}
}

static json_t *maes_json(const struct outcome *outcome)
{
	static const struct {
		const char *key;
		enum hs_lab_metric_form form;
	} yardsticks[] = {{"configured", HS_FORM_MAE_CONFIGURED}, {"truth", HS_FORM_MAE_TRUTH}};
	json_t *json = json_object();
	for (unsigned kind = 0; kind < HS_LAB_KINDS; kind++) {
		json_t *of = json_object();
		for (unsigned i = 0; i < 2; i++) {
			const struct hs_lab_metric mean = {
					NULL, yardsticks[i].form, kind, HS_OVER_MEAN};
			outcome_put(of, yardsticks[i].key,
					outcome_over_rows(outcome, HS_NO_INDEX, &mean));
		}
		json_object_set_new(json, hs_lab_metric_word(kind), of);
	}
	return json;
}

// ---- flows ----

static json_t *flows_json(const struct outcome *outcome)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < outcome->run->scenario->n_flows; i++) {
		const struct hs_flow_counts *counts = &outcome->counts[i];
		json_t *json = flow_object(outcome, i), *flags = json_object();
#define PUT_COUNT(key) outcome_put_integer(json, #key, counts->key);
		HS_FLOW_COUNTS(PUT_COUNT)
		size_t true_reports = hs_truth_flow(outcome->run->truth, i).n_reports;
		outcome_put_integer(json, "true_reports", (json_int_t)true_reports);
		for (unsigned bit = 0; bit < HS_LAB_FLAGS; bit++)
			outcome_put_integer(flags, hs_lab_flags[bit], counts->flags[bit]);
		json_object_set_new(json, "flags", flags);
		json_array_append_new(list, json);
	}
	return list;
}

static json_t *trips_json(const struct outcome *outcome)
{
	const struct hs_scenario *scenario = outcome->run->scenario;
	json_t *list = json_array();
	for (size_t i = 0; i < outcome->n_trips; i++) {
		const struct outcome_trip *trip = &outcome->trips[i];
		char up[OUTCOME_FLOW_NAME], down[OUTCOME_FLOW_NAME];
		json_t *json = json_pack("{s:I, s:s, s:s}", "app_id",
				(json_int_t)scenario->flows[trip->up].app_id, "up",
				outcome_flow_name(scenario, trip->up, up), "down",
				outcome_flow_name(scenario, trip->down, down));
#define PUT_TRIP(member) outcome_put(json, #member, trip->numbers.member)
		PUT_TRIP(measured_ns);
		PUT_TRIP(truth_ns);
		PUT_TRIP(mae_ns);
		PUT_TRIP(mae_windows_ns);
		PUT_TRIP(mae_pings_ns);
		PUT_TRIP(pairs);
		PUT_TRIP(clocks_differ);
		if (scenario->keep_windows)
			json_object_set(json, "windows", trip->windows);
		json_array_append_new(list, json);
	}
	return list;
}

// ---- links and traffic ----

static json_t *link_json(const struct hs_scenario_link *link, unsigned direction,
		const struct hs_link_counters *of)
{
	json_t *json = json_pack("{s:s, s:s}", "name", link->name, "direction",
			direction ? "reverse" : "forward");
	json_t *lost = json_object();
#define PUT_LINK(member) outcome_put_integer(json, #member, (json_int_t)of->member)
	PUT_LINK(sent_packets);
	PUT_LINK(sent_bytes);
	PUT_LINK(copies);
	PUT_LINK(delivered_packets);
	PUT_LINK(delivered_bytes);
	PUT_LINK(lost_bytes);
	PUT_LINK(telemetry_sent);
	PUT_LINK(telemetry_lost);
	PUT_LINK(late);
	PUT_LINK(queue_max_packets);
	PUT_LINK(wait_max_ns);
	for (unsigned i = HS_LINK_NOT_LOST + 1; i < HS_LINK_LOSSES; i++)
		outcome_put_integer(lost, hs_link_loss_name(i), (json_int_t)of->lost[i]);
	json_object_set_new(json, "lost", lost);
	return json;
}

// A direction that no frame was sent into is left out.
static json_t *links_json(const struct hs_run *run)
{
	json_t *list = json_array();
	for (size_t i = 0; run->links && i < run->scenario->n_links; i++)
		for (unsigned direction = 0; direction < 2; direction++)
			if (run->links[i][direction].sent_packets)
				json_array_append_new(
						list, link_json(&run->scenario->links[i], direction,
								      &run->links[i][direction]));
	return list;
}

static json_t *traffic_json(const struct hs_run *run)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < run->scenario->n_traffic; i++) {
		struct hs_stream_counters of;
		json_t *json = json_pack("{s:s}", "name", run->scenario->traffic[i].name);
		hs_stream_counters(run->streams[i], &of);
#define PUT_TRAFFIC(key, member) outcome_put_integer(json, key, (json_int_t)of.member)
		PUT_TRAFFIC("sent", sent[0]);
		PUT_TRAFFIC("delivered", delivered[0]);
		PUT_TRAFFIC("bytes_sent", bytes_sent[0]);
		PUT_TRAFFIC("bytes_delivered", bytes_delivered[0]);
		PUT_TRAFFIC("replies_sent", sent[1]);
		PUT_TRAFFIC("replies_delivered", delivered[1]);
		PUT_TRAFFIC("reply_bytes_sent", bytes_sent[1]);
		PUT_TRAFFIC("reply_bytes_delivered", bytes_delivered[1]);
		PUT_TRAFFIC("altered", altered);
		PUT_TRAFFIC("retransmitted", retransmitted);
		PUT_TRAFFIC("skipped", skipped);
		if (of.sent[0]) {
			double delivered = (double)of.delivered[0] / (double)of.sent[0];
			outcome_put(json, "delivered_ratio", delivered);
			outcome_put(json, "goodput_bps",
					outcome_goodput(run, (double)of.bytes_goodput));
		}
		json_array_append_new(list, json);
	}
	return list;
}

// ---- all of it ----

json_t *outcome_json(const struct outcome *outcome)
{
	const struct hs_run *run = outcome->run;
	const struct hs_scenario *scenario = run->scenario;
	json_t *audit = run->audit ? json_incref(run->audit) : json_array();
	json_t *rows = json_array(), *lost = json_array(), *overhead = json_array();
	put_rows(outcome, rows, lost, overhead);
	return json_pack("{s:s, s:s, s:I, s:o, s:b, s:b, s:o, s:I, s:I, s:I, s:O*, s:o, s:o, s:o, "
			 "s:o, s:o, s:o, s:o, s:o, s:{s:b, s:o, s:I, s:I}, s:I, s:o}",
			"name", scenario->name, "source", scenario->source, "seed",
			(json_int_t)scenario->seed, "wall_s", outcome_number(run->wall_s),
			"partial", run->partial, "real", run->real, "duration_s",
			outcome_number((double)scenario->duration_ns / 1e9), "start_ns",
			(json_int_t)run->start_ns, "end_ns", (json_int_t)run->end_ns, "window_ns",
			(json_int_t)scenario->window_ns, "windows",
			scenario->keep_windows ? outcome->windows : NULL, "mae", maes_json(outcome),
			"rows", rows, "flows", flows_json(outcome), "lost_packets", lost,
			"round_trip", trips_json(outcome), "overhead", overhead, "links",
			links_json(run), "traffic", traffic_json(run), "audit", "ok", run->audit_ok,
			"nodes", audit, "node_drops", (json_int_t)run->node_drops, "dropped_down",
			(json_int_t)run->dropped_down, "events", (json_int_t)run->events, "expect",
			outcome_expect_json(outcome));
}

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

static void put(json_t *to, const char *key, double value)
{
	if (isfinite(value))
		json_object_set_new(to, key, outcome_number(value));
}

static void put_integer(json_t *to, const char *key, uint64_t value)
{
	json_object_set_new(to, key, json_integer((json_int_t)value));
}

static json_t *flow_object(const struct outcome *outcome, uint32_t flow)
{
	char name[OUTCOME_FLOW_NAME];
	return json_pack("{s:s, s:I}", "flow",
			outcome_flow_name(outcome->run->scenario, flow, name), "ns_id",
			(json_int_t)outcome->run->scenario->flows[flow].ns_id);
}

static json_t *row_object(const struct outcome *outcome, const struct outcome_row *row)
{
	json_t *json = flow_object(outcome, row->flow);
	json_object_set_new(json, "hop", json_string(row->hop));
	put_integer(json, "from", row->ends.from);
	put_integer(json, "to", row->ends.to);
	return json;
}

// ---- windows ----

json_t *outcome_truth_json(const struct outcome_truth *truth)
{
	json_t *json = json_object();
	if (truth->has_delay)
		json_object_set(json, "delay_ns", truth->delay);
	if (truth->has_jitter)
		json_object_set_new(json, "jitter_ns", json_integer(truth->jitter_ns));
	if (truth->has_window)
		put(json, "window_throughput_bps", truth->window_throughput_bps);
	if (truth->has_span) {
		json_object_set_new(json, "span_start_ns", json_integer(truth->span_start_ns));
		json_object_set_new(json, "span_end_ns", json_integer(truth->span_end_ns));
	}
	if (!truth->has_counts)
		return json;
	put(json, "throughput_bps", truth->throughput_bps);
	put(json, "loss_ratio", truth->loss_ratio);
	put(json, "tx_packets", (double)truth->tx_packets);
	put(json, "rx_packets", (double)truth->rx_packets);
	put(json, "rx_bytes", (double)truth->rx_bytes);
	put(json, "lost_packets", (double)truth->lost_packets);
	if (truth->has_node_loss)
		put(json, "node_lost_packets", (double)truth->node_lost_packets);
	return json;
}

static json_t *windows_json(const struct outcome *outcome)
{
	json_t *list = json_array();
	for (size_t i = 0; i < hs_measured_windows(outcome->run->measured); i++)
		json_array_append(list, outcome->windows[i]);
	return list;
}

// ---- rows ----

static json_t *mae_json(double configured, double truth)
{
	json_t *json = json_object();
	put(json, "configured", configured);
	put(json, "truth", truth);
	return json;
}

static json_t *sums_json(const struct outcome_sums *sums)
{
	json_t *json = json_object();
	put(json, "measured", outcome_mean(sums->measured, sums->n));
	put(json, "truth", outcome_mean(sums->truth, sums->n_truth));
	put(json, "configured", outcome_mean(sums->configured, sums->n_configured));
	json_object_set_new(json, "mae",
			mae_json(outcome_mean(sums->off_configured, sums->n_configured),
					outcome_mean(sums->off_truth, sums->n_truth)));
	put(json, "max_error", sums->n_truth ? sums->max_off_truth : NAN);
	put(json, "mean_error", fabs(outcome_mean(sums->off_signed, sums->n_configured)));
	put_integer(json, "windows", sums->n);
	return json;
}

static json_t *rows_json(const struct outcome *outcome)
{
	json_t *list = json_array();
	for (size_t i = 0; i < outcome->n_rows; i++) {
		const struct outcome_row *row = &outcome->rows[i];
		json_t *json = row_object(outcome, row);
		for (unsigned kind = 0; kind < HS_LAB_KINDS; kind++)
			if (row->sums[kind].n)
				json_object_set_new(json, hs_lab_metric_word(kind),
						sums_json(&row->sums[kind]));
		json_array_append_new(list, json);
	}
	return list;
}

// Computes the means over the rows that have the value.
static json_t *maes_json(const struct outcome *outcome)
{
	json_t *json = json_object();
	for (unsigned kind = 0; kind < HS_LAB_KINDS; kind++) {
		double truth = 0, configured = 0;
		size_t n_truth = 0, n_configured = 0;
		for (size_t i = 0; i < outcome->n_rows; i++) {
			const struct outcome_sums *sums = &outcome->rows[i].sums[kind];
			if (sums->n_truth)
				truth += sums->off_truth / (double)sums->n_truth;
			if (sums->n_configured)
				configured += sums->off_configured / (double)sums->n_configured;
			n_truth += sums->n_truth > 0;
			n_configured += sums->n_configured > 0;
		}
		json_object_set_new(json, hs_lab_metric_word(kind),
				mae_json(outcome_mean(configured, n_configured),
						outcome_mean(truth, n_truth)));
	}
	return json;
}

static json_t *lost_json(const struct outcome *outcome)
{
	json_t *list = json_array();
	for (size_t i = 0; i < outcome->n_rows; i++) {
		const struct hs_row_numbers *of = &outcome->rows[i].numbers;
		json_t *json = row_object(outcome, &outcome->rows[i]);
		put(json, "measured", of->lost);
		put(json, "shown", of->lost_truth + of->false_lost);
		put(json, "truth", of->lost_truth);
		put(json, "truth_all", of->lost_all);
		json_array_append_new(list, json);
	}
	return list;
}

static json_t *overhead_json(const struct outcome *outcome)
{
	json_t *list = json_array();
	for (size_t i = 0; i < outcome->n_rows; i++) {
		const struct outcome_row *row = &outcome->rows[i];
		if (!row->link.sent_packets)
			continue;
		json_t *json = row_object(outcome, row);
		put(json, "bytes_ratio", row->numbers.bytes_ratio);
		put(json, "packets_ratio", row->numbers.packets_ratio);
		put_integer(json, "packets", row->link.sent_packets);
		put_integer(json, "bytes", row->link.sent_bytes);
		put_integer(json, "telemetry_packets", row->link.telemetry_packets);
		put_integer(json, "telemetry_bytes", row->link.telemetry_bytes);
		json_array_append_new(list, json);
	}
	return list;
}

// ---- flows ----

static json_t *flows_json(const struct outcome *outcome)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < outcome->run->scenario->n_flows; i++) {
		const struct hs_flow_counts *counts = &outcome->counts[i];
		json_t *json = flow_object(outcome, i), *flags = json_object();
#define PUT_COUNT(key) json_object_set_new(json, #key, json_integer(counts->key));
		HS_FLOW_COUNTS(PUT_COUNT)
		put_integer(json, "true_reports", hs_truth_reports(outcome->run->truth, i));
		for (unsigned bit = 0; bit < HS_LAB_FLAGS; bit++)
			json_object_set_new(
					flags, hs_lab_flags[bit], json_integer(counts->flags[bit]));
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
		put(json, "measured_ns", trip->numbers.measured_ns);
		put(json, "truth_ns", trip->numbers.truth_ns);
		put(json, "mae_ns", trip->numbers.mae_ns);
		put(json, "mae_windows_ns", trip->numbers.mae_windows_ns);
		put(json, "mae_pings_ns", trip->numbers.mae_pings_ns);
		put(json, "pairs", trip->numbers.pairs);
		put(json, "clocks_differ", trip->numbers.clocks_differ);
		if (scenario->keep_windows)
			json_object_set(json, "windows", trip->windows);
		json_array_append_new(list, json);
	}
	return list;
}

// ---- links and traffic ----

static json_t *link_json(const struct hs_scenario_link *link, unsigned way,
		const struct hs_link_counters *of)
{
	json_t *json = json_pack(
			"{s:s, s:s}", "name", link->name, "direction", way ? "reverse" : "forward");
	json_t *lost = json_object();
#define PUT_LINK(member) put_integer(json, #member, (uint64_t)of->member)
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
		put_integer(lost, hs_link_loss_name(i), of->lost[i]);
	json_object_set_new(json, "lost", lost);
	return json;
}

// A direction that no frame was sent into is left out.
static json_t *links_json(const struct hs_run *run)
{
	json_t *list = json_array();
	for (size_t i = 0; run->links && i < run->scenario->n_links; i++)
		for (unsigned way = 0; way < 2; way++)
			if (run->links[i][way].sent_packets)
				json_array_append_new(list, link_json(&run->scenario->links[i], way,
									    &run->links[i][way]));
	return list;
}

static json_t *traffic_json(const struct hs_run *run)
{
	json_t *list = json_array();
	for (uint32_t i = 0; i < run->scenario->n_traffic; i++) {
		struct hs_stream_counters of;
		json_t *json = json_pack("{s:s}", "name", run->scenario->traffic[i].name);
		hs_stream_counters(run->streams[i], &of);
		put_integer(json, "sent", of.sent[0]);
		put_integer(json, "delivered", of.delivered[0]);
		put_integer(json, "bytes_sent", of.bytes_sent[0]);
		put_integer(json, "bytes_delivered", of.bytes_delivered[0]);
		put_integer(json, "replies_sent", of.sent[1]);
		put_integer(json, "replies_delivered", of.delivered[1]);
		put_integer(json, "reply_bytes_sent", of.bytes_sent[1]);
		put_integer(json, "reply_bytes_delivered", of.bytes_delivered[1]);
		put_integer(json, "altered", of.altered);
		put_integer(json, "retransmitted", of.retransmitted);
		put_integer(json, "skipped", of.skipped);
		if (of.sent[0]) {
			put(json, "delivered_ratio", (double)of.delivered[0] / (double)of.sent[0]);
			put(json, "goodput_bps", outcome_goodput(run, (double)of.bytes_goodput));
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
	return json_pack("{s:s, s:s, s:I, s:o, s:b, s:b, s:o, s:I, s:I, s:I, s:o*, s:o, s:o, s:o, "
			 "s:o, s:o, s:o, s:o, s:o, s:{s:b, s:o, s:I, s:I}, s:I, s:o}",
			"name", scenario->name, "source", scenario->source, "seed",
			(json_int_t)scenario->seed, "wall_s", outcome_number(run->wall_s),
			"partial", run->partial, "real", run->real, "duration_s",
			outcome_number((double)scenario->duration_ns / 1e9), "start_ns",
			(json_int_t)run->start_ns, "end_ns", (json_int_t)run->end_ns, "window_ns",
			(json_int_t)scenario->window_ns, "windows",
			scenario->keep_windows ? windows_json(outcome) : NULL, "mae",
			maes_json(outcome), "rows", rows_json(outcome), "flows",
			flows_json(outcome), "lost_packets", lost_json(outcome), "round_trip",
			trips_json(outcome), "overhead", overhead_json(outcome), "links",
			links_json(run), "traffic", traffic_json(run), "audit", "ok", run->audit_ok,
			"nodes", audit, "node_drops", (json_int_t)run->node_drops, "dropped_down",
			(json_int_t)run->dropped_down, "events", (json_int_t)run->events, "expect",
			outcome_expect_json(outcome));
}

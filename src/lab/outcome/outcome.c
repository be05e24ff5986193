// SPDX-License-Identifier: BSD-3-Clause
#include "outcome.h"

#include "outcome_parts.h"

#include <errno.h>

// ---- when a flow has traffic ----

static int64_t length_of(const struct hs_scenario_traffic *traffic)
{
	int64_t length_ns = traffic->stop_ns - traffic->start_ns - traffic->opening_ns;
	bool paced = traffic->kind != HS_TRAFFIC_BURSTY && traffic->kind != HS_TRAFFIC_PCAP;
	if (!traffic->packets || traffic->rate_pps <= 0 || !paced)
		return length_ns;
	double packets_ns = (double)traffic->packets / traffic->rate_pps * 1e9;
	return packets_ns < (double)length_ns ? (int64_t)packets_ns : length_ns;
}

// Returns whether the window was cut short by the start or the end of its flow's traffic. The
// sink's clock is ahead of the true time by as much as at the window's latest report.
static bool is_partial(const struct outcome_hop *e2e)
{
	const struct outcome_flow *flow = e2e->flow;
	const struct hs_scenario *scenario = flow->run->scenario;
	const struct outcome_report *latest = flow->reports[e2e->high ? e2e->high - 1 : 0];
	uint32_t index = flow->config->traffic;
	int64_t start_ns = flow->run->start_ns, end_ns = flow->run->end_ns;
	int64_t ahead_ns = flow->n ? latest->truth->sink_shown_ns - latest->truth->sink_ns : 0;
	if (index < scenario->n_traffic) {
		const struct hs_scenario_traffic *traffic = &scenario->traffic[index];
		start_ns += traffic->start_ns + traffic->opening_ns;
		if (start_ns + length_of(traffic) < end_ns)
			end_ns = start_ns + length_of(traffic);
		// The window that begins at the end of the silence has half of the silence in its
		// span.
		start_ns += traffic->opening_ns > 0;
	}
	return e2e->window->start_ns - ahead_ns < start_ns ||
	       e2e->window->end_ns - ahead_ns > end_ns;
}

// ---- the counts of a flow ----

static bool is_negative(const struct hs_measured_window *window)
{
	static const char *const counts[] = {"tx_packets", "rx_packets", "rx_bytes"};
	for (uint32_t i = 0; i <= window->n_hops; i++)
		for (unsigned j = 0; j < sizeof(counts) / sizeof(counts[0]); j++)
			if (hs_measured_integer(hs_measured_hop(window, i), counts[j]) < 0)
				return true;
	return false;
}

struct counts {
	HS_FLOW_COUNTS(HS_LAB_COUNT_MEMBER)
};

static void count_window(
		struct counts *counts, const struct hs_measured_window *window, bool partial)
{
	bool unsynchronised = window->clock_known && !window->synchronised;
	counts->stale_windows += window->stale;
	counts->empty_windows += !window->reports;
	if (window->stale)
		return;
	counts->windows += !partial;
	counts->path_changes += window->path_changed;
	counts->unsynchronised_windows += unsynchronised;
	counts->marked_windows += window->flags || window->path_changed || unsynchronised;
	counts->reports += window->reports;
	counts->unattributed_lost_packets += hs_measured_integer(
			hs_measured_hop(window, window->n_hops), "unattributed_lost_packets");
	counts->negative_windows +=
			!(window->flags & ~(uint32_t)HS_QOS_NEGATIVE_DELAY) && is_negative(window);
}

static json_t *flags_json(const struct outcome_flow *flow)
{
	json_t *json = json_object();
	for (const struct hs_schema_word *word = hs_qos_flag_words; word->text; word++) {
		json_int_t n = 0;
		for (size_t i = 0; i < flow->n_windows; i++)
			n += !flow->windows[i]->stale && flow->windows[i]->flags & word->value;
		outcome_put_integer(json, word->text, n);
	}
	return json;
}

static void put_flow(const struct outcome_flow *flow, const struct counts *counts, json_t *result)
{
	json_t *json = json_pack("{s:s, s:I}", "flow", flow->config->name, "ns_id",
			(json_int_t)flow->config->ns_id);
#define PUT_COUNT(key) outcome_put_integer(json, #key, (json_int_t)counts->key);
	HS_FLOW_COUNTS(PUT_COUNT)
	outcome_put_integer(json, "true_reports", (json_int_t)flow->n);
	json_object_set_new(json, "flags", flags_json(flow));
	json_array_append_new(json_object_get(result, "flows"), json);
}

// ---- windows ----

// Compares the measured, the true and the configured values of a hop. A packet in a loop passes
// between the same two nodes twice. The truth cannot tell the two passages apart, so the second is
// not compared.
static json_t *compare_hop(struct outcome_flow *flow, const struct hs_measured_window *window,
		uint32_t index, bool partial)
{
	const struct outcome_hop hop = outcome_hop_of(flow, window, index);
	struct outcome_row *row = outcome_row_of(flow, &hop);
	if (!row)
		return NULL;
	json_t *truth = NULL, *configured = NULL, *measured = json_copy((json_t *)hop.measured);
	bool compared = row->latest != window;
	if (compared) {
		row->latest = window;
		truth = outcome_truth_json(&hop, row);
		configured = outcome_configured_json(&hop);
		outcome_row_add(row, (const json_t *[]){measured, truth, configured}, partial);
	}
	json_object_del(measured, "from");
	json_object_del(measured, "to");
	return json_pack("{s:O*, s:O*, s:o, s:s*, s:o*, s:o*}", "from",
			json_object_get(hop.measured, "from"), "to",
			json_object_get(hop.measured, "to"), "measured", measured, "link",
			compared && !hop.ends.e2e ? row->hop : NULL, "truth", truth, "configured",
			configured);
}

static json_t *window_json(const struct outcome_hop *e2e, bool partial)
{
	const struct hs_measured_window *window = e2e->window;
	const json_t *body = window->body;
	return json_pack("{s:I, s:I, s:s, s:I, s:i, s:I, s:I, s:b, s:b, s:O*, s:O*, s:b, s:O*}",
			"start_ns", window->start_ns, "end_ns", window->end_ns, "flow",
			e2e->flow->config->name, "ns_id", (json_int_t)e2e->flow->config->ns_id,
			"node_id", window->node_id, "reports", window->reports, "true_reports",
			(json_int_t)(e2e->high - e2e->low), "stale", window->stale, "partial",
			partial, "flags", json_object_get(body, "flags"), "path",
			json_object_get(body, "path"), "path_changed", window->path_changed,
			"clock", json_object_get(body, "clock"));
}

// Compares a window with the truth, and puts the window into the result's list of windows if the
// scenario keeps them.
static int compare_window(struct outcome_flow *flow, const struct hs_measured_window *window,
		struct counts *counts, json_t *result)
{
	size_t place = (size_t)(window - flow->run->measured->windows);
	const struct outcome_hop e2e = outcome_hop_of(flow, window, window->n_hops);
	bool partial = is_partial(&e2e);
	json_t *json = window_json(&e2e, partial), *hops = json_array();
	int rc = 0;
	count_window(counts, window, partial);
	if (!window->stale) {
		rc |= json_object_set_new(
				json, "e2e", compare_hop(flow, window, window->n_hops, partial));
		for (uint32_t i = 0; i < window->n_hops; i++)
			rc |= json_array_append_new(hops, compare_hop(flow, window, i, partial));
		rc |= json_object_set(json, "hops", hops);
	}
	json_decref(hops);
	json_array_set_new(json_object_get(result, "windows"), place, json);
	return rc ? -ENOMEM : 0;
}

// Makes the flow's first row, which is from end to end, by the last window that is not stale.
static int make_e2e(struct outcome_flow *flow)
{
	size_t i = flow->n_windows;
	while (i && flow->windows[i - 1]->stale)
		i--;
	if (!i)
		return 0;
	const struct hs_measured_window *last = flow->windows[i - 1];
	const struct outcome_hop e2e = outcome_hop_of(flow, last, last->n_hops);
	return outcome_row_of(flow, &e2e) ? 0 : -ENOMEM;
}

static int compare_flow(const struct hs_run *run, uint32_t index, json_t *result)
{
	struct outcome_flow flow;
	struct counts counts = {0};
	int rc = outcome_flow_init(&flow, run, index);
	rc = rc ? rc : make_e2e(&flow);
	for (size_t i = 0; !rc && i < flow.n_windows; i++) {
		// Between two windows there may be some that no sink published.
		int64_t gap_ns = i ? flow.windows[i]->start_ns - flow.windows[i - 1]->end_ns : 0;
		if (gap_ns > 0)
			counts.empty_windows += gap_ns / run->scenario->window_ns;
		rc = compare_window(&flow, flow.windows[i], &counts, result);
	}
	if (!rc) {
		outcome_rows_put(&flow, result);
		put_flow(&flow, &counts, result);
	}
	outcome_flow_fini(&flow);
	return rc;
}

// ---- all of it ----

// Returns the result with its members in order, and empty lists.
static json_t *begin(const struct hs_run *run)
{
	const struct hs_scenario *scenario = run->scenario;
	json_t *windows = scenario->keep_windows ? json_array() : NULL;
	for (size_t i = 0; i < run->measured->n_windows; i++)
		json_array_append_new(windows, json_null());
	return json_pack("{s:s, s:s, s:I, s:o, s:b, s:b, s:o, s:I, s:I, s:I, s:o*, s:{}, s:[], "
			 "s:[], s:[], s:[], s:[], s:[], s:[], s:{s:b, s:o, s:I, s:I}, s:I, s:[]}",
			"name", scenario->name, "source", scenario->source, "seed",
			(json_int_t)scenario->seed, "wall_s", outcome_number(run->wall_s),
			"partial", run->partial, "real", run->real, "duration_s",
			outcome_number((double)scenario->duration_ns / 1e9), "start_ns",
			(json_int_t)run->start_ns, "end_ns", (json_int_t)run->end_ns, "window_ns",
			(json_int_t)scenario->window_ns, "windows", windows, "mae", "rows", "flows",
			"lost_packets", "round_trip", "overhead", "links", "traffic", "audit", "ok",
			!json_array_size(run->audit), "nodes",
			run->audit ? json_incref(run->audit) : json_array(), "node_drops",
			(json_int_t)run->node_drops, "dropped_down", (json_int_t)run->dropped_down,
			"events", (json_int_t)run->events, "expect");
}

json_t *hs_outcome_json(const struct hs_run *run)
{
	json_t *result = begin(run);
	int rc = result ? run->truth->status : -ENOMEM;
	for (uint32_t i = 0; !rc && i < run->scenario->n_flows; i++)
		rc = compare_flow(run, i, result);
	if (!rc)
		rc = outcome_trips_put(run, result);
	if (rc) {
		json_decref(result);
		return NULL;
	}
	outcome_counters_put(run, result);
	outcome_maes_put(run, result);
	outcome_expects_put(run, result);
	return result;
}

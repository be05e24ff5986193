// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_json.h"

#include <math.h>

static int put_name(json_t *to, const struct hs_outcome *outcome, const struct hs_outcome_row *row)
{
	int rc = hs_outcome_put_flow(to, outcome->run->scenario, row->flow);
	rc |= json_object_set_new(to, "hop", json_string(row->hop));
	rc |= hs_outcome_put_integer(to, "from", row->from_id);
	return rc | hs_outcome_put_integer(to, "to", row->to_id);
}

static json_t *list_or_null(json_t *list, int rc)
{
	if (!rc)
		return list;
	json_decref(list);
	return NULL;
}

// ---- rows ----

static int put_mae(json_t *to, double configured, double truth)
{
	json_t *mae = json_object();
	int rc = json_object_set_new(to, "mae", mae);
	rc |= hs_outcome_put(mae, "configured", configured);
	return rc | hs_outcome_put(mae, "truth", truth);
}

static int put_kind(
		json_t *to, const struct hs_outcome *outcome, size_t row, enum hs_metric_kind kind)
{
	struct hs_outcome_mean mean;
	hs_outcome_mean(outcome, row, kind, &mean);
	if (!mean.n)
		return 0;
	json_t *json = json_object();
	int rc = json_object_set_new(to, hs_metric_word(kind), json);
	rc |= hs_outcome_put(json, "measured", mean.measured);
	rc |= hs_outcome_put(json, "truth", mean.truth);
	rc |= hs_outcome_put(json, "configured", mean.configured);
	rc |= put_mae(json, mean.mae_configured, mean.mae_truth);
	rc |= hs_outcome_put(json, "max_error", mean.max_error_truth);
	rc |= hs_outcome_put(json, "mean_error", mean.mean_error_configured);
	rc |= hs_outcome_put(json, "bound", mean.bound);
	rc |= hs_outcome_put(json, "standard_error", mean.standard_error);
	rc |= hs_outcome_put(json, "max_over_bound", mean.max_over_bound);
	return rc | hs_outcome_put_integer(json, "windows", (int64_t)mean.n);
}

json_t *hs_outcome_json_rows(const struct hs_outcome *outcome)
{
	json_t *list = json_array();
	int rc = list ? 0 : -1;
	for (size_t i = 0; i < outcome->n_lines; i++) {
		json_t *json = json_object();
		rc |= json_array_append_new(list, json);
		rc |= put_name(json, outcome, &outcome->lines[i].row);
		for (unsigned kind = 0; kind < HS_METRIC_KINDS; kind++)
			rc |= put_kind(json, outcome, i, kind);
	}
	return list_or_null(list, rc);
}

// ---- mean absolute errors over the rows ----

static int put_mae_of(json_t *to, const struct hs_outcome *outcome, enum hs_metric_kind kind)
{
	double truth = 0, configured = 0, bound = 0;
	size_t n_truth = 0, n_configured = 0, n_bound = 0;
	for (size_t i = 0; i < outcome->n_lines; i++) {
		struct hs_outcome_mean mean;
		hs_outcome_mean(outcome, i, kind, &mean);
		truth += mean.n_truth ? mean.mae_truth : 0;
		configured += mean.n_configured ? mean.mae_configured : 0;
		bound += isnan(mean.bound) ? 0 : mean.bound;
		n_truth += mean.n_truth > 0;
		n_configured += mean.n_configured > 0;
		n_bound += !isnan(mean.bound);
	}
	json_t *json = json_object();
	int rc = json_object_set_new(to, hs_metric_word(kind), json);
	rc |= hs_outcome_put(
			json, "configured", n_configured ? configured / (double)n_configured : NAN);
	rc |= hs_outcome_put(json, "truth", n_truth ? truth / (double)n_truth : NAN);
	return rc | hs_outcome_put(json, "bound", n_bound ? bound / (double)n_bound : NAN);
}

json_t *hs_outcome_json_mae(const struct hs_outcome *outcome)
{
	json_t *json = json_object();
	int rc = json ? 0 : -1;
	for (unsigned kind = 0; kind < HS_METRIC_KINDS; kind++)
		rc |= put_mae_of(json, outcome, kind);
	return list_or_null(json, rc);
}

// ---- loss over the run ----

json_t *hs_outcome_json_lost(const struct hs_outcome *outcome)
{
	json_t *list = json_array();
	int rc = list ? 0 : -1;
	for (size_t i = 0; i < outcome->n_lines; i++) {
		const struct hs_outcome_lost *lost = &outcome->lines[i].lost;
		json_t *json = json_object();
		rc |= json_array_append_new(list, json);
		rc |= put_name(json, outcome, &outcome->lines[i].row);
		if (lost->has_measured) {
			rc |= hs_outcome_put_integer(json, "measured", lost->measured);
			rc |= hs_outcome_put_integer(json, "shown", lost->shown);
		}
		if (lost->has_truth)
			rc |= hs_outcome_put_integer(json, "truth", lost->truth);
		if (lost->has_all)
			rc |= hs_outcome_put_integer(json, "truth_all", lost->all);
	}
	return list_or_null(list, rc);
}

// ---- overhead ----

json_t *hs_outcome_json_overhead(const struct hs_outcome *outcome)
{
	json_t *list = json_array();
	int rc = list ? 0 : -1;
	for (size_t i = 0; i < outcome->n_lines; i++) {
		const struct hs_outcome_line *line = &outcome->lines[i];
		const struct hs_truth_hop *hop = &line->lost.hop;
		if (!line->lost.has_hop)
			continue;
		json_t *json = json_object();
		rc |= json_array_append_new(list, json);
		rc |= put_name(json, outcome, &line->row);
		rc |= hs_outcome_put(json, "bytes_ratio", hs_outcome_overhead(line, false));
		rc |= hs_outcome_put(json, "packets_ratio", hs_outcome_overhead(line, true));
		rc |= hs_outcome_put_integer(json, "packets", (int64_t)hop->sent_packets);
		rc |= hs_outcome_put_integer(json, "bytes", (int64_t)hop->sent_bytes);
		rc |= hs_outcome_put_integer(
				json, "telemetry_packets", (int64_t)hop->telemetry_packets);
		rc |= hs_outcome_put_integer(
				json, "telemetry_bytes", (int64_t)hop->telemetry_bytes);
	}
	return list_or_null(list, rc);
}

// ---- round trips ----

static json_t *trip_windows(const struct hs_outcome_trip *trip)
{
	json_t *list = json_array();
	int rc = list ? 0 : -1;
	for (size_t i = 0; i < trip->n_windows; i++) {
		const struct hs_outcome_trip_window *window = &trip->windows[i];
		json_t *json = json_object();
		rc |= json_array_append_new(list, json);
		rc |= hs_outcome_put_integer(json, "start_ns", window->start_ns);
		rc |= hs_outcome_put_integer(json, "pairs", (int64_t)window->measured.pairs);
		rc |= hs_outcome_put_integer(json, "pings", (int64_t)window->truth_trips);
		rc |= json_object_set_new(json, "clocks_differ",
				json_boolean(window->measured.clocks_differ));
		if (window->has_measured)
			rc |= hs_outcome_put_integer(json, "measured_ns", window->measured.mean_ns);
		if (window->has_truth)
			rc |= hs_outcome_put_integer(json, "truth_ns", window->truth_ns);
	}
	return list_or_null(list, rc);
}

// The same hop the other way: the row of the replies between the same two nodes.
static const struct hs_outcome_line *opposite(const struct hs_outcome *outcome,
		const struct hs_outcome_trip *trip, const struct hs_outcome_line *up)
{
	for (size_t i = 0; i < outcome->n_lines; i++) {
		const struct hs_outcome_line *line = &outcome->lines[i];
		if (line->row.flow == trip->down && line->row.e2e == up->row.e2e &&
				line->from_node == up->to_node && line->to_node == up->from_node)
			return line;
	}
	return NULL;
}

struct offset {
	size_t n_measured, n_truth;
	double measured, truth;
};

// Mean over the windows that both have of how much the delays of the two directions differ. Each
// window is of the clock of its own sink: those are the same that began at nearly one time.
static struct offset offset_of(const struct hs_outcome_line *up, const struct hs_outcome_line *down,
		int64_t window_ns)
{
	struct offset offset = {0};
	for (size_t i = 0, j = 0; i < up->row.n; i++) {
		int64_t at_ns = up->true_start_ns[i];
		while (j < down->row.n && down->true_start_ns[j] < at_ns - window_ns / 2)
			j++;
		if (j == down->row.n)
			break;
		if (down->true_start_ns[j] > at_ns + window_ns / 2)
			continue;
		const struct hs_point *a = &up->row.points[i][HS_METRIC_DELAY];
		const struct hs_point *b = &down->row.points[j][HS_METRIC_DELAY];
		double measured = fabs(a->measured - b->measured),
		       truth = fabs(a->truth - b->truth);
		offset.measured += isnan(measured) ? 0 : measured;
		offset.truth += isnan(truth) ? 0 : truth;
		offset.n_measured += !isnan(measured);
		offset.n_truth += !isnan(truth);
	}
	return offset;
}

static json_t *trip_hops(const struct hs_outcome *outcome, const struct hs_outcome_trip *trip)
{
	json_t *list = json_array();
	int rc = list ? 0 : -1;
	for (size_t i = 0; i < outcome->n_lines; i++) {
		const struct hs_outcome_line *up = &outcome->lines[i];
		const struct hs_outcome_line *down =
				up->row.flow == trip->up ? opposite(outcome, trip, up) : NULL;
		if (!down)
			continue;
		struct offset offset = offset_of(up, down, outcome->run->scenario->window_ns);
		json_t *json = json_object(), *ns = json_object();
		rc |= json_array_append_new(list, json);
		rc |= json_object_set_new(json, "hop", json_string(up->row.hop));
		rc |= hs_outcome_put_integer(json, "from", up->row.from_id);
		rc |= hs_outcome_put_integer(json, "to", up->row.to_id);
		rc |= json_object_set_new(json, "offset_ns", ns);
		rc |= hs_outcome_put(ns, "measured", offset.measured / (double)offset.n_measured);
		rc |= hs_outcome_put(ns, "truth", offset.truth / (double)offset.n_truth);
		rc |= hs_outcome_put_integer(json, "windows", (int64_t)offset.n_measured);
	}
	return list_or_null(list, rc);
}

static int put_trip(
		json_t *list, const struct hs_outcome *outcome, const struct hs_outcome_trip *trip)
{
	const struct hs_scenario *scenario = outcome->run->scenario;
	char up[HS_OUTCOME_FLOW_NAME], down[HS_OUTCOME_FLOW_NAME];
	hs_outcome_flow_name(scenario, trip->up, up);
	hs_outcome_flow_name(scenario, trip->down, down);
	json_t *json = json_object();
	int rc = json_array_append_new(list, json);
	rc |= hs_outcome_put_integer(json, "app_id", scenario->flows[trip->up].app_id);
	rc |= json_object_set_new(json, "up", json_string(up));
	rc |= json_object_set_new(json, "down", json_string(down));
	rc |= hs_outcome_put(json, "measured_ns", trip->measured_ns);
	rc |= hs_outcome_put(json, "truth_ns", trip->truth_ns);
	rc |= hs_outcome_put(json, "mae_ns", trip->mae_ns);
	rc |= hs_outcome_put(json, "mae_windows_ns", trip->mae_windows_ns);
	rc |= hs_outcome_put(json, "mae_pings_ns", trip->mae_pings_ns);
	rc |= hs_outcome_put_integer(json, "pairs", (int64_t)trip->pairs);
	rc |= hs_outcome_put_integer(json, "clocks_differ", (int64_t)trip->clocks_differ);
	if (scenario->keep_windows)
		rc |= json_object_set_new(json, "windows", trip_windows(trip));
	return rc | json_object_set_new(json, "hops", trip_hops(outcome, trip));
}

json_t *hs_outcome_json_trips(const struct hs_outcome *outcome)
{
	json_t *list = json_array();
	int rc = list ? 0 : -1;
	for (size_t i = 0; i < outcome->trips.n; i++)
		rc |= put_trip(list, outcome, &outcome->trips.trips[i]);
	return list_or_null(list, rc);
}

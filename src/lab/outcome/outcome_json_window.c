// SPDX-License-Identifier: BSD-3-Clause
#include "outcome_json.h"

#include <math.h>

#define P99_VALUES 100

// ---- what was measured ----

static int put_measured_delay(json_t *to, const struct hs_measured_hop *hop)
{
	if (!(hop->has & HS_MEASURED_DELAY))
		return 0;
	json_t *delay = json_object();
	int rc = json_object_set_new(to, "delay_ns", delay);
	rc |= hs_outcome_put_integer(delay, "mean", hop->delay_mean_ns);
	rc |= hs_outcome_put_integer(delay, "min", hop->delay_min_ns);
	if (hop->has & HS_MEASURED_P50)
		rc |= hs_outcome_put_integer(delay, "p50", hop->delay_p50_ns);
	if (hop->has & HS_MEASURED_P99)
		rc |= hs_outcome_put_integer(delay, "p99", hop->delay_p99_ns);
	return rc | hs_outcome_put_integer(delay, "max", hop->delay_max_ns);
}

static int put_measured_counts(json_t *to, const struct hs_measured_hop *hop)
{
	const struct {
		const char *key;
		uint32_t has;
		int64_t value;
	} counts[] = {
			{"lost_packets", HS_MEASURED_LOSS, hop->lost_packets},
			{"node_lost_packets", HS_MEASURED_NODE_LOSS, hop->node_lost_packets},
			{"tx_packets", HS_MEASURED_LOSS, hop->tx_packets},
			{"rx_packets", HS_MEASURED_LOSS | HS_MEASURED_RX_PACKETS, hop->rx_packets},
			{"rx_bytes", HS_MEASURED_BYTES, hop->rx_bytes},
			{"span_start_ns", HS_MEASURED_SPAN, hop->span_start_ns},
			{"span_end_ns", HS_MEASURED_SPAN, hop->span_end_ns},
	};
	int rc = 0;
	for (size_t i = 0; i < sizeof(counts) / sizeof(counts[0]); i++)
		if (hop->has & counts[i].has)
			rc |= hs_outcome_put_integer(to, counts[i].key, counts[i].value);
	return rc;
}

static json_t *measured_json(const struct hs_measured_hop *hop)
{
	json_t *json = json_object();
	int rc = 0;
	if (hop->has & HS_MEASURED_THROUGHPUT)
		rc |= hs_outcome_put(json, "throughput_bps", hop->throughput_bps);
	if (hop->has & HS_MEASURED_WINDOW_THROUGHPUT)
		rc |= hs_outcome_put(json, "window_throughput_bps", hop->window_throughput_bps);
	rc |= put_measured_delay(json, hop);
	if (hop->has & HS_MEASURED_JITTER)
		rc |= hs_outcome_put_integer(json, "jitter_ns", hop->jitter_ns);
	if (hop->has & HS_MEASURED_LOSS)
		rc |= hs_outcome_put(json, "loss_ratio", hop->loss_ratio);
	rc |= put_measured_counts(json, hop);
	if (!rc)
		return json;
	json_decref(json);
	return NULL;
}

// ---- what is true ----

static int put_true_delay(json_t *to, const struct hs_outcome_truth *truth)
{
	if (!truth->delays)
		return 0;
	json_t *delay = json_object();
	int rc = json_object_set_new(to, "delay_ns", delay);
	rc |= hs_outcome_put_integer(delay, "mean", truth->delay_mean_ns);
	rc |= hs_outcome_put_integer(delay, "min", truth->delay_min_ns);
	rc |= hs_outcome_put_integer(delay, "p50", truth->delay_p50_ns);
	if (truth->delays >= P99_VALUES)
		rc |= hs_outcome_put_integer(delay, "p99", truth->delay_p99_ns);
	return rc | hs_outcome_put_integer(delay, "max", truth->delay_max_ns);
}

static int put_true_counts(json_t *to, const struct hs_outcome_truth *truth)
{
	int rc = 0;
	if (truth->has_counts) {
		rc |= hs_outcome_put(to, "throughput_bps", truth->throughput_bps);
		rc |= hs_outcome_put(to, "loss_ratio", truth->loss_ratio);
		rc |= hs_outcome_put_integer(to, "lost_packets", truth->lost_packets);
		rc |= hs_outcome_put_integer(to, "tx_packets", truth->tx_packets);
		rc |= hs_outcome_put_integer(to, "rx_packets", truth->rx_packets);
		rc |= hs_outcome_put_integer(to, "rx_bytes", truth->rx_bytes);
		if (truth->has_node_loss)
			rc |= hs_outcome_put_integer(
					to, "node_lost_packets", truth->node_lost_packets);
	}
	if (truth->has_span) {
		rc |= hs_outcome_put_integer(to, "span_start_ns", truth->span_start_ns);
		rc |= hs_outcome_put_integer(to, "span_end_ns", truth->span_end_ns);
	}
	return rc;
}

static int put_mismatches(json_t *to, uint32_t mismatches)
{
	json_t *list = json_array();
	int rc = json_object_set_new(to, "mismatches", list);
	for (unsigned i = 0; hs_outcome_match_name(i); i++)
		if (mismatches >> i & 1)
			rc |= json_array_append_new(list, json_string(hs_outcome_match_name(i)));
	return rc;
}

static json_t *truth_json(const struct hs_outcome_hop *hop)
{
	const struct hs_outcome_truth *truth = &hop->truth;
	json_t *json = json_object();
	int rc = put_true_counts(json, truth);
	if (truth->has_window)
		rc |= hs_outcome_put(json, "window_throughput_bps", truth->window_throughput_bps);
	rc |= put_true_delay(json, truth);
	if (truth->pairs)
		rc |= hs_outcome_put_integer(json, "jitter_ns", truth->jitter_ns);
	if (truth->mismatch)
		rc |= json_object_set_new(json, "span_mismatch", json_true());
	if (hop->mismatches)
		rc |= put_mismatches(json, hop->mismatches);
	if (!rc)
		return json;
	json_decref(json);
	return NULL;
}

// ---- what was configured ----

static json_t *configured_json(const struct hs_point points[HS_METRIC_KINDS], bool bound)
{
	json_t *json = json_object();
	int rc = 0;
	for (unsigned i = 0; i < HS_METRIC_KINDS; i++)
		rc |= hs_outcome_put(json, hs_metric_word(i),
				bound ? points[i].bound : points[i].configured);
	if (!rc)
		return json;
	json_decref(json);
	return NULL;
}

// ---- windows ----

static int put_columns(json_t *to, const struct hs_outcome_hop *hop)
{
	int rc = json_object_set_new(to, "measured", measured_json(hop->measured));
	rc |= json_object_set_new(to, "truth", truth_json(hop));
	rc |= json_object_set_new(to, "configured", configured_json(hop->points, false));
	return rc | json_object_set_new(to, "bound", configured_json(hop->points, true));
}

static json_t *hops_json(const struct hs_outcome *outcome, const struct hs_outcome_window *window)
{
	json_t *list = json_array();
	int rc = list ? 0 : -1;
	for (uint32_t i = 0; i < window->measured->n_hops; i++) {
		const struct hs_outcome_hop *hop = &outcome->hops[window->first_hop + i];
		json_t *json = json_object();
		rc |= json_array_append_new(list, json);
		rc |= hs_outcome_put_integer(json, "from", hop->measured->from);
		rc |= hs_outcome_put_integer(json, "to", hop->measured->to);
		if (hop->row != SIZE_MAX)
			rc |= json_object_set_new(json, "link",
					json_string(outcome->lines[hop->row].row.hop));
		rc |= put_columns(json, hop);
	}
	if (!rc)
		return list;
	json_decref(list);
	return NULL;
}

// Links of the newest path come first, one after the other; what follows is of paths before it.
static int put_path(json_t *to, const struct hs_measured_window *window)
{
	json_t *path = json_array();
	int rc = json_object_set_new(to, "path", path);
	for (uint32_t i = 0; i < window->n_hops; i++) {
		if (i && window->hops[i].from != window->hops[i - 1].to)
			break;
		if (!i)
			rc |= hs_outcome_put_integer(path, NULL, window->hops[0].from);
		rc |= hs_outcome_put_integer(path, NULL, window->hops[i].to);
		if (window->hops[i].to == window->node_id)
			break;
	}
	return rc | json_object_set_new(to, "path_changed", json_boolean(window->path_changed));
}

static int put_flags(json_t *to, uint32_t flags)
{
	json_t *list = json_array();
	int rc = json_object_set_new(to, "flags", list);
	for (size_t i = 0; i < HS_OUTCOME_FLAGS; i++)
		if (flags >> i & 1)
			rc |= json_array_append_new(list, json_string(hs_outcome_flag_names[i]));
	return rc;
}

static int put_clock(json_t *to, const struct hs_measured_window *window)
{
	json_t *clock = json_object();
	int rc = json_object_set_new(to, "clock", clock);
	if (window->clock_known)
		rc |= json_object_set_new(
				clock, "synchronised", json_boolean(window->synchronised));
	return rc;
}

static json_t *e2e_json(const struct hs_outcome *outcome, const struct hs_outcome_window *window)
{
	const struct hs_outcome_hop *hop =
			&outcome->hops[window->first_hop + window->measured->n_hops];
	json_t *json = json_object();
	int rc = put_columns(json, hop);
	if (hop->measured->has & HS_MEASURED_LOSS)
		rc |= hs_outcome_put_integer(json_object_get(json, "measured"),
				"unattributed_lost_packets",
				window->measured->unattributed_lost_packets);
	if (!rc)
		return json;
	json_decref(json);
	return NULL;
}

static json_t *window_json(const struct hs_outcome *outcome, const struct hs_outcome_window *of)
{
	const struct hs_measured_window *window = of->measured;
	json_t *json = json_object();
	int rc = hs_outcome_put_integer(json, "start_ns", window->start_ns);
	rc |= hs_outcome_put_integer(json, "end_ns", window->end_ns);
	rc |= hs_outcome_put_flow(json, outcome->run->scenario, window->flow);
	rc |= hs_outcome_put_integer(json, "node_id", window->node_id);
	rc |= hs_outcome_put_integer(json, "reports", (int64_t)window->reports);
	rc |= hs_outcome_put_integer(json, "true_reports", (int64_t)of->truth_reports);
	rc |= json_object_set_new(json, "stale", json_boolean(window->stale));
	rc |= json_object_set_new(json, "partial", json_boolean(of->partial));
	if (of->way_differs)
		rc |= json_object_set_new(json, "way_differs", json_true());
	rc |= put_flags(json, window->flags);
	rc |= put_path(json, window);
	rc |= put_clock(json, window);
	if (!window->stale) {
		rc |= json_object_set_new(json, "hops", hops_json(outcome, of));
		rc |= json_object_set_new(json, "e2e", e2e_json(outcome, of));
	}
	if (!rc)
		return json;
	json_decref(json);
	return NULL;
}

json_t *hs_outcome_json_windows(const struct hs_outcome *outcome)
{
	json_t *list = json_array();
	for (size_t i = 0; i < outcome->n_windows; i++) {
		if (!json_array_append_new(list, window_json(outcome, &outcome->windows[i])))
			continue;
		json_decref(list);
		return NULL;
	}
	return list;
}

// SPDX-License-Identifier: BSD-3-Clause
// Small parts of the result, and the counters of links, hosts, INT-label and probes.
#include "outcome_parts.h"

#include <math.h>
#include <stdlib.h>

json_t *outcome_number(double value)
{
	static const struct hs_schema_field number = {.kind = HS_SCHEMA_NUMBER};
	return isfinite(value) ? hs_schema_print_value(&number, &value) : NULL;
}

void outcome_put(json_t *to, const char *key, double value)
{
	json_object_set_new(to, key, outcome_number(value));
}

void outcome_put_integer(json_t *to, const char *key, json_int_t value)
{
	json_object_set_new(to, key, json_integer(value));
}

double outcome_mean(double sum, size_t n)
{
	return n ? sum / (double)n : NAN;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

void outcome_sort(int64_t *values, size_t n)
{
	qsort(values, n, sizeof(*values), by_value);
}

// ---- links ----

#define LINK(member) HS_SCHEMA_ROW(struct hs_link_counters, UINT, member, NULL)
static const struct hs_schema_field link_fields[] = {
		LINK(sent_packets),
		LINK(sent_bytes),
		LINK(copies),
		LINK(delivered_packets),
		LINK(delivered_bytes),
		LINK(lost_bytes),
		LINK(telemetry_sent),
		LINK(telemetry_lost),
		LINK(late),
		LINK(queue_max_packets),
		LINK(wait_max_ns),
		{NULL},
};

// Adds the counters of a direction of a link to the list, unless no frame was sent into the
// direction.
static void put_link(const struct hs_scenario_link *link, unsigned direction,
		const struct hs_link_counters *of, json_t *list)
{
	if (!of->sent_packets)
		return;
	json_t *lost = json_object(),
	       *json = json_pack("{s:s, s:s}", "name", link->name, "direction",
			       hs_scenario_directions[direction]);
	hs_schema_print_into(json, link_fields, of);
	for (unsigned i = HS_LINK_NOT_LOST + 1; i < HS_LINK_LOSSES; i++)
		outcome_put_integer(lost, hs_link_loss_name(i), (json_int_t)of->lost[i]);
	json_object_set_new(json, "lost", lost);
	json_array_append_new(list, json);
}

// ---- queues that stand in nodes ----

#define QUEUE(member, over)                                                                        \
	{#member, HS_SCHEMA_UINT, HS_SCHEMA_MEMBER(struct hs_queue_counts, member)},
static const struct hs_schema_field queue_fields[] = {
		HS_QUEUE_COUNTS(QUEUE){"utilisation_error_max", HS_SCHEMA_NUMBER,
				HS_SCHEMA_MEMBER(struct hs_queue_counts, utilisation_error_max)},
		{NULL},
};

static void put_queues(const struct hs_run *run, json_t *result)
{
	const struct hs_scenario *s = run->scenario;
	json_t *list = json_array();
	for (size_t i = 0, links = 2 * s->n_links; i < links + s->n_hosts; i++) {
		const struct hs_queue_truth *of = &run->queues[i];
		if (!of->rate.bps && !of->rate.pps)
			continue;
		json_t *json = json_pack("{s:s, s:s}", "name",
				i < links ? s->links[i / 2].name : s->hosts[i - links].name,
				"direction", i < links ? hs_scenario_directions[i % 2] : "host");
		hs_schema_print_into(json, queue_fields, &of->counts);
		json_array_append_new(list, json);
	}
	json_object_set_new(result, "queues", list);
}

// ---- traffic ----

static json_t *labels_json(const uint64_t *packets)
{
	json_t *json = json_array();
	size_t last = HS_LABEL_TRUTH_ITEMS - 1;
	while (last && !packets[last])
		last--;
	for (size_t i = 0; i <= last; i++)
		json_array_append_new(json, json_integer((json_int_t)packets[i]));
	return json;
}

#define TRAFFIC(key, member) HS_SCHEMA_ROW_AS(struct hs_stream_counters, UINT, key, member, NULL)
static const struct hs_schema_field traffic_fields[] = {
		TRAFFIC("sent", sent[0]),
		TRAFFIC("delivered", delivered[0]),
		TRAFFIC("bytes_sent", bytes_sent[0]),
		TRAFFIC("bytes_delivered", bytes_delivered[0]),
		TRAFFIC("replies_sent", sent[1]),
		TRAFFIC("replies_delivered", delivered[1]),
		TRAFFIC("reply_bytes_sent", bytes_sent[1]),
		TRAFFIC("reply_bytes_delivered", bytes_delivered[1]),
		TRAFFIC("altered", altered),
		TRAFFIC("retransmitted", retransmitted),
		TRAFFIC("skipped", skipped),
		{NULL},
};

static void put_traffic(const struct hs_run *run, uint32_t index, json_t *list)
{
	json_t *json = json_pack("{s:s}", "name", run->scenario->traffic[index].name);
	double seconds = (double)(run->end_ns - run->start_ns) / 1e9;
	const struct hs_stream_counters *of = &run->streams[index]->counters;
	hs_schema_print_into(json, traffic_fields, of);
	if (of->sent[0]) {
		outcome_put(json, "delivered_ratio",
				(double)of->delivered[0] / (double)of->sent[0]);
		outcome_put(json, "goodput_bps", (double)of->bytes_goodput * 8 / seconds);
	}
	if (run->label)
		json_object_set_new(json, "labels_per_packet",
				labels_json(run->label->delivered[index]));
	json_array_append_new(list, json);
}

// ---- INT-label ----

static json_t *coverage_json(const struct hs_label_counts *counts)
{
	double mean = outcome_mean(counts->coverage_sum, counts->intervals);
	json_t *ratios = counts->n_coverage ? json_array() : NULL;
	for (size_t i = 0; i < counts->n_coverage; i++)
		json_array_append_new(ratios, json_real(counts->coverage[i]));
	return json_pack("{s:o*, s:o*, s:o*}", "mean", outcome_number(mean), "min",
			counts->intervals ? outcome_number(counts->coverage_min) : NULL, "windows",
			ratios);
}

// Returns mean, 99th percentile and maximum of the gaps. The percentile is by nearest rank.
static json_t *gaps_json(const struct hs_label_gaps *gaps)
{
	size_t n = gaps->n;
	double sum = 0;
	if (!n)
		return json_object();
	outcome_sort(gaps->ns, n);
	for (size_t i = 0; i < n; i++)
		sum += (double)gaps->ns[i];
	return json_pack("{s:o, s:I, s:I}", "mean", outcome_number(sum / (double)n), "p99",
			(json_int_t)gaps->ns[(size_t)ceil(0.99 * (double)n) - 1], "max",
			(json_int_t)gaps->ns[n - 1]);
}

#define LABEL(member) HS_SCHEMA_ROW(struct hs_label_counts, UINT, member, NULL),
static const struct hs_schema_field label_fields[] = {HS_LABEL_COUNTS(LABEL){NULL}};

static json_t *label_json(const struct hs_label_truth *label)
{
	json_t *json = json_pack("{s:o}", "coverage_ratio", coverage_json(&label->counts));
	hs_schema_print_into(json, label_fields, &label->counts);
	json_object_update_new(json, json_pack("{s:o, s:o, s:o}", "relabel_interval_ns",
						     gaps_json(&label->gaps[HS_LABEL_RELABEL]),
						     "update_interval_ns",
						     gaps_json(&label->gaps[HS_LABEL_UPDATE]),
						     "labels_per_packet",
						     labels_json(label->counts.labels_per_packet)));
	return json;
}

// ---- a monitoring host's sessions ----

#define PROBING(member) HS_SCHEMA_ROW(struct hs_probing_counts, UINT, member, NULL),
static const struct hs_schema_field probing_fields[] = {HS_PROBING_COUNTS(PROBING){NULL}};

static json_t *mean_json(int64_t sum_ns, const struct hs_probing_counts *counts)
{
	return outcome_number(outcome_mean((double)sum_ns, counts->sessions));
}

static json_t *probing_json(const struct hs_probing_counts *counts)
{
	json_t *json = hs_schema_print(probing_fields, counts);
	json_object_update_new(json,
			json_pack("{s:o*, s:{s:o*, s:I}, s:{s:o*, s:I}, s:{s:i, s:o*, s:i}}",
					"busiest_pps", outcome_number(counts->busiest_pps),
					"elapsed_ns", "mean",
					mean_json(counts->elapsed_sum_ns, counts), "max",
					(json_int_t)counts->elapsed_max_ns, "collected_ns", "mean",
					mean_json(counts->collected_sum_ns, counts), "max",
					(json_int_t)counts->collected_max_ns, "path_hops", "min",
					counts->min_hops, "mean", outcome_number(counts->mean_hops),
					"max", counts->max_hops));
	return json;
}

void outcome_counters_put(const struct hs_run *run, json_t *result)
{
	for (size_t i = 0; run->links && i < run->scenario->n_links; i++)
		for (unsigned direction = 0; direction < 2; direction++)
			put_link(&run->scenario->links[i], direction, &run->links[i][direction],
					json_object_get(result, "links"));
	if (run->queues)
		put_queues(run, result);
	for (uint32_t i = 0; i < run->scenario->n_traffic; i++)
		put_traffic(run, i, json_object_get(result, "traffic"));
	if (run->label)
		json_object_set_new(result, "label", label_json(run->label));
	if (run->probing)
		json_object_set_new(result, "probing", probing_json(run->probing));
}

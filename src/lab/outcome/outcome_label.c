// SPDX-License-Identifier: BSD-3-Clause
// The numbers of INT-label.
#include "outcome_parts.h"

#include <math.h>

static json_t *coverage_json(const struct hs_label_counts *counts)
{
	json_t *json = json_object();
	if (!counts->intervals)
		return json;
	outcome_put(json, "mean", counts->coverage_sum / (double)counts->intervals);
	outcome_put(json, "min", counts->coverage_min);
	return json;
}

// The percentile is by nearest rank.
static json_t *gaps_json(struct hs_label_truth *truth, enum hs_label_gap which)
{
	size_t n;
	const int64_t *gaps = hs_label_truth_gaps(truth, which, &n);
	json_t *json = json_object();
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (double)gaps[i];
	if (!n)
		return json;
	outcome_put(json, "mean", sum / (double)n);
	outcome_put_integer(json, "p99", gaps[(size_t)ceil(0.99 * (double)n) - 1]);
	outcome_put_integer(json, "max", gaps[n - 1]);
	return json;
}

#define COUNT(member) HS_SCHEMA_ROW(struct hs_label_counts, UINT, member, NULL),
static const struct hs_schema_field count_fields[] = {HS_LABEL_COUNTS(COUNT){NULL}};

void outcome_label_put(const struct hs_run *run, json_t *result)
{
	if (!run->label)
		return;
	const struct hs_label_counts *counts = hs_label_truth_counts(run->label);
	json_t *json = json_object(), *packets = json_array();
	size_t last = HS_LABEL_TRUTH_ITEMS - 1;
	json_object_set_new(json, "coverage_ratio", coverage_json(counts));
	hs_schema_print_into(json, count_fields, counts);
	json_object_set_new(json, "relabel_interval_ns", gaps_json(run->label, HS_LABEL_RELABEL));
	json_object_set_new(json, "update_interval_ns", gaps_json(run->label, HS_LABEL_UPDATE));
	while (last && !counts->labels_per_packet[last])
		last--;
	for (size_t i = 0; i <= last; i++)
		json_array_append_new(
				packets, json_integer((json_int_t)counts->labels_per_packet[i]));
	json_object_set_new(json, "labels_per_packet", packets);
	json_object_set_new(result, "label", json);
}

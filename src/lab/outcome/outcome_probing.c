// SPDX-License-Identifier: BSD-3-Clause
// The numbers of a monitoring host's sessions.
#include "outcome_parts.h"

#define COUNT(member) HS_SCHEMA_ROW(struct hs_probing_counts, UINT, member, NULL),
static const struct hs_schema_field count_fields[] = {HS_PROBING_COUNTS(COUNT){NULL}};

void outcome_probing_put(const struct hs_run *run, json_t *result)
{
	const struct hs_probing_counts *counts = run->probing;
	json_t *json = json_object(), *elapsed = json_object(), *hops = json_object();

	if (counts) {
		hs_schema_print_into(json, count_fields, counts);
		outcome_put(elapsed, "mean",
				outcome_mean((double)counts->elapsed_sum_ns, counts->sessions));
		outcome_put_integer(elapsed, "max", counts->elapsed_max_ns);
		outcome_put_integer(hops, "min", counts->min_hops);
		outcome_put(hops, "mean", counts->mean_hops);
		outcome_put_integer(hops, "max", counts->max_hops);
		outcome_put(json, "busiest_pps", counts->busiest_pps);
		json_object_set(json, "elapsed_ns", elapsed);
		json_object_set(json, "path_hops", hops);
		json_object_set(result, "probing", json);
	}
	json_decref(elapsed);
	json_decref(hops);
	json_decref(json);
}

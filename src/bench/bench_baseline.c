// SPDX-License-Identifier: BSD-3-Clause
#include "bench_baseline.h"

#include <errno.h>

int hs_bench_baseline_load(const char *path, json_t **baseline, struct hs_error *err)
{
	json_error_t error;
	json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	const char *name;
	json_t *ratio;

	if (!json)
		return hs_error_set(err, "file", path, "", "line %d: %s", error.line, error.text);
	json_t *ratios = json_object_get(json, "ratios");
	if (!json_object_size(ratios)) {
		json_decref(json);
		return hs_error_set(err, "file", path, "{\"ratios\": {...}}", "no ratios in it");
	}
	json_object_foreach (ratios, name, ratio) {
		if (hs_bench_case_find(name) && json_number_value(ratio) > 0)
			continue;
		hs_error_set(err, "file", path, "a case and a ratio above 0", "\"%s\" is wrong",
				name);
		json_decref(json);
		return -EINVAL;
	}
	*baseline = json;
	return 0;
}

static json_t *rounded(double ratio)
{
	return json_real((double)(int)(ratio * 1000 + 0.5) / 1000);
}

json_t *hs_bench_baseline_of(const struct hs_bench_result *result)
{
	json_t *ratios = json_object(), *least = json_object();

	for (int i = 0; i < result->n; i++) {
		const struct hs_bench_row *row = &result->rows[i];
		if (row->peer || hs_bench_ratio(result, row) <= 0)
			continue;
		json_object_set_new(ratios, row->name, rounded(hs_bench_ratio(result, row)));
		json_object_set_new(
				least, row->name, rounded(hs_bench_ratio_of_least(result, row)));
	}
	return json_pack("{s:o, s:o}", "ratios", ratios, "ratios_of_least", least);
}

static double number_of(const json_t *baseline, const char *key, const char *name)
{
	return json_number_value(json_object_get(json_object_get(baseline, key), name));
}

static double ratio_of(const json_t *baseline, const char *name)
{
	return number_of(baseline, "ratios", name);
}

static bool is_slower(const struct hs_bench_result *result, const struct hs_bench_row *row,
		const json_t *baseline)
{
	double least = number_of(baseline, "ratios_of_least", row->name);

	if (hs_bench_ratio(result, row) <= ratio_of(baseline, row->name) * HS_BENCH_NOISE)
		return false;
	return hs_bench_ratio_of_least(result, row) > least * HS_BENCH_NOISE;
}

// The card reports a limit that the baseline itself missed. The gate ignores it.
static bool limit_was_kept(const struct hs_bench_row *row, const json_t *baseline)
{
	double was = ratio_of(baseline, row->name);

	if (row->spec->limit_of)
		was = ratio_of(baseline, row->spec->limit_of) > 0
				      ? was / ratio_of(baseline, row->spec->limit_of)
				      : 0;
	return was > 0 && was <= row->spec->limit;
}

enum hs_bench_verdict hs_bench_baseline_judge(const struct hs_bench_result *result,
		const struct hs_bench_row *row, const json_t *baseline)
{
	double was = ratio_of(baseline, row->name);

	if (row->peer || was <= 0)
		return HS_BENCH_HELD;
	if (row->error[0] || !row->samples.n)
		return HS_BENCH_FAILED;
	if (is_slower(result, row, baseline))
		return HS_BENCH_SLOWER;
	if (limit_was_kept(row, baseline) &&
			hs_bench_limited(result, row) > row->spec->limit * HS_BENCH_NOISE)
		return HS_BENCH_OVER;
	return HS_BENCH_HELD;
}

int hs_bench_baseline_print(const struct hs_bench_result *result, const json_t *baseline, FILE *to)
{
	static const char *const words[] = {
			"", "slower than the baseline", "over its limit", "not measured"};
	int failed = 0;

	for (int i = 0; i < result->n; i++) {
		const struct hs_bench_row *row = &result->rows[i];
		double was = ratio_of(baseline, row->name);
		if (row->peer || was <= 0)
			continue;
		enum hs_bench_verdict verdict = hs_bench_baseline_judge(result, row, baseline);
		failed += verdict != HS_BENCH_HELD;
		fprintf(to,
				"%s bench %s costs %.2f of testpmd's mac forwarding, baseline "
				"%.2f%s%s\n",
				verdict == HS_BENCH_HELD ? "PASS" : "FAIL", row->name,
				hs_bench_ratio(result, row), was,
				verdict == HS_BENCH_HELD ? "" : ": ", words[verdict]);
	}
	return failed;
}

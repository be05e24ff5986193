// SPDX-License-Identifier: BSD-3-Clause
#include "bench_result.h"

#include "text_table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static double median(const struct hs_bench_row *row)
{
	return hs_bench_samples_summary(&row->samples).median;
}

static double share(double part, double of)
{
	return of > 0 ? part / of : 0;
}

double hs_bench_ratio(const struct hs_bench_result *result, const struct hs_bench_row *row)
{
	if (row->yardstick == HS_BENCH_NO_ROW)
		return 0;
	return share(median(row), median(&result->rows[row->yardstick]));
}

double hs_bench_ratio_of_least(const struct hs_bench_result *result, const struct hs_bench_row *row)
{
	if (row->yardstick == HS_BENCH_NO_ROW)
		return 0;
	return share(hs_bench_samples_summary(&row->samples).min,
			hs_bench_samples_summary(&result->rows[row->yardstick].samples).min);
}

static const struct hs_bench_row *find_row(const struct hs_bench_result *result, const char *name)
{
	for (int i = 0; i < result->n; i++)
		if (strcmp(result->rows[i].name, name) == 0)
			return &result->rows[i];
	return NULL;
}

double hs_bench_limited(const struct hs_bench_result *result, const struct hs_bench_row *row)
{
	if (row->peer || row->spec->limit <= 0 || !row->samples.n)
		return 0;
	if (!row->spec->limit_of)
		return hs_bench_ratio(result, row);
	const struct hs_bench_row *of = find_row(result, row->spec->limit_of);

	return of ? share(median(row), median(of)) : 0;
}

// ---- JSON ----

static double rounded(double value, double unit)
{
	long long whole = (long long)(value / unit + 0.5);

	return (double)whole * unit;
}

static json_t *summary_json(const struct hs_bench_samples *samples, double unit)
{
	struct hs_bench_summary s = hs_bench_samples_summary(samples);

	return json_pack("{s:f, s:f, s:f}", "median", rounded(s.median, unit), "min",
			rounded(s.min, unit), "max", rounded(s.max, unit));
}

static void add_packets(
		const struct hs_bench_result *result, const struct hs_bench_row *row, json_t *json)
{
	double ratio = hs_bench_ratio(result, row);

	json_object_set_new(json, "frame_bytes", json_integer(row->spec->traffic.frame_bytes));
	if (row->spec->traffic.hops >= 0)
		json_object_set_new(json, "telemetry_hops", json_integer(row->spec->traffic.hops));
	if (!row->samples.n)
		return;
	json_object_set_new(json, "ns_per_packet", summary_json(&row->samples, 0.01));
	if (row->cycles.n)
		json_object_set_new(json, "cycles_per_packet", summary_json(&row->cycles, 0.1));
	json_object_set_new(json, "mpps", json_real(rounded(1000 / median(row), 0.01)));
	if (ratio > 0) {
		json_object_set_new(json, "ratio", json_real(rounded(ratio, 0.001)));
		json_object_set_new(
				json, "yardstick", json_string(result->rows[row->yardstick].name));
	}
	if (row->reports_made)
		json_object_set_new(json, "reports_lost_ratio",
				json_real((double)row->reports_lost / (double)row->reports_made));
}

static json_t *row_json(const struct hs_bench_result *result, const struct hs_bench_row *row)
{
	json_t *json = json_pack("{s:s}", "name", row->name);
	double limited = hs_bench_limited(result, row);

	if (row->spec->kind == HS_BENCH_PACKETS)
		add_packets(result, row, json);
	else if (row->samples.n)
		json_object_set_new(json, "per_second", summary_json(&row->samples, 1));
	json_object_set_new(json, "rounds", json_integer(row->samples.n));
	if (row->spec->least_per_second > 0 && row->samples.n) {
		json_object_set_new(
				json, "least_per_second", json_real(row->spec->least_per_second));
		json_object_set_new(json, "met",
				json_boolean(median(row) >= row->spec->least_per_second));
	}
	if (limited > 0) {
		json_object_set_new(json, "limit_ratio", json_real(row->spec->limit));
		json_object_set_new(json, "met", json_boolean(limited <= row->spec->limit));
	}
	if (!row->peer && row->spec->shared_cores)
		json_object_set_new(json, "shared_cores", json_true());
	if (row->error[0])
		json_object_set_new(json, "error", json_string(row->error));
	return json;
}

json_t *hs_bench_result_json(const struct hs_bench_result *result)
{
	json_t *json = json_object(), *peers = json_array(), *cases = json_array();

	json_object_set(json, "machine", result->machine);
	for (int i = 0; i < result->n; i++) {
		const struct hs_bench_row *row = &result->rows[i];
		json_array_append_new(row->peer ? peers : cases, row_json(result, row));
	}
	if (json_array_size(peers))
		json_object_set(json, "yardstick", json_array_get(peers, 0));
	json_object_set_new(json, "peers", peers);
	json_object_set_new(json, "cases", cases);
	return json;
}

// ---- a table ----

__attribute__((format(printf, 2, 3))) static void cell(
		struct hs_text_table *table, const char *format, ...)
{
	char text[80];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	hs_text_table_cell(table, text);
}

static void number_cell(struct hs_text_table *table, double value, int digits)
{
	if (value > 0)
		cell(table, "%.*f", digits, value);
	else
		hs_text_table_cell(table, "");
}

static const char *verdict(const struct hs_bench_row *row, double limited)
{
	if (limited <= 0)
		return "";
	return limited <= row->spec->limit ? "met" : "missed";
}

static void print_row(struct hs_text_table *table, const struct hs_bench_result *result,
		const struct hs_bench_row *row)
{
	struct hs_bench_summary s = hs_bench_samples_summary(&row->samples);
	bool packets = row->spec->kind == HS_BENCH_PACKETS;
	double limited = hs_bench_limited(result, row);

	hs_text_table_cell(table, row->name);
	number_cell(table, packets ? s.median : 0, 1);
	number_cell(table, packets ? s.min : 0, 1);
	number_cell(table, packets ? s.max : 0, 1);
	number_cell(table, hs_bench_samples_summary(&row->cycles).median, 0);
	number_cell(table, packets && s.median > 0 ? 1000 / s.median : 0, 2);
	number_cell(table, hs_bench_ratio(result, row), 3);
	number_cell(table, limited > 0 ? row->spec->limit : 0, 2);
	hs_text_table_cell(table, verdict(row, limited));
	number_cell(table, packets ? 0 : s.median, 0);
	number_cell(table,
			row->reports_made ? 100 * (double)row->reports_lost /
							    (double)row->reports_made
					  : 0,
			1);
}

void hs_bench_result_print(const struct hs_bench_result *result, FILE *to)
{
	static const char *const headers[] = {"case", "ns", "min", "max", "cycles", "Mpps", "ratio",
			"limit", "", "per second", "reports lost %"};
	struct hs_text_table *table;

	if (hs_text_table_create(&table))
		return;
	for (size_t i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		hs_text_table_column(table, headers[i], i != 0 && headers[i][0]);
	for (int i = 0; i < result->n; i++)
		print_row(table, result, &result->rows[i]);
	char *text = hs_text_table_text(table);
	if (text)
		fputs(text, to);
	free(text);
	hs_text_table_destroy(table);
	for (int i = 0; i < result->n; i++)
		if (result->rows[i].error[0])
			fprintf(to, "%s failed: %s\n", result->rows[i].name, result->rows[i].error);
}

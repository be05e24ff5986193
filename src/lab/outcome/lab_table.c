// SPDX-License-Identifier: BSD-3-Clause
#include "lab_table.h"

#include "lab_table_parts.h"
#include "lab_words.h"
#include "clean_text.h"
#include "text_table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH 100 // of lines

// ---- a metric of a flow ----

enum field {
	MEASURED,
	TRUTH,
	CONFIGURED,
	MAE_TRUTH,
	MAX_TRUTH,
	MAE_CONFIGURED,
	BOUND,
	FIELDS
};

static const char *const field_names[FIELDS] = {
		"measured", "truth", "configured", "MAE truth", "max", "MAE conf.", "bound"};

struct line {
	const struct hs_outcome_row *row; // NULL: all of them
	double fields[FIELDS];		  // NAN: does not apply
};

static double if_any(size_t n, double value)
{
	return n ? value : NAN;
}

static struct line line_of(const struct hs_outcome *outcome, size_t row, enum hs_metric_kind kind)
{
	// The bound of window throughput is one of the largest error, not of the mean.
	bool bounded = kind != HS_METRIC_WINDOW_THROUGHPUT;
	struct hs_outcome_mean mean;

	hs_outcome_mean(outcome, row, kind, &mean);
	return (struct line){
			.row = hs_outcome_row(outcome, row),
			.fields =
					{
							[MEASURED] = mean.measured,
							[TRUTH] = if_any(mean.n_truth, mean.truth),
							[CONFIGURED] = if_any(mean.n_configured,
									mean.configured),
							[MAE_TRUTH] = if_any(mean.n_truth,
									mean.mae_truth),
							[MAX_TRUTH] = if_any(mean.n_truth,
									mean.max_error_truth),
							[MAE_CONFIGURED] = if_any(mean.n_configured,
									mean.mae_configured),
							[BOUND] = if_any(bounded ? mean.n_configured
										 : 0,
									mean.bound),
					},
	};
}

static bool applies(const struct line *line)
{
	return !isnan(line->fields[TRUTH]) || !isnan(line->fields[CONFIGURED]);
}

// Decimals that columns need to show four digits and more of their largest number: three, to six
// of a small one.
static int decimals_of(
		const struct line *lines, size_t n, enum field first, enum field last, double scale)
{
	double largest = 0;

	for (size_t i = 0; i < n; i++)
		for (enum field f = first; f <= last; f++)
			if (fabs(lines[i].fields[f]) > largest)
				largest = fabs(lines[i].fields[f]);
	largest *= scale;
	return largest >= 1e5 ? 1 : largest >= 1 ? 3 : largest >= 0.1 ? 4 : 6;
}

static int print_lines(FILE *to, const struct line *lines, size_t n, enum hs_metric_kind kind)
{
	const struct hs_lab_unit *unit = hs_lab_unit_of(kind);
	struct hs_text_table *table;
	char header[HS_LAB_WORD];
	int decimals[FIELDS];

	if (hs_text_table_create(&table) < 0)
		return -ENOMEM;
	snprintf(header, sizeof(header), "%s%s%s", unit->title, unit->unit[0] ? ", " : "",
			unit->unit);
	hs_text_table_column(table, header, false);
	for (enum field f = 0; f < FIELDS; f++) {
		hs_text_table_column(table, field_names[f], true);
		// What stands side by side to be compared has as many.
		decimals[f] = f <= CONFIGURED ? decimals_of(lines, n, MEASURED, CONFIGURED,
								unit->scale)
					      : decimals_of(lines, n, f, f, unit->scale);
	}
	for (size_t i = 0; i < n; i++) {
		hs_lab_table_cut(table, lines[i].row->e2e ? "end to end" : lines[i].row->hop,
				HOP_WIDTH);
		// An error of nothing is told from one that is small.
		for (enum field f = 0; f < FIELDS; f++)
			hs_lab_table_number(table, lines[i].fields[f] * unit->scale,
					lines[i].fields[f] == 0 ? 0 : decimals[f]);
	}
	return hs_lab_table_finish(to, table, "");
}

static bool are_zeros(const struct line *lines, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (enum field f = 0; f < FIELDS; f++)
			if (!isnan(lines[i].fields[f]) && lines[i].fields[f] != 0)
				return false;
	return true;
}

static int print_kind(FILE *to, const struct hs_outcome *outcome, size_t first, size_t n,
		enum hs_metric_kind kind)
{
	struct line *lines = calloc(n, sizeof(*lines));
	size_t used = 0;
	int rc = 0;

	if (!lines)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		lines[used] = line_of(outcome, first + i, kind);
		used += applies(&lines[used]);
	}
	if (used && are_zeros(lines, used))
		fprintf(to, "\n%s: 0 everywhere\n", hs_lab_unit_of(kind)->title);
	else if (used)
		rc = print_lines(to, lines, used, kind);
	free(lines);
	return rc;
}

// ---- flows ----

static size_t windows_of(const struct hs_outcome *outcome, size_t first, size_t n)
{
	size_t windows = 0;

	for (size_t i = 0; i < n; i++)
		if (hs_outcome_row(outcome, first + i)->n > windows)
			windows = hs_outcome_row(outcome, first + i)->n;
	return windows;
}

static int print_flow(FILE *to, const struct hs_run *run, const struct hs_outcome *outcome,
		size_t first, size_t n, const json_t *result)
{
	// The others are in the table over all rows.
	static const enum hs_metric_kind kinds[] = {HS_METRIC_THROUGHPUT,
			HS_METRIC_WINDOW_THROUGHPUT, HS_METRIC_DELAY, HS_METRIC_JITTER,
			HS_METRIC_LOSS};
	uint32_t flow = hs_outcome_row(outcome, first)->flow;
	char name[HS_LAB_WORD];
	int rc = 0;

	hs_lab_flow_name(run->scenario, flow, name);
	int64_t ms = run->scenario->window_ns / 1000000;
	fprintf(to, "\nFlow %s: means over %zu windows of %" PRId64 " %s\n", name,
			windows_of(outcome, first, n), ms % 1000 ? ms : ms / 1000,
			ms % 1000 ? "ms" : "s");
	for (size_t i = 0; rc == 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		rc = print_kind(to, outcome, first, n, kinds[i]);
	return rc < 0 ? rc : hs_lab_table_run(to, run->scenario->flows[flow].ns_id, result);
}

static int print_flows(FILE *to, const struct hs_run *run, const struct hs_outcome *outcome,
		const json_t *result)
{
	size_t shown = 0, more = 0, n;
	int rc = 0;

	for (size_t first = 0; rc == 0 && first < hs_outcome_rows(outcome); first += n) {
		n = hs_outcome_rows_of_flow(outcome, first);
		if (shown < HS_LAB_TABLE_FLOWS) {
			rc = print_flow(to, run, outcome, first, n, result);
			shown++;
		} else {
			more++;
		}
	}
	if (more)
		fprintf(to, "\n%zu flows more are in the result (--json).\n", more);
	return rc;
}

// ---- all rows ----

// Mean over the rows that have it, as "mae.*" of an expectation without a hop; the largest of
// largest errors.
static size_t over_rows(
		const struct hs_outcome *outcome, enum hs_metric_kind kind, double fields[FIELDS])
{
	size_t n[FIELDS] = {0}, rows = 0;

	for (enum field f = 0; f < FIELDS; f++)
		fields[f] = NAN;
	for (size_t i = 0; i < hs_outcome_rows(outcome); i++) {
		struct line line = line_of(outcome, i, kind);
		rows += applies(&line);
		for (enum field f = MAE_TRUTH; f < FIELDS; f++) {
			double value = line.fields[f], was = n[f] ? fields[f] : 0;
			if (isnan(value))
				continue;
			n[f]++;
			fields[f] = f != MAX_TRUTH ? was + (value - was) / (double)n[f]
				    : value > was  ? value
						   : was;
		}
	}
	return rows;
}

static int print_all(FILE *to, const struct hs_outcome *outcome)
{
	struct hs_text_table *table;
	char text[HS_LAB_WORD];

	if (hs_text_table_create(&table) < 0)
		return -ENOMEM;
	hs_text_table_column(table, "All hops and ends", false);
	hs_text_table_column(table, "unit", false);
	hs_text_table_column(table, "rows", true);
	for (enum field f = MAE_TRUTH; f < FIELDS; f++)
		hs_text_table_column(table, field_names[f], true);
	for (enum hs_metric_kind kind = 0; kind < HS_METRIC_KINDS; kind++) {
		const struct hs_lab_unit *unit = hs_lab_unit_of(kind);
		double fields[FIELDS];
		size_t rows = over_rows(outcome, kind, fields);
		if (!rows)
			continue;
		hs_text_table_cell(table, unit->title);
		hs_text_table_cell(table, unit->unit);
		hs_lab_count(rows, text);
		hs_text_table_cell(table, text);
		for (enum field f = MAE_TRUTH; f < FIELDS; f++) {
			text[0] = '\0';
			if (!isnan(fields[f]))
				hs_lab_number(fields[f] * unit->scale, text);
			hs_text_table_cell(table, text);
		}
	}
	return hs_lab_table_finish(to, table, "");
}

// ---- all of it ----

static void print_head(FILE *to, const struct hs_run *run)
{
	const struct hs_scenario *s = run->scenario;
	double seconds = (double)(run->end_ns - run->start_ns) / 1e9;
	char *name = hs_clean_dup(s->name), *source = hs_clean_dup(s->source);

	fprintf(to, "%s%s%s\n", name ? name : "", s->source[0] ? ": " : "", source ? source : "");
	free(name);
	free(source);
	for (const char *text = s->description; *text;) {
		size_t n = hs_lab_first_line(text, WIDTH);
		fprintf(to, "%.*s\n", (int)n, text);
		text += n + (text[n] == ' ');
	}
	fprintf(to, "seed %" PRIu64 ", %.6g s of %s time, %zu nodes, %zu links%s\n", s->seed,
			seconds, run->real ? "real" : "virtual", s->n_nodes, s->n_links,
			run->partial ? "; INTERRUPTED: partial results" : "");
}

int hs_lab_table_print(FILE *to, const struct hs_run *run, const struct hs_outcome *outcome,
		const json_t *result)
{
	int rc;

	print_head(to, run);
	rc = print_flows(to, run, outcome, result);
	if (rc == 0)
		rc = hs_lab_table_trips(to, result);
	if (rc == 0)
		rc = hs_lab_table_links(to, run);
	if (rc == 0)
		rc = print_all(to, outcome);
	return rc;
}

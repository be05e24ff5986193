// SPDX-License-Identifier: BSD-3-Clause
#include "lab_table.h"

#include "lab_words.h"
#include "text_table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH	   100 // of lines
#define HOP_WIDTH  20
#define LINK_WIDTH 26
#define LINKS_MAX  24 // rows of links that lost something

static int finish(FILE *to, struct hs_text_table *table, const char *title)
{
	char *text = hs_text_table_text(table);
	int rc = text ? 0 : -ENOMEM;

	if (text && text[0])
		fprintf(to, "\n%s%s%s", title, title[0] ? "\n" : "", text);
	free(text);
	hs_text_table_destroy(table);
	return rc;
}

static void cut_cell(struct hs_text_table *table, const char *text, size_t width)
{
	char cut[HS_LAB_WORD];

	hs_lab_cut(text, width, cut, sizeof(cut));
	hs_text_table_cell(table, cut);
}

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
							[BOUND] = if_any(mean.n_configured,
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

static void number_cell(struct hs_text_table *table, double value, int decimals)
{
	char text[HS_LAB_WORD] = "";

	if (!isnan(value))
		snprintf(text, sizeof(text), "%.*f", decimals, value);
	hs_text_table_cell(table, text);
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
		cut_cell(table, lines[i].row->e2e ? "end to end" : lines[i].row->hop, HOP_WIDTH);
		// An error of nothing is told from one that is small.
		for (enum field f = 0; f < FIELDS; f++)
			number_cell(table, lines[i].fields[f] * unit->scale,
					lines[i].fields[f] == 0 ? 0 : decimals[f]);
	}
	return finish(to, table, "");
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

// Rows of a flow lie side by side.
static size_t rows_of_flow(const struct hs_outcome *outcome, size_t first)
{
	uint32_t flow = hs_outcome_row(outcome, first)->flow;
	size_t n = 0;

	while (first + n < hs_outcome_rows(outcome) &&
			hs_outcome_row(outcome, first + n)->flow == flow)
		n++;
	return n;
}

static size_t windows_of(const struct hs_outcome *outcome, size_t first, size_t n)
{
	size_t windows = 0;

	for (size_t i = 0; i < n; i++)
		if (hs_outcome_row(outcome, first + i)->n > windows)
			windows = hs_outcome_row(outcome, first + i)->n;
	return windows;
}

// ---- a flow over the run ----

static double number_of(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_number(value) ? json_number_value(value) : NAN;
}

static bool is_of(const json_t *row, uint32_t ns_id)
{
	return json_integer_value(json_object_get(row, "ns_id")) == (json_int_t)ns_id;
}

// The row of the same hop in another list of the result; NULL: none.
static const json_t *same_hop(const json_t *list, const json_t *row)
{
	static const char *const keys[] = {"ns_id", "hop", "from", "to"};
	const json_t *other;
	size_t i, k;

	json_array_foreach (list, i, other) {
		for (k = 0; k < sizeof(keys) / sizeof(keys[0]); k++)
			if (!json_equal(json_object_get(other, keys[k]),
					    json_object_get(row, keys[k])))
				break;
		if (k == sizeof(keys) / sizeof(keys[0]))
			return other;
	}
	return NULL;
}

static void plain_cell(struct hs_text_table *table, double value)
{
	char text[HS_LAB_WORD] = "";

	if (!isnan(value))
		hs_lab_number(value, text);
	hs_text_table_cell(table, text);
}

static int print_run(FILE *to, uint32_t ns_id, const json_t *result)
{
	static const char *const headers[] = {"packets", "lost, measured", "lost, truth", "shown",
			"with telemetry, %", "overhead, %"};
	const json_t *lost = json_object_get(result, "lost_packets"), *row;
	const json_t *overhead = json_object_get(result, "overhead");
	struct hs_text_table *table;
	size_t i;

	if (hs_text_table_create(&table) < 0)
		return -ENOMEM;
	hs_text_table_column(table, "Over the run", false);
	for (i = 0; i < sizeof(headers) / sizeof(headers[0]); i++)
		hs_text_table_column(table, headers[i], true);
	json_array_foreach (lost, i, row) {
		const json_t *cost = same_hop(overhead, row);
		const char *hop = json_string_value(json_object_get(row, "hop"));
		if (!is_of(row, ns_id))
			continue;
		cut_cell(table, strcmp(hop, "e2e") == 0 ? "end to end" : hop, HOP_WIDTH);
		plain_cell(table, number_of(cost, "packets"));
		plain_cell(table, number_of(row, "measured"));
		plain_cell(table, number_of(row, "truth"));
		plain_cell(table, number_of(row, "shown"));
		number_cell(table, number_of(cost, "packets_ratio") * 100, 3);
		number_cell(table, number_of(cost, "bytes_ratio") * 100, 3);
	}
	return finish(to, table, "");
}

static int print_trips(FILE *to, const json_t *result)
{
	const json_t *trips = json_object_get(result, "round_trip"), *trip;
	struct hs_text_table *table;
	size_t i;

	if (hs_text_table_create(&table) < 0)
		return -ENOMEM;
	hs_text_table_column(table, "Round trip, ms", false);
	hs_text_table_column(table, "measured", true);
	hs_text_table_column(table, "truth", true);
	hs_text_table_column(table, "MAE truth", true);
	hs_text_table_column(table, "pairs", true);
	hs_text_table_column(table, "windows of clocks that differ", true);
	json_array_foreach (trips, i, trip) {
		if (i == HS_LAB_TABLE_FLOWS)
			break;
		cut_cell(table, json_string_value(json_object_get(trip, "up")), HOP_WIDTH);
		number_cell(table, number_of(trip, "measured_ns") / 1e6, 6);
		number_cell(table, number_of(trip, "truth_ns") / 1e6, 6);
		number_cell(table, number_of(trip, "mae_ns") / 1e6, 6);
		plain_cell(table, number_of(trip, "pairs"));
		plain_cell(table, number_of(trip, "clocks_differ"));
	}
	return finish(to, table, "");
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
	fprintf(to, "\nFlow %s: means over %zu windows of %" PRId64 " s\n", name,
			windows_of(outcome, first, n), run->scenario->window_ns / 1000000000);
	for (size_t i = 0; rc == 0 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		rc = print_kind(to, outcome, first, n, kinds[i]);
	return rc < 0 ? rc : print_run(to, run->scenario->flows[flow].ns_id, result);
}

static int print_flows(FILE *to, const struct hs_run *run, const struct hs_outcome *outcome,
		const json_t *result)
{
	size_t shown = 0, more = 0, n;
	int rc = 0;

	for (size_t first = 0; rc == 0 && first < hs_outcome_rows(outcome); first += n) {
		n = rows_of_flow(outcome, first);
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
	return finish(to, table, "");
}

// ---- links ----

static uint64_t lost_of(const struct hs_link_counters *c)
{
	uint64_t lost = 0;

	for (enum hs_link_loss loss = HS_LINK_NOT_LOST + 1; loss < HS_LINK_LOSSES; loss++)
		lost += c->lost[loss];
	return lost;
}

static void count_cell(struct hs_text_table *table, uint64_t count)
{
	char text[HS_LAB_WORD] = "";

	if (count)
		hs_lab_count(count, text);
	hs_text_table_cell(table, text);
}

static void link_row(struct hs_text_table *table, const struct hs_run *run, size_t link, int way)
{
	const struct hs_scenario *s = run->scenario;
	const struct hs_link_counters *c = &run->links[link][way];
	uint32_t from = way ? s->links[link].to : s->links[link].from;
	uint32_t to = way ? s->links[link].from : s->links[link].to;
	char name[HS_LAB_WORD];

	snprintf(name, sizeof(name), "%s → %s", s->nodes[from].name, s->nodes[to].name);
	cut_cell(table, name, LINK_WIDTH);
	count_cell(table, c->sent_packets);
	count_cell(table, lost_of(c));
	for (enum hs_link_loss loss = HS_LINK_NOT_LOST + 1; loss < HS_LINK_LOSSES; loss++)
		count_cell(table, c->lost[loss]);
	count_cell(table, c->copies);
	count_cell(table, c->late);
	count_cell(table, c->queue_max_packets);
	number_cell(table, c->wait_max_ns ? (double)c->wait_max_ns / 1e6 : NAN, 3);
}

static int print_links(FILE *to, const struct hs_run *run)
{
	struct hs_text_table *table;
	size_t shown = 0, more = 0;
	int rc;

	if (hs_text_table_create(&table) < 0)
		return -ENOMEM;
	hs_text_table_column(table, "Link, packets", false);
	hs_text_table_column(table, "sent", true);
	hs_text_table_column(table, "lost", true);
	for (enum hs_link_loss loss = HS_LINK_NOT_LOST + 1; loss < HS_LINK_LOSSES; loss++)
		hs_text_table_column(table, hs_link_loss_name(loss), true);
	hs_text_table_column(table, "copies", true);
	hs_text_table_column(table, "late", true);
	hs_text_table_column(table, "queued", true);
	hs_text_table_column(table, "wait, ms", true);
	for (size_t i = 0; i < run->scenario->n_links; i++) {
		for (int way = 0; way < 2; way++) {
			const struct hs_link_counters *c = &run->links[i][way];
			if (!lost_of(c) && !c->copies && !c->late && !c->wait_max_ns)
				continue;
			if (shown++ < LINKS_MAX)
				link_row(table, run, i, way);
			else
				more++;
		}
	}
	rc = finish(to, table, "");
	if (more)
		fprintf(to, "%zu links more\n", more);
	return rc;
}

// ---- all of it ----

static void print_head(FILE *to, const struct hs_run *run)
{
	const struct hs_scenario *s = run->scenario;
	double seconds = (double)(run->end_ns - run->start_ns) / 1e9;

	fprintf(to, "%s%s%s\n", s->name, s->source[0] ? ": " : "", s->source);
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
		rc = print_trips(to, result);
	if (rc == 0)
		rc = print_links(to, run);
	if (rc == 0)
		rc = print_all(to, outcome);
	return rc;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "lab_table.h"

#include "lab_words.h"
#include "clean_text.h"
#include "text_table.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH	   100 // of lines
#define HOP_WIDTH  20
#define LINK_WIDTH 26
#define LINKS_MAX  24 // rows of links that did something

// ---- cells ----

static double number_at(const json_t *object, const char *path)
{
	char key[32];
	const char *dot;

	while ((dot = strchr(path, '.'))) {
		snprintf(key, sizeof(key), "%.*s", (int)(dot - path), path);
		object = json_object_get(object, key);
		path = dot + 1;
	}
	const json_t *value = json_object_get(object, path);
	return json_is_number(value) ? json_number_value(value) : NAN;
}

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void name_cell(struct hs_text_table *table, const char *name, size_t width)
{
	char cut[HS_LAB_WORD];

	hs_lab_cut(strcmp(name, "e2e") == 0 ? "end to end" : name, width, cut, sizeof(cut));
	hs_text_table_cell(table, cut);
}

// With so many decimals; negative: as many as it has. Nothing of NAN.
static void number_cell(struct hs_text_table *table, double value, int decimals)
{
	char text[HS_LAB_WORD] = "";

	if (!isnan(value) && (decimals < 0 || value == 0))
		hs_lab_number(value, text);
	else if (!isnan(value))
		snprintf(text, sizeof(text), "%.*f", decimals, value);
	hs_text_table_cell(table, text);
}

// headers[0] is that of the names, which stand left; NULL ends them. NULL: no memory.
static struct hs_text_table *begin(const char *const *headers)
{
	struct hs_text_table *table;

	if (hs_text_table_create(&table) < 0)
		return NULL;
	for (size_t i = 0; headers[i]; i++)
		hs_text_table_column(table, headers[i], i > 0);
	return table;
}

// Prints the table, if it has rows, and destroys it. 0 or -ENOMEM.
static int finish(FILE *to, struct hs_text_table *table)
{
	char *text = table ? hs_text_table_text(table) : NULL;
	int rc = text ? 0 : -ENOMEM;

	if (text && text[0])
		fprintf(to, "\n%s", text);
	free(text);
	hs_text_table_destroy(table);
	return rc;
}

// ---- a metric of a flow ----

static const char *const numbers[] = {
		"measured", "truth", "configured", "mae.truth", "max_error", "mae.configured"};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))
#define SIDES	3 // of them stand side by side to be compared

// Decimals that show four digits and more of the largest number.
static int decimals_of(double largest)
{
	return largest >= 1e5 ? 1 : largest >= 1 ? 3 : largest >= 0.1 ? 4 : 6;
}

static int kind_table(FILE *to, const json_t *rows, const char *flow, enum hs_lab_metric_kind kind)
{
	const struct hs_lab_unit *unit = hs_lab_unit_of(kind);
	char title[HS_LAB_WORD];
	const char *const headers[] = {title, "measured", "truth", "configured", "MAE truth", "max",
			"MAE conf.", NULL};
	double largest[NUMBERS] = {0}, sum = 0;
	const json_t *row;
	size_t i;

	snprintf(title, sizeof(title), "%s, %s", unit->title, unit->unit);
	json_array_foreach (rows, i, row) {
		const json_t *of = json_object_get(row, hs_lab_metric_word(kind));
		for (size_t j = 0; of && strcmp(text_at(row, "flow"), flow) == 0 && j < NUMBERS;
				j++) {
			size_t group = j < SIDES ? 0 : j;
			double value = fabs(number_at(of, numbers[j])) * unit->scale;
			largest[group] = fmax(largest[group], value);
			sum += isnan(value) ? 0 : value;
		}
	}
	struct hs_text_table *table = begin(headers);
	for (i = 0; table && i < json_array_size(rows); i++) {
		row = json_array_get(rows, i);
		const json_t *of = json_object_get(row, hs_lab_metric_word(kind));
		if (!of || strcmp(text_at(row, "flow"), flow) != 0 ||
				(isnan(number_at(of, "truth")) &&
						isnan(number_at(of, "configured"))))
			continue;
		if (sum == 0) {
			hs_text_table_destroy(table);
			fprintf(to, "\n%s: 0 everywhere\n", unit->title);
			return 0;
		}
		name_cell(table, text_at(row, "hop"), HOP_WIDTH);
		for (size_t j = 0; j < NUMBERS; j++)
			number_cell(table, number_at(of, numbers[j]) * unit->scale,
					decimals_of(largest[j < SIDES ? 0 : j]));
	}
	return finish(to, table);
}

// ---- a flow over the run ----

// The row of the same flow and hop in another list of the result; NULL: none.
static const json_t *same_row(const json_t *list, const json_t *row)
{
	const json_t *other;
	size_t i;

	json_array_foreach (list, i, other)
		if (strcmp(text_at(other, "flow"), text_at(row, "flow")) == 0 &&
				strcmp(text_at(other, "hop"), text_at(row, "hop")) == 0)
			return other;
	return NULL;
}

static int run_table(FILE *to, const json_t *result, const char *flow)
{
	static const char *const headers[] = {"Over the run", "packets", "lost, measured",
			"lost, truth", "shown", "with telemetry, %", "overhead, %", NULL};
	const json_t *row;
	struct hs_text_table *table = begin(headers);
	size_t i;

	json_array_foreach (json_object_get(result, "lost_packets"), i, row) {
		const json_t *cost = same_row(json_object_get(result, "overhead"), row);
		if (!table || strcmp(text_at(row, "flow"), flow) != 0)
			continue;
		name_cell(table, text_at(row, "hop"), HOP_WIDTH);
		number_cell(table, number_at(cost, "packets"), -1);
		number_cell(table, number_at(row, "measured"), -1);
		number_cell(table, number_at(row, "truth"), -1);
		number_cell(table, number_at(row, "shown"), -1);
		number_cell(table, number_at(cost, "packets_ratio") * 100, 3);
		number_cell(table, number_at(cost, "bytes_ratio") * 100, 3);
	}
	return finish(to, table);
}

static int flow_tables(FILE *to, const json_t *result, const char *flow, double windows)
{
	double window_s = number_at(result, "window_ns") / 1e9;
	int rc = 0;

	fprintf(to, "\nFlow %s: means over %.0f windows of %.6g %s\n", flow, windows,
			window_s < 1 ? window_s * 1000 : window_s, window_s < 1 ? "ms" : "s");
	for (enum hs_lab_metric_kind kind = 0; rc == 0 && kind <= HS_LAB_LOSS; kind++)
		rc = kind_table(to, json_object_get(result, "rows"), flow, kind);
	return rc < 0 ? rc : run_table(to, result, flow);
}

// ---- round trips, links, all rows ----

static int trip_table(FILE *to, const json_t *result)
{
	static const char *const headers[] = {"Round trip, ms", "measured", "truth", "MAE truth",
			"pairs", "windows of clocks that differ", NULL};
	struct hs_text_table *table = begin(headers);
	const json_t *trip;
	size_t i;

	json_array_foreach (json_object_get(result, "round_trip"), i, trip) {
		if (!table || i == HS_LAB_TABLE_FLOWS)
			break;
		name_cell(table, text_at(trip, "up"), HOP_WIDTH);
		number_cell(table, number_at(trip, "measured_ns") / 1e6, 6);
		number_cell(table, number_at(trip, "truth_ns") / 1e6, 6);
		number_cell(table, number_at(trip, "mae_ns") / 1e6, 6);
		number_cell(table, number_at(trip, "pairs"), -1);
		number_cell(table, number_at(trip, "clocks_differ"), -1);
	}
	return finish(to, table);
}

static void say_count(char text[HS_LAB_WORD], const char *what, double count)
{
	size_t used = strlen(text);

	if (count > 0)
		snprintf(text + used, HS_LAB_WORD - used, "%s%.0f %s", used ? ", " : "", count,
				what);
}

// "2 random, 1 copies"; "": nothing.
static void say_link(const json_t *link, char text[HS_LAB_WORD])
{
	const json_t *lost = json_object_get(link, "lost");
	const char *reason;
	json_t *count;

	text[0] = '\0';
	json_object_foreach ((json_t *)lost, reason, count)
		say_count(text, reason, json_number_value(count));
	say_count(text, "late", number_at(link, "late"));
	say_count(text, "copies", number_at(link, "copies"));
}

static int link_table(FILE *to, const json_t *result)
{
	static const char *const headers[] = {
			"Link, packets", "sent", "lost, late, copies", "queued", "wait, ms", NULL};
	struct hs_text_table *table = begin(headers);
	char what[HS_LAB_WORD], name[HS_LAB_WORD];
	size_t i, shown = 0;
	const json_t *link;

	json_array_foreach (json_object_get(result, "links"), i, link) {
		say_link(link, what);
		if (!table || (!what[0] && number_at(link, "wait_max_ns") == 0))
			continue;
		if (shown++ >= LINKS_MAX)
			continue;
		snprintf(name, sizeof(name), "%s %s", text_at(link, "name"),
				text_at(link, "direction"));
		name_cell(table, name, LINK_WIDTH);
		number_cell(table, number_at(link, "sent_packets"), -1);
		hs_text_table_cell(table, what);
		number_cell(table, number_at(link, "queue_max_packets"), -1);
		number_cell(table, number_at(link, "wait_max_ns") / 1e6, 3);
	}
	int rc = finish(to, table);
	if (shown > LINKS_MAX)
		fprintf(to, "and %zu links more\n", shown - LINKS_MAX);
	return rc;
}

static int mae_table(FILE *to, const json_t *result)
{
	static const char *const headers[] = {"All hops and ends", "MAE truth", "MAE conf.", NULL};
	struct hs_text_table *table = begin(headers);

	for (enum hs_lab_metric_kind kind = 0; table && kind < HS_LAB_KINDS; kind++) {
		const struct hs_lab_unit *unit = hs_lab_unit_of(kind);
		const json_t *of = json_object_get(
				json_object_get(result, "mae"), hs_lab_metric_word(kind));
		char title[HS_LAB_WORD];
		if (!json_object_size(of))
			continue;
		snprintf(title, sizeof(title), "%s%s%s", unit->title, unit->unit[0] ? ", " : "",
				unit->unit);
		hs_text_table_cell(table, title);
		number_cell(table, number_at(of, "truth") * unit->scale, -1);
		number_cell(table, number_at(of, "configured") * unit->scale, -1);
	}
	return finish(to, table);
}

// ---- all of it ----

static void print_head(FILE *to, const struct hs_scenario *s, const json_t *result)
{
	double seconds = (number_at(result, "end_ns") - number_at(result, "start_ns")) / 1e9;
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
			seconds, json_is_true(json_object_get(result, "real")) ? "real" : "virtual",
			s->n_nodes, s->n_links,
			json_is_true(json_object_get(result, "partial"))
					? "; INTERRUPTED: partial results"
					: "");
}

int hs_lab_table_print(FILE *to, const struct hs_scenario *scenario, const json_t *result)
{
	size_t i, shown = 0, more = 0;
	const json_t *flow;
	int rc = 0;

	print_head(to, scenario, result);
	json_array_foreach (json_object_get(result, "flows"), i, flow) {
		double windows = number_at(flow, "windows");
		if (!(windows > 0) || shown == HS_LAB_TABLE_FLOWS) {
			more += windows > 0;
			continue;
		}
		shown++;
		rc = rc < 0 ? rc : flow_tables(to, result, text_at(flow, "flow"), windows);
	}
	if (more)
		fprintf(to, "\n%zu flows more are in the result (--json).\n", more);
	rc = rc < 0 ? rc : trip_table(to, result);
	rc = rc < 0 ? rc : link_table(to, result);
	return rc < 0 ? rc : mae_table(to, result);
}

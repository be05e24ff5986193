// SPDX-License-Identifier: BSD-3-Clause
#include "lab_table.h"

#include "lab_words.h"

#include "clean_text.h"
#include "outcome.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define WIDTH	   100 // of a line
#define HOP_WIDTH  20
#define LINK_WIDTH 26
#define FLOWS_MAX  8  // flows with a table of their own
#define LINKS_MAX  24 // rows of links with losses or other effects

// ---- cells ----

static const char *text_at(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static void name_cell(struct hs_text_table *table, const char *name, size_t width)
{
	char cut[HS_LAB_WORD];

	hs_lab_cut(strcmp(name, "e2e") == 0 ? "end to end" : name, width, cut, sizeof(cut));
	hs_lab_cell(table, "%s", cut);
}

// Adds a cell with this number of decimals or, if it is negative, with as many as the value has.
// NAN gives an empty cell.
static void number_cell(struct hs_text_table *table, double value, int decimals)
{
	char text[HS_LAB_WORD] = "";

	if (!isnan(value) && (decimals < 0 || value == 0))
		hs_lab_number(value, text);
	else if (!isnan(value))
		snprintf(text, sizeof(text), "%.*f", decimals, value);
	hs_lab_cell(table, "%s", text);
}

// ---- rows of numbers ----

#define NUMBERS 6
static const char *const of_metric[NUMBERS] = {
		"measured", "truth", "configured", "mae.truth", "max_error", "mae.configured"};
static const char *const of_loss[NUMBERS] = {"measured", "truth"};
static const char *const of_overhead[NUMBERS] = {"bytes_ratio"};
static const char *const of_trip[NUMBERS] = {"measured_ns", "truth_ns", NULL, "mae_ns"};
static const char *const of_all[NUMBERS] = {NULL, NULL, NULL, "truth", NULL, "configured"};

static struct hs_text_table *begin(const char *title)
{
	const char *const headers[] = {title, "", "measured", "truth", "configured", "MAE truth",
			"max", "MAE conf."};

	return hs_lab_table_begin("llrrrrrr", headers);
}

static bool is_of(const json_t *row, const char *flow)
{
	return strcmp(text_at(row, "flow"), flow) == 0;
}

static void add_row(struct hs_text_table *table, const char *title, const char *name,
		const json_t *of, const char *const paths[NUMBERS], double scale)
{
	hs_lab_cell(table, "%s", title);
	name_cell(table, name, HOP_WIDTH);
	for (size_t i = 0; i < NUMBERS; i++)
		number_cell(table, paths[i] ? hs_outcome_number(of, paths[i]) * scale : NAN, -1);
}

// Adds the rows of a flow in a list of the result. The numbers are in the member `key` of each row,
// or in the row itself if `key` is NULL.
static void add_rows(struct hs_text_table *table, const char *title, const json_t *list,
		const char *flow, const char *key, const char *const paths[NUMBERS], double scale)
{
	const json_t *row;
	size_t i;

	json_array_foreach (list, i, row) {
		const json_t *of = key ? json_object_get(row, key) : row;
		if (!is_of(row, flow) || !of)
			continue;
		add_row(table, title, text_at(row, "hop"), of, paths, scale);
		title = "";
	}
}

// Returns the largest number of a metric, or NAN if the flow has none.
static double largest_of(const json_t *rows, const char *flow, const char *word)
{
	double largest = NAN;
	const json_t *row;
	size_t i;

	json_array_foreach (rows, i, row) {
		const json_t *of = json_object_get(row, word);
		for (size_t j = 0; of && is_of(row, flow) && j < NUMBERS; j++)
			largest = fmax(largest, fabs(hs_outcome_number(of, of_metric[j])));
	}
	return largest;
}

static int flow_table(FILE *to, const json_t *result, const char *flow, double windows)
{
	const json_t *rows = json_object_get(result, "rows");
	double window_s = hs_outcome_number(result, "window_ns") / 1e9;
	struct hs_text_table *table = begin("");

	fprintf(to, "\nFlow %s: means over %.0f windows of %.6g %s\n", flow, windows,
			window_s < 1 ? window_s * 1000 : window_s, window_s < 1 ? "ms" : "s");
	for (enum hs_lab_metric_kind kind = 0; kind < HS_LAB_KINDS; kind++) {
		const struct hs_lab_kind *of = &hs_lab_kinds[kind];
		if (kind > HS_LAB_LOSS && kind < HS_LAB_HOP_LATENCY)
			continue;
		if (largest_of(rows, flow, of->word) == 0)
			add_row(table, of->title, "everywhere 0", NULL, of_metric, 1);
		else
			add_rows(table, of->title, rows, flow, of->word, of_metric, of->scale);
	}
	add_rows(table, "Lost in the run", json_object_get(result, "lost_packets"), flow, NULL,
			of_loss, 1);
	add_rows(table, "Telemetry, % of bytes", json_object_get(result, "overhead"), flow, NULL,
			of_overhead, 100);
	return hs_lab_table_end(to, "\n", table);
}

// ---- round trips, links, all rows ----

static int trip_table(FILE *to, const json_t *result)
{
	struct hs_text_table *table = begin("");
	const json_t *trip;
	size_t i;

	json_array_foreach (json_object_get(result, "round_trip"), i, trip)
		if (i < FLOWS_MAX)
			add_row(table, "Round trip, ms", text_at(trip, "up"), trip, of_trip, 1e-6);
	return hs_lab_table_end(to, "\n", table);
}

static void say_count(char text[HS_LAB_WORD], const char *what, double count)
{
	size_t used = strlen(text);

	if (count > 0)
		snprintf(text + used, HS_LAB_WORD - used, "%s%.0f %s", used ? ", " : "", count,
				what);
}

// Writes "2 random, 1 copies", or "" for nothing.
static void say_link(const json_t *link, char text[HS_LAB_WORD])
{
	const json_t *lost = json_object_get(link, "lost");
	const char *reason;
	json_t *count;

	text[0] = '\0';
	json_object_foreach ((json_t *)lost, reason, count)
		say_count(text, reason, json_number_value(count));
	say_count(text, "late", hs_outcome_number(link, "late"));
	say_count(text, "copies", hs_outcome_number(link, "copies"));
}

static int link_table(FILE *to, const json_t *result)
{
	static const char *const columns[] = {
			"Link, packets", "sent", "lost, late, copies", "queued", "wait, ms"};
	struct hs_text_table *table = hs_lab_table_begin("lrrrr", columns);
	char what[HS_LAB_WORD], name[HS_LAB_WORD];
	size_t i, shown = 0;
	const json_t *link;

	json_array_foreach (json_object_get(result, "links"), i, link) {
		say_link(link, what);
		if (!what[0] && hs_outcome_number(link, "wait_max_ns") == 0)
			continue;
		if (shown++ >= LINKS_MAX)
			continue;
		snprintf(name, sizeof(name), "%s %s", text_at(link, "name"),
				text_at(link, "direction"));
		name_cell(table, name, LINK_WIDTH);
		number_cell(table, hs_outcome_number(link, "sent_packets"), -1);
		hs_lab_cell(table, "%s", what);
		number_cell(table, hs_outcome_number(link, "queue_max_packets"), -1);
		number_cell(table, hs_outcome_number(link, "wait_max_ns") / 1e6, 3);
	}
	int rc = hs_lab_table_end(to, "\n", table);
	if (shown > LINKS_MAX)
		fprintf(to, "and %zu links more\n", shown - LINKS_MAX);
	return rc;
}

// Prints the table of a monitoring host's sessions.
static int probing_table(FILE *to, const json_t *result)
{
	static const char *const columns[] = {"Sessions of probes", "failed", "covered", "sent",
			"lost", "recovery", "mean, ms", "max, ms"};
	static const char *const numbers[] = {"sessions", "sessions_failed", "switches_covered",
			"probes_sent", "probes_lost", "recovery_probes"};
	const json_t *probing = json_object_get(result, "probing");
	struct hs_text_table *table = hs_lab_table_begin("lrrrrrrr", columns);

	for (unsigned i = 0; probing && i < sizeof(numbers) / sizeof(numbers[0]); i++)
		number_cell(table, hs_outcome_number(probing, numbers[i]), -1);
	if (probing) {
		number_cell(table, hs_outcome_number(probing, "elapsed_ns.mean") / 1e6, 3);
		number_cell(table, hs_outcome_number(probing, "elapsed_ns.max") / 1e6, 3);
	}
	return hs_lab_table_end(to, "\n", table);
}

static int mae_table(FILE *to, const json_t *result)
{
	struct hs_text_table *table = begin("All hops and ends");

	for (enum hs_lab_metric_kind kind = 0; kind < HS_LAB_KINDS; kind++) {
		const struct hs_lab_kind *of = &hs_lab_kinds[kind];
		const json_t *mae = json_object_get(json_object_get(result, "mae"), of->word);
		if (json_object_size(mae))
			add_row(table, of->title, "", mae, of_all, of->scale);
	}
	return hs_lab_table_end(to, "\n", table);
}

// ---- all of it ----

static void print_head(FILE *to, const struct hs_scenario *s, const json_t *result)
{
	double seconds = (hs_outcome_number(result, "end_ns") -
					 hs_outcome_number(result, "start_ns")) /
			 1e9;
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
		double windows = hs_outcome_number(flow, "windows");
		if (!(windows > 0) || shown == FLOWS_MAX) {
			more += windows > 0;
			continue;
		}
		shown++;
		rc = rc ?: flow_table(to, result, text_at(flow, "flow"), windows);
	}
	if (more)
		fprintf(to, "\n%zu flows more are in the result (--json).\n", more);
	return rc ?: trip_table(to, result) ?: probing_table(to, result)
			?: link_table(to, result) ?: mae_table(to, result);
}

// ---- expectations ----

// How metrics with this part in their name are shown.
struct unit {
	const char *part, *text;
	double scale;
};

static const struct unit *unit_of(const char *metric)
{
	static const struct unit units[] = {{"_bps", " Mbit/s", 1e-6}, {"_ratio", " %", 100},
			{"_ns", " ms", 1e-6}, {"", "", 1}};
	const struct unit *unit = units;

	while (!strstr(metric, unit->part))
		unit++;
	return unit;
}

static void print_number(FILE *to, const char *before, const json_t *value, const struct unit *unit)
{
	char text[HS_LAB_WORD];

	hs_lab_number(json_number_value(value) * unit->scale, text);
	fprintf(to, "%s%s", before, text);
}

// Prints "10 ± 1 ms", "1 to 2 %", "at least 5".
static void print_limits(FILE *to, const json_t *expect, const struct unit *unit)
{
	const json_t *value = json_object_get(expect, "value");
	const json_t *tolerance = json_object_get(expect, "tolerance");
	const json_t *min = json_object_get(expect, "min"), *max = json_object_get(expect, "max");

	if (value) {
		print_number(to, "", value, unit);
		if (json_number_value(tolerance) != 0)
			print_number(to, " ± ", tolerance, unit);
	} else if (min && max) {
		print_number(to, "", min, unit);
		print_number(to, " to ", max, unit);
	} else {
		print_number(to, min ? "at least " : "at most ", min ? min : max, unit);
	}
	fputs(unit->text, to);
}

static void print_expect(FILE *to, const json_t *expect, bool met)
{
	static const char *const keys[] = {"hop", "flow", "node"};
	const char *metric = text_at(expect, "metric"), *reason = text_at(expect, "reason");
	const json_t *measured = json_object_get(expect, "measured");
	const struct unit *unit = unit_of(metric);

	fprintf(to, "  %s  %s", met ? "met    " : "NOT MET", metric);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *name = text_at(expect, keys[i]);
		if (name[0])
			fprintf(to, ", %s", strcmp(name, "*") == 0 ? "worst hop" : name);
	}
	if (measured)
		print_number(to, ": ", measured, unit);
	else
		fprintf(to, ": %s", reason[0] ? reason : "nothing measured");
	fprintf(to, "%s (", measured ? unit->text : "");
	print_limits(to, expect, unit);
	fputs(")\n", to);
}

size_t hs_lab_expect_print(FILE *to, const json_t *result, bool unmet_alone)
{
	const json_t *expect;
	size_t unmet = 0, i;

	json_array_foreach (json_object_get(result, "expect"), i, expect) {
		bool met = json_is_true(json_object_get(expect, "met"));
		unmet += !met;
		if (!met || !unmet_alone)
			print_expect(to, expect, met);
	}
	return unmet;
}

void hs_lab_expect_total(FILE *to, const json_t *result, size_t unmet)
{
	size_t n = json_array_size(json_object_get(result, "expect"));

	if (n)
		fprintf(to, "%zu of %zu expectation%s met\n", n - unmet, n, n == 1 ? "" : "s");
	else
		fprintf(to, "no expectations\n");
}

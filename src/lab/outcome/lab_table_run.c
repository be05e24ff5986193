// SPDX-License-Identifier: BSD-3-Clause
// Tables of what a run was as a whole: loss and overhead of a flow, round trips, links.
#include "lab_table_parts.h"

#include "lab_table.h"
#include "lab_words.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LINK_WIDTH 26
#define LINKS_MAX  24 // rows of links that lost something

// ---- cells ----

int hs_lab_table_finish(FILE *to, struct hs_text_table *table, const char *title)
{
	char *text = hs_text_table_text(table);
	int rc = text ? 0 : -ENOMEM;

	if (text && text[0])
		fprintf(to, "\n%s%s%s", title, title[0] ? "\n" : "", text);
	free(text);
	hs_text_table_destroy(table);
	return rc;
}

void hs_lab_table_cut(struct hs_text_table *table, const char *text, size_t width)
{
	char cut[HS_LAB_WORD];

	hs_lab_cut(text, width, cut, sizeof(cut));
	hs_text_table_cell(table, cut);
}

void hs_lab_table_number(struct hs_text_table *table, double value, int decimals)
{
	char text[HS_LAB_WORD] = "";

	if (!isnan(value))
		snprintf(text, sizeof(text), "%.*f", decimals, value);
	hs_text_table_cell(table, text);
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

int hs_lab_table_run(FILE *to, uint32_t ns_id, const json_t *result)
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
		if (!is_of(row, ns_id))
			continue;
		const json_t *cost = same_hop(overhead, row);
		const char *hop = json_string_value(json_object_get(row, "hop"));
		hs_lab_table_cut(table, strcmp(hop, "e2e") == 0 ? "end to end" : hop, HOP_WIDTH);
		plain_cell(table, number_of(cost, "packets"));
		plain_cell(table, number_of(row, "measured"));
		plain_cell(table, number_of(row, "truth"));
		plain_cell(table, number_of(row, "shown"));
		hs_lab_table_number(table, number_of(cost, "packets_ratio") * 100, 3);
		hs_lab_table_number(table, number_of(cost, "bytes_ratio") * 100, 3);
	}
	return hs_lab_table_finish(to, table, "");
}

int hs_lab_table_trips(FILE *to, const json_t *result)
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
		hs_lab_table_cut(table, json_string_value(json_object_get(trip, "up")), HOP_WIDTH);
		hs_lab_table_number(table, number_of(trip, "measured_ns") / 1e6, 6);
		hs_lab_table_number(table, number_of(trip, "truth_ns") / 1e6, 6);
		hs_lab_table_number(table, number_of(trip, "mae_ns") / 1e6, 6);
		plain_cell(table, number_of(trip, "pairs"));
		plain_cell(table, number_of(trip, "clocks_differ"));
	}
	return hs_lab_table_finish(to, table, "");
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

struct way {
	size_t link;
	int way;
	uint64_t lost;
};

static void link_row(struct hs_text_table *table, const struct hs_run *run, size_t link, int way)
{
	const struct hs_scenario *s = run->scenario;
	const struct hs_link_counters *c = &run->links[link][way];
	uint32_t from = way ? s->links[link].to : s->links[link].from;
	uint32_t to = way ? s->links[link].from : s->links[link].to;
	char name[HS_LAB_WORD];

	snprintf(name, sizeof(name), "%s → %s", s->nodes[from].name, s->nodes[to].name);
	hs_lab_table_cut(table, name, LINK_WIDTH);
	count_cell(table, c->sent_packets);
	count_cell(table, lost_of(c));
	for (enum hs_link_loss loss = HS_LINK_NOT_LOST + 1; loss < HS_LINK_LOSSES; loss++)
		count_cell(table, c->lost[loss]);
	count_cell(table, c->copies);
	count_cell(table, c->late);
	count_cell(table, c->queue_max_packets);
	hs_lab_table_number(table, c->wait_max_ns ? (double)c->wait_max_ns / 1e6 : NAN, 3);
}

static int by_loss(const void *a, const void *b)
{
	const struct way *x = a, *y = b;

	if (x->lost != y->lost)
		return x->lost < y->lost ? 1 : -1;
	return x->link != y->link ? (x->link > y->link ? 1 : -1) : x->way - y->way;
}

// Ways that did something; where these are many, those that lost most come first.
static size_t find_ways(const struct hs_run *run, struct way *ways)
{
	size_t n = 0;

	for (size_t i = 0; i < run->scenario->n_links; i++) {
		for (int way = 0; way < 2; way++) {
			const struct hs_link_counters *c = &run->links[i][way];
			if (lost_of(c) || c->copies || c->late || c->wait_max_ns)
				ways[n++] = (struct way){i, way, lost_of(c)};
		}
	}
	if (n > LINKS_MAX)
		qsort(ways, n, sizeof(*ways), by_loss);
	return n;
}

static struct hs_text_table *links_header(void)
{
	struct hs_text_table *table;

	if (hs_text_table_create(&table) < 0)
		return NULL;
	hs_text_table_column(table, "Link, packets", false);
	hs_text_table_column(table, "sent", true);
	hs_text_table_column(table, "lost", true);
	for (enum hs_link_loss loss = HS_LINK_NOT_LOST + 1; loss < HS_LINK_LOSSES; loss++)
		hs_text_table_column(table, hs_link_loss_name(loss), true);
	hs_text_table_column(table, "copies", true);
	hs_text_table_column(table, "late", true);
	hs_text_table_column(table, "queued", true);
	hs_text_table_column(table, "wait, ms", true);
	return table;
}

int hs_lab_table_links(FILE *to, const struct hs_run *run)
{
	struct way *ways = calloc(2 * run->scenario->n_links + 1, sizeof(*ways));
	struct hs_text_table *table = ways ? links_header() : NULL;
	size_t n;
	int rc;

	if (!table) {
		free(ways);
		return -ENOMEM;
	}
	n = find_ways(run, ways);
	for (size_t i = 0; i < n && i < LINKS_MAX; i++)
		link_row(table, run, ways[i].link, ways[i].way);
	rc = hs_lab_table_finish(to, table, "");
	if (n > LINKS_MAX)
		fprintf(to, "and %zu links more, which lost less\n", n - LINKS_MAX);
	free(ways);
	return rc;
}

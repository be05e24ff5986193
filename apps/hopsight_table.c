// SPDX-License-Identifier: BSD-3-Clause
// Values and tables for people.
#include "hopsight_cli.h"

#include "clean_text.h"
#include "text_table.h"

#include <math.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_COLUMNS 32
#define MAX_PATH    96
#define REST_RANK   3 // rank of columns that no view names

// ---- what others said ----

static json_t *clean_members(const json_t *object)
{
	json_t *clean = json_object(), *value;
	const char *key;

	json_object_foreach ((json_t *)object, key, value) {
		char *name = hs_clean_dup(key);
		if (name)
			json_object_set_new(clean, name, hs_cli_clean(json_incref(value)));
		free(name);
	}
	return clean;
}

static json_t *clean_list(const json_t *list)
{
	json_t *clean = json_array(), *value;
	size_t i;

	json_array_foreach (list, i, value)
		json_array_append_new(clean, hs_cli_clean(json_incref(value)));
	return clean;
}

static json_t *clean_string(const json_t *string)
{
	char *text = hs_clean_dup(json_string_value(string));
	json_t *clean = text ? json_string(text) : NULL;

	free(text);
	return clean;
}

json_t *hs_cli_clean(json_t *value)
{
	json_t *clean = json_is_object(value)	? clean_members(value)
			: json_is_array(value)	? clean_list(value)
			: json_is_string(value) ? clean_string(value)
						: json_incref(value);

	json_decref(value);
	return clean;
}

// ---- values ----

static bool has(const char *path, const char *part)
{
	return strstr(path, part) != NULL;
}

static void format_rate(double rate, const char *unit, char *text)
{
	static const char *const prefixes[] = {"", "k", "M", "G", "T"};
	unsigned i = 0;

	for (; fabs(rate) >= 1000 && i < 4; i++)
		rate /= 1000;
	snprintf(text, HS_CLI_TEXT, i ? "%.2f %s%s" : "%.0f %s%s", rate, prefixes[i], unit);
}

static void format_duration(double ns, char *text)
{
	double size = fabs(ns);

	if (size < 1e3)
		snprintf(text, HS_CLI_TEXT, "%.0f ns", ns);
	else if (size < 1e6)
		snprintf(text, HS_CLI_TEXT, "%.1f µs", ns / 1e3);
	else if (size < 1e9)
		snprintf(text, HS_CLI_TEXT, "%.3f ms", ns / 1e6);
	else
		snprintf(text, HS_CLI_TEXT, "%.6g s", ns / 1e9);
}

static void format_time(json_int_t ns, char *text)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm utc;
	char date[32];

	gmtime_r(&seconds, &utc);
	strftime(date, sizeof(date), "%Y-%m-%d %H:%M:%S", &utc);
	snprintf(text, HS_CLI_TEXT, "%s.%06dZ", date, (int)(ns % 1000000000 / 1000));
}

// Returns whether 0 means that there is none: a time that was never, an MTU that was never missed.
static bool is_none(const char *path, double number)
{
	bool never = strncmp(path, "last_", 5) == 0 && has(path, "_ns");

	return number == 0 && (never || strcmp(path, "mtu_needed_bytes") == 0);
}

// Returns the name of an IP protocol as rules say it, or NULL.
static const char *protocol_of(const char *path, json_int_t number)
{
	if (strcmp(path, "protocol") != 0)
		return NULL;
	return number == IPPROTO_TCP				    ? "tcp"
	       : number == IPPROTO_UDP				    ? "udp"
	       : number == IPPROTO_ICMP || number == IPPROTO_ICMPV6 ? "icmp"
								    : NULL;
}

static void format_number(const char *path, const json_t *value, char *text)
{
	const char *protocol = protocol_of(path, json_integer_value(value));
	double number = json_number_value(value);

	if (protocol)
		snprintf(text, HS_CLI_TEXT, "%s", protocol);
	else if (is_none(path, number))
		snprintf(text, HS_CLI_TEXT, "–");
	else if (has(path, "_bps"))
		format_rate(number, "bit/s", text);
	else if (has(path, "_pps"))
		format_rate(number, "/s", text);
	else if (has(path, "_ratio"))
		snprintf(text, HS_CLI_TEXT, "%.4g %%", number * 100);
	else if (has(path, "_ns") && number > 1e17) // a time after 1973, not a duration
		format_time(json_integer_value(value), text);
	else if (has(path, "_ns"))
		format_duration(number, text);
	else if (json_is_integer(value))
		snprintf(text, HS_CLI_TEXT, "%" JSON_INTEGER_FORMAT, json_integer_value(value));
	else
		snprintf(text, HS_CLI_TEXT, "%.6g", number);
}

// Appends as much of a text as fits; `text` has HS_CLI_TEXT bytes. A text that was cut ends with …
static void add(char *text, const char *more)
{
	static const char cut[] = "…";
	size_t used = strlen(text);

	if (snprintf(text + used, HS_CLI_TEXT - used, "%s", more) < (int)(HS_CLI_TEXT - used))
		return;
	text[HS_CLI_TEXT - sizeof(cut)] = '\0';
	hs_clean_mend(text); // the last character may be cut
	strcat(text, cut);
}

static void format_list(const char *path, const json_t *list, char *text)
{
	size_t i;
	json_t *value;

	text[0] = '\0';
	json_array_foreach (list, i, value) {
		char one[HS_CLI_TEXT];
		hs_cli_format(path, value, one);
		add(text, i ? ", " : "");
		add(text, one);
	}
}

// Writes names with their values and leaves out zeros.
static void format_members(const json_t *object, char *text)
{
	const char *key;
	json_t *value;

	text[0] = '\0';
	json_object_foreach ((json_t *)object, key, value) {
		char one[HS_CLI_TEXT];
		if (json_is_number(value) && json_number_value(value) == 0)
			continue;
		hs_cli_format(key, value, one);
		add(text, text[0] ? " " : "");
		add(text, key);
		add(text, "=");
		add(text, one);
	}
}

void hs_cli_format(const char *path, const json_t *value, char text[HS_CLI_TEXT])
{
	text[0] = '\0';
	switch (value ? json_typeof(value) : JSON_NULL) {
	case JSON_OBJECT:
		format_members(value, text);
		break;
	case JSON_ARRAY:
		format_list(path, value, text);
		break;
	case JSON_STRING:
		hs_clean_copy(json_string_value(value), text, HS_CLI_TEXT);
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		format_number(path, value, text);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		snprintf(text, HS_CLI_TEXT, "%s", json_is_true(value) ? "yes" : "no");
		break;
	case JSON_NULL:
		snprintf(text, HS_CLI_TEXT, "%s", value ? "–" : "");
		break;
	}
}

int64_t hs_cli_now_text(char text[HS_CLI_TEXT])
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	int64_t ns = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
	format_time(ns, text);
	return ns;
}

// ---- words of several members ----

void hs_cli_path_text(const json_t *path, char text[HS_CLI_TEXT])
{
	size_t i;
	json_t *node;

	text[0] = '\0';
	json_array_foreach (path, i, node) {
		char id[32];
		snprintf(id, sizeof(id), "%s%" JSON_INTEGER_FORMAT, i ? " → " : "",
				json_integer_value(node));
		add(text, id);
	}
}

void hs_cli_hop_name(const json_t *hop, char *text, size_t size)
{
	static const char *const ends[] = {"from", "to"};
	char id[2][24];

	for (size_t i = 0; i < 2; i++) {
		const json_t *end = json_object_get(hop, ends[i]);
		snprintf(id[i], sizeof(id[i]), "%" JSON_INTEGER_FORMAT, json_integer_value(end));
		if (!end)
			snprintf(id[i], sizeof(id[i]), "?");
	}
	snprintf(text, size, "%s → %s", id[0], id[1]);
}

void hs_cli_add_unit(json_t *row, const char *key)
{
	const json_t *value = json_object_get(row, key), *unit = json_object_get(row, "unit");
	char text[128];

	if (!value || !unit)
		return;
	snprintf(text, sizeof(text), "%" JSON_INTEGER_FORMAT " %s", json_integer_value(value),
			json_string_value(unit));
	json_object_set_new(row, key, json_string(text));
}

json_t *hs_cli_told_path(const json_t *flow)
{
	char text[HS_CLI_TEXT] = "";
	size_t used = 0, i;
	json_t *hop;

	json_array_foreach (json_object_get(flow, "hops"), i, hop) {
		const json_t *node = json_object_get(hop, "node_id");
		const json_t *latency = json_object_get(hop, "latency");
		char id[24] = "?", own[32] = "";
		if (node)
			snprintf(id, sizeof(id), "%" JSON_INTEGER_FORMAT, json_integer_value(node));
		if (latency)
			snprintf(own, sizeof(own), " (%" JSON_INTEGER_FORMAT ")",
					json_integer_value(latency));
		if (used < sizeof(text))
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s%s",
					i ? " → " : "", id, own);
	}
	return json_string(text);
}

json_t *hs_cli_unless_stale(const json_t *numbers, bool stale)
{
	json_t *copy = json_copy((json_t *)numbers), *value;
	const char *key;
	void *next;

	if (!stale)
		return copy;
	json_object_foreach_safe (copy, next, key, value) {
		json_object_set_new(copy, key, json_null());
	}
	return copy;
}

// ---- tables ----

const json_t *hs_cli_at_path(const json_t *object, const char *path)
{
	const char *dot = strchr(path, '.');
	char first[MAX_PATH];

	if (!dot)
		return json_object_get(object, path);
	snprintf(first, sizeof(first), "%.*s", (int)(dot - path), path);
	const json_t *inner = json_object_get(object, first);
	return json_is_null(inner) ? inner : hs_cli_at_path(inner, dot + 1);
}

// Writes the header of a column. Each value has its unit, so that the header has none.
static void header_of(const struct hs_cli_column *column, char *header, size_t size)
{
	static const char *const units[] = {"_ns", "_bps", "_ratio"};

	snprintf(header, size, "%s", column->header ? column->header : column->path);
	if (column->header)
		return;
	for (size_t i = 0; i < 3; i++) {
		char *unit = strstr(header, units[i]);
		if (unit)
			memmove(unit, unit + strlen(units[i]), strlen(unit + strlen(units[i])) + 1);
	}
	for (char *c = header; *c; c++)
		if (*c == '_' || *c == '.')
			*c = ' ';
}

struct table {
	struct hs_cli_column columns[MAX_COLUMNS];
	size_t n;
};

static bool is_named(const struct table *table, const char *key)
{
	for (size_t i = 0; i < table->n; i++) {
		const char *path = table->columns[i].path;
		size_t len = strcspn(path, ".");
		if (strlen(key) == len && memcmp(path, key, len) == 0)
			return true;
	}
	return false;
}

static void add_rest(struct table *table, const json_t *rows)
{
	uint8_t rank = table->n ? REST_RANK : 0;
	size_t i;
	json_t *row, *value;
	const char *key;

	json_array_foreach (rows, i, row) {
		json_object_foreach (row, key, value) {
			if (table->n < MAX_COLUMNS && !is_named(table, key))
				table->columns[table->n++] =
						(struct hs_cli_column){.path = key, .rank = rank};
		}
	}
}

static bool holds_numbers(const char *path, const json_t *rows)
{
	size_t i;
	json_t *row;

	json_array_foreach (rows, i, row) {
		const json_t *value = hs_cli_at_path(row, path);
		if (value && !json_is_number(value) && !json_is_null(value))
			return false;
	}
	return true;
}

static void fill(struct hs_text_table *text_table, const struct table *table, const json_t *rows)
{
	char text[HS_CLI_TEXT];
	size_t i;
	json_t *row;

	for (size_t c = 0; c < table->n; c++) {
		header_of(&table->columns[c], text, sizeof(text));
		hs_text_table_column(text_table, text, holds_numbers(table->columns[c].path, rows));
	}
	json_array_foreach (rows, i, row) {
		for (size_t c = 0; c < table->n; c++) {
			const char *path = table->columns[c].path;
			hs_cli_format(path, hs_cli_at_path(row, path), text);
			hs_text_table_cell(text_table, text);
		}
	}
}

// ---- fitting the terminal ----

static void print_left_out(const char *names)
{
	size_t used = 0;

	if (!names || !*names)
		return;
	hs_cli_print_words(0, "left out:", &used);
	hs_cli_print_words(0, names, &used);
	hs_cli_print_words(0, "(--wide shows all)", &used);
	printf("\n");
}

char *hs_cli_table_text(const json_t *rows, const struct hs_cli_column *columns, size_t n,
		bool rest, size_t width, char **left_out)
{
	struct table table = {.n = n};
	struct hs_text_table *text_table;
	uint8_t ranks[MAX_COLUMNS];

	*left_out = NULL;
	for (size_t c = 0; c < n && c < MAX_COLUMNS; c++)
		table.columns[c] = columns[c];
	if (rest)
		add_rest(&table, rows);
	for (size_t c = 0; c < table.n; c++)
		ranks[c] = table.columns[c].rank;
	if (hs_text_table_create(&text_table) < 0)
		return NULL;
	fill(text_table, &table, rows);
	if (width)
		*left_out = hs_text_table_fit(text_table, width, ranks);
	char *text = hs_text_table_text(text_table);
	hs_text_table_destroy(text_table);
	return text;
}

void hs_cli_print_table(
		const json_t *rows, const struct hs_cli_column *columns, size_t n, bool rest)
{
	char *left_out;
	char *text = hs_cli_table_text(rows, columns, n, rest, hs_cli_line_width(), &left_out);

	if (text)
		fputs(text, stdout);
	print_left_out(left_out);
	free(text);
	free(left_out);
}

// ---- objects ----

static bool is_table(const json_t *value)
{
	return json_is_array(value) && json_is_object(json_array_get(value, 0));
}

void hs_cli_print_object(const json_t *object)
{
	char text[HS_CLI_TEXT];
	const char *key;
	json_t *value;
	size_t width = 0;

	json_object_foreach ((json_t *)object, key, value) {
		if (!is_table(value) && strlen(key) > width)
			width = strlen(key);
	}
	json_object_foreach ((json_t *)object, key, value) {
		if (is_table(value))
			continue;
		hs_cli_format(key, value, text);
		printf("%-*s  ", (int)width, key);
		hs_cli_print_text(width + 2, text[0] ? text : "-");
	}
	json_object_foreach ((json_t *)object, key, value) {
		if (!is_table(value))
			continue;
		printf("\n%s\n", key);
		hs_cli_print_table(value, NULL, 0, true);
	}
}

// SPDX-License-Identifier: BSD-3-Clause
// Values and tables for people.
#include "hopsight_cli.h"

#include "clean_text.h"
#include "text_table.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_COLUMNS 32
#define MAX_PATH    96

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

static void format_rate(double bps, char *text)
{
	static const char *const units[] = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
	unsigned i = 0;

	for (; fabs(bps) >= 1000 && i < 4; i++)
		bps /= 1000;
	snprintf(text, HS_CLI_TEXT, i ? "%.2f %s" : "%.0f %s", bps, units[i]);
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

static void format_number(const char *path, const json_t *value, char *text)
{
	double number = json_number_value(value);

	if (has(path, "_bps"))
		format_rate(number, text);
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

// Appends as much as fits; `text` has HS_CLI_TEXT bytes.
static void add(char *text, const char *more)
{
	size_t used = strlen(text);
	snprintf(text + used, HS_CLI_TEXT - used, "%s", more);
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
		break;
	}
}

// ---- tables ----

static const json_t *at_path(const json_t *object, const char *path)
{
	const char *dot = strchr(path, '.');
	char first[MAX_PATH];

	if (!dot)
		return json_object_get(object, path);
	snprintf(first, sizeof(first), "%.*s", (int)(dot - path), path);
	return at_path(json_object_get(object, first), dot + 1);
}

// The unit stands with each value, so the header has no unit.
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
	size_t i;
	json_t *row, *value;
	const char *key;

	json_array_foreach (rows, i, row) {
		json_object_foreach (row, key, value) {
			if (table->n < MAX_COLUMNS && !is_named(table, key))
				table->columns[table->n++].path = key;
		}
	}
}

static bool holds_numbers(const char *path, const json_t *rows)
{
	size_t i;
	json_t *row;

	json_array_foreach (rows, i, row) {
		const json_t *value = at_path(row, path);
		if (value && !json_is_number(value))
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
			hs_cli_format(path, at_path(row, path), text);
			hs_text_table_cell(text_table, text);
		}
	}
}

void hs_cli_print_table(
		const json_t *rows, const struct hs_cli_column *columns, size_t n, bool rest)
{
	struct table table = {.n = n};
	struct hs_text_table *text_table;
	char *text;

	for (size_t c = 0; c < n && c < MAX_COLUMNS; c++)
		table.columns[c] = columns[c];
	if (rest)
		add_rest(&table, rows);
	if (hs_text_table_create(&text_table) < 0)
		return;
	fill(text_table, &table, rows);
	text = hs_text_table_text(text_table);
	if (text)
		fputs(text, stdout);
	free(text);
	hs_text_table_destroy(text_table);
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
		printf("%-*s  %s\n", (int)width, key, text[0] ? text : "-");
	}
	json_object_foreach ((json_t *)object, key, value) {
		if (!is_table(value))
			continue;
		printf("\n%s\n", key);
		hs_cli_print_table(value, NULL, 0, true);
	}
}

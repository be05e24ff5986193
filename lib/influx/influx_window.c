// SPDX-License-Identifier: BSD-3-Clause
#include "influx_window.h"

#include "duration.h"
#include "qos_window.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define KEY_BYTES  96
#define LIST_BYTES 1024 // of a path of 64 ids, or of all flags

// ---- from rows to fields ----

static void add_value(struct hs_influx_line *line, const struct hs_schema_field *row,
		const char *key, const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_TRUE:
	case JSON_FALSE:
		hs_influx_line_bool(line, key, json_is_true(value));
		break;
	case JSON_STRING:
		hs_influx_line_text(line, key, json_string_value(value));
		break;
	case JSON_INTEGER:
	case JSON_REAL:
		if (row->kind == HS_SCHEMA_UINT || row->kind == HS_SCHEMA_INT)
			hs_influx_line_int(line, key, json_integer_value(value));
		else
			hs_influx_line_real(line, key, json_number_value(value));
		break;
	default:
		break;
	}
}

static void add_inner(struct hs_influx_line *line, const char *outer,
		const struct hs_schema_field *rows, const json_t *object)
{
	char key[KEY_BYTES];

	for (const struct hs_schema_field *row = rows; row->key; row++) {
		const json_t *value = json_object_get(object, row->key);
		snprintf(key, sizeof(key), "%s_%s", outer, row->key);
		if (value)
			add_value(line, row, key, value);
	}
}

void hs_influx_fields(struct hs_influx_line *line, const struct hs_schema_field *rows,
		const json_t *object)
{
	for (const struct hs_schema_field *row = rows; row->key; row++) {
		const json_t *value = json_object_get(object, row->key);
		if (row->kind == HS_SCHEMA_MEMBERS)
			hs_influx_fields(line, row->fields, object);
		else if (value && row->kind == HS_SCHEMA_OBJECT)
			add_inner(line, row->key, row->fields, value);
		else if (value && !json_is_string(value))
			add_value(line, row, row->key, value);
	}
}

// ---- windows ----

static int64_t integer(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

static void add_window_tags(struct hs_influx_line *line, const char *node, const json_t *content)
{
	char length[HS_DURATION_BYTES];

	hs_duration_write(integer(content, "window_ns"), length);
	hs_influx_line_tag(line, "node", node);
	hs_influx_line_tag_uint(line, "ns_id", (uint64_t)integer(content, "ns_id"));
	hs_influx_line_tag_uint(line, "app_id", (uint64_t)integer(content, "app_id"));
	hs_influx_line_tag(line, "window", length);
}

// Adds a list of ids or words as one text.
static void add_list(struct hs_influx_line *line, const char *key, const json_t *list,
		const char *between)
{
	char text[LIST_BYTES] = "";
	size_t i, len = 0;
	json_t *item;

	json_array_foreach (list, i, item) {
		const char *word = json_string_value(item), *gap = i ? between : "";
		int n = word ? snprintf(text + len, sizeof(text) - len, "%s%s", gap, word)
			     : snprintf(text + len, sizeof(text) - len, "%s%" PRIu64, gap,
					       (uint64_t)json_integer_value(item));
		len += (size_t)n;
		if (len >= sizeof(text))
			break;
	}
	if (len)
		hs_influx_line_text(line, key, text);
}

// Returns whether the member is a tag or a list, or the line says the same in another way.
static bool is_of_line(const char *key)
{
	static const char *const keys[] = {"seq", "node_id", "boot_id", "ns_id", "app_id",
			"window_ns", "e2e", "hops", "path", "flags", "run"};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static const struct hs_schema_field *window_row(const char *key)
{
	const struct hs_schema_field *row = hs_qos_window_fields;

	while (strcmp(row->key, key) != 0)
		row++;
	return row;
}

static void add_path(
		struct hs_influx_text *text, const char *node, const json_t *content, bool stale)
{
	struct hs_influx_line *line = hs_influx_text_line(text, "hopsight_path");

	add_window_tags(line, node, content);
	for (const struct hs_schema_field *row = hs_qos_window_fields; row->key; row++) {
		const json_t *value = json_object_get(content, row->key);
		bool is_old = stale && row->kind == HS_SCHEMA_OBJECT; // of the window before
		if (!value || is_of_line(row->key) || is_old)
			continue;
		if (row->kind == HS_SCHEMA_OBJECT)
			add_inner(line, row->key, row->fields, value);
		else
			add_value(line, row, row->key, value);
	}
	if (!stale) {
		add_list(line, "path", json_object_get(content, "path"), ">");
		hs_influx_fields(line, window_row("e2e")->fields, json_object_get(content, "e2e"));
	}
	add_list(line, "flags", json_object_get(content, "flags"), " ");
	hs_influx_text_end(text, integer(content, "end_ns"));
}

static void add_end(struct hs_influx_line *line, const char *key, const json_t *hop)
{
	const json_t *id = json_object_get(hop, key);

	if (id)
		hs_influx_line_tag_uint(line, key, (uint64_t)json_integer_value(id));
}

static void add_hop(struct hs_influx_text *text, const char *node, const json_t *content,
		size_t index, const json_t *hop)
{
	struct hs_influx_line *line = hs_influx_text_line(text, "hopsight_hop");
	const struct hs_schema_field *row = window_row("hops")->list->item.fields;

	add_window_tags(line, node, content);
	hs_influx_line_tag_uint(line, "hop", index);
	add_end(line, "from", hop);
	add_end(line, "to", hop);
	while (strcmp(row->key, "from") == 0 || strcmp(row->key, "to") == 0)
		row++; // the rows of tags come first
	hs_influx_fields(line, row, hop);
	hs_influx_text_end(text, integer(content, "end_ns"));
}

void hs_influx_window(struct hs_influx_text *text, const char *node, const json_t *content)
{
	bool stale = json_is_true(json_object_get(content, "stale"));
	size_t i;
	json_t *hop;

	add_path(text, node, content, stale);
	json_array_foreach (json_object_get(content, "hops"), i, hop) {
		if (!stale)
			add_hop(text, node, content, i, hop);
	}
}

// ---- events ----

// Returns whether the value of the key is a tag or the time.
static bool is_of_event(const char *key)
{
	return strcmp(key, "ts_ns") == 0 || strcmp(key, "kind") == 0 || strcmp(key, "node") == 0 ||
	       strcmp(key, "seq") == 0 || strcmp(key, "event_seq") == 0 ||
	       strcmp(key, "boot_id") == 0 || strcmp(key, "node_id") == 0;
}

static const char *word(const json_t *event, const char *key, const char *otherwise)
{
	const char *text = json_string_value(json_object_get(event, key));

	return text ? text : otherwise;
}

void hs_influx_event(struct hs_influx_text *text, const char *node, const json_t *event,
		int64_t *last_ns)
{
	static const struct hs_schema_field integer_row = {.kind = HS_SCHEMA_INT};
	static const struct hs_schema_field real_row = {.kind = HS_SCHEMA_REAL};
	struct hs_influx_line *line = hs_influx_text_line(text, "hopsight_event");
	int64_t time_ns = integer(event, "ts_ns");
	const char *key;
	json_t *value;

	hs_influx_line_tag(line, "node", word(event, "node", node));
	hs_influx_line_tag(line, "kind", word(event, "kind", ""));
	json_object_foreach ((json_t *)(uintptr_t)event, key, value) {
		if (!is_of_event(key))
			add_value(line, json_is_real(value) ? &real_row : &integer_row, key, value);
	}
	*last_ns = hs_influx_text_next_ns(time_ns, *last_ns);
	hs_influx_text_end(text, *last_ns);
}

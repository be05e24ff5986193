// SPDX-License-Identifier: BSD-3-Clause
#include "report_json.h"

#include "report_field.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

// What the walk says to a writer. A key is NULL inside an array.
struct writer_ops {
	void (*open)(void *writer, const char *key, bool array);
	void (*close)(void *writer);
	void (*integer)(void *writer, const char *key, uint64_t value);
	void (*string)(void *writer, const char *key, const char *value);
};

// ---- the one description ----

// JSON has no unsigned 64-bit integers that every reader keeps; a peer's nonsense is capped.
static uint64_t capped(uint64_t value)
{
	return value > INT64_MAX ? INT64_MAX : value;
}

static void hex_word(char text[16], uint32_t value, unsigned digits)
{
	char *at = text;
	*at++ = '0';
	*at++ = 'x';
	for (unsigned i = digits; i-- > 0;)
		*at++ = "0123456789ABCDEF"[(value >> (4 * i)) & 15];
	*at = '\0';
}

static inline __attribute__((always_inline)) void walk_fields(const struct writer_ops *ops,
		void *writer, bool hop, uint16_t bitmap, const void *values)
{
	for (size_t i = 0; i < hs_flexint_n_fields; i++) {
		const struct hs_flexint_field *field = &hs_flexint_fields[i];
		if (field->hop == hop && (bitmap & field->bit))
			ops->integer(writer, field->key,
					capped(hs_report_field_load(field, values)));
	}
}

static inline __attribute__((always_inline)) void walk_hop(
		const struct writer_ops *ops, void *writer, const struct hs_flexint_hop *hop)
{
	char hex[16];
	ops->open(writer, NULL, false);
	ops->integer(writer, "node_id", hop->node_id);
	hex_word(hex, hop->bitmap, 4);
	ops->string(writer, "trace_type", hex);
	walk_fields(ops, writer, true, hop->bitmap, hop);
	ops->close(writer);
}

static inline __attribute__((always_inline)) void walk_head(const struct writer_ops *ops,
		void *writer, const struct hs_report *report, uint32_t app_id,
		const struct hs_report_origin *origin)
{
	char hex[16];
	if (origin) {
		ops->integer(writer, "seq", capped(origin->seq));
		ops->integer(writer, "node_id", origin->node_id);
		ops->string(writer, "boot_id", origin->boot_id);
	}
	ops->integer(writer, "ns_id", report->telemetry.ns_id);
	ops->integer(writer, "app_id", app_id);
	hex_word(hex, report->telemetry.trace_type, 8);
	ops->string(writer, "trace_type", hex);
}

// Inlined into either writer with its constant table, so that the text writer makes no indirect
// calls.
static inline __attribute__((always_inline)) void walk(const struct writer_ops *ops, void *writer,
		const struct hs_report *report, uint32_t app_id, uint16_t sink_node_id,
		const struct hs_report_origin *origin)
{
	const struct hs_flexint *telemetry = &report->telemetry;
	ops->open(writer, NULL, false);
	ops->open(writer, "int_report", false);
	walk_head(ops, writer, report, app_id, origin);
	ops->open(writer, "e2e", false);
	walk_fields(ops, writer, false, telemetry->e2e.bitmap, &telemetry->e2e);
	ops->close(writer);
	ops->open(writer, "sink", false);
	ops->integer(writer, "node_id", sink_node_id);
	ops->integer(writer, "ts_ns", (uint64_t)(report->sink_ts_ns < 0 ? 0 : report->sink_ts_ns));
	ops->integer(writer, "rx_packets", capped(report->sink_rx_packets));
	ops->integer(writer, "rx_bytes", capped(report->sink_rx_bytes));
	ops->close(writer);
	ops->open(writer, "hops", true);
	for (unsigned i = telemetry->n_hops; i-- > 0;)
		walk_hop(ops, writer, &telemetry->hops[i]);
	ops->close(writer);
	ops->close(writer);
	ops->close(writer);
}

// ---- jansson ----

#define MAX_DEPTH 4

struct tree {
	json_t *root;
	json_t *open[MAX_DEPTH]; // borrowed from root
	unsigned depth;
	bool failed;
};

static void tree_put(struct tree *tree, const char *key, json_t *value)
{
	if (!tree->depth) {
		tree->root = value;
		return;
	}
	json_t *into = tree->open[tree->depth - 1];
	int rc = key ? json_object_set_new(into, key, value) : json_array_append_new(into, value);
	tree->failed |= rc != 0;
}

static void tree_open(void *writer, const char *key, bool array)
{
	struct tree *tree = writer;
	json_t *value = array ? json_array() : json_object();
	tree_put(tree, key, value);
	tree->open[tree->depth++] = value;
}

static void tree_close(void *writer)
{
	((struct tree *)writer)->depth--;
}

static void tree_integer(void *writer, const char *key, uint64_t value)
{
	tree_put(writer, key, json_integer((json_int_t)value));
}

static void tree_string(void *writer, const char *key, const char *value)
{
	tree_put(writer, key, json_string(value));
}

json_t *hs_report_json(const struct hs_report *report, uint32_t app_id, uint16_t sink_node_id,
		const struct hs_report_origin *origin)
{
	static const struct writer_ops ops = {tree_open, tree_close, tree_integer, tree_string};
	struct tree tree = {0};
	walk(&ops, &tree, report, app_id, sink_node_id, origin);
	if (!tree.failed)
		return tree.root;
	json_decref(tree.root);
	return NULL;
}

// ---- text ----

struct text {
	char *at;
	char *end;
	bool failed;
	bool comma; // something stands before in this object or array
	unsigned depth;
	bool array[MAX_DEPTH];
};

static inline char *text_take(struct text *text, size_t n)
{
	if ((size_t)(text->end - text->at) < n) {
		text->failed = true;
		return NULL;
	}
	char *at = text->at;
	text->at += n;
	return at;
}

static inline void text_put(struct text *text, const char *bytes, size_t n)
{
	char *at = text_take(text, n);
	if (at)
		memcpy(at, bytes, n);
}

static inline void text_key(struct text *text, const char *key)
{
	if (text->comma)
		text_put(text, ",", 1);
	text->comma = true;
	if (!key)
		return;
	size_t n = strlen(key);
	char *at = text_take(text, n + 3);
	if (!at)
		return;
	at[0] = '"';
	memcpy(at + 1, key, n);
	at[n + 1] = '"';
	at[n + 2] = ':';
}

static void text_open(void *writer, const char *key, bool array)
{
	struct text *text = writer;
	text_key(text, key);
	text_put(text, array ? "[" : "{", 1);
	text->array[text->depth++] = array;
	text->comma = false;
}

static void text_close(void *writer)
{
	struct text *text = writer;
	text_put(text, text->array[--text->depth] ? "]" : "}", 1);
	text->comma = true;
}

static void text_integer(void *writer, const char *key, uint64_t value)
{
	struct text *text = writer;
	char digits[20];
	unsigned n = sizeof(digits);
	text_key(text, key);
	do {
		digits[--n] = (char)('0' + value % 10);
		value /= 10;
	} while (value);
	text_put(text, digits + n, sizeof(digits) - n);
}

static void text_string(void *writer, const char *key, const char *value)
{
	struct text *text = writer;
	text_key(text, key);
	text_put(text, "\"", 1);
	text_put(text, value, strlen(value));
	text_put(text, "\"", 1);
}

int hs_report_text(const struct hs_report *report, uint32_t app_id, uint16_t sink_node_id,
		const struct hs_report_origin *origin, char *out, size_t size)
{
	static const struct writer_ops ops = {text_open, text_close, text_integer, text_string};
	struct text text = {.at = out, .end = out + size};
	walk(&ops, &text, report, app_id, sink_node_id, origin);
	text_put(&text, "", 1);
	return text.failed ? -ENOSPC : (int)(text.at - out) - 1;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "report_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

// The calls that the walk makes to a writer. A key is NULL inside an array.
struct writer_ops {
	void (*open)(void *writer, const char *key, bool array);
	void (*close)(void *writer);
	void (*integer)(void *writer, const char *key, uint64_t value);
	void (*string)(void *writer, const char *key, const char *value);
};

// ---- the one description ----

// JSON has no unsigned 64-bit integers that every reader keeps, so a peer's absurd value is capped.
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

static inline __attribute__((always_inline)) void walk_e2e(
		const struct writer_ops *ops, void *writer, const struct hs_e2e *e2e)
{
#define HS_E2E_VALUE(bit, member)                                                                  \
	if (e2e->bitmap & (bit))                                                                   \
		ops->integer(writer, #member, capped(e2e->member));
#include "telemetry_values.def"
}

static inline __attribute__((always_inline)) void walk_hop(
		const struct writer_ops *ops, void *writer, const struct hs_hop *hop)
{
	char hex[16];
	ops->open(writer, NULL, false);
	ops->integer(writer, "node_id", hop->node_id);
	hex_word(hex, hop->bitmap, 4);
	ops->string(writer, "trace_type", hex);
#define HS_HOP_VALUE(bit, member)                                                                  \
	if (hop->bitmap & (bit))                                                                   \
		ops->integer(writer, #member, capped(hop->member));
#include "telemetry_values.def"
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

// This is inlined into each writer with its constant table, so that the text writer makes no
// indirect calls.
static inline __attribute__((always_inline)) void walk(const struct writer_ops *ops, void *writer,
		const struct hs_report *report, uint32_t app_id, uint32_t sink_node_id,
		const struct hs_report_origin *origin)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	ops->open(writer, NULL, false);
	ops->open(writer, "int_report", false);
	walk_head(ops, writer, report, app_id, origin);
	ops->open(writer, "e2e", false);
	walk_e2e(ops, writer, &telemetry->e2e);
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

json_t *hs_report_json(const struct hs_report *report, uint32_t app_id, uint32_t sink_node_id,
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
	bool comma; // a value stands before in this object or array
	unsigned depth;
	bool array[MAX_DEPTH];
};

// Everything is inlined into the walk, where keys are constants and each copy has a known size.
#define INLINE static inline __attribute__((always_inline))

INLINE char *text_take(struct text *text, size_t n)
{
	if ((size_t)(text->end - text->at) < n) {
		text->failed = true;
		return NULL;
	}
	char *at = text->at;
	text->at += n;
	return at;
}

INLINE void text_put(struct text *text, const char *bytes, size_t n)
{
	char *at = text_take(text, n);
	if (at)
		memcpy(at, bytes, n);
}

INLINE void text_key(struct text *text, const char *key)
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

INLINE void text_open(void *writer, const char *key, bool array)
{
	struct text *text = writer;
	text_key(text, key);
	text_put(text, array ? "[" : "{", 1);
	text->array[text->depth++] = array;
	text->comma = false;
}

INLINE void text_close(void *writer)
{
	struct text *text = writer;
	text_put(text, text->array[--text->depth] ? "]" : "}", 1);
	text->comma = true;
}

#define MOST_DIGITS 20 // of a 64-bit number

// Writes two digits at a time, beginning with the last. Returns the position of the first.
static inline char *digits_before(char *end, uint64_t value)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	while (value >= 100) {
		end -= 2;
		memcpy(end, pairs + 2 * (value % 100), 2);
		value /= 100;
	}
	if (value < 10) {
		*--end = (char)('0' + value);
		return end;
	}
	end -= 2;
	memcpy(end, pairs + 2 * value, 2);
	return end;
}

static void text_decimal(struct text *text, uint64_t value)
{
	char digits[MOST_DIGITS];
	char *end = digits + sizeof(digits), *first = digits_before(end, value);
	text_put(text, first, (size_t)(end - first));
}

INLINE void text_integer(void *writer, const char *key, uint64_t value)
{
	text_key(writer, key);
	text_decimal(writer, value);
}

INLINE void text_string(void *writer, const char *key, const char *value)
{
	struct text *text = writer;
	text_key(text, key);
	text_put(text, "\"", 1);
	text_put(text, value, strlen(value));
	text_put(text, "\"", 1);
}

int hs_report_text(const struct hs_report *report, uint32_t app_id, uint32_t sink_node_id,
		const struct hs_report_origin *origin, char *out, size_t size)
{
	static const struct writer_ops ops = {text_open, text_close, text_integer, text_string};
	struct text text = {.at = out, .end = out + size};
	walk(&ops, &text, report, app_id, sink_node_id, origin);
	text_put(&text, "", 1);
	return text.failed ? -ENOSPC : (int)(text.at - out) - 1;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "report_json.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

// ---- text ----

#define MAX_DEPTH 4

struct text {
	char *at;
	char *end;
	bool failed;
	bool comma; // this object or array has a value already
	unsigned depth;
	bool array[MAX_DEPTH];
};

// All functions are inlined into walk(), where keys are constants and each copy has a known size.
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

INLINE void text_open(struct text *text, const char *key, bool array)
{
	text_key(text, key);
	text_put(text, array ? "[" : "{", 1);
	text->array[text->depth++] = array;
	text->comma = false;
}

INLINE void text_close(struct text *text)
{
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

INLINE void text_decimal(struct text *text, uint64_t value)
{
	char digits[MOST_DIGITS];
	char *end = digits + sizeof(digits), *first = digits_before(end, value);
	text_put(text, first, (size_t)(end - first));
}

INLINE void text_integer(struct text *text, const char *key, uint64_t value)
{
	text_key(text, key);
	text_decimal(text, value);
}

INLINE void text_string(struct text *text, const char *key, const char *value)
{
	text_key(text, key);
	text_put(text, "\"", 1);
	text_put(text, value, strlen(value));
	text_put(text, "\"", 1);
}

// ---- the report ----

// Limits a value to 63 bits, because not every JSON reader keeps unsigned 64-bit integers. Only
// implausible values of a peer are greater.
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

// Writes method and version of a family with versions. Without these members, the method is
// flexint.
INLINE void walk_family(struct text *text, const struct hs_decoded *telemetry)
{
	if (!telemetry->family || !telemetry->family->version)
		return;
	text_string(text, "method", telemetry->family->method);
	text_string(text, "version", telemetry->family->version);
	if (telemetry->nodes_missing) {
		text_key(text, "nodes_missing");
		text_put(text, "true", 4);
	}
}

INLINE void walk_e2e(struct text *text, const struct hs_e2e *e2e)
{
#define HS_E2E_VALUE(bit, member)                                                                  \
	if (e2e->bitmap & (bit))                                                                   \
		text_integer(text, #member, capped(e2e->member));
#include "telemetry_values.def"
}

// Writes local values. `local` NULL: the family has none.
INLINE void walk_local(struct text *text, const struct hs_hop_local *local)
{
	if (!local)
		return;
#define HS_LOCAL_VALUE(bit, member)                                                                \
	if (local->has & (bit))                                                                    \
		text_integer(text, #member, capped(local->member));
#include "telemetry_values.def"
}

INLINE void walk_hop(struct text *text, const struct hs_hop *hop, const struct hs_hop_local *local)
{
	char hex[16];
	text_open(text, NULL, false);
	if (!local || hop->node_id != HS_NODE_UNKNOWN)
		text_integer(text, "node_id", hop->node_id);
	hex_word(hex, hop->bitmap, 4);
	text_string(text, "trace_type", hex);
#define HS_HOP_VALUE(bit, member)                                                                  \
	if (hop->bitmap & (bit))                                                                   \
		text_integer(text, #member, capped(hop->member));
#include "telemetry_values.def"
	walk_local(text, local);
	text_close(text);
}

INLINE void walk_head(struct text *text, const struct hs_report *report, uint32_t app_id,
		const struct hs_report_origin *origin)
{
	char hex[16];
	if (origin) {
		text_integer(text, "seq", capped(origin->seq));
		text_integer(text, "node_id", origin->node_id);
		text_string(text, "boot_id", origin->boot_id);
	}
	text_integer(text, "ns_id", report->telemetry.ns_id);
	text_integer(text, "app_id", app_id);
	hex_word(hex, report->telemetry.trace_type, 8);
	text_string(text, "trace_type", hex);
}

INLINE void walk(struct text *text, const struct hs_report *report, uint32_t app_id,
		uint32_t sink_node_id, const struct hs_report_origin *origin)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	bool has_locals = telemetry->family && telemetry->family->has_locals;
	const struct hs_hop_local *locals = has_locals ? telemetry->locals : NULL;
	text_open(text, NULL, false);
	text_open(text, "int_report", false);
	walk_head(text, report, app_id, origin);
	walk_family(text, telemetry);
	text_open(text, "e2e", false);
	if (locals && telemetry->e2e.node_id != HS_NODE_UNKNOWN)
		text_integer(text, "node_id", telemetry->e2e.node_id);
	walk_e2e(text, &telemetry->e2e);
	walk_local(text, locals ? &locals[telemetry->n_hops] : NULL);
	text_close(text);
	text_open(text, "sink", false);
	text_integer(text, "node_id", sink_node_id);
	text_integer(text, "ts_ns", (uint64_t)(report->sink_ts_ns < 0 ? 0 : report->sink_ts_ns));
	text_integer(text, "rx_packets", capped(report->sink_rx_packets));
	text_integer(text, "rx_bytes", capped(report->sink_rx_bytes));
	text_close(text);
	text_open(text, "hops", true);
	for (unsigned i = telemetry->n_hops; i-- > 0;)
		walk_hop(text, &telemetry->hops[i], locals ? &locals[i] : NULL);
	text_close(text);
	text_close(text);
	text_close(text);
}

int hs_report_text(const struct hs_report *report, uint32_t app_id, uint32_t sink_node_id,
		const struct hs_report_origin *origin, char *out, size_t size)
{
	struct text text = {.at = out, .end = out + size};
	walk(&text, report, app_id, sink_node_id, origin);
	text_put(&text, "", 1);
	return text.failed ? -ENOSPC : (int)(text.at - out) - 1;
}

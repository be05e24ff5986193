// SPDX-License-Identifier: BSD-3-Clause
#include "qos_window.h"

#include "schema.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

double hs_qos_loss_ratio(const struct hs_qos_hop *hop)
{
	if (hop->tx_packets <= 0)
		return 0;
	double ratio = (double)hop->shown_lost_packets / (double)hop->tx_packets;
	return ratio > 1 ? 1 : ratio;
}

// ---- a hop, and end to end ----

static_assert(offsetof(struct hs_qos_hop, has) == 0, "the place of `has` is that of the hop");

static json_t *print_loss_ratio(const void *hop)
{
	return json_real(hs_qos_loss_ratio(hop));
}

// Members of a hop, alone and in a window.
#define HOP_HAS(known) .bits = HS_QOS_HAS_##known, .bits_at = offsetof(struct hs_qos_hop, has)
#define E2E_HAS(known)                                                                             \
	.bits = HS_QOS_HAS_##known, .bits_at = offsetof(struct hs_qos_window, e2e.has)
#define OF_HOP(known, member) HS_SCHEMA_MEMBER(struct hs_qos_hop, member), HOP_HAS(known)
#define OF_E2E(known, member) HS_SCHEMA_MEMBER(struct hs_qos_window, e2e.member), E2E_HAS(known)

#define DELAY_ROWS(OF)                                                                             \
	{"mean", HS_SCHEMA_INT, OF(DELAY, delay.mean)},                                            \
			{"min", HS_SCHEMA_INT, OF(DELAY, delay.min)},                              \
			{"p50", HS_SCHEMA_INT, OF(P50, delay.p50)},                                \
			{"p99", HS_SCHEMA_INT, OF(P99, delay.p99)},                                \
			{"p999", HS_SCHEMA_INT, OF(P999, delay.p999)},                             \
			{"max", HS_SCHEMA_INT, OF(DELAY, delay.max)},                              \
	{                                                                                          \
		NULL                                                                               \
	}

static const struct hs_schema_field hop_delay[] = {DELAY_ROWS(OF_HOP)};
static const struct hs_schema_field e2e_delay[] = {DELAY_ROWS(OF_E2E)};

#define ROWS_TO_LOSS(OF, HAS, delay)                                                               \
	{"throughput_bps", HS_SCHEMA_UINT, OF(THROUGHPUT, throughput_bps)},                        \
			{"window_throughput_bps", HS_SCHEMA_UINT,                                  \
					OF(WINDOW_THROUGHPUT, window_throughput_bps)},             \
			{"delay_ns", HS_SCHEMA_OBJECT, .fields = delay, HAS(DELAY),                \
					.help = "one-way delay; negative where clocks differ"},    \
			{"loss_ratio", HS_SCHEMA_CUSTOM, OF(LOSS, has), .print = print_loss_ratio, \
					.shape = "{'type': 'number'}"},                            \
			{"pdv_ns", HS_SCHEMA_UINT, OF(P999, pdv_ns)},                              \
			{"jitter_ns", HS_SCHEMA_UINT, OF(JITTER, jitter_ns)},                      \
			{"jitter_rfc3550_ns", HS_SCHEMA_UINT,                                      \
					OF(JITTER_RFC3550, jitter_rfc3550_ns)},                    \
	{                                                                                          \
		"lost_packets", HS_SCHEMA_INT, OF(LOSS, lost_packets)                              \
	}
#define ROWS_FROM_COUNTS(OF)                                                                       \
	{"tx_packets", HS_SCHEMA_UINT, OF(LOSS, tx_packets)},                                      \
			{"rx_packets", HS_SCHEMA_UINT, OF(RX_PACKETS, rx_packets)},                \
			{"rx_bytes", HS_SCHEMA_UINT, OF(BYTES, rx_bytes)},                         \
			{"span_start_ns", HS_SCHEMA_INT, OF(SPAN, span_start_ns)},                 \
	{                                                                                          \
		"span_end_ns", HS_SCHEMA_INT, OF(SPAN, span_end_ns)                                \
	}

#define HOP(member) HS_SCHEMA_MEMBER(struct hs_qos_hop, member)
static const struct hs_schema_field hop_fields[] = {
		{"from", HS_SCHEMA_UINT, HOP(from), .max = UINT32_MAX, .required = true},
		{"to", HS_SCHEMA_UINT, HOP(to), .max = UINT32_MAX, .required = true},
		ROWS_TO_LOSS(OF_HOP, HOP_HAS, hop_delay),
		{"node_lost_packets", HS_SCHEMA_INT, OF_HOP(NODE_LOSS, node_lost_packets)},
		ROWS_FROM_COUNTS(OF_HOP),
		{"loss_reports", HS_SCHEMA_UINT, OF_HOP(REPORTS, loss_reports)},
		{"delay_reports", HS_SCHEMA_UINT, OF_HOP(REPORTS, delay_reports)},
		{"throughput_reports", HS_SCHEMA_UINT, OF_HOP(REPORTS, throughput_reports)},
		{NULL},
};

// ---- the window ----

#define WINDOW(member) HS_SCHEMA_MEMBER(struct hs_qos_window, member)
static const struct hs_schema_field e2e_fields[] = {
		ROWS_TO_LOSS(OF_E2E, E2E_HAS, e2e_delay),
		ROWS_FROM_COUNTS(OF_E2E),
		{"unattributed_lost_packets", HS_SCHEMA_INT, WINDOW(unattributed_lost_packets),
				E2E_HAS(LOSS)},
		{NULL},
};

static bool is_run(const void *window)
{
	return ((const struct hs_qos_window *)window)->run;
}

static bool is_stale(const void *window)
{
	return ((const struct hs_qos_window *)window)->stale;
}

// What is not known of the clock is left out, the whole of it if need be.
static bool knows_clock(const void *window)
{
	return ((const struct hs_qos_window *)window)->clock.known;
}

static bool tells_clock(const void *window)
{
	return knows_clock(window) && ((const struct hs_qos_window *)window)->clock.told;
}

#define KNOWN(member) WINDOW(clock.member), .given = knows_clock
#define TOLD(member)  WINDOW(clock.member), .given = tells_clock
static const struct hs_schema_field clock_fields[] = {
		{"synchronised", HS_SCHEMA_BOOL, KNOWN(synchronised)},
		{"error_ns", HS_SCHEMA_INT, KNOWN(error_ns)},
		{"offset_ns", HS_SCHEMA_INT, TOLD(offset_ns)},
		{"kernel_offset_ns", HS_SCHEMA_INT, TOLD(kernel_offset_ns)},
		{"esterror_ns", HS_SCHEMA_INT, TOLD(esterror_ns)},
		{"maxerror_ns", HS_SCHEMA_INT, TOLD(maxerror_ns)},
		{"status", HS_SCHEMA_INT, TOLD(status)},
		{NULL},
};

static const struct hs_schema_word flag_words[] = {
		{"multipath", HS_QOS_MULTIPATH},
		{"rules_differ", HS_QOS_RULES_DIFFER},
		{"counter_ambiguous", HS_QOS_COUNTER_AMBIGUOUS},
		{"negative_delay", HS_QOS_NEGATIVE_DELAY},
		{"epoch", HS_QOS_EPOCH},
		{"counts_missing", HS_QOS_COUNTS_MISSING},
		{"clock_step", HS_QOS_CLOCK_STEP},
		{"bypassed", HS_QOS_BYPASSED},
		{"entries_missing", HS_QOS_ENTRIES_MISSING},
		{NULL, 0},
};
static const struct hs_schema_list flag_list = {
		.item = {.kind = HS_SCHEMA_WORD, .words = flag_words}};

static json_t *print_flags(const void *at)
{
	const uint32_t *flags = at;
	json_t *list = json_array();

	for (const struct hs_schema_word *word = flag_words; word->text; word++)
		if (*flags & word->value)
			json_array_append_new(list, json_string(word->text));
	return list;
}

static const struct hs_schema_field flags_field = {
		"flags", HS_SCHEMA_CUSTOM, .print = print_flags, .list = &flag_list};

static const struct hs_schema_list path_list = {
		.item = {.kind = HS_SCHEMA_UINT, .size = sizeof(uint32_t), .max = UINT32_MAX},
		HS_SCHEMA_ITEMS(struct hs_qos_window, path),
		HS_SCHEMA_COUNT(struct hs_qos_window, n_path),
		.heap = true,
};
static const struct hs_schema_list hop_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = hop_fields},
		HS_SCHEMA_ITEMS(struct hs_qos_window, hops),
		HS_SCHEMA_COUNT(struct hs_qos_window, n_hops),
		.heap = true,
};

#define ALWAYS(member) WINDOW(member), .required = true
static const struct hs_schema_field window_fields[] = {
		{"ns_id", HS_SCHEMA_UINT, ALWAYS(ns_id), .min = 1, .max = UINT32_MAX},
		{"app_id", HS_SCHEMA_UINT, ALWAYS(app_id), .max = UINT32_MAX},
		{"window_ns", HS_SCHEMA_UINT, ALWAYS(window_ns)},
		{"run", HS_SCHEMA_BOOL, WINDOW(run), .given = is_run, .shape = "{'const': true}",
				.help = "the whole run of the flow"},
		{"start_ns", HS_SCHEMA_INT, ALWAYS(start_ns)},
		{"end_ns", HS_SCHEMA_INT, ALWAYS(end_ns)},
		{"reports", HS_SCHEMA_UINT, ALWAYS(reports)},
		{"stale", HS_SCHEMA_BOOL, ALWAYS(stale)},
		{"age_ns", HS_SCHEMA_INT, WINDOW(age_ns), .given = is_stale},
		{"path", HS_SCHEMA_LIST, ALWAYS(path), .list = &path_list},
		{"path_changed", HS_SCHEMA_BOOL, ALWAYS(path_changed)},
		{"hops", HS_SCHEMA_LIST, ALWAYS(hops), .list = &hop_list},
		{"e2e", HS_SCHEMA_OBJECT, .fields = e2e_fields, .required = true},
		{"flags", HS_SCHEMA_CUSTOM, ALWAYS(flags), .print = print_flags,
				.list = &flag_list},
		{"clock", HS_SCHEMA_OBJECT, .fields = clock_fields, .required = true},
		{NULL},
};

// ---- printing ----

static int put_origin(json_t *to, const struct hs_report_origin *origin)
{
	if (!origin)
		return 0;
	int rc = json_object_set_new(to, "seq", json_integer((json_int_t)origin->seq));
	rc |= json_object_set_new(to, "node_id", json_integer(origin->node_id));
	return rc | json_object_set_new(to, "boot_id", json_string(origin->boot_id));
}

json_t *hs_qos_window_json(
		const struct hs_qos_window *window, const struct hs_report_origin *origin)
{
	json_t *root = json_object(), *body = json_object();
	int rc = json_object_set_new(root, "qos_report", body);

	rc |= put_origin(body, origin);
	rc |= hs_schema_print_into(body, window_fields, window);
	if (!rc)
		return root;
	json_decref(root);
	return NULL;
}

json_t *hs_qos_window_schema(void)
{
	json_t *window = hs_schema_describe(window_fields);
	json_t *origin = hs_schema_describe(hs_report_origin_fields);

	json_object_update_missing(json_object_get(window, "properties"),
			json_object_get(origin, "properties"));
	json_decref(origin);
	return json_pack("{s:s, s:{s:{s:s}}, s:[s], s:b, s:{s:o, s:o, s:o}}", "type", "object",
			"properties", "qos_report", "$ref", "#/$defs/window", "required",
			"qos_report", "additionalProperties", 0, "$defs", "window", window, "e2e",
			hs_schema_describe(e2e_fields), "flags",
			hs_schema_describe_value(&flags_field));
}

// ---- from another process ----

#define MAX_WORD  39 // bytes of a boot id or flag
#define MAX_ITEMS (HS_TELEMETRY_MAX_HOPS + 2)
#define MAX_FLAGS 32

static bool fits(json_t *value, const struct hs_schema_field *field);

static bool is_word(json_t *value)
{
	static const char allowed[] =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	const char *text = json_string_value(value);

	return text && json_string_length(value) <= MAX_WORD && text[strspn(text, allowed)] == '\0';
}

static bool is_unsigned(json_t *value, const struct hs_schema_field *field)
{
	uint64_t most = field->max ? field->max : INT64_MAX;
	json_int_t number = json_integer_value(value);

	return json_is_integer(value) && number >= 0 && (uint64_t)number >= field->min &&
	       (uint64_t)number <= most;
}

static bool fits_list(json_t *list, const struct hs_schema_field *item)
{
	bool words = item->kind == HS_SCHEMA_WORD;
	bool all = json_is_array(list) && json_array_size(list) <= (words ? MAX_FLAGS : MAX_ITEMS);

	for (size_t i = 0; all && i < json_array_size(list); i++)
		all = fits(json_array_get(list, i), item);
	return all;
}

static const struct hs_schema_field *find(const struct hs_schema_field *fields, const char *key)
{
	while (fields->key && strcmp(fields->key, key) != 0)
		fields++;
	return fields->key ? fields : NULL;
}

// Members of neither table are removed. `more` may be NULL.
static bool fits_object(json_t *object, const struct hs_schema_field *fields,
		const struct hs_schema_field *more)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, key, value)
	{
		const struct hs_schema_field *field = find(fields, key);
		if (!field && more)
			field = find(more, key);
		if (!field)
			json_object_del(object, key);
		else if (!fits(value, field))
			return false;
	}
	return json_is_object(object);
}

static bool fits(json_t *value, const struct hs_schema_field *field)
{
	switch (field->kind) {
	case HS_SCHEMA_UINT:
		return is_unsigned(value, field);
	case HS_SCHEMA_INT:
		return json_is_integer(value);
	case HS_SCHEMA_BOOL:
		return json_is_boolean(value);
	case HS_SCHEMA_TEXT:
	case HS_SCHEMA_WORD:
		return is_word(value);
	case HS_SCHEMA_OBJECT:
		return fits_object(value, field->fields, NULL);
	case HS_SCHEMA_LIST:
		return fits_list(value, &field->list->item);
	default: // the printed: loss_ratio and flags
		return field->list ? fits_list(value, &field->list->item) : json_is_number(value);
	}
}

bool hs_qos_window_take(json_t *content)
{
	return fits_object(content, window_fields, hs_report_origin_fields) &&
	       json_object_get(content, "ns_id") && json_object_get(content, "window_ns");
}

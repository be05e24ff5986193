// SPDX-License-Identifier: BSD-3-Clause
#include "qos_window.h"

#include "schema.h"

#include <assert.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

double hs_qos_loss_ratio(const struct hs_qos_hop *hop)
{
	if (hop->tx_packets <= 0)
		return 0;
	double ratio = (double)hop->shown_lost_packets / (double)hop->tx_packets;
	return ratio > 1 ? 1 : ratio;
}

#define MAX_WORD  39 // bytes of a boot id or flag
#define MAX_FLAGS 32

// ---- a hop, and end to end ----

static_assert(offsetof(struct hs_qos_hop, has) == 0, "the place of `has` is that of the hop");

static json_t *print_loss_ratio(const void *hop)
{
	return json_real(hs_qos_loss_ratio(hop));
}

static int read_loss_ratio(json_t *value, const char *path, void *at, struct hs_error *err)
{
	(void)at;
	return json_is_number(value) ? 0 : hs_schema_wrong_type(value, path, "a number", err);
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
			{"loss_ratio", HS_SCHEMA_CUSTOM, OF(LOSS, has), .read = read_loss_ratio,   \
					.print = print_loss_ratio, .shape = "{'type': 'number'}"}, \
			{"pdv_ns", HS_SCHEMA_UINT, OF(P999, pdv_ns)},                              \
			{"jitter_ns", HS_SCHEMA_UINT, OF(JITTER, jitter_ns)},                      \
			{"jitter_rfc3550_ns", HS_SCHEMA_UINT,                                      \
					OF(JITTER_RFC3550, jitter_rfc3550_ns)},                    \
	{                                                                                          \
		"lost_packets", HS_SCHEMA_INT, OF(LOSS, lost_packets)                              \
	}
#define ROWS_FROM_COUNTS(OF)                                                                       \
	{"tx_packets", HS_SCHEMA_INT, OF(LOSS, tx_packets)},                                       \
			{"rx_packets", HS_SCHEMA_INT, OF(RX_PACKETS, rx_packets)},                 \
			{"rx_bytes", HS_SCHEMA_INT, OF(BYTES, rx_bytes)},                          \
			{"span_start_ns", HS_SCHEMA_INT, OF(SPAN, span_start_ns)},                 \
	{                                                                                          \
		"span_end_ns", HS_SCHEMA_INT, OF(SPAN, span_end_ns)                                \
	}

// Local values that the node `from` sent.
static const struct hs_schema_field latency_fields[] = {
		{"mean", HS_SCHEMA_UINT, OF_HOP(HOP_LATENCY, hop_latency_ns.mean)},
		{"min", HS_SCHEMA_UINT, OF_HOP(HOP_LATENCY, hop_latency_ns.min)},
		{"p50", HS_SCHEMA_UINT, OF_HOP(LATENCY_P50, hop_latency_ns.p50)},
		{"p99", HS_SCHEMA_UINT, OF_HOP(LATENCY_P99, hop_latency_ns.p99)},
		{"max", HS_SCHEMA_UINT, OF_HOP(HOP_LATENCY, hop_latency_ns.max)},
		{NULL},
};
static const struct hs_schema_field queue_fields[] = {
		{"mean", HS_SCHEMA_REAL, OF_HOP(QUEUE, queue_packets.mean), .most = UINT32_MAX},
		{"max", HS_SCHEMA_UINT, OF_HOP(QUEUE, queue_packets.max), .max = UINT32_MAX},
		{NULL},
};
static const struct hs_schema_field utilisation_fields[] = {
		{"mean", HS_SCHEMA_REAL, OF_HOP(UTILISATION, link_utilisation_ratio.mean),
				.most = UINT32_MAX},
		{"max", HS_SCHEMA_REAL, OF_HOP(UTILISATION, link_utilisation_ratio.max),
				.most = UINT32_MAX},
		{NULL},
};

static bool knows_from(const void *hop)
{
	return ((const struct hs_qos_hop *)hop)->from != HS_NODE_UNKNOWN;
}

static bool knows_to(const void *hop)
{
	return ((const struct hs_qos_hop *)hop)->to != HS_NODE_UNKNOWN;
}

#define HOP(member) HS_SCHEMA_MEMBER(struct hs_qos_hop, member)
static const struct hs_schema_field hop_fields[] = {
		{"from", HS_SCHEMA_UINT, HOP(from), .max = UINT32_MAX, .given = knows_from},
		{"to", HS_SCHEMA_UINT, HOP(to), .max = UINT32_MAX, .given = knows_to},
		ROWS_TO_LOSS(OF_HOP, HOP_HAS, hop_delay),
		{"node_lost_packets", HS_SCHEMA_INT, OF_HOP(NODE_LOSS, node_lost_packets)},
		ROWS_FROM_COUNTS(OF_HOP),
		{"loss_reports", HS_SCHEMA_UINT, OF_HOP(REPORTS, loss_reports)},
		{"delay_reports", HS_SCHEMA_UINT, OF_HOP(REPORTS, delay_reports)},
		{"throughput_reports", HS_SCHEMA_UINT, OF_HOP(REPORTS, throughput_reports)},
		{"hop_latency_ns", HS_SCHEMA_OBJECT, .fields = latency_fields, HOP_HAS(HOP_LATENCY),
				.help = "time inside `from`, as it says"},
		{"queue_packets", HS_SCHEMA_OBJECT, .fields = queue_fields, HOP_HAS(QUEUE),
				.help = "packets in the queue of `from` to this link, as it says"},
		{"link_utilisation_ratio", HS_SCHEMA_OBJECT, .fields = utilisation_fields,
				HOP_HAS(UTILISATION),
				.help = "share of the link's rate that `from` used, as it says"},
		{NULL},
};

// ---- the window ----

// A window as it is published. The rows' offsets count from the window, which is the first member.
struct published {
	struct hs_qos_window window;
	bool has_origin;
	uint16_t node_id;
	uint64_t seq;
	char boot_id[MAX_WORD + 1];
};
static_assert(offsetof(struct published, window) == 0, "the rows count from the window");

#define WINDOW(member) HS_SCHEMA_MEMBER(struct hs_qos_window, member)
static const struct hs_schema_field e2e_fields[] = {
		ROWS_TO_LOSS(OF_E2E, E2E_HAS, e2e_delay),
		ROWS_FROM_COUNTS(OF_E2E),
		{"unattributed_lost_packets", HS_SCHEMA_INT, WINDOW(unattributed_lost_packets),
				E2E_HAS(LOSS)},
		{NULL},
};

static bool has_origin(const void *published)
{
	return ((const struct published *)published)->has_origin;
}

static bool is_run(const void *window)
{
	return ((const struct hs_qos_window *)window)->run;
}

static bool is_stale(const void *window)
{
	return ((const struct hs_qos_window *)window)->stale;
}

// Returns whether all nodes of the path are known.
static bool knows_path(const void *at)
{
	const struct hs_qos_window *window = at;

	for (unsigned i = 0; i < window->n_path; i++)
		if (window->path[i] == HS_NODE_UNKNOWN)
			return false;
	return true;
}

// Returns whether the clock's state is known. Members that are not known are left out.
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

#define FLAG_WORD(NAME, word, bit) {#word, HS_QOS_##NAME},
const struct hs_schema_word hs_qos_flag_words[] = {HS_QOS_FLAGS(FLAG_WORD){NULL, 0}};
static const struct hs_schema_list flag_list = {
		.item = {.kind = HS_SCHEMA_WORD, .words = hs_qos_flag_words}};

static json_t *print_flags(const void *at)
{
	const uint32_t *flags = at;
	json_t *list = json_array();

	for (const struct hs_schema_word *word = hs_qos_flag_words; word->text; word++)
		if (*flags & word->value)
			json_array_append_new(list, json_string(word->text));
	return list;
}

static uint32_t flag_of(const char *text)
{
	const struct hs_schema_word *word = hs_qos_flag_words;

	while (word->text && strcmp(word->text, text) != 0)
		word++;
	return word->text ? (uint32_t)word->value : HS_QOS_OTHER_FLAG;
}

// Reads the list of flags. Accepts unknown flags, because a later version may have others.
static int read_flags(json_t *list, const char *path, void *at, struct hs_error *err)
{
	uint32_t *flags = at;
	size_t i;
	json_t *flag;

	if (!json_is_array(list) || json_array_size(list) > MAX_FLAGS)
		return hs_schema_wrong_type(list, path, "a list of at most 32 words", err);
	json_array_foreach (list, i, flag) {
		if (!json_is_string(flag) || json_string_length(flag) > MAX_WORD ||
				hs_schema_check_name(json_string_value(flag), path, err))
			return hs_schema_wrong_type(flag, path, "a word", err);
		*flags |= flag_of(json_string_value(flag));
	}
	return 0;
}

static const struct hs_schema_list path_list = {
		.item = {.kind = HS_SCHEMA_UINT, .size = sizeof(uint32_t), .max = UINT32_MAX},
		HS_SCHEMA_ITEMS(struct hs_qos_window, path),
		HS_SCHEMA_COUNT(struct hs_qos_window, n_path),
		.heap = true,
		.noun = "ids",
};
static const struct hs_schema_list hop_list = {
		.item = {.kind = HS_SCHEMA_OBJECT, .fields = hop_fields},
		HS_SCHEMA_ITEMS(struct hs_qos_window, hops),
		HS_SCHEMA_COUNT(struct hs_qos_window, n_hops),
		.heap = true,
		.noun = "hops",
};

#define ALWAYS(member) WINDOW(member), .required = true
#define ORIGIN(member) HS_SCHEMA_MEMBER(struct published, member), .given = has_origin
const struct hs_schema_field hs_qos_window_fields[] = {
		{"seq", HS_SCHEMA_UINT, ORIGIN(seq), .help = "counts this publisher's messages"},
		{"node_id", HS_SCHEMA_UINT, ORIGIN(node_id), .max = UINT16_MAX},
		{"boot_id", HS_SCHEMA_TEXT, ORIGIN(boot_id), .max = MAX_WORD},
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
		{"path", HS_SCHEMA_LIST, WINDOW(path), .given = knows_path, .list = &path_list,
				.max = HS_TELEMETRY_MAX_HOPS + 2},
		{"path_changed", HS_SCHEMA_BOOL, ALWAYS(path_changed)},
		{"hops", HS_SCHEMA_LIST, ALWAYS(hops), .list = &hop_list,
				.max = HS_TELEMETRY_MAX_HOPS + 1},
		{"e2e", HS_SCHEMA_OBJECT, .fields = e2e_fields, .required = true},
		{"flags", HS_SCHEMA_CUSTOM, ALWAYS(flags), .read = read_flags, .print = print_flags,
				.list = &flag_list},
		{"clock", HS_SCHEMA_OBJECT, .fields = clock_fields, .required = true},
		{NULL},
};

// ---- printing and reading ----

json_t *hs_qos_window_json(
		const struct hs_qos_window *window, const struct hs_report_origin *origin)
{
	struct published published = {.window = *window, .has_origin = origin != NULL};
	json_t *root = json_object(), *body = json_object();

	if (origin) {
		published.seq = origin->seq;
		published.node_id = origin->node_id;
		memcpy(published.boot_id, origin->boot_id, strnlen(origin->boot_id, MAX_WORD));
	}
	if (json_object_set_new(root, "qos_report", body) == 0 &&
			hs_schema_print_into(body, hs_qos_window_fields, &published) == 0)
		return root;
	json_decref(root);
	return NULL;
}

bool hs_qos_window_take(json_t *content)
{
	static const struct hs_schema_style style = {.loose = true};
	struct published read = {0};

	bool right = hs_schema_read_as(&style, hs_qos_window_fields, content, "", &read, NULL) ==
				     0 &&
		     hs_schema_check_name(read.boot_id, "boot_id", NULL) == 0 &&
		     json_object_get(content, "ns_id") && json_object_get(content, "window_ns");
	free(read.window.path);
	free(read.window.hops);
	return right;
}

// Sets the `has` bits of the rows whose keys an object has. The rows' offsets count from `at`.
static void take_has(const struct hs_schema_field *fields, const json_t *object, void *at)
{
	for (; fields->key; fields++) {
		const json_t *value = json_object_get(object, fields->key);
		if (!value)
			continue;
		if (fields->bits)
			*(uint32_t *)(void *)((char *)at + fields->bits_at) |= fields->bits;
		if (fields->kind == HS_SCHEMA_OBJECT)
			take_has(fields->fields, value, at);
	}
}

// Computes shown_lost_packets from loss_ratio. No other member has it.
static void take_loss(const json_t *object, struct hs_qos_hop *hop)
{
	double ratio = json_number_value(json_object_get(object, "loss_ratio"));

	if (hop->tx_packets > 0 && ratio > 0 && ratio <= 1)
		hop->shown_lost_packets = (uint64_t)(ratio * (double)hop->tx_packets + 0.5);
}

int hs_qos_window_read(json_t *content, struct hs_qos_window *window)
{
	static const struct hs_schema_style style = {.open = true};
	struct published read = {0};
	int rc = hs_schema_read_as(&style, hs_qos_window_fields, content, "", &read, NULL);
	json_t *hop;
	size_t i;

	*window = read.window;
	if (rc < 0)
		return rc;
	take_has(e2e_fields, json_object_get(content, "e2e"), window);
	take_loss(json_object_get(content, "e2e"), &window->e2e);
	json_array_foreach (json_object_get(content, "hops"), i, hop) {
		struct hs_qos_hop *into = &window->hops[i];
		into->from = json_object_get(hop, "from") ? into->from : HS_NODE_UNKNOWN;
		into->to = json_object_get(hop, "to") ? into->to : HS_NODE_UNKNOWN;
		take_has(hop_fields, hop, into);
		take_loss(hop, into);
	}
	return 0;
}

void hs_qos_window_free(struct hs_qos_window *window)
{
	free(window->path);
	free(window->hops);
	window->path = NULL;
	window->hops = NULL;
}

static json_t *field_schema(const char *key)
{
	const struct hs_schema_field *field = hs_qos_window_fields;

	while (strcmp(field->key, key) != 0)
		field++;
	return hs_schema_describe_value(field);
}

json_t *hs_qos_window_schema(void)
{
	return json_pack("{s:s, s:{s:{s:s}}, s:[s], s:b, s:{s:o, s:o, s:o}}", "type", "object",
			"properties", "qos_report", "$ref", "#/$defs/window", "required",
			"qos_report", "additionalProperties", 0, "$defs", "window",
			hs_schema_describe(hs_qos_window_fields), "e2e", field_schema("e2e"),
			"flags", field_schema("flags"));
}

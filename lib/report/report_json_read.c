// SPDX-License-Identifier: BSD-3-Clause
#include "report_json.h"
#include "schema.h"
#include "telemetry_field.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MOST_VALUES 32 // most values of a source or a hop in any family

static const struct hs_schema_style style = {.missing = " is missing", .open = true};

// ---- tables ----

static const char *parse_trace(const char *text, size_t digits, uint32_t *value, const char **code)
{
	*code = "out_of_range";
	if (strlen(text) != 2 + digits || text[0] != '0' || text[1] != 'x' ||
			strspn(text + 2, "0123456789ABCDEFabcdef") != digits)
		return "is no trace type";
	*value = (uint32_t)strtoul(text + 2, NULL, 16);
	return NULL;
}

static const char *parse_whole(const char *text, void *at, const char **code)
{
	return parse_trace(text, 8, at, code);
}

static const char *parse_bitmap(const char *text, void *at, const char **code)
{
	uint32_t value = 0;
	const char *what = parse_trace(text, 4, &value, code);

	*(uint16_t *)at = (uint16_t)value;
	return what;
}

static const struct hs_schema_text
		whole_text = {.parse = parse_whole,
				.shape = "{'type': 'string', 'pattern': '^0x[0-9A-F]{8}$'}"},
		bitmap_text = {.parse = parse_bitmap,
				.shape = "{'type': 'string', 'pattern': '^0x[0-9A-F]{4}$'}"};

// The parts of an int_report that a family describes.
struct parts {
	json_t *content, *e2e, *hops;
};

#define MESSAGE(member) HS_SCHEMA_MEMBER(struct hs_report_message, member), .required = true
#define REPORT(member)	MESSAGE(report.member)
#define PART(member)	HS_SCHEMA_MEMBER(struct parts, member), .required = true
#define HOP(member)	HS_SCHEMA_MEMBER(struct hs_hop, member), .required = true
static const struct hs_schema_field sink_fields[] = {
		{"node_id", HS_SCHEMA_UINT, MESSAGE(sink_node_id), .max = UINT32_MAX},
		{"ts_ns", HS_SCHEMA_UINT, REPORT(sink_ts_ns), .max = INT64_MAX},
		{"rx_packets", HS_SCHEMA_UINT, REPORT(sink_rx_packets), .max = INT64_MAX},
		{"rx_bytes", HS_SCHEMA_UINT, REPORT(sink_rx_bytes), .max = INT64_MAX},
		{NULL},
};
static const struct hs_schema_field message_fields[] = {
		{"ns_id", HS_SCHEMA_UINT, REPORT(telemetry.ns_id), .min = 1, .max = UINT32_MAX},
		{"app_id", HS_SCHEMA_UINT, MESSAGE(app_id), .max = UINT32_MAX},
		{"trace_type", HS_SCHEMA_PARSED, REPORT(telemetry.trace_type), .text = &whole_text,
				.expected = "0x and 8 hexadecimal digits"},
		{"method", HS_SCHEMA_TEXT, HS_SCHEMA_MEMBER(struct hs_report_message, method),
				.max = 15, .help = "of the rule; missing: flexint"},
		{"version", HS_SCHEMA_TEXT, HS_SCHEMA_MEMBER(struct hs_report_message, version),
				.max = 15, .help = "of the method, where it has versions"},
		{"nodes_missing", HS_SCHEMA_BOOL,
				HS_SCHEMA_MEMBER(struct hs_report_message,
						report.telemetry.nodes_missing),
				.help = "the packet says that a node added no values"},
		{"sink", HS_SCHEMA_OBJECT, .fields = sink_fields, .required = true},
		{NULL},
};
// The rows of seq, node_id and boot_id, of struct hs_report_message.
static const struct hs_schema_field origin_fields[] = {
		{"seq", HS_SCHEMA_UINT, MESSAGE(seq), .max = INT64_MAX,
				.help = "counts this publisher's messages"},
		{"node_id", HS_SCHEMA_UINT, MESSAGE(node_id), .max = UINT16_MAX},
		{"boot_id", HS_SCHEMA_TEXT, MESSAGE(boot_id), .max = 39},
		{NULL},
};
static const struct hs_schema_field part_fields[] = {
		{"e2e", HS_SCHEMA_JSON, PART(e2e), .expected = "an object"},
		{"hops", HS_SCHEMA_JSON, PART(hops), .expected = "a list"},
		{NULL},
};
static const struct hs_schema_field root_fields[] = {
		{"int_report", HS_SCHEMA_JSON, PART(content), .expected = "an object"},
		{NULL},
};
#define HOP_ROWS                                                                                   \
	{"trace_type", HS_SCHEMA_PARSED, HOP(bitmap), .text = &bitmap_text,                        \
			.expected = "0x and 4 hexadecimal digits"},                                \
	{                                                                                          \
		NULL                                                                               \
	}
static const struct hs_schema_field hop_fields[] = {
		{"node_id", HS_SCHEMA_UINT, HOP(node_id), .max = UINT32_MAX}, HOP_ROWS};
// The rows of a hop in families in which a node may lack an id.
static const struct hs_schema_field nameless_hop_fields[] = {
		{"node_id", HS_SCHEMA_UINT, HS_SCHEMA_MEMBER(struct hs_hop, node_id),
				.max = UINT32_MAX},
		HOP_ROWS};
static const struct hs_schema_field source_fields[] = {
		{"node_id", HS_SCHEMA_UINT, HS_SCHEMA_MEMBER(struct hs_e2e, node_id),
				.max = UINT32_MAX,
				.help = "of the source, where the packet has it"},
		{NULL},
};

#define LOCAL_ROW(member) {#member, HS_SCHEMA_UINT, HS_SCHEMA_MEMBER(struct hs_hop_local, member)},

// Local values of nodes. None is required.
static const struct hs_schema_field local_values[] = {
#define HS_LOCAL_VALUE(bit, member)                                                                \
	{#member, HS_SCHEMA_UINT, HS_SCHEMA_MEMBER(struct hs_hop_local, member),                   \
			.max = UINT32_MAX >>                                                       \
			       (32 - 8 * sizeof(((struct hs_hop_local *)0)->member))},
#include "telemetry_values.def"
		{NULL},
};
static const uint16_t local_bits[] = {
#define HS_LOCAL_VALUE(bit, member) bit,
#include "telemetry_values.def"
};

// The values of a source and of a hop in any family, as they are printed.
static const struct hs_schema_field e2e_values[] = {
#define HS_E2E_VALUE(bit, member)                                                                  \
	{#member, HS_SCHEMA_UINT, HS_SCHEMA_MEMBER(struct hs_e2e, member)},
#define HS_LOCAL_VALUE(bit, member) LOCAL_ROW(member)
#include "telemetry_values.def"
		{NULL},
};
static const struct hs_schema_field hop_values[] = {
#define HS_HOP_VALUE(bit, member)                                                                  \
	{#member, HS_SCHEMA_UINT, HS_SCHEMA_MEMBER(struct hs_hop, member)},
#define HS_LOCAL_VALUE(bit, member) LOCAL_ROW(member)
#include "telemetry_values.def"
		{NULL},
};

// ---- describing ----

static json_t *describe_beside(json_t *object, const struct hs_schema_field *fields)
{
	json_t *more = hs_schema_describe(fields);

	json_object_update_missing(
			json_object_get(object, "properties"), json_object_get(more, "properties"));
	json_decref(more);
	return object;
}

json_t *hs_report_schema(void)
{
	json_t *report = describe_beside(hs_schema_describe(message_fields), origin_fields);
	json_t *properties = json_object_get(report, "properties");

	json_t *e2e = describe_beside(hs_schema_describe(source_fields), e2e_values);

	json_object_set_new(e2e, "description", json_string("what the source wrote"));
	json_object_set_new(properties, "e2e", e2e);
	json_object_set_new(properties, "hops",
			json_pack("{s:s, s:o, s:i, s:s}", "type", "array", "items",
					describe_beside(hs_schema_describe(nameless_hop_fields),
							hop_values),
					"maxItems", HS_TELEMETRY_MAX_HOPS, "description",
					"from source to sink"));
	for (const struct hs_schema_field *part = part_fields; part->key; part++)
		json_array_append_new(json_object_get(report, "required"), json_string(part->key));
	return json_pack("{s:s, s:{s:o}, s:[s], s:b}", "type", "object", "properties", "int_report",
			report, "required", "int_report", "additionalProperties", 0);
}

// ---- reading ----

static int within(struct hs_error *err, const char *parent)
{
	hs_error_prefix(err, parent);
	return -EINVAL;
}

static int check_node_id(
		const struct hs_telemetry_family *family, uint32_t node_id, struct hs_error *err)
{
	char expected[32];

	if (node_id <= family->max_node_id)
		return 0;
	snprintf(expected, sizeof(expected), "0 to %u", family->max_node_id);
	return hs_error_set(err, "out_of_range", "node_id", expected, "node_id is %u", node_id);
}

static int refuse_value(json_t *value, const char *path, void *at, struct hs_error *err)
{
	(void)value, (void)at;
	return hs_error_set(err, "out_of_range", path, "what trace_type says",
			"%s is not in trace_type", path);
}

// Reads exactly the values that the bitmap names.
static int read_values(json_t *object, const struct hs_telemetry_family *family, bool hop,
		uint16_t bitmap, void *values, struct hs_error *err)
{
	struct hs_schema_field rows[MOST_VALUES + 1];
	size_t n = 0;

	for (size_t i = 0; i < family->n_fields && n < MOST_VALUES; i++) {
		const struct hs_telemetry_field *field = &family->fields[i];
		bool named = bitmap & field->bit;
		if (field->hop == hop)
			rows[n++] = (struct hs_schema_field){field->key,
					named ? HS_SCHEMA_UINT : HS_SCHEMA_CUSTOM, field->offset,
					field->width, .required = named,
					.max = hs_telemetry_field_max(field) & INT64_MAX,
					.read = refuse_value};
	}
	rows[n].key = NULL;
	return hs_schema_read_as(&style, rows, object, "", values, err);
}

// Reads the source's values. The bitmap has the values that are present, because a source may send
// fewer than trace_type names.
static int read_e2e(json_t *object, const struct hs_telemetry_family *family, struct hs_e2e *e2e,
		struct hs_error *err)
{
	for (size_t i = 0; i < family->n_fields; i++)
		if (!family->fields[i].hop && json_object_get(object, family->fields[i].key))
			e2e->bitmap |= family->fields[i].bit;
	if (family->has_locals) {
		e2e->node_id = HS_NODE_UNKNOWN;
		if (hs_schema_read_as(&style, source_fields, object, "", e2e, err))
			return within(err, "e2e");
	}
	return read_values(object, family, false, e2e->bitmap, e2e, err) ? within(err, "e2e") : 0;
}

// Reads local values. Each of them is optional.
static int read_local(json_t *object, const struct hs_telemetry_family *family,
		struct hs_hop_local *local, struct hs_error *err)
{
	if (!family->has_locals)
		return 0;
	for (size_t i = 0; local_values[i].key; i++)
		local->has |= json_object_get(object, local_values[i].key) ? local_bits[i] : 0;
	return hs_schema_read_as(&style, local_values, object, "", local, err);
}

static int read_hop(json_t *object, const struct hs_telemetry_family *family, struct hs_hop *hop,
		struct hs_hop_local *local, struct hs_error *err)
{
	bool nameless = family->has_locals;
	char expected[32];

	hop->node_id = HS_NODE_UNKNOWN;
	if (hs_schema_read_as(&style, nameless ? nameless_hop_fields : hop_fields, object, "", hop,
			    err) ||
			check_node_id(family, hop->node_id, err))
		return -EINVAL;
	snprintf(expected, sizeof(expected), "bits of 0x%04X", family->hop_known);
	if (hop->bitmap & ~family->hop_known)
		return hs_error_set(err, "out_of_range", "trace_type", expected,
				"trace_type has bits that no field has");
	if (read_values(object, family, true, hop->bitmap, hop, err))
		return -EINVAL;
	return read_local(object, family, local, err);
}

// Reads the hops. JSON has them from source to sink; hops[] has the hop nearest the sink first.
static int read_hops(json_t *hops, struct hs_decoded *telemetry, struct hs_error *err)
{
	size_t n = json_array_size(hops);
	char path[32];

	if (!json_is_array(hops))
		return hs_schema_wrong_type(hops, "hops", "a list", err);
	if (n > HS_TELEMETRY_MAX_HOPS)
		return hs_error_set(err, "out_of_range", "hops", "at most 61 hops",
				"the list has %zu hops", n);
	telemetry->n_hops = (uint16_t)n;
	for (size_t i = 0; i < n; i++) {
		if (read_hop(json_array_get(hops, i), telemetry->family,
				    &telemetry->hops[n - 1 - i], &telemetry->locals[n - 1 - i],
				    err) == 0)
			continue;
		snprintf(path, sizeof(path), "hops[%zu]", i);
		return within(err, path);
	}
	return 0;
}

// Reads the origin. Either all three members are present, or none.
static int read_origin(json_t *content, struct hs_report_message *message, struct hs_error *err)
{
	for (size_t i = 0; origin_fields[i].key; i++)
		message->has_origin |= json_object_get(content, origin_fields[i].key) != NULL;
	return message->has_origin
			       ? hs_schema_read_as(&style, origin_fields, content, "", message, err)
			       : 0;
}

// ---- the family ----

static bool is_named(
		const struct hs_telemetry_family *family, const char *method, const char *version)
{
	const char *named = family->version ? family->version : "";

	if (!family->version && !*method && !*version)
		return true;
	return family->method && strcmp(family->method, method) == 0 && strcmp(named, version) == 0;
}

static int refuse_family(
		const char *method, const char *version, const char *expected, struct hs_error *err)
{
	return hs_error_set(err, "out_of_range", "method", expected,
			"method %s%s%s is not one that is read here", *method ? method : "flexint",
			*version ? " " : "", version);
}

const struct hs_telemetry_family *hs_report_family(const json_t *json,
		const struct hs_telemetry_family *const *families, struct hs_error *err)
{
	const json_t *content = json_object_get(json, "int_report");
	const char *method = json_string_value(json_object_get(content, "method"));
	const char *version = json_string_value(json_object_get(content, "version"));

	for (; *families; families++)
		if (is_named(*families, method ? method : "", version ? version : ""))
			return *families;
	refuse_family(method ? method : "", version ? version : "", "a method that is known", err);
	within(err, "int_report");
	return NULL;
}

static int read_content(json_t *content, struct hs_report_message *message, struct hs_error *err)
{
	struct hs_decoded *telemetry = &message->report.telemetry;
	struct parts parts;

	if (hs_schema_read_as(&style, message_fields, content, "", message, err) ||
			hs_schema_read_as(&style, part_fields, content, "", &parts, err) ||
			read_origin(content, message, err))
		return -EINVAL;
	if (!is_named(telemetry->family, message->method, message->version))
		return refuse_family(
				message->method, message->version, telemetry->family->name, err);
	if (check_node_id(telemetry->family, message->sink_node_id, err))
		return within(err, "sink");
	if (read_e2e(parts.e2e, telemetry->family, &telemetry->e2e, err) ||
			read_hops(parts.hops, telemetry, err))
		return -EINVAL;
	return read_local(parts.e2e, telemetry->family, &telemetry->locals[telemetry->n_hops], err)
			       ? within(err, "e2e")
			       : 0;
}

int hs_report_from_json(const json_t *json, const struct hs_telemetry_family *family,
		struct hs_report_message *message, struct hs_error *err)
{
	struct parts parts;

	memset(message, 0, sizeof(*message));
	message->report.telemetry.family = family;
	if (hs_schema_read_as(&style, root_fields, (json_t *)json, "", &parts, err))
		return -EINVAL;
	return read_content(parts.content, message, err) ? within(err, "int_report") : 0;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "report_json.h"

#include "telemetry_field.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(struct hs_error *err, const char *code, const char *key, const char *expected,
		const char *what)
{
	return hs_error_set(err, code, key, expected, "%s %s", key, what);
}

static int within(struct hs_error *err, const char *parent)
{
	hs_error_prefix(err, parent);
	return -EINVAL;
}

// ---- values ----

static int read_integer(const json_t *object, const char *key, int64_t min, int64_t max,
		int64_t *value, struct hs_error *err)
{
	const json_t *json = json_object_get(object, key);
	char expected[64], what[64];

	snprintf(expected, sizeof(expected), "%" PRId64 " to %" PRId64, min, max);
	if (!json)
		return refuse(err, "missing_field", key, expected, "is missing");
	if (!json_is_integer(json))
		return refuse(err, "wrong_type", key, expected, "is not an integer");
	*value = json_integer_value(json);
	if (*value >= min && *value <= max)
		return 0;
	snprintf(what, sizeof(what), "is %" PRId64, *value);
	return refuse(err, "out_of_range", key, expected, what);
}

static int read_u64(const json_t *object, const char *key, uint64_t *value, struct hs_error *err)
{
	int64_t integer = 0;
	if (read_integer(object, key, 0, INT64_MAX, &integer, err))
		return -EINVAL;
	*value = (uint64_t)integer;
	return 0;
}

static int read_u32(const json_t *object, const char *key, int64_t min, uint32_t *value,
		struct hs_error *err)
{
	int64_t integer = 0;
	if (read_integer(object, key, min, UINT32_MAX, &integer, err))
		return -EINVAL;
	*value = (uint32_t)integer;
	return 0;
}

static int read_u16(const json_t *object, const char *key, uint16_t *value, struct hs_error *err)
{
	int64_t integer = 0;
	if (read_integer(object, key, 0, UINT16_MAX, &integer, err))
		return -EINVAL;
	*value = (uint16_t)integer;
	return 0;
}

// Of a node in telemetry.
static int read_id(const json_t *object, const struct hs_telemetry_family *family, uint32_t *id,
		struct hs_error *err)
{
	int64_t integer = 0;
	if (read_integer(object, "node_id", 0, family->max_node_id, &integer, err))
		return -EINVAL;
	*id = (uint32_t)integer;
	return 0;
}

// "0x7000E000"
static int read_trace_type(
		const json_t *object, unsigned digits, uint32_t *value, struct hs_error *err)
{
	static const char key[] = "trace_type";
	const json_t *json = json_object_get(object, key);
	const char *text = json_string_value(json);
	char expected[32];

	snprintf(expected, sizeof(expected), "0x and %u hexadecimal digits", digits);
	if (!json)
		return refuse(err, "missing_field", key, expected, "is missing");
	if (!text)
		return refuse(err, "wrong_type", key, expected, "is not a string");
	if (json_string_length(json) != 2 + digits || text[0] != '0' || text[1] != 'x' ||
			strspn(text + 2, "0123456789ABCDEFabcdef") != digits)
		return refuse(err, "out_of_range", key, expected, "is no such text");
	*value = (uint32_t)strtoul(text + 2, NULL, 16);
	return 0;
}

// Just the values that the bitmap names.
static int read_values(const json_t *object, const struct hs_telemetry_family *family, bool hop,
		uint16_t bitmap, void *values, struct hs_error *err)
{
	for (size_t i = 0; i < family->n_fields; i++) {
		const struct hs_telemetry_field *field = &family->fields[i];
		int64_t value = 0;
		if (field->hop != hop)
			continue;
		if (!(bitmap & field->bit)) {
			if (json_object_get(object, field->key))
				return refuse(err, "out_of_range", field->key,
						"what trace_type says", "is not in trace_type");
			continue;
		}
		int64_t max = (int64_t)(hs_telemetry_field_max(field) & INT64_MAX);
		if (read_integer(object, field->key, 0, max, &value, err))
			return -EINVAL;
		hs_telemetry_field_store(field, values, (uint64_t)value);
	}
	return 0;
}

// ---- parts ----

static int get_object(
		const json_t *object, const char *key, const json_t **part, struct hs_error *err)
{
	*part = json_object_get(object, key);
	if (!*part)
		return refuse(err, "missing_field", key, "an object", "is missing");
	if (!json_is_object(*part))
		return refuse(err, "wrong_type", key, "an object", "is not an object");
	return 0;
}

// Its bitmap is what is there, as on the wire: a source may send less than it announced.
static int read_e2e(const json_t *content, const struct hs_telemetry_family *family,
		struct hs_e2e *e2e, struct hs_error *err)
{
	const json_t *object;

	if (get_object(content, "e2e", &object, err))
		return -EINVAL;
	for (size_t i = 0; i < family->n_fields; i++)
		if (!family->fields[i].hop && json_object_get(object, family->fields[i].key))
			e2e->bitmap |= family->fields[i].bit;
	return read_values(object, family, false, e2e->bitmap, e2e, err) ? within(err, "e2e") : 0;
}

static int read_sink_values(
		const json_t *object, struct hs_report_message *message, struct hs_error *err)
{
	struct hs_report *report = &message->report;
	if (read_id(object, report->telemetry.family, &message->sink_node_id, err) ||
			read_integer(object, "ts_ns", 0, INT64_MAX, &report->sink_ts_ns, err) ||
			read_u64(object, "rx_packets", &report->sink_rx_packets, err))
		return -EINVAL;
	return read_u64(object, "rx_bytes", &report->sink_rx_bytes, err);
}

static int read_sink(const json_t *content, struct hs_report_message *message, struct hs_error *err)
{
	const json_t *object;

	if (get_object(content, "sink", &object, err))
		return -EINVAL;
	return read_sink_values(object, message, err) ? within(err, "sink") : 0;
}

static int read_hop(const json_t *object, const struct hs_telemetry_family *family,
		struct hs_hop *hop, struct hs_error *err)
{
	uint32_t bitmap = 0;
	char expected[32];

	if (!json_is_object(object))
		return hs_error_set(err, "wrong_type", "", "an object", "a hop is not an object");
	if (read_id(object, family, &hop->node_id, err) || read_trace_type(object, 4, &bitmap, err))
		return -EINVAL;
	hop->bitmap = (uint16_t)bitmap;
	snprintf(expected, sizeof(expected), "bits of 0x%04X", family->hop_known);
	if (bitmap & ~(uint32_t)family->hop_known)
		return refuse(err, "out_of_range", "trace_type", expected,
				"has bits that no field has");
	return read_values(object, family, true, hop->bitmap, hop, err);
}

// Source to sink there, as on the wire here.
static int read_hops(const json_t *content, struct hs_decoded *telemetry, struct hs_error *err)
{
	const json_t *hops = json_object_get(content, "hops");
	size_t n = json_array_size(hops);
	char path[32];

	if (!hops)
		return refuse(err, "missing_field", "hops", "an array", "is missing");
	if (!json_is_array(hops))
		return refuse(err, "wrong_type", "hops", "an array", "is not an array");
	if (n > HS_TELEMETRY_MAX_HOPS)
		return refuse(err, "out_of_range", "hops", "at most 61", "has too many");
	telemetry->n_hops = (uint16_t)n;
	for (size_t i = 0; i < n; i++) {
		if (read_hop(json_array_get(hops, i), telemetry->family,
				    &telemetry->hops[n - 1 - i], err) == 0)
			continue;
		snprintf(path, sizeof(path), "hops[%zu]", i);
		return within(err, path);
	}
	return 0;
}

// All three members are there, or none.
static int read_origin(
		const json_t *content, struct hs_report_message *message, struct hs_error *err)
{
	const json_t *boot_id = json_object_get(content, "boot_id");

	message->has_origin = boot_id || json_object_get(content, "seq") ||
			      json_object_get(content, "node_id");
	if (!message->has_origin)
		return 0;
	if (read_u64(content, "seq", &message->seq, err) ||
			read_u16(content, "node_id", &message->node_id, err))
		return -EINVAL;
	if (!boot_id)
		return refuse(err, "missing_field", "boot_id", "a string", "is missing");
	if (!json_is_string(boot_id))
		return refuse(err, "wrong_type", "boot_id", "a string", "is not a string");
	if (json_string_length(boot_id) >= sizeof(message->boot_id))
		return refuse(err, "out_of_range", "boot_id", "at most 39 bytes", "is too long");
	memcpy(message->boot_id, json_string_value(boot_id), json_string_length(boot_id));
	return 0;
}

static int read_content(
		const json_t *content, struct hs_report_message *message, struct hs_error *err)
{
	struct hs_decoded *telemetry = &message->report.telemetry;

	if (read_origin(content, message, err) ||
			read_u32(content, "ns_id", 1, &telemetry->ns_id, err) ||
			read_u32(content, "app_id", 0, &message->app_id, err) ||
			read_trace_type(content, 8, &telemetry->trace_type, err) ||
			read_e2e(content, telemetry->family, &telemetry->e2e, err) ||
			read_sink(content, message, err))
		return -EINVAL;
	return read_hops(content, telemetry, err);
}

int hs_report_from_json(const json_t *json, const struct hs_telemetry_family *family,
		struct hs_report_message *message, struct hs_error *err)
{
	const json_t *content;

	memset(message, 0, sizeof(*message));
	message->report.telemetry.family = family;
	if (!json_is_object(json))
		return hs_error_set(err, "wrong_type", "", "an object", "the report is no object");
	if (get_object(json, "int_report", &content, err))
		return -EINVAL;
	return read_content(content, message, err) ? within(err, "int_report") : 0;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "int_json.h"

#include "telemetry_field.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

json_t *int_json_load(const char *path)
{
	json_error_t error;
	json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
	if (!json)
		print_error("%s:%d: %s\n", path, error.line, error.text);
	return json;
}

struct frame int_json_frame(const json_t *object, const char *key)
{
	const char *hex = json_string_value(json_object_get(object, key));
	assert_non_null(hex);
	return frame_from_hex(hex);
}

static uint64_t number(const json_t *object, const char *key)
{
	return (uint64_t)json_integer_value(json_object_get(object, key));
}

static uint8_t named(const json_t *object, const char *key, const char *(*name)(unsigned), size_t n)
{
	const char *is = json_string_value(json_object_get(object, key));
	uint8_t i = 0;
	assert_non_null(is);
	while (strcmp(is, name(i)))
		assert_true(++i < n);
	return i;
}

static const char *version_name(unsigned i)
{
	return hs_int_version_name(i);
}

static const char *mode_name(unsigned i)
{
	return hs_int_mode_name(i);
}

static const char *carrier_name(unsigned i)
{
	return hs_int_carrier_name(i);
}

static const char *mark_name(unsigned i)
{
	static const char *const names[HS_INT_N_MARKS] = {"dscp", "udp_port", "probe_marker"};
	return names[i];
}

static void read_tunnel(const json_t *object, struct hs_int_settings *settings)
{
	const char *src = json_string_value(json_object_get(object, "gre_src"));
	const char *dst = json_string_value(json_object_get(object, "gre_dst"));
	if (!src)
		return;
	settings->gre_adds_tunnel = true;
	settings->gre_ipv6 = strchr(src, ':');
	int family = settings->gre_ipv6 ? AF_INET6 : AF_INET;
	assert_int_equal(inet_pton(family, src, settings->gre_src), 1);
	assert_int_equal(inet_pton(family, dst, settings->gre_dst), 1);
}

struct hs_int_settings int_json_settings(const json_t *object)
{
	struct hs_int_settings settings;
	const char *marker = json_string_value(json_object_get(object, "probe_marker"));
	const char *allowed;
	hs_int_settings_init(&settings, named(object, "version", version_name, HS_INT_N_VERSIONS),
			named(object, "carrier", carrier_name, HS_INT_N_CARRIERS));
	settings.mode = named(object, "mode", mode_name, HS_INT_N_MODES);
	settings.mark = named(object, "mark", mark_name, HS_INT_N_MARKS);
	settings.dscp = (uint8_t)number(object, "dscp");
	settings.dscp_mask = (uint8_t)number(object, "dscp_mask");
	settings.max_hops = (uint8_t)number(object, "max_hops");
	settings.udp_port = (uint16_t)number(object, "udp_port");
	settings.probe_marker = marker ? strtoull(marker, NULL, 16) : 0;
	read_tunnel(object, &settings);
	assert_null(hs_int_settings_wrong(&settings, &allowed));
	return settings;
}

struct hs_int_request int_json_request(const json_t *object)
{
	struct frame source = int_json_frame(object, "source");
	struct hs_int_request request = {
			.bitmap = (uint16_t)number(object, "bitmap"),
			.domain_id = (uint16_t)number(object, "domain_id"),
			.ds_instruction = (uint16_t)number(object, "ds_instruction"),
			.ds_flags = (uint16_t)number(object, "ds_flags"),
			.replication = (uint8_t)number(object, "replication"),
			.ds_hop_words = (uint8_t)number(object, "ds_hop_words"),
			.source_words = (uint8_t)(source.len / 4),
			.flags = (uint8_t)((number(object, "d") ? HS_INT_FLAG_D : 0) |
					   (json_is_true(json_object_get(object, "no_own"))
									   ? HS_INT_NO_OWN
									   : 0)),
	};
	assert_true(source.len <= sizeof(request.source));
	memcpy(request.source, source.bytes, source.len);
	frame_free(&source);
	return request;
}

static void store(const struct hs_int_field *field, struct hs_int_values *values, uint64_t value)
{
	const struct hs_telemetry_field as = {.width = field->width, .offset = field->offset};
	hs_telemetry_field_store(&as, values, value);
}

static uint64_t load(const struct hs_int_field *field, const struct hs_int_values *values)
{
	const struct hs_telemetry_field as = {.width = field->width, .offset = field->offset};
	return hs_telemetry_field_load(&as, values);
}

struct hs_int_values int_json_values(const json_t *object)
{
	struct hs_int_values values = {0};
	size_t known = 0;
	for (size_t i = 0; i < hs_int_n_fields; i++) {
		const struct hs_int_field *field = &hs_int_fields[i];
		if (!json_object_get(object, field->key) || values.has & field->has)
			continue;
		store(field, &values, number(object, field->key));
		values.has |= field->has;
		known++;
	}
	assert_int_equal(known, json_object_size(object));
	return values;
}

static uint64_t ones(enum hs_int_version version, unsigned bits)
{
	return version == HS_INT_2016_06 ? 0x7fffffff : UINT64_MAX >> (64 - bits);
}

struct hs_int_values int_json_read_back(
		const struct hs_int_values *asked, enum hs_int_version version, uint16_t bitmap)
{
	struct hs_int_values back = {0};
	for (size_t i = 0; i < hs_int_n_fields; i++) {
		const struct hs_int_field *field = &hs_int_fields[i];
		uint64_t none = ones(version, field->bits), value = load(field, asked);
		bool is_time = field->kind == HS_INT_KIND_TIME;
		if (!(field->versions & 1 << version) || !(bitmap & 0x8000 >> field->bit) ||
				!(asked->has & field->has) || field->bit == 15)
			continue;
		if (is_time)
			value = (value & none) == none ? none - 1 : value & none;
		if (!is_time && value >= none && field->kind == HS_INT_KIND_ID)
			continue;
		store(field, &back, value >= none ? none - 1 : value);
		back.has |= field->has;
	}
	return back;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "rule_cbor.h"

#include "cbor_reader.h"
#include "cbor_writer.h"
#include "rule_field.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const char request_key[] = "int_request";
static const char auth_key[] = "auth";

// ---- writing ----

// Whole numbers are written as integers, others as the shortest float that keeps them exactly.
static void put_setting(struct hs_cbor_writer *out, double v)
{
	if (floor(v) == v)
		hs_cbor_put_unsigned(out, (uint64_t)v);
	else
		hs_cbor_put_real(out, v);
}

static void put_field(struct hs_cbor_writer *out, const struct hs_rule_field *field,
		const struct hs_rule *rule)
{
	char text[HS_RULE_TEXT_BYTES];

	hs_cbor_put_text(out, field->name);
	switch (field->kind) {
	case HS_RULE_NUMBER:
		hs_cbor_put_unsigned(out, hs_rule_field_number(field, rule));
		break;
	case HS_RULE_SETTING:
		put_setting(out, rule->mode_setting);
		break;
	case HS_RULE_SWITCH:
		hs_cbor_put_bool(out, hs_rule_field_switch(field, rule));
		break;
	default:
		hs_rule_field_text(field, rule, text);
		hs_cbor_put_text(out, text);
		break;
	}
}

// A request has the fields of every request, and those travelling switches that differ from their
// default. Every node understands a request that is as in the paper.
static bool is_written(const struct hs_rule_field *field, const struct hs_rule *rule)
{
	struct hs_rule fallback;

	if (!field->in_band || field->kind != HS_RULE_SWITCH)
		return field->in_band;
	hs_rule_init(&fallback);
	return hs_rule_field_switch(field, rule) != hs_rule_field_switch(field, &fallback);
}

int hs_rule_to_cbor(const struct hs_rule *rule, uint8_t *bytes, size_t size, struct hs_error *err)
{
	struct hs_cbor_writer out = hs_cbor_writer_over(bytes, size);
	size_t n = 0;

	if (hs_rule_check(rule, err))
		return -EINVAL;
	for (size_t i = 0; i < hs_rule_n_fields; i++)
		n += is_written(&hs_rule_fields[i], rule);

	hs_cbor_put_map(&out, 1);
	hs_cbor_put_text(&out, request_key);
	hs_cbor_put_map(&out, n);
	for (size_t i = 0; i < hs_rule_n_fields; i++)
		if (is_written(&hs_rule_fields[i], rule))
			put_field(&out, &hs_rule_fields[i], rule);
	if (out.failed) {
		hs_error_set(err, "too_large", "in_band", "",
				"in_band: the request does not fit in %zu bytes", size);
		return -ENOSPC;
	}
	return (int)(out.at - bytes);
}

// ---- reading ----

static struct hs_cbor_reader reader_over(const uint8_t *bytes, size_t len, struct hs_error *err)
{
	return hs_cbor_reader_over(bytes, len, "request", "one map {\"int_request\": {...}}", err);
}

static struct hs_rule_value value_of(const struct hs_cbor_item *item)
{
	switch (item->type) {
	case HS_CBOR_UNSIGNED:
	case HS_CBOR_NEGATIVE:
		return (struct hs_rule_value){.type = HS_VALUE_INTEGER,
				.negative = item->type == HS_CBOR_NEGATIVE,
				.magnitude = item->number};
	case HS_CBOR_REAL:
		return (struct hs_rule_value){.type = HS_VALUE_REAL, .real = item->real};
	case HS_CBOR_TEXT:
		return (struct hs_rule_value){.type = HS_VALUE_TEXT,
				.text = (const char *)item->bytes,
				.len = item->len};
	case HS_CBOR_BOOL:
		return (struct hs_rule_value){.type = HS_VALUE_BOOL, .boolean = item->boolean};
	default:
		return (struct hs_rule_value){.type = HS_VALUE_OTHER};
	}
}

// Reads an item and everything below it.
static int next_whole(struct hs_cbor_reader *in, struct hs_cbor_item *item)
{
	return hs_cbor_next(in, item) || hs_cbor_skip(in, item) ? -EINVAL : 0;
}

static const struct hs_rule_field *in_band_field(const struct hs_cbor_item *key)
{
	const struct hs_rule_field *field = NULL;
	if (key->type == HS_CBOR_TEXT)
		field = hs_rule_field_find((const char *)key->bytes, key->len);
	return field && field->in_band ? field : NULL;
}

static int read_member(
		struct hs_cbor_reader *in, struct hs_rule *rule, uint32_t *seen, unsigned *unknown)
{
	struct hs_cbor_item key, item;

	if (next_whole(in, &key) || next_whole(in, &item))
		return -EINVAL;

	const struct hs_rule_field *field = in_band_field(&key);
	if (!field) {
		++*unknown;
		return 0;
	}
	uint32_t bit = 1u << (field - hs_rule_fields);
	if (*seen & bit)
		return hs_error_set(in->err, "duplicate_key", "", "each key once", "%s comes twice",
				field->name);
	*seen |= bit;
	struct hs_rule_value value = value_of(&item);
	return hs_rule_field_set(field, &value, rule, in->err);
}

static int check_required(const struct hs_cbor_reader *in, uint32_t seen)
{
	for (size_t i = 0; i < hs_rule_n_fields; i++) {
		const struct hs_rule_field *field = &hs_rule_fields[i];
		if (!field->required || seen & 1u << i)
			continue;
		return hs_error_set(in->err, "missing_field", field->name, field->allowed,
				"%s is missing", field->name);
	}
	return 0;
}

static bool is_text(const struct hs_cbor_item *item, const char *text)
{
	return item->type == HS_CBOR_TEXT && item->len == strlen(text) &&
	       memcmp(item->bytes, text, item->len) == 0;
}

static int open_member(struct hs_cbor_reader *in, struct hs_rule_envelope *envelope)
{
	struct hs_cbor_item key, value;

	if (next_whole(in, &key))
		return -EINVAL;
	const uint8_t *start = in->at;
	if (next_whole(in, &value))
		return -EINVAL;
	if (is_text(&key, request_key)) {
		if (envelope->request)
			return hs_error_set(in->err, "duplicate_key", "", "each key once",
					"int_request comes twice");
		envelope->request = start;
		envelope->request_len = (size_t)(in->at - start);
		return value.type == HS_CBOR_MAP ? 0
						 : hs_cbor_fail(in, "has no map for int_request");
	}
	if (is_text(&key, auth_key)) {
		if (envelope->auth)
			return hs_error_set(in->err, "duplicate_key", "", "each key once",
					"auth comes twice");
		if (value.type != HS_CBOR_BYTES || value.len != HS_RULE_AUTH_BYTES)
			return hs_error_set(in->err, "wrong_type", "auth", "16 bytes",
					"auth is not a string of 16 bytes");
		envelope->auth = value.bytes;
		return 0;
	}
	envelope->unknown_keys++;
	return 0;
}

int hs_rule_cbor_open(const uint8_t *bytes, size_t len, struct hs_rule_envelope *envelope,
		struct hs_error *err)
{
	struct hs_cbor_reader in = reader_over(bytes, len, err);
	struct hs_cbor_item map;

	*envelope = (struct hs_rule_envelope){0};
	if (hs_cbor_next(&in, &map))
		return -EINVAL;
	if (map.type != HS_CBOR_MAP)
		return hs_cbor_fail(&in, "is not a map");
	for (uint64_t i = 0; i < map.number; i++)
		if (open_member(&in, envelope))
			return -EINVAL;
	if (!envelope->request)
		return hs_cbor_fail(&in, "has no int_request");
	return hs_cbor_end(&in);
}

int hs_rule_from_cbor(const uint8_t *bytes, size_t len, struct hs_rule *rule,
		unsigned *unknown_keys, struct hs_error *err)
{
	struct hs_rule_envelope envelope;
	struct hs_rule parsed;
	struct hs_cbor_item map;
	uint32_t seen = 0;

	if (hs_rule_cbor_open(bytes, len, &envelope, err))
		return -EINVAL;
	struct hs_cbor_reader in = reader_over(envelope.request, envelope.request_len, err);
	unsigned unknown = envelope.unknown_keys;
	int rc = hs_cbor_next(&in, &map);
	hs_rule_init(&parsed);
	for (uint64_t i = 0; rc == 0 && i < map.number; i++)
		rc = read_member(&in, &parsed, &seen, &unknown);
	if (rc == 0)
		rc = check_required(&in, seen);
	if (rc == 0)
		rc = hs_rule_check(&parsed, err);
	if (rc)
		return rc;
	*rule = parsed;
	if (unknown_keys)
		*unknown_keys = unknown;
	return 0;
}

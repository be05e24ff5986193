// SPDX-License-Identifier: BSD-3-Clause
#include "rule_cbor.h"

#include "cbor_reader.h"
#include "cbor_writer.h"
#include "rule_field.h"

#include <errno.h>
#include <string.h>

static const char request_key[] = "int_request";
static const char auth_key[] = "auth";

// ---- writing ----

// The rows of every request, and the switches that are sent if they differ from their default.
// Every node understands a request in the paper's form.
#define ALWAYS	  (HS_RULE_BIT(IN_BAND) - 1)
#define DIFFERING (HS_RULE_BIT(TRANSMIT_REPORT) | HS_RULE_BIT(PIGGYBACK_REPORT))

static void put_field(struct hs_cbor_writer *out, const struct hs_schema_field *field,
		const struct hs_rule *rule)
{
	char text[HS_SCHEMA_TEXT_BYTES];
	const struct hs_schema_value value = hs_schema_load(field, rule, text);

	hs_cbor_put_text(out, field->key);
	switch (value.type) {
	case HS_SCHEMA_IS_INTEGER:
		hs_cbor_put_unsigned(out, value.magnitude);
		break;
	case HS_SCHEMA_IS_REAL:
		hs_cbor_put_real(out, value.real);
		break;
	case HS_SCHEMA_IS_BOOL:
		hs_cbor_put_bool(out, value.boolean);
		break;
	default: // words and texts, which end with a zero
		hs_cbor_put_text(out, value.text);
		break;
	}
}

static uint32_t rows_of(const struct hs_rule *rule)
{
	struct hs_rule fallback;

	hs_rule_init(&fallback);
	return ALWAYS |
	       (rule->transmit_report != fallback.transmit_report ? HS_RULE_BIT(TRANSMIT_REPORT)
								  : 0) |
	       (rule->piggyback_report != fallback.piggyback_report ? HS_RULE_BIT(PIGGYBACK_REPORT)
								    : 0);
}

int hs_rule_to_cbor(const struct hs_rule *rule, uint8_t *bytes, size_t size, struct hs_error *err)
{
	struct hs_cbor_writer out = hs_cbor_writer_over(bytes, size);
	uint32_t rows = rows_of(rule);

	if (hs_rule_check(rule, err))
		return -EINVAL;
	hs_cbor_put_map(&out, 1);
	hs_cbor_put_text(&out, request_key);
	hs_cbor_put_map(&out, (size_t)__builtin_popcount(rows));
	for (unsigned row = 0; row < HS_RULE_ROWS; row++)
		if (rows >> row & 1)
			put_field(&out, &hs_rule_fields[row], rule);
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

static struct hs_schema_value value_of(const struct hs_cbor_item *item)
{
	switch (item->type) {
	case HS_CBOR_UNSIGNED:
	case HS_CBOR_NEGATIVE:
		return (struct hs_schema_value){.type = HS_SCHEMA_IS_INTEGER,
				.negative = item->type == HS_CBOR_NEGATIVE,
				.magnitude = item->number};
	case HS_CBOR_REAL:
		return (struct hs_schema_value){.type = HS_SCHEMA_IS_REAL, .real = item->real};
	case HS_CBOR_TEXT:
		return (struct hs_schema_value){.type = HS_SCHEMA_IS_TEXT,
				.text = (const char *)item->bytes,
				.len = item->len};
	case HS_CBOR_BOOL:
		return (struct hs_schema_value){
				.type = HS_SCHEMA_IS_BOOL, .boolean = item->boolean};
	default:
		return (struct hs_schema_value){.type = HS_SCHEMA_IS_OTHER};
	}
}

// Reads an item and all items that it contains.
static int next_whole(struct hs_cbor_reader *in, struct hs_cbor_item *item)
{
	return hs_cbor_next(in, item) || hs_cbor_skip(in, item) ? -EINVAL : 0;
}

static bool is_text(const struct hs_cbor_item *item, const char *text)
{
	return item->type == HS_CBOR_TEXT && item->len == strlen(text) &&
	       memcmp(item->bytes, text, item->len) == 0;
}

// Rows of rules that are not sent in band. Without these rows, a rule would match other packets or
// collect other values.
#define OF_INT                                                                                     \
	(HS_RULE_BIT(METHOD) | HS_RULE_BIT(INSTRUCTIONS) | HS_RULE_BIT(INSTRUCTION_BITMAP) |       \
			HS_RULE_BIT(DSCP))

static int refuse_int(const struct hs_cbor_item *item, unsigned row, struct hs_error *err)
{
	const char *key = hs_rule_fields[row].key;

	return row == HS_RULE_METHOD && is_text(item, "flexint")
			       ? 0
			       : hs_error_set(err, "unsupported", key, "method flexint",
						 "%s: only rules of method flexint spread in band",
						 key);
}

static int read_member(
		struct hs_cbor_reader *in, struct hs_rule *rule, uint32_t *seen, unsigned *unknown)
{
	struct hs_cbor_item key, item;

	if (next_whole(in, &key) || next_whole(in, &item))
		return -EINVAL;

	unsigned row = key.type == HS_CBOR_TEXT ? hs_rule_row_find((const char *)key.bytes, key.len)
						: HS_RULE_ROWS;
	if (row < HS_RULE_ROWS && OF_INT >> row & 1)
		return refuse_int(&item, row, in->err);
	if (!((ALWAYS | DIFFERING) >> row & 1)) {
		++*unknown;
		return 0;
	}
	const struct hs_schema_field *field = &hs_rule_fields[row];
	if (*seen >> row & 1)
		return hs_error_set(in->err, "duplicate_key", "", "each key once", "%s comes twice",
				field->key);
	*seen |= UINT32_C(1) << row;
	const struct hs_schema_value value = value_of(&item);
	return hs_schema_store(field, &value, field->key, rule, in->err);
}

static int check_required(const struct hs_cbor_reader *in, uint32_t seen)
{
	for (unsigned row = 0; row < HS_RULE_ROWS; row++) {
		const struct hs_schema_field *field = &hs_rule_fields[row];
		bool required = field->required || row == HS_RULE_TRACE_TYPE;
		if (required && !(seen >> row & 1))
			return hs_error_set(in->err, "missing_field", field->key, field->allowed,
					"%s is missing", field->key);
	}
	return 0;
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

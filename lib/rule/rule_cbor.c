// SPDX-License-Identifier: BSD-3-Clause
// libcbor's tree builder reserves what a length field asks for; its streaming decoder reserves
// nothing, so the request is read token by token.
#include "rule_cbor.h"

#include "rule_field.h"

#include <cbor.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 8

static const char request_key[] = "int_request";
static const char auth_key[] = "auth";

// ---- writing ----

struct out {
	uint8_t *at;
	size_t left;
	bool failed;
};

// libcbor's encoders return the bytes written, 0 where the room is too small.
static void wrote(struct out *out, size_t n)
{
	if (n == 0 || n > out->left) {
		out->failed = true;
		out->left = 0;
		return;
	}
	out->at += n;
	out->left -= n;
}

static void put_text(struct out *out, const char *text)
{
	size_t len = strlen(text);
	wrote(out, cbor_encode_string_start(len, out->at, out->left));
	if (out->failed || out->left < len) {
		out->failed = true;
		return;
	}
	memcpy(out->at, text, len);
	wrote(out, len);
}

// Eleven significant bits, none below 2^-24.
static bool fits_half(double v)
{
	int exponent;
	double fraction = ldexp(frexp(v, &exponent), 11), smallest = ldexp(v, 24);
	return floor(fraction) == fraction && floor(smallest) == smallest && v <= 65504;
}

// Whole numbers as integers, others in the shortest float that keeps them exactly.
static void put_setting(struct out *out, double v)
{
	if (floor(v) == v)
		wrote(out, cbor_encode_uint((uint64_t)v, out->at, out->left));
	else if (fits_half(v))
		wrote(out, cbor_encode_half((float)v, out->at, out->left));
	else if ((double)(float)v == v)
		wrote(out, cbor_encode_single((float)v, out->at, out->left));
	else
		wrote(out, cbor_encode_double(v, out->at, out->left));
}

static void put_field(
		struct out *out, const struct hs_rule_field *field, const struct hs_rule *rule)
{
	char text[HS_RULE_TEXT_BYTES];

	put_text(out, field->name);
	switch (field->kind) {
	case HS_RULE_NUMBER:
		wrote(out, cbor_encode_uint(hs_rule_field_number(field, rule), out->at, out->left));
		break;
	case HS_RULE_SETTING:
		put_setting(out, rule->mode_setting);
		break;
	case HS_RULE_SWITCH:
		wrote(out, cbor_encode_bool(hs_rule_field_switch(field, rule), out->at, out->left));
		break;
	default:
		hs_rule_field_text(field, rule, text);
		put_text(out, text);
		break;
	}
}

// What every request has, and of the switches that travel those off their default: a request as
// the paper has it is understood by every node.
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
	struct out out = {bytes, size, false};
	size_t n = 0;

	if (hs_rule_check(rule, err))
		return -EINVAL;
	for (size_t i = 0; i < hs_rule_n_fields; i++)
		n += is_written(&hs_rule_fields[i], rule);

	wrote(&out, cbor_encode_map_start(1, out.at, out.left));
	put_text(&out, request_key);
	wrote(&out, cbor_encode_map_start(n, out.at, out.left));
	for (size_t i = 0; i < hs_rule_n_fields; i++)
		if (is_written(&hs_rule_fields[i], rule))
			put_field(&out, &hs_rule_fields[i], rule);
	if (out.failed) {
		hs_error_set(err, "too_large", "/in_band", "",
				"in_band: the request does not fit in %zu bytes", size);
		return -ENOSPC;
	}
	return (int)(out.at - bytes);
}

// ---- reading ----

enum token_type {
	TOKEN_VALUE, // number, text, boolean or another leaf
	TOKEN_BYTES,
	TOKEN_MAP,
	TOKEN_ARRAY,
	TOKEN_TAG,	  // one item follows
	TOKEN_INDEFINITE, // of unknown length, or the break that ends it: refused
};

struct token {
	enum token_type type;
	struct hs_rule_value value;
	const uint8_t *bytes; // of TOKEN_BYTES
	uint64_t count;	      // of a map or array, or of these bytes
};

struct in {
	const uint8_t *at;
	size_t left;
	struct hs_error *err;
};

static void on_unsigned(struct token *token, uint64_t v)
{
	token->value = (struct hs_rule_value){.type = HS_VALUE_INTEGER, .magnitude = v};
}

static void on_uint8(void *token, uint8_t v)
{
	on_unsigned(token, v);
}

static void on_uint16(void *token, uint16_t v)
{
	on_unsigned(token, v);
}

static void on_uint32(void *token, uint32_t v)
{
	on_unsigned(token, v);
}

static void on_uint64(void *token, uint64_t v)
{
	on_unsigned(token, v);
}

// CBOR stores -1 - v.
static void on_negative(struct token *token, uint64_t v)
{
	token->value = (struct hs_rule_value){.type = HS_VALUE_INTEGER,
			.negative = true,
			.magnitude = v == UINT64_MAX ? v : v + 1};
}

static void on_negint8(void *token, uint8_t v)
{
	on_negative(token, v);
}

static void on_negint16(void *token, uint16_t v)
{
	on_negative(token, v);
}

static void on_negint32(void *token, uint32_t v)
{
	on_negative(token, v);
}

static void on_negint64(void *token, uint64_t v)
{
	on_negative(token, v);
}

static void on_string(void *context, cbor_data text, size_t len)
{
	struct token *token = context;
	token->value = (struct hs_rule_value){
			.type = HS_VALUE_TEXT, .text = (const char *)text, .len = len};
}

static void on_bytes(void *context, cbor_data bytes, size_t len)
{
	struct token *token = context;
	token->type = TOKEN_BYTES;
	token->bytes = bytes;
	token->count = len;
}

static void on_boolean(void *context, bool v)
{
	struct token *token = context;
	token->value = (struct hs_rule_value){.type = HS_VALUE_BOOL, .boolean = v};
}

static void on_float(void *context, float v)
{
	struct token *token = context;
	token->value = (struct hs_rule_value){.type = HS_VALUE_REAL, .real = (double)v};
}

static void on_double(void *context, double v)
{
	struct token *token = context;
	token->value = (struct hs_rule_value){.type = HS_VALUE_REAL, .real = v};
}

static void on_map(void *context, size_t n)
{
	struct token *token = context;
	token->type = TOKEN_MAP;
	token->count = n;
}

static void on_array(void *context, size_t n)
{
	struct token *token = context;
	token->type = TOKEN_ARRAY;
	token->count = n;
}

static void on_tag(void *context, uint64_t tag)
{
	struct token *token = context;
	(void)tag;
	token->type = TOKEN_TAG;
}

static void on_indefinite(void *context)
{
	struct token *token = context;
	token->type = TOKEN_INDEFINITE;
}

static void on_leaf(void *context)
{
	(void)context;
}

static const struct cbor_callbacks callbacks = {
		.uint8 = on_uint8,
		.uint16 = on_uint16,
		.uint32 = on_uint32,
		.uint64 = on_uint64,
		.negint8 = on_negint8,
		.negint16 = on_negint16,
		.negint32 = on_negint32,
		.negint64 = on_negint64,
		.byte_string = on_bytes,
		.byte_string_start = on_indefinite,
		.string = on_string,
		.string_start = on_indefinite,
		.array_start = on_array,
		.indef_array_start = on_indefinite,
		.map_start = on_map,
		.indef_map_start = on_indefinite,
		.tag = on_tag,
		.float2 = on_float,
		.float4 = on_float,
		.float8 = on_double,
		.boolean = on_boolean,
		.null = on_leaf,
		.undefined = on_leaf,
		.indef_break = on_indefinite,
};

static int not_cbor(const struct in *in, const char *what)
{
	return hs_error_set(
			in->err, "not_cbor", "", "one map {\"int_request\": {...}}", "%s", what);
}

static int next_token(struct in *in, struct token *token)
{
	*token = (struct token){.type = TOKEN_VALUE, .value = {.type = HS_VALUE_OTHER}};
	struct cbor_decoder_result result = cbor_stream_decode(in->at, in->left, &callbacks, token);
	if (result.status == CBOR_DECODER_NEDATA)
		return not_cbor(in, "the request ends too early");
	if (result.status != CBOR_DECODER_FINISHED || result.read == 0 || result.read > in->left)
		return not_cbor(in, "the request is not CBOR");
	in->at += result.read;
	in->left -= result.read;
	if (token->type == TOKEN_INDEFINITE)
		return not_cbor(in, "indefinite lengths are not allowed");
	return 0;
}

// Steps over what hangs below a token. Every item takes a byte at least, so a count larger than
// the input ends with it.
static int skip_children(struct in *in, const struct token *token, unsigned depth)
{
	uint64_t items = token->type == TOKEN_TAG ? 1 : token->count;

	if (token->type == TOKEN_VALUE || token->type == TOKEN_BYTES)
		return 0;
	if (depth >= MAX_DEPTH)
		return not_cbor(in, "the request is nested too deep");
	if (items > in->left)
		return not_cbor(in, "the request ends too early");
	if (token->type == TOKEN_MAP)
		items *= 2;
	while (items-- > 0) {
		struct token child;
		if (next_token(in, &child) || skip_children(in, &child, depth + 1))
			return -EINVAL;
	}
	return 0;
}

static const struct hs_rule_field *in_band_field(const struct token *key)
{
	const struct hs_rule_field *field = NULL;
	if (key->type == TOKEN_VALUE && key->value.type == HS_VALUE_TEXT)
		field = hs_rule_field_find(key->value.text, key->value.len);
	return field && field->in_band ? field : NULL;
}

static int read_member(struct in *in, struct hs_rule *rule, uint32_t *seen, unsigned *unknown)
{
	struct token key, value;

	if (next_token(in, &key) || skip_children(in, &key, 0) || next_token(in, &value))
		return -EINVAL;
	if (skip_children(in, &value, 0))
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
	return hs_rule_field_set(field, &value.value, rule, in->err);
}

static int check_required(const struct in *in, uint32_t seen)
{
	for (size_t i = 0; i < hs_rule_n_fields; i++) {
		const struct hs_rule_field *field = &hs_rule_fields[i];
		char path[64];
		if (!field->required || seen & 1u << i)
			continue;
		snprintf(path, sizeof(path), "/%s", field->name);
		return hs_error_set(in->err, "missing_field", path, field->allowed, "%s is missing",
				field->name);
	}
	return 0;
}

static bool is_text(const struct token *token, const char *text)
{
	return token->type == TOKEN_VALUE && token->value.type == HS_VALUE_TEXT &&
	       token->value.len == strlen(text) &&
	       memcmp(token->value.text, text, token->value.len) == 0;
}

static int open_member(struct in *in, struct hs_rule_envelope *envelope)
{
	struct token key, value;

	if (next_token(in, &key) || skip_children(in, &key, 0))
		return -EINVAL;
	const uint8_t *start = in->at;
	if (next_token(in, &value) || skip_children(in, &value, 0))
		return -EINVAL;
	if (is_text(&key, request_key)) {
		if (envelope->request)
			return hs_error_set(in->err, "duplicate_key", "", "each key once",
					"int_request comes twice");
		envelope->request = start;
		envelope->request_len = (size_t)(in->at - start);
		return value.type == TOKEN_MAP ? 0 : not_cbor(in, "int_request is not a map");
	}
	if (is_text(&key, auth_key)) {
		if (envelope->auth)
			return hs_error_set(in->err, "duplicate_key", "", "each key once",
					"auth comes twice");
		if (value.type != TOKEN_BYTES || value.count != HS_RULE_AUTH_BYTES)
			return hs_error_set(in->err, "wrong_type", "/auth", "16 bytes",
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
	struct in in = {bytes, len, err};
	struct token token;

	*envelope = (struct hs_rule_envelope){0};
	if (next_token(&in, &token))
		return -EINVAL;
	if (token.type != TOKEN_MAP)
		return not_cbor(&in, "the request is not a map");
	if (token.count > in.left)
		return not_cbor(&in, "the request ends too early");
	for (uint64_t i = 0; i < token.count; i++)
		if (open_member(&in, envelope))
			return -EINVAL;
	if (!envelope->request)
		return not_cbor(&in, "there is no int_request");
	return in.left ? not_cbor(&in, "bytes follow the request") : 0;
}

int hs_rule_from_cbor(const uint8_t *bytes, size_t len, struct hs_rule *rule,
		unsigned *unknown_keys, struct hs_error *err)
{
	struct hs_rule_envelope envelope;
	struct hs_rule parsed;
	struct token map;
	uint32_t seen = 0;

	if (hs_rule_cbor_open(bytes, len, &envelope, err))
		return -EINVAL;
	struct in in = {envelope.request, envelope.request_len, err};
	unsigned unknown = envelope.unknown_keys;
	int rc = next_token(&in, &map);
	hs_rule_init(&parsed);
	for (uint64_t i = 0; rc == 0 && i < map.count; i++)
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

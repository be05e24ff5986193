// SPDX-License-Identifier: BSD-3-Clause
#include "schema.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// "object", "array", "string", "integer", ... for messages.
static const char *type_of(const json_t *value)
{
	switch (json_typeof(value)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "a list";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "an integer";
	case JSON_REAL:
		return "a number with a fraction";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a boolean";
	case JSON_NULL:
		return "null";
	}
	return "something else";
}

int hs_schema_syntax_error(const json_error_t *syntax, struct hs_error *err)
{
	const char *code = "not_json", *expected = "one JSON object";
	char at[32];

	snprintf(at, sizeof(at), "%d:%d", syntax->line, syntax->column);
	if (json_error_code(syntax) == json_error_duplicate_key) {
		code = "duplicate_key";
		expected = "each key once";
	} else if (json_error_code(syntax) == json_error_numeric_overflow) {
		code = "out_of_range";
		expected = "integers of 64 bits, finite numbers";
	}
	return hs_error_set(err, code, at, expected, "%s", syntax->text);
}

int hs_schema_wrong_type(
		const json_t *value, const char *path, const char *wanted, struct hs_error *err)
{
	return hs_error_set(err, "wrong_type", path, wanted, "this is %s", type_of(value));
}

int hs_schema_uint(json_t *value, const char *path, uint64_t min, uint64_t max, uint64_t *out,
		struct hs_error *err)
{
	char bounds[64];
	snprintf(bounds, sizeof(bounds), "an integer from %" PRIu64 " to %" PRIu64, min, max);
	if (!json_is_integer(value))
		return hs_schema_wrong_type(value, path, bounds, err);

	json_int_t number = json_integer_value(value);
	if (number < 0 || (uint64_t)number < min || (uint64_t)number > max)
		return hs_error_set(err, "out_of_range", path, bounds,
				"%" JSON_INTEGER_FORMAT " is out of range", number);
	*out = (uint64_t)number;
	return 0;
}

static int read_int(const struct hs_schema_field *field, json_t *value, const char *path,
		int64_t *out, struct hs_error *err)
{
	int64_t min = (int64_t)field->min, max = (int64_t)field->max;
	char bounds[64];
	snprintf(bounds, sizeof(bounds), "an integer from %" PRId64 " to %" PRId64, min, max);
	if (!json_is_integer(value))
		return hs_schema_wrong_type(value, path, bounds, err);
	*out = json_integer_value(value);
	if (*out < min || *out > max)
		return hs_error_set(err, "out_of_range", path, bounds,
				"%" PRId64 " is out of range", *out);
	return 0;
}

// A number, with a fraction or without, within bounds, or -EINVAL with *err.
static int read_real(json_t *value, const char *path, double min, double max, double *out,
		struct hs_error *err)
{
	char bounds[64];
	snprintf(bounds, sizeof(bounds), "a number from %.12g to %.12g", min, max);
	if (!json_is_number(value))
		return hs_schema_wrong_type(value, path, bounds, err);

	double number = json_number_value(value);
	if (number < min || number > max)
		return hs_error_set(
				err, "out_of_range", path, bounds, "%.12g is out of range", number);
	*out = number;
	return 0;
}

static void store(void *at, size_t size, uint64_t value)
{
	uint8_t u8 = (uint8_t)value;
	uint16_t u16 = (uint16_t)value;
	uint32_t u32 = (uint32_t)value;
	const void *from = size == 1   ? (void *)&u8
			   : size == 2 ? (void *)&u16
			   : size == 4 ? (void *)&u32
				       : &value;
	memcpy(at, from, size);
}

static void store_real(const struct hs_schema_field *field, void *at, double value)
{
	int64_t ns = llround(value * 1e9);
	memcpy(at, field->kind == HS_SCHEMA_SECONDS ? (void *)&ns : (void *)&value, sizeof(ns));
}

static uint64_t load(const void *at, size_t size)
{
	uint8_t u8;
	uint16_t u16;
	uint32_t u32;
	uint64_t u64;
	switch (size) {
	case 1:
		memcpy(&u8, at, 1);
		return u8;
	case 2:
		memcpy(&u16, at, 2);
		return u16;
	case 4:
		memcpy(&u32, at, 4);
		return u32;
	default:
		memcpy(&u64, at, 8);
		return u64;
	}
}

static int read_text(const struct hs_schema_field *field, json_t *value, const char *path, char *at,
		struct hs_error *err)
{
	char bounds[64];
	snprintf(bounds, sizeof(bounds), "a string of %" PRIu64 " to %" PRIu64 " bytes", field->min,
			field->max);
	if (!json_is_string(value))
		return hs_schema_wrong_type(value, path, bounds, err);
	size_t len = json_string_length(value);
	const char *text = json_string_value(value);
	if (strlen(text) != len)
		return hs_error_set(
				err, "bad_value", path, bounds, "the string has a zero byte in it");
	if (len < field->min || len > field->max || len >= field->size)
		return hs_error_set(
				err, "out_of_range", path, bounds, "the string has %zu bytes", len);
	memcpy(at, text, len + 1);
	return 0;
}

static int read_word(const struct hs_schema_field *field, json_t *value, const char *path, void *at,
		struct hs_error *err)
{
	if (!json_is_string(value))
		return hs_schema_wrong_type(value, path, field->expected, err);
	const char *text = json_string_value(value);
	for (const struct hs_schema_word *word = field->words; word->text; word++) {
		if (strcmp(word->text, text) == 0) {
			store(at, field->size, word->value);
			return 0;
		}
	}
	return hs_error_set(
			err, "bad_value", path, field->expected, "\"%.64s\" is not known", text);
}

static int read_field(const struct hs_schema_field *field, json_t *value, const char *path,
		void *into, struct hs_error *err)
{
	char *at = (char *)into + field->offset;
	uint64_t number;
	int64_t integer = 0;
	double real = 0;

	switch (field->kind) {
	case HS_SCHEMA_UINT:
		if (hs_schema_uint(value, path, field->min, field->max, &number, err) < 0)
			return -EINVAL;
		store(at, field->size, number);
		return 0;
	case HS_SCHEMA_INT:
		if (read_int(field, value, path, &integer, err) < 0)
			return -EINVAL;
		store(at, field->size, (uint64_t)integer);
		return 0;
	case HS_SCHEMA_REAL:
	case HS_SCHEMA_SECONDS:
		if (read_real(value, path, field->least, field->most, &real, err) < 0)
			return -EINVAL;
		store_real(field, at, real);
		return 0;
	case HS_SCHEMA_BOOL:
		if (!json_is_boolean(value))
			return hs_schema_wrong_type(value, path, "true or false", err);
		*(bool *)at = json_is_true(value);
		return 0;
	case HS_SCHEMA_TEXT:
		return read_text(field, value, path, at, err);
	case HS_SCHEMA_WORD:
		return read_word(field, value, path, at, err);
	case HS_SCHEMA_OBJECT:
		return hs_schema_read(field->fields, value, path, into, err);
	case HS_SCHEMA_JSON:
		memcpy(at, &value, sizeof(value));
		return 0;
	case HS_SCHEMA_CUSTOM:
		return field->read(value, path, into, err);
	}
	return -EINVAL;
}

static const struct hs_schema_field *find(const struct hs_schema_field *fields, const char *key)
{
	for (; fields->key; fields++) {
		if (strcmp(fields->key, key) == 0)
			return fields;
	}
	return NULL;
}

static int unknown_field(const struct hs_schema_field *fields, const char *key, const char *path,
		struct hs_error *err)
{
	char known[160];
	size_t used = 0;
	known[0] = '\0';
	for (; fields->key && used < sizeof(known); fields++)
		used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
				used ? ", " : "one of ", fields->key);
	return hs_error_set(err, "unknown_field", path, known, "there is no \"%.64s\" here", key);
}

static int refuse_missing(const struct hs_schema_field *fields, const json_t *object,
		const char *path, struct hs_error *err)
{
	for (; fields->key; fields++) {
		if (!fields->required || json_object_get(object, fields->key))
			continue;
		char at[160];
		snprintf(at, sizeof(at), "%s%s%s", path, path[0] ? "." : "", fields->key);
		return hs_error_set(err, "missing_field", at,
				fields->expected ? fields->expected : "", "there is no \"%s\"",
				fields->key);
	}
	return 0;
}

int hs_schema_read(const struct hs_schema_field *fields, json_t *object, const char *path,
		void *into, struct hs_error *err)
{
	if (!json_is_object(object))
		return hs_schema_wrong_type(object, path, "an object", err);

	const char *key;
	json_t *value;
	json_object_foreach (object, key, value) {
		char at[160];
		snprintf(at, sizeof(at), "%s%s%.64s", path, path[0] ? "." : "", key);
		const struct hs_schema_field *field = find(fields, key);
		if (!field)
			return unknown_field(fields, key, at, err);
		if (read_field(field, value, at, into, err) < 0)
			return -EINVAL;
	}
	return refuse_missing(fields, object, path, err);
}

static json_t *print_int(size_t size, uint64_t bits)
{
	unsigned unused = 64 - 8 * (unsigned)size; // above the sign
	return json_integer((int64_t)(bits << unused) >> unused);
}

static json_t *print_real(const struct hs_schema_field *field, const char *at)
{
	double real = 0;
	int64_t ns;
	memcpy(&real, at, sizeof(real));
	memcpy(&ns, at, sizeof(ns));
	return json_real(field->kind == HS_SCHEMA_SECONDS ? (double)ns / 1e9 : real);
}

static json_t *print_json(const char *at)
{
	json_t *value;
	memcpy(&value, at, sizeof(value));
	return json_incref(value);
}

static json_t *print_word(const struct hs_schema_field *field, uint64_t value)
{
	for (const struct hs_schema_word *word = field->words; word->text; word++) {
		if (word->value == value)
			return json_string(word->text);
	}
	return NULL;
}

static json_t *print_field(const struct hs_schema_field *field, const void *from)
{
	const char *at = (const char *)from + field->offset;

	switch (field->kind) {
	case HS_SCHEMA_UINT:
		return json_integer((json_int_t)load(at, field->size));
	case HS_SCHEMA_INT:
		return print_int(field->size, load(at, field->size));
	case HS_SCHEMA_REAL:
	case HS_SCHEMA_SECONDS:
		return print_real(field, at);
	case HS_SCHEMA_BOOL:
		return json_boolean(*(const bool *)at);
	case HS_SCHEMA_TEXT:
		return at[0] ? json_string(at) : NULL;
	case HS_SCHEMA_WORD:
		return print_word(field, load(at, field->size));
	case HS_SCHEMA_OBJECT:
		return hs_schema_print(field->fields, from);
	case HS_SCHEMA_JSON:
		return print_json(at);
	case HS_SCHEMA_CUSTOM:
		return field->print(from);
	}
	return NULL;
}

json_t *hs_schema_print(const struct hs_schema_field *fields, const void *from)
{
	json_t *object = json_object();
	for (; object && fields->key; fields++) {
		json_t *value = print_field(fields, from);
		if (value && json_object_set_new(object, fields->key, value) < 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "schema.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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

int hs_schema_check_name(const char *name, const char *path, struct hs_error *err)
{
	static const char allowed[] =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	if (name[strspn(name, allowed)] != '\0' || name[0] == '.')
		return hs_error_set(err, "bad_value", path, "letters, digits, '_', '-', '.'",
				"\"%s\" is no name", name);
	return 0;
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

static int no_memory(struct hs_error *err)
{
	hs_error_set(err, "internal", "", "", "memory is out");
	return -ENOMEM;
}

static bool find_word(const struct hs_schema_field *field, const char *text, void *at)
{
	for (const struct hs_schema_word *word = field->words; word && word->text; word++) {
		if (strcmp(word->text, text) == 0) {
			store(at, field->size, word->value);
			return true;
		}
	}
	return false;
}

static int read_word(const struct hs_schema_field *field, json_t *value, const char *path, void *at,
		struct hs_error *err)
{
	if (!json_is_string(value))
		return hs_schema_wrong_type(value, path, field->expected, err);
	if (find_word(field, json_string_value(value), at))
		return 0;
	return hs_error_set(err, "bad_value", path, field->expected, "\"%.64s\" is not known",
			json_string_value(value));
}

// What a read needs on its way down.
struct reader {
	const void *root;
	struct hs_error *err;
};

static int read_name(const struct reader *reader, const struct hs_schema_field *field,
		json_t *value, const char *path, void *at)
{
	const struct hs_schema_names *names = field->names;
	const char *expected = field->expected ? field->expected : names->expected;

	if (!json_is_string(value))
		return hs_schema_wrong_type(value, path, expected, reader->err);
	const char *text = json_string_value(value);
	if (find_word(field, text, at))
		return 0;
	uint32_t index = names->find(reader->root, text);
	if (index == HS_SCHEMA_NO_NAME)
		return hs_error_set(reader->err, names->code, path, expected,
				"no %s is called \"%.64s\"", names->what, text);
	store(at, field->size, index);
	return 0;
}

static int read_kept(const struct hs_schema_field *field, json_t *value, const char *path, void *at,
		struct hs_error *err)
{
	json_t *before;

	if (!json_is_array(value))
		return hs_schema_wrong_type(
				value, path, field->expected ? field->expected : "a list", err);
	memcpy(&before, at, sizeof(before));
	json_decref(before);
	json_incref(value);
	memcpy(at, &value, sizeof(value));
	return 0;
}

static int check_length(const struct hs_schema_field *field, json_t *value, const char *path,
		struct hs_error *err)
{
	const struct hs_schema_list *list = field->list;
	size_t n = json_array_size(value);
	char bounds[64];

	if (!json_is_array(value))
		return hs_schema_wrong_type(
				value, path, field->expected ? field->expected : "a list", err);
	if (n >= field->min && n <= field->max)
		return 0;
	if (field->min)
		snprintf(bounds, sizeof(bounds), "%" PRIu64 " to %" PRIu64 " %s", field->min,
				field->max, list->noun);
	else
		snprintf(bounds, sizeof(bounds), "at most %" PRIu64 " %s", field->max, list->noun);
	return hs_error_set(err, "out_of_range", path, list->bounds ? list->bounds : bounds,
			"the list has %zu %s", n, list->noun);
}

static int read_field(const struct reader *reader, const struct hs_schema_field *field,
		json_t *value, const char *path, void *into);

static int read_item(const struct reader *reader, const struct hs_schema_field *field,
		json_t *value, const char *path, void *into, char *item, size_t i)
{
	const struct hs_schema_list *list = field->list;
	char at[160];

	snprintf(at, sizeof(at), "%s[%zu]", path, i);
	if (list->fresh)
		memcpy(item, list->fresh, list->item_bytes);
	else
		memset(item, 0, list->item_bytes);
	int rc = read_field(reader, &list->item, value, at, item);
	return rc == 0 && list->check ? list->check(value, at, into, i, reader->err) : rc;
}

static int read_list(const struct reader *reader, const struct hs_schema_field *field,
		json_t *value, const char *path, void *into)
{
	const struct hs_schema_list *list = field->list;
	char *items = (char *)into + field->offset;
	size_t i, n = json_array_size(value);
	json_t *item;
	int rc = check_length(field, value, path, reader->err);

	if (rc == 0 && list->heap) {
		char *room = calloc(n ? n : 1, list->item_bytes);
		memcpy(items, &room, sizeof(room));
		if (!room)
			return no_memory(reader->err);
		items = room;
	}
	if (rc == 0 && list->counted)
		*(unsigned *)((char *)into + list->count) = 0;
	json_array_foreach (value, i, item) {
		if (rc < 0)
			break;
		// An item that cannot be read counts: the caller releases what it has.
		if (list->counted)
			*(unsigned *)((char *)into + list->count) = (unsigned)i + 1;
		rc = read_item(reader, field, item, path, into, items + i * list->item_bytes, i);
	}
	return rc;
}

static int read_object(const struct reader *reader, const struct hs_schema_field *fields,
		json_t *object, const char *path, void *into);

static int read_number(const struct hs_schema_field *field, json_t *value, const char *path,
		void *at, struct hs_error *err)
{
	uint64_t number = 0;
	int64_t integer = 0;
	double real = 0;
	int rc;

	switch (field->kind) {
	case HS_SCHEMA_UINT:
		rc = hs_schema_uint(value, path, field->min, field->max, &number, err);
		break;
	case HS_SCHEMA_INT:
		rc = read_int(field, value, path, &integer, err);
		number = (uint64_t)integer;
		break;
	default:
		rc = read_real(value, path, field->least, field->most, &real, err);
		if (rc == 0)
			store_real(field, at, real);
		return rc;
	}
	if (rc == 0)
		store(at, field->size, number);
	return rc;
}

static int read_field(const struct reader *reader, const struct hs_schema_field *field,
		json_t *value, const char *path, void *into)
{
	char *at = (char *)into + field->offset;
	struct hs_error *err = reader->err;

	switch (field->kind) {
	case HS_SCHEMA_UINT:
	case HS_SCHEMA_INT:
	case HS_SCHEMA_REAL:
	case HS_SCHEMA_SECONDS:
		return read_number(field, value, path, at, err);
	case HS_SCHEMA_BOOL:
		if (!json_is_boolean(value))
			return hs_schema_wrong_type(value, path, "true or false", err);
		*(bool *)at = json_is_true(value);
		return 0;
	case HS_SCHEMA_TEXT:
		return read_text(field, value, path, at, err);
	case HS_SCHEMA_WORD:
		return read_word(field, value, path, at, err);
	case HS_SCHEMA_NAME:
		return read_name(reader, field, value, path, at);
	case HS_SCHEMA_OBJECT:
		return read_object(reader, field->fields, value, path, at);
	case HS_SCHEMA_LIST:
		return read_list(reader, field, value, path, into);
	case HS_SCHEMA_JSON:
		memcpy(at, &value, sizeof(value));
		return 0;
	case HS_SCHEMA_KEPT:
		return read_kept(field, value, path, at, err);
	case HS_SCHEMA_CUSTOM:
		return field->read(value, path, at, err);
	}
	return -EINVAL;
}

static bool is_key(const struct hs_schema_field *fields, const char *key)
{
	for (; fields->key; fields++) {
		if (strcmp(fields->key, key) == 0)
			return true;
	}
	return false;
}

static int refuse_unknown(const struct hs_schema_field *fields, json_t *object, const char *path,
		struct hs_error *err)
{
	const char *key;
	json_t *value;
	char known[160] = "", at[160];
	size_t used = 0;

	json_object_foreach (object, key, value) {
		if (is_key(fields, key))
			continue;
		snprintf(at, sizeof(at), "%s%s%.64s", path, path[0] ? "." : "", key);
		for (; fields->key && used < sizeof(known); fields++)
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
					used ? ", " : "one of ", fields->key);
		return hs_error_set(
				err, "unknown_field", at, known, "there is no \"%.64s\" here", key);
	}
	return 0;
}

static int read_object(const struct reader *reader, const struct hs_schema_field *fields,
		json_t *object, const char *path, void *into)
{
	char at[160];

	if (!json_is_object(object))
		return hs_schema_wrong_type(object, path, "an object", reader->err);
	int rc = refuse_unknown(fields, object, path, reader->err);
	for (; fields->key && rc == 0; fields++) {
		json_t *value = json_object_get(object, fields->key);
		snprintf(at, sizeof(at), "%s%s%s", path, path[0] ? "." : "", fields->key);
		if (value)
			rc = read_field(reader, fields, value, at, into);
		else if (fields->required)
			rc = hs_error_set(reader->err, "missing_field", at,
					fields->expected ? fields->expected : "",
					"there is no \"%s\"", fields->key);
	}
	return rc;
}

int hs_schema_read(const struct hs_schema_field *fields, json_t *object, const char *path,
		void *into, struct hs_error *err)
{
	const struct reader reader = {.root = into, .err = err};
	return read_object(&reader, fields, object, path, into);
}

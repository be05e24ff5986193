// SPDX-License-Identifier: BSD-3-Clause
#include "schema.h"

#include "clean_text.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static struct hs_schema_value value_of(const json_t *json)
{
	struct hs_schema_value value = {.type = HS_SCHEMA_IS_OTHER, .other = "null"};

	switch (json_typeof(json)) {
	case JSON_INTEGER: {
		json_int_t integer = json_integer_value(json);
		value.type = HS_SCHEMA_IS_INTEGER;
		value.negative = integer < 0;
		value.magnitude = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
		break;
	}
	case JSON_REAL:
		value.type = HS_SCHEMA_IS_REAL;
		value.real = json_real_value(json);
		break;
	case JSON_STRING:
		value.type = HS_SCHEMA_IS_TEXT;
		value.text = json_string_value(json);
		value.len = json_string_length(json);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		value.type = HS_SCHEMA_IS_BOOL;
		value.boolean = json_is_true(json);
		break;
	case JSON_OBJECT:
		value.other = "an object";
		break;
	case JSON_ARRAY:
		value.other = "a list";
		break;
	case JSON_NULL:
		break;
	}
	return value;
}

int hs_schema_wrong_type(
		const json_t *value, const char *path, const char *wanted, struct hs_error *err)
{
	static const struct hs_schema_field any = {.kind = HS_SCHEMA_OBJECT};
	const struct hs_schema_value found = value_of(value);
	return hs_schema_refuse_type(&any, &found, path, wanted, err);
}

int hs_schema_check_name(const char *name, const char *path, struct hs_error *err)
{
	static const char allowed[] =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";
	if (name[strspn(name, allowed)] != '\0' || name[0] == '.')
		return hs_error_set(err, "bad_value", path,
				"letters, digits, '_', '-', '.', no '.' at the beginning",
				"\"%s\" is no name", name);
	return 0;
}

static int no_memory(struct hs_error *err)
{
	hs_error_set(err, "internal", "", "", "memory is out");
	return -ENOMEM;
}

void hs_schema_clean_key(char *to, size_t size, const char *key)
{
	snprintf(to, size, "%.80s", key);
	for (; *to; to++)
		if ((unsigned char)*to < 0x20 || *to == 0x7f)
			*to = '?';
}

// The arguments of a read that the reads of nested objects need, too.
struct reader {
	const void *root;
	const struct hs_schema_style *style; // NULL: as in configurations
	struct hs_error *err;
	struct hs_errors *all; // NULL: the first error ends the reading
};

// Keeps an error where all errors are read, and returns 0 to go on. Otherwise returns rc.
static int keep(const struct reader *reader, int rc)
{
	if (rc == 0 || rc == -ENOMEM || !reader->all)
		return rc;
	hs_errors_keep(reader->all, reader->err);
	return 0;
}

static unsigned kept(const struct reader *reader)
{
	return reader->all ? reader->all->n : 0;
}

static int read_name(const struct reader *reader, const struct hs_schema_field *field,
		json_t *value, const char *path, void *at)
{
	const struct hs_schema_names *names = field->names;
	const char *expected = hs_schema_bounds(field, NULL);

	if (!json_is_string(value))
		return hs_schema_wrong_type(value, path, expected, reader->err);
	const char *text = json_string_value(value);
	if (hs_schema_find_word(field, text, strlen(text), at))
		return 0;
	uint32_t index = names->find(reader->root, text);
	if (index == HS_SCHEMA_NO_NAME)
		return hs_error_set(reader->err, names->code, path, expected,
				"no %s is called \"%.64s\"", names->what, text);
	hs_schema_store_bits(at, field->size, index);
	return 0;
}

static void look_at_items(const struct hs_schema_field *field, json_t *list, const char *path,
		struct hs_errors *errors)
{
	char at[160];
	json_t *item;
	size_t i;

	json_array_foreach (list, i, item) {
		unsigned before = errors->n;
		field->look(item, errors);
		snprintf(at, sizeof(at), "%s[%zu]", path, i);
		hs_errors_prefix(errors, before, at);
	}
}

static int read_kept(const struct reader *reader, const struct hs_schema_field *field,
		json_t *value, const char *path, void *at)
{
	json_t *before;

	if (!json_is_array(value))
		return hs_schema_wrong_type(value, path,
				field->expected ? field->expected : "a list", reader->err);
	memcpy(&before, at, sizeof(before));
	json_decref(before);
	json_incref(value);
	memcpy(at, &value, sizeof(value));
	if (reader->all && field->look)
		look_at_items(field, value, path, reader->all);
	return 0;
}

static int check_length(const struct hs_schema_field *field, json_t *value, const char *path,
		struct hs_error *err)
{
	const struct hs_schema_list *list = field->list;
	const char *noun = list->noun ? list->noun : "", *space = list->noun ? " " : "";
	size_t n = json_array_size(value);
	char bounds[64];

	if (!json_is_array(value))
		return hs_schema_wrong_type(
				value, path, field->expected ? field->expected : "a list", err);
	if (n >= field->min && n <= field->max)
		return 0;
	if (field->min)
		snprintf(bounds, sizeof(bounds), "%" PRIu64 " to %" PRIu64 "%s%s", field->min,
				field->max, space, noun);
	else
		snprintf(bounds, sizeof(bounds), "at most %" PRIu64 "%s%s", field->max, space,
				noun);
	return hs_error_set(err, "out_of_range", path, list->bounds ? list->bounds : bounds,
			"the list has %zu%s%s", n, space, noun);
}

// Checks an item whose values are right. Where the first error ends the reading, returns that one.
static int check_item(const struct reader *reader, const struct hs_schema_list *list, json_t *value,
		const char *path, void *into, size_t index)
{
	struct hs_errors own; // not cleared: `n` says what it has

	if (!list->check_all)
		return list->check ? list->check(value, path, into, index, reader->err) : 0;
	own.n = 0;
	list->check_all(value, path, into, index, reader->all ? reader->all : &own);
	if (own.n)
		*reader->err = own.list[0];
	return own.n ? -EINVAL : 0;
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
	unsigned before = kept(reader);
	int rc = read_field(reader, &list->item, value, at, item);
	// An item with a wrong value would get errors that only follow from the first one.
	if (kept(reader) > before)
		return rc;
	if (rc == 0 && list->take)
		return list->take(into, &(struct hs_schema_item){item, value, at, i}, reader->err);
	return rc == 0 ? check_item(reader, list, value, at, into, i) : rc;
}

// All items are read into the same room, one after another.
static int take_items(const struct reader *reader, const struct hs_schema_field *field,
		json_t *list, const char *path, void *into)
{
	void *room = calloc(1, field->list->item_bytes);
	int rc = room ? 0 : no_memory(reader->err);
	json_t *item;
	size_t i;

	json_array_foreach (list, i, item) {
		if (rc == 0)
			rc = keep(reader, read_item(reader, field, item, path, into, room, i));
	}
	free(room);
	return rc;
}

static int read_list(const struct reader *reader, const struct hs_schema_field *field,
		json_t *value, const char *path, void *into)
{
	const struct hs_schema_list *list = field->list;
	char *items = (char *)into + field->offset;
	size_t i, n = json_array_size(value);
	json_t *item;
	int rc = check_length(field, value, path, reader->err);

	if (rc == 0 && list->take)
		return take_items(reader, field, value, path, into);
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
		rc = keep(reader, read_item(reader, field, item, path, into,
						  items + i * list->item_bytes, i));
	}
	return rc;
}

static int read_name_of_item(const struct hs_schema_list *list, const char *key, const char *path,
		char *item, struct hs_error *err)
{
	char bounds[48];
	size_t len = strlen(key);

	snprintf(bounds, sizeof(bounds), "names of 1 to %zu bytes", list->name_bytes - 1);
	if (!len || len >= list->name_bytes)
		return hs_error_set(
				err, "out_of_range", path, bounds, "the name has %zu bytes", len);
	memcpy(item + list->name, key, len + 1);
	return hs_schema_check_name(key, path, err);
}

// A map is counted, and its items stand in an array.
static int read_map(const struct reader *reader, const struct hs_schema_field *field,
		json_t *object, const char *path, void *into)
{
	const struct hs_schema_list *list = field->list;
	unsigned *n = (unsigned *)((char *)into + list->count);
	char *item = (char *)into + field->offset, at[160], clean[84], bounds[64];
	const char *key;
	json_t *value;

	snprintf(bounds, sizeof(bounds), "at most %" PRIu64 " %s", field->max, list->noun);
	if (!json_is_object(object))
		return hs_schema_wrong_type(object, path, field->expected, reader->err);
	if (json_object_size(object) > field->max)
		return hs_error_set(reader->err, "out_of_range", path, bounds, "there are %zu %s",
				json_object_size(object), list->noun);
	*n = 0;
	json_object_foreach (object, key, value) {
		hs_clean_copy(key, clean, sizeof(clean));
		snprintf(at, sizeof(at), "%s.%s", path, clean);
		memset(item, 0, list->item_bytes);
		if (list->fresh)
			memcpy(item, list->fresh, list->item_bytes);
		unsigned before = kept(reader);
		int rc = read_name_of_item(list, key, at, item, reader->err);
		if (rc == 0)
			rc = read_field(reader, &list->item, value, at, item);
		if (rc == 0 && kept(reader) == before)
			rc = check_item(reader, list, value, at, into, *n);
		if (rc < 0 && keep(reader, rc) < 0)
			return rc;
		if (rc < 0)
			continue;
		item += list->item_bytes;
		++*n;
	}
	return 0;
}

static int read_object(const struct reader *reader, const struct hs_schema_field *fields,
		json_t *object, const char *path, void *into);

static int read_field(const struct reader *reader, const struct hs_schema_field *field,
		json_t *value, const char *path, void *into)
{
	char *at = (char *)into + field->offset;
	struct hs_error *err = reader->err;

	switch (field->kind) {
	case HS_SCHEMA_NAME:
		return read_name(reader, field, value, path, at);
	case HS_SCHEMA_OBJECT:
		if (field->fresh)
			memcpy(at, field->fresh, field->size);
		return read_object(reader, field->fields, value, path, at);
	case HS_SCHEMA_LIST:
		return read_list(reader, field, value, path, into);
	case HS_SCHEMA_MAP:
		return read_map(reader, field, value, path, into);
	case HS_SCHEMA_JSON:
		memcpy(at, &value, sizeof(value));
		return 0;
	case HS_SCHEMA_KEPT:
		return read_kept(reader, field, value, path, at);
	case HS_SCHEMA_CUSTOM:
		return field->read(value, path, at, err);
	default: {
		const struct hs_schema_value scalar = value_of(value);
		return hs_schema_store(field, &scalar, path, into, err);
	}
	}
}

static bool is_key(const struct hs_schema_field *fields, const char *key)
{
	for (; fields->key; fields++) {
		if (strcmp(fields->key, key) == 0)
			return true;
	}
	return false;
}

void hs_schema_list_keys(const struct hs_schema_style *style, const struct hs_schema_field *fields,
		char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "%s",
			!fields->key ? "no fields"
			: style	     ? ""
				     : "one of ");

	for (bool first = true; fields->key && used < size; fields++, first = false)
		used += (size_t)snprintf(text + used, size - used, "%s%s",
				first	? ""
				: style ? style->between
					: ", ",
				fields->key);
}

static int refuse_unknown(const struct reader *reader, const struct hs_schema_field *fields,
		json_t *object, const char *path)
{
	const struct hs_schema_style *style = reader->style;
	const char *key;
	json_t *value;
	void *next;

	if (style && style->open)
		return 0;
	json_object_foreach_safe (object, next, key, value) {
		char known[sizeof(reader->err->expected)], at[160], clean[84];
		if (is_key(fields, key))
			continue;
		if (style && style->loose) {
			json_object_del(object, key);
			continue;
		}
		hs_schema_clean_key(clean, sizeof(clean), key);
		snprintf(at, sizeof(at), "%s%s%s", path, path[0] ? "." : "", clean);
		hs_schema_list_keys(style, fields, known, sizeof(known));
		int rc = style ? hs_error_set(reader->err, "unknown_field", at, known, "%s%s",
						 clean, style->unknown)
			       : hs_error_set(reader->err, "unknown_field", at, known,
						 "there is no \"%.64s\" here", key);
		if (keep(reader, rc) < 0)
			return rc;
	}
	return 0;
}

static int refuse_missing(
		const struct reader *reader, const struct hs_schema_field *field, const char *path)
{
	const char *expected = field->allowed ? field->allowed : field->expected;
	const char *missing = reader->style ? reader->style->missing : NULL;
	char bounds[80];

	if (!expected)
		expected = hs_schema_bounds(field, bounds);
	if (!missing)
		return hs_error_set(reader->err, "missing_field", path, expected,
				"there is no \"%s\"", field->key);
	return hs_error_set(
			reader->err, "missing_field", path, expected, "%s%s", field->key, missing);
}

static int read_object(const struct reader *reader, const struct hs_schema_field *fields,
		json_t *object, const char *path, void *into)
{
	char at[160];

	if (!json_is_object(object))
		return hs_schema_wrong_type(object, path, "an object", reader->err);
	int rc = refuse_unknown(reader, fields, object, path);
	for (; fields->key && rc == 0; fields++) {
		json_t *value = json_object_get(object, fields->key);
		bool wanted = fields->required && !(reader->style && reader->style->loose);
		if (value ? fields->nullable && json_is_null(value) : !wanted)
			continue;
		const char *whole = fields->key;
		if (path[0]) {
			snprintf(at, sizeof(at), "%s.%s", path, fields->key);
			whole = at;
		}
		rc = keep(reader, value ? read_field(reader, fields, value, whole, into)
					: refuse_missing(reader, fields, whole));
	}
	return rc;
}

int hs_schema_read_as(const struct hs_schema_style *style, const struct hs_schema_field *fields,
		json_t *object, const char *path, void *into, struct hs_error *err)
{
	const struct reader reader = {.root = into, .style = style, .err = err};
	return read_object(&reader, fields, object, path, into);
}

int hs_schema_read(const struct hs_schema_field *fields, json_t *object, const char *path,
		void *into, struct hs_error *err)
{
	return hs_schema_read_as(NULL, fields, object, path, into, err);
}

int hs_schema_read_all_as(const struct hs_schema_style *style, const struct hs_schema_field *fields,
		json_t *object, const char *path, void *into, struct hs_errors *errors)
{
	struct hs_error err = {0};
	const struct reader reader = {.root = into, .style = style, .err = &err, .all = errors};
	unsigned before = errors->n;
	int rc = read_object(&reader, fields, object, path, into);

	if (rc < 0)
		hs_errors_keep(errors, &err);
	return rc < 0 ? rc : errors->n > before ? -EINVAL : 0;
}

int hs_schema_read_value_all(const struct hs_schema_field *field, json_t *value, const char *path,
		void *into, struct hs_errors *errors)
{
	struct hs_error err = {0};
	const struct reader reader = {.root = into, .err = &err, .all = errors};
	int rc = read_field(&reader, field, value, path, into);

	if (rc < 0)
		hs_errors_keep(errors, &err);
	return rc == -ENOMEM ? rc : 0;
}

int hs_schema_read_all(const struct hs_schema_field *fields, json_t *object, const char *path,
		void *into, struct hs_errors *errors)
{
	return hs_schema_read_all_as(NULL, fields, object, path, into, errors);
}

int hs_schema_read_value(const struct hs_schema_field *field, json_t *value, const char *path,
		void *into, struct hs_error *err)
{
	const struct reader reader = {.root = into, .err = err};
	return read_field(&reader, field, value, path, into);
}

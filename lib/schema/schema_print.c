// SPDX-License-Identifier: BSD-3-Clause
// JSON from a struct: the inverse of schema.c.
#include "schema.h"

#include <string.h>

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
	for (const struct hs_schema_word *word = field->words; word && word->text; word++) {
		if (word->value == value)
			return json_string(word->text);
	}
	return NULL;
}

static json_t *print_name(const void *root, const struct hs_schema_field *field, uint64_t index)
{
	json_t *word = print_word(field, index);
	const char *name = word ? NULL : field->names->name_of(root, (uint32_t)index);
	return name ? json_string(name) : word;
}

static json_t *print_field(const void *root, const struct hs_schema_field *field, const void *from);

static json_t *print_list(const void *root, const struct hs_schema_field *field, const char *from)
{
	const struct hs_schema_list *list = field->list;
	const char *items = from + field->offset;
	size_t n = list->counted ? *(const unsigned *)(from + list->count) : field->max;
	json_t *array = json_array();

	if (list->heap)
		memcpy(&items, from + field->offset, sizeof(items));
	for (size_t i = 0; i < n; i++)
		json_array_append_new(array,
				print_field(root, &list->item, items + i * list->item_bytes));
	return array;
}

static json_t *print_object(
		const void *root, const struct hs_schema_field *fields, const void *from)
{
	json_t *object = json_object();
	for (; object && fields->key; fields++) {
		bool given = !fields->given || fields->given(from);
		json_t *value = given ? print_field(root, fields, from) : NULL;
		if (value && json_object_set_new(object, fields->key, value) < 0) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

static json_t *print_field(const void *root, const struct hs_schema_field *field, const void *from)
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
	case HS_SCHEMA_NAME:
		return print_name(root, field, load(at, field->size));
	case HS_SCHEMA_OBJECT:
		return print_object(root, field->fields, at);
	case HS_SCHEMA_LIST:
		return print_list(root, field, from);
	case HS_SCHEMA_JSON:
	case HS_SCHEMA_KEPT:
		return print_json(at);
	case HS_SCHEMA_CUSTOM:
		return field->print(at);
	}
	return NULL;
}

json_t *hs_schema_print(const struct hs_schema_field *fields, const void *from)
{
	return print_object(from, fields, from);
}

// SPDX-License-Identifier: BSD-3-Clause
// JSON from a struct: the inverse of schema.c.
#include "schema_value.h"

#include <string.h>

static json_t *print_json(const char *at)
{
	json_t *value;
	memcpy(&value, at, sizeof(value));
	return json_incref(value);
}

static json_t *print_name(const void *root, const struct hs_schema_field *field, const char *at)
{
	uint64_t index = hs_schema_load_bits(at, field->size);
	const char *word = hs_schema_word_of(field, index);
	const char *name = word ? word : field->names->name_of(root, (uint32_t)index);
	return name ? json_string(name) : NULL;
}

static json_t *print_scalar(const struct hs_schema_field *field, const void *from)
{
	char text[HS_SCHEMA_TEXT_BYTES];
	const struct hs_schema_value value = hs_schema_load(field, from, text);

	switch (value.type) {
	case HS_SCHEMA_IS_INTEGER:
		return json_integer((json_int_t)(value.negative ? 0 - value.magnitude
								: value.magnitude));
	case HS_SCHEMA_IS_REAL:
		return json_real(value.real);
	case HS_SCHEMA_IS_TEXT:
		return json_stringn(value.text, value.len);
	case HS_SCHEMA_IS_BOOL:
		return json_boolean(value.boolean);
	case HS_SCHEMA_IS_OTHER:
		break;
	}
	return NULL;
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
	case HS_SCHEMA_NAME:
		return print_name(root, field, at);
	case HS_SCHEMA_OBJECT:
		return print_object(root, field->fields, at);
	case HS_SCHEMA_LIST:
		return print_list(root, field, from);
	case HS_SCHEMA_JSON:
	case HS_SCHEMA_KEPT:
		return print_json(at);
	case HS_SCHEMA_CUSTOM:
		return field->print(at);
	default:
		return print_scalar(field, from);
	}
}

json_t *hs_schema_print(const struct hs_schema_field *fields, const void *from)
{
	return print_object(from, fields, from);
}

json_t *hs_schema_print_value(const struct hs_schema_field *field, const void *from)
{
	return !field->given || field->given(from) ? print_field(from, field, from) : NULL;
}

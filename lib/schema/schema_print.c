// SPDX-License-Identifier: BSD-3-Clause
// JSON from a struct: the inverse of schema.c.
#include "schema.h"

#include <string.h>

static const void *pointer_at(const char *at)
{
	const void *pointer;
	memcpy(&pointer, at, sizeof(pointer));
	return pointer;
}

static json_t *print_name(const void *root, const struct hs_schema_field *field, const char *at)
{
	uint64_t index = hs_schema_load_bits(at, field->size);
	const char *word = hs_schema_word_of(field, index);
	const char *name = word ? word : field->names->name_of(root, (uint32_t)index);
	return name ? json_string(name) : NULL;
}

// Returns NULL, so that the key is left out, for an integer that JSON's integers here cannot have.
static json_t *print_scalar(const struct hs_schema_field *field, const void *from)
{
	char text[HS_SCHEMA_TEXT_BYTES];
	const struct hs_schema_value value = hs_schema_load(field, from, text);

	switch (value.type) {
	case HS_SCHEMA_IS_INTEGER:
		if (!value.negative && value.magnitude > INT64_MAX)
			return NULL;
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

static json_t *print_map(const void *root, const struct hs_schema_field *field, const char *from)
{
	const struct hs_schema_list *list = field->list;
	const char *item = from + field->offset;
	unsigned n = *(const unsigned *)(from + list->count);
	json_t *object = json_object();

	for (; n > 0; n--, item += list->item_bytes)
		json_object_set_new(
				object, item + list->name, print_field(root, &list->item, item));
	return object;
}

static bool is_given(const struct hs_schema_field *field, const void *from)
{
	if (field->bits && !(hs_schema_load_bits((const char *)from + field->bits_at, 4) &
					   field->bits))
		return false;
	return !field->given || field->given(from);
}

static bool is_empty(const json_t *value)
{
	return json_is_false(value) || (json_is_integer(value) && !json_integer_value(value)) ||
	       (json_is_string(value) && !json_string_length(value)) ||
	       (json_is_array(value) && !json_array_size(value)) ||
	       (json_is_object(value) && !json_object_size(value));
}

static const char *place_of(const struct hs_schema_field *field, const void *from)
{
	const char *at = (const char *)from + field->offset;
	return field->behind ? pointer_at(at) : at;
}

static int print_rows(json_t *object, const void *root, const struct hs_schema_field *fields,
		size_t stride, const void *from);

// Keys are constants of the program, so that nothing has to look whether they are UTF-8.
static int print_row(json_t *object, const void *root, const struct hs_schema_field *field,
		const void *from)
{
	if (!is_given(field, from))
		return 0;
	if (field->kind == HS_SCHEMA_MEMBERS)
		return print_rows(
				object, root, field->fields, field->stride, place_of(field, from));
	if (field->kind == HS_SCHEMA_JSON_MEMBERS) {
		json_t *members = (json_t *)pointer_at((const char *)from + field->offset);
		return members ? json_object_update(object, members) : 0;
	}
	json_t *value = print_field(root, field, from);
	if (value && !(field->optional && is_empty(value)))
		return json_object_set_new_nocheck(object, field->key, value);
	json_decref(value);
	return 0;
}

static int print_rows(json_t *object, const void *root, const struct hs_schema_field *fields,
		size_t stride, const void *from)
{
	int rc = 0;

	for (; rc == 0 && fields->key; fields = hs_schema_next(fields, stride))
		rc = print_row(object, root, fields, from);
	return rc;
}

static int print_into(json_t *object, const void *root, const struct hs_schema_field *fields,
		const void *from)
{
	return print_rows(object, root, fields, 0, from);
}

static json_t *print_object(
		const void *root, const struct hs_schema_field *fields, const void *from)
{
	json_t *object = json_object();

	if (print_into(object, root, fields, from) == 0)
		return object;
	json_decref(object);
	return NULL;
}

static json_t *print_field(const void *root, const struct hs_schema_field *field, const void *from)
{
	const char *at = (const char *)from + field->offset;

	switch (field->kind) {
	case HS_SCHEMA_NAME:
		return print_name(root, field, at);
	case HS_SCHEMA_OBJECT:
		at = place_of(field, from);
		return at ? print_object(root, field->fields, at) : NULL;
	case HS_SCHEMA_LIST:
		return print_list(root, field, from);
	case HS_SCHEMA_MAP:
		return print_map(root, field, from);
	case HS_SCHEMA_JSON:
	case HS_SCHEMA_KEPT:
		return json_incref((json_t *)pointer_at(at));
	case HS_SCHEMA_TAKEN:
		return (json_t *)pointer_at(at);
	case HS_SCHEMA_STRING:
		return json_string(pointer_at(at));
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

int hs_schema_print_into(json_t *object, const struct hs_schema_field *fields, const void *from)
{
	return print_into(object, from, fields, from);
}

json_t *hs_schema_print_value(const struct hs_schema_field *field, const void *from)
{
	return is_given(field, from) ? print_field(from, field, from) : NULL;
}

// SPDX-License-Identifier: BSD-3-Clause
// JSON Schema from the tables.
#include "schema.h"

#include <stdlib.h>
#include <string.h>

json_t *hs_schema_shape(const char *text)
{
	char *copy = strdup(text);
	json_t *shape;

	for (char *at = copy; at && (at = strchr(at, '\'')); at++)
		*at = '"';
	shape = copy ? json_loads(copy, JSON_DECODE_ANY, NULL) : NULL;
	free(copy);
	return shape;
}

static json_t *describe_words(const struct hs_schema_word *words)
{
	json_t *list = json_array();

	for (; words->text; words++)
		json_array_append_new(list, json_string(words->text));
	return json_pack("{s:o}", "enum", list);
}

// A field that is only printed may have no bounds.
static json_t *describe_integer(const struct hs_schema_field *field)
{
	json_t *integer = json_pack("{s:s}", "type", "integer");

	if (field->max || field->kind == HS_SCHEMA_UINT)
		json_object_set_new(integer, "minimum", json_integer((json_int_t)field->min));
	if (field->max)
		json_object_set_new(integer, "maximum", json_integer((json_int_t)field->max));
	return integer;
}

static json_t *describe_real(const struct hs_schema_field *field, bool printed)
{
	if (printed)
		return json_pack("{s:s}", "type", "number");
	return json_pack("{s:s, s:f, s:f}", "type", "number", "minimum", field->least, "maximum",
			field->most);
}

// Each character has at least one byte.
static json_t *describe_text(const struct hs_schema_field *field, bool printed)
{
	if (printed)
		return json_pack("{s:s}", "type", "string");
	return json_pack("{s:s, s:I, s:I}", "type", "string", "minLength",
			(json_int_t)(field->min > 0), "maxLength", (json_int_t)field->max);
}

static json_t *describe_value(const struct hs_schema_field *field, bool printed);

static json_t *describe_list(const struct hs_schema_field *field, bool printed)
{
	json_t *list = json_pack("{s:s, s:o}", "type", "array", "items",
			describe_value(&field->list->item, printed));

	if (field->min)
		json_object_set_new(list, "minItems", json_integer((json_int_t)field->min));
	if (field->max)
		json_object_set_new(list, "maxItems", json_integer((json_int_t)field->max));
	return list;
}

static json_t *describe_map(const struct hs_schema_field *field, bool printed)
{
	json_t *item = describe_value(&field->list->item, printed);

	if (printed)
		return json_pack("{s:s, s:o}", "type", "object", "additionalProperties", item);
	return json_pack("{s:s, s:{s:s, s:I}, s:I, s:o}", "type", "object", "propertyNames",
			"pattern", "^[A-Za-z0-9_-][A-Za-z0-9_.-]*$", "maxLength",
			(json_int_t)field->list->name_bytes - 1, "maxProperties",
			(json_int_t)field->max, "additionalProperties", item);
}

// Returns the schema of a list or map. Only the items of a map have names.
static json_t *describe_list_or_map(const struct hs_schema_field *field, bool printed)
{
	return field->list->name_bytes ? describe_map(field, printed)
				       : describe_list(field, printed);
}

static json_t *describe_object(const struct hs_schema_field *fields, bool printed);

static json_t *describe_value(const struct hs_schema_field *field, bool printed)
{
	if (field->shape)
		return hs_schema_shape(field->shape);
	switch (field->kind) {
	case HS_SCHEMA_UINT:
	case HS_SCHEMA_INT:
		return describe_integer(field);
	case HS_SCHEMA_REAL:
	case HS_SCHEMA_SECONDS:
		return describe_real(field, printed);
	case HS_SCHEMA_BOOL:
		if (field->optional)
			return json_pack("{s:b}", "const", 1);
		return json_pack("{s:s}", "type", "boolean");
	case HS_SCHEMA_NUMBER:
	case HS_SCHEMA_KEPT:
	case HS_SCHEMA_STRING:
		return json_pack("{s:s}", "type", hs_schema_type_of(field));
	case HS_SCHEMA_PARSED:
		return hs_schema_shape(field->text->shape);
	case HS_SCHEMA_TEXT:
		return describe_text(field, printed);
	case HS_SCHEMA_WORD:
		return describe_words(field->words);
	case HS_SCHEMA_NAME:
		return json_pack("{s:s, s:s}", "type", "string", "description",
				hs_schema_bounds(field, NULL));
	case HS_SCHEMA_OBJECT:
		return describe_object(field->fields, printed);
	case HS_SCHEMA_LIST:
		return describe_list(field, printed);
	case HS_SCHEMA_MAP:
		return describe_map(field, printed);
	case HS_SCHEMA_JSON:
	case HS_SCHEMA_TAKEN:
	case HS_SCHEMA_CUSTOM:
		return field->items    ? json_pack("{s:s, s:o}", "type", "array", "items",
							 describe_object(field->items, printed))
		       : field->list   ? describe_list_or_map(field, printed)
		       : field->fields ? describe_object(field->fields, printed)
				       : json_object();
	case HS_SCHEMA_MEMBERS:
	case HS_SCHEMA_JSON_MEMBERS:
		break;
	}
	return NULL;
}

// Returns whether each right object has the field.
static bool is_required(const struct hs_schema_field *field, bool printed)
{
	if (!printed)
		return field->required || field->demanded;
	return field->required ||
	       (!field->given && !field->bits && !field->optional && field->kind != HS_SCHEMA_TEXT);
}

static void describe_rows(const struct hs_schema_field *fields, size_t stride, bool printed,
		json_t *properties, json_t *required)
{
	for (; fields->key; fields = hs_schema_next(fields, stride)) {
		if (fields->kind == HS_SCHEMA_MEMBERS || fields->kind == HS_SCHEMA_JSON_MEMBERS) {
			describe_rows(fields->fields, fields->stride, printed, properties,
					required);
			continue;
		}
		json_t *value = describe_value(fields, printed);
		if (fields->nullable)
			value = json_pack("{s:[o, {s:s}]}", "anyOf", value, "type", "null");
		if (fields->help)
			json_object_set_new(value, "description", json_string(fields->help));
		json_object_set_new(properties, fields->key, value);
		if (is_required(fields, printed))
			json_array_append_new(required, json_string(fields->key));
	}
}

static json_t *describe_object(const struct hs_schema_field *fields, bool printed)
{
	json_t *properties = json_object(), *required = json_array();

	describe_rows(fields, 0, printed, properties, required);
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
			"required", required, "additionalProperties", 0);
}

json_t *hs_schema_describe_value(const struct hs_schema_field *field)
{
	return describe_value(field, false);
}

json_t *hs_schema_describe(const struct hs_schema_field *fields)
{
	return describe_object(fields, false);
}

json_t *hs_schema_describe_printed(const struct hs_schema_field *fields)
{
	return describe_object(fields, true);
}

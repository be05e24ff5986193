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

static json_t *describe_list(const struct hs_schema_field *field)
{
	json_t *list = json_pack("{s:s, s:o}", "type", "array", "items",
			hs_schema_describe_value(&field->list->item));

	if (field->min)
		json_object_set_new(list, "minItems", json_integer((json_int_t)field->min));
	if (field->max)
		json_object_set_new(list, "maxItems", json_integer((json_int_t)field->max));
	return list;
}

static json_t *describe_map(const struct hs_schema_field *field)
{
	return json_pack("{s:s, s:{s:s, s:I}, s:I, s:o}", "type", "object", "propertyNames",
			"pattern", "^[A-Za-z0-9_-][A-Za-z0-9_.-]*$", "maxLength",
			(json_int_t)field->list->name_bytes - 1, "maxProperties",
			(json_int_t)field->max, "additionalProperties",
			hs_schema_describe_value(&field->list->item));
}

json_t *hs_schema_describe_value(const struct hs_schema_field *field)
{
	if (field->shape)
		return hs_schema_shape(field->shape);
	switch (field->kind) {
	case HS_SCHEMA_UINT:
	case HS_SCHEMA_INT:
		return describe_integer(field);
	case HS_SCHEMA_REAL:
	case HS_SCHEMA_SECONDS:
		return json_pack("{s:s, s:f, s:f}", "type", "number", "minimum", field->least,
				"maximum", field->most);
	case HS_SCHEMA_NUMBER:
	case HS_SCHEMA_BOOL:
	case HS_SCHEMA_KEPT:
		return json_pack("{s:s}", "type", hs_schema_type_of(field));
	case HS_SCHEMA_PARSED:
		return hs_schema_shape(field->text->shape);
	case HS_SCHEMA_TEXT: // of a byte each at least
		return json_pack("{s:s, s:I, s:I}", "type", "string", "minLength",
				(json_int_t)(field->min > 0), "maxLength", (json_int_t)field->max);
	case HS_SCHEMA_WORD:
		return describe_words(field->words);
	case HS_SCHEMA_NAME:
		return json_pack("{s:s, s:s}", "type", "string", "description",
				field->expected ? field->expected : field->names->expected);
	case HS_SCHEMA_OBJECT:
		return hs_schema_describe(field->fields);
	case HS_SCHEMA_LIST:
		return describe_list(field);
	case HS_SCHEMA_MAP:
		return describe_map(field);
	case HS_SCHEMA_JSON:
	case HS_SCHEMA_CUSTOM:
		return field->list     ? describe_list(field)
		       : field->fields ? hs_schema_describe(field->fields)
				       : json_object();
	}
	return NULL;
}

json_t *hs_schema_describe(const struct hs_schema_field *fields)
{
	json_t *properties = json_object(), *required = json_array();

	for (; fields->key; fields++) {
		json_t *value = hs_schema_describe_value(fields);
		if (fields->nullable)
			value = json_pack("{s:[o, {s:s}]}", "anyOf", value, "type", "null");
		if (fields->help)
			json_object_set_new(value, "description", json_string(fields->help));
		json_object_set_new(properties, fields->key, value);
		if (fields->required || fields->demanded)
			json_array_append_new(required, json_string(fields->key));
	}
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
			"required", required, "additionalProperties", 0);
}

// SPDX-License-Identifier: BSD-3-Clause
// JSON Schema of requests, from the tables that read them.
#include "api_schema.h"

#include "api_verbs.h"
#include "rule_field.h"

#include <string.h>

#define ADDRESS_SHAPE "{'type': 'string', 'format': 'ipv6'}"
#define PREFIX_SHAPE  "{'type': 'string', 'pattern': '^[0-9A-Fa-f:.]+(/[0-9]{1,3})?$'}"
#define MAC_SHAPE     "{'type': 'string', 'pattern': '^[0-9A-Fa-f]{2}(:[0-9A-Fa-f]{2}){5}$'}"
#define WINDOW_SHAPE  "{'type': 'string', 'pattern': '^(run|[0-9]+(ms|s|m|h))$'}"
#define NAME_SHAPE    "{'type': 'string', 'minLength': 1}"

// The members that may stand beside a verb, and beside "transaction".
#define ID_SHAPE "{'anyOf': [{'type': 'string', 'maxLength': 256}, {'type': 'integer'}]}"
#define BESIDE                                                                                     \
	"{'id': " ID_SHAPE ", 'dry_run': {'type': 'boolean'}, "                                    \
	"'if_generation': {'type': 'integer', 'minimum': 0}}"
#define BESIDE_ITEM "{'id': " ID_SHAPE "}"
#define MESSAGE                                                                                    \
	"[{'$ref': '#/$defs/request'}, "                                                           \
	"{'type': 'array', 'maxItems': 10000, 'items': {'$ref': '#/$defs/item'}}, "                \
	"{'$ref': '#/$defs/transaction'}]"
#define ON                                                                                         \
	"{'description': 'at a controller: where the rule belongs', 'oneOf': ["                    \
	"{'type': 'object', 'properties': {'path': {'type': 'string'}}, "                          \
	"'required': ['path'], 'additionalProperties': false}, "                                   \
	"{'type': 'object', 'properties': {'nodes': {'type': 'array', 'items': "                   \
	"{'type': 'string'}}}, 'required': ['nodes'], 'additionalProperties': false}, "            \
	"{'type': 'object', 'properties': {'source': {'type': 'string'}}, "                        \
	"'required': ['source'], 'additionalProperties': false}]}"

static json_t *number(const struct hs_api_field *field)
{
	return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum", (json_int_t)field->min,
			"maximum", (json_int_t)field->max);
}

static json_t *value_of(const struct hs_api_field *field)
{
	switch (field->kind) {
	case HS_API_NUMBER:
		return number(field);
	case HS_API_WINDOW:
		return hs_schema_shape(WINDOW_SHAPE);
	case HS_API_NAME:
		return hs_schema_shape(NAME_SHAPE);
	case HS_API_PREFIX:
		return hs_schema_shape(PREFIX_SHAPE);
	case HS_API_ADDRESS:
		return hs_schema_shape(ADDRESS_SHAPE);
	case HS_API_MAC:
		return hs_schema_shape(MAC_SHAPE);
	}
	return NULL;
}

static void add(json_t *object, const char *name, json_t *value, const char *help, bool required)
{
	json_object_set_new(value, "description", json_string(help));
	json_object_set_new(json_object_get(object, "properties"), name, value);
	if (required)
		json_array_append_new(json_object_get(object, "required"), json_string(name));
}

static void add_rule_field(json_t *object, const struct hs_rule_field *field, bool update)
{
	bool names_it = strcmp(field->name, "ns_id") == 0;
	json_t *value;

	if (update && !field->update_has && !field->label && !names_it)
		return;
	value = hs_rule_field_schema(field);
	if (update && field->update_has) // null resets a field
		value = json_pack("{s:[o, {s:s}]}", "anyOf", value, "type", "null");
	add(object, field->name, value, field->help, update ? names_it : field->required);
}

static json_t *verb_schema(const struct hs_api_verb_row *verb)
{
	json_t *object = json_pack("{s:s, s:s, s:{}, s:[], s:b}", "type", "object", "description",
			verb->help, "properties", "required", "additionalProperties", 0);

	for (size_t i = 0; i < verb->n_fields; i++)
		add(object, verb->fields[i].name, value_of(&verb->fields[i]), verb->fields[i].help,
				verb->fields[i].required);
	for (size_t i = 0; i < hs_rule_n_fields && verb->content != HS_API_FIELDS; i++)
		add_rule_field(object, &hs_rule_fields[i], verb->content == HS_API_UPDATE);
	if (verb->content == HS_API_RULE)
		json_object_set_new(
				json_object_get(object, "properties"), "on", hs_schema_shape(ON));
	return object;
}

// A rule as replies show it: at a controller with its place and its state at each node.
static json_t *rule_schema(void)
{
	json_t *rule = verb_schema(&hs_api_verbs[HS_VERB_INT_REQUEST]);

	json_object_set_new(rule, "description", json_string("a rule in a reply"));
	json_object_set_new(json_object_get(rule, "properties"), "nodes",
			hs_schema_shape("{'type': 'object', 'additionalProperties': "
					"{'type': 'string'}, 'description': "
					"'at a controller: the state of the rule at each node'}"));
	return rule;
}

// One verb and the members beside it.
static json_t *envelope(const char *beside, bool changes_only)
{
	json_t *properties = hs_schema_shape(beside), *one = json_array();

	for (size_t i = 0; i < HS_VERB_COUNT; i++) {
		const struct hs_api_verb_row *verb = &hs_api_verbs[i];
		if (changes_only && !verb->changes)
			continue;
		json_object_set_new(properties, verb->name,
				json_pack("{s:s+}", "$ref", "#/$defs/", verb->name));
		json_array_append_new(one, json_pack("{s:[s]}", "required", verb->name));
	}
	return json_pack("{s:s, s:o, s:o, s:b}", "type", "object", "properties", properties,
			"oneOf", one, "additionalProperties", 0);
}

static json_t *transaction(void)
{
	json_t *properties = hs_schema_shape(BESIDE);

	json_object_set_new(properties, "transaction",
			hs_schema_shape("{'type': 'array', 'maxItems': 10000, 'items': {'$ref': "
					"'#/$defs/item'}}"));
	return json_pack("{s:s, s:o, s:[s], s:b}", "type", "object", "properties", properties,
			"required", "transaction", "additionalProperties", 0);
}

json_t *hs_api_schema(void)
{
	json_t *defs = json_object();

	json_object_set_new(defs, "request", envelope(BESIDE, false));
	json_object_set_new(defs, "item", envelope(BESIDE_ITEM, false));
	json_object_set_new(defs, "change", envelope(BESIDE_ITEM, true));
	json_object_set_new(defs, "transaction", transaction());
	json_object_set_new(defs, "rule", rule_schema());
	for (size_t i = 0; i < HS_VERB_COUNT; i++)
		json_object_set_new(defs, hs_api_verbs[i].name, verb_schema(&hs_api_verbs[i]));
	return json_pack("{s:o, s:o}", "anyOf", hs_schema_shape(MESSAGE), "$defs", defs);
}

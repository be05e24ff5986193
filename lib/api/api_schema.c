// SPDX-License-Identifier: BSD-3-Clause
// JSON Schema of requests, from the tables that read them.
#include "api_schema.h"

#include "api_envelope.h"
#include "api_verbs.h"

#include <stdio.h>
#include <string.h>

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

static json_t *verb_schema(enum hs_api_verb verb)
{
	struct hs_schema_field of_rule[HS_RULE_ROWS + 1];
	json_t *object = json_pack(
			"{s:s, s:s}", "type", "object", "description", hs_api_verbs[verb].help);
	json_t *fields = hs_schema_describe(hs_api_verb_fields(verb, of_rule));

	json_object_update(object, fields);
	json_decref(fields);
	if (verb == HS_VERB_INT_REQUEST)
		json_object_set_new(
				json_object_get(object, "properties"), "on", hs_schema_shape(ON));
	return object;
}

// Returns the schema of a rule as replies show it: at a controller with its place and its state at
// each node.
static json_t *rule_schema(void)
{
	json_t *rule = verb_schema(HS_VERB_INT_REQUEST);

	json_object_set_new(rule, "description", json_string("a rule in a reply"));
	json_array_insert_new(json_object_get(rule, "required"), 0, json_string("ns_id"));
	json_object_set_new(json_object_get(rule, "properties"), "nodes",
			hs_schema_shape("{'type': 'object', 'additionalProperties': "
					"{'type': 'string'}, 'description': "
					"'at a controller: the state of the rule at each node'}"));
	return rule;
}

// Returns the schemas of the members beside a verb, up to and including the one named `last`.
static json_t *members_to(const char *last)
{
	const struct hs_schema_field *member = hs_api_members;
	json_t *properties = json_object();

	for (bool more = true; more; member++) {
		json_t *value = hs_schema_describe_value(member);
		json_object_set_new(value, "description", json_string(member->help));
		json_object_set_new(properties, member->key, value);
		more = strcmp(member->key, last) != 0;
	}
	return properties;
}

// Returns the schema of one verb and the members beside it.
static json_t *envelope(const char *last, bool changes_only)
{
	json_t *properties = members_to(last), *one = json_array();

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
	return json_pack("{s:s, s:o, s:[s], s:b}", "type", "object", "properties",
			members_to("transaction"), "required", "transaction",
			"additionalProperties", 0);
}

json_t *hs_api_schema(void)
{
	json_t *defs = json_object();

	json_object_set_new(defs, "request", envelope("if_generation", false));
	json_object_set_new(defs, "item", envelope("id", false));
	json_object_set_new(defs, "change", envelope("id", true));
	json_object_set_new(defs, "transaction", transaction());
	json_object_set_new(defs, "rule", rule_schema());
	for (size_t i = 0; i < HS_VERB_COUNT; i++)
		json_object_set_new(defs, hs_api_verbs[i].name, verb_schema((enum hs_api_verb)i));
	return json_pack("{s:o, s:o}", "anyOf", hs_schema_shape(MESSAGE), "$defs", defs);
}

// ---- replies ----

#define ID_OF_REPLY "'id': {'type': ['string', 'integer'], 'description': 'as in the request'}"
#define GRANTED                                                                                    \
	"{'type': 'object', 'properties': {" ID_OF_REPLY ", 'ok': {'type': ['object', 'array'], "  \
	"'description': 'of a list: a list of results'}, 'generation': {'type': 'integer', "       \
	"'minimum': 0, 'description': 'changes of rules and routes so far'}}, "                    \
	"'required': ['ok', 'generation'], 'additionalProperties': false}"
#define DRY_RUN                                                                                    \
	"{'type': 'object', 'properties': {'dry_run': {'const': true, 'description': "             \
	"'the request was only checked'}}, 'required': ['dry_run'], 'additionalProperties': "      \
	"false}"

// Returns the schema of a reply that a controller gathers from its nodes.
static json_t *gathered_schema(const struct hs_schema_field *fields, const char *verb)
{
	json_t *gathered = hs_schema_describe_printed(fields);

	json_object_set_new(json_object_get(gathered, "properties"), "nodes",
			json_pack("{s:s, s:{s:s+}, s:s}", "type", "object", "additionalProperties",
					"$ref", "#/$defs/", verb, "description",
					"the nodes' answers, by name"));
	json_array_append_new(json_object_get(gathered, "required"), json_string("nodes"));
	return gathered;
}

// Returns the schema of a reply. If programs print it from different tables, the schema is a list
// with one schema for each table, titled with the program's name.
static json_t *reply_schema(const struct hs_schema_field *const tables[HS_API_PROGRAMS])
{
	static const char *const titles[HS_API_PROGRAMS] = {
			"At a node", "At a controller", "At a collector"};
	json_t *any = json_array(), *one;

	for (size_t i = 0; i < HS_API_PROGRAMS; i++) {
		size_t same = 0;
		while (tables[same] != tables[i])
			same++;
		if (!tables[i] || same < i)
			continue;
		one = hs_schema_describe_printed(tables[i]);
		json_object_set_new(one, "title", json_string(titles[i]));
		json_array_append_new(any, one);
	}
	if (json_array_size(any) > 1)
		return json_pack("{s:o}", "anyOf", any);
	one = json_incref(json_array_get(any, 0));
	json_object_del(one, "title");
	json_decref(any);
	return one;
}

static void describe_reply(json_t *defs, const char *verb,
		const struct hs_schema_field *tables[HS_API_PROGRAMS],
		const struct hs_schema_field *gathered)
{
	char name[64];

	if (tables[HS_API_CONTROLLER] == gathered) {
		snprintf(name, sizeof(name), "nodes_%s", verb);
		json_object_set_new(defs, name, gathered_schema(gathered, verb));
		tables[HS_API_CONTROLLER] = NULL;
	}
	json_object_set_new(defs, verb, reply_schema(tables));
}

json_t *hs_api_reply_schema(hs_api_reply_fields *const programs[HS_API_PROGRAMS])
{
	const struct hs_schema_field *gathered = programs[HS_API_CONTROLLER](HS_VERB_AUDIT);
	json_t *defs = json_object();

	for (enum hs_api_verb i = 0; i < HS_VERB_COUNT; i++) {
		const struct hs_schema_field *tables[HS_API_PROGRAMS];
		for (size_t j = 0; j < HS_API_PROGRAMS; j++)
			tables[j] = programs[j](i);
		describe_reply(defs, hs_api_verbs[i].name, tables, gathered);
	}
	json_object_set_new(defs, "dry_run", hs_schema_shape(DRY_RUN));
	return json_pack("{s:[o, o], s:o}", "oneOf", hs_schema_shape(GRANTED),
			hs_schema_describe_printed(hs_api_refusal_fields), "$defs", defs);
}

// SPDX-License-Identifier: BSD-3-Clause
// JSON Schema of the fields of a rule.
#include "rule_field.h"

#include "config_partial.h"
#include "rule_fields.h"

// The table has no bounds for a setting: they depend on the mode.
#define SETTING_SHAPE "{'type': 'number', 'exclusiveMinimum': 0, 'maximum': 4294967295}"
#define TRACE_SHAPE   "{'type': 'string', 'pattern': '^0[xX][0-9A-Fa-f]{1,8}$'}"
#define ADDRESS_SHAPE "{'type': 'string', 'format': 'ipv6'}"

json_t *hs_rule_field_schema(const struct hs_rule_field *field)
{
	switch (field->kind) {
	case HS_RULE_NUMBER:
		return json_pack("{s:s, s:I, s:I}", "type", "integer", "minimum",
				(json_int_t)field->min, "maximum", (json_int_t)field->max);
	case HS_RULE_SETTING:
		return hs_schema_shape(SETTING_SHAPE);
	case HS_RULE_ADDRESS:
		return hs_schema_shape(ADDRESS_SHAPE);
	case HS_RULE_PROTOCOL:
	case HS_RULE_MODE:
		return hs_schema_describe_words(hs_rule_field_words(field));
	case HS_RULE_TRACE:
		return hs_schema_shape(TRACE_SHAPE);
	case HS_RULE_SWITCH:
		return json_pack("{s:s}", "type", "boolean");
	case HS_RULE_FIELDS:
		return hs_schema_describe(hs_partial_fields);
	case HS_RULE_OWNER:
		return json_pack("{s:s, s:i, s:i}", "type", "string", "minLength", 1, "maxLength",
				HS_RULE_OWNER_BYTES - 1);
	}
	return NULL;
}

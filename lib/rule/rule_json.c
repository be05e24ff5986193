// SPDX-License-Identifier: BSD-3-Clause
#include "rule_json.h"

#include "rule_field.h"

#include <errno.h>
#include <string.h>

// Checks which rows are given, which a table cannot express: the required and the forbidden rows
// depend on the method.
static int check_given(const json_t *object, const struct hs_rule *rule, struct hs_error *err)
{
	static const unsigned rows[] = {
			HS_RULE_TRACE_TYPE, HS_RULE_INSTRUCTIONS, HS_RULE_INSTRUCTION_BITMAP};
	static const unsigned allowed[] = {[HS_RULE_FLEXINT] = 1u << 0,
			[HS_RULE_INT] = 1u << 1 | 1u << 2,
			[HS_RULE_LABEL] = 0};
	unsigned wanted = rule->method == HS_RULE_FLEXINT ? 0 : 1;
	bool given[3], needs = rule->method != HS_RULE_LABEL;

	for (unsigned i = 0; i < 3; i++)
		given[i] = json_object_get(object, hs_rule_fields[rows[i]].key);
	for (unsigned i = 0; i < 3; i++) {
		const struct hs_schema_field *field = &hs_rule_fields[rows[i]];
		if (given[i] && !(allowed[rule->method] >> i & 1))
			return hs_error_set(err, "conflict", field->key,
					needs ? hs_rule_fields[rows[wanted]].key : "none",
					"%s: method %s has none", field->key,
					hs_rule_method_name(rule->method));
	}
	if (given[1] && given[2])
		return hs_error_set(err, "conflict", hs_rule_fields[rows[2]].key, "one of the two",
				"instruction_bitmap stands beside instructions");
	if (needs && !given[wanted] && !given[2])
		return hs_error_set(err, "missing_field", hs_rule_fields[rows[wanted]].key,
				hs_rule_fields[rows[wanted]].allowed, "%s is missing",
				hs_rule_fields[rows[wanted]].key);
	return 0;
}

// Names are separated by single spaces, because otherwise not all would fit.
const struct hs_schema_style hs_rule_style = {" is missing", " is not a known field", " "};
const struct hs_schema_style hs_rule_update_style = {
		" is missing", " cannot be changed by an update", " "};

int hs_rule_from_json(const json_t *object, struct hs_rule *rule, struct hs_error *err)
{
	struct hs_rule parsed;

	hs_rule_init(&parsed);
	int rc = hs_schema_read_as(
			&hs_rule_style, hs_rule_fields, (json_t *)object, "", &parsed, err);
	if (rc == 0)
		rc = check_given(object, &parsed, err);
	if (parsed.method == HS_RULE_LABEL)
		parsed.trace_type = HS_RULE_TRACE_LABEL;
	if (rc == 0)
		rc = hs_rule_check(&parsed, err);
	if (rc == 0)
		*rule = parsed;
	return rc;
}

static int refuse_none(const struct hs_schema_field *fields, struct hs_error *err)
{
	char keys[sizeof(err->expected)];

	hs_schema_list_keys(&hs_rule_update_style, fields, keys, sizeof(keys));
	return hs_error_set(err, "missing_field", "", keys, "the update changes nothing");
}

int hs_rule_update_from_json(const json_t *object, uint32_t *ns_id, struct hs_rule_update *update,
		struct hs_error *err)
{
	struct hs_schema_field fields[HS_RULE_ROWS + 1];
	uint32_t given = 0;

	hs_rule_update_fields(fields);
	memset(update, 0, sizeof(*update));
	int rc = hs_schema_read_as(
			&hs_rule_update_style, fields, (json_t *)object, "", &update->to, err);
	*ns_id = update->to.ns_id;
	if (rc)
		return rc;
	for (unsigned row = 0; row < HS_RULE_ROWS; row++) {
		const json_t *json = json_object_get(object, hs_rule_fields[row].key);
		given |= json ? UINT32_C(1) << row : 0;
		update->back |= json_is_null(json) ? UINT32_C(1) << row : 0;
	}
	// `fields: null` stands for the node's configuration, for rules of any origin.
	update->rows = given & HS_RULE_CHANGEABLE & ~(update->back & ~HS_RULE_BIT(FIELDS));
	// The old setting had another unit: packets, milliseconds or percent.
	if (update->rows & HS_RULE_BIT(MODE) && !(update->rows & HS_RULE_BIT(MODE_SETTING)))
		return hs_error_set(err, "missing_field", "mode_setting",
				hs_rule_fields[HS_RULE_MODE_SETTING].allowed,
				"mode_setting is missing");
	return given & (HS_RULE_CHANGEABLE | HS_RULE_LABELS) ? 0 : refuse_none(fields, err);
}

json_t *hs_rule_to_json(const struct hs_rule *rule)
{
	return hs_schema_print(hs_rule_fields, rule);
}

json_t *hs_rule_rows_to_json(const struct hs_rule *rule, uint32_t rows)
{
	json_t *object = json_object();

	for (unsigned row = 0; row < HS_RULE_ROWS; row++) {
		json_t *value = rows >> row & 1 ? hs_schema_print_value(&hs_rule_fields[row], rule)
						: NULL;
		if (value)
			json_object_set_new(object, hs_rule_fields[row].key, value);
	}
	return object;
}

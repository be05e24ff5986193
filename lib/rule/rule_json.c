// SPDX-License-Identifier: BSD-3-Clause
#include "rule_json.h"

#include "config_partial.h"
#include "rule_field.h"
#include "rule_fields.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static struct hs_rule_value value_of(const json_t *json)
{
	struct hs_rule_value value = {.type = HS_VALUE_OTHER};

	switch (json_typeof(json)) {
	case JSON_INTEGER: {
		json_int_t integer = json_integer_value(json);
		value.type = HS_VALUE_INTEGER;
		value.negative = integer < 0;
		value.magnitude = integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer;
		break;
	}
	case JSON_REAL:
		value.type = HS_VALUE_REAL;
		value.real = json_real_value(json);
		break;
	case JSON_STRING:
		value.type = HS_VALUE_TEXT;
		value.text = json_string_value(json);
		value.len = json_string_length(json);
		break;
	case JSON_TRUE:
	case JSON_FALSE:
		value.type = HS_VALUE_BOOL;
		value.boolean = json_is_true(json);
		break;
	default:
		break;
	}
	return value;
}

void hs_rule_json_path(char *path, size_t size, const char *name)
{
	int used = snprintf(path, size, "%.80s", name);
	for (int i = 0; i < used && (size_t)i < size; i++)
		if ((unsigned char)path[i] < 0x20 || path[i] == 0x7f)
			path[i] = '?';
}

static bool is_member(const struct hs_rule_field *field, bool updates)
{
	return field &&
	       (!updates || field->update_has || field->label || strcmp(field->name, "ns_id") == 0);
}

// Lists the names for "expected", with single spaces, because otherwise they would not all fit.
static void list_names(char *text, size_t size, bool updates)
{
	size_t used = 0;

	text[0] = '\0';
	for (size_t i = 0; i < hs_rule_n_fields && used < size; i++)
		if (is_member(&hs_rule_fields[i], updates))
			used += (size_t)snprintf(text + used, size - used, "%s%s", used ? " " : "",
					hs_rule_fields[i].name);
}

static int refuse_unknown(const json_t *object, bool updates, struct hs_error *err)
{
	const char *key;
	json_t *value;
	json_object_foreach ((json_t *)object, key, value) {
		char path[100], expected[sizeof(err->expected)];
		const struct hs_rule_field *field = hs_rule_field_find(key, strlen(key));
		if (is_member(field, updates))
			continue;
		hs_rule_json_path(path, sizeof(path), key);
		list_names(expected, sizeof(expected), updates);
		return hs_error_set(err, "unknown_field", path, expected,
				field ? "%s cannot be changed by an update"
				      : "%s is not a known field",
				path);
	}
	return 0;
}

static int refuse_missing(const struct hs_rule_field *field, struct hs_error *err)
{
	return hs_error_set(err, "missing_field", field->name, field->allowed, "%s is missing",
			field->name);
}

static int refuse_non_object(const json_t *object, struct hs_error *err)
{
	if (json_is_object(object))
		return 0;
	return hs_error_set(err, "wrong_type", "", "an object", "the value is not an object");
}

static int read_fields(const json_t *json, uint32_t *fields, struct hs_error *err)
{
	struct hs_partial partial;

	memset(&partial, 0, sizeof(partial));
	int rc = hs_config_read_partial((json_t *)json, "fields", &partial, err);
	if (rc < 0)
		return rc;
	*fields = hs_rule_fields_number(&partial);
	if (*fields)
		return 0;
	return hs_error_set(err, "too_large", "fields", "at most 65535 different ones",
			"fields: there have been as many different ones as may");
}

static int read_value(const struct hs_rule_field *field, const json_t *json, struct hs_rule *rule,
		struct hs_error *err)
{
	struct hs_rule_value value = value_of(json);

	if (field->kind == HS_RULE_FIELDS)
		return read_fields(json, &rule->fields, err);
	return hs_rule_field_set(field, &value, rule, err);
}

int hs_rule_from_json(const json_t *object, struct hs_rule *rule, struct hs_error *err)
{
	struct hs_rule parsed;
	int rc = refuse_non_object(object, err);

	if (rc == 0)
		rc = refuse_unknown(object, false, err);
	hs_rule_init(&parsed);
	for (size_t i = 0; i < hs_rule_n_fields && rc == 0; i++) {
		const struct hs_rule_field *field = &hs_rule_fields[i];
		const json_t *json = json_object_get(object, field->name);
		if (json) {
			rc = read_value(field, json, &parsed, err);
		} else if (field->required) {
			rc = refuse_missing(field, err);
		}
	}
	if (rc == 0)
		rc = hs_rule_check(&parsed, err);
	if (rc == 0)
		*rule = parsed;
	return rc;
}

int hs_rule_update_from_json(const json_t *object, uint32_t *ns_id, struct hs_rule_update *update,
		struct hs_error *err)
{
	struct hs_rule parsed = {0};
	unsigned changes = 0;
	int rc = refuse_non_object(object, err);

	if (rc == 0)
		rc = refuse_unknown(object, true, err);
	memset(update, 0, sizeof(*update));
	for (size_t i = 0; i < hs_rule_n_fields && rc == 0; i++) {
		const struct hs_rule_field *field = &hs_rule_fields[i];
		const json_t *json = json_object_get(object, field->name);
		if (!json) {
			if (strcmp(field->name, "ns_id") == 0)
				rc = refuse_missing(field, err);
			continue;
		}
		if (json_is_null(json) && field->update_has) {
			update->back |= UINT32_C(1) << i;
			// The configuration is below these, whoever gave the rule.
			update->has_fields |= field->kind == HS_RULE_FIELDS;
			changes++;
			continue;
		}
		rc = read_value(field, json, &parsed, err);
		if (rc == 0 && (field->update_has || field->label)) {
			hs_rule_update_take(update, &parsed, UINT32_C(1) << i);
			changes++;
		}
	}
	update->owner = parsed.owner;
	update->revision = parsed.revision;
	// The old setting had another unit: packets, milliseconds or percent.
	if (rc == 0 && update->has_mode && !update->has_mode_setting)
		rc = refuse_missing(
				hs_rule_field_find("mode_setting", strlen("mode_setting")), err);
	if (rc == 0 && changes == 0) {
		char expected[sizeof(err->expected)];
		list_names(expected, sizeof(expected), true);
		rc = hs_error_set(err, "missing_field", "", expected, "the update changes nothing");
	}
	*ns_id = parsed.ns_id;
	return rc;
}

static json_t *setting_to_json(double setting)
{
	if (floor(setting) == setting && fabs(setting) < 9e15)
		return json_integer((json_int_t)setting);
	return json_real(setting);
}

static json_t *field_to_json(const struct hs_rule_field *field, const struct hs_rule *rule)
{
	char text[HS_RULE_TEXT_BYTES];

	switch (field->kind) {
	case HS_RULE_NUMBER:
		return json_integer((json_int_t)hs_rule_field_number(field, rule));
	case HS_RULE_SETTING:
		return setting_to_json(rule->mode_setting);
	case HS_RULE_SWITCH:
		return json_boolean(hs_rule_field_switch(field, rule));
	case HS_RULE_FIELDS:
		return hs_config_print_partial(hs_rule_fields_of(rule->fields));
	default:
		hs_rule_field_text(field, rule, text);
		return json_string(text);
	}
}

json_t *hs_rule_to_json(const struct hs_rule *rule)
{
	return hs_rule_rows_to_json(rule, UINT32_MAX);
}

static bool is_left_out(const struct hs_rule_field *field, const struct hs_rule *rule)
{
	static const char none[sizeof(uint64_t)];

	return (field->kind == HS_RULE_FIELDS || field->label) &&
	       memcmp((const char *)rule + field->offset, none, field->bytes) == 0;
}

json_t *hs_rule_rows_to_json(const struct hs_rule *rule, uint32_t rows)
{
	json_t *object = json_object();
	for (size_t i = 0; object && i < hs_rule_n_fields; i++) {
		const struct hs_rule_field *field = &hs_rule_fields[i];
		if (!(rows >> i & 1) || is_left_out(field, rule))
			continue;
		// Takes ownership of the value. A NULL value fails as well.
		if (json_object_set_new(object, field->name, field_to_json(field, rule))) {
			json_decref(object);
			return NULL;
		}
	}
	return object;
}

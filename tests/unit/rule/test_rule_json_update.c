// SPDX-License-Identifier: BSD-3-Clause
// What an update says; owner and revision; fields that a rule has itself.
#include "rule_text.h"

#include <string.h>

static void an_update_holds_exactly_what_was_sent(void **state)
{
	struct hs_rule_update update,
			expected = {.rows = HS_RULE_BIT(MODE) | HS_RULE_BIT(MODE_SETTING) |
					    HS_RULE_BIT(EXTRACT_REPORT) | HS_RULE_BIT(HOP_ENABLED),
					.to.ns_id = 9,
					.to.extract_report = true,
					.to.mode = HS_MODE_FREQUENCY,
					.to.mode_setting = 2.5};
	uint32_t ns_id;
	json_t *json = loads("{\"ns_id\": 9, \"extract_report\": true, \"hop_enabled\": false,"
			     "\"mode\": \"frequency\", \"mode_setting\": 2.5}");
	(void)state;
	assert_int_equal(hs_rule_update_from_json(json, &ns_id, &update, NULL), 0);
	assert_int_equal(ns_id, 9);
	assert_memory_equal(&update, &expected, sizeof(update));
	json_decref(json);
}

static struct hs_rule labelled(const char *owner, json_int_t revision)
{
	struct hs_rule rule;
	json_t *json = loads(listing1);

	json_object_set_new(json, "owner", json_string(owner));
	json_object_set_new(json, "revision", json_integer(revision));
	assert_int_equal(hs_rule_from_json(json, &rule, NULL), 0);
	json_decref(json);
	return rule;
}

static void owner_and_revision_are_written_if_there_are_any(void **state)
{
	struct hs_rule rule = labelled("1234567890123456789012345678901", 9007199254740991);
	struct hs_rule again, plain = labelled("a", 1), same = labelled("a", 1);
	json_t *out = hs_rule_to_json(&rule);

	(void)state;
	assert_string_equal(json_string_value(json_object_get(out, "owner")),
			"1234567890123456789012345678901");
	assert_int_equal(json_integer_value(json_object_get(out, "revision")), 9007199254740991);
	assert_int_equal(hs_rule_from_json(out, &again, NULL), 0);
	assert_memory_equal(&again, &rule, sizeof(rule));
	json_decref(out);
	assert_memory_equal(&plain, &same, sizeof(plain));
	assert_int_not_equal(plain.owner, rule.owner);

	plain.owner = 0;
	plain.revision = 0;
	out = hs_rule_to_json(&plain);
	assert_null(json_object_get(out, "owner"));
	assert_null(json_object_get(out, "revision"));
	json_decref(out);
}

static void an_update_takes_the_owner_along_or_removes_it(void **state)
{
	static const struct {
		const char *text;
		bool owned;
		uint64_t revision;
	} cases[] = {
			{"{\"ns_id\": 9, \"hop_enabled\": true, \"owner\": \"b\", \"revision\": 8}",
					true, 8},
			{"{\"ns_id\": 9, \"owner\": \"b\"}", true, 0},
			{"{\"ns_id\": 9, \"hop_enabled\": true}", false, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_rule rule = labelled("a", 7), other = labelled("b", 8);
		struct hs_rule_update update;
		uint32_t ns_id;
		json_t *json = loads(cases[i].text);
		assert_int_equal(hs_rule_update_from_json(json, &ns_id, &update, NULL), 0);
		assert_int_equal(hs_rule_apply(&rule, &update, NULL), 0);
		assert_int_equal(rule.owner, cases[i].owned ? other.owner : 0);
		assert_int_equal(rule.revision, cases[i].revision);
		json_decref(json);
	}
}

static void a_revision_without_an_owner_is_refused(void **state)
{
	struct hs_rule rule = labelled("a", 7), before = rule;
	struct hs_rule_update update;
	struct hs_error err = {0};
	uint32_t ns_id;
	json_t *json = loads("{\"ns_id\": 9, \"revision\": 8}");

	(void)state;
	assert_int_equal(hs_rule_update_from_json(json, &ns_id, &update, &err), 0);
	assert_int_not_equal(hs_rule_apply(&rule, &update, &err), 0);
	assert_string_equal(err.code, "missing_field");
	assert_string_equal(err.path, "owner");
	assert_memory_equal(&rule, &before, sizeof(rule));
	json_decref(json);
}

static void an_update_is_refused_where_it_names_nothing_or_too_much(void **state)
{
	static const struct {
		const char *text, *code, *path;
	} cases[] = {
			{"{\"hop_enabled\": true}", "missing_field", "ns_id"},
			{"{\"ns_id\": 9}", "missing_field", ""},
			{"{\"ns_id\": 9, \"src_ip\": \"::1\"}", "unknown_field", "src_ip"},
			{"{\"ns_id\": 9, \"hop\": true}", "unknown_field", "hop"},
			{"{\"ns_id\": 9, \"app_id\": 1}", "unknown_field", "app_id"},
			{"{\"ns_id\": 9, \"hop_enabled\": 1}", "wrong_type", "hop_enabled"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_rule_update update;
		struct hs_error err = {0};
		uint32_t ns_id;
		json_t *json = loads(cases[i].text);
		assert_int_not_equal(hs_rule_update_from_json(json, &ns_id, &update, &err), 0);
		assert_string_equal(err.code, cases[i].code);
		assert_string_equal(err.path, cases[i].path);
		json_decref(json);
	}
}

// ---- fields of its own ----

static int read_with_fields(const char *fields, struct hs_rule *rule, struct hs_error *err)
{
	json_t *json = loads(listing1);
	json_object_set_new(json, "fields", loads(fields));
	int rc = hs_rule_from_json(json, rule, err);
	json_decref(json);
	return rc;
}

static void fields_are_read_and_written_as_the_configuration_has_them(void **state)
{
	static const char text[] = "{\"packets\": {\"probability_percent\": 12.5},"
				   "\"timestamp\": {\"max_age_ms\": 20, \"min_change\": 5},"
				   "\"bytes\": {\"supported\": false}}";
	static const char shown[] =
			"{\"packets\": {\"supported\": true, \"probability_percent\": "
			"12.5}, \"timestamp\": {\"supported\": true, \"min_change\": 5, "
			"\"max_age_ms\": 20}, \"bytes\": {\"supported\": false}}";
	struct hs_rule rule, again;
	struct hs_error err = {0};
	(void)state;
	assert_int_equal(read_with_fields(text, &rule, &err), 0);
	json_t *out = hs_rule_to_json(&rule), *expected = loads(shown);
	assert_true(json_equal(json_object_get(out, "fields"), expected));
	// Equal ones are equal as bytes.
	assert_int_equal(hs_rule_from_json(out, &again, &err), 0);
	assert_memory_equal(&rule, &again, sizeof(rule));
	json_decref(out);
	json_decref(expected);
	assert_int_equal(read_with_fields("{}", &again, &err), 0);
	assert_int_not_equal(rule.fields, again.fields);
	assert_int_not_equal(again.fields, 0);
}

static void an_error_in_fields_names_the_field_and_what_was_allowed(void **state)
{
	static const struct {
		const char *fields, *code, *path, *expected;
	} cases[] = {
			{"7", "wrong_type", "fields", "object"},
			{"{\"delay\": {}}", "unknown_field", "fields.delay", "packets"},
			{"{\"packets\": {\"probability_percent\": 101}}", "out_of_range",
					"fields.packets.probability_percent", "100"},
			{"{\"bytes\": {\"max_age_ms\": 0}}", "out_of_range",
					"fields.bytes.max_age_ms", "1"},
			{"{\"bytes\": {\"supported\": false, \"min_change\": 1}}", "conflict",
					"fields.bytes.supported", "true"},
			{"{\"timestamp\": {\"probability_percent\": 1, \"min_change\": 1}}",
					"conflict", "fields.timestamp.probability_percent",
					"a threshold"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_rule rule;
		struct hs_error err = {0};
		assert_int_not_equal(read_with_fields(cases[i].fields, &rule, &err), 0);
		assert_string_equal(err.code, cases[i].code);
		assert_string_equal(err.path, cases[i].path);
		if (!strstr(err.expected, cases[i].expected))
			fail_msg("%s: \"%s\"", cases[i].fields, err.expected);
	}
}

static void an_update_sets_fields_or_gives_them_back(void **state)
{
	struct hs_rule_update update;
	struct hs_error err = {0};
	uint32_t ns_id;
	(void)state;
	json_t *json = loads("{\"ns_id\": 7, \"fields\": {\"bytes\": {\"supported\": false}}}");
	assert_int_equal(hs_rule_update_from_json(json, &ns_id, &update, &err), 0);
	assert_true(update.rows == HS_RULE_BIT(FIELDS) && update.to.fields && !update.back);
	json_decref(json);
	json = loads("{\"ns_id\": 7, \"fields\": null}");
	assert_int_equal(hs_rule_update_from_json(json, &ns_id, &update, &err), 0);
	assert_true(update.rows == HS_RULE_BIT(FIELDS) && !update.to.fields && update.back);
	json_decref(json);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(an_update_holds_exactly_what_was_sent),
			cmocka_unit_test(fields_are_read_and_written_as_the_configuration_has_them),
			cmocka_unit_test(an_error_in_fields_names_the_field_and_what_was_allowed),
			cmocka_unit_test(an_update_sets_fields_or_gives_them_back),
			cmocka_unit_test(owner_and_revision_are_written_if_there_are_any),
			cmocka_unit_test(an_update_takes_the_owner_along_or_removes_it),
			cmocka_unit_test(a_revision_without_an_owner_is_refused),
			cmocka_unit_test(an_update_is_refused_where_it_names_nothing_or_too_much),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

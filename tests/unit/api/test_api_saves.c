// SPDX-License-Identifier: BSD-3-Clause
// What the API saves of changes, so that it outlives the node, and how it is replayed.
#include "fake_backend.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_saves(const char *request, const char *expected)
{
	struct fake fake;
	fake_init(&fake);
	json_t *reply = fake_ask(&fake, request);
	if (!expected) {
		assert_int_equal(fake.saves, 0);
	} else {
		assert_non_null(json_object_get(reply, "ok"));
		assert_string_equal(fake.saved, expected);
		assert_int_equal(fake.saves, 1);
		assert_int_equal(fake.runs_when_saved, 0);
		assert_true(fake.runs > 0);
	}
	assert_int_equal(fake.unsaves, 0);
	json_decref(reply);
}

static void changes_are_saved_as_they_were_asked_for_and_nothing_else(void **state)
{
	(void)state;
	assert_saves("{\"id\": 3, \"int_update\": {\"ns_id\": 5, \"hop_enabled\": false}}",
			"{\"int_update\":{\"ns_id\":5,\"hop_enabled\":false}}");
	assert_saves("{\"transaction\": [{\"hello\": {}}, {\"id\": 1, \"int_delete\": {\"ns_id\": "
		     "5}}],"
		     "\"if_generation\": 41}",
			"[{\"int_delete\":{\"ns_id\":5}}]");
	assert_saves("[{\"int_delete\": {\"ns_id\": 5}}, {\"int_request\": {\"ns_id\": 5, "
		     "\"src_ip\":"
		     "\"::1\", \"dst_ip\": \"::2\", \"protocol\": \"tcp\", \"trace_type\":"
		     "\"0x40000000\", \"mode\": \"probability\", \"mode_setting\": 0.1}}]",
			"[{\"int_delete\":{\"ns_id\":5}},{\"int_request\":{\"ns_id\":5,\"src_ip\":"
			"\"::1\",\"dst_ip\":\"::2\",\"protocol\":\"tcp\",\"trace_type\":"
			"\"0x40000000\",\"mode\":\"probability\",\"mode_setting\":0."
			"10000000000000001}}"
			"]");
	assert_saves("{\"int_list\": {}}", NULL);
	assert_saves("[{\"hello\": {}}]", NULL);
	assert_saves("[]", NULL);
	assert_saves("{\"dry_run\": true, \"int_delete\": {\"ns_id\": 5}}", NULL);
	assert_saves("[{\"int_delete\": {\"ns_id\": 5}}, {\"int_delete\": {\"ns_id\": 5}}]", NULL);
}

static void a_change_that_cannot_be_saved_is_not_made(void **state)
{
	struct fake fake, before;
	(void)state;
	fake_init(&fake);
	fake.no_save = true;
	before = fake;
	json_t *reply = fake_ask(&fake, "{\"int_delete\": {\"ns_id\": 5}}");
	assert_string_equal(fake_error(reply, "code"), "not_saved");
	assert_string_equal(fake_error(reply, "message"), "the disk is full");
	assert_memory_equal(&fake, &before, sizeof(fake)); // nothing ran, so nothing was taken back
	json_decref(reply);
	reply = fake_ask(&fake, "{\"int_list\": {}}");
	assert_non_null(json_object_get(reply, "ok"));
	json_decref(reply);
}

static void what_was_saved_and_could_not_be_run_is_unsaved(void **state)
{
	struct fake fake;
	(void)state;
	fake_init(&fake);
	fake.fail_at = 2;
	json_t *reply = fake_ask(&fake, "[{\"int_update\": {\"ns_id\": 5, \"hop_enabled\": false}},"
					"{\"int_delete\": {\"ns_id\": 5}}]");
	assert_string_equal(fake_error(reply, "code"), "internal");
	assert_int_equal(fake.saves, 1);
	assert_int_equal(fake.unsaves, 1);
	json_decref(reply);
	fake_init(&fake);
	fake.fail_at = 1;
	json_decref(fake_ask(&fake, "{\"int_list\": {}}"));
	assert_int_equal(fake.unsaves, 0);
}

static void what_a_node_says_of_a_rule_that_gives_way_is_saved_and_its_removal_is_not(void **state)
{
	struct fake fake;
	char text[512];
	(void)state;
	fake_init(&fake);
	fake.learned = 5;
	json_decref(fake_ask(&fake, "{\"int_update\": {\"ns_id\": 5, \"hop_enabled\": false}}"));
	assert_int_equal(fake.saves, 1);
	fake_init(&fake);
	fake.learned = 5;
	json_decref(fake_ask(&fake, "{\"int_delete\": {\"ns_id\": 5}}"));
	assert_int_equal(fake.saves, 0);
	// What takes its place stays.
	fake_init(&fake);
	fake.learned = 5;
	snprintf(text, sizeof(text), FAKE_RULE, 5);
	json_decref(fake_ask(&fake, text));
	assert_int_equal(fake.saves, 1);
}

static void only_what_came_in_band_can_be_given_back(void **state)
{
	struct fake fake;
	(void)state;
	fake_init(&fake);
	json_t *reply = fake_ask(
			&fake, "{\"int_update\": {\"ns_id\": 5, \"transmit_report\": null}}");
	assert_string_equal(fake_error(reply, "code"), "not_in_band");
	assert_string_equal(fake_error(reply, "path"), "int_update.transmit_report");
	json_decref(reply);
	fake.learned = 5;
	reply = fake_ask(&fake, "{\"int_update\": {\"ns_id\": 5, \"transmit_report\": null}}");
	assert_non_null(json_object_get(reply, "ok"));
	json_decref(reply);
}

static void a_rule_that_gives_way_is_never_put_back_as_one_that_was_asked_for(void **state)
{
	struct fake fake;
	(void)state;
	fake_init(&fake);
	fake.learned = 5;
	fake.fail_at = 2;
	json_t *reply = fake_ask(&fake, "[{\"int_delete\": {\"ns_id\": 5}}, {\"int_list\": {}}]");
	assert_non_null(json_object_get(reply, "error"));
	assert_null(strstr(fake_error(reply, "message"), "taken back"));
	assert_int_equal(fake.runs, 2);
	assert_int_equal(fake.n_rules, 0);
	json_decref(reply);
	// Unlike others.
	fake_init(&fake);
	fake.fail_at = 2;
	json_decref(fake_ask(&fake, "[{\"int_delete\": {\"ns_id\": 5}}, {\"int_list\": {}}]"));
	assert_int_equal(fake.n_rules, 1);
}

static bool is_not_eight(void *context, const struct hs_api_args *args)
{
	++*(unsigned *)context;
	return args->ns_id != 8;
}

static int replay(struct fake *fake, const char *changes, unsigned *asked, struct hs_error *err)
{
	struct hs_api_backend backend = fake_backend(fake);
	json_t *json = json_loads(changes, 0, NULL);
	assert_non_null(json);
	*err = (struct hs_error){0};
	*asked = 0;
	int rc = hs_api_replay(&backend, json, is_not_eight, asked, err);
	json_decref(json);
	return rc;
}

static void a_replay_runs_what_is_wanted_and_saves_nothing(void **state)
{
	struct fake fake;
	struct hs_error err;
	unsigned asked;
	char list[1024];
	(void)state;
	fake_init(&fake);
	assert_int_equal(replay(&fake, "{\"int_delete\": {\"ns_id\": 5}}", &asked, &err), 0);
	assert_int_equal(fake.n_rules, 0);
	int n = snprintf(list, sizeof(list), "[");
	n += snprintf(list + n, sizeof(list) - (size_t)n, FAKE_RULE, 8);
	n += snprintf(list + n, sizeof(list) - (size_t)n, ",");
	n += snprintf(list + n, sizeof(list) - (size_t)n, FAKE_RULE, 9);
	snprintf(list + n, sizeof(list) - (size_t)n, "]");
	assert_int_equal(replay(&fake, list, &asked, &err), 0);
	assert_int_equal(asked, 2);
	assert_int_equal(fake.n_rules, 1);
	assert_int_equal(fake.rules[0].ns_id, 9);
	assert_int_equal(fake.saves, 0);
	// A change that fails while it runs is named by its place in the list.
	fake.fail_at = fake.runs + 1;
	assert_int_not_equal(replay(&fake,
					     "[{\"int_delete\": {\"ns_id\": 8}},"
					     " {\"int_delete\": {\"ns_id\": 9}}]",
					     &asked, &err),
			0);
	assert_string_equal(err.path, "[1]");
	fake.fail_at = fake.runs + 1;
	assert_int_not_equal(replay(&fake, "{\"int_delete\": {\"ns_id\": 9}}", &asked, &err), 0);
	assert_string_equal(err.path, "");
}

static void a_replay_takes_all_of_a_change_or_nothing(void **state)
{
	static const struct {
		const char *changes, *code, *path;
	} bad[] = {
			{"{\"int_delete\": {\"ns_id\": 6}}", "no_such_rule", "int_delete.ns_id"},
			{"[{\"int_delete\": {\"ns_id\": 5}}, {\"int_delete\": {\"ns_id\": 5}}]",
					"no_such_rule", "[1].int_delete.ns_id"},
			{"[{\"int_delete\": {\"ns_id\": 5}}, {\"hello\": {}}]", "unsupported",
					"[1].hello"},
			{"{\"transaction\": []}", "unknown_field", "transaction"},
			{"{\"dry_run\": true, \"int_delete\": {\"ns_id\": 5}}", "unknown_field",
					"dry_run"},
			{"[[]]", "bad_envelope", "[0]"},
			{"{}", "bad_envelope", ""},
	};
	struct fake fake, before;
	struct hs_error err;
	unsigned asked;
	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		fake_init(&fake);
		before = fake;
		assert_int_not_equal(replay(&fake, bad[i].changes, &asked, &err), 0);
		assert_string_equal(err.code, bad[i].code);
		assert_string_equal(err.path, bad[i].path);
		assert_memory_equal(&fake, &before, sizeof(fake));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(changes_are_saved_as_they_were_asked_for_and_nothing_else),
			cmocka_unit_test(a_change_that_cannot_be_saved_is_not_made),
			cmocka_unit_test(what_was_saved_and_could_not_be_run_is_unsaved),
			cmocka_unit_test(only_what_came_in_band_can_be_given_back),
			cmocka_unit_test(
					what_a_node_says_of_a_rule_that_gives_way_is_saved_and_its_removal_is_not),
			cmocka_unit_test(
					a_rule_that_gives_way_is_never_put_back_as_one_that_was_asked_for),
			cmocka_unit_test(a_replay_runs_what_is_wanted_and_saves_nothing),
			cmocka_unit_test(a_replay_takes_all_of_a_change_or_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "api_reply.h"
#include "fake_backend.h"
#include "rule_fields.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// Each verb with a content that is right, beside it whether it changes something; a new verb has to
// be put in its class here.
static void a_reader_is_refused_what_would_change_something_and_nothing_else(void **state)
{
	static const struct {
		const char *request;
		bool changes;
	} cases[] = {
			{"{\"hello\": {}}", false},
			{"{\"int_request\": {\"ns_id\": 8, \"src_ip\": \"::1\", \"dst_ip\": "
			 "\"::2\","
			 "\"protocol\": \"tcp\", \"trace_type\": \"0x40000000\","
			 "\"mode\": \"count\", \"mode_setting\": 1}}",
					true},
			{"{\"int_update\": {\"ns_id\": 5, \"hop_enabled\": false}}", true},
			{"{\"int_delete\": {\"ns_id\": 5}}", true},
			{"{\"int_list\": {}}", false},
			{"{\"int_get\": {\"ns_id\": 5}}", false},
			{"{\"qos_get\": {}}", false},
			{"{\"route_add\": {\"prefix\": \"2001:db8::/32\", \"via\": \"::1\"}}",
					true},
			{"{\"route_delete\": {\"prefix\": \"2001:db8::/32\"}}", true},
			{"{\"route_list\": {}}", false},
			{"{\"neighbour_add\": {\"addr\": \"2001:db8::1\", \"port\": \"a\","
			 "\"mac\": \"02:00:00:00:00:01\"}}",
					true},
			{"{\"neighbour_delete\": {\"addr\": \"2001:db8::1\"}}", true},
			{"{\"neighbour_list\": {}}", false},
			{"{\"node_get\": {}}", false},
			{"{\"ports_get\": {}}", false},
			{"{\"stats_get\": {}}", false},
			{"{\"drops_get\": {}}", false},
			{"{\"events\": {}}", false},
			{"{\"audit\": {}}", false},
			{"{\"explain\": {\"ns_id\": 5}}", false},
			{"{\"label_set\": {\"ports\": [{\"id\": 2, \"shift\": 3}]}}", true},
			{"{\"label_get\": {}}", false},
			{"{\"probe_run\": {}}", true},
			{"{\"probe_status\": {}}", false},
			{"{\"probe_links\": {}}", false},
			{"{\"probe_routes\": {}}", false},
			{"{\"flow_get\": {}}", false},
			{"{\"queue_get\": {}}", false},
			{"{\"link_get\": {}}", false},
			{"{\"exporter_get\": {}}", false},
			{"{\"refused_get\": {}}", false},
	};
	static const char *const forms[] = {"%s", "[{\"hello\": {}}, %s]",
			"{\"transaction\": [{\"hello\": {}}, %s], \"dry_run\": true}"};
	char text[512];

	(void)state;
	assert_int_equal(sizeof(cases) / sizeof(cases[0]), HS_VERB_COUNT);
	for (size_t i = 0; i < HS_VERB_COUNT; i++) {
		for (size_t form = 0; form < 3; form++) {
			struct fake fake;
			fake_init(&fake);
			struct hs_api_backend backend = fake_backend(&fake);
			snprintf(text, sizeof(text), forms[form], cases[i].request);
			char *reply = hs_api_handle(&backend, text, strlen(text), false);
			json_t *json = json_loads(reply, 0, NULL);
			const char *code = fake_error(json, "code");
			bool refused = code && strcmp(code, "read_only") == 0;
			assert_int_equal(refused, cases[i].changes);
			if (refused) {
				const char *verb = hs_api_verb_name((enum hs_api_verb)i);
				const char *path = fake_error(json, "path");
				assert_non_null(strstr(path, verb));
				assert_null(strstr(fake_error(json, "expected"), verb));
				assert_int_equal(fake.runs, 0);
			}
			json_decref(json);
			free(reply);
		}
	}
}

// S of a port is no part of what is saved and counted, and goes back where a list fails.
static void shifts_of_ports_pass_without_a_trace(void **state)
{
	static const char set[] = "{\"label_set\": {\"ports\": [{\"id\": 2, \"shift\": 9}]}}";
	char list[256];
	struct fake fake;

	(void)state;
	fake_init(&fake);
	fake.shift = 4;
	json_t *reply = fake_ask(&fake, set);
	assert_int_equal(json_integer_value(json_object_get(reply, "generation")), 41);
	assert_int_equal(fake.shift, 9);
	assert_int_equal(fake.saves, 0);
	json_decref(reply);

	snprintf(list, sizeof(list),
			"[%s, {\"label_set\": {\"ports\": [{\"id\": 2, \"shift\": 1}]}}, "
			"{\"int_delete\": {\"ns_id\": 5}}]",
			set);
	fake.shift = 4;
	fake.fail_at = fake.runs + 3;
	reply = fake_ask(&fake, list);
	assert_non_null(fake_error(reply, "code"));
	assert_int_equal(fake.shift, 4);
	json_decref(reply);
}

static void lists_of_ports_are_checked(void **state)
{
	static const struct {
		const char *ports, *code, *path;
	} cases[] = {
			{"3", "wrong_type", "label_set.ports"},
			{"[]", "out_of_range", "label_set.ports"},
			{"[2]", "wrong_type", "label_set.ports[0]"},
			{"[{\"id\": 2}]", "missing_field", "label_set.ports[0].shift"},
			{"[{\"id\": 2, \"shift\": 63}]", "out_of_range",
					"label_set.ports[0].shift"},
			{"[{\"id\": 2, \"shift\": -1}]", "out_of_range",
					"label_set.ports[0].shift"},
			{"[{\"id\": 0, \"shift\": 1}]", "out_of_range", "label_set.ports[0].id"},
			{"[{\"id\": 2, \"shift\": 1, \"x\": 1}]", "unknown_field",
					"label_set.ports[0].x"},
			{"[{\"id\": 2, \"shift\": 1}, {\"id\": 2, \"shift\": 1}]", "duplicate",
					"label_set.ports[1].id"},
			{"[{\"id\": 2, \"shift\": 1}, {\"id\": 3, \"shift\": 1}]", "unknown_port",
					"label_set.ports"},
	};
	char text[256];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct fake fake;
		fake_init(&fake);
		snprintf(text, sizeof(text), "{\"label_set\": {\"ports\": %s}}", cases[i].ports);
		json_t *reply = fake_ask(&fake, text);
		assert_string_equal(fake_error(reply, "code"), cases[i].code);
		assert_string_equal(fake_error(reply, "path"), cases[i].path);
		assert_int_equal(fake.runs, 0);
		json_decref(reply);
	}
}

// What a transaction that fails half-way leaves; the changes are deletes, installs and updates.
static void a_list_that_fails_when_run_is_taken_back(void **state)
{
	static const char list[] =
			"[{\"int_update\": {\"ns_id\": 5, \"mode\": \"count\", \"mode_setting\": 9,"
			"\"hop_enabled\": false}}, {\"int_delete\": {\"ns_id\": 5}},"
			"{\"int_request\": {\"ns_id\": 8, \"src_ip\": \"::1\", \"dst_ip\": \"::2\","
			"\"protocol\": \"tcp\", \"trace_type\": \"0x40000000\", \"mode\": "
			"\"count\","
			"\"mode_setting\": 1}}, {\"int_delete\": {\"ns_id\": 8}}, {\"hello\": {}}]";
	(void)state;
	for (unsigned fail_at = 1; fail_at <= 5; fail_at++) {
		struct fake fake, before;
		char path[64];
		fake_init(&fake);
		before = fake;
		fake.fail_at = fail_at;
		json_t *reply = fake_ask(&fake, list);
		assert_string_equal(fake_error(reply, "code"), "internal");
		snprintf(path, sizeof(path), "[%u].", fail_at - 1);
		assert_memory_equal(fake_error(reply, "path"), path, strlen(path));
		assert_memory_equal(fake.rules, before.rules, sizeof(fake.rules));
		assert_int_equal(fake.n_rules, before.n_rules);
		assert_int_equal(fake.rules_free, before.rules_free);
		json_decref(reply);
	}
}

static void a_failure_of_the_node_is_an_internal_error_with_its_place(void **state)
{
	struct fake fake;
	(void)state;
	fake_init(&fake);
	fake.fail_at = 1;
	json_t *reply = fake_ask(&fake, "{\"int_delete\": {\"ns_id\": 5}, \"id\": 4}");
	assert_string_equal(fake_error(reply, "code"), "internal");
	assert_string_equal(fake_error(reply, "path"), "int_delete");
	assert_int_equal(json_integer_value(json_object_get(reply, "id")), 4);
	json_decref(reply);
}

static void a_list_may_have_ten_thousand_requests_and_no_more(void **state)
{
	struct fake fake;
	static const char update[] = "{\"int_update\":{\"ns_id\":5,\"hop_enabled\":true}},";
	size_t one = strlen(update);
	char *text = malloc((HS_API_MAX_VERBS + 1) * one + 3);
	(void)state;
	assert_non_null(text);
	for (size_t n = HS_API_MAX_VERBS; n <= HS_API_MAX_VERBS + 1; n++) {
		text[0] = '[';
		for (size_t i = 0; i < n; i++)
			memcpy(text + 1 + i * one, update, one);
		text[n * one] = ']'; // in place of the last comma
		fake_init(&fake);
		json_t *reply = fake_ask_bytes(&fake, text, n * one + 1);
		if (n == HS_API_MAX_VERBS)
			assert_int_equal(json_array_size(json_object_get(reply, "ok")), n);
		else
			assert_string_equal(fake_error(reply, "code"), "too_large");
		json_decref(reply);
	}
	free(text);
}

static void a_message_of_the_greatest_size_is_read(void **state)
{
	struct fake fake;
	char *text = malloc(HS_API_MAX_BYTES);
	(void)state;
	assert_non_null(text);
	memset(text, ' ', HS_API_MAX_BYTES);
	memcpy(text, "{\"hello\": {}}", 13);
	fake_init(&fake);
	json_t *reply = fake_ask_bytes(&fake, text, HS_API_MAX_BYTES);
	assert_non_null(json_object_get(reply, "ok"));
	json_decref(reply);
	free(text);
}

static void brackets_inside_strings_are_not_depth(void **state)
{
	struct fake fake;
	(void)state;
	fake_init(&fake);
	json_t *reply = fake_ask(
			&fake, "{\"id\": \"[[[[[[[[[[[[[[[[[[[[\\\"{{{{{{\", \"hello\": {}}");
	assert_non_null(json_object_get(reply, "ok"));
	json_decref(reply);
}

static void sixteen_levels_are_not_too_deep(void **state)
{
	struct fake fake;
	(void)state;
	fake_init(&fake);
	json_t *reply = fake_ask(&fake, "[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]");
	assert_string_equal(fake_error(reply, "code"), "bad_envelope");
	json_decref(reply);
}

static void each_prefix_of_a_request_gets_an_answer_and_changes_nothing(void **state)
{
	char text[600];
	int len = snprintf(text, sizeof(text), FAKE_RULE, 7u);
	(void)state;
	for (int cut = 0; cut < len; cut++) {
		struct fake fake;
		char *exact = malloc((size_t)cut + 1);
		assert_non_null(exact);
		memcpy(exact, text, (size_t)cut);
		fake_init(&fake);
		json_t *reply = fake_ask_bytes(&fake, exact, (size_t)cut);
		assert_string_equal(fake_error(reply, "code"), "not_json");
		assert_int_equal(fake.runs, 0);
		json_decref(reply);
		free(exact);
	}
}

static void a_reply_is_json_although_an_error_cuts_a_character_in_two(void **state)
{
	struct fake fake;
	char text[600];
	(void)state;
	// Two-byte characters: one of both shifts is cut in the middle.
	for (int shift = 0; shift < 2; shift++) {
		size_t used = (size_t)snprintf(text, sizeof(text), "{\"%s", shift ? "x" : "");
		for (int i = 0; i < 100; i++)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "\xc3\xa9");
		snprintf(text + used, sizeof(text) - used, "\": {}}");
		fake_init(&fake);
		json_t *reply = fake_ask(&fake, text);
		assert_string_equal(fake_error(reply, "code"), "unknown_verb");
		json_decref(reply);
	}
}

static void a_file_of_requests_is_checked_against_the_capacity(void **state)
{
	struct hs_errors errors = {0};
	char text[600];
	json_t *list = json_array();
	(void)state;
	for (unsigned ns_id = 1; ns_id <= 4; ns_id++) {
		snprintf(text, sizeof(text), FAKE_RULE, ns_id);
		json_array_append_new(list, json_loads(text, 0, NULL));
	}
	assert_int_equal(hs_api_check_list(list, &(struct hs_api_check){.rules = 4}, &errors), 0);
	assert_int_not_equal(
			hs_api_check_list(list, &(struct hs_api_check){.rules = 2}, &errors), 0);
	assert_int_equal(errors.n, 1); // and not one for each rule that finds no room
	assert_string_equal(errors.list[0].code, "table_full");
	assert_string_equal(errors.list[0].path, "[2].int_request");
	json_decref(list);
}

static void assert_paths(const struct hs_errors *errors, const char *const *paths, size_t n)
{
	for (size_t i = 0; i < n && i < errors->n; i++)
		assert_string_equal(errors->list[i].path, paths[i]);
	assert_int_equal(errors->n, n);
}

#define ASSERT_PATHS(errors, ...)                                                                  \
	assert_paths(errors, (const char *const[]){__VA_ARGS__},                                   \
			sizeof((const char *const[]){__VA_ARGS__}) / sizeof(char *))

// As the reader of a file does.
static void look_at(json_t *list, struct hs_errors *errors)
{
	json_t *item;
	size_t i;

	json_array_foreach (list, i, item) {
		unsigned before = errors->n;
		char at[32];
		hs_api_look_at_request(item, errors);
		snprintf(at, sizeof(at), "requests[%zu]", i);
		hs_errors_prefix(errors, before, at);
	}
}

static void a_file_of_requests_is_refused_with_the_errors_of_all_of_them(void **state)
{
	struct hs_errors errors = {0};
	char text[600], other[1400];
	(void)state;
	json_t *list = json_loads(
			"[{\"int_request\": {\"ns_id\": -1, \"colour\": 1, \"src_ip\": 5}}, 7, "
			"{\"int_update\": {\"mode\": \"often\", \"src_ip\": \"::1\"}}, "
			"{\"route_add\": {\"prefix\": \"x\", \"mac\": 1}}, {\"int_dlete\": {}}, "
			"{\"int_delete\": {\"ns_id\": 1}}]",
			0, NULL);
	look_at(list, &errors);
	ASSERT_PATHS(&errors, "requests[0].int_request.colour", "requests[0].int_request.ns_id",
			"requests[0].int_request.src_ip", "requests[0].int_request.dst_ip",
			"requests[0].int_request.protocol", "requests[0].int_request.mode",
			"requests[0].int_request.mode_setting", "requests[1]",
			"requests[2].int_update.src_ip", "requests[2].int_update.ns_id",
			"requests[2].int_update.mode", "requests[3].route_add.mac",
			"requests[3].route_add.prefix", "requests[4].int_dlete");
	json_decref(list);

	// What is right by itself, but not together. Rule 2 may be missing because of an error.
	snprintf(text, sizeof(text), FAKE_RULE, 1u);
	snprintf(other, sizeof(other),
			"[%s, %s, {\"int_delete\": {\"ns_id\": 2}}, {\"route_delete\": "
			"{\"prefix\": \"::/0\"}}]",
			text, text);
	list = json_loads(other, 0, NULL);
	errors.n = 0;
	look_at(list, &errors);
	assert_int_equal(errors.n, 0);
	assert_int_not_equal(
			hs_api_check_list(list, &(struct hs_api_check){.rules = 9}, &errors), 0);
	ASSERT_PATHS(&errors, "[1].int_request.ns_id", "[3].route_delete");
	json_decref(list);
}

static void a_file_of_requests_is_run_as_a_whole_or_not_at_all(void **state)
{
	struct fake fake;
	struct hs_error err = {0};
	char text[600];
	json_t *list = json_array();
	(void)state;
	fake_init(&fake);
	struct hs_api_backend backend = fake_backend(&fake);
	snprintf(text, sizeof(text), FAKE_RULE, 1u);
	json_array_append_new(list, json_loads(text, 0, NULL));
	snprintf(text, sizeof(text), FAKE_RULE, 5u);
	json_array_append_new(list, json_loads(text, 0, NULL));
	assert_int_not_equal(hs_api_run_list(&backend, list, &err), 0);
	assert_string_equal(err.path, "[1].int_request.ns_id");
	assert_int_equal(fake.runs, 0);
	json_array_remove(list, 1);
	assert_int_equal(hs_api_run_list(&backend, list, &err), 0);
	assert_int_equal(fake.n_rules, 2);
	json_decref(list);
}

static void every_reply_has_the_id_of_its_request(void **state)
{
	(void)state;
	struct fake fake;
	char text[128];
	static const char *const ids[] = {"0", "\"\"", "7", "\"a\""};
	static const char *const verbs[] = {
			"\"hello\": {}", "\"int_get\": {\"ns_id\": 99}", "\"nothing\": {}"};

	fake_init(&fake);
	for (size_t i = 0; i < 12; i++) {
		const char *id = ids[i / 3];
		snprintf(text, sizeof(text), "{\"id\": %s, %s}", id, verbs[i % 3]);
		json_t *reply = fake_ask(&fake, text),
		       *wanted = json_loads(id, JSON_DECODE_ANY, NULL);
		assert_true(json_equal(json_object_get(reply, "id"), wanted));
		json_decref(wanted);
		json_decref(reply);
	}
}

static void a_query_in_a_file_of_requests_is_refused(void **state)
{
	struct hs_errors errors = {0};
	json_t *list = json_loads("[{\"audit\": {}}]", 0, NULL);
	(void)state;
	assert_int_not_equal(
			hs_api_check_list(list, &(struct hs_api_check){.rules = 1}, &errors), 0);
	assert_string_equal(errors.list[0].code, "unsupported");
	assert_string_equal(errors.list[0].path, "[0].audit");
	json_decref(list);
}

static void requests_of_a_file_that_are_no_list_are_refused(void **state)
{
	struct hs_errors errors = {0};
	json_t *object = json_object();
	(void)state;
	assert_int_not_equal(
			hs_api_check_list(object, &(struct hs_api_check){.rules = 1}, &errors), 0);
	assert_string_equal(errors.list[0].code, "wrong_type");
	json_decref(object);
}

static void a_list_that_is_taken_back_gives_the_rule_its_owner_back(void **state)
{
	struct fake fake, before;
	(void)state;
	fake_init(&fake);
	json_decref(fake_ask(&fake,
			"{\"int_update\": {\"ns_id\": 5, \"owner\": \"a\", \"revision\": 3}}"));
	assert_int_equal(fake.rules[0].revision, 3);
	before = fake;
	fake.fail_at = fake.runs + 2;
	json_t *reply = fake_ask(&fake, "[{\"int_update\": {\"ns_id\": 5, \"hop_enabled\": false}},"
					" {\"int_delete\": {\"ns_id\": 5}}]");
	assert_string_equal(fake_error(reply, "code"), "internal");
	assert_memory_equal(fake.rules, before.rules, sizeof(fake.rules));
	json_decref(reply);
}

static void names_of_what_is_not_done_use_up_no_room(void **state)
{
	static const char update[] = "{\"int_update\": {\"ns_id\": 5, \"owner\": \"o%u\","
				     " \"revision\": 1}%s}";
	static const char refused[] = "[{\"int_update\": {\"ns_id\": 5, \"owner\": \"o%u\","
				      " \"revision\": 1}}, {\"int_delete\": {\"ns_id\": 9}}]";
	struct fake fake;
	char text[256];
	(void)state;
	fake_init(&fake);
	for (unsigned i = 0; i <= HS_RULE_FIELDS_MOST; i++) {
		snprintf(text, sizeof(text), update, i, ", \"dry_run\": true");
		json_t *reply = fake_ask(&fake, text);
		assert_non_null(json_object_get(reply, "ok"));
		json_decref(reply);
		snprintf(text, sizeof(text), refused, i);
		reply = fake_ask(&fake, text);
		assert_string_equal(fake_error(reply, "code"), "no_such_rule");
		json_decref(reply);
	}
	snprintf(text, sizeof(text), update, HS_RULE_FIELDS_MOST + 1, "");
	json_t *reply = fake_ask(&fake, text);
	assert_non_null(json_object_get(reply, "ok"));
	json_decref(reply);
}

// What a request names is stored for good, so it is not read if the client may not ask for it.
static void a_reader_is_refused_before_what_it_asks_is_read(void **state)
{
	static const char request[] = "{\"int_update\": {\"ns_id\": 5, \"owner\": \"\"}}";
	struct fake fake;
	(void)state;
	fake_init(&fake);
	struct hs_api_backend backend = fake_backend(&fake);
	for (int may_change = 0; may_change < 2; may_change++) {
		char *reply = hs_api_handle(&backend, request, strlen(request), may_change);
		json_t *json = json_loads(reply, 0, NULL);
		assert_string_equal(
				fake_error(json, "code"), may_change ? "bad_value" : "read_only");
		json_decref(json);
		free(reply);
	}
}

static void what_the_node_does_not_admit_is_refused_before_anything_runs(void **state)
{
	static const char *const lists[] = {
			"[{\"int_delete\": {\"ns_id\": 5}}, {\"int_request\": {\"ns_id\": 8, "
			"\"src_ip\": \"::1\", \"dst_ip\": \"::2\", \"protocol\": \"tcp\", "
			"\"trace_type\": \"0x40000000\", \"mode\": \"count\", "
			"\"mode_setting\": 1, \"in_band\": true}}]",
			"[{\"int_delete\": {\"ns_id\": 5}}, {\"int_update\": {\"ns_id\": 8, "
			"\"hop_enabled\": false}}]",
	};
	static const char *const paths[] = {"[1].int_request.in_band", "[1].int_update.in_band"};
	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		struct fake fake;
		fake_init(&fake);
		fake.rules[1] = fake.rules[0];
		fake.rules[1].ns_id = 8;
		fake.rules[1].in_band = true;
		fake.n_rules = 1 + i;
		fake.no_in_band = true;
		json_t *reply = fake_ask(&fake, lists[i]);
		assert_string_equal(fake_error(reply, "code"), "too_large");
		assert_string_equal(fake_error(reply, "path"), paths[i]);
		assert_int_equal(fake.runs, 0);
		json_decref(reply);
	}
}

static void a_rule_that_gives_way_takes_no_room_beside_the_new_one(void **state)
{
	struct fake fake;
	char text[512];
	(void)state;
	fake_init(&fake);
	fake.learned = 5;
	fake.rules_free = 0;
	snprintf(text, sizeof(text), FAKE_RULE, 5);
	json_t *reply = fake_ask(&fake, text);
	assert_non_null(json_object_get(reply, "ok"));
	assert_int_equal(fake.n_rules, 1);
	assert_int_equal(fake.rules[0].mode_setting, 100);
	json_decref(reply);
	// It has been asked for now.
	reply = fake_ask(&fake, text);
	assert_string_equal(fake_error(reply, "code"), "ns_in_use");
	json_decref(reply);
}

static void a_rule_gives_way_once_in_a_list(void **state)
{
	struct fake fake;
	char one[400], text[1000];
	(void)state;
	fake_init(&fake);
	fake.learned = 5;
	snprintf(one, sizeof(one), FAKE_RULE, 5);
	snprintf(text, sizeof(text), "[%s, %s]", one, one);
	json_t *reply = fake_ask(&fake, text);
	assert_string_equal(fake_error(reply, "code"), "ns_in_use");
	assert_int_equal(fake.runs, 0);
	json_decref(reply);
}

static void hello_lists_the_verbs_that_are_answered_and_the_limits(void **state)
{
	json_t *hello = hs_api_hello(
			&(struct hs_api_hello){.name = "", .verbs = HS_API_NODE_VERBS});
	json_t *verbs = json_object_get(hello, "verbs");
	(void)state;
	assert_int_equal(json_array_size(verbs), HS_VERB_OF_CONTROLLERS);
	assert_string_equal(json_string_value(json_array_get(verbs, HS_VERB_AUDIT)), "audit");
	assert_int_equal(json_integer_value(json_object_get(
					 json_object_get(hello, "limits"), "message_bytes")),
			1048576);
	json_decref(hello);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_reader_is_refused_what_would_change_something_and_nothing_else),
			cmocka_unit_test(shifts_of_ports_pass_without_a_trace),
			cmocka_unit_test(lists_of_ports_are_checked),
			cmocka_unit_test(a_list_that_fails_when_run_is_taken_back),
			cmocka_unit_test(a_failure_of_the_node_is_an_internal_error_with_its_place),
			cmocka_unit_test(a_list_may_have_ten_thousand_requests_and_no_more),
			cmocka_unit_test(a_message_of_the_greatest_size_is_read),
			cmocka_unit_test(brackets_inside_strings_are_not_depth),
			cmocka_unit_test(sixteen_levels_are_not_too_deep),
			cmocka_unit_test(
					each_prefix_of_a_request_gets_an_answer_and_changes_nothing),
			cmocka_unit_test(a_reply_is_json_although_an_error_cuts_a_character_in_two),
			cmocka_unit_test(a_file_of_requests_is_checked_against_the_capacity),
			cmocka_unit_test(
					a_file_of_requests_is_refused_with_the_errors_of_all_of_them),
			cmocka_unit_test(a_file_of_requests_is_run_as_a_whole_or_not_at_all),
			cmocka_unit_test(every_reply_has_the_id_of_its_request),
			cmocka_unit_test(a_query_in_a_file_of_requests_is_refused),
			cmocka_unit_test(requests_of_a_file_that_are_no_list_are_refused),
			cmocka_unit_test(a_list_that_is_taken_back_gives_the_rule_its_owner_back),
			cmocka_unit_test(names_of_what_is_not_done_use_up_no_room),
			cmocka_unit_test(a_reader_is_refused_before_what_it_asks_is_read),
			cmocka_unit_test(
					what_the_node_does_not_admit_is_refused_before_anything_runs),
			cmocka_unit_test(a_rule_that_gives_way_takes_no_room_beside_the_new_one),
			cmocka_unit_test(a_rule_gives_way_once_in_a_list),
			cmocka_unit_test(hello_lists_the_verbs_that_are_answered_and_the_limits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

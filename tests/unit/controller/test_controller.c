// SPDX-License-Identifier: BSD-3-Clause
// What is wanted comes to the nodes, and comes back to those that lost it.
#include "controller_rig.h"

#include "rule_field.h"
#include "rule_json.h"

#include <stdio.h>
#include <string.h>

static void a_rule_comes_to_all_nodes_unless_it_says_which(void **state)
{
	(void)state;
	fake_ok(&fake, request(1, 100, NULL));
	fake_ok(&fake, request(2, 100, "{\"path\": \"a-c\"}"));
	fake_ok(&fake, request(3, 100, "{\"nodes\": [\"b\", \"d\"]}"));
	fake_ok(&fake, request(4, 100, "{\"source\": \"a\"}"));
	fake_run(&fake, SECOND);
	static const bool expected[4][4] = {{1, 1, 1, 1}, {1, 1, 1, 0}, {0, 1, 0, 1}, {1, 0, 0, 0}};
	for (unsigned ns = 1; ns <= 4; ns++)
		for (unsigned node = 0; node < 4; node++)
			assert_int_equal(
					fake_rule(&fake, node, ns) != NULL, expected[ns - 1][node]);
	assert_string_equal(fake_state(&fake, 2, "b"), "present");
	assert_null(fake_state(&fake, 2, "d"));
}

static void a_change_and_a_removal_come_to_every_node_of_the_rule(void **state)
{
	(void)state;
	fake_ok(&fake, request(7, 100, "{\"path\": \"a-c\"}"));
	fake_run(&fake, SECOND);
	fake_ok(&fake, "{\"int_update\": {\"ns_id\": 7, \"mode_setting\": 5, \"hop_enabled\": "
		       "false}}");
	fake_run(&fake, SECOND);
	for (unsigned node = 0; node < 3; node++) {
		assert_true(fake_rule(&fake, node, 7)->mode_setting == 5);
		assert_false(fake_rule(&fake, node, 7)->hop_enabled);
	}
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 7}}");
	fake_run(&fake, SECOND);
	for (unsigned node = 0; node < 3; node++)
		assert_null(fake_rule(&fake, node, 7));
	assert_string_equal(fake_error(&fake, "{\"int_delete\": {\"ns_id\": 7}}"), "no_such_rule");
}

static json_t *another_value(const char *name, const json_t *value)
{
	if (json_is_boolean(value))
		return json_boolean(!json_is_true(value));
	if (strcmp(name, "mode") == 0)
		return json_string("frequency");
	if (strcmp(name, "mode_setting") == 0)
		return json_real(0.5);
	assert_string_equal(name, "fields");
	return json_pack("{s:{s:b}, s:{s:b}, s:{s:b}}", "packets", "supported", 1, "timestamp",
			"supported", 1, "bytes", "supported", 0);
}

static void every_field_that_an_update_may_change_comes_to_the_nodes(void **state)
{
	(void)state;
	fake_ok(&fake, request(7, 100, NULL));
	fake_run(&fake, SECOND);
	json_t *before = hs_rule_to_json(fake_rule(&fake, 0, 7));
	json_t *update = json_pack("{s:i}", "ns_id", 7);
	for (unsigned i = 0; i < HS_RULE_ROWS; i++) {
		const char *name = hs_rule_fields[i].key;
		if (HS_RULE_CHANGEABLE >> i & 1)
			json_object_set_new(update, name,
					another_value(name, json_object_get(before, name)));
	}
	json_t *message = json_pack("{s:O}", "int_update", update);
	char *text = json_dumps(message, 0);
	fake_ok(&fake, text);
	unsigned installed = fake.nodes[0].n_requests[HS_VERB_INT_REQUEST];
	fake_run(&fake, SECOND);
	json_t *after = hs_rule_to_json(fake_rule(&fake, 0, 7)), *value;
	const char *name;
	json_object_foreach (update, name, value)
		if (!json_equal(json_object_get(after, name), value))
			fail_msg("%s did not come", name);
	assert_int_equal(fake.nodes[0].n_requests[HS_VERB_INT_REQUEST], installed);
	free(text);
	json_decref(before);
	json_decref(update);
	json_decref(message);
	json_decref(after);
}

static void a_node_that_restarts_has_its_rules_back_within_two_seconds(void **state)
{
	(void)state;
	for (uint32_t ns = 1; ns <= 1000; ns++)
		fake_ok(&fake, request(ns, 100, NULL));
	fake_run(&fake, 2 * SECOND);
	assert_int_equal(fake.nodes[1].n_rules, 1000);
	fake.nodes[1].connected = false;
	fake_run(&fake, 30 * SECOND);
	fake_restart(&fake, 1);
	fake.nodes[1].connected = true;
	fake_run(&fake, 2 * SECOND);
	assert_int_equal(fake.nodes[1].n_rules, 1000);
	assert_int_equal(fake_events(&fake, "node_restarted"), 1);
	assert_int_equal(fake_events(&fake, "node_unreachable"), 1);
}

static void a_restart_too_short_to_be_noticed_otherwise_is_seen_by_the_boot_id(void **state)
{
	(void)state;
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, SECOND);
	fake_restart(&fake, 2);
	fake_run(&fake, 2 * SECOND);
	assert_non_null(fake_rule(&fake, 2, 1));
	assert_int_equal(fake_events(&fake, "node_unreachable"), 0);
	assert_int_equal(fake_events(&fake, "node_restarted"), 1);
}

static void a_node_that_was_cut_off_is_brought_up_to_date(void **state)
{
	(void)state;
	fake_ok(&fake, request(1, 100, NULL));
	fake_ok(&fake, request(2, 100, NULL));
	fake_ok(&fake, request(3, 100, NULL));
	fake_run(&fake, SECOND);
	fake.nodes[3].connected = false;
	fake_run(&fake, 3 * SECOND);
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 1}}");
	fake_ok(&fake, "{\"int_update\": {\"ns_id\": 2, \"mode_setting\": 9}}");
	fake_ok(&fake, request(4, 100, NULL));
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 3}}");
	fake_ok(&fake, request(3, 77, NULL)); // another rule under the old id
	fake_run(&fake, 60 * SECOND);
	fake.nodes[3].connected = true;
	fake_run(&fake, 2 * SECOND);
	assert_null(fake_rule(&fake, 3, 1));
	assert_true(fake_rule(&fake, 3, 2)->mode_setting == 9);
	assert_true(fake_rule(&fake, 3, 3)->mode_setting == 77);
	assert_non_null(fake_rule(&fake, 3, 4));
	assert_int_equal(fake_events(&fake, "rule_conflict"), 0);
}

static void a_node_that_takes_requests_and_does_not_answer_is_unreachable(void **state)
{
	(void)state;
	fake_run(&fake, SECOND);
	fake.nodes[0].deaf = true;
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, 8 * SECOND);
	assert_int_equal(fake_events(&fake, "node_unreachable"), 1);
	assert_string_equal(fake_state(&fake, 1, "b"), "present");
	fake.nodes[0].deaf = false;
	fake_run(&fake, 2 * SECOND);
	assert_string_equal(fake_state(&fake, 1, "a"), "present");
}

static void what_a_node_refuses_is_shown_with_its_reason_and_tried_again(void **state)
{
	(void)state;
	fake.nodes[1].capacity = 0;
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, SECOND);
	assert_string_equal(fake_state(&fake, 1, "b"), "table_full");
	fake.nodes[1].capacity = FAKE_RULES;
	fake_run(&fake, 61 * SECOND);
	assert_string_equal(fake_state(&fake, 1, "b"), "present");
}

static void a_controller_that_restarts_takes_over_the_rules_it_finds(void **state)
{
	(void)state;
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, SECOND);
	unsigned before = fake.nodes[0].n_requests[HS_VERB_INT_REQUEST];
	fake_reopen(&fake);
	fake_run(&fake, 3 * SECOND);
	assert_string_equal(fake_state(&fake, 1, "a"), "present");
	assert_int_equal(fake.nodes[0].n_rules, 1);
	assert_true(fake.nodes[0].n_requests[HS_VERB_INT_REQUEST] <= before + 1);
	assert_int_equal(fake_events(&fake, "rule_conflict"), 0);
}

// A version before let a source be multicast.
static void of_a_list_that_was_saved_only_what_is_refused_now_is_left_out(void **state)
{
	(void)state;
	char list[1600], *at = list;
	for (unsigned ns_id = 1; ns_id <= 3; ns_id++)
		at += sprintf(at, "%c%s", ns_id == 1 ? '[' : ',', request(ns_id, 100, NULL));
	strcpy(at, "]");
	fake_ok(&fake, list);
	json_t *saved = json_array_get(json_array_get(fake.saved, 0), 1);
	json_object_set_new(
			json_object_get(saved, "int_request"), "src_ip", json_string("ff02::1"));
	fake_reopen(&fake);
	assert_int_equal(hs_controller_changes(fake.controller), 2);
	fake_run(&fake, SECOND);
	assert_string_equal(fake_state(&fake, 3, "a"), "present");
}

static void a_removal_that_a_node_missed_outlives_the_controller(void **state)
{
	(void)state;
	fake_ok(&fake, request(1, 100, NULL));
	fake_ok(&fake, request(2, 100, "{\"source\": \"b\"}"));
	fake_run(&fake, SECOND);
	fake.nodes[1].connected = false;
	fake_run(&fake, 3 * SECOND);
	fake_ok(&fake, "[{\"int_delete\": {\"ns_id\": 1}}, {\"int_delete\": {\"ns_id\": 2}}]");
	fake_snapshot(&fake);
	fake_reopen(&fake);
	fake.nodes[1].connected = true;
	fake_run(&fake, 3 * SECOND);
	assert_int_equal(fake.nodes[1].n_rules, 0);
	assert_int_equal(hs_controller_changes(fake.controller), 0);
}

static void what_cannot_be_saved_is_refused_and_changes_nothing(void **state)
{
	(void)state;
	fake.cannot_save = true;
	assert_string_equal(fake_error(&fake, request(1, 100, NULL)), "not_saved");
	fake_run(&fake, SECOND);
	assert_null(fake_rule(&fake, 0, 1));
}

static void a_question_for_the_nodes_is_answered_by_all_that_can_be_reached(void **state)
{
	(void)state;
	fake_run(&fake, SECOND);
	json_t *ok = fake_ok(&fake, "{\"id\": 5, \"audit\": {}}");
	assert_int_equal(json_integer_value(json_object_get(fake.reply, "id")), 5);
	assert_true(json_is_true(json_object_get(ok, "ok")));
	assert_int_equal(json_object_size(json_object_get(ok, "nodes")), 4);
	fake.nodes[2].connected = false;
	fake.nodes[3].deaf = true;
	ok = fake_ok(&fake, "{\"ports_get\": {}}");
	assert_int_equal(json_object_size(json_object_get(ok, "nodes")), 2);
	assert_int_equal(json_array_size(json_object_get(ok, "unreachable")), 2);
}

static void questions_under_way_are_answered_when_the_controller_ends(void **state)
{
	(void)state;
	fake_run(&fake, SECOND);
	fake_ask(&fake, "{\"stats_get\": {}}");
	unsigned before = fake.n_replies;
	hs_controller_destroy(fake.controller);
	fake.controller = NULL;
	assert_int_equal(fake.n_replies, before + 1);
}

static void a_rule_that_is_asked_for_elsewhere_leaves_the_nodes_it_was_at(void **state)
{
	(void)state;
	fake_ok(&fake, request(1, 100, "{\"path\": \"a-c\"}"));
	fake_run(&fake, SECOND);
	fake.nodes[2].connected = false;
	fake_run(&fake, 3 * SECOND);
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 1}}");
	fake_ok(&fake, request(1, 50, "{\"nodes\": [\"a\", \"d\"]}"));
	fake_run(&fake, SECOND);
	assert_true(fake_rule(&fake, 0, 1)->mode_setting == 50);
	assert_null(fake_rule(&fake, 1, 1));
	assert_non_null(fake_rule(&fake, 3, 1));
	assert_string_equal(fake_state(&fake, 1, "c"), "removing");
	fake.nodes[2].connected = true;
	fake_run(&fake, 3 * SECOND);
	assert_null(fake_rule(&fake, 2, 1));
	assert_null(fake_state(&fake, 1, "c"));
}

static void a_rule_that_is_put_elsewhere_again_and_again_ends_where_it_was_put_last(void **state)
{
	static const char *const on[] = {"{\"source\": \"a\"}", "{\"source\": \"b\"}",
			"{\"path\": \"a-c\"}", "{\"source\": \"d\"}"};

	(void)state;
	for (unsigned i = 0; i < 40; i++) {
		if (i)
			fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 1}}");
		fake_ok(&fake, request(1, i + 1, on[i % 4]));
		fake_run(&fake, (int64_t)(i % 3) * 1000000);
	}
	fake_run(&fake, SECOND);
	for (unsigned at = 0; at < 4; at++)
		assert_int_equal(fake_rule(&fake, at, 1) != NULL, at == 3);
	assert_true(fake_rule(&fake, 3, 1)->mode_setting == 40);
}

static void calls_that_a_restart_swallowed_hold_up_nothing(void **state)
{
	(void)state;
	fake_run(&fake, SECOND);
	for (unsigned restart = 0; restart < 8; restart++) {
		fake.nodes[0].deaf = true;
		for (uint32_t ns_id = 1; ns_id <= 20; ns_id++)
			fake_ok(&fake, request(100 * restart + ns_id, 100, "{\"source\": \"a\"}"));
		fake_run(&fake, SECOND / 10);
		fake.nodes[0].deaf = false;
		fake_restart(&fake, 0);
		fake_run(&fake, SECOND);
	}
	assert_int_equal(fake.nodes[0].n_rules, 160);
	assert_true(of_node(0, "calls_under_way") <= 1);
	assert_int_equal(of_node(0, "rules_present"), 160);
}

static void removals_are_kept_only_for_nodes_that_were_told_of_the_rule(void **state)
{
	(void)state;
	fake_run(&fake, SECOND);
	fake.nodes[0].connected = false;
	fake_run(&fake, 3 * SECOND);
	for (uint32_t ns_id = 1; ns_id <= 100; ns_id++) {
		char text[64];
		fake_ok(&fake, request(ns_id, 100, NULL));
		fake_run(&fake, 4000000);
		snprintf(text, sizeof(text), "{\"int_delete\": {\"ns_id\": %u}}", ns_id);
		fake_ok(&fake, text);
	}
	fake_run(&fake, SECOND);
	assert_int_equal(hs_controller_changes(fake.controller), 0);
}

static void a_clock_that_is_set_changes_nothing(void **state)
{
	static const int64_t steps_s[] = {-3600, 3600, -86400 * 365, 86400};

	(void)state;
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, SECOND);
	for (unsigned i = 0; i < 4; i++) {
		fake.now_ns += steps_s[i] * SECOND;
		for (unsigned k = 0; k < fake.n_messages; k++)
			fake.messages[(fake.head + k) % FAKE_MESSAGES].due_ns +=
					steps_s[i] * SECOND;
		fake_restart(&fake, i);
		fake_run(&fake, 2 * SECOND);
		assert_non_null(fake_rule(&fake, i, 1));
	}
	assert_int_equal(fake_events(&fake, "node_unreachable"), 0);
	assert_int_equal(fake_events(&fake, "node_restarted"), 4);
}

static void a_question_for_the_nodes_may_stand_in_a_list(void **state)
{
	(void)state;
	fake_run(&fake, SECOND);
	fake_ok(&fake, "[{\"int_list\": {}}, {\"audit\": {}}, {\"hello\": {}}]");
	json_t *entry = json_array_get(json_object_get(fake.reply, "ok"), 1);
	assert_int_equal(json_object_size(json_object_get(entry, "nodes")), 4);
	assert_true(json_is_true(json_object_get(entry, "ok")));
	assert_non_null(json_object_get(
			json_array_get(json_object_get(fake.reply, "ok"), 0), "rules"));
}

static void a_list_that_is_taken_back_leaves_the_rule_at_its_nodes(void **state)
{
	char list[1500];

	(void)state;
	fake_ok(&fake, request(1, 100, "{\"source\": \"b\"}"));
	fake_ok(&fake, request(2, 100, NULL));
	fake_run(&fake, SECOND);
	snprintf(list, sizeof(list),
			"[{\"int_delete\": {\"ns_id\": 1}}, %s, {\"int_delete\": {\"ns_id\": 2}}, "
			"{\"int_delete\": {\"ns_id\": 1}}, {\"audit\": {}}, {\"audit\": {}}]",
			request(1, 7, "{\"source\": \"d\"}"));
	assert_string_equal(fake_error(&fake, list), "unsupported");
	fake_run(&fake, SECOND);
	for (unsigned at = 0; at < 4; at++) {
		assert_int_equal(fake_rule(&fake, at, 1) != NULL, at == 1);
		assert_non_null(fake_rule(&fake, at, 2));
	}
	assert_true(fake_rule(&fake, 1, 1)->mode_setting == 100);
}

static void a_flood_of_questions_holds_up_no_repair(void **state)
{
	(void)state;
	fake_run(&fake, SECOND);
	for (unsigned i = 0; i < 200; i++)
		fake_ask(&fake, "{\"stats_get\": {}}");
	assert_string_equal(
			json_string_value(json_object_get(
					json_object_get(json_object_get(json_object_get(fake.reply,
											"ok"),
									"errors"),
							"a"),
					"code")),
			"busy");
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, 4000000);
	assert_non_null(fake_rule(&fake, 0, 1));
	fake_run(&fake, 5 * SECOND);
	assert_int_equal(fake.n_replies, 201);
	assert_int_equal(fake_events(&fake, "node_unreachable"), 0);
}

static void rules_are_refused_when_there_are_as_many_as_the_configuration_allows(void **state)
{
	(void)state;
	fake.config.max_rules = 2;
	fake_ok(&fake, request(1, 100, NULL));
	fake_ok(&fake, request(2, 100, NULL));
	assert_string_equal(fake_error(&fake, request(3, 100, NULL)), "table_full");
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 1}}");
	fake_ok(&fake, request(3, 100, NULL));
}

static void bad_targets_are_refused_with_their_path(void **state)
{
	static const struct {
		const char *on, *path;
	} bad[] = {
			{"{\"path\": \"x\"}", "int_request.on.path"},
			{"{\"nodes\": []}", "int_request.on.nodes"},
			{"{\"nodes\": [\"a\", \"z\"]}", "int_request.on.nodes[1]"},
			{"{\"source\": 4}", "int_request.on.source"},
			{"{\"where\": \"a\"}", "int_request.on"},
			{"[]", "int_request.on"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		assert_non_null(fake_error(&fake, request(1, 100, bad[i].on)));
		assert_string_equal(json_string_value(json_object_get(
						    json_object_get(fake.reply, "error"), "path")),
				bad[i].path);
	}
	assert_null(fake_state(&fake, 1, "a"));
}

static void a_list_that_fails_half_way_leaves_every_rule_where_it_was(void **state)
{
	char list[1200];

	(void)state;
	fake_ok(&fake, request(1, 100, "{\"source\": \"b\"}"));
	fake_run(&fake, SECOND);
	snprintf(list, sizeof(list),
			"[{\"int_delete\": {\"ns_id\": 1}}, {\"route_delete\": "
			"{\"prefix\": \"2001:db8::/32\"}}]");
	assert_string_equal(fake_error(&fake, list), "unsupported");
	fake_run(&fake, SECOND);
	assert_non_null(fake_rule(&fake, 1, 1));
	assert_null(fake_rule(&fake, 0, 1));
}

// Another configuration over the same state and nodes.
static void reopen_with(const char *text)
{
	hs_controller_destroy(fake.controller);
	hs_controller_config_fini(&fake.config);
	fake_configure(&fake, text);
	fake.controller = NULL;
	fake_reopen(&fake);
}

static const char without_a[] =
		"{\"nodes\": [{\"name\": \"b\", \"id\": 2, \"api\": \"ipc:///b\"}]}";

// Node 0 of that controller is b, so that only what is wanted is looked at, not what is there.
static void a_node_that_leaves_the_configuration_takes_no_rule_of_others_with_it(void **state)
{
	(void)state;
	fake_ok(&fake, request(7, 100, "{\"nodes\": [\"a\", \"b\"]}"));
	fake_ok(&fake, request(8, 100, "{\"nodes\": [\"a\", \"b\"]}"));
	fake_ok(&fake, request(9, 100, "{\"path\": \"a-c\"}"));
	fake_ok(&fake, request(10, 100, "{\"source\": \"a\"}"));
	fake_run(&fake, SECOND);
	fake.nodes[0].connected = false;
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 7}}");
	fake_ok(&fake, request(7, 100, "{\"nodes\": [\"b\"]}"));
	fake_snapshot(&fake);
	reopen_with(without_a);
	assert_non_null(fake_state(&fake, 7, "b"));
	assert_non_null(fake_state(&fake, 8, "b"));
	json_t *rules = json_object_get(fake_ok(&fake, "{\"int_list\": {}}"), "rules");
	assert_int_equal(json_array_size(rules), 4);
	for (size_t i = 0; i < 4; i++) {
		const json_t *rule = json_array_get(rules, i);
		bool here = json_integer_value(json_object_get(rule, "ns_id")) < 9;
		assert_int_equal(json_object_size(json_object_get(rule, "nodes")), here);
	}
	assert_string_equal(
			fake_error(&fake, request(11, 100, "{\"source\": \"a\"}")), "bad_value");
	fake_snapshot(&fake);
	reopen_with(config); // and back
	assert_non_null(fake_state(&fake, 8, "a"));
	assert_non_null(fake_state(&fake, 9, "c"));
	assert_non_null(fake_state(&fake, 10, "a"));
}

// A node whose state cannot be written refuses changes of the rules that it has.
static void a_refused_change_is_reported_once(void **state)
{
	static const char *const changes[] = {
			"{\"int_update\": {\"ns_id\": 1, \"mode_setting\": 7}}",
			"{\"int_delete\": {\"ns_id\": 1}}"};
	static const char *const verbs[] = {"int_update", "int_delete"};

	(void)state;
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, 3 * SECOND);
	fake.nodes[0].refusal = "{\"code\": \"not_saved\", \"message\": \"disk full\"}";
	for (unsigned i = 0; i < 2; i++) {
		fake.nodes[0].refused = verbs[i];
		fake_ok(&fake, changes[i]);
		fake_run(&fake, 300 * SECOND);
		assert_int_equal(fake_events(&fake, "rule_refused"), 1 + i);
	}
	fake.nodes[0].refused = "none";
	fake_run(&fake, 120 * SECOND);
	assert_null(fake_rule(&fake, 0, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_rule_comes_to_all_nodes_unless_it_says_which),
			TEST(a_change_and_a_removal_come_to_every_node_of_the_rule),
			TEST(every_field_that_an_update_may_change_comes_to_the_nodes),
			TEST(a_node_that_restarts_has_its_rules_back_within_two_seconds),
			TEST(a_restart_too_short_to_be_noticed_otherwise_is_seen_by_the_boot_id),
			TEST(a_node_that_was_cut_off_is_brought_up_to_date),
			TEST(a_node_that_takes_requests_and_does_not_answer_is_unreachable),
			TEST(a_refused_change_is_reported_once),
			TEST(what_a_node_refuses_is_shown_with_its_reason_and_tried_again),
			TEST(a_controller_that_restarts_takes_over_the_rules_it_finds),
			TEST(a_removal_that_a_node_missed_outlives_the_controller),
			TEST(of_a_list_that_was_saved_only_what_is_refused_now_is_left_out),
			TEST(what_cannot_be_saved_is_refused_and_changes_nothing),
			TEST(a_question_for_the_nodes_is_answered_by_all_that_can_be_reached),
			TEST(questions_under_way_are_answered_when_the_controller_ends),
			TEST(a_rule_that_is_asked_for_elsewhere_leaves_the_nodes_it_was_at),
			TEST(a_rule_that_is_put_elsewhere_again_and_again_ends_where_it_was_put_last),
			TEST(calls_that_a_restart_swallowed_hold_up_nothing),
			TEST(removals_are_kept_only_for_nodes_that_were_told_of_the_rule),
			TEST(a_clock_that_is_set_changes_nothing),
			TEST(a_question_for_the_nodes_may_stand_in_a_list),
			TEST(a_list_that_is_taken_back_leaves_the_rule_at_its_nodes),
			TEST(a_flood_of_questions_holds_up_no_repair),
			TEST(rules_are_refused_when_there_are_as_many_as_the_configuration_allows),
			TEST(bad_targets_are_refused_with_their_path),
			TEST(a_list_that_fails_half_way_leaves_every_rule_where_it_was),
			TEST(a_node_that_leaves_the_configuration_takes_no_rule_of_others_with_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

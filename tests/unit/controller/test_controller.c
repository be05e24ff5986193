// SPDX-License-Identifier: BSD-3-Clause
// What is wanted comes to the nodes, and comes back to those that lost it.
#include "fake_nodes.h"

#include "rule_fields.h"

// clang-format off: cmocka wants these before it
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>
// clang-format on

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SECOND INT64_C(1000000000)

static const char config[] = "{\"nodes\": [{\"name\": \"a\", \"id\": 1, \"api\": \"ipc:///a\"},"
			     " {\"name\": \"b\", \"id\": 2, \"api\": \"ipc:///b\"},"
			     " {\"name\": \"c\", \"id\": 3, \"api\": \"ipc:///c\"},"
			     " {\"name\": \"d\", \"id\": 4, \"api\": \"ipc:///d\"}],"
			     " \"paths\": [{\"name\": \"a-c\", \"nodes\": [\"a\", \"b\", \"c\"]}]}";

static struct fake_nodes fake;

static int setup(void **state)
{
	(void)state;
	fake_open(&fake, config);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_close(&fake);
	return 0;
}

static char *request(uint32_t ns_id, unsigned setting, const char *on)
{
	static char text[512];

	snprintf(text, sizeof(text),
			"{\"int_request\": {\"ns_id\": %u, \"src_ip\": \"2001:db8::1\", "
			"\"dst_ip\": "
			"\"2001:db8::2\", \"dst_port\": %u, \"protocol\": \"udp\", \"trace_type\": "
			"\"0x7000E000\", \"mode\": \"count\", \"mode_setting\": %u%s%s}}",
			ns_id, ns_id % 60000 + 1, setting, on ? ", \"on\": " : "", on ? on : "");
	return text;
}

static char *in_band_request(uint32_t ns_id, const char *on)
{
	char *text = request(ns_id, 100, on);
	char *end = strstr(text, "\"ns_id\"");

	memmove(end + 17, end, strlen(end) + 1);
	memcpy(end, "\"in_band\": true, ", 17);
	return text;
}

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

static void rules_of_others_are_left_alone(void **state)
{
	(void)state;
	fake_at_node(&fake, 0, request(500, 100, NULL));
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, 3 * SECOND);
	fake_restart(&fake, 1); // an audit of all
	fake_run(&fake, 120 * SECOND);
	assert_non_null(fake_rule(&fake, 0, 500));
	json_t *nodes = json_object_get(fake_ok(&fake, "{\"node_get\": {}}"), "nodes");
	assert_int_equal(json_integer_value(json_object_get(
					 json_array_get(nodes, 0), "rules_foreign")),
			1);
}

static void the_same_rule_of_another_controller_is_agreement_any_other_a_conflict(void **state)
{
	(void)state;
	fake_at_node(&fake, 0, request(1, 100, NULL));
	fake_at_node(&fake, 1, request(1, 50, NULL));
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, 3 * SECOND);
	assert_string_equal(fake_state(&fake, 1, "a"), "present");
	assert_string_equal(fake_state(&fake, 1, "b"), "conflict");
	assert_int_equal(fake_events(&fake, "rule_conflict"), 1);
	assert_true(fake_rule(&fake, 1, 1)->mode_setting == 50);
	// It is not fought over, however often it is seen.
	fake_run(&fake, 300 * SECOND);
	assert_true(fake_rule(&fake, 1, 1)->mode_setting == 50);
	assert_int_equal(fake_events(&fake, "rule_conflict"), 1);
	// Unless the operator says so.
	fake_ok(&fake, "{\"int_update\": {\"ns_id\": 1, \"mode_setting\": 100}}");
	fake_run(&fake, 3 * SECOND);
	assert_true(fake_rule(&fake, 1, 1)->mode_setting == 100);
	assert_string_equal(fake_state(&fake, 1, "b"), "present");
}

static void two_controllers_that_want_different_things_do_not_fight(void **state)
{
	(void)state;
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, SECOND);
	// The other one changes the rule behind our back.
	fake_at_node(&fake, 2, "{\"int_update\": {\"ns_id\": 1, \"mode_setting\": 3}}");
	fake_run(&fake, 300 * SECOND);
	assert_true(fake_rule(&fake, 2, 1)->mode_setting == 3);
	assert_string_equal(fake_state(&fake, 1, "c"), "conflict");
	assert_int_equal(fake.nodes[2].n_requests[HS_VERB_INT_UPDATE], 1);
}

static void rules_at_nodes_carry_the_controllers_name_and_a_revision(void **state)
{
	(void)state;
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, SECOND);
	uint64_t first = fake_rule(&fake, 0, 1)->revision;
	assert_string_equal(hs_rule_owner_name(fake_rule(&fake, 0, 1)->owner), "controller");
	assert_true(first > 0);
	fake_ok(&fake, "{\"int_update\": {\"ns_id\": 1, \"mode_setting\": 7}}");
	fake_run(&fake, SECOND);
	assert_true(fake_rule(&fake, 0, 1)->revision > first);
	assert_int_equal(fake_rule(&fake, 0, 1)->revision, fake_rule(&fake, 3, 1)->revision);
	// A client of the controller does not choose them.
	assert_string_equal(
			fake_error(&fake, "{\"int_update\": {\"ns_id\": 1, \"owner\": \"me\"}}"),
			"unsupported");
}

static void a_change_of_somebody_else_is_a_conflict_after_a_restart_too(void **state)
{
	static const char *const changes[] = {
			"{\"int_update\": {\"ns_id\": 1, \"mode_setting\": 3}}",
			"{\"int_update\": {\"ns_id\": 1, \"mode_setting\": 3, \"owner\": \"you\"}}",
	};

	(void)state;
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, SECOND);
	for (unsigned at = 0; at < 2; at++)
		fake_at_node(&fake, at, changes[at]);
	for (unsigned i = 0; i < 2; i++) {
		fake_run(&fake, 120 * SECOND);
		assert_string_equal(fake_state(&fake, 1, "a"), "conflict");
		assert_string_equal(fake_state(&fake, 1, "b"), "conflict");
		assert_string_equal(fake_state(&fake, 1, "c"), "present");
		fake_reopen(&fake);
	}
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 1}}");
	fake_run(&fake, 3 * SECOND);
	assert_true(fake_rule(&fake, 0, 1)->mode_setting == 3);
	assert_true(fake_rule(&fake, 1, 1)->mode_setting == 3);
	assert_null(fake_rule(&fake, 2, 1));
}

static void a_rule_that_another_owner_wants_too_stays_when_it_is_removed_here(void **state)
{
	char text[600];

	(void)state;
	snprintf(text, sizeof(text), "%s", request(1, 100, NULL));
	snprintf(strstr(text, "}}"), 30, ", \"owner\": \"you\"}}");
	fake_at_node(&fake, 0, text);
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, SECOND);
	assert_string_equal(fake_state(&fake, 1, "a"), "present");
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 1}}");
	fake_run(&fake, 3 * SECOND);
	assert_non_null(fake_rule(&fake, 0, 1));
	assert_null(fake_rule(&fake, 1, 1));
	// What is wanted here changes the other's rule only if a client says so.
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, SECOND);
	fake_ok(&fake, "{\"int_update\": {\"ns_id\": 1, \"mode_setting\": 7}}");
	fake_run(&fake, SECOND);
	assert_true(fake_rule(&fake, 0, 1)->mode_setting == 7);
	assert_string_equal(hs_rule_owner_name(fake_rule(&fake, 0, 1)->owner), "controller");
}

// Two controllers with the same name differ in their revisions.
static void a_namesake_is_not_fought_either(void **state)
{
	char text[600];

	(void)state;
	fake_run(&fake, SECOND);
	snprintf(text, sizeof(text), "%s", request(1, 50, NULL));
	snprintf(strstr(text, "}}"), 60, ", \"owner\": \"controller\", \"revision\": 5}}");
	fake_at_node(&fake, 0, text);
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, SECOND);
	assert_string_equal(fake_state(&fake, 1, "a"), "conflict");
	fake_at_node(&fake, 1,
			"{\"int_update\": {\"ns_id\": 1, \"mode_setting\": 3, \"owner\": "
			"\"controller\", \"revision\": 9007199254740991}}");
	fake_run(&fake, 120 * SECOND);
	assert_string_equal(fake_state(&fake, 1, "b"), "conflict");
	assert_true(fake_rule(&fake, 0, 1)->mode_setting == 50);
	assert_true(fake_rule(&fake, 1, 1)->mode_setting == 3);
}

static void a_restart_with_a_clock_in_the_past_changes_nothing(void **state)
{
	(void)state;
	for (uint32_t ns_id = 1; ns_id <= 3; ns_id++)
		fake_ok(&fake, request(ns_id, 100, NULL));
	fake_run(&fake, SECOND);
	fake.nodes[1].connected = false;
	fake_run(&fake, 3 * SECOND);
	fake_ok(&fake, "{\"int_update\": {\"ns_id\": 1, \"mode_setting\": 7}}");
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 2}}");
	fake_run(&fake, SECOND);
	fake.now_ns -= 86400 * SECOND;
	for (unsigned k = 0; k < fake.n_messages; k++)
		fake.messages[(fake.head + k) % FAKE_MESSAGES].due_ns -= 86400 * SECOND;
	fake_reopen(&fake);
	fake.nodes[1].connected = true;
	fake_run(&fake, 3 * SECOND);
	fake.nodes[2].deaf = true;
	fake_ok(&fake, "{\"int_update\": {\"ns_id\": 3, \"mode_setting\": 9}}");
	fake_run(&fake, 6 * SECOND);
	fake.nodes[2].deaf = false;
	fake_run(&fake, 6 * SECOND);
	for (unsigned at = 0; at < 4; at++) {
		assert_true(fake_rule(&fake, at, 1)->mode_setting == 7);
		assert_null(fake_rule(&fake, at, 2));
		assert_true(fake_rule(&fake, at, 3)->mode_setting == 9);
	}
	fake_run(&fake, 120 * SECOND);
	for (uint32_t ns_id = 1; ns_id <= 3; ns_id += 2)
		assert_string_equal(fake_state(&fake, ns_id, "b"), "present");
	assert_int_equal(fake_events(&fake, "rule_conflict"), 0);
}

static void a_node_of_an_earlier_version_is_told_no_owner_and_judged_by_content(void **state)
{
	(void)state;
	fake.nodes[0].is_old = true;
	for (uint32_t ns_id = 1; ns_id <= 3; ns_id++)
		fake_ok(&fake, request(ns_id, 100, "{\"source\": \"a\"}"));
	fake_run(&fake, SECOND);
	fake_ok(&fake, "{\"int_update\": {\"ns_id\": 1, \"mode_setting\": 7}}");
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 2}}");
	fake_at_node(&fake, 0, "{\"int_update\": {\"ns_id\": 3, \"mode_setting\": 3}}");
	for (unsigned i = 0; i < 2; i++) {
		fake_run(&fake, 120 * SECOND);
		assert_true(fake_rule(&fake, 0, 1)->mode_setting == 7);
		assert_int_equal(fake_rule(&fake, 0, 1)->owner, 0);
		assert_null(fake_rule(&fake, 0, 2));
		assert_string_equal(fake_state(&fake, 1, "a"), "present");
		assert_string_equal(fake_state(&fake, 3, "a"), "conflict");
		fake_reopen(&fake);
	}
	fake_ok(&fake, "[{\"int_delete\": {\"ns_id\": 1}}, {\"int_delete\": {\"ns_id\": 3}}]");
	fake_run(&fake, 3 * SECOND);
	assert_null(fake_rule(&fake, 0, 1));
	assert_true(fake_rule(&fake, 0, 3)->mode_setting == 3);
	// An upgrade of the node: what it has without an owner is as it is wanted.
	fake_ok(&fake, request(4, 100, NULL));
	fake_run(&fake, SECOND);
	fake.nodes[0].is_old = false;
	fake_run(&fake, 120 * SECOND);
	fake_ok(&fake, "{\"int_update\": {\"ns_id\": 4, \"mode_setting\": 8}}");
	fake_run(&fake, SECOND);
	assert_string_equal(hs_rule_owner_name(fake_rule(&fake, 0, 4)->owner), "controller");
	assert_true(fake_rule(&fake, 0, 4)->mode_setting == 8);
}

static void a_name_that_nodes_would_refuse_is_refused_at_the_start(void **state)
{
	struct hs_controller_output output = {0};
	struct hs_controller *controller;
	struct hs_error err = {0};

	(void)state;
	snprintf(fake.config.name, sizeof(fake.config.name), "lab\nroom");
	assert_int_not_equal(hs_controller_create(&fake.config, "b", &output, fake.now_ns,
					     &controller, &err),
			0);
	assert_string_equal(err.path, "controller.name");
}

static void what_somebody_removed_at_a_node_comes_back(void **state)
{
	(void)state;
	fake_ok(&fake, request(1, 100, NULL));
	fake_run(&fake, SECOND);
	fake_at_node(&fake, 2, "{\"int_delete\": {\"ns_id\": 1}}");
	fake_run(&fake, 2 * SECOND);
	assert_non_null(fake_rule(&fake, 2, 1));
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

static json_t *node_json(unsigned at)
{
	return json_array_get(json_object_get(fake_ok(&fake, "{\"node_get\": {}}"), "nodes"), at);
}

static int64_t of_node(unsigned at, const char *key)
{
	return json_integer_value(json_object_get(node_json(at), key));
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

static void a_change_whose_answer_was_lost_is_not_taken_for_anothers(void **state)
{
	(void)state;
	fake_ok(&fake, request(1, 100, "{\"source\": \"a\"}"));
	fake_run(&fake, SECOND);
	fake.nodes[0].mute = true;
	fake_ok(&fake, "{\"int_update\": {\"ns_id\": 1, \"mode_setting\": 7}}");
	fake_run(&fake, 5 * SECOND);
	assert_true(fake_rule(&fake, 0, 1)->mode_setting == 7);
	fake_ok(&fake, "{\"int_update\": {\"ns_id\": 1, \"mode_setting\": 9}}");
	fake.nodes[0].mute = false;
	fake_run(&fake, 3 * SECOND);
	assert_true(fake_rule(&fake, 0, 1)->mode_setting == 9);
	assert_int_equal(fake_events(&fake, "rule_conflict"), 0);
}

static void another_rule_in_its_binding_that_a_restart_came_between_is_known_as_ours(void **state)
{
	(void)state;
	fake_ok(&fake, request(1, 100, "{\"source\": \"a\"}"));
	fake_run(&fake, SECOND);
	fake.nodes[0].connected = false;
	fake_run(&fake, 3 * SECOND);
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 1}}");
	fake_ok(&fake, "{\"int_request\": {\"ns_id\": 1, \"src_ip\": \"2001:db8::7\", \"dst_ip\": "
		       "\"2001:db8::8\", \"protocol\": \"udp\", \"trace_type\": "
		       "\"0x7000E000\", \"mode\": \"count\", \"mode_setting\": 1, \"on\": "
		       "{\"nodes\": [\"a\", \"b\"]}}}");
	fake_snapshot(&fake);
	fake_reopen(&fake);
	fake_snapshot(&fake); // not yet reached, and not forgotten
	fake_reopen(&fake);
	fake.nodes[0].connected = true;
	fake_run(&fake, 3 * SECOND);
	assert_int_equal(fake_rule(&fake, 0, 1)->src_ip[15], 7);
	assert_int_equal(fake_events(&fake, "rule_conflict"), 0);
	fake_snapshot(&fake);
	assert_true(json_is_object(json_array_get(fake.saved, 0)));
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

static void what_nodes_learned_in_band_is_neither_missing_nor_anothers(void **state)
{
	(void)state;
	fake_ok(&fake, in_band_request(1, "{\"source\": \"a\"}"));
	fake_run(&fake, SECOND);
	fake_at_node(&fake, 1, in_band_request(1, NULL));
	fake.nodes[1].in_band_ns = 1;
	fake_at_node(&fake, 2, in_band_request(2, NULL)); // of somebody else's source
	fake.nodes[2].in_band_ns = 2;
	fake_run(&fake, 3 * SECOND);
	assert_int_equal(of_node(1, "rules_in_band"), 1);
	assert_int_equal(of_node(1, "rules_foreign"), 0);
	assert_int_equal(of_node(2, "rules_foreign"), 1);
	assert_int_equal(fake_events(&fake, "rule_conflict"), 0);
	// On nodes that are asked for it, it is installed in place of what they learned.
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 1}}");
	fake_ok(&fake, in_band_request(1, "{\"path\": \"a-c\"}"));
	fake_run(&fake, 3 * SECOND);
	assert_int_equal(fake.nodes[1].in_band_ns, 0);
	assert_string_equal(fake_state(&fake, 1, "b"), "present");
	assert_int_equal(fake_events(&fake, "rule_conflict"), 0);
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

static void gaps_in_what_a_node_publishes_are_counted(void **state)
{
	char text[256];

	(void)state;
	fake_run(&fake, SECOND);
	for (unsigned seq = 1; seq <= 10; seq++) {
		if (seq == 4 || seq == 5)
			continue;
		snprintf(text, sizeof(text),
				"{\"event\": {\"seq\": %u, \"node_id\": 1, \"boot_id\": "
				"\"boot-1-0\", "
				"\"kind\": \"port_up\", \"message\": \"up\"}}",
				seq);
		hs_controller_message(
				fake.controller, fake.now_ns, "event.port_up", text, strlen(text));
	}
	json_t *node = json_array_get(
			json_object_get(fake_ok(&fake, "{\"node_get\": {}}"), "nodes"), 0);
	assert_int_equal(json_integer_value(json_object_get(node, "publish_missed")), 2);
	assert_int_equal(json_integer_value(json_object_get(node, "published")), 8);
	assert_int_equal(fake_events(&fake, "port_up"), 8);
}

// A report of a rule of app_id 4 that the sink c (3) took out at `ts_ns`, the k-th, after
// `delay_ns` on its way.
static void publish_trip(uint32_t ns_id, unsigned k, int64_t ts_ns, int64_t delay_ns)
{
	char text[768];

	snprintf(text, sizeof(text),
			"{\"int_report\": {\"seq\": %u, \"node_id\": 3, \"boot_id\": \"boot-3-0\", "
			"\"ns_id\": %u, \"app_id\": 4, \"trace_type\": \"0x7000E000\", \"e2e\": "
			"{\"ts_ns\": %lld, \"tx_packets\": %u, \"tx_bytes\": %u}, \"sink\": "
			"{\"node_id\": 3, \"ts_ns\": %lld, \"rx_packets\": %u, \"rx_bytes\": %u}, "
			"\"hops\": []}}",
			k + 1, ns_id, (long long)(ts_ns - delay_ns), 10 * (k + 1), 5620 * (k + 1),
			(long long)ts_ns, 10 * (k + 1), 5620 * (k + 1));
	hs_controller_message(fake.controller, fake.now_ns, "report", text, strlen(text));
}

static void publish_report_of(unsigned k, int64_t ts_ns)
{
	publish_trip(9, k, ts_ns, 5000000);
}

static void publish_report(unsigned k)
{
	publish_report_of(k, fake.now_ns);
}

static void publish_window(unsigned ns_id)
{
	char text[256];

	snprintf(text, sizeof(text),
			"{\"qos_report\": {\"seq\": 1, \"node_id\": 3, \"boot_id\": \"boot-3-0\", "
			"\"ns_id\": %u, \"app_id\": 4, \"window_ns\": 1000000000, \"reports\": 5}}",
			ns_id);
	hs_controller_message(fake.controller, fake.now_ns, "qos", text, strlen(text));
}

static json_t *window_of(const char *request)
{
	return json_array_get(json_object_get(fake_ok(&fake, request), "qos"), 0);
}

static void raw_reports_of_nodes_that_compute_nothing_become_metrics_here(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"ns_id\": 9, \"window\": \"1s\"}}";

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, SECOND);
	for (unsigned k = 0; k < 400; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	json_t *e2e = json_object_get(window_of(ask), "e2e");
	assert_int_equal(json_integer_value(json_object_get(e2e, "throughput_bps")), 4496000);
	assert_int_equal(json_integer_value(
					 json_object_get(json_object_get(e2e, "delay_ns"), "mean")),
			5000000);
}

static void an_application_is_shown_from_the_windows_of_its_flows(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"app_id\": 4}}";

	(void)state;
	assert_int_equal(json_array_size(json_object_get(fake_ok(&fake, ask), "applications")), 0);
	const char *rule = request(9, 10, NULL);
	char with_app[1024];
	const char *at = strstr(rule, "\"ns_id\"");
	snprintf(with_app, sizeof(with_app), "%.*s\"app_id\": 4, %s", (int)(at - rule), rule, at);
	fake_ok(&fake, with_app);
	fake_run(&fake, SECOND);
	for (unsigned k = 0; k < 400; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	json_t *app = json_array_get(json_object_get(fake_ok(&fake, ask), "applications"), 0);
	json_t *flow = json_array_get(json_object_get(app, "flows"), 0);
	assert_int_equal(json_integer_value(json_object_get(app, "app_id")), 4);
	assert_int_equal(json_integer_value(json_object_get(flow, "ns_id")), 9);
	assert_non_null(json_object_get(flow, "from"));
	json_t *e2e = json_object_get(flow, "e2e");
	assert_int_equal(json_integer_value(json_object_get(e2e, "throughput_bps")), 4496000);
}

// The sinks compute the windows, so that the monitor here is given no reports.
static void an_application_has_a_round_trip_where_its_sinks_publish_windows(void **state)
{
	static const char *const rules[] = {
			"{\"int_request\": {\"ns_id\": 1, \"app_id\": 4, \"src_ip\": "
			"\"2001:db8::1\", "
			"\"dst_ip\": \"2001:db8::2\", \"protocol\": \"udp\", \"mode\": \"count\", "
			"\"mode_setting\": 10, \"trace_type\": \"0x7000E000\"}}",
			"{\"int_request\": {\"ns_id\": 2, \"app_id\": 4, \"src_ip\": "
			"\"2001:db8::2\", "
			"\"dst_ip\": \"2001:db8::1\", \"protocol\": \"udp\", \"mode\": \"count\", "
			"\"mode_setting\": 10, \"trace_type\": \"0x7000E000\"}}"};

	(void)state;
	for (unsigned i = 0; i < 2; i++)
		fake_ok(&fake, rules[i]);
	fake_run(&fake, SECOND);
	for (unsigned k = 0; k < 1500; k++) {
		if (k % 100 == 0) {
			publish_window(1);
			publish_window(2);
		}
		publish_trip(1, k, fake.now_ns, 5000000);
		publish_trip(2, k, fake.now_ns, 3000000);
		fake_run(&fake, SECOND / 100);
	}
	json_t *apps = json_object_get(
			fake_ok(&fake, "{\"qos_get\": {\"app_id\": 4, \"window\": \"1s\"}}"),
			"applications");
	json_t *app = json_array_get(apps, 0), *trip = json_object_get(app, "round_trip_ns");
	assert_int_equal(json_integer_value(json_object_get(trip, "mean")), 8000000);
	assert_int_equal(json_integer_value(json_object_get(trip, "max")), 8000000);
	assert_in_range(json_integer_value(json_object_get(app, "round_trip_pairs")), 98, 100);
}

static void a_report_of_a_time_to_come_does_not_silence_its_flow(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"ns_id\": 9, \"window\": \"1s\"}}";

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, SECOND);
	publish_report(0);
	publish_report_of(1, fake.now_ns + 3600 * SECOND); // of a sink whose clock is ahead
	for (unsigned k = 2; k < 400; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	assert_true(json_integer_value(json_object_get(window_of(ask), "reports")) >= 90);
	json_t *monitor = json_object_get(fake_ok(&fake, "{\"node_get\": {}}"), "monitor");
	assert_int_equal(json_integer_value(json_object_get(monitor, "reports_ahead")), 1);
}

static void windows_go_on_where_the_clock_is_set_back(void **state)
{
	static const char ask[] = "{\"qos_get\": {\"ns_id\": 9, \"window\": \"1s\"}}";

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, SECOND);
	for (unsigned k = 0; k < 200; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	fake.now_ns -= 3600 * SECOND; // and so are those of the nodes, whose stamps follow
	for (unsigned k = 0; k < fake.n_messages; k++)
		fake.messages[(fake.head + k) % FAKE_MESSAGES].due_ns -= 3600 * SECOND;
	for (unsigned k = 200; k < 500; k++) {
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	json_t *window = window_of(ask);
	assert_true(json_integer_value(json_object_get(window, "reports")) >= 90);
	assert_in_range(json_integer_value(json_object_get(window, "end_ns")),
			fake.now_ns - 2 * SECOND, fake.now_ns + SECOND);
}

static size_t windows_of(unsigned ns_id)
{
	char text[64];

	snprintf(text, sizeof(text), "{\"qos_get\": {\"ns_id\": %u}}", ns_id);
	return json_array_size(json_object_get(fake_ok(&fake, text), "qos"));
}

static void metrics_and_counters_of_a_rule_of_others_can_be_asked_for(void **state)
{
	(void)state;
	fake_run(&fake, SECOND);
	fake_at_node(&fake, 2, request(500, 100, NULL));
	publish_window(500);
	assert_int_equal(windows_of(500), 1);
	json_t *nodes = json_object_get(fake_ok(&fake, "{\"int_get\": {\"ns_id\": 500}}"), "nodes");
	assert_int_equal(json_object_size(nodes), 1);
	assert_non_null(json_object_get(json_object_get(nodes, "c"), "rule"));
	assert_string_equal(fake_error(&fake, "{\"qos_get\": {\"ns_id\": 501}}"), "no_such_rule");
	assert_string_equal(
			fake_error(&fake, "{\"int_delete\": {\"ns_id\": 500}}"), "no_such_rule");
}

static void metrics_that_nobody_wants_give_way_to_wanted_ones(void **state)
{
	(void)state;
	fake.config.monitored_rules = 3;
	fake_ok(&fake, request(1, 100, NULL));
	fake_ok(&fake, request(2, 100, NULL));
	publish_window(500);
	publish_window(501);
	publish_window(502);
	publish_window(503); // no room, and none is made for it
	assert_string_equal(fake_error(&fake, "{\"qos_get\": {\"ns_id\": 503}}"), "no_such_rule");
	for (unsigned ns_id = 500; ns_id < 503; ns_id++)
		assert_int_equal(windows_of(ns_id), 1);
	publish_window(500); // heard of last
	publish_window(1);
	publish_window(2);
	assert_int_equal(windows_of(1), 1);
	assert_int_equal(windows_of(2), 1);
	assert_int_equal(windows_of(500), 1);
	assert_string_equal(fake_error(&fake, "{\"qos_get\": {\"ns_id\": 503}}"), "no_such_rule");
	fake_ok(&fake, "{\"int_delete\": {\"ns_id\": 2}}");
	publish_window(501);
	assert_int_equal(windows_of(501), 1);
}

static void metrics_of_a_node_that_computes_them_are_taken_over(void **state)
{
	static const char published[] =
			"{\"qos_report\": {\"seq\": 1, \"node_id\": 3, \"boot_id\": \"boot-3-0\", "
			"\"ns_id\": 9, \"app_id\": 4, \"window_ns\": 1000000000, \"reports\": 77}}";

	(void)state;
	fake_ok(&fake, request(9, 10, NULL));
	fake_run(&fake, SECOND);
	for (unsigned k = 0; k < 400; k++) {
		if (k % 100 == 0)
			hs_controller_message(fake.controller, fake.now_ns, "qos.9", published,
					strlen(published));
		publish_report(k);
		fake_run(&fake, SECOND / 100);
	}
	json_t *window = window_of("{\"qos_get\": {\"ns_id\": 9}}");
	assert_int_equal(json_integer_value(json_object_get(window, "reports")), 77);
	// Published once for each, none of our own.
	unsigned n = 0;
	size_t i;
	json_t *entry;
	json_array_foreach (fake.published, i, entry)
		n += strcmp(json_string_value(json_object_get(entry, "topic")), "qos.9") == 0;
	assert_int_equal(n, 4);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_rule_comes_to_all_nodes_unless_it_says_which),
			TEST(a_change_and_a_removal_come_to_every_node_of_the_rule),
			TEST(a_node_that_restarts_has_its_rules_back_within_two_seconds),
			TEST(a_restart_too_short_to_be_noticed_otherwise_is_seen_by_the_boot_id),
			TEST(a_node_that_was_cut_off_is_brought_up_to_date),
			TEST(a_node_that_takes_requests_and_does_not_answer_is_unreachable),
			TEST(rules_of_others_are_left_alone),
			TEST(the_same_rule_of_another_controller_is_agreement_any_other_a_conflict),
			TEST(two_controllers_that_want_different_things_do_not_fight),
			TEST(rules_at_nodes_carry_the_controllers_name_and_a_revision),
			TEST(a_change_of_somebody_else_is_a_conflict_after_a_restart_too),
			TEST(a_rule_that_another_owner_wants_too_stays_when_it_is_removed_here),
			TEST(a_namesake_is_not_fought_either),
			TEST(a_restart_with_a_clock_in_the_past_changes_nothing),
			TEST(a_node_of_an_earlier_version_is_told_no_owner_and_judged_by_content),
			TEST(a_name_that_nodes_would_refuse_is_refused_at_the_start),
			TEST(what_somebody_removed_at_a_node_comes_back),
			TEST(what_a_node_refuses_is_shown_with_its_reason_and_tried_again),
			TEST(a_controller_that_restarts_takes_over_the_rules_it_finds),
			TEST(a_removal_that_a_node_missed_outlives_the_controller),
			TEST(what_cannot_be_saved_is_refused_and_changes_nothing),
			TEST(a_question_for_the_nodes_is_answered_by_all_that_can_be_reached),
			TEST(questions_under_way_are_answered_when_the_controller_ends),
			TEST(a_rule_that_is_asked_for_elsewhere_leaves_the_nodes_it_was_at),
			TEST(a_rule_that_is_put_elsewhere_again_and_again_ends_where_it_was_put_last),
			TEST(calls_that_a_restart_swallowed_hold_up_nothing),
			TEST(a_change_whose_answer_was_lost_is_not_taken_for_anothers),
			TEST(another_rule_in_its_binding_that_a_restart_came_between_is_known_as_ours),
			TEST(removals_are_kept_only_for_nodes_that_were_told_of_the_rule),
			TEST(a_clock_that_is_set_changes_nothing),
			TEST(windows_go_on_where_the_clock_is_set_back),
			TEST(a_question_for_the_nodes_may_stand_in_a_list),
			TEST(a_list_that_is_taken_back_leaves_the_rule_at_its_nodes),
			TEST(a_flood_of_questions_holds_up_no_repair),
			TEST(what_nodes_learned_in_band_is_neither_missing_nor_anothers),
			TEST(rules_are_refused_when_there_are_as_many_as_the_configuration_allows),
			TEST(bad_targets_are_refused_with_their_path),
			TEST(a_list_that_fails_half_way_leaves_every_rule_where_it_was),
			TEST(raw_reports_of_nodes_that_compute_nothing_become_metrics_here),
			TEST(an_application_is_shown_from_the_windows_of_its_flows),
			TEST(an_application_has_a_round_trip_where_its_sinks_publish_windows),
			TEST(a_report_of_a_time_to_come_does_not_silence_its_flow),
			TEST(metrics_and_counters_of_a_rule_of_others_can_be_asked_for),
			TEST(metrics_that_nobody_wants_give_way_to_wanted_ones),
			TEST(metrics_of_a_node_that_computes_them_are_taken_over),
			TEST(gaps_in_what_a_node_publishes_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

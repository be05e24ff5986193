// SPDX-License-Identifier: BSD-3-Clause
// Rules at nodes that somebody else installed, changed or removed.
#include "controller_rig.h"

#include "rule_fields.h"

#include <stdio.h>
#include <string.h>

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

// A revision that no clock makes, of a client that uses the controller's name, or of another owner.
static void a_great_revision_at_one_node_stops_no_rule(void **state)
{
	static const struct {
		const char *owner, *revision, *state;
	} cases[] = {{"controller", "9007199254740991", "conflict"},
			{"you", "9007199254740991", "conflict"},
			{"controller", "4503599627370495", "present"}};
	char text[600];

	(void)state;
	for (uint32_t i = 0; i < 3; i++) {
		uint32_t ns_id = 1 + i;
		fake_ok(&fake, request(ns_id, 100, NULL));
		fake_run(&fake, SECOND);
		snprintf(text, sizeof(text),
				"{\"int_update\": {\"ns_id\": %u, \"mode_setting\": 3, \"owner\": "
				"\"%s\", \"revision\": %s}}",
				ns_id, cases[i].owner, cases[i].revision);
		fake_at_node(&fake, 1, text);
		fake_reopen(&fake);
		fake_run(&fake, 3 * SECOND);
		assert_string_equal(fake_state(&fake, ns_id, "b"), cases[i].state);
		snprintf(text, sizeof(text),
				"{\"int_update\": {\"ns_id\": %u, \"mode_setting\": 5}}", ns_id);
		fake_ok(&fake, text);
		fake_run(&fake, 3 * SECOND);
		assert_string_equal(fake_state(&fake, ns_id, "b"), "present");
		fake_ok(&fake, request(10 + i, 100, NULL));
		fake_run(&fake, 3 * SECOND);
		assert_string_equal(fake_state(&fake, 10 + i, "a"), "present");
		assert_string_equal(fake_state(&fake, 10 + i, "b"), "present");
	}
	fake_run(&fake, 120 * SECOND); // the nodes are read again
	for (uint32_t i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "{\"int_delete\": {\"ns_id\": %u}}", 10 + i);
		fake_ok(&fake, text);
	}
	fake_run(&fake, 3 * SECOND);
	for (uint32_t i = 0; i < 3; i++)
		assert_null(fake_rule(&fake, 1, 10 + i));
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

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(rules_of_others_are_left_alone),
			TEST(the_same_rule_of_another_controller_is_agreement_any_other_a_conflict),
			TEST(two_controllers_that_want_different_things_do_not_fight),
			TEST(rules_at_nodes_carry_the_controllers_name_and_a_revision),
			TEST(a_change_of_somebody_else_is_a_conflict_after_a_restart_too),
			TEST(a_rule_that_another_owner_wants_too_stays_when_it_is_removed_here),
			TEST(a_namesake_is_not_fought_either),
			TEST(a_great_revision_at_one_node_stops_no_rule),
			TEST(a_restart_with_a_clock_in_the_past_changes_nothing),
			TEST(a_node_of_an_earlier_version_is_told_no_owner_and_judged_by_content),
			TEST(a_name_that_nodes_would_refuse_is_refused_at_the_start),
			TEST(what_somebody_removed_at_a_node_comes_back),
			TEST(a_change_whose_answer_was_lost_is_not_taken_for_anothers),
			TEST(another_rule_in_its_binding_that_a_restart_came_between_is_known_as_ours),
			TEST(what_nodes_learned_in_band_is_neither_missing_nor_anothers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

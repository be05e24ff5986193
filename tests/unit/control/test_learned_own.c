// SPDX-License-Identifier: BSD-3-Clause
// What a node's own API says about rules that came in band.
#include "learned_rig.h"

#include "control_parts.h"

static void tell(struct rig *r, const char *fields)
{
	char text[256];
	snprintf(text, sizeof(text), "{\"int_update\": {\"ns_id\": 7, %s}}", fields);
	json_decref(ask(r, text));
}

static void assert_shown(struct rig *r, const char *part, const char *expected)
{
	json_t *state = state_of_rule(r, 7), *shown = json_object_get(state, part);
	json_t *wanted = expected ? json_loads(expected, 0, NULL) : NULL;
	if (expected ? !json_equal(shown, wanted) : shown != NULL)
		fail_msg("%s is %s, not %s", part, json_dumps(shown, 0), expected);
	json_decref(wanted);
	json_decref(state);
}

static const struct hs_rule *rule_here(struct rig *r)
{
	return hs_flow_table_rule(flows(r), slot_of(r, 7));
}

static void a_repeat_leaves_what_this_node_was_told(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	assert_shown(r, "own", NULL);
	tell(r, "\"transmit_report\": false, \"hop_enabled\": false, \"mode\": \"frequency\", "
		"\"mode_setting\": 20");
	for (unsigned i = 0; i < 3; i++) {
		bring_rule(r, &rule);
		assert_false(rule_here(r)->transmit_report || rule_here(r)->hop_enabled);
		assert_int_equal(rule_here(r)->mode, HS_MODE_FREQUENCY);
		assert_true(rule_here(r)->mode_setting == 20);
	}
	assert_total(r, "requests_in_band_refreshed", 3);
	assert_shown(r, "own",
			"{\"mode\": \"frequency\", \"mode_setting\": 20, \"transmit_report\": "
			"false, \"hop_enabled\": false}");
	assert_shown(r, "in_band",
			"{\"mode\": \"count\", \"mode_setting\": 1, \"transmit_report\": true, "
			"\"hop_enabled\": true}");
	close_with_audit(r);
}

static void what_the_source_changes_reaches_what_this_node_was_not_told(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	tell(r, "\"transmit_report\": false");
	rule.piggyback_report = true;
	rule.mode_setting = 5;
	bring_rule(r, &rule);
	assert_false(rule_here(r)->transmit_report);
	assert_true(rule_here(r)->piggyback_report && rule_here(r)->mode_setting == 5);
	// Also where it replaces the rule.
	rule.app_id = 99;
	bring_rule(r, &rule);
	assert_int_equal(rule_here(r)->app_id, 99);
	assert_false(rule_here(r)->transmit_report);
	close_with_audit(r);
}

static void a_setting_stands_with_its_mode(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	tell(r, "\"mode_setting\": 1000");
	rule.mode = HS_MODE_PROBABILITY; // 1000 is no percentage
	rule.mode_setting = 10;
	bring_rule(r, &rule);
	assert_int_equal(rule_here(r)->mode, HS_MODE_COUNT);
	assert_true(rule_here(r)->mode_setting == 1000);
	tell(r, "\"mode_setting\": null");
	assert_int_equal(rule_here(r)->mode, HS_MODE_PROBABILITY);
	assert_true(rule_here(r)->mode_setting == 10);
	assert_shown(r, "own", NULL);
	close_with_audit(r);
}

static void null_gives_back_to_what_came_last(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	tell(r, "\"transmit_report\": true, \"piggyback_report\": true, \"extract_report\": true");
	rule.transmit_report = false;
	bring_rule(r, &rule);
	assert_true(rule_here(r)->transmit_report);
	tell(r, "\"transmit_report\": null, \"extract_report\": null, \"hop_enabled\": null");
	assert_false(rule_here(r)->transmit_report || rule_here(r)->extract_report);
	assert_true(rule_here(r)->piggyback_report && rule_here(r)->hop_enabled);
	assert_shown(r, "own", "{\"piggyback_report\": true}");
	tell(r, "\"piggyback_report\": null");
	assert_false(rule_here(r)->piggyback_report);
	assert_shown(r, "own", NULL);
	close_with_audit(r);
}

static void a_rule_that_went_and_comes_again_finds_what_this_node_was_told(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	tell(r, "\"transmit_report\": false");
	step(r, 200 * SECOND);
	assert_false(is_installed(r, 7));
	bring_rule(r, &rule);
	assert_false(rule_here(r)->transmit_report);
	// A deletion is the last word: it comes again as the source has it.
	json_decref(ask(r, "{\"int_delete\": {\"ns_id\": 7}}"));
	bring_rule(r, &rule);
	assert_true(rule_here(r)->transmit_report);
	close_with_audit(r);
}

static void fields_of_a_rule_that_came_in_band_are_told_and_given_back(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	tell(r, "\"fields\": {\"packets\": {\"probability_percent\": 50}}");
	rule.mode_setting = 9;
	bring_rule(r, &rule);
	json_t *shown = rule_shown(r, 7), *fields = json_object_get(shown, "fields");
	json_t *packets = json_object_get(fields, "packets");
	assert_true(json_real_value(json_object_get(packets, "probability_percent")) == 50);
	assert_non_null(json_object_get(fields, "bytes"));
	json_decref(shown);
	tell(r, "\"fields\": null");
	shown = rule_shown(r, 7);
	assert_null(json_object_get(shown, "fields"));
	assert_shown(r, "own", NULL);
	json_decref(shown);
	close_with_audit(r);
}

static void a_rule_that_came_in_band_has_no_owner(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	json_t *reply = ask_raw(r, "{\"int_update\": {\"ns_id\": 7, \"owner\": \"lab\", "
				   "\"transmit_report\": false}}");
	json_t *error = json_object_get(reply, "error");
	assert_string_equal(json_string_value(json_object_get(error, "code")), "unsupported");
	assert_string_equal(json_string_value(json_object_get(error, "path")), "int_update.owner");
	json_decref(reply);
	assert_shown(r, "own", NULL);
	tell(r, "\"transmit_report\": false");
	assert_int_equal(rule_here(r)->owner, 0);
	assert_shown(r, "own", "{\"transmit_report\": false}");
	close_with_audit(r);
}

static void what_was_told_about_rules_that_went_is_bounded(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	for (uint32_t i = 0; i < 3000; i++) {
		struct hs_rule rule = a_rule(7);
		bring_rule(r, &rule);
		tell(r, "\"transmit_report\": false");
		forget_published(r);
		rule.ns_id = 100 + i;
		bring_rule(r, &rule);
		char text[128];
		snprintf(text, sizeof(text),
				"{\"int_update\": {\"ns_id\": %u, \"hop_enabled\": false}}",
				100 + i);
		json_decref(ask(r, text));
		step(r, 200 * SECOND);
	}
	// The oldest went.
	struct hs_rule rule = a_rule(100);
	bring_rule(r, &rule);
	assert_true(hs_flow_table_rule(flows(r), slot_of(r, 100))->hop_enabled);
	rule = a_rule(3099);
	bring_rule(r, &rule);
	assert_false(hs_flow_table_rule(flows(r), slot_of(r, 3099))->hop_enabled);
	close_with_audit(r);
}

// A change of the line that is refused is then named by its place in the file.
static void what_is_left_of_a_line_of_the_state_keeps_its_place(void **state)
{
	(void)state;
	struct rig *r = rig_open(SINK, 1500, 8);
	json_t *line = json_loads("[{\"int_update\": {\"ns_id\": 7, \"hop_enabled\": false}}, "
				  "{\"int_request\": {\"ns_id\": 8}}]",
			0, NULL);
	struct hs_error err = {0};
	json_t *rest;

	assert_int_equal(hs_in_band_replay(r->control->in_band, line, &rest, &err), 0);
	assert_int_equal(json_array_size(rest), 2);
	assert_true(json_is_null(json_array_get(rest, 0)));
	assert_int_equal(hs_api_replay(&r->control->backend, rest, NULL, NULL, &err), -EINVAL);
	assert_memory_equal(err.path, "[1].int_request", sizeof("[1].int_request") - 1);
	json_decref(rest);
	json_array_remove(line, 1);
	assert_int_equal(hs_in_band_replay(r->control->in_band, line, &rest, &err), 0);
	assert_null(rest);
	json_decref(line);
	close_with_audit(r);
}

// While the state is read, no rule is installed yet: the settings may be of as many rules as the
// node can learn, and of 1,024 others.
static void settings_of_many_rules_are_read_from_the_state(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	struct hs_in_band *in_band = r->control->in_band;
	for (uint32_t ns_id = 1; ns_id <= 2100; ns_id++) {
		struct hs_error err = {0};
		json_t *rest, *line = json_pack("{s:{s:i, s:b}}", "int_update", "ns_id", (int)ns_id,
					      "transmit_report", 0);
		assert_int_equal(hs_in_band_replay(in_band, line, &rest, &err), 0);
		assert_null(rest);
		json_decref(line);
	}
	assert_int_equal(hs_in_band_count_lines(in_band), 2048); // 1,024 rules may come in band
	// Nor does a setting of the first rule that comes back.
	struct hs_rule rule = a_rule(7);
	bring_rule(r, &rule);
	tell(r, "\"hop_enabled\": false");
	assert_int_equal(hs_in_band_count_lines(in_band), 2048);
	rig_close(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_repeat_leaves_what_this_node_was_told),
			cmocka_unit_test(
					what_the_source_changes_reaches_what_this_node_was_not_told),
			cmocka_unit_test(a_setting_stands_with_its_mode),
			cmocka_unit_test(null_gives_back_to_what_came_last),
			cmocka_unit_test(
					a_rule_that_went_and_comes_again_finds_what_this_node_was_told),
			cmocka_unit_test(
					fields_of_a_rule_that_came_in_band_are_told_and_given_back),
			cmocka_unit_test(a_rule_that_came_in_band_has_no_owner),
			cmocka_unit_test(what_was_told_about_rules_that_went_is_bounded),
			cmocka_unit_test(settings_of_many_rules_are_read_from_the_state),
			cmocka_unit_test(what_is_left_of_a_line_of_the_state_keeps_its_place),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

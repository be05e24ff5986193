// SPDX-License-Identifier: BSD-3-Clause
// Signed requests: whose are taken, and when.
#include "learned_rig.h"

#define KEY_BYTE 0x5a

static struct rig *open_with_key(void)
{
	struct hs_in_band_settings in_band;
	hs_in_band_init(&in_band);
	in_band.has_key = true;
	in_band.key = a_key(KEY_BYTE);
	struct rig *r = rig_open_with(TRANSIT, 1500, 8, &in_band);
	step(r, 300 * SECOND); // it has been there for a while
	return r;
}

static void a_node_with_a_key_takes_what_is_signed_with_it(void **state)
{
	(void)state;
	struct rig *r = open_with_key();
	struct hs_rule rule = a_rule(7);
	bring_signed(r, &rule, 0, KEY_BYTE, r->now_ns);
	assert_true(is_installed(r, 7));
	bring_signed(r, &rule, 0, KEY_BYTE, r->now_ns);
	assert_total(r, "requests_in_band_refreshed", 1);
	close_with_audit(r);
}

static void a_node_with_a_key_takes_nothing_else(void **state)
{
	(void)state;
	struct rig *r = open_with_key();
	struct hs_rule rule = a_rule(7);
	bring_signed(r, &rule, 0, 0, 0);
	assert_reason(r, "not signed");
	bring_signed(r, &rule, 0, KEY_BYTE ^ 1, r->now_ns);
	assert_false(is_installed(r, 7));
	assert_total(r, "requests_in_band_bad", 2);
	close_with_audit(r);
}

static void a_node_without_a_key_takes_signed_requests(void **state)
{
	(void)state;
	struct rig *r = rig_open(TRANSIT, 1500, 8);
	struct hs_rule rule = a_rule(7);
	bring_signed(r, &rule, 0, KEY_BYTE, 5);
	assert_true(is_installed(r, 7));
	assert_total(r, "requests_in_band_unknown_keys", 0);
	close_with_audit(r);
}

static void a_signed_request_that_comes_again_is_a_replay(void **state)
{
	(void)state;
	struct rig *r = open_with_key();
	struct hs_rule rule = a_rule(7), changed = rule;
	changed.mode_setting = 9;
	int64_t first_ns = r->now_ns;
	bring_signed(r, &changed, 0, KEY_BYTE, first_ns);
	bring_signed(r, &rule, 0, KEY_BYTE, first_ns + 5);
	step(r, 50 * SECOND);
	bring_signed(r, &changed, 0, KEY_BYTE, first_ns);
	bring_signed(r, &rule, 0, KEY_BYTE, first_ns + 5);
	json_t *shown = rule_shown(r, 7);
	assert_number(shown, "mode_setting", 1);
	json_decref(shown);
	assert_total(r, "requests_in_band_replayed", 2);
	// It did not prolong the rule's life either.
	assert_state(r, 7, "expires_ns", first_ns + 2 * 1000000 + 180 * SECOND);
	close_with_audit(r);
}

static void a_signed_request_of_another_time_is_refused(void **state)
{
	(void)state;
	struct rig *r = open_with_key();
	struct hs_rule rule = a_rule(7);
	bring_signed(r, &rule, 0, KEY_BYTE, r->now_ns - 121 * SECOND);
	bring_signed(r, &rule, 0, KEY_BYTE, r->now_ns + 121 * SECOND);
	assert_false(is_installed(r, 7));
	assert_total(r, "requests_in_band_replayed", 2);
	bring_signed(r, &rule, 0, KEY_BYTE, r->now_ns - 119 * SECOND);
	assert_true(is_installed(r, 7));
	close_with_audit(r);
}

static void without_a_limit_of_age_only_the_order_counts(void **state)
{
	(void)state;
	struct hs_in_band_settings in_band;
	hs_in_band_init(&in_band);
	in_band.has_key = true;
	in_band.key = a_key(KEY_BYTE);
	in_band.max_age_s = 0;
	struct rig *r = rig_open_with(TRANSIT, 1500, 8, &in_band);
	struct hs_rule rule = a_rule(7);
	bring_signed(r, &rule, 0, KEY_BYTE, 5);
	assert_true(is_installed(r, 7));
	bring_signed(r, &rule, 0, KEY_BYTE, 5);
	assert_total(r, "requests_in_band_replayed", 1);
	close_with_audit(r);
}

static void the_signature_of_one_namespace_is_no_measure_for_another(void **state)
{
	(void)state;
	struct rig *r = open_with_key();
	struct hs_rule seven = a_rule(7), eight = a_rule(8);
	bring_signed(r, &seven, 0, KEY_BYTE, r->now_ns);
	bring_signed(r, &eight, 0, KEY_BYTE, r->now_ns - 10 * SECOND);
	assert_true(is_installed(r, 8));
	close_with_audit(r);
}

static void what_was_signed_before_a_node_started_is_not_taken_by_it(void **state)
{
	(void)state;
	struct hs_in_band_settings in_band;
	hs_in_band_init(&in_band);
	in_band.has_key = true;
	in_band.key = a_key(KEY_BYTE);
	struct rig *r = rig_open_with(TRANSIT, 1500, 8, &in_band);
	struct hs_rule rule = a_rule(7);
	bring_signed(r, &rule, 0, KEY_BYTE, r->now_ns - 1);
	assert_false(is_installed(r, 7));
	assert_reason(r, "before this node started");
	assert_total(r, "requests_in_band_replayed", 1);
	bring_signed(r, &rule, 0, KEY_BYTE, r->now_ns);
	assert_true(is_installed(r, 7));
	// From now on the order counts: a source whose clock is behind, but goes on.
	bring_signed(r, &rule, 0, KEY_BYTE, r->now_ns - 1);
	assert_total(r, "requests_in_band_refreshed", 1);
	close_with_audit(r);
}

static void a_deleted_rule_does_not_come_back_with_a_replay(void **state)
{
	(void)state;
	struct rig *r = open_with_key();
	struct hs_rule rule = a_rule(7);
	int64_t first_ns = r->now_ns;
	bring_signed(r, &rule, 0, KEY_BYTE, first_ns);
	json_decref(ask(r, "{\"int_delete\": {\"ns_id\": 7}}"));
	bring_signed(r, &rule, 0, KEY_BYTE, first_ns);
	assert_false(is_installed(r, 7));
	assert_total(r, "requests_in_band_replayed", 1);
	bring_signed(r, &rule, 0, KEY_BYTE, first_ns + 1);
	assert_true(is_installed(r, 7));
	close_with_audit(r);
}

// Memory is bounded: what it does not hold any longer raises the floor.
static void the_oldest_signatures_that_are_forgotten_cannot_be_replayed_either(void **state)
{
	(void)state;
	struct rig *r = open_with_key();
	int64_t first_ns = r->now_ns;
	for (uint32_t i = 0; i < 8192; i++) {
		struct hs_rule rule = a_rule(1 + i % 60);
		rule.ns_id = 1 + i;
		bring_signed(r, &rule, 0, KEY_BYTE, first_ns + i);
		char text[64];
		snprintf(text, sizeof(text), "{\"int_delete\": {\"ns_id\": %u}}", 1 + i);
		json_decref(ask_raw(r, text));
	}
	forget_published(r);
	for (uint32_t i = 0; i < 8192; i += 61) {
		struct hs_rule rule = a_rule(1 + i % 60);
		rule.ns_id = 1 + i;
		bring_signed(r, &rule, 0, KEY_BYTE, first_ns + i);
		assert_false(is_installed(r, 1 + i));
	}
	close_with_audit(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_node_with_a_key_takes_what_is_signed_with_it),
			cmocka_unit_test(a_node_with_a_key_takes_nothing_else),
			cmocka_unit_test(a_node_without_a_key_takes_signed_requests),
			cmocka_unit_test(a_signed_request_that_comes_again_is_a_replay),
			cmocka_unit_test(a_signed_request_of_another_time_is_refused),
			cmocka_unit_test(without_a_limit_of_age_only_the_order_counts),
			cmocka_unit_test(the_signature_of_one_namespace_is_no_measure_for_another),
			cmocka_unit_test(what_was_signed_before_a_node_started_is_not_taken_by_it),
			cmocka_unit_test(a_deleted_rule_does_not_come_back_with_a_replay),
			cmocka_unit_test(
					the_oldest_signatures_that_are_forgotten_cannot_be_replayed_either),
	};
	dpdk_env_init("64");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

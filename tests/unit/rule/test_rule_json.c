// SPDX-License-Identifier: BSD-3-Clause
#include "rule_text.h"

#include <string.h>

static const uint8_t src_ip[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
static const uint8_t dst_ip[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 2};

static void the_papers_listing_becomes_a_rule(void **state)
{
	struct hs_rule rule;
	struct hs_error err = {0};
	json_t *json = loads(listing1);
	(void)state;
	assert_int_equal(hs_rule_from_json(json, &rule, &err), 0);
	assert_int_equal(rule.ns_id, 7);
	assert_int_equal(rule.app_id, 1);
	assert_memory_equal(rule.src_ip, src_ip, 16);
	assert_memory_equal(rule.dst_ip, dst_ip, 16);
	assert_int_equal(rule.src_port, 0);
	assert_int_equal(rule.dst_port, 5001);
	assert_int_equal(rule.protocol, 17);
	assert_int_equal(rule.trace_type, 0x7000E000);
	assert_int_equal(rule.mode, HS_MODE_COUNT);
	assert_true(rule.mode_setting == 100.0);
	assert_true(rule.transmit_report && rule.hop_enabled);
	assert_false(rule.in_band || rule.piggyback_report || rule.extract_report);
	json_decref(json);
}

static void a_rule_is_written_with_every_field_and_read_back(void **state)
{
	struct hs_rule rule, again;
	json_t *in = loads(listing1);
	json_t *expected = loads(
			"{\"ns_id\": 7, \"app_id\": 1, \"src_ip\": \"2001:db8::1\","
			"\"dst_ip\": \"2001:db8::2\", \"src_port\": 0, \"dst_port\": 5001,"
			"\"protocol\": \"udp\", \"trace_type\": \"0x7000E000\", \"mode\": "
			"\"count\","
			"\"mode_setting\": 100, \"in_band\": false, \"transmit_report\": true,"
			"\"piggyback_report\": false, \"extract_report\": false, \"hop_enabled\": "
			"true}");
	(void)state;
	assert_int_equal(hs_rule_from_json(in, &rule, NULL), 0);
	json_t *out = hs_rule_to_json(&rule);
	assert_true(json_equal(out, expected));
	assert_int_equal(hs_rule_from_json(out, &again, NULL), 0);
	assert_memory_equal(&rule, &again, sizeof(rule));
	json_decref(in);
	json_decref(expected);
	json_decref(out);
}

static void ports_and_app_id_may_be_left_out(void **state)
{
	struct hs_rule rule;
	json_t *json = loads(listing1);
	(void)state;
	json_object_del(json, "src_port");
	json_object_del(json, "dst_port");
	json_object_del(json, "app_id");
	assert_int_equal(hs_rule_from_json(json, &rule, NULL), 0);
	assert_int_equal(rule.dst_port, 0);
	assert_int_equal(rule.app_id, 0);
	json_decref(json);
}

static void each_required_field_is_missed_by_name(void **state)
{
	static const char *const required[] = {"ns_id", "src_ip", "dst_ip", "protocol",
			"trace_type", "mode", "mode_setting"};
	(void)state;
	for (size_t i = 0; i < sizeof(required) / sizeof(required[0]); i++) {
		struct hs_rule rule;
		struct hs_error err = {0};
		json_t *json = loads(listing1);
		json_object_del(json, required[i]);
		assert_int_not_equal(hs_rule_from_json(json, &rule, &err), 0);
		assert_string_equal(err.code, "missing_field");
		assert_string_equal(err.path, required[i]);
		json_decref(json);
	}
}

static const struct {
	const char *field, *value, *code;
} bad_values[] = {
		{"ns_id", "0", "out_of_range"},
		{"ns_id", "4294967296", "out_of_range"},
		{"ns_id", "-1", "out_of_range"},
		{"ns_id", "-9223372036854775808", "out_of_range"},
		{"ns_id", "1.5", "wrong_type"},
		{"ns_id", "\"7\"", "wrong_type"},
		{"ns_id", "null", "wrong_type"},
		{"ns_id", "true", "wrong_type"},
		{"app_id", "4294967296", "out_of_range"},
		{"app_id", "[]", "wrong_type"},
		{"src_ip", "\"192.0.2.1\"", "wrong_family"},
		{"dst_ip", "\"127.0.0.1\"", "wrong_family"},
		{"src_ip", "\"::ffff:192.0.2.1\"", "bad_value"},
		{"dst_ip", "\"::ffff:c000:201\"", "bad_value"},
		{"src_ip", "\"192.0.2\"", "bad_value"},
		{"src_ip", "\"192.0.2.01\"", "bad_value"},
		{"src_ip", "\"192.0.2.1/32\"", "wrong_family"},
		{"src_ip", "\"192.0.2.0/33\"", "bad_value"},
		{"src_ip", "\"192.0.2.0/\"", "bad_value"},
		{"src_ip", "\"192.0.2.0/08\"", "bad_value"},
		{"src_ip", "\"2001:db8::/32\"", "bad_value"},
		{"src_ip", "\"2001:db8::/129\"", "bad_value"},
		{"src_ip", "\"2001:db8::/+32\"", "bad_value"},
		{"src_ip", "\"::ffff:10.0.0.0/104\"", "bad_value"},
		{"protocol", "\"all\"", "out_of_range"},
		{"src_ip", "\"::\"", "bad_value"},
		{"dst_ip", "\"0.0.0.0\"", "wrong_family"},
		{"dscp", "10", "conflict"},
		{"dscp", "64", "out_of_range"},
		{"dscp", "-1", "out_of_range"},
		{"dscp", "\"ef\"", "wrong_type"},
		{"dscp", "10.0", "wrong_type"},
		{"dscp", "null", "wrong_type"},
		{"src_ip", "\"2001:db8::g\"", "bad_value"},
		{"src_ip", "\"2001:db8::1/64\"", "bad_value"},
		{"src_ip", "\"fe80::1%eth0\"", "bad_value"},
		{"src_ip", "\"\"", "bad_value"},
		{"src_ip",
				"\"0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:0000:"
				"0000\"",
				"bad_value"},
		{"src_ip", "1", "wrong_type"},
		{"src_port", "65536", "out_of_range"},
		{"dst_port", "-1", "out_of_range"},
		{"dst_port", "\"http\"", "wrong_type"},
		{"protocol", "\"sctp\"", "out_of_range"},
		{"protocol", "\"UDP\"", "out_of_range"},
		{"protocol", "17", "wrong_type"},
		{"trace_type", "\"0x7000E001\"", "out_of_range"},
		{"trace_type", "\"0x170000000\"", "bad_value"},
		{"trace_type", "\"7000E000\"", "bad_value"},
		{"trace_type", "\"0x\"", "bad_value"},
		{"trace_type", "\"0x7000G000\"", "bad_value"},
		{"trace_type", "1879105536", "wrong_type"},
		{"mode", "\"often\"", "out_of_range"},
		{"mode", "0", "wrong_type"},
		{"mode_setting", "0", "out_of_range"},
		{"mode_setting", "1.5", "out_of_range"},
		{"mode_setting", "\"100\"", "wrong_type"},
		{"mode_setting", "-100", "out_of_range"},
		{"in_band", "0", "wrong_type"},
		{"hop_enabled", "1", "wrong_type"},
		{"transmit_report", "\"true\"", "wrong_type"},
		{"owner", "\"\"", "bad_value"},
		{"owner", "\"12345678901234567890123456789012\"", "bad_value"},
		{"owner", "\"a\\u001bb\"", "bad_value"},
		{"owner", "\"a\\u202eb\"", "bad_value"},
		{"owner", "7", "wrong_type"},
		{"owner", "null", "wrong_type"},
		{"revision", "0", "out_of_range"},
		{"revision", "-1", "out_of_range"},
		{"revision", "9007199254740992", "out_of_range"},
		{"revision", "1.5", "wrong_type"},
};

static void a_bad_value_is_refused_with_code_path_and_what_was_allowed(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(bad_values) / sizeof(bad_values[0]); i++) {
		struct hs_rule rule, before;
		struct hs_error err = {0};
		json_t *json = loads(listing1);
		memset(&rule, 0x5a, sizeof(rule));
		before = rule;
		json_object_set_new(json, bad_values[i].field, loads(bad_values[i].value));
		assert_int_not_equal(hs_rule_from_json(json, &rule, &err), 0);
		assert_string_equal(err.code, bad_values[i].code);
		assert_string_equal(err.path, bad_values[i].field);
		assert_non_null(strstr(err.message, bad_values[i].field));
		assert_string_not_equal(err.expected, "");
		assert_memory_equal(&rule, &before, sizeof(rule));
		json_decref(json);
	}
}

static void an_ipv4_address_is_told_that_ipv6_is_needed(void **state)
{
	struct hs_rule rule;
	struct hs_error err = {0};
	json_t *json = loads(listing1);
	(void)state;
	json_object_set_new(json, "src_ip", json_string("192.0.2.1"));
	assert_int_not_equal(hs_rule_from_json(json, &rule, &err), 0);
	assert_non_null(strstr(err.message, "192.0.2.1"));
	assert_non_null(strstr(err.message, "IPv6"));
	json_decref(json);
}

static void an_unknown_field_is_named(void **state)
{
	struct hs_rule rule;
	struct hs_error err = {0};
	json_t *json = loads(listing1);
	(void)state;
	json_object_set_new(json, "scr_ip", json_string("::1"));
	assert_int_not_equal(hs_rule_from_json(json, &rule, &err), 0);
	assert_string_equal(err.code, "unknown_field");
	assert_string_equal(err.path, "scr_ip");
	assert_non_null(strstr(err.expected, "src_ip"));
	json_decref(json);
}

static void a_value_that_is_no_object_is_refused(void **state)
{
	struct hs_rule rule;
	struct hs_error err = {0};
	json_t *json = loads("[1]");
	(void)state;
	assert_int_not_equal(hs_rule_from_json(json, &rule, &err), 0);
	assert_string_equal(err.code, "wrong_type");
	json_decref(json);
}

static void fractions_of_milliseconds_and_percents_survive(void **state)
{
	static const struct {
		const char *mode;
		double setting;
	} cases[] = {{"frequency", 0.001}, {"frequency", 2.5}, {"probability", 0.1}};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_rule rule;
		json_t *json = loads(listing1);
		json_object_set_new(json, "mode", json_string(cases[i].mode));
		json_object_set_new(json, "mode_setting", json_real(cases[i].setting));
		assert_int_equal(hs_rule_from_json(json, &rule, NULL), 0);
		json_t *out = hs_rule_to_json(&rule);
		assert_true(json_real_value(json_object_get(out, "mode_setting")) ==
				cases[i].setting);
		json_decref(json);
		json_decref(out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_papers_listing_becomes_a_rule),
			cmocka_unit_test(a_rule_is_written_with_every_field_and_read_back),
			cmocka_unit_test(ports_and_app_id_may_be_left_out),
			cmocka_unit_test(each_required_field_is_missed_by_name),
			cmocka_unit_test(
					a_bad_value_is_refused_with_code_path_and_what_was_allowed),
			cmocka_unit_test(an_ipv4_address_is_told_that_ipv6_is_needed),
			cmocka_unit_test(an_unknown_field_is_named),
			cmocka_unit_test(a_value_that_is_no_object_is_refused),
			cmocka_unit_test(fractions_of_milliseconds_and_percents_survive),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

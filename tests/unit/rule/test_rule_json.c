// SPDX-License-Identifier: BSD-3-Clause
#include "rule_field.h"
#include "rule_json.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char listing1[] =
		"{\"ns_id\": 7, \"app_id\": 1, \"src_ip\": \"2001:db8::1\", \"dst_ip\": "
		"\"2001:db8::2\","
		"\"src_port\": 0, \"dst_port\": 5001, \"protocol\": \"udp\","
		"\"trace_type\": \"0x7000E000\", \"mode\": \"count\", \"mode_setting\": 100}";

static const uint8_t src_ip[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 1};
static const uint8_t dst_ip[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = 2};

static json_t *loads(const char *text)
{
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	assert_non_null(json);
	return json;
}

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

static const char int_rule[] =
		"{\"ns_id\": 7, \"src_ip\": \"2001:db8::1\", \"dst_ip\": \"2001:db8::2\","
		"\"protocol\": \"udp\", \"mode\": \"count\", \"mode_setting\": 100,"
		"\"method\": \"int\"}";

static json_t *int_rule_with(const char *key, const char *value)
{
	json_t *json = loads(int_rule);

	json_object_set_new(json, key, loads(value));
	return json;
}

static void instructions_are_read_by_name_and_written_back(void **state)
{
	json_t *in = int_rule_with("instructions", "[\"queue\", \"node_id\", \"ports\"]");
	struct hs_rule rule, again;
	(void)state;

	assert_int_equal(hs_rule_from_json(in, &rule, NULL), 0);
	assert_int_equal(rule.method, HS_RULE_INT);
	assert_int_equal(rule.trace_type, HS_RULE_TRACE_INT | 0xD000);
	json_t *out = hs_rule_to_json(&rule);
	json_t *expected = loads("[\"node_id\", \"ports\", \"queue\"]");
	assert_true(json_equal(json_object_get(out, "instructions"), expected));
	assert_null(json_object_get(out, "trace_type"));
	assert_null(json_object_get(out, "instruction_bitmap"));
	assert_string_equal(json_string_value(json_object_get(out, "method")), "int");
	assert_int_equal(hs_rule_from_json(out, &again, NULL), 0);
	assert_memory_equal(&rule, &again, sizeof(rule));
	json_decref(expected);
	json_decref(in);
	json_decref(out);
}

static void a_bitmap_stands_for_instructions(void **state)
{
	json_t *in = int_rule_with("instruction_bitmap", "\"0x9001\"");
	struct hs_rule rule;
	(void)state;

	assert_int_equal(hs_rule_from_json(in, &rule, NULL), 0);
	assert_int_equal(rule.trace_type, HS_RULE_TRACE_INT | HS_RULE_TRACE_BITMAP | 0x9001);
	json_t *out = hs_rule_to_json(&rule);
	assert_string_equal(
			json_string_value(json_object_get(out, "instruction_bitmap")), "0x9001");
	assert_null(json_object_get(out, "instructions"));
	json_decref(in);
	json_decref(out);
}

static void a_rule_for_a_set_of_flows_prints_as_it_was_read(void **state)
{
	static const char *const prefixes[][2] = {{"10.0.0.0/8", "0.0.0.0/0"},
			{"192.0.2.1", "192.0.2.128/25"}, {"2001:db8::/32", "::/0"},
			{"2001:db8::1", "2001:db8:8000::/33"}};
	(void)state;

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		json_t *in = int_rule_with("instructions", "[\"queue\"]");
		struct hs_rule rule;
		json_object_set_new(in, "src_ip", json_string(prefixes[i][0]));
		json_object_set_new(in, "dst_ip", json_string(prefixes[i][1]));
		json_object_set_new(in, "protocol", json_string("any"));
		json_object_set_new(in, "dscp", json_integer((json_int_t)i * 21));
		assert_int_equal(hs_rule_from_json(in, &rule, NULL), 0);
		json_t *out = hs_rule_to_json(&rule);
		const char *key;
		json_t *value;
		json_object_foreach (in, key, value)
			assert_true(json_equal(json_object_get(out, key), value));
		json_decref(in);
		json_decref(out);
	}
}

static void an_address_with_its_whole_length_is_the_address(void **state)
{
	json_t *in = int_rule_with("instructions", "[\"queue\"]");
	struct hs_rule rule;
	(void)state;

	json_object_set_new(in, "src_ip", json_string("192.0.2.1/32"));
	json_object_set_new(in, "dst_ip", json_string("192.0.2.2"));
	assert_int_equal(hs_rule_from_json(in, &rule, NULL), 0);
	json_t *out = hs_rule_to_json(&rule);
	assert_string_equal(json_string_value(json_object_get(out, "src_ip")), "192.0.2.1");
	assert_null(json_object_get(out, "dscp"));
	json_decref(in);
	json_decref(out);
}

static void a_prefix_with_host_bits_is_told_the_right_prefix(void **state)
{
	static const struct {
		const char *given, *right;
	} cases[] = {
			{"10.1.2.3/8", "10.0.0.0/8"},
			{"192.0.2.255/25", "192.0.2.128/25"},
			{"10.0.0.1/0", "0.0.0.0/0"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *in = int_rule_with("instructions", "[\"queue\"]");
		struct hs_error err = {0};
		struct hs_rule rule;
		json_object_set_new(in, "src_ip", json_string("192.0.2.1"));
		json_object_set_new(in, "dst_ip", json_string(cases[i].given));
		assert_int_not_equal(hs_rule_from_json(in, &rule, &err), 0);
		assert_string_equal(err.code, "bad_value");
		assert_string_equal(err.path, "dst_ip");
		assert_string_equal(err.expected, cases[i].right);
		assert_non_null(strstr(err.message, cases[i].given));
		json_decref(in);
	}
}

static void a_source_is_not_multicast_though_a_destination_may_be(void **state)
{
	static const struct {
		const char *src_ip, *dst_ip;
		bool refused;
	} cases[] = {{"ff02::1", "2001:db8::1", true}, {"ff00::/8", "::/0", true},
			{"ff3e::/16", "::/0", true}, {"fe00::/7", "::/0", false},
			{"2001:db8::1", "ff02::1", false}, {"224.0.0.1", "192.0.2.1", true},
			{"239.255.255.255", "192.0.2.1", true}, {"224.0.0.0/4", "0.0.0.0/0", true},
			{"224.0.0.0/3", "0.0.0.0/0", false},
			{"223.255.255.255", "224.0.0.1", false}, {"240.0.0.1", "224.0.0.1", false},
			{"::/0", "ff02::1", false}};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *in = int_rule_with("instructions", "[\"queue\"]");
		struct hs_error err = {0};
		struct hs_rule rule;
		json_object_set_new(in, "src_ip", json_string(cases[i].src_ip));
		json_object_set_new(in, "dst_ip", json_string(cases[i].dst_ip));
		assert_int_equal(hs_rule_from_json(in, &rule, &err) != 0, cases[i].refused);
		assert_string_equal(err.path, cases[i].refused ? "src_ip" : "");
		if (cases[i].refused)
			assert_non_null(strstr(err.message, cases[i].src_ip));
		json_decref(in);
	}
}

static void what_a_method_does_not_have_is_refused(void **state)
{
	static const struct {
		const char *key, *value, *code, *path;
	} cases[] = {
			{"method", "\"int\"", "missing_field", "instructions"},
			{"method", "\"ioam\"", "out_of_range", "method"},
			{"instructions", "[]", "out_of_range", "instructions"},
			{"instructions", "\"queue\"", "wrong_type", "instructions"},
			{"instructions", "[\"queue\", \"depth\"]", "bad_value", "instructions[1]"},
			{"instructions", "[\"queue\", \"queue\"]", "bad_value", "instructions[1]"},
			{"instructions", "[1]", "wrong_type", "instructions[0]"},
			{"instruction_bitmap", "\"0x0000\"", "bad_value", "instruction_bitmap"},
			{"instruction_bitmap", "\"0x90000\"", "bad_value", "instruction_bitmap"},
			{"trace_type", "\"0x7000E000\"", "conflict", "trace_type"},
	};
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *json = int_rule_with(cases[i].key, cases[i].value);
		struct hs_error err = {0};
		struct hs_rule rule;
		assert_int_equal(hs_rule_from_json(json, &rule, &err), -EINVAL);
		assert_string_equal(err.code, cases[i].code);
		assert_string_equal(err.path, cases[i].path);
		json_decref(json);
	}
}

static void int_has_nothing_in_band(void **state)
{
	static const char *const keys[] = {"in_band", "piggyback_report", "extract_report"};
	(void)state;

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *json = int_rule_with("instructions", "[\"node_id\"]");
		struct hs_error err = {0};
		struct hs_rule rule;
		json_object_set_new(json, keys[i], json_true());
		assert_int_equal(hs_rule_from_json(json, &rule, &err), -EINVAL);
		assert_string_equal(err.code, "conflict");
		assert_string_equal(err.path, keys[i]);
		json_decref(json);
	}
}

static void flexint_has_no_instructions(void **state)
{
	json_t *json = loads(listing1);
	struct hs_error err = {0};
	struct hs_rule rule;
	(void)state;

	json_object_set_new(json, "instructions", loads("[\"node_id\"]"));
	assert_int_equal(hs_rule_from_json(json, &rule, &err), -EINVAL);
	assert_string_equal(err.path, "instructions");
	json_object_del(json, "instructions");
	json_object_del(json, "trace_type");
	assert_int_equal(hs_rule_from_json(json, &rule, &err), -EINVAL);
	assert_string_equal(err.code, "missing_field");
	assert_string_equal(err.path, "trace_type");
	json_decref(json);
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
			cmocka_unit_test(the_papers_listing_becomes_a_rule),
			cmocka_unit_test(a_rule_is_written_with_every_field_and_read_back),
			cmocka_unit_test(instructions_are_read_by_name_and_written_back),
			cmocka_unit_test(a_bitmap_stands_for_instructions),
			cmocka_unit_test(a_rule_for_a_set_of_flows_prints_as_it_was_read),
			cmocka_unit_test(an_address_with_its_whole_length_is_the_address),
			cmocka_unit_test(a_prefix_with_host_bits_is_told_the_right_prefix),
			cmocka_unit_test(a_source_is_not_multicast_though_a_destination_may_be),
			cmocka_unit_test(what_a_method_does_not_have_is_refused),
			cmocka_unit_test(int_has_nothing_in_band),
			cmocka_unit_test(flexint_has_no_instructions),
			cmocka_unit_test(ports_and_app_id_may_be_left_out),
			cmocka_unit_test(each_required_field_is_missed_by_name),
			cmocka_unit_test(
					a_bad_value_is_refused_with_code_path_and_what_was_allowed),
			cmocka_unit_test(an_ipv4_address_is_told_that_ipv6_is_needed),
			cmocka_unit_test(an_unknown_field_is_named),
			cmocka_unit_test(a_value_that_is_no_object_is_refused),
			cmocka_unit_test(fractions_of_milliseconds_and_percents_survive),
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

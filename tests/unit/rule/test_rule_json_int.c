// SPDX-License-Identifier: BSD-3-Clause
// Rules of method int, which may be for sets of flows.
#include "rule_text.h"

#include <errno.h>
#include <string.h>

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

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(instructions_are_read_by_name_and_written_back),
			cmocka_unit_test(a_bitmap_stands_for_instructions),
			cmocka_unit_test(a_rule_for_a_set_of_flows_prints_as_it_was_read),
			cmocka_unit_test(an_address_with_its_whole_length_is_the_address),
			cmocka_unit_test(a_prefix_with_host_bits_is_told_the_right_prefix),
			cmocka_unit_test(a_source_is_not_multicast_though_a_destination_may_be),
			cmocka_unit_test(what_a_method_does_not_have_is_refused),
			cmocka_unit_test(int_has_nothing_in_band),
			cmocka_unit_test(flexint_has_no_instructions),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "rule_cbor.h"

#include "hex.h"
#include "ip_address.h"

#include <errno.h>
#include <netinet/in.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

// The example of docs/wire-flexint.md, encoded by hand from RFC 8949.
static const char vector[] = "a16b696e745f72657175657374aa656e735f696407666170705f696401667372635f6"
			     "9706b323030313a646238"
			     "3a3a31666473745f69706b323030313a6462383a3a32687372635f706f72740068647"
			     "3745f706f727419138968"
			     "70726f746f636f6c637564706a74726163655f747970656a307837303030453030306"
			     "46d6f646565636f756e74"
			     "6c6d6f64655f73657474696e671864";

// The same with transmit_report false and piggyback_report true; by make_cbor.py.
static const char switches[] =
		"a16b696e745f72657175657374ac656e735f696407666170705f696401667372635f"
		"69706b323030313a6462383a3a31666473745f69706b323030313a6462383a3a3268"
		"7372635f706f727400686473745f706f72741913896870726f746f636f6c63756470"
		"6a74726163655f747970656a30783730303045303030646d6f646565636f756e746c"
		"6d6f64655f73657474696e6718646f7472616e736d69745f7265706f7274f4707069"
		"6767796261636b5f7265706f7274f5";

static struct hs_rule vector_rule(void)
{
	struct hs_rule rule;
	hs_rule_init(&rule);
	rule.ns_id = 7;
	rule.app_id = 1;
	memcpy(rule.src_ip, (uint8_t[16]){0x20, 0x01, 0x0d, 0xb8, [15] = 1}, 16);
	memcpy(rule.dst_ip, (uint8_t[16]){0x20, 0x01, 0x0d, 0xb8, [15] = 2}, 16);
	rule.dst_port = 5001;
	rule.protocol = IPPROTO_UDP;
	rule.trace_type = 0x7000E000;
	rule.mode = HS_MODE_COUNT;
	rule.mode_setting = 100;
	return rule;
}

static void the_reference_request_is_written_byte_for_byte(void **state)
{
	uint8_t expected[256], bytes[HS_RULE_CBOR_BYTES];
	size_t n = unhex(vector, expected);
	struct hs_rule rule = vector_rule();
	(void)state;
	assert_int_equal(n, 150);
	assert_int_equal(hs_rule_to_cbor(&rule, bytes, sizeof(bytes), NULL), 150);
	assert_memory_equal(bytes, expected, 150);
}

static void the_reference_request_is_read(void **state)
{
	uint8_t bytes[256];
	size_t n = unhex(vector, bytes);
	struct hs_rule rule, expected = vector_rule();
	unsigned unknown = 99;
	(void)state;
	assert_int_equal(hs_rule_from_cbor(bytes, n, &rule, &unknown, NULL), 0);
	assert_memory_equal(&rule, &expected, sizeof(rule));
	assert_int_equal(unknown, 0);
}

static void the_longest_request_fits_one_option(void **state)
{
	struct hs_rule rule = vector_rule(), again;
	uint8_t bytes[HS_RULE_CBOR_BYTES];
	(void)state;
	rule.ns_id = rule.app_id = UINT32_MAX;
	rule.src_port = rule.dst_port = 65535;
	memset(rule.src_ip, 0xfe, 16);
	memset(rule.dst_ip, 0xff, 16);
	rule.mode = HS_MODE_FREQUENCY;
	rule.mode_setting = 86400000;
	int n = hs_rule_to_cbor(&rule, bytes, sizeof(bytes), NULL);
	assert_in_range(n, 200, 255);
	assert_int_equal(hs_rule_from_cbor(bytes, (size_t)n, &again, NULL, NULL), 0);
	assert_memory_equal(&rule, &again, sizeof(rule));
}

static void a_request_that_does_not_fit_its_room_is_not_written(void **state)
{
	struct hs_rule rule = vector_rule();
	(void)state;
	for (size_t size = 0; size < 150; size++) {
		uint8_t bytes[151];
		memset(bytes, 0xee, sizeof(bytes));
		assert_int_equal(hs_rule_to_cbor(&rule, bytes, size, NULL), -ENOSPC);
		assert_int_equal(bytes[size], 0xee);
	}
}

static void a_fraction_is_the_shortest_float_that_keeps_it(void **state)
{
	// By make_cbor.py.
	static const struct {
		uint8_t mode;
		double setting;
		const char *hex;
	} cases[] = {
			{HS_MODE_PROBABILITY, 0.5, "f93800"},
			{HS_MODE_PROBABILITY, 33.25, "f95028"},
			{HS_MODE_PROBABILITY, 100.0 / 3, "fb4040aaaaaaaaaaab"},
			{HS_MODE_PROBABILITY, 0.1, "fb3fb999999999999a"},
			{HS_MODE_FREQUENCY, 4194304.5, "fa4a800001"},
			{HS_MODE_FREQUENCY, 16777216.5, "fb4170000008000000"},
			{HS_MODE_PROBABILITY, 5.960464477539063e-08, "f90001"},
			{HS_MODE_PROBABILITY, 2.9802322387695312e-08, "fa33000000"},
			{HS_MODE_PROBABILITY, 1.9990234375, "f93fff"},
			{HS_MODE_PROBABILITY, 1.00048828125, "fa3f801000"},
	};
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_rule rule = vector_rule(), again;
		uint8_t bytes[HS_RULE_CBOR_BYTES], expected[16];
		size_t len = unhex(cases[i].hex, expected);
		rule.mode = cases[i].mode;
		rule.mode_setting = cases[i].setting;
		int n = hs_rule_to_cbor(&rule, bytes, sizeof(bytes), NULL);
		assert_true(n > 0);
		assert_memory_equal(bytes + n - len, expected, len);
		assert_int_equal(bytes[n - (int)len - 1], 'g'); // of "mode_setting"
		assert_int_equal(hs_rule_from_cbor(bytes, (size_t)n, &again, NULL, NULL), 0);
		assert_memory_equal(&rule, &again, sizeof(rule));
	}
}

static void switches_of_the_sink_travel_where_they_are_off_their_default(void **state)
{
	uint8_t expected[256], bytes[HS_RULE_CBOR_BYTES];
	size_t n = unhex(switches, expected);
	struct hs_rule rule = vector_rule(), again;
	unsigned unknown = 99;
	(void)state;
	rule.transmit_report = false;
	rule.piggyback_report = true;
	// What each node is told by itself stays where it is.
	rule.extract_report = true;
	rule.hop_enabled = false;
	rule.in_band = true;
	assert_int_equal(hs_rule_to_cbor(&rule, bytes, sizeof(bytes), NULL), n);
	assert_memory_equal(bytes, expected, n);
	assert_int_equal(hs_rule_from_cbor(bytes, n, &again, &unknown, NULL), 0);
	rule.extract_report = false;
	rule.hop_enabled = true;
	rule.in_band = false;
	assert_memory_equal(&rule, &again, sizeof(rule));
	assert_int_equal(unknown, 0);
}

static void a_request_with_long_addresses_and_all_switches_is_too_large(void **state)
{
	struct hs_rule rule = vector_rule();
	struct hs_error err = {0};
	uint8_t bytes[HS_RULE_CBOR_BYTES];
	(void)state;
	rule.ns_id = rule.app_id = UINT32_MAX;
	rule.src_port = rule.dst_port = 65535;
	memset(rule.src_ip, 0xfe, 16);
	memset(rule.dst_ip, 0xff, 16);
	rule.mode = HS_MODE_FREQUENCY;
	rule.mode_setting = 86400000;
	rule.transmit_report = false;
	rule.piggyback_report = true;
	assert_int_equal(hs_rule_to_cbor(&rule, bytes, sizeof(bytes), &err), -ENOSPC);
	assert_string_equal(err.code, "too_large");
	assert_string_equal(err.path, "in_band");
}

static void each_truncation_is_refused(void **state)
{
	uint8_t bytes[256];
	size_t n = unhex(vector, bytes);
	(void)state;
	for (size_t len = 0; len < n; len++) {
		struct hs_rule rule;
		// A block of its own, so that a read past the end is seen by the sanitizer.
		uint8_t *cut = malloc(len ? len : 1);
		assert_non_null(cut);
		memcpy(cut, bytes, len);
		assert_int_not_equal(hs_rule_from_cbor(cut, len, &rule, NULL, NULL), 0);
		free(cut);
	}
}

// Builds {"int_request": <content>} from the hex of the content.
static size_t request_of(const char *content, uint8_t *bytes)
{
	char hex[1024];
	snprintf(hex, sizeof(hex), "a16b696e745f72657175657374%s", content);
	return unhex(hex, bytes);
}

// The ten members of the vector in reverse order, each as hex.
#define MODE_SETTING "6c6d6f64655f73657474696e671864"
#define MODE	     "646d6f646565636f756e74"
#define TRACE_TYPE   "6a74726163655f747970656a30783730303045303030"
#define PROTOCOL     "6870726f746f636f6c63756470"
#define DST_PORT     "686473745f706f7274191389"
#define SRC_PORT     "687372635f706f727400"
#define DST_IP	     "666473745f69706b323030313a6462383a3a32"
#define SRC_IP	     "667372635f69706b323030313a6462383a3a31"
#define APP_ID	     "666170705f696401"
#define NS_ID	     "656e735f696407"
#define AUTH	     "64617574685000000000000000000000000000000000"

static void keys_come_in_any_order(void **state)
{
	uint8_t bytes[512];
	struct hs_rule rule, expected = vector_rule();
	size_t n = request_of("aa" MODE_SETTING MODE TRACE_TYPE PROTOCOL DST_PORT SRC_PORT DST_IP
					      SRC_IP APP_ID NS_ID,
			bytes);
	(void)state;
	assert_int_equal(hs_rule_from_cbor(bytes, n, &rule, NULL, NULL), 0);
	assert_memory_equal(&rule, &expected, sizeof(rule));
}

static void unknown_keys_of_any_shape_are_dropped_and_counted(void **state)
{
	// "x": {"a": [1, 2.5, null, h'00']}; 5: tag 1(6); "in_band": true; [1]: false
	static const char content[] =
			"ae" MODE_SETTING MODE TRACE_TYPE
			"6178a161618401f94100f64100" PROTOCOL DST_PORT "05c106" SRC_PORT DST_IP
			"67696e5f62616e64f5" SRC_IP APP_ID NS_ID "8101f4";
	uint8_t bytes[512];
	struct hs_rule rule, expected = vector_rule();
	unsigned unknown = 0;
	size_t n = request_of(content, bytes);
	(void)state;
	assert_int_equal(hs_rule_from_cbor(bytes, n, &rule, &unknown, NULL), 0);
	assert_memory_equal(&rule, &expected, sizeof(rule));
	assert_int_equal(unknown, 4);
}

static void a_request_of_method_int_is_refused_with_a_clear_word(void **state)
{
	static const struct {
		const char *member, *path;
	} cases[] = {
			{"666d6574686f6463696e74", "method"},
			{"6c696e737472756374696f6e7381676e6f64655f6964", "instructions"},
			{"72696e737472756374696f6e5f6269746d617066307838303030",
					"instruction_bitmap"},
			{"64647363700a", "dscp"},
	};
	uint8_t bytes[512];
	struct hs_rule rule;
	(void)state;

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char content[600];
		struct hs_error err = {0};
		snprintf(content, sizeof(content),
				"ab%s" MODE_SETTING MODE TRACE_TYPE PROTOCOL DST_PORT SRC_PORT
						DST_IP SRC_IP APP_ID NS_ID,
				cases[i].member);
		size_t n = request_of(content, bytes);
		assert_int_equal(hs_rule_from_cbor(bytes, n, &rule, NULL, &err), -EINVAL);
		assert_string_equal(err.code, "unsupported");
		assert_string_equal(err.path, cases[i].path);
		assert_string_equal(err.expected, "method flexint");
	}
}

static void a_request_may_name_the_method_that_it_has(void **state)
{
	uint8_t bytes[512];
	struct hs_rule rule, expected = vector_rule();
	size_t n = request_of("ab666d6574686f6467666c6578696e74" MODE_SETTING MODE TRACE_TYPE
					      PROTOCOL DST_PORT SRC_PORT DST_IP SRC_IP APP_ID NS_ID,
			bytes);
	(void)state;
	assert_int_equal(hs_rule_from_cbor(bytes, n, &rule, NULL, NULL), 0);
	assert_memory_equal(&rule, &expected, sizeof(rule));
}

static void unknown_members_beside_the_request_are_dropped_and_counted(void **state)
{
	// "x": 1, then "auth", which is none of them, then the request, then 5: [1]
	uint8_t bytes[512];
	struct hs_rule rule, expected = vector_rule();
	unsigned unknown = 0;
	size_t n = unhex("a4617801" AUTH "6b696e745f72657175657374aa" MODE_SETTING MODE TRACE_TYPE
					 PROTOCOL DST_PORT SRC_PORT DST_IP SRC_IP APP_ID NS_ID
			 "058101",
			bytes);
	(void)state;
	assert_int_equal(hs_rule_from_cbor(bytes, n, &rule, &unknown, NULL), 0);
	assert_memory_equal(&rule, &expected, sizeof(rule));
	assert_int_equal(unknown, 2);
}

static void settings_that_are_no_numbers_are_refused(void **state)
{
	// Probability with a half NaN, infinity, minus one half.
	static const char *const settings[] = {"f97e00", "f97c00", "f9b800"};
	(void)state;
	for (size_t i = 0; i < 3; i++) {
		char content[512];
		uint8_t bytes[512];
		struct hs_rule rule;
		struct hs_error err = {0};
		snprintf(content, sizeof(content),
				"a86c6d6f64655f73657474696e67%s646d6f64656b70726f626162696c6974"
				"79" TRACE_TYPE PROTOCOL DST_PORT DST_IP SRC_IP NS_ID,
				settings[i]);
		size_t n = request_of(content, bytes);
		assert_int_equal(hs_rule_from_cbor(bytes, n, &rule, NULL, &err), -EINVAL);
		assert_string_equal(err.path, "mode_setting");
	}
}

static void ports_and_app_id_default_to_zero(void **state)
{
	uint8_t bytes[512];
	struct hs_rule rule, expected = vector_rule();
	size_t n = request_of(
			"a7" MODE_SETTING MODE TRACE_TYPE PROTOCOL DST_IP SRC_IP NS_ID, bytes);
	(void)state;
	expected.app_id = 0;
	expected.dst_port = 0;
	assert_int_equal(hs_rule_from_cbor(bytes, n, &rule, NULL, NULL), 0);
	assert_memory_equal(&rule, &expected, sizeof(rule));
}

static const struct {
	const char *what, *hex, *code, *path;
} hostile[] = {
		{"empty", "", "not_cbor", ""},
		{"not a map", "07", "not_cbor", ""},
		{"map of 2^64-1", "bbffffffffffffffff", "not_cbor", ""},
		{"map of 2^32 members", "a16b696e745f72657175657374bb0000000100000000" NS_ID,
				"not_cbor", ""},
		{"array of 2^60 below an unknown key",
				"a16b696e745f72657175657374a161789b1000000000000000", "not_cbor",
				""},
		{"map of 2^63 below an unknown key",
				"a16b696e745f72657175657374a16178bb8000000000000000", "not_cbor",
				""},
		{"string of 2^64-1 bytes", "a17bffffffffffffffff", "not_cbor", ""},
		{"another key", "a16b696e745f72657175657375a0", "not_cbor", ""},
		{"a list", "826b696e745f72657175657374a0", "not_cbor", ""},
		{"int_request twice", "a26b696e745f72657175657374a06b696e745f72657175657374a0",
				"duplicate_key", ""},
		{"auth twice", "a2" AUTH AUTH, "duplicate_key", ""},
		{"auth of 15 bytes", "a164617574684f000000000000000000000000000000", "wrong_type",
				"auth"},
		{"auth as text", "a16461757468703030303030303030303030303030303030", "wrong_type",
				"auth"},
		{"auth alone", "a1" AUTH, "not_cbor", ""},
		{"auth that ends too early", "a1646175746850000000", "not_cbor", ""},
		{"not a map inside", "a16b696e745f7265717565737407", "not_cbor", ""},
		{"indefinite outer map", "bf6b696e745f72657175657374a0ff", "not_cbor", ""},
		{"indefinite inner map", "a16b696e745f72657175657374bfff", "not_cbor", ""},
		{"indefinite string", "a16b696e745f72657175657374a1617f7f6161ff", "not_cbor", ""},
		{"a lone break", "ff", "not_cbor", ""},
		{"reserved additional information", "a16b696e745f726571756573741c", "not_cbor", ""},
		{"empty request", "a16b696e745f72657175657374a0", "missing_field", "ns_id"},
		{"bytes behind it", "a16b696e745f72657175657374a000", "not_cbor", ""},
		{"nested 12 deep",
				"a16b696e745f72657175657374a161788181818181818181818181810"
				"1",
				"not_cbor", ""},
		{"tags 12 deep",
				"a16b696e745f72657175657374a16178c1c1c1c1c1c1c1c1c1c1c1c10"
				"1",
				"not_cbor", ""},
		{"the same key twice", "a16b696e745f72657175657374a2" NS_ID NS_ID, "duplicate_key",
				""},
		{"ns_id as text", "a16b696e745f72657175657374a1656e735f69646137", "wrong_type",
				"ns_id"},
		{"ns_id as float", "a16b696e745f72657175657374a1656e735f6964f94700", "wrong_type",
				"ns_id"},
		{"ns_id tagged", "a16b696e745f72657175657374a1656e735f6964c107", "wrong_type",
				"ns_id"},
		{"ns_id of 64 bits",
				"a16b696e745f72657175657374a1656e735f69641bfffffffffffffff"
				"f",
				"out_of_range", "ns_id"},
		{"ns_id -2^64",
				"a16b696e745f72657175657374a1656e735f69643bfffffffffffffff"
				"f",
				"out_of_range", "ns_id"},
		{"a zero byte in an address",
				"a16b696e745f72657175657374a1667372635f6970643a3a3100", "bad_value",
				"src_ip"},
		{"mode_setting as text",
				"a16b696e745f72657175657374a16c6d6f64655f73657474696e67613"
				"1",
				"wrong_type", "mode_setting"},
		{"transmit_report as number",
				"a16b696e745f72657175657374a16f7472616e736d69745f7265706f"
				"727400",
				"wrong_type", "transmit_report"},
};

static void hostile_requests_are_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		uint8_t bytes[256];
		struct hs_rule rule;
		struct hs_error err = {0};
		size_t n = unhex(hostile[i].hex, bytes);
		if (hs_rule_from_cbor(bytes, n, &rule, NULL, &err) != -EINVAL ||
				strcmp(err.code, hostile[i].code) ||
				strcmp(err.path, hostile[i].path))
			fail_msg("%s: %s at \"%s\": %s", hostile[i].what, err.code, err.path,
					err.message);
	}
}

static void a_request_with_values_that_do_not_fit_together_is_refused(void **state)
{
	uint8_t bytes[512];
	struct hs_rule rule;
	struct hs_error err = {0};
	// icmp with a port
	size_t n = request_of("a8" MODE_SETTING MODE TRACE_TYPE
			      "6870726f746f636f6c6469636d70" DST_PORT DST_IP SRC_IP NS_ID,
			bytes);
	(void)state;
	assert_int_equal(hs_rule_from_cbor(bytes, n, &rule, NULL, &err), -EINVAL);
	assert_string_equal(err.path, "dst_port");
}

// No header of IPv4 has room for a request.
static void a_request_between_ipv4_addresses_is_neither_written_nor_read(void **state)
{
	static const char *const ipv4[] = {"192.0.2.001", "192.0.2.101"};
	uint8_t bytes[256], written[HS_RULE_CBOR_BYTES];
	size_t n = unhex(vector, bytes);
	struct hs_rule rule = vector_rule();
	struct hs_error err = {0};
	(void)state;
	hs_ip_address_map((const uint8_t[]){192, 0, 2, 1}, rule.src_ip);
	hs_ip_address_map((const uint8_t[]){192, 0, 2, 2}, rule.dst_ip);
	assert_int_equal(hs_rule_to_cbor(&rule, written, sizeof(written), &err), -EINVAL);
	assert_string_equal(err.code, "wrong_family");
	for (size_t i = 0; i < 2; i++) {
		memcpy(memmem(bytes, n, "2001:db8::1", 11), ipv4[i], 11);
		memcpy(memmem(bytes, n, "2001:db8::2", 11), ipv4[i], 11);
		assert_int_equal(hs_rule_from_cbor(bytes, n, &rule, NULL, &err), -EINVAL);
		assert_string_equal(err.code, i ? "wrong_family" : "bad_value");
		assert_string_equal(err.path, "src_ip");
		n = unhex(vector, bytes);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_reference_request_is_written_byte_for_byte),
			cmocka_unit_test(the_reference_request_is_read),
			cmocka_unit_test(the_longest_request_fits_one_option),
			cmocka_unit_test(a_request_that_does_not_fit_its_room_is_not_written),
			cmocka_unit_test(a_fraction_is_the_shortest_float_that_keeps_it),
			cmocka_unit_test(
					switches_of_the_sink_travel_where_they_are_off_their_default),
			cmocka_unit_test(
					a_request_with_long_addresses_and_all_switches_is_too_large),
			cmocka_unit_test(a_request_may_name_the_method_that_it_has),
			cmocka_unit_test(a_request_of_method_int_is_refused_with_a_clear_word),
			cmocka_unit_test(
					unknown_members_beside_the_request_are_dropped_and_counted),
			cmocka_unit_test(each_truncation_is_refused),
			cmocka_unit_test(keys_come_in_any_order),
			cmocka_unit_test(unknown_keys_of_any_shape_are_dropped_and_counted),
			cmocka_unit_test(settings_that_are_no_numbers_are_refused),
			cmocka_unit_test(ports_and_app_id_default_to_zero),
			cmocka_unit_test(hostile_requests_are_refused),
			cmocka_unit_test(a_request_with_values_that_do_not_fit_together_is_refused),
			cmocka_unit_test(
					a_request_between_ipv4_addresses_is_neither_written_nor_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

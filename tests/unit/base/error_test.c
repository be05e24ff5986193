// SPDX-License-Identifier: BSD-3-Clause
#include "error.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <setjmp.h>
#include <cmocka.h>

static void an_error_says_code_place_value_and_bound(void **state)
{
	(void)state;
	struct hs_error err = {0};
	assert_false(hs_error_is_set(&err));
	int rc = hs_error_set(&err, "out_of_range", "mtu", "1280 to 9216", "mtu is %d", 9);
	assert_int_equal(rc, -EINVAL);
	assert_true(hs_error_is_set(&err));
	assert_string_equal(err.code, "out_of_range");
	assert_string_equal(err.path, "mtu");
	assert_string_equal(err.message, "mtu is 9");
	assert_string_equal(err.expected, "1280 to 9216");
}

static void nothing_sensible_expected_is_empty_text(void **state)
{
	(void)state;
	struct hs_error err;
	memset(&err, 0xee, sizeof(err));
	hs_error_set(&err, "unknown_verb", "", NULL, "no such verb");
	assert_string_equal(err.expected, "");
	assert_string_equal(err.path, "");
}

static void nobody_listening_is_no_fault(void **state)
{
	(void)state;
	assert_int_equal(hs_error_set(NULL, "code", "path", NULL, "text"), -EINVAL);
	hs_error_prefix(NULL, "ports[0]");
}

static void texts_too_long_are_cut_within_their_room(void **state)
{
	(void)state;
	char text[1100];
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	struct hs_error err;
	hs_error_set(&err, text, text, text, "%s", text);
	assert_int_equal(strlen(err.code), sizeof(err.code) - 1);
	assert_int_equal(strlen(err.path), sizeof(err.path) - 1);
	assert_int_equal(strlen(err.message), sizeof(err.message) - 1);
	assert_int_equal(strlen(err.expected), sizeof(err.expected) - 1);
}

static void texts_are_cut_between_characters(void **state)
{
	(void)state;
	char text[1201];
	for (size_t i = 0; i < 1200; i += 3)
		memcpy(text + i, "東", 3);
	text[1200] = '\0';
	struct hs_error err;
	hs_error_set(&err, "c", text, text, "x%s", text);
	assert_int_equal(strlen(err.path), 159);
	assert_int_equal(strlen(err.message), 253);
	assert_int_equal(strlen(err.expected), 1023);
	hs_error_prefix(&err, "abc");
	assert_int_equal(strlen(err.path), 157);
	hs_error_set(&err, "c", "", "", "\"%.64s\" is not known", text);
	assert_memory_equal(err.message + 64, "?\" is", 5);
}

static void prefixes_build_a_path_from_the_inside_out(void **state)
{
	(void)state;
	struct hs_error err;
	hs_error_set(&err, "code", "mtu", NULL, "text");
	hs_error_prefix(&err, "ports[3]");
	hs_error_prefix(&err, "node");
	assert_string_equal(err.path, "node.ports[3].mtu");
	hs_error_set(&err, "code", "[2]", NULL, "text");
	hs_error_prefix(&err, "requests");
	assert_string_equal(err.path, "requests[2]");
	hs_error_set(&err, "code", "", NULL, "text");
	hs_error_prefix(&err, "requests");
	assert_string_equal(err.path, "requests");
	hs_error_prefix(&err, "");
	assert_string_equal(err.path, "requests");
}

static void a_path_too_long_loses_its_tail(void **state)
{
	(void)state;
	struct hs_error err;
	hs_error_set(&err, "code", "tail", NULL, "text");
	char prefix[sizeof(err.path) + 40];
	memset(prefix, 'p', sizeof(prefix) - 1);
	prefix[sizeof(err.path) - 3] = '\0'; // a dot and a character of the old path fit
	hs_error_prefix(&err, prefix);
	assert_int_equal(strlen(err.path), sizeof(err.path) - 1);
	assert_string_equal(err.path + sizeof(err.path) - 3, ".t");
	prefix[sizeof(err.path) - 3] = 'p';
	prefix[sizeof(prefix) - 1] = '\0';
	hs_error_prefix(&err, prefix);
	assert_int_equal(strlen(err.path), sizeof(err.path) - 1);
	assert_int_equal(strspn(err.path, "p"), sizeof(err.path) - 1);
}

static void the_text_of_an_error_has_place_fault_and_bound(void **state)
{
	(void)state;
	struct hs_error err;
	char text[HS_ERROR_TEXT];
	hs_error_set(&err, "out_of_range", "ports[3].mtu", "1280 to 9216", "mtu is %d", 9);
	assert_string_equal(hs_error_text(&err, text),
			"ports[3].mtu: mtu is 9 (allowed: 1280 to 9216)");
	hs_error_set(&err, "internal", "", NULL, "no memory");
	assert_string_equal(hs_error_text(&err, text), "no memory");
	memset(err.path, 'p', sizeof(err.path) - 1);
	memset(err.message, 'm', sizeof(err.message) - 1);
	err.message[sizeof(err.message) - 1] = '\0';
	memset(err.expected, 'e', sizeof(err.expected) - 1);
	err.path[sizeof(err.path) - 1] = err.expected[sizeof(err.expected) - 1] = '\0';
	hs_error_text(&err, text);
	assert_string_equal(text + strlen(text) - 2, "e)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(an_error_says_code_place_value_and_bound),
			cmocka_unit_test(nothing_sensible_expected_is_empty_text),
			cmocka_unit_test(nobody_listening_is_no_fault),
			cmocka_unit_test(texts_too_long_are_cut_within_their_room),
			cmocka_unit_test(texts_are_cut_between_characters),
			cmocka_unit_test(prefixes_build_a_path_from_the_inside_out),
			cmocka_unit_test(a_path_too_long_loses_its_tail),
			cmocka_unit_test(the_text_of_an_error_has_place_fault_and_bound),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

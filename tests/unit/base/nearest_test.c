// SPDX-License-Identifier: BSD-3-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nearest.h"

#include <string.h>

static const char *nearest_of(const char *typed)
{
	static const char *const words[] = {"rule add", "rule list", "rule del", "ports", "drops",
			"audit", "qos", "neighbour"};
	struct hs_nearest nearest = {.typed = typed};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		hs_nearest_try(&nearest, words[i]);
	return nearest.word ? nearest.word : "";
}

static void a_mistyped_word_is_recognised(void **state)
{
	(void)state;
	assert_string_equal(nearest_of("prots"), "ports"); // two letters in the wrong order
	assert_string_equal(nearest_of("drop"), "drops");
	assert_string_equal(nearest_of("dropss"), "drops");
	assert_string_equal(nearest_of("audut"), "audit");
	assert_string_equal(nearest_of("rul lst"), "rule list");
	assert_string_equal(nearest_of("qso"), "qos");
	assert_string_equal(nearest_of("ports"), "ports");
}

static void the_beginning_of_a_word_is_recognised(void **state)
{
	(void)state;
	assert_string_equal(nearest_of("neigh"), "neighbour");
	assert_string_equal(nearest_of("au"), "audit");
}

static void what_is_near_to_nothing_has_no_nearest_word(void **state)
{
	char longest[HS_NEAREST_BYTES + 1];

	(void)state;
	assert_string_equal(nearest_of(""), "");
	assert_string_equal(nearest_of("a"), "");
	assert_string_equal(nearest_of("flow"), "");
	assert_string_equal(nearest_of("pearl"), "");
	memset(longest, 'p', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	assert_string_equal(nearest_of(longest), "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_mistyped_word_is_recognised),
			cmocka_unit_test(the_beginning_of_a_word_is_recognised),
			cmocka_unit_test(what_is_near_to_nothing_has_no_nearest_word),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "help_line.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

static void assert_line(int columns, const char *name, const char *meaning, const char *expected)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);

	assert_non_null(out);
	hs_help_line(out, columns, name, meaning);
	fclose(out);
	assert_string_equal(text, expected);
	free(text);
}

static void a_meaning_is_broken_between_words_at_80_columns(void **state)
{
	(void)state;
#define HALF "nineteen characters nineteen characters" // 39 columns
	assert_line(4, "--a", "short", "  --a  short\n");
	assert_line(4, "--a", "", "  --a \n");
	// 7 + 39 + 1 + 33 columns are 80.
	assert_line(4, "--a", HALF " thirty-three characters in a line",
			"  --a  " HALF " thirty-three characters in a line\n");
	assert_line(4, "--a", HALF " thirty-four characters in the line",
			"  --a  " HALF " thirty-four characters in the\n       line\n");
}

static void a_word_is_never_broken(void **state)
{
	(void)state;
#define LONG "0123456789012345678901234567890123456789012345678901234567890123456789012345"
	assert_line(2, "a", LONG, "  a  " LONG "\n");
	assert_line(2, "a", "the " LONG " end", "  a  the\n     " LONG "\n     end\n");
}

static void a_name_may_be_longer_than_its_columns(void **state)
{
	(void)state;
	assert_line(2, "--longer", "than two", "  --longer than two\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_meaning_is_broken_between_words_at_80_columns),
			cmocka_unit_test(a_word_is_never_broken),
			cmocka_unit_test(a_name_may_be_longer_than_its_columns),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

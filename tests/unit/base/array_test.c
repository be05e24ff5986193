// SPDX-License-Identifier: BSD-3-Clause
// Arrays that grow: members, room, and memory that is out.
#include "array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

struct pair {
	uint32_t number;
	char text[3];
};

static void members_keep_their_values_while_the_array_grows(void **state)
{
	struct pair *pairs = NULL;
	size_t n = 0;

	(void)state;
	for (uint32_t i = 0; i < 1000; i++) {
		struct pair *added = HS_ARRAY_ADD(pairs, n);
		assert_non_null(added);
		assert_int_equal(n, i + 1);
		assert_ptr_equal(added, &pairs[i]);
		*added = (struct pair){.number = i, .text = "ab"};
	}
	for (uint32_t i = 0; i < 1000; i++) {
		assert_int_equal(pairs[i].number, i);
		assert_string_equal(pairs[i].text, "ab");
	}
	free(pairs);
}

static void an_array_changes_nothing_if_memory_is_out(void **state)
{
	// The volatile keeps the compiler from seeing a size that no object has.
	volatile size_t too_large = PTRDIFF_MAX / 4;
	char *array = NULL;
	size_t n = 0;

	(void)state;
	assert_null(hs_array_add(&array, &n, too_large));
	assert_null(array);
	assert_int_equal(n, 0);
	assert_non_null(HS_ARRAY_ADD(array, n));
	*array = 'x';
	for (n = 8; n <= 1024; n *= 2) {
		char *before = array;
		assert_null(hs_array_add(&array, &n, too_large));
		assert_ptr_equal(array, before);
		assert_int_equal(*array, 'x');
	}
	free(array);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(members_keep_their_values_while_the_array_grows),
			cmocka_unit_test(an_array_changes_nothing_if_memory_is_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

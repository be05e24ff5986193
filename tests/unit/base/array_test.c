// SPDX-License-Identifier: BSD-3-Clause
// Arrays that grow: members, room, and memory that is out.
#include "array.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

void *__real_reallocarray(void *array, size_t n, size_t bytes);
void *__wrap_reallocarray(void *array, size_t n, size_t bytes);

static bool is_out; // memory

void *__wrap_reallocarray(void *array, size_t n, size_t bytes)
{
	return is_out ? NULL : __real_reallocarray(array, n, bytes);
}

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
	char *array = NULL;
	size_t n = 0;

	(void)state;
	is_out = true;
	assert_null(HS_ARRAY_ADD(array, n));
	assert_null(array);
	assert_int_equal(n, 0);
	is_out = false;
	for (unsigned i = 0; i < 64; i++) {
		const char *before = array;
		size_t n_before = n;
		is_out = true;
		bool added = HS_ARRAY_ADD(array, n);
		is_out = false;
		if (added)
			continue; // there was room
		assert_ptr_equal(array, before);
		assert_int_equal(n, n_before);
		assert_non_null(HS_ARRAY_ADD(array, n));
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

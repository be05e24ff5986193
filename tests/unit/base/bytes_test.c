// SPDX-License-Identifier: BSD-3-Clause
#include "bytes.h"

#include <stdarg.h>
#include <setjmp.h>
#include <cmocka.h>

static const uint8_t nine[] = {1, 2, 3, 4, 5, 6, 7, 8, 9};

static void integers_lie_in_network_order_at_any_alignment(void **state)
{
	(void)state;
	uint8_t out[10] = {0};
	assert_int_equal(hs_be16_load(nine + 1), 0x0203);
	assert_int_equal(hs_be32_load(nine + 1), 0x02030405);
	assert_true(hs_be64_load(nine + 1) == 0x0203040506070809);
	hs_be16_store(out + 1, 0x0203);
	assert_memory_equal(out, ((uint8_t[]){0, 2, 3, 0}), 4);
	hs_be32_store(out + 1, 0x02030405);
	assert_memory_equal(out, ((uint8_t[]){0, 2, 3, 4, 5, 0}), 6);
	hs_be64_store(out + 1, 0x0203040506070809);
	assert_memory_equal(out + 1, nine + 1, 8);
	assert_int_equal(out[9], 0);
}

static void a_reader_gives_every_byte_once_and_in_order(void **state)
{
	(void)state;
	struct hs_reader r = hs_reader_over(nine, sizeof(nine));
	assert_ptr_equal(hs_reader_take(&r, 1), nine);
	assert_int_equal(hs_reader_be16(&r), 0x0203);
	assert_int_equal(hs_reader_be32(&r), 0x04050607);
	assert_int_equal(hs_reader_left(&r), 2);
	assert_ptr_equal(hs_reader_take(&r, 2), nine + 7);
	assert_int_equal(hs_reader_left(&r), 0);
	assert_non_null(hs_reader_take(&r, 0));
	assert_false(r.failed);
}

static void a_read_that_does_not_fit_moves_nothing_and_sticks(void **state)
{
	(void)state;
	struct hs_reader r = hs_reader_over(nine, 3);
	assert_int_equal(hs_reader_be32(&r), 0);
	assert_true(r.failed);
	assert_int_equal(hs_reader_left(&r), 3);
	assert_int_equal(hs_reader_be16(&r), 0); // would fit, but the header is lost
	assert_null(hs_reader_take(&r, 0));
	assert_true(r.failed);
}

static void a_length_near_the_end_of_memory_does_not_wrap(void **state)
{
	(void)state;
	struct hs_reader r = hs_reader_over(nine, sizeof(nine));
	assert_null(hs_reader_take(&r, SIZE_MAX));
	assert_true(r.failed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(integers_lie_in_network_order_at_any_alignment),
			cmocka_unit_test(a_reader_gives_every_byte_once_and_in_order),
			cmocka_unit_test(a_read_that_does_not_fit_moves_nothing_and_sticks),
			cmocka_unit_test(a_length_near_the_end_of_memory_does_not_wrap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

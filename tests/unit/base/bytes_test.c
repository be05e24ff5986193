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

static void typed_integers_keep_value_and_wire_form(void **state)
{
	(void)state;
	assert_int_equal(hs_be16_get(hs_be16_of(0xfedc)), 0xfedc);
	assert_int_equal(hs_be32_get(hs_be32_of(0xfedcba98)), 0xfedcba98);
	assert_true(hs_be64_get(hs_be64_of(0xfedcba9876543210)) == 0xfedcba9876543210);
	assert_int_equal(hs_be16_of(0xfedc).b[0], 0xfe);
	assert_int_equal(hs_be32_of(0xfedcba98).b[3], 0x98);
	assert_int_equal(hs_be64_of(0xfedcba9876543210).b[7], 0x10);
}

static void a_reader_gives_every_byte_once_and_in_order(void **state)
{
	(void)state;
	struct hs_reader r = hs_reader_over(nine, sizeof(nine));
	assert_int_equal(hs_reader_u8(&r), 1);
	assert_int_equal(hs_reader_be16(&r), 0x0203);
	assert_int_equal(hs_reader_be32(&r), 0x04050607);
	assert_int_equal(hs_reader_left(&r), 2);
	assert_ptr_equal(hs_reader_take(&r, 2), nine + 7);
	assert_int_equal(hs_reader_left(&r), 0);
	assert_non_null(hs_reader_take(&r, 0));
	assert_false(r.failed);
	struct hs_reader wide = hs_reader_over(nine, 8);
	assert_true(hs_reader_be64(&wide) == 0x0102030405060708);
	assert_false(wide.failed);
}

static void a_read_that_does_not_fit_moves_nothing_and_sticks(void **state)
{
	(void)state;
	struct hs_reader r = hs_reader_over(nine, 3);
	assert_int_equal(hs_reader_be32(&r), 0);
	assert_true(r.failed);
	assert_int_equal(hs_reader_left(&r), 3);
	assert_int_equal(hs_reader_u8(&r), 0); // would fit, but the header is lost
	assert_int_equal(hs_reader_be16(&r), 0);
	assert_true(hs_reader_be64(&r) == 0);
	assert_null(hs_reader_take(&r, 0));
	assert_true(r.failed);
}

static void a_length_near_the_end_of_memory_does_not_wrap(void **state)
{
	(void)state;
	struct hs_reader r = hs_reader_over(nine, sizeof(nine));
	assert_null(hs_reader_take(&r, SIZE_MAX));
	assert_true(r.failed);
	uint8_t out[4];
	struct hs_writer w = hs_writer_over(out, sizeof(out));
	assert_null(hs_writer_take(&w, SIZE_MAX));
	assert_true(w.failed);
}

static void a_writer_fills_its_room_and_no_more(void **state)
{
	(void)state;
	uint8_t out[16];
	memset(out, 0xee, sizeof(out));
	struct hs_writer w = hs_writer_over(out, 15);
	hs_writer_u8(&w, 1);
	hs_writer_be16(&w, 0x0203);
	hs_writer_be32(&w, 0x04050607);
	hs_writer_be64(&w, 0x08090a0b0c0d0e0f);
	assert_false(w.failed);
	for (int i = 0; i < 15; i++)
		assert_int_equal(out[i], i + 1);
	hs_writer_u8(&w, 0x55);
	assert_true(w.failed);
	assert_int_equal(out[15], 0xee);
}

static void a_write_that_does_not_fit_writes_nothing_and_sticks(void **state)
{
	(void)state;
	uint8_t out[4] = {0xee, 0xee, 0xee, 0xee};
	struct hs_writer w = hs_writer_over(out, 3);
	hs_writer_be32(&w, 0);
	assert_true(w.failed);
	hs_writer_u8(&w, 0);
	hs_writer_be16(&w, 0);
	hs_writer_be64(&w, 0);
	assert_memory_equal(out, ((uint8_t[]){0xee, 0xee, 0xee, 0xee}), 4);
	assert_ptr_equal(w.at, out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(integers_lie_in_network_order_at_any_alignment),
			cmocka_unit_test(typed_integers_keep_value_and_wire_form),
			cmocka_unit_test(a_reader_gives_every_byte_once_and_in_order),
			cmocka_unit_test(a_read_that_does_not_fit_moves_nothing_and_sticks),
			cmocka_unit_test(a_length_near_the_end_of_memory_does_not_wrap),
			cmocka_unit_test(a_writer_fills_its_room_and_no_more),
			cmocka_unit_test(a_write_that_does_not_fit_writes_nothing_and_sticks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

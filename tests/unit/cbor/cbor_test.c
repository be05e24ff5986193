// SPDX-License-Identifier: BSD-3-Clause
// Reading and writing of CBOR against the examples of RFC 8949, appendix A.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cbor_reader.h"
#include "cbor_writer.h"

#include "hex.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct example {
	const char *hex;
	struct hs_cbor_item item;
	bool read_only; // we write no such form
};

static const struct example examples[] = {
		{"00", {.type = HS_CBOR_UNSIGNED, .number = 0}},
		{"17", {.type = HS_CBOR_UNSIGNED, .number = 23}},
		{"1818", {.type = HS_CBOR_UNSIGNED, .number = 24}},
		{"1903e8", {.type = HS_CBOR_UNSIGNED, .number = 1000}},
		{"1a000f4240", {.type = HS_CBOR_UNSIGNED, .number = 1000000}},
		{"1bffffffffffffffff", {.type = HS_CBOR_UNSIGNED, .number = UINT64_MAX}},
		{"1b0000000000000001", {.type = HS_CBOR_UNSIGNED, .number = 1}, true},
		{"20", {.type = HS_CBOR_NEGATIVE, .number = 1}, true},
		{"3903e7", {.type = HS_CBOR_NEGATIVE, .number = 1000}, true},
		{"3bffffffffffffffff", {.type = HS_CBOR_NEGATIVE, .number = UINT64_MAX}, true},
		{"f90000", {.type = HS_CBOR_REAL, .real = 0}},
		{"f93c00", {.type = HS_CBOR_REAL, .real = 1}},
		{"f93e00", {.type = HS_CBOR_REAL, .real = 1.5}},
		{"f97bff", {.type = HS_CBOR_REAL, .real = 65504}},
		{"fa47c35000", {.type = HS_CBOR_REAL, .real = 100000}},
		{"fa7f7fffff", {.type = HS_CBOR_REAL, .real = 3.4028234663852886e+38}},
		{"fb3ff199999999999a", {.type = HS_CBOR_REAL, .real = 1.1}},
		{"fb7e37e43c8800759c", {.type = HS_CBOR_REAL, .real = 1e300}},
		{"f90001", {.type = HS_CBOR_REAL, .real = 5.960464477539063e-8}},
		{"f90400", {.type = HS_CBOR_REAL, .real = 0.00006103515625}},
		{"f9c400", {.type = HS_CBOR_REAL, .real = -4}},
		{"fbc010666666666666", {.type = HS_CBOR_REAL, .real = -4.1}},
		{"f4", {.type = HS_CBOR_BOOL, .boolean = false}},
		{"f5", {.type = HS_CBOR_BOOL, .boolean = true}},
		{"f6", {.type = HS_CBOR_OTHER}, true},
		{"f7", {.type = HS_CBOR_OTHER}, true},
		{"c1", {.type = HS_CBOR_TAG, .number = 1}, true},
		{"40", {.type = HS_CBOR_BYTES}, true},
		{"4401020304",
				{.type = HS_CBOR_BYTES,
						.bytes = (const uint8_t *)"\1\2\3\4",
						.len = 4},
				true},
		{"6449455446", {.type = HS_CBOR_TEXT, .bytes = (const uint8_t *)"IETF", .len = 4}},
		{"80", {.type = HS_CBOR_ARRAY}},
		{"a0", {.type = HS_CBOR_MAP}},
};
#define N_EXAMPLES (sizeof(examples) / sizeof(examples[0]))

static struct hs_cbor_reader over(const uint8_t *bytes, size_t len, struct hs_error *err)
{
	return hs_cbor_reader_over(bytes, len, "thing", "a thing", err);
}

static void put(struct hs_cbor_writer *writer, const struct hs_cbor_item *item)
{
	char text[16] = "";
	switch (item->type) {
	case HS_CBOR_UNSIGNED:
		hs_cbor_put_unsigned(writer, item->number);
		break;
	case HS_CBOR_TEXT:
		memcpy(text, item->bytes, item->len);
		hs_cbor_put_text(writer, text);
		break;
	case HS_CBOR_BOOL:
		hs_cbor_put_bool(writer, item->boolean);
		break;
	case HS_CBOR_REAL:
		hs_cbor_put_real(writer, item->real);
		break;
	case HS_CBOR_MAP:
		hs_cbor_put_map(writer, item->number);
		break;
	default:
		hs_cbor_put_array(writer, item->number);
		break;
	}
}

static void the_examples_of_the_specification_are_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_EXAMPLES; i++) {
		uint8_t expected[16], bytes[16];
		size_t n = unhex(examples[i].hex, expected);
		struct hs_cbor_writer writer = hs_cbor_writer_over(bytes, sizeof(bytes));
		if (examples[i].read_only)
			continue;
		put(&writer, &examples[i].item);
		assert_false(writer.failed);
		assert_int_equal(writer.at - bytes, n);
		assert_memory_equal(bytes, expected, n);
	}
}

static void the_examples_of_the_specification_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_EXAMPLES; i++) {
		const struct hs_cbor_item *expected = &examples[i].item;
		struct hs_cbor_item item;
		uint8_t bytes[16];
		struct hs_cbor_reader reader = over(bytes, unhex(examples[i].hex, bytes), NULL);
		assert_int_equal(hs_cbor_next(&reader, &item), 0);
		assert_int_equal(hs_cbor_end(&reader), 0);
		assert_int_equal(item.type, expected->type);
		assert_int_equal(item.number, expected->number);
		assert_int_equal(item.boolean, expected->boolean);
		assert_true(item.real == expected->real);
		assert_int_equal(item.len, expected->len);
		if (item.len)
			assert_memory_equal(item.bytes, expected->bytes, item.len);
	}
}

static void an_item_that_is_cut_is_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_EXAMPLES; i++) {
		uint8_t bytes[16];
		size_t n = unhex(examples[i].hex, bytes);
		for (size_t len = 0; len < n; len++) {
			struct hs_error err = {0};
			struct hs_cbor_item item;
			struct hs_cbor_reader reader = over(bytes, len, &err);
			assert_int_equal(hs_cbor_next(&reader, &item), -EINVAL);
			assert_string_equal(err.code, "not_cbor");
			assert_string_equal(err.message, "the thing ends too early");
		}
	}
}

static void what_does_not_fit_is_not_begun_twice(void **state)
{
	(void)state;
	for (size_t i = 0; i < N_EXAMPLES; i++) {
		uint8_t bytes[16];
		size_t n = unhex(examples[i].hex, bytes);
		for (size_t size = 0; size < n && !examples[i].read_only; size++) {
			memset(bytes, 0xEE, sizeof(bytes));
			struct hs_cbor_writer writer = hs_cbor_writer_over(bytes, size);
			put(&writer, &examples[i].item);
			assert_true(writer.failed);
			hs_cbor_put_unsigned(&writer, 1);
			assert_true(writer.failed);
			assert_int_equal(bytes[size], 0xEE);
		}
	}
}

static void all_below_an_item_is_skipped(void **state)
{
	(void)state;
	static const char *const nested[] = {
			"8301820203820405",	  // [1, [2, 3], [4, 5]]
			"a26161016162820203",	  // {"a": 1, "b": [2, 3]}
			"c249010000000000000000", // tag 2 over bytes
			"8181818181818100",	  // arrays of arrays, one short of too deep
			"80",
			"a0",
			"07",
	};
	for (size_t i = 0; i < sizeof(nested) / sizeof(nested[0]); i++) {
		struct hs_cbor_item item;
		uint8_t bytes[16];
		size_t n = unhex(nested[i], bytes);
		bytes[n] = 0x18;
		bytes[n + 1] = 0x2A;
		struct hs_cbor_reader reader = over(bytes, n + 2, NULL);
		assert_int_equal(hs_cbor_next(&reader, &item), 0);
		assert_int_equal(hs_cbor_skip(&reader, &item), 0);
		assert_int_equal(hs_cbor_end(&reader), -EINVAL);
		assert_int_equal(hs_cbor_next(&reader, &item), 0);
		assert_int_equal(item.number, 42);
		assert_int_equal(hs_cbor_end(&reader), 0);
	}
}

static void what_would_be_endless_or_huge_is_refused(void **state)
{
	(void)state;
	static const struct {
		const char *hex, *message;
	} bad[] = {
			{"9bffffffffffffffff", "the thing ends too early"},
			{"bbffffffffffffffff", "the thing ends too early"},
			{"a2000000", "the thing ends too early"}, // three items cannot be two pairs
			{"7bffffffffffffffff", "the thing ends too early"},
			{"9f00ff", "the thing has an indefinite length, which is not allowed"},
			{"bfff", "the thing has an indefinite length, which is not allowed"},
			{"7f61616161ff",
					"the thing has an indefinite length, which is not allowed"},
			{"5f4100ff", "the thing has an indefinite length, which is not allowed"},
			{"ff", "the thing has an indefinite length, which is not allowed"},
			{"1c", "the thing is not CBOR"},
			{"81818181818181818100", "the thing is nested too deep"},
			{"c1c1c1c1c1c1c1c1c100", "the thing is nested too deep"},
			{"820081", "the thing ends too early"},
	};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct hs_error err = {0};
		struct hs_cbor_item item;
		uint8_t bytes[16];
		struct hs_cbor_reader reader = over(bytes, unhex(bad[i].hex, bytes), &err);
		int rc = hs_cbor_next(&reader, &item);
		if (rc == 0)
			rc = hs_cbor_skip(&reader, &item);
		assert_int_equal(rc, -EINVAL);
		assert_string_equal(err.message, bad[i].message);
		assert_string_equal(err.expected, "a thing");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_examples_of_the_specification_are_written),
			cmocka_unit_test(the_examples_of_the_specification_are_read),
			cmocka_unit_test(an_item_that_is_cut_is_refused),
			cmocka_unit_test(what_does_not_fit_is_not_begun_twice),
			cmocka_unit_test(all_below_an_item_is_skipped),
			cmocka_unit_test(what_would_be_endless_or_huge_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

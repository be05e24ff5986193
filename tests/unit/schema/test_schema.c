// SPDX-License-Identifier: BSD-3-Clause
#include "schema.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct thing {
	int64_t wide;
	int32_t narrow;
	double ratio;
	int64_t time_ns;
	uint64_t word;
	json_t *part;
};

#define THING(member) HS_SCHEMA_MEMBER(struct thing, member)
static const struct hs_schema_word words[] = {{"long", UINT64_C(60000000000)}, {NULL, 0}};
static const struct hs_schema_field fields[] = {
		{"wide", HS_SCHEMA_INT, THING(wide), .min = (uint64_t)INT64_C(-5000000000),
				.max = 7},
		{"narrow", HS_SCHEMA_INT, THING(narrow), .min = (uint64_t)INT64_C(-8), .max = 8},
		{"ratio", HS_SCHEMA_REAL, THING(ratio), .least = -0.5, .most = 1},
		{"time_s", HS_SCHEMA_SECONDS, THING(time_ns), .least = 0, .most = 1000},
		{"word", HS_SCHEMA_WORD, THING(word), .words = words, .expected = "long"},
		{"part", HS_SCHEMA_JSON, THING(part)},
		{NULL},
};
static const struct hs_schema_field strict[] = {
		{"ratio", HS_SCHEMA_REAL, THING(ratio), .most = 1, .required = true,
				.expected = "a share"},
		{NULL},
};

static int read_as(const struct hs_schema_field *table, const char *text, struct thing *thing,
		struct hs_error *err)
{
	json_t *object = json_loads(text, 0, NULL);
	assert_non_null(object);
	int rc = hs_schema_read(table, object, "at", thing, err);
	json_decref(object);
	return rc;
}

static void refused(const char *text, const char *code, const char *path, const char *expected)
{
	struct thing thing = {0};
	const struct thing before = thing;
	struct hs_error err = {0};
	assert_true(read_as(fields, text, &thing, &err) < 0);
	assert_string_equal(err.code, code);
	assert_string_equal(err.path, path);
	assert_string_equal(err.expected, expected);
	assert_memory_equal(&thing, &before, sizeof(thing));
}

static void integers_may_have_a_sign(void **state)
{
	(void)state;
	struct thing thing = {0};
	struct hs_error err = {0};
	assert_int_equal(read_as(fields, "{\"wide\": -5000000000, \"narrow\": -8}", &thing, &err),
			0);
	assert_true(thing.wide == INT64_C(-5000000000));
	assert_int_equal(thing.narrow, -8);
	refused("{\"narrow\": -9}", "out_of_range", "at.narrow", "an integer from -8 to 8");
	refused("{\"narrow\": 9}", "out_of_range", "at.narrow", "an integer from -8 to 8");
	refused("{\"narrow\": 1.0}", "wrong_type", "at.narrow", "an integer from -8 to 8");
}

static void numbers_may_have_a_fraction_or_none(void **state)
{
	(void)state;
	struct thing thing = {0};
	struct hs_error err = {0};
	assert_int_equal(read_as(fields, "{\"ratio\": -0.5}", &thing, &err), 0);
	assert_true(thing.ratio == -0.5);
	assert_int_equal(read_as(fields, "{\"ratio\": 1}", &thing, &err), 0);
	assert_true(thing.ratio == 1);
	refused("{\"ratio\": 1.001}", "out_of_range", "at.ratio", "a number from -0.5 to 1");
	refused("{\"ratio\": -0.501}", "out_of_range", "at.ratio", "a number from -0.5 to 1");
	refused("{\"ratio\": \"1\"}", "wrong_type", "at.ratio", "a number from -0.5 to 1");
}

static void seconds_are_kept_to_the_nearest_nanosecond(void **state)
{
	(void)state;
	struct thing thing = {0};
	struct hs_error err = {0};
	assert_int_equal(read_as(fields, "{\"time_s\": 0.1}", &thing, &err), 0);
	assert_int_equal(thing.time_ns, 100000000);
	assert_int_equal(read_as(fields, "{\"time_s\": 999.999999999}", &thing, &err), 0);
	assert_true(thing.time_ns == INT64_C(999999999999));
	assert_int_equal(read_as(fields, "{\"time_s\": 3}", &thing, &err), 0);
	assert_true(thing.time_ns == INT64_C(3000000000));
	refused("{\"time_s\": -1}", "out_of_range", "at.time_s", "a number from 0 to 1000");
}

static void words_may_stand_for_what_takes_64_bits(void **state)
{
	(void)state;
	struct thing thing = {0};
	struct hs_error err = {0};
	assert_int_equal(read_as(fields, "{\"word\": \"long\"}", &thing, &err), 0);
	assert_true(thing.word == UINT64_C(60000000000));
}

static void a_required_key_that_is_absent_is_refused(void **state)
{
	(void)state;
	struct thing thing = {0};
	struct hs_error err = {0};
	assert_true(read_as(strict, "{}", &thing, &err) < 0);
	assert_string_equal(err.code, "missing_field");
	assert_string_equal(err.path, "at.ratio");
	assert_string_equal(err.expected, "a share");
	assert_int_equal(read_as(strict, "{\"ratio\": 0}", &thing, &err), 0);
}

static void what_is_printed_is_what_was_read(void **state)
{
	(void)state;
	struct thing thing = {0};
	struct hs_error err = {0};
	json_t *object = json_loads("{\"wide\": -5, \"narrow\": -3, \"ratio\": 0.25,"
				    " \"time_s\": 1.5, \"word\": \"long\", \"part\": [1]}",
			0, NULL);
	assert_int_equal(hs_schema_read(fields, object, "", &thing, &err), 0);
	assert_ptr_equal(thing.part, json_object_get(object, "part"));
	json_t *printed = hs_schema_print(fields, &thing);
	assert_true(json_equal(printed, object));
	json_decref(printed);
	json_decref(object);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(integers_may_have_a_sign),
			cmocka_unit_test(numbers_may_have_a_fraction_or_none),
			cmocka_unit_test(seconds_are_kept_to_the_nearest_nanosecond),
			cmocka_unit_test(words_may_stand_for_what_takes_64_bits),
			cmocka_unit_test(a_required_key_that_is_absent_is_refused),
			cmocka_unit_test(what_is_printed_is_what_was_read),
	};
	return cmocka_run_group_tests_name("control-schema", tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "duration.h"

#include <errno.h>

#define MS INT64_C(1000000)

static void lengths_of_time_are_read(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {{"100ms", 100 * MS}, {"1s", 1000 * MS}, {"1m", 60000 * MS}, {"60s", 60000 * MS},
			{"007s", 7000 * MS}, {"10000h", 36000000000 * MS}};
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
		int64_t ns = 0;
		assert_int_equal(hs_duration_read(good[i].text, &ns), 0);
		assert_int_equal(ns, good[i].ns);
	}
}

static void what_is_no_length_of_time_is_refused(void **state)
{
	(void)state;
	static const char *const bad[] = {"", "s", "0s", "-1s", "+1s", " 1s", "1", "1 s", "1.5s",
			"1S", "1min", "1sx", "10001h", "99999999999999999999s", "0x1s"};
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		int64_t ns = 7;
		assert_int_equal(hs_duration_read(bad[i], &ns), -EINVAL);
		assert_int_equal(ns, 7);
	}
}

static void what_was_written_reads_as_the_same(void **state)
{
	(void)state;
	char text[HS_DURATION_BYTES];
	hs_duration_write(60000 * MS, text);
	assert_string_equal(text, "60s");
	hs_duration_write(1500 * MS, text);
	assert_string_equal(text, "1500ms");
	hs_duration_write(INT64_MAX, text);
	assert_string_equal(text, "9223372036854775807ns");
}

static void a_list_has_a_word_before_its_last_duration(void **state)
{
	static const int64_t ns[] = {1000 * MS, 250 * MS, 60000 * MS, 0, 7};
	char text[64];
	(void)state;
	assert_int_equal(hs_duration_list(ns, 5, " or ", text, sizeof(text)), 16);
	assert_string_equal(text, "1s, 250ms or 60s");
	hs_duration_list(ns, 2, " or ", text, sizeof(text));
	assert_string_equal(text, "1s or 250ms");
	hs_duration_list(ns, 1, " or ", text, sizeof(text));
	assert_string_equal(text, "1s");
}

static void a_list_ends_where_its_room_does(void **state)
{
	static const int64_t ns[] = {1000 * MS, 250 * MS, 60000 * MS};
	char text[] = "xxxxxxxxxxxxxxxx";
	(void)state;
	hs_duration_list(ns, 3, " or ", text, 4);
	assert_string_equal(text, "1s,");
	assert_string_equal(text + 4, "xxxxxxxxxxxx");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(lengths_of_time_are_read),
			cmocka_unit_test(what_is_no_length_of_time_is_refused),
			cmocka_unit_test(what_was_written_reads_as_the_same),
			cmocka_unit_test(a_list_has_a_word_before_its_last_duration),
			cmocka_unit_test(a_list_ends_where_its_room_does),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "clean_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void assert_clean(const char *text, const char *expected)
{
	char *clean = hs_clean_dup(text);
	assert_non_null(clean);
	assert_string_equal(clean, expected);
	char *again = hs_clean_dup(clean);
	assert_string_equal(again, clean);
	free(again);
	free(clean);
}

static void text_of_any_language_stays_as_it_is(void **state)
{
	(void)state;
	assert_clean("", "");
	assert_clean("Straße 7, 東京, עברית, \"\\ ~", "Straße 7, 東京, עברית, \"\\ ~");
	assert_clean("\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80", // with a joiner
			"\xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x9a\x80");
	assert_clean("\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd"); // U+10FFFD
}

static void what_drives_a_terminal_or_turns_text_is_escaped(void **state)
{
	(void)state;
	assert_clean("\x1b[2J\x07\b\r\n\t", "\\u001b[2J\\u0007\\u0008\\u000d\\u000a\\u0009");
	assert_clean("\x7f", "\\u007f");
	assert_clean("\xc2\x80\xc2\x9b\xc2\x9f\xc2\xa0", "\\u0080\\u009b\\u009f\xc2\xa0");
	assert_clean("\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "\\u061c\\u200e\\u200f");
	assert_clean("\xe2\x80\xa8\xe2\x80\xa9\xe2\x80\xaa\xe2\x80\xab\xe2\x80\xac\xe2\x80\xad"
		     "\xe2\x80\xae",
			"\\u2028\\u2029\\u202a\\u202b\\u202c\\u202d\\u202e");
	assert_clean("\xe2\x81\xa6\xe2\x81\xa7\xe2\x81\xa8\xe2\x81\xa9",
			"\\u2066\\u2067\\u2068\\u2069");
	assert_clean("\xf3\xa0\x81\x81", "\\udb40\\udc41"); // a tag
}

static void what_is_no_utf8_is_said_to_be_none(void **state)
{
	(void)state;
	assert_clean("a\x9b"
		     "b",
			"a\\ufffdb");		    // C1 as a byte
	assert_clean("\xc0\xaf", "\\ufffd\\ufffd"); // longer than it needs to be
	assert_clean("\xe0\x80\x9b", "\\ufffd\\ufffd\\ufffd");
	assert_clean("\xed\xa0\x80", "\\ufffd\\ufffd\\ufffd");		  // a surrogate
	assert_clean("\xf4\x90\x80\x80", "\\ufffd\\ufffd\\ufffd\\ufffd"); // beyond U+10FFFF
	assert_clean("\xe2\x80", "\\ufffd");
	assert_clean("\xff\xfe", "\\ufffd\\ufffd");
	assert_clean("\xe2\x80"
		     "A",
			"\\ufffd\\ufffd"
			"A");
}

// Whatever is in it: no byte of C0, DEL, C1 or no UTF-8 comes out, at any size, cut between
// characters.
static void no_text_comes_out_unsafe_and_none_is_cut_within_a_character(void **state)
{
	char text[9] = "", out[64];
	uint32_t seed = 1;
	(void)state;
	for (unsigned round = 0; round < 200000; round++) {
		for (unsigned i = 0; i < 8; i++) {
			seed = seed * 1664525 + 1013904223;
			static const unsigned char pool[] = {0x1b, 0xc2, 0x9b, 0xe2, 0x80, 0xae,
					0xf0, 0xa0, 0xed, 0x81, 'a', 0x7f, 0xf3, 0xbf, 0xd8, 0x9c};
			text[i] = (char)pool[seed >> 28];
		}
		size_t size = 1 + round % sizeof(out);
		size_t len = hs_clean_copy(text, out, size);
		assert_true(len < size);
		assert_int_equal(strlen(out), len);
		for (size_t at = 0, n; at < len; at += n) {
			int32_t code;
			n = hs_clean_next(out + at, len - at, &code);
			assert_true(n > 0 && !hs_clean_is_unsafe(code));
		}
	}
}

static void assert_mended(const char *text, const char *expected)
{
	char mended[64];

	memcpy(mended, text, strlen(text) + 1);
	hs_clean_mend(mended);
	assert_string_equal(mended, expected);
}

static void text_that_was_cut_is_mended(void **state)
{
	(void)state;
	assert_mended("", "");
	assert_mended("a\nb \x1b", "a\nb \x1b");
	assert_mended("Straße 東京", "Straße 東京");
	assert_mended("Stra\xc3", "Stra");
	assert_mended("東\xe4\xba", "東");
	assert_mended("\xf0\x9f\x91", "");
	assert_mended("\xe6\x9d\" is no name", "??\" is no name"); // cut by a precision
	assert_mended("\xff\xc0\x80", "???");
	assert_mended("\xed\xa0\x80", "???"); // a surrogate
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(text_of_any_language_stays_as_it_is),
			cmocka_unit_test(what_drives_a_terminal_or_turns_text_is_escaped),
			cmocka_unit_test(what_is_no_utf8_is_said_to_be_none),
			cmocka_unit_test(
					no_text_comes_out_unsafe_and_none_is_cut_within_a_character),
			cmocka_unit_test(text_that_was_cut_is_mended),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

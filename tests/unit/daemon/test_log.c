// SPDX-License-Identifier: BSD-3-Clause
#include "log.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define SECOND	 INT64_C(1000000000)
#define NEW_YEAR (INT64_C(1704067200) * SECOND) // 2024-01-01T00:00:00Z

static int own_stderr, capture;
static char text[65536];

static int begin(void **state)
{
	char path[] = "/tmp/hs-log-XXXXXX";

	(void)state;
	capture = mkstemp(path);
	unlink(path);
	own_stderr = dup(STDERR_FILENO);
	dup2(capture, STDERR_FILENO);
	hs_log_setup(HS_LOG_INFO, false);
	return 0;
}

static int end(void **state)
{
	(void)state;
	dup2(own_stderr, STDERR_FILENO);
	close(own_stderr);
	close(capture);
	return 0;
}

// What was logged since the test began.
static const char *logged(void)
{
	ssize_t n = pread(capture, text, sizeof(text) - 1, 0);

	text[n > 0 ? n : 0] = '\0';
	return text;
}

static unsigned lines_with(const char *word)
{
	unsigned n = 0;

	for (const char *at = logged(); (at = strstr(at, word)); at++)
		n++;
	return n;
}

static void a_line_has_time_level_module_and_message(void **state)
{
	(void)state;
	hs_log_at(NEW_YEAR + 1234567, HS_LOG_WARNING, "port", "%s has %d queues", "veth0", 2);
	assert_string_equal(
			logged(), "2024-01-01T00:00:00.001234Z warning port: veth0 has 2 queues\n");
}

static void json_lines_are_objects_with_everything_escaped(void **state)
{
	(void)state;
	hs_log_setup(HS_LOG_INFO, true);
	hs_log_at(NEW_YEAR, HS_LOG_ERROR, "port", "a \"quoted\" \\ line\nbreak \xc3\xa4 \xff");
	assert_string_equal(logged(),
			"{\"time\": \"2024-01-01T00:00:00.000000Z\", "
			"\"level\": \"error\", \"module\": \"port\", "
			"\"message\": \"a \\\"quoted\\\" \\\\ line\\u000abreak \xc3\xa4 ?\"}\n");
}

static void a_message_never_breaks_its_line(void **state)
{
	(void)state;
	hs_log_at(NEW_YEAR, HS_LOG_INFO, "api", "name is \"%s\"", "a\nb\x1b[31m");
	assert_non_null(strstr(logged(), "api: name is \"a\\x0ab\\x1b[31m\"\n"));
	assert_int_equal(lines_with("\n"), 1);
}

static void levels_above_the_one_set_are_silent(void **state)
{
	(void)state;
	hs_log_setup(HS_LOG_NOTICE, false);
	hs_log_at(NEW_YEAR, HS_LOG_INFO, "node", "too much");
	hs_log(HS_LOG_DEBUG, "node", "far too much");
	hs_log_at(NEW_YEAR, HS_LOG_NOTICE, "node", "enough");
	assert_int_equal(lines_with("much"), 0);
	assert_int_equal(lines_with("enough"), 1);
}

static void repeated_lines_are_limited_and_the_rest_is_said_once_the_period_is_over(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 100; i++)
		hs_log_at(NEW_YEAR + i, HS_LOG_WARNING, "clock", "not synchronised");
	assert_int_equal(lines_with("clock: not synchronised"), 5);
	assert_int_equal(lines_with("suppressed"), 0);

	hs_log_at(NEW_YEAR + 6 * SECOND, HS_LOG_INFO, "node", "another line");
	assert_non_null(strstr(
			logged(), "warning clock: 95 more of \"not synchronised\" suppressed\n"));
	hs_log_at(NEW_YEAR + 7 * SECOND, HS_LOG_WARNING, "clock", "not synchronised");
	assert_int_equal(lines_with("clock: not synchronised"), 6);
}

static void lines_that_alternate_are_limited_each_by_itself(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 50; i++) {
		hs_log_at(NEW_YEAR + i, HS_LOG_WARNING, "a", "one");
		hs_log_at(NEW_YEAR + i, HS_LOG_WARNING, "b", "two");
	}
	assert_int_equal(lines_with("a: one"), 5);
	assert_int_equal(lines_with("b: two"), 5);
}

static void different_lines_are_never_suppressed(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 500; i++)
		hs_log_at(NEW_YEAR, HS_LOG_INFO, "node", "rule %u", i);
	assert_int_equal(lines_with("node: rule"), 500);
}

static void a_clock_set_back_does_not_silence_a_line(void **state)
{
	(void)state;
	for (unsigned i = 0; i < 10; i++)
		hs_log_at(NEW_YEAR + 3600 * SECOND, HS_LOG_INFO, "node", "hello");
	hs_log_at(NEW_YEAR, HS_LOG_INFO, "node", "hello");
	assert_int_equal(lines_with("00:00:00.000000Z info node: hello"), 1);
}

static void a_long_message_is_cut_not_spilled(void **state)
{
	char *message = malloc(100000);

	(void)state;
	memset(message, '\n', 99999); // the worst case of escaping
	message[99999] = '\0';
	hs_log_at(NEW_YEAR, HS_LOG_INFO, "node", "%s", message);
	assert_int_equal(lines_with("\n"), 1);
	assert_true(strlen(logged()) < 2048);
	free(message);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)
			TEST(a_line_has_time_level_module_and_message),
			TEST(json_lines_are_objects_with_everything_escaped),
			TEST(a_message_never_breaks_its_line),
			TEST(levels_above_the_one_set_are_silent),
			TEST(repeated_lines_are_limited_and_the_rest_is_said_once_the_period_is_over),
			TEST(lines_that_alternate_are_limited_each_by_itself),
			TEST(different_lines_are_never_suppressed),
			TEST(a_clock_set_back_does_not_silence_a_line),
			TEST(a_long_message_is_cut_not_spilled),
	};

	return cmocka_run_group_tests_name("log", tests, NULL, NULL);
}

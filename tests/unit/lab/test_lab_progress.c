// SPDX-License-Identifier: BSD-3-Clause
#include "lab_progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static void a_line_tells_part_time_rate_and_rest_is_rewritten_whole_and_taken_away(void **state)
{
	(void)state;
	struct hs_lab_progress progress = {.done_ns = 60400000000,
			.duration_ns = 120800000000,
			.events = 3000000,
			.wall_s = 1.5};
	struct hs_lab_line line = {0};
	char *text;
	size_t size;

	line.to = open_memstream(&text, &size);
	hs_lab_line_show(&line, &progress);
	progress.wall_s = 0;
	hs_lab_line_show(&line, &progress);
	hs_lab_line_clear(&line);
	hs_lab_line_clear(&line);
	progress.done_ns = 0;
	hs_lab_line_show(&line, &progress);
	fclose(line.to);
	assert_string_equal(text, "\r50 %  60.4 of 120.8 s  2,000,000 events/s  2 s left"
				  "\r50 %  60.4 of 120.8 s  0 events/s                  "
				  "\r                                                   \r"
				  "\r0 %  0.0 of 120.8 s  0 events/s");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_line_tells_part_time_rate_and_rest_is_rewritten_whole_and_taken_away),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

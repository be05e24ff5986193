// SPDX-License-Identifier: BSD-3-Clause
#include "lab_progress.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct hs_lab_progress half(void)
{
	return (struct hs_lab_progress){
			.done_ns = 60400000000,
			.duration_ns = 120800000000,
			.events = 3000000,
			.wall_s = 1.5,
	};
}

static void progress_tells_part_time_rate_and_what_is_left(void **state)
{
	(void)state;
	struct hs_lab_progress progress = half();
	char text[HS_LAB_LINE_TEXT];

	hs_lab_progress_text(&progress, text);
	assert_string_equal(text, "50 %  60.4 of 120.8 s  2,000,000 events/s  2 s left");
	progress.wall_s = 0;
	progress.done_ns = 0;
	hs_lab_progress_text(&progress, text);
	assert_string_equal(text, "0 %  0.0 of 120.8 s  0 events/s");
}

static void a_line_is_rewritten_whole_and_taken_away(void **state)
{
	(void)state;
	struct hs_lab_progress progress = half();
	struct hs_lab_line line = {0};
	char *text;
	size_t size;

	line.to = open_memstream(&text, &size);
	hs_lab_line_show(&line, &progress);
	progress.wall_s = 0;
	progress.events = 0;
	hs_lab_line_show(&line, &progress);
	hs_lab_line_clear(&line);
	hs_lab_line_clear(&line);
	fclose(line.to);
	assert_string_equal(text, "\r50 %  60.4 of 120.8 s  2,000,000 events/s  2 s left"
				  "\r50 %  60.4 of 120.8 s  0 events/s                  "
				  "\r                                                   \r");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(progress_tells_part_time_rate_and_what_is_left),
			cmocka_unit_test(a_line_is_rewritten_whole_and_taken_away),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

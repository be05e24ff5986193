// SPDX-License-Identifier: BSD-3-Clause
#include "bench_process.h"

#include "bench_fixture.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

static char *run(char *const argv[], double limit_s)
{
	struct hs_bench_process process;
	struct hs_error err;

	assert_int_equal(hs_bench_process_start(&process, argv, true, &err), 0);
	char *text = hs_bench_process_read(&process, limit_s);
	assert_int_equal(process.pid, 0);
	return text;
}

static void what_a_process_says_is_read_to_its_end(void **state)
{
	char *text = run((char *[]){"printf", "%s\\n%s\\n", "one", "two", NULL}, 10);

	(void)state;
	assert_string_equal(text, "one\ntwo\n");
	free(text);
}

static void a_process_that_says_nothing_gives_nothing(void **state)
{
	(void)state;
	assert_null(run((char *[]){"true", NULL}, 10));
}

static void a_program_that_is_not_there_gives_nothing(void **state)
{
	(void)state;
	assert_null(run((char *[]){"hopsight-no-such-program", NULL}, 10));
}

static void a_process_that_takes_too_long_is_ended(void **state)
{
	(void)state;
	assert_null(run((char *[]){"sleep", "1000", NULL}, 0.05));
}

static void a_stopped_process_is_gone(void **state)
{
	struct hs_bench_process process;
	struct hs_error err;

	(void)state;
	assert_int_equal(hs_bench_process_start(
					 &process, (char *[]){"sleep", "1000", NULL}, false, &err),
			0);
	pid_t pid = process.pid;
	hs_bench_process_stop(&process);
	assert_int_equal(kill(pid, 0), -1);
	hs_bench_process_stop(&process); // again: nothing
}

static void a_folder_goes_with_all_its_files(void **state)
{
	char path[256], file[300];
	struct hs_error err;

	(void)state;
	assert_int_equal(hs_bench_folder_make(path, sizeof(path), &err), 0);
	for (int i = 0; i < 3; i++) {
		snprintf(file, sizeof(file), "%s/%d", path, i);
		int fd = open(file, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
		assert_true(fd >= 0);
		close(fd);
	}
	hs_bench_folder_remove(path);
	assert_int_equal(access(path, F_OK), -1);
	hs_bench_folder_remove(path); // one that is not there
}

static void a_signal_ends_waiting(void **state)
{
	(void)state;
	hs_bench_catch_signals();
	assert_false(hs_bench_interrupted());
	assert_true(hs_bench_sleep(0.001));
	raise(SIGTERM);
	assert_true(hs_bench_interrupted());
	assert_false(hs_bench_sleep(1000));
	assert_null(run((char *[]){"sleep", "1000", NULL}, 1000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(what_a_process_says_is_read_to_its_end),
			cmocka_unit_test(a_process_that_says_nothing_gives_nothing),
			cmocka_unit_test(a_program_that_is_not_there_gives_nothing),
			cmocka_unit_test(a_process_that_takes_too_long_is_ended),
			cmocka_unit_test(a_stopped_process_is_gone),
			cmocka_unit_test(a_folder_goes_with_all_its_files),
			cmocka_unit_test(a_signal_ends_waiting),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

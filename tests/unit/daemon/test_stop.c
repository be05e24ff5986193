// SPDX-License-Identifier: BSD-3-Clause
#include "boot_id.h"
#include "exit_code.h"
#include "stop.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

// Each body runs in a process of its own, whose signals are not the test's: 0 is a pass.
static int in_child(int (*body)(void))
{
	int status = -1;
	pid_t child = fork();

	if (child == 0) {
		dup2(STDOUT_FILENO, STDERR_FILENO);
		_exit(body());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

static int read_each(void)
{
	static const int signals[] = {SIGTERM, SIGINT, SIGQUIT};
	int fd = hs_stop_open();
	struct pollfd p = {.fd = fd, .events = POLLIN};

	if (fd < 0 || hs_stop_read(fd) != 0)
		return 1;
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
		raise(signals[i]);
		if (poll(&p, 1, 0) != 1 || hs_stop_read(fd) != signals[i])
			return 2;
	}
	return hs_stop_read(fd);
}

static void a_signal_to_end_is_told_by_the_descriptor_once(void **state)
{
	(void)state;
	assert_int_equal(in_child(read_each), 0);
}

static int outlive(void)
{
	int fd = hs_stop_open();

	raise(SIGPIPE);
	raise(SIGHUP);
	raise(SIGXFSZ);
	return hs_stop_read(fd);
}

static void broken_pipes_lost_terminals_and_limits_of_files_end_nothing(void **state)
{
	(void)state;
	assert_int_equal(in_child(outlive), 0);
}

static int second_signal(void)
{
	int fd = hs_stop_open();

	raise(SIGTERM);
	if (hs_stop_read(fd) != SIGTERM)
		return 10;
	hs_stop_at_once("test");
	raise(SIGINT);
	return 11;
}

static void a_second_signal_ends_the_process_with_its_exit_code(void **state)
{
	(void)state;
	int status = in_child(second_signal);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), HS_EXIT_FAILED);
}

static void a_boot_id_is_sixteen_digits_and_another_one_each_time(void **state)
{
	(void)state;
	char id[HS_BOOT_ID_BYTES], next[HS_BOOT_ID_BYTES];

	hs_boot_id_make(id);
	hs_boot_id_make(next);
	assert_int_equal(strlen(id), 16);
	assert_int_equal(strspn(id, "0123456789abcdef"), 16);
	assert_string_not_equal(id, next);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_signal_to_end_is_told_by_the_descriptor_once),
			cmocka_unit_test(
					broken_pipes_lost_terminals_and_limits_of_files_end_nothing),
			cmocka_unit_test(a_second_signal_ends_the_process_with_its_exit_code),
			cmocka_unit_test(a_boot_id_is_sixteen_digits_and_another_one_each_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

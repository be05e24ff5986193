// SPDX-License-Identifier: BSD-3-Clause
// Each test gives up what it has in a process of its own.
#include "privileges.h"
#include "syscall_filter.h"

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <linux/capability.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
	DONE = 0,
	WRONG = 1,
	NO_FILTERS = 2
};

static int status_of(int (*child)(void))
{
	int status;
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(child());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void expect_done(int (*child)(void))
{
	int status = status_of(child);

	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NO_FILTERS)
		skip();
	assert_int_equal(WEXITSTATUS(status), DONE);
}

static void expect_killed(int (*child)(void))
{
	int status = status_of(child);

	if (WIFEXITED(status) && WEXITSTATUS(status) == NO_FILTERS)
		skip();
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

// ---- capabilities ----

static int keep_one(void)
{
	const uint64_t raw = HS_PRIVILEGE(CAP_NET_RAW);
	uint64_t had = hs_privileges_held();

	if (hs_privileges_keep(raw) || hs_privileges_held() != (had & raw))
		return WRONG;
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		return WRONG;
	// What is gone does not come back.
	if (hs_privileges_keep(~UINT64_C(0)) || hs_privileges_held() != (had & raw))
		return WRONG;
	return hs_privileges_keep(0) || hs_privileges_held() ? WRONG : DONE;
}

static void all_but_what_is_kept_is_gone_for_good(void **state)
{
	(void)state;
	expect_done(keep_one);
}

static void names_stand_in_order(void **state)
{
	char text[64];
	(void)state;
	assert_string_equal(hs_privileges_text(0, text, sizeof(text)), "none");
	assert_string_equal(
			hs_privileges_text(HS_PRIVILEGE(CAP_NET_RAW) | HS_PRIVILEGE(CAP_NET_ADMIN),
					text, sizeof(text)),
			"net_admin, net_raw");
	assert_null(hs_privilege_name(64));
}

static void only_low_ports_need_a_capability(void **state)
{
	(void)state;
	assert_true(hs_privileges_low_port("tcp://0.0.0.0:443"));
	assert_true(hs_privileges_low_port("tcp://[::1]:1023"));
	assert_false(hs_privileges_low_port("tcp://[::1]:1024"));
	assert_false(hs_privileges_low_port("tcp://127.0.0.1:*"));
	assert_false(hs_privileges_low_port("ipc:///run/a:80"));
}

// ---- system calls ----

static void *wait_for_word(void *fd)
{
	char c;

	if (read(*(int *)fd, &c, 1) != 1)
		return NULL;
	return (void *)(intptr_t)(socket(AF_PACKET, SOCK_RAW, 0) < 0 ? errno : 0);
}

// Of a thread that was there before, and of one that comes later.
static int filter_threads(void)
{
	int fds[2];
	void *early, *late;
	pthread_t one, two;

	if (pipe(fds) || pthread_create(&one, NULL, wait_for_word, &fds[0]))
		return WRONG;
	int rc = hs_syscall_filter(0);
	if (rc < 0)
		return rc == -ENOTSUP ? NO_FILTERS : WRONG;
	if (pthread_create(&two, NULL, wait_for_word, &fds[0]) || write(fds[1], "ab", 2) != 2)
		return WRONG;
	pthread_join(one, &early);
	pthread_join(two, &late);
	return (intptr_t)early == EPERM && (intptr_t)late == EPERM ? DONE : WRONG;
}

static void every_thread_is_filtered(void **state)
{
	(void)state;
	expect_done(filter_threads);
}

static bool is_refused(long result)
{
	return result < 0 && errno == EPERM;
}

static int use_memory_and_sockets(void)
{
	int rc = hs_syscall_filter(0);
	if (rc < 0)
		return rc == -ENOTSUP ? NO_FILTERS : WRONG;
	void *plain = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (plain == MAP_FAILED || socket(AF_INET6, SOCK_STREAM, 0) < 0)
		return WRONG;
	if (!is_refused(mprotect(plain, 4096, PROT_READ | PROT_EXEC)))
		return WRONG;
	if (mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			    0) != MAP_FAILED)
		return WRONG;
	return is_refused(fork()) && is_refused(socket(AF_PACKET, SOCK_RAW, 0)) &&
					       is_refused(kill(getppid(), 0))
			       ? DONE
			       : WRONG;
}

static void what_is_not_listed_is_refused(void **state)
{
	(void)state;
	unsetenv("HS_SANDBOX_KILL");
	expect_done(use_memory_and_sockets);
}

static int run_a_program(void)
{
	char *words[] = {(char *)"true", NULL};
	int rc = hs_syscall_filter(HS_SYSCALLS_NODE | HS_SYSCALLS_DEVICES | HS_SYSCALLS_XDP);
	if (rc < 0)
		return rc == -ENOTSUP ? NO_FILTERS : WRONG;
	execv("/bin/true", words);
	return WRONG;
}

static int look_into_another(void)
{
	int rc = hs_syscall_filter(HS_SYSCALLS_NODE);
	if (rc < 0)
		return rc == -ENOTSUP ? NO_FILTERS : WRONG;
	ptrace(PTRACE_ATTACH, getppid(), NULL, NULL);
	return WRONG;
}

static void what_only_an_intruder_does_ends_the_process(void **state)
{
	(void)state;
	expect_killed(run_a_program);
	expect_killed(look_into_another);
}

static int be_refused_loudly(void)
{
	setenv("HS_SANDBOX_KILL", "1", 1);
	int rc = hs_syscall_filter(0);
	if (rc < 0)
		return rc == -ENOTSUP ? NO_FILTERS : WRONG;
	return fork() < 0 ? DONE : WRONG;
}

static void tests_see_every_refusal(void **state)
{
	(void)state;
	expect_killed(be_refused_loudly);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(all_but_what_is_kept_is_gone_for_good),
			cmocka_unit_test(names_stand_in_order),
			cmocka_unit_test(only_low_ports_need_a_capability),
			cmocka_unit_test(every_thread_is_filtered),
			cmocka_unit_test(what_is_not_listed_is_refused),
			cmocka_unit_test(what_only_an_intruder_does_ends_the_process),
			cmocka_unit_test(tests_see_every_refusal),
	};
	return cmocka_run_group_tests_name("sandbox", tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "stop.h"

#include "exit_code.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

static const int signals[] = {SIGTERM, SIGINT, SIGQUIT};
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static const char *name;

static void fill(sigset_t *set)
{
	sigemptyset(set);
	for (size_t i = 0; i < N_SIGNALS; i++)
		sigaddset(set, signals[i]);
}

int hs_stop_open(void)
{
	sigset_t set;

	fill(&set);
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int hs_stop_read(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == sizeof(info) ? (int)info.ssi_signo : 0;
}

static void exit_at_once(int signal_number)
{
	static const char text[] = ": second signal: exiting at once\n";

	(void)signal_number;
	ssize_t n = write(STDERR_FILENO, name, strlen(name));
	n = write(STDERR_FILENO, text, sizeof(text) - 1);
	(void)n;
	_exit(HS_EXIT_FAILED);
}

void hs_stop_at_once(const char *program)
{
	sigset_t set;

	name = program;
	fill(&set);
	for (size_t i = 0; i < N_SIGNALS; i++)
		signal(signals[i], exit_at_once);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

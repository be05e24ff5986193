// SPDX-License-Identifier: BSD-3-Clause
// The end of verbs that run until they are interrupted.
#include "hopsight_cli.h"

#include <signal.h>
#include <unistd.h>

#define LAST_WORDS_S 2 // time for output that a process still reads

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
#define N_SIGNALS (sizeof(signals) / sizeof(signals[0]))

static volatile sig_atomic_t stopped;
static void (*restore_terminal)(void);

bool hs_cli_is_stopped(void)
{
	return stopped;
}

static void stop(int signal_number)
{
	(void)signal_number;
	stopped = 1;
	alarm(LAST_WORDS_S);
}

// Ends the process while output waits that no process reads. exit() would also wait, to write the
// buffers of stdio.
static void give_up(int signal_number)
{
	(void)signal_number;
	if (restore_terminal)
		restore_terminal();
	_exit(HS_CLI_REFUSED);
}

void hs_cli_catch_signals(void (*restore)(void), sigset_t *caught)
{
	struct sigaction ends = {.sa_handler = stop, .sa_flags = SA_RESTART};
	struct sigaction last = {.sa_handler = give_up};

	restore_terminal = restore;
	sigemptyset(caught);
	sigaction(SIGALRM, &last, NULL);
	for (size_t i = 0; i < N_SIGNALS; i++) {
		sigaction(signals[i], &ends, NULL);
		sigaddset(caught, signals[i]);
	}
}

// SPDX-License-Identifier: BSD-3-Clause
// gnuplot as a child process.
#include "lab_plot.h"

#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

// What it draws appears when it is whole, as other files do.
#define ENDING ".part"

// No shell, no settings of the user, no terminal; Ctrl-C ends it.
static int start(const char *folder, char **argv, pid_t *pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	sigset_t defaults, none;
	int error;

	sigemptyset(&none);
	sigemptyset(&defaults);
	sigaddset(&defaults, SIGINT);
	sigaddset(&defaults, SIGTERM);
	sigaddset(&defaults, SIGPIPE);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &defaults);
	posix_spawnattr_setsigmask(&attributes, &none);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
	posix_spawn_file_actions_addchdir_np(&actions, folder);
	error = posix_spawnp(pid, argv[0], &actions, &attributes, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	posix_spawnattr_destroy(&attributes);
	return -error;
}

static int wait_for(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

static int run_gnuplot(const char *folder, const struct hs_lab_plots *plots)
{
	static const char *const words[] = {"gnuplot", "-d", "-e", "ending='" ENDING "'"};
	enum {
		N_WORDS = sizeof(words) / sizeof(words[0])
	};
	char **argv = calloc(N_WORDS + plots->n + 1, sizeof(*argv));
	char *scripts = calloc(plots->n, HS_LAB_PLOT_NAME + 4);
	int rc = argv && scripts ? 0 : -ENOMEM;
	pid_t pid;

	for (size_t i = 0; rc == 0 && i < N_WORDS; i++)
		argv[i] = (char *)words[i];
	for (size_t i = 0; rc == 0 && i < plots->n; i++) {
		argv[N_WORDS + i] = scripts + i * (HS_LAB_PLOT_NAME + 4);
		snprintf(argv[N_WORDS + i], HS_LAB_PLOT_NAME + 4, "%s.gp", plots->names[i]);
	}
	if (rc == 0)
		rc = start(folder, argv, &pid);
	if (rc == 0)
		rc = wait_for(pid);
	free(scripts);
	free(argv);
	return rc;
}

// The pictures take their names; of those that are not whole nothing stays.
static int finish(const char *folder, const char *name, bool whole)
{
	char part[HS_WHOLE_FILE_PATH], path[HS_WHOLE_FILE_PATH];

	snprintf(part, sizeof(part), "%s/%s.svg" ENDING, folder, name);
	snprintf(path, sizeof(path), "%s/%s.svg", folder, name);
	if (whole)
		return rename(part, path) < 0 ? -errno : 0;
	unlink(part);
	return 0;
}

int hs_lab_plots_draw(const char *folder, const struct hs_lab_plots *plots, struct hs_error *err)
{
	int rc = plots->n ? run_gnuplot(folder, plots) : 0;
	bool whole = rc == 0;

	for (size_t i = 0; i < plots->n; i++) {
		int renamed = finish(folder, plots->names[i], whole);
		if (renamed < 0 && rc == 0)
			rc = renamed;
	}
	if (rc < 0 && rc != -ENOENT)
		hs_error_set(err, "gnuplot", folder, "", "gnuplot did not draw the plots: %s",
				rc == -EIO ? "it ended with an error" : strerror(-rc));
	return rc;
}

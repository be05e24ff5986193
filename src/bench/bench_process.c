// SPDX-License-Identifier: BSD-3-Clause
#include "bench_process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TEXT_BYTES 65536
#define GRACE_S	   5.0
#define STEP_S	   0.01

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
	(void)number;
	interrupted = 1;
}

void hs_bench_catch_signals(void)
{
	struct sigaction action = {.sa_handler = on_signal}; // no SA_RESTART: waits end

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGHUP, &action, NULL);
}

bool hs_bench_interrupted(void)
{
	return interrupted;
}

static double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

bool hs_bench_sleep(double seconds)
{
	struct timespec t = {
			.tv_sec = (time_t)seconds,
			.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9),
	};

	while (!interrupted && nanosleep(&t, &t) < 0 && errno == EINTR)
		;
	return !interrupted;
}

// ---- processes ----

static void become(char *const argv[], pid_t parent, int out)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	// The parent handles Ctrl-C.
	setpgid(0, 0);
	dup2(nothing, STDIN_FILENO);
	dup2(out < 0 ? nothing : out, STDOUT_FILENO);
	if (out < 0)
		dup2(nothing, STDERR_FILENO);
	execvp(argv[0], argv);
	_exit(127);
}

int hs_bench_process_start(struct hs_bench_process *process, char *const argv[], bool listen,
		struct hs_error *err)
{
	int ends[2] = {-1, -1};
	pid_t parent = getpid();

	*process = (struct hs_bench_process){.out = -1};
	if (listen && pipe2(ends, O_CLOEXEC) < 0)
		return hs_error_set(err, "process", argv[0], "", "no pipe: %s", strerror(errno));
	pid_t pid = fork();
	if (pid == 0)
		become(argv, parent, ends[1]);
	if (listen)
		close(ends[1]);
	if (pid < 0) {
		if (listen)
			close(ends[0]);
		return hs_error_set(err, "process", argv[0], "", "cannot be started: %s",
				strerror(errno));
	}
	*process = (struct hs_bench_process){.pid = pid, .out = ends[0]};
	return 0;
}

// Returns whether it has ended within some seconds.
static bool ended(struct hs_bench_process *process, double limit_s)
{
	const struct timespec step = {.tv_nsec = (long)(STEP_S * 1e9)};
	double limit = now_s() + limit_s;

	for (;;) {
		pid_t pid = waitpid(process->pid, NULL, WNOHANG);
		if (pid == process->pid || (pid < 0 && errno == ECHILD))
			return true;
		if (now_s() > limit)
			return false;
		nanosleep(&step, NULL);
	}
}

void hs_bench_process_stop(struct hs_bench_process *process)
{
	if (process->out >= 0)
		close(process->out);
	process->out = -1;
	if (!process->pid)
		return;
	kill(process->pid, SIGINT);
	if (!ended(process, GRACE_S)) {
		kill(process->pid, SIGKILL);
		waitpid(process->pid, NULL, 0);
	}
	process->pid = 0;
}

static ssize_t read_some(int fd, char *text, size_t size, double limit)
{
	struct pollfd wait = {.fd = fd, .events = POLLIN};
	double left = limit - now_s();

	if (left <= 0 || interrupted || poll(&wait, 1, (int)(left * 1000)) <= 0)
		return -1;
	return read(fd, text, size);
}

char *hs_bench_process_read(struct hs_bench_process *process, double limit_s)
{
	char *text = malloc(TEXT_BYTES);
	double limit = now_s() + limit_s;
	size_t len = 0;
	ssize_t n = 1;

	while (text && n > 0 && len < TEXT_BYTES - 1) {
		n = read_some(process->out, text + len, TEXT_BYTES - 1 - len, limit);
		len += n > 0 ? (size_t)n : 0;
	}
	if (n < 0) // interrupted or too late: the process is not waited for
		kill(process->pid, SIGKILL);
	hs_bench_process_stop(process);
	if (n < 0 || !len) {
		free(text);
		return NULL;
	}
	text[len] = '\0';
	return text;
}

// ---- folders ----

int hs_bench_folder_make(char *path, size_t size, struct hs_error *err)
{
	const char *base = getenv("TMPDIR");

	snprintf(path, size, "%s/hopsight-bench.XXXXXX", base && base[0] ? base : "/tmp");
	if (!mkdtemp(path))
		return hs_error_set(err, "file", path, "", "no folder: %s", strerror(errno));
	return 0;
}

void hs_bench_folder_remove(const char *path)
{
	DIR *folder = opendir(path);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(path);
}

void hs_bench_runtime_folder(const char *prefix, char *path, size_t size)
{
	const char *base = getenv("RUNTIME_DIRECTORY");

	if (!base)
		base = getuid() == 0 ? "/var/run" : getenv("XDG_RUNTIME_DIR");
	snprintf(path, size, "%s/dpdk/%s", base ? base : "/tmp", prefix);
}

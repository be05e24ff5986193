// SPDX-License-Identifier: BSD-3-Clause
#include "interrupts.h"

#include <rte_interrupts.h>

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#define HOLD_LIMIT_S 1

// There is one interrupt thread. It is held inside a callback of our own.
static struct {
	struct rte_intr_handle *handle;
	int call_fd;  // readable: the thread must come and be held
	int epoll_fd; // the thread's own epoll descriptor while it is held
	bool held;
	sem_t has_come, may_go;
} leash = {.call_fd = -1, .epoll_fd = -1};

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0 && errno == EINTR)
		;
}

// Runs on the interrupt thread.
static void be_held(void *context)
{
	uint64_t calls;

	(void)context;
	if (read(leash.call_fd, &calls, sizeof(calls)) < 0)
		return;
	sem_post(&leash.has_come);
	wait_for(&leash.may_go);
}

static int call(void)
{
	uint64_t one = 1;

	return write(leash.call_fd, &one, sizeof(one)) < 0 ? -errno : 0;
}

// ---- what waits for the thread ----

static bool watches_call_fd(const char *epoll_fd)
{
	char path[64], line[128];
	bool found = false;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fdinfo/%.16s", epoll_fd);
	FILE *info = fopen(path, "re");
	if (!info)
		return false;
	while (!found && fgets(line, sizeof(line), info))
		found = sscanf(line, "tfd: %d", &fd) == 1 && fd == leash.call_fd;
	fclose(info);
	return found;
}

// EAL does not tell which epoll descriptor its thread waits on, but only that one contains our
// descriptor. It changes with each change of what the thread waits for.
static int find_epoll_fd(void)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	int found = -1;

	while (directory && found < 0 && (entry = readdir(directory))) {
		char target[32] = "";
		if (readlinkat(dirfd(directory), entry->d_name, target, sizeof(target) - 1) < 0)
			continue;
		if (strcmp(target, "anon_inode:[eventpoll]") == 0 && watches_call_fd(entry->d_name))
			found = atoi(entry->d_name);
	}
	if (directory)
		closedir(directory);
	return found;
}

// ---- the leash ----

static int make_leash(void)
{
	leash.call_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	leash.handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (leash.call_fd < 0 || !leash.handle)
		return -ENOMEM;
	sem_init(&leash.has_come, 0, 0);
	sem_init(&leash.may_go, 0, 0);
	rte_intr_type_set(leash.handle, RTE_INTR_HANDLE_EXT);
	rte_intr_fd_set(leash.handle, leash.call_fd);
	return rte_intr_callback_register(leash.handle, be_held, NULL);
}

int hs_interrupts_hold(void)
{
	struct timespec limit;
	int ret = 0;

	if (leash.held)
		return 0;
	if (leash.call_fd < 0)
		ret = make_leash();
	if (ret == 0)
		ret = call();
	if (ret < 0)
		return ret;
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += HOLD_LIMIT_S;
	while ((ret = sem_timedwait(&leash.has_come, &limit)) < 0 && errno == EINTR)
		;
	if (ret < 0)
		return -ETIMEDOUT;
	leash.held = true;
	leash.epoll_fd = find_epoll_fd();
	return 0;
}

int hs_interrupts_fd(void)
{
	return leash.epoll_fd;
}

void hs_interrupts_pass(void)
{
	if (!leash.held)
		return;
	// The thread is called back before it is released: it handles what was ready before, then
	// this call.
	call();
	sem_post(&leash.may_go);
	wait_for(&leash.has_come);
	leash.epoll_fd = find_epoll_fd();
}

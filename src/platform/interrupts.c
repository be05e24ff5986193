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
	int call_fd;  // readable: the thread must run its callback and be held
	int epoll_fd; // the thread's own epoll descriptor while it is held
	bool held;
	sem_t has_come, may_go;
} hold = {.call_fd = -1, .epoll_fd = -1};

static void wait_for(sem_t *semaphore)
{
	while (sem_wait(semaphore) < 0 && errno == EINTR)
		;
}

// Holds the interrupt thread, on which this callback runs.
static void be_held(void *context)
{
	uint64_t calls;

	(void)context;
	if (read(hold.call_fd, &calls, sizeof(calls)) < 0)
		return;
	sem_post(&hold.has_come);
	wait_for(&hold.may_go);
}

static int call(void)
{
	uint64_t one = 1;

	return write(hold.call_fd, &one, sizeof(one)) < 0 ? -errno : 0;
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
		found = sscanf(line, "tfd: %d", &fd) == 1 && fd == hold.call_fd;
	fclose(info);
	return found;
}

// Returns the epoll descriptor on which EAL's thread waits. EAL does not tell the descriptor, but
// only that one contains our descriptor. The descriptor changes with each change of what the thread
// waits for.
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

// ---- holding the thread ----

static int make_hold(void)
{
	hold.call_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	hold.handle = rte_intr_instance_alloc(RTE_INTR_INSTANCE_F_PRIVATE);
	if (hold.call_fd < 0 || !hold.handle)
		return -ENOMEM;
	sem_init(&hold.has_come, 0, 0);
	sem_init(&hold.may_go, 0, 0);
	rte_intr_type_set(hold.handle, RTE_INTR_HANDLE_EXT);
	rte_intr_fd_set(hold.handle, hold.call_fd);
	return rte_intr_callback_register(hold.handle, be_held, NULL);
}

int hs_interrupts_hold(void)
{
	struct timespec limit;
	int ret = 0;

	if (hold.held)
		return 0;
	if (hold.call_fd < 0)
		ret = make_hold();
	if (ret == 0)
		ret = call();
	if (ret < 0)
		return ret;
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += HOLD_LIMIT_S;
	while ((ret = sem_timedwait(&hold.has_come, &limit)) < 0 && errno == EINTR)
		;
	if (ret < 0)
		return -ETIMEDOUT;
	hold.held = true;
	hold.epoll_fd = find_epoll_fd();
	return 0;
}

int hs_interrupts_fd(void)
{
	return hold.epoll_fd;
}

void hs_interrupts_pass(void)
{
	if (!hold.held)
		return;
	// The thread is called before it is released. It first handles what was ready before, and
	// then comes for this call.
	call();
	sem_post(&hold.may_go);
	wait_for(&hold.has_come);
	hold.epoll_fd = find_epoll_fd();
}

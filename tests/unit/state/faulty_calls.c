// SPDX-License-Identifier: BSD-3-Clause
#include "faulty_calls.h"

#include <aio.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <unistd.h>

static enum faulty_kind kind;
static unsigned at, calls;

void faulty_begin(enum faulty_kind wanted, unsigned number)
{
	kind = wanted;
	at = number;
	calls = 0;
}

unsigned faulty_end(void)
{
	kind = FAULTY_NONE;
	return calls;
}

static bool is_it(void)
{
	calls++;
	return kind != FAULTY_NONE && calls == at;
}

// -1 where the call is not to be done.
static int before(void)
{
	if (kind == FAULTY_DIE || kind == FAULTY_DIE_HALF)
		_exit(0);
	errno = ENOSPC;
	return kind == FAULTY_DIE_AFTER ? 0 : -1;
}

static void after(void)
{
	if (kind == FAULTY_DIE_AFTER)
		_exit(0);
}

// A process that dies loses nothing that was written; the disk need not be waited for.
static int skip_sync(int fd)
{
	(void)fd;
	return 0;
}

#define __real_fdatasync skip_sync
#define __real_fsync	 skip_sync

#define WRAP(type, name, parameters, arguments)                                                    \
	type __wrap_##name parameters;                                                             \
	type __wrap_##name parameters                                                              \
	{                                                                                          \
		bool it = is_it();                                                                 \
		if (it && before())                                                                \
			return -1;                                                                 \
		type result = __real_##name arguments;                                             \
		if (it)                                                                            \
			after();                                                                   \
		return result;                                                                     \
	}

int __real_ftruncate64(int fd, int64_t size);
int __real_rename(const char *from, const char *to);
int __real_link(const char *from, const char *to);

// Under way once, then done.
static bool under_way;

void faulty_disk_is_done(void)
{
	under_way = false;
}

static int __real_aio_fsync64(int kind_of, struct aiocb *flush)
{
	(void)kind_of, (void)flush;
	under_way = true;
	return 0;
}

int __wrap_aio_error64(const struct aiocb *flush);
int __wrap_aio_error64(const struct aiocb *flush)
{
	(void)flush;
	if (under_way)
		return EINPROGRESS;
	bool it = is_it();
	if (it && before())
		return ENOSPC;
	if (it)
		after();
	return 0;
}

int __wrap_aio_suspend64(const struct aiocb *const list[], int n, const struct timespec *limit);
int __wrap_aio_suspend64(const struct aiocb *const list[], int n, const struct timespec *limit)
{
	(void)list, (void)n, (void)limit;
	under_way = false;
	return 0;
}

ssize_t __wrap_aio_return64(struct aiocb *flush);
ssize_t __wrap_aio_return64(struct aiocb *flush)
{
	(void)flush;
	return 0;
}

WRAP(int, aio_fsync64, (int kind_of, struct aiocb *flush), (kind_of, flush))
WRAP(int, fdatasync, (int fd), (fd))
WRAP(int, fsync, (int fd), (fd))
WRAP(int, ftruncate64, (int fd, int64_t size), (fd, size))
WRAP(int, rename, (const char *from, const char *to), (from, to))
WRAP(int, link, (const char *from, const char *to), (from, to))

ssize_t __real_pwrite64(int fd, const void *bytes, size_t len, int64_t offset);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t len, int64_t offset);
ssize_t __wrap_pwrite64(int fd, const void *bytes, size_t len, int64_t offset)
{
	bool it = is_it();

	if (it && (kind == FAULTY_DIE_HALF || kind == FAULTY_FAIL_HALF))
		__real_pwrite64(fd, bytes, len / 2, offset);
	if (it && before())
		return -1;
	ssize_t result = __real_pwrite64(fd, bytes, len, offset);
	if (it)
		after();
	return result;
}

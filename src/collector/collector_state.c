// SPDX-License-Identifier: BSD-3-Clause
#include "collector_state.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct head {
	char what[48];
	uint64_t bytes; // behind the head
	uint64_t listeners;
};
#define KIND "hopsight-collector exporters"
#define WHAT KIND " 1\n"

struct hs_collector_state {
	int fd;
	size_t bytes; // of the mapping
	struct head *head;
};

// Opens and locks the file for this process alone. Returns 0 or a negative errno.
static int open_file(const char *file, int *fd)
{
	struct stat status;

	*fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (*fd < 0)
		return -errno;
	if (flock(*fd, LOCK_EX | LOCK_NB) < 0)
		return errno == EWOULDBLOCK ? -EBUSY : -errno;
	if (fstat(*fd, &status) < 0)
		return -errno;
	return S_ISREG(status.st_mode) ? 0 : -EINVAL;
}

// Returns whether the file may be overwritten: it is one of a collector, or empty, or zeroed as
// after a crash of the machine. Any other file was named by mistake.
static bool is_ours(const struct head *there, ssize_t bytes)
{
	static const struct head zero;

	return bytes == 0 || memcmp(there, &zero, sizeof(zero)) == 0 ||
	       memcmp(there->what, KIND, sizeof(KIND) - 1) == 0;
}

// Maps the file. Its content is kept if the head and the length are right.
static int map_file(
		struct hs_collector_state *state, uint64_t bytes, uint64_t listeners, bool *anew)
{
	struct stat status;
	struct head head = {WHAT, bytes, listeners}, there = {.bytes = 0};

	state->bytes = sizeof(head) + bytes;
	if (fstat(state->fd, &status) < 0)
		return -errno;
	ssize_t got = pread(state->fd, &there, sizeof(there), 0);
	if (got < 0 || !is_ours(&there, got))
		return got < 0 ? -errno : -EEXIST;
	*anew = got != sizeof(there) || memcmp(&there, &head, sizeof(head)) != 0 ||
		(uint64_t)status.st_size != state->bytes;
	if (*anew && (ftruncate(state->fd, 0) < 0 || pwrite(state->fd, &head, sizeof(head), 0) < 0))
		return -errno;
	// The disk space of the whole file is allocated now, because a full disk would kill the
	// process later.
	int rc = posix_fallocate(state->fd, 0, (off_t)state->bytes);
	if (rc)
		return -rc;
	void *memory = mmap(NULL, state->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, state->fd, 0);
	if (memory == MAP_FAILED)
		return -errno;
	state->head = memory;
	return 0;
}

int hs_collector_state_open(const char *file, uint64_t bytes, uint64_t listeners,
		struct hs_collector_state **state, bool *anew, struct hs_error *err)
{
	struct hs_collector_state *made = calloc(1, sizeof(*made));

	if (!made)
		return -ENOMEM;
	int rc = open_file(file, &made->fd);
	if (rc == 0)
		rc = map_file(made, bytes, listeners, anew);
	if (rc < 0) {
		hs_error_set(err, "not_opened", "state.file",
				"a file that this process alone may write", "\"%.128s\": %s", file,
				rc == -EBUSY	? "another process has it"
				: rc == -EEXIST ? "it is there and is no file of a collector"
						: strerror(-rc));
		hs_collector_state_close(made);
		return rc;
	}
	*state = made;
	return 0;
}

void hs_collector_state_close(struct hs_collector_state *state)
{
	if (!state)
		return;
	if (state->head)
		munmap(state->head, state->bytes);
	if (state->fd >= 0)
		close(state->fd);
	free(state);
}

void *hs_collector_state_memory(struct hs_collector_state *state)
{
	return state->head + 1;
}

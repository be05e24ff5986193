// SPDX-License-Identifier: BSD-3-Clause
#include "state_file.h"

#include "state_line.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES 16384

int hs_state_name(char *text, size_t size, const char *file, const char *suffix)
{
	int n = snprintf(text, size, "%s%s", file, suffix);
	return n >= 0 && (size_t)n < size ? 0 : -ENAMETOOLONG;
}

bool hs_state_file_is_at(int fd, const char *name)
{
	struct stat mine, there;
	return fstat(fd, &mine) == 0 && stat(name, &there) == 0 && mine.st_ino == there.st_ino &&
	       mine.st_dev == there.st_dev;
}

int hs_state_not_saved(int rc, const char *name, struct hs_error *err)
{
	hs_error_set(err, "not_saved", "", "room and a disk that works",
			"the change is not made, it cannot be saved: %.150s: %s", name,
			rc == -ESTALE ? "the file was removed or replaced" : strerror(-rc));
	return rc;
}

int hs_state_file_write(struct hs_state_file *file, const char *bytes, size_t len)
{
	size_t done = 0;

	while (done < len) {
		ssize_t n = pwrite(file->fd, bytes + done, len - done, (off_t)(file->bytes + done));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		done += (size_t)n;
	}
	file->bytes += len;
	return 0;
}

uint64_t hs_state_changes_of(const json_t *change)
{
	return json_is_array(change) ? json_array_size(change) : 1;
}

int hs_state_file_add(struct hs_state_file *file, const json_t *change)
{
	size_t len;
	char *line = hs_state_line_make(change, &len);

	if (!line)
		return -ENOMEM;
	int rc = len > HS_STATE_LINE_BYTES ? -E2BIG : hs_state_file_write(file, line, len);
	free(line);
	if (rc)
		return rc;
	file->lines++;
	file->changes += hs_state_changes_of(change);
	return 0;
}

int hs_state_file_copy(struct hs_state_file *file, int other, uint64_t from, uint64_t to)
{
	char bytes[COPY_BYTES];

	while (from < to) {
		size_t want = to - from < sizeof(bytes) ? (size_t)(to - from) : sizeof(bytes);
		ssize_t n = pread(other, bytes, want, (off_t)from);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -EIO;
		int rc = hs_state_file_write(file, bytes, (size_t)n);
		if (rc)
			return rc;
		from += (uint64_t)n;
	}
	return 0;
}

int hs_state_file_create(const char *name, struct hs_state_file *file)
{
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	int rc;

	if (fd < 0)
		return -errno;
	*file = (struct hs_state_file){.fd = fd};
	// The lock and the mode are set before the file gets the other's name, so that the file is
	// never visible unlocked or with the umask's mode.
	rc = fchmod(fd, 0600) ? -errno : 0;
	rc = rc ? rc : flock(fd, LOCK_EX | LOCK_NB) ? -errno : 0;
	if (rc == 0)
		rc = hs_state_file_write(file, HS_STATE_HEADING "\n", strlen(HS_STATE_HEADING) + 1);
	if (rc) {
		close(fd);
		unlink(name);
		file->fd = -1;
	}
	return rc;
}

void hs_state_folder(const char *name, char *folder, size_t size)
{
	const char *slash = strrchr(name, '/');

	size_t n = slash && slash > name ? (size_t)(slash - name) : 1;

	snprintf(folder, size, "%.*s", (int)n, slash ? name : ".");
}

void hs_state_sync_folder(const char *name)
{
	char folder[HS_STATE_FILE_BYTES + 1];

	hs_state_folder(name, folder, sizeof(folder));
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return;
	fsync(fd);
	close(fd);
}

void hs_state_remove_new(const char *name)
{
	char left[HS_STATE_FILE_BYTES + 8];
	if (hs_state_name(left, sizeof(left), name, ".new") == 0)
		unlink(left);
}

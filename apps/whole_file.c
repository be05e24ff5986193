// SPDX-License-Identifier: BSD-3-Clause
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_OPEN 8

static const char *volatile temporaries[MAX_OPEN];

static void note(const char *was, const char *is)
{
	for (int i = 0; i < MAX_OPEN; i++) {
		if (temporaries[i] == was) {
			temporaries[i] = is;
			return;
		}
	}
}

void hs_whole_file_remove_all(void)
{
	for (int i = 0; i < MAX_OPEN; i++) {
		const char *path = temporaries[i];
		if (path)
			unlink(path);
	}
}

static int refuse(const char *path, int error, struct hs_error *err)
{
	hs_error_set(err, "file", path, "", "cannot be written: %s", strerror(error));
	return -error;
}

// Creates the file beside its place, with the mode that a new file usually gets. mkostemp alone
// creates a file for its owner only.
static FILE *open_temporary(char *name)
{
	int fd = mkostemp(name, O_CLOEXEC);
	mode_t mask = umask(0);
	FILE *stream = NULL;

	umask(mask);
	if (fd < 0)
		return NULL;
	note(NULL, name);
	if (fchmod(fd, 0666 & ~mask) == 0)
		stream = fdopen(fd, "w");
	if (stream)
		return stream;
	int error = errno;
	close(fd);
	unlink(name);
	note(name, NULL);
	errno = error;
	return NULL;
}

int hs_whole_file_open(struct hs_whole_file *file, const char *path, struct hs_error *err)
{
	struct stat status;
	size_t size = sizeof(file->path);

	file->stream = NULL;
	file->temporary[0] = '\0';
	// A symbolic link keeps pointing to the file.
	if (!realpath(path, file->path) && snprintf(file->path, size, "%s", path) >= (int)size)
		return refuse(path, ENAMETOOLONG, err);
	if (stat(file->path, &status) == 0 && !S_ISREG(status.st_mode)) {
		file->stream = fopen(file->path, "we");
	} else {
		if (snprintf(file->temporary, size, "%s.XXXXXX", file->path) >= (int)size)
			return refuse(file->path, ENAMETOOLONG, err);
		file->stream = open_temporary(file->temporary);
	}
	return file->stream ? 0 : refuse(file->path, errno, err);
}

// Closes the file. Without an error, the file gets its name. Otherwise, the file is removed.
// Returns the first error, or 0.
static int finish(struct hs_whole_file *file, int error)
{
	if (fclose(file->stream) != 0 && !error)
		error = errno;
	file->stream = NULL;
	if (!file->temporary[0])
		return error;
	if (!error && rename(file->temporary, file->path) < 0)
		error = errno;
	if (error)
		unlink(file->temporary);
	note(file->temporary, NULL);
	return error;
}

int hs_whole_file_commit(struct hs_whole_file *file, struct hs_error *err)
{
	int error = finish(file, ferror(file->stream) ? EIO : 0);

	return error ? refuse(file->path, error, err) : 0;
}

void hs_whole_file_abandon(struct hs_whole_file *file)
{
	if (file->stream)
		finish(file, ECANCELED);
}

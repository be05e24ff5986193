// SPDX-License-Identifier: BSD-3-Clause
#include "whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
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

static bool is_special(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

static int open_in_place(struct hs_whole_file *file, struct hs_error *err)
{
	file->temporary[0] = '\0';
	file->stream = fopen(file->path, "we");
	return file->stream ? 0 : refuse(file->path, errno, err);
}

static int open_beside(struct hs_whole_file *file, struct hs_error *err)
{
	int n = snprintf(file->temporary, sizeof(file->temporary), "%s.XXXXXX", file->path);
	int fd, error;
	mode_t mask;

	if (n >= (int)sizeof(file->temporary))
		return refuse(file->path, ENAMETOOLONG, err);
	fd = mkostemp(file->temporary, O_CLOEXEC);
	if (fd < 0)
		return refuse(file->path, errno, err);
	note(NULL, file->temporary);
	// mkostemp creates the file for its owner alone. A result gets the usual mode.
	mask = umask(0);
	umask(mask);
	if (fchmod(fd, 0666 & ~mask) == 0)
		file->stream = fdopen(fd, "w");
	if (file->stream)
		return 0;
	error = errno;
	close(fd);
	unlink(file->temporary);
	note(file->temporary, NULL);
	return refuse(file->path, error, err);
}

int hs_whole_file_open(struct hs_whole_file *file, const char *path, struct hs_error *err)
{
	char real[PATH_MAX];

	// A symbolic link keeps pointing to the file.
	if (!realpath(path, real)) {
		if (strlen(path) >= sizeof(real))
			return refuse(path, ENAMETOOLONG, err);
		strcpy(real, path);
	}
	file->stream = NULL;
	strcpy(file->path, real);
	return is_special(real) ? open_in_place(file, err) : open_beside(file, err);
}

int hs_whole_file_commit(struct hs_whole_file *file, struct hs_error *err)
{
	bool failed = ferror(file->stream) != 0;
	int error = failed ? EIO : 0;

	if (fclose(file->stream) != 0 && !error)
		error = errno;
	file->stream = NULL;
	if (file->temporary[0] && !error && rename(file->temporary, file->path) < 0)
		error = errno;
	if (file->temporary[0] && error)
		unlink(file->temporary);
	note(file->temporary, NULL);
	return error ? refuse(file->path, error, err) : 0;
}

void hs_whole_file_abandon(struct hs_whole_file *file)
{
	if (!file->stream)
		return;
	fclose(file->stream);
	file->stream = NULL;
	if (file->temporary[0])
		unlink(file->temporary);
	note(file->temporary, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "influx_secret.h"

#include "file_access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SPACES " \t\r\n"

static int fail(struct hs_error *err, int error, const char *file, const char *path)
{
	hs_error_set(err, "not_readable", path, "", "%.128s: %s", file, strerror(error));
	return -error;
}

static int check_file(int fd, const char *file, const char *path, struct hs_error *err)
{
	struct stat status;

	if (fstat(fd, &status) < 0)
		return fail(err, errno, file, path);
	if (!S_ISREG(status.st_mode))
		return hs_error_set(err, "bad_file", path, "a file", "%.128s is no file", file);
	return hs_file_access_check(&status, S_IWGRP | S_IRWXO, file, path, "mode 0600",
			"others than its owner may use the secret", err);
}

// Cuts the text to the line that is the secret.
static int take_line(char *text, const char *file, const char *path, struct hs_error *err)
{
	size_t at = strspn(text, SPACES), len = strcspn(text + at, "\r\n");

	while (len > 0 && strchr(SPACES, text[at + len - 1]))
		len--;
	memmove(text, text + at, len);
	text[len] = '\0';
	if (len > 0)
		return 0;
	return hs_error_set(
			err, "bad_file", path, "a line with the secret", "%.128s is empty", file);
}

int influx_secret_read(const char *file, const char *path, char secret[INFLUX_SECRET_BYTES],
		struct hs_error *err)
{
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return fail(err, errno, file, path);
	int rc = check_file(fd, file, path, err);
	ssize_t n = rc < 0 ? 0 : read(fd, secret, INFLUX_SECRET_BYTES);
	if (n < 0)
		rc = fail(err, errno, file, path);
	close(fd);
	secret[n > 0 && n < INFLUX_SECRET_BYTES ? n : 0] = '\0';
	if (rc == 0 && n == INFLUX_SECRET_BYTES)
		return hs_error_set(err, "bad_file", path, "less than 1024 bytes",
				"%.128s is too long", file);
	return rc < 0 ? rc : take_line(secret, file, path, err);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "bus_key_file.h"

#include "file_access.h"

#include <zmq.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_FILE 4096

bool hs_bus_key_name_ok(const char *name, size_t len)
{
	static const char allowed[] =
			"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-";

	return len >= 1 && len <= HS_BUS_KEY_NAME_MAX && name[0] != '.' &&
	       strspn(name, allowed) >= len;
}

// ---- permissions ----

static int check_mode(const struct stat *status, bool secret, const char *file, const char *path,
		struct hs_error *err)
{
	if (!S_ISREG(status->st_mode))
		return hs_error_set(err, "bad_file", path, "a file", "%s is no file", file);
	if (secret)
		return hs_file_access_check(status, S_IWGRP | S_IRWXO, file, path, "mode 0600",
				"others than its owner may use the secret key", err);
	return hs_file_access_check(status, HS_FILE_WRITABLE, file, path, "mode 0644",
			"anyone may put another key there", err);
}

static int fail(struct hs_error *err, int error, const char *file, const char *path)
{
	hs_error_set(err, "not_readable", path, "", "%s: %s", file, strerror(error));
	return -error;
}

// Root without its capabilities may not open a file of another user; the error says so.
static int cannot_open(
		const char *file, bool secret, const char *path, int error, struct hs_error *err)
{
	struct stat status;
	int rc = error == EACCES && stat(file, &status) == 0
				 ? check_mode(&status, secret, file, path, err)
				 : 0;

	return rc ? rc : fail(err, error, file, path);
}

// Fills a terminated text.
static int read_text(const char *file, bool secret, const char *path, char text[MAX_FILE + 1],
		struct hs_error *err)
{
	struct stat status;
	size_t len = 0;
	ssize_t n = 0;
	int fd = open(file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);

	if (fd < 0)
		return cannot_open(file, secret, path, errno, err);
	int rc = fstat(fd, &status) ? fail(err, errno, file, path)
				    : check_mode(&status, secret, file, path, err);
	while (rc == 0 && len <= MAX_FILE && (n = read(fd, text + len, MAX_FILE + 1 - len)) > 0)
		len += (size_t)n;
	if (rc == 0 && n < 0)
		rc = fail(err, errno, file, path);
	else if (rc == 0 && len > MAX_FILE)
		rc = hs_error_set(err, "bad_file", path, "at most 4096 bytes", "%s is too long",
				file);
	text[rc ? 0 : len] = '\0';
	close(fd);
	return rc;
}

// ---- content ----

struct reader {
	const char *file, *path;
	struct hs_bus_key *key;
	struct hs_error *err;
};

static int bad_line(const struct reader *r, const char *expected, const char *name)
{
	return hs_error_set(r->err, "bad_file", r->path, expected, "%s: %.40s", r->file, name);
}

static int take_key(const struct reader *r, const char *name, const char *value, char *into)
{
	uint8_t bytes[32];

	if (strlen(value) != HS_BUS_KEY_TEXT - 1 || !zmq_z85_decode(bytes, value))
		return bad_line(r, "40 characters of Z85", name);
	explicit_bzero(bytes, sizeof(bytes));
	memcpy(into, value, HS_BUS_KEY_TEXT);
	return 0;
}

static int take_value(const struct reader *r, const char *name, const char *value)
{
	if (strcmp(name, "public-key") == 0)
		return take_key(r, name, value, r->key->public_key);
	if (strcmp(name, "secret-key") == 0)
		return take_key(r, name, value, r->key->secret_key);
	if (strcmp(name, "role") != 0)
		return 0; // other programs' metadata
	r->key->may_change = strcmp(value, "read-write") == 0;
	if (!r->key->may_change && strcmp(value, "read-only") != 0)
		return bad_line(r, "read-write or read-only", "role");
	return 0;
}

static char *trim(char *text, const char *away)
{
	text += strspn(text, away);
	size_t len = strlen(text);
	while (len > 0 && strchr(away, text[len - 1]))
		text[--len] = '\0';
	return text;
}

// Parses ZPL (rfc.zeromq.org/spec/4) as far as certificates use it. Sections stand alone on a line
// and may be ignored, because all names are different.
static int parse(const struct reader *r, char *text)
{
	char *rest = NULL;
	int rc = 0;

	for (char *line = strtok_r(text, "\n", &rest); line && rc == 0;
			line = strtok_r(NULL, "\n", &rest)) {
		char *name = trim(line, " \t\r"), *equals = strchr(name, '=');
		if (name[0] == '#' || !equals)
			continue;
		*equals = '\0';
		rc = take_value(r, trim(name, " \t"), trim(equals + 1, " \t\r\"'"));
	}
	return rc;
}

static int check_pair(const struct reader *r)
{
	char public_key[HS_BUS_KEY_TEXT];

	if (!r->key->secret_key[0])
		return bad_line(r, "a NAME.secret", "there is no secret-key");
	if (zmq_curve_public(public_key, r->key->secret_key) ||
			strcmp(public_key, r->key->public_key) != 0)
		return bad_line(r, "the two keys of one pair", "the keys do not belong together");
	return 0;
}

int hs_bus_key_read(const char *file, bool secret, const char *path, struct hs_bus_key *key,
		struct hs_error *err)
{
	const struct reader r = {file, path, key, err};
	char text[MAX_FILE + 1];

	*key = (struct hs_bus_key){0};
	int rc = read_text(file, secret, path, text, err);
	if (rc == 0)
		rc = parse(&r, text);
	if (rc == 0 && !key->public_key[0])
		rc = bad_line(&r, "a NAME.pub", "there is no public-key");
	if (rc == 0 && secret)
		rc = check_pair(&r);
	if (rc || !secret)
		explicit_bzero(key->secret_key, sizeof(key->secret_key));
	explicit_bzero(text, sizeof(text));
	return rc;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "bus_keys.h"

#include "bus_allowed.h"

#include <zmq.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int hs_bus_keys_check(const struct hs_bus_keys *keys, struct hs_error *err)
{
	struct hs_bus_key key;
	struct hs_bus_allowed allowed;
	int rc = 0;

	if (!keys->secret_file)
		return hs_error_set(err, "missing_field", "secret", "a file of `hopsight keygen`",
				"there is no key of our own");
	rc = hs_bus_key_read(keys->secret_file, true, "secret", &key, err);
	explicit_bzero(&key, sizeof(key));
	if (rc == 0 && keys->server_file)
		rc = hs_bus_key_read(keys->server_file, false, "controller", &key, err);
	if (rc == 0 && keys->allowed_dir) {
		rc = hs_bus_allowed_open(keys->allowed_dir, "allowed", &allowed, err);
		if (rc == 0)
			hs_bus_allowed_close(&allowed);
	}
	return rc;
}

int hs_bus_check_keys(const struct hs_bus_keys *keys, bool publishes_to, bool insecure,
		struct hs_error *err)
{
	if (keys->secret_file && !keys->allowed_dir)
		return hs_error_set(err, "missing_field", "allowed",
				"a directory with the NAME.pub of each that may connect",
				"nobody could ask this process anything");
	if (keys->secret_file && publishes_to && !keys->server_file && !insecure)
		return hs_error_set(err, "missing_field", "controller",
				"the controller's NAME.pub, or \"insecure\": true",
				"anyone could take the controller's place");
	return hs_bus_keys_check(keys, err);
}

// ---- making a pair ----

static int fail(struct hs_error *err, const char *file)
{
	int error = errno;

	hs_error_set(err, error == EEXIST ? "in_use" : "not_writable", "",
			error == EEXIST ? "another name: a key is never replaced" : "", "%s: %s",
			file, strerror(error));
	return -error;
}

static int write_file(
		const char *file, mode_t mode, const char *text, size_t len, struct hs_error *err)
{
	int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode);

	if (fd < 0)
		return fail(err, file);
	ssize_t n = write(fd, text, len);
	int rc = n == (ssize_t)len && fsync(fd) == 0 ? 0 : -1;
	if (n >= 0 && n != (ssize_t)len)
		errno = ENOSPC;
	rc = rc ? fail(err, file) : 0;
	close(fd);
	if (rc)
		unlink(file);
	return rc;
}

static int write_pair(const char *dir, const char *name, const char *role, const char *public_key,
		const char *secret_key, struct hs_error *err)
{
	char text[512], file[2][4096];

	snprintf(file[0], sizeof(file[0]), "%s/%s.secret", dir, name);
	snprintf(file[1], sizeof(file[1]), "%s/%s.pub", dir, name);
	int len = snprintf(text, sizeof(text),
			"# Secret key %s: for its owner's eyes only.\n"
			"curve\n    public-key = \"%s\"\n    secret-key = \"%s\"\n",
			name, public_key, secret_key);
	int rc = write_file(file[0], 0600, text, (size_t)len, err);
	explicit_bzero(text, sizeof(text));
	if (rc)
		return rc;
	len = snprintf(text, sizeof(text),
			"# Public key %s: for the directory of keys that a node allows.\n"
			"metadata\n    role = \"%s\"\ncurve\n    public-key = \"%s\"\n",
			name, role, public_key);
	rc = write_file(file[1], 0644, text, (size_t)len, err);
	if (rc)
		unlink(file[0]);
	return rc;
}

int hs_bus_keys_make(const char *dir, const char *name, bool read_only, struct hs_error *err)
{
	char public_key[HS_BUS_KEY_TEXT], secret_key[HS_BUS_KEY_TEXT];

	if (!hs_bus_key_name_ok(name, strlen(name)))
		return hs_error_set(err, "bad_value", "",
				"1 to 63 letters, digits, '_', '-', '.', no '.' at the beginning",
				"\"%.80s\" is no name for a key", name);
	if (strlen(dir) + strlen(name) + 16 > 4096)
		return hs_error_set(err, "out_of_range", "", "at most 4000 bytes",
				"the name of the directory is too long");
	if (zmq_curve_keypair(public_key, secret_key))
		return hs_error_set(err, "unsupported", "", "", "this libzmq has no CURVE");
	int rc = write_pair(dir, name, read_only ? "read-only" : "read-write", public_key,
			secret_key, err);
	explicit_bzero(secret_key, sizeof(secret_key));
	return rc;
}

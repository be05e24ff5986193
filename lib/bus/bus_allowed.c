// SPDX-License-Identifier: BSD-3-Clause
#include "bus_allowed.h"

#include "file_access.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SUFFIX	  ".pub"
#define SETTLE_NS INT64_C(1000000000) // longer than the clock step of any file system except FAT

// ---- whether the directory has changed ----

static uint64_t mix(uint64_t print, const void *bytes, size_t n)
{
	const uint8_t *byte = bytes;

	for (size_t i = 0; i < n; i++)
		print = (print ^ byte[i]) * UINT64_C(0x100000001b3); // FNV-1a
	return print;
}

static int64_t ns_of(const struct timespec *time)
{
	return (int64_t)time->tv_sec * 1000000000 + time->tv_nsec;
}

static bool is_key_file(const char *name)
{
	size_t len = strlen(name), suffix = strlen(SUFFIX);

	return name[0] != '.' && len > suffix && strcmp(name + len - suffix, SUFFIX) == 0;
}

// Returns the hash of a file's name, times and size. The sum over all files is independent of the
// order in which a directory is read.
static uint64_t print_of(const char *name, const struct stat *status)
{
	const int64_t parts[] = {(int64_t)status->st_ino, (int64_t)status->st_size,
			ns_of(&status->st_mtim), ns_of(&status->st_ctim)};
	uint64_t print = mix(UINT64_C(0xcbf29ce484222325), name, strlen(name));

	return mix(print, parts, sizeof(parts));
}

static void note_file(struct hs_bus_allowed *seen, const char *name, const struct stat *status,
		int64_t now_ns)
{
	seen->print += print_of(name, status);
	if (ns_of(&status->st_ctim) > now_ns - SETTLE_NS)
		seen->settled = false;
}

// Fills `print` and `settled`. Returns 0 or a negative errno.
static int look(const char *dir, struct hs_bus_allowed *seen)
{
	struct timespec now;
	struct stat status;
	DIR *open = opendir(dir);

	seen->print = 0;
	seen->settled = true;
	if (!open)
		return -errno;
	clock_gettime(CLOCK_REALTIME, &now);
	if (fstat(dirfd(open), &status) == 0)
		note_file(seen, "", &status, ns_of(&now));
	for (const struct dirent *entry; (entry = readdir(open));) {
		if (is_key_file(entry->d_name) &&
				fstatat(dirfd(open), entry->d_name, &status, 0) == 0)
			note_file(seen, entry->d_name, &status, ns_of(&now));
	}
	closedir(open);
	return 0;
}

// ---- reading ----

static int by_key(const void *a, const void *b)
{
	const struct hs_bus_allowed_key *left = a, *right = b;

	return strcmp(left->public_key, right->public_key);
}

static int add_key(struct hs_bus_allowed *allowed, const char *file_name, const char *path,
		struct hs_error *err)
{
	struct hs_bus_allowed_key *slot = &allowed->keys[allowed->n];
	size_t len = strlen(file_name) - strlen(SUFFIX);
	struct hs_bus_key key;
	char file[4096];

	if (!hs_bus_key_name_ok(file_name, len))
		return hs_error_set(err, "bad_value", path,
				"1 to 63 letters, digits, '_', '-', '.', no '.' at the beginning",
				"%s/%s is no name", allowed->dir, file_name);
	if (allowed->n == HS_BUS_MAX_ALLOWED)
		return hs_error_set(err, "too_large", path, "at most 4096 keys", "%s has more",
				allowed->dir);
	snprintf(file, sizeof(file), "%s/%s", allowed->dir, file_name);
	int rc = hs_bus_key_read(file, false, path, &key, err);
	if (rc)
		return rc;
	memcpy(slot->public_key, key.public_key, sizeof(slot->public_key));
	memset(slot->name, 0, sizeof(slot->name));
	memcpy(slot->name, file_name, len);
	slot->may_change = key.may_change;
	allowed->n++;
	return 0;
}

// A key in two files has no clear owner, so it may do what both files allow.
static int join_equals(struct hs_bus_allowed *allowed, const char *path, struct hs_error *err)
{
	size_t kept = 0;
	int rc = 0;

	for (size_t i = 0; i < allowed->n; i++) {
		struct hs_bus_allowed_key *key = &allowed->keys[i];
		struct hs_bus_allowed_key *last = kept ? &allowed->keys[kept - 1] : NULL;
		if (!last || by_key(last, key) != 0) {
			allowed->keys[kept++] = *key;
			continue;
		}
		last->may_change &= key->may_change;
		rc = hs_error_set(err, "duplicate", path, "each key once",
				"%s: %s.pub and %s.pub hold the same key", allowed->dir, last->name,
				key->name);
	}
	allowed->n = kept;
	return rc;
}

static int check_directory(const struct hs_bus_allowed *allowed, const char *path, DIR *open,
		struct hs_error *err)
{
	struct stat status;

	if (fstat(dirfd(open), &status))
		return -errno;
	return hs_file_access_check(&status, HS_FILE_WRITABLE, allowed->dir, path, "mode 0755",
			"anyone may put a key there", err);
}

// Returns whether the error is about descriptors or memory at this moment, not about the keys.
static bool is_scarcity(int rc)
{
	return rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM;
}

static int load_files(
		struct hs_bus_allowed *allowed, const char *path, DIR *open, struct hs_error *err)
{
	int rc = 0;

	for (const struct dirent *entry; (entry = readdir(open));) {
		if (!is_key_file(entry->d_name))
			continue;
		int bad = add_key(allowed, entry->d_name, path, rc ? NULL : err);
		if (is_scarcity(bad))
			return bad;
		rc = rc ? rc : bad;
	}
	qsort(allowed->keys, allowed->n, sizeof(*allowed->keys), by_key);
	int equal = join_equals(allowed, path, rc ? NULL : err);
	return rc ? rc : equal;
}

// Loads what is right. Returns 0, or a negative errno with *err for the first thing that is wrong.
static int load(struct hs_bus_allowed *allowed, const char *path, struct hs_error *err)
{
	DIR *open = opendir(allowed->dir);
	int rc = open ? 0 : -errno;

	allowed->n = 0;
	if (!open) {
		hs_error_set(err, "not_readable", path, "", "%s: %s", allowed->dir, strerror(-rc));
		return rc;
	}
	rc = check_directory(allowed, path, open, err);
	if (rc == 0)
		rc = load_files(allowed, path, open, err);
	closedir(open);
	return rc;
}

int hs_bus_allowed_open(const char *dir, const char *path, struct hs_bus_allowed *allowed,
		struct hs_error *err)
{
	*allowed = (struct hs_bus_allowed){.dir = strdup(dir),
			.keys = calloc(HS_BUS_MAX_ALLOWED, sizeof(*allowed->keys))};
	if (!allowed->dir || !allowed->keys) {
		hs_bus_allowed_close(allowed);
		hs_error_set(err, "internal", path, "", "memory is out");
		return -ENOMEM;
	}
	// Look before reading, so that the next look sees changes that happen meanwhile.
	look(dir, allowed);
	int rc = load(allowed, path, err);
	if (rc)
		hs_bus_allowed_close(allowed);
	return rc;
}

void hs_bus_allowed_close(struct hs_bus_allowed *allowed)
{
	free(allowed->dir);
	free(allowed->keys);
	*allowed = (struct hs_bus_allowed){0};
}

// Returns whether a key of `before` is missing in `after`.
static bool lost_one(const struct hs_bus_allowed_key *before, size_t n,
		const struct hs_bus_allowed *after)
{
	for (size_t i = 0; i < n; i++)
		if (!hs_bus_allowed_find(after, before[i].public_key))
			return true;
	return false;
}

bool hs_bus_allowed_refresh(struct hs_bus_allowed *allowed, bool *fewer)
{
	struct hs_bus_allowed seen = {0};
	size_t n = allowed->n, bytes = n * sizeof(*allowed->keys);
	struct hs_error problem = {0};

	*fewer = false;
	if (is_scarcity(look(allowed->dir, &seen)) ||
			(seen.print == allowed->print && allowed->settled))
		return false;
	struct hs_bus_allowed_key *before = malloc(bytes + 1);
	if (!before)
		return false; // try again at the next look
	memcpy(before, allowed->keys, bytes);
	if (is_scarcity(load(allowed, "allowed", &problem))) {
		memcpy(allowed->keys, before, bytes);
		allowed->n = n;
		free(before);
		return false; // the last good keys stay until descriptors and memory suffice
	}
	allowed->print = seen.print;
	allowed->settled = seen.settled;
	*fewer = lost_one(before, n, allowed);
	bool changed = n != allowed->n || memcmp(before, allowed->keys, bytes) != 0 ||
		       strcmp(problem.message, allowed->problem.message) != 0;
	allowed->problem = problem;
	free(before);
	return changed;
}

const struct hs_bus_allowed_key *hs_bus_allowed_find(
		const struct hs_bus_allowed *allowed, const char *public_key)
{
	struct hs_bus_allowed_key wanted = {.name = ""};

	if (strlen(public_key) != HS_BUS_KEY_TEXT - 1)
		return NULL;
	memcpy(wanted.public_key, public_key, HS_BUS_KEY_TEXT);
	return bsearch(&wanted, allowed->keys, allowed->n, sizeof(wanted), by_key);
}

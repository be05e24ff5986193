// SPDX-License-Identifier: BSD-3-Clause
#include "state.h"

#include "state_file.h"
#include "state_line.h"

#include "file_access.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define OPEN_TRIES 10 // another process replaces the file between open and lock

static int refuse(
		int rc, const char *name, const char *code, const char *what, struct hs_error *err)
{
	hs_error_set(err, code, "state.file", "", "%.150s: %s", name, what);
	return rc;
}

// ---- opening ----

// Refuses a file that anyone can write or replace, because it may hold anyone's changes.
static int check_access(const struct stat *about, const char *name, struct hs_error *err)
{
	char folder[HS_STATE_FILE_BYTES + 1];
	struct stat around;

	hs_state_folder(name, folder, sizeof(folder));
	if (stat(folder, &around))
		return refuse(-errno, folder, "not_readable", strerror(errno), err);
	int rc = hs_file_access_check(&around, HS_FILE_WRITABLE, folder, "state.file", "mode 0755",
			"others may put another state there", err);
	return rc ? rc
		  : hs_file_access_check(about, HS_FILE_WRITABLE, name, "state.file", "mode 0600",
				    "others may change the state", err);
}

static int check_kind(int fd, const char *name, struct hs_error *err)
{
	struct stat about;

	if (fstat(fd, &about))
		return refuse(-errno, name, "not_readable", strerror(errno), err);
	if (!S_ISREG(about.st_mode))
		return refuse(-EINVAL, name, "bad_value", "it is no file", err);
	return check_access(&about, name, err);
}

// Root without its capabilities may not open a file of another user; the error says so.
static int cannot_open(const char *name, int error, struct hs_error *err)
{
	struct stat about;
	int rc = error == EACCES && stat(name, &about) == 0 ? check_access(&about, name, err) : 0;

	return rc ? rc : refuse(-error, name, "not_writable", strerror(error), err);
}

// Opens and locks the file that currently has the name. A snapshot of the process that held it may
// have replaced the file that was waited for.
static int open_locked(const char *name, int *out, struct hs_error *err)
{
	for (int tries = 0; tries < OPEN_TRIES; tries++) {
		int fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);
		if (fd < 0)
			return cannot_open(name, errno, err);
		int rc = check_kind(fd, name, err);
		if (rc == 0 && flock(fd, LOCK_EX | LOCK_NB))
			rc = errno == EWOULDBLOCK ? -EBUSY : -errno;
		if (rc == 0 && hs_state_file_is_at(fd, name)) {
			*out = fd;
			return 0;
		}
		close(fd);
		if (rc == -EBUSY)
			return refuse(rc, name, "in_use", "another process has it open", err);
		if (rc)
			return hs_error_is_set(err) ? rc
						    : refuse(rc, name, "not_writable",
								      strerror(-rc), err);
	}
	return refuse(-EBUSY, name, "in_use", "another process replaces it all the time", err);
}

// ---- reading ----

// The result of one pass over the file.
struct reading {
	struct hs_state_reader reader;
	int (*each)(void *context, json_t *change);
	void *context;
	struct hs_state_load *load;
	struct hs_state_file *file; // grows with each good line
	bool strange;		    // the file begins like no state, of any version
};

static void say_damage(struct reading *reading, const char *what)
{
	snprintf(reading->load->reason, sizeof(reading->load->reason), "line %llu: %s",
			(unsigned long long)(reading->file->bytes ? reading->file->lines + 2 : 1),
			what);
}

static void take_change(struct reading *reading, json_t *change)
{
	reading->file->lines++;
	reading->file->changes += hs_state_changes_of(change);
	if (reading->each(reading->context, change))
		reading->load->refused++;
	else
		reading->load->lines++;
}

// Returns false and says so if the file does not begin with this heading. Bytes of zero are what a
// loss of power leaves.
static bool take_heading(struct reading *reading, const char *line, size_t len, size_t expected)
{
	size_t common = strlen(HS_STATE_HEADING) - 1; // without the version

	if (len == expected && memcmp(line, HS_STATE_HEADING, len) == 0)
		return true;
	say_damage(reading, "it does not begin with \"" HS_STATE_HEADING "\"");
	bool other_version = len >= common && memcmp(line, HS_STATE_HEADING, common) == 0;
	reading->strange = !other_version && !(len && line[0] == '\0');
	return false;
}

// Returns false if the line is damaged.
static bool take_line(struct reading *reading, const char *line, size_t len)
{
	if (reading->file->bytes == 0)
		return take_heading(reading, line, len, strlen(HS_STATE_HEADING));
	if (!hs_state_line_is_whole(line, len)) {
		say_damage(reading, "the checksum is wrong");
		return false;
	}
	json_t *change = json_loadb(line + HS_STATE_CRC_BYTES, len - HS_STATE_CRC_BYTES, 0, NULL);
	if (!change) {
		say_damage(reading, "it is no JSON");
		return false;
	}
	take_change(reading, change);
	json_decref(change);
	return true;
}

// Handles the bytes behind the last line end: a line that was not written completely, or a complete
// line whose end is damaged.
static bool take_tail(struct reading *reading, const char *tail, size_t len)
{
	bool heading = reading->file->bytes == 0;
	size_t most = strlen(HS_STATE_HEADING);

	if (len == 0)
		return true;
	if (heading && !take_heading(reading, tail, len, len < most ? len : most))
		return false;
	if (!heading && hs_state_line_is_whole(tail, len - 1)) {
		say_damage(reading, "its end is damaged");
		return false;
	}
	reading->load->torn = true;
	return true;
}

// Returns 1 if all is well, 0 if the file is damaged, or a negative errno.
static int read_file(struct reading *reading)
{
	const char *line;
	size_t len;
	int rc;

	while ((rc = hs_state_reader_next(&reading->reader, &line, &len)) == 1) {
		if (!take_line(reading, line, len))
			return 0;
		reading->file->bytes = reading->reader.offset;
	}
	if (rc == -E2BIG)
		say_damage(reading, "it is longer than 16 MiB");
	if (rc)
		return rc == -E2BIG ? 0 : rc;
	return take_tail(reading, line, len);
}

// Returns whether some line behind the damage agrees with its checksum.
static bool has_whole_line(struct reading *reading)
{
	const char *line;
	size_t len;

	while (hs_state_reader_next(&reading->reader, &line, &len) == 1)
		if (hs_state_line_is_whole(line, len))
			return true;
	return false;
}

// ---- a damaged file ----

// Gives the damaged file a second name. The file is not renamed, because the file must never be
// missing.
static int link_aside(const char *name, int64_t now_ns, struct hs_state_load *load)
{
	time_t seconds = (time_t)(now_ns / 1000000000);
	struct tm utc = {0};
	char suffix[64], stamp[32];

	gmtime_r(&seconds, &utc);
	strftime(stamp, sizeof(stamp), "%Y%m%dT%H%M%SZ", &utc);
	for (int i = 0; i < 100; i++) {
		snprintf(suffix, sizeof(suffix), i ? ".damaged-%s-%d" : ".damaged-%s", stamp, i);
		int rc = hs_state_name(load->set_aside, sizeof(load->set_aside), name, suffix);
		if (rc)
			return rc;
		if (link(name, load->set_aside) == 0)
			return 0;
		if (errno != EEXIST)
			return -errno;
	}
	return -EEXIST;
}

// Writes the lines before the damage to a new file, which replaces the damaged one.
static int set_aside(struct hs_state *state, int64_t now_ns, struct hs_state_load *load)
{
	struct hs_state_file whole = {.fd = -1};
	char name[HS_STATE_FILE_BYTES + 8];
	int rc = hs_state_name(name, sizeof(name), state->name, ".new");

	rc = rc ? rc : hs_state_file_create(name, &whole);
	if (rc == 0 && state->file.bytes > whole.bytes)
		rc = hs_state_file_copy(&whole, state->file.fd, whole.bytes, state->file.bytes);
	if (rc == 0 && fsync(whole.fd))
		rc = -errno;
	if (rc == 0)
		rc = link_aside(state->name, now_ns, load);
	if (rc == 0 && rename(name, state->name))
		rc = -errno;
	if (rc) {
		if (whole.fd >= 0) {
			close(whole.fd);
			unlink(name);
		}
		return rc;
	}
	hs_state_sync_folder(state->name);
	close(state->file.fd);
	whole.lines = state->file.lines;
	whole.changes = state->file.changes;
	state->file = whole;
	return 0;
}

// ---- the file as a whole ----

// Cuts off the bytes that do not count, and begins a new file with its heading.
static int put_in_order(struct hs_state *state)
{
	if (ftruncate(state->file.fd, (off_t)state->file.bytes))
		return -errno;
	if (state->file.bytes > 0)
		return 0;
	int rc = hs_state_file_write(
			&state->file, HS_STATE_HEADING "\n", strlen(HS_STATE_HEADING) + 1);
	if (rc == 0 && state->sync && fsync(state->file.fd))
		rc = -errno;
	if (state->sync)
		hs_state_sync_folder(state->name);
	return rc;
}

static int load_file(struct hs_state *state, const struct hs_state_config *config,
		struct reading *reading, struct hs_error *err)
{
	int rc = open_locked(state->name, &state->file.fd, err);
	if (rc)
		return rc;
	hs_state_remove_new(state->name); // left by a process that died during a snapshot
	reading->reader.fd = state->file.fd;
	rc = read_file(reading);
	if (rc == 0 && reading->strange && !has_whole_line(reading))
		return refuse(-EINVAL, state->name, "bad_value",
				"it has contents, and they are no state", err);
	if (rc == 0)
		rc = set_aside(state, config->now_ns, reading->load);
	else if (rc == 1)
		rc = put_in_order(state);
	return rc ? refuse(rc, state->name, "not_writable", strerror(-rc), err) : 0;
}

int hs_state_open(const struct hs_state_config *config, int (*each)(void *context, json_t *change),
		void *context, struct hs_state_load *load, struct hs_state **out,
		struct hs_error *err)
{
	struct hs_state *state = calloc(1, sizeof(*state));

	*err = (struct hs_error){0};
	*load = (struct hs_state_load){0};
	if (!state)
		return refuse(-ENOMEM, config->file, "no_memory", "memory is out", err);
	state->file.fd = state->snapshot.fd = -1;
	state->sync = config->sync;
	struct reading reading = {
			.each = each, .context = context, .load = load, .file = &state->file};
	int rc = hs_state_name(state->name, sizeof(state->name), config->file, "");
	rc = rc ? refuse(rc, config->file, "out_of_range", "the name is too long", err)
		: load_file(state, config, &reading, err);
	hs_state_reader_fini(&reading.reader);
	if (rc)
		hs_state_close(state);
	else
		*out = state;
	return rc;
}

void hs_state_close(struct hs_state *state)
{
	if (!state)
		return;
	hs_state_give_up_snapshot(state);
	if (state->file.fd >= 0)
		close(state->file.fd);
	free(state);
}

// ---- changes ----

// Cuts off the bytes behind the end, because they would be read as a confirmed line.
static int cut_tail(struct hs_state *state)
{
	if (state->tail && ftruncate(state->file.fd, (off_t)state->file.bytes))
		return -errno;
	state->tail = false;
	return 0;
}

static int flush(const struct hs_state *state)
{
	return state->sync && fdatasync(state->file.fd) ? -errno : 0;
}

int hs_state_append(struct hs_state *state, const json_t *change, struct hs_error *err)
{
	struct hs_state_file before = state->file;
	int rc = hs_state_file_is_at(state->file.fd, state->name) ? cut_tail(state) : -ESTALE;

	rc = rc ? rc : hs_state_file_add(&state->file, change);
	rc = rc ? rc : flush(state);
	if (rc) {
		state->file = before;
		state->tail = true;
		cut_tail(state);
		return hs_state_not_saved(rc, state->name, err);
	}
	state->last_bytes = state->file.bytes - before.bytes;
	state->last_changes = state->file.changes - before.changes;
	return 0;
}

int hs_state_take_back(struct hs_state *state)
{
	if (state->last_bytes == 0)
		return -EINVAL;
	state->file.bytes -= state->last_bytes;
	state->file.changes -= state->last_changes;
	state->file.lines--;
	state->last_bytes = 0;
	state->tail = true;
	int rc = cut_tail(state);
	return rc ? rc : flush(state);
}

uint64_t hs_state_bytes(const struct hs_state *state)
{
	return state->file.bytes;
}

uint64_t hs_state_lines(const struct hs_state *state)
{
	return state->file.lines;
}

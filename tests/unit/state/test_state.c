// SPDX-License-Identifier: BSD-3-Clause
#include "state.h"

#include "faulty_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define KEYS   8
#define NOW_NS INT64_C(1790000000123456789) // 2026-09-21T14:13:20Z

// Checksums by Python's zlib.crc32.
static const char three_lines[] = "hopsight-state 1\n"
				  "f2c98ef8 {\"int_delete\":{\"ns_id\":7}}\n"
				  "4316761c [{\"a\":1},{\"b\":0.5}]\n"
				  "5f09f418 {\"k\":0,\"v\":1}\n";

static char folder[64], file[96];

// What the lines say, as text, one behind the other.
struct seen {
	unsigned n;
	char last[128];
	int refuse; // what `each` answers
	long values[KEYS];
};

static int see(void *context, json_t *change)
{
	struct seen *seen = context;
	char *text = json_dumps(change, JSON_COMPACT);

	seen->n++;
	snprintf(seen->last, sizeof(seen->last), "%s", text);
	free(text);
	json_t *key = json_object_get(change, "k");
	if (key && json_integer_value(key) < KEYS)
		seen->values[json_integer_value(key)] =
				json_integer_value(json_object_get(change, "v"));
	return seen->refuse;
}

static int open_state(struct seen *seen, struct hs_state_load *load, struct hs_state **state,
		struct hs_error *err)
{
	struct hs_state_config config = {.file = file, .sync = true, .now_ns = NOW_NS};
	*seen = (struct seen){.refuse = seen->refuse};
	return hs_state_open(&config, see, seen, load, state, err);
}

// Opens, closes.
static void look(struct seen *seen, struct hs_state_load *load)
{
	struct hs_state *state;
	struct hs_error err;
	int rc = open_state(seen, load, &state, &err);

	if (rc)
		fail_msg("%s %s", err.path, err.message);
	hs_state_close(state);
}

static void write_file(const char *bytes, size_t len)
{
	FILE *f = fopen(file, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

static size_t read_file(const char *name, char *bytes, size_t size)
{
	FILE *f = fopen(name, "r");
	assert_non_null(f);
	size_t n = fread(bytes, 1, size, f);
	fclose(f);
	return n;
}

static int change_of(struct hs_state *state, int key, long value)
{
	struct hs_error err;
	json_t *change = json_pack("{s:i, s:I}", "k", key, "v", (json_int_t)value);
	int rc = hs_state_append(state, change, &err);

	json_decref(change);
	if (rc)
		assert_string_equal(err.code, "not_saved");
	return rc;
}

static int make_folder(void **state)
{
	(void)state;
	snprintf(folder, sizeof(folder), "/dev/shm/hs-state-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(file, sizeof(file), "%s/rules.state", folder);
	return 0;
}

static int remove_folder(void **state)
{
	char pattern[96];
	glob_t found;
	(void)state;

	faulty_end();
	snprintf(pattern, sizeof(pattern), "%s/*", folder);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	return rmdir(folder);
}

static size_t files_there(void)
{
	char pattern[96];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*", folder);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	size_t n = found.gl_pathc;
	globfree(&found);
	return n;
}

// ---- the format ----

static void the_bytes_are_a_heading_and_a_checksum_before_each_line(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	char bytes[256];
	(void)unused;

	assert_int_equal(open_state(&seen, &load, &state, &err), 0);
	json_t *first = json_pack("{s:{s:i}}", "int_delete", "ns_id", 7);
	json_t *second = json_pack("[{s:i}, {s:f}]", "a", 1, "b", 0.5);
	assert_int_equal(hs_state_append(state, first, &err), 0);
	assert_int_equal(hs_state_append(state, second, &err), 0);
	assert_int_equal(change_of(state, 0, 1), 0);
	assert_int_equal(hs_state_bytes(state), sizeof(three_lines) - 1);
	assert_int_equal(hs_state_lines(state), 3);
	hs_state_close(state);
	json_decref(first);
	json_decref(second);
	size_t n = read_file(file, bytes, sizeof(bytes));
	assert_int_equal(n, sizeof(three_lines) - 1);
	assert_memory_equal(bytes, three_lines, n);
	struct stat about;
	assert_int_equal(stat(file, &about), 0);
	assert_int_equal(about.st_mode & 0777, 0600);
}

static void decimals_are_the_same_after_a_restart(void **unused)
{
	static const double values[] = {0.1, 33.3, 1e-7, 99.999999999999986};
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	(void)unused;

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		unlink(file);
		assert_int_equal(open_state(&seen, &load, &state, &err), 0);
		json_t *change = json_pack("{s:f}", "x", values[i]);
		assert_int_equal(hs_state_append(state, change, &err), 0);
		hs_state_close(state);
		json_decref(change);
		look(&seen, &load);
		json_t *read = json_loads(seen.last, 0, NULL);
		double again = json_real_value(json_object_get(read, "x"));
		assert_memory_equal(&again, &values[i], sizeof(again));
		json_decref(read);
	}
}

static void a_line_that_is_refused_is_counted_and_stays(void **unused)
{
	struct seen seen = {.refuse = -EINVAL};
	struct hs_state_load load;
	(void)unused;

	write_file(three_lines, sizeof(three_lines) - 1);
	look(&seen, &load);
	assert_int_equal(load.refused, 3);
	assert_int_equal(load.lines, 0);
	seen.refuse = 0;
	look(&seen, &load);
	assert_int_equal(load.lines, 3);
	assert_int_equal(load.refused, 0);
}

// ---- damage ----

static size_t ends_before(const char *bytes, size_t len)
{
	size_t n = 0;
	for (size_t i = 0; i < len; i++)
		n += bytes[i] == '\n';
	return n;
}

static void a_file_cut_anywhere_keeps_each_whole_line_and_drops_the_rest(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	char bytes[256];
	(void)unused;

	for (size_t len = 0; len < sizeof(three_lines); len++) {
		size_t ends = ends_before(three_lines, len), lines = ends ? ends - 1 : 0;
		bool torn = len > 0 && three_lines[len - 1] != '\n';
		write_file(three_lines, len);
		look(&seen, &load);
		assert_int_equal(load.lines, lines);
		assert_int_equal(seen.n, lines);
		assert_int_equal(load.torn, torn);
		assert_string_equal(load.set_aside, "");
		// The file is whole again: a prefix of what there was, and it ends with a line.
		size_t n = read_file(file, bytes, sizeof(bytes));
		assert_memory_equal(bytes, three_lines, n);
		assert_int_equal(ends_before(bytes, n), lines + 1);
		look(&seen, &load);
		assert_int_equal(load.lines, lines);
		assert_false(load.torn);
	}
	assert_int_equal(files_there(), 1);
}

static void a_flipped_bit_sets_the_file_aside_and_keeps_the_lines_before(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	char bytes[sizeof(three_lines)], aside[sizeof(three_lines)];
	(void)unused;

	for (size_t bit = 0; bit < (sizeof(three_lines) - 1) * 8; bit++) {
		size_t ends = ends_before(three_lines, bit / 8), lines = ends ? ends - 1 : 0;
		memcpy(bytes, three_lines, sizeof(bytes));
		bytes[bit / 8] = (char)(bytes[bit / 8] ^ 1 << bit % 8);
		write_file(bytes, sizeof(bytes) - 1);
		look(&seen, &load);
		if (!load.set_aside[0] || load.lines != lines)
			fail_msg("bit %zu: %u lines, %s", bit, (unsigned)load.lines, load.reason);
		snprintf(aside, sizeof(aside), "line %zu: ", ends + 1);
		assert_memory_equal(load.reason, aside, strlen(aside));
		assert_int_equal(
				read_file(load.set_aside, aside, sizeof(aside)), sizeof(bytes) - 1);
		assert_memory_equal(aside, bytes, sizeof(bytes) - 1);
		unlink(load.set_aside);
		look(&seen, &load);
		assert_int_equal(load.lines, lines);
		assert_string_equal(load.set_aside, "");
	}
}

static void files_set_aside_in_one_second_have_different_names(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	char expected[160];
	(void)unused;

	write_file("hopsight-state 2\n", 17);
	look(&seen, &load);
	snprintf(expected, sizeof(expected), "%s.damaged-20260921T141320Z", file);
	assert_string_equal(load.set_aside, expected);
	assert_string_equal(load.reason, "line 1: it does not begin with \"hopsight-state 1\"");
	write_file("{}\n", 3);
	look(&seen, &load);
	strcat(expected, "-1");
	assert_string_equal(load.set_aside, expected);
	assert_int_equal(files_there(), 3);
}

static void changes_go_on_behind_the_lines_before_the_damage(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	char bytes[sizeof(three_lines)];
	(void)unused;

	memcpy(bytes, three_lines, sizeof(bytes));
	bytes[sizeof(bytes) - 5] ^= 1;
	write_file(bytes, sizeof(bytes) - 1);
	assert_int_equal(open_state(&seen, &load, &state, &err), 0);
	assert_true(load.set_aside[0]);
	assert_int_equal(hs_state_lines(state), 2);
	assert_int_equal(change_of(state, 3, 4), 0);
	hs_state_close(state);
	look(&seen, &load);
	assert_int_equal(load.lines, 3);
	assert_string_equal(seen.last, "{\"k\":3,\"v\":4}");
}

// ---- long lines ----

// One JSON string of `len` bytes is the change.
static int append_long(size_t len)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	char *text = malloc(len + 1);

	memset(text, 'x', len);
	text[len] = '\0';
	assert_int_equal(open_state(&seen, &load, &state, &err), 0);
	json_t *change = json_pack("[s]", text);
	int rc = hs_state_append(state, change, &err);
	json_decref(change);
	free(text);
	hs_state_close(state);
	return rc;
}

static void a_line_of_sixteen_mebibytes_is_kept_and_a_longer_one_refused(void **unused)
{
	// Checksum, brackets, quotes and the line's end.
	const size_t longest = HS_STATE_LINE_BYTES - 9 - 4 - 1;
	struct seen seen = {0};
	struct hs_state_load load;
	(void)unused;

	assert_int_equal(append_long(longest + 1), -E2BIG);
	look(&seen, &load);
	assert_int_equal(load.lines, 0);
	assert_int_equal(append_long(longest), 0);
	look(&seen, &load);
	assert_int_equal(load.lines, 1);
	assert_false(load.torn);
}

static void a_file_of_one_endless_line_is_set_aside(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	(void)unused;

	write_file(three_lines, sizeof(three_lines) - 1);
	assert_int_equal(truncate(file, 3 * (off_t)HS_STATE_LINE_BYTES), 0);
	look(&seen, &load);
	assert_int_equal(load.lines, 3);
	assert_string_equal(load.reason, "line 5: it is longer than 16 MiB");
}

// ---- files that are no state ----

static void what_is_no_file_or_cannot_be_made_is_refused_by_name(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	char kept[sizeof(file)], name[HS_STATE_FILE_BYTES + 1];
	(void)unused;

	memcpy(kept, file, sizeof(kept));
	snprintf(file, sizeof(file), "%s/none/rules.state", folder);
	assert_int_equal(open_state(&seen, &load, &state, &err), -ENOENT);
	assert_string_equal(err.path, "state.file");
	assert_non_null(strstr(err.message, file));
	snprintf(file, sizeof(file), "/dev/null");
	assert_int_equal(open_state(&seen, &load, &state, &err), -EINVAL);
	assert_string_equal(err.path, "state.file");
	memcpy(file, kept, sizeof(kept));
	memset(name, 'x', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	struct hs_state_config config = {.file = name};
	assert_int_equal(hs_state_open(&config, see, &seen, &load, &state, &err), -ENAMETOOLONG);
}

// ---- several processes ----

static int open_in_a_child(void)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(-open_state(&seen, &load, &state, &err));
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return -WEXITSTATUS(status);
}

static json_t *nothing(void *context)
{
	(void)context;
	return NULL;
}

static void one_process_holds_a_file_at_a_time(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	(void)unused;

	assert_int_equal(open_state(&seen, &load, &state, &err), 0);
	assert_int_equal(open_in_a_child(), -EBUSY);
	assert_int_equal(hs_state_snapshot(state, nothing, NULL, &err), 0);
	assert_int_equal(open_in_a_child(), -EBUSY);
	hs_state_close(state);
	assert_int_equal(open_in_a_child(), 0);
	// Set aside: what took its place is held, too.
	write_file("{}\n", 3);
	assert_int_equal(open_state(&seen, &load, &state, &err), 0);
	assert_true(load.set_aside[0]);
	assert_int_equal(open_in_a_child(), -EBUSY);
	hs_state_close(state);
}

// ---- no room ----

static void limit_file_size(rlim_t bytes)
{
	struct rlimit limit;
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
	limit.rlim_cur = bytes;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void a_change_without_room_is_refused_and_the_file_is_as_before(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	struct stat before, after;
	(void)unused;

	signal(SIGXFSZ, SIG_IGN);
	write_file(three_lines, sizeof(three_lines) - 1);
	assert_int_equal(open_state(&seen, &load, &state, &err), 0);
	for (rlim_t room = 0; room < 23; room++) {
		assert_int_equal(stat(file, &before), 0);
		limit_file_size((rlim_t)before.st_size + room);
		assert_int_equal(change_of(state, 1, 1), -EFBIG);
		limit_file_size(RLIM_INFINITY);
		assert_int_equal(stat(file, &after), 0);
		assert_int_equal(after.st_size, before.st_size);
	}
	assert_int_equal(change_of(state, 2, 1), 0);
	hs_state_close(state);
	look(&seen, &load);
	assert_int_equal(load.lines, 4);
	assert_int_equal(seen.values[1], 0);
	assert_int_equal(seen.values[2], 1);
}

static void each_change_is_on_the_disk_before_it_is_confirmed_where_sync_is_set(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_error err;
	(void)unused;

	for (unsigned sync = 0; sync < 2; sync++) {
		struct hs_state_config config = {.file = file, .sync = sync};
		struct hs_state *state;
		assert_int_equal(hs_state_open(&config, see, &seen, &load, &state, &err), 0);
		faulty_begin(FAULTY_NONE, 0);
		change_of(state, 1, 1);
		assert_int_equal(faulty_end(), 1 + sync);
		faulty_begin(FAULTY_FAIL, 2);
		assert_int_equal(change_of(state, 1, 2), sync ? -ENOSPC : 0);
		faulty_end();
		hs_state_close(state);
	}
}

static void a_change_taken_back_is_gone(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	(void)unused;

	assert_int_equal(open_state(&seen, &load, &state, &err), 0);
	assert_int_equal(hs_state_take_back(state), -EINVAL);
	assert_int_equal(change_of(state, 1, 1), 0);
	assert_int_equal(change_of(state, 2, 2), 0);
	assert_int_equal(hs_state_take_back(state), 0);
	assert_int_equal(hs_state_take_back(state), -EINVAL); // of the one before, nobody asked
	assert_int_equal(hs_state_lines(state), 1);
	json_t *list = json_array();
	for (int i = 0; i < 2000; i++)
		json_array_append_new(list, json_integer(i));
	assert_int_equal(hs_state_append(state, list, &err), 0);
	assert_int_equal(hs_state_take_back(state), 0);
	assert_false(hs_state_wants_snapshot(state, 0));
	json_decref(list);
	hs_state_close(state);
	look(&seen, &load);
	assert_int_equal(load.lines, 1);
	assert_int_equal(seen.values[2], 0);
}

// ---- snapshots ----

struct values {
	long values[KEYS];
	int next;
};

static json_t *next_value(void *context)
{
	struct values *values = context;
	int key = values->next++;

	if (key >= KEYS)
		return NULL;
	return json_pack("{s:i, s:I}", "k", key, "v", (json_int_t)values->values[key]);
}

static void a_snapshot_is_wanted_when_the_journal_is_twice_of_it(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	struct values values = {{0}, 0};
	(void)unused;

	assert_int_equal(open_state(&seen, &load, &state, &err), 0);
	// The changes of a list count each.
	json_t *list = json_array();
	for (int i = 0; i < 400; i++)
		json_array_append_new(list, json_pack("{s:i}", "n", i));
	for (int i = 0; i < 3; i++)
		assert_int_equal(hs_state_append(state, list, &err), 0);
	json_decref(list);
	assert_false(hs_state_wants_snapshot(state, 100)); // 1200 of 200, and 1000 at least
	assert_true(hs_state_wants_snapshot(state, 99));
	assert_int_equal(hs_state_snapshot(state, next_value, &values, &err), 0);
	assert_false(hs_state_wants_snapshot(state, 0));
	assert_int_equal(hs_state_lines(state), KEYS);
	hs_state_close(state);
	look(&seen, &load);
	assert_int_equal(load.lines, KEYS);
	assert_int_equal(files_there(), 1);
}

static void what_is_added_during_a_snapshot_follows_it(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	struct values values = {{10, 11, 12, 13, 14, 15, 16, 17}, 0};
	json_t *change;
	(void)unused;

	assert_int_equal(open_state(&seen, &load, &state, &err), 0);
	assert_int_equal(change_of(state, 1, 99), 0); // before: the snapshot knows better
	assert_int_equal(hs_state_snapshot_begin(state, &err), 0);
	for (int i = 0; (change = next_value(&values)); i++) {
		assert_int_equal(hs_state_snapshot_add(state, change, &err), 0);
		json_decref(change);
		assert_int_equal(change_of(state, i, 100 + i), 0);
		assert_false(hs_state_wants_snapshot(state, 0));
	}
	assert_int_equal(hs_state_snapshot_end(state, &err), -EAGAIN);
	assert_int_equal(change_of(state, 0, 200), 0);
	assert_int_equal(hs_state_snapshot_end(state, &err), -EAGAIN);
	faulty_disk_is_done();
	assert_int_equal(hs_state_snapshot_end(state, &err), 0);
	assert_int_equal(hs_state_lines(state), 2 * KEYS + 1);
	assert_int_equal(change_of(state, 0, 7), 0);
	hs_state_close(state);
	look(&seen, &load);
	assert_int_equal(load.lines, 2 * KEYS + 2);
	assert_int_equal(seen.values[0], 7);
	for (int i = 1; i < KEYS; i++)
		assert_int_equal(seen.values[i], 100 + i);
}

static void a_snapshot_that_is_not_ended_leaves_the_journal(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	(void)unused;

	assert_int_equal(open_state(&seen, &load, &state, &err), 0);
	assert_int_equal(change_of(state, 1, 5), 0);
	assert_int_equal(hs_state_snapshot_begin(state, &err), 0);
	assert_int_equal(change_of(state, 2, 6), 0);
	hs_state_close(state);
	assert_int_equal(files_there(), 1);
	look(&seen, &load);
	assert_int_equal(load.lines, 2);
}

static void a_snapshot_that_does_not_reach_the_disk_is_given_up(void **unused)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	(void)unused;

	assert_int_equal(open_state(&seen, &load, &state, &err), 0);
	assert_int_equal(change_of(state, 1, 5), 0);
	assert_int_equal(hs_state_snapshot_begin(state, &err), 0);
	assert_int_equal(hs_state_snapshot_end(state, &err), -EAGAIN);
	faulty_disk_is_done();
	faulty_begin(FAULTY_FAIL, 1);
	assert_int_equal(hs_state_snapshot_end(state, &err), -ENOSPC);
	faulty_end();
	assert_int_equal(files_there(), 1);
	assert_int_equal(hs_state_lines(state), 1);
	hs_state_close(state);
	look(&seen, &load);
	assert_int_equal(seen.values[1], 5);
}

// ---- faults ----

// What was confirmed, shared with a child that dies.
struct book {
	long confirmed[KEYS], perhaps[KEYS]; // the same but for what is under way
	bool opened;
};

static void set(struct hs_state *state, struct book *book, int key, long value)
{
	book->perhaps[key] = value;
	if (change_of(state, key, value) == 0)
		book->confirmed[key] = value;
	else
		book->perhaps[key] = book->confirmed[key];
}

// Adds a change and takes it back: in the end it is not there, whatever happens on the way. Where
// the cut fails it may be, until the next change.
static void set_and_take_back(struct hs_state *state, struct book *book, int key, long value)
{
	book->perhaps[key] = value;
	if (change_of(state, key, value) || hs_state_take_back(state) == 0)
		book->perhaps[key] = book->confirmed[key];
}

static void fold(struct hs_state *state, const struct book *book)
{
	struct values values = {.next = 0};
	struct hs_error err;

	memcpy(values.values, book->confirmed, sizeof(values.values));
	hs_state_snapshot(state, next_value, &values, &err);
}

// Everything that can be done to a file.
static void live(struct book *book, bool damaged)
{
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;

	if (open_state(&seen, &load, &state, &err))
		return;
	book->opened = true;
	assert_int_equal(load.set_aside[0] != '\0', damaged);
	set(state, book, 1, 11);
	set(state, book, 2, 22);
	set_and_take_back(state, book, 1, 66);
	set(state, book, 3, 33);
	fold(state, book);
	set(state, book, 1, 111);
	set_and_take_back(state, book, 3, 77);
	fold(state, book);
	set(state, book, 4, 44);
	hs_state_close(state);
}

static void start(struct book *book, bool damaged)
{
	static const char begin[] = "hopsight-state 1\n5f09f418 {\"k\":0,\"v\":1}\n";
	char bytes[128];
	char command[128];

	snprintf(command, sizeof(command), "%s.damaged-20260921T141320Z", file);
	unlink(command);
	int n = snprintf(bytes, sizeof(bytes), "%s%s", begin, damaged ? "00000000 {}\n" : "");
	write_file(bytes, (size_t)n);
	*book = (struct book){.confirmed = {1}, .perhaps = {1}};
}

static void compare(const struct book *book, const struct seen *seen, unsigned at, int kind)
{
	for (int i = 0; i < KEYS; i++)
		if (seen->values[i] != book->confirmed[i] && seen->values[i] != book->perhaps[i])
			fail_msg("call %u, kind %d: key %d is %ld, not %ld or %ld", at, kind, i,
					seen->values[i], book->confirmed[i], book->perhaps[i]);
}

static unsigned count_calls(struct book *book, bool damaged)
{
	start(book, damaged);
	faulty_begin(FAULTY_NONE, 0);
	live(book, damaged);
	return faulty_end();
}

static struct book *share_book(void)
{
	struct book *book = mmap(NULL, sizeof(*book), PROT_READ | PROT_WRITE,
			MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(book != MAP_FAILED);
	return book;
}

static void die_at(struct book *book, bool damaged, enum faulty_kind kind, unsigned at)
{
	struct seen seen = {0};
	struct hs_state_load load;
	char left[128];
	int status;

	start(book, damaged);
	pid_t pid = fork();
	if (pid == 0) {
		faulty_begin(kind, at);
		live(book, damaged);
		_exit(9);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	look(&seen, &load);
	compare(book, &seen, at, (int)kind);
	snprintf(left, sizeof(left), "%s.new", file);
	assert_int_equal(access(left, F_OK), -1);
	// Dead before the damaged file was set aside, it is now; else that is history.
	assert_true(!load.set_aside[0] || (damaged && !book->opened));
}

static void a_process_that_dies_at_any_call_has_what_was_confirmed(void **unused)
{
	static const enum faulty_kind kinds[] = {FAULTY_DIE, FAULTY_DIE_HALF, FAULTY_DIE_AFTER};
	struct book *book = share_book();
	(void)unused;

	for (unsigned damaged = 0; damaged < 2; damaged++) {
		unsigned calls = count_calls(book, damaged);
		assert_true(calls > 40);
		for (size_t k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			for (unsigned at = 1; at <= calls; at++)
				die_at(book, damaged, kinds[k], at);
	}
	munmap(book, sizeof(*book));
}

static void a_call_that_fails_costs_no_more_than_its_own_change(void **unused)
{
	static const enum faulty_kind kinds[] = {FAULTY_FAIL, FAULTY_FAIL_HALF};
	struct book book;
	struct seen seen = {0};
	struct hs_state_load load;
	(void)unused;

	for (unsigned damaged = 0; damaged < 2; damaged++) {
		unsigned calls = count_calls(&book, damaged);
		for (unsigned at = 1; at <= 2 * calls; at++) {
			start(&book, damaged);
			faulty_begin(kinds[at % 2], (at + 1) / 2);
			live(&book, damaged);
			faulty_end();
			look(&seen, &load);
			compare(&book, &seen, at, (int)kinds[at % 2]);
			// What could not be taken back at once was with the next change.
			assert_int_equal(seen.values[4], book.opened ? book.confirmed[4] : 0);
		}
	}
}

#define STATE_TEST(f) cmocka_unit_test_setup_teardown(f, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
			STATE_TEST(the_bytes_are_a_heading_and_a_checksum_before_each_line),
			STATE_TEST(decimals_are_the_same_after_a_restart),
			STATE_TEST(a_line_that_is_refused_is_counted_and_stays),
			STATE_TEST(a_file_cut_anywhere_keeps_each_whole_line_and_drops_the_rest),
			STATE_TEST(a_flipped_bit_sets_the_file_aside_and_keeps_the_lines_before),
			STATE_TEST(files_set_aside_in_one_second_have_different_names),
			STATE_TEST(changes_go_on_behind_the_lines_before_the_damage),
			STATE_TEST(a_line_of_sixteen_mebibytes_is_kept_and_a_longer_one_refused),
			STATE_TEST(a_file_of_one_endless_line_is_set_aside),
			STATE_TEST(what_is_no_file_or_cannot_be_made_is_refused_by_name),
			STATE_TEST(one_process_holds_a_file_at_a_time),
			STATE_TEST(a_change_without_room_is_refused_and_the_file_is_as_before),
			STATE_TEST(each_change_is_on_the_disk_before_it_is_confirmed_where_sync_is_set),
			STATE_TEST(a_change_taken_back_is_gone),
			STATE_TEST(a_snapshot_is_wanted_when_the_journal_is_twice_of_it),
			STATE_TEST(what_is_added_during_a_snapshot_follows_it),
			STATE_TEST(a_snapshot_that_is_not_ended_leaves_the_journal),
			STATE_TEST(a_snapshot_that_does_not_reach_the_disk_is_given_up),
			STATE_TEST(a_process_that_dies_at_any_call_has_what_was_confirmed),
			STATE_TEST(a_call_that_fails_costs_no_more_than_its_own_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
// The file: its format, damage, what is no state, who holds it.
#include "state_rig.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
	write_file("hopsight-state 3\n", 17);
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

// A wrong name in a configuration costs nobody a file.
static void a_file_of_another_kind_is_refused_and_left(void **unused)
{
	static const char *const others[] = {"root:x:0:0:root:/root:/bin/sh\nbin:x:2:2::/bin:\n",
			"one line without an end", "\n", "hopsightd-state 1\n",
			"hopsight-state 1 or more, without an end"};
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	char is[64];
	(void)unused;

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		size_t n = strlen(others[i]);
		write_file(others[i], n);
		int rc = open_state(&seen, &load, &state, &err);
		if (i + 1 == sizeof(others) / sizeof(others[0])) { // may be of a later version
			assert_int_equal(rc, 0);
			hs_state_close(state);
			break;
		}
		assert_int_equal(rc, -EINVAL);
		assert_string_equal(err.path, "state.file");
		assert_non_null(strstr(err.message, "no state"));
		FILE *f = fopen(file, "r");
		assert_non_null(f);
		assert_int_equal(fread(is, 1, sizeof(is), f), n);
		assert_memory_equal(is, others[i], n);
		fclose(f);
	}
}

static void a_file_of_zeros_is_set_aside(void **unused)
{
	static const char zeros[4096];
	struct seen seen = {0};
	struct hs_state_load load;
	(void)unused;

	write_file(zeros, sizeof(zeros));
	look(&seen, &load);
	assert_int_equal(load.lines, 0);
	assert_true(load.set_aside[0] != '\0');
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
	assert_int_equal(snapshot(state, nothing, NULL, &err), 0);
	assert_int_equal(open_in_a_child(), -EBUSY);
	hs_state_close(state);
	assert_int_equal(open_in_a_child(), 0);
	// Set aside: what took its place is held, too.
	write_file("hopsight-state 2\n", 17);
	assert_int_equal(open_state(&seen, &load, &state, &err), 0);
	assert_true(load.set_aside[0]);
	assert_int_equal(open_in_a_child(), -EBUSY);
	hs_state_close(state);
}

static int append_one(struct hs_state *state, struct hs_error *err)
{
	json_t *change = json_pack("{s:i, s:i}", "k", 0, "v", 1);
	int rc = hs_state_append(state, change, err);
	json_decref(change);
	return rc;
}

static void what_a_file_that_lost_its_name_would_keep_is_not_confirmed(void **unused)
{
	static const char other[] = "hopsight-state 1\n";
	struct seen seen = {0};
	struct hs_state_load load;
	struct hs_state *state;
	struct hs_error err;
	char moved[128], bytes[64];
	(void)unused;

	snprintf(moved, sizeof(moved), "%s.moved", file);
	assert_int_equal(open_state(&seen, &load, &state, &err), 0);
	assert_int_equal(append_one(state, &err), 0);
	assert_int_equal(rename(file, moved), 0);
	assert_int_equal(append_one(state, &err), -ESTALE);
	assert_string_equal(err.code, "not_saved");
	assert_non_null(strstr(err.message, "removed or replaced"));
	// Another's file is not written over.
	write_file(other, sizeof(other) - 1);
	assert_int_equal(append_one(state, &err), -ESTALE);
	assert_int_equal(snapshot(state, nothing, NULL, &err), -ESTALE);
	assert_int_equal(read_file(file, bytes, sizeof(bytes)), sizeof(other) - 1);
	// Where it is put back all goes on.
	assert_int_equal(rename(moved, file), 0);
	assert_int_equal(append_one(state, &err), 0);
	hs_state_close(state);
	look(&seen, &load);
	assert_int_equal(load.lines, 2);
}

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
			STATE_TEST(a_file_of_another_kind_is_refused_and_left),
			STATE_TEST(a_file_of_zeros_is_set_aside),
			STATE_TEST(one_process_holds_a_file_at_a_time),
			STATE_TEST(what_a_file_that_lost_its_name_would_keep_is_not_confirmed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

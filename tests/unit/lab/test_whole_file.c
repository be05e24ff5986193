// SPDX-License-Identifier: BSD-3-Clause
#include "whole_file.h"

#include <dirent.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[64];
static struct hs_whole_file file;
static struct hs_error err;

static int setup(void **state)
{
	(void)state;
	strcpy(folder, "/tmp/hs-file-XXXXXX");
	memset(&err, 0, sizeof(err));
	memset(&file, 0, sizeof(file));
	return mkdtemp(folder) ? 0 : -1;
}

static const char *in_folder(const char *name)
{
	static char path[400];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static int teardown(void **state)
{
	(void)state;
	DIR *dir = opendir(folder);

	for (struct dirent *entry; (entry = readdir(dir));)
		unlink(in_folder(entry->d_name));
	closedir(dir);
	return rmdir(folder);
}

static unsigned files(void)
{
	DIR *dir = opendir(folder);
	unsigned n = 0;

	for (struct dirent *entry; (entry = readdir(dir));)
		n += entry->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void put(const char *name, const char *text)
{
	FILE *to = fopen(in_folder(name), "w");

	fputs(text, to);
	fclose(to);
}

static void expect_text(const char *name, const char *expected)
{
	char text[64];
	FILE *from = fopen(in_folder(name), "r");

	assert_non_null(from);
	text[fread(text, 1, sizeof(text) - 1, from)] = '\0';
	fclose(from);
	assert_string_equal(text, expected);
}

static void a_file_has_its_old_text_until_the_new_one_is_whole(void **state)
{
	(void)state;
	put("a", "old");
	assert_int_equal(hs_whole_file_open(&file, in_folder("a"), &err), 0);
	fputs("new", file.stream);
	fflush(file.stream);
	expect_text("a", "old");
	assert_int_equal(hs_whole_file_commit(&file, &err), 0);
	expect_text("a", "new");
	assert_int_equal(files(), 1);
}

static void a_file_that_is_given_up_leaves_nothing(void **state)
{
	(void)state;
	assert_int_equal(hs_whole_file_open(&file, in_folder("a"), &err), 0);
	assert_int_equal(files(), 1);
	hs_whole_file_abandon(&file);
	assert_int_equal(files(), 0);
	hs_whole_file_abandon(&file);
}

static void others_may_read_it_as_any_file(void **state)
{
	(void)state;
	struct stat status;
	mode_t mask = umask(022);

	assert_int_equal(hs_whole_file_open(&file, in_folder("a"), &err), 0);
	assert_int_equal(hs_whole_file_commit(&file, &err), 0);
	umask(mask);
	assert_int_equal(stat(in_folder("a"), &status), 0);
	assert_int_equal(status.st_mode & 0777, 0644);
}

static void a_folder_that_is_not_there_is_told_when_the_file_is_opened(void **state)
{
	(void)state;
	assert_int_equal(hs_whole_file_open(&file, in_folder("no/such"), &err), -ENOENT);
	assert_string_equal(err.path, in_folder("no/such"));
	assert_non_null(strstr(err.message, strerror(ENOENT)));
	assert_int_equal(hs_whole_file_open(&file, folder, &err), -EISDIR);
	assert_null(file.stream);
}

static void what_is_no_regular_file_stays_what_it_is(void **state)
{
	(void)state;
	struct stat status;

	assert_int_equal(hs_whole_file_open(&file, "/dev/null", &err), 0);
	fputs("text", file.stream);
	assert_int_equal(hs_whole_file_commit(&file, &err), 0);
	assert_int_equal(stat("/dev/null", &status), 0);
	assert_true(S_ISCHR(status.st_mode));
}

static void a_link_goes_on_pointing_to_the_file(void **state)
{
	(void)state;
	struct stat status;
	char target[400];

	put("real", "old");
	strcpy(target, in_folder("real"));
	assert_int_equal(symlink(target, in_folder("link")), 0);
	assert_int_equal(hs_whole_file_open(&file, in_folder("link"), &err), 0);
	fputs("new", file.stream);
	assert_int_equal(hs_whole_file_commit(&file, &err), 0);
	expect_text("real", "new");
	assert_int_equal(lstat(in_folder("link"), &status), 0);
	assert_true(S_ISLNK(status.st_mode));
}

static void a_full_disk_is_an_error_and_leaves_the_old_file(void **state)
{
	(void)state;
	FILE *real;

	put("a", "old");
	assert_int_equal(hs_whole_file_open(&file, in_folder("a"), &err), 0);
	real = file.stream;
	file.stream = fopen("/dev/full", "w");
	fclose(real);
	fputs("new", file.stream);
	assert_int_equal(hs_whole_file_commit(&file, &err), -ENOSPC);
	expect_text("a", "old");
	assert_int_equal(files(), 1);
}

static void a_signal_handler_removes_what_is_being_written_and_nothing_else(void **state)
{
	(void)state;
	struct hs_whole_file other = {0};

	assert_int_equal(hs_whole_file_open(&other, in_folder("done"), &err), 0);
	assert_int_equal(hs_whole_file_commit(&other, &err), 0);
	assert_int_equal(hs_whole_file_open(&other, in_folder("b"), &err), 0);
	assert_int_equal(hs_whole_file_open(&file, in_folder("a"), &err), 0);
	assert_int_equal(files(), 3);
	hs_whole_file_remove_all();
	assert_int_equal(files(), 1);
	expect_text("done", "");
	hs_whole_file_abandon(&other);
	hs_whole_file_abandon(&file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_file_has_its_old_text_until_the_new_one_is_whole),
			TEST(a_file_that_is_given_up_leaves_nothing),
			TEST(others_may_read_it_as_any_file),
			TEST(a_folder_that_is_not_there_is_told_when_the_file_is_opened),
			TEST(what_is_no_regular_file_stays_what_it_is),
			TEST(a_link_goes_on_pointing_to_the_file),
			TEST(a_full_disk_is_an_error_and_leaves_the_old_file),
			TEST(a_signal_handler_removes_what_is_being_written_and_nothing_else),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

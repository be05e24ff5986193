// SPDX-License-Identifier: BSD-3-Clause
#include "bus_allowed.h"
#include "bus_key_file.h"
#include "bus_keys.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

// The keys of the examples in zmq_curve(7).
#define PUBLIC "Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID"
#define SECRET "D:)Q[IlAW!ahhC2ac:9*A}h:p?([4%wOTJ%JR%cs"
#define OTHER  "rq:rM>}U?@Lns47E1%kR.o@n%FcmmsL/@{H8]yf7"

struct fixture {
	char folder[64];
	char file[128];
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	strcpy(f->folder, "/tmp/hs-keys-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->file, sizeof(f->file), "%s/file", f->folder);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	char command[128];
	snprintf(command, sizeof(command), "rm -r %s", f->folder);
	assert_int_equal(system(command), 0);
	free(f);
	return 0;
}

static void put(const char *file, mode_t mode, const char *text)
{
	int fd = open(file, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	assert_int_equal(fchmod(fd, mode), 0);
	close(fd);
}

static void put_in(const struct fixture *f, const char *name, mode_t mode, const char *text)
{
	char file[192];
	snprintf(file, sizeof(file), "%s/%s", f->folder, name);
	put(file, mode, text);
}

static void remove_from(const struct fixture *f, const char *name)
{
	char file[192];
	snprintf(file, sizeof(file), "%s/%s", f->folder, name);
	assert_int_equal(unlink(file), 0);
}

static void a_pair_that_is_made_can_be_read_and_is_a_new_one_each_time(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_key secret, public, reader;
	struct stat status;
	char file[128];

	assert_int_equal(hs_bus_keys_make(f->folder, "alice", false, NULL), 0);
	assert_int_equal(hs_bus_keys_make(f->folder, "bob.r-1_x", true, NULL), 0);
	snprintf(file, sizeof(file), "%s/alice.secret", f->folder);
	assert_int_equal(hs_bus_key_read(file, true, "", &secret, NULL), 0);
	assert_int_equal(stat(file, &status), 0);
	assert_int_equal(status.st_mode & 07777, 0600);
	snprintf(file, sizeof(file), "%s/alice.pub", f->folder);
	assert_int_equal(hs_bus_key_read(file, false, "", &public, NULL), 0);
	assert_string_equal(secret.public_key, public.public_key);
	assert_true(public.may_change);
	snprintf(file, sizeof(file), "%s/bob.r-1_x.pub", f->folder);
	assert_int_equal(hs_bus_key_read(file, false, "", &reader, NULL), 0);
	assert_false(reader.may_change);
	assert_string_not_equal(reader.public_key, public.public_key);
}

static void a_key_is_never_replaced(void **state)
{
	struct fixture *f = *state;
	struct hs_error err = {0};
	struct stat status;
	char file[128];

	put_in(f, "a.pub", 0644, "keep");
	assert_int_equal(hs_bus_keys_make(f->folder, "a", false, &err), -EEXIST);
	assert_string_equal(err.code, "in_use");
	assert_non_null(strstr(err.message, "a.pub"));
	snprintf(file, sizeof(file), "%s/a.secret", f->folder);
	assert_int_equal(stat(file, &status), -1); // not left behind
	put_in(f, "b.secret", 0600, "keep");
	assert_int_equal(hs_bus_keys_make(f->folder, "b", false, &err), -EEXIST);
	assert_non_null(strstr(err.message, "b.secret"));
	snprintf(file, sizeof(file), "%s/b.secret", f->folder);
	assert_int_equal(stat(file, &status), 0);
	assert_int_equal(status.st_size, 4);
}

static void a_name_that_is_none_makes_no_key(void **state)
{
	static const char *const names[] = {"", ".hidden", "a/b", "../a", "a b",
			"0123456789012345678901234567890123456789012345678901234567890123"};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_int_equal(hs_bus_keys_make(f->folder, names[i], false, NULL), -EINVAL);
	assert_int_equal(hs_bus_keys_make("/nowhere/at/all", "a", false, NULL), -ENOENT);
}

static void files_of_other_programs_are_read(void **state)
{
	static const struct {
		const char *text;
		bool may_change;
	} cases[] = {
			// czmq's layout, pyzmq's, and the least.
			{"#   **** Generated on 2026-11-21 ****\n\nmetadata\n    name = \"x\"\n"
			 "    role = \"read-write\"\ncurve\n    public-key = \"" PUBLIC "\"\n",
					true},
			{"metadata\ncurve\n    public-key = '" PUBLIC
			 "'\n    secret-key = \"" SECRET "\"\n",
					false},
			{"public-key=" PUBLIC, false},
			{"\tpublic-key = \"" PUBLIC "\"  \r\n\trole=read-only\r\n", false},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_bus_key key;
		put(f->file, 0644, cases[i].text);
		assert_int_equal(hs_bus_key_read(f->file, false, "", &key, NULL), 0);
		assert_string_equal(key.public_key, PUBLIC);
		assert_string_equal(key.secret_key, ""); // not asked for
		assert_int_equal(key.may_change, cases[i].may_change);
	}
}

static void a_wrong_file_is_refused_with_its_reason(void **state)
{
#define PAIR "public-key = \"" PUBLIC "\"\nsecret-key = \"" SECRET "\"\n"
	static const struct {
		const char *text;
		mode_t mode;
		bool secret;
		const char *code, *says;
	} cases[] = {
			{PAIR, 0604, true, "bad_permissions", "0604"},
			{PAIR, 0606, true, "bad_permissions", "0606"},
			{PAIR, 0620, true, "bad_permissions", "0620"},
			{PAIR, 0664, false, "bad_permissions", "0664"},
			{PAIR, 0602, false, "bad_permissions", "anyone may put another key"},
			{"public-key = \"" PUBLIC "\"\n", 0600, true, "bad_file", "no secret-key"},
			{"public-key = \"" OTHER "\"\nsecret-key = \"" SECRET "\"\n", 0600, true,
					"bad_file", "do not belong together"},
			{"", 0600, false, "bad_file", "no public-key"},
			{"public-key = \"\"", 0600, false, "bad_file", "public-key"},
			{"public-key = \"" PUBLIC "0\"", 0600, false, "bad_file", "public-key"},
			{"public-key = \"Yne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hI\"", 0600, false,
					"bad_file", "public-key"},
			// 40 characters, one of them not of Z85.
			{"public-key = \"~ne@$w-vo<fVvi]a<NY6T1ed:M$fCG*[IaLV{hID\"", 0600, false,
					"bad_file", "public-key"},
			{PAIR "role = \"admin\"", 0600, false, "bad_file", "role"},
	};
	struct fixture *f = *state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_error err = {0};
		struct hs_bus_key key;
		put(f->file, cases[i].mode, cases[i].text);
		int rc = hs_bus_key_read(f->file, cases[i].secret, "secret", &key, &err);
		assert_int_equal(rc, -EINVAL);
		assert_string_equal(err.code, cases[i].code);
		assert_string_equal(err.path, "secret");
		assert_non_null(strstr(err.message, f->file));
		assert_non_null(strstr(err.message, cases[i].says));
		assert_string_equal(key.secret_key, "");
		// The key itself is never told.
		assert_null(strstr(err.message, "D:)Q"));
	}
}

static void what_is_no_file_of_a_sensible_size_is_refused(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_key key;
	struct hs_error err = {0};
	char text[5000];

	assert_int_equal(hs_bus_key_read("/nowhere", false, "", &key, &err), -ENOENT);
	assert_string_equal(err.code, "not_readable");
	assert_int_equal(hs_bus_key_read(f->folder, false, "", &key, &err), -EINVAL);
	memset(text, '#', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	put(f->file, 0600, text);
	assert_int_equal(hs_bus_key_read(f->file, false, "", &key, &err), -EINVAL);
	assert_non_null(strstr(err.message, "too long"));
	// Nor does a pipe make it wait.
	unlink(f->file);
	assert_int_equal(mkfifo(f->file, 0600), 0);
	assert_int_equal(hs_bus_key_read(f->file, false, "", &key, &err), -EINVAL);
}

static void a_file_of_another_user_is_refused(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_key key;
	struct hs_error err = {0};

	put(f->file, 0600, "public-key = " PUBLIC);
	if (chown(f->file, 12345, (gid_t)-1))
		skip(); // only root can give files away
	assert_int_equal(hs_bus_key_read(f->file, false, "", &key, &err), -EINVAL);
	assert_non_null(strstr(err.message, "12345"));
}

// ---- the directory ----

#define FILE_OF(key, role) "role = " role "\npublic-key = \"" key "\"\n"

static struct hs_bus_allowed open_allowed(const struct fixture *f)
{
	struct hs_bus_allowed allowed;
	assert_int_equal(hs_bus_allowed_open(f->folder, "allowed", &allowed, NULL), 0);
	return allowed;
}

static void only_what_is_in_a_pub_file_is_allowed(void **state)
{
	struct fixture *f = *state;
	put_in(f, "alice.pub", 0644, FILE_OF(PUBLIC, "read-write"));
	put_in(f, "other.key", 0644, FILE_OF(OTHER, "read-write"));
	put_in(f, ".bob.pub", 0644, FILE_OF(OTHER, "read-write"));
	put_in(f, ".pub", 0644, FILE_OF(OTHER, "read-write"));
	struct hs_bus_allowed allowed = open_allowed(f);
	assert_int_equal(allowed.n, 1);
	const struct hs_bus_allowed_key *key = hs_bus_allowed_find(&allowed, PUBLIC);
	assert_non_null(key);
	assert_string_equal(key->name, "alice");
	assert_true(key->may_change);
	assert_null(hs_bus_allowed_find(&allowed, OTHER));
	assert_null(hs_bus_allowed_find(&allowed, ""));
	assert_null(hs_bus_allowed_find(&allowed, PUBLIC "0"));
	hs_bus_allowed_close(&allowed);
}

static void a_directory_with_a_wrong_file_is_refused_at_start(void **state)
{
	struct fixture *f = *state;
	struct hs_bus_allowed allowed;
	struct hs_error err = {0};

	put_in(f, "a.pub", 0644, FILE_OF(PUBLIC, "read-write"));
	put_in(f, "b.pub", 0644, "nothing");
	assert_int_equal(hs_bus_allowed_open(f->folder, "allowed", &allowed, &err), -EINVAL);
	assert_string_equal(err.path, "allowed");
	assert_non_null(strstr(err.message, "/b.pub"));
	remove_from(f, "b.pub");
	put_in(f, "a b.pub", 0644, FILE_OF(OTHER, "read-write"));
	assert_int_equal(hs_bus_allowed_open(f->folder, "allowed", &allowed, &err), -EINVAL);
	remove_from(f, "a b.pub");
	put_in(f, "c.pub", 0644, FILE_OF(PUBLIC, "read-only"));
	assert_int_equal(hs_bus_allowed_open(f->folder, "allowed", &allowed, &err), -EINVAL);
	assert_string_equal(err.code, "duplicate");
	remove_from(f, "c.pub");
	for (int i = 0; i < 2; i++) {
		assert_int_equal(chmod(f->folder, i ? 0777 : 0775), 0);
		assert_int_equal(
				hs_bus_allowed_open(f->folder, "allowed", &allowed, &err), -EINVAL);
		assert_string_equal(err.code, "bad_permissions");
		assert_non_null(strstr(err.message, f->folder));
		assert_string_equal(err.expected, "mode 0755");
	}
	assert_int_equal(chmod(f->folder, 0755), 0);
	if (geteuid() == 0) { // else nobody can give a directory away
		assert_int_equal(chown(f->folder, 12345, (gid_t)-1), 0);
		assert_int_equal(
				hs_bus_allowed_open(f->folder, "allowed", &allowed, &err), -EINVAL);
		assert_string_equal(err.code, "bad_permissions");
		assert_non_null(strstr(err.message, "12345"));
		assert_int_equal(chown(f->folder, 0, (gid_t)-1), 0);
	}
	assert_int_equal(hs_bus_allowed_open("/nowhere", "allowed", &allowed, &err), -ENOENT);
}

static void the_directory_is_read_again_when_it_changes(void **state)
{
	struct fixture *f = *state;
	bool fewer;

	put_in(f, "a.pub", 0644, FILE_OF(PUBLIC, "read-write"));
	struct hs_bus_allowed allowed = open_allowed(f);
	assert_false(hs_bus_allowed_refresh(&allowed, &fewer));
	put_in(f, "b.pub", 0644, FILE_OF(OTHER, "read-only"));
	assert_true(hs_bus_allowed_refresh(&allowed, &fewer));
	assert_false(fewer);
	assert_int_equal(allowed.n, 2);
	put_in(f, "b.pub", 0644, FILE_OF(OTHER, "read-write"));
	assert_true(hs_bus_allowed_refresh(&allowed, &fewer));
	assert_false(fewer);
	assert_true(hs_bus_allowed_find(&allowed, OTHER)->may_change);
	remove_from(f, "a.pub");
	assert_true(hs_bus_allowed_refresh(&allowed, &fewer));
	assert_true(fewer);
	assert_null(hs_bus_allowed_find(&allowed, PUBLIC));
	assert_false(hs_error_is_set(&allowed.problem));
	hs_bus_allowed_close(&allowed);
}

static void another_key_under_the_same_name_takes_the_first_ones_place(void **state)
{
	struct fixture *f = *state;
	bool fewer;

	put_in(f, "a.pub", 0644, FILE_OF(PUBLIC, "read-write"));
	struct hs_bus_allowed allowed = open_allowed(f);
	put_in(f, "a.pub", 0644, FILE_OF(OTHER, "read-write"));
	assert_true(hs_bus_allowed_refresh(&allowed, &fewer));
	assert_true(fewer);
	assert_null(hs_bus_allowed_find(&allowed, PUBLIC));
	hs_bus_allowed_close(&allowed);
}

static void a_file_that_turns_wrong_allows_nobody_and_costs_nobody_else(void **state)
{
	struct fixture *f = *state;
	bool fewer;

	put_in(f, "a.pub", 0644, FILE_OF(PUBLIC, "read-write"));
	put_in(f, "b.pub", 0644, FILE_OF(OTHER, "read-write"));
	struct hs_bus_allowed allowed = open_allowed(f);
	put_in(f, "a.pub", 0644, "half");
	assert_true(hs_bus_allowed_refresh(&allowed, &fewer));
	assert_true(fewer);
	assert_non_null(strstr(allowed.problem.message, "/a.pub"));
	assert_null(hs_bus_allowed_find(&allowed, PUBLIC));
	assert_non_null(hs_bus_allowed_find(&allowed, OTHER));
	// Two names for one key: the lesser right.
	put_in(f, "a.pub", 0644, FILE_OF(OTHER, "read-only"));
	assert_true(hs_bus_allowed_refresh(&allowed, &fewer));
	assert_string_equal(allowed.problem.code, "duplicate");
	assert_false(hs_bus_allowed_find(&allowed, OTHER)->may_change);
	put_in(f, "a.pub", 0644, FILE_OF(OTHER, "read-write"));
	put_in(f, "b.pub", 0644, FILE_OF(OTHER, "read-only"));
	hs_bus_allowed_refresh(&allowed, &fewer);
	assert_false(hs_bus_allowed_find(&allowed, OTHER)->may_change);
	// That it is right again is news, though the list is the same.
	remove_from(f, "b.pub");
	assert_true(hs_bus_allowed_refresh(&allowed, &fewer));
	assert_false(hs_error_is_set(&allowed.problem));
	assert_false(hs_bus_allowed_refresh(&allowed, &fewer));
	hs_bus_allowed_close(&allowed);
}

// Two changes within one tick of the file system's clock leave the same times behind.
static void a_change_that_left_no_trace_is_seen_while_times_are_recent(void **state)
{
	struct fixture *f = *state;
	bool fewer;

	put_in(f, "a.pub", 0644, FILE_OF(PUBLIC, "read-write"));
	struct hs_bus_allowed allowed = open_allowed(f);
	put_in(f, "a.pub", 0644, FILE_OF(OTHER, "read-write"));
	struct hs_bus_allowed after = open_allowed(f);
	allowed.print = after.print;
	assert_false(allowed.settled);
	assert_true(hs_bus_allowed_refresh(&allowed, &fewer));
	assert_true(fewer);
	hs_bus_allowed_close(&allowed);
	hs_bus_allowed_close(&after);
}

static void a_directory_that_is_gone_allows_nobody(void **state)
{
	struct fixture *f = *state;
	char away[96];
	bool fewer;

	put_in(f, "a.pub", 0644, FILE_OF(PUBLIC, "read-write"));
	struct hs_bus_allowed allowed = open_allowed(f);
	snprintf(away, sizeof(away), "%s.away", f->folder);
	assert_int_equal(rename(f->folder, away), 0);
	assert_true(hs_bus_allowed_refresh(&allowed, &fewer));
	assert_true(fewer);
	assert_int_equal(allowed.n, 0);
	assert_string_equal(allowed.problem.code, "not_readable");
	assert_int_equal(rename(away, f->folder), 0);
	assert_true(hs_bus_allowed_refresh(&allowed, &fewer));
	assert_int_equal(allowed.n, 1);
	hs_bus_allowed_close(&allowed);
}

// Leaves room for `more` descriptors; returns the limit that was.
static rlim_t leave_descriptors(unsigned more)
{
	struct rlimit limit;
	int lowest = dup(0);
	assert_true(lowest >= 0);
	close(lowest);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	rlim_t was = limit.rlim_cur;
	limit.rlim_cur = (rlim_t)lowest + more;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	return was;
}

static void without_descriptors_the_last_good_keys_stay(void **state)
{
	struct fixture *f = *state;
	bool fewer;

	put_in(f, "a.pub", 0644, FILE_OF(PUBLIC, "read-write"));
	struct hs_bus_allowed allowed = open_allowed(f);
	put_in(f, "b.pub", 0644, FILE_OF(OTHER, "read-only"));
	// None for the directory; one for that and none for a file in it.
	for (unsigned left = 0; left < 2; left++) {
		struct rlimit limit;
		rlim_t was = leave_descriptors(left);
		bool changed = hs_bus_allowed_refresh(&allowed, &fewer);
		assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
		limit.rlim_cur = was;
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		assert_false(changed);
		assert_false(fewer);
		assert_int_equal(allowed.n, 1);
		assert_non_null(hs_bus_allowed_find(&allowed, PUBLIC));
		assert_false(hs_error_is_set(&allowed.problem));
	}
	assert_true(hs_bus_allowed_refresh(&allowed, &fewer));
	assert_int_equal(allowed.n, 2);
	hs_bus_allowed_close(&allowed);
}

int main(void)
{
#define WITH_FILES(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
	const struct CMUnitTest tests[] = {
			WITH_FILES(a_pair_that_is_made_can_be_read_and_is_a_new_one_each_time),
			WITH_FILES(a_key_is_never_replaced),
			WITH_FILES(a_name_that_is_none_makes_no_key),
			WITH_FILES(files_of_other_programs_are_read),
			WITH_FILES(a_wrong_file_is_refused_with_its_reason),
			WITH_FILES(what_is_no_file_of_a_sensible_size_is_refused),
			WITH_FILES(a_file_of_another_user_is_refused),
			WITH_FILES(only_what_is_in_a_pub_file_is_allowed),
			WITH_FILES(a_directory_with_a_wrong_file_is_refused_at_start),
			WITH_FILES(the_directory_is_read_again_when_it_changes),
			WITH_FILES(another_key_under_the_same_name_takes_the_first_ones_place),
			WITH_FILES(a_file_that_turns_wrong_allows_nobody_and_costs_nobody_else),
			WITH_FILES(a_change_that_left_no_trace_is_seen_while_times_are_recent),
			WITH_FILES(a_directory_that_is_gone_allows_nobody),
			WITH_FILES(without_descriptors_the_last_good_keys_stay),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
// Changes and snapshots on their way to the disk, and what fails there.
#include "state_rig.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

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
	assert_int_equal(snapshot(state, next_value, &values, &err), 0);
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
	snapshot(state, next_value, &values, &err);
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

int main(void)
{
	const struct CMUnitTest tests[] = {
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

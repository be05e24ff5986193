// SPDX-License-Identifier: BSD-3-Clause
// The parts of struct hs_state that the files of lib/state share, and their operations on files.
// For lib/state only. Thread rule: owner.
#pragma once

#include "error.h"
#include "state_limits.h"

#include <aio.h>
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_STATE_HEADING "hopsight-state 1"

// A file that lines are appended to.
struct hs_state_file {
	int fd;
	uint64_t bytes; // bytes that count; bytes behind them have no meaning
	uint64_t lines;
	uint64_t changes; // changes in the lines
};

struct hs_state {
	char name[HS_STATE_FILE_BYTES];
	bool sync;
	struct hs_state_file file;
	bool tail; // bytes that do not count may follow those that do
	// The last append, as long as it can be reverted.
	uint64_t last_bytes, last_changes;

	struct hs_state_file snapshot; // fd -1: no snapshot is under way
	uint64_t from_bytes;	       // position in the journal where the snapshot begins
	uint64_t from_lines, from_changes;
	uint64_t flushed_bytes; // bytes of the snapshot that are on their way to the disk
	struct aiocb flush;	// writes all of the snapshot to the disk
	bool flushing;
	uint64_t wanted_above; // after a failure: number of changes before the next attempt
};

// Writes the directory of a file.
void hs_state_folder(const char *name, char *folder, size_t size);

// Writes "FILE.new" and the like. Returns -ENAMETOOLONG if it does not fit.
int hs_state_name(char *text, size_t size, const char *file, const char *suffix);
// Creates a new file beside the old one, locked and with its heading.
int hs_state_file_create(const char *name, struct hs_state_file *file);
// Appends bytes. On failure, *file is as before, and bytes may stand behind its end.
int hs_state_file_write(struct hs_state_file *file, const char *bytes, size_t len);
// Appends a change as a line, with the same rule. Returns -E2BIG if it is too long.
int hs_state_file_add(struct hs_state_file *file, const json_t *change);
// Returns the number of changes in one line.
uint64_t hs_state_changes_of(const json_t *change);
// Appends bytes [from, to) of another file, with the same rule.
int hs_state_file_copy(struct hs_state_file *file, int other, uint64_t from, uint64_t to);
// Writes the folder to the disk. Otherwise a loss of power can undo the renaming or creation of a
// file.
void hs_state_sync_folder(const char *name);
// Returns whether this file still has the name.
bool hs_state_file_is_at(int fd, const char *name);
// Fills "not_saved" with the errno's text. Returns rc.
int hs_state_not_saved(int rc, const char *name, struct hs_error *err);

void hs_state_give_up_snapshot(struct hs_state *state);
// Removes the file of a snapshot that did not end.
void hs_state_remove_new(const char *name);

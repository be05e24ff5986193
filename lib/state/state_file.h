// SPDX-License-Identifier: BSD-3-Clause
// What the files of lib/state share of struct hs_state, and what they do to files. For lib/state
// only.
// Thread rule: owner.
#pragma once

#include "state.h"

#include <aio.h>

#define HS_STATE_HEADING "hopsight-state 1"

// A file that lines are added to.
struct hs_state_file {
	int fd;
	uint64_t bytes; // what counts; bytes behind them are of no meaning
	uint64_t lines;
	uint64_t changes; // in the lines
};

struct hs_state {
	char name[HS_STATE_FILE_BYTES];
	bool sync;
	struct hs_state_file file;
	bool tail; // bytes that do not count may stand behind those that do
	// The last append, as long as it can be taken back.
	uint64_t last_bytes, last_changes;

	struct hs_state_file snapshot; // fd -1: none is under way
	uint64_t from_bytes;	       // of the journal, where the snapshot begins
	uint64_t from_lines, from_changes;
	uint64_t flushed_bytes; // of the snapshot, on their way to the disk
	struct aiocb flush;	// of all of it
	bool flushing;
	uint64_t wanted_above; // after a failure: changes before the next try
};

// The directory of a file.
void hs_state_folder(const char *name, char *folder, size_t size);

// "FILE.new" and the like. -ENAMETOOLONG where it does not fit.
int hs_state_name(char *text, size_t size, const char *file, const char *suffix);
// Opens a new file beside the old one, locked, with its heading.
int hs_state_file_create(const char *name, struct hs_state_file *file);
// Appends bytes. On failure *file is as before, and bytes may stand behind.
int hs_state_file_write(struct hs_state_file *file, const char *bytes, size_t len);
// Appends a change as a line. The same; -E2BIG where it is too long.
int hs_state_file_add(struct hs_state_file *file, const json_t *change);
// In one line.
uint64_t hs_state_changes_of(const json_t *change);
// Appends bytes [from, to) of another file. The same.
int hs_state_file_copy(struct hs_state_file *file, int other, uint64_t from, uint64_t to);
// Renamed and created files are found after a loss of power only if their folder was written, too.
void hs_state_sync_folder(const char *name);
// Is it this file that has the name now?
bool hs_state_file_is_at(int fd, const char *name);
// "not_saved" with the errno's text; returns rc.
int hs_state_not_saved(int rc, const char *name, struct hs_error *err);

void hs_state_give_up_snapshot(struct hs_state *state);
// Removes the file of a snapshot that did not end.
void hs_state_remove_new(const char *name);

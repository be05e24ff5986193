// SPDX-License-Identifier: BSD-3-Clause
// State that outlives a process: a journal of changes, one line of JSON each with its checksum,
// written before the change is confirmed and folded into a snapshot of what is in force when it has
// grown to more than twice of that. Whatever moment the process dies at, each confirmed line is
// found again, and a last line that was not confirmed is dropped.
//
//   hopsight-state 1
//   <crc32, 8 hex digits> <compact JSON>
//
// A line is a change as the API takes it, a list of changes one line: all or nothing here too.
// Thread rule: owner; one process holds a file at a time (it is locked).
#pragma once

#include "error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_STATE_FILE_BYTES 400		// of the file's name, its end included
#define HS_STATE_LINE_BYTES (16u << 20) // of the longest line

struct hs_state;

struct hs_state_config {
	const char *file; // its folder must exist; created with mode 0600
	bool sync;	  // fdatasync before a change is confirmed: survives a loss of power too
	int64_t now_ns;	  // wall time, for the name of a file that is set aside
};

struct hs_state_load {
	uint64_t lines;	     // read and agreed to
	uint64_t refused;    // well formed, but `each` said no: the caller has logged why
	bool torn;	     // the last line was not whole: dropped, it was never confirmed
	char set_aside[512]; // a damaged file's new name "FILE.damaged-<UTC time>"; "" if none
	char reason[160];    // what was wrong with it, with the line
};

// Opens or creates the file and hands each line's value to `each` (borrowed) in order; it returns 0
// or, where it refuses the line, a negative errno. A damaged file (a wrong checksum, no JSON,
// another heading, a line too long) is set aside whole; the lines before the damage are used and
// kept. 0, or a negative errno with *err (path "state.file"): -EBUSY where another process holds
// it.
int hs_state_open(const struct hs_state_config *config, int (*each)(void *context, json_t *change),
		void *context, struct hs_state_load *load, struct hs_state **state,
		struct hs_error *err);
// NULL is allowed. A snapshot that is under way is given up; what of it is on its way to the disk
// is waited for.
void hs_state_close(struct hs_state *state);

// Adds a change. 0 when it is in the file; a negative errno with *err ("not_saved") where it is
// not: -ENOSPC and the like, -ESTALE where the file was removed or replaced and nobody would find
// the change again. The file is then as it was before.
int hs_state_append(struct hs_state *state, const json_t *change, struct hs_error *err);
// Takes the change that was added last out again: it could not be done after all. Once, and not
// after a snapshot began. 0 or a negative errno: then the next hs_state_append tries again.
int hs_state_take_back(struct hs_state *state);

// ---- snapshots ----
// A new file is written beside the old one, with what is in force when the snapshot begins; what is
// appended meanwhile follows it. So a large one can be written in portions by a thread that has
// other things to do. Until it ends, and wherever it fails, the old file stands.

// Has the journal grown so that a snapshot is worth it? `live`: changes that a snapshot would have.
bool hs_state_wants_snapshot(const struct hs_state *state, uint64_t live);

// All return 0 or a negative errno with *err, after which no snapshot is under way (-EAGAIN
// apart).
int hs_state_snapshot_begin(struct hs_state *state, struct hs_error *err);
int hs_state_snapshot_add(struct hs_state *state, const json_t *change, struct hs_error *err);
// Puts the new file in the old one's place, once it is on the disk: -EAGAIN until then, to be
// called again. It does not wait, a busy disk can take seconds.
int hs_state_snapshot_end(struct hs_state *state, struct hs_error *err);

// All of it at once, waiting for the disk: every value that `next` returns (new references, NULL
// ends) a line.
int hs_state_snapshot(struct hs_state *state, json_t *(*next)(void *context), void *context,
		struct hs_error *err);

uint64_t hs_state_bytes(const struct hs_state *state);
uint64_t hs_state_lines(const struct hs_state *state); // the heading apart

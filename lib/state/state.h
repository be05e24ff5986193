// SPDX-License-Identifier: BSD-3-Clause
// State that is kept beyond the end of a process: a journal of changes. Each change is a line of
// JSON with a checksum, and is written before the change is confirmed. When the journal has more
// than twice as many changes as are in force, a snapshot of those in force replaces it. Whenever
// the process dies, each confirmed line is found again, and a last line that was not confirmed is
// dropped.
//
//   hopsight-state 1
//   <crc32, 8 hex digits> <compact JSON>
//
// A line is a change as the API takes it. A list of changes is one line, so that it is read as a
// whole or not at all.
// Thread rule: owner; one process holds a file at a time (it is locked).
#pragma once

#include "error.h"
#include "state_limits.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_state;

struct hs_state_config {
	const char *file; // its folder must exist; created with mode 0600
	bool sync; // fdatasync before a change is confirmed, so that it survives a loss of power
	int64_t now_ns; // wall time, for the name of a damaged file
};

struct hs_state_load {
	uint64_t lines;	     // lines that were read and accepted
	uint64_t refused;    // well formed, but refused by `each`; the caller has logged why
	bool torn;	     // the last line was incomplete and dropped; it was never confirmed
	char set_aside[512]; // a damaged file's new name "FILE.damaged-<UTC time>", or ""
	char reason[160];    // the damage, with the line
};

// Opens or creates the file and passes each line's value (borrowed) to `each`, in order. `each`
// returns 0, or a negative errno to refuse the line. A damaged file (a wrong checksum, no JSON,
// another heading, a line too long) gets another name as a whole; the lines before the damage are
// used and kept. Returns 0, or a negative errno with *err (path "state.file"): -EBUSY if another
// process holds the file, -EINVAL if the file is none of ours: another heading, and no line with
// its checksum. Such a file is left as it is.
int hs_state_open(const struct hs_state_config *config, int (*each)(void *context, json_t *change),
		void *context, struct hs_state_load *load, struct hs_state **state,
		struct hs_error *err);
// Accepts NULL. Gives up a snapshot under way, and waits for its bytes that are on their way to the
// disk.
void hs_state_close(struct hs_state *state);

// Adds a change. Returns 0 when the change is in the file. Otherwise returns a negative errno with
// *err ("not_saved"): -ENOSPC and the like, or -ESTALE if the file was removed or replaced, so that
// nobody would find the change again. The file is then as it was before.
int hs_state_append(struct hs_state *state, const json_t *change, struct hs_error *err);
// Removes the change that was added last, because it could not be applied. It works once, and not
// after a snapshot began. Returns 0 or a negative errno; in that case, the next hs_state_append
// tries again.
int hs_state_take_back(struct hs_state *state);

// ---- snapshots ----
// A new file is written beside the old one. It has the changes that are in force when the snapshot
// begins, and then those that are appended meanwhile. So a thread that has other things to do can
// write a large snapshot in portions. Until the snapshot ends, and if it fails, the old file stays.

// Returns whether the journal has grown so much that a snapshot is worthwhile. `live` is the number
// of changes in a snapshot.
bool hs_state_wants_snapshot(const struct hs_state *state, uint64_t live);

// All return 0, or a negative errno with *err. After an error no snapshot is under way (except
// -EAGAIN).
int hs_state_snapshot_begin(struct hs_state *state, struct hs_error *err);
int hs_state_snapshot_add(struct hs_state *state, const json_t *change, struct hs_error *err);
// Replaces the old file with the new one, once the new one is on the disk. Returns -EAGAIN until
// then; call it again. It does not wait, because a busy disk can take seconds.
int hs_state_snapshot_end(struct hs_state *state, struct hs_error *err);

uint64_t hs_state_bytes(const struct hs_state *state);
uint64_t hs_state_lines(const struct hs_state *state); // without the heading

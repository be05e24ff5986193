// SPDX-License-Identifier: BSD-3-Clause
#include "state.h"

#include "state_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SNAPSHOT_LEAST 1000	  // changes; below this, reading the journal costs nothing
#define FLUSH_BYTES    (1u << 20) // between two flushes, so that little is left at the end

static void wait_for_flush(struct hs_state *state)
{
	const struct aiocb *const list[] = {&state->flush};

	while (state->flushing && aio_error(&state->flush) == EINPROGRESS)
		aio_suspend(list, 1, NULL);
}

void hs_state_give_up_snapshot(struct hs_state *state)
{
	if (state->snapshot.fd < 0)
		return;
	wait_for_flush(state);
	state->flushing = false;
	close(state->snapshot.fd);
	state->snapshot.fd = -1;
	hs_state_remove_new(state->name);
}

bool hs_state_wants_snapshot(const struct hs_state *state, uint64_t live)
{
	return state->snapshot.fd < 0 && state->file.changes > 2 * live + SNAPSHOT_LEAST &&
	       state->file.changes > state->wanted_above;
}

static int fail_snapshot(struct hs_state *state, int rc, struct hs_error *err)
{
	hs_state_give_up_snapshot(state);
	state->wanted_above = state->file.changes + SNAPSHOT_LEAST;
	hs_error_set(err, "not_saved", "state.file", "room for a second file beside it",
			"%.150s.new: %s; the journal goes on growing", state->name, strerror(-rc));
	return rc;
}

int hs_state_snapshot_begin(struct hs_state *state, struct hs_error *err)
{
	char name[HS_STATE_FILE_BYTES + 8];

	hs_state_give_up_snapshot(state);
	state->last_bytes = 0;
	state->from_bytes = state->file.bytes;
	state->from_lines = state->file.lines;
	state->from_changes = state->file.changes;
	state->flushed_bytes = 0;
	int rc = hs_state_name(name, sizeof(name), state->name, ".new");
	rc = rc ? rc : hs_state_file_create(name, &state->snapshot);
	return rc ? fail_snapshot(state, rc, err) : 0;
}

int hs_state_snapshot_add(struct hs_state *state, const json_t *change, struct hs_error *err)
{
	struct hs_state_file *file = &state->snapshot;
	int rc = file->fd < 0 ? -EINVAL : hs_state_file_add(file, change);

	if (rc)
		return fail_snapshot(state, rc, err);
	if (file->bytes - state->flushed_bytes >= FLUSH_BYTES) {
		sync_file_range(file->fd, (off_t)state->flushed_bytes,
				(off_t)(file->bytes - state->flushed_bytes), SYNC_FILE_RANGE_WRITE);
		state->flushed_bytes = file->bytes;
	}
	return 0;
}

// Returns 0 once everything written so far is on the disk, and -EAGAIN before.
static int flush_snapshot(struct hs_state *state)
{
	if (!state->flushing) {
		// Without an explicit choice of no notification, the C library would send this
		// process a signal.
		state->flush = (struct aiocb){
				.aio_fildes = state->snapshot.fd,
				.aio_sigevent.sigev_notify = SIGEV_NONE,
		};
		if (aio_fsync(O_DSYNC, &state->flush))
			return -errno;
		state->flushing = true;
	}
	int rc = aio_error(&state->flush);
	if (rc == EINPROGRESS)
		return -EAGAIN;
	state->flushing = false;
	aio_return(&state->flush);
	return -rc;
}

// Copies the lines that were added meanwhile, and gives the new file the name of the old one. With
// `sync`, both the lines and the name are then on the disk.
static int take_place(struct hs_state *state, const char *name)
{
	struct hs_state_file *file = &state->snapshot;
	if (!hs_state_file_is_at(state->file.fd, state->name))
		return -ESTALE;
	int rc = hs_state_file_copy(file, state->file.fd, state->from_bytes, state->file.bytes);

	if (rc == 0 && state->sync && fdatasync(file->fd))
		rc = -errno;
	if (rc == 0 && rename(name, state->name))
		rc = -errno;
	if (rc == 0 && state->sync)
		hs_state_sync_folder(state->name);
	return rc;
}

int hs_state_snapshot_end(struct hs_state *state, struct hs_error *err)
{
	struct hs_state_file *file = &state->snapshot;
	char name[HS_STATE_FILE_BYTES + 8];
	int rc = hs_state_name(name, sizeof(name), state->name, ".new");

	if (rc == 0 && file->fd < 0)
		rc = -EINVAL;
	if (rc == 0)
		rc = flush_snapshot(state);
	if (rc == -EAGAIN)
		return rc;
	if (rc == 0)
		rc = take_place(state, name);
	if (rc)
		return fail_snapshot(state, rc, err);
	file->lines += state->file.lines - state->from_lines;
	file->changes += state->file.changes - state->from_changes;
	close(state->file.fd);
	state->file = *file;
	state->snapshot.fd = -1;
	state->tail = false;
	state->last_bytes = 0;
	state->wanted_above = 0;
	return 0;
}

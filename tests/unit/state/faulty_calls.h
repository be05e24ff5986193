// SPDX-License-Identifier: BSD-3-Clause
// System calls that change files, counted: one of them ends the process or fails.
#pragma once

enum faulty_kind {
	FAULTY_NONE,
	FAULTY_DIE,	  // the process ends instead of the call
	FAULTY_DIE_HALF,  // ... a write has written half of its bytes
	FAULTY_DIE_AFTER, // ... the call was done
	FAULTY_FAIL,	  // the call does nothing and says ENOSPC
	FAULTY_FAIL_HALF, // ... a write has written half of its bytes
};

// From now on; `at` counts from 1.
void faulty_begin(enum faulty_kind kind, unsigned at);
// Back to normal. The calls since.
unsigned faulty_end(void);

// Data that aio_fsync began to write, until this is called or it is waited for, is under way.
void faulty_disk_is_done(void);

// SPDX-License-Identifier: BSD-3-Clause
// A file that appears under its name when it is whole: written beside it, renamed at the end. What
// is no regular file (a pipe, /dev/null) is written in place.
//
// Thread rule: the main thread. The struct does not move while it is open.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdio.h>

#define HS_WHOLE_FILE_PATH 4096

struct hs_whole_file {
	FILE *stream; // NULL: not open
	char path[HS_WHOLE_FILE_PATH];
	char temporary[HS_WHOLE_FILE_PATH]; // "": in place
};

// From here on it is known that the file can be made. 0 or negative errno with *err (path: the
// file's).
int hs_whole_file_open(struct hs_whole_file *file, const char *path, struct hs_error *err);

// Closes it under its name; on failure nothing of it is left. 0 or negative errno with *err.
int hs_whole_file_commit(struct hs_whole_file *file, struct hs_error *err);
// Closes it and leaves nothing; accepts one that is not open.
void hs_whole_file_abandon(struct hs_whole_file *file);

// Removes what is being written, for a signal handler that ends the process.
void hs_whole_file_remove_all(void);

// SPDX-License-Identifier: BSD-3-Clause
// A file that appears under its name when it is complete. It is written beside its name and renamed
// at the end. A special file (a pipe, /dev/null) is written in place.
//
// Thread rule: the main thread. The struct does not move while it is open.
#pragma once

#include "error.h"

#include <limits.h>
#include <stdio.h>

struct hs_whole_file {
	FILE *stream; // NULL: not open
	char path[PATH_MAX];
	char temporary[PATH_MAX]; // "": written in place
};

// Opens the file, so that the caller knows before its work that the file can be written. Returns 0,
// or a negative errno with *err (path: the file's).
int hs_whole_file_open(struct hs_whole_file *file, const char *path, struct hs_error *err);

// Closes the file under its name, or removes it on failure. Returns 0, or a negative errno with
// *err.
int hs_whole_file_commit(struct hs_whole_file *file, struct hs_error *err);
// Closes and removes the file. Accepts a file that is not open.
void hs_whole_file_abandon(struct hs_whole_file *file);

// Removes the files that are being written, for a signal handler that ends the process.
void hs_whole_file_remove_all(void);

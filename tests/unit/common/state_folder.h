// SPDX-License-Identifier: BSD-3-Clause
// A folder in memory, with one file of state for each test.
#pragma once

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64], file[96];

static inline int make_state_folder(void)
{
	snprintf(folder, sizeof(folder), "/dev/shm/hs-state-XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(file, sizeof(file), "%s/node.state", folder);
	return 0;
}

// Removes the folder and its files.
static inline int remove_state_folder(void)
{
	char pattern[96];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*", folder);
	if (glob(pattern, 0, NULL, &found) == 0) {
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
		globfree(&found);
	}
	return rmdir(folder);
}

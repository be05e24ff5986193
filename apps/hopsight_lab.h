// SPDX-License-Identifier: BSD-3-Clause
// The parts of the program `hopsight-lab`.
//
// Thread rule: the one thread of the program.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum lab_exit {
	LAB_DONE = 0,
	LAB_FAILED = 1, // an expectation was not met, or the run was interrupted or impossible
	LAB_USAGE = 2,	// bad usage or scenario
};

#define LAB_FOLDERS 3

struct lab_options {
	bool real, quiet, help, version;
	bool has_seed;
	uint64_t seed;
	int64_t duration_ns;
	const char *json, *packets, *published; // NULL: not wanted
	bool as_json;				// of `list`
	char **args;				// words behind the verb
	int n_args;
	const char *folders[LAB_FOLDERS]; // folders that are searched for scenarios by name
	size_t n_folders;
};

// Runs and checks the scenario that args[0] names. Returns the exit code.
int lab_run(const struct lab_options *options);

// Writes "hopsight-lab: FILE:path: message (allowed: ...)" to stderr. file may be NULL.
void lab_say_error(const char *file, const struct hs_error *err);

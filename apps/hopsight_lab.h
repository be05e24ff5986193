// SPDX-License-Identifier: BSD-3-Clause
// The parts of the program `hopsight-lab`.
//
// Thread rule: the one thread of the program.
#pragma once

#include "scenario_read.h"

#include <jansson.h>
#include <stdio.h>

enum lab_exit {
	LAB_DONE = 0,
	LAB_FAILED = 1, // an expectation was not met, or the run was interrupted or impossible
	LAB_USAGE = 2,	// bad usage or scenario
};

#define LAB_FOLDERS 3
#define HS_LAB_PATH 1024

struct lab_options {
	bool real, quiet, euler, help, version;
	struct hs_scenario_override override;
	uint64_t probes, mtu;			// 0: not given
	const char *json, *packets, *published; // NULL: not wanted
	char **args;				// words behind the verb
	int n_args;
	const char *folders[LAB_FOLDERS]; // folders that are searched for scenarios by name
	size_t n_folders;
};

// Runs and checks the scenario that args[0] names. Returns the exit code.
int lab_run(const struct lab_options *options);

// Plans probes over the network of args[0], which names a scenario or is a topology. Returns the
// exit code.
int lab_plan(const struct lab_options *options);

// Finds and reads the scenario that args[0] names. On failure, writes the reason to stderr.
int lab_load(const struct lab_options *options, char path[HS_LAB_PATH],
		struct hs_scenario *scenario);

// Writes JSON and the end of the line, for people if `to` is a terminal. Returns 0 or -EIO.
int lab_dump(const json_t *json, FILE *to, size_t flags);

// Writes "hopsight-lab: FILE:path: message (allowed: ...)" to stderr. file may be NULL.
void lab_say_error(const char *file, const struct hs_error *err);

// ---- the files of scenarios ----

// Finds the file that a word of the command line names: the path itself, or "word" or "word.json"
// in the first folder that has it. Returns -ENOENT with *err, which says where it searched.
int hs_lab_find(const char *word, const char *const *folders, size_t n_folders,
		char path[HS_LAB_PATH], struct hs_error *err);

struct hs_lab_entry {
	char file[HS_LAB_PATH];
	char name[64];
	bool broken;	 // the file is no scenario
	char words[400]; // its description, or why it is no scenario
};

struct hs_lab_list {
	size_t n;
	struct hs_lab_entry *entries; // in order of name
};

// Lists the scenarios (*.json) of the folders. If folders share a name, the first folder's file is
// listed. Missing folders are ignored. Returns 0 or -ENOMEM. Call fini in either case.
int hs_lab_list_read(const char *const *folders, size_t n_folders, struct hs_lab_list *list);
void hs_lab_list_fini(struct hs_lab_list *list);

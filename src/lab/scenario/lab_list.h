// SPDX-License-Identifier: BSD-3-Clause
// Finds scenarios by path, or by name in folders.
//
// Thread rule: owner.
#pragma once

#include "error.h"

#include <stddef.h>

#define HS_LAB_PATH 1024

// Finds the file that a word of the command line names: the path itself, or "word" or "word.json"
// in the first folder that has it. Returns -ENOENT with *err, which says where it searched.
int hs_lab_find(const char *word, const char *const *folders, size_t n_folders,
		char path[HS_LAB_PATH], struct hs_error *err);

struct hs_lab_entry {
	char file[HS_LAB_PATH];
	char name[64];
	char description[400]; // "": see error
	char error[256];       // why the file is no scenario; ""
};

struct hs_lab_list {
	size_t n;
	struct hs_lab_entry *entries; // in order of name
};

// Lists the scenarios (*.json) of the folders. If folders share a name, the first folder's file is
// listed. Missing folders are ignored. Returns 0 or -ENOMEM. Call fini in either case.
int hs_lab_list_read(const char *const *folders, size_t n_folders, struct hs_lab_list *list);
void hs_lab_list_fini(struct hs_lab_list *list);

// SPDX-License-Identifier: BSD-3-Clause
// Where scenarios are: by path, or by name in folders.
//
// Thread rule: owner.
#pragma once

#include "error.h"

#include <stddef.h>

#define HS_LAB_PATH 1024

// The file that a word of the command line means: a path as it stands, else "word" or "word.json"
// in the first folder that has it. -ENOENT with *err (which says where it looked).
int hs_lab_find(const char *word, const char *const *folders, size_t n_folders,
		char path[HS_LAB_PATH], struct hs_error *err);

struct hs_lab_entry {
	char file[HS_LAB_PATH];
	char name[64];
	char description[400]; // "": see error
	char error[256];       // why it is no scenario; ""
};

struct hs_lab_list {
	size_t n;
	struct hs_lab_entry *entries; // by name
};

// The scenarios (*.json) of the folders; of one name, the first folder's. Folders that are not
// there are passed over. 0 or -ENOMEM; fini in either case.
int hs_lab_list_read(const char *const *folders, size_t n_folders, struct hs_lab_list *list);
void hs_lab_list_fini(struct hs_lab_list *list);

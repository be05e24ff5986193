// SPDX-License-Identifier: BSD-3-Clause
// Finds scenarios by path, or by name in folders.
#include "hopsight_lab.h"

#include "array.h"
#include "nearest.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define END ".json"

static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && !S_ISDIR(status.st_mode);
}

// Writes the path of a file in a folder. Returns whether it exists.
static bool find_file(char path[HS_LAB_PATH], const char *folder, const char *name, const char *end)
{
	return snprintf(path, HS_LAB_PATH, "%s/%s%s", folder, name, end) < HS_LAB_PATH &&
	       is_file(path);
}

// ---- lists ----

// Makes the entry of a file. The entry has the name of the file, which `run` accepts.
static void read_entry(const char *path, const char *name, struct hs_lab_entry *entry)
{
	struct hs_scenario scenario;
	struct hs_error err = {0};

	*entry = (struct hs_lab_entry){0};
	snprintf(entry->file, sizeof(entry->file), "%s", path);
	snprintf(entry->name, sizeof(entry->name), "%.*s", (int)(strlen(name) - strlen(END)), name);
	if (hs_scenario_peek(path, &scenario, &err) < 0) {
		char text[HS_ERROR_TEXT];
		entry->broken = true;
		snprintf(entry->words, sizeof(entry->words), "%.255s", hs_error_text(&err, text));
		return;
	}
	snprintf(entry->words, sizeof(entry->words), "%s", scenario.description);
	hs_scenario_fini(&scenario);
}

static int add_file(const char *folder, const char *name, struct hs_lab_list *list)
{
	struct hs_lab_entry entry;
	char path[HS_LAB_PATH];

	if (fnmatch("*" END, name, FNM_PERIOD) != 0 || !find_file(path, folder, name, ""))
		return 0;
	read_entry(path, name, &entry);
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->entries[i].name, entry.name) == 0)
			return 0;
	return HS_ARRAY_APPEND(list->entries, list->n, entry) ? 0 : -ENOMEM;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct hs_lab_entry *)a)->name,
			((const struct hs_lab_entry *)b)->name);
}

int hs_lab_list_read(const char *const *folders, size_t n_folders, struct hs_lab_list *list)
{
	int rc = 0;

	*list = (struct hs_lab_list){0};
	for (size_t i = 0; rc == 0 && i < n_folders; i++) {
		DIR *dir = opendir(folders[i]);
		for (struct dirent *file; dir && rc == 0 && (file = readdir(dir));)
			rc = add_file(folders[i], file->d_name, list);
		if (dir)
			closedir(dir);
	}
	if (list->n)
		qsort(list->entries, list->n, sizeof(*list->entries), by_name);
	return rc;
}

void hs_lab_list_fini(struct hs_lab_list *list)
{
	free(list->entries);
	*list = (struct hs_lab_list){0};
}

// ---- the file that a word names ----

// Says that there is no such scenario, and which one may be meant.
static void refuse_word(const char *word, const char *const *folders, size_t n_folders,
		const char *where, struct hs_error *err)
{
	struct hs_nearest nearest = {.typed = word};
	struct hs_lab_list list;

	hs_lab_list_read(folders, n_folders, &list);
	for (size_t i = 0; i < list.n; i++)
		hs_nearest_try(&nearest, list.entries[i].name);
	hs_error_set(err, "no_file", "", where, "there is no such scenario: %s%s%s%s", word,
			nearest.word ? "; did you mean " : "", nearest.word ? nearest.word : "",
			nearest.word ? "?" : "");
	hs_lab_list_fini(&list);
}

int hs_lab_find(const char *word, const char *const *folders, size_t n_folders,
		char path[HS_LAB_PATH], struct hs_error *err)
{
	char where[sizeof(err->expected)] = "";
	size_t used = 0;

	if (is_file(word) && strlen(word) < HS_LAB_PATH) {
		strcpy(path, word);
		return 0;
	}
	for (size_t i = 0; i < n_folders && !strchr(word, '/'); i++) {
		if (find_file(path, folders[i], word, END) || find_file(path, folders[i], word, ""))
			return 0;
		if (used < sizeof(where))
			used += (size_t)snprintf(where + used, sizeof(where) - used, "%s%s",
					i ? ", " : "a file, or a name in ", folders[i]);
	}
	refuse_word(word, folders, n_folders, where, err);
	return -ENOENT;
}

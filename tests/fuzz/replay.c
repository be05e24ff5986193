// SPDX-License-Identifier: BSD-3-Clause
// Runs a fuzz target without libFuzzer on the named files and the files of named folders, so that
// the tests of every compiler see what fuzzing once found.
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

static size_t n_inputs;

static bool replay_file(const char *path, size_t size)
{
	FILE *file = fopen(path, "rb");
	if (!file)
		return false;
	uint8_t *bytes = malloc(size ? size : 1); // the exact size, for the sanitizer
	bool whole = bytes && fread(bytes, 1, size, file) == size;
	fclose(file);
	if (whole) {
		n_inputs++;
		LLVMFuzzerTestOneInput(bytes, size);
	}
	free(bytes);
	return whole;
}

static bool replay(const char *path);

static bool replay_folder(const char *path)
{
	bool ok = true;
	DIR *dir = opendir(path);
	if (!dir)
		return false;
	for (struct dirent *entry; (entry = readdir(dir));) {
		char name[4096];
		if (entry->d_name[0] == '.')
			continue;
		int n = snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
		ok &= n < (int)sizeof(name) && replay(name);
	}
	closedir(dir);
	return ok;
}

static bool replay(const char *path)
{
	struct stat st;
	bool ok = !stat(path, &st) && (S_ISDIR(st.st_mode) ? replay_folder(path)
							   : replay_file(path, (size_t)st.st_size));
	if (!ok)
		fprintf(stderr, "%s: %s\n", path, strerror(errno));
	return ok;
}

int main(int argc, char **argv)
{
	bool ok = true;
	for (int i = 1; i < argc; i++)
		ok &= replay(argv[i]);
	printf("%zu inputs\n", n_inputs);
	return ok && n_inputs ? 0 : 1;
}

// SPDX-License-Identifier: BSD-3-Clause
// A state file of any bytes, unchanged or with corrected checksums. Its lines go through the API's
// validator, and damage sets the file aside. Afterwards the file accepts a change and returns it. A
// file of another kind is refused and left.
#include "fuzz.h"

#include "api.h"
#include "fake_backend.h"
#include "state.h"

#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define HEADING "hopsight-state 1\n"
#define REFUSED UINT_MAX

static char folder[64], file[96];

static void remove_files(void)
{
	char pattern[128];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*", folder);
	if (glob(pattern, 0, NULL, &found) == 0)
		for (size_t i = 0; i < found.gl_pathc; i++)
			unlink(found.gl_pathv[i]);
	globfree(&found);
}

static void remove_folder(void)
{
	remove_files();
	rmdir(folder);
}

static void make_folder(void)
{
	if (folder[0])
		return;
	snprintf(folder, sizeof(folder), "%s/hs-fuzz-XXXXXX",
			access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	HOLDS(mkdtemp(folder));
	snprintf(file, sizeof(file), "%s/state", folder);
	atexit(remove_folder);
}

// Writes each line with its correct checksum.
static void write_lines(FILE *to, const char *text, size_t size)
{
	fputs(HEADING, to);
	while (size > 0) {
		const char *end = memchr(text, '\n', size);
		size_t len = end ? (size_t)(end - text) : size;
		unsigned crc = (unsigned)crc32(0, (const Bytef *)text, (uInt)len);
		fprintf(to, "%08x ", crc);
		fwrite(text, 1, len, to);
		fputc('\n', to);
		text += len + (end != NULL);
		size -= len + (end != NULL);
	}
}

static void write_input(const uint8_t *data, size_t size)
{
	FILE *to = fopen(file, "w");

	HOLDS(to);
	HOLDS(fchmod(fileno(to), 0600) == 0);
	if (size > 0 && data[0] == '+')
		write_lines(to, (const char *)data + 1, size - 1);
	else if (size > 0)
		fwrite(data, 1, size, to);
	HOLDS(fclose(to) == 0);
}

static struct fake fake;

static int replay(void *context, json_t *change)
{
	struct hs_api_backend backend = fake_backend(&fake);
	struct hs_error err = {0};
	int rc = hs_api_replay(&backend, change, NULL, NULL, &err);

	HOLDS(rc == 0 || (err.code[0] && err.message[0]));
	HOLDS(fake.n_rules <= FAKE_RULES);
	++*(unsigned *)context;
	return rc;
}

// Opens the file. Returns how many lines it had, or REFUSED.
static unsigned open_state(struct hs_state **state, struct hs_state_load *load)
{
	const struct hs_state_config config = {
			.file = file, .now_ns = INT64_C(1790000000000000000)};
	struct hs_error err;
	unsigned n = 0;
	int rc = hs_state_open(&config, replay, &n, load, state, &err);

	if (rc == -EINVAL) {
		HOLDS(n == 0 && err.code[0] && err.message[0]);
		return REFUSED;
	}
	HOLDS(rc == 0);
	HOLDS(n == load->lines + load->refused && n == hs_state_lines(*state));
	return n;
}

static bool has_length(size_t size)
{
	struct stat about;

	return stat(file, &about) == 0 && (size_t)about.st_size == size;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct hs_state_load load, again;
	struct hs_state *state;
	struct hs_error err;

	make_folder();
	write_input(data, size);
	fake_init(&fake);
	unsigned n = open_state(&state, &load);
	if (n == REFUSED) {
		HOLDS(has_length(size));
		remove_files();
		return 0;
	}
	json_t *change = json_pack("{s:{s:i}}", "int_delete", "ns_id", 5);
	HOLDS(hs_state_append(state, change, &err) == 0);
	hs_state_close(state);
	json_decref(change);

	HOLDS(open_state(&state, &again) == n + 1);
	HOLDS(!again.set_aside[0] && !again.torn);
	hs_state_close(state);
	remove_files();
	return 0;
}

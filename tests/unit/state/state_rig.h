// SPDX-License-Identifier: BSD-3-Clause
// A folder with one file of state for each test, and what is read back of it.
#pragma once

#include "state.h"

#include "faulty_calls.h"
#include "state_folder.h"

#include <errno.h>
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#define KEYS   8
#define NOW_NS INT64_C(1790000000123456789) // 2026-09-21T14:13:20Z

// Checksums by Python's zlib.crc32.
static const char three_lines[] = "hopsight-state 1\n"
				  "f2c98ef8 {\"int_delete\":{\"ns_id\":7}}\n"
				  "4316761c [{\"a\":1},{\"b\":0.5}]\n"
				  "5f09f418 {\"k\":0,\"v\":1}\n";

// What the lines say, as text, one behind the other.
struct seen {
	unsigned n;
	char last[128];
	int refuse; // what `each` answers
	long values[KEYS];
};

static inline int see(void *context, json_t *change)
{
	struct seen *seen = context;
	char *text = json_dumps(change, JSON_COMPACT);

	seen->n++;
	snprintf(seen->last, sizeof(seen->last), "%s", text);
	free(text);
	json_t *key = json_object_get(change, "k");
	if (key && json_integer_value(key) < KEYS)
		seen->values[json_integer_value(key)] =
				json_integer_value(json_object_get(change, "v"));
	return seen->refuse;
}

static inline int open_state(struct seen *seen, struct hs_state_load *load, struct hs_state **state,
		struct hs_error *err)
{
	struct hs_state_config config = {.file = file, .sync = true, .now_ns = NOW_NS};
	*seen = (struct seen){.refuse = seen->refuse};
	return hs_state_open(&config, see, seen, load, state, err);
}

// Opens, closes.
static inline void look(struct seen *seen, struct hs_state_load *load)
{
	struct hs_state *state;
	struct hs_error err;
	int rc = open_state(seen, load, &state, &err);

	if (rc)
		fail_msg("%s %s", err.path, err.message);
	hs_state_close(state);
}

static inline void write_file(const char *bytes, size_t len)
{
	FILE *f = fopen(file, "w");
	assert_non_null(f);
	assert_int_equal(fwrite(bytes, 1, len, f), len);
	fclose(f);
}

static inline size_t read_file(const char *name, char *bytes, size_t size)
{
	FILE *f = fopen(name, "r");
	assert_non_null(f);
	size_t n = fread(bytes, 1, size, f);
	fclose(f);
	return n;
}

static inline int change_of(struct hs_state *state, int key, long value)
{
	struct hs_error err;
	json_t *change = json_pack("{s:i, s:I}", "k", key, "v", (json_int_t)value);
	int rc = hs_state_append(state, change, &err);

	json_decref(change);
	if (rc)
		assert_string_equal(err.code, "not_saved");
	return rc;
}

static inline int begin_test(void **state)
{
	(void)state;
	return make_state_folder();
}

static inline int end_test(void **state)
{
	(void)state;
	faulty_end();
	return remove_state_folder();
}

static inline size_t files_there(void)
{
	char pattern[96];
	glob_t found;

	snprintf(pattern, sizeof(pattern), "%s/*", folder);
	if (glob(pattern, 0, NULL, &found))
		return 0;
	size_t n = found.gl_pathc;
	globfree(&found);
	return n;
}

#define STATE_TEST(f) cmocka_unit_test_setup_teardown(f, begin_test, end_test)

// Writes a whole snapshot and waits for the disk. Every value that `next` returns (new references,
// NULL ends) becomes a line.
__attribute__((unused)) static int snapshot(struct hs_state *state, json_t *(*next)(void *context),
		void *context, struct hs_error *err)
{
	int rc = hs_state_snapshot_begin(state, err);
	json_t *change;

	while (rc == 0 && (change = next(context))) {
		rc = hs_state_snapshot_add(state, change, err);
		json_decref(change);
	}
	if (rc)
		return rc;
	while ((rc = hs_state_snapshot_end(state, err)) == -EAGAIN)
		faulty_disk_is_done();
	return rc;
}

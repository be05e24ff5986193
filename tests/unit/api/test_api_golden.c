// SPDX-License-Identifier: BSD-3-Clause
// Each folder of tests/golden/api is a case: `input` is what a client sends, expected.json the
// whole reply, after.json the rules then (without it nothing may have changed). `pad_to` lengthens
// the input with spaces, `rules_free` is the room in the table.
#include "fake_backend.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MAX_CASES 256

static char *read_file(const char *folder, const char *name, size_t *len)
{
	char path[600];
	size_t room = 1u << 16;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *file = fopen(path, "rb");
	if (!file)
		return NULL;
	char *text = calloc(1, room + 1);
	assert_non_null(text);
	*len = fread(text, 1, room, file);
	assert_true(*len < room);
	fclose(file);
	return text;
}

static size_t read_number(const char *folder, const char *name, size_t fallback)
{
	size_t len;
	char *text = read_file(folder, name, &len);
	if (text)
		fallback = strtoul(text, NULL, 10);
	free(text);
	return fallback;
}

static json_t *read_json(const char *folder, const char *name)
{
	size_t len;
	char *text = read_file(folder, name, &len);
	json_t *json = text ? json_loadb(text, len, 0, NULL) : NULL;
	assert_true(!text || json);
	free(text);
	return json;
}

static char *read_input(const char *folder, size_t *len)
{
	char *text = read_file(folder, "input", len);
	assert_non_null(text);
	size_t padded = read_number(folder, "pad_to", *len);
	text = realloc(text, padded + 1);
	assert_non_null(text);
	memset(text + *len, ' ', padded - *len);
	*len = padded;
	return text;
}

static void the_reply_is_the_expected_one(void **state)
{
	const char *folder = *state;
	struct fake fake, before;
	size_t len;

	fake_init(&fake);
	fake.rules_free = (uint32_t)read_number(folder, "rules_free", fake.rules_free);
	before = fake;
	struct hs_api_backend backend = fake_backend(&fake);
	char *input = read_input(folder, &len);
	// No terminator and no room behind the bytes, so that a read too far is seen.
	char *exact = malloc(len ? len : 1);
	assert_non_null(exact);
	memcpy(exact, input, len);

	char *text = hs_api_handle(&backend, exact, len, true);
	assert_non_null(text);
	json_t *reply = json_loads(text, 0, NULL), *expected = read_json(folder, "expected.json");
	assert_non_null(reply);
	assert_non_null(expected);
	if (!json_equal(reply, expected)) {
		char *wanted = json_dumps(expected, 0);
		print_error("expected %s\n     got %s\n", wanted, text);
		free(wanted);
		fail();
	}

	json_t *after = read_json(folder, "after.json");
	if (after) {
		json_t *rules = fake_rules(&fake);
		assert_true(json_equal(rules, after));
		json_decref(rules);
		json_decref(after);
	} else {
		fake.runs = before.runs; // a query runs, but changes nothing
		assert_memory_equal(&fake, &before, sizeof(fake));
	}
	if (json_object_get(expected, "error"))
		assert_int_equal(fake.runs, 0);
	json_decref(reply);
	json_decref(expected);
	free(text);
	free(exact);
	free(input);
}

static int is_case(const struct dirent *entry)
{
	return entry->d_name[0] != '.';
}

int main(int argc, char **argv)
{
	static struct CMUnitTest tests[MAX_CASES];
	static char folders[MAX_CASES][600];
	struct dirent **entries;

	if (argc != 2)
		return 2;
	int n = scandir(argv[1], &entries, is_case, alphasort);
	if (n < 50 || n > MAX_CASES)
		return 2;
	for (int i = 0; i < n; i++) {
		snprintf(folders[i], sizeof(folders[i]), "%s/%s", argv[1], entries[i]->d_name);
		tests[i] = (struct CMUnitTest){.name = strdup(entries[i]->d_name),
				.test_func = the_reply_is_the_expected_one,
				.initial_state = folders[i]};
		free(entries[i]);
	}
	free(entries);
	int failed = _cmocka_run_group_tests("api golden", tests, (size_t)n, NULL, NULL);
	for (int i = 0; i < n; i++)
		free((char *)(uintptr_t)tests[i].name);
	return failed;
}

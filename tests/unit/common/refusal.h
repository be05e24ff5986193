// SPDX-License-Identifier: BSD-3-Clause
// One test for each folder of bad input: what was read from it is refused as its expected.json
// says.
#pragma once

#include "error.h"

#include <dirent.h>
#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *text_of(json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

static void assert_refused_as_said(const char *folder, const struct hs_error *err)
{
	char path[512];

	snprintf(path, sizeof(path), "%s/expected.json", folder);
	json_t *expected = json_load_file(path, 0, NULL);
	assert_non_null(expected);
	assert_string_equal(err->code, text_of(expected, "code"));
	assert_string_equal(err->path, text_of(expected, "path"));
	if (!strstr(err->message, text_of(expected, "says")))
		fail_msg("\"%s\" does not say \"%s\"", err->message, text_of(expected, "says"));
	if (json_object_get(expected, "expected"))
		assert_string_equal(err->expected, text_of(expected, "expected"));
	json_decref(expected);
}

// Runs the fixed tests, then `refuses` once for each folder below `golden`, whose name is its
// state. No folder is a failure.
static inline int run_with_folders(const char *group, const char *golden,
		const struct CMUnitTest *fixed, size_t n_fixed, CMUnitTestFunction refuses)
{
	static struct CMUnitTest tests[1024];
	struct dirent **names;
	int n = scandir(golden, &names, NULL, alphasort);
	size_t n_tests = n_fixed;

	memcpy(tests, fixed, n_fixed * sizeof(*fixed));
	for (int i = 0; i < n && n_tests < sizeof(tests) / sizeof(tests[0]); i++) {
		if (names[i]->d_name[0] == '.')
			continue;
		tests[n_tests++] = (struct CMUnitTest){
				.name = names[i]->d_name,
				.test_func = refuses,
				.initial_state = names[i]->d_name,
		};
	}
	if (n_tests == n_fixed) {
		fprintf(stderr, "no golden files in %s\n", golden);
		return 1;
	}
	int failed = _cmocka_run_group_tests(group, tests, n_tests, NULL, NULL);
	for (int i = 0; i < n; i++)
		free(names[i]);
	free(names);
	return failed;
}

// SPDX-License-Identifier: BSD-3-Clause
// The vectors of a golden test: a JSON file whose path is HS_GOLDEN. A failed test tells the case
// in which it failed.
#pragma once

#include "wire_test.h"

#include <jansson.h>

static json_t *vectors;
static const char *case_name; // the one under test, for who reads a failure

static int vectors_load(void **state)
{
	json_error_t error;

	(void)state;
	vectors = json_load_file(HS_GOLDEN, JSON_REJECT_DUPLICATES, &error);
	if (!vectors)
		print_error("%s:%d: %s\n", HS_GOLDEN, error.line, error.text);
	return vectors ? 0 : -1;
}

static int vectors_unload(void **state)
{
	(void)state;
	json_decref(vectors);
	return 0;
}

static int vectors_show_case(void **state)
{
	(void)state;
	if (case_name)
		print_error("in the case: %s\n", case_name);
	case_name = NULL;
	return 0;
}

static void vectors_each(const json_t *cases, void (*check)(const json_t *object))
{
	json_t *object;
	size_t i;

	assert_true(json_array_size(cases) > 0);
	json_array_foreach (cases, i, object) {
		case_name = json_string_value(json_object_get(object, "name"));
		check(object);
	}
	case_name = NULL;
}

// SPDX-License-Identifier: BSD-3-Clause
// docs/api.md lists the verbs and their fields between two marks; without the examples, the lines
// must be those that the table of the API makes. `test_api_docs FILE --print` prints them.
#include "api.h"

#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define BEGIN "<!-- verbs begin -->\n"
#define END   "<!-- verbs end -->\n"
// Requests and replies as a test captured them.
#define EXAMPLES     "<!-- examples begin -->\n"
#define EXAMPLES_END "<!-- examples end -->\n\n"

static const char *docs_path;

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	return text ? text : "";
}

static void print_field(FILE *to, const json_t *field)
{
	const char *fallback = text_of(field, "default");
	bool required = json_is_true(json_object_get(field, "required"));

	fprintf(to, "| `%s` | %s | %s | %s | %s |\n", text_of(field, "name"),
			text_of(field, "type"), text_of(field, "allowed"),
			required      ? "required"
			: fallback[0] ? fallback
				      : "left out",
			text_of(field, "help"));
}

static void print_verbs(FILE *to)
{
	json_t *description = hs_api_describe(), *verb, *field;
	size_t i, j;

	json_array_foreach (json_object_get(description, "verbs"), i, verb) {
		const json_t *fields = json_object_get(verb, "fields");
		const char *help = text_of(verb, "help");
		fprintf(to, "### `%s`\n\n%c%s%s.%s\n\n", text_of(verb, "verb"), toupper(help[0]),
				help + 1,
				json_is_true(json_object_get(verb, "counts"))
						? " (raises the generation)"
						: "",
				json_array_size(fields) ? "" : " No fields.");
		if (json_array_size(fields) == 0)
			continue;
		fprintf(to, "| field | type | allowed | default | meaning "
			    "|\n|---|---|---|---|---|\n");
		json_array_foreach (fields, j, field)
			print_field(to, field);
		fprintf(to, "\n");
	}
	json_decref(description);
}

static char *read_docs(void)
{
	char *text = calloc(1, 1 << 20);
	FILE *file = fopen(docs_path, "r");
	assert_non_null(text);
	assert_non_null(file);
	assert_true(fread(text, 1, (1 << 20) - 1, file) > 0);
	fclose(file);
	return text;
}

static void remove_examples(char *docs)
{
	char *begin;

	while ((begin = strstr(docs, EXAMPLES))) {
		char *end = strstr(begin, EXAMPLES_END);
		assert_non_null(end);
		end += strlen(EXAMPLES_END);
		memmove(begin, end, strlen(end) + 1);
	}
}

static void the_document_lists_the_verbs_as_they_are(void **state)
{
	char *docs = read_docs(), *made = NULL;
	size_t len;
	(void)state;

	remove_examples(docs);
	char *begin = strstr(docs, BEGIN), *end = strstr(docs, END);
	assert_non_null(begin);
	assert_non_null(end);
	FILE *memory = open_memstream(&made, &len);
	print_verbs(memory);
	fclose(memory);
	*end = '\0';
	if (strcmp(begin + strlen(BEGIN), made) != 0) {
		fputs(made, stderr);
		fail_msg("docs/api.md is not up to date: between its marks belongs the text above");
	}
	free(made);
	free(docs);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(the_document_lists_the_verbs_as_they_are),
	};

	if (argc < 2)
		return 2;
	docs_path = argv[1];
	if (argc > 2) {
		print_verbs(stdout);
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
// docs/api.md lists the verbs and their fields between two marks; without the examples, the lines
// must be those that the table of the API makes. `test_api_docs FILE --print` prints them.
#include "api_verbs.h"
#include "schema_value.h"

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

static void print_field(FILE *to, const struct hs_schema_field *field)
{
	fprintf(to, "| `%s` | %s | %s | %s | %s |\n", field->key, hs_schema_type_of(field),
			field->allowed,
			field->required	  ? "required"
			: field->fallback ? field->fallback
					  : "left out",
			field->help);
}

static void print_verb(FILE *to, enum hs_api_verb verb)
{
	const struct hs_api_verb_row *row = &hs_api_verbs[verb];
	struct hs_schema_field of_rule[HS_RULE_ROWS + 1];
	const struct hs_schema_field *field = hs_api_verb_fields(verb, of_rule);

	fprintf(to, "### `%s`\n\n%c%s%s.%s\n\n", row->name, toupper(row->help[0]), row->help + 1,
			row->changes && !row->passing ? " (raises the generation)" : "",
			field->key ? "" : " No fields.");
	if (!field->key)
		return;
	fprintf(to, "| field | type | allowed | default | meaning |\n|---|---|---|---|---|\n");
	for (; field->key; field++)
		print_field(to, field);
	fprintf(to, "\n");
}

static void print_verbs(FILE *to)
{
	for (unsigned verb = 0; verb < HS_VERB_COUNT; verb++)
		print_verb(to, verb);
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

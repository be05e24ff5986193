// SPDX-License-Identifier: BSD-3-Clause
#include "hopsight_lab.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char first[64], second[64];
static const char *const folders[] = {first, "/nonexistent/folder", second};
static struct hs_lab_list list;
static struct hs_error err;
static char found[HS_LAB_PATH];

static void put(const char *folder, const char *name, const char *text)
{
	char path[160];
	FILE *to;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	to = fopen(path, "w");
	fputs(text, to);
	fclose(to);
}

static int setup(void **state)
{
	(void)state;
	strcpy(first, "/tmp/hs-list-a-XXXXXX");
	strcpy(second, "/tmp/hs-list-b-XXXXXX");
	if (!mkdtemp(first) || !mkdtemp(second))
		return -1;
	put(first, "zebra.json", "{\"name\": \"zebra\", \"description\": \"Stripes.\"}");
	put(first, "broken.json", "{\"name\": ");
	put(first, "notes.txt", "no scenario");
	put(first, ".hidden.json", "{}");
	put(second, "zebra.json", "{\"name\": \"zebra\", \"description\": \"Another.\"}");
	put(second, "ant.json", "{\"name\": \"ant\", \"description\": \"Small.\"}");
	return 0;
}

static int teardown(void **state)
{
	char command[200];

	(void)state;
	hs_lab_list_fini(&list);
	snprintf(command, sizeof(command), "rm -r %s %s", first, second);
	return system(command);
}

static void scenarios_are_listed_by_name_of_one_name_the_first_and_the_others_faults(void **state)
{
	(void)state;
	static const struct hs_lab_entry entries[] = {{.name = "ant", .words = "Small."},
			{.name = "broken", .broken = true}, {.name = "zebra", .words = "Stripes."}};

	assert_int_equal(hs_lab_list_read(folders, 3, &list), 0);
	assert_int_equal(list.n, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_string_equal(list.entries[i].name, entries[i].name);
		assert_int_equal(list.entries[i].broken, entries[i].broken);
		if (entries[i].broken)
			assert_string_not_equal(list.entries[i].words, "");
		else
			assert_string_equal(list.entries[i].words, entries[i].words);
	}
	hs_lab_list_fini(&list);
	assert_int_equal(hs_lab_list_read(folders, 1, &list), 0);
	assert_int_equal(list.n, 2);
}

static void expect_found(const char *word, const char *folder, const char *file)
{
	char expected[160];

	assert_int_equal(hs_lab_find(word, folders, 3, found, &err), 0);
	snprintf(expected, sizeof(expected), "%s/%s", folder, file);
	assert_string_equal(found, expected);
}

static void a_scenario_is_found_by_path_and_by_name_with_and_without_its_end(void **state)
{
	(void)state;
	char path[160];

	expect_found("zebra", first, "zebra.json");
	expect_found("zebra.json", first, "zebra.json");
	expect_found("ant", second, "ant.json");
	snprintf(path, sizeof(path), "%s/zebra.json", second);
	expect_found(path, second, "zebra.json");
}

static void what_is_not_found_is_told_with_where_it_was_looked_for(void **state)
{
	(void)state;
	assert_int_equal(hs_lab_find("yak", folders, 3, found, &err), -ENOENT);
	assert_non_null(strstr(err.message, "yak"));
	assert_non_null(strstr(err.expected, first));
	assert_non_null(strstr(err.expected, second));
	assert_int_equal(hs_lab_find("./yak.json", folders, 3, found, &err), -ENOENT);
	assert_string_equal(err.expected, "");
	assert_int_equal(hs_lab_find("", folders, 3, found, &err), -ENOENT);
	assert_int_equal(hs_lab_find(first, folders, 3, found, &err), -ENOENT);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(scenarios_are_listed_by_name_of_one_name_the_first_and_the_others_faults),
			TEST(a_scenario_is_found_by_path_and_by_name_with_and_without_its_end),
			TEST(what_is_not_found_is_told_with_where_it_was_looked_for),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "text_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static struct hs_text_table *table_of(const char *const *headers, const bool *right, size_t n,
		const char *const *cells, size_t n_cells)
{
	struct hs_text_table *table;

	assert_int_equal(hs_text_table_create(&table), 0);
	for (size_t i = 0; i < n; i++)
		hs_text_table_column(table, headers[i], right[i]);
	for (size_t i = 0; i < n_cells; i++)
		hs_text_table_cell(table, cells[i]);
	return table;
}

static void expect_text(struct hs_text_table *table, const char *expected)
{
	char *text = hs_text_table_text(table);

	assert_non_null(text);
	assert_string_equal(text, expected);
	free(text);
	hs_text_table_destroy(table);
}

static void columns_are_as_wide_as_their_widest_text_and_lines_end_without_blanks(void **state)
{
	(void)state;
	static const char *const headers[] = {"hop", "n", "note"};
	static const char *const cells[] = {"a", "1000000", "x", "longer", "5", ""};

	expect_text(table_of(headers, (bool[]){false, true, false}, 3, cells, 6),
			"hop           n  note\n"
			"a       1000000  x\n"
			"longer        5\n");
}

static void a_character_of_several_bytes_takes_one_column(void **state)
{
	(void)state;
	static const char *const headers[] = {"a", "b"};
	static const char *const cells[] = {"0 → 1", "µs", "12345", "ms"};

	assert_int_equal(hs_text_width("0 → 1"), 5);
	expect_text(table_of(headers, (bool[]){false, true}, 2, cells, 4), "a       b\n"
									   "0 → 1  µs\n"
									   "12345  ms\n");
}

static void expect_fit(size_t width, const uint8_t *ranks, const char *left_out, const char *text)
{
	static const char *const headers[] = {"name", "rx", "never", "tx", "note"};
	static const char *const cells[] = {"west", "10", "", "1234", "a text of twenty-six chars",
			"a→b", "123", "", "9", "é and others of its length"};
	struct hs_text_table *table =
			table_of(headers, (bool[]){false, true, false, true, false}, 5, cells, 10);
	char *names = hs_text_table_fit(table, width, ranks);

	assert_non_null(names);
	assert_string_equal(names, left_out);
	free(names);
	expect_text(table, text);
}

static void columns_of_the_highest_rank_are_left_out_first_and_of_one_rank_the_last(void **state)
{
	static const uint8_t same[5] = {0}, first_rx[] = {0, 2, 0, 1, 1};
	static const char name_and_tx[] = "name    tx\nwest  1234\na→b      9\n";

	(void)state;
	expect_fit(43, same, "", // exactly as wide as the lines
			"name   rx    tx  note\n"
			"west   10  1234  a text of twenty-six chars\n"
			"a→b   123     9  é and others of its length\n");
	expect_fit(42, same, "note", "name   rx    tx\nwest   10  1234\na→b   123     9\n");
	expect_fit(15, same, "note", "name   rx    tx\nwest   10  1234\na→b   123     9\n");
	expect_fit(14, same, "tx, note", "name   rx\nwest   10\na→b   123\n");
	expect_fit(11, first_rx, "rx, note", name_and_tx);
	expect_fit(1, same, "rx, tx, note", "name\nwest\na→b\n"); // one column stays
}

static void a_column_that_may_be_cut_gets_what_is_left(void **state)
{
	static const uint8_t ranks[] = {0, 0, 0, 0, HS_TEXT_CUT};

	(void)state;
	expect_fit(43, ranks, "",
			"name   rx    tx  note\n"
			"west   10  1234  a text of twenty-six chars\n"
			"a→b   123     9  é and others of its length\n");
	expect_fit(40, ranks, "note",
			"name   rx    tx  note\n"
			"west   10  1234  a text of twenty-six c…\n"
			"a→b   123     9  é and others of its le…\n");
	expect_fit(32, ranks, "tx, note",
			"name   rx  note\n"
			"west   10  a text of twenty-six…\n"
			"a→b   123  é and others of its …\n");
	expect_fit(22, ranks, "rx, tx, note",
			"name  note\n"
			"west  a text of twent…\n"
			"a→b   é and others of…\n");
	expect_fit(21, ranks, "rx, tx, note", "name\nwest\na→b\n");
}

static void a_first_column_that_may_be_cut_is_cut_when_only_those_of_rank_0_are_left(void **state)
{
	static const char *const headers[] = {"name", "rx", "tx", "note"};
	static const char *const cells[] = {"a name of thirty characters...", "10", "1234",
			"a text of twenty-six chars"};
	static const uint8_t ranks[] = {HS_TEXT_CUT, 0, 2, HS_TEXT_CUT};
	static const struct {
		size_t width;
		const char *left_out, *text;
	} cases[] = {
			{58, "note",
					"name                            rx    tx  note\n"
					"a name of thirty characters...  10  1234  a text of "
					"twent…\n"},
			{57, "tx, note",
					"name                            rx  note\n"
					"a name of thirty characters...  10  a text of "
					"twenty-six…\n"},
			{34, "tx, note",
					"name                            rx\n"
					"a name of thirty characters...  10\n"},
			{33, "name, tx, note",
					"name                           rx\n"
					"a name of thirty characters.…  10\n"},
			{20, "name, tx, note", "name              rx\na name of thirt…  10\n"},
			{19, "name, rx, tx, note", "name\na name of thirty c…\n"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_text_table *table =
				table_of(headers, (bool[]){false, true, true, false}, 4, cells, 4);
		char *names = hs_text_table_fit(table, cases[i].width, ranks);

		assert_string_equal(names, cases[i].left_out);
		free(names);
		expect_text(table, cases[i].text);
	}
}

static void a_column_without_a_value_is_left_out(void **state)
{
	(void)state;
	static const char *const headers[] = {"empty", "a", "void", "b"};
	static const char *const cells[] = {"", "1", "", "2"};

	expect_text(table_of(headers, (bool[]){false, true, true, true}, 4, cells, 4),
			"a  b\n1  2\n");
}

static void a_table_without_rows_or_columns_is_no_text(void **state)
{
	(void)state;
	static const char *const headers[] = {"a"};

	expect_text(table_of(headers, (bool[]){true}, 1, NULL, 0), "");
	expect_text(table_of(NULL, NULL, 0, headers, 1), "");
}

static void many_rows_keep_their_order(void **state)
{
	(void)state;
	struct hs_text_table *table = table_of((const char *[]){"n"}, (bool[]){true}, 1, NULL, 0);
	char *text, *line;

	for (int i = 100; i < 400; i++)
		hs_text_table_cell(table, (char[]){(char)('0' + i / 100), (char)('0' + i / 10 % 10),
							  (char)('0' + i % 10), '\0'});
	text = hs_text_table_text(table);
	assert_non_null(text);
	assert_memory_equal(text, "  n\n", 4);
	line = text + 4;
	for (int i = 100; i < 400; i++)
		assert_int_equal(strtol(line, &line, 10), i);
	assert_string_equal(line, "\n");
	free(text);
	hs_text_table_destroy(table);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					columns_are_as_wide_as_their_widest_text_and_lines_end_without_blanks),
			cmocka_unit_test(a_character_of_several_bytes_takes_one_column),
			cmocka_unit_test(
					columns_of_the_highest_rank_are_left_out_first_and_of_one_rank_the_last),
			cmocka_unit_test(a_column_that_may_be_cut_gets_what_is_left),
			cmocka_unit_test(
					a_first_column_that_may_be_cut_is_cut_when_only_those_of_rank_0_are_left),
			cmocka_unit_test(a_column_without_a_value_is_left_out),
			cmocka_unit_test(a_table_without_rows_or_columns_is_no_text),
			cmocka_unit_test(many_rows_keep_their_order),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "bench_fixture.h"

#define BEGIN_MARK "<!-- card: begin -->\n"
#define END_MARK   "<!-- card: end -->\n"

static const char *card_of(const struct made_result *made)
{
	static char text[16384];
	FILE *stream = fmemopen(text, sizeof(text), "w");

	assert_non_null(stream);
	hs_bench_card_print(&made->result, stream);
	fclose(stream);
	return text;
}

static void expect_line(const char *card, const char *line)
{
	if (!strstr(card, line))
		fail_msg("no \"%s\" in\n%s", line, card);
}

static void a_row_has_median_span_rate_ratio_and_limit(void **state)
{
	const double values[] = {30, 50, 40};
	struct made_result made;

	(void)state;
	made_init(&made);
	made_yardstick(&made, 20);
	made_row(&made, "unmatched", values, 3);
	made_one(&made, "no_rules", 21);
	const char *card = card_of(&made);
	expect_line(card, "| processor | a processor |\n");
	expect_line(card, "| `testpmd mac` | dpdk-testpmd | 128 | 20.0 (20.0–20.0) | 50.0 |");
	expect_line(card, "| 128 | 40.0 (30.0–50.0) | 25.0 | 2.00 | 1.45 | **missed** |\n");
	expect_line(card, "| 128 | 21.0 (21.0–21.0) | 47.6 | 1.05 | 1.25 | met |\n");
	made_fini(&made);
}

static void control_stands_in_a_table_of_its_own(void **state)
{
	struct made_result made;

	(void)state;
	made_init(&made);
	made_one(&made, "rule_change_1000000", 500000);
	made_one(&made, "monitor_reports", 2000000);
	made_one(&made, "json_reports", 200000);
	const char *card = card_of(&made);
	expect_line(card, "| control |");
	expect_line(card, "| 500000 (500000–500000) | 2.000 | | |\n");
	expect_line(card, "| 2000000 (2000000–2000000) | 0.500 | 2000000 | met |\n");
	expect_line(card, "| 200000 (200000–200000) | 5.000 | 250000 | **missed** |\n");
	made_fini(&made);
}

static void a_failure_is_in_the_card(void **state)
{
	struct made_result made;

	(void)state;
	made_init(&made);
	strcpy(made_row(&made, "bridge", NULL, 0)->error, "no packets came");
	const char *card = card_of(&made);
	expect_line(card, "failed: no packets came");
	made_fini(&made);
}

static void every_row_of_a_table_has_as_many_columns(void **state)
{
	struct made_result made;
	unsigned columns = 0, n = 0;

	(void)state;
	made_init(&made);
	made_yardstick(&made, 20);
	made_one(&made, "unmatched", 40);
	made_one(&made, "bridge", 40);
	made_one(&made, "matched_4096", 40);
	made_one(&made, "sampled_100", 41);
	strcpy(made_row(&made, "transit_0", NULL, 0)->error, "no packets came");
	const char *card = card_of(&made);
	for (const char *c = strstr(card, "| case"); *c; c++) {
		n += *c == '|';
		if (*c != '\n')
			continue;
		columns = columns ? columns : n;
		assert_int_equal(n, columns);
		n = 0;
	}
	made_fini(&made);
}

static void a_card_replaces_the_one_before_and_nothing_else(void **state)
{
	char *text = hs_bench_card_place("# Head\n" BEGIN_MARK "old\n" END_MARK "tail\n", "new\n");

	(void)state;
	assert_string_equal(text, "# Head\n" BEGIN_MARK "new\n" END_MARK "tail\n");
	free(text);
}

static void without_markers_a_card_stands_at_the_end(void **state)
{
	char *text = hs_bench_card_place("# Head\n", "new\n");

	(void)state;
	assert_string_equal(text, "# Head\n" BEGIN_MARK "new\n" END_MARK);
	free(text);
	text = hs_bench_card_place("", "new\n");
	assert_string_equal(text, BEGIN_MARK "new\n" END_MARK);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_row_has_median_span_rate_ratio_and_limit),
			cmocka_unit_test(control_stands_in_a_table_of_its_own),
			cmocka_unit_test(a_failure_is_in_the_card),
			cmocka_unit_test(every_row_of_a_table_has_as_many_columns),
			cmocka_unit_test(a_card_replaces_the_one_before_and_nothing_else),
			cmocka_unit_test(without_markers_a_card_stands_at_the_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

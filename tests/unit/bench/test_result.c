// SPDX-License-Identifier: BSD-3-Clause
#include "bench_fixture.h"
#include "bench_run.h"

static double number(const json_t *json, const char *key)
{
	json_t *value = json_object_get(json, key);

	if (!json_is_number(value))
		fail_msg("no number %s", key);
	return json_number_value(value);
}

static void assert_close(double is, double should)
{
	if (is < should * 0.9999 || is > should * 1.0001)
		fail_msg("%f instead of %f", is, should);
}

static void a_ratio_is_of_medians(void **state)
{
	const double values[] = {30, 90, 40};
	struct made_result made;

	(void)state;
	made_init(&made);
	made_yardstick(&made, 20);
	struct hs_bench_row *row = made_row(&made, "unmatched", values, 3);
	assert_close(hs_bench_ratio(&made.result, row), 2);
	made_fini(&made);
}

static void without_a_yardstick_there_is_no_ratio(void **state)
{
	struct made_result made;

	(void)state;
	made_init(&made);
	struct hs_bench_row *row = made_one(&made, "unmatched", 30);
	assert_true(hs_bench_ratio(&made.result, row) == 0);
	json_t *json = hs_bench_result_json(&made.result);
	json_t *first = json_array_get(json_object_get(json, "cases"), 0);
	assert_null(json_object_get(json, "yardstick"));
	assert_null(json_object_get(first, "ratio"));
	assert_null(json_object_get(first, "met"));
	json_decref(json);
	made_fini(&made);
}

static void a_limit_of_another_case_counts_from_that_case(void **state)
{
	struct made_result made;

	(void)state;
	made_init(&made);
	made_yardstick(&made, 20);
	made_one(&made, "matched_4096", 40);
	struct hs_bench_row *row = made_one(&made, "sampled_100", 50);
	assert_close(hs_bench_limited(&made.result, row), 1.25);
	made_fini(&made);
}

static void json_has_the_promised_keys(void **state)
{
	const double values[] = {30, 50, 40};
	struct made_result made;

	(void)state;
	made_init(&made);
	made_yardstick(&made, 20);
	made_row(&made, "unmatched", values, 3);
	json_t *json = hs_bench_result_json(&made.result);
	json_t *yardstick = json_object_get(json, "yardstick");
	json_t *row = json_array_get(json_object_get(json, "cases"), 0);
	json_t *ns = json_object_get(row, "ns_per_packet");
	assert_string_equal(json_string_value(json_object_get(yardstick, "name")), "testpmd mac");
	assert_close(number(json_object_get(yardstick, "ns_per_packet"), "median"), 20);
	assert_int_equal(json_array_size(json_object_get(json, "cases")), 1);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "unmatched");
	assert_int_equal(number(row, "frame_bytes"), 128);
	assert_close(number(ns, "median"), 40);
	assert_close(number(ns, "min"), 30);
	assert_close(number(ns, "max"), 50);
	assert_close(number(row, "ratio"), 2);
	assert_close(number(row, "mpps"), 25);
	assert_true(json_is_false(json_object_get(row, "met")));
	assert_int_equal(number(json_object_get(json, "machine"), "cores"), 2);
	json_decref(json);
	made_fini(&made);
}

static void control_has_a_rate_in_place_of_a_cost(void **state)
{
	struct made_result made;

	(void)state;
	made_init(&made);
	made_yardstick(&made, 20);
	made_one(&made, "json_reports", 1500000);
	json_t *json = hs_bench_result_json(&made.result);
	json_t *row = json_array_get(json_object_get(json, "cases"), 0);
	assert_close(number(json_object_get(row, "per_second"), "median"), 1500000);
	assert_close(number(row, "least_per_second"), 250000);
	assert_true(json_is_true(json_object_get(row, "met")));
	assert_null(json_object_get(row, "ns_per_packet"));
	assert_null(json_object_get(row, "mpps"));
	json_decref(json);
	made_fini(&made);
}

static void a_case_that_failed_says_so_and_has_no_figures(void **state)
{
	struct made_result made;

	(void)state;
	made_init(&made);
	made_yardstick(&made, 20);
	struct hs_bench_row *row = made_row(&made, "bridge", NULL, 0);
	strcpy(row->error, "no packets came");
	json_t *json = hs_bench_result_json(&made.result);
	json_t *first = json_array_get(json_object_get(json, "cases"), 0);
	assert_string_equal(json_string_value(json_object_get(first, "error")), row->error);
	assert_null(json_object_get(first, "ns_per_packet"));
	json_decref(json);
	made_fini(&made);
}

static void lost_reports_are_a_share_of_those_made(void **state)
{
	struct made_result made;

	(void)state;
	made_init(&made);
	struct hs_bench_row *row = made_one(&made, "sink_ring", 60);
	row->reports_made = 1000;
	row->reports_lost = 250;
	json_t *json = hs_bench_result_json(&made.result);
	json_t *first = json_array_get(json_object_get(json, "cases"), 0);
	assert_close(number(first, "reports_lost_ratio"), 0.25);
	json_decref(json);
	made_fini(&made);
}

// ---- rows ----

static void plan_rows(const char *const *names, int n, bool peers, struct hs_bench_result *result)
{
	const struct hs_bench_case *cases[8];
	struct hs_bench_plan plan = {.cases = cases, .n_cases = n, .peers = peers, .quick = true};

	for (int i = 0; i < n; i++)
		cases[i] = hs_bench_case_find(names[i]);
	assert_int_equal(hs_bench_result_init(result, &plan), 0);
}

static void cases_of_the_same_frames_share_a_yardstick(void **state)
{
	static const char *const names[] = {"no_rules", "matched_64", "transit_2", "sink_ring"};
	struct hs_bench_result result = {0};

	(void)state;
	plan_rows(names, 4, true, &result);
	assert_int_equal(result.n, 6);
	assert_string_equal(result.rows[0].name, "testpmd mac");
	assert_int_equal(result.rows[2].yardstick, 0);
	assert_int_equal(result.rows[3].yardstick, 0);
	assert_int_equal(result.rows[4].yardstick, 1);
	assert_int_equal(result.rows[5].yardstick, 1);
	hs_bench_result_fini(&result);
}

static void control_and_memif_have_no_yardstick(void **state)
{
	static const char *const names[] = {"json_reports", "memif_no_rules"};
	struct hs_bench_result result = {0};

	(void)state;
	plan_rows(names, 2, true, &result);
	assert_int_equal(result.n, 2);
	assert_int_equal(result.rows[0].yardstick, HS_BENCH_NO_ROW);
	assert_int_equal(result.rows[1].yardstick, HS_BENCH_NO_ROW);
	hs_bench_result_fini(&result);
}

static void without_testpmd_there_are_only_cases(void **state)
{
	static const char *const names[] = {"no_rules", "transit_2"};
	struct hs_bench_result result = {0};

	(void)state;
	plan_rows(names, 2, false, &result);
	assert_int_equal(result.n, 2);
	assert_int_equal(result.rows[1].yardstick, HS_BENCH_NO_ROW);
	hs_bench_result_fini(&result);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_ratio_is_of_medians),
			cmocka_unit_test(without_a_yardstick_there_is_no_ratio),
			cmocka_unit_test(a_limit_of_another_case_counts_from_that_case),
			cmocka_unit_test(json_has_the_promised_keys),
			cmocka_unit_test(control_has_a_rate_in_place_of_a_cost),
			cmocka_unit_test(a_case_that_failed_says_so_and_has_no_figures),
			cmocka_unit_test(lost_reports_are_a_share_of_those_made),
			cmocka_unit_test(cases_of_the_same_frames_share_a_yardstick),
			cmocka_unit_test(control_and_memif_have_no_yardstick),
			cmocka_unit_test(without_testpmd_there_are_only_cases),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

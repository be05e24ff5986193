// SPDX-License-Identifier: BSD-3-Clause
#include "bench_baseline.h"

#include "bench_fixture.h"

#include <stdio.h>
#include <unistd.h>

// A yardstick of 10 ns, so that a ratio is a tenth of the figure.
static void begin(struct made_result *made)
{
	made_init(made);
	made_yardstick(made, 10);
}

static enum hs_bench_verdict judged(const char *name, double ns, double was)
{
	struct made_result made;
	json_t *baseline = json_pack("{s:{s:f}}", "ratios", name, was);

	begin(&made);
	const struct hs_bench_row *row = made_one(&made, name, ns);
	enum hs_bench_verdict verdict = hs_bench_baseline_judge(&made.result, row, baseline);
	json_decref(baseline);
	made_fini(&made);
	return verdict;
}

static void a_planted_regression_fails(void **state)
{
	(void)state;
	assert_int_equal(judged("bridge", 20.0, 2.0), HS_BENCH_HELD);
	assert_int_equal(judged("bridge", 22.9, 2.0), HS_BENCH_HELD);
	assert_int_equal(judged("bridge", 23.1, 2.0), HS_BENCH_SLOWER);
	assert_int_equal(judged("bridge", 5.0, 2.0), HS_BENCH_HELD);
}

static enum hs_bench_verdict judged_by_both(const double *ns, unsigned n)
{
	struct made_result made;
	json_t *baseline = json_pack("{s:{s:f}, s:{s:f}}", "ratios", "bridge", 2.0,
			"ratios_of_least", "bridge", 1.8);

	begin(&made);
	const struct hs_bench_row *row = made_row(&made, "bridge", ns, n);
	enum hs_bench_verdict verdict = hs_bench_baseline_judge(&made.result, row, baseline);
	json_decref(baseline);
	made_fini(&made);
	return verdict;
}

static void noise_that_leaves_the_least_alone_is_no_regression(void **state)
{
	const double noisy[] = {18, 40, 40}, slower[] = {21, 23.2, 24}, lucky[] = {12, 22, 23};

	(void)state;
	assert_int_equal(judged_by_both(noisy, 3), HS_BENCH_HELD);
	assert_int_equal(judged_by_both(slower, 3), HS_BENCH_SLOWER);
	assert_int_equal(judged_by_both(lucky, 3), HS_BENCH_HELD);
}

static void a_limit_that_the_baseline_kept_is_kept(void **state)
{
	(void)state;
	// 1.45 and 15 % for noise: 1.6675, before 15 % above the baseline.
	assert_int_equal(judged("unmatched", 16.5, 1.449), HS_BENCH_HELD);
	assert_int_equal(judged("unmatched", 16.67, 1.4499), HS_BENCH_HELD);
	assert_int_equal(judged("unmatched", 16.68, 1.4499), HS_BENCH_SLOWER);
}

static void a_limit_that_the_baseline_missed_does_not_fail(void **state)
{
	(void)state;
	assert_int_equal(judged("unmatched", 20.0, 1.9), HS_BENCH_HELD);
}

static enum hs_bench_verdict share(double matched_ns, double sampled_ns)
{
	struct made_result made;
	json_t *baseline = json_pack(
			"{s:{s:f, s:f}}", "ratios", "matched_4096", 2.0, "sampled_100", 2.02);

	begin(&made);
	made_one(&made, "matched_4096", matched_ns);
	const struct hs_bench_row *row = made_one(&made, "sampled_100", sampled_ns);
	enum hs_bench_verdict verdict = hs_bench_baseline_judge(&made.result, row, baseline);
	json_decref(baseline);
	made_fini(&made);
	return verdict;
}

static void a_limit_from_another_case_is_held_against_that_case(void **state)
{
	(void)state;
	assert_int_equal(share(20, 20.4), HS_BENCH_HELD);
	// Within 15 % of its own baseline, but 20 % above what it counts from.
	assert_int_equal(share(18.8, 22.6), HS_BENCH_OVER);
}

static void a_case_that_was_not_measured_fails(void **state)
{
	struct made_result made;
	json_t *baseline = json_pack("{s:{s:f}}", "ratios", "bridge", 2.0);

	(void)state;
	begin(&made);
	struct hs_bench_row *row = made_row(&made, "bridge", NULL, 0);
	strcpy(row->error, "no packets came");
	assert_int_equal(hs_bench_baseline_judge(&made.result, row, baseline), HS_BENCH_FAILED);
	json_decref(baseline);
	made_fini(&made);
}

static void cases_that_the_baseline_does_not_have_are_left_alone(void **state)
{
	struct made_result made;
	json_t *baseline = json_pack("{s:{s:f}}", "ratios", "bridge", 2.0);

	(void)state;
	begin(&made);
	const struct hs_bench_row *row = made_one(&made, "unmatched", 1000);
	assert_int_equal(hs_bench_baseline_judge(&made.result, row, baseline), HS_BENCH_HELD);
	json_decref(baseline);
	made_fini(&made);
}

static void lines_say_what_passed_and_what_failed(void **state)
{
	struct made_result made;
	json_t *baseline = json_pack("{s:{s:f, s:f}}", "ratios", "bridge", 2.0, "transit_0", 2.0);
	char *text = NULL;
	size_t size;
	FILE *stream = open_memstream(&text, &size);

	(void)state;
	begin(&made);
	made_one(&made, "bridge", 20);
	made_one(&made, "transit_0", 40);
	assert_int_equal(hs_bench_baseline_print(&made.result, baseline, stream), 1);
	fclose(stream);
	assert_string_equal(text,
			"PASS bench bridge costs 2.00 of testpmd's mac forwarding, baseline 2.00\n"
			"FAIL bench transit_0 costs 4.00 of testpmd's mac forwarding, baseline "
			"2.00: slower than the baseline\n");
	free(text);
	json_decref(baseline);
	made_fini(&made);
}

static void what_was_measured_holds_against_itself(void **state)
{
	struct made_result made;

	(void)state;
	begin(&made);
	made_one(&made, "bridge", 20);
	made_one(&made, "json_reports", 20);
	json_t *baseline = hs_bench_baseline_of(&made.result);
	assert_int_equal(json_object_size(json_object_get(baseline, "ratios")), 1);
	for (int i = 0; i < made.result.n; i++)
		assert_int_equal(hs_bench_baseline_judge(&made.result, &made.rows[i], baseline),
				HS_BENCH_HELD);
	json_decref(baseline);
	made_fini(&made);
}

static int load(const char *text)
{
	char path[] = "/tmp/hopsight-test.XXXXXX";
	int fd = mkstemp(path);
	struct hs_error err;
	json_t *baseline = NULL;

	assert_true(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
	close(fd);
	int rc = hs_bench_baseline_load(path, &baseline, &err);
	unlink(path);
	json_decref(baseline);
	return rc;
}

static void a_baseline_that_would_hold_nothing_is_refused(void **state)
{
	(void)state;
	assert_int_equal(load("{\"ratios\": {\"bridge\": 2.0}}"), 0);
	assert_true(load("") < 0);
	assert_true(load("{}") < 0);
	assert_true(load("{\"ratios\": {}}") < 0);
	assert_true(load("{\"ratios\": {\"no_such_case\": 2.0}}") < 0);
	assert_true(load("{\"ratios\": {\"bridge\": 0}}") < 0);
	assert_true(load("{\"ratios\": {\"bridge\": \"2\"}}") < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_planted_regression_fails),
			cmocka_unit_test(noise_that_leaves_the_least_alone_is_no_regression),
			cmocka_unit_test(a_limit_that_the_baseline_kept_is_kept),
			cmocka_unit_test(a_limit_that_the_baseline_missed_does_not_fail),
			cmocka_unit_test(a_limit_from_another_case_is_held_against_that_case),
			cmocka_unit_test(a_case_that_was_not_measured_fails),
			cmocka_unit_test(cases_that_the_baseline_does_not_have_are_left_alone),
			cmocka_unit_test(lines_say_what_passed_and_what_failed),
			cmocka_unit_test(what_was_measured_holds_against_itself),
			cmocka_unit_test(a_baseline_that_would_hold_nothing_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

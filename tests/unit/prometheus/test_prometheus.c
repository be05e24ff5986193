// SPDX-License-Identifier: BSD-3-Clause
#include "prometheus.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct hs_prometheus_family bytes = {
		"ship_bytes_total", "Bytes \\ of \"it\"\nall", "bytes", HS_PROMETHEUS_COUNTER};
static const struct hs_prometheus_family height = {
		"ship_height", "Height", "metres", HS_PROMETHEUS_GAUGE};
static const struct hs_prometheus_family build = {
		"ship_build_info", "Build", NULL, HS_PROMETHEUS_INFO};
static const struct hs_prometheus_family delay = {
		"ship_delay_seconds", "Delay", "seconds", HS_PROMETHEUS_HISTOGRAM};
static const struct hs_prometheus_family wait = {
		"ship_wait_seconds", "Wait", "seconds", HS_PROMETHEUS_SUMMARY};

static struct hs_prometheus *begin(bool openmetrics)
{
	return hs_prometheus_begin(
			&(const struct hs_prometheus_config){.openmetrics = openmetrics});
}

static void expect(struct hs_prometheus *page, const char *text)
{
	size_t len = 0;
	char *got = hs_prometheus_end(page, &len);

	assert_non_null(got);
	assert_string_equal(got, text);
	assert_int_equal(len, strlen(text));
	free(got);
}

static void add_some(struct hs_prometheus *page)
{
	hs_prometheus_uint(page, &bytes, HS_PROMETHEUS_LABELS({"mast", "a\\b\"c\nd"}), UINT64_MAX);
	hs_prometheus_int(page, &height, NULL, -3);
	hs_prometheus_uint(page, &build, HS_PROMETHEUS_LABELS({"version", "1"}, {"dpdk", NULL}), 1);
	hs_prometheus_uint(page, &bytes, HS_PROMETHEUS_LABELS({"mast", ""}, {"at", "x"}), 0);
}

static void a_family_has_one_heading_and_its_series_stand_together(void **state)
{
	(void)state;
	struct hs_prometheus *page = begin(false);

	add_some(page);
	expect(page, "# HELP ship_bytes_total Bytes \\\\ of \"it\"\\nall\n"
		     "# TYPE ship_bytes_total counter\n"
		     "ship_bytes_total{mast=\"a\\\\b\\\"c\\nd\"} 18446744073709551615\n"
		     "ship_bytes_total{mast=\"\",at=\"x\"} 0\n"
		     "# HELP ship_height Height\n"
		     "# TYPE ship_height gauge\n"
		     "ship_height -3\n"
		     "# HELP ship_build_info Build\n"
		     "# TYPE ship_build_info gauge\n"
		     "ship_build_info{version=\"1\"} 1\n");
}

static void openmetrics_names_families_without_endings_and_says_units(void **state)
{
	(void)state;
	struct hs_prometheus *page = begin(true);

	add_some(page);
	expect(page, "# HELP ship_bytes Bytes \\\\ of \\\"it\\\"\\nall\n"
		     "# TYPE ship_bytes counter\n"
		     "# UNIT ship_bytes bytes\n"
		     "ship_bytes_total{mast=\"a\\\\b\\\"c\\nd\"} 18446744073709551615\n"
		     "ship_bytes_total{mast=\"\",at=\"x\"} 0\n"
		     "# HELP ship_height Height\n"
		     "# TYPE ship_height gauge\n" // its name does not say metres
		     "ship_height -3\n"
		     "# HELP ship_build Build\n"
		     "# TYPE ship_build info\n"
		     "ship_build_info{version=\"1\"} 1\n"
		     "# EOF\n");
}

static void what_is_no_utf8_becomes_a_replacement(void **state)
{
	(void)state;
	struct hs_prometheus *page = begin(false);

	hs_prometheus_uint(page, &height, HS_PROMETHEUS_LABELS({"of", "\xc3\xa9\xff\xe2\x82"}), 1);
	expect(page, "# HELP ship_height Height\n# TYPE ship_height gauge\n"
		     "ship_height{of=\"\xc3\xa9\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"} 1\n");
}

static void numbers_keep_all_their_digits(void **state)
{
	(void)state;
	struct hs_prometheus *page = begin(false);
	static const int64_t ns[] = {0, 1, -1, 1500000000, 1700000000123456789, INT64_MIN};
	static const double reals[] = {0.1, 1.0 / 3, 1e300, NAN, INFINITY, -INFINITY};

	for (size_t i = 0; i < sizeof(ns) / sizeof(ns[0]); i++)
		hs_prometheus_ns(page, &wait, HS_PROMETHEUS_LABELS({"quantile", "0.5"}), ns[i]);
	for (size_t i = 0; i < sizeof(reals) / sizeof(reals[0]); i++)
		hs_prometheus_real(page, &height, NULL, reals[i]);
	expect(page, "# HELP ship_wait_seconds Wait\n# TYPE ship_wait_seconds summary\n"
		     "ship_wait_seconds{quantile=\"0.5\"} 0\n"
		     "ship_wait_seconds{quantile=\"0.5\"} 0.000000001\n"
		     "ship_wait_seconds{quantile=\"0.5\"} -0.000000001\n"
		     "ship_wait_seconds{quantile=\"0.5\"} 1.5\n"
		     "ship_wait_seconds{quantile=\"0.5\"} 1700000000.123456789\n"
		     "ship_wait_seconds{quantile=\"0.5\"} -9223372036.854775808\n"
		     "# HELP ship_height Height\n# TYPE ship_height gauge\n"
		     "ship_height 0.1\nship_height 0.33333333333333331\nship_height 1e+300\n"
		     "ship_height NaN\nship_height +Inf\nship_height -Inf\n");
}

static void add_histogram(struct hs_prometheus *page)
{
	static const int64_t bounds[] = {1000, 500000000, 1000000000};
	static const uint64_t counts[] = {1, 0, 3, 2};

	hs_prometheus_histogram(page, &delay, HS_PROMETHEUS_LABELS({"hop", "1"}),
			&(const struct hs_prometheus_histogram){
					3, bounds, counts, -2500000000, 1700000000500000000});
}

#define BUCKETS                                                                                    \
	"ship_delay_seconds_bucket{hop=\"1\",le=\"1e-06\"} 1\n"                                    \
	"ship_delay_seconds_bucket{hop=\"1\",le=\"0.5\"} 1\n"                                      \
	"ship_delay_seconds_bucket{hop=\"1\",le=\"1.0\"} 4\n"                                      \
	"ship_delay_seconds_bucket{hop=\"1\",le=\"+Inf\"} 6\n"                                     \
	"ship_delay_seconds_count{hop=\"1\"} 6\n"                                                  \
	"ship_delay_seconds_sum{hop=\"1\"} -2.5\n"

static void buckets_of_a_histogram_are_cumulative(void **state)
{
	(void)state;
	struct hs_prometheus *page = begin(false);

	add_histogram(page);
	expect(page, "# HELP ship_delay_seconds Delay\n# TYPE ship_delay_seconds "
		     "histogram\n" BUCKETS);
	page = begin(true);
	add_histogram(page);
	expect(page, "# HELP ship_delay_seconds Delay\n# TYPE ship_delay_seconds histogram\n"
		     "# UNIT ship_delay_seconds seconds\n" BUCKETS
		     "ship_delay_seconds_created{hop=\"1\"} 1700000000.5\n# EOF\n");
}

static unsigned series_of(const char *text)
{
	unsigned n = 0;

	for (; *text; text = strchr(text, '\n') + 1)
		n += *text != '#';
	return n;
}

static void series_beyond_the_bound_are_counted(void **state)
{
	(void)state;
	uint64_t capped = 0;
	const struct hs_prometheus_config config = {.max_series = 8, .capped = &capped};
	size_t len = 0;

	for (unsigned round = 1; round <= 2; round++) {
		struct hs_prometheus *page = hs_prometheus_begin(&config);
		hs_prometheus_uint(page, &height, NULL, 1);
		assert_int_equal(hs_prometheus_room(page), 6);
		add_histogram(page); // six lines, all or none
		add_histogram(page);
		hs_prometheus_uint(page, &bytes, NULL, 1);
		hs_prometheus_leave_out(page, 100);
		char *text = hs_prometheus_end(page, &len);
		assert_non_null(text);
		assert_int_equal(capped, 107 * round);
		assert_non_null(strstr(text, round == 1 ? "\nhopsight_series_capped_total 107\n"
							: "\nhopsight_series_capped_total 214\n"));
		assert_null(strstr(text, "ship_bytes"));
		assert_int_equal(series_of(text), 8);
		free(text);
	}
}

static void many_families_are_each_found_again(void **state)
{
	(void)state;
	static char names[2000][32];
	struct hs_prometheus *page = begin(false);
	size_t len = 0;
	unsigned headings = 0;

	for (unsigned round = 0; round < 3; round++) {
		for (unsigned i = 0; i < 2000; i++) {
			snprintf(names[i], sizeof(names[i]), "family_%u", i);
			hs_prometheus_uint(page,
					&(const struct hs_prometheus_family){
							names[i], "F", NULL, HS_PROMETHEUS_GAUGE},
					NULL, round);
		}
	}
	char *text = hs_prometheus_end(page, &len);
	for (const char *at = text; (at = strstr(at, "# TYPE ")); at++)
		headings++;
	assert_int_equal(headings, 2000);
	assert_non_null(strstr(text, "family_1999 0\nfamily_1999 1\nfamily_1999 2\n"));
	free(text);
}

static void a_page_without_memory_is_none(void **state)
{
	(void)state;
	size_t len = 0;

	hs_prometheus_uint(NULL, &height, NULL, 1);
	add_histogram(NULL);
	hs_prometheus_leave_out(NULL, 1);
	assert_int_equal(hs_prometheus_room(NULL), 0);
	assert_null(hs_prometheus_end(NULL, &len));
}

static void the_accept_header_chooses_the_format(void **state)
{
	(void)state;
	static const struct {
		const char *accept;
		bool openmetrics;
	} rows[] = {
			{NULL, false},
			{"", false},
			{"*/*", false},
			{"text/html,*/*;q=0.8", false},
			{"application/openmetrics-text", true},
			{"Application/OpenMetrics-Text; Version=\"1.0.0\"", true},
			{"application/openmetrics-text;version=1.0.0,application/"
			 "openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/"
			 "*;q=0.1",
					true}, // Prometheus 2.42
			{"application/openmetrics-text;version=2.0.0", false},
			{"application/openmetrics-text;q=0", false},
			{"text/plain , application/openmetrics-text;q=0.9", false},
			{"text/plain;version=0.0.3, application/openmetrics-text ;q=0.9", true},
			{"application/openmetrics-text ; q = 0.5 ; x, text/plain;q=0.4", true},
			{";;,,;=,q", false},
			{"application/openmetrics-textx", false},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (hs_prometheus_wants_openmetrics(rows[i].accept) != rows[i].openmetrics)
			fail_msg("%s", rows[i].accept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_family_has_one_heading_and_its_series_stand_together),
			cmocka_unit_test(openmetrics_names_families_without_endings_and_says_units),
			cmocka_unit_test(what_is_no_utf8_becomes_a_replacement),
			cmocka_unit_test(numbers_keep_all_their_digits),
			cmocka_unit_test(buckets_of_a_histogram_are_cumulative),
			cmocka_unit_test(series_beyond_the_bound_are_counted),
			cmocka_unit_test(many_families_are_each_found_again),
			cmocka_unit_test(a_page_without_memory_is_none),
			cmocka_unit_test(the_accept_header_chooses_the_format),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

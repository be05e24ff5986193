// SPDX-License-Identifier: BSD-3-Clause
#include "fake_outcome.h"
#include "lab_expect.h"
#include "lab_table.h"
#include "lab_words.h"
#include "text_table.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define START INT64_C(1767225600000000000)

struct fixture {
	struct hs_scenario scenario;
	struct hs_scenario_node nodes[3];
	struct hs_scenario_link links[2];
	struct hs_scenario_traffic traffic[FAKE_ROWS];
	struct hs_scenario_flow flows[FAKE_ROWS];
	struct hs_link_counters counters[2][2];
	struct hs_run run;
	struct hs_outcome outcome;
	json_t *result;
	char *text;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->scenario = (struct hs_scenario){
			.name = "a-name",
			.source = "a-source",
			.description = "What it is about.",
			.seed = 42,
			.window_ns = 1000000000,
			.n_nodes = 3,
			.n_links = 2,
			.n_traffic = 1,
			.n_flows = 1,
			.nodes = f->nodes,
			.links = f->links,
			.traffic = f->traffic,
			.flows = f->flows,
	};
	strcpy(f->nodes[0].name, "src");
	strcpy(f->nodes[1].name, "sw1");
	strcpy(f->nodes[2].name, "dst");
	f->links[0] = (struct hs_scenario_link){.name = "src-sw1", .from = 0, .to = 1};
	f->links[1] = (struct hs_scenario_link){.name = "sw1-dst", .from = 1, .to = 2};
	strcpy(f->traffic[0].name, "constant");
	f->run = (struct hs_run){
			.scenario = &f->scenario,
			.links = f->counters,
			.start_ns = START,
			.end_ns = START + 3000000000,
	};
	fake_outcome_init(&f->outcome, START);
	f->result = json_object();
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	json_decref(f->result);
	free(f->text);
	free(f);
	return 0;
}

static const char *printed(struct fixture *f)
{
	size_t size;
	FILE *to;

	free(f->text);
	to = open_memstream(&f->text, &size);
	assert_int_equal(hs_lab_table_print(to, &f->run, &f->outcome, f->result), 0);
	fclose(to);
	return f->text;
}

static void expect_in(const char *text, const char *part)
{
	if (!strstr(text, part))
		fail_msg("'%s' is not in:\n%s", part, text);
}

static void expect_not_in(const char *text, const char *part)
{
	if (strstr(text, part))
		fail_msg("'%s' is in:\n%s", part, text);
}

static void a_delay_stands_in_ms_beside_truth_configuration_errors_and_bound(void **state)
{
	struct fixture *f = *state;
	size_t hop = fake_outcome_row(&f->outcome, 0, "src-sw1");
	size_t e2e = fake_outcome_row(&f->outcome, 0, "e2e");

	fake_outcome_set(&f->outcome, hop, HS_METRIC_DELAY, (double[]){10e6, 10.5e6, 11e6}, 10e6,
			10.5e6, 0.25e6);
	fake_outcome_set(&f->outcome, e2e, HS_METRIC_DELAY, (double[]){50e6, 50e6, 50e6}, 50e6,
			50e6, NAN);
	expect_in(printed(f),
			"Flow constant: means over 3 windows of 1 s\n\n"
			"Delay, ms   measured   truth  configured  MAE truth    max  MAE conf.   "
			"bound\n"
			"src-sw1       10.500  10.000      10.500     0.5000  1.000     0.3333  "
			"0.2500\n"
			"end to end    50.000  50.000      50.000          0      0          0\n");
}

static void units_are_those_that_people_speak_of(void **state)
{
	struct fixture *f = *state;
	size_t row = fake_outcome_row(&f->outcome, 0, "e2e");

	fake_outcome_set(&f->outcome, row, HS_METRIC_THROUGHPUT,
			(double[]){44.96e6, 44.96e6, 44.96e6}, 44.96e6, NAN, NAN);
	fake_outcome_set(&f->outcome, row, HS_METRIC_LOSS, (double[]){0.02, 0.02, 0.02}, 0.02, NAN,
			NAN);
	fake_outcome_set(&f->outcome, row, HS_METRIC_JITTER, (double[]){1, 1, 1}, 1, NAN, NAN);
	printed(f);
	expect_in(f->text, "Throughput, Mbit/s  measured   truth  MAE truth  max\n"
			   "end to end            44.960  44.960          0    0\n");
	expect_in(f->text, "Loss, %     measured  truth  MAE truth  max\n"
			   "end to end     2.000  2.000          0    0\n");
	expect_in(f->text, "Jitter, ms  measured     truth  MAE truth  max\n"
			   "end to end  0.000001  0.000001          0    0\n");
	expect_not_in(f->text, "configured");
	expect_not_in(f->text, "Delay");
}

static void a_metric_of_zeros_alone_takes_one_line(void **state)
{
	struct fixture *f = *state;
	size_t row = fake_outcome_row(&f->outcome, 0, "e2e");

	fake_outcome_set(&f->outcome, row, HS_METRIC_LOSS, (double[]){0, 0, 0}, 0, 0, NAN);
	expect_in(printed(f), "\nLoss: 0 everywhere\n");
	fake_outcome_set(&f->outcome, row, HS_METRIC_LOSS, (double[]){0, 0, 0}, 0, 0.01, NAN);
	expect_in(printed(f), "\nLoss, %");
}

static void the_last_table_has_the_mean_of_each_error_over_all_rows(void **state)
{
	struct fixture *f = *state;
	size_t hop = fake_outcome_row(&f->outcome, 0, "src-sw1");
	size_t other = fake_outcome_row(&f->outcome, 0, "sw1-dst");
	size_t e2e = fake_outcome_row(&f->outcome, 0, "e2e");

	fake_outcome_set(&f->outcome, hop, HS_METRIC_DELAY, (double[]){1e6, 1e6, 1e6}, 2e6, 4e6,
			0.5e6);
	fake_outcome_set(&f->outcome, other, HS_METRIC_DELAY, (double[]){1e6, 1e6, 1e6}, 3e6, NAN,
			NAN);
	fake_outcome_set(&f->outcome, e2e, HS_METRIC_SPAN, (double[]){1e9, 1e9, 1e9}, 1e9 - 1, NAN,
			NAN);
	expect_in(printed(f),
			"All hops and ends  unit  rows  MAE truth       max  MAE conf.  bound\n"
			"Delay              ms       2        1.5         2          3    0.5\n"
			"Span               ms       1   0.000001  0.000001\n");
}

static void loss_and_overhead_of_the_run_are_those_of_the_flow_hop_by_hop(void **state)
{
	struct fixture *f = *state;

	f->flows[0].ns_id = 7;
	fake_outcome_row(&f->outcome, 0, "src-sw1");
	fake_outcome_row(&f->outcome, 0, "e2e");
	json_decref(f->result);
	f->result = json_loads(
			"{\"lost_packets\": ["
			"{\"ns_id\": 8, \"hop\": \"other\", \"from\": 0, \"to\": 1, \"measured\": "
			"1},"
			"{\"ns_id\": 7, \"hop\": \"src-sw1\", \"from\": 0, \"to\": 1, "
			"\"measured\": 12000,"
			" \"truth\": 12001, \"shown\": 12003},"
			"{\"ns_id\": 7, \"hop\": \"e2e\", \"from\": 0, \"to\": 9, \"measured\": 0,"
			" \"truth\": 0}],"
			"\"overhead\": ["
			"{\"ns_id\": 8, \"hop\": \"src-sw1\", \"from\": 0, \"to\": 1, \"packets\": "
			"5},"
			"{\"ns_id\": 7, \"hop\": \"src-sw1\", \"from\": 0, \"to\": 1, \"packets\": "
			"1200000,"
			" \"packets_ratio\": 0.01, \"bytes_ratio\": 0.0005}]}",
			0, NULL);
	expect_in(printed(f), "Over the run    packets  lost, measured  lost, truth   shown  with "
			      "telemetry, %  "
			      "overhead, %\n"
			      "src-sw1       1,200,000          12,000       12,001  12,003        "
			      "      1.000  "
			      "      0.050\n"
			      "end to end                            0            0\n");
	expect_not_in(f->text, "other");
}

static void round_trips_stand_beside_what_the_pings_saw(void **state)
{
	struct fixture *f = *state;

	json_decref(f->result);
	f->result = json_loads(
			"{\"round_trip\": [{\"up\": \"ping\", \"down\": \"ping/reply\","
			"\"measured_ns\": 100000001, \"truth_ns\": 100000000, \"mae_ns\": 1.5,"
			"\"pairs\": 1200, \"clocks_differ\": 3}]}",
			0, NULL);
	expect_in(printed(f),
			"Round trip, ms    measured       truth  MAE truth  pairs  windows "
			"of clocks that "
			"differ\n"
			"ping            100.000001  100.000000   0.000002  1,200                  "
			"            3\n");
}

static void only_links_that_did_something_are_shown_with_what_they_did(void **state)
{
	struct fixture *f = *state;

	f->counters[0][0] = (struct hs_link_counters){.sent_packets = 1200000};
	expect_not_in(printed(f), "Link");
	f->counters[1][1] = (struct hs_link_counters){.sent_packets = 1200000,
			.lost = {[HS_LINK_LOST_RANDOM] = 12000, [HS_LINK_LOST_QUEUE] = 5},
			.queue_max_packets = 100,
			.wait_max_ns = 225000000};
	expect_in(printed(f),
			"Link, packets       sent    lost  random  queue  queued  wait, ms\n"
			"dst → sw1      1,200,000  12,005  12,000      5     100   225.000\n");
	expect_not_in(f->text, "src → sw1");
}

static void of_many_links_those_that_lost_most_are_shown(void **state)
{
	struct fixture *f = *state;
	struct hs_link_counters counters[40][2] = {0};
	struct hs_scenario_link links[40] = {0};

	for (size_t i = 0; i < 40; i++) {
		links[i] = (struct hs_scenario_link){.from = 0, .to = 1};
		counters[i][0] = (struct hs_link_counters){
				.sent_packets = 100 + i, .lost = {[HS_LINK_LOST_RANDOM] = i}};
	}
	f->scenario.n_links = 40;
	f->scenario.links = links;
	f->run.links = counters;
	expect_in(printed(f), "Link, packets  sent  lost  random\n"
			      "src → sw1       139    39      39\n"
			      "src → sw1       138    38      38\n");
	expect_in(f->text, "\nsrc → sw1       116    16      16\n"
			   "and 15 links more, which lost less\n");
}

static void a_run_that_was_interrupted_says_so_first(void **state)
{
	struct fixture *f = *state;

	expect_in(printed(f), "a-name: a-source\nWhat it is about.\n"
			      "seed 42, 3 s of virtual time, 3 nodes, 2 links\n");
	expect_not_in(f->text, "INTERRUPTED");
	f->run.partial = true;
	expect_in(printed(f), "2 links; INTERRUPTED: partial results\n");
}

static void of_many_flows_the_first_are_shown_and_the_others_counted(void **state)
{
	struct fixture *f = *state;

	f->scenario.n_flows = HS_LAB_TABLE_FLOWS + 3;
	for (uint32_t i = 0; i < HS_LAB_TABLE_FLOWS + 3; i++) {
		f->flows[i] = (struct hs_scenario_flow){.ns_id = i, .traffic = i};
		snprintf(f->traffic[i].name, sizeof(f->traffic[i].name), "flow-%u", i + 1);
		fake_outcome_row(&f->outcome, i, "src-sw1");
		fake_outcome_row(&f->outcome, i, "e2e");
	}
	printed(f);
	expect_in(f->text, "Flow flow-8:");
	expect_not_in(f->text, "Flow flow-9:");
	expect_in(f->text, "3 flows more are in the result (--json)");
}

static void no_line_is_wider_than_100_columns(void **state)
{
	struct fixture *f = *state;
	size_t row = fake_outcome_row(&f->outcome, 0,
			"a-link-whose-name-is-as-long-as-a-name-can-be-in-a-scenario-x");
	char *line, *rest;

	for (enum hs_metric_kind kind = 0; kind < HS_METRIC_KINDS; kind++) {
		// 40 Gbit/s, seconds of delay, a minute of span
		static const double most[HS_METRIC_KINDS] = {
				4e10, 4e10, 9e9, 1e9, 0.3, 1e6, 5e9, 6e10};
		double value = most[kind];
		fake_outcome_set(&f->outcome, row, kind, (double[]){value, value, value},
				value * 1.01, value * 0.99, value / 100);
	}
	for (size_t i = 0; i + 8 < sizeof(f->scenario.description); i += 7)
		strcpy(f->scenario.description + i, "word's ");
	rest = (char *)printed(f);
	while ((line = strsep(&rest, "\n")))
		if (hs_text_width(line) > 100)
			fail_msg("%zu columns: %s", hs_text_width(line), line);
}

static void flows_are_named_by_traffic_direction_and_number_where_these_do_not_tell(void **state)
{
	struct fixture *f = *state;
	char name[HS_LAB_WORD];

	f->scenario.n_flows = 2;
	f->flows[0] = (struct hs_scenario_flow){.ns_id = 7, .traffic = 0};
	f->flows[1] = (struct hs_scenario_flow){.ns_id = 8, .traffic = 0, .reverse = true};
	hs_lab_flow_name(&f->scenario, 0, name);
	assert_string_equal(name, "constant");
	hs_lab_flow_name(&f->scenario, 1, name);
	assert_string_equal(name, "constant/reply");
	f->flows[1].reverse = false;
	hs_lab_flow_name(&f->scenario, 1, name);
	assert_string_equal(name, "constant ns 8");
	f->flows[1].traffic = HS_NO_INDEX;
	hs_lab_flow_name(&f->scenario, 1, name);
	assert_string_equal(name, "ns 8");
}

static void numbers_have_thousands_apart_and_no_needless_digits(void **state)
{
	(void)state;
	static const struct {
		double number;
		const char *text;
	} cases[] = {{0, "0"}, {-0.0, "0"}, {-1e-9, "-1e-09"}, {10, "10"}, {999, "999"},
			{1000, "1,000"}, {-1234567.5, "-1,234,567.5"}, {0.000001, "0.000001"},
			{100000.25, "100,000.25"}, {1e15, "1e+15"}};
	char text[HS_LAB_WORD];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		hs_lab_number(cases[i].number, text);
		assert_string_equal(text, cases[i].text);
	}
	hs_lab_count(14312882, text);
	assert_string_equal(text, "14,312,882");
	hs_lab_count(UINT64_MAX, text);
	assert_string_equal(text, "18,446,744,073,709,551,615");
	hs_lab_cut("ab→cd", 5, text, sizeof(text));
	assert_string_equal(text, "ab→cd");
	hs_lab_cut("ab→cde", 5, text, sizeof(text));
	assert_string_equal(text, "ab→c…");
	hs_lab_cut("→→→→", 2, text, 6);
	assert_string_equal(text, "…");
}

static void a_text_breaks_at_the_last_blank_that_fits(void **state)
{
	(void)state;
	assert_int_equal(hs_lab_first_line("ab cd ef", 8), 8);
	assert_int_equal(hs_lab_first_line("ab cd ef", 7), 5);
	assert_int_equal(hs_lab_first_line("ab cd ef", 5), 5);
	assert_int_equal(hs_lab_first_line("ab cd ef", 4), 2);
	assert_int_equal(hs_lab_first_line("abcdef", 4), 4);
	assert_int_equal(hs_lab_first_line("a→→→ b", 4), strlen("a→→→"));
	assert_int_equal(hs_lab_first_line("→→→", 2), strlen("→→"));
	assert_int_equal(hs_lab_first_line("", 4), 0);
}

static const char *expect_words(const char *json)
{
	static char text[HS_LAB_EXPECT_TEXT];
	json_t *expect = json_loads(json, 0, NULL);

	assert_non_null(expect);
	hs_lab_expect_text(expect, text);
	json_decref(expect);
	return text;
}

static void an_expectation_is_told_with_its_number_and_its_limits_in_one_unit(void **state)
{
	(void)state;
	assert_string_equal(expect_words("{\"metric\": \"delay_ns\", \"hop\": \"src-sw1\","
					 "\"value\": 10000000, \"tolerance\": 1,"
					 "\"measured\": 10000003, \"met\": false}"),
			"delay_ns, src-sw1: 10.000003 ms (10 ± 0.000001 ms)");
	assert_string_equal(
			expect_words("{\"metric\": \"mae.throughput_bps.truth\", \"max\": 30000,"
				     "\"flow\": \"up\", \"measured\": 0.9}"),
			"mae.throughput_bps.truth, up: 0.000001 Mbit/s (at most 0.03 Mbit/s)");
	assert_string_equal(
			expect_words("{\"metric\": \"loss_ratio\", \"hop\": \"*\", \"min\": 0.01,"
				     "\"max\": 0.02, \"measured\": 0.03}"),
			"loss_ratio, worst hop: 3 % (1 to 2 %)");
	assert_string_equal(expect_words("{\"metric\": \"mae_over_bound.delay_ns\", \"max\": 1.2,"
					 "\"measured\": 1.1}"),
			"mae_over_bound.delay_ns: 1.1 (at most 1.2)");
	assert_string_equal(expect_words("{\"metric\": \"reports\", \"min\": 5}"),
			"reports: nothing measured (at least 5)");
	assert_string_equal(expect_words("{\"metric\": \"path_changes\", \"value\": 1,"
					 "\"measured\": 1}"),
			"path_changes: 1 (1)");
	assert_string_equal(expect_words("{\"metric\": \"windows\", \"min\": 1, \"reason\": \"no "
					 "flow\"}"),
			"windows: no flow (at least 1)");
}

static void expectations_are_listed_and_counted(void **state)
{
	struct fixture *f = *state;
	size_t size;
	FILE *to = open_memstream(&f->text, &size);

	json_object_set_new(f->result, "expect",
			json_loads("[{\"metric\": \"windows\", \"value\": 3, \"measured\": 3,"
				   "\"met\": true},"
				   "{\"metric\": \"reports\", \"min\": 5, \"measured\": 4,"
				   "\"met\": false}]",
					0, NULL));
	hs_lab_expect_print(to, f->result, false);
	fputs("--\n", to);
	hs_lab_expect_print(to, f->result, true);
	hs_lab_expect_total(to, f->result);
	fclose(to);
	assert_string_equal(f->text, "  met      windows: 3 (3)\n"
				     "  NOT MET  reports: 4 (at least 5)\n"
				     "--\n"
				     "  NOT MET  reports: 4 (at least 5)\n"
				     "1 of 2 expectations met\n");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_delay_stands_in_ms_beside_truth_configuration_errors_and_bound),
			TEST(units_are_those_that_people_speak_of),
			TEST(a_metric_of_zeros_alone_takes_one_line),
			TEST(the_last_table_has_the_mean_of_each_error_over_all_rows),
			TEST(loss_and_overhead_of_the_run_are_those_of_the_flow_hop_by_hop),
			TEST(round_trips_stand_beside_what_the_pings_saw),
			TEST(only_links_that_did_something_are_shown_with_what_they_did),
			TEST(of_many_links_those_that_lost_most_are_shown),
			TEST(a_run_that_was_interrupted_says_so_first),
			TEST(of_many_flows_the_first_are_shown_and_the_others_counted),
			TEST(no_line_is_wider_than_100_columns),
			TEST(flows_are_named_by_traffic_direction_and_number_where_these_do_not_tell),
			TEST(numbers_have_thousands_apart_and_no_needless_digits),
			TEST(a_text_breaks_at_the_last_blank_that_fits),
			TEST(an_expectation_is_told_with_its_number_and_its_limits_in_one_unit),
			TEST(expectations_are_listed_and_counted),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

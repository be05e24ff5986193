// SPDX-License-Identifier: BSD-3-Clause
// The tables of a result, its texts, and the line of progress.
#include "lab_progress.h"
#include "lab_table.h"
#include "lab_words.h"
#include "text_table.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
	json_t *result;
	char *text;
};

// A flow of two hops, with ' in place of ".
static const char RESULT[] =
		"{'window_ns':1000000000,'start_ns':1000000000,'end_ns':4000000000,"
		"'partial':false,'real':false,'flows':[{'flow':'up','windows':3},"
		"{'flow':'silent','windows':0}],'rows':[{'flow':'up','hop':'src-sw1',"
		"'delay_ns':{'measured':10000001,'truth':10000000,'configured':10000000,"
		"'mae':{'truth':1,'configured':2},'max_error':3},'jitter_ns':{'measured':0,"
		"'truth':0,'mae':{'truth':0}}},{'flow':'up','hop':'e2e',"
		"'delay_ns':{'measured':30000000,'truth':30000000,'mae':{'truth':0},"
		"'max_error':0},'loss_ratio':{'measured':0.25,'truth':0.25,'mae':{'truth':0}}}],"
		"'lost_packets':[{'flow':'up','hop':'src-sw1','measured':5,'truth':4,'shown':6},"
		"{'flow':'other','hop':'src-sw1','measured':77}],'overhead':[{'flow':'up',"
		"'hop':'src-sw1','packets':12000,'packets_ratio':0.01,'bytes_ratio':0.0007}],"
		"'round_trip':[{'up':'ping','measured_ns':50000000,'truth_ns':50000100,"
		"'mae_ns':100,'pairs':1200,'clocks_differ':2}],'links':[{'name':'src-sw1',"
		"'direction':'forward','sent_packets':12000,'copies':1,'late':0,"
		"'queue_max_packets':9,'wait_max_ns':1500000,'lost':{'random':2,'queue':0}},"
		"{'name':'sw1-dst','direction':'forward','sent_packets':5,'copies':0,'late':0,"
		"'queue_max_packets':0,'wait_max_ns':0,'lost':{'random':0}}],"
		"'mae':{'delay_ns':{'truth':500,'configured':1250}},'expect':[]}";

static json_t *load(const char *text)
{
	char *json = strdup(text);
	for (char *c = json; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	json_t *value = json_loads(json, 0, NULL);
	assert_non_null(value);
	free(json);
	return value;
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->result = load(RESULT);
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

static const char *print(struct fixture *f)
{
	const struct hs_scenario scenario = {.name = "a-name",
			.source = "a-source",
			.description = "What it is about.",
			.seed = 42,
			.n_nodes = 3,
			.n_links = 2};
	size_t size;
	free(f->text);
	FILE *to = open_memstream(&f->text, &size);
	assert_int_equal(hs_lab_table_print(to, &scenario, f->result), 0);
	fclose(to);
	return f->text;
}

static void says(struct fixture *f, const char *words)
{
	if (!strstr(print(f), words))
		fail_msg("\"%s\" is not in\n%s", words, f->text);
}

static void each_part_has_a_table_in_peoples_units_within_100_columns(void **state)
{
	struct fixture *f = *state;
	static const char *const parts[] = {
			"a-name: a-source\nWhat it is about.\nseed 42, ",
			"\nseed 42, 3 s of virtual time, 3 nodes, 2 links\n",
			"Flow up: means over 3 windows of 1 s\n",
			("Delay, ms              src-sw1       10.000001     10          10   "
			 "0.000001  0.000003   0.000002\n"
			 "                       end to end           30     30              "
			 "        0         0\n"),
			"\nJitter, ms             everywhere 0\n",
			("Loss, %                end to end           25     25              "
			 "        0\n"),
			"Lost in the run        src-sw1               5      4\n",
			"Telemetry, % of bytes  src-sw1            0.07\n",
			"Round trip, ms  ping        50  50.0001     0.0001",
			"src-sw1 forward  12,000  2 random, 1 copies",
			"Delay, ms             0.0005    0.00125\n",
	};
	static const char *const absent[] = {"Throughput", "77", "silent", "sw1-dst forward"};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		says(f, parts[i]);
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		assert_null(strstr(f->text, absent[i]));
	for (char *line = strtok(f->text, "\n"); line; line = strtok(NULL, "\n"))
		assert_in_range(hs_text_width(line), 0, 100);
}

static void a_run_that_was_interrupted_says_so(void **state)
{
	struct fixture *f = *state;
	json_object_set_new(f->result, "partial", json_true());
	says(f, "; INTERRUPTED: partial results\n");
}

static void of_many_flows_the_first_are_shown_and_the_others_counted(void **state)
{
	struct fixture *f = *state;
	json_t *flows = json_object_get(f->result, "flows");
	for (int i = 0; i < 10; i++)
		json_array_append_new(flows, json_pack("{s:s, s:i}", "flow", "more", "windows", 1));
	says(f, "\n3 flows more are in the result (--json).\n");
}

static void numbers_have_thousands_apart_and_no_needless_digits(void **state)
{
	(void)state;
	static const struct {
		double number;
		const char *text;
	} cases[] = {{0, "0"}, {-0.0, "0"}, {-1e-9, "-1e-09"}, {10, "10"}, {999, "999"},
			{1000, "1,000"}, {14312882, "14,312,882"}, {-1234567.5, "-1,234,567.5"},
			{0.000001, "0.000001"}, {100000.25, "100,000.25"}, {1e15, "1e+15"}};
	char text[HS_LAB_WORD];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		hs_lab_number(cases[i].number, text);
		assert_string_equal(text, cases[i].text);
	}
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
	static const struct {
		const char *text;
		size_t width, n;
	} cases[] = {{"ab cd ef", 8, 8}, {"ab cd ef", 7, 5}, {"ab cd ef", 5, 5}, {"ab cd ef", 4, 2},
			{"abcdef", 4, 4}, {"a→→→ b", 4, sizeof("a→→→") - 1},
			{"→→→", 2, sizeof("→→") - 1}, {"", 4, 0}};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(hs_lab_first_line(cases[i].text, cases[i].width), cases[i].n);
}

static void expectations_are_told_with_number_and_limits_in_one_unit_and_counted(void **state)
{
	struct fixture *f = *state;
	size_t size;
	FILE *to = open_memstream(&f->text, &size);

	json_object_set_new(f->result, "expect",
			load("[{'metric': 'delay_ns', 'hop': 'src-sw1', 'value': 10000000,"
			     "'tolerance': 1, 'measured': 10000003, 'met': false},"
			     "{'metric': 'mae.throughput_bps.truth', 'max': 30000, 'flow': 'up',"
			     "'measured': 0.9, 'met': true},"
			     "{'metric': 'loss_ratio', 'hop': '*', 'min': 0.01, 'max': 0.02,"
			     "'measured': 0.03},"
			     "{'metric': 'reports', 'min': 5},"
			     "{'metric': 'path_changes', 'value': 1, 'measured': 1, 'met': true},"
			     "{'metric': 'windows', 'min': 1, 'reason': 'no flow'}]"));
	assert_int_equal(hs_lab_expect_print(to, f->result, false), 4);
	fputs("--\n", to);
	json_array_remove(json_object_get(f->result, "expect"), 2);
	assert_int_equal(hs_lab_expect_print(to, f->result, true), 3);
	hs_lab_expect_total(to, f->result, 3);
	fclose(to);
	assert_string_equal(f->text,
			"  NOT MET  delay_ns, src-sw1: 10.000003 ms (10 ± 0.000001 ms)\n"
			"  met      mae.throughput_bps.truth, up: 0.000001 Mbit/s (at most 0.03 "
			"Mbit/s)\n"
			"  NOT MET  loss_ratio, worst hop: 3 % (1 to 2 %)\n"
			"  NOT MET  reports: nothing measured (at least 5)\n"
			"  met      path_changes: 1 (1)\n"
			"  NOT MET  windows: no flow (at least 1)\n"
			"--\n"
			"  NOT MET  delay_ns, src-sw1: 10.000003 ms (10 ± 0.000001 ms)\n"
			"  NOT MET  reports: nothing measured (at least 5)\n"
			"  NOT MET  windows: no flow (at least 1)\n"
			"2 of 5 expectations met\n");
}

static void a_line_tells_part_time_rate_and_rest_is_rewritten_whole_and_taken_away(void **state)
{
	(void)state;
	struct hs_lab_progress progress = {.done_ns = 60400000000,
			.duration_ns = 120800000000,
			.events = 3000000,
			.wall_s = 1.5};
	struct hs_lab_line line = {0};
	char *text;
	size_t size;

	line.to = open_memstream(&text, &size);
	hs_lab_line_show(&line, &progress);
	progress.wall_s = 0;
	hs_lab_line_show(&line, &progress);
	hs_lab_line_clear(&line);
	hs_lab_line_clear(&line);
	progress.done_ns = 0;
	hs_lab_line_show(&line, &progress);
	fclose(line.to);
	assert_string_equal(text, "\r50 %  60.4 of 120.8 s  2,000,000 events/s  2 s left"
				  "\r50 %  60.4 of 120.8 s  0 events/s                  "
				  "\r                                                   \r"
				  "\r0 %  0.0 of 120.8 s  0 events/s");
	free(text);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(each_part_has_a_table_in_peoples_units_within_100_columns),
			TEST(a_run_that_was_interrupted_says_so),
			TEST(of_many_flows_the_first_are_shown_and_the_others_counted),
			TEST(numbers_have_thousands_apart_and_no_needless_digits),
			TEST(a_text_breaks_at_the_last_blank_that_fits),
			TEST(expectations_are_told_with_number_and_limits_in_one_unit_and_counted),
			cmocka_unit_test(
					a_line_tells_part_time_rate_and_rest_is_rewritten_whole_and_taken_away),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

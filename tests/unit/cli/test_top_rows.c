// SPDX-License-Identifier: BSD-3-Clause
// Rounds of answers in, rows and rates out.
#include "top_rows.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SECOND INT64_C(1000000000)

static json_t *parse(const char *text)
{
	json_error_t error;
	json_t *json = json_loads(text, 0, &error);

	if (!json)
		fail_msg("%s at %d of %s", error.text, error.position, text);
	return json;
}

// A round of a node with one port, whose counters were read at `at_ns`.
static json_t *port_round(const char *boot, int64_t at_ns, long long packets)
{
	char text[640];

	snprintf(text, sizeof(text),
			"{\"hello\": {\"ok\": {\"name\": \"sw\", \"node_id\": 2, \"boot_id\": "
			"\"%s\"}, \"at_ns\": 1}, "
			"\"ports_get\": {\"at_ns\": %lld, \"ok\": {\"ports\": [{\"name\": "
			"\"west\", \"rx_packets\": %lld, \"rx_bytes\": %lld, "
			"\"rx_missed\": 1, \"rx_errors\": %lld, \"drops\": {\"a\": %lld, \"b\": "
			"2}}]}}}",
			boot, (long long)at_ns, packets, 100 * packets, packets / 10,
			packets / 100);
	return parse(text);
}

// Returns the row of the second of two rounds; a new reference.
static json_t *second_of(enum top_view view, json_t *first, json_t *second)
{
	json_t *before = top_rows(view, first, NULL, 0);
	json_t *rows = top_rows(view, second, before, 0);
	json_t *row = json_incref(json_array_get(rows, 0));

	assert_int_equal(json_array_size(rows), 1);
	json_decref(before);
	json_decref(rows);
	json_decref(first);
	json_decref(second);
	return row;
}

static void expect_real(const json_t *row, const char *key, double expected)
{
	const json_t *value = json_object_get(row, key);

	if (!json_is_number(value))
		fail_msg("%s is no number", key);
	if (json_number_value(value) < expected * 0.999999 ||
			json_number_value(value) > expected * 1.000001)
		fail_msg("%s: %f, expected %f", key, json_number_value(value), expected);
}

static void expect_null(const json_t *row, const char *key)
{
	if (!json_is_null(json_object_get(row, key)))
		fail_msg("%s is not null", key);
}

static void rates_are_differences_over_the_measured_time(void **state)
{
	json_t *row = second_of(TOP_PORTS, port_round("a", 5 * SECOND, 1000),
			port_round("a", 7 * SECOND + SECOND / 2, 11000));

	(void)state;
	expect_real(row, "rx_pps", 4000);
	expect_real(row, "rx_bps", 3200000);
	expect_real(row, "drop_pps", 40); // the sum of all reasons
	expect_real(row, "lost_pps", 400);
	assert_null(json_object_get(row, "tx_pps")); // there is no such counter
	json_decref(row);
}

static void nobody_knows_a_rate_after_one_round_or_a_restart(void **state)
{
	json_t *round = port_round("a", SECOND, 1000), *rows = top_rows(TOP_PORTS, round, NULL, 0);

	(void)state;
	expect_null(json_array_get(rows, 0), "rx_pps");
	json_decref(round);
	json_decref(rows);
	// The counter went back.
	json_t *row = second_of(
			TOP_PORTS, port_round("a", SECOND, 1000), port_round("a", 2 * SECOND, 999));
	expect_null(row, "rx_pps");
	expect_null(row, "rx_bps");
	json_decref(row);
	// The counter is larger, but another process counts.
	row = second_of(TOP_PORTS, port_round("a", SECOND, 1000),
			port_round("b", 2 * SECOND, 5000));
	expect_null(row, "rx_pps");
	json_decref(row);
	// No time passed.
	row = second_of(TOP_PORTS, port_round("a", SECOND, 1000), port_round("a", SECOND, 5000));
	expect_null(row, "rx_pps");
	json_decref(row);
}

static json_t *controller_round(int64_t at_ns, int a, int b, const char *boot_b)
{
	char text[1024];

	snprintf(text, sizeof(text),
			"{\"hello\": {\"ok\": {\"name\": \"c\", \"controller\": true, \"boot_id\": "
			"\"x\"}, "
			"\"at_ns\": 1}, \"node_get\": {\"ok\": {\"nodes\": [{\"name\": \"a\", "
			"\"boot_id\": \"a\"}, {\"name\": \"b\", \"boot_id\": \"%s\"}]}}, "
			"\"ports_get\": {\"at_ns\": %lld, \"ok\": {\"nodes\": {\"a\": {\"ports\": "
			"[{\"name\": \"p\", \"tx_packets\": %d}]}, \"b\": {\"ports\": "
			"[{\"name\": \"p\", \"tx_packets\": %d}]}}, \"unreachable\": [\"d\"]}}}",
			boot_b, (long long)at_ns, a, b);
	return parse(text);
}

static void ports_of_a_controllers_nodes_are_told_apart(void **state)
{
	json_t *first = controller_round(SECOND, 10, 1000, "b"),
	       *second = controller_round(3 * SECOND, 50, 9000, "b2");
	json_t *before = top_rows(TOP_PORTS, first, NULL, 0);
	json_t *rows = top_rows(TOP_PORTS, second, before, 0);
	char text[HS_CLI_TEXT];

	(void)state;
	assert_int_equal(json_array_size(rows), 2);
	assert_string_equal(
			json_string_value(json_object_get(json_array_get(rows, 0), "node")), "a");
	expect_real(json_array_get(rows, 0), "tx_pps", 20);
	expect_null(json_array_get(rows, 1), "tx_pps"); // b started again
	top_note(second, text);
	assert_string_equal(text, "these nodes do not answer: d");
	top_who(second, text);
	assert_string_equal(text, "controller c");
	json_decref(before);
	json_decref(rows);
	json_decref(first);
	json_decref(second);
}

static json_t *rule_round(int64_t at_ns, int packets, const char *windows)
{
	char text[2048];

	snprintf(text, sizeof(text),
			"{\"hello\": {\"ok\": {\"name\": \"sw\", \"boot_id\": \"a\"}}, "
			"\"int_list\": {\"ok\": {\"rules\": [{\"ns_id\": 7, \"app_id\": 1, "
			"\"src_ip\": \"::1\", \"src_port\": 0, \"dst_ip\": \"::2\", "
			"\"dst_port\": 53, \"protocol\": \"udp\"}]}}, \"int_get\": {\"7\": "
			"{\"at_ns\": %lld, \"ok\": {\"counters\": {\"rx_packets\": %d, "
			"\"rx_bytes\": %d, \"reports_made\": %d}}}}, \"qos_get\": {\"ok\": "
			"{\"qos\": [%s]}}}",
			(long long)at_ns, packets, 562 * packets, packets / 10, windows);
	return parse(text);
}

static const char *const windows =
		"{\"ns_id\": 7, \"window_ns\": 10000000000, \"stale\": false, \"path\": [0, 9], "
		"\"e2e\": {\"loss_ratio\": 0.5}, \"hops\": []}, "
		"{\"ns_id\": 7, \"window_ns\": 1000000000, \"stale\": false, \"path\": [0, 1, 9], "
		"\"e2e\": {\"loss_ratio\": 0.25, \"jitter_ns\": 250, \"delay_ns\": {\"p99\": "
		"7000}}, "
		"\"hops\": [{\"from\": 0, \"to\": 1, \"throughput_bps\": 9, \"rx_packets\": 5, "
		"\"delay_ns\": {\"mean\": 400, \"p99\": 600}}, {\"to\": 9, \"loss_ratio\": 0.0}]}";

static void a_rule_has_its_rates_and_its_shortest_window(void **state)
{
	json_t *row = second_of(TOP_RULES, rule_round(SECOND, 1000, windows),
			rule_round(2 * SECOND, 3000, windows));

	(void)state;
	expect_real(row, "rx_pps", 2000);
	expect_real(row, "rx_bps", 562 * 2000 * 8);
	expect_real(row, "report_pps", 200);
	expect_real(row, "loss_ratio", 0.25);
	expect_real(row, "p99_ns", 7000);
	expect_real(row, "jitter_ns", 250);
	assert_string_equal(json_string_value(json_object_get(row, "path")), "0 → 1 → 9");
	assert_string_equal(json_string_value(json_object_get(row, "flow")), "::1 → ::2 53 udp");
	assert_true(top_is_alarm(row));
	json_decref(row);
}

static void numbers_of_a_stale_window_are_unknown(void **state)
{
	char stale[1024];
	size_t used = 0;

	(void)state;
	for (const char *at = windows; *at;) { // "stale": false becomes true
		bool here = strncmp(at, "false", 5) == 0;
		used += (size_t)snprintf(stale + used, sizeof(stale) - used, "%.*s", here ? 4 : 1,
				here ? "true" : at);
		at += here ? 5 : 1;
	}
	json_t *round = rule_round(SECOND, 1000, stale);
	json_t *rule = top_rows(TOP_RULES, round, NULL, 0),
	       *hops = top_rows(TOP_HOPS, round, NULL, 0);
	json_t *row = json_array_get(rule, 0), *hop = json_array_get(hops, 0);
	expect_null(row, "loss_ratio");
	expect_null(row, "p99_ns");
	expect_null(row, "jitter_ns");
	expect_null(row, "path");
	assert_false(top_is_alarm(row));
	expect_null(hop, "throughput_bps");
	expect_null(hop, "delay_ns");
	assert_string_equal(json_string_value(json_object_get(hop, "hop")), "0 → 1");
	json_decref(round);
	json_decref(rule);
	json_decref(hops);
}

static void hops_are_those_of_the_shortest_window_without_rates_of_its_counts(void **state)
{
	json_t *round = rule_round(SECOND, 1000, windows);
	json_t *rows = top_rows(TOP_HOPS, round, NULL, 0);

	(void)state;
	assert_int_equal(json_array_size(rows), 2);
	assert_string_equal(json_string_value(json_object_get(json_array_get(rows, 1), "hop")),
			"? → 9");
	expect_real(json_array_get(rows, 0), "p99_ns", 600);
	assert_null(json_object_get(json_array_get(rows, 0), "rx_pps"));
	assert_null(json_object_get(json_array_get(rows, 0), "loss_ratio"));
	json_decref(round);
	json_decref(rows);
}

static json_t *collector_round(int64_t at_ns, int reports)
{
	char text[1024];

	snprintf(text, sizeof(text),
			"{\"hello\": {\"ok\": {\"name\": \"c1\", \"collector\": true, \"boot_id\": "
			"\"a\"}}, \"flow_get\": {\"more\": true, \"at_ns\": %lld, \"ok\": "
			"{\"flows\": [{\"src_ip\": \"10.0.0.1\", \"dst_ip\": \"10.0.0.2\", "
			"\"src_port\": 1, \"dst_port\": 2, \"protocol\": 6, \"reports\": %d, "
			"\"last_ns\": 4000000000, \"latency\": 90, \"unit\": \"ns\", \"hops\": "
			"[{\"node_id\": 1}, {\"node_id\": 2, \"latency\": 90}]}]}}, "
			"\"queue_get\": {\"error\": \"it is busy\"}}",
			(long long)at_ns, reports);
	return parse(text);
}

static void a_collectors_flows_have_rates_paths_and_ages(void **state)
{
	json_t *first = collector_round(SECOND, 10), *second = collector_round(3 * SECOND, 30);
	json_t *before = top_rows(TOP_FLOWS, first, NULL, 5 * SECOND);
	json_t *rows = top_rows(TOP_FLOWS, second, before, 5 * SECOND);
	json_t *row = json_array_get(rows, 0);
	char text[HS_CLI_TEXT];

	(void)state;
	expect_real(row, "report_pps", 10);
	expect_real(row, "age_ns", (double)SECOND);
	assert_string_equal(json_string_value(json_object_get(row, "path")), "1 → 2 (90)");
	assert_string_equal(json_string_value(json_object_get(row, "latency")), "90 ns");
	assert_true(top_has_view(second, TOP_FLOWS) && top_has_view(second, TOP_PORTS));
	assert_false(top_has_view(second, TOP_RULES) || top_has_view(second, TOP_HOPS));
	top_note(second, text);
	assert_string_equal(text, "flow_get: there is more than is shown; queue_get: it is busy");
	json_decref(before);
	json_decref(rows);
	json_decref(first);
	json_decref(second);
}

static void expect_order(json_t *rows, const char *path, bool descending, const char *names)
{
	char text[64] = "";
	json_t *row;
	size_t i;

	top_sort(rows, path, descending);
	json_array_foreach (rows, i, row)
		strcat(text, json_string_value(json_object_get(row, "n")));
	assert_string_equal(text, names);
}

static void rows_are_sorted_by_a_member_and_unknown_values_come_last(void **state)
{
	json_t *rows = parse("[{\"n\": \"a\", \"v\": 90, \"t\": \"y\", \"d\": {\"p\": 3}},"
			     " {\"n\": \"b\", \"v\": 400.5, \"t\": \"x\", \"d\": null},"
			     " {\"n\": \"c\", \"v\": null, \"t\": \"y\"},"
			     " {\"n\": \"d\", \"v\": 90, \"t\": \"y\", \"d\": {\"p\": 1}, "
			     "\".u\": 7, \"u\": \"7 ns\"},"
			     " {\"n\": \"e\", \".u\": 10, \"u\": \"10 ns\"}]");

	(void)state;
	expect_order(rows, "n", true, "edcba");
	expect_order(rows, "n", false, "abcde");
	expect_order(rows, "v", false, "adbce");
	expect_order(rows, "v", true, "badce");
	expect_order(rows, "n", false, "abcde");
	expect_order(rows, "t", false, "bacde");
	expect_order(rows, "d.p", false, "dabce");
	expect_order(rows, "u", true, "edabc"); // by the number, not by its text
	json_decref(rows);
}

static void forgotten_rows_keep_their_names_only(void **state)
{
	json_t *row = second_of(TOP_PORTS, port_round("a", SECOND, 1000),
			port_round("a", 2 * SECOND, 2000));
	json_t *rows = json_pack("[o]", row);

	(void)state;
	top_forget(TOP_PORTS, rows);
	assert_string_equal(json_string_value(json_object_get(row, "name")), "west");
	expect_null(row, "rx_pps");
	expect_null(row, "rx_packets");
	expect_null(row, "dropped");
	json_t *round = port_round("a", 9 * SECOND, 3000);
	json_t *later = top_rows(TOP_PORTS, round, rows, 0);
	expect_null(json_array_get(later, 0), "rx_pps");
	expect_null(json_array_get(later, 0), "rx_bps");
	json_decref(round);
	json_decref(later);
	json_decref(rows);
}

// What a program answers that is no Hopsight at all breaks nothing.
static void answers_without_the_expected_members_are_no_rows(void **state)
{
	static const char *const rounds[] = {"{}",
			"{\"hello\": {\"ok\": []}, \"ports_get\": "
			"{\"ok\": {\"ports\": [1, [], {}]}}}",
			"{\"hello\": {\"ok\": {\"controller\": true}}, \"ports_get\": {\"ok\": "
			"{\"nodes\": {\"a\": {\"ports\": [{}]}}}}, \"node_get\": {\"ok\": "
			"{\"nodes\": [1, {}]}}, \"int_list\": {\"ok\": {\"rules\": [7, {\"nodes\": "
			"{\"a\": 1}}]}}, \"qos_get\": {\"ok\": {\"qos\": [1, {\"hops\": [1]}]}}}",
			"{\"hello\": {\"ok\": {\"collector\": true}}, \"flow_get\": {\"ok\": "
			"{\"flows\": [1, {\"hops\": 1, \"unit\": 1, \"latency\": \"x\"}]}}}"};
	char text[HS_CLI_TEXT];

	(void)state;
	for (size_t i = 0; i < sizeof(rounds) / sizeof(rounds[0]); i++) {
		json_t *round = parse(rounds[i]);
		for (enum top_view view = 0; view < TOP_VIEWS; view++) {
			json_t *before = top_rows(view, round, NULL, 0);
			json_t *rows = top_rows(view, round, before, 0);
			top_sort(rows, top_columns[view].columns[0].path, true);
			top_forget(view, rows);
			json_decref(before);
			json_decref(rows);
		}
		top_note(round, text);
		top_who(round, text);
		json_decref(round);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(rates_are_differences_over_the_measured_time),
			cmocka_unit_test(nobody_knows_a_rate_after_one_round_or_a_restart),
			cmocka_unit_test(ports_of_a_controllers_nodes_are_told_apart),
			cmocka_unit_test(a_rule_has_its_rates_and_its_shortest_window),
			cmocka_unit_test(numbers_of_a_stale_window_are_unknown),
			cmocka_unit_test(
					hops_are_those_of_the_shortest_window_without_rates_of_its_counts),
			cmocka_unit_test(a_collectors_flows_have_rates_paths_and_ages),
			cmocka_unit_test(rows_are_sorted_by_a_member_and_unknown_values_come_last),
			cmocka_unit_test(forgotten_rows_keep_their_names_only),
			cmocka_unit_test(answers_without_the_expected_members_are_no_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

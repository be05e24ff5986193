// SPDX-License-Identifier: BSD-3-Clause
// Expectations: met or not, and the reason.
#include "outcome_fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int setup(void **state)
{
	fixture_setup(state);
	struct fixture *f = *state;
	for (int i = 0; i < 2; i++)
		f->links[i].directions[0].loss_ratio = 0.1;
	f->links[0].directions[0].jitter_ns = 3 * MS;
	fixture_send(f);
	TELL(f, 2, 10, 20, 2, .lost = {1, 3});
	TELL(f, 3, 20, 30, 2, .lost = {0, 1}, .delay_ns = -8, .flag = "negative_delay");
	fixture_compute(f);
	return 0;
}

static struct fixture_verdict judge(
		struct fixture *f, const char *metric, const char *hop, uint32_t flow)
{
	struct hs_scenario_expect expect = {
			.flow = flow, .node = HS_NO_INDEX, .value = NAN, .min = -1e300, .max = NAN};
	snprintf(expect.metric, sizeof(expect.metric), "%s", metric);
	snprintf(expect.hop, sizeof(expect.hop), "%s", hop);
	return fixture_judge(f, expect);
}

static double value(struct fixture *f, const char *metric, const char *hop)
{
	return judge(f, metric, hop, HS_NO_INDEX).value;
}

static void each_metric_has_a_value_or_a_reason(void **state)
{
	// This run has no pings, no hosts, no INT, no queues in nodes, no INT-label and no probes.
	static const char *const absent[] = {"round_trip.", "goodput_bps", "delivered_ratio",
			"hop_latency_ns", "queue_packets", "link_utilisation_ratio", "queues.",
			"label.", "probing."};
	struct fixture *f = *state;
	for (const struct hs_lab_metric *metric = hs_lab_metrics; metric->name; metric++) {
		struct fixture_verdict verdict = judge(f, metric->name, "", HS_NO_INDEX);
		bool known = true;
		for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
			known &= !strstr(metric->name, absent[i]);
		assert_int_equal(!isnan(verdict.value), known);
		assert_int_equal(verdict.reason[0] != '\0', !known);
		assert_int_equal(verdict.met, known);
	}
}

static void values_are_those_of_rows_runs_windows_and_links(void **state)
{
	struct fixture *f = *state;
	static const struct {
		const char *metric, *hop;
		double value;
	} cases[] = {
			{"delay_ns", "", 30e6 - 4},
			{"delay_ns", "e2e", 30e6 - 4},
			{"delay_ns", "src-sw1", 10e6},
			{"mae.delay_ns.truth", "sw1-dst", 4},
			{"mae.delay_ns.truth", "", 8.0 / 3},
			{"max_error.delay_ns.truth", "", 8},
			{"mean_error.delay_ns.configured", "sw1-dst", 4},
			{"lost_packets", "sw1-dst", 2},
			{"mae.lost_packets.truth", "sw1-dst", 1},
			{"mae.loss_ratio.configured", "src-sw1", 0.05},
			{"run.lost_packets", "sw1-dst", 4},
			{"run.lost_packets.truth", "sw1-dst", 2},
			{"run.lost_packets.error", "sw1-dst", 2},
			{"run.lost_packets.error", "", 2},
			{"run.lost_packets", "", 5},
			{"run.lost_packets.all", "src-sw1", 1},
			{"run.lost_packets.all", "", 3},
			{"run.false_lost_packets", "", 2},
			{"run.false_lost_packets", "src-sw1", 0},
			{"windows", "", 2},
			{"reports", "", 4},
			{"flag.negative_delay", "", 1},
			{"flag.epoch", "", 0},
			{"audit_failures", "", 1},
			{"node_drops", "", 3},
			{"hop_windows", "sw1-dst", 2},
			{"overhead.packets_ratio", "src-sw1", 0.2},
			{"overhead.bytes_ratio", "src-sw1", 8.0 * 24 / (40 * 562)},
	};
	assert_true(value(f, "audit_failures", "") == 0);
	f->run.audit = json_pack("[{s:b}]", "ok", 0);
	f->run.node_drops = 3;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_near(value(f, cases[i].metric, cases[i].hop), cases[i].value,
				1e-12 * cases[i].value);
	json_decref(f->run.audit);
	f->run.audit = NULL;
}

#define EXPECT(of_value, from, to, ...)                                                            \
	((struct hs_scenario_expect){.flow = HS_NO_INDEX,                                          \
			.node = HS_NO_INDEX,                                                       \
			.value = (of_value),                                                       \
			.min = (from),                                                             \
			.max = (to),                                                               \
			__VA_ARGS__})

static void verdicts_follow_bounds_rows_and_nodes_and_say_why(void **state)
{
	struct fixture *f = *state;
	static const char no_hop[] = "no window has such a hop";
	const struct {
		struct hs_scenario_expect expect;
		bool met;
		const char *reason;
		uint32_t node;
	} cases[] = {
#define LOST(...)      EXPECT(__VA_ARGS__, .metric = "lost_packets", .hop = "sw1-dst") // 2
#define REPORTS(...)   EXPECT(__VA_ARGS__, .metric = "reports")			       // 4
#define LOST_MAE(...)  EXPECT(NAN, NAN, __VA_ARGS__, .metric = "mae.lost_packets.truth")
#define INSTALLED(...) EXPECT(__VA_ARGS__, NAN, NAN, .metric = "nodes.requests_in_band_installed")
#define ANY(...)       EXPECT(NAN, -1e300, NAN, __VA_ARGS__)
			{LOST(5, NAN, NAN, .tolerance = 3), true},
			{LOST(5, NAN, NAN, .tolerance = nextafter(3, 0)), false},
			{LOST(NAN, 2, NAN), true},
			{LOST(NAN, nextafter(2, 3), NAN), false},
			{LOST(NAN, 0, 2), true},
			{LOST(NAN, 0, nextafter(2, 0)), false},
			{REPORTS(NAN, NAN, 4), true},
			{REPORTS(NAN, NAN, nextafter(4, 0)), false},
			// Every row must meet what is said of all.
			{LOST_MAE(0.5, .hop = "*"), false},
			{LOST_MAE(1, .hop = "*"), true},
			{LOST_MAE(0, .hop = "src-sw1"), true},
			// Counts of nodes are added up unless one is named.
			{INSTALLED(7), true},
			{INSTALLED(7), false, .node = 2},
			{INSTALLED(4), true, .node = 2},
			{ANY(.metric = "overhead.packets_ratio", .hop = "*"), true},
			{ANY(.metric = "overhead.packets_ratio", .hop = "e2e"), false, no_hop},
			{ANY(.metric = "hop_windows", .hop = "dst-nowhere"), false, no_hop},
			{ANY(.metric = "delay_ns", .hop = "no-link"), false, no_hop},
			{ANY(.metric = "mae.delay_ns.configured", .hop = "*"), false,
					"sw1-dst has none"},
			{ANY(.metric = "round_trip.mae_ns"), false, "nothing to compute it from"},
	};
	f->links[1].directions[0].in_order = true;
	f->links[1].directions[0].jitter_ns = 1;
	f->totals[0].requests_in_band_installed = 3;
	f->totals[2].requests_in_band_installed = 4;
	f->totals[1].requests_in_band_sent = 50;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct hs_scenario_expect expect = cases[i].expect;
		expect.node = cases[i].node ? cases[i].node : HS_NO_INDEX;
		struct fixture_verdict verdict = fixture_judge(f, expect);
		assert_int_equal(verdict.met, cases[i].met);
		assert_int_equal(isnan(verdict.value), cases[i].reason != NULL);
		assert_string_equal(verdict.reason, cases[i].reason ? cases[i].reason : "");
	}
	assert_true(fixture_judge(f, LOST_MAE(0.5, .hop = "*")).value == 1); // the worst
}

static void a_flow_can_be_asked_for(void **state)
{
	struct fixture *f = *state;
	hs_measured_destroy(f->run.measured);
	f->run.measured = NULL;
	f->scenario.n_flows = 2; // the replies were never seen
	fixture_tell_all(f);
	fixture_compute(f);
	assert_true(judge(f, "windows", "", 0).value == 2);
	assert_true(judge(f, "windows", "", 1).value == 0);
	assert_true(judge(f, "delay_ns", "", 0).met);
	assert_false(judge(f, "delay_ns", "", 1).met);
	assert_true(judge(f, "mae.delay_ns.truth", "", 0).met);
	assert_false(judge(f, "mae.delay_ns.truth", "", 1).met);
}

static void unmet_expectations_are_counted_and_printed(void **state)
{
	struct fixture *f = *state;
	struct hs_scenario_expect expects[] = {
			EXPECT(2, NAN, NAN, .metric = "windows"),
			EXPECT(20e6, NAN, NAN, .metric = "delay_ns", .hop = "sw1-dst",
					.tolerance = 3),
			EXPECT(NAN, 1, NAN, .metric = "round_trip.pairs"),
	};
	expects[1].node = 1;
	f->scenario.n_expects = 3;
	f->scenario.expects = expects;
	fixture_compute(f);
	assert_int_equal(json_array_size(json_object_get(f->result, "expect")), 3);
	assert_true(json_is_true(fixture_at(f, "expect", 0, "met")));
	assert_true(json_is_false(fixture_at(f, "expect", 1, "met")));
	assert_string_equal(fixture_text(f, "expect", 1, "hop"), "sw1-dst");
	assert_string_equal(fixture_text(f, "expect", 1, "node"), "sw1");
	assert_int_equal(fixture_integer(f, "expect", 1, "measured"), 20 * MS - 4);
	assert_null(fixture_at(f, "expect", 2, "measured"));
	assert_non_null(fixture_at(f, "expect", 2, "reason"));
}

// ---- the metrics that an expectation may name ----

static void every_row_is_known_by_its_name_and_so_are_names_that_scenarios_hold_on_to(void **state)
{
	(void)state;
	static const char *const names[] = {"delay_ns", "throughput_bps", "window_throughput_bps",
			"jitter_ns", "loss_ratio", "lost_packets", "rx_bytes", "span_ns",
			"mae.delay_ns.truth", "mae.loss_ratio.configured",
			"max_error.rx_bytes.truth", "mean_error.jitter_ns.configured",
			"run.lost_packets", "run.lost_packets.truth", "run.lost_packets.error",
			"run.lost_packets.all", "run.false_lost_packets", "windows",
			"stale_windows", "empty_windows", "path_changes", "unsynchronised_windows",
			"unattributed_lost_packets", "flag.multipath", "flag.rules_differ",
			"flag.counter_ambiguous", "flag.negative_delay", "flag.epoch",
			"flag.entries_missing", "reports", "marked_windows", "negative_windows",
			"round_trip.mae_ns", "round_trip.measured_ns", "round_trip.truth_ns",
			"round_trip.pairs", "round_trip.clocks_differ", "overhead.bytes_ratio",
			"overhead.packets_ratio", "altered_packets", "hop_windows", "node_drops",
			"audit_failures", "delivered_ratio", "goodput_bps",
			"nodes.requests_in_band_installed", "nodes.exports_sent"};
	const struct hs_lab_metric *metric;
	for (metric = hs_lab_metrics; metric->name; metric++) {
		assert_ptr_equal(hs_lab_metric_find(metric->name), metric);
		assert_true(strlen(metric->name) <
				sizeof(((struct hs_scenario_expect *)0)->metric));
	}
	assert_true(metric - hs_lab_metrics > 50);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!hs_lab_metric_find(names[i]))
			fail_msg("%s is not known", names[i]);
}

static void what_cannot_be_computed_is_unknown_and_the_known_families_fit_an_error(void **state)
{
	(void)state;
	static const char *const names[] = {"", "delay", "delay_ns ", "mae.rx_bytes.configured",
			"mae_over_bound.delay_ns", "flag.other", "nodes.rules"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_null(hs_lab_metric_find(names[i]));
	assert_true(strlen(hs_lab_metric_names) < sizeof(((struct hs_error *)0)->expected));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(each_metric_has_a_value_or_a_reason),
			TEST(values_are_those_of_rows_runs_windows_and_links),
			TEST(verdicts_follow_bounds_rows_and_nodes_and_say_why),
			TEST(a_flow_can_be_asked_for),
			TEST(unmet_expectations_are_counted_and_printed),
			cmocka_unit_test(
					every_row_is_known_by_its_name_and_so_are_names_that_scenarios_hold_on_to),
			cmocka_unit_test(
					what_cannot_be_computed_is_unknown_and_the_known_families_fit_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

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
	struct fixture *f = *state;
	const struct hs_lab_metric *metric;
	for (metric = hs_lab_metrics; metric->name; metric++) {
		struct fixture_verdict verdict = judge(f, metric->name, "", HS_NO_INDEX);
		bool trip = strncmp(metric->name, "round_trip.", 11) == 0;
		bool sent = strcmp(metric->name, "goodput_bps") != 0 &&
			    strcmp(metric->name, "delivered_ratio") != 0; // this run has no hosts
		// Nor has it INT, queues in nodes, INT-label and probes.
		bool local = strstr(metric->name, "hop_latency_ns") ||
			     strstr(metric->name, "queue_packets") ||
			     strstr(metric->name, "link_utilisation_ratio") ||
			     strncmp(metric->name, "queues.", 7) == 0 ||
			     strncmp(metric->name, "label.", 6) == 0 ||
			     strncmp(metric->name, "probing.", 8) == 0;
		bool known = !trip && sent && !local;
		assert_int_equal(!isnan(verdict.value), known);
		assert_int_equal(verdict.reason[0] != '\0', !known);
		assert_int_equal(verdict.met, known);
	}
}

static void values_are_those_of_the_rows(void **state)
{
	struct fixture *f = *state;
	assert_true(value(f, "delay_ns", "") == 30e6 - 4);
	assert_true(value(f, "delay_ns", "e2e") == 30e6 - 4);
	assert_true(value(f, "delay_ns", "src-sw1") == 10e6);
	assert_true(value(f, "mae.delay_ns.truth", "sw1-dst") == 4);
	assert_near(value(f, "mae.delay_ns.truth", ""), 8.0 / 3, 1e-9);
	assert_true(value(f, "max_error.delay_ns.truth", "") == 8);
	assert_true(value(f, "mean_error.delay_ns.configured", "sw1-dst") == 4);
	assert_true(value(f, "lost_packets", "sw1-dst") == 2);
	assert_true(value(f, "mae.lost_packets.truth", "sw1-dst") == 1);
	assert_near(value(f, "mae.loss_ratio.configured", "src-sw1"), 0.05, 1e-9);
}

static void loss_over_the_run_is_measured_shown_and_true(void **state)
{
	struct fixture *f = *state;
	assert_true(value(f, "run.lost_packets", "sw1-dst") == 4);
	assert_true(value(f, "run.lost_packets.truth", "sw1-dst") == 2);
	assert_true(value(f, "run.lost_packets.error", "sw1-dst") == 2);
	assert_true(value(f, "run.lost_packets.error", "") == 2);
	assert_true(value(f, "run.lost_packets", "") == 5);
	assert_true(value(f, "run.lost_packets.all", "src-sw1") == 1);
	assert_true(value(f, "run.lost_packets.all", "") == 3);
	assert_true(value(f, "run.false_lost_packets", "") == 2);
	assert_true(value(f, "run.false_lost_packets", "src-sw1") == 0);
}

static void windows_reports_and_flags_are_counted(void **state)
{
	struct fixture *f = *state;
	assert_true(value(f, "windows", "") == 2);
	assert_true(value(f, "reports", "") == 4);
	assert_true(value(f, "flag.negative_delay", "") == 1);
	assert_true(value(f, "flag.epoch", "") == 0);
	assert_true(value(f, "audit_failures", "") == 0);
	f->run.audit = json_pack("[{s:b}]", "ok", 0);
	assert_true(value(f, "audit_failures", "") == 1);
	json_decref(f->run.audit);
	f->run.audit = NULL;
	f->run.node_drops = 3;
	assert_true(value(f, "node_drops", "") == 3);
}

static void overhead_is_of_links(void **state)
{
	struct fixture *f = *state;
	assert_true(value(f, "overhead.packets_ratio", "src-sw1") == 0.2);
	assert_near(value(f, "overhead.bytes_ratio", "src-sw1"), 8.0 * 24 / (40 * 562), 1e-15);
	assert_true(judge(f, "overhead.packets_ratio", "*", HS_NO_INDEX).met);
	assert_false(judge(f, "overhead.packets_ratio", "e2e", HS_NO_INDEX).met);
}

static bool is_met(struct fixture *f, struct hs_scenario_expect expect)
{
	return fixture_judge(f, expect).met;
}

#define EXPECT(of_value, from, to, ...)                                                            \
	((struct hs_scenario_expect){.flow = HS_NO_INDEX,                                          \
			.node = HS_NO_INDEX,                                                       \
			.value = (of_value),                                                       \
			.min = (from),                                                             \
			.max = (to),                                                               \
			__VA_ARGS__})

static void limits_belong_to_what_is_allowed(void **state)
{
	struct fixture *f = *state;
	const char *metric = "lost_packets"; // 2 on the second hop
	struct hs_scenario_expect expect = EXPECT(5, NAN, NAN, .hop = "sw1-dst");
	snprintf(expect.metric, sizeof(expect.metric), "%s", metric);
	expect.tolerance = 3;
	assert_true(is_met(f, expect));
	expect.tolerance = nextafter(3, 0);
	assert_false(is_met(f, expect));
	expect.value = NAN;
	expect.min = 2;
	assert_true(is_met(f, expect));
	expect.min = nextafter(2, 3);
	assert_false(is_met(f, expect));
	expect.min = 0;
	expect.max = 2;
	assert_true(is_met(f, expect));
	expect.max = nextafter(2, 0);
	assert_false(is_met(f, expect));
}

static void limits_of_the_run_allow_no_more_than_they_say(void **state)
{
	struct fixture *f = *state;
	struct hs_scenario_expect expect = EXPECT(NAN, NAN, 0, .metric = "reports");
	double reports = (double)fixture_integer(f, "flows", 0, "reports");
	assert_true(reports > 0);
	expect.max = reports;
	assert_true(is_met(f, expect));
	expect.max = nextafter(reports, 0);
	assert_false(is_met(f, expect));
}

static void every_row_must_meet_what_is_said_of_all(void **state)
{
	struct fixture *f = *state;
	struct hs_scenario_expect expect =
			EXPECT(NAN, NAN, 0.5, .metric = "mae.lost_packets.truth", .hop = "*");
	struct fixture_verdict verdict = fixture_judge(f, expect);
	assert_false(verdict.met);
	assert_true(verdict.value == 1);
	expect.max = 1;
	assert_true(is_met(f, expect));
	assert_true(is_met(f,
			EXPECT(NAN, NAN, 0, .metric = "mae.lost_packets.truth", .hop = "src-sw1")));
}

static void what_cannot_be_computed_is_not_met_and_says_why(void **state)
{
	struct fixture *f = *state;
	struct fixture_verdict verdict = judge(f, "delay_ns", "no-link", HS_NO_INDEX);
	assert_false(verdict.met);
	assert_true(isnan(verdict.value));
	assert_string_equal(verdict.reason, "no window has such a hop");
	f->links[1].directions[0].in_order = true;
	f->links[1].directions[0].jitter_ns = 1;
	verdict = judge(f, "mae.delay_ns.configured", "*", HS_NO_INDEX);
	assert_false(verdict.met);
	assert_string_equal(verdict.reason, "sw1-dst has none");
	verdict = judge(f, "round_trip.mae_ns", "", HS_NO_INDEX);
	assert_string_equal(verdict.reason, "nothing to compute it from");
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

static void counts_of_nodes_are_added_up_unless_one_is_named(void **state)
{
	struct fixture *f = *state;
	struct hs_scenario_expect expect =
			EXPECT(7, NAN, NAN, .metric = "nodes.requests_in_band_installed");
	f->totals[0].requests_in_band_installed = 3;
	f->totals[2].requests_in_band_installed = 4;
	f->totals[1].requests_in_band_sent = 50;
	assert_true(is_met(f, expect));
	expect.node = 2;
	assert_false(is_met(f, expect));
	expect.value = 4;
	assert_true(is_met(f, expect));
}

static void windows_that_have_a_hop_are_counted(void **state)
{
	struct fixture *f = *state;
	assert_true(value(f, "hop_windows", "sw1-dst") == 2);
	assert_true(isnan(value(f, "hop_windows", "dst-nowhere")));
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
	json_t *list = json_object_get(f->result, "expect");
	assert_int_equal(json_array_size(list), 3);
	assert_true(json_is_true(json_object_get(json_array_get(list, 0), "met")));
	json_t *second = json_array_get(list, 1);
	assert_true(json_is_false(json_object_get(second, "met")));
	assert_string_equal(json_string_value(json_object_get(second, "hop")), "sw1-dst");
	assert_string_equal(json_string_value(json_object_get(second, "node")), "sw1");
	assert_int_equal(json_integer_value(json_object_get(second, "measured")), 20 * MS - 4);
	assert_null(json_object_get(json_array_get(list, 2), "measured"));
	assert_non_null(json_object_get(json_array_get(list, 2), "reason"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(each_metric_has_a_value_or_a_reason),
			TEST(values_are_those_of_the_rows),
			TEST(loss_over_the_run_is_measured_shown_and_true),
			TEST(windows_reports_and_flags_are_counted),
			TEST(overhead_is_of_links),
			TEST(limits_belong_to_what_is_allowed),
			TEST(limits_of_the_run_allow_no_more_than_they_say),
			TEST(every_row_must_meet_what_is_said_of_all),
			TEST(what_cannot_be_computed_is_not_met_and_says_why),
			TEST(a_flow_can_be_asked_for),
			TEST(counts_of_nodes_are_added_up_unless_one_is_named),
			TEST(windows_that_have_a_hop_are_counted),
			TEST(unmet_expectations_are_counted_and_printed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

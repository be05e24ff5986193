// SPDX-License-Identifier: BSD-3-Clause
// The metrics that an expectation may name.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "lab_metric.h"
#include "scenario.h"

#include <string.h>

static void every_row_of_the_table_is_known_by_its_name(void **state)
{
	(void)state;
	const struct hs_lab_metric *metric;
	for (metric = hs_lab_metrics; metric->name; metric++) {
		assert_ptr_equal(hs_lab_metric_find(metric->name), metric);
		assert_true(strlen(metric->name) <
				sizeof(((struct hs_scenario_expect *)0)->metric));
	}
	assert_true(metric - hs_lab_metrics > 50);
}

static void names_that_scenarios_hold_on_to_are_known(void **state)
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
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!hs_lab_metric_find(names[i]))
			fail_msg("%s is not known", names[i]);
}

static void what_cannot_be_computed_is_unknown(void **state)
{
	(void)state;
	static const char *const names[] = {"", "delay", "delay_ns ", "mae.rx_bytes.configured",
			"mae_over_bound.delay_ns", "flag.other", "nodes.rules"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_null(hs_lab_metric_find(names[i]));
}

static void the_families_fit_an_error(void **state)
{
	(void)state;
	assert_true(strlen(hs_lab_metric_names) < sizeof(((struct hs_error *)0)->expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(every_row_of_the_table_is_known_by_its_name),
			cmocka_unit_test(names_that_scenarios_hold_on_to_are_known),
			cmocka_unit_test(what_cannot_be_computed_is_unknown),
			cmocka_unit_test(the_families_fit_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

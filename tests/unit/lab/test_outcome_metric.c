// SPDX-License-Identifier: BSD-3-Clause
// Which metrics an expectation may name.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "outcome_metric.h"

#include "error.h"

#include <string.h>

static void every_row_of_the_table_is_known_by_its_name(void **state)
{
	(void)state;
	size_t n = 0;
	const struct hs_outcome_metric *metric;
	for (; (metric = hs_outcome_metric_at(n)); n++) {
		assert_true(hs_outcome_knows(metric->name));
		assert_ptr_equal(hs_outcome_metric_find(metric->name), metric);
		assert_true(strlen(metric->name) <
				sizeof(((struct hs_scenario_expect *)0)->metric));
	}
	assert_true(n > 50);
}

static void names_of_the_interface_are_known(void **state)
{
	(void)state;
	static const char *const names[] = {"delay_ns", "throughput_bps", "window_throughput_bps",
			"jitter_ns", "loss_ratio", "lost_packets", "rx_bytes", "span_ns",
			"mae.delay_ns.truth", "mae.loss_ratio.configured",
			"max_error.rx_bytes.truth", "mae_over_bound.loss_ratio",
			"mae_over_bound.delay_ns", "mean_error.jitter_ns.configured",
			"mae_over_bound.jitter_ns", "mae_over_bound.throughput_bps",
			"mean_error_over_bound.jitter_ns", "mean_error_over_bound.delay_ns",
			"mean_error_over_bound.loss_ratio", "over_bound.window_throughput_bps",
			"run.lost_packets", "run.lost_packets.truth", "run.lost_packets.error",
			"run.false_lost_packets", "windows", "stale_windows", "empty_windows",
			"path_changes", "unsynchronised_windows", "unattributed_lost_packets",
			"flag.multipath", "flag.rules_differ", "flag.counter_ambiguous",
			"flag.negative_delay", "flag.epoch", "flag.entries_missing", "reports",
			"span_mismatches", "round_trip.mae_ns", "round_trip.measured_ns",
			"round_trip.truth_ns", "round_trip.pairs", "round_trip.clocks_differ",
			"overhead.bytes_ratio", "overhead.packets_ratio", "altered_packets",
			"node_drops", "audit_failures", "delivered_ratio", "goodput_bps"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(hs_outcome_knows(names[i]));
}

static void what_cannot_be_computed_is_unknown(void **state)
{
	(void)state;
	assert_false(hs_outcome_knows(""));
	assert_false(hs_outcome_knows("delay"));
	assert_false(hs_outcome_knows("delay_ns "));
	assert_false(hs_outcome_knows("mae.rx_bytes.configured"));
	assert_false(hs_outcome_knows("mae_over_bound.rx_bytes"));
	assert_false(hs_outcome_knows("mean_error_over_bound.throughput_bps"));
	assert_false(hs_outcome_knows("over_bound.delay_ns"));
	assert_false(hs_outcome_knows("flag.other"));
}

static void the_families_fit_an_error(void **state)
{
	(void)state;
	assert_true(strlen(hs_outcome_metrics()) < sizeof(((struct hs_error *)0)->expected));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(every_row_of_the_table_is_known_by_its_name),
			cmocka_unit_test(names_of_the_interface_are_known),
			cmocka_unit_test(what_cannot_be_computed_is_unknown),
			cmocka_unit_test(the_families_fit_an_error),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

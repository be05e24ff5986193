// SPDX-License-Identifier: BSD-3-Clause
#include "link_test.h"

#include <errno.h>
#include <math.h>

static void assert_refused(struct hs_link_config config, const char *path)
{
	struct hs_error err = {0};
	assert_int_equal(hs_link_check(&config, &err), -EINVAL);
	assert_string_equal(err.code, "out_of_range");
	assert_string_equal(err.path, path);
	assert_true(err.message[0] && err.expected[0]);
}

static void a_link_that_does_nothing_is_good_and_so_are_all_bounds(void **state)
{
	(void)state;
	const struct hs_link_config nothing = {0};
	const struct hs_link_config most = {.rate_bps = UINT64_MAX,
			.queue_packets = 10000000,
			.overhead_bytes = UINT32_MAX,
			.delay_ns = 3600 * S,
			.jitter_ns = 3600 * S,
			.distribution = HS_LINK_NORMAL,
			.loss_ratio = 1.0,
			.telemetry_loss_ratio = 1.0,
			.duplicate_ratio = 1.0,
			.reorder_ratio = 1.0,
			.bursts = {1.0, 1.0, 1.0, 1.0}};
	struct hs_error err = {0};
	assert_int_equal(hs_link_check(&nothing, &err), 0);
	assert_int_equal(hs_link_check(&most, &err), 0);
	assert_false(hs_error_is_set(&err));
}

static void times_are_from_0_to_an_hour(void **state)
{
	(void)state;
	assert_refused((struct hs_link_config){.delay_ns = -1}, "delay_ns");
	assert_refused((struct hs_link_config){.delay_ns = 3600 * S + 1}, "delay_ns");
	assert_refused((struct hs_link_config){.jitter_ns = -1}, "jitter_ns");
	assert_refused((struct hs_link_config){.jitter_ns = 3600 * S + 1}, "jitter_ns");
}

static void ratios_are_from_0_to_1_and_numbers(void **state)
{
	(void)state;
	static const double BAD[] = {-1e-9, 1.0000001, NAN, INFINITY, -INFINITY};
	for (int i = 0; i < 5; i++) {
		double x = BAD[i];
		assert_refused((struct hs_link_config){.loss_ratio = x}, "loss_ratio");
		assert_refused((struct hs_link_config){.telemetry_loss_ratio = x},
				"telemetry_loss_ratio");
		assert_refused((struct hs_link_config){.duplicate_ratio = x}, "duplicate_ratio");
		assert_refused((struct hs_link_config){.reorder_ratio = x}, "reorder_ratio");
		assert_refused((struct hs_link_config){.bursts.p = x}, "bursts.p");
		assert_refused((struct hs_link_config){.bursts.r = x}, "bursts.r");
		assert_refused((struct hs_link_config){.bursts.loss_bad = x}, "bursts.loss_bad");
		assert_refused((struct hs_link_config){.bursts.loss_good = x}, "bursts.loss_good");
	}
}

static void a_rate_needs_a_queue(void **state)
{
	(void)state;
	assert_refused((struct hs_link_config){.rate_bps = 1}, "queue_packets");
	assert_refused((struct hs_link_config){.rate_bps = 1, .queue_packets = 10000001},
			"queue_packets");
}

static void a_distribution_is_one_of_two(void **state)
{
	(void)state;
	struct hs_link_config config = {.distribution = (enum hs_link_distribution)2};
	assert_refused(config, "distribution");
}

static void every_loss_has_a_name(void **state)
{
	(void)state;
	assert_string_equal(hs_link_loss_name(HS_LINK_LOST_DOWN), "down");
	assert_string_equal(hs_link_loss_name(HS_LINK_LOST_TELEMETRY), "telemetry");
	assert_string_equal(hs_link_loss_name(HS_LINK_LOST_RANDOM), "random");
	assert_string_equal(hs_link_loss_name(HS_LINK_LOST_BURST), "burst");
	assert_string_equal(hs_link_loss_name(HS_LINK_LOST_QUEUE), "queue");
	assert_string_equal(hs_link_loss_name(HS_LINK_NOT_LOST), "none");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_link_that_does_nothing_is_good_and_so_are_all_bounds),
			cmocka_unit_test(times_are_from_0_to_an_hour),
			cmocka_unit_test(ratios_are_from_0_to_1_and_numbers),
			cmocka_unit_test(a_rate_needs_a_queue),
			cmocka_unit_test(a_distribution_is_one_of_two),
			cmocka_unit_test(every_loss_has_a_name),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

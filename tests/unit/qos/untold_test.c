// SPDX-License-Identifier: BSD-3-Clause
#include "qos_untold.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const json_t *find(const json_t *list, const char *metric, const char *of)
{
	const json_t *one;
	size_t i;
	json_array_foreach (list, i, one)
		if (!strcmp(json_string_value(json_object_get(one, "metric")), metric) &&
				!strcmp(json_string_value(json_object_get(one, "of")), of))
			return one;
	return NULL;
}

static void check(uint32_t trace_type, const char *metric, const char *of, const char *needs)
{
	json_t *untold = hs_qos_untold(trace_type);
	const json_t *one = find(untold, metric, of);
	if (!needs) {
		assert_null(one);
	} else {
		assert_non_null(one);
		assert_string_equal(json_string_value(json_object_get(one, "needs")), needs);
		assert_non_null(json_object_get(one, "text"));
	}
	json_decref(untold);
}

static void a_trace_type_with_all_that_metrics_need_has_nothing_to_tell(void **state)
{
	(void)state;
	static const uint32_t whole[] = {0x7000E000, 0xF000E000, 0x6000E000};
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		json_t *untold = hs_qos_untold(whole[i]);
		assert_int_equal(json_array_size(untold), 0);
		json_decref(untold);
	}
}

static void each_field_that_is_missing_is_named_with_what_it_costs(void **state)
{
	(void)state;
	check(0x5000E000, "loss_ratio", "e2e", "0x20000000");
	check(0x5000E000, "loss_ratio", "first hop", "0x20000000");
	check(0x5000E000, "delay_ns", "e2e", NULL);
	check(0x70006000, "loss_ratio", "hops", "0x00008000");
	check(0x70006000, "loss_ratio", "e2e", NULL);
	check(0x7000C000, "throughput_bps", "hops", "0x00002000");
	check(0x3000E000, "delay_ns", "e2e", "0x40000000");
	check(0x3000E000, "delay_ns", "hops", NULL);
	check(0x7000A000, "delay_ns", "hops", "0x00004000");
	check(0x0000A000, "delay_ns", "first hop", "0x40004000");
}

static void counts_that_nothing_checks_are_said_to_be_lost_over_a_restart(void **state)
{
	(void)state;
	static const uint32_t unchecked[] = {0x00008000, 0x40008000, 0x10008000, 0x4000C000};
	for (size_t i = 0; i < sizeof(unchecked) / sizeof(unchecked[0]); i++)
		check(unchecked[i], "loss_ratio", "hops", "0x20000000");
	check(0x4000A000, "loss_ratio", "hops", NULL); // bytes tell
	check(0x20008000, "loss_ratio", "hops", NULL); // the source tells
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_trace_type_with_all_that_metrics_need_has_nothing_to_tell),
			cmocka_unit_test(each_field_that_is_missing_is_named_with_what_it_costs),
			cmocka_unit_test(
					counts_that_nothing_checks_are_said_to_be_lost_over_a_restart),
	};
	return cmocka_run_group_tests_name("untold", tests, NULL, NULL);
}

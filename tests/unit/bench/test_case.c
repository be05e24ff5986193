// SPDX-License-Identifier: BSD-3-Clause
#include "bench_case.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

// Scripts and documents hold on to these.
static const char *const promised[] = {"no_rules", "unmatched", "matched_1", "matched_64",
		"matched_4096", "matched_65536", "matched_1000000", "sampled_10000", "sampled_1000",
		"sampled_100", "sampled_10", "sampled_1", "transit_0", "transit_2", "transit_4",
		"sink_ring", "sink_ring_empty", "sink_monitor", "bridge", "route", "route_transit",
		"route_source", "route_sink", "unmatched_4masks", "rule_change_1000000",
		"monitor_reports", "json_reports", "mixed", "int_source", "int_transit", "int_sink",
		"collect_1", "collect_100", "collect_1000000", "collect_garbage", "collect_events",
		"collect_idle_1200000", "collect_idle_1", "collect_idle_events"};

static void every_promised_case_is_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(promised) / sizeof(promised[0]); i++)
		if (!hs_bench_case_find(promised[i]))
			fail_msg("there is no %s", promised[i]);
}

static void no_name_is_used_twice(void **state)
{
	(void)state;
	for (size_t i = 0; i < hs_bench_n_cases; i++)
		assert_ptr_equal(hs_bench_case_find(hs_bench_cases[i].name), &hs_bench_cases[i]);
}

static void a_name_that_is_not_there_is_not_found(void **state)
{
	(void)state;
	assert_null(hs_bench_case_find("matched"));
	assert_null(hs_bench_case_find(""));
}

static void a_limit_counts_from_a_case_that_is_there(void **state)
{
	(void)state;
	for (size_t i = 0; i < hs_bench_n_cases; i++)
		if (hs_bench_cases[i].limit_of)
			assert_non_null(hs_bench_case_find(hs_bench_cases[i].limit_of));
}

// A case that cannot be as its name says would measure something else.
static void cases_agree_with_themselves(void **state)
{
	(void)state;
	for (size_t i = 0; i < hs_bench_n_cases; i++) {
		const struct hs_bench_case *c = &hs_bench_cases[i];
		if (c->kind != HS_BENCH_PACKETS)
			continue;
		assert_true(c->traffic.frame_bytes >= 62);
		assert_true(c->traffic.flows && c->traffic.frames >= c->traffic.flows);
		assert_true(!c->matched || c->rules >= c->traffic.flows);
		assert_true(!c->rules || c->every);
		assert_int_equal(c->traffic.hops >= 0, c->role != HS_BENCH_SOURCE);
		assert_int_equal(c->drain != HS_BENCH_NO_DRAIN, c->role == HS_BENCH_SINK);
		assert_int_equal(c->traffic.routes > 0, c->forward == HS_BENCH_ROUTE);
		assert_true(!c->rewritten || !c->matched || c->rewritten == c->rules);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(every_promised_case_is_there),
			cmocka_unit_test(no_name_is_used_twice),
			cmocka_unit_test(a_name_that_is_not_there_is_not_found),
			cmocka_unit_test(a_limit_counts_from_a_case_that_is_there),
			cmocka_unit_test(cases_agree_with_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

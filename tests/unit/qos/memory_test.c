// SPDX-License-Identifier: BSD-3-Clause
// Every allocation fails once.
#include "qos_fixture.h"

#include "no_memory.h"

#include <errno.h>

static unsigned left; // allocations until one fails; 0: none does

static bool memory_is_out(void)
{
	return left && !--left;
}

static void a_first_report_without_memory_leaves_nothing_behind(void **state)
{
	(void)state;
	unsigned refused = 0;
	for (unsigned fail_at = 1; fail_at < 30; fail_at++) {
		struct catcher catcher;
		struct hs_qos_counters counters;
		struct hs_qos *qos = monitor_new(&catcher);
		struct hs_report report = plain(100);
		left = fail_at;
		int rc = hs_qos_report(qos, &KEY, &report);
		left = 0;
		hs_qos_counters(qos, &counters);
		assert_true(!rc || rc == -ENOMEM);
		assert_int_equal(counters.flows, !rc);
		assert_int_equal(counters.out_of_memory, !!rc);
		refused += !!rc;
		if (rc)
			assert_null(hs_qos_latest(qos, 7, 0));
		hs_qos_advance(qos, T0 + 100 * SECOND);
		if (rc)
			assert_int_equal(catcher.n, 0);
		hs_qos_flush(qos);
		report = plain(200000);
		give(qos, &report);
		assert_int_equal(hs_qos_latest(qos, 7, 0)->reports, rc ? 1 : 2);
		monitor_free(qos, &catcher);
	}
	assert_int_equal(refused, 8); // the flow, its links, their five sums, the ring
}

// A path that grows needs memory in a window that nothing else has opened.
static void a_refused_report_opens_no_window(void **state)
{
	(void)state;
	static const uint16_t longer[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 11};
	unsigned refused = 0;
	for (unsigned fail_at = 1; fail_at < 30; fail_at++) {
		struct catcher catcher;
		struct hs_qos *qos = monitor_new(&catcher);
		struct hs_report before = plain(500), after = plain(3600);
		struct hs_report report = plain_report(2500, GAP, 10, longer);
		give(qos, &before);
		hs_qos_advance(qos, T0 + 2 * SECOND);
		left = fail_at;
		int rc = hs_qos_report(qos, &KEY, &report);
		left = 0;
		refused += !!rc;
		give(qos, &after);
		hs_qos_flush(qos);
		const struct caught *caught = caught_ending(&catcher, SECOND, T0 + 3 * SECOND);
		assert_int_equal(caught->window.stale, !!rc);
		caught = caught_ending(&catcher, SECOND, T0 + 4 * SECOND);
		assert_int_equal(caught->window.reports, 1);
		assert_int_equal(caught->window.e2e.tx_packets, rc ? 3100 : 1100);
		monitor_free(qos, &catcher);
	}
	assert_true(refused >= 2);
}

// What a partial flow remembers of its links has memory of its own.
static void a_report_that_makes_a_flow_partial_is_taken_or_refused_whole(void **state)
{
	(void)state;
	unsigned refused = 0;
	for (unsigned fail_at = 1; fail_at < 10; fail_at++) {
		struct catcher catcher;
		struct hs_qos *qos = monitor_new(&catcher);
		struct hs_report reports[] = {plain(100), plain(200), plain(300)};
		hop_of(&reports[1], 0)->bitmap = HS_HOP_TIMESTAMP;
		struct hs_qos_counters counters;
		for (unsigned i = 0; i < 3; i++)
			give(qos, &reports[i]);
		left = fail_at;
		hs_qos_counters(qos, &counters); // reports of an open window are taken together
		left = 0;
		refused += (unsigned)counters.out_of_memory;
		assert_int_equal(counters.reports + counters.out_of_memory, 3);
		const struct hs_qos_window *run = hs_qos_latest(qos, 7, 0);
		assert_int_equal(run->reports, counters.reports);
		assert_int_equal(run->hops[0].tx_packets, 200);
		assert_int_equal(run->hops[1].lost_packets, 0);
		monitor_free(qos, &catcher);
	}
	assert_int_equal(refused, 1);
}

static void questions_without_memory_have_no_answer(void **state)
{
	struct fixture *f = *state;
	unsigned answered = 0;
	give_range(f, 100, 900, 100);
	for (unsigned fail_at = 1; fail_at < 40; fail_at++) {
		left = fail_at;
		const struct hs_qos_window *run = hs_qos_latest(f->qos, 7, 0);
		answered += run != NULL;
		left = fail_at;
		hs_qos_slide(f->qos, 7, T0, T0 + SECOND);
		left = 0;
	}
	assert_true(answered > 0 && answered < 39);
	assert_int_equal(hs_qos_latest(f->qos, 7, 0)->reports, 9);
	assert_int_equal(hs_qos_slide(f->qos, 7, T0, T0 + SECOND)->reports, 9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_first_report_without_memory_leaves_nothing_behind),
			TEST(a_refused_report_opens_no_window),
			TEST(a_report_that_makes_a_flow_partial_is_taken_or_refused_whole),
			TEST(questions_without_memory_have_no_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

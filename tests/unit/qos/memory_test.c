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
		flush_all(qos);
		report = plain(200000);
		give(qos, &report);
		assert_int_equal(hs_qos_latest(qos, 7, 0)->reports, rc ? 1 : 2);
		monitor_free(qos, &catcher);
	}
	assert_int_equal(refused, 8); // the flow, its links, their five sums, the ring
}

static const uint16_t longer[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 11}; // than the path of others

// A path that grows needs memory in a window that nothing else has opened.
static void a_refused_report_opens_no_window(void **state)
{
	(void)state;
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
		flush_all(qos);
		const struct caught *caught = caught_ending(&catcher, SECOND, T0 + 3 * SECOND);
		assert_int_equal(caught->window.stale, !!rc);
		caught = caught_ending(&catcher, SECOND, T0 + 4 * SECOND);
		assert_int_equal(caught->window.reports, 1);
		assert_int_equal(caught->window.e2e.tx_packets, rc ? 3100 : 1100);
		monitor_free(qos, &catcher);
	}
	assert_true(refused >= 2);
}

// So has what nodes say of themselves, and its histograms: without memory these alone are absent.
static void a_report_of_what_nodes_say_is_taken_or_refused_whole(void **state)
{
	(void)state;
	struct hs_telemetry_family family = hs_flexint_family;
	unsigned refused = 0;
	family.has_locals = true;
	for (unsigned fail_at = 1; fail_at < 40; fail_at++) {
		struct catcher catcher;
		struct hs_qos *qos = monitor_new(&catcher);
		struct hs_report before = plain(500);
		struct hs_report report = plain_report(600, GAP, 10, longer);
		before.telemetry.family = report.telemetry.family = &family;
		for (unsigned i = 0; i <= 10; i++)
			report.telemetry.locals[i] = (struct hs_hop_local){
					.has = HS_LOCAL_HOP_LATENCY, .hop_latency_ns = 5 + i};
		memcpy(before.telemetry.locals, report.telemetry.locals,
				sizeof(before.telemetry.locals));
		give(qos, &before);
		left = fail_at;
		int rc = hs_qos_report(qos, &KEY, &report);
		left = 0;
		assert_true(!rc || rc == -ENOMEM);
		refused += !!rc;
		left = fail_at;
		const struct hs_qos_window *run = hs_qos_latest(qos, KEY.ns_id, 0);
		left = 0;
		assert_true(!run || run->reports == (rc ? 1 : 2));
		flush_all(qos);
		const struct caught *caught = caught_at(&catcher, SECOND, 0);
		assert_int_equal(caught->window.reports, rc ? 1 : 2);
		const struct hs_qos_hop *hop = &caught->hops[0];
		if (!rc)
			assert_int_equal(hop->hop_latency_ns.max, 15); // the source's is the last
		if (hop->has & HS_QOS_HAS_LATENCY_P50)
			assert_true(hop->hop_latency_ns.p50 >= hop->hop_latency_ns.min);
		monitor_free(qos, &catcher);
	}
	assert_true(refused >= 6);
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

// The clock was set back by an hour: what is refused then is no report of the new time.
static void a_refused_report_ends_no_clock_step(void **state)
{
	(void)state;
	unsigned refused = 0;
	for (unsigned fail_at = 1; fail_at < 30; fail_at++) {
		struct catcher catcher;
		struct hs_qos *qos = monitor_new(&catcher);
		struct hs_qos_counters counters;
		struct hs_report reports[] = {plain(5000500), plain(5000600), plain(5000700)};
		for (unsigned i = 0; i < 3; i++)
			give(qos, &reports[i]);
		hs_qos_clock_step(qos);
		struct hs_report first = plain_report(5000800, GAP, 10, longer);
		first.sink_ts_ns -= 3600 * SECOND;
		left = fail_at;
		int rc = hs_qos_report(qos, &KEY, &first);
		left = 0;
		refused += !!rc;
		for (unsigned i = 0; i < 3; i++) {
			struct hs_report report = plain(5000900 + i * 100);
			report.sink_ts_ns -= 3600 * SECOND;
			give(qos, &report);
		}
		flush_all(qos);
		hs_qos_counters(qos, &counters);
		assert_int_equal(counters.epochs, 1);
		assert_int_equal(hs_qos_latest(qos, 7, 0)->e2e.tx_packets, rc ? 400 : 500);
		monitor_free(qos, &catcher);
	}
	assert_true(refused >= 2);
}

// Returns whether it was taken, while this allocation fails.
static bool give_failing(struct hs_qos *qos, const struct hs_report *report, unsigned fail_at)
{
	struct hs_qos_counters before, after;
	hs_qos_counters(qos, &before);
	left = fail_at;
	hs_qos_report(qos, &KEY, report);
	hs_qos_counters(qos, &after); // reports of an open window are taken together
	left = 0;
	return after.reports > before.reports;
}

// A path that comes back alternates, if its report is taken.
static void a_refused_report_makes_no_second_path(void **state)
{
	(void)state;
	static const uint16_t other[] = {3, 4, 5};
	unsigned refused = 0;
	for (unsigned fail_at = 1; fail_at < 30; fail_at++) {
		struct catcher catcher;
		struct hs_qos *qos = monitor_new(&catcher);
		struct hs_report reports[] = {plain(100), plain(200),
				plain_report(300, GAP, 3, other), plain(400),
				plain_report(500, GAP, 3, other)};
		give(qos, &reports[0]);
		give(qos, &reports[1]);
		bool went = give_failing(qos, &reports[2], fail_at);
		bool came = give_failing(qos, &reports[3], fail_at);
		refused += !went + !came;
		give(qos, &reports[went ? 4 : 3]);
		flush_all(qos);
		const struct hs_qos_window *window = &caught_at(&catcher, SECOND, 0)->window;
		assert_int_equal(!!(window->flags & HS_QOS_MULTIPATH), went && came);
		assert_int_equal(window->reports, 3 + went + came);
		monitor_free(qos, &catcher);
	}
	assert_true(refused >= 2);
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
			TEST(a_report_of_what_nodes_say_is_taken_or_refused_whole),
			TEST(a_report_that_makes_a_flow_partial_is_taken_or_refused_whole),
			TEST(a_refused_report_ends_no_clock_step),
			TEST(a_refused_report_makes_no_second_path),
			TEST(questions_without_memory_have_no_answer),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

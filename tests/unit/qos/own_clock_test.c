// SPDX-License-Identifier: BSD-3-Clause
// The sink's own clock steps: what it measured before and after is never computed with together.
#include "qos_fixture.h"

#include <errno.h>

static struct hs_report shown(uint64_t number, int64_t ahead_ns)
{
	struct hs_report report = plain(number);
	report.sink_ts_ns += ahead_ns;
	return report;
}

static void give_shown(struct fixture *f, uint64_t from, uint64_t to, int64_t ahead_ns)
{
	for (uint64_t i = from; i <= to; i += 10) {
		struct hs_report report = shown(i, ahead_ns);
		give(f->qos, &report);
	}
}

static const struct hs_qos_window *window_ending(
		const struct fixture *f, int64_t length_ns, int64_t end_ns)
{
	const struct caught *caught = caught_ending(&f->catcher, length_ns, end_ns);
	assert_non_null(caught);
	return &caught->window;
}

// What 10 s show before, across and after a step by this much 3.5 s after the start.
static void check_step(struct fixture *f, int64_t amount_ns)
{
	give_shown(f, 10, 3500, 0);
	hs_qos_advance(f->qos, T0 + 3500 * MS);
	hs_qos_clock_step(f->qos);
	assert_null(hs_qos_latest(f->qos, 7, SECOND));
	size_t before = f->catcher.n;
	give_shown(f, 3510, 10000, amount_ns);
	hs_qos_advance(f->qos, T0 + amount_ns + 11 * SECOND);

	int64_t delay_ns = plain(10).sink_ts_ns - (int64_t)plain(10).telemetry.e2e.ts_ns;
	const struct hs_qos_window *last = window_ending(f, SECOND, T0 + 4 * SECOND);
	assert_true(last->clock.known && !last->clock.synchronised);
	assert_int_equal(last->reports, 51);
	assert_int_equal(last->e2e.delay.max, delay_ns);
	assert_int_equal(last->e2e.has & HS_QOS_HAS_WINDOW_THROUGHPUT, 0);
	bool marked = false, first = true;
	for (size_t i = before; i < f->catcher.n; i++) {
		const struct hs_qos_window *window = &f->catcher.windows[i].window;
		// The first window began before the step.
		if (first)
			assert_true(window->flags & HS_QOS_CLOCK_STEP);
		if (window->flags & HS_QOS_CLOCK_STEP)
			assert_int_equal(window->e2e.has & HS_QOS_HAS_WINDOW_THROUGHPUT, 0);
		first = false;
		assert_in_range(window->end_ns, T0 + amount_ns + 3 * SECOND,
				T0 + amount_ns + 70 * SECOND);
		assert_int_equal(window->e2e.delay.min, delay_ns + amount_ns);
		assert_int_equal(window->e2e.delay.max, delay_ns + amount_ns);
		assert_int_equal(window->e2e.lost_packets, 0);
		assert_true(window->e2e.throughput_bps < 4500000);
		marked |= window->flags & HS_QOS_EPOCH;
	}
	assert_true(marked);
	const struct hs_qos_window *right = window_ending(f, SECOND, T0 + amount_ns + 8 * SECOND);
	assert_int_equal(right->reports, 100);
	assert_int_equal(right->flags & HS_QOS_EPOCH, 0);
	assert_int_equal(right->e2e.throughput_bps, 562 * 8 * 1000);
}

static void windows_follow_a_clock_that_steps_forward(void **state)
{
	check_step(*state, 3600 * SECOND);
}

static void windows_follow_a_clock_that_steps_back(void **state)
{
	check_step(*state, -3600 * SECOND);
}

static void a_step_within_a_window_gives_two_of_them(void **state)
{
	check_step(*state, -2 * SECOND);
}

static void the_run_goes_on_and_is_marked(void **state)
{
	struct fixture *f = *state;
	check_step(f, -36 * SECOND);
	const struct hs_qos_window *run = hs_qos_latest(f->qos, 7, 0);
	assert_non_null(run);
	assert_int_equal(run->reports, 1000);
	assert_true(run->clock.known && !run->clock.synchronised);
	assert_true(run->flags & HS_QOS_EPOCH);
	assert_int_equal(run->e2e.has & HS_QOS_HAS_WINDOW_THROUGHPUT, 0);
	assert_int_equal(run->e2e.lost_packets, 0);
	assert_int_equal(run->e2e.tx_packets, 9980); // but for the step across
	assert_true(run->e2e.throughput_bps < 4500000 && run->e2e.throughput_bps > 4490000);
}

// Of a flow that was met in its middle, only what came before the first report is not known.
static void a_flow_met_late_has_mean_rates_after_a_step(void **state)
{
	struct fixture *f = *state;

	give_shown(f, 5010, 8500, 0);
	hs_qos_advance(f->qos, T0 + 8500 * MS);
	assert_false(window_ending(f, SECOND, T0 + 6 * SECOND)->e2e.has &
			HS_QOS_HAS_WINDOW_THROUGHPUT);
	hs_qos_clock_step(f->qos);
	give_shown(f, 8510, 14000, -3600 * SECOND);
	hs_qos_advance(f->qos, T0 - 3585 * SECOND);
	const struct hs_qos_window *window = window_ending(f, SECOND, T0 - 3588 * SECOND);
	assert_int_equal(window->e2e.window_throughput_bps, 562 * 8 * 1000);
}

static void a_flow_that_fell_silent_has_the_new_time_when_it_comes_back(void **state)
{
	struct fixture *f = *state;
	give_shown(f, 10, 1000, 0);
	hs_qos_advance(f->qos, T0 + 100 * SECOND);
	hs_qos_clock_step(f->qos);
	assert_true(hs_qos_next_ns(f->qos) == INT64_MAX);
	hs_qos_tell_time(f->qos, T0 - 3530 * SECOND + SECOND / 2);
	give_shown(f, 100010, 102000, -3600 * SECOND);
	hs_qos_advance(f->qos, T0 - 3600 * SECOND + 103 * SECOND);
	const struct hs_qos_window *window =
			window_ending(f, SECOND, T0 - 3600 * SECOND + 102 * SECOND);
	assert_int_equal(window->e2e.lost_packets, 0);
	assert_int_equal(window->e2e.throughput_bps, 562 * 8 * 1000);
	// The clock stepped long before, but in the window of 60 s.
	window = window_ending(f, SECOND, T0 - 3600 * SECOND + 101 * SECOND);
	assert_false(window->flags & HS_QOS_CLOCK_STEP);
	assert_true(window->e2e.has & HS_QOS_HAS_WINDOW_THROUGHPUT);
	hs_qos_advance(f->qos, T0 - 3600 * SECOND + 125 * SECOND);
	window = window_ending(f, 60 * SECOND, T0 - 3600 * SECOND + 120 * SECOND);
	assert_true(window->flags & HS_QOS_CLOCK_STEP);
	assert_false(window->e2e.has & HS_QOS_HAS_WINDOW_THROUGHPUT);
}

static void windows_on_request_are_of_one_time(void **state)
{
	struct fixture *f = *state;
	give_shown(f, 10, 500, 0);
	hs_qos_clock_step(f->qos);
	give_shown(f, 510, 900, -100 * MS);
	const struct hs_qos_window *window = hs_qos_slide(f->qos, 7, T0, T0 + SECOND);
	assert_non_null(window);
	// The window begins with the first report after the step.
	assert_int_equal(window->start_ns, T0 + 413 * MS);
	assert_int_equal(window->reports, 39);
}

// 61 entries with all fields are more than a packet carries.
static void a_report_too_long_changes_nothing(void **state)
{
	struct fixture *f = *state;
	static const uint16_t nodes[HS_TELEMETRY_MAX_HOPS];
	struct hs_qos_counters counters;
	struct hs_report too_long = plain_report(1000, GAP, HS_TELEMETRY_MAX_HOPS, nodes);
	struct hs_qos_key other = KEY;
	assert_int_equal(hs_qos_report(f->qos, &KEY, &too_long), -EINVAL);
	assert_null(hs_qos_latest(f->qos, KEY.ns_id, 0));
	give_range(f, 5000500, 5000700, 100);
	hs_qos_clock_step(f->qos);
	other.generation++;
	size_t n = f->catcher.n;
	for (int64_t ts_ns = T0; ts_ns <= T0 + 60 * SECOND; ts_ns += 20 * SECOND) {
		too_long.sink_ts_ns = ts_ns;
		assert_int_equal(hs_qos_report(f->qos, &KEY, &too_long), -EINVAL);
		assert_int_equal(hs_qos_report(f->qos, &other, &too_long), -EINVAL);
	}
	assert_int_equal(f->catcher.n, n);
	for (uint64_t i = 5000900; i <= 5001100; i += 100) {
		struct hs_report report = plain(i);
		report.sink_ts_ns -= 3600 * SECOND;
		give(f->qos, &report);
	}
	flush_all(f->qos);
	hs_qos_counters(f->qos, &counters);
	assert_int_equal(counters.epochs, 1);
	assert_int_equal(counters.flows, 1);
	assert_int_equal(hs_qos_latest(f->qos, 7, 0)->e2e.tx_packets, 400);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_report_too_long_changes_nothing),
			TEST(windows_follow_a_clock_that_steps_forward),
			TEST(windows_follow_a_clock_that_steps_back),
			TEST(a_step_within_a_window_gives_two_of_them),
			TEST(the_run_goes_on_and_is_marked),
			TEST(a_flow_met_late_has_mean_rates_after_a_step),
			TEST(a_flow_that_fell_silent_has_the_new_time_when_it_comes_back),
			TEST(windows_on_request_are_of_one_time),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
// The configured values of a hop, and where they are absent.
#include "outcome_fixture.h"

#include "outcome_parts.h"

#include <math.h>
#include <string.h>

static int setup(void **state)
{
	fixture_setup(state);
	struct fixture *f = *state;
	fixture_send(f);
	fixture_tell_all(f);
	return 0;
}

static struct hs_link_config *link_of(struct fixture *f, int link)
{
	return &f->links[link].directions[0];
}

// Recomputes the second window, whose configured values must be these: of the two hops, and from
// end to end. NAN: none.
static void expect(struct fixture *f, enum hs_lab_metric_kind kind, double first, double second,
		double e2e)
{
	fixture_compute(f);
	fixture_check(f, 1, "configured", kind, first, second, e2e);
}

static void delays_add_up_and_nothing_else_is_expected_of_good_links(void **state)
{
	struct fixture *f = *state;
	expect(f, HS_LAB_DELAY, 10e6, 20e6, 30e6);
	expect(f, HS_LAB_JITTER, 0, 0, 0);
	expect(f, HS_LAB_LOSS, 0, 0, 0);
	expect(f, HS_LAB_THROUGHPUT, 44960, 44960, 44960);
	expect(f, HS_LAB_WINDOW_THROUGHPUT, 44960, 44960, 44960);
	expect(f, HS_LAB_LOST_PACKETS, NAN, NAN, NAN);
}

static void losses_multiply_along_the_way_and_bursts_count_in_the_long_run(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->loss_ratio = 0.1;
	link_of(f, 1)->loss_ratio = 0.2;
	expect(f, HS_LAB_LOSS, 0.1, 0.2, 0.28);
	expect(f, HS_LAB_THROUGHPUT, 44960 * 0.9, 44960 * 0.72, 44960 * 0.72);
	link_of(f, 1)->loss_ratio = 0;
	link_of(f, 0)->bursts = (struct hs_link_bursts){
			.p = 0.01, .r = 0.03, .loss_bad = 0.8, .loss_good = 0.1};
	// The bad state has a quarter of the time: 0.25 * 0.8 + 0.75 * 0.1 = 0.275; then 1 - 0.725
	// * 0.9.
	expect(f, HS_LAB_LOSS, 0.3475, 0, 0.3475);
}

static void a_rate_that_suffices_adds_the_time_of_the_frame(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->rate_bps = 1000000;
	link_of(f, 0)->overhead_bytes = 4;
	// 562 + 24 of telemetry + 4 bytes are 590 bytes of 8 us.
	expect(f, HS_LAB_DELAY, 10e6 + 4720e3, 20e6, 30e6 + 4720e3);
	expect(f, HS_LAB_THROUGHPUT, 44960, 44960, 44960);
	expect(f, HS_LAB_LOSS, 0, 0, 0);
	expect(f, HS_LAB_JITTER, NAN, 0, NAN);
}

static void a_rate_that_does_not_suffice_limits_what_follows(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->rate_bps = 20000;
	expect(f, HS_LAB_THROUGHPUT, 20000, 20000, 20000);
	expect(f, HS_LAB_DELAY, NAN, 20e6, NAN);
	expect(f, HS_LAB_LOSS, NAN, 0, NAN);
	link_of(f, 1)->rate_bps = 30000; // enough for what the first link lets through
	expect(f, HS_LAB_THROUGHPUT, 20000, 20000, 20000);
	expect(f, HS_LAB_DELAY, NAN, 20e6 + floor(586 * 8e9 / 30000), NAN);
	link_of(f, 0)->overhead_bytes = 562; // half of the rate
	expect(f, HS_LAB_THROUGHPUT, 10000, 10000, 10000);
	link_of(f, 0)->rate_bps = 0;
	link_of(f, 0)->jitter_ns = 1 * MS; // frames that arrive early or late may wait
	link_of(f, 1)->rate_bps = 1000000;
	expect(f, HS_LAB_DELAY, 10e6, NAN, NAN);
}

static void bursty_traffic_has_no_configured_throughput_and_who_waits_for_others_no_delay(
		void **state)
{
	struct fixture *f = *state;
	f->traffic[0].kind = HS_TRAFFIC_BURSTY;
	expect(f, HS_LAB_THROUGHPUT, NAN, NAN, NAN);
	expect(f, HS_LAB_WINDOW_THROUGHPUT, NAN, NAN, NAN);
	expect(f, HS_LAB_DELAY, 10e6, 20e6, 30e6);
	expect(f, HS_LAB_LOSS, 0, 0, 0);
	link_of(f, 0)->rate_bps = 1000000;
	f->traffic[0].kind = HS_TRAFFIC_POISSON;
	expect(f, HS_LAB_DELAY, NAN, 20e6, NAN);
	expect(f, HS_LAB_THROUGHPUT, 44960, 44960, 44960);
	f->traffic[0].kind = HS_TRAFFIC_CONSTANT;
	f->counters[0][0].sent_packets = 41; // one more than the flow sent
	expect(f, HS_LAB_DELAY, NAN, 20e6, NAN);
	expect(f, HS_LAB_THROUGHPUT, NAN, NAN, NAN);
	f->counters[0][0].sent_packets = 40;
	expect(f, HS_LAB_THROUGHPUT, 44960, 44960, 44960);
}

static void jitter_is_two_thirds_of_a_uniform_width_or_two_sigma_over_root_pi(void **state)
{
	struct fixture *f = *state;
	const double normal = 2 / sqrt(M_PI);
	link_of(f, 0)->jitter_ns = 3 * MS;
	expect(f, HS_LAB_JITTER, 2e6, 0, 2e6);
	expect(f, HS_LAB_DELAY, 10e6, 20e6, 30e6);
	for (int i = 0; i < 2; i++)
		link_of(f, i)->distribution = HS_LINK_NORMAL;
	link_of(f, 0)->jitter_ns = 300000;
	link_of(f, 1)->jitter_ns = 400000;
	expect(f, HS_LAB_JITTER, normal * 300000, normal * 400000, normal * 500000);
	link_of(f, 1)->distribution = HS_LINK_UNIFORM;
	expect(f, HS_LAB_JITTER, normal * 300000, 400000 * 2.0 / 3, NAN);
}

static void a_cable_the_other_way_round_has_its_own_values(void **state)
{
	struct fixture *f = *state;
	f->links[0].from = 1;
	f->links[0].to = 0;
	f->links[0].directions[0].delay_ns = 99 * MS;
	expect(f, HS_LAB_DELAY, 10e6, 20e6, 30e6);
	assert_string_equal(fixture_text(f, "rows", 0, "hop"), "src-sw1");
}

static void what_jitter_does_to_order_makes_delays_unknown(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->jitter_ns = 3 * MS;
	link_of(f, 0)->in_order = true;
	expect(f, HS_LAB_DELAY, NAN, 20e6, NAN);
	expect(f, HS_LAB_JITTER, NAN, 0, NAN);
	link_of(f, 0)->in_order = false;
	link_of(f, 0)->jitter_ns = 10 * MS + 1; // some delays would be below 0
	expect(f, HS_LAB_DELAY, NAN, 20e6, NAN);
	link_of(f, 0)->jitter_ns = 0;
	link_of(f, 0)->reorder_ratio = 0.1;
	expect(f, HS_LAB_DELAY, NAN, 20e6, NAN);
}

static void links_that_are_down_or_lose_telemetry_alone_say_nothing_of_loss(void **state)
{
	struct fixture *f = *state;
	link_of(f, 1)->telemetry_loss_ratio = 0.5;
	expect(f, HS_LAB_LOSS, 0, NAN, NAN);
	expect(f, HS_LAB_DELAY, 10e6, 20e6, 30e6);
	link_of(f, 1)->down = true;
	expect(f, HS_LAB_DELAY, 10e6, NAN, NAN);
}

static void a_change_of_a_link_or_of_traffic_ends_what_it_changes(void **state)
{
	struct fixture *f = *state;
	struct hs_scenario_event event = {
			.kind = HS_LAB_EVENT_TRAFFIC, .traffic = 0, .at_ns = 2500 * MS};
	f->run.config_changed_ns = T0 + 2500 * MS;
	fixture_compute(f);
	assert_int_equal(fixture_windows(f, 0, HS_LAB_DELAY, "configured"), 1);
	assert_int_equal(fixture_windows(f, 0, HS_LAB_THROUGHPUT, "configured"), 1);
	assert_int_equal(fixture_windows(f, 0, HS_LAB_LOSS, "configured"), 1);
	f->run.config_changed_ns = INT64_MAX;
	f->scenario.n_events = 1;
	f->scenario.events = &event;
	fixture_compute(f);
	assert_int_equal(fixture_windows(f, 0, HS_LAB_DELAY, "configured"), 2);
	assert_int_equal(fixture_windows(f, 0, HS_LAB_THROUGHPUT, "configured"), 1);
}

static void the_sum_of_uniforms_is_exact_or_not_said(void **state)
{
	(void)state;
	const struct {
		size_t n;
		double widths[9], mean, tolerance;
	} cases[] = {
			{1, {3e6}, 2e6, 1e-6},
			{2, {1, 1}, 14.0 / 15, 1e-14},
			// With sixteen, E|X| is nearly that of a normal distribution of the same
			// variance.
			{8, {1, 1, 1, 1, 1, 1, 1, 1}, sqrt(32.0 / 3 / M_PI), 0.01},
			// These follow from the characteristic function
			// (tests/lab/check_packets.py).
			{5, {2, 1, 3, 2, 1}, 2.8636587, 1e-6},
			{5, {4, 1, 1, 0.1, 2}, 3.1034453, 1e-6},
			{5, {1, 1, 1, 1, 4}, 2.9644960, 1e-6},
	};
	static const double many[] = {1, 1, 1, 1, 1, 1, 1, 1, 1}, unlike[] = {1, 1e-5};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_near(outcome_uniform_jitter(cases[i].widths, cases[i].n), cases[i].mean,
				cases[i].tolerance);
	assert_true(isnan(outcome_uniform_jitter(many, 9)));
	assert_true(isnan(outcome_uniform_jitter(unlike, 2)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(delays_add_up_and_nothing_else_is_expected_of_good_links),
			TEST(losses_multiply_along_the_way_and_bursts_count_in_the_long_run),
			TEST(a_rate_that_suffices_adds_the_time_of_the_frame),
			TEST(a_rate_that_does_not_suffice_limits_what_follows),
			TEST(bursty_traffic_has_no_configured_throughput_and_who_waits_for_others_no_delay),
			TEST(jitter_is_two_thirds_of_a_uniform_width_or_two_sigma_over_root_pi),
			TEST(a_cable_the_other_way_round_has_its_own_values),
			TEST(what_jitter_does_to_order_makes_delays_unknown),
			TEST(links_that_are_down_or_lose_telemetry_alone_say_nothing_of_loss),
			TEST(a_change_of_a_link_or_of_traffic_ends_what_it_changes),
			cmocka_unit_test(the_sum_of_uniforms_is_exact_or_not_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

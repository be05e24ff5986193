// SPDX-License-Identifier: BSD-3-Clause
// The configured values of a hop, and where they are absent.
#include "outcome_fixture.h"

#include "outcome_parts.h"
#include "variate.h"

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

// Recomputes the second window.
static struct fixture_point point(struct fixture *f, size_t row, enum hs_lab_metric_kind kind)
{
	fixture_compute(f);
	return fixture_point(f, row, 1, kind);
}

static double configured(struct fixture *f, size_t row, enum hs_lab_metric_kind kind)
{
	return point(f, row, kind).configured;
}

static struct hs_link_config *link_of(struct fixture *f, int link)
{
	return &f->links[link].directions[0];
}

static void delays_add_up_and_nothing_else_is_expected_of_good_links(void **state)
{
	struct fixture *f = *state;
	assert_true(configured(f, 0, HS_LAB_DELAY) == 10e6);
	assert_true(configured(f, 1, HS_LAB_DELAY) == 20e6);
	assert_true(configured(f, 2, HS_LAB_DELAY) == 30e6);
	assert_true(configured(f, 2, HS_LAB_JITTER) == 0);
	assert_true(configured(f, 2, HS_LAB_LOSS) == 0);
	assert_true(configured(f, 2, HS_LAB_THROUGHPUT) == 44960);
	assert_true(configured(f, 2, HS_LAB_WINDOW_THROUGHPUT) == 44960);
	assert_true(isnan(configured(f, 2, HS_LAB_LOST_PACKETS)));
}

static void losses_multiply_along_the_way(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->loss_ratio = 0.1;
	link_of(f, 1)->loss_ratio = 0.2;
	assert_near(configured(f, 0, HS_LAB_LOSS), 0.1, 1e-15);
	assert_near(configured(f, 1, HS_LAB_LOSS), 0.2, 1e-15);
	assert_near(configured(f, 2, HS_LAB_LOSS), 0.28, 1e-15);
	assert_near(configured(f, 0, HS_LAB_THROUGHPUT), 44960 * 0.9, 1e-9);
	assert_near(configured(f, 1, HS_LAB_THROUGHPUT), 44960 * 0.72, 1e-9);
	assert_near(configured(f, 2, HS_LAB_THROUGHPUT), 44960 * 0.72, 1e-9);
}

static void bursts_lose_what_they_lose_in_the_long_run(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->loss_ratio = 0.1;
	link_of(f, 0)->bursts = (struct hs_link_bursts){
			.p = 0.01, .r = 0.03, .loss_bad = 0.8, .loss_good = 0.1};
	// The bad state has a quarter of the time: 0.25 * 0.8 + 0.75 * 0.1 = 0.275; then 1 - 0.725
	// * 0.9.
	assert_near(configured(f, 0, HS_LAB_LOSS), 0.3475, 1e-12);
}

static void a_rate_that_suffices_adds_the_time_of_the_frame(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->rate_bps = 1000000;
	link_of(f, 0)->overhead_bytes = 4;
	// 562 + 24 of telemetry + 4 bytes are 590 bytes of 8 us.
	assert_true(configured(f, 0, HS_LAB_DELAY) == 10e6 + 4720e3);
	assert_true(configured(f, 2, HS_LAB_DELAY) == 30e6 + 4720e3);
	assert_true(configured(f, 0, HS_LAB_THROUGHPUT) == 44960);
	assert_true(configured(f, 0, HS_LAB_LOSS) == 0);
	assert_true(isnan(configured(f, 0, HS_LAB_JITTER)));
}

static void a_rate_that_does_not_suffice_limits_what_follows(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->rate_bps = 20000;
	assert_true(configured(f, 0, HS_LAB_THROUGHPUT) == 20000);
	assert_true(configured(f, 1, HS_LAB_THROUGHPUT) == 20000);
	assert_true(isnan(configured(f, 0, HS_LAB_DELAY)));
	assert_true(isnan(configured(f, 0, HS_LAB_LOSS)));
	assert_true(isnan(configured(f, 2, HS_LAB_DELAY)));
	assert_true(configured(f, 1, HS_LAB_DELAY) == 20e6);
	link_of(f, 1)->rate_bps = 30000; // enough for what the first link lets through
	assert_true(configured(f, 1, HS_LAB_THROUGHPUT) == 20000);
	assert_true(configured(f, 1, HS_LAB_DELAY) == 20e6 + floor(586 * 8e9 / 30000));
	link_of(f, 0)->overhead_bytes = 562; // half of the rate
	assert_true(configured(f, 0, HS_LAB_THROUGHPUT) == 10000);
	link_of(f, 0)->rate_bps = 0;
	link_of(f, 0)->jitter_ns = 1 * MS; // frames that arrive early or late may wait
	link_of(f, 1)->rate_bps = 1000000;
	assert_true(isnan(configured(f, 1, HS_LAB_DELAY)));
}

static void who_waits_for_others_has_no_configured_delay(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->rate_bps = 1000000;
	f->traffic[0].kind = HS_TRAFFIC_POISSON;
	assert_true(isnan(configured(f, 0, HS_LAB_DELAY)));
	assert_true(configured(f, 0, HS_LAB_THROUGHPUT) == 44960);
	f->traffic[0].kind = HS_TRAFFIC_CONSTANT;
	f->counters[0][0].sent_packets = 41; // one more than the flow sent
	assert_true(isnan(configured(f, 0, HS_LAB_DELAY)));
	assert_true(isnan(configured(f, 0, HS_LAB_THROUGHPUT)));
	f->counters[0][0].sent_packets = 40;
	assert_true(configured(f, 0, HS_LAB_THROUGHPUT) == 44960);
}

static void bursty_traffic_has_no_configured_throughput(void **state)
{
	struct fixture *f = *state;
	f->traffic[0].kind = HS_TRAFFIC_BURSTY;
	assert_true(isnan(configured(f, 2, HS_LAB_THROUGHPUT)));
	assert_true(isnan(configured(f, 2, HS_LAB_WINDOW_THROUGHPUT)));
	assert_true(configured(f, 2, HS_LAB_DELAY) == 30e6);
	assert_true(configured(f, 2, HS_LAB_LOSS) == 0);
}

static void uniform_jitter_is_two_thirds_of_its_width(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->jitter_ns = 3 * MS;
	assert_true(configured(f, 0, HS_LAB_JITTER) == 2e6);
	assert_true(configured(f, 1, HS_LAB_JITTER) == 0);
	assert_true(configured(f, 2, HS_LAB_JITTER) == 2e6);
	assert_true(configured(f, 0, HS_LAB_DELAY) == 10e6);
	link_of(f, 1)->jitter_ns = 4 * MS;
}

static void normal_jitter_is_two_sigma_over_root_pi(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 2; i++)
		link_of(f, i)->distribution = HS_LINK_NORMAL;
	link_of(f, 0)->jitter_ns = 300000;
	link_of(f, 1)->jitter_ns = 400000;
	assert_near(configured(f, 0, HS_LAB_JITTER), 1.12837917 * 300000, 0.1);
	assert_near(configured(f, 2, HS_LAB_JITTER), 1.12837917 * 500000, 0.1);
	link_of(f, 1)->distribution = HS_LINK_UNIFORM;
	assert_true(isnan(configured(f, 2, HS_LAB_JITTER)));
}

static void a_cable_the_other_way_round_has_its_own_values(void **state)
{
	struct fixture *f = *state;
	f->links[0].from = 1;
	f->links[0].to = 0;
	f->links[0].directions[0].delay_ns = 99 * MS;
	assert_true(configured(f, 0, HS_LAB_DELAY) == 10e6);
	assert_string_equal(fixture_text(f, "rows", 0, "hop"), "src-sw1");
}

static void what_jitter_does_to_order_makes_delays_unknown(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->jitter_ns = 3 * MS;
	link_of(f, 0)->in_order = true;
	assert_true(isnan(configured(f, 0, HS_LAB_DELAY)));
	assert_true(isnan(configured(f, 0, HS_LAB_JITTER)));
	link_of(f, 0)->in_order = false;
	link_of(f, 0)->jitter_ns = 10 * MS + 1; // some delays would be below 0
	assert_true(isnan(configured(f, 0, HS_LAB_DELAY)));
	link_of(f, 0)->jitter_ns = 0;
	link_of(f, 0)->reorder_ratio = 0.1;
	assert_true(isnan(configured(f, 0, HS_LAB_DELAY)));
	assert_true(configured(f, 1, HS_LAB_DELAY) == 20e6);
}

static void a_change_of_a_link_ends_the_configuration(void **state)
{
	struct fixture *f = *state;
	f->run.config_changed_ns = T0 + 2500 * MS;
	fixture_compute(f);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_DELAY).n_configured, 1);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_THROUGHPUT).n_configured, 1);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_LOSS).n_configured, 1);
}

static void a_new_rate_of_traffic_ends_the_configured_throughput(void **state)
{
	struct fixture *f = *state;
	struct hs_scenario_event event = {
			.kind = HS_LAB_EVENT_TRAFFIC, .traffic = 0, .at_ns = 2500 * MS};
	f->scenario.n_events = 1;
	f->scenario.events = &event;
	fixture_compute(f);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_DELAY).n_configured, 2);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_THROUGHPUT).n_configured, 1);
}

static void links_that_are_down_or_lose_telemetry_alone_say_nothing_of_loss(void **state)
{
	struct fixture *f = *state;
	link_of(f, 1)->telemetry_loss_ratio = 0.5;
	assert_true(isnan(configured(f, 1, HS_LAB_LOSS)));
	assert_true(configured(f, 1, HS_LAB_DELAY) == 20e6);
	link_of(f, 1)->down = true;
	assert_true(isnan(configured(f, 1, HS_LAB_DELAY)));
	assert_true(configured(f, 0, HS_LAB_DELAY) == 10e6);
}

// Returns the mean of |sum of X - Y| of random draws.
static double sampled(const double *widths, size_t n, uint32_t draws)
{
	struct hs_rng rng;
	double sum = 0;
	hs_rng_init(&rng, 1);
	for (uint32_t i = 0; i < draws; i++) {
		double difference = 0;
		for (size_t j = 0; j < n; j++)
			difference += 2 * widths[j] *
				      (hs_variate_unit(&rng) - hs_variate_unit(&rng));
		sum += fabs(difference);
	}
	return sum / draws;
}

static void the_sum_of_uniforms_is_what_draws_of_it_show(void **state)
{
	(void)state;
	static const double widths[][5] = {{1, 1, 1, 1, 4}, {2, 1, 3, 2, 1}, {2, 1, 1, 2, 4},
			{1, 1, 1, 1, 1}, {4, 1, 1, 0.1, 2}};
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		double mean = outcome_uniform_jitter(widths[i], 5);
		assert_near(sampled(widths[i], 5, 1000000) / mean, 1, 0.003);
	}
}

static void the_sum_of_uniforms_is_exact_or_not_said(void **state)
{
	(void)state;
	static const double one[] = {3e6}, two[] = {1, 1}, many[] = {1, 1, 1, 1, 1, 1, 1, 1, 1};
	static const double unlike[] = {1, 1e-5};
	assert_near(outcome_uniform_jitter(one, 1), 2e6, 1e-6);
	// E|X| of the sum of four uniforms in [-1, 1] is 14/15.
	assert_near(outcome_uniform_jitter(two, 2), 14.0 / 15, 1e-14);
	// With sixteen, E|X| is nearly that of a normal distribution of the same variance.
	assert_near(outcome_uniform_jitter(many, 8), sqrt(32.0 / 3 / M_PI), 0.01);
	assert_true(isnan(outcome_uniform_jitter(many, 9)));
	assert_true(isnan(outcome_uniform_jitter(unlike, 2)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(delays_add_up_and_nothing_else_is_expected_of_good_links),
			TEST(losses_multiply_along_the_way),
			TEST(bursts_lose_what_they_lose_in_the_long_run),
			TEST(a_rate_that_suffices_adds_the_time_of_the_frame),
			TEST(a_rate_that_does_not_suffice_limits_what_follows),
			TEST(who_waits_for_others_has_no_configured_delay),
			TEST(bursty_traffic_has_no_configured_throughput),
			TEST(uniform_jitter_is_two_thirds_of_its_width),
			TEST(normal_jitter_is_two_sigma_over_root_pi),
			TEST(a_cable_the_other_way_round_has_its_own_values),
			TEST(what_jitter_does_to_order_makes_delays_unknown),
			TEST(a_change_of_a_link_ends_the_configuration),
			TEST(a_new_rate_of_traffic_ends_the_configured_throughput),
			TEST(links_that_are_down_or_lose_telemetry_alone_say_nothing_of_loss),
			cmocka_unit_test(the_sum_of_uniforms_is_what_draws_of_it_show),
			cmocka_unit_test(the_sum_of_uniforms_is_exact_or_not_said),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

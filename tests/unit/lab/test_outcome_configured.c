// SPDX-License-Identifier: BSD-3-Clause
// What the configuration says of a hop, and where it says nothing.
#include "outcome_fixture.h"

#include "outcome_configured.h"
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

// In the second window, computed anew.
static struct hs_point point(struct fixture *f, size_t row, enum hs_metric_kind kind)
{
	fixture_compute(f);
	return hs_outcome_row(f->outcome, row)->points[1][kind];
}

static double configured(struct fixture *f, size_t row, enum hs_metric_kind kind)
{
	return point(f, row, kind).configured;
}

static struct hs_link_config *link_of(struct fixture *f, int link)
{
	return &f->links[link].ways[0];
}

static void delays_add_up_and_nothing_else_is_expected_of_good_links(void **state)
{
	struct fixture *f = *state;
	assert_true(configured(f, 0, HS_METRIC_DELAY) == 10e6);
	assert_true(configured(f, 1, HS_METRIC_DELAY) == 20e6);
	assert_true(configured(f, 2, HS_METRIC_DELAY) == 30e6);
	assert_true(configured(f, 2, HS_METRIC_JITTER) == 0);
	assert_true(configured(f, 2, HS_METRIC_LOSS) == 0);
	assert_true(configured(f, 2, HS_METRIC_THROUGHPUT) == 44960);
	assert_true(configured(f, 2, HS_METRIC_WINDOW_THROUGHPUT) == 44960);
	assert_true(isnan(configured(f, 2, HS_METRIC_LOST_PACKETS)));
	assert_true(isnan(point(f, 2, HS_METRIC_LOSS).bound));
	assert_true(isnan(point(f, 2, HS_METRIC_DELAY).bound));
}

static void losses_multiply_along_the_way(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->loss_ratio = 0.1;
	link_of(f, 1)->loss_ratio = 0.2;
	assert_near(configured(f, 0, HS_METRIC_LOSS), 0.1, 1e-15);
	assert_near(configured(f, 1, HS_METRIC_LOSS), 0.2, 1e-15);
	assert_near(configured(f, 2, HS_METRIC_LOSS), 0.28, 1e-15);
	assert_near(configured(f, 0, HS_METRIC_THROUGHPUT), 44960 * 0.9, 1e-9);
	assert_near(configured(f, 1, HS_METRIC_THROUGHPUT), 44960 * 0.72, 1e-9);
	assert_near(configured(f, 2, HS_METRIC_THROUGHPUT), 44960 * 0.72, 1e-9);
	// Ten packets: 0.798 * root(0.1 * 0.9 / 10).
	assert_near(point(f, 0, HS_METRIC_LOSS).bound, 0.0756939, 1e-6);
	assert_near(point(f, 2, HS_METRIC_LOSS).bound, 0.7978846 * sqrt(0.28 * 0.72 / 10), 1e-6);
}

static void bursts_lose_what_they_lose_in_the_long_run(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->loss_ratio = 0.1;
	link_of(f, 0)->bursts = (struct hs_link_bursts){
			.p = 0.01, .r = 0.03, .loss_bad = 0.8, .loss_good = 0.1};
	// A quarter of the time bad: 0.25 * 0.8 + 0.75 * 0.1 = 0.275; then 1 - 0.725 * 0.9.
	assert_near(configured(f, 0, HS_METRIC_LOSS), 0.3475, 1e-12);
	assert_true(isnan(point(f, 0, HS_METRIC_LOSS).bound));
}

static void a_rate_that_suffices_adds_the_time_of_the_frame(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->rate_bps = 1000000;
	link_of(f, 0)->overhead_bytes = 4;
	// 562 + 24 of telemetry + 4: 590 bytes of 8 us.
	assert_true(configured(f, 0, HS_METRIC_DELAY) == 10e6 + 4720e3);
	assert_true(configured(f, 2, HS_METRIC_DELAY) == 30e6 + 4720e3);
	assert_true(configured(f, 0, HS_METRIC_THROUGHPUT) == 44960);
	assert_true(configured(f, 0, HS_METRIC_LOSS) == 0);
	assert_true(isnan(configured(f, 0, HS_METRIC_JITTER)));
}

static void a_rate_that_does_not_suffice_limits_what_follows(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->rate_bps = 20000;
	assert_true(configured(f, 0, HS_METRIC_THROUGHPUT) == 20000);
	assert_true(configured(f, 1, HS_METRIC_THROUGHPUT) == 20000);
	assert_true(isnan(configured(f, 0, HS_METRIC_DELAY)));
	assert_true(isnan(configured(f, 0, HS_METRIC_LOSS)));
	assert_true(isnan(configured(f, 2, HS_METRIC_DELAY)));
	assert_true(configured(f, 1, HS_METRIC_DELAY) == 20e6);
	link_of(f, 1)->rate_bps = 30000; // enough for what the first lets through
	assert_true(configured(f, 1, HS_METRIC_THROUGHPUT) == 20000);
	assert_true(configured(f, 1, HS_METRIC_DELAY) == 20e6 + floor(586 * 8e9 / 30000));
	link_of(f, 0)->overhead_bytes = 562; // half of it
	assert_true(configured(f, 0, HS_METRIC_THROUGHPUT) == 10000);
	link_of(f, 0)->rate_bps = 0;
	link_of(f, 0)->jitter_ns = 1 * MS; // who comes early or late may wait
	link_of(f, 1)->rate_bps = 1000000;
	assert_true(isnan(configured(f, 1, HS_METRIC_DELAY)));
}

static void who_waits_for_others_has_no_configured_delay(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->rate_bps = 1000000;
	f->traffic[0].kind = HS_TRAFFIC_POISSON;
	assert_true(isnan(configured(f, 0, HS_METRIC_DELAY)));
	assert_true(configured(f, 0, HS_METRIC_THROUGHPUT) == 44960);
	f->traffic[0].kind = HS_TRAFFIC_CONSTANT;
	f->counters[0][0].sent_packets = 41; // one more than the flow sent
	assert_true(isnan(configured(f, 0, HS_METRIC_DELAY)));
	assert_true(isnan(configured(f, 0, HS_METRIC_THROUGHPUT)));
	f->counters[0][0].sent_packets = 40;
	assert_true(configured(f, 0, HS_METRIC_THROUGHPUT) == 44960);
}

static void bursty_traffic_has_no_configured_throughput(void **state)
{
	struct fixture *f = *state;
	f->traffic[0].kind = HS_TRAFFIC_BURSTY;
	assert_true(isnan(configured(f, 2, HS_METRIC_THROUGHPUT)));
	assert_true(isnan(configured(f, 2, HS_METRIC_WINDOW_THROUGHPUT)));
	assert_true(configured(f, 2, HS_METRIC_DELAY) == 30e6);
	assert_true(configured(f, 2, HS_METRIC_LOSS) == 0);
}

static void uniform_jitter_is_two_thirds_of_its_width(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->jitter_ns = 3 * MS;
	assert_true(configured(f, 0, HS_METRIC_JITTER) == 2e6);
	assert_true(configured(f, 1, HS_METRIC_JITTER) == 0);
	assert_true(configured(f, 2, HS_METRIC_JITTER) == 2e6);
	assert_true(configured(f, 0, HS_METRIC_DELAY) == 10e6);
	// Two reports: 0.4607 * J / root(2).
	assert_near(point(f, 0, HS_METRIC_DELAY).bound, 0.46065886 * 3e6 / sqrt(2), 1);
	assert_true(isnan(point(f, 1, HS_METRIC_DELAY).bound));
	link_of(f, 1)->jitter_ns = 4 * MS;
	assert_near(point(f, 2, HS_METRIC_DELAY).bound, 0.46065886 * 5e6 / sqrt(2), 1);
}

static void normal_jitter_is_two_sigma_over_root_pi(void **state)
{
	struct fixture *f = *state;
	for (int i = 0; i < 2; i++)
		link_of(f, i)->distribution = HS_LINK_NORMAL;
	link_of(f, 0)->jitter_ns = 300000;
	link_of(f, 1)->jitter_ns = 400000;
	assert_near(configured(f, 0, HS_METRIC_JITTER), 1.12837917 * 300000, 0.1);
	assert_near(configured(f, 2, HS_METRIC_JITTER), 1.12837917 * 500000, 0.1);
	link_of(f, 1)->distribution = HS_LINK_UNIFORM;
	assert_true(isnan(configured(f, 2, HS_METRIC_JITTER)));
}

static void a_cable_the_other_way_round_has_its_own_values(void **state)
{
	struct fixture *f = *state;
	f->links[0].from = 1;
	f->links[0].to = 0;
	f->links[0].ways[0].delay_ns = 99 * MS;
	assert_true(configured(f, 0, HS_METRIC_DELAY) == 10e6);
	assert_string_equal(hs_outcome_row(f->outcome, 0)->hop, "src-sw1");
}

static void what_jitter_does_to_order_makes_delays_unknown(void **state)
{
	struct fixture *f = *state;
	link_of(f, 0)->jitter_ns = 3 * MS;
	link_of(f, 0)->in_order = true;
	assert_true(isnan(configured(f, 0, HS_METRIC_DELAY)));
	assert_true(isnan(configured(f, 0, HS_METRIC_JITTER)));
	link_of(f, 0)->in_order = false;
	link_of(f, 0)->jitter_ns = 10 * MS + 1; // some delays would be below 0
	assert_true(isnan(configured(f, 0, HS_METRIC_DELAY)));
	link_of(f, 0)->jitter_ns = 0;
	link_of(f, 0)->reorder_ratio = 0.1;
	assert_true(isnan(configured(f, 0, HS_METRIC_DELAY)));
	assert_true(configured(f, 1, HS_METRIC_DELAY) == 20e6);
}

static void a_change_of_a_link_ends_the_configuration(void **state)
{
	struct fixture *f = *state;
	f->run.config_changed_ns = T0 + 2500 * MS;
	fixture_compute(f);
	assert_int_equal(fixture_mean(f, 0, HS_METRIC_DELAY).n_configured, 1);
	assert_int_equal(fixture_mean(f, 0, HS_METRIC_THROUGHPUT).n_configured, 1);
	assert_int_equal(fixture_mean(f, 0, HS_METRIC_LOSS).n_configured, 1);
}

static void a_new_rate_of_traffic_ends_the_configured_throughput(void **state)
{
	struct fixture *f = *state;
	struct hs_scenario_event event = {
			.kind = HS_LAB_EVENT_TRAFFIC, .traffic = 0, .at_ns = 2500 * MS};
	f->scenario.n_events = 1;
	f->scenario.events = &event;
	fixture_compute(f);
	assert_int_equal(fixture_mean(f, 0, HS_METRIC_DELAY).n_configured, 2);
	assert_int_equal(fixture_mean(f, 0, HS_METRIC_THROUGHPUT).n_configured, 1);
}

static void links_that_are_down_or_lose_telemetry_alone_say_nothing_of_loss(void **state)
{
	struct fixture *f = *state;
	link_of(f, 1)->telemetry_loss_ratio = 0.5;
	assert_true(isnan(configured(f, 1, HS_METRIC_LOSS)));
	assert_true(configured(f, 1, HS_METRIC_DELAY) == 20e6);
	link_of(f, 1)->down = true;
	assert_true(isnan(configured(f, 1, HS_METRIC_DELAY)));
	assert_true(configured(f, 0, HS_METRIC_DELAY) == 10e6);
}

// Mean of |sum of X - Y| of random draws.
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
	static const double widths[][5] = {{1, 0, 0, 0, 0}, {2, 1, 0, 0, 0}, {2, 1, 1, 2, 4},
			{1, 1, 1, 1, 1}, {1000, 1, 0, 0, 0}, {0.001, 5, 5, 5, 0.3}};
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		double sigma, mean = hs_outcome_uniform_jitter(widths[i], 5, &sigma);
		assert_near(sampled(widths[i], 5, 1000000) / mean, 1, 0.003);
	}
}

// Standard deviation of means over `pairs` pairs of successive draws, times the root of `pairs`.
static double sampled_sigma(const double *widths, size_t n, bool normal, uint32_t means)
{
	enum {
		PAIRS = 200
	};
	struct hs_rng rng;
	double sum = 0, squares = 0;
	hs_rng_init(&rng, 2);
	for (uint32_t i = 0; i < means; i++) {
		double last = 0, mean = 0;
		for (uint32_t k = 0; k <= PAIRS; k++) {
			double delay = normal ? hs_variate_normal(&rng) : 0;
			for (size_t j = 0; j < n; j++)
				delay += widths[j] * (2 * hs_variate_unit(&rng) - 1);
			mean += k ? fabs(delay - last) / PAIRS : 0;
			last = delay;
		}
		sum += mean;
		squares += mean * mean;
	}
	return sqrt((squares - sum * sum / means) / (means - 1) * PAIRS);
}

static void a_mean_over_pairs_is_off_as_draws_of_it_are(void **state)
{
	struct fixture *f = *state;
	static const double widths[][5] = {{1}, {2, 1, 1, 2, 4}, {1, 1, 0, 0, 3}};
	for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		double sigma;
		hs_outcome_uniform_jitter(widths[i], 5, &sigma);
		assert_near(sampled_sigma(widths[i], 5, false, 20000) / sigma, 1, 0.015);
	}
	double uniform = sampled_sigma(widths[0], 1, false, 20000);
	double normal = sampled_sigma(widths[0], 0, true, 20000);
	// Two pairs end in the second window.
	link_of(f, 0)->jitter_ns = 3 * MS;
	struct hs_point of = point(f, 0, HS_METRIC_JITTER);
	assert_near(of.bound / (0.7978846 * uniform * 3e6 / sqrt(2)), 1, 0.015);
	// Two windows of two.
	struct hs_outcome_mean mean = fixture_mean(f, 0, HS_METRIC_JITTER);
	assert_near(mean.standard_error, 3e6 * sqrt(4.0 / 15) / 2, 1);
	assert_near(fixture_mean(f, 0, HS_METRIC_DELAY).standard_error, 3e6 / sqrt(3) / 2, 1);
	assert_true(isnan(fixture_mean(f, 1, HS_METRIC_DELAY).standard_error));
	link_of(f, 0)->jitter_ns = 1 * MS;
	link_of(f, 0)->distribution = HS_LINK_NORMAL;
	of = point(f, 0, HS_METRIC_JITTER);
	assert_near(of.bound / (0.7978846 * normal * 1e6 / sqrt(2)), 1, 0.015);
	link_of(f, 0)->jitter_ns = 0;
	assert_true(isnan(point(f, 0, HS_METRIC_JITTER).bound));
}

static void telemetry_takes_its_share_of_a_link_that_is_full(void **state)
{
	struct fixture *f = *state;
	// Of 40 frames the first link delivers 39, the second 37; eight have 24 bytes more.
	double first = 192.0 / (39 * 562 + 192), second = 192.0 / (37 * 562 + 192);
	assert_true(isnan(point(f, 0, HS_METRIC_THROUGHPUT).bound));
	link_of(f, 0)->rate_bps = 20000;
	assert_near(point(f, 0, HS_METRIC_THROUGHPUT).bound, 20000 * first, 1e-9);
	assert_near(point(f, 1, HS_METRIC_THROUGHPUT).bound, 20000 * first, 1e-9);
	assert_near(point(f, 2, HS_METRIC_THROUGHPUT).bound, 20000 * first, 1e-9);
	// No more of it passes a second link of the same rate than its telemetry leaves.
	link_of(f, 1)->rate_bps = 20000;
	assert_near(point(f, 1, HS_METRIC_THROUGHPUT).bound, 20000 * second, 1e-9);
	link_of(f, 1)->rate_bps = 10000;
	assert_near(point(f, 1, HS_METRIC_THROUGHPUT).bound, 10000 * second, 1e-9);
	link_of(f, 1)->rate_bps = 100000; // room enough
	assert_near(point(f, 1, HS_METRIC_THROUGHPUT).bound, 20000 * first, 1e-9);
	link_of(f, 1)->rate_bps = 0;
	link_of(f, 1)->loss_ratio = 0.5;
	assert_near(point(f, 1, HS_METRIC_THROUGHPUT).bound, 10000 * first, 1e-9);
	assert_near(point(f, 0, HS_METRIC_THROUGHPUT).bound, 20000 * first, 1e-9);
	// Bytes for the rate alone are in the time of each frame, and the rate is of frames.
	link_of(f, 0)->overhead_bytes = 562;
	first = 192.0 / (39 * 1124 + 192);
	assert_near(point(f, 0, HS_METRIC_THROUGHPUT).bound, 10000 * first, 1e-9);
}

static void the_sum_of_uniforms_is_right_to_seven_digits(void **state)
{
	(void)state;
	static const double one[] = {3e6}, two[] = {1, 1}, many[] = {1, 1, 1, 1, 1, 1, 1, 1};
	double sigma;
	assert_near(hs_outcome_uniform_jitter(one, 1, &sigma), 2e6, 0.2);
	assert_near(sigma, 3e6 * sqrt(4.0 / 15), 0.3);
	// E|X| of the sum of four uniforms in [-1, 1] is 14/15.
	assert_near(hs_outcome_uniform_jitter(two, 2, &sigma), 14.0 / 15, 1e-7);
	// Of sixteen nearly that of a normal of the same variance.
	assert_near(hs_outcome_uniform_jitter(many, 8, &sigma), sqrt(32.0 / 3 / M_PI), 0.01);
	assert_near(sigma, sqrt(8.0 / 3) * 1.0257990, 0.03);
	assert_true(hs_outcome_uniform_jitter(one, 0, &sigma) == 0);
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
			TEST(telemetry_takes_its_share_of_a_link_that_is_full),
			TEST(a_mean_over_pairs_is_off_as_draws_of_it_are),
			cmocka_unit_test(the_sum_of_uniforms_is_what_draws_of_it_show),
			cmocka_unit_test(the_sum_of_uniforms_is_right_to_seven_digits),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

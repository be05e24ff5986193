// SPDX-License-Identifier: BSD-3-Clause
#include "link_test.h"

#include <math.h>

#define FRAMES 200000

static void a_link_that_is_down_loses_everything(void **state)
{
	(void)state;
	struct hs_link_config config = {.delay_ns = MS, .down = true, .duplicate_ratio = 1.0};
	struct hs_link *link = create(config, 1);
	for (int i = 0; i < 100; i++)
		assert_int_equal(send(link, i, 100).loss, HS_LINK_LOST_DOWN);
	config.down = false;
	config.duplicate_ratio = 0.0;
	hs_link_change(link, &config);
	assert_int_equal(send(link, 100, 100).loss, HS_LINK_NOT_LOST);
	struct hs_link_counters counters = counters_of(link);
	assert_true(counters.lost[HS_LINK_LOST_DOWN] == 100 && counters.lost_bytes == 10000);
	assert_true(counters.copies == 0 && counters.delivered_packets == 1);
	hs_link_destroy(link);
}

static void what_was_sent_before_a_link_goes_down_still_arrives(void **state)
{
	(void)state;
	struct hs_link_config config = {.rate_bps = 1000000000, .queue_packets = 10};
	struct hs_link *link = create(config, 1);
	for (int i = 0; i < 3; i++)
		send(link, 0, 100);
	config.down = true;
	hs_link_change(link, &config);
	assert_int_equal(send(link, 1, 100).loss, HS_LINK_LOST_DOWN);
	assert_int_equal(hs_link_waiting(link, 1), 2);
	assert_true(counters_of(link).delivered_packets == 3);
	config.down = false;
	hs_link_change(link, &config);
	assert_true(send(link, 1, 100).departs_ns == 3200);
	hs_link_destroy(link);
}

static void random_loss_takes_the_frames_that_the_generator_says(void **state)
{
	(void)state;
	struct hs_link *link = create((struct hs_link_config){.loss_ratio = 0.03}, 42);
	struct hs_rng rng = generator(42, GEN_RANDOM);
	uint64_t lost = 0;
	for (int i = 0; i < FRAMES; i++) {
		bool expected = hit(&rng, 0.03);
		assert_int_equal(send(link, i, 562).loss,
				expected ? HS_LINK_LOST_RANDOM : HS_LINK_NOT_LOST);
		lost += expected;
	}
	assert_in_range(lost, 6000 - 380, 6000 + 380);
	struct hs_link_counters counters = counters_of(link);
	assert_true(counters.lost[HS_LINK_LOST_RANDOM] == lost);
	assert_true(counters.lost_bytes == lost * 562);
	assert_true(counters.delivered_packets == FRAMES - lost);
	hs_link_destroy(link);
}

static void a_ratio_of_one_loses_all_and_of_zero_none(void **state)
{
	(void)state;
	struct hs_link_config config = {.loss_ratio = 1.0};
	struct hs_link *link = create(config, 1);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(send(link, i, 100).loss, HS_LINK_LOST_RANDOM);
	config.loss_ratio = 0.0;
	hs_link_change(link, &config);
	for (int i = 0; i < 1000; i++)
		assert_int_equal(send(link, i + 1000, 100).loss, HS_LINK_NOT_LOST);
	hs_link_destroy(link);
}

static void telemetry_loss_takes_frames_with_telemetry_alone(void **state)
{
	(void)state;
	struct hs_link *link = create((struct hs_link_config){.telemetry_loss_ratio = 0.5}, 43);
	struct hs_rng rng = generator(43, GEN_TELEMETRY);
	struct hs_link_fate fates[2];
	uint64_t lost = 0;
	for (int i = 0; i < 50000; i++) {
		hs_link_send(link, i, 562, i % 5 == 0, fates);
		bool expected = i % 5 == 0 && hit(&rng, 0.5);
		assert_int_equal(fates[0].loss,
				expected ? HS_LINK_LOST_TELEMETRY : HS_LINK_NOT_LOST);
		lost += expected;
	}
	struct hs_link_counters counters = counters_of(link);
	assert_true(counters.telemetry_sent == 10000 && counters.telemetry_lost == lost);
	assert_in_range(lost, 5000 - 250, 5000 + 250);
	hs_link_destroy(link);
}

static void telemetry_that_is_lost_for_any_reason_counts(void **state)
{
	(void)state;
	struct hs_link_config config = {
			.loss_ratio = 1.0, .rate_bps = 1000000000, .queue_packets = 1};
	struct hs_link *link = create(config, 1);
	struct hs_link_fate fates[2];
	hs_link_send(link, 0, 100, true, fates);
	hs_link_send(link, 0, 100, false, fates);
	config.loss_ratio = 0.0;
	hs_link_change(link, &config);
	hs_link_send(link, 0, 100, false, fates);
	hs_link_send(link, 0, 100, true, fates);
	hs_link_send(link, 0, 100, true, fates); // no room
	assert_int_equal(fates[0].loss, HS_LINK_LOST_QUEUE);
	assert_true(counters_of(link).telemetry_sent == 3);
	assert_true(counters_of(link).telemetry_lost == 2);
	hs_link_destroy(link);
}

static void a_frame_that_is_lost_twice_has_the_first_reason(void **state)
{
	(void)state;
	struct hs_link_config config = {.down = true,
			.loss_ratio = 1.0,
			.telemetry_loss_ratio = 1.0,
			.bursts = {.loss_good = 1.0, .loss_bad = 1.0}};
	struct hs_link *link = create(config, 1);
	struct hs_link_fate fates[2];
	hs_link_send(link, 0, 100, true, fates);
	assert_int_equal(fates[0].loss, HS_LINK_LOST_DOWN);
	config.down = false;
	hs_link_change(link, &config);
	hs_link_send(link, 0, 100, true, fates);
	assert_int_equal(fates[0].loss, HS_LINK_LOST_TELEMETRY);
	assert_int_equal(send(link, 0, 100).loss, HS_LINK_LOST_RANDOM);
	config.loss_ratio = 0.0;
	hs_link_change(link, &config);
	assert_int_equal(send(link, 0, 100).loss, HS_LINK_LOST_BURST);
	hs_link_destroy(link);
}

static void bursts_follow_the_two_states_frame_by_frame(void **state)
{
	(void)state;
	struct hs_link_bursts bursts = {.p = 0.02, .r = 0.1, .loss_bad = 0.7, .loss_good = 0.005};
	struct hs_link *link = create((struct hs_link_config){.bursts = bursts}, 44);
	struct hs_rng transitions = generator(44, GEN_BURST_STATE);
	struct hs_rng losses = generator(44, GEN_BURST_LOSS);
	bool bad = false;
	for (int i = 0; i < FRAMES; i++) {
		if (hit(&transitions, bad ? bursts.r : bursts.p))
			bad = !bad;
		bool lost = hit(&losses, bad ? bursts.loss_bad : bursts.loss_good);
		assert_int_equal(send(link, i, 562).loss,
				lost ? HS_LINK_LOST_BURST : HS_LINK_NOT_LOST);
	}
	// Stationary: p / (p + r) of the time in the bad state.
	double expected = 1.0 / 6 * 0.7 + 5.0 / 6 * 0.005;
	double ratio = (double)counters_of(link).lost[HS_LINK_LOST_BURST] / FRAMES;
	assert_true(fabs(ratio - expected) < 0.015);
	hs_link_destroy(link);
}

// The simple Gilbert model: loss in the bad state alone, and all of it.
static void bursts_last_one_over_r_frames_and_take_p_of_p_plus_r(void **state)
{
	(void)state;
	struct hs_link *link = create(
			(struct hs_link_config){.bursts = {.p = 0.01, .r = 0.25, .loss_bad = 1.0}},
			45);
	int lost = 0;
	int bursts = 0;
	bool before = false;
	for (int i = 0; i < FRAMES; i++) {
		bool now = send(link, i, 562).loss == HS_LINK_LOST_BURST;
		lost += now;
		bursts += now && !before;
		before = now;
	}
	// Five standard deviations: sqrt(12) frames a burst, of 1923 bursts.
	assert_true(fabs((double)lost / bursts - 4.0) < 5 * 3.47 / sqrt(1923));
	assert_true(fabs((double)lost / FRAMES - 0.01 / 0.26) < 0.0050);
	hs_link_destroy(link);
}

static void bursts_that_are_turned_off_leave_no_state_behind(void **state)
{
	(void)state;
	struct hs_link_config config = {.bursts = {.p = 1.0, .loss_bad = 1.0}};
	struct hs_link *link = create(config, 1);
	assert_int_equal(send(link, 0, 100).loss, HS_LINK_LOST_BURST);
	config.bursts = (struct hs_link_bursts){0};
	hs_link_change(link, &config);
	assert_int_equal(send(link, 0, 100).loss, HS_LINK_NOT_LOST);
	config.bursts.loss_bad = 1.0;
	hs_link_change(link, &config);
	assert_int_equal(send(link, 0, 100).loss, HS_LINK_NOT_LOST);
	hs_link_destroy(link);
}

enum {
	LOSS = 1,
	BURSTS = 2,
	JITTER = 4,
};

// What must stay the same, frame by frame, when one more thing happens on the link.
static void assert_undisturbed(
		const struct hs_link_config *base, const struct hs_link_config *other, int what)
{
	struct hs_link *a = create(*base, 46);
	struct hs_link *b = create(*other, 46);
	unsigned int delays = 0;
	for (int64_t i = 0; i < 10000; i++) {
		struct hs_link_fate x[2];
		struct hs_link_fate y[2];
		hs_link_send(a, i * 100 * US, 562, true, x);
		hs_link_send(b, i * 100 * US, 562, true, y);
		if (what & LOSS && y->loss != HS_LINK_LOST_TELEMETRY)
			assert_true((x->loss == HS_LINK_LOST_RANDOM) ==
					(y->loss == HS_LINK_LOST_RANDOM));
		if (what & BURSTS && y->loss != HS_LINK_LOST_TELEMETRY)
			assert_true((x->loss == HS_LINK_LOST_BURST) ==
					(y->loss == HS_LINK_LOST_BURST));
		if (!(what & JITTER) || x->loss || y->loss || y->arrives_ns == y->departs_ns)
			continue;
		delays++;
		assert_true(x->arrives_ns - x->departs_ns == y->arrives_ns - y->departs_ns);
	}
	if (what & JITTER)
		assert_true(delays > 2000);
	hs_link_destroy(a);
	hs_link_destroy(b);
}

static void turning_one_decision_on_leaves_the_others_as_they_were(void **state)
{
	(void)state;
	const struct hs_link_config base = {.delay_ns = 10 * MS,
			.jitter_ns = MS,
			.loss_ratio = 0.1,
			.bursts = {.p = 0.02, .r = 0.2, .loss_bad = 1.0}};
	struct hs_link_config other = base;
	other.telemetry_loss_ratio = 0.5;
	assert_undisturbed(&base, &other, LOSS | BURSTS | JITTER);
	other = base;
	other.duplicate_ratio = 0.5;
	assert_undisturbed(&base, &other, LOSS | BURSTS | JITTER);
	other.reorder_ratio = 0.5;
	assert_undisturbed(&base, &other, LOSS | BURSTS | JITTER);
	other = base;
	other.distribution = HS_LINK_NORMAL;
	assert_undisturbed(&base, &other, LOSS | BURSTS);
	other.jitter_ns = 0;
	assert_undisturbed(&base, &other, LOSS | BURSTS);
	other = base;
	other.bursts = (struct hs_link_bursts){0};
	assert_undisturbed(&base, &other, LOSS | JITTER);
	other = base;
	other.rate_bps = 40000000;
	other.queue_packets = 10;
	assert_undisturbed(&base, &other, LOSS | BURSTS | JITTER);
	struct hs_link_config quiet = base;
	quiet.loss_ratio = 0.0;
	assert_undisturbed(&quiet, &base, JITTER);
}

static void copies_leave_alone_which_frames_are_reordered(void **state)
{
	(void)state;
	struct hs_link *link = create((struct hs_link_config){.delay_ns = MS,
						      .duplicate_ratio = 0.5,
						      .reorder_ratio = 0.25},
			51);
	struct hs_rng rng = generator(51, GEN_REORDER);
	struct hs_link_fate fates[2];
	int skipped = 0;
	for (int i = 0; i < 10000; i++) {
		unsigned n = hs_link_send(link, i, 100, false, fates);
		assert_true(fates[0].arrives_ns == i + (hit(&rng, 0.25) ? 0 : MS));
		skipped += n == 2 && fates[1].arrives_ns == i;
	}
	assert_in_range(skipped, 1250 - 170, 1250 + 170); // copies, by draws of their own
	hs_link_destroy(link);
}

static void an_outage_does_not_change_what_comes_after_it(void **state)
{
	(void)state;
	struct hs_link_config config = {.jitter_ns = MS,
			.delay_ns = MS,
			.loss_ratio = 0.1,
			.bursts = {.p = 0.02, .r = 0.2, .loss_bad = 1.0}};
	struct hs_link *a = create(config, 50);
	struct hs_link *b = create(config, 50);
	for (int64_t i = 0; i < 3000; i++) {
		if (i % 1000 == 0) {
			config.down = i == 1000;
			hs_link_change(b, &config);
		}
		struct hs_link_fate x = send(a, i * MS, 562);
		struct hs_link_fate y = send(b, i * MS, 562);
		if (i / 1000 == 1) {
			assert_int_equal(y.loss, HS_LINK_LOST_DOWN);
			continue;
		}
		assert_int_equal(y.loss, x.loss);
		assert_true(y.arrives_ns == x.arrives_ns);
	}
	hs_link_destroy(a);
	hs_link_destroy(b);
}

static void a_copy_has_a_fate_of_its_own_and_no_ratio_loses_it(void **state)
{
	(void)state;
	struct hs_link *link = create((struct hs_link_config){.delay_ns = 10 * MS,
						      .jitter_ns = MS,
						      .loss_ratio = 0.5,
						      .duplicate_ratio = 0.25},
			47);
	struct hs_rng losses = generator(47, GEN_RANDOM);
	struct hs_rng copies = generator(47, GEN_DUPLICATE);
	struct hs_link_fate fates[2];
	uint64_t made = 0;
	uint64_t equal = 0;
	for (int64_t i = 0; i < 40000; i++) {
		bool lost = hit(&losses, 0.5);
		bool copied = hit(&copies, 0.25) && !lost;
		assert_int_equal(hs_link_send(link, i * US, 100, false, fates), copied ? 2 : 1);
		assert_int_equal(fates[0].loss, lost ? HS_LINK_LOST_RANDOM : HS_LINK_NOT_LOST);
		if (!copied)
			continue;
		made++;
		assert_int_equal(fates[1].loss, HS_LINK_NOT_LOST);
		assert_in_range(fates[1].arrives_ns - i * US, 9 * MS, 11 * MS - 1);
		equal += fates[1].arrives_ns == fates[0].arrives_ns;
	}
	assert_in_range(made, 5000 - 350, 5000 + 350);
	assert_in_range(equal, 0, 10);
	struct hs_link_counters counters = counters_of(link);
	assert_true(counters.copies == made);
	assert_true(counters.sent_packets == 40000);
	assert_true(counters.delivered_bytes == 100 * counters.delivered_packets);
	hs_link_destroy(link);
}

static void a_copy_takes_its_turn_at_the_rate_and_its_place_in_the_queue(void **state)
{
	(void)state;
	struct hs_link *link = create((struct hs_link_config){.rate_bps = 1000000000,
						      .queue_packets = 2,
						      .duplicate_ratio = 1.0},
			1);
	struct hs_link_fate fates[2];
	assert_int_equal(hs_link_send(link, 0, 100, true, fates), 2);
	assert_true(fates[0].departs_ns == 800 && fates[1].departs_ns == 1600);
	assert_int_equal(hs_link_send(link, 0, 100, true, fates), 2);
	assert_true(fates[0].departs_ns == 2400);
	assert_int_equal(fates[1].loss, HS_LINK_LOST_QUEUE);
	struct hs_link_counters counters = counters_of(link);
	assert_true(counters.sent_packets == 2 && counters.copies == 2);
	assert_true(counters.delivered_packets == 3);
	assert_true(counters.lost[HS_LINK_LOST_QUEUE] == 1 && counters.lost_bytes == 100);
	assert_true(counters.telemetry_sent == 2 && counters.telemetry_lost == 0);
	hs_link_destroy(link);
}

static const struct hs_link_config everything = {.rate_bps = 40000000,
		.queue_packets = 20,
		.delay_ns = 10 * MS,
		.jitter_ns = 2 * MS,
		.loss_ratio = 0.05,
		.telemetry_loss_ratio = 0.2,
		.duplicate_ratio = 0.05,
		.reorder_ratio = 0.05,
		.bursts = {.p = 0.01, .r = 0.2, .loss_bad = 0.9, .loss_good = 0.01}};

static void the_same_seed_gives_the_same_fates(void **state)
{
	(void)state;
	struct hs_link *a = create(everything, 48);
	struct hs_link *b = create(everything, 48);
	for (int64_t i = 0; i < 20000; i++) {
		struct hs_link_fate x[2];
		struct hs_link_fate y[2];
		unsigned n = hs_link_send(a, i * 100 * US, 562, i % 3 == 0, x);
		assert_int_equal(hs_link_send(b, i * 100 * US, 562, i % 3 == 0, y), n);
		for (unsigned k = 0; k < n; k++) {
			assert_int_equal(x[k].loss, y[k].loss);
			assert_true(x[k].wait_ns == y[k].wait_ns);
			assert_true(x[k].departs_ns == y[k].departs_ns);
			assert_true(x[k].arrives_ns == y[k].arrives_ns);
		}
	}
	struct hs_link_counters x = counters_of(a);
	struct hs_link_counters y = counters_of(b);
	assert_memory_equal(&x, &y, sizeof(x));
	hs_link_destroy(a);
	hs_link_destroy(b);
}

// The two directions of a cable, with neighbouring seeds: losses meet as often as chance has it.
static void directions_with_other_seeds_are_independent(void **state)
{
	(void)state;
	struct hs_link *a = create((struct hs_link_config){.loss_ratio = 0.1}, 1);
	struct hs_link *b = create((struct hs_link_config){.loss_ratio = 0.1}, 2);
	unsigned int both = 0;
	for (int i = 0; i < FRAMES; i++) {
		bool x = send(a, i, 562).loss != HS_LINK_NOT_LOST;
		bool y = send(b, i, 562).loss != HS_LINK_NOT_LOST;
		both += x && y;
	}
	assert_in_range(both, 2000 - 225, 2000 + 225);
	hs_link_destroy(a);
	hs_link_destroy(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_link_that_is_down_loses_everything),
			cmocka_unit_test(what_was_sent_before_a_link_goes_down_still_arrives),
			cmocka_unit_test(random_loss_takes_the_frames_that_the_generator_says),
			cmocka_unit_test(a_ratio_of_one_loses_all_and_of_zero_none),
			cmocka_unit_test(telemetry_loss_takes_frames_with_telemetry_alone),
			cmocka_unit_test(telemetry_that_is_lost_for_any_reason_counts),
			cmocka_unit_test(a_frame_that_is_lost_twice_has_the_first_reason),
			cmocka_unit_test(bursts_follow_the_two_states_frame_by_frame),
			cmocka_unit_test(bursts_last_one_over_r_frames_and_take_p_of_p_plus_r),
			cmocka_unit_test(bursts_that_are_turned_off_leave_no_state_behind),
			cmocka_unit_test(turning_one_decision_on_leaves_the_others_as_they_were),
			cmocka_unit_test(copies_leave_alone_which_frames_are_reordered),
			cmocka_unit_test(an_outage_does_not_change_what_comes_after_it),
			cmocka_unit_test(a_copy_has_a_fate_of_its_own_and_no_ratio_loses_it),
			cmocka_unit_test(
					a_copy_takes_its_turn_at_the_rate_and_its_place_in_the_queue),
			cmocka_unit_test(the_same_seed_gives_the_same_fates),
			cmocka_unit_test(directions_with_other_seeds_are_independent),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

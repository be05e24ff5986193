// SPDX-License-Identifier: BSD-3-Clause
// One scenario for each rule about loss, and about telemetry that lacks a part (docs/metrics.md).
#include "qos_fixture.h"
#include "sim.h"

// ---- rules 11 and 12 ----

static void loss_in_a_node_is_told_from_loss_on_a_link(void **state)
{
	struct fixture *f = *state;
	give_range(f, 100, 500, 100);
	for (uint64_t i = 600; i <= 900; i += 100) {
		struct hs_report report = plain(i);
		hop_of(&report, 0)->tx_packets -= 5; // inside node 1
		hop_of(&report, 1)->rx_packets -= 7; // and 2 behind it
		hop_of(&report, 1)->tx_packets -= 7;
		report.sink_rx_packets -= 7;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct caught *caught = second_ending(f, 1);
	assert_int_equal(hop_between(caught, 0, 1)->node_lost_packets, 5);
	assert_int_equal(hop_between(caught, 0, 1)->lost_packets, 0);
	assert_int_equal(hop_between(caught, 1, 2)->lost_packets, 2);
	assert_int_equal(caught->window.e2e.lost_packets, 7);
	assert_int_equal(caught->window.unattributed_lost_packets, 0);
	assert_false(hop_between(caught, 2, 9)->has & HS_QOS_HAS_NODE_LOSS);
}

// ---- rule 13 ----

static void a_span_that_nothing_resolves_is_flagged(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 0; i <= 1; i++) {
		struct hs_report report = plain(1 + i * 200000); // 200,000 sent, 70,000 lost
		report.sink_ts_ns = T0 + (1 + (int64_t)i) * 100 * MS;
		report.telemetry.e2e.ts_ns = (uint64_t)(report.sink_ts_ns - 3 * MS);
		for (unsigned j = 0; j < 2; j++)
			hop_of(&report, j)->bitmap = HS_HOP_PACKETS;
		hop_of(&report, 1)->rx_packets -= (uint16_t)(i * 70000);
		hop_of(&report, 1)->tx_packets -= (uint16_t)(i * 70000);
		report.sink_rx_packets -= i * 70000;
		report.sink_rx_bytes -= i * 70000 * 562;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct caught *caught = second_ending(f, 1);
	assert_true(caught->window.flags & HS_QOS_COUNTER_AMBIGUOUS);
	assert_int_equal(caught->window.e2e.lost_packets, 70000);
	assert_int_equal(caught->window.unattributed_lost_packets, 65536);
}

// ---- rule 14 ----

static void a_late_packet_is_not_lost_twice(void **state)
{
	struct fixture *f = *state;
	static const int missing[] = {0, 30, 5, 0}; // at the end of each second
	for (unsigned second = 0; second < 4; second++) {
		for (uint64_t i = 100; i <= 900; i += 100) {
			struct hs_report report = plain(second * 1000 + i);
			report.sink_rx_packets -= (uint64_t)missing[second];
			give(f->qos, &report);
		}
	}
	hs_qos_advance(f->qos, T0 + 5 * SECOND);
	const struct hs_qos_hop *second = hop_between(second_ending(f, 2), 2, 9);
	const struct hs_qos_hop *third = hop_between(second_ending(f, 3), 2, 9);
	const struct hs_qos_hop *fourth = hop_between(second_ending(f, 4), 2, 9);
	assert_int_equal(second->lost_packets, 30);
	assert_int_equal(second->shown_lost_packets, 30);
	assert_int_equal(third->lost_packets, -25);
	assert_int_equal(third->shown_lost_packets, 0);
	assert_int_equal(fourth->lost_packets, -5);
	assert_int_equal(fourth->shown_lost_packets, 0);
}

// Reports of the next second that come before the window closes, 100 ms after its end.
static void give_with_missing(struct fixture *f, uint64_t number, uint64_t missing)
{
	struct hs_report report = plain(number);
	report.sink_rx_packets -= missing;
	give(f->qos, &report);
}

static void what_a_later_report_finds_there_is_not_shown_as_lost(void **state)
{
	struct fixture *f = *state;
	give_range(f, 100, 900, 100);
	give_with_missing(f, 980, 30); // 30 were overtaken by this one
	give_with_missing(f, 1020, 30);
	give_with_missing(f, 1050, 4);
	give_with_missing(f, 1080, 9);
	hs_qos_advance(f->qos, T0 + SECOND + 100 * MS);
	const struct hs_qos_hop *first = hop_between(second_ending(f, 1), 2, 9);
	assert_int_equal(first->lost_packets, 30);
	assert_int_equal(first->shown_lost_packets, 4);
	give_with_missing(f, 1900, 7);
	hs_qos_advance(f->qos, T0 + 2 * SECOND + 100 * MS);
	const struct hs_qos_hop *second = hop_between(second_ending(f, 2), 2, 9);
	assert_int_equal(second->lost_packets, -23);
	assert_int_equal(second->shown_lost_packets, 3); // 7 in all
}

static void what_was_denied_and_is_missing_in_the_end_is_shown_then(void **state)
{
	struct fixture *f = *state;
	give_range(f, 100, 800, 100);
	give_with_missing(f, 990, 20);
	give_with_missing(f, 1010, 0); // overtook 20 of its own
	hs_qos_advance(f->qos, T0 + SECOND + 100 * MS);
	assert_int_equal(hop_between(second_ending(f, 1), 2, 9)->shown_lost_packets, 0);
	give_with_missing(f, 1500, 20);
	hs_qos_advance(f->qos, T0 + 2 * SECOND + 100 * MS);
	const struct hs_qos_hop *second = hop_between(second_ending(f, 2), 2, 9);
	assert_int_equal(second->lost_packets, 0);
	assert_int_equal(second->shown_lost_packets, 20);
}

static void a_loss_that_lasts_is_shown_in_the_window_that_it_happened_in(void **state)
{
	struct fixture *f = *state;
	give_range(f, 100, 900, 100);
	give_with_missing(f, 950, 10);
	give_with_missing(f, 1010, 10);
	give_with_missing(f, 1060, 25);
	hs_qos_advance(f->qos, T0 + SECOND + 100 * MS);
	assert_int_equal(hop_between(second_ending(f, 1), 2, 9)->shown_lost_packets, 10);
	give_with_missing(f, 1960, 25);
	hs_qos_advance(f->qos, T0 + 2 * SECOND + 100 * MS);
	assert_int_equal(hop_between(second_ending(f, 2), 2, 9)->shown_lost_packets, 15);
}

static void a_surplus_is_paid_back_by_the_next_loss(void **state)
{
	struct fixture *f = *state;
	static const int missing[] = {0, -20, 30}; // 20 early, then 50 more lost
	for (unsigned second = 0; second < 3; second++) {
		for (uint64_t i = 100; i <= 900; i += 100) {
			struct hs_report report = plain(second * 1000 + i);
			report.sink_rx_packets -= (uint64_t)(int64_t)missing[second];
			give(f->qos, &report);
		}
	}
	hs_qos_advance(f->qos, T0 + 4 * SECOND);
	assert_int_equal(second_ending(f, 2)->window.e2e.shown_lost_packets, 0);
	assert_int_equal(second_ending(f, 3)->window.e2e.lost_packets, 50);
	assert_int_equal(second_ending(f, 3)->window.e2e.shown_lost_packets, 30);
}

// What `surplus` packets a report over so many seconds leave to be paid, by a loss behind them.
static void give_surplus_then_loss(struct fixture *f, unsigned seconds, unsigned surplus)
{
	uint64_t received = 0;
	for (uint64_t i = 1; i <= 10 * seconds + 1000; i++) {
		struct hs_report report = plain_report(i * 1000, MS / 10, 0, NULL);
		uint64_t extra = i <= 10 * seconds ? surplus : 0;
		bool lossy = i > 10 * seconds + 100 && i <= 10 * seconds + 200;
		received += 1000 + extra - (lossy ? 500 : 0);
		report.sink_rx_packets = received;
		report.sink_rx_bytes = received * 562;
		give(f->qos, &report);
	}
	flush_all(f->qos);
}

static uint64_t shown_loss(const struct fixture *f, int64_t window_ns)
{
	uint64_t shown = 0;
	for (size_t i = 0; i < f->catcher.n; i++)
		if (f->catcher.windows[i].window.window_ns == window_ns)
			shown += f->catcher.windows[i].window.e2e.shown_lost_packets;
	return shown;
}

static void a_surplus_hides_no_more_loss_than_reordering_explains(void **state)
{
	struct fixture *f = *state;
	// An eighth too many, and a window without any now and then: never called lasting.
	uint64_t received = 0;
	for (uint64_t i = 1; i <= 1300; i++) {
		struct hs_report report = plain_report(i * 1000, MS / 10, 0, NULL);
		received += i <= 1000 ? i % 20 < 10 ? 1000 : 1100 : 600;
		report.sink_rx_packets = received;
		report.sink_rx_bytes = received * 562;
		give(f->qos, &report);
	}
	flush_all(f->qos);
	for (size_t i = 0; i < f->catcher.n; i++)
		assert_false(f->catcher.windows[i].window.flags & HS_QOS_RULES_DIFFER);
	assert_in_range(shown_loss(f, SECOND), 300 * 400 - 4096, 300 * 400);
	assert_in_range(shown_loss(f, 10 * SECOND), 300 * 400 - 4096, 300 * 400);
}

// Once, two hundred too many; then, ten seconds later, losses.
static void a_surplus_is_forgotten_when_no_reordering_can_be_so_old(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 20000; i += 100) {
		struct hs_report report = plain_report(i, MS, 0, NULL);
		report.sink_rx_packets += i > 2000 ? 200 : 0;
		report.sink_rx_packets -= i > 14000 ? (i - 14000) / 20 : 0;
		give(f->qos, &report);
	}
	flush_all(f->qos);
	for (unsigned second = 16; second <= 19; second++)
		assert_int_equal(second_ending(f, second)->window.e2e.shown_lost_packets, 50);
}

static void what_rules_that_differ_left_over_hides_no_loss_after_them(void **state)
{
	struct fixture *f = *state;
	give_surplus_then_loss(f, 60, 900); // the last of it just behind the minute
	assert_int_equal(shown_loss(f, SECOND), 50000);
	assert_int_equal(shown_loss(f, 10 * SECOND), 50000);
	assert_int_equal(shown_loss(f, 60 * SECOND), 50000 - 900);
}

// ---- rule 15 ----

static void a_window_says_that_rules_differed_in_a_part_of_it(void **state)
{
	struct fixture *f = *state;
	give_surplus_then_loss(f, 16, 900);
	const struct caught *within = caught_ending(&f->catcher, 10 * SECOND, T0 + 20 * SECOND);
	const struct caught *behind = caught_ending(&f->catcher, 10 * SECOND, T0 + 30 * SECOND);
	assert_true(second_ending(f, 16)->window.flags & HS_QOS_RULES_DIFFER);
	assert_false(second_ending(f, 18)->window.flags & HS_QOS_RULES_DIFFER);
	assert_true(within->window.flags & HS_QOS_RULES_DIFFER);
	assert_false(behind->window.flags & HS_QOS_RULES_DIFFER);
	assert_true(caught_at(&f->catcher, 60 * SECOND, 0)->window.flags & HS_QOS_RULES_DIFFER);
	assert_true(hs_qos_latest(f->qos, 7, 0)->flags & HS_QOS_RULES_DIFFER);
}

static void rules_that_differ_are_flagged(void **state)
{
	(void)state;
	struct sim_config config = sim_defaults(21);
	struct sim_result truth;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	config.n_nodes = 2;
	config.nodes[0].blind_ppm = 300000; // its rule matches 70 % of the packets
	sim_run(&config, &truth);
	for (size_t i = 0; i < truth.n_reports; i++)
		give(qos, &truth.reports[i].report);
	flush_all(qos);
	const struct caught *early = caught_at(&catcher, SECOND, 0);
	const struct caught *late = caught_at(&catcher, SECOND, 5);
	assert_false(early->window.flags & HS_QOS_RULES_DIFFER);
	assert_true(late->window.flags & HS_QOS_RULES_DIFFER);
	assert_true(hop_between(late, 1, 2)->lost_packets < -2000);
	assert_int_equal(late->window.e2e.lost_packets, 0);
	sim_free(&truth);
	monitor_free(qos, &catcher);
}

static void rules_that_differ_are_flagged_when_reports_are_rare(void **state)
{
	(void)state;
	struct sim_config config = sim_defaults(22);
	struct sim_result truth;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	config.n_nodes = 2;
	config.sample_every = 50000; // 15,000 fewer counted in a span: more than reordering
	config.gap_ns = 10000;
	config.nodes[0].blind_ppm = 300000;
	sim_run(&config, &truth);
	for (size_t i = 0; i < truth.n_reports; i++)
		give(qos, &truth.reports[i].report);
	flush_all(qos);
	assert_true(caught_at(&catcher, SECOND, 7)->window.flags & HS_QOS_RULES_DIFFER);
	assert_int_equal(caught_at(&catcher, SECOND, 7)->window.e2e.lost_packets, 0);
	sim_free(&truth);
	monitor_free(qos, &catcher);
}

// ---- partial telemetry ----

static void what_a_node_does_not_supply_is_left_out(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 900; i += 100) {
		struct hs_report report = plain(i);
		hop_of(&report, 0)->bitmap = HS_HOP_TIMESTAMP;
		report.sink_rx_packets -= i / 100; // one lost in each span
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct caught *caught = second_ending(f, 1);
	const struct hs_qos_hop *first = hop_between(caught, 0, 1);
	const struct hs_qos_hop *last = hop_between(caught, 2, 9);
	assert_true(first->has & HS_QOS_HAS_DELAY);
	assert_false(first->has & (HS_QOS_HAS_LOSS | HS_QOS_HAS_THROUGHPUT | HS_QOS_HAS_BYTES));
	assert_false(hop_between(caught, 1, 2)->has & HS_QOS_HAS_LOSS);
	assert_int_equal(last->lost_packets, 8);
	assert_int_equal(caught->window.e2e.lost_packets, 8);
}

static void loss_around_a_node_without_counts_is_unattributed(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 900; i += 100) {
		struct hs_report report = plain(i);
		hop_of(&report, 0)->bitmap = HS_HOP_TIMESTAMP;
		hop_of(&report, 1)->rx_packets -= (uint16_t)(i / 100);
		hop_of(&report, 1)->tx_packets -= (uint16_t)(i / 100);
		report.sink_rx_packets -= i / 100;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct caught *caught = second_ending(f, 1);
	assert_int_equal(hop_between(caught, 2, 9)->lost_packets, 0);
	assert_int_equal(caught->window.e2e.lost_packets, 8);
	assert_int_equal(caught->window.unattributed_lost_packets, 8);
}

static void hops_are_measured_where_the_source_counts_nothing(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 900; i += 100) {
		struct hs_report report = plain(i);
		report.telemetry.e2e.bitmap = HS_E2E_TIMESTAMP;
		report.sink_rx_packets -= i / 100;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct caught *caught = second_ending(f, 1);
	assert_false(caught->window.e2e.has & HS_QOS_HAS_LOSS);
	assert_int_equal(caught->window.e2e.rx_packets, 792);
	assert_int_equal(hop_between(caught, 2, 9)->lost_packets, 8);
	assert_int_equal(hop_between(caught, 1, 2)->tx_packets, 800);
	assert_int_equal(hop_between(caught, 0, 1)->rx_packets, 800);
	assert_false(hop_between(caught, 0, 1)->has & HS_QOS_HAS_LOSS);
}

// More arrives than is sent in each span, by more than reordering could: no restart each time.
static void lasting_surplus_end_to_end_is_measured_and_flagged(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 1; i <= 40; i++) {
		struct hs_report report = plain_report(i * 50000, 10 * US, 0, NULL);
		report.sink_rx_packets += i * 10000;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 22 * SECOND);
	const struct hs_qos_window *window = &second_ending(f, 18)->window;
	assert_false(window->flags & HS_QOS_EPOCH);
	assert_true(window->flags & HS_QOS_RULES_DIFFER);
	assert_int_equal(window->e2e.lost_packets, -20000);
}

static void no_surplus_is_carried_into_a_new_epoch(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 3900; i += 100) {
		struct hs_report report = plain(i);
		uint64_t missing = i < 1000 ? 0 : i < 3000 ? (uint64_t)-20 : 10;
		report.sink_rx_packets -= missing;
		if (i > 2000)
			report.telemetry.e2e.tx_packets -= 1990;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 5 * SECOND);
	assert_int_equal(second_ending(f, 2)->window.e2e.lost_packets, -20);
	assert_true(second_ending(f, 3)->window.flags & HS_QOS_EPOCH);
	assert_int_equal(second_ending(f, 4)->window.e2e.shown_lost_packets, 30);
}

static void no_surplus_is_carried_past_a_restarted_node(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 40100; i <= 43900; i += 100) {
		struct hs_report report = plain(i);
		int64_t missing = i < 41000 ? 0 : i < 43000 ? -20 : 10;
		struct hs_hop *hop = hop_of(&report, 1);
		if (i < 42050) // node 2 gets 20 too many, then 30 too few
			hop->rx_packets = hop->tx_packets = (uint16_t)((int64_t)i - missing);
		else
			hop->rx_packets = hop->tx_packets =
					(uint16_t)((int64_t)i - 42050 - missing);
		hop->bitmap = HS_HOP_PACKETS;
		report.sink_rx_packets -= (uint64_t)missing;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 45 * SECOND);
	assert_int_equal(hop_between(second_ending(f, 42), 1, 2)->lost_packets, -20);
	assert_true(second_ending(f, 43)->window.flags & HS_QOS_EPOCH);
	assert_int_equal(hop_between(second_ending(f, 44), 1, 2)->shown_lost_packets, 30);
}

static void loss_behind_a_last_node_without_counts_is_unattributed(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 900; i += 100) {
		struct hs_report report = plain(i);
		hop_of(&report, 1)->bitmap = HS_HOP_TIMESTAMP;
		report.sink_rx_packets -= i / 100;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct caught *caught = second_ending(f, 1);
	assert_int_equal(hop_between(caught, 0, 1)->lost_packets, 0);
	assert_false(hop_between(caught, 2, 9)->has & HS_QOS_HAS_LOSS);
	assert_int_equal(hop_between(caught, 2, 9)->rx_packets, 792);
	assert_int_equal(caught->window.unattributed_lost_packets, 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(loss_in_a_node_is_told_from_loss_on_a_link),
			TEST(a_span_that_nothing_resolves_is_flagged),
			TEST(a_late_packet_is_not_lost_twice),
			TEST(what_a_later_report_finds_there_is_not_shown_as_lost),
			TEST(what_was_denied_and_is_missing_in_the_end_is_shown_then),
			TEST(a_loss_that_lasts_is_shown_in_the_window_that_it_happened_in),
			TEST(a_surplus_is_paid_back_by_the_next_loss),
			TEST(rules_that_differ_are_flagged),
			TEST(a_surplus_hides_no_more_loss_than_reordering_explains),
			TEST(a_surplus_is_forgotten_when_no_reordering_can_be_so_old),
			TEST(what_rules_that_differ_left_over_hides_no_loss_after_them),
			TEST(a_window_says_that_rules_differed_in_a_part_of_it),
			TEST(rules_that_differ_are_flagged_when_reports_are_rare),
			TEST(what_a_node_does_not_supply_is_left_out),
			TEST(loss_around_a_node_without_counts_is_unattributed),
			TEST(hops_are_measured_where_the_source_counts_nothing),
			TEST(lasting_surplus_end_to_end_is_measured_and_flagged),
			TEST(no_surplus_is_carried_into_a_new_epoch),
			TEST(no_surplus_is_carried_past_a_restarted_node),
			TEST(loss_behind_a_last_node_without_counts_is_unattributed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

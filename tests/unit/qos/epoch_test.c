// SPDX-License-Identifier: BSD-3-Clause
// One scenario for each way in which counting begins anew, or a path changes (docs/metrics.md,
// rule 10).
#include "qos_fixture.h"
#include "sim.h"

// ---- rule 10: epochs ----

static void a_source_that_restarts_loses_nothing(void **state)
{
	struct fixture *f = *state;
	give_range(f, 100000, 100400, 100);
	for (uint64_t i = 100500; i <= 100900; i += 100) {
		struct hs_report report = plain(i);
		report.telemetry.e2e.tx_packets -= 100450; // counts from 0 again
		report.telemetry.e2e.tx_bytes -= 100450 * 562;
		report.telemetry.e2e.ts_ns -= 50 * MS; // by another clock
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 102 * SECOND);
	const struct caught *caught = second_ending(f, 101);
	assert_true(caught->window.flags & HS_QOS_EPOCH);
	assert_int_equal(caught->window.reports, 10);
	assert_int_equal(caught->window.e2e.lost_packets, 0);
	assert_int_equal(caught->window.e2e.tx_packets, 800); // 400 before, 400 after
	assert_int_equal(caught->window.e2e.throughput_bps, 562 * 8 * 1000);
	assert_int_equal(caught->window.e2e.jitter_ns, 0); // no pair across the restart
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(caught->hops[i].lost_packets, 0);
}

// Percentiles of a long window come from a histogram. They are the same whether or not somebody
// asks, which moves delays there, before the source restarts.
static void a_question_before_a_restart_changes_no_percentile(void **state)
{
	struct fixture *f = *state;
	struct catcher catcher;
	struct hs_qos *silent = monitor_new(&catcher);
	for (uint64_t i = 100001; i <= 109997; i += 4) {
		struct hs_report report = plain(i);
		report.sink_ts_ns += (int64_t)(i * 7919 % 5000) * US;
		if (i > 100500) {
			report.telemetry.e2e.tx_packets -= 100450;
			report.telemetry.e2e.tx_bytes -= 100450 * 562;
			report.telemetry.e2e.ts_ns -= 50 * MS;
		}
		give(f->qos, &report);
		give(silent, &report);
		if (i == 100401)
			assert_non_null(hs_qos_latest(f->qos, KEY.ns_id, 0));
	}
	hs_qos_advance(f->qos, T0 + 112 * SECOND);
	hs_qos_advance(silent, T0 + 112 * SECOND);
	const struct caught *a = caught_ending(&f->catcher, 10 * SECOND, T0 + 110 * SECOND);
	const struct caught *b = caught_ending(&catcher, 10 * SECOND, T0 + 110 * SECOND);
	assert_true(a->window.flags & HS_QOS_EPOCH);
	assert_true(a->window.reports > 2000);
	assert_int_equal(a->window.e2e.delay.p50, b->window.e2e.delay.p50);
	assert_int_equal(a->window.e2e.delay.p99, b->window.e2e.delay.p99);
	monitor_free(silent, &catcher);
}

// A source that restarts while reports by another path come.
static void an_epoch_by_another_path_alone_says_that_the_path_changed(void **state)
{
	static const uint16_t other[] = {1};
	struct fixture *f = *state;
	give_range(f, 100000, 100400, 100);
	struct hs_report report = plain_report(100500, GAP, 1, other);
	report.telemetry.e2e.tx_packets -= 100450;
	report.telemetry.e2e.tx_bytes -= 100450 * 562;
	give(f->qos, &report);
	hs_qos_advance(f->qos, T0 + 102 * SECOND);
	assert_true(second_ending(f, 101)->window.path_changed);
}

static struct hs_report without_hop_bytes(uint64_t number)
{
	struct hs_report report = plain(number);
	for (unsigned j = 0; j < 2; j++)
		hop_of(&report, j)->bitmap &= (uint16_t)~HS_HOP_BYTES;
	hop_of(&report, 0)->rx_packets -= 34464; // modulo 2^16: from 0 at 100,000
	hop_of(&report, 0)->tx_packets -= 34464;
	return report;
}

// A source that restarts has another clock: no spread of delays that explains what comes later.
static void a_transit_node_that_restarts_behind_the_source_is_noticed(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100000; i <= 101500; i += i == 100600 ? 800 : 100) {
		struct hs_report report = without_hop_bytes(i);
		if (i > 100100) { // the source has restarted
			report.telemetry.e2e.tx_packets -= 100150;
			report.telemetry.e2e.tx_bytes -= 100150 * 562;
			report.telemetry.e2e.ts_ns -= 400 * MS;
		}
		if (i > 100600) { // node 1 has, and has counted more since than before
			hop_of(&report, 0)->rx_packets -= 600;
			hop_of(&report, 0)->tx_packets -= 600;
		}
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 103 * SECOND);
	assert_true(second_ending(f, 101)->window.flags & HS_QOS_EPOCH);
	assert_true(second_ending(f, 102)->window.flags & HS_QOS_EPOCH);
}

// Its count has overtaken the old one.
static void a_source_that_restarts_with_another_clock_is_noticed(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 1500; i += i == 600 ? 800 : 100) {
		struct hs_report report = plain(i);
		if (i > 600) {
			report.telemetry.e2e.tx_packets -= 600;
			report.telemetry.e2e.tx_bytes -= 600 * 562;
			report.telemetry.e2e.ts_ns -= 400 * MS;
		}
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 3 * SECOND);
	assert_true(second_ending(f, 2)->window.flags & HS_QOS_EPOCH);
}

static void a_source_that_restarts_early_is_told_from_reordering_by_its_stamps(void **state)
{
	struct fixture *f = *state;
	give_range(f, 100, 400, 100);
	for (uint64_t i = 600; i <= 900; i += 100) {
		struct hs_report report = plain(i);
		report.telemetry.e2e.tx_packets -= 590; // back by less than reordering could
		report.telemetry.e2e.tx_bytes -= 590 * 562;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct hs_qos_window *window = &second_ending(f, 1)->window;
	assert_true(window->flags & HS_QOS_EPOCH);
	assert_int_equal(window->e2e.lost_packets, 0);
	assert_int_equal(window->e2e.tx_packets, 600);
}

static void a_restart_behind_half_of_the_counters_range_is_no_giant_loss(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 900; i += 100) {
		struct hs_report report = plain(i);
		report.telemetry.e2e.tx_packets += i < 500 ? 3000000000u : 0;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct hs_qos_window *window = &second_ending(f, 1)->window;
	assert_true(window->flags & HS_QOS_EPOCH);
	assert_int_equal(window->e2e.lost_packets, 0);
	assert_int_equal(window->e2e.tx_packets, 300 + 400);
}

static void a_straggler_from_before_the_restart_moves_no_edge(void **state)
{
	struct fixture *f = *state;
	struct hs_report straggler = plain(100350);
	straggler.sink_ts_ns = T0 + 100900 * MS;
	straggler.sink_rx_packets = 100900;
	give_range(f, 100000, 100300, 100);
	for (uint64_t i = 100500; i <= 100900; i += 100) {
		struct hs_report report = plain(i);
		report.telemetry.e2e.tx_packets -= 100450;
		report.telemetry.e2e.tx_bytes -= 100450 * 562;
		if (i == 100900)
			give(f->qos, &straggler);
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 102 * SECOND);
	assert_int_equal(second_ending(f, 101)->window.e2e.lost_packets, 0);
	assert_int_equal(second_ending(f, 101)->window.e2e.tx_packets, 700);
}

static void give_with_node_reset(struct fixture *f, uint64_t reset_at, bool bytes)
{
	for (uint64_t i = 40000; i <= 40900; i += 100) {
		struct hs_report report = plain(i);
		struct hs_hop *hop = hop_of(&report, 0);
		if (i > reset_at) {
			hop->rx_packets = hop->tx_packets = (uint16_t)(i - reset_at);
			hop->rx_bytes = hop->tx_bytes = (uint32_t)((i - reset_at) * 562);
		}
		if (!bytes) {
			hop->bitmap = HS_HOP_PACKETS | HS_HOP_TIMESTAMP;
			hop_of(&report, 1)->bitmap = hop->bitmap;
		}
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 42 * SECOND);
}

static void check_node_reset(struct fixture *f)
{
	const struct caught *caught = second_ending(f, 41);
	assert_true(caught->window.flags & HS_QOS_EPOCH);
	assert_int_equal(caught->window.e2e.lost_packets, 0);
	assert_int_equal(caught->window.e2e.tx_packets, 900); // end to end goes on
	assert_int_equal(caught->window.unattributed_lost_packets, 0);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(caught->hops[i].lost_packets, 0);
		assert_int_equal(caught->hops[i].tx_packets, 800); // without the step of the reset
	}
}

static void a_transit_node_that_restarts_loses_nothing(void **state)
{
	give_with_node_reset(*state, 40450, true);
	check_node_reset(*state);
}

static void a_transit_restart_shows_without_byte_counts_too(void **state)
{
	give_with_node_reset(*state, 40450, false);
	check_node_reset(*state);
}

static void loss_across_a_transit_restart_is_unattributed(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 40000; i <= 40900; i += 100) {
		struct hs_report report = plain(i);
		struct hs_hop *hop = hop_of(&report, 0);
		if (i > 40450) {
			hop->rx_packets = hop->tx_packets = (uint16_t)(i - 40450);
			hop->rx_bytes = hop->tx_bytes = (uint32_t)((i - 40450) * 562);
			report.sink_rx_packets -= 30;
			report.sink_rx_bytes -= 30 * 562;
		}
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 42 * SECOND);
	const struct hs_qos_window *window = &second_ending(f, 41)->window;
	assert_int_equal(window->e2e.lost_packets, 30);
	assert_int_equal(window->unattributed_lost_packets, 30);
}

static void a_rule_with_other_fields_begins_anew_and_a_repeated_one_does_not(void **state)
{
	struct fixture *f = *state;
	const struct hs_qos_key other = {
			.ns_id = 7, .app_id = 2, .generation = 2, .sink_node_id = 9};
	struct hs_report report;
	give_range(f, 100, 500, 100);
	for (uint64_t i = 600; i <= 900; i += 100) {
		report = plain(i);
		report.sink_rx_packets -= 590;
		report.telemetry.e2e.tx_packets -= 10; // of another flow: 10 are not missing
		assert_int_equal(hs_qos_report(f->qos, &other, &report), 0);
	}
	// What was open of the old rule was handed out at once.
	const struct hs_qos_window *old = &caught_at(&f->catcher, SECOND, 0)->window;
	assert_int_equal(old->app_id, 1);
	assert_int_equal(old->reports, 5);
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct hs_qos_window *new = &caught_at(&f->catcher, SECOND, 1)->window;
	assert_int_equal(new->app_id, 2);
	assert_int_equal(new->reports, 4);
	assert_int_equal(new->e2e.lost_packets, 0);
	assert_int_equal(new->e2e.tx_packets, 300);
	assert_int_equal(hs_qos_latest(f->qos, 7, 0)->reports, 4);
}

static void another_sink_begins_anew_and_ends_the_path(void **state)
{
	struct fixture *f = *state;
	const struct hs_qos_key other = {
			.ns_id = 7, .app_id = 1, .generation = 1, .sink_node_id = 8};
	give_range(f, 100, 500, 100);
	for (uint64_t i = 600; i <= 900; i += 100) {
		struct hs_report report = plain(i);
		report.sink_rx_packets -= 590; // that one's count
		assert_int_equal(hs_qos_report(f->qos, &other, &report), 0);
	}
	const struct caught *old = caught_at(&f->catcher, SECOND, 0);
	assert_int_equal(old->window.reports, 5);
	assert_int_equal(old->path[3], 9);
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct caught *new = caught_at(&f->catcher, SECOND, 1);
	assert_int_equal(new->window.reports, 4);
	assert_int_equal(new->path[3], 8);
	assert_non_null(hop_between(new, 2, 8));
	assert_int_equal(new->window.e2e.lost_packets, 0);
	assert_false(new->window.path_changed);
}

static void a_slow_source_that_restarts_is_noticed_without_stamps(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 1; i <= 60; i++) { // a report a second
		struct hs_report report = plain_report(i * 10, 100 * MS, 2, PATH);
		report.telemetry.e2e.bitmap = HS_E2E_TX_PACKETS | HS_E2E_TX_BYTES;
		report.telemetry.e2e.tx_packets =
				(uint32_t)(i <= 10 ? 900 + i * 10 : (i - 10) * 10);
		give(f->qos, &report);
	}
	flush_all(f->qos);
	uint64_t epochs = 0;
	for (size_t i = 0; i < f->catcher.n; i++) {
		const struct hs_qos_window *window = &f->catcher.windows[i].window;
		assert_int_equal(window->e2e.lost_packets, 0);
		epochs += window->window_ns == SECOND && window->flags & HS_QOS_EPOCH;
	}
	assert_int_equal(epochs, 1);
	assert_int_equal(hs_qos_latest(f->qos, 7, 0)->e2e.tx_packets, 90 + 490);
}

static void a_fast_source_that_restarts_early_is_noticed_without_stamps(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 9000; i += 10) {
		struct hs_report report = plain_report(i, 100 * US, 2, PATH);
		report.telemetry.e2e.bitmap = HS_E2E_TX_PACKETS;
		report.telemetry.e2e.tx_packets -= i > 3000 ? 3000 : 0;
		give(f->qos, &report);
	}
	flush_all(f->qos);
	const struct hs_qos_window *run = hs_qos_latest(f->qos, 7, 0);
	assert_true(run->flags & HS_QOS_EPOCH);
	assert_int_equal(run->e2e.lost_packets, 0);
	assert_in_range(run->e2e.tx_packets, 7000, 8900);
}

// A path that held back some packets lets them go at once: all late, and none of them new.
static void packets_that_were_held_back_are_no_restart(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 10; i <= 5000; i += 10) {
		struct hs_report report = plain_report(i, 100 * US, 2, PATH);
		report.telemetry.e2e.bitmap = HS_E2E_TX_PACKETS;
		if (i > 2000 && i <= 4000)
			continue;
		report.sink_rx_packets -= i == 4010 ? 2000 : 0;
		give(f->qos, &report);
		for (uint64_t j = 2010; i == 4010 && j <= 4000; j += 10) {
			struct hs_report late = plain_report(j, 100 * US, 2, PATH);
			late.telemetry.e2e.bitmap = HS_E2E_TX_PACKETS;
			late.sink_ts_ns = report.sink_ts_ns + (int64_t)j;
			late.sink_rx_packets = j + 10;
			give(f->qos, &late);
		}
	}
	flush_all(f->qos);
	const struct hs_qos_window *run = hs_qos_latest(f->qos, 7, 0);
	assert_false(run->flags & HS_QOS_EPOCH);
	assert_int_equal(run->e2e.lost_packets, 0);
	assert_int_equal(run->e2e.tx_packets, 4990);
}

static void a_restart_whose_first_report_is_lost_shows_in_stamps_and_counts(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 5; i <= 50; i += 5) {
		struct hs_report report = plain_report(i, 100 * MS, 2, PATH);
		give(f->qos, &report);
	}
	for (uint64_t i = 130; i <= 175; i += 5) { // 80 more arrived, and only 30 more were sent?
		struct hs_report report = plain_report(i, 100 * MS, 2, PATH);
		report.telemetry.e2e.tx_packets -= 50;
		give(f->qos, &report);
	}
	flush_all(f->qos);
	const struct hs_qos_window *run = hs_qos_latest(f->qos, 7, 0);
	assert_true(run->flags & HS_QOS_EPOCH);
	assert_int_equal(run->e2e.lost_packets, 0);
	assert_int_equal(run->e2e.tx_packets, 45 + 45);
	for (size_t i = 0; i < f->catcher.n; i++)
		assert_int_equal(f->catcher.windows[i].window.e2e.lost_packets, 0);
}

// ---- rule 10: paths ----

static void a_path_change_keeps_the_hops_that_both_paths_have(void **state)
{
	static const uint16_t before[] = {1, 2, 4}, after[] = {1, 3, 4};
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 900; i += 100) {
		bool old = i < 500;
		struct hs_report report = plain_report(i, GAP, 3, old ? before : after);
		if (!old) { // node 3 has counted for another time; 20 lost on the way to it
			for (unsigned j = 1; j < 3; j++) {
				hop_of(&report, j)->rx_packets -= j == 1 ? 7020 : 20;
				hop_of(&report, j)->tx_packets -= j == 1 ? 7020 : 20;
			}
			report.sink_rx_packets -= 20;
		}
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct caught *caught = second_ending(f, 1);
	assert_true(caught->window.path_changed);
	assert_false(caught->window.flags & HS_QOS_MULTIPATH);
	assert_int_equal(caught->window.n_path, 5);
	assert_int_equal(caught->path[2], 3);
	assert_int_equal(hop_between(caught, 0, 1)->tx_packets, 800);
	assert_int_equal(hop_between(caught, 4, 9)->tx_packets, 780);
	assert_int_equal(hop_between(caught, 1, 2)->tx_packets, 300);
	assert_int_equal(hop_between(caught, 1, 3)->tx_packets, 400);
	for (unsigned i = 0; i < caught->window.n_hops; i++)
		assert_int_equal(caught->hops[i].lost_packets, 0);
	assert_int_equal(caught->window.e2e.lost_packets, 20);
	assert_int_equal(caught->window.unattributed_lost_packets, 20);
	flush_all(f->qos);
	assert_true(caught_at(&f->catcher, 10 * SECOND, 0)->window.path_changed);
}

static void alternating_paths_have_loss_only_between_common_nodes(void **state)
{
	(void)state;
	struct sim_config config = sim_defaults(11);
	struct sim_result truth;
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	config.n_nodes = 3;
	config.other_at = 1;
	config.other_id = 77;
	config.other_ppm = 200000;
	config.links[0].loss_ppm = 10000;
	config.links[2].loss_ppm = 20000; // from 2 or 77 to 3
	config.duration_ns = 5 * SECOND;
	sim_run(&config, &truth);
	for (size_t i = 0; i < truth.n_reports; i++)
		give(qos, &truth.reports[i].report);
	flush_all(qos);
	uint64_t from = 0, to = 0;
	for (size_t i = 0; i < truth.n_reports; i++) {
		const struct sim_report *report = &truth.reports[i];
		int64_t age = report->report.sink_ts_ns - config.start_ns;
		from = age <= 2 * SECOND ? report->number : from;
		to = age <= 3 * SECOND ? report->number : to;
	}
	const struct caught *caught = caught_ending(&catcher, SECOND, config.start_ns + 3 * SECOND);
	assert_true(caught->window.flags & HS_QOS_MULTIPATH);
	const struct hs_qos_hop *around = hop_between(caught, 1, 3);
	assert_non_null(around);
	assert_int_equal(around->lost_packets, sim_lost_on_link(&truth, 2, from, to));
	assert_int_equal(hop_between(caught, 0, 1)->lost_packets,
			sim_lost_on_link(&truth, 0, from, to));
	assert_int_equal(hop_between(caught, 3, 9)->lost_packets, 0);
	assert_false(hop_between(caught, 1, 2)->has & HS_QOS_HAS_LOSS);
	assert_false(hop_between(caught, 77, 3)->has & HS_QOS_HAS_LOSS);
	assert_true(hop_between(caught, 77, 3)->has & HS_QOS_HAS_DELAY);
	assert_int_equal(caught->window.unattributed_lost_packets, 0);
	assert_false(caught->window.path_changed);
	sim_free(&truth);
	monitor_free(qos, &catcher);
}

static void a_restart_without_stamps_is_no_giant_loss(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 900; i += 100) {
		struct hs_report report = plain(i);
		report.telemetry.e2e.bitmap = HS_E2E_TX_PACKETS;
		report.telemetry.e2e.tx_packets += i < 500 ? 3000000000u : 0;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	assert_true(second_ending(f, 1)->window.flags & HS_QOS_EPOCH);
	assert_int_equal(second_ending(f, 1)->window.e2e.lost_packets, 0);
	assert_int_equal(second_ending(f, 1)->window.e2e.tx_packets, 300 + 400);
}

static void a_restarted_sink_loses_nothing(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 20000; i <= 20900; i += 100) {
		struct hs_report report = plain(i);
		report.sink_rx_packets -= i > 20450 ? 20450 : 0;
		report.sink_rx_bytes -= i > 20450 ? 20450 * 562 : 0;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 22 * SECOND);
	assert_true(second_ending(f, 21)->window.flags & HS_QOS_EPOCH);
	assert_int_equal(second_ending(f, 21)->window.e2e.lost_packets, 0);
	assert_int_equal(second_ending(f, 21)->window.e2e.tx_packets, 800);
}

static void a_path_that_was_split_before_it_was_noticed_charges_no_one(void **state)
{
	static const uint16_t one[] = {1, 2, 3}, other[] = {1, 77, 3};
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 900; i += 100) {
		bool second = i == 600;
		struct hs_report report = plain_report(i, GAP, 3, second ? other : one);
		struct hs_hop *hop = hop_of(&report, 1); // gets four fifths of the packets
		hop->rx_packets = hop->tx_packets = (uint16_t)(second ? i / 5 : i * 4 / 5);
		hop->bitmap = HS_HOP_PACKETS | HS_HOP_TIMESTAMP;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct caught *caught = second_ending(f, 1);
	assert_true(caught->window.flags & HS_QOS_MULTIPATH);
	assert_false(hop_between(caught, 1, 2)->has & HS_QOS_HAS_LOSS);
	assert_false(hop_between(caught, 2, 3)->has & HS_QOS_HAS_LOSS);
	assert_int_equal(hop_between(caught, 1, 3)->lost_packets, 0);
	assert_int_equal(caught->window.unattributed_lost_packets, 0);
	assert_null(hop_between(caught, 1, 9));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_source_that_restarts_loses_nothing),
			TEST(a_question_before_a_restart_changes_no_percentile),
			TEST(a_slow_source_that_restarts_is_noticed_without_stamps),
			TEST(a_fast_source_that_restarts_early_is_noticed_without_stamps),
			TEST(packets_that_were_held_back_are_no_restart),
			TEST(a_restart_whose_first_report_is_lost_shows_in_stamps_and_counts),
			TEST(an_epoch_by_another_path_alone_says_that_the_path_changed),
			TEST(a_transit_node_that_restarts_behind_the_source_is_noticed),
			TEST(a_source_that_restarts_with_another_clock_is_noticed),
			TEST(a_source_that_restarts_early_is_told_from_reordering_by_its_stamps),
			TEST(a_restart_behind_half_of_the_counters_range_is_no_giant_loss),
			TEST(a_straggler_from_before_the_restart_moves_no_edge),
			TEST(a_transit_node_that_restarts_loses_nothing),
			TEST(a_transit_restart_shows_without_byte_counts_too),
			TEST(loss_across_a_transit_restart_is_unattributed),
			TEST(a_rule_with_other_fields_begins_anew_and_a_repeated_one_does_not),
			TEST(another_sink_begins_anew_and_ends_the_path),
			TEST(a_path_change_keeps_the_hops_that_both_paths_have),
			TEST(alternating_paths_have_loss_only_between_common_nodes),
			TEST(a_restart_without_stamps_is_no_giant_loss),
			TEST(a_restarted_sink_loses_nothing),
			TEST(a_path_that_was_split_before_it_was_noticed_charges_no_one),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
// One scenario for each rule about windows, spans, epochs, loss and clocks (docs/metrics.md).
#include "qos_test.h"
#include "sim.h"

#include <errno.h>

static const uint16_t PATH[] = {1, 2};
#define GAP MS // 1000 packets a second

struct fixture {
	struct hs_qos *qos;
	struct catcher catcher;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	f->qos = monitor_new(&f->catcher);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;
	monitor_free(f->qos, &f->catcher);
	free(f);
	return 0;
}

static struct hs_report plain(uint64_t number)
{
	return plain_report(number, GAP, 2, PATH);
}

static void give_range(struct fixture *f, uint64_t from, uint64_t to, uint64_t step)
{
	for (uint64_t i = from; i <= to; i += step) {
		struct hs_report report = plain(i);
		give(f->qos, &report);
	}
}

static const struct caught *second_ending(const struct fixture *f, int64_t second)
{
	const struct caught *caught = caught_ending(&f->catcher, SECOND, T0 + second * SECOND);
	assert_non_null(caught);
	return caught;
}

// ---- rules 6 and 7 ----

static void windows_of_all_lengths_end_on_multiples_of_their_length(void **state)
{
	struct fixture *f = *state;
	give_range(f, 1, 125000, 100);
	hs_qos_advance(f->qos, T0 + 126 * SECOND);
	size_t counts[3] = {0};
	const int64_t lengths[] = {SECOND, 10 * SECOND, 60 * SECOND};
	for (size_t i = 0; i < f->catcher.n; i++) {
		const struct hs_qos_window *window = &f->catcher.windows[i].window;
		assert_int_equal(window->end_ns % window->window_ns, 0);
		assert_int_equal(window->end_ns - window->start_ns, window->window_ns);
		for (unsigned j = 0; j < 3; j++)
			counts[j] += window->window_ns == lengths[j];
	}
	assert_int_equal(counts[0], 125);
	assert_int_equal(counts[1], 12);
	assert_int_equal(counts[2], 2);
	assert_int_equal(caught_at(&f->catcher, 60 * SECOND, 1)->window.reports, 600);
}

static void a_window_holds_more_reports_than_are_kept(void **state)
{
	struct fixture *f = *state;
	give_range(f, 1, 10000, 1);
	hs_qos_advance(f->qos, T0 + 11 * SECOND);
	assert_int_equal(caught_at(&f->catcher, 10 * SECOND, 0)->window.reports, 9997);
}

static void a_window_closes_only_after_its_lateness(void **state)
{
	struct fixture *f = *state;
	give_range(f, 1, 900, 100);
	hs_qos_advance(f->qos, T0 + SECOND + 99 * MS);
	assert_int_equal(f->catcher.n, 0);
	assert_int_equal(hs_qos_next_ns(f->qos), T0 + SECOND + 100 * MS);
	hs_qos_advance(f->qos, T0 + SECOND + 100 * MS);
	assert_int_equal(f->catcher.n, 1);
}

static void what_is_lost_between_two_windows_is_in_the_later_one(void **state)
{
	struct fixture *f = *state;
	struct hs_report report;
	give_range(f, 500, 900, 100);
	for (uint64_t i = 1100; i <= 1900; i += 100) {
		report = plain(i);
		// 150 packets were lost before the sink between 900 and 1100.
		report.sink_rx_packets -= 150;
		report.sink_rx_bytes -= 150 * 562;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 3 * SECOND);
	assert_int_equal(second_ending(f, 1)->window.e2e.lost_packets, 0);
	const struct hs_qos_hop *hop = hop_between(second_ending(f, 2), 2, 9);
	assert_int_equal(hop->lost_packets, 150);
	assert_int_equal(hop->tx_packets, 1000);
	assert_int_equal(hop->rx_packets, 850);
	assert_int_equal(hop->span_start_ns, T0 + 903 * MS);
	assert_int_equal(hop->span_end_ns, T0 + 1903 * MS);
}

static void one_report_in_a_window_measures_since_the_one_before(void **state)
{
	struct fixture *f = *state;
	give_range(f, 500, 4500, 1000);
	hs_qos_advance(f->qos, T0 + 6 * SECOND);
	const struct hs_qos_window *window = &second_ending(f, 3)->window;
	assert_int_equal(window->reports, 1);
	assert_int_equal(window->e2e.tx_packets, 1000);
	assert_int_equal(window->e2e.throughput_bps, 562 * 8 * 1000);
}

static void a_late_report_adds_its_delay_but_no_edge(void **state)
{
	struct fixture *f = *state;
	struct hs_report late = plain(150);
	late.sink_ts_ns = T0 + 310 * MS; // behind report 300
	late.sink_rx_packets = 301;
	give_range(f, 100, 300, 100);
	give(f->qos, &late);
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct hs_qos_window *window = &second_ending(f, 1)->window;
	assert_int_equal(window->reports, 4);
	assert_int_equal(window->e2e.delay.n, 4);
	assert_int_equal(window->e2e.delay.max, 160 * MS);
	assert_int_equal(window->e2e.tx_packets, 200);
	assert_int_equal(window->e2e.span_end_ns, T0 + 303 * MS);
}

// Two workers of a sink: the monitor gets the older report after one from behind the window's end.
static void a_report_that_the_drain_overtook_still_ends_its_window(void **state)
{
	struct fixture *f = *state;
	struct hs_report before = plain(990), after = plain(1010), later = plain(1500);
	give_range(f, 100, 900, 100);
	give(f->qos, &after);
	give(f->qos, &before);
	give(f->qos, &later);
	hs_qos_advance(f->qos, T0 + 3 * SECOND);
	const struct caught *first = second_ending(f, 1), *second = second_ending(f, 2);
	assert_int_equal(first->window.reports, 10);
	assert_int_equal(first->window.e2e.tx_packets, 890);
	assert_int_equal(first->window.e2e.span_end_ns, T0 + 993 * MS);
	assert_int_equal(hop_between(first, 1, 2)->rx_bytes, 890 * 562);
	assert_int_equal(second->window.e2e.tx_packets, 510);
	assert_int_equal(second->window.e2e.span_start_ns, T0 + 993 * MS);
	assert_int_equal(hop_between(second, 1, 2)->span_start_ns, T0 + 992 * MS);
	assert_int_equal(hop_between(second, 1, 2)->span_end_ns, T0 + 1502 * MS);
	assert_int_equal(second->window.e2e.throughput_bps, 562 * 8 * 1000);
}

// ---- rule 8 ----

static void window_throughput_is_what_a_burst_carried_on_average(void **state)
{
	struct fixture *f = *state;
	give_range(f, 100, 900, 100);
	// 500 packets within half of the next second, then silence.
	give_range(f, 1000, 1500, 100);
	hs_qos_advance(f->qos, T0 + 3 * SECOND);
	const struct hs_qos_hop *hop = hop_between(second_ending(f, 2), 0, 1);
	assert_int_equal(hop->throughput_bps, 562 * 8 * 1000);
	assert_int_equal(hop->window_throughput_bps, 562 * 8 * 600);
}

// ---- rule 9 ----

static void a_silent_flow_repeats_its_last_values_for_a_minute(void **state)
{
	struct fixture *f = *state;
	give_range(f, 100, 1900, 100);
	hs_qos_advance(f->qos, T0 + 200 * SECOND);
	const struct caught *last = second_ending(f, 2), *stale = second_ending(f, 5);
	assert_int_equal(stale->window.reports, 0);
	assert_true(stale->window.stale);
	assert_int_equal(stale->window.age_ns, 5 * SECOND - 1903 * MS);
	assert_int_equal(stale->window.e2e.rx_packets, last->window.e2e.rx_packets);
	assert_int_equal(stale->hops[1].span_end_ns, last->hops[1].span_end_ns);
	assert_non_null(caught_ending(&f->catcher, SECOND, T0 + 61 * SECOND));
	assert_null(caught_ending(&f->catcher, SECOND, T0 + 62 * SECOND));
	const struct caught *minute = caught_ending(&f->catcher, 60 * SECOND, T0 + 60 * SECOND);
	assert_int_equal(minute->window.reports, 19);
	assert_int_equal(minute->window.e2e.rx_packets, 1800);
	assert_false(minute->window.stale);
	assert_int_equal(hs_qos_latest(f->qos, 7, 0)->e2e.rx_packets, 1800);
	assert_int_equal(hs_qos_next_ns(f->qos), INT64_MAX);
}

static void a_flow_that_wakes_up_measures_since_it_fell_silent(void **state)
{
	struct fixture *f = *state;
	give_range(f, 100, 900, 100);
	hs_qos_advance(f->qos, T0 + 120 * SECOND);
	give_range(f, 150000, 150900, 100);
	hs_qos_advance(f->qos, T0 + 152 * SECOND);
	const struct caught *woken = second_ending(f, 151);
	assert_int_equal(woken->window.reports, 10);
	assert_int_equal(woken->window.e2e.tx_packets, 150000);
	assert_int_equal(hop_between(woken, 1, 2)->lost_packets, 0);
}

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
		struct hs_flexint_hop *hop = hop_of(&report, 0);
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
		struct hs_flexint_hop *hop = hop_of(&report, 0);
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
	const struct hs_qos_key other = {.ns_id = 7, .app_id = 2, .generation = 2};
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
	hs_qos_flush(f->qos);
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
	hs_qos_flush(qos);
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

// ---- rule 15 ----

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
	hs_qos_flush(qos);
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
	hs_qos_flush(qos);
	assert_true(caught_at(&catcher, SECOND, 7)->window.flags & HS_QOS_RULES_DIFFER);
	assert_int_equal(caught_at(&catcher, SECOND, 7)->window.e2e.lost_packets, 0);
	sim_free(&truth);
	monitor_free(qos, &catcher);
}

// ---- rules 16 and 20 ----

static void a_negative_delay_is_kept_and_flagged(void **state)
{
	struct fixture *f = *state;
	const struct hs_qos_clock good = {.known = true, .synchronised = true, .error_ns = 5000};
	hs_qos_set_clock(f->qos, &good);
	for (uint64_t i = 100; i <= 1900; i += 100) {
		struct hs_report report = plain(i);
		if (i > 1000)
			hop_of(&report, 0)->ts_ns -= 36 * SECOND; // its clock was stepped
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 3 * SECOND);
	const struct caught *fine = second_ending(f, 1), *bad = second_ending(f, 2);
	assert_true(fine->window.clock.known && fine->window.clock.synchronised);
	assert_int_equal(fine->window.clock.error_ns, 5000);
	assert_false(fine->window.flags & HS_QOS_NEGATIVE_DELAY);
	assert_true(bad->window.flags & HS_QOS_NEGATIVE_DELAY);
	assert_true(bad->window.clock.known);
	assert_false(bad->window.clock.synchronised);
	assert_int_equal(hop_between(bad, 0, 1)->delay.min, MS - 36 * SECOND);
	assert_int_equal(hop_between(bad, 0, 1)->delay.mean < 0, 1);
	assert_int_equal(hop_between(bad, 1, 2)->delay.max, MS + 36 * SECOND);
	assert_int_equal(bad->window.e2e.delay.max, 3 * MS);
}

static void hop_delays_add_up_to_the_delay_end_to_end(void **state)
{
	struct fixture *f = *state;
	give_range(f, 100, 900, 100);
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct caught *caught = second_ending(f, 1);
	int64_t sum = 0;
	for (unsigned i = 0; i < caught->window.n_hops; i++)
		sum += caught->hops[i].delay.mean;
	assert_int_equal(sum, 3 * MS);
	assert_int_equal(caught->window.e2e.delay.mean, 3 * MS);
}

static void an_unknown_clock_is_left_out_until_something_speaks_against_it(void **state)
{
	struct fixture *f = *state;
	give_range(f, 100, 900, 100);
	for (uint64_t i = 1100; i <= 1900; i += 100) {
		struct hs_report report = plain(i);
		report.telemetry.e2e.ts_ns += 20 * SECOND;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 3 * SECOND);
	assert_false(second_ending(f, 1)->window.clock.known);
	assert_true(second_ending(f, 2)->window.clock.known);
	assert_false(second_ending(f, 2)->window.clock.synchronised);
}

static void a_forward_step_of_some_clock_is_no_synchronised_window(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 2900; i += 100) {
		struct hs_report report = plain(i);
		if (i > 1500) // the sink side lags: delays grow by 20 s and stay positive
			report.telemetry.e2e.ts_ns -= 20 * SECOND;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 4 * SECOND);
	assert_false(second_ending(f, 1)->window.clock.known);
	assert_true(second_ending(f, 2)->window.clock.known);
	assert_false(second_ending(f, 2)->window.clock.synchronised);
	assert_false(second_ending(f, 3)->window.clock.known);
}

static void a_step_of_the_nodes_own_clock_marks_the_windows_that_are_open(void **state)
{
	struct fixture *f = *state;
	struct hs_qos_clock clock = {.known = true, .synchronised = true, .steps = 3};
	hs_qos_set_clock(f->qos, &clock);
	give_range(f, 100, 1500, 100);
	clock.steps = 4;
	hs_qos_set_clock(f->qos, &clock);
	give_range(f, 1600, 2900, 100);
	hs_qos_advance(f->qos, T0 + 4 * SECOND);
	assert_true(second_ending(f, 1)->window.clock.synchronised);
	assert_false(second_ending(f, 2)->window.clock.synchronised);
	assert_true(second_ending(f, 3)->window.clock.synchronised);
}

// ---- rule 17: where there are enough ----

static void percentiles_come_only_with_enough_values(void **state)
{
	struct fixture *f = *state;
	give_range(f, 1, 99, 1);
	give_range(f, 1001, 1100, 1);
	give_range(f, 2001, 2900, 1);
	give_range(f, 3001, 3990, 1);
	hs_qos_advance(f->qos, T0 + 5 * SECOND);
	const uint32_t some = HS_QOS_HAS_P50 | HS_QOS_HAS_P99 | HS_QOS_HAS_P999;
	assert_int_equal(second_ending(f, 1)->window.e2e.has & some, HS_QOS_HAS_P50);
	assert_int_equal(second_ending(f, 2)->window.e2e.has & some,
			HS_QOS_HAS_P50 | HS_QOS_HAS_P99);
	assert_int_equal(second_ending(f, 3)->window.e2e.has & some,
			HS_QOS_HAS_P50 | HS_QOS_HAS_P99);
	hs_qos_flush(f->qos);
	assert_int_equal(caught_at(&f->catcher, 10 * SECOND, 0)->window.e2e.has & some, some);
}

// ---- rule 18 ----

static void jitter_is_between_neighbours_in_source_order(void **state)
{
	struct fixture *f = *state;
	// Delays by number: 100: 10 ms, 200: 12 ms, 300: 250 ms, 400: 13 ms, 500: 11 ms; 300
	// arrives behind 500.
	static const uint64_t order[] = {100, 200, 400, 500, 300};
	static const int64_t delay_ms[] = {0, 10, 12, 250, 13, 11};
	for (unsigned i = 0; i < 5; i++) {
		struct hs_report report = plain(order[i]);
		report.sink_ts_ns =
				(int64_t)report.telemetry.e2e.ts_ns + delay_ms[order[i] / 100] * MS;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct hs_qos_hop *e2e = &second_ending(f, 1)->window.e2e;
	// |12-10| + |250-12| + |13-250| + |11-13|, four pairs.
	assert_int_equal(e2e->jitter_ns, (2 + 238 + 237 + 2) * MS / 4);
	// RFC 3550, in arrival order: 10, 12, 13, 11, 250.
	int64_t j = 0;
	static const int64_t change[] = {2, 1, 2, 239};
	for (unsigned i = 0; i < 4; i++)
		j += change[i] * MS - ((j + 8) >> 4);
	assert_int_equal(e2e->jitter_rfc3550_ns, j >> 4);
}

static void a_pair_belongs_to_the_window_of_its_later_packet(void **state)
{
	struct fixture *f = *state;
	struct hs_report report = plain(900);
	give(f->qos, &report);
	report = plain(1100);
	report.sink_ts_ns += 4 * MS;
	give(f->qos, &report);
	hs_qos_advance(f->qos, T0 + 3 * SECOND);
	assert_false(second_ending(f, 1)->window.e2e.has & HS_QOS_HAS_JITTER);
	assert_int_equal(second_ending(f, 2)->window.e2e.jitter_ns, 4 * MS);
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

static void a_report_at_the_very_end_belongs_to_the_window(void **state)
{
	struct fixture *f = *state;
	give_range(f, 997, 2097, 100); // arrive as a second ends, and in the middle of it
	hs_qos_advance(f->qos, T0 + 4 * SECOND);
	assert_int_equal(second_ending(f, 1)->window.reports, 1);
	assert_int_equal(second_ending(f, 2)->window.reports, 10);
	assert_int_equal(second_ending(f, 2)->window.e2e.span_end_ns, T0 + 2 * SECOND);
	assert_int_equal(second_ending(f, 3)->window.reports, 1);
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
		struct hs_flexint_hop *hop = hop_of(&report, 1);
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

static void a_report_behind_a_closed_window_changes_no_pair(void **state)
{
	struct fixture *f = *state;
	struct hs_report late = plain(850);
	late.sink_ts_ns = T0 + 1500 * MS; // 650 ms on its way
	late.sink_rx_packets = 1400;
	give_range(f, 100, 900, 100);
	hs_qos_advance(f->qos, T0 + 1200 * MS);
	give_range(f, 1000, 1400, 100);
	give(f->qos, &late);
	give_range(f, 1500, 1900, 100);
	hs_qos_advance(f->qos, T0 + 3 * SECOND);
	assert_int_equal(second_ending(f, 2)->window.reports, 11);
	assert_int_equal(second_ending(f, 2)->window.e2e.jitter_ns, 0);
	assert_int_equal(second_ending(f, 2)->window.e2e.delay.max, 650 * MS);
}

static void a_clock_that_jumps_ahead_shows_in_a_delay_that_changes_by_seconds(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 2900; i += 100) {
		struct hs_report report = plain(i); // a source 20 s behind steps to 5 s behind
		report.telemetry.e2e.ts_ns -= (uint64_t)(i < 1500 ? 20 : 5) * SECOND;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 4 * SECOND);
	assert_false(second_ending(f, 1)->window.clock.known);
	assert_true(second_ending(f, 2)->window.clock.known);
	assert_false(second_ending(f, 2)->window.clock.synchronised);
	assert_false(second_ending(f, 2)->window.flags & HS_QOS_NEGATIVE_DELAY);
}

static void percentiles_of_a_histogram_stay_within_what_was_measured(void **state)
{
	struct fixture *f = *state;
	// All the same in a second; its bucket's middle is above the one and below the other.
	static const int64_t more_ns[] = {777777, 784793};
	give_range(f, 500, 500, 1); // the histogram's origin: a delay of 3 ms
	for (uint64_t i = 0; i < 3900; i++) {
		struct hs_report report = plain_report(2001 + i, MS / 2, 2, PATH);
		report.sink_ts_ns += more_ns[i >= 2000];
		if (i % 2000 < 1900)
			give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 4 * SECOND);
	for (unsigned i = 0; i < 2; i++) {
		const struct hs_qos_hop *e2e = &second_ending(f, i + 2)->window.e2e;
		assert_true(e2e->delay.n > 1000);
		assert_int_equal(e2e->delay.min, 3 * MS + more_ns[i]);
		assert_int_equal(e2e->delay.p50, e2e->delay.min);
		assert_int_equal(e2e->delay.p999, e2e->delay.min);
		assert_int_equal(e2e->pdv_ns, 0);
	}
}

static void a_mean_is_rounded_to_the_nearest(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 300; i += 100) {
		struct hs_report report = plain(i);
		report.sink_ts_ns += i >= 200; // 0, 1, 1
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	assert_int_equal(second_ending(f, 1)->window.e2e.delay.mean, 3 * MS + 1);
}

static void a_path_that_was_split_before_it_was_noticed_charges_no_one(void **state)
{
	static const uint16_t one[] = {1, 2, 3}, other[] = {1, 77, 3};
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 900; i += 100) {
		bool second = i == 600;
		struct hs_report report = plain_report(i, GAP, 3, second ? other : one);
		struct hs_flexint_hop *hop = hop_of(&report, 1); // gets four fifths of the packets
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

static void stamps_that_run_back_are_a_step_of_the_sources_clock(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i <= 1900; i += 100) {
		struct hs_report report = plain(i);
		report.telemetry.e2e.ts_ns -= i >= 1500 ? 500 * MS : 0;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 3 * SECOND);
	assert_true(second_ending(f, 2)->window.clock.known);
	assert_false(second_ending(f, 2)->window.clock.synchronised);
	assert_false(second_ending(f, 2)->window.flags & HS_QOS_EPOCH);
	assert_int_equal(second_ending(f, 2)->window.e2e.tx_packets, 1000);
}

static void a_small_negative_delay_denies_synchronised_clocks(void **state)
{
	struct fixture *f = *state;
	const struct hs_qos_clock good = {.known = true, .synchronised = true};
	hs_qos_set_clock(f->qos, &good);
	for (uint64_t i = 100; i <= 900; i += 100) {
		struct hs_report report = plain(i);
		report.telemetry.e2e.ts_ns += 5 * MS;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	assert_int_equal(second_ending(f, 1)->window.e2e.delay.p50, -2 * MS);
	assert_false(second_ending(f, 1)->window.clock.synchronised);
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

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_report_at_the_very_end_belongs_to_the_window),
			TEST(a_restart_without_stamps_is_no_giant_loss),
			TEST(a_restarted_sink_loses_nothing),
			TEST(lasting_surplus_end_to_end_is_measured_and_flagged),
			TEST(no_surplus_is_carried_into_a_new_epoch),
			TEST(no_surplus_is_carried_past_a_restarted_node),
			TEST(a_report_behind_a_closed_window_changes_no_pair),
			TEST(a_clock_that_jumps_ahead_shows_in_a_delay_that_changes_by_seconds),
			TEST(percentiles_of_a_histogram_stay_within_what_was_measured),
			TEST(a_mean_is_rounded_to_the_nearest),
			TEST(a_path_that_was_split_before_it_was_noticed_charges_no_one),
			TEST(stamps_that_run_back_are_a_step_of_the_sources_clock),
			TEST(a_small_negative_delay_denies_synchronised_clocks),
			TEST(loss_behind_a_last_node_without_counts_is_unattributed),
			TEST(windows_of_all_lengths_end_on_multiples_of_their_length),
			TEST(a_window_holds_more_reports_than_are_kept),
			TEST(a_window_closes_only_after_its_lateness),
			TEST(what_is_lost_between_two_windows_is_in_the_later_one),
			TEST(one_report_in_a_window_measures_since_the_one_before),
			TEST(a_late_report_adds_its_delay_but_no_edge),
			TEST(a_report_that_the_drain_overtook_still_ends_its_window),
			TEST(window_throughput_is_what_a_burst_carried_on_average),
			TEST(a_silent_flow_repeats_its_last_values_for_a_minute),
			TEST(a_flow_that_wakes_up_measures_since_it_fell_silent),
			TEST(a_source_that_restarts_loses_nothing),
			TEST(a_source_that_restarts_early_is_told_from_reordering_by_its_stamps),
			TEST(a_restart_behind_half_of_the_counters_range_is_no_giant_loss),
			TEST(a_straggler_from_before_the_restart_moves_no_edge),
			TEST(a_transit_node_that_restarts_loses_nothing),
			TEST(a_transit_restart_shows_without_byte_counts_too),
			TEST(loss_across_a_transit_restart_is_unattributed),
			TEST(a_rule_with_other_fields_begins_anew_and_a_repeated_one_does_not),
			TEST(a_path_change_keeps_the_hops_that_both_paths_have),
			TEST(alternating_paths_have_loss_only_between_common_nodes),
			TEST(loss_in_a_node_is_told_from_loss_on_a_link),
			TEST(a_span_that_nothing_resolves_is_flagged),
			TEST(a_late_packet_is_not_lost_twice),
			TEST(a_surplus_is_paid_back_by_the_next_loss),
			TEST(rules_that_differ_are_flagged),
			TEST(rules_that_differ_are_flagged_when_reports_are_rare),
			TEST(a_negative_delay_is_kept_and_flagged),
			TEST(hop_delays_add_up_to_the_delay_end_to_end),
			TEST(an_unknown_clock_is_left_out_until_something_speaks_against_it),
			TEST(a_forward_step_of_some_clock_is_no_synchronised_window),
			TEST(a_step_of_the_nodes_own_clock_marks_the_windows_that_are_open),
			TEST(percentiles_come_only_with_enough_values),
			TEST(jitter_is_between_neighbours_in_source_order),
			TEST(a_pair_belongs_to_the_window_of_its_later_packet),
			TEST(what_a_node_does_not_supply_is_left_out),
			TEST(loss_around_a_node_without_counts_is_unattributed),
			TEST(hops_are_measured_where_the_source_counts_nothing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

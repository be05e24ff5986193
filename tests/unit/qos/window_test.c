// SPDX-License-Identifier: BSD-3-Clause
// One scenario for each rule about windows, spans, delays and clocks (docs/metrics.md).
#include "qos_fixture.h"
#include "sim.h"

#include <errno.h>

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

static void windows_of_flows_close_one_after_the_other(void **state)
{
	struct fixture *f = *state;
	struct hs_qos_config config = {.max_flows = 16,
			.stagger_ns = 120 * MS,
			.window_ns = {SECOND},
			.on_window = catch_window,
			.user = &f->catcher};
	struct hs_qos *qos;
	assert_int_equal(hs_qos_create(&config, &qos), 0);
	for (uint32_t flow = 0; flow < 4; flow++) {
		struct hs_report report = plain(100);
		struct hs_qos_key key = KEY;
		key.ns_id += flow;
		assert_int_equal(hs_qos_report(qos, &key, &report), 0);
	}
	// The fourth would close after more than a quarter of the window.
	static const int64_t at[] = {100 * MS, 210 * MS, 220 * MS, 340 * MS};
	for (unsigned i = 0; i < 4; i++) {
		hs_qos_advance(qos, T0 + SECOND + at[i] - 1);
		assert_int_equal(f->catcher.n, i);
		hs_qos_advance(qos, T0 + SECOND + at[i]);
		assert_int_equal(f->catcher.n, i + 1);
	}
	hs_qos_destroy(qos);
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

// Bursts of four with one receive stamp each, and no count in the source's part.
static void reports_of_one_stamp_are_in_order_of_arrival(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 1; i <= 8; i++) {
		struct hs_report report = plain(100 + i);
		report.telemetry.e2e.bitmap = HS_E2E_TIMESTAMP;
		report.telemetry.e2e.ts_ns = (uint64_t)(T0 + (int64_t)((i - 1) / 4) * 100 * MS);
		report.sink_ts_ns = (int64_t)report.telemetry.e2e.ts_ns + (int64_t)(i * i) * MS;
		give(f->qos, &report);
		if (i == 6)
			give(f->qos, &report); // the very same: no newer, no pair
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct hs_qos_hop *e2e = &second_ending(f, 1)->window.e2e;
	struct hs_qos_counters counters;
	hs_qos_counters(f->qos, &counters);
	assert_int_equal(counters.late_reports, 1);
	assert_int_equal(e2e->rx_packets, 7);
	// |4-1| + |9-4| + |16-9| + ... of squares: seven pairs.
	assert_int_equal(e2e->jitter_ns, 9 * MS);
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

static void a_flow_that_has_been_silent_for_a_minute_has_no_windows_to_show(void **state)
{
	struct fixture *f = *state;
	static const int64_t lengths[] = {SECOND, 10 * SECOND, 60 * SECOND};
	give_range(f, 100, 64900, 100);
	int64_t age = 0;
	for (int64_t second = 66; second < 125; second++) {
		hs_qos_advance(f->qos, T0 + second * SECOND);
		const struct hs_qos_window *shown = hs_qos_latest(f->qos, 7, SECOND);
		assert_non_null(shown);
		assert_int_equal(shown->stale, second > 66);
		assert_true(!shown->stale || shown->age_ns > age);
		age = shown->age_ns;
	}
	for (int64_t second = 127; second < 4000; second += 60) {
		hs_qos_advance(f->qos, T0 + second * SECOND);
		for (unsigned i = 0; i < 3; i++)
			assert_null(hs_qos_latest(f->qos, 7, lengths[i]));
	}
	assert_int_equal(hs_qos_latest(f->qos, 7, 0)->reports, 649);
	give_range(f, 4000100, 4001500, 100);
	assert_null(hs_qos_latest(f->qos, 7, 60 * SECOND)); // those of before do not come back
	assert_int_equal(hs_qos_latest(f->qos, 7, SECOND)->end_ns, T0 + 4001 * SECOND);
}

static void silence_is_a_minute_even_where_a_longer_window_is_open(void **state)
{
	(void)state;
	struct catcher catcher = {0};
	const struct hs_qos_config config = {
			.max_flows = 1,
			.window_ns = {SECOND, 10 * SECOND, 3600 * SECOND},
			.on_window = catch_window,
			.user = &catcher,
	};
	struct hs_qos *qos;
	assert_int_equal(hs_qos_create(&config, &qos), 0);
	for (uint64_t i = 100; i <= 900; i += 100) {
		struct hs_report report = plain(i);
		give(qos, &report);
	}
	hs_qos_advance(qos, T0 + 63 * SECOND);
	assert_null(hs_qos_latest(qos, 7, SECOND));
	hs_qos_advance(qos, T0 + 75 * SECOND);
	assert_null(hs_qos_latest(qos, 7, 10 * SECOND));
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
	flush_all(f->qos);
	assert_int_equal(caught_at(&f->catcher, 10 * SECOND, 0)->window.e2e.has & some, some);
}

static void percentiles_are_there_at_every_rate_around_what_is_kept(void **state)
{
	(void)state;
	const uint32_t all = HS_QOS_HAS_P50 | HS_QOS_HAS_P99 | HS_QOS_HAS_P999;
	for (unsigned rate = 1001; rate <= 1300; rate++) {
		struct catcher catcher;
		struct hs_qos *qos = monitor_new(&catcher);
		for (uint64_t i = 1; i <= 3 * rate; i++) {
			struct hs_report report = plain_report(i, SECOND / rate, 2, PATH);
			report.sink_ts_ns += (int64_t)(i % 100) * US;
			give(qos, &report);
		}
		flush_all(qos);
		for (size_t i = 0; i < catcher.n; i++) {
			const struct hs_qos_window *window = &catcher.windows[i].window;
			if (window->reports < 1000)
				continue;
			assert_int_equal(window->e2e.has & all, all);
			assert_in_range(window->e2e.delay.p50, 3 * MS + 45 * US, 3 * MS + 54 * US);
			assert_in_range(window->e2e.delay.p99, 3 * MS + 95 * US, 3 * MS + 100 * US);
		}
		assert_true(caught_at(&catcher, 10 * SECOND, 0)->window.reports > 3000);
		monitor_free(qos, &catcher);
	}
}

// The ring has room for fewer reports once they are long.
static void no_delay_is_missing_where_a_path_grows_within_a_window(void **state)
{
	struct fixture *f = *state;
	static const uint16_t longer[] = {1, 2, 3, 4, 5, 6, 7, 8, 10, 11};
	for (uint64_t i = 1; i <= 2400; i++) {
		bool grown = i > 1250;
		struct hs_report report =
				plain_report(i, MS / 2, grown ? 10 : 1, grown ? longer : PATH);
		report.sink_ts_ns = (int64_t)report.telemetry.e2e.ts_ns + 20 * MS;
		report.sink_ts_ns += i <= 1000 ? 0 : 5 * MS; // more than half of the first second
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 3 * SECOND);
	const struct hs_qos_window *window = &second_ending(f, 1)->window;
	assert_true(window->reports > 1900 && window->reports < 2000);
	assert_int_equal(window->e2e.delay.p50, 20 * MS);
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

static void a_report_behind_a_closed_window_makes_a_pair_of_its_own_only(void **state)
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
	assert_int_equal(second_ending(f, 1)->window.e2e.jitter_ns, 0);
	assert_int_equal(second_ending(f, 2)->window.reports, 11);
	// 850 and 800; 900 and 850 would be in the window before.
	assert_int_equal(second_ending(f, 2)->window.e2e.jitter_ns, (647 * MS + 5) / 11);
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

static void a_stamp_at_the_end_of_time_is_no_report(void **state)
{
	struct fixture *f = *state;
	static const int64_t stamps[] = {INT64_MAX, INT64_MAX - 1, INT64_MAX - 100 * SECOND};
	give_range(f, 1, 10, 1);
	for (unsigned i = 0; i < 3; i++) {
		struct hs_report report = plain(10);
		report.sink_ts_ns = stamps[i];
		assert_int_equal(hs_qos_report(f->qos, &KEY, &report), -EINVAL);
		hs_qos_advance(f->qos, T0 + SECOND);
	}
}

// A stamp has 64 bits, whatever wrote them.
static void a_spread_over_all_of_time_is_not_negative(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 1; i <= 1990; i++) {
		struct hs_report report = plain_report(i, MS / 2, 2, PATH);
		int64_t delay = i % 2 ? INT64_MAX : INT64_MIN;
		report.telemetry.e2e.ts_ns = (uint64_t)report.sink_ts_ns - (uint64_t)delay;
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct hs_qos_hop *e2e = &second_ending(f, 1)->window.e2e;
	assert_true(e2e->has & HS_QOS_HAS_P999);
	assert_int_equal(e2e->delay.min, INT64_MIN);
	assert_int_equal(e2e->delay.max, INT64_MAX);
	assert_int_equal(e2e->pdv_ns, INT64_MAX);
	if (e2e->has & HS_QOS_HAS_JITTER)
		assert_true(e2e->jitter_ns <= INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_stamp_at_the_end_of_time_is_no_report),
			TEST(windows_of_all_lengths_end_on_multiples_of_their_length),
			TEST(a_window_holds_more_reports_than_are_kept),
			TEST(a_window_closes_only_after_its_lateness),
			TEST(windows_of_flows_close_one_after_the_other),
			TEST(what_is_lost_between_two_windows_is_in_the_later_one),
			TEST(one_report_in_a_window_measures_since_the_one_before),
			TEST(a_late_report_adds_its_delay_but_no_edge),
			TEST(a_report_that_the_drain_overtook_still_ends_its_window),
			TEST(reports_of_one_stamp_are_in_order_of_arrival),
			TEST(window_throughput_is_what_a_burst_carried_on_average),
			TEST(a_silent_flow_repeats_its_last_values_for_a_minute),
			TEST(a_flow_that_wakes_up_measures_since_it_fell_silent),
			TEST(a_flow_that_has_been_silent_for_a_minute_has_no_windows_to_show),
			TEST(silence_is_a_minute_even_where_a_longer_window_is_open),
			TEST(a_negative_delay_is_kept_and_flagged),
			TEST(hop_delays_add_up_to_the_delay_end_to_end),
			TEST(an_unknown_clock_is_left_out_until_something_speaks_against_it),
			TEST(a_forward_step_of_some_clock_is_no_synchronised_window),
			TEST(a_step_of_the_nodes_own_clock_marks_the_windows_that_are_open),
			TEST(percentiles_come_only_with_enough_values),
			TEST(percentiles_are_there_at_every_rate_around_what_is_kept),
			TEST(no_delay_is_missing_where_a_path_grows_within_a_window),
			TEST(jitter_is_between_neighbours_in_source_order),
			TEST(a_pair_belongs_to_the_window_of_its_later_packet),
			TEST(a_report_at_the_very_end_belongs_to_the_window),
			TEST(a_report_behind_a_closed_window_makes_a_pair_of_its_own_only),
			TEST(a_clock_that_jumps_ahead_shows_in_a_delay_that_changes_by_seconds),
			TEST(percentiles_of_a_histogram_stay_within_what_was_measured),
			TEST(a_mean_is_rounded_to_the_nearest),
			TEST(stamps_that_run_back_are_a_step_of_the_sources_clock),
			TEST(a_small_negative_delay_denies_synchronised_clocks),
			TEST(a_spread_over_all_of_time_is_not_negative),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

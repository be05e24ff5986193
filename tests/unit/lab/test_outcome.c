// SPDX-License-Identifier: BSD-3-Clause
// The truth of windows, beside the measured values.
#include "outcome_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void rows_are_hops_in_their_order_then_end_to_end_and_exact_values_have_no_error(
		void **state)
{
	static const struct {
		const char *hop;
		int from, to;
	} rows[] = {{"src-sw1", 0, 1}, {"sw1-dst", 1, 9}, {"e2e", 0, 9}};
	struct fixture *f = *state;
	fixture_run(f);
	assert_int_equal(json_array_size(json_object_get(f->result, "rows")), 3);
	for (size_t row = 0; row < 3; row++) {
		assert_string_equal(fixture_text(f, "rows", row, "hop"), rows[row].hop);
		assert_int_equal(fixture_integer(f, "rows", row, "from"), rows[row].from);
		assert_int_equal(fixture_integer(f, "rows", row, "to"), rows[row].to);
		for (unsigned kind = 0; kind < HS_LAB_HOP_LATENCY; kind++) {
			assert_true(fixture_row(f, row, kind, "windows") == 2);
			assert_int_equal(fixture_windows(f, row, kind, "truth"), 2);
			// The truth of this is that of the window, but the measured value is that
			// of the span.
			if (kind == HS_LAB_WINDOW_THROUGHPUT)
				continue;
			assert_true(fixture_row(f, row, kind, "mae.truth") == 0);
			assert_true(fixture_row(f, row, kind, "max_error") == 0);
		}
	}
}

static void the_truth_of_a_span_is_what_the_link_did_in_it(void **state)
{
	struct fixture *f = *state;
	fixture_run(f);
	// Packets 11 to 20: ten sent, 13 lost, then 17.
	fixture_check(f, 0, "truth", HS_LAB_LOST_PACKETS, 1, 1, 2);
	fixture_check(f, 0, "truth", HS_LAB_LOSS, 0.1, 1.0 / 9, 0.2);
	fixture_check(f, 0, "truth", HS_LAB_RX_BYTES, 9 * 562, 8 * 562, 8 * 562);
	fixture_check(f, 0, "truth", HS_LAB_THROUGHPUT, 9 * 562 * 8, 8 * 562 * 8, 8 * 562 * 8);
	fixture_check(f, 0, "truth", HS_LAB_SPAN, 1e9, 1e9, 1e9);
	fixture_check(f, 0, "truth", HS_LAB_DELAY, 10e6, 20e6, 30e6);
	// 21 to 30: 22 lost.
	fixture_check(f, 1, "truth", HS_LAB_LOST_PACKETS, 0, 1, 1);
	// In (1 s, 2 s], the packets that reach dst are those of 1.03 s to 1.93 s.
	fixture_check(f, 0, "truth", HS_LAB_WINDOW_THROUGHPUT, 9 * 562 * 8, 8 * 562 * 8,
			8 * 562 * 8);
}

static void errors_are_averaged_over_the_windows(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	TELL(f, 2, 10, 20, 2, .lost = {1, 3}, .delay_ns = 3);
	TELL(f, 3, 20, 30, 2, .lost = {0, 1}, .delay_ns = -7);
	fixture_compute(f);
	static const struct {
		size_t row;
		enum hs_lab_metric_kind kind;
		const char *path;
		double value;
	} numbers[] = {{1, HS_LAB_DELAY, "measured", 20e6 - 2}, {1, HS_LAB_DELAY, "truth", 20e6},
			{1, HS_LAB_DELAY, "mae.truth", 5}, {1, HS_LAB_DELAY, "max_error", 7},
			{1, HS_LAB_DELAY, "mae.configured", 5}, {1, HS_LAB_DELAY, "mean_error", 2},
			{0, HS_LAB_DELAY, "mae.truth", 0}, {1, HS_LAB_LOST_PACKETS, "mae.truth", 1},
			{1, HS_LAB_LOST_PACKETS, "max_error", 2}};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		assert_true(fixture_row(f, numbers[i].row, numbers[i].kind, numbers[i].path) ==
				numbers[i].value);
	assert_int_equal(fixture_windows(f, 1, HS_LAB_LOST_PACKETS, "configured"), 0);
	assert_true(isnan(fixture_row(f, 1, HS_LAB_LOST_PACKETS, "configured")));
	assert_true(isnan(fixture_row(f, 1, HS_LAB_LOST_PACKETS, "mae.configured")));
}

static void counts_are_not_compared_over_another_span(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	TELL(f, 2, 10, 20, 2, .lost = {1, 1});
	TELL(f, 3, 20, 30, 2, .lost = {0, 1}, .span_ns = 1);
	fixture_compute(f);
	assert_int_equal(fixture_windows(f, 1, HS_LAB_LOST_PACKETS, "truth"), 1);
	assert_int_equal(fixture_windows(f, 0, HS_LAB_LOST_PACKETS, "truth"), 2);
	assert_true(fixture_row(f, 1, HS_LAB_SPAN, "max_error") == 1);
}

static void the_first_window_begins_with_the_first_report(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	TELL(f, 1, 5, 10, 2);
	fixture_compute(f);
	fixture_check(f, 0, "truth", HS_LAB_SPAN, 500e6, 500e6, 500e6);
	assert_int_equal(fixture_windows(f, 1, HS_LAB_JITTER, "truth"), 1);
	// The window began before its flow was seen.
	assert_int_equal(fixture_windows(f, 0, HS_LAB_WINDOW_THROUGHPUT, "configured"), 0);
	assert_int_equal(fixture_windows(f, 0, HS_LAB_THROUGHPUT, "configured"), 1);
}

static void stale_windows_are_in_no_sum(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	fixture_tell_all(f);
	fixture_tell(f, (struct told){.end = 4, .a = 20, .b = 30, .stale = true, .lost = {4, 4}});
	fixture_compute(f);
	assert_int_equal(fixture_integer(f, "flows", 0, "stale_windows"), 1);
	assert_int_equal(fixture_integer(f, "flows", 0, "empty_windows"), 1);
	assert_int_equal(fixture_integer(f, "flows", 0, "windows"), 2);
	assert_true(fixture_row(f, 0, HS_LAB_DELAY, "windows") == 2);
	assert_int_equal(fixture_integer(f, "lost_packets", 1, "measured"), 2);
	assert_int_equal(json_array_size(json_object_get(f->result, "windows")), 3);
}

static void windows_that_traffic_cuts_short_are_kept_and_not_averaged(void **state)
{
	struct fixture *f = *state;
	static const struct {
		int start_ms, stop_ms, opening_ms, packets;
		bool partial[2];
		enum hs_traffic_kind kind;
	} cases[] = {
			{0, 2900, 0, 0, {false, true}},
			{1500, 4000, 0, 0, {true, false}},
			{0, 4000, 0, 25, {false, true}},
			{0, 4000, 0, 30, {false, false}},
			{0, 4000, 0, 25, {false, false}, HS_TRAFFIC_BURSTY}, // has no steady rate
			// The span of the first window begins with the opening packet. The silence
			// does not count in the duration of 20 packets, which end at 3 s.
			{0, 4000, 1000, 0, {true, false}},
			{0, 4000, 1000, 20, {true, false}},
			{0, 4000, 1000, 19, {true, true}},
			{0, 2500, 1000, 0, {true, true}},
	};
	fixture_send(f);
	fixture_tell_all(f);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		int whole = !cases[i].partial[0] + !cases[i].partial[1];
		f->traffic[0].start_ns = cases[i].start_ms * MS;
		f->traffic[0].stop_ns = cases[i].stop_ms * MS;
		f->traffic[0].opening_ns = cases[i].opening_ms * MS;
		f->traffic[0].packets = (uint64_t)cases[i].packets;
		f->traffic[0].kind = cases[i].kind;
		fixture_compute(f);
		assert_int_equal(fixture_integer(f, "flows", 0, "windows"), whole);
		assert_int_equal(fixture_integer(f, "flows", 0, "reports"), 4);
		assert_int_equal(json_integer_value(fixture_at(f, "rows", 0, "delay_ns.windows")),
				whole);
		for (size_t j = 0; j < 2; j++) {
			assert_int_equal(json_is_true(fixture_at(f, "windows", j, "partial")),
					cases[i].partial[j]);
			assert_non_null(fixture_at(f, "windows", j, "e2e.truth"));
		}
	}
}

static void the_sinks_clock_decides_which_window_a_report_is_in(void **state)
{
	struct fixture *f = *state;
	f->sink_ahead_ns = 5 * SECOND;
	f->traffic[0].stop_ns = 4 * SECOND;
	fixture_send(f);
	// The same windows, five seconds later by the sink's clock. The clock's offset is measured
	// as delay.
	TELL(f, 7, 10, 20, 2, .lost = {1, 1}, .delay_ns = 5 * SECOND);
	fixture_compute(f);
	assert_int_equal(fixture_integer(f, "flows", 0, "windows"), 1);
	assert_true(fixture_row(f, 1, HS_LAB_LOST_PACKETS, "mae.truth") == 0);
	assert_true(fixture_row(f, 1, HS_LAB_DELAY, "mae.truth") == 5e9);
	assert_true(fixture_row(f, 1, HS_LAB_THROUGHPUT, "mae.truth") == 0);
}

// From 2 s on, the sink's clock shows two seconds less. Windows that the sink had closed stay
// closed.
static void a_clock_that_goes_back_puts_reports_into_the_next_window(void **state)
{
	struct fixture *f = *state;
	f->sink_ahead_ns = 2 * SECOND;
	fixture_send_some(f, 1, 20, (const struct fate[]){{0}});
	f->sink_ahead_ns = 0;
	fixture_send_some(f, 21, 40, (const struct fate[]){{0}});
	f->sink_ahead_ns = 2 * SECOND;
	// Reports 25 and 30 also show times of this window, but count in the window that was open.
	TELL(f, 3, 5, 10, 2, .delay_ns = 2 * SECOND);
	fixture_compute(f);
	assert_int_equal(fixture_integer(f, "windows", 0, "true_reports"), 2);
}

static void counts_of_hops_are_not_judged_where_a_node_began_anew(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	TELL(f, 2, 10, 20, 2, .lost = {1, 1});
	TELL(f, 3, 20, 25, 2, .lost = {0, 0}, .flag = "epoch");
	fixture_compute(f);
	assert_int_equal(fixture_windows(f, 1, HS_LAB_LOST_PACKETS, "truth"), 1);
	assert_int_equal(fixture_windows(f, 1, HS_LAB_SPAN, "truth"), 1);
	assert_int_equal(fixture_windows(f, 1, HS_LAB_DELAY, "truth"), 2);
	assert_int_equal(fixture_windows(f, 2, HS_LAB_LOST_PACKETS, "truth"), 1);
}

static void a_step_across_a_nodes_new_beginning_is_not_in_the_runs_truth(void **state)
{
	struct fixture *f = *state;
	SEND(f, {13, 1}, {17, 1}, {18, .restarted = true}, {22, 1});
	fixture_tell_all(f);
	fixture_compute(f);
	// The first window spans the restart without a flag, so it is compared with what the links
	// did.
	assert_int_equal(fixture_windows(f, 0, HS_LAB_LOST_PACKETS, "truth"), 2);
	assert_int_equal(fixture_windows(f, 2, HS_LAB_LOST_PACKETS, "truth"), 2);
	// 17 was lost between reports 15 and 20, across the restart. The hop's truth lacks it, the
	// truth from end to end has it.
	assert_int_equal(fixture_integer(f, "lost_packets", 0, "truth"), 2);
	assert_int_equal(fixture_integer(f, "lost_packets", 2, "truth"), 3);
	assert_int_equal(fixture_integer(f, "lost_packets", 0, "truth_all"), 3);
}

static void a_late_packet_pairs_in_source_order_and_is_no_loss_of_a_link_that_loses_nothing(
		void **state)
{
	struct fixture *f = *state;
	// Packet 15 arrives in the window after that of packet 20.
	SEND(f, {15, .way_ms = 680});
	TELL(f, 2, 10, 20, 1);
	TELL(f, 3, 20, 30, 3);
	fixture_compute(f);
	// Window 2 has the pair 20 after 15. Window 3 has the pair 15 after 10, and those of 25 and
	// 30.
	fixture_check(f, 0, "truth", HS_LAB_JITTER, 0, 650e6, 650e6);
	fixture_check(f, 1, "truth", HS_LAB_JITTER, 0, 216666667, 216666667);
	fixture_check(f, 1, "truth", HS_LAB_DELAY, 10e6, 236666667, 246666667);
	fixture_check(f, 0, "truth", HS_LAB_LOST_PACKETS, 0, 1, 1);
	fixture_check(f, 1, "truth", HS_LAB_LOST_PACKETS, 0, -1, -1);
	for (size_t i = 0; i < 2; i++)
		fixture_check(f, i, "truth", HS_LAB_LOSS, 0, 0, 0);
}

static void a_late_packet_pays_for_what_a_window_before_called_lost(void **state)
{
	struct fixture *f = *state;
	SEND(f, {12, .way_ms = 980}, {31, 2}, {33, 2});
	TELL(f, 2, 10, 20, 2, .lost = {0, 1});
	TELL(f, 3, 20, 30, 2, .lost = {0, -1});
	TELL(f, 4, 30, 40, 2, .lost = {0, 2});
	fixture_compute(f);
	fixture_check(f, 0, "truth", HS_LAB_LOSS, 0, 0.1, 0.1);
	fixture_check(f, 1, "truth", HS_LAB_LOSS, 0, 0, 0);
	fixture_check(f, 2, "truth", HS_LAB_LOSS, 0, 0.1, 0.1); // one of two: 12 pays for the other
}

static void the_result_says_what_it_is_of_and_may_leave_out_windows(void **state)
{
	struct fixture *f = *state;
	fixture_compute(f);
	assert_int_equal(json_array_size(json_object_get(f->result, "rows")), 0);
	fixture_run(f);
	assert_string_equal(json_string_value(json_object_get(f->result, "name")), "by hand");
	for (size_t i = 0; i < 2; i++)
		assert_int_equal(fixture_integer(f, "windows", i, "start_ns"),
				T0 + (int64_t)(i + 1) * SECOND);
	assert_string_equal(fixture_text(f, "windows", 0, "flow"), "constant");
	assert_int_equal(json_array_size(fixture_at(f, "windows", 0, "path")), 3);
	const json_t *hop = json_array_get(fixture_at(f, "windows", 0, "hops"), 1);
	assert_string_equal(json_string_value(json_object_get(hop, "link")), "sw1-dst");
	assert_true(hs_outcome_number(hop, "truth.delay_ns.p50") == 20 * MS);
	assert_true(hs_outcome_number(f->result, "mae.delay_ns.truth") == 0);
	assert_int_equal(fixture_integer(f, "overhead", 0, "telemetry_bytes"), 8 * 24);
	assert_near(json_number_value(fixture_at(f, "overhead", 0, "bytes_ratio")),
			8.0 * 24 / (40 * 562), 1e-15);
	char *text = json_dumps(f->result, 0);
	assert_null(strstr(text, "null"));
	free(text);
	f->scenario.keep_windows = false;
	fixture_compute(f);
	assert_null(json_object_get(f->result, "windows"));
	assert_int_equal(json_array_size(json_object_get(f->result, "rows")), 3);
}

// ---- late packets, copies, gaps ----

static void a_late_report_is_no_edge(void **state)
{
	struct fixture *f = *state;
	SEND(f, {15, .way_ms = 1570}); // the last packet of its window
	TELL(f, 3, 20, 30, 3);
	fixture_compute(f);
	assert_int_equal(fixture_integer(f, "windows", 0, "true_reports"), 3);
	// The span ends with packet 30, which came before the late one.
	fixture_check(f, 0, "truth", HS_LAB_LOST_PACKETS, 0, 0, 0);
}

static void a_copy_has_a_delay_makes_no_pair_and_is_no_loss(void **state)
{
	struct fixture *f = *state;
	SEND(f, {15, .copy_ms = 90}, {17, 2});
	TELL(f, 2, 10, 20, 3);
	fixture_compute(f);
	fixture_check(f, 0, "truth", HS_LAB_DELAY, 10e6, 40e6, 50e6); // of 20, 80 and 20 ms
	fixture_check(f, 0, "truth", HS_LAB_JITTER, 0, 0, 0);
	fixture_check(f, 0, "truth", HS_LAB_LOST_PACKETS, 0, 0, 0); // lost less duplicated
	assert_int_equal(fixture_integer(f, "lost_packets", 1, "truth_all"), 1);
	assert_int_equal(fixture_integer(f, "windows", 0, "true_reports"), 3);
}

static void what_a_node_drops_is_lost_end_to_end_and_on_no_link(void **state)
{
	struct fixture *f = *state;
	SEND(f, {12, 3}, {17, 2});
	TELL(f, 2, 10, 20, 2, .lost = {0, 1});
	fixture_compute(f);
	assert_int_equal(fixture_integer(f, "lost_packets", 0, "truth_all"), 0);
	assert_int_equal(fixture_integer(f, "lost_packets", 1, "truth_all"), 1);
	assert_int_equal(fixture_integer(f, "lost_packets", 2, "truth"), 2);
	assert_int_equal(fixture_integer(f, "lost_packets", 2, "truth_all"), 2);
}

static void a_report_at_the_very_end_belongs_to_its_window(void **state)
{
	struct fixture *f = *state;
	f->sink_ahead_ns = 70 * MS; // packet 10 shows 1 s, packet 20 shows 2 s
	fixture_send(f);
	TELL(f, 2, 10, 20, 2, .lost = {1, 1}, .delay_ns = 70 * MS);
	fixture_compute(f);
	assert_int_equal(fixture_integer(f, "windows", 0, "true_reports"), 2);
	assert_true(fixture_row(f, 1, HS_LAB_LOST_PACKETS, "mae.truth") == 0);
}

static void percentiles_are_of_nearest_rank(void **state)
{
	struct fixture *f = *state;
	SEND(f, {15, .copy_ms = 90}, {20, .way_ms = 60}); // ways of 30, 90 and 60 ms
	TELL(f, 2, 10, 20, 3);
	fixture_compute(f);
	static const struct {
		const char *path;
		int64_t value;
	} numbers[] = {{"e2e.truth.delay_ns.min", 30 * MS}, {"e2e.truth.delay_ns.p50", 60 * MS},
			{"e2e.truth.delay_ns.max", 90 * MS}, {"e2e.truth.delay_ns.mean", 60 * MS}};
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(fixture_integer(f, "windows", 0, numbers[i].path),
				numbers[i].value);
	assert_null(fixture_at(f, "windows", 0, "e2e.truth.delay_ns.p99")); // of three values
}

static void a_source_with_an_id_stands_as_0_in_paths(void **state)
{
	struct fixture *f = *state;
	f->nodes[0].id = 5;
	fixture_run(f);
	assert_string_equal(fixture_text(f, "rows", 0, "hop"), "src-sw1");
	assert_int_equal(fixture_windows(f, 0, HS_LAB_LOST_PACKETS, "truth"), 2);
	assert_true(fixture_row(f, 0, HS_LAB_LOST_PACKETS, "mae.truth") == 0);
}

static void the_run_is_what_the_sink_says_of_it(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	fixture_tell_all(f);
	fixture_tell_run(f, (struct told){.end = 4, .a = 5, .b = 40, .reports = 8, .lost = {1, 6}});
	fixture_compute(f);
	assert_int_equal(fixture_integer(f, "lost_packets", 1, "measured"), 6);
	assert_int_equal(fixture_integer(f, "lost_packets", 1, "truth"), 2);
	assert_int_equal(fixture_integer(f, "lost_packets", 1, "shown"), 2);
	assert_int_equal(fixture_integer(f, "lost_packets", 2, "measured"), 7);
}

static void windows_that_nobody_published_are_empty(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	TELL(f, 1, 5, 10, 2);
	TELL(f, 4, 30, 40, 2);
	fixture_compute(f);
	assert_int_equal(fixture_integer(f, "flows", 0, "empty_windows"), 2);
	assert_int_equal(fixture_integer(f, "flows", 0, "stale_windows"), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(rows_are_hops_in_their_order_then_end_to_end_and_exact_values_have_no_error),
			TEST(the_truth_of_a_span_is_what_the_link_did_in_it),
			TEST(errors_are_averaged_over_the_windows),
			TEST(counts_are_not_compared_over_another_span),
			TEST(the_first_window_begins_with_the_first_report),
			TEST(stale_windows_are_in_no_sum),
			TEST(windows_that_traffic_cuts_short_are_kept_and_not_averaged),
			TEST(the_sinks_clock_decides_which_window_a_report_is_in),
			TEST(a_clock_that_goes_back_puts_reports_into_the_next_window),
			TEST(counts_of_hops_are_not_judged_where_a_node_began_anew),
			TEST(a_step_across_a_nodes_new_beginning_is_not_in_the_runs_truth),
			TEST(a_late_packet_pairs_in_source_order_and_is_no_loss_of_a_link_that_loses_nothing),
			TEST(a_late_packet_pays_for_what_a_window_before_called_lost),
			TEST(the_result_says_what_it_is_of_and_may_leave_out_windows),
			TEST(a_late_report_is_no_edge),
			TEST(a_copy_has_a_delay_makes_no_pair_and_is_no_loss),
			TEST(what_a_node_drops_is_lost_end_to_end_and_on_no_link),
			TEST(a_report_at_the_very_end_belongs_to_its_window),
			TEST(percentiles_are_of_nearest_rank),
			TEST(a_source_with_an_id_stands_as_0_in_paths),
			TEST(the_run_is_what_the_sink_says_of_it),
			TEST(windows_that_nobody_published_are_empty),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

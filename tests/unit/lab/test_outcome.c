// SPDX-License-Identifier: BSD-3-Clause
// The truth of windows, beside the measured values.
#include "outcome_fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void what_is_measured_exactly_has_no_error(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	fixture_tell_all(f);
	fixture_compute(f);
	assert_int_equal(json_array_size(json_object_get(f->result, "rows")), 3);
	for (size_t row = 0; row < 3; row++) {
		for (unsigned kind = 0; kind < HS_LAB_HOP_LATENCY; kind++) {
			struct fixture_mean mean = fixture_mean(f, row, kind);
			assert_int_equal(mean.n, 2);
			assert_int_equal(mean.n_truth, 2);
			if (kind == HS_LAB_WINDOW_THROUGHPUT)
				continue; // its truth is that of the window, but the measured value
					  // is that of the span
			assert_true(mean.mae_truth == 0 && mean.max_error == 0);
		}
	}
}

static void rows_are_hops_in_their_order_then_end_to_end(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	fixture_tell_all(f);
	fixture_compute(f);
	assert_string_equal(fixture_text(f, "rows", 1, "hop"), "sw1-dst");
	assert_int_equal(fixture_integer(f, "rows", 1, "from"), 1);
	assert_int_equal(fixture_integer(f, "rows", 1, "to"), 9);
	assert_int_equal(fixture_mean(f, 1, HS_LAB_DELAY).n, 2);
	assert_int_equal(fixture_integer(f, "windows", 0, "start_ns"), T0 + SECOND);
	assert_int_equal(fixture_integer(f, "windows", 1, "start_ns"), T0 + 2 * SECOND);
	assert_string_equal(fixture_text(f, "rows", 0, "hop"), "src-sw1");
	assert_string_equal(fixture_text(f, "rows", 2, "hop"), "e2e");
	assert_int_equal(fixture_integer(f, "rows", 2, "from"), 0);
	assert_int_equal(fixture_integer(f, "rows", 2, "to"), 9);
}

static double truth_at(
		const struct fixture *f, size_t row, size_t window, enum hs_lab_metric_kind kind)
{
	return fixture_point(f, row, window, kind).truth;
}

static void the_truth_of_a_span_is_what_the_link_did_in_it(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	fixture_tell_all(f);
	fixture_compute(f);
	// Packets 11 to 20: ten sent, 13 lost, then 17.
	assert_true(truth_at(f, 0, 0, HS_LAB_LOST_PACKETS) == 1);
	assert_true(truth_at(f, 1, 0, HS_LAB_LOST_PACKETS) == 1);
	assert_true(truth_at(f, 2, 0, HS_LAB_LOST_PACKETS) == 2);
	assert_true(truth_at(f, 0, 0, HS_LAB_LOSS) == 0.1);
	assert_near(truth_at(f, 1, 0, HS_LAB_LOSS), 1.0 / 9, 1e-14);
	assert_true(truth_at(f, 2, 0, HS_LAB_LOSS) == 0.2);
	assert_true(truth_at(f, 2, 0, HS_LAB_RX_BYTES) == 8 * 562);
	assert_true(truth_at(f, 0, 0, HS_LAB_THROUGHPUT) == 9 * 562 * 8);
	assert_true(truth_at(f, 0, 0, HS_LAB_SPAN) == 1e9);
	// 21 to 30: 22 lost.
	assert_true(truth_at(f, 0, 1, HS_LAB_LOST_PACKETS) == 0);
	assert_true(truth_at(f, 1, 1, HS_LAB_LOST_PACKETS) == 1);
	// In (1 s, 2 s], the packets that reach dst are those of 1.03 s to 1.93 s.
	assert_true(truth_at(f, 2, 0, HS_LAB_WINDOW_THROUGHPUT) == 8 * 562 * 8);
	assert_true(truth_at(f, 2, 0, HS_LAB_DELAY) == 30e6);
}

static void errors_are_averaged_over_the_windows(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	fixture_tell(f, (struct told){.end = 2,
					.a = 10,
					.b = 20,
					.reports = 2,
					.lost = {1, 3},
					.delay_ns = 3});
	fixture_tell(f, (struct told){.end = 3,
					.a = 20,
					.b = 30,
					.reports = 2,
					.lost = {0, 1},
					.delay_ns = -7});
	fixture_compute(f);
	struct fixture_mean delay = fixture_mean(f, 1, HS_LAB_DELAY);
	assert_true(delay.mae_truth == 5 && delay.max_error == 7);
	assert_true(delay.measured == 20e6 - 2 && delay.truth == 20e6);
	assert_true(delay.mae_configured == 5 && delay.mean_error == 2);
	assert_true(fixture_mean(f, 0, HS_LAB_DELAY).mae_truth == 0);
	struct fixture_mean lost = fixture_mean(f, 1, HS_LAB_LOST_PACKETS);
	assert_true(lost.mae_truth == 1 && lost.max_error == 2);
	assert_int_equal(lost.n_configured, 0);
	assert_true(isnan(lost.configured) && isnan(lost.mae_configured));
}

static void counts_are_not_compared_over_another_span(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	fixture_tell(f, (struct told){.end = 2, .a = 10, .b = 20, .reports = 2, .lost = {1, 1}});
	fixture_tell(f, (struct told){.end = 3,
					.a = 20,
					.b = 30,
					.reports = 2,
					.lost = {0, 1},
					.span_ns = 1});
	fixture_compute(f);
	assert_int_equal(fixture_mean(f, 1, HS_LAB_LOST_PACKETS).n_truth, 1);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_LOST_PACKETS).n_truth, 2);
	assert_true(fixture_mean(f, 1, HS_LAB_SPAN).max_error == 1);
}

static void the_first_window_begins_with_the_first_report(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	fixture_tell(f, (struct told){.end = 1, .a = 5, .b = 10, .reports = 2});
	fixture_compute(f);
	assert_true(truth_at(f, 0, 0, HS_LAB_SPAN) == 500e6);
	assert_int_equal(fixture_mean(f, 1, HS_LAB_JITTER).n_truth, 1);
	// The window began before its flow was seen.
	assert_int_equal(fixture_mean(f, 0, HS_LAB_WINDOW_THROUGHPUT).n_configured, 0);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_THROUGHPUT).n_configured, 1);
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
	assert_int_equal(fixture_mean(f, 0, HS_LAB_DELAY).n, 2);
	json_t *json = f->result;
	json_t *lost = json_array_get(json_object_get(json, "lost_packets"), 1);
	assert_int_equal(json_integer_value(json_object_get(lost, "measured")), 2);
	assert_int_equal(json_array_size(json_object_get(json, "windows")), 3);
}

static void windows_that_traffic_ends_in_are_kept_and_not_averaged(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	f->traffic[0].stop_ns = 2900 * MS;
	fixture_tell_all(f);
	fixture_compute(f);
	assert_int_equal(fixture_integer(f, "flows", 0, "windows"), 1);
	assert_int_equal(fixture_integer(f, "flows", 0, "reports"), 4);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_DELAY).n, 1);
	json_t *json = f->result;
	json_t *window = json_array_get(json_object_get(json, "windows"), 1);
	assert_true(json_is_true(json_object_get(window, "partial")));
	assert_non_null(json_object_get(json_object_get(window, "e2e"), "truth"));
}

static void a_window_before_the_traffic_is_no_whole_one(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	f->traffic[0].start_ns = 1500 * MS;
	fixture_tell_all(f);
	fixture_compute(f);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_DELAY).n, 1);
	assert_true(json_is_true(fixture_at(f, "windows", 0, "partial")));
	assert_false(json_is_true(fixture_at(f, "windows", 1, "partial")));
}

static void a_window_whose_span_begins_with_the_opening_packet_is_no_whole_one(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	f->traffic[0].opening_ns = SECOND;
	fixture_tell_all(f);
	fixture_compute(f);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_DELAY).n, 1);
	assert_true(json_is_true(fixture_at(f, "windows", 0, "partial")));
	assert_false(json_is_true(fixture_at(f, "windows", 1, "partial")));
	// The silence does not count in the duration of 20 packets, which end at 3 s.
	f->traffic[0].packets = 20;
	fixture_compute(f);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_DELAY).n, 1);
	f->traffic[0].packets = 19;
	fixture_compute(f);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_DELAY).n, 0);
	f->traffic[0].packets = 0;
	f->traffic[0].stop_ns = 2500 * MS;
	fixture_compute(f);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_DELAY).n, 0);
}

static void the_sinks_clock_decides_which_window_a_report_is_in(void **state)
{
	struct fixture *f = *state;
	f->sink_ahead_ns = 5 * SECOND;
	f->traffic[0].stop_ns = 4 * SECOND;
	fixture_send(f);
	// The same windows, five seconds later by the sink's clock. The clock's offset is measured
	// as delay.
	fixture_tell(f, (struct told){.end = 7,
					.a = 10,
					.b = 20,
					.reports = 2,
					.lost = {1, 1},
					.delay_ns = 5 * SECOND});
	fixture_compute(f);
	assert_int_equal(fixture_integer(f, "flows", 0, "windows"), 1);
	assert_true(fixture_mean(f, 1, HS_LAB_LOST_PACKETS).mae_truth == 0);
	assert_true(fixture_mean(f, 1, HS_LAB_DELAY).mae_truth == 5e9);
	assert_true(fixture_mean(f, 1, HS_LAB_THROUGHPUT).mae_truth == 0);
}

// From 2 s on, the sink's clock shows two seconds less. Windows that the sink had closed stay
// closed.
static void a_clock_that_goes_back_puts_reports_into_the_next_window(void **state)
{
	struct fixture *f = *state;
	for (uint64_t number = 1; number <= 40; number++) {
		f->sink_ahead_ns = number <= 20 ? 2 * SECOND : 0;
		fixture_packet(f, number, 0);
	}
	f->sink_ahead_ns = 2 * SECOND;
	// Reports 25 and 30 also show times of this window, but count in the window that was open.
	fixture_tell(f, (struct told){.end = 3,
					.a = 5,
					.b = 10,
					.reports = 2,
					.delay_ns = 2 * SECOND});
	fixture_compute(f);
	json_t *json = f->result;
	json_t *window = json_array_get(json_object_get(json, "windows"), 0);
	assert_int_equal(json_integer_value(json_object_get(window, "true_reports")), 2);
}

static void counts_of_hops_are_not_judged_where_a_node_began_anew(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	fixture_tell(f, (struct told){.end = 2, .a = 10, .b = 20, .reports = 2, .lost = {1, 1}});
	fixture_tell(f, (struct told){.end = 3,
					.a = 20,
					.b = 25,
					.reports = 2,
					.lost = {0, 0},
					.flag = "epoch"});
	fixture_compute(f);
	assert_int_equal(fixture_mean(f, 1, HS_LAB_LOST_PACKETS).n_truth, 1);
	assert_int_equal(fixture_mean(f, 1, HS_LAB_SPAN).n_truth, 1);
	assert_int_equal(fixture_mean(f, 1, HS_LAB_DELAY).n_truth, 2);
	assert_int_equal(fixture_mean(f, 2, HS_LAB_LOST_PACKETS).n_truth, 1);
}

static void a_step_across_a_nodes_new_beginning_is_not_in_the_runs_truth(void **state)
{
	struct fixture *f = *state;
	for (uint64_t number = 1; number <= 40; number++) {
		if (number == 18)
			hs_truth_restart(f->run.truth, 1);
		fixture_packet(f, number, number == 13 || number == 17 || number == 22);
	}
	fixture_tell_all(f);
	fixture_compute(f);
	// The first window spans the restart without a flag, so it is compared with what the links
	// did.
	assert_int_equal(fixture_mean(f, 0, HS_LAB_LOST_PACKETS).n_truth, 2);
	assert_int_equal(fixture_mean(f, 2, HS_LAB_LOST_PACKETS).n_truth, 2);
	json_t *json = f->result;
	json_t *lost = json_object_get(json, "lost_packets");
	// 17 was lost between reports 15 and 20, across the restart. The hop's truth lacks it, the
	// truth from end to end has it.
	assert_int_equal(json_integer_value(json_object_get(json_array_get(lost, 0), "truth")), 2);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(lost, 2), "truth")), 3);
	assert_int_equal(json_integer_value(json_object_get(json_array_get(lost, 0), "truth_all")),
			3);
}

// Packet 15 takes 650 ms more on the second link. It arrives in the window after that of packet 20.
static void send_with_a_late_one(struct fixture *f)
{
	struct hs_packet_truth late;
	for (uint64_t number = 1; number <= 40; number++) {
		int64_t at_ns = T0 + (int64_t)(number - 1) * 100 * MS;
		if (number == 15) {
			fixture_depart(f, number, at_ns, &late);
			fixture_pass(f, &late, at_ns + 10 * MS);
			continue;
		}
		if (number == 22)
			fixture_arrive(f, &late, T0 + 2080 * MS);
		fixture_packet(f, number, 0);
	}
}

static void jitter_pairs_packets_in_source_order(void **state)
{
	struct fixture *f = *state;
	send_with_a_late_one(f);
	fixture_tell(f, (struct told){.end = 2, .a = 10, .b = 20, .reports = 1});
	fixture_tell(f, (struct told){.end = 3, .a = 20, .b = 30, .reports = 3});
	fixture_compute(f);
	// Window 2 has the pair 20 after 15. Window 3 has the pair 15 after 10, and those of 25 and
	// 30.
	assert_true(truth_at(f, 1, 0, HS_LAB_JITTER) == 650e6);
	assert_true(truth_at(f, 1, 1, HS_LAB_JITTER) == 216666667);
	assert_true(truth_at(f, 0, 1, HS_LAB_JITTER) == 0);
	assert_true(truth_at(f, 1, 1, HS_LAB_DELAY) == 236666667);
}

static void a_late_packet_is_no_loss_of_a_link_that_loses_nothing(void **state)
{
	struct fixture *f = *state;
	send_with_a_late_one(f);
	fixture_tell(f, (struct told){.end = 2, .a = 10, .b = 20, .reports = 1});
	fixture_tell(f, (struct told){.end = 3, .a = 20, .b = 30, .reports = 3});
	fixture_compute(f);
	assert_true(truth_at(f, 1, 0, HS_LAB_LOST_PACKETS) == 1);
	assert_true(truth_at(f, 1, 1, HS_LAB_LOST_PACKETS) == -1);
	assert_true(truth_at(f, 1, 0, HS_LAB_LOSS) == 0);
	assert_true(truth_at(f, 1, 1, HS_LAB_LOSS) == 0);
}

static void a_late_packet_pays_for_what_a_window_before_called_lost(void **state)
{
	struct fixture *f = *state;
	struct hs_packet_truth late;
	for (uint64_t number = 1; number <= 40; number++) {
		int64_t at_ns = T0 + (int64_t)(number - 1) * 100 * MS;
		if (number == 12) {
			fixture_depart(f, number, at_ns, &late);
			fixture_pass(f, &late, at_ns + 10 * MS);
			continue;
		}
		if (number == 22)
			fixture_arrive(f, &late, T0 + 2080 * MS);
		fixture_packet(f, number, number == 25 + 6 || number == 33 ? 2 : 0);
	}
	fixture_tell(f, (struct told){.end = 2, .a = 10, .b = 20, .reports = 2, .lost = {0, 1}});
	fixture_tell(f, (struct told){.end = 3, .a = 20, .b = 30, .reports = 2, .lost = {0, -1}});
	fixture_tell(f, (struct told){.end = 4, .a = 30, .b = 40, .reports = 2, .lost = {0, 2}});
	fixture_compute(f);
	assert_true(truth_at(f, 1, 0, HS_LAB_LOSS) == 0.1);
	assert_true(truth_at(f, 1, 1, HS_LAB_LOSS) == 0);
	assert_true(truth_at(f, 1, 2, HS_LAB_LOSS) == 0.1); // one of two: 12 pays for the other
}

static void equal_runs_give_equal_text(void **state)
{
	struct fixture *f = *state;
	char *texts[2];
	fixture_send(f);
	fixture_tell_all(f);
	for (int i = 0; i < 2; i++) {
		fixture_compute(f);
		json_t *json = f->result;
		texts[i] = json_dumps(json, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	}
	assert_string_equal(texts[0], texts[1]);
	assert_null(strstr(texts[0], "null"));
	free(texts[0]);
	free(texts[1]);
}

static void windows_can_be_left_out_of_the_result(void **state)
{
	struct fixture *f = *state;
	f->scenario.keep_windows = false;
	fixture_send(f);
	fixture_tell_all(f);
	fixture_compute(f);
	json_t *json = f->result;
	assert_null(json_object_get(json, "windows"));
	assert_int_equal(json_array_size(json_object_get(json, "rows")), 3);
}

static void the_result_says_what_it_is_of(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	fixture_tell_all(f);
	fixture_compute(f);
	json_t *json = f->result, *window, *hop;
	window = json_array_get(json_object_get(json, "windows"), 0);
	hop = json_array_get(json_object_get(window, "hops"), 1);
	assert_string_equal(json_string_value(json_object_get(json, "name")), "by hand");
	assert_string_equal(json_string_value(json_object_get(window, "flow")), "constant");
	assert_int_equal(json_array_size(json_object_get(window, "path")), 3);
	assert_string_equal(json_string_value(json_object_get(hop, "link")), "sw1-dst");
	assert_int_equal(json_integer_value(json_object_get(
					 json_object_get(json_object_get(hop, "truth"), "delay_ns"),
					 "p50")),
			20 * MS);
	json_t *mae = json_object_get(json_object_get(json, "mae"), "delay_ns");
	assert_int_equal(json_integer_value(json_object_get(mae, "truth")), 0);
	json_t *overhead = json_array_get(json_object_get(json, "overhead"), 0);
	assert_int_equal(json_integer_value(json_object_get(overhead, "telemetry_bytes")), 8 * 24);
	assert_near(json_number_value(json_object_get(overhead, "bytes_ratio")),
			8.0 * 24 / (40 * 562), 1e-15);
}

static void a_run_that_published_nothing_has_no_rows(void **state)
{
	struct fixture *f = *state;
	fixture_compute(f);
	assert_int_equal(json_array_size(json_object_get(f->result, "rows")), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, fixture_setup, fixture_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(what_is_measured_exactly_has_no_error),
			TEST(rows_are_hops_in_their_order_then_end_to_end),
			TEST(the_truth_of_a_span_is_what_the_link_did_in_it),
			TEST(errors_are_averaged_over_the_windows),
			TEST(counts_are_not_compared_over_another_span),
			TEST(the_first_window_begins_with_the_first_report),
			TEST(stale_windows_are_in_no_sum),
			TEST(windows_that_traffic_ends_in_are_kept_and_not_averaged),
			TEST(a_window_before_the_traffic_is_no_whole_one),
			TEST(a_window_whose_span_begins_with_the_opening_packet_is_no_whole_one),
			TEST(the_sinks_clock_decides_which_window_a_report_is_in),
			TEST(a_clock_that_goes_back_puts_reports_into_the_next_window),
			TEST(counts_of_hops_are_not_judged_where_a_node_began_anew),
			TEST(a_step_across_a_nodes_new_beginning_is_not_in_the_runs_truth),
			TEST(jitter_pairs_packets_in_source_order),
			TEST(a_late_packet_is_no_loss_of_a_link_that_loses_nothing),
			TEST(a_late_packet_pays_for_what_a_window_before_called_lost),
			TEST(equal_runs_give_equal_text),
			TEST(windows_can_be_left_out_of_the_result),
			TEST(the_result_says_what_it_is_of),
			TEST(a_run_that_published_nothing_has_no_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

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
			struct fixture_mean mean = fixture_mean(f, row, kind);
			assert_int_equal(mean.n, 2);
			assert_int_equal(mean.n_truth, 2);
			// The truth of this is that of the window, but the measured value is that
			// of the span.
			if (kind != HS_LAB_WINDOW_THROUGHPUT)
				assert_true(mean.mae_truth == 0 && mean.max_error == 0);
		}
	}
}

static double truth_at(
		const struct fixture *f, size_t row, size_t window, enum hs_lab_metric_kind kind)
{
	return fixture_point(f, row, window, kind).truth;
}

static void the_truth_of_a_span_is_what_the_link_did_in_it(void **state)
{
	struct fixture *f = *state;
	fixture_run(f);
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
	TELL(f, 2, 10, 20, 2, .lost = {1, 3}, .delay_ns = 3);
	TELL(f, 3, 20, 30, 2, .lost = {0, 1}, .delay_ns = -7);
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
	TELL(f, 2, 10, 20, 2, .lost = {1, 1});
	TELL(f, 3, 20, 30, 2, .lost = {0, 1}, .span_ns = 1);
	fixture_compute(f);
	assert_int_equal(fixture_mean(f, 1, HS_LAB_LOST_PACKETS).n_truth, 1);
	assert_int_equal(fixture_mean(f, 0, HS_LAB_LOST_PACKETS).n_truth, 2);
	assert_true(fixture_mean(f, 1, HS_LAB_SPAN).max_error == 1);
}

static void the_first_window_begins_with_the_first_report(void **state)
{
	struct fixture *f = *state;
	fixture_send(f);
	TELL(f, 1, 5, 10, 2);
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
	assert_int_equal(fixture_integer(f, "lost_packets", 1, "measured"), 2);
	assert_int_equal(json_array_size(json_object_get(f->result, "windows")), 3);
}

static void windows_that_traffic_cuts_short_are_kept_and_not_averaged(void **state)
{
	struct fixture *f = *state;
	static const struct {
		int start_ms, stop_ms, opening_ms, packets;
		bool partial[2];
	} cases[] = {
			{0, 2900, 0, 0, {false, true}},
			{1500, 4000, 0, 0, {true, false}},
			{0, 4000, 0, 25, {false, true}},
			{0, 4000, 0, 30, {false, false}},
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
		fixture_compute(f);
		assert_int_equal(fixture_integer(f, "flows", 0, "windows"), whole);
		assert_int_equal(fixture_integer(f, "flows", 0, "reports"), 4);
		assert_int_equal(fixture_mean(f, 0, HS_LAB_DELAY).n, whole);
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
	// 17 was lost between reports 15 and 20, across the restart. The hop's truth lacks it, the
	// truth from end to end has it.
	assert_int_equal(fixture_integer(f, "lost_packets", 0, "truth"), 2);
	assert_int_equal(fixture_integer(f, "lost_packets", 2, "truth"), 3);
	assert_int_equal(fixture_integer(f, "lost_packets", 0, "truth_all"), 3);
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

static void a_late_packet_pairs_in_source_order_and_is_no_loss_of_a_link_that_loses_nothing(
		void **state)
{
	struct fixture *f = *state;
	send_with_a_late_one(f);
	TELL(f, 2, 10, 20, 1);
	TELL(f, 3, 20, 30, 3);
	fixture_compute(f);
	// Window 2 has the pair 20 after 15. Window 3 has the pair 15 after 10, and those of 25 and
	// 30.
	assert_true(truth_at(f, 1, 0, HS_LAB_JITTER) == 650e6);
	assert_true(truth_at(f, 1, 1, HS_LAB_JITTER) == 216666667);
	assert_true(truth_at(f, 0, 1, HS_LAB_JITTER) == 0);
	assert_true(truth_at(f, 1, 1, HS_LAB_DELAY) == 236666667);
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
	TELL(f, 2, 10, 20, 2, .lost = {0, 1});
	TELL(f, 3, 20, 30, 2, .lost = {0, -1});
	TELL(f, 4, 30, 40, 2, .lost = {0, 2});
	fixture_compute(f);
	assert_true(truth_at(f, 1, 0, HS_LAB_LOSS) == 0.1);
	assert_true(truth_at(f, 1, 1, HS_LAB_LOSS) == 0);
	assert_true(truth_at(f, 1, 2, HS_LAB_LOSS) == 0.1); // one of two: 12 pays for the other
}

static void the_result_says_what_it_is_of_and_may_leave_out_windows(void **state)
{
	struct fixture *f = *state;
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
	f->scenario.keep_windows = false;
	fixture_compute(f);
	assert_null(json_object_get(f->result, "windows"));
	assert_int_equal(json_array_size(json_object_get(f->result, "rows")), 3);
}

static void equal_runs_give_equal_text(void **state)
{
	struct fixture *f = *state;
	char *texts[2];
	fixture_send(f);
	fixture_tell_all(f);
	for (int i = 0; i < 2; i++) {
		fixture_compute(f);
		texts[i] = json_dumps(f->result, JSON_INDENT(1) | JSON_REAL_PRECISION(15));
	}
	assert_string_equal(texts[0], texts[1]);
	assert_null(strstr(texts[0], "null"));
	free(texts[0]);
	free(texts[1]);
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
			TEST(equal_runs_give_equal_text),
			TEST(a_run_that_published_nothing_has_no_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

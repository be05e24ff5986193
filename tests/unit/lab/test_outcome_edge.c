// SPDX-License-Identifier: BSD-3-Clause
// Edge cases of windows and runs: late packets, copies, gaps, ends of traffic.
#include "outcome_fixture.h"

static int64_t sent_at(uint64_t number)
{
	return T0 + (int64_t)(number - 1) * 100 * MS;
}

static void a_late_report_is_no_edge(void **state)
{
	struct fixture *f = *state;
	struct hs_packet_truth late;
	for (uint64_t number = 1; number <= 40; number++) {
		if (number == 31)
			fixture_arrive(f, &late, T0 + 2970 * MS); // the last packet of its window
		if (number != 15) {
			fixture_packet(f, number, 0);
			continue;
		}
		fixture_depart(f, number, sent_at(number), &late);
		fixture_pass(f, &late, sent_at(number) + 10 * MS);
	}
	TELL(f, 3, 20, 30, 3);
	fixture_compute(f);
	assert_int_equal(fixture_integer(f, "windows", 0, "true_reports"), 3);
}

static void a_copy_has_a_delay_makes_no_pair_and_is_no_loss(void **state)
{
	struct fixture *f = *state;
	for (uint64_t number = 1; number <= 40; number++) {
		struct hs_packet_truth original, copy;
		if (number != 15) {
			fixture_packet(f, number, number == 17 ? 2 : 0);
			continue;
		}
		fixture_depart(f, number, sent_at(number), &original);
		fixture_pass(f, &original, sent_at(number) + 10 * MS);
		copy = original;
		copy.copy = true;
		fixture_arrive(f, &original, sent_at(number) + 30 * MS);
		fixture_arrive(f, &copy, sent_at(number) + 90 * MS);
	}
	TELL(f, 2, 10, 20, 3);
	fixture_compute(f);
	assert_true(fixture_point(f, 1, 0, HS_LAB_DELAY).truth == 40e6); // of 20, 80 and 20 ms
	assert_true(fixture_point(f, 1, 0, HS_LAB_JITTER).truth == 0);
	assert_true(fixture_point(f, 1, 0, HS_LAB_LOST_PACKETS).truth == 0); // lost less duplicated
	assert_int_equal(fixture_integer(f, "lost_packets", 1, "truth_all"), 1);
	assert_int_equal(fixture_integer(f, "windows", 0, "true_reports"), 3);
}

static void what_a_node_drops_is_lost_end_to_end_and_on_no_link(void **state)
{
	struct fixture *f = *state;
	for (uint64_t number = 1; number <= 40; number++) {
		struct hs_packet_truth packet_truth;
		if (number != 12) {
			fixture_packet(f, number, number == 17 ? 2 : 0);
			continue;
		}
		fixture_depart(f, number, sent_at(number), &packet_truth);
		hs_truth_arrive(f->run.truth, &packet_truth, 1, sent_at(number) + 10 * MS,
				sent_at(number) + 10 * MS, 562);
	}
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
	assert_true(fixture_mean(f, 1, HS_LAB_LOST_PACKETS).mae_truth == 0);
}

// Packets of 30 ms, 90 ms (a copy), and 60 ms.
static void percentiles_are_of_nearest_rank(void **state)
{
	struct fixture *f = *state;
	for (uint64_t number = 1; number <= 40; number++) {
		struct hs_packet_truth packet_truth, copy;
		fixture_depart(f, number, sent_at(number), &packet_truth);
		fixture_pass(f, &packet_truth, sent_at(number) + 10 * MS);
		copy = packet_truth;
		copy.copy = true;
		fixture_arrive(f, &packet_truth, sent_at(number) + (number == 20 ? 60 : 30) * MS);
		if (number == 15)
			fixture_arrive(f, &copy, sent_at(number) + 90 * MS);
	}
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
	assert_int_equal(fixture_mean(f, 0, HS_LAB_LOST_PACKETS).n_truth, 2);
	assert_true(fixture_mean(f, 0, HS_LAB_LOST_PACKETS).mae_truth == 0);
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

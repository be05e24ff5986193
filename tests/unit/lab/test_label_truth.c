// SPDX-License-Identifier: BSD-3-Clause
// The truth of INT-label by numbers that are computed by hand. T is 50, an interval 100.
#include "label_truth.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#define START INT64_C(1000)
#define T     50

static struct hs_label_truth *make(uint32_t n_ports, int64_t stop)
{
	const struct hs_label_truth_config config = {.n_ports = n_ports,
			.start_ns = START,
			.interval_ns = 100,
			.stop_ns = START + stop,
			.keep = true};
	static struct hs_label_truth truth;

	assert_int_equal(hs_label_truth_init(&truth, &config), 0);
	return &truth;
}

static void pass(struct hs_label_truth *truth, uint32_t port, int64_t at)
{
	hs_label_truth_depart(truth, port, START + at, START + at, 0, 0, T);
}

static void label(struct hs_label_truth *truth, uint32_t port, int64_t at)
{
	hs_label_truth_depart(truth, port, START + at, START + at, 0, 1, T);
}

static void assert_near(double value, double expected)
{
	assert_true(value > expected - 1e-12 && value < expected + 1e-12);
}

static void coverage_is_of_the_ports_with_packets(void **state)
{
	struct hs_label_truth *truth = make(4, 400);
	const struct hs_label_counts *counts = &truth->counts;

	(void)state;
	for (uint32_t port = 0; port < 3; port++)
		pass(truth, port, 10);
	hs_label_truth_take(truth, 0, START + 20);
	hs_label_truth_take(truth, 1, START + 99);
	hs_label_truth_take(truth, 3, START + 99); // had no packet in the interval
	assert_int_equal(counts->intervals, 0);
	hs_label_truth_take(
			truth, 2, START + 100); // the next interval, which has no packet of port 2
	assert_int_equal(counts->intervals, 1);
	assert_near(counts->coverage_sum, 2.0 / 3);
	pass(truth, 0, 150);
	hs_label_truth_take(truth, 0, START + 199);
	hs_label_truth_end(truth, START + 400); // the last two have no packets
	assert_int_equal(counts->intervals, 2);
	assert_near(counts->coverage_sum, 2.0 / 3 + 1);
	assert_near(counts->coverage_min, 2.0 / 3);
	assert_int_equal(counts->n_coverage, 2);
	assert_near(counts->coverage[0], 2.0 / 3);
	assert_near(counts->coverage[1], 1);
	assert_int_equal(counts->ports, 3);
	hs_label_truth_fini(truth);
}

static void an_interval_that_ends_after_the_run_does_not_count(void **state)
{
	struct hs_label_truth *truth = make(1, 150);

	(void)state;
	pass(truth, 0, 10);
	pass(truth, 0, 110);
	hs_label_truth_end(truth, START + 1000);
	assert_int_equal(truth->counts.intervals, 1);
	hs_label_truth_fini(truth);
}

static void packets_are_counted_by_their_labels(void **state)
{
	struct hs_label_truth *truth = make(2, 100);
	struct hs_label_counts *counts = &truth->counts;

	(void)state;
	counts->packets = counts->labels_per_packet[0] = 10;
	label(truth, 0, 0);
	hs_label_truth_depart(truth, 1, START, START, 1, 2, T);
	hs_label_truth_depart(truth, 1, START, START, 2, 2, T);
	label(truth, 1, 60);
	assert_int_equal(counts->labels, 3);
	assert_int_equal(counts->labelled_packets, 2);
	assert_int_equal(counts->labels_per_packet[0], 8);
	assert_int_equal(counts->labels_per_packet[1], 1);
	assert_int_equal(counts->labels_per_packet[2], 1);
	hs_label_truth_fini(truth);
}

// With packets each 30, Ts is 30: a gap of 90 would be too long, one of 60 is not.
static void a_gap_above_the_interval_and_the_longest_pause_is_late(void **state)
{
	struct hs_label_truth *truth = make(2, 1000);

	(void)state;
	label(truth, 0, 0);
	label(truth, 1, 5);
	pass(truth, 0, 30);
	label(truth, 0, 60);
	assert_int_equal(truth->counts.late_labels, 0);
	pass(truth, 0, 90);
	pass(truth, 0, 120); // 60 after the last label: it should have been labelled
	label(truth, 0, 150);
	assert_int_equal(truth->counts.late_labels, 1);
	label(truth, 1, 500); // a port that had a pause of 495
	assert_int_equal(truth->counts.late_labels, 1);
	const struct hs_label_gaps *gaps = &truth->gaps[HS_LABEL_RELABEL];
	assert_int_equal(gaps->n, 3);
	assert_int_equal(gaps->ns[0], 60);
	assert_int_equal(gaps->ns[1], 90);
	assert_int_equal(gaps->ns[2], 495);
	gaps = &truth->gaps[HS_LABEL_UPDATE];
	assert_int_equal(gaps->n, 0); // no item has come
	hs_label_truth_take(truth, 0, START + 500);
	hs_label_truth_take(truth, 1, START + 510);
	hs_label_truth_take(truth, 0, START + 570);
	assert_int_equal(gaps->n, 1);
	assert_int_equal(gaps->ns[0], 70);
	hs_label_truth_fini(truth);
}

static void a_label_that_never_comes_is_late_once(void **state)
{
	struct hs_label_truth *truth = make(2, 1000);
	const struct hs_label_counts *counts = &truth->counts;

	(void)state;
	label(truth, 0, 0);
	for (int64_t at = 30; at <= 300; at += 30) {
		pass(truth, 0, at);
		assert_int_equal(counts->late_labels, at >= 90);
	}
	label(truth, 0, 330);
	pass(truth, 0, 360);
	assert_int_equal(counts->late_labels, 1);
	for (int64_t at = 0; at <= 90; at += 30) // no packet of the port has a label
		pass(truth, 1, 400 + at);
	assert_int_equal(counts->late_labels, 2);
	hs_label_truth_fini(truth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(coverage_is_of_the_ports_with_packets),
			cmocka_unit_test(an_interval_that_ends_after_the_run_does_not_count),
			cmocka_unit_test(packets_are_counted_by_their_labels),
			cmocka_unit_test(a_gap_above_the_interval_and_the_longest_pause_is_late),
			cmocka_unit_test(a_label_that_never_comes_is_late_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

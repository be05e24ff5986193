// SPDX-License-Identifier: BSD-3-Clause
// Paths that alternate: several paths, or one of which some reports lack entries.
#include "qos_fixture.h"

#include "rng.h"

#define BOTH (HS_QOS_MULTIPATH | HS_QOS_ENTRIES_MISSING)

static const uint16_t LONG[] = {1, 2, 3};

// The report without the entries of these nodes, as where there was no room for them.
static struct hs_report without(struct hs_report report, uint16_t a, uint16_t b)
{
	struct hs_decoded *telemetry = &report.telemetry;
	unsigned n = 0;
	for (unsigned i = 0; i < telemetry->n_hops; i++)
		if (telemetry->hops[i].node_id != a && telemetry->hops[i].node_id != b)
			telemetry->hops[n++] = telemetry->hops[i];
	telemetry->n_hops = (uint16_t)n;
	return report;
}

static struct hs_report over_long(uint64_t number)
{
	return plain_report(number, GAP, 3, LONG);
}

// What a node counted less than the one before it.
static void lose(struct hs_report *report, unsigned from_node, uint64_t packets)
{
	for (unsigned i = from_node; i < report->telemetry.n_hops; i++) {
		struct hs_hop *hop = hop_of(report, i);
		hop->rx_packets -= (uint16_t)packets;
		hop->tx_packets -= (uint16_t)packets;
		hop->rx_bytes -= (uint32_t)(packets * 562);
		hop->tx_bytes -= (uint32_t)(packets * 562);
	}
	report->sink_rx_packets -= packets;
	report->sink_rx_bytes -= packets * 562;
}

static void pass_by(struct hs_report *report, unsigned node, uint64_t packets)
{
	struct hs_hop *hop = hop_of(report, node);
	hop->rx_packets -= (uint16_t)packets;
	hop->tx_packets -= (uint16_t)packets;
	hop->rx_bytes -= (uint32_t)(packets * 562);
	hop->tx_bytes -= (uint32_t)(packets * 562);
}

static void check_second(const struct fixture *f, int64_t second, uint32_t flags)
{
	assert_int_equal(second_ending(f, second)->window.flags & BOTH, flags);
}

// ---- one path ----

static void a_node_without_room_for_its_entry_makes_no_second_path(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i < 4000; i += 10) {
		struct hs_report report = over_long(i);
		lose(&report, 1, i / 50); // 2 %, on the way to node 2
		if (i % 30 == 0)
			report = without(report, 2, 0);
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 6 * SECOND);
	for (int64_t second = 1; second <= 4; second++) {
		const struct caught *caught = second_ending(f, second);
		assert_int_equal(caught->window.flags, HS_QOS_ENTRIES_MISSING);
		assert_int_equal(caught->window.path_changed, second == 1);
		assert_false(hop_between(caught, 1, 2)->has & HS_QOS_HAS_LOSS);
		assert_false(hop_between(caught, 2, 3)->has & HS_QOS_HAS_RX_PACKETS);
		assert_false(hop_between(caught, 2, 3)->has & HS_QOS_HAS_BYTES);
		assert_true(hop_between(caught, 1, 2)->has & HS_QOS_HAS_DELAY);
		if (second == 1)
			continue;
		assert_int_equal(hop_between(caught, 0, 1)->lost_packets, 0);
		assert_int_equal(hop_between(caught, 3, 9)->lost_packets, 0);
		assert_int_equal(hop_between(caught, 1, 3)->lost_packets,
				caught->window.e2e.lost_packets);
		assert_int_equal(caught->window.unattributed_lost_packets, 0);
	}
	assert_int_equal(hs_qos_latest(f->qos, 7, 0)->flags, HS_QOS_ENTRIES_MISSING);
	const struct hs_qos_window *slide = hs_qos_slide(f->qos, 7, T0 + 2500 * MS, T0 + 3500 * MS);
	assert_int_equal(slide->flags, HS_QOS_ENTRIES_MISSING);
}

static void nodes_may_leave_entries_out_in_turns(void **state)
{
	static const uint16_t left_out[][2] = {{2, 0}, {1, 2}, {3, 0}, {0, 0}, {1, 3}, {2, 3}};
	struct fixture *f = *state;
	for (uint64_t i = 100; i < 16000; i += 10) {
		const uint16_t *out = left_out[i / 10 % 6];
		struct hs_report report = without(over_long(i), out[0], out[1]);
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 18 * SECOND);
	for (int64_t second = 1; second <= 16; second++)
		check_second(f, second, HS_QOS_ENTRIES_MISSING);
}

static void all_entries_may_be_missing(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i < 2000; i += 10) {
		struct hs_report report = i % 20 ? plain(i) : without(plain(i), 1, 2);
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 3 * SECOND);
	check_second(f, 1, HS_QOS_ENTRIES_MISSING);
	check_second(f, 2, HS_QOS_ENTRIES_MISSING);
}

// Neither losses before and behind the node, nor late reports, nor duplicates make a path.
static void loss_around_the_node_is_none_that_passed_by(void **state)
{
	struct fixture *f = *state;
	struct hs_rng rng;
	hs_rng_init(&rng, 7);
	for (uint64_t i = 100; i < 5000; i += 10) {
		uint64_t number = i - (hs_rng_u32(&rng) % 4 ? 0 : 25); // some come late
		struct hs_report report = over_long(number);
		report.sink_ts_ns += (int64_t)(i - number) * GAP;
		lose(&report, 1, number / 10);
		lose(&report, 2, number / 20);
		report.sink_rx_packets += number / 30;
		if (hs_rng_u32(&rng) % 2)
			report = without(report, 2, 0);
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 7 * SECOND);
	for (int64_t second = 1; second <= 5; second++)
		check_second(f, second, HS_QOS_ENTRIES_MISSING);
}

// Without counts a shortcut looks the same.
static void without_counts_entries_are_missing(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i < 2000; i += 10) {
		struct hs_report report = over_long(i);
		for (unsigned j = 0; j < 3; j++)
			hop_of(&report, j)->bitmap = HS_HOP_TIMESTAMP;
		if (i % 20)
			report = without(report, 2, 0);
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 3 * SECOND);
	check_second(f, 1, HS_QOS_ENTRIES_MISSING);
	check_second(f, 2, HS_QOS_ENTRIES_MISSING);
}

// ---- several ----

// A share of the packets, by thirtieths, goes from node 1 to node 3 at once: node 2 counts fewer.
static void give_shortcut(struct fixture *f, uint64_t thirtieths, uint64_t step, uint64_t lost)
{
	struct hs_rng rng;
	hs_rng_init(&rng, thirtieths + step);
	uint64_t passed = 0;
	for (uint64_t i = 1; i < 4000; i++) {
		bool passes = hs_rng_u32(&rng) % 30 < thirtieths;
		passed += passes;
		if (i < 100 || i % step)
			continue;
		struct hs_report report = over_long(i);
		lose(&report, 2, lost ? i / lost : 0);
		pass_by(&report, 1, passed);
		if (passes)
			report = without(report, 2, 0);
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 6 * SECOND);
}

static void a_shortcut_past_a_node_is_a_second_path(void **state)
{
	(void)state;
	static const struct {
		uint64_t thirtieths, step, lost;
	} cases[] = {{15, 1, 0}, {15, 10, 0}, {3, 3, 0}, {27, 7, 0}, {10, 10, 20}};
	for (unsigned i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		void *fixture;
		fixture_setup(&fixture);
		give_shortcut(fixture, cases[i].thirtieths, cases[i].step, cases[i].lost);
		for (int64_t second = 1; second <= 4; second++)
			check_second(fixture, second, HS_QOS_MULTIPATH);
		assert_int_equal(hs_qos_latest(((struct fixture *)fixture)->qos, 7, 0)->flags,
				HS_QOS_MULTIPATH);
		fixture_teardown(&fixture);
	}
}

// The shortcut is so much faster that reports by way of node 2 always come late.
static void a_shortcut_whose_other_path_is_late_is_a_second_path(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i < 3000; i += 10) {
		struct hs_report fast = over_long(i), late = over_long(i - 25);
		pass_by(&fast, 1, i / 2);
		pass_by(&late, 1, (i - 25) / 2);
		late.sink_ts_ns = fast.sink_ts_ns + MS;
		late.sink_rx_packets = fast.sink_rx_packets + 1;
		fast = without(fast, 2, 0);
		give(f->qos, &fast);
		give(f->qos, &late);
	}
	hs_qos_advance(f->qos, T0 + 5 * SECOND);
	for (int64_t second = 1; second <= 3; second++)
		check_second(f, second, HS_QOS_MULTIPATH);
}

static const uint16_t OTHER[] = {1, 4, 3};

// Two paths, and a node of one that leaves entries out; the second path then ends.
static void several_paths_may_lack_entries_too(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i < 30000; i += 10) {
		bool other = i < 10000 && i % 20 == 0;
		struct hs_report report = plain_report(i, GAP, 3, other ? OTHER : LONG);
		if (i % 30 == 0)
			report = without(report, other ? 4 : 2, 0);
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 32 * SECOND);
	for (int64_t second = 1; second <= 10; second++)
		assert_true(second_ending(f, second)->window.flags & HS_QOS_MULTIPATH);
	for (int64_t second = 22; second <= 30; second++)
		check_second(f, second, HS_QOS_ENTRIES_MISSING);
}

static void paths_that_differ_are_several_however_seldom_they_change(void **state)
{
	struct fixture *f = *state;
	for (uint64_t i = 100; i < 60000; i += 100) {
		bool other = i % 5000 < 300; // for three reports, each five seconds
		struct hs_report report = plain_report(i, GAP, 3, other ? OTHER : LONG);
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 62 * SECOND);
	for (int64_t second = 7; second <= 60; second++)
		check_second(f, second, HS_QOS_MULTIPATH);
}

// The whole path changes while entries are left out: those of the new one are, no more.
static void after_a_change_of_the_path_its_entries_are_missing(void **state)
{
	static const uint16_t new_path[] = {5, 6, 7};
	struct fixture *f = *state;
	for (uint64_t i = 100; i < 30000; i += 10) {
		struct hs_report report = plain_report(i, GAP, 3, i < 5000 ? LONG : new_path);
		if (i % 20 == 0)
			report = without(report, 2, 6);
		give(f->qos, &report);
	}
	hs_qos_advance(f->qos, T0 + 32 * SECOND);
	for (int64_t second = 1; second <= 4; second++)
		check_second(f, second, HS_QOS_ENTRIES_MISSING);
	for (int64_t second = 17; second <= 30; second++)
		check_second(f, second, HS_QOS_ENTRIES_MISSING);
}

// A third of the packets pass by node 2 up to packet 600; behind it none does, and most entries are
// missing. So what passed is not what entries say, once all of the window has come.
static void a_question_changes_no_window_that_is_open(void **state)
{
	struct fixture *f = *state;
	for (unsigned asks = 0; asks < 2; asks++) {
		for (uint64_t i = 100; i < 2000; i += 10) {
			struct hs_report report = over_long(i);
			pass_by(&report, 1, (i < 600 ? i : 600) / 3);
			if (i % 30 == 0 || (i > 600 && i % 100))
				report = without(report, 2, 0);
			give(f->qos, &report);
			if (!asks || i != 600)
				continue;
			const struct hs_qos_window *run = hs_qos_latest(f->qos, 7, 0);
			assert_int_equal(run->flags & BOTH, HS_QOS_MULTIPATH);
			assert_int_equal(hs_qos_latest(f->qos, 7, 0)->flags, run->flags);
		}
		flush_all(f->qos);
		check_second(f, 1, HS_QOS_ENTRIES_MISSING);
		monitor_free(f->qos, &f->catcher);
		f->qos = monitor_new(&f->catcher);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_question_changes_no_window_that_is_open),
			TEST(a_node_without_room_for_its_entry_makes_no_second_path),
			TEST(nodes_may_leave_entries_out_in_turns),
			TEST(all_entries_may_be_missing),
			TEST(loss_around_the_node_is_none_that_passed_by),
			TEST(without_counts_entries_are_missing),
			cmocka_unit_test(a_shortcut_past_a_node_is_a_second_path),
			TEST(a_shortcut_whose_other_path_is_late_is_a_second_path),
			TEST(several_paths_may_lack_entries_too),
			TEST(paths_that_differ_are_several_however_seldom_they_change),
			TEST(after_a_change_of_the_path_its_entries_are_missing),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

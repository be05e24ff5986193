// SPDX-License-Identifier: BSD-3-Clause
// Restarts of nodes whose counts were still small, at every kind of node and with every kind of
// telemetry (docs/metrics.md, rules 10, 13 and 14).
#include "qos_fixture.h"

#define ALL 0x7000E000u

// A report of a flow of 1000 packets/s whose node `node` (1, 2; 0: the source) counts anew from the
// packet behind `reset_at` on.
static struct hs_report report_at(uint64_t number, unsigned node, uint64_t reset_at)
{
	struct hs_report report = plain_report(number, MS, 2, PATH);
	uint64_t count = number > reset_at ? number - reset_at : number;
	if (!node) {
		report.telemetry.e2e.tx_packets = (uint32_t)count;
		report.telemetry.e2e.tx_bytes = (uint32_t)(count * 562);
		return report;
	}
	struct hs_hop *hop = hop_of(&report, node - 1);
	hop->rx_packets = hop->tx_packets = (uint16_t)count;
	hop->rx_bytes = hop->tx_bytes = (uint32_t)(count * 562);
	return report;
}

static void supply(struct hs_report *report, uint32_t trace_type)
{
	report->telemetry.trace_type = trace_type;
	report->telemetry.e2e.bitmap = (uint16_t)(trace_type >> 16);
	for (unsigned i = 0; i < report->telemetry.n_hops; i++)
		report->telemetry.hops[i].bitmap = (uint16_t)trace_type;
}

static unsigned count_flagged(const struct fixture *f, uint32_t flag)
{
	unsigned n = 0;
	for (size_t i = 0; i < f->catcher.n; i++)
		n += f->catcher.windows[i].window.window_ns == SECOND &&
		     !f->catcher.windows[i].window.stale &&
		     f->catcher.windows[i].window.flags & flag;
	return n;
}

static void check_nothing_lost(const struct fixture *f)
{
	for (size_t i = 0; i < f->catcher.n; i++) {
		const struct caught *caught = &f->catcher.windows[i];
		assert_int_equal(caught->window.e2e.lost_packets, 0);
		for (unsigned j = 0; j < caught->window.n_hops; j++) {
			assert_int_equal(caught->hops[j].lost_packets, 0);
			assert_int_equal(caught->hops[j].shown_lost_packets, 0);
			assert_true(caught->hops[j].rx_packets >= 0);
		}
	}
}

static void a_node_that_had_counted_little_is_seen_to_restart(void **state)
{
	struct fixture *f = *state;
	static const uint32_t traces[] = {ALL, 0xF000E000, 0x7000C000, 0x7000A000, 0x2000C000,
			0x0000E000, 0x40008000, 0x10008000, 0x4000C000, 0x80008000, 0x00008000};
	for (unsigned i = 0; i < sizeof(traces) / sizeof(traces[0]); i++) {
		for (unsigned node = 1; node <= 2; node++) {
			for (uint64_t n = 10; n <= 8000; n += 10) {
				struct hs_report report = report_at(n, node, 3955);
				supply(&report, traces[i]);
				report.telemetry.e2e.int_packets = (uint32_t)n / 10;
				give(f->qos, &report);
			}
			flush_all(f->qos);
			check_nothing_lost(f);
			assert_int_equal(count_flagged(f, HS_QOS_EPOCH), 1);
			assert_int_equal(count_flagged(f, HS_QOS_COUNTER_AMBIGUOUS), 0);
			monitor_free(f->qos, &f->catcher);
			f->qos = monitor_new(&f->catcher);
		}
	}
}

static void a_count_that_has_overtaken_the_old_one_is_a_restart(void **state)
{
	struct fixture *f = *state;
	for (uint64_t n = 5000; n <= 60000; n += 5000) {
		struct hs_report report = report_at(n, 1, 6000);
		if (n != 10000) // which was lost: the count grows from 5000 to 9000
			give(f->qos, &report);
	}
	flush_all(f->qos);
	check_nothing_lost(f);
	assert_int_equal(count_flagged(f, HS_QOS_EPOCH), 1);
}

static void a_count_that_equals_the_old_one_is_a_restart(void **state)
{
	struct fixture *f = *state;
	for (uint64_t n = 2000; n <= 20000; n += 2000) {
		struct hs_report report = report_at(n, 2, 4000);
		if (n != 4000) // the count is 2000 at 2000 and at 6000
			give(f->qos, &report);
	}
	flush_all(f->qos);
	check_nothing_lost(f);
	assert_int_equal(count_flagged(f, HS_QOS_EPOCH), 1);
}

static void loss_behind_a_restarted_node_shows_at_once(void **state)
{
	struct fixture *f = *state;
	for (uint64_t n = 10; n <= 20000; n += 10) {
		struct hs_report report = report_at(n, 1, 3955);
		uint64_t lost = n > 6000 ? (n - 6000) / 20 : 0; // 5 % from node 1 to node 2
		struct hs_hop *hop = hop_of(&report, 1);
		hop->rx_packets = hop->tx_packets = (uint16_t)(n - lost);
		hop->rx_bytes = hop->tx_bytes = (uint32_t)((n - lost) * 562);
		report.sink_rx_packets -= lost;
		report.sink_rx_bytes -= lost * 562;
		give(f->qos, &report);
	}
	flush_all(f->qos);
	for (unsigned i = 8; i <= 19; i++)
		assert_int_equal(hop_between(second_ending(f, i), 1, 2)->shown_lost_packets, 50);
}

static void a_source_whose_new_count_equals_the_old_one_is_no_duplicate(void **state)
{
	struct fixture *f = *state;
	static const uint32_t traces[] = {ALL, 0x2000E000, 0x3000E000};
	for (unsigned i = 0; i < 3; i++) {
		for (uint64_t n = 2050; n <= 30000; n += 2050) {
			struct hs_report report = report_at(n, 0, 2050);
			supply(&report, traces[i]);
			give(f->qos, &report);
		}
		flush_all(f->qos);
		check_nothing_lost(f);
		assert_int_equal(count_flagged(f, HS_QOS_EPOCH), 1);
		monitor_free(f->qos, &f->catcher);
		f->qos = monitor_new(&f->catcher);
	}
}

static void a_source_whose_new_count_is_just_above_the_old_one_restarted(void **state)
{
	struct fixture *f = *state;
	for (uint64_t n = 2000; n <= 40000; n += 2050) {
		struct hs_report report = report_at(n, 0, 2040); // 2000, then 2010
		give(f->qos, &report);
	}
	flush_all(f->qos);
	check_nothing_lost(f);
	assert_int_equal(count_flagged(f, HS_QOS_EPOCH), 1);
}

static void a_sink_that_had_received_little_is_seen_to_restart(void **state)
{
	struct fixture *f = *state;
	for (uint64_t n = 10; n <= 8000; n += 10) {
		struct hs_report report = plain_report(n, MS, 2, PATH);
		supply(&report, n % 20 ? 0x4000C000 : 0x40008000);
		report.sink_rx_packets -= n > 2955 ? 2955 : 0;
		report.sink_rx_bytes -= n > 2955 ? 2955 * 562 : 0;
		give(f->qos, &report);
	}
	flush_all(f->qos);
	check_nothing_lost(f);
	assert_int_equal(count_flagged(f, HS_QOS_EPOCH), 1);
}

// 88,000 packets of 10,000 a second: more than 16 bits tell, and nothing else is there to ask.
static void an_outage_beyond_the_counters_is_flagged_without_bytes(void **state)
{
	struct fixture *f = *state;
	static const uint32_t traces[] = {0x00008000, 0x40008000, 0x0000C000, 0x4000C000};
	for (unsigned i = 0; i < 4; i++) {
		for (uint64_t n = 100; n <= 130000; n += 100) {
			struct hs_report report = plain_report(n, MS / 10, 2, PATH);
			bool behind = n > 110000;
			supply(&report, traces[i]);
			if (n > 22000 && !behind)
				continue;
			hop_of(&report, 1)->rx_packets -= behind ? (uint16_t)88000 : 0;
			hop_of(&report, 1)->tx_packets -= behind ? (uint16_t)88000 : 0;
			report.sink_rx_packets -= behind ? 88000 : 0;
			report.sink_rx_bytes -= behind ? 88000 * 562 : 0;
			give(f->qos, &report);
		}
		flush_all(f->qos);
		const struct caught *across = second_ending(f, 12);
		assert_true(across->window.flags & HS_QOS_COUNTER_AMBIGUOUS);
		assert_int_equal(count_flagged(f, HS_QOS_EPOCH), 0);
		assert_int_equal(second_ending(f, 2)->window.flags, 0);
		assert_int_equal(second_ending(f, 13)->window.flags, 0);
		monitor_free(f->qos, &f->catcher);
		f->qos = monitor_new(&f->catcher);
	}
}

static void an_outage_is_exact_where_bytes_or_time_can_tell(void **state)
{
	struct fixture *f = *state;
	static const uint32_t traces[] = {0x0000E000, 0x40008000};
	for (unsigned i = 0; i < 2; i++) {
		const int64_t gap_ns = i ? MS : MS / 10; // in 11 s no more than 22,000 may be sent
		const uint64_t lost = i ? 11000 : 88000;
		for (uint64_t n = 100; n <= 130000; n += 100) {
			struct hs_report report = plain_report(n, gap_ns, 2, PATH);
			bool behind = n > 22000 + lost;
			supply(&report, traces[i]);
			if (n > 22000 && !behind)
				continue;
			hop_of(&report, 1)->rx_packets -= behind ? (uint16_t)lost : 0;
			hop_of(&report, 1)->tx_packets -= behind ? (uint16_t)lost : 0;
			hop_of(&report, 1)->rx_bytes -= behind ? (uint32_t)lost * 562 : 0;
			hop_of(&report, 1)->tx_bytes -= behind ? (uint32_t)lost * 562 : 0;
			report.sink_rx_packets -= behind ? lost : 0;
			report.sink_rx_bytes -= behind ? lost * 562 : 0;
			give(f->qos, &report);
		}
		flush_all(f->qos);
		const struct hs_qos_window *run = hs_qos_latest(f->qos, 7, 0);
		assert_int_equal(run->flags, 0);
		assert_int_equal(run->hops[1].lost_packets, lost);
		monitor_free(f->qos, &f->catcher);
		f->qos = monitor_new(&f->catcher);
	}
}

// 10,000 packets a second. The source counts anew behind packet 1000, by a clock `clock_ns` ahead,
// and no report comes until packet 5000. Of the 4000, the last link loses `lost_then`; of the 1000
// from packet 12,000 on, 800.
static void give_restart_in_a_gap(
		struct fixture *f, uint16_t lacking, uint64_t lost_then, int64_t clock_ns)
{
	for (uint64_t n = 100; n <= 25000; n += n == 1000 ? 4000 : 100) {
		struct hs_report report = plain_report(n, MS / 10, 2, PATH);
		uint64_t lost = (n > 1000 ? lost_then : 0) + (n >= 13000 ? 800 : 0);
		if (n > 1000) {
			report.telemetry.e2e.tx_packets -= 1000;
			report.telemetry.e2e.tx_bytes -= 1000 * 562;
			report.telemetry.e2e.ts_ns += (uint64_t)clock_ns;
		}
		if (n == 1000)
			hop_of(&report, 1)->bitmap &= (uint16_t)~lacking;
		report.sink_rx_packets -= lost;
		report.sink_rx_bytes -= lost * 562;
		if (n <= 12000 || n >= 13000)
			give(f->qos, &report);
	}
	flush_all(f->qos);
}

static void check_restart_in_a_gap(struct fixture *f, uint64_t sent_before)
{
	const struct hs_qos_window *first = &second_ending(f, 1)->window;
	const struct caught *second = second_ending(f, 2);
	assert_true(first->flags & HS_QOS_EPOCH);
	assert_int_equal(first->e2e.lost_packets, 0);
	assert_int_equal(first->e2e.tx_packets, sent_before + 4900);
	assert_int_equal(first->e2e.jitter_ns, 0); // no pair has a report on either side
	assert_int_equal(second->window.flags & ~(uint32_t)HS_QOS_NEGATIVE_DELAY, 0);
	assert_int_equal(second->window.e2e.lost_packets, 800);
	assert_int_equal(second->window.e2e.shown_lost_packets, 800);
	assert_int_equal(hop_between(second, 2, 9)->shown_lost_packets, 800);
	assert_int_equal(hop_between(second, 0, 1)->lost_packets, 0);
}

static void a_source_that_restarts_in_a_gap_begins_an_epoch_whatever_entries_lack(void **state)
{
	struct fixture *f = *state;
	static const uint16_t lacking[] = {0, HS_HOP_BYTES, HS_HOP_TIMESTAMP, HS_HOP_PACKETS};
	static const uint64_t lost_then[] = {0, 300, 700};
	for (unsigned i = 0; i < 4; i++) {
		for (unsigned j = 0; j < 3; j++) {
			give_restart_in_a_gap(f, lacking[i], lost_then[j], 0);
			check_restart_in_a_gap(f, 900);
			monitor_free(f->qos, &f->catcher);
			f->qos = monitor_new(&f->catcher);
		}
	}
}

static void no_pair_of_delays_is_across_a_restart_that_counts_show(void **state)
{
	struct fixture *f = *state;
	static const int64_t clock_ns[] = {-400 * MS, -90 * MS, 90 * MS, 400 * MS, 3 * SECOND};
	for (unsigned i = 0; i < 5; i++) {
		give_restart_in_a_gap(f, 0, 0, clock_ns[i]);
		check_restart_in_a_gap(f, 900);
		monitor_free(f->qos, &f->catcher);
		f->qos = monitor_new(&f->catcher);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_node_that_had_counted_little_is_seen_to_restart),
			TEST(a_count_that_has_overtaken_the_old_one_is_a_restart),
			TEST(a_count_that_equals_the_old_one_is_a_restart),
			TEST(loss_behind_a_restarted_node_shows_at_once),
			TEST(a_source_whose_new_count_equals_the_old_one_is_no_duplicate),
			TEST(a_source_whose_new_count_is_just_above_the_old_one_restarted),
			TEST(a_sink_that_had_received_little_is_seen_to_restart),
			TEST(an_outage_beyond_the_counters_is_flagged_without_bytes),
			TEST(an_outage_is_exact_where_bytes_or_time_can_tell),
			TEST(a_source_that_restarts_in_a_gap_begins_an_epoch_whatever_entries_lack),
			TEST(no_pair_of_delays_is_across_a_restart_that_counts_show),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

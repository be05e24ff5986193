// SPDX-License-Identifier: BSD-3-Clause
// Delays that differ explain a surplus behind a pause, up to a bound, and never without a flag
// (docs/metrics.md, rule 10).
#include "qos_fixture.h"

#define FAST (100 * US) // 10,000 packets a second

// Node 1's count was 0 at `zero`, and is 0 again at `anew`. No entry has bytes.
static struct hs_report report_of(uint64_t number, uint64_t zero, uint64_t anew, int64_t gap_ns)
{
	struct hs_report report = plain_report(number, gap_ns, 2, PATH);
	struct hs_hop *hop = hop_of(&report, 0);
	hop->rx_packets = hop->tx_packets = (uint16_t)(number - (number > anew ? anew : zero));
	for (unsigned i = 0; i < 2; i++)
		hop_of(&report, i)->bitmap &= (uint16_t)~HS_HOP_BYTES;
	return report;
}

// On the first link.
static void delay(struct hs_report *report, int64_t ns)
{
	for (unsigned i = 0; i < 2; i++)
		hop_of(report, i)->ts_ns += (uint64_t)ns;
	report->sink_ts_ns += ns;
}

static void pause_for(struct hs_report *report, int64_t ns)
{
	report->telemetry.e2e.ts_ns += (uint64_t)ns;
	delay(report, ns);
}

static void lose_on_second_link(struct hs_report *report, uint32_t n)
{
	hop_of(report, 1)->rx_packets -= n;
	hop_of(report, 1)->rx_packets &= UINT16_MAX;
	hop_of(report, 1)->tx_packets = hop_of(report, 1)->rx_packets;
	report->sink_rx_packets -= n;
	report->sink_rx_bytes -= n * 562;
}

#define SPIKE	 2000 // the packet before which a queue was held for 140 ms
#define DRAINED	 1600 // packets
#define LAST	 4080 // 24 reports later
#define NEXT	 8080
#define ZERO	 3080
#define ANEW	 4500 // node 1 has counted 1000 before and 3580 since: 1420 are missing
#define LOST_AT	 12000
#define LOST_NOW 22000

// A queue that drains in order, node 1 that restarts in a gap of 4000 packets, and loss in the two
// windows behind that.
static void give_spike_and_restart(struct fixture *f, int64_t spike_ns, int64_t pause_ns)
{
	for (uint64_t n = 100; n <= 35000; n += n == LAST ? NEXT - LAST : 20) {
		struct hs_report report = report_of(n, ZERO, ANEW, FAST);
		if (n >= SPIKE && n < SPIKE + DRAINED)
			delay(&report, spike_ns - (int64_t)(n - SPIKE) * (spike_ns / DRAINED));
		if (n >= NEXT)
			pause_for(&report, pause_ns);
		lose_on_second_link(&report, n > LOST_NOW ? 1000 : n > LOST_AT ? 890 : 0);
		if (n % 10000 <= 2000 || n % 10000 > 3000) // from 12,000 on, and from 22,000 on
			give(f->qos, &report);
	}
	flush_all(f->qos);
}

static void check_later_loss(const struct fixture *f, int64_t second, uint32_t flags)
{
	const struct caught *first = second_ending(f, second);
	assert_int_equal(first->window.flags & flags, flags);
	for (unsigned i = 1; i <= 2; i++) {
		const struct caught *caught = second_ending(f, second + i);
		assert_int_equal(caught->window.flags, 0);
		assert_int_equal(caught->window.e2e.shown_lost_packets, i == 1 ? 890 : 110);
		assert_int_equal(hop_between(caught, 1, 2)->shown_lost_packets, i == 1 ? 890 : 110);
		assert_int_equal(hop_between(caught, 0, 1)->shown_lost_packets, 0);
	}
}

static void a_queue_that_drained_in_order_hides_no_restart(void **state)
{
	give_spike_and_restart(*state, 140 * MS, 0);
	check_later_loss(*state, 1, HS_QOS_EPOCH);
}

static void a_restart_that_a_pause_may_explain_is_flagged_and_hides_no_loss(void **state)
{
	give_spike_and_restart(*state, 140 * MS, 2 * SECOND);
	check_later_loss(*state, 3, HS_QOS_COUNTER_AMBIGUOUS);
}

static void without_delays_that_differ_a_pause_explains_nothing(void **state)
{
	give_spike_and_restart(*state, 0, 2 * SECOND);
	check_later_loss(*state, 3, HS_QOS_EPOCH);
}

struct overtaken {
	uint64_t sent, received;
	int64_t delay_ns;
};

// Gives reports of a flow in which some packets overtake others, and nothing restarts.
static void check_overtaken(
		struct fixture *f, const struct overtaken *reports, unsigned n, int64_t gap_ns)
{
	for (unsigned i = 0; i < n; i++) {
		struct hs_report report = plain_report(reports[i].sent, gap_ns, 0, NULL);
		report.sink_ts_ns = (int64_t)report.telemetry.e2e.ts_ns + reports[i].delay_ns;
		report.sink_rx_packets = reports[i].received;
		report.sink_rx_bytes = reports[i].received * 562;
		give(f->qos, &report);
	}
	flush_all(f->qos);
	const struct hs_qos_window *window = &second_ending(f, 1)->window;
	assert_int_equal(window->flags, 0);
	assert_int_equal(window->e2e.tx_packets, (int64_t)(reports[n - 1].sent - reports[0].sent));
	assert_int_equal(window->e2e.rx_packets,
			(int64_t)(reports[n - 1].received - reports[0].received));
}

// 1649 packets a second, of which 22 % overtake the others by 53 ms. Between 113 and 129, 16
// packets were sent and 99 received, though the source did not pause: 65 were missing at 113.
static void packets_held_for_longer_than_50_ms_are_no_restart_of_a_young_flow(void **state)
{
	static const struct overtaken reports[] = {{1, 1, 0}, {33, 8, 0}, {65, 16, 0}, {97, 29, 0},
			{17, 36, 53 * MS}, {113, 48, 0}, {49, 68, 53 * MS}, {81, 102, 53 * MS},
			{129, 147, 53 * MS}};
	check_overtaken(*state, reports, sizeof(reports) / sizeof(reports[0]), SECOND / 1649);
}

// 344 packets a second, of which 3.5 % overtake the others by 48 ms. Between 43 and 49, 6 packets
// were sent and 27 received: 16 were missing at 43, and others overtook 49.
static void a_surplus_of_packets_that_were_missing_is_no_restart(void **state)
{
	static const struct overtaken reports[] = {{7, 1, 0}, {1, 3, 48 * MS}, {13, 13, 48 * MS},
			{19, 19, 48 * MS}, {25, 25, 48 * MS}, {43, 27, 0}, {31, 32, 48 * MS},
			{37, 40, 48 * MS}, {49, 54, 48 * MS}};
	check_overtaken(*state, reports, sizeof(reports) / sizeof(reports[0]), SECOND / 344);
}

// ---- the bound: 2 x rate x difference of the delays x (n + 1) / (n - 1) of n reports ----

#define APART 300 // packets between two reports

struct before_pause {
	unsigned n;	   // reports
	unsigned back;	   // of which the one so far before the last
	int64_t spread_ns; // was delayed by this
	uint64_t burst;	   // each is followed by one so many packets later, within a microsecond
};

// Behind a pause in which node 1 restarts and has counted `surplus` packets too few.
static uint32_t flags_behind_pause(const struct before_pause *before, uint64_t surplus)
{
	struct catcher catcher;
	struct hs_qos *qos = monitor_new(&catcher);
	uint64_t last = before->n * APART, zero = last - surplus / 2;
	for (uint64_t i = APART; i <= last; i += APART) {
		struct hs_report report = report_of(i, zero, UINT64_MAX, FAST);
		struct hs_report second = report_of(i + before->burst, zero, UINT64_MAX, FAST);
		bool delayed = i == last - before->back * APART;
		delay(&report, delayed ? before->spread_ns : 0);
		give(qos, &report);
		pause_for(&second, US - (int64_t)before->burst * FAST);
		delay(&second, delayed ? before->spread_ns : 0);
		if (before->burst)
			give(qos, &second);
	}
	struct hs_report report =
			report_of(last + before->burst + 1000, zero, zero + surplus, FAST);
	pause_for(&report, 20 * SECOND);
	give(qos, &report);
	flush_all(qos);
	uint32_t flags = hs_qos_latest(qos, 7, 0)->flags;
	monitor_free(qos, &catcher);
	return flags;
}

static void check_bound(struct before_pause before, uint64_t bound)
{
	uint32_t below = flags_behind_pause(&before, bound - 3);
	uint32_t above = flags_behind_pause(&before, bound + 4);
	assert_int_equal(below & HS_QOS_EPOCH, 0);
	assert_true(below & HS_QOS_COUNTER_AMBIGUOUS);
	assert_true(above & HS_QOS_EPOCH);
}

static void few_reports_stand_for_delays_that_differ_more(void **state)
{
	(void)state;
	check_bound((struct before_pause){2, 1, 16 * MS, 0}, 960);  // 2 x 160 x 3
	check_bound((struct before_pause){3, 1, 20 * MS, 0}, 800);  // 2 x 200 x 2
	check_bound((struct before_pause){5, 2, 20 * MS, 0}, 600);  // 2 x 200 x 1.5
	check_bound((struct before_pause){21, 9, 20 * MS, 0}, 440); // 2 x 200 x 1.1
}

static void the_newest_256_reports_tell(void **state)
{
	(void)state;
	check_bound((struct before_pause){300, 255, 20 * MS, 0}, 403); // 2 x 200 x 257 / 255
	assert_true(flags_behind_pause(&(struct before_pause){300, 256, 20 * MS, 0}, 300) &
			HS_QOS_EPOCH);
}

static void delays_that_differ_by_less_explain_nothing(void **state)
{
	(void)state;
	assert_true(flags_behind_pause(&(struct before_pause){200, 50, 14 * MS, 0}, 100) &
			HS_QOS_EPOCH);
	assert_false(flags_behind_pause(&(struct before_pause){200, 50, 15 * MS, 0}, 100) &
			HS_QOS_EPOCH);
}

static void packets_of_one_burst_tell_no_rate(void **state)
{
	(void)state;
	check_bound((struct before_pause){3, 1, 20 * MS, 32}, 560); // 2 x 200 x 7 / 5
}

// ---- whose delays ----

// A source restarts behind packet `first` + 150 with another clock, its reports come again from
// `again` on, and node 1 restarts in a pause behind packet `last`. What packets from before the
// source's restart were delayed by is no sign of reordering, `late` or not.
static void give_two_restarts(struct fixture *f, uint64_t first, uint64_t again, uint64_t last,
		int64_t clock_ns, const struct hs_report *late)
{
	uint64_t source = first + 150;
	for (uint64_t i = first; i <= last + 900; i += 100) {
		struct hs_report report = report_of(i, last - 600, last, GAP);
		if (i > last)
			pause_for(&report, 2 * SECOND);
		if (i > source) {
			report.telemetry.e2e.tx_packets -= (uint32_t)source;
			report.telemetry.e2e.tx_bytes -= (uint32_t)source * 562;
			report.telemetry.e2e.ts_ns += (uint64_t)clock_ns;
		}
		if (i < source || (i >= again && i <= last) || i >= last + 800)
			give(f->qos, &report);
		if (i == again && late)
			give(f->qos, late);
	}
	flush_all(f->qos);
	const struct hs_qos_window *run = hs_qos_latest(f->qos, 7, 0);
	struct hs_qos_counters counters;
	hs_qos_counters(f->qos, &counters);
	assert_int_equal(counters.epochs, 2);
	assert_int_equal(run->hops[0].lost_packets, 0);
	assert_int_equal(run->flags & HS_QOS_COUNTER_AMBIGUOUS, 0);
}

static void reports_from_before_an_epoch_hide_no_restart(void **state)
{
	give_two_restarts(*state, 100, 800, 1200, -400 * MS, NULL); // at a count ahead of the old
}

static void a_straggler_from_before_an_epoch_hides_no_restart(void **state)
{
	struct hs_report late = report_of(100120, 100000, 100600, GAP);
	late.sink_ts_ns += 90 * MS;
	late.sink_rx_packets += 90;
	late.sink_rx_bytes += 90 * 562;
	give_two_restarts(*state, 100000, 100200, 100600, 400 * MS, &late);
}

// As many reports are remembered as there is room for at first. The next one is older than all of
// them, and the last one is between two of them.
static void a_report_older_than_all_that_are_remembered_stands_before_them(void **state)
{
	struct fixture *f = *state;
	static const uint64_t numbers[] = {100, 201};
	give_range(f, 102, 228, 2); // 64 reports
	for (unsigned i = 0; i < 2; i++) {
		struct hs_report late = plain(numbers[i]);
		late.sink_ts_ns = T0 + 240 * MS;
		late.sink_rx_packets = 229 + i;
		late.sink_rx_bytes = late.sink_rx_packets * 562;
		give(f->qos, &late);
	}
	hs_qos_advance(f->qos, T0 + 2 * SECOND);
	const struct hs_qos_hop *e2e = &second_ending(f, 1)->window.e2e;
	// Delays of 140 and 39 ms among those of 3: |3-140| + |39-3| + |3-39|, 65 pairs.
	assert_int_equal(e2e->jitter_ns, ((137 + 36 + 36) * MS + 32) / 65);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_queue_that_drained_in_order_hides_no_restart),
			TEST(a_restart_that_a_pause_may_explain_is_flagged_and_hides_no_loss),
			TEST(without_delays_that_differ_a_pause_explains_nothing),
			TEST(packets_held_for_longer_than_50_ms_are_no_restart_of_a_young_flow),
			TEST(a_surplus_of_packets_that_were_missing_is_no_restart),
			cmocka_unit_test(few_reports_stand_for_delays_that_differ_more),
			cmocka_unit_test(the_newest_256_reports_tell),
			cmocka_unit_test(delays_that_differ_by_less_explain_nothing),
			cmocka_unit_test(packets_of_one_burst_tell_no_rate),
			TEST(reports_from_before_an_epoch_hide_no_restart),
			TEST(a_straggler_from_before_an_epoch_hides_no_restart),
			TEST(a_report_older_than_all_that_are_remembered_stands_before_them),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

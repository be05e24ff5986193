// SPDX-License-Identifier: BSD-3-Clause
// What a lab's network does with packets, judged by the counters of links and hosts and by the
// truth.
#include "lab_fixture.h"

// ---- delivery ----

static void two_nodes_deliver_every_packet(void **state)
{
	(void)state;
	lab_runs(PAIR("'duration_s':2", ",'delay_ns':1000000", "'rate_pps':1000", ""), 10);
	struct hs_stream_counters t = traffic_of(0);
	assert_int_equal(t.sent[0], 2000);
	assert_int_equal(t.delivered[0], 2000);
	assert_int_equal(t.altered, 0);
	assert_int_equal(r.run->node_drops, 0);
	assert_int_equal(r.run->links[0][0].sent_packets, 2000);
	assert_int_equal(r.run->links[0][1].sent_packets, 0);
	assert_int_equal(r.run->links[0][0].telemetry_sent, 200);
	assert_int_equal(count_of(r.text, "report.1 "), 200);
	assert_int_equal(r.run->start_ns, HS_LAB_START_NS);
	assert_int_equal(r.run->end_ns, HS_LAB_START_NS + 2 * SECOND);
	assert_false(r.run->partial);
}

// Checks every hop and end to end, in every window.
static void the_delays_that_six_nodes_publish_are_the_links_to_the_nanosecond(void **state)
{
	static const int64_t delays[] = {10000000, 5000001, 0, 10000000, 20000000};
	(void)state;
	lab_runs("{'name':'six','duration_s':3,'forwarding':'patch'," SIX
		 "," FIVE_LINKS("") ",'traffic':[{'name':'t','from':'a','to':'f','rate_pps':1000}]"
				    "," RULE "}",
			10);
	assert_int_equal(traffic_of(0).delivered[0], 3000);
	// The last packets arrive after the third second.
	assert_int_equal(r.run->measured->n_windows, 4);
	for (size_t w = 0; w < 4; w++) {
		const struct hs_measured_window *window = &r.run->measured->windows[w];
		assert_int_equal(window->n_hops, 5);
		for (unsigned h = 0; h < 5; h++) {
			assert_int_equal(delay_of(window, h, "min"), delays[h]);
			assert_int_equal(delay_of(window, h, "max"), delays[h]);
			assert_int_equal(count_at(window, h, "lost_packets"), 0);
		}
		assert_int_equal(delay_of(window, window->n_hops, "mean"), 45000001);
		assert_true(window->clock_known && window->synchronised);
	}
}

static void the_loss_that_is_published_is_what_the_links_lost(void **state)
{
	(void)state;
	lab_runs("{'name':'loss','duration_s':4,'forwarding':'patch','closing_packet':true," SIX
		 "," FIVE_LINKS(",'loss_ratio':0.02") ",'traffic':[{'name':'t','from':'a','to':'f',"
						      "'rate_pps':2000}]," RULE "}",
			50);
	const struct hs_measured_window *window = whole_run();
	assert_non_null(window);
	assert_int_equal(window->n_hops, 5);
	struct hs_stream_counters t = traffic_of(0);
	uint64_t sum = 0;
	for (unsigned l = 0; l < 5; l++) {
		uint64_t lost = lost_on(&r.run->links[l][0]);
		assert_in_range(lost, 80, 250);
		assert_int_equal(count_at(window, l, "lost_packets"), lost);
		const struct hs_truth_hop *hop = &r.run->truth->flows[0].hops[l];
		assert_int_equal(hop->sent_packets - hop->received_packets, lost);
		sum += lost;
	}
	assert_int_equal(count_at(window, window->n_hops, "lost_packets"), sum);
	assert_int_equal(t.sent[0], 8001);
	assert_int_equal(t.delivered[0], 8001 - sum);
}

static int64_t opened_at(size_t index)
{
	return report_at(index)->stops[0].rx_ns;
}

static void a_closing_packet_with_telemetry_follows_a_second_after_the_last(void **state)
{
	static const char scenario[] = PAIR("'duration_s':2,'closing_packet':%s",
			",'delay_ns':1000000", "'rate_pps':100,'stop_s':%s", "");
	(void)state;
	lab_runs(scenario, "false", "2", 1000);
	assert_int_equal(traffic_of(0).sent[0], 200);
	assert_int_equal(r.run->truth->flows[0].n_reports, 1);

	lab_runs(scenario, "true", "2", 1000);
	assert_int_equal(traffic_of(0).sent[0], 201);
	assert_int_equal(r.run->truth->flows[0].n_reports, 2);
	assert_int_equal(opened_at(1), HS_LAB_START_NS + 1990 * MS + SECOND);
	assert_int_equal(r.run->end_ns, HS_LAB_START_NS + 2 * SECOND);

	// If the traffic ended earlier, the closing packet comes at the end of the run at the
	// earliest.
	lab_runs(scenario, "true", "0.5", 1000);
	assert_int_equal(traffic_of(0).sent[0], 51);
	assert_int_equal(opened_at(1), HS_LAB_START_NS + 2 * SECOND);
}

// With jitter of 4 ms and packets 0.1 ms apart, many packets overtake the first.
static void an_opening_packet_goes_a_second_before_the_others(void **state)
{
	static const char *const modes[][2] = {
			{"count", "1000"}, {"frequency", "100000"}, {"probability", "0.001"}};
	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		lab_runs("{'name':'two','duration_s':2,'opening_packet':true,'closing_packet':"
			 "true," TWO ",'links':[{'from':'a','to':'b','delay_ns':5000000,"
			 "'jitter_ns':4000000}],'traffic':[{'name':'t','from':'a','to':'b',"
			 "'rate_pps':10000,'start_s':0.5}],'requests':[{'node':'*','traffic':'t',"
			 "'int_request':{'mode':'%s','mode_setting':%s}}]}",
				modes[i][0], modes[i][1]);
		assert_int_equal(traffic_of(0).sent[0], 1 + 5000 + 1);
		size_t n = r.run->truth->flows[0].n_reports;
		assert_int_equal(opened_at(0), HS_LAB_START_NS + 500 * MS);
		assert_true(opened_at(1) >= HS_LAB_START_NS + 1500 * MS);
		assert_int_equal(report_at(n - 1)->number, 5002);
		// Telemetry is as frequent as before, not in each packet.
		assert_in_range(n, 2, 8);
		const struct hs_measured_window *whole = whole_run();
		assert_int_equal(count_at(whole, whole->n_hops, "lost_packets"), 0);
		assert_int_equal(count_at(whole, whole->n_hops, "tx_packets"), 5001);
	}
}

static void pings_and_their_replies_are_opened_both(void **state)
{
	(void)state;
	lab_runs("{'name':'two','duration_s':2,'opening_packet':true," TWO ","
		 "'links':[{'from':'a','to':'b','delay_ns':5000000}],"
		 "'traffic':[{'name':'t','type':'ping','from':'a','to':'b','rate_pps':10},"
		 "{'name':'u','from':'a','to':'b','rate_pps':10}],'requests':[{'node':'*',"
		 "'traffic':'t','int_request':{'ns_id':1,'mode':'probability',"
		 "'mode_setting':0.001}},{'node':'*','traffic':'t','reverse':true,"
		 "'int_request':{'ns_id':2,'mode':'probability','mode_setting':0.001}}]}");
	struct hs_stream_counters pings = traffic_of(0);
	assert_int_equal(pings.sent[0], 11);
	assert_int_equal(pings.sent[1], 11);
	assert_int_equal(traffic_of(1).sent[0], 20); // no rule monitors it
	assert_int_equal(r.run->truth->flows[0].n_reports, 1);
	assert_int_equal(r.run->truth->flows[1].n_reports, 1);
}

static void no_report_is_lost_where_every_packet_carries_telemetry(void **state)
{
	(void)state;
	lab_runs(PAIR("'duration_s':0.02", "", "'rate_pps':1000000,'payload_bytes':64", ""), 1);
	assert_int_equal(traffic_of(0).delivered[0], 20000);
	assert_int_equal(r.run->truth->flows[0].n_reports, 20000);
	assert_int_equal(r.run->measured->flows[0].run.reports, 20000);
	assert_int_equal(r.reports, 20000);
}

static void a_ping_that_is_answered_took_both_ways(void **state)
{
	(void)state;
	lab_runs("{'name':'ping','duration_s':1,'forwarding':'patch'," THREE ","
		 "'links':[{'from':'a','to':'b','delay_ns':3000000,"
		 "'reverse':{'delay_ns':5000000}},{'from':'b','to':'c',"
		 "'delay_ns':1000000}],'traffic':[{'name':'t','type':'ping','from':'a',"
		 "'to':'c','rate_pps':100}],'requests':[{'node':'*','traffic':'t',"
		 "'int_request':{'ns_id':1,'mode':'count','mode_setting':1}},{'node':'*',"
		 "'traffic':'t','reverse':true,'int_request':{'ns_id':2,'mode':'count',"
		 "'mode_setting':1}}]}");
	const struct hs_stream_trip *trips = r.run->streams[0]->trips;
	size_t n = r.run->streams[0]->n_trips;
	assert_int_equal(n, 100);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(trips[i].rtt_ns, 10 * MS);
	assert_int_equal(r.run->truth->flows[0].n_reports, 100);
	assert_int_equal(r.run->truth->flows[1].n_reports, 100);
	assert_int_equal(count_of(r.text, "report.1 "), 100);
	assert_int_equal(count_of(r.text, "report.2 "), 100);
}

// ---- nodes ----

static void a_node_that_restarts_drops_what_comes_meanwhile_and_lives_anew(void **state)
{
	(void)state;
	lab_runs("{'name':'restart','duration_s':3,'forwarding':'patch',"
		 "'closing_packet':true,'nodes':[{'id':1,'name':'a'},{'id':2,'name':'b',"
		 "'clock':{'offset_ns':1}},{'id':3,'name':'c'}],'links':[{'from':'a',"
		 "'to':'b'},{'from':'b','to':'c'}],'traffic':[{'name':'t','from':'a',"
		 "'to':'c','rate_pps':1000}],'events':[{'at_s':1.5,'node':'b',"
		 "'restart':true,'down_s':0.2}]," RULE "}",
			10);
	assert_int_equal(r.run->dropped_down, 200);
	assert_int_equal(traffic_of(0).delivered[0], 3001 - 200);
	assert_int_equal(count_at(whole_run(), whole_run()->n_hops, "lost_packets"), 200);
	// The newest report counts packets since the restart, so the node's rules are back.
	const struct hs_truth_report *newest = report_at(r.run->truth->flows[0].n_reports - 1);
	assert_int_equal(newest->n_stops, 3);
	assert_int_equal(newest->stops[1].rx_packets, 3001 - 200);
	assert_int_equal(newest->stops[1].life, 1);
	const struct hs_measured_window *last =
			&r.run->measured->windows[r.run->measured->n_windows - 1];
	assert_int_equal(last->n_hops, 2);
	// Each life of the node reports that nothing corrects its clock.
	assert_int_equal(count_of(r.text, "event.clock "), 2);
	assert_non_null(strstr(r.text, "event.clock {\"event\":{\"ts_ns\":17672256017"));
}

static void a_sink_that_restarts_publishes_under_another_boot_id(void **state)
{
	(void)state;
	lab_runs(PAIR("'duration_s':2", "", "'rate_pps':100",
				 ",'events':[{'at_s':1,'node':'b','restart':true}]"),
			1);
	char first[32], last[32];
	const char *at = strstr(r.text, "boot_id"), *next = at;
	snprintf(first, sizeof(first), "%s", at);
	while ((next = strstr(next + 1, "boot_id")))
		at = next;
	snprintf(last, sizeof(last), "%s", at);
	assert_string_not_equal(first, last);
	assert_int_equal(traffic_of(0).delivered[0], 200);
	assert_int_equal(r.run->dropped_down, 0);
	// The report of the last packet before the restart was lost with the node's ring.
	assert_int_equal(count_of(r.text, "report.1 "), 199);
}

static void a_nodes_clock_is_what_its_stamps_show(void **state)
{
	(void)state;
	lab_runs("{'name':'clocks','duration_s':2,'forwarding':'patch','nodes':[{'id':1,"
		 "'name':'a'},{'id':2,'name':'b','clock':{'offset_ns':7000000,"
		 "'drift_ppb':1000}}],'links':[{'from':'a','to':'b','delay_ns':1000000}],"
		 "'traffic':[{'name':'t','from':'a','to':'b','rate_pps':100}]," RULE "}",
			1);
	const struct hs_measured_window *whole = whole_run();
	assert_int_equal(delay_of(whole, whole->n_hops, "min"),
			8000000 + 1); // 1 ms of drift by 1 ppm
	assert_int_equal(delay_of(whole, whole->n_hops, "max"), 8000000 + 1991);
	assert_true(whole->clock_known);
	assert_false(whole->synchronised);
	const struct hs_truth_stop *stops = report_at(199)->stops;
	assert_int_equal(stops[1].rx_ns - stops[0].rx_ns, MS);
	assert_int_equal(stops[1].rx_shown_ns - stops[1].rx_ns, 7 * MS + 1991);
}

static void a_clock_that_is_corrected_says_so(void **state)
{
	(void)state;
	lab_runs("{'name':'clocks','duration_s':5,'forwarding':'patch','nodes':[{'id':1,"
		 "'name':'a'},{'id':2,'name':'b','clock':{'offset_ns':-3000000000,"
		 "'sync':{'interval_s':2,'error_ns':1000}}}],'links':[{'from':'a','to':'b',"
		 "'delay_ns':1000000}],'traffic':[{'name':'t','from':'a','to':'b',"
		 "'rate_pps':100}]," RULE "}",
			1);
	assert_true(count_of(r.text, "event.clock_step ") >= 1);
	// Not synchronised until the first correction, then synchronised.
	assert_int_equal(count_of(r.text, "event.clock "), 2);
	const struct hs_measured_window *last =
			&r.run->measured->windows[r.run->measured->n_windows - 1];
	assert_true(llabs(delay_of(last, last->n_hops, "max") - MS) < 10000);
}

static void copies_that_links_make_arrive_as_well(void **state)
{
	(void)state;
	lab_runs("{'name':'copies','duration_s':1,'forwarding':'patch'," THREE ","
		 "'links':[{'from':'a','to':'b','rate_bps':10000000,"
		 "'duplicate_ratio':0.25},{'from':'b','to':'c','delay_ns':1000000,"
		 "'duplicate_ratio':0.25}],'traffic':[{'name':'t','from':'a','to':'c',"
		 "'rate_pps':1000}]," RULE "}",
			10);
	uint64_t first = r.run->links[0][0].copies, second = r.run->links[1][0].copies;
	assert_in_range(first, 200, 300);
	assert_in_range(second, 250, 400);
	assert_int_equal(r.run->links[1][0].sent_packets, 1000 + first);
	assert_int_equal(traffic_of(0).delivered[0], 1000 + first + second);
	assert_int_equal(traffic_of(0).altered, 0);
	const struct hs_truth_hop *hop = &r.run->truth->flows[0].hops[1];
	assert_int_equal(hop->copies, second);
	assert_int_equal(hop->received_packets, 1000 + first + second);
	unsigned copies = 0;
	unsigned waited = 0;
	uint64_t number = 0;
	int64_t arrived_ns = 0;
	for (size_t i = 0; i < r.run->truth->flows[0].n_reports; i++) {
		const struct hs_truth_report *report = report_at(i);
		bool copy = report->number == number;
		copies += copy;
		// On the first link, a copy waits until its original has been sent.
		waited += copy && report->stops[1].rx_ns > arrived_ns;
		number = report->number;
		arrived_ns = report->stops[1].rx_ns;
	}
	assert_int_equal(copies, r.run->truth->flows[0].n_reports - 100);
	assert_true(copies > 20);
	assert_in_range(waited, 10, 40);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(two_nodes_deliver_every_packet),
			TEST(the_delays_that_six_nodes_publish_are_the_links_to_the_nanosecond),
			TEST(the_loss_that_is_published_is_what_the_links_lost),
			TEST(a_closing_packet_with_telemetry_follows_a_second_after_the_last),
			TEST(an_opening_packet_goes_a_second_before_the_others),
			TEST(pings_and_their_replies_are_opened_both),
			TEST(no_report_is_lost_where_every_packet_carries_telemetry),
			TEST(a_ping_that_is_answered_took_both_ways),
			TEST(a_node_that_restarts_drops_what_comes_meanwhile_and_lives_anew),
			TEST(a_sink_that_restarts_publishes_under_another_boot_id),
			TEST(a_nodes_clock_is_what_its_stamps_show),
			TEST(a_clock_that_is_corrected_says_so),
			TEST(copies_that_links_make_arrive_as_well),
	};

	return lab_test_group(tests);
}

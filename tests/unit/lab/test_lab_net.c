// SPDX-License-Identifier: BSD-3-Clause
// What a lab's network does with packets, judged by the counters of links and hosts and by the
// truth.
#include "lab_fixture.h"

// ---- delivery ----

static void two_nodes_deliver_every_packet(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'two','duration_s':2,'forwarding':'patch'," TWO
			",'links':[{'from':'a','to':'b','delay_ns':1000000}],"
			"'traffic':[{'name':'t','from':'a','to':'b','rate_pps':1000}]," RULE "}",
			10);
	assert_ran(&r);
	struct hs_stream_counters t = traffic_of(&r, 0);
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
	lab_run_ends(&r);
}

// Checks every hop and end to end, in every window.
static void the_delays_that_six_nodes_publish_are_the_links_to_the_nanosecond(void **state)
{
	static const int64_t delays[] = {10000000, 5000001, 0, 10000000, 20000000};
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'six','duration_s':3,'forwarding':'patch'," SIX
			"," FIVE_LINKS("") ",'traffic':[{'name':'t','from':'a','to':'f','rate_pps':"
					   "1000}]," RULE "}",
			10);
	assert_ran(&r);
	assert_int_equal(traffic_of(&r, 0).delivered[0], 3000);
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
	lab_run_ends(&r);
}

static void the_loss_that_is_published_is_what_the_links_lost(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'loss','duration_s':4,'forwarding':'patch','closing_packet':"
			"true," SIX
			"," FIVE_LINKS(",'loss_ratio':0.02") ",'traffic':[{'name':'t','from':'a','"
							     "to':'f','rate_pps':2000}]," RULE "}",
			50);
	assert_ran(&r);
	const struct hs_measured_window *window = &r.run->measured->flows[0].run;
	assert_non_null(window);
	assert_int_equal(window->n_hops, 5);
	struct hs_stream_counters t = traffic_of(&r, 0);
	uint64_t sum = 0;
	for (unsigned l = 0; l < 5; l++) {
		uint64_t lost = lost_on(&r.run->links[l][0]);
		assert_in_range(lost, 80, 250);
		assert_int_equal(count_at(window, l, "lost_packets"), lost);
		struct hs_truth_hop hop;
		hop = r.run->truth->flows[0].hops[l];
		assert_int_equal(hop.sent_packets - hop.received_packets, lost);
		sum += lost;
	}
	assert_int_equal(count_at(window, window->n_hops, "lost_packets"), sum);
	assert_int_equal(t.sent[0], 8001);
	assert_int_equal(t.delivered[0], 8001 - sum);
	lab_run_ends(&r);
}

static int64_t reports_at(const struct lab_run *r, size_t index)
{
	struct hs_truth_report report;

	report = r->run->truth->flows[0].reports[index];
	return report.stops[0].rx_ns;
}

static void a_closing_packet_with_telemetry_follows_a_second_after_the_last(void **state)
{
	static const char scenario[] =
			"{'name':'two','duration_s':2,'forwarding':'patch','closing_packet':%s," TWO
			",'links':[{'from':'a','to':'b','delay_ns':1000000}],'traffic':[{'name':"
			"'t','from':'a','to':'b','rate_pps':100,'stop_s':%s}]," RULE "}";
	struct lab_run r = {0};

	(void)state;
	lab_run(&r, scenario, "false", "2", 1000);
	assert_ran(&r);
	assert_int_equal(traffic_of(&r, 0).sent[0], 200);
	assert_int_equal(r.run->truth->flows[0].n_reports, 1);
	lab_run_ends(&r);

	lab_run(&r, scenario, "true", "2", 1000);
	assert_ran(&r);
	assert_int_equal(traffic_of(&r, 0).sent[0], 201);
	assert_int_equal(r.run->truth->flows[0].n_reports, 2);
	assert_int_equal(reports_at(&r, 1), HS_LAB_START_NS + 1990 * MS + SECOND);
	assert_int_equal(r.run->end_ns, HS_LAB_START_NS + 2 * SECOND);
	lab_run_ends(&r);

	// If the traffic ended earlier, the closing packet comes at the end of the run at the
	// earliest.
	lab_run(&r, scenario, "true", "0.5", 1000);
	assert_ran(&r);
	assert_int_equal(traffic_of(&r, 0).sent[0], 51);
	assert_int_equal(reports_at(&r, 1), HS_LAB_START_NS + 2 * SECOND);
	lab_run_ends(&r);
}

// With jitter of 4 ms and packets 0.1 ms apart, many packets overtake the first.
static void an_opening_packet_goes_a_second_before_the_others(void **state)
{
	static const char *const modes[][2] = {
			{"count", "1000"}, {"frequency", "100000"}, {"probability", "0.001"}};
	struct lab_run r = {0};

	(void)state;
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		lab_run(&r,
				"{'name':'two','duration_s':2,'opening_packet':true,"
				"'closing_packet':true," TWO
				",'links':[{'from':'a','to':'b','delay_ns':5000000,'jitter_ns':"
				"4000000}],'traffic':[{'name':'t','from':'a','to':'b','rate_pps':"
				"10000,'start_s':0.5}],'requests':[{'node':'*','traffic':'t',"
				"'int_request':{'mode':'%s','mode_setting':%s}}]}",
				modes[i][0], modes[i][1]);
		assert_ran(&r);
		assert_int_equal(traffic_of(&r, 0).sent[0], 1 + 5000 + 1);
		size_t n = r.run->truth->flows[0].n_reports;
		struct hs_truth_report last;
		last = r.run->truth->flows[0].reports[n - 1];
		assert_int_equal(reports_at(&r, 0), HS_LAB_START_NS + 500 * MS);
		assert_true(reports_at(&r, 1) >= HS_LAB_START_NS + 1500 * MS);
		assert_int_equal(last.number, 5002);
		// Telemetry is as frequent as before, not in each packet.
		assert_in_range(n, 2, 8);
		const struct hs_measured_window *whole = &r.run->measured->flows[0].run;
		assert_int_equal(count_at(whole, whole->n_hops, "lost_packets"), 0);
		assert_int_equal(count_at(whole, whole->n_hops, "tx_packets"), 5001);
		lab_run_ends(&r);
	}
}

static void pings_and_their_replies_are_opened_both(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r, "{'name':'two','duration_s':2,'opening_packet':true," TWO
		    ",'links':[{'from':'a','to':'b','delay_ns':5000000}],'traffic':[{'name':"
		    "'t','type':'ping','from':'a','to':'b','rate_pps':10},{'name':'u','from':"
		    "'a','to':'b','rate_pps':10}],'requests':[{'node':'*','traffic':'t',"
		    "'int_request':{'ns_id':1,'mode':'probability','mode_setting':0.001}},"
		    "{'node':'*','traffic':'t','reverse':true,'int_request':{'ns_id':2,'mode':"
		    "'probability','mode_setting':0.001}}]}");
	assert_ran(&r);
	struct hs_stream_counters pings = traffic_of(&r, 0);
	assert_int_equal(pings.sent[0], 11);
	assert_int_equal(pings.sent[1], 11);
	assert_int_equal(traffic_of(&r, 1).sent[0], 20); // no rule monitors it
	assert_int_equal(r.run->truth->flows[0].n_reports, 1);
	assert_int_equal(r.run->truth->flows[1].n_reports, 1);
	lab_run_ends(&r);
}

static void no_report_is_lost_where_every_packet_carries_telemetry(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'all','duration_s':0.02,'forwarding':'patch'," TWO
			",'links':[{'from':'a','to':'b'}],'traffic':[{'name':'t','from':'a',"
			"'to':'b','rate_pps':1000000,'payload_bytes':64}]," RULE "}",
			1);
	assert_ran(&r);
	assert_int_equal(traffic_of(&r, 0).delivered[0], 20000);
	assert_int_equal(r.run->truth->flows[0].n_reports, 20000);
	assert_int_equal(r.run->measured->flows[0].run.reports, 20000);
	assert_int_equal(r.reports, 20000);
	lab_run_ends(&r);
}

static void a_ping_that_is_answered_took_both_ways(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r, "{'name':'ping','duration_s':1,'forwarding':'patch'," THREE
		    ",'links':[{'from':'a','to':'b','delay_ns':3000000,'reverse':{'delay_ns':"
		    "5000000}},{'from':'b','to':'c','delay_ns':1000000}],'traffic':[{'name':'t',"
		    "'type':'ping','from':'a','to':'c','rate_pps':100}],'requests':["
		    "{'node':'*','traffic':'t','int_request':{'ns_id':1,'mode':'count',"
		    "'mode_setting':1}},{'node':'*','traffic':'t','reverse':true,'int_request':"
		    "{'ns_id':2,'mode':'count','mode_setting':1}}]}");
	assert_ran(&r);
	const struct hs_stream_trip *trips = r.run->streams[0]->trips;
	size_t n = r.run->streams[0]->n_trips;
	assert_int_equal(n, 100);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(trips[i].rtt_ns, 10 * MS);
	assert_int_equal(r.run->truth->flows[0].n_reports, 100);
	assert_int_equal(r.run->truth->flows[1].n_reports, 100);
	assert_int_equal(count_of(r.text, "report.1 "), 100);
	assert_int_equal(count_of(r.text, "report.2 "), 100);
	lab_run_ends(&r);
}

// ---- forwarding ----

static void bridges_know_every_host_before_it_is_spoken_to(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'bridge','duration_s':1,'forwarding':'bridge'," SIX
			"," FIVE_LINKS("") ",'hosts':[{'name':'x','at':'a','addr':'2001:db8::1'},{'"
					   "name':'y','at':'c',"
					   "'addr':'2001:db8::2'},{'name':'z','at':'e','addr':'"
					   "2001:db8::3'}],"
					   "'traffic':[{'name':'t','from':'x','to':'z','rate_pps':"
					   "1000},{'name':'u',"
					   "'from':'z','to':'y','rate_pps':1000}]," RULE "}",
			10);
	assert_ran(&r);
	for (unsigned t = 0; t < 2; t++) {
		assert_int_equal(traffic_of(&r, t).delivered[0], 1000);
		assert_int_equal(traffic_of(&r, t).altered, 0);
		assert_int_equal(r.run->truth->flows[t].n_reports, 100);
	}
	assert_int_equal(r.run->node_drops, 0);
	// Neither flow enters links that lead elsewhere.
	assert_int_equal(r.run->links[0][1].sent_packets, 0);
	assert_int_equal(r.run->links[3][0].sent_packets, 1000);
	assert_int_equal(r.run->links[4][0].sent_packets, 0);
	lab_run_ends(&r);
}

static void a_bridge_that_restarts_knows_every_host_again(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'bridge','duration_s':1,'forwarding':'bridge'," THREE
			",'links':[{'from':'a','to':'b'},{'from':'b','to':'c'}],'traffic':[{'name':"
			"'t','from':'a','to':'b','rate_pps':1000}],'events':[{'at_s':0.5,'node':'b'"
			","
			"'restart':true}]," RULE "}",
			1);
	assert_ran(&r);
	// If they were flooded, they would reach node c and carry no telemetry.
	assert_int_equal(traffic_of(&r, 0).delivered[0], 1000);
	assert_int_equal(r.run->links[1][0].sent_packets, 0);
	assert_int_equal(r.run->truth->flows[0].n_reports, 1000);
	lab_run_ends(&r);
}

#define RING                                                                                       \
	"'nodes':[{'id':1,'name':'a'},{'id':2,'name':'b'},{'id':3,'name':'c'},{'id':4,'name':"     \
	"'d'},{'id':5,'name':'e'}],'links':[{'from':'a','to':'b','delay_ns':1000000},"             \
	"{'from':'b','to':'c','delay_ns':1000000},{'from':'c','to':'d','delay_ns':1000000},"       \
	"{'from':'d','to':'e','delay_ns':1000000},{'from':'e','to':'a','delay_ns':1000000}]"

static void a_link_that_fails_sends_packets_the_other_way_round_until_it_heals(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'ring','duration_s':3,'forwarding':'shortest_path','reroute_s':0."
			"05,"
			"'closing_packet':true," RING
			",'traffic':[{'name':'t','from':'a','to':'c','rate_pps':1000}],"
			"'events':[{'at_s':1,'link':'a-b','set':{'up':false}},"
			"{'at_s':2,'link':'a-b','set':{'up':true}}]," RULE "}",
			10);
	assert_ran(&r);
	struct hs_stream_counters t = traffic_of(&r, 0);
	const struct hs_link_counters(*links)[2] = r.run->links;
	// The link is down from 1 s, and packets take the other direction from 1.05 s to 2.05 s.
	// The closing packet takes the link.
	assert_int_equal(links[0][0].lost[HS_LINK_LOST_DOWN], 50);
	assert_int_equal(t.delivered[0], 3001 - 50);
	assert_int_equal(links[0][0].sent_packets, 2001);
	assert_int_equal(links[4][1].sent_packets, 1000);
	assert_int_equal(links[3][1].sent_packets, 1000);
	assert_int_equal(links[2][1].sent_packets, 1000);
	assert_int_equal(r.run->config_changed_ns, HS_LAB_START_NS + SECOND);
	const struct hs_measured_window *run = &r.run->measured->flows[0].run;
	assert_int_equal(count_at(run, run->n_hops, "lost_packets"), 50);
	assert_int_equal(t.altered, 0);
	lab_run_ends(&r);
}

static void hosts_of_one_subnet_are_reached_behind_several_nodes(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'ring','duration_s':1,'forwarding':'shortest_path'," RING
			",'hosts':[{'name':'w','at':'a','addr':'2001:db8::1'},{'name':'x','at':'b',"
			"'addr':'2001:db8::2'},{'name':'y','at':'c','addr':'2001:db8::3'},{'name':"
			"'z','at':'e','addr':'2001:db8::4'}],'traffic':[{'name':'t','from':'w','to'"
			":"
			"'x','rate_pps':100},{'name':'u','from':'w','to':'y','rate_pps':100},{'"
			"name':"
			"'v','from':'x','to':'z','rate_pps':100}]," RULE "}",
			10);
	assert_ran(&r);
	for (unsigned t = 0; t < 3; t++)
		assert_int_equal(traffic_of(&r, t).delivered[0], 100);
	assert_int_equal(r.run->links[0][0].sent_packets, 200);
	assert_int_equal(r.run->links[0][1].sent_packets, 100);
	assert_int_equal(r.run->links[1][0].sent_packets, 100);
	assert_int_equal(r.run->links[4][1].sent_packets, 100);
	lab_run_ends(&r);
}

static void what_has_no_route_is_dropped_and_counted_over_restarts(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'far','duration_s':1,'forwarding':'shortest_path','reroute_s':0."
			"1," TWO ",'links':[{'from':'a','to':'b'}],'traffic':[{'name':'t','from':'"
			"a','to':'b',"
			"'rate_pps':1000}],'events':[{'at_s':0.5,'link':'a-b','set':{'up':false}},"
			"{'at_s':0.8,'node':'a','restart':true}]," RULE "}",
			10);
	assert_ran(&r);
	assert_int_equal(traffic_of(&r, 0).delivered[0], 500);
	assert_int_equal(r.run->links[0][0].lost[HS_LINK_LOST_DOWN], 100);
	assert_int_equal(r.run->node_drops, 400);
	lab_run_ends(&r);
}

static void a_route_is_taken_while_it_is_a_shortest_way(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r, "{'name':'ways','duration_s':2,'forwarding':'shortest_path','topology':{'"
		    "kind':'hula','link':{'delay_ns':0}},'routes':["
		    "{'node':'tor-1-1','to':'h-2-2-1','via':'leaf-1-1'},"
		    "{'node':'leaf-1-1','to':'h-2-2-1','via':'spine-2'},"
		    "{'node':'tor-1-1','to':'h-2-2-2','via':'leaf-1-2'},"
		    "{'node':'leaf-1-2','to':'h-2-2-2','via':'spine-3'},"
		    "{'node':'leaf-1-2','to':'h-2-2-1','via':'spine-4'}],'traffic':["
		    "{'name':'x','from':'h-1-1-1','to':'h-2-2-1','rate_pps':1000},"
		    "{'name':'y','from':'h-1-1-1','to':'h-2-2-2','rate_pps':500}],"
		    "'events':[{'at_s':1,'link':'leaf-1-1-tor-1-1','set':{'up':false}}]}");
	assert_ran(&r);
	const struct hs_link_counters(*links)[2] = r.run->links;
	assert_int_equal(traffic_of(&r, 0).delivered[0], 2000);
	assert_int_equal(traffic_of(&r, 1).delivered[0], 1000);
	// Of pod 1: spine-1 and spine-2 at leaf-1-1, spine-3 and spine-4 at leaf-1-2.
	assert_int_equal(links[0][1].sent_packets, 0);
	assert_int_equal(links[1][1].sent_packets, 1000);
	assert_int_equal(links[2][1].sent_packets, 1000);
	assert_int_equal(links[3][1].sent_packets, 1000);
	lab_run_ends(&r);
}

static void a_fat_tree_delivers_between_all_its_hosts(void **state)
{
	struct lab_run r = {0};
	unsigned far = 0;

	(void)state;
	lab_run(&r,
			"{'name':'tree','duration_s':1,'forwarding':'shortest_path','topology':{'"
			"kind':"
			"'fat_tree','k':4,'link':{'delay_ns':10000}},'traffic':[{'name':'t','"
			"pattern':"
			"{'kind':'permutation','flows':16},'rate_pps':100}]," RULE "}",
			10);
	assert_ran(&r);
	assert_int_equal(r.scenario.n_nodes, 20);
	for (unsigned t = 0; t < 16; t++) {
		assert_int_equal(traffic_of(&r, t).delivered[0], 100);
		// Between hosts of one switch, nothing is measured.
		const struct hs_scenario_traffic *own = &r.scenario.traffic[t];
		bool local = r.scenario.hosts[own->from].at == r.scenario.hosts[own->to].at;
		assert_int_equal(r.run->truth->flows[t].n_reports, local ? 0 : 10);
		far += !local;
	}
	assert_true(far > 8);
	unsigned used = 0;
	for (size_t l = 0; l < r.scenario.n_links; l++)
		used += r.run->links[l][0].sent_packets || r.run->links[l][1].sent_packets;
	// Ports at the same distance share the flows. Otherwise 16 of 32 links would be idle.
	assert_true(used > 20);
	assert_int_equal(r.run->node_drops, 0);
	lab_run_ends(&r);
}

// ---- nodes ----

static void a_node_that_restarts_drops_what_comes_meanwhile_and_lives_anew(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'restart','duration_s':3,'forwarding':'patch','closing_packet':"
			"true,'nodes':[{'id':1,'name':'a'},{'id':2,'name':'b','clock':{'offset_ns':"
			"1}},"
			"{'id':3,'name':'c'}]"
			",'links':[{'from':'a','to':'b'},{'from':'b','to':'c'}],"
			"'traffic':[{'name':'t','from':'a','to':'c','rate_pps':1000}],"
			"'events':[{'at_s':1.5,'node':'b','restart':true,'down_s':0.2}]," RULE "}",
			10);
	assert_ran(&r);
	assert_int_equal(r.run->dropped_down, 200);
	assert_int_equal(traffic_of(&r, 0).delivered[0], 3001 - 200);
	assert_int_equal(count_at(&r.run->measured->flows[0].run,
					 r.run->measured->flows[0].run.n_hops, "lost_packets"),
			200);
	// The newest report counts packets since the restart, so the node's rules are back.
	struct hs_truth_report report;
	size_t n = r.run->truth->flows[0].n_reports;
	report = r.run->truth->flows[0].reports[n - 1];
	assert_int_equal(report.n_stops, 3);
	assert_int_equal(report.stops[1].rx_packets, 3001 - 200);
	assert_int_equal(report.stops[1].life, 1);
	const struct hs_measured_window *last =
			&r.run->measured->windows[r.run->measured->n_windows - 1];
	assert_int_equal(last->n_hops, 2);
	// Each life of the node reports that nothing corrects its clock.
	assert_int_equal(count_of(r.text, "event.clock "), 2);
	assert_non_null(strstr(r.text, "event.clock {\"event\":{\"ts_ns\":17672256017"));
	lab_run_ends(&r);
}

static void a_sink_that_restarts_publishes_under_another_boot_id(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'restart','duration_s':2,'forwarding':'patch'," TWO
			",'links':[{'from':'a','to':'b'}],'traffic':[{'name':'t','from':'a',"
			"'to':'b','rate_pps':100}],'events':[{'at_s':1,'node':'b','restart':true}]"
			"," RULE "}",
			1);
	assert_ran(&r);
	char first[32], last[32];
	const char *at = strstr(r.text, "boot_id"), *next = at;
	snprintf(first, sizeof(first), "%s", at);
	while ((next = strstr(next + 1, "boot_id")))
		at = next;
	snprintf(last, sizeof(last), "%s", at);
	assert_string_not_equal(first, last);
	assert_int_equal(traffic_of(&r, 0).delivered[0], 200);
	assert_int_equal(r.run->dropped_down, 0);
	// The report of the last packet before the restart was lost with the node's ring.
	assert_int_equal(count_of(r.text, "report.1 "), 199);
	lab_run_ends(&r);
}

static void a_nodes_clock_is_what_its_stamps_show(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'clocks','duration_s':2,'forwarding':'patch','nodes':[{'id':1,'"
			"name':"
			"'a'},{'id':2,'name':'b','clock':{'offset_ns':7000000,'drift_ppb':1000}}],"
			"'links':[{'from':'a','to':'b','delay_ns':1000000}],'traffic':[{'name':'t',"
			"'from':'a','to':'b','rate_pps':100}]," RULE "}",
			1);
	assert_ran(&r);
	const struct hs_measured_window *run = &r.run->measured->flows[0].run;
	assert_int_equal(delay_of(run, run->n_hops, "min"), 8000000 + 1); // 1 ms of drift by 1 ppm
	assert_int_equal(delay_of(run, run->n_hops, "max"), 8000000 + 1991);
	assert_true(run->clock_known);
	assert_false(run->synchronised);
	struct hs_truth_report report;
	report = r.run->truth->flows[0].reports[199];
	assert_int_equal(report.stops[1].rx_ns - report.stops[0].rx_ns, MS);
	assert_int_equal(report.stops[1].rx_shown_ns - report.stops[1].rx_ns, 7 * MS + 1991);
	lab_run_ends(&r);
}

static void a_clock_that_is_corrected_says_so(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'clocks','duration_s':5,'forwarding':'patch','nodes':[{'id':1,'"
			"name':"
			"'a'},{'id':2,'name':'b','clock':{'offset_ns':-3000000000,'sync':{'"
			"interval_s':"
			"2,'error_ns':1000}}}],'links':[{'from':'a','to':'b','delay_ns':1000000}],"
			"'traffic':[{'name':'t','from':'a','to':'b','rate_pps':100}]," RULE "}",
			1);
	assert_ran(&r);
	assert_true(count_of(r.text, "event.clock_step ") >= 1);
	// Not synchronised until the first correction, then synchronised.
	assert_int_equal(count_of(r.text, "event.clock "), 2);
	const struct hs_measured_window *last =
			&r.run->measured->windows[r.run->measured->n_windows - 1];
	assert_true(llabs(delay_of(last, last->n_hops, "max") - MS) < 10000);
	lab_run_ends(&r);
}

static void copies_that_links_make_arrive_as_well(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'copies','duration_s':1,'forwarding':'patch'," THREE
			",'links':[{'from':'a','to':'b','rate_bps':10000000,'duplicate_ratio':0.25}"
			","
			"{'from':'b','to':'c','delay_ns':1000000,'duplicate_ratio':0.25}],"
			"'traffic':[{'name':'t','from':'a','to':'c','rate_pps':1000}]," RULE "}",
			10);
	assert_ran(&r);
	uint64_t first = r.run->links[0][0].copies, second = r.run->links[1][0].copies;
	assert_in_range(first, 200, 300);
	assert_in_range(second, 250, 400);
	assert_int_equal(r.run->links[1][0].sent_packets, 1000 + first);
	assert_int_equal(traffic_of(&r, 0).delivered[0], 1000 + first + second);
	assert_int_equal(traffic_of(&r, 0).altered, 0);
	struct hs_truth_hop hop;
	hop = r.run->truth->flows[0].hops[1];
	assert_int_equal(hop.copies, second);
	assert_int_equal(hop.received_packets, 1000 + first + second);
	unsigned copies = 0;
	unsigned waited = 0;
	uint64_t number = 0;
	int64_t arrived_ns = 0;
	for (size_t i = 0; i < r.run->truth->flows[0].n_reports; i++) {
		struct hs_truth_report report;
		report = r.run->truth->flows[0].reports[i];
		bool copy = report.number == number;
		copies += copy;
		// On the first link, a copy waits until its original has been sent.
		waited += copy && report.stops[1].rx_ns > arrived_ns;
		number = report.number;
		arrived_ns = report.stops[1].rx_ns;
	}
	assert_int_equal(copies, r.run->truth->flows[0].n_reports - 100);
	assert_true(copies > 20);
	assert_in_range(waited, 10, 40);
	lab_run_ends(&r);
}

// ---- queues ----

// More than the links can take, pings beside it, and a restart while packets wait.
static void run_queues(struct lab_run *r, const char *at)
{
	lab_run(r,
			"{'name':'queues','duration_s':3,'forwarding':'patch'," THREE
			",'links':[{'from':'a','to':'b','rate_bps':5000000,'queue_packets':20,"
			"'queue_at':'%s'},{'from':'b','to':'c','delay_ns':1000000,'rate_bps':"
			"4000000,'queue_packets':10,'queue_at':'%s'}],'traffic':["
			"{'name':'t','from':'a','to':'c','type':'poisson','rate_pps':700,"
			"'payload_bytes':900},{'name':'p','from':'a','to':'c','type':'ping',"
			"'rate_pps':300}],'events':[{'at_s':2.9,'node':'b','restart':true}]}",
			at, at);
	assert_ran(r);
}

static void a_queue_in_a_node_does_what_a_queue_in_a_link_does(void **state)
{
	struct lab_run link = {0}, node = {0};
	size_t n, n_in_node, before = 0;

	(void)state;
	run_queues(&link, "link");
	run_queues(&node, "node");
	const struct hs_stream_trip *trips = link.run->streams[1]->trips;
	n = link.run->streams[1]->n_trips;
	const struct hs_stream_trip *in_node = node.run->streams[1]->trips;
	n_in_node = node.run->streams[1]->n_trips;
	while (before < n && before < n_in_node &&
			trips[before].sent_ns < HS_LAB_START_NS + 28 * SECOND / 10)
		assert_memory_equal(&trips[before], &in_node[before], sizeof(*trips)), before++;
	assert_in_range(before, 300, 800);
	assert_null(link.run->queues);
	for (unsigned l = 0; l < 2; l++) {
		const struct hs_queue_counts *queue = &node.run->queues[2 * l].counts;
		assert_int_equal(queue->wrong_departures, 0);
		assert_int_equal(queue->wrong_drops, 0);
		assert_int_equal(queue->depth_max, l ? 10 : 20);
		assert_true(queue->dropped > 50);
		assert_int_equal(link.run->links[l][0].queue_max_packets, queue->depth_max);
	}
	// The restarted node forgot what it had dropped behind the last packet that departed.
	uint64_t dropped = node.run->queues[0].counts.dropped + node.run->queues[2].counts.dropped;
	assert_in_range(node.run->node_drops, dropped, dropped + 20);
	lab_run_ends(&link);
	lab_run_ends(&node);
}

// 50 packets come within 50 us. b serves one each ms and lets 10 wait, c one each 2 ms and 4.
static void a_node_serves_its_rate_of_packets_and_drops_what_finds_its_queue_full(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'service','duration_s':1,'forwarding':'patch','nodes':[{'id':1,"
			"'name':'a'},{'id':2,'name':'b','rate_pps':1000,'queue_packets':10},"
			"{'id':3,'name':'c','rate_pps':500,'queue_packets':4}],'links':["
			"{'from':'a','to':'b'},{'from':'b','to':'c'}],'traffic':[{'name':'t',"
			"'from':'a','to':'c','rate_pps':1000000,'packets':50}]," RULE "}",
			1);
	assert_ran(&r);
	const struct hs_queue_truth *queues = r.run->queues;
	const struct hs_queue_counts *of_b = &queues[2].counts, *of_c = &queues[4 + 1].counts;
	assert_int_equal(queues[0].rate.pps, 0); // a's
	assert_int_equal(queues[4].rate.pps, 0); // to the host of a
	assert_int_equal(of_b->packets, 11);
	assert_int_equal(of_b->dropped, 39);
	assert_int_equal(of_b->depth_max, 10);
	assert_int_equal(of_c->packets, 10);
	assert_int_equal(of_c->dropped, 1);
	assert_int_equal(of_c->depth_max, 4);
	assert_int_equal(of_b->wrong_departures + of_c->wrong_departures, 0);
	assert_int_equal(of_b->wrong_drops + of_c->wrong_drops, 0);
	assert_int_equal(r.run->node_drops, 40);
	assert_int_equal(traffic_of(&r, 0).delivered[0], 10);
	for (size_t i = 0; i < r.run->truth->flows[0].n_reports; i++) {
		struct hs_truth_report report;
		report = r.run->truth->flows[0].reports[i];
		int64_t ms = (int64_t)report.number; // all that c took was the first of b's
		assert_int_equal(report.stops[2].rx_ns, HS_LAB_START_NS + ms * MS);
	}
	lab_run_ends(&r);
}

// 50 packets come within 50 us, and b sends them on to c, from where each goes on twice. Of the two
// links behind b, one loses all. What b's queue refuses makes nothing, either.
static void a_relay_follows_only_packets_that_came(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r, "{'name':'relay','duration_s':1,'forwarding':'shortest_path','nodes':[{'id':1,"
		    "'name':'a'},{'id':2,'name':'b','rate_pps':1000,'queue_packets':10},"
		    "{'id':3,'name':'c'},{'id':4,'name':'d'}],'links':[{'from':'a','to':'b'},"
		    "{'from':'b','to':'c','delay_ns':1000},{'from':'b','to':'d','loss_ratio':1}],"
		    "'traffic':[{'name':'t','from':'a','to':'b','rate_pps':1000000,'packets':50},"
		    "{'name':'on','type':'relay','after':'t','from':'b','to':'c'},"
		    "{'name':'lost','type':'relay','after':'t','from':'b','to':'d'},"
		    "{'name':'back','type':'relay','after':'on','from':'c','to':'a'},"
		    "{'name':'none','type':'relay','after':'lost','from':'d','to':'a'}]}");
	assert_ran(&r);
	static const uint64_t sent[] = {50, 50, 50, 11, 0}, came[] = {11, 11, 0, 11, 0};
	for (unsigned t = 0; t < 5; t++) {
		assert_int_equal(traffic_of(&r, t).sent[0], sent[t]);
		assert_int_equal(traffic_of(&r, t).delivered[0], came[t]);
		assert_int_equal(traffic_of(&r, t).altered, 0);
	}
	lab_run_ends(&r);
}

// Every host pings each other host over IPv4.
static void hula_delivers_between_all_its_hosts(void **state)
{
	char text[16384];
	int len = snprintf(text, sizeof(text),
			"{\"name\":\"hula\",\"duration_s\":1,\"forwarding\":\"shortest_path\","
			"\"topology\":{\"kind\":\"hula\",\"addresses\":\"ipv4\",\"node\":{"
			"\"rate_pps\":100000},\"link\":{\"delay_ns\":10000}},\"traffic\":[");
	struct lab_run r = {0};

	(void)state;
	for (int i = 0; i < 56; i++) {
		int from = i / 7, to = (from + 1 + i % 7) % 8;
		len += snprintf(text + len, sizeof(text) - (size_t)len,
				"%s{\"name\":\"p%d\",\"type\":\"ping\",\"rate_pps\":10,\"from\":"
				"\"h-%d-%d-%d\",\"to\":\"h-%d-%d-%d\"}",
				i ? "," : "", i, 1 + from / 4, 1 + from / 2 % 2, 1 + from % 2,
				1 + to / 4, 1 + to / 2 % 2, 1 + to % 2);
	}
	snprintf(text + len, sizeof(text) - (size_t)len, "]}");
	lab_run_text(&r, (struct hs_lab_config){0}, text);
	assert_ran(&r);
	for (unsigned t = 0; t < 56; t++) {
		struct hs_stream_counters counters = traffic_of(&r, t);
		assert_int_equal(counters.delivered[0], 10);
		assert_int_equal(counters.delivered[1], 10);
		assert_int_equal(counters.altered, 0);
	}
	lab_run_ends(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_node_serves_its_rate_of_packets_and_drops_what_finds_its_queue_full),
			cmocka_unit_test(a_relay_follows_only_packets_that_came),
			cmocka_unit_test(hula_delivers_between_all_its_hosts),
			cmocka_unit_test(a_queue_in_a_node_does_what_a_queue_in_a_link_does),
			cmocka_unit_test(two_nodes_deliver_every_packet),
			cmocka_unit_test(
					the_delays_that_six_nodes_publish_are_the_links_to_the_nanosecond),
			cmocka_unit_test(the_loss_that_is_published_is_what_the_links_lost),
			cmocka_unit_test(
					a_closing_packet_with_telemetry_follows_a_second_after_the_last),
			cmocka_unit_test(an_opening_packet_goes_a_second_before_the_others),
			cmocka_unit_test(pings_and_their_replies_are_opened_both),
			cmocka_unit_test(no_report_is_lost_where_every_packet_carries_telemetry),
			cmocka_unit_test(a_ping_that_is_answered_took_both_ways),
			cmocka_unit_test(bridges_know_every_host_before_it_is_spoken_to),
			cmocka_unit_test(a_bridge_that_restarts_knows_every_host_again),
			cmocka_unit_test(hosts_of_one_subnet_are_reached_behind_several_nodes),
			cmocka_unit_test(what_has_no_route_is_dropped_and_counted_over_restarts),
			cmocka_unit_test(
					a_link_that_fails_sends_packets_the_other_way_round_until_it_heals),
			cmocka_unit_test(a_route_is_taken_while_it_is_a_shortest_way),
			cmocka_unit_test(a_fat_tree_delivers_between_all_its_hosts),
			cmocka_unit_test(
					a_node_that_restarts_drops_what_comes_meanwhile_and_lives_anew),
			cmocka_unit_test(a_sink_that_restarts_publishes_under_another_boot_id),
			cmocka_unit_test(a_nodes_clock_is_what_its_stamps_show),
			cmocka_unit_test(a_clock_that_is_corrected_says_so),
			cmocka_unit_test(copies_that_links_make_arrive_as_well),
	};

	lab_start_eal("{\"name\":\"room\",\"duration_s\":1,\"forwarding\":\"shortest_path\","
		      "\"mbufs\":131072,\"topology\":{\"kind\":\"fat_tree\",\"k\":4},"
		      "\"traffic\":[]}");
	int rc = cmocka_run_group_tests_name("lab_net", tests, NULL, NULL);
	hs_eal_fini();
	return rc;
}

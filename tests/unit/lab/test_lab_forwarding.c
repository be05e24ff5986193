// SPDX-License-Identifier: BSD-3-Clause
// Which way packets take through a lab's network, and that they arrive.
#include "lab_fixture.h"

static void bridges_know_every_host_before_it_is_spoken_to(void **state)
{
	(void)state;
	lab_runs("{'name':'bridge','duration_s':1,'forwarding':'bridge'," SIX
		 "," FIVE_LINKS("") ",'hosts':[{'name':'x','at':'a','addr':'2001:db8::1'},{'name':'"
				    "y',"
				    "'at':'c','addr':'2001:db8::2'},{'name':'z','at':'e',"
				    "'addr':'2001:db8::3'}],'traffic':[{'name':'t','from':'x','to':"
				    "'z',"
				    "'rate_pps':1000},{'name':'u','from':'z','to':'y','rate_pps':"
				    "1000}]," RULE "}",
			10);
	for (unsigned t = 0; t < 2; t++) {
		assert_int_equal(traffic_of(t).delivered[0], 1000);
		assert_int_equal(traffic_of(t).altered, 0);
		assert_int_equal(r.run->truth->flows[t].n_reports, 100);
	}
	assert_int_equal(r.run->node_drops, 0);
	// Neither flow enters links that lead elsewhere.
	assert_int_equal(r.run->links[0][1].sent_packets, 0);
	assert_int_equal(r.run->links[3][0].sent_packets, 1000);
	assert_int_equal(r.run->links[4][0].sent_packets, 0);
}

static void a_bridge_that_restarts_knows_every_host_again(void **state)
{
	(void)state;
	lab_runs("{'name':'bridge','duration_s':1,'forwarding':'bridge'," THREE ","
		 "'links':[{'from':'a','to':'b'},{'from':'b','to':'c'}],"
		 "'traffic':[{'name':'t','from':'a','to':'b','rate_pps':1000}],"
		 "'events':[{'at_s':0.5,'node':'b','restart':true}]," RULE "}",
			1);
	// If they were flooded, they would reach node c and carry no telemetry.
	assert_int_equal(traffic_of(0).delivered[0], 1000);
	assert_int_equal(r.run->links[1][0].sent_packets, 0);
	assert_int_equal(r.run->truth->flows[0].n_reports, 1000);
}

#define RING                                                                                       \
	"'nodes':[{'id':1,'name':'a'},{'id':2,'name':'b'},{'id':3,'name':'c'},{'id':4,'name':"     \
	"'d'},{'id':5,'name':'e'}],'links':[{'from':'a','to':'b','delay_ns':1000000},"             \
	"{'from':'b','to':'c','delay_ns':1000000},{'from':'c','to':'d','delay_ns':1000000},"       \
	"{'from':'d','to':'e','delay_ns':1000000},{'from':'e','to':'a','delay_ns':1000000}]"

static void a_link_that_fails_sends_packets_the_other_way_round_until_it_heals(void **state)
{
	(void)state;
	lab_runs("{'name':'ring','duration_s':3,'forwarding':'shortest_path',"
		 "'reroute_s':0.05,'closing_packet':true," RING ",'traffic':[{'name':'t',"
		 "'from':'a','to':'c','rate_pps':1000}],'events':[{'at_s':1,'link':'a-b',"
		 "'set':{'up':false}},{'at_s':2,'link':'a-b','set':{'up':true}}]," RULE "}",
			10);
	struct hs_stream_counters t = traffic_of(0);
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
	assert_int_equal(count_at(whole_run(), whole_run()->n_hops, "lost_packets"), 50);
	assert_int_equal(t.altered, 0);
}

static void hosts_of_one_subnet_are_reached_behind_several_nodes(void **state)
{
	(void)state;
	lab_runs("{'name':'ring','duration_s':1,'forwarding':'shortest_path'," RING ","
		 "'hosts':[{'name':'w','at':'a','addr':'2001:db8::1'},{'name':'x','at':'b',"
		 "'addr':'2001:db8::2'},{'name':'y','at':'c','addr':'2001:db8::3'},"
		 "{'name':'z','at':'e','addr':'2001:db8::4'}],'traffic':[{'name':'t',"
		 "'from':'w','to':'x','rate_pps':100},{'name':'u','from':'w','to':'y',"
		 "'rate_pps':100},{'name':'v','from':'x','to':'z','rate_pps':100}]," RULE "}",
			10);
	for (unsigned t = 0; t < 3; t++)
		assert_int_equal(traffic_of(t).delivered[0], 100);
	assert_int_equal(r.run->links[0][0].sent_packets, 200);
	assert_int_equal(r.run->links[0][1].sent_packets, 100);
	assert_int_equal(r.run->links[1][0].sent_packets, 100);
	assert_int_equal(r.run->links[4][1].sent_packets, 100);
}

static void what_has_no_route_is_dropped_and_counted_over_restarts(void **state)
{
	(void)state;
	lab_runs("{'name':'far','duration_s':1,'forwarding':'shortest_path',"
		 "'reroute_s':0.1," TWO ",'links':[{'from':'a','to':'b'}],"
		 "'traffic':[{'name':'t','from':'a','to':'b','rate_pps':1000}],"
		 "'events':[{'at_s':0.5,'link':'a-b','set':{'up':false}},{'at_s':0.8,"
		 "'node':'a','restart':true}]," RULE "}",
			10);
	assert_int_equal(traffic_of(0).delivered[0], 500);
	assert_int_equal(r.run->links[0][0].lost[HS_LINK_LOST_DOWN], 100);
	assert_int_equal(r.run->node_drops, 400);
}

static void a_route_is_taken_while_it_is_a_shortest_way(void **state)
{
	(void)state;
	lab_runs("{'name':'ways','duration_s':2,'forwarding':'shortest_path',"
		 "'topology':{'kind':'hula','link':{'delay_ns':0}},"
		 "'routes':[{'node':'tor-1-1','to':'h-2-2-1','via':'leaf-1-1'},"
		 "{'node':'leaf-1-1','to':'h-2-2-1','via':'spine-2'},{'node':'tor-1-1',"
		 "'to':'h-2-2-2','via':'leaf-1-2'},{'node':'leaf-1-2','to':'h-2-2-2',"
		 "'via':'spine-3'},{'node':'leaf-1-2','to':'h-2-2-1','via':'spine-4'}],"
		 "'traffic':[{'name':'x','from':'h-1-1-1','to':'h-2-2-1','rate_pps':1000},"
		 "{'name':'y','from':'h-1-1-1','to':'h-2-2-2','rate_pps':500}],"
		 "'events':[{'at_s':1,'link':'leaf-1-1-tor-1-1','set':{'up':false}}]}");
	const struct hs_link_counters(*links)[2] = r.run->links;
	assert_int_equal(traffic_of(0).delivered[0], 2000);
	assert_int_equal(traffic_of(1).delivered[0], 1000);
	// Of pod 1: spine-1 and spine-2 at leaf-1-1, spine-3 and spine-4 at leaf-1-2.
	assert_int_equal(links[0][1].sent_packets, 0);
	assert_int_equal(links[1][1].sent_packets, 1000);
	assert_int_equal(links[2][1].sent_packets, 1000);
	assert_int_equal(links[3][1].sent_packets, 1000);
}

static void a_fat_tree_delivers_between_all_its_hosts(void **state)
{
	unsigned far = 0;

	(void)state;
	lab_runs("{'name':'tree','duration_s':1,'forwarding':'shortest_path',"
		 "'topology':{'kind':'fat_tree','k':4,'link':{'delay_ns':10000}},"
		 "'traffic':[{'name':'t','pattern':{'kind':'permutation','flows':16},"
		 "'rate_pps':100}]," RULE "}",
			10);
	assert_int_equal(r.scenario.n_nodes, 20);
	for (unsigned t = 0; t < 16; t++) {
		assert_int_equal(traffic_of(t).delivered[0], 100);
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
}

// Every host pings each other host over IPv4.
static void hula_delivers_between_all_its_hosts(void **state)
{
	char text[16384];
	int len = snprintf(text, sizeof(text),
			"{\"name\":\"hula\",\"duration_s\":1,\"forwarding\":\"shortest_path\","
			"\"topology\":{\"kind\":\"hula\",\"addresses\":\"ipv4\",\"node\":{"
			"\"rate_pps\":100000},\"link\":{\"delay_ns\":10000}},\"traffic\":[");
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
	lab_run_text((struct lab_wish){0}, text);
	assert_ran();
	for (unsigned t = 0; t < 56; t++) {
		struct hs_stream_counters counters = traffic_of(t);
		assert_int_equal(counters.delivered[0], 10);
		assert_int_equal(counters.delivered[1], 10);
		assert_int_equal(counters.altered, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(hula_delivers_between_all_its_hosts),
			TEST(bridges_know_every_host_before_it_is_spoken_to),
			TEST(a_bridge_that_restarts_knows_every_host_again),
			TEST(hosts_of_one_subnet_are_reached_behind_several_nodes),
			TEST(what_has_no_route_is_dropped_and_counted_over_restarts),
			TEST(a_link_that_fails_sends_packets_the_other_way_round_until_it_heals),
			TEST(a_route_is_taken_while_it_is_a_shortest_way),
			TEST(a_fat_tree_delivers_between_all_its_hosts),
	};

	return lab_test_group(tests);
}

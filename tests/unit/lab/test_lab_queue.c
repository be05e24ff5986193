// SPDX-License-Identifier: BSD-3-Clause
// Packets that wait in a lab's nodes and links, and packets that wait for others.
#include "lab_fixture.h"

// More than the links can take, pings beside it, and a restart while packets wait.
static void run_queues(const char *at)
{
	lab_runs("{'name':'queues','duration_s':3,'forwarding':'patch'," THREE ","
		 "'links':[{'from':'a','to':'b','rate_bps':5000000,'queue_packets':20,"
		 "'queue_at':'%s'},{'from':'b','to':'c','delay_ns':1000000,"
		 "'rate_bps':4000000,'queue_packets':10,'queue_at':'%s'}],"
		 "'traffic':[{'name':'t','from':'a','to':'c','type':'poisson',"
		 "'rate_pps':700,'payload_bytes':900},{'name':'p','from':'a','to':'c',"
		 "'type':'ping','rate_pps':300}],'events':[{'at_s':2.9,'node':'b',"
		 "'restart':true}]}",
			at, at);
}

static void a_queue_in_a_node_does_what_a_queue_in_a_link_does(void **state)
{
	size_t before = 0;

	(void)state;
	run_queues("link");
	struct lab_run link = r;
	r = (struct lab_run){0};
	run_queues("node");
	const struct hs_stream *in_link = link.run->streams[1], *in_node = r.run->streams[1];
	const struct hs_stream_trip *trips = in_link->trips;
	while (before < in_link->n_trips && before < in_node->n_trips &&
			trips[before].sent_ns < HS_LAB_START_NS + 28 * SECOND / 10) {
		assert_memory_equal(&trips[before], &in_node->trips[before], sizeof(*trips));
		before++;
	}
	assert_in_range(before, 300, 800);
	assert_null(link.run->queues);
	for (unsigned l = 0; l < 2; l++) {
		const struct hs_queue_counts *queue = &r.run->queues[2 * l].counts;
		assert_int_equal(queue->wrong_departures, 0);
		assert_int_equal(queue->wrong_drops, 0);
		assert_int_equal(queue->depth_max, l ? 10 : 20);
		assert_true(queue->dropped > 50);
		assert_int_equal(link.run->links[l][0].queue_max_packets, queue->depth_max);
	}
	// The restarted node forgot what it had dropped behind the last packet that departed.
	uint64_t dropped = r.run->queues[0].counts.dropped + r.run->queues[2].counts.dropped;
	assert_in_range(r.run->node_drops, dropped, dropped + 20);
	lab_run_ends();
	r = link;
}

// 50 packets come within 50 us. b serves one each ms and lets 10 wait, c one each 2 ms and 4.
static void a_node_serves_its_rate_of_packets_and_drops_what_finds_its_queue_full(void **state)
{
	(void)state;
	lab_runs("{'name':'service','duration_s':1,'forwarding':'patch','nodes':[{'id':1,"
		 "'name':'a'},{'id':2,'name':'b','rate_pps':1000,'queue_packets':10},"
		 "{'id':3,'name':'c','rate_pps':500,'queue_packets':4}],"
		 "'links':[{'from':'a','to':'b'},{'from':'b','to':'c'}],"
		 "'traffic':[{'name':'t','from':'a','to':'c','rate_pps':1000000,"
		 "'packets':50}]," RULE "}",
			1);
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
	assert_int_equal(traffic_of(0).delivered[0], 10);
	// The sink reports what it takes out, and then finds the queue to its host full.
	uint64_t reports = 0;
	for (size_t i = 0; i < r.run->measured->n_windows; i++)
		reports += r.run->measured->windows[i].reports;
	assert_int_equal(reports, 11);
	assert_int_equal(r.run->truth->flows[0].n_reports, 11);
	for (size_t i = 0; i < r.run->truth->flows[0].n_reports; i++) {
		const struct hs_truth_report *report = report_at(i);
		int64_t ms = (int64_t)report->number; // all that c took was the first of b's
		assert_int_equal(report->stops[2].rx_ns, HS_LAB_START_NS + ms * MS);
	}
}

// 50 packets come within 50 us, and b sends them on to c, from where each goes on twice. Of the two
// links behind b, one loses all. What b's queue refuses makes nothing, either.
static void a_relay_follows_only_packets_that_came(void **state)
{
	(void)state;
	lab_runs("{'name':'relay','duration_s':1,'forwarding':'shortest_path',"
		 "'nodes':[{'id':1,'name':'a'},{'id':2,'name':'b','rate_pps':1000,"
		 "'queue_packets':10},{'id':3,'name':'c'},{'id':4,'name':'d'}],"
		 "'links':[{'from':'a','to':'b'},{'from':'b','to':'c','delay_ns':1000},"
		 "{'from':'b','to':'d','loss_ratio':1}],'traffic':[{'name':'t','from':'a',"
		 "'to':'b','rate_pps':1000000,'packets':50},{'name':'on','type':'relay',"
		 "'after':'t','from':'b','to':'c'},{'name':'lost','type':'relay',"
		 "'after':'t','from':'b','to':'d'},{'name':'back','type':'relay',"
		 "'after':'on','from':'c','to':'a'},{'name':'none','type':'relay',"
		 "'after':'lost','from':'d','to':'a'}]}");
	static const uint64_t sent[] = {50, 50, 50, 11, 0}, came[] = {11, 11, 0, 11, 0};
	for (unsigned t = 0; t < 5; t++) {
		assert_int_equal(traffic_of(t).sent[0], sent[t]);
		assert_int_equal(traffic_of(t).delivered[0], came[t]);
		assert_int_equal(traffic_of(t).altered, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_node_serves_its_rate_of_packets_and_drops_what_finds_its_queue_full),
			TEST(a_relay_follows_only_packets_that_came),
			TEST(a_queue_in_a_node_does_what_a_queue_in_a_link_does),
	};

	return lab_test_group(tests);
}

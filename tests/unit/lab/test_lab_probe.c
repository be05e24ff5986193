// SPDX-License-Identifier: BSD-3-Clause
// A monitoring host in a lab's network: real nodes fill real probes, and the numbers of the result
// are compared with those that follow from the network by hand. Each link and each way to the host
// takes 1 ms.
#include "lab_fixture.h"

#define ROW                                                                                        \
	"{'name':'row','duration_s':10,'forwarding':'shortest_path','reroute_s':100,"              \
	"'profiles':{'gp':{'method':'probe'}},'nodes':[{'id':1,'name':'a'},{'id':2,'name':'b'},"   \
	"{'id':3,'name':'c'},{'id':4,'name':'d'}],'links':["                                       \
	"{'from':'a','to':'b','profile':'gp','delay_ns':1000000},"                                 \
	"{'from':'b','to':'c','profile':'gp','delay_ns':1000000},"                                 \
	"{'from':'c','to':'d','profile':'gp','delay_ns':1000000}],"                                \
	"'hosts':[{'name':'x','at':'a','addr':'192.0.2.1'},"                                       \
	"{'name':'y','at':'d','addr':'192.0.2.2'}],"                                               \
	"'traffic':[{'name':'t','from':'x','to':'y','rate_pps':1000}],"                            \
	"'events':[%s],'probing':{'k':%u,'start_s':0.0005,'t_f_s':0.1,'r_a':2,'t_ro_s':0.01%s}}"
#define ROW_FROM                                                                                   \
	"{'name':'two','duration_s':10,'forwarding':'shortest_path',"                              \
	"'profiles':{'gp':{'method':'probe'}}," TWO                                                \
	",'links':[{'from':'a','to':'b','profile':'gp'}],'probing':{'start_s':%s}}"
#define CUT "{'at_s':0,'link':'b-c','set':{'up':false}}"

static const struct hs_probing_counts *probing(void)
{
	return r.run->probing;
}

static void run_paths(unsigned k, const char *events, const char *more)
{
	lab_runs(ROW, events, k, more);
	assert_non_null(r.run->probing);
	ASSERT_NUMBERS("probing", {"wrong_values", 0}, {"false_unavailable", 0},
			{"missed_unavailable", 0});
}

static void run_row(const char *events, const char *more)
{
	run_paths(1, events, more);
}

static void sessions_bring_the_registers_of_all_nodes(void **state)
{
	(void)state;
	run_row("", "");
	// IPv4, UDP, the numbers, four hops, and the values of two ports each.
	const double bytes = 20 + 8 + 8 + 4 * 4 + 8 * 4;
	ASSERT_NUMBERS("probing", {"paths", 1}, {"sessions", 10}, {"sessions_failed", 0},
			{"probes_sent", 10}, {"probes_lost", 0}, {"recovery_probes", 0},
			{"check_probes", 0}, {"recovery_packets", 0}, {"switches", 4},
			{"switches_covered", 4}, {"unavailable_links", 0}, {"congested_links", 0},
			{"false_unavailable", 0}, {"missed_unavailable", 0}, {"wrong_values", 0},
			{"values", 40}, {"max_probe_bytes", bytes}, {"elapsed_ns.mean", 5 * MS},
			{"elapsed_ns.max", 5 * MS}, {"collected_ns.mean", 5 * MS},
			{"collected_ns.max", 5 * MS}, {"path_hops.min", 4}, {"path_hops.mean", 4},
			{"path_hops.max", 4});
	assert_int_equal(traffic_of(0).delivered[0], 10000);
}

static void a_link_that_is_cut_is_named_in_each_session(void **state)
{
	(void)state;
	run_row(CUT, "");
	assert_in_range(probing()->sessions, 5, 10);
	ASSERT_NUMBERS("probing", {"sessions_failed", 0}, {"switches_covered", 4});
	assert_int_equal(probing()->unavailable_links, probing()->sessions);
	assert_int_equal(probing()->probes_lost, probing()->probes_lost_on_links);
}

static void a_node_that_is_down_is_passed_over(void **state)
{
	(void)state;
	run_row("{'at_s':0,'node':'c','restart':true,'down_s':100}", "");
	ASSERT_NUMBERS("probing", {"sessions_failed", 0}, {"switches_covered", 3});
	assert_int_equal(probing()->unavailable_links, 2 * probing()->sessions);
}

// With few attempts, a host takes a link that loses much for a dead one. The result tells.
static void a_link_that_works_and_is_named_counts_as_false(void **state)
{
	(void)state;
	lab_runs(ROW, "{'at_s':0,'link':'b-c','set':{'loss_ratio':0.9}}", 1, "");
	assert_true(probing()->false_unavailable > 0);
	assert_int_equal(probing()->false_unavailable, probing()->unavailable_links);
	assert_int_equal(probing()->missed_unavailable, 0);
}

static void without_recovery_a_lost_probe_fails_its_session(void **state)
{
	(void)state;
	run_row(CUT, ",'recovery':false,'wait_s':0.5");
	ASSERT_NUMBERS("probing", {"sessions", 10}, {"sessions_failed", 10}, {"probes_sent", 10},
			{"probes_lost", 10}, {"probes_lost_on_links", 10}, {"recovery_packets", 0},
			{"switches_covered", 0});
}

// Each probe visits one node and is back after 2 ms. The node that is down is waited for.
static void without_recovery_so_many_probes_are_under_way(void **state)
{
	(void)state;
	run_paths(4, "", ",'recovery':false,'concurrency':2");
	ASSERT_NUMBERS("probing", {"probes_sent", 40}, {"elapsed_ns.max", 4 * MS});
	run_paths(4, "{'at_s':0,'node':'c','restart':true,'down_s':100}",
			",'recovery':false,'concurrency':1,'wait_s':0.5,'sessions':2");
	ASSERT_NUMBERS("probing", {"probes_sent", 8}, {"probes_lost", 2}, {"sessions_failed", 2},
			{"elapsed_ns.max", (500 + 3 * 2) * MS});
}

static void euler_crosses_each_link(void **state)
{
	(void)state;
	run_row("", ",'planner':'euler'");
	ASSERT_NUMBERS("probing", {"paths", 1}, {"path_hops.max", 4}, {"switches_covered", 4});
}

// Two flows cross each other, and each node serves 1,500 packets/s: of each port, or of all. Then
// the first node serves packets to the link, to its host, and nothing else.
static void ports_of_a_node_share_its_rate(void **state)
{
	const char *format =
			"{'name':'pair','duration_s':10,'forwarding':'shortest_path',"
			"'profiles':{'gp':{'method':'probe'}},'nodes':["
			"{'id':1,'name':'a','rate_pps':1500,'rate_of':'%s'},{'id':2,'name':'b'}],"
			"'links':[{'from':'a','to':'b','profile':'gp'}],"
			"'hosts':[{'name':'x','at':'a','addr':'192.0.2.1'},"
			"{'name':'y','at':'b','addr':'192.0.2.2'}],"
			"'traffic':[{'name':'t','from':'x','to':'y','rate_pps':1000},"
			"{'name':'u','from':'y','to':'x','rate_pps':1000}],"
			"'probing':{'k':2,'recovery':false,'start_s':9}}";
	(void)state;
	lab_runs(format, "port");
	assert_int_equal(traffic_of(0).delivered[0], 10000);
	assert_int_equal(traffic_of(1).delivered[0], 10000);
	assert_int_equal(probing()->elapsed_max_ns, 2 * MS);
	lab_runs(format, "node");
	uint64_t served = traffic_of(0).delivered[0] + traffic_of(1).delivered[0];
	assert_in_range(served, 15000, 15000 + 64 + 2);
	assert_int_equal(probing()->switches_overloaded, 1);
	assert_in_range(probing()->busiest_pps, 2000, 2002);
	// The probe of the first node waits behind 64 packets, and for its own service.
	if (probing()->probes_lost == 0)
		assert_in_range(probing()->elapsed_max_ns, 2 * MS + 64 * MS / 1.5,
				2 * MS + 66 * MS / 1.5);
}

static void ids_may_repeat_on_the_wire(void **state)
{
	(void)state;
	lab_runs("{'name':'wide','duration_s':3,'forwarding':'shortest_path',"
		 "'profiles':{'gp':{'method':'probe'}},'nodes':[{'id':1,'name':'a'},"
		 "{'id':257,'name':'b'},{'id':513,'name':'c'}],'links':[{'from':'a',"
		 "'to':'b','profile':'gp'},{'from':'b','to':'c','profile':'gp'}],"
		 "'events':[{'at_s':1.5,'link':'b-c','set':{'up':false}}],"
		 "'probing':{'k':1%s}}",
			"");
	ASSERT_NUMBERS("probing", {"sessions_failed", 0}, {"switches_covered", 3},
			{"wrong_values", 0});
	assert_true(probing()->unavailable_links > 0);
	assert_int_equal(probing()->false_unavailable, 0);
}

// The lab's time goes on after the traffic, until windows have closed.
static void no_session_begins_after_the_run(void **state)
{
	(void)state;
	run_row("", ",'period_s':20");
	assert_int_equal(probing()->sessions, 1);
	lab_runs(ROW_FROM, "10.05");
	assert_int_equal(probing()->sessions, 0);
}

// The third session begins after 2.0005 s and takes 5 ms.
static void a_run_ends_with_the_last_of_its_sessions(void **state)
{
	(void)state;
	run_row("", ",'sessions':3");
	assert_int_equal(probing()->sessions, 3);
	assert_int_equal(r.run->end_ns - r.run->start_ns, 2005500000);
	assert_in_range(traffic_of(0).delivered[0], 2005, 2006);
	assert_int_equal(traffic_of(0).delivered[0], traffic_of(0).sent[0]);
	run_row("", ",'sessions':30");
	assert_int_equal(probing()->sessions, 10);
	assert_int_equal(traffic_of(0).delivered[0], 10000);
}

// The session ends after 507 ms, when three pings and their replies are under way.
static void a_run_that_ends_with_its_sessions_closes_its_traffic(void **state)
{
	(void)state;
	lab_runs("{'name':'two','duration_s':10,'forwarding':'shortest_path',"
		 "'closing_packet':true,'profiles':{'gp':{'method':'probe'}}," TWO ","
		 "'links':[{'from':'a','to':'b','profile':'gp','delay_ns':5000000}],"
		 "'traffic':[{'name':'t','type':'ping','from':'a','to':'b',"
		 "'rate_pps':1000}],'requests':[{'node':'a','traffic':'t',"
		 "'int_request':{'ns_id':2,'mode':'count','mode_setting':1}}],"
		 "'probing':{'k':1,'start_s':0.5,'sessions':1}}");
	assert_int_equal(r.run->end_ns - r.run->start_ns, 507 * MS);
	for (unsigned direction = 0; direction < 2; direction++) {
		assert_int_equal(traffic_of(0).sent[direction], 507 + 1);
		assert_int_equal(traffic_of(0).delivered[direction], 507 + 1);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(sessions_bring_the_registers_of_all_nodes),
			TEST(ports_of_a_node_share_its_rate),
			TEST(ids_may_repeat_on_the_wire),
			TEST(a_link_that_is_cut_is_named_in_each_session),
			TEST(a_node_that_is_down_is_passed_over),
			TEST(a_link_that_works_and_is_named_counts_as_false),
			TEST(without_recovery_a_lost_probe_fails_its_session),
			TEST(without_recovery_so_many_probes_are_under_way),
			TEST(euler_crosses_each_link),
			TEST(no_session_begins_after_the_run),
			TEST(a_run_ends_with_the_last_of_its_sessions),
			TEST(a_run_that_ends_with_its_sessions_closes_its_traffic),
	};

	return lab_test_group(tests);
}

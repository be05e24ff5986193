// SPDX-License-Identifier: BSD-3-Clause
// A monitoring host in a lab's network: real nodes fill real probes, and the numbers of the result
// are compared with those that follow from the network by hand. Each link and each way to the host
// takes 1 ms.
#include "lab_fixture.h"

#include "outcome.h"

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

static void run_paths(struct lab_run *r, unsigned k, const char *events, const char *more)
{
	lab_run(r, ROW, events, k, more);
	assert_ran(r);
	assert_non_null(r->run->probing);
	assert_int_equal(r->run->probing->wrong_values, 0);
	assert_int_equal(r->run->probing->false_unavailable, 0);
	assert_int_equal(r->run->probing->missed_unavailable, 0);
}

static void run_row(struct lab_run *r, const char *events, const char *more)
{
	run_paths(r, 1, events, more);
}

static void sessions_bring_the_registers_of_all_nodes(void **state)
{
	struct lab_run r = {0};

	(void)state;
	run_row(&r, "", "");
	json_t *result = hs_outcome_json(r.run), *probing = json_object_get(result, "probing");
	const struct {
		const char *path;
		int64_t value;
	} rows[] = {{"paths", 1}, {"sessions", 10}, {"sessions_failed", 0}, {"probes_sent", 10},
			{"probes_lost", 0}, {"recovery_probes", 0}, {"check_probes", 0},
			{"recovery_packets", 0}, {"switches", 4}, {"switches_covered", 4},
			{"unavailable_links", 0}, {"congested_links", 0}, {"false_unavailable", 0},
			{"missed_unavailable", 0}, {"wrong_values", 0}, {"values", 40},
			// IPv4, UDP, the numbers, four hops, and the values of two ports each.
			{"max_probe_bytes", 20 + 8 + 8 + 4 * 4 + 8 * 4},
			{"elapsed_ns.mean", 5 * MS}, {"elapsed_ns.max", 5 * MS},
			{"collected_ns.mean", 5 * MS}, {"collected_ns.max", 5 * MS},
			{"path_hops.min", 4}, {"path_hops.mean", 4}, {"path_hops.max", 4}};
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (hs_outcome_number(probing, rows[i].path) != (double)rows[i].value)
			fail_msg("%s: %g", rows[i].path, hs_outcome_number(probing, rows[i].path));
	json_decref(result);
	assert_int_equal(traffic_of(&r, 0).delivered[0], 10000);
	lab_run_ends(&r);
}

static void a_link_that_is_cut_is_named_in_each_session(void **state)
{
	struct lab_run r = {0};

	(void)state;
	run_row(&r, CUT, "");
	assert_in_range(r.run->probing->sessions, 5, 10);
	assert_int_equal(r.run->probing->sessions_failed, 0);
	assert_int_equal(r.run->probing->switches_covered, 4);
	assert_int_equal(r.run->probing->unavailable_links, r.run->probing->sessions);
	assert_int_equal(r.run->probing->probes_lost, r.run->probing->probes_lost_on_links);
	lab_run_ends(&r);
}

static void a_node_that_is_down_is_passed_over(void **state)
{
	struct lab_run r = {0};

	(void)state;
	run_row(&r, "{'at_s':0,'node':'c','restart':true,'down_s':100}", "");
	assert_int_equal(r.run->probing->sessions_failed, 0);
	assert_int_equal(r.run->probing->switches_covered, 3);
	assert_int_equal(r.run->probing->unavailable_links, 2 * r.run->probing->sessions);
	lab_run_ends(&r);
}

// With few attempts, a host takes a link that loses much for a dead one. The result tells.
static void a_link_that_works_and_is_named_counts_as_false(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r, ROW, "{'at_s':0,'link':'b-c','set':{'loss_ratio':0.9}}", 1, "");
	assert_ran(&r);
	assert_true(r.run->probing->false_unavailable > 0);
	assert_int_equal(r.run->probing->false_unavailable, r.run->probing->unavailable_links);
	assert_int_equal(r.run->probing->missed_unavailable, 0);
	lab_run_ends(&r);
}

static void without_recovery_a_lost_probe_fails_its_session(void **state)
{
	struct lab_run r = {0};

	(void)state;
	run_row(&r, CUT, ",'recovery':false,'wait_s':0.5");
	assert_int_equal(r.run->probing->sessions, 10);
	assert_int_equal(r.run->probing->sessions_failed, 10);
	assert_int_equal(r.run->probing->probes_sent, 10);
	assert_int_equal(r.run->probing->probes_lost, 10);
	assert_int_equal(r.run->probing->probes_lost_on_links, 10);
	assert_int_equal(r.run->probing->recovery_packets, 0);
	assert_int_equal(r.run->probing->switches_covered, 0);
	lab_run_ends(&r);
}

// Each probe visits one node and is back after 2 ms. The node that is down is waited for.
static void without_recovery_so_many_probes_are_under_way(void **state)
{
	struct lab_run r = {0};

	(void)state;
	run_paths(&r, 4, "", ",'recovery':false,'concurrency':2");
	assert_int_equal(r.run->probing->probes_sent, 40);
	assert_int_equal(r.run->probing->elapsed_max_ns, 4 * MS);
	lab_run_ends(&r);
	run_paths(&r, 4, "{'at_s':0,'node':'c','restart':true,'down_s':100}",
			",'recovery':false,'concurrency':1,'wait_s':0.5,'sessions':2");
	assert_int_equal(r.run->probing->probes_sent, 8);
	assert_int_equal(r.run->probing->probes_lost, 2);
	assert_int_equal(r.run->probing->sessions_failed, 2);
	assert_int_equal(r.run->probing->elapsed_max_ns, (500 + 3 * 2) * MS);
	lab_run_ends(&r);
}

static void euler_crosses_each_link(void **state)
{
	struct lab_run r = {0};

	(void)state;
	run_row(&r, "", ",'planner':'euler'");
	assert_int_equal(r.run->probing->paths, 1);
	assert_int_equal(r.run->probing->max_hops, 4);
	assert_int_equal(r.run->probing->switches_covered, 4);
	lab_run_ends(&r);
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
	struct lab_run r = {0};

	(void)state;
	lab_run(&r, format, "port");
	assert_ran(&r);
	assert_int_equal(traffic_of(&r, 0).delivered[0], 10000);
	assert_int_equal(traffic_of(&r, 1).delivered[0], 10000);
	assert_int_equal(r.run->probing->elapsed_max_ns, 2 * MS);
	lab_run_ends(&r);
	lab_run(&r, format, "node");
	assert_ran(&r);
	uint64_t served = traffic_of(&r, 0).delivered[0] + traffic_of(&r, 1).delivered[0];
	assert_in_range(served, 15000, 15000 + 64 + 2);
	assert_int_equal(r.run->probing->switches_overloaded, 1);
	assert_in_range(r.run->probing->busiest_pps, 2000, 2002);
	// The probe of the first node waits behind 64 packets, and for its own service.
	if (r.run->probing->probes_lost == 0)
		assert_in_range(r.run->probing->elapsed_max_ns, 2 * MS + 64 * MS / 1.5,
				2 * MS + 66 * MS / 1.5);
	lab_run_ends(&r);
}

static void ids_may_repeat_on_the_wire(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r,
			"{'name':'wide','duration_s':3,'forwarding':'shortest_path',"
			"'profiles':{'gp':{'method':'probe'}},'nodes':[{'id':1,'name':'a'},"
			"{'id':257,'name':'b'},{'id':513,'name':'c'}],'links':["
			"{'from':'a','to':'b','profile':'gp'},{'from':'b','to':'c','profile':'gp'}]"
			","
			"'events':[{'at_s':1.5,'link':'b-c','set':{'up':false}}],'probing':{'k':1%"
			"s}}",
			"");
	assert_ran(&r);
	assert_int_equal(r.run->probing->sessions_failed, 0);
	assert_int_equal(r.run->probing->switches_covered, 3);
	assert_int_equal(r.run->probing->wrong_values, 0);
	assert_true(r.run->probing->unavailable_links > 0);
	assert_int_equal(r.run->probing->false_unavailable, 0);
	lab_run_ends(&r);
}

// The lab's time goes on after the traffic, until windows have closed.
static void no_session_begins_after_the_run(void **state)
{
	struct lab_run r = {0};

	(void)state;
	run_row(&r, "", ",'period_s':20");
	assert_int_equal(r.run->probing->sessions, 1);
	lab_run_ends(&r);
	lab_run(&r, ROW_FROM, "10.05");
	assert_ran(&r);
	assert_int_equal(r.run->probing->sessions, 0);
	lab_run_ends(&r);
}

// The third session begins after 2.0005 s and takes 5 ms.
static void a_run_ends_with_the_last_of_its_sessions(void **state)
{
	struct lab_run r = {0};

	(void)state;
	run_row(&r, "", ",'sessions':3");
	assert_int_equal(r.run->probing->sessions, 3);
	assert_int_equal(r.run->end_ns - r.run->start_ns, 2005500000);
	assert_in_range(traffic_of(&r, 0).delivered[0], 2005, 2006);
	assert_int_equal(traffic_of(&r, 0).delivered[0], traffic_of(&r, 0).sent[0]);
	lab_run_ends(&r);
	run_row(&r, "", ",'sessions':30");
	assert_int_equal(r.run->probing->sessions, 10);
	assert_int_equal(traffic_of(&r, 0).delivered[0], 10000);
	lab_run_ends(&r);
}

// The session ends after 507 ms, when three pings and their replies are under way.
static void a_run_that_ends_with_its_sessions_closes_its_traffic(void **state)
{
	struct lab_run r = {0};

	(void)state;
	lab_run(&r, "{'name':'two','duration_s':10,'forwarding':'shortest_path','closing_packet':"
		    "true,'profiles':{'gp':{'method':'probe'}}," TWO
		    ",'links':[{'from':'a','to':'b','profile':'gp','delay_ns':5000000}],"
		    "'traffic':[{'name':'t','type':'ping','from':'a','to':'b','rate_pps':1000}],"
		    "'requests':[{'node':'a','traffic':'t','int_request':{'ns_id':2,'mode':'count',"
		    "'mode_setting':1}}],'probing':{'k':1,'start_s':0.5,'sessions':1}}");
	assert_ran(&r);
	assert_int_equal(r.run->end_ns - r.run->start_ns, 507 * MS);
	for (unsigned direction = 0; direction < 2; direction++) {
		assert_int_equal(traffic_of(&r, 0).sent[direction], 507 + 1);
		assert_int_equal(traffic_of(&r, 0).delivered[direction], 507 + 1);
	}
	lab_run_ends(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(sessions_bring_the_registers_of_all_nodes),
			cmocka_unit_test(ports_of_a_node_share_its_rate),
			cmocka_unit_test(ids_may_repeat_on_the_wire),
			cmocka_unit_test(a_link_that_is_cut_is_named_in_each_session),
			cmocka_unit_test(a_node_that_is_down_is_passed_over),
			cmocka_unit_test(a_link_that_works_and_is_named_counts_as_false),
			cmocka_unit_test(without_recovery_a_lost_probe_fails_its_session),
			cmocka_unit_test(without_recovery_so_many_probes_are_under_way),
			cmocka_unit_test(euler_crosses_each_link),
			cmocka_unit_test(no_session_begins_after_the_run),
			cmocka_unit_test(a_run_ends_with_the_last_of_its_sessions),
			cmocka_unit_test(a_run_that_ends_with_its_sessions_closes_its_traffic),
	};

	lab_start_eal("{\"name\":\"room\",\"duration_s\":1,\"forwarding\":\"shortest_path\","
		      "\"mbufs\":65536,\"topology\":{\"kind\":\"hula\"},"
		      "\"traffic\":[],\"expect\":[]}");
	return cmocka_run_group_tests(tests, NULL, NULL);
}

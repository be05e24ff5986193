// SPDX-License-Identifier: BSD-3-Clause
// INT-label in a lab's network: real nodes label real packets, and the numbers of the result are
// compared with those that follow from the rules by hand. T is 10 ms, and packets come each ms: a
// port labels each eleventh.
#include "lab_fixture.h"

#define ROW(of_b, of_c) ROW_WITH("'rest_ns':%d", of_b, of_c)
#define ROW_WITH(of_profile, of_b, of_c)                                                           \
	"{'name':'row','duration_s':1,'forwarding':'patch','profiles':{'l':{'method':'label',"     \
	"'interval_ns':%d," of_profile "}},'nodes':[{'id':1,'name':'a'},{'id':2,'name':'b'" of_b   \
	"},{'id':300,'name':'c'" of_c                                                              \
	"}],'links':[{'from':'a','to':'b','profile':'l'},{'from':'b',"                             \
	"'to':'c','profile':'l','delay_ns':500000}],'hosts':[{'name':'x','at':'a','addr':"         \
	"'192.0.2.1'},{'name':'y','at':'c','addr':'192.0.2.2'}],'traffic':[{'name':'t','from':"    \
	"'x','to':'y','rate_pps':1000}],'label':%s}"

static struct hs_label_counts counts_of(void)
{
	return r.run->label->counts;
}

static void run_row(int interval_ms, const char *label)
{
	int interval_ns = interval_ms * (int)MS;

	lab_runs(ROW("", ""), interval_ns, interval_ns, label);
	assert_int_equal(traffic_of(0).delivered[0], 1000);
	assert_int_equal(traffic_of(0).altered, 0);
}

static void ports_label_by_the_interval_and_the_result_says_so(void **state)
{
	(void)state;
	run_row(10, "{}");
	// The labels of the port to the host are among them.
	assert_int_equal(counts_of().labels_per_packet[0], 909);
	assert_int_equal(counts_of().labels_per_packet[3], 91);
	ASSERT_NUMBERS("label", {"packets", 1000}, {"labelled_packets", 91}, {"labels", 3 * 91},
			{"telemetry_bytes", 91 * (2 + 32) + 91 * (2 + 64)},
			{"traffic_bytes", 2 * 1000 * (14 + 20 + 8 + 500)}, {"exported", 91},
			{"received", 91}, {"ports", 3}, {"late_labels", 0}, {"intervals", 10},
			{"coverage_ratio.mean", 1}, {"coverage_ratio.min", 1},
			{"coverage_ratio.windows", 10}, {"relabel_interval_ns.mean", 11 * MS},
			{"relabel_interval_ns.p99", 11 * MS}, {"relabel_interval_ns.max", 11 * MS},
			{"labels_per_packet", 4});
	json_t *result = hs_outcome_json(r.run), *label = json_object_get(result, "label");
	const json_t *windows =
			json_object_get(json_object_get(label, "coverage_ratio"), "windows");
	assert_true(json_real_value(json_array_get(windows, 9)) == 1);
	const json_t *row = json_array_get(json_object_get(result, "traffic"), 0),
		     *delivered = json_object_get(row, "labels_per_packet");
	assert_int_equal(json_array_size(delivered), 4);
	assert_int_equal(json_integer_value(json_array_get(delivered, 0)), 909);
	assert_int_equal(json_integer_value(json_array_get(delivered, 3)), 91);
	json_decref(result);
}

// With T = 150 ms, a port labels at 0, 151, 302 ... 906 ms: 3 of the 10 intervals have no label.
// Of a, b and the port to the host at c: after the first packet, the interval is never over.
static void a_table_says_the_chance_of_each_number_of_items(void **state)
{
	static const struct {
		const char *chances;
		uint64_t labelled, labels;
	} cases[] = {
			{"[1,1,1,1,1,1]", 1000, 3000},
			{"[1,0,0,0,0,0]", 1000, 1000 + 2},
			{"[0,1,0,0,0,0]", 1, 3},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		lab_runs(ROW_WITH("'chances':%s", "", ""), 2000000000, cases[i].chances, "{}");
		assert_int_equal(counts_of().labelled_packets, cases[i].labelled);
		assert_int_equal(counts_of().labels, cases[i].labels);
	}
}

static void an_interval_without_an_item_is_not_covered(void **state)
{
	(void)state;
	run_row(150, "{}");
	ASSERT_NUMBERS("label", {"labels", 21}, {"intervals", 10}, {"coverage_ratio.mean", 0.7},
			{"coverage_ratio.min", 0});
}

static void datagrams_that_are_lost_cover_nothing(void **state)
{
	(void)state;
	run_row(10, "{'loss_ratio':1}");
	ASSERT_NUMBERS("label", {"exported", 91}, {"received", 0}, {"coverage_ratio.mean", 0});
	run_row(10, "{'loss_ratio':0.5}");
	assert_in_range(counts_of().received, 25, 65);
}

static void pro_labels_more_often_where_its_changes_arrive(void **state)
{
	(void)state;
	run_row(1000, "{}");
	assert_int_equal(counts_of().labels, 3);
	run_row(1000, "{'pro':{'patience_s':0.05}}");
	assert_in_range(counts_of().labels, 15, 120);
	assert_in_range(counts_of().shifts_told, 15, 120);
	assert_int_equal(counts_of().shifts_lost, 0);
	run_row(1000, "{'pro':{'patience_s':0.05,'loss_ratio':1}}");
	assert_int_equal(counts_of().labels, 3);
	assert_int_equal(counts_of().shifts_lost, counts_of().shifts_told);
}

// Nothing changes S here: each port is told the S of 0 once, and the node that begins anew again.
static void pro_tells_a_node_that_began_anew_what_it_had_told(void **state)
{
	(void)state;
	run_row(10, "{'pro':{'patience_s':5}}");
	assert_int_equal(counts_of().shifts_told, 3);
	lab_runs(ROW("", ""), 10 * (int)MS, 10 * (int)MS,
			"{'pro':{'patience_s':5}},'events':[{'at_s':0.5,'node':'a','restart':true}"
			"]");
	assert_int_equal(counts_of().shifts_told, 4);
}

static void items_tell_the_depth_of_the_queue_that_the_packet_found(void **state)
{
	(void)state;
	lab_runs(ROW(",'rate_pps':990,'queue_packets':5", ""), 0, 0, "{}");
	const struct hs_queue_counts *queue = &r.run->queues[2].counts;
	assert_int_equal(queue->stamped, queue->packets);
	assert_in_range(queue->packets, 990, 999);
	assert_in_range(queue->depth_max, 4, 5);
	assert_in_range(queue->dropped, 0, 10);
	assert_int_equal(queue->wrong_depths, 0);
	assert_int_equal(queue->wrong_departures, 0);
	assert_in_range(queue->latency_error_max_ns, 0, 1000);
	assert_int_equal(counts_of().labels_per_packet[3], queue->packets);
}

// Its label is told when the packet comes to the queue, and counts for the packet that departs.
// With 400 packets a second and room for 2, only some of 1000 depart.
static void a_queue_before_the_host_labels_what_departs(void **state)
{
	(void)state;
	lab_runs(ROW("", ",'rate_pps':400,'queue_packets':2"), 10 * (int)MS, 10 * (int)MS, "{}");
	struct hs_label_counts counts = counts_of();
	assert_in_range(traffic_of(0).delivered[0], 400, 404);
	assert_int_equal(counts.labels_per_packet[0] + counts.labels_per_packet[1] +
					 counts.labels_per_packet[2] + counts.labels_per_packet[3],
			1000);
	assert_int_equal(
			counts.labels - 2 * 91, counts.exported - 91 + counts.labels_per_packet[3]);
	assert_in_range(counts.labels - 2 * 91, 80, 91);
	assert_int_equal(counts.late_labels, 0);
}

// The run ends with packets and datagrams under way. Sanitizers tell of what is not freed.
static void a_run_that_fails_leaves_nothing_under_way(void **state)
{
	(void)state;
	lab_run(ROW("", ""), 10 * (int)MS, 10 * (int)MS,
			"{'delay_ns':1000000000},'mbufs':1024,'events':[{'at_s':0.5,'link':'a-b',"
			"'set':{'delay_ns':1000000000}},{'at_s':0.5,'traffic':'t',"
			"'set':{'rate_pps':100000}}]");
	assert_int_equal(r.rc, -ENOBUFS);
	assert_in_range(counts_of().exported, 40, 50);
	assert_int_equal(counts_of().received, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(ports_label_by_the_interval_and_the_result_says_so),
			TEST(a_table_says_the_chance_of_each_number_of_items),
			TEST(an_interval_without_an_item_is_not_covered),
			TEST(datagrams_that_are_lost_cover_nothing),
			TEST(pro_labels_more_often_where_its_changes_arrive),
			TEST(pro_tells_a_node_that_began_anew_what_it_had_told),
			TEST(items_tell_the_depth_of_the_queue_that_the_packet_found),
			TEST(a_queue_before_the_host_labels_what_departs),
			TEST(a_run_that_fails_leaves_nothing_under_way),
	};

	return lab_test_group(tests);
}

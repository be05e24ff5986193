// SPDX-License-Identifier: BSD-3-Clause
// Which reports are lost if nobody takes them out of a worker's ring in time.
#include "fixture.h"
#include "node_parts.h"
#include "report_stream.h"
#include "take_reports.h"

#define FLOWS	40
#define RING	1024
#define STEP_NS 100000	// from one round of packets, one of each flow, to the next
#define PAUSE	250	// rounds that control takes no report: 25 ms
#define SPACING 8388608 // nanoseconds: a full ring still takes a report of a flow in each
#define NS_ID	61	// offsets in the frame
#define SOURCE	86	// of the source port

struct flow {
	int64_t last_ns, longest_ns; // between two reports that were taken
	uint64_t n_taken;
};

struct backlog {
	struct fixture *f;
	struct flow flows[FLOWS];
	int64_t now_ns;
};

static struct backlog *open_backlog(unsigned ring)
{
	struct backlog *b = calloc(1, sizeof(*b));

	b->f = fixture_open(
			SINK_SIDES, 2, 1500, (struct hs_node_config){.id = 9, .report_ring = ring});
	b->now_ns = NOW;
	for (unsigned i = 0; i < FLOWS; i++) {
		struct hs_rule rule = vector_rule(1 + i);
		rule.src_port = (uint16_t)(0x1200 + i);
		test_node_rule(&b->f->t, &rule);
	}
	return b;
}

static void close_backlog(struct backlog *b)
{
	fixture_close(b->f);
	free(b);
}

// A packet with telemetry, and how it must leave the node, whether its report is lost or not.
struct pair {
	uint8_t frame[256], plain[256];
	size_t len, plain_len;
};

static struct pair make_pair(unsigned flow)
{
	struct pair p;

	p.len = unhex(WITH_TELEMETRY, p.frame);
	p.plain_len = unhex(PLAIN, p.plain);
	p.frame[NS_ID] = (uint8_t)(1 + flow);
	for (unsigned i = 0; i < 2; i++)
		p.frame[SOURCE + i] = p.plain[SOURCE + i - (p.len - p.plain_len)] =
				i ? (uint8_t)flow : 0x12;
	return p;
}

// Sends a packet of each flow of [first, end), in one burst if there are not too many.
static void send_flows(struct backlog *b, unsigned first, unsigned end)
{
	uint8_t got[256];

	for (unsigned flow = first; flow < end; flow++) {
		const struct pair p = make_pair(flow);
		test_node_feed(&b->f->t, 0, p.frame, p.len, 0);
	}
	test_node_run(&b->f->t);
	for (unsigned flow = first; flow < end; flow++) {
		const struct pair p = make_pair(flow);
		assert_int_equal(test_node_take(&b->f->t, 1, got, sizeof(got)), p.plain_len);
		assert_memory_equal(got, p.plain, p.plain_len);
	}
}

static void send_packet(struct backlog *b, unsigned flow)
{
	send_flows(b, flow, flow + 1);
}

static void pass(struct backlog *b, int64_t ns)
{
	b->now_ns += ns;
	hs_clock_set(b->f->clock, b->now_ns);
}

static void send_rounds(struct backlog *b, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		send_flows(b, 0, FLOWS);
		pass(b, STEP_NS);
	}
}

static unsigned take_all(struct backlog *b)
{
	struct hs_report_record record;
	struct hs_report report;
	unsigned n = 0;

	for (; take_reports(b->f->t.node, &record, 1); n++) {
		assert_int_equal(hs_report_decode(&record, &hs_flexint_family, &report), 0);
		struct flow *flow = &b->flows[report.telemetry.ns_id - 1];
		int64_t gap = report.sink_ts_ns - flow->last_ns;
		assert_true(gap >= 0);
		if (flow->n_taken++ && gap > flow->longest_ns)
			flow->longest_ns = gap;
		flow->last_ns = report.sink_ts_ns;
	}
	return n;
}

// 25 ms of packets are ten times as many as the ring holds.
static void a_flow_keeps_a_report_in_each_spacing_while_the_ring_is_full(void **state)
{
	struct backlog *b = open_backlog(RING);
	(void)state;
	for (unsigned i = 0; i < 4; i++) {
		send_rounds(b, PAUSE);
		take_all(b);
	}
	for (unsigned flow = 0; flow < FLOWS; flow++) {
		const struct flow *of = &b->flows[flow];
		struct hs_flow_counters c = counters(b->f, 1 + flow);
		assert_true(of->longest_ns <= 2 * SPACING);
		assert_int_equal(c.sink_packets, 4 * PAUSE);
		assert_int_equal(c.reports_made, 4 * PAUSE);
		assert_int_equal(c.reports_made - c.reports_lost, of->n_taken);
		assert_true(c.reports_lost > 2 * PAUSE);
	}
	close_backlog(b);
}

// One flow fills the ring; another flow that sends seldom loses none of its reports.
static void a_flow_that_sends_seldom_loses_no_report_to_one_that_sends_much(void **state)
{
	struct backlog *b = open_backlog(RING);
	(void)state;
	for (unsigned i = 0; i < 2 * RING; i++)
		send_packet(b, 0);
	assert_true(counters(b->f, 1).reports_lost > RING);
	for (unsigned flow = 1; flow < FLOWS; flow++)
		send_packet(b, flow);
	for (unsigned flow = 1; flow < FLOWS; flow++)
		assert_int_equal(counters(b->f, 1 + flow).reports_lost, 0);
	pass(b, SPACING);
	for (unsigned flow = 1; flow < FLOWS; flow++) {
		send_packet(b, flow);
		assert_int_equal(counters(b->f, 1 + flow).reports_lost, 0);
		send_packet(b, flow);
		assert_int_equal(counters(b->f, 1 + flow).reports_lost, 1);
	}
	close_backlog(b);
}

// Nothing is thinned out while three quarters of the ring suffice; the rest is for first reports.
static void no_report_is_lost_while_a_quarter_of_the_ring_is_free(void **state)
{
	struct backlog *b = open_backlog(RING);
	const unsigned fit = RING - 1 - RING / 4;
	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		pass(b, SPACING);
		for (unsigned k = 0; k < fit; k++)
			send_packet(b, 0);
		assert_int_equal(counters(b->f, 1).reports_lost, i * 4);
		send_packet(b, 0); // the first of this time that finds too little room
		assert_int_equal(counters(b->f, 1).reports_lost, i * 4);
		for (unsigned k = 0; k < 4; k++)
			send_packet(b, 0);
		assert_int_equal(counters(b->f, 1).reports_lost, (i + 1) * 4);
		assert_int_equal(take_all(b), fit + 1);
	}
	close_backlog(b);
}

// More flows than the ring has places: a report that finds no place at all is lost.
static void a_ring_without_a_free_place_loses_first_reports_too(void **state)
{
	struct backlog *b = open_backlog(32);
	uint64_t lost = 0;
	(void)state;
	send_rounds(b, 1);
	for (unsigned flow = 0; flow < FLOWS; flow++)
		lost += counters(b->f, 1 + flow).reports_lost;
	assert_int_equal(lost, FLOWS - 31);
	assert_int_equal(take_all(b), 31);
	close_backlog(b);
}

// A first report that is lost does not use up the flow's turn.
static void a_flow_whose_first_report_was_lost_takes_the_next_place(void **state)
{
	struct backlog *b = open_backlog(32);
	struct hs_report_record record;
	(void)state;
	send_flows(b, 0, 32);
	assert_int_equal(counters(b->f, 32).reports_lost, 1); // a ring of 32 holds 31
	assert_int_equal(take_reports(b->f->t.node, &record, 1), 1);
	send_packet(b, 31);
	assert_int_equal(counters(b->f, 32).reports_lost, 1);
	assert_int_equal(take_reports(b->f->t.node, &record, 1), 1);
	send_packet(b, 31);
	assert_int_equal(counters(b->f, 32).reports_lost, 2);
	close_backlog(b);
}

// Reports keep their order and their bytes while the way of writing changes.
static void the_way_of_writing_may_change_at_any_time(void **state)
{
	struct backlog *b = open_backlog(64);
	struct hs_report_reader *reader = &b->f->t.node->seats[0]->worker.report_reader;
	struct hs_report_record record;
	uint64_t n_reports = 0;
	(void)state;
	for (unsigned i = 0; i < 200; i++) {
		unsigned n = 1 + i * 7 % 32;
		for (unsigned k = 0; k < n; k++) {
			*reader = (struct hs_report_reader){
					.is_fixed = true, .is_far = (i + k) & 1};
			send_packet(b, 3);
		}
		for (unsigned k = 0; k < n; k++) {
			struct hs_report report;
			assert_int_equal(take_reports(b->f->t.node, &record, 1), 1);
			assert_int_equal(hs_report_decode(&record, &hs_flexint_family, &report), 0);
			assert_int_equal(report.telemetry.ns_id, 4);
			assert_int_equal(report.telemetry.e2e.tx_packets, 1000);
			assert_int_equal(report.sink_rx_packets, ++n_reports);
		}
	}
	close_backlog(b);
}

// Returns whether the reader is far after a hundred reads that took so many nanoseconds.
static bool is_far_after(struct hs_report_reader *reader, uint64_t ns)
{
	for (unsigned i = 0; i < 100; i++)
		hs_report_reader_add(reader, ns);
	return reader->is_far;
}

// The way of writing follows how long reads take, and stays between the two limits.
static void a_worker_learns_how_far_the_reader_is(void **state)
{
	struct hs_report_reader reader = {0}, distant = {0};
	(void)state;
	for (unsigned i = 0; i < 1000; i++) {
		hs_report_reader_add(&reader, 35);
		hs_report_reader_add(&reader, 2001); // the core was taken away
		hs_report_reader_add(&reader, 1000000);
		assert_false(reader.is_far);
	}
	hs_report_reader_add(&reader, 2000);
	assert_false(reader.is_far); // once
	assert_true(is_far_after(&distant, 600));
	assert_true(is_far_after(&reader, 120));
	assert_true(is_far_after(&reader, 70));
	assert_false(is_far_after(&reader, 30));
	assert_false(is_far_after(&reader, 70));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_flow_keeps_a_report_in_each_spacing_while_the_ring_is_full),
			cmocka_unit_test(
					a_flow_that_sends_seldom_loses_no_report_to_one_that_sends_much),
			cmocka_unit_test(no_report_is_lost_while_a_quarter_of_the_ring_is_free),
			cmocka_unit_test(a_ring_without_a_free_place_loses_first_reports_too),
			cmocka_unit_test(a_flow_whose_first_report_was_lost_takes_the_next_place),
			cmocka_unit_test(the_way_of_writing_may_change_at_any_time),
			cmocka_unit_test(a_worker_learns_how_far_the_reader_is),
	};
	dpdk_env_init("256");
	return cmocka_run_group_tests_name("backlog", tests, NULL, NULL);
}

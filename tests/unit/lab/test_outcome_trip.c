// SPDX-License-Identifier: BSD-3-Clause
// Round trips by the telemetry of two directions, and as the pinging host saw them.
#include "outcome_fixture.h"

#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PINGS 20 // one each 100 ms

struct pings {
	struct fixture f;
	int64_t reply_delay_ns;
	int64_t far_ahead_ns; // of the far node's clock
	int64_t near_ahead_ns;
	int64_t error_ns; // added to the stamp of a reply's arrival, or subtracted, alternately
	int skipped;	  // a reply without telemetry; 0: none
};

static int setup(void **state)
{
	struct pings *p = calloc(1, sizeof(*p));
	fixture_init(&p->f);
	p->f.traffic[0].kind = HS_TRAFFIC_PING;
	p->f.traffic[0].protocol = IPPROTO_ICMPV6;
	p->f.traffic[0].src_port = p->f.traffic[0].dst_port = 0;
	p->f.traffic[0].payload_bytes = 56;
	p->f.traffic[0].packets = PINGS;
	p->f.scenario.n_flows = 2;
	*state = p;
	return 0;
}

static int teardown(void **state)
{
	struct pings *p = *state;
	fixture_fini(&p->f);
	free(p);
	return 0;
}

static void report(struct pings *p, unsigned ns_id, int64_t source_ns, int64_t sink_ns)
{
	char topic[16], text[640];
	snprintf(topic, sizeof(topic), "report.%u", ns_id);
	snprintf(text, sizeof(text),
			"{\"int_report\":{\"seq\":1,\"node_id\":9,\"boot_id\":\"b\",\"ns_id\":%u,"
			"\"app_id\":1,\"trace_type\":\"0x7000E000\",\"e2e\":{\"int_packets\":1,"
			"\"ts_ns\":%lld,\"tx_packets\":1,\"tx_bytes\":118},\"sink\":{\"node_id\":9,"
			"\"ts_ns\":%lld,\"rx_packets\":1,\"rx_bytes\":118},\"hops\":[]}}",
			ns_id, (long long)source_ns, (long long)sink_ns);
	assert_int_equal(hs_measured_take(p->f.run.measured, topic, text), 0);
}

static void send_one(struct hs_stream *stream, int64_t at_ns, bool reply, int64_t way_ns)
{
	struct hs_stream_frame frame;
	uint8_t bytes[2048];
	assert_int_equal(hs_stream_next_ns(stream), at_ns);
	assert_true(hs_stream_send(stream, at_ns, &frame));
	assert_int_equal(frame.reply, reply);
	memcpy(bytes, frame.bytes, frame.len);
	hs_stream_arrived(stream, at_ns + way_ns, reply, frame.number, bytes, frame.len);
}

static void true_reply(struct pings *p, uint64_t number, int64_t left_ns, int64_t back_ns)
{
	struct hs_truth *truth = p->f.run.truth;
	struct hs_packet_truth packet_truth = {.flow = 1, .number = number, .bytes = 118};
	hs_truth_arrive(truth, &packet_truth, 2, left_ns, left_ns + p->far_ahead_ns,
			packet_truth.bytes);
	hs_truth_send(truth, &packet_truth, 0, 142, true);
	hs_truth_arrive(truth, &packet_truth, 0, back_ns, back_ns + p->near_ahead_ns, 142);
	hs_truth_sink(truth, &packet_truth);
}

// 30 ms there and 20 ms back; each ping is sampled in both directions.
static void ping(struct pings *p)
{
	struct fixture *f = &p->f;
	f->traffic[0].reply_delay_ns = p->reply_delay_ns;
	fixture_compute(f);
	struct hs_stream *stream = f->streams[0];
	for (int i = 0; i < PINGS; i++) {
		int64_t at = hs_stream_next_ns(stream);
		int64_t there = at + 30 * MS, left = there + p->reply_delay_ns,
			back = left + 20 * MS;
		send_one(stream, at, false, 30 * MS);
		send_one(stream, left, true, 20 * MS);
		int64_t error_ns = i % 2 ? p->error_ns : -p->error_ns;
		true_reply(p, (uint64_t)i + 1, left, back);
		report(p, 7, at + p->near_ahead_ns, there + p->far_ahead_ns);
		if (i + 1 != p->skipped)
			report(p, 8, left + p->far_ahead_ns, back + p->near_ahead_ns + error_ns);
	}
	fixture_compute(f);
}

static json_int_t trip(const struct pings *p, const char *key)
{
	return fixture_integer(&p->f, "round_trip", 0, key);
}

static json_int_t window(const struct pings *p, size_t index, const char *key)
{
	const json_t *windows = fixture_at(&p->f, "round_trip", 0, "windows");
	return json_integer_value(json_object_get(json_array_get(windows, index), key));
}

static size_t n_windows(const struct pings *p)
{
	return json_array_size(fixture_at(&p->f, "round_trip", 0, "windows"));
}

static void a_round_trip_is_the_same_by_telemetry_and_by_ping(void **state)
{
	struct pings *p = *state;
	ping(p);
	assert_string_equal(fixture_text(&p->f, "round_trip", 0, "up"), "constant");
	assert_string_equal(fixture_text(&p->f, "round_trip", 0, "down"), "constant/reply");
	assert_int_equal(trip(p, "pairs"), PINGS);
	assert_int_equal(trip(p, "measured_ns"), 50 * MS);
	assert_int_equal(trip(p, "truth_ns"), 50 * MS);
	assert_int_equal(trip(p, "mae_ns"), 0);
	assert_int_equal(trip(p, "clocks_differ"), 0);
	assert_int_equal(n_windows(p), 2);
	assert_int_equal(fixture_integer(&p->f, "traffic", 0, "replies_delivered"), PINGS);
	assert_int_equal(fixture_integer(&p->f, "traffic", 0, "delivered_ratio"), 1);
}

static void a_far_clock_of_its_own_changes_nothing(void **state)
{
	struct pings *p = *state;
	p->far_ahead_ns = -36 * SECOND;
	ping(p);
	assert_int_equal(trip(p, "mae_ns"), 0);
	assert_int_equal(trip(p, "pairs"), PINGS);
	assert_int_equal(trip(p, "clocks_differ"), 2);
}

// With 450 ms ahead, the sixth reply arrives at the end of the first window.
static void windows_are_of_the_pinging_nodes_clock(void **state)
{
	struct pings *p = *state;
	static const int pairs[] = {6, 10, 4};
	p->near_ahead_ns = 450 * MS;
	ping(p);
	assert_int_equal(n_windows(p), 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(window(p, i, "pairs"), pairs[i]);
		assert_int_equal(window(p, i, "pings"), pairs[i]);
	}
	assert_int_equal(trip(p, "mae_ns"), 0);
}

static void the_far_hosts_delay_is_in_neither(void **state)
{
	struct pings *p = *state;
	p->reply_delay_ns = 7 * MS;
	ping(p);
	assert_int_equal(trip(p, "truth_ns"), 50 * MS);
	assert_int_equal(trip(p, "mae_ns"), 0);
}

static void errors_that_cancel_in_a_window_are_seen_ping_by_ping(void **state)
{
	struct pings *p = *state;
	p->error_ns = 100;
	ping(p);
	assert_int_equal(trip(p, "mae_windows_ns"), 0);
	assert_int_equal(trip(p, "mae_pings_ns"), 100);
	assert_int_equal(trip(p, "mae_ns"), 100);
	assert_int_equal(trip(p, "measured_ns"), 50 * MS);
}

static void pings_are_compared_one_by_one_only_if_each_was_sampled(void **state)
{
	struct pings *p = *state;
	p->skipped = 4;
	p->error_ns = 100;
	ping(p);
	assert_int_equal(trip(p, "pairs"), PINGS - 1);
	assert_null(fixture_at(&p->f, "round_trip", 0, "mae_pings_ns"));
	assert_true(json_equal(fixture_at(&p->f, "round_trip", 0, "mae_ns"),
			fixture_at(&p->f, "round_trip", 0, "mae_windows_ns")));
	assert_int_equal(window(p, 0, "pairs"), 9);
	assert_int_equal(window(p, 0, "pings"), 10);
}

static void expectations_know_round_trips(void **state)
{
	struct pings *p = *state;
	struct hs_scenario_expect expect = {.metric = "round_trip.mae_ns",
			.flow = HS_NO_INDEX,
			.node = HS_NO_INDEX,
			.value = NAN,
			.min = NAN};
	ping(p);
	struct fixture_verdict verdict = fixture_judge(&p->f, expect);
	assert_true(verdict.met && verdict.value == 0);
	snprintf(expect.metric, sizeof(expect.metric), "round_trip.pairs");
	assert_true(fixture_judge(&p->f, expect).value == PINGS);
}

static void other_traffic_has_no_round_trip(void **state)
{
	struct pings *p = *state;
	p->f.traffic[0].kind = HS_TRAFFIC_CONSTANT;
	p->f.traffic[0].protocol = IPPROTO_UDP;
	p->f.traffic[0].src_port = p->f.traffic[0].dst_port = 5000;
	fixture_compute(&p->f);
	assert_int_equal(json_array_size(json_object_get(p->f.result, "round_trip")), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_round_trip_is_the_same_by_telemetry_and_by_ping),
			TEST(a_far_clock_of_its_own_changes_nothing),
			TEST(windows_are_of_the_pinging_nodes_clock),
			TEST(the_far_hosts_delay_is_in_neither),
			TEST(errors_that_cancel_in_a_window_are_seen_ping_by_ping),
			TEST(pings_are_compared_one_by_one_only_if_each_was_sampled),
			TEST(expectations_know_round_trips),
			TEST(other_traffic_has_no_round_trip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

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
	int64_t far_ahead_ns, near_ahead_ns; // of the nodes' clocks
	int64_t error_ns; // added to the stamp of a reply's arrival, or subtracted, alternately
	int skipped;	  // a reply without telemetry; 0: none
};

static void begin(struct pings *p)
{
	fixture_init(&p->f);
	p->f.traffic[0].kind = HS_TRAFFIC_PING;
	p->f.traffic[0].protocol = IPPROTO_ICMPV6;
	p->f.traffic[0].src_port = p->f.traffic[0].dst_port = 0;
	p->f.traffic[0].payload_bytes = 56;
	p->f.traffic[0].packets = PINGS;
	p->f.scenario.n_flows = 2;
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

static void check_windows(const struct pings *p, int n, const int pairs[])
{
	const json_t *windows = fixture_at(&p->f, "round_trip", 0, "windows");
	assert_int_equal(json_array_size(windows), n);
	for (size_t i = 0; i < (size_t)n; i++) {
		const json_t *window = json_array_get(windows, i);
		bool lacks = i == 0 && p->skipped;
		assert_true(hs_outcome_number(window, "pings") == pairs[i]);
		assert_true(hs_outcome_number(window, "pairs") == pairs[i] - lacks);
	}
}

static void check_errors(const struct pings *p)
{
	assert_int_equal(trip(p, "pairs"), PINGS - (p->skipped > 0));
	if (p->skipped) {
		assert_null(fixture_at(&p->f, "round_trip", 0, "mae_pings_ns"));
		assert_true(json_equal(fixture_at(&p->f, "round_trip", 0, "mae_ns"),
				fixture_at(&p->f, "round_trip", 0, "mae_windows_ns")));
		return;
	}
	assert_int_equal(trip(p, "measured_ns"), 50 * MS);
	assert_int_equal(trip(p, "truth_ns"), 50 * MS);
	assert_int_equal(trip(p, "mae_windows_ns"), 0);
	assert_int_equal(trip(p, "mae_pings_ns"), p->error_ns);
	assert_int_equal(trip(p, "mae_ns"), p->error_ns);
}

static void a_round_trip_is_the_same_by_telemetry_and_by_ping(void **state)
{
	(void)state;
	static const struct {
		struct pings pings;
		int clocks_differ, n_windows;
		int pairs[3];
	} cases[] = {
			{{.error_ns = 0}, 0, 2, {10, 10}},
			// A far clock of its own changes nothing.
			{{.far_ahead_ns = -36 * SECOND}, 2, 2, {10, 10}},
			// The far host's delay is in neither.
			{{.reply_delay_ns = 7 * MS}, 0, 2, {10, 10}},
			// Windows are of the pinging node's clock: with 450 ms ahead, the sixth
			// reply arrives at the end of the first window.
			{{.near_ahead_ns = 450 * MS}, 3, 3, {6, 10, 4}},
			// Errors that cancel in a window are seen ping by ping.
			{{.error_ns = 100}, 0, 2, {10, 10}},
			// Pings are compared one by one only if each was sampled.
			{{.error_ns = 100, .skipped = 4}, 0, 2, {10, 10}},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pings p = cases[i].pings;
		begin(&p);
		ping(&p);
		assert_int_equal(trip(&p, "clocks_differ"), cases[i].clocks_differ);
		check_windows(&p, cases[i].n_windows, cases[i].pairs);
		check_errors(&p);
		fixture_fini(&p.f);
	}
}

static void traffic_and_expectations_know_pings(void **state)
{
	(void)state;
	struct pings p = {0};
	struct hs_scenario_expect expect = {.metric = "round_trip.mae_ns",
			.flow = HS_NO_INDEX,
			.node = HS_NO_INDEX,
			.value = NAN,
			.min = NAN};
	begin(&p);
	ping(&p);
	assert_string_equal(fixture_text(&p.f, "round_trip", 0, "up"), "constant");
	assert_string_equal(fixture_text(&p.f, "round_trip", 0, "down"), "constant/reply");
	assert_int_equal(fixture_integer(&p.f, "traffic", 0, "replies_delivered"), PINGS);
	assert_int_equal(fixture_integer(&p.f, "traffic", 0, "delivered_ratio"), 1);
	struct fixture_verdict verdict = fixture_judge(&p.f, expect);
	assert_true(verdict.met && verdict.value == 0);
	snprintf(expect.metric, sizeof(expect.metric), "round_trip.pairs");
	assert_true(fixture_judge(&p.f, expect).value == PINGS);
	fixture_fini(&p.f);
}

static void other_traffic_has_no_round_trip(void **state)
{
	(void)state;
	struct pings p = {0};
	begin(&p);
	p.f.traffic[0].kind = HS_TRAFFIC_CONSTANT;
	p.f.traffic[0].protocol = IPPROTO_UDP;
	p.f.traffic[0].src_port = p.f.traffic[0].dst_port = 5000;
	fixture_compute(&p.f);
	assert_int_equal(json_array_size(json_object_get(p.f.result, "round_trip")), 0);
	fixture_fini(&p.f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(a_round_trip_is_the_same_by_telemetry_and_by_ping),
			cmocka_unit_test(traffic_and_expectations_know_pings),
			cmocka_unit_test(other_traffic_has_no_round_trip),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

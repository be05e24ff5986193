// SPDX-License-Identifier: BSD-3-Clause
// The ground truth, packet by packet: counts, hops, ends of windows.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "truth.h"

#include "no_memory.h"

#include <errno.h>
#include <stdlib.h>

#define NO_FLOW	 UINT32_MAX
#define WINDOW	 INT64_C(1000)
#define N_NODES	 40
#define OFF_SINK INT64_C(3) // by this much the sink's clock is ahead

// ---- memory that runs out ----

static long allocations_left = -1; // negative: no limit

static bool memory_is_out(void)
{
	return !(allocations_left < 0 || allocations_left-- > 0 || (allocations_left = 0));
}

static struct hs_truth *truth; // of the test

static int setup(void **state)
{
	(void)state;
	return hs_truth_create(2, WINDOW, &truth);
}

static int teardown(void **state)
{
	(void)state;
	hs_truth_destroy(truth);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

static struct hs_packet_truth packet_of(uint32_t flow, uint64_t number)
{
	return (struct hs_packet_truth){.flow = flow, .number = number, .bytes = 100};
}

static void arrive(struct hs_packet_truth *packet, uint32_t node, int64_t at, uint32_t wire_bytes)
{
	hs_truth_arrive(truth, packet, node, at, at, wire_bytes);
}

static void send_to(struct hs_packet_truth *packet, uint32_t to, bool telemetry)
{
	hs_truth_send(truth, packet, to, telemetry ? 124 : 100, telemetry);
}

// Makes a packet and lets it arrive at node 0.
static struct hs_packet_truth begin(uint64_t number, int64_t at)
{
	struct hs_packet_truth packet = packet_of(0, number);
	arrive(&packet, 0, at, packet.bytes);
	return packet;
}

static const struct hs_truth_hop *hop_at(size_t index)
{
	return &truth->flows[0].hops[index];
}

#define ASSERT_HOP(index, ...)                                                                     \
	assert_memory_equal(hop_at(index), &((struct hs_truth_hop){__VA_ARGS__}),                  \
			sizeof(struct hs_truth_hop))

// Sends a packet over nodes 0, 1, 2. It is at its sink at this time of the sink's clock.
static void carry(uint64_t number, int64_t sink_shown_ns, bool telemetry)
{
	int64_t at = sink_shown_ns - OFF_SINK;
	struct hs_packet_truth packet = begin(number, at - 20);
	send_to(&packet, 1, telemetry);
	arrive(&packet, 1, at - 10, telemetry ? 124 : 100);
	hs_truth_send(truth, &packet, 2, telemetry ? 140 : 100, telemetry);
	hs_truth_arrive(truth, &packet, 2, at, sink_shown_ns, telemetry ? 140 : 100);
	hs_truth_sink(truth, &packet);
}

static struct hs_truth_edge edge_at(int64_t end_ns)
{
	const struct hs_truth_edge *edge = hs_truth_edge(&truth->flows[0], end_ns);
	assert_non_null(edge);
	return *edge;
}

static void a_stop_has_the_counts_with_its_own_packet_and_no_later_one(void **state)
{
	(void)state;
	carry(1, 5100, false);
	carry(2, 5200, true);
	carry(3, 5300, false);
	assert_int_equal(truth->flows[0].n_reports, 1);
	assert_int_equal(truth->flows[1].n_reports, 0);
	const struct hs_truth_report *report = &truth->flows[0].reports[0];
	assert_int_equal(report->number, 2);
	assert_int_equal(report->sink_ns, 5200 - OFF_SINK);
	assert_int_equal(report->sink_shown_ns, 5200);
	assert_int_equal(report->n_stops, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct hs_truth_stop *stop = &report->stops[i];
		static const uint32_t wire[] = {100, 124, 140};
		assert_int_equal(stop->node, i);
		assert_int_equal(stop->rx_packets, 2);
		assert_int_equal(stop->rx_bytes, 200);
		assert_int_equal(stop->tx_packets, i < 2 ? 2 : 0);
		assert_int_equal(stop->wire_bytes, wire[i]);
		assert_int_equal(stop->rx_ns, 5200 - OFF_SINK - 10 * (2 - (int64_t)i));
	}
}

static void hops_are_in_the_order_of_first_use_with_what_telemetry_added(void **state)
{
	(void)state;
	carry(1, 5100, false);
	carry(2, 5200, true);
	carry(3, 5300, true);
	assert_int_equal(truth->flows[0].n_hops, 2);
	assert_int_equal(truth->flows[1].n_hops, 0);
	ASSERT_HOP(0, .from = 0, .to = 1, .sent_packets = 3, .sent_bytes = 300,
			.received_packets = 3, .telemetry_packets = 2, .telemetry_bytes = 48);
	ASSERT_HOP(1, .from = 1, .to = 2, .sent_packets = 3, .sent_bytes = 300,
			.received_packets = 3, .telemetry_packets = 2, .telemetry_bytes = 80);
}

static void telemetry_that_is_lost_was_sent(void **state)
{
	(void)state;
	for (uint64_t number = 1; number <= 3; number++) {
		struct hs_packet_truth packet = begin(number, 10);
		send_to(&packet, 1, number != 3);
		if (number != 1)
			arrive(&packet, 1, 20, number == 3 ? 100 : 124);
	}
	assert_int_equal(hop_at(0)->telemetry_bytes, 48);
}

static void a_packet_sent_to_several_ports_is_one_transmit(void **state)
{
	(void)state;
	struct hs_packet_truth packet = begin(1, 10);
	for (uint32_t to = 1; to < 4; to++)
		send_to(&packet, to, false);
	assert_int_equal(packet.stops[0].tx_packets, 1);
	assert_int_equal(truth->flows[0].n_hops, 3);
	for (uint32_t i = 0; i < 3; i++) {
		ASSERT_HOP(i, .from = 0, .to = i + 1, .sent_packets = 1, .sent_bytes = 100);
	}
	arrive(&packet, 1, 20, 100);
	send_to(&packet, 2, false);
	assert_int_equal(packet.stops[1].tx_packets, 1);
	packet = begin(2, 30);
	send_to(&packet, 1, false);
	assert_int_equal(packet.stops[0].tx_packets, 2);
}

static void a_copy_is_counted_on_the_link_that_made_it_and_on_no_later_one(void **state)
{
	(void)state;
	struct hs_packet_truth first = begin(1, 10), second, third;
	send_to(&first, 1, true);
	second = first;
	second.copy = true;
	arrive(&first, 1, 20, 124);
	arrive(&second, 1, 21, 124);
	assert_int_equal(second.stops[1].rx_packets, 2);
	send_to(&second, 2, true);
	third = second;
	third.copy = true;
	arrive(&second, 2, 30, 124);
	arrive(&third, 2, 31, 124);
	hs_truth_sink(truth, &second);
	hs_truth_sink(truth, &third);
	for (uint32_t i = 0; i < 2; i++)
		ASSERT_HOP(i, .from = i, .to = i + 1, .sent_packets = 1, .sent_bytes = 100,
				.received_packets = 2, .copies = 1, .telemetry_packets = 1,
				.telemetry_bytes = 24);
	assert_int_equal(truth->flows[0].reports[1].number, 1);
}

static void counts_go_on_where_a_node_begins_another_life(void **state)
{
	(void)state;
	carry(1, 5100, false);
	hs_truth_restart(truth, 1);
	hs_truth_restart(truth, 30);
	carry(2, 5200, true);
	const struct hs_truth_stop *stops = truth->flows[0].reports[0].stops;
	for (int i = 0; i < 3; i++) {
		assert_int_equal(stops[i].rx_packets, 2);
		assert_int_equal(stops[i].life, i == 1);
	}
	assert_int_equal(stops[1].rx_bytes, 200);
	assert_int_equal(stops[1].tx_packets, 2);
	assert_int_equal(hop_at(1)->sent_packets, 2);
}

static void of_a_way_that_is_too_long_the_first_stops_and_the_last_are_kept(void **state)
{
	(void)state;
	struct hs_packet_truth packet = begin(1, 10);
	for (uint32_t i = 1; i < N_NODES; i++) {
		send_to(&packet, i, true);
		arrive(&packet, i, 10 + i, 124);
	}
	hs_truth_sink(truth, &packet);
	assert_int_equal(truth->flows[0].n_hops, N_NODES - 1);
	assert_int_equal(hop_at(N_NODES - 2)->from, N_NODES - 2);
	assert_int_equal(hop_at(N_NODES - 2)->received_packets, 1);
	const struct hs_truth_report *report = &truth->flows[0].reports[0];
	assert_int_equal(report->n_stops, HS_TRUTH_HOPS + 1);
	assert_int_equal(report->sink_ns, 10 + N_NODES - 1);
	assert_int_equal(report->stops[HS_TRUTH_HOPS].node, N_NODES - 1);
	assert_int_equal(report->stops[HS_TRUTH_HOPS - 1].node, HS_TRUTH_HOPS - 1);
}

static void of_a_packet_that_nobody_monitors_nothing_is_written(void **state)
{
	(void)state;
	struct hs_packet_truth packet = packet_of(NO_FLOW, 1);
	hs_truth_arrive(truth, &packet, 3, 10, 11, packet.bytes);
	send_to(&packet, 1, false);
	hs_truth_arrive(truth, &packet, 1, 20, 22, 100);
	hs_truth_sink(truth, &packet);
	assert_int_equal(packet.n_stops, 0);
	for (uint32_t flow = 0; flow < 2; flow++) {
		assert_int_equal(truth->flows[flow].n_reports, 0);
		assert_int_equal(truth->flows[flow].n_hops, 0);
	}
	assert_int_equal(truth->status, 0);
}

static void a_packet_at_the_boundary_belongs_to_the_window_that_ends_there(void **state)
{
	(void)state;
	carry(1, 6000, false); // even the first one
	assert_null(hs_truth_edge(&truth->flows[0], 5000));
	assert_null(hs_truth_edge(&truth->flows[1], 6000));
	assert_int_equal(edge_at(6000).sink_rx_bytes, 100);
	carry(2, 6999, false);
	assert_int_equal(edge_at(6000).sink_rx_bytes, 100);
	carry(3, 7000, false);
	carry(4, 7001, false);
	struct hs_truth_edge edge = edge_at(7000);
	assert_int_equal(edge.sink_rx_bytes, 300);
	assert_int_equal(edge.newest.number, 3);
	assert_int_equal(edge.newest.n_stops, 3);
	assert_int_equal(edge.newest.stops[0].tx_packets, 3);
	assert_int_equal(edge.newest.stops[2].rx_shown_ns, 7000);
	assert_int_equal(edge_at(8000).sink_rx_bytes, 400);
}

static void every_boundary_of_a_silence_has_the_state_before_it(void **state)
{
	(void)state;
	carry(1, 5500, false);
	carry(2, 9001, false);
	carry(3, 10000, false);
	for (int64_t end = 6000; end <= 9000; end += WINDOW)
		assert_int_equal(edge_at(end).sink_rx_bytes, 100);
	assert_int_equal(edge_at(10000).sink_rx_bytes, 300);
	assert_int_equal(edge_at(99000).sink_rx_bytes, 300);
}

static void the_newest_packet_of_an_edge_is_so_in_source_order(void **state)
{
	(void)state;
	carry(1, 5100, false);
	carry(9, 5200, false);
	carry(4, 5300, false);
	carry(9, 5400, false); // a copy
	carry(10, 6100, false);
	struct hs_truth_edge edge = edge_at(6000);
	assert_int_equal(edge.newest.number, 9);
	assert_int_equal(edge.newest.stops[2].rx_shown_ns, 5200);
	assert_int_equal(edge.newest.stops[0].tx_packets, 2);
	assert_int_equal(edge.sink_rx_bytes, 400);
	assert_int_equal(edge_at(7000).newest.number, 10);
}

static void a_clock_that_steps_back_leaves_the_edges_that_it_passed(void **state)
{
	(void)state;
	carry(1, 5500, false);
	carry(2, 8500, false);
	carry(3, 5600, false);
	carry(4, 7100, false);
	assert_int_equal(edge_at(6000).newest.number, 1);
	assert_int_equal(edge_at(8000).newest.number, 1);
	assert_int_equal(edge_at(9000).newest.number, 4);
	carry(5, 9500, false);
	assert_int_equal(edge_at(7000).newest.number, 1);
	assert_int_equal(edge_at(9000).newest.number, 4);
	assert_int_equal(edge_at(9000).sink_rx_bytes, 400);
	assert_int_equal(edge_at(10000).newest.number, 5);
}

static void the_end_of_all_times_has_the_final_state_by_a_clock_that_is_behind(void **state)
{
	(void)state;
	struct hs_packet_truth packet = packet_of(0, 1);
	hs_truth_arrive(truth, &packet, 0, 5600, 5500, packet.bytes);
	hs_truth_sink(truth, &packet);
	assert_int_equal(edge_at(INT64_MAX).sink_rx_bytes, 100);
}

static void times_below_0_have_edges_too(void **state)
{
	(void)state;
	carry(1, -2500, false);
	carry(2, -2000, false);
	carry(3, -1, false);
	carry(4, 1, false);
	assert_null(hs_truth_edge(&truth->flows[0], -3000));
	assert_int_equal(edge_at(-2000).newest.number, 2);
	assert_int_equal(edge_at(-1000).newest.number, 2);
	assert_int_equal(edge_at(0).newest.number, 3);
}

static void out_of_memory_is_kept(void **state)
{
	(void)state;
	unsigned out_of_memory = 0;
	for (long left = 0;; left++) {
		hs_truth_destroy(truth);
		truth = NULL;
		allocations_left = left;
		int rc = hs_truth_create(1, WINDOW, &truth);
		for (int64_t i = 1; rc == 0 && i <= 100; i++)
			carry((uint64_t)i, 5100 + 500 * i, true);
		bool enough = allocations_left > 0;
		allocations_left = -1;
		if (rc < 0) {
			assert_int_equal(rc, -ENOMEM);
			continue;
		}
		if (enough)
			break;
		out_of_memory += truth->status == -ENOMEM;
	}
	assert_true(out_of_memory > 100);
	assert_int_equal(truth->status, 0);
	assert_int_equal(truth->flows[0].n_reports, 100);
	hs_truth_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			TEST(a_stop_has_the_counts_with_its_own_packet_and_no_later_one),
			TEST(hops_are_in_the_order_of_first_use_with_what_telemetry_added),
			TEST(telemetry_that_is_lost_was_sent),
			TEST(a_packet_sent_to_several_ports_is_one_transmit),
			TEST(a_copy_is_counted_on_the_link_that_made_it_and_on_no_later_one),
			TEST(counts_go_on_where_a_node_begins_another_life),
			TEST(of_a_way_that_is_too_long_the_first_stops_and_the_last_are_kept),
			TEST(of_a_packet_that_nobody_monitors_nothing_is_written),
			TEST(a_packet_at_the_boundary_belongs_to_the_window_that_ends_there),
			TEST(every_boundary_of_a_silence_has_the_state_before_it),
			TEST(the_newest_packet_of_an_edge_is_so_in_source_order),
			TEST(a_clock_that_steps_back_leaves_the_edges_that_it_passed),
			TEST(the_end_of_all_times_has_the_final_state_by_a_clock_that_is_behind),
			TEST(times_below_0_have_edges_too),
			TEST(out_of_memory_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

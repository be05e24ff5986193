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

static struct hs_truth *truth_new(void)
{
	struct hs_truth *truth;
	assert_int_equal(hs_truth_create(2, WINDOW, &truth), 0);
	return truth;
}

static struct hs_packet_truth packet_truth_of(uint32_t flow, uint64_t number, uint32_t bytes)
{
	return (struct hs_packet_truth){.flow = flow, .number = number, .bytes = bytes};
}

// Sends a packet over nodes 0, 1, 2. It is at its sink at this time of the sink's clock.
static void carry(struct hs_truth *truth, uint64_t number, int64_t sink_shown_ns, bool telemetry)
{
	struct hs_packet_truth packet_truth = packet_truth_of(0, number, 100);
	int64_t at = sink_shown_ns - OFF_SINK;
	hs_truth_arrive(truth, &packet_truth, 0, at - 20, at - 20, packet_truth.bytes);
	hs_truth_send(truth, &packet_truth, 1, telemetry ? 124 : 100, telemetry);
	hs_truth_arrive(truth, &packet_truth, 1, at - 10, at - 10, telemetry ? 124 : 100);
	hs_truth_send(truth, &packet_truth, 2, telemetry ? 140 : 100, telemetry);
	hs_truth_arrive(truth, &packet_truth, 2, at, sink_shown_ns, telemetry ? 140 : 100);
	hs_truth_sink(truth, &packet_truth);
}

static struct hs_truth_edge edge_at(const struct hs_truth *truth, int64_t end_ns)
{
	const struct hs_truth_edge *edge = hs_truth_edge(&truth->flows[0], end_ns);
	assert_non_null(edge);
	return *edge;
}

static void a_stop_has_the_counts_with_its_own_packet_and_no_later_one(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	struct hs_truth_report report;
	carry(truth, 1, 5100, false);
	carry(truth, 2, 5200, true);
	carry(truth, 3, 5300, false);
	assert_int_equal(truth->flows[0].n_reports, 1);
	assert_int_equal(truth->flows[1].n_reports, 0);
	report = truth->flows[0].reports[0];
	assert_int_equal(report.number, 2);
	assert_int_equal(report.sink_ns, 5200 - OFF_SINK);
	assert_int_equal(report.sink_shown_ns, 5200);
	assert_int_equal(report.n_stops, 3);
	for (uint32_t i = 0; i < 3; i++) {
		const struct hs_truth_stop *stop = &report.stops[i];
		static const uint32_t wire[] = {100, 124, 140};
		assert_int_equal(stop->node, i);
		assert_int_equal(stop->rx_packets, 2);
		assert_int_equal(stop->rx_bytes, 200);
		assert_int_equal(stop->tx_packets, i < 2 ? 2 : 0);
		assert_int_equal(stop->wire_bytes, wire[i]);
		assert_int_equal(stop->rx_ns, 5200 - OFF_SINK - 10 * (2 - (int64_t)i));
	}
	hs_truth_destroy(truth);
}

static void hops_are_in_the_order_of_first_use_with_what_telemetry_added(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	struct hs_truth_hop hop;
	carry(truth, 1, 5100, false);
	carry(truth, 2, 5200, true);
	carry(truth, 3, 5300, true);
	assert_int_equal(truth->flows[0].n_hops, 2);
	assert_int_equal(truth->flows[1].n_hops, 0);
	hop = truth->flows[0].hops[1];
	assert_int_equal(hop.from, 1);
	assert_int_equal(hop.to, 2);
	assert_int_equal(hop.sent_packets, 3);
	assert_int_equal(hop.sent_bytes, 300);
	assert_int_equal(hop.received_packets, 3);
	assert_int_equal(hop.copies, 0);
	assert_int_equal(hop.telemetry_packets, 2);
	assert_int_equal(hop.telemetry_bytes, 80);
	hop = truth->flows[0].hops[0];
	assert_int_equal(hop.from, 0);
	assert_int_equal(hop.telemetry_bytes, 48);
	hs_truth_destroy(truth);
}

static void telemetry_that_is_lost_was_sent(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	struct hs_truth_hop hop;
	for (uint64_t number = 1; number <= 3; number++) {
		struct hs_packet_truth packet_truth = packet_truth_of(0, number, 100);
		hs_truth_arrive(truth, &packet_truth, 0, 10, 10, packet_truth.bytes);
		hs_truth_send(truth, &packet_truth, 1, number == 3 ? 100 : 124, number != 3);
		if (number != 1)
			hs_truth_arrive(truth, &packet_truth, 1, 20, 20, number == 3 ? 100 : 124);
	}
	hop = truth->flows[0].hops[0];
	assert_int_equal(hop.telemetry_bytes, 48);
	hs_truth_destroy(truth);
}

static void a_packet_sent_to_several_ports_is_one_transmit(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	struct hs_truth_hop hop;
	struct hs_packet_truth packet_truth = packet_truth_of(0, 1, 100);
	hs_truth_arrive(truth, &packet_truth, 0, 10, 10, packet_truth.bytes);
	for (uint32_t to = 1; to < 4; to++)
		hs_truth_send(truth, &packet_truth, to, 100, false);
	assert_int_equal(packet_truth.stops[0].tx_packets, 1);
	assert_int_equal(truth->flows[0].n_hops, 3);
	for (uint32_t i = 0; i < 3; i++) {
		hop = truth->flows[0].hops[i];
		assert_int_equal(hop.to, i + 1);
		assert_int_equal(hop.sent_packets, 1);
	}
	hs_truth_arrive(truth, &packet_truth, 1, 20, 20, 100);
	hs_truth_send(truth, &packet_truth, 2, 100, false);
	assert_int_equal(packet_truth.stops[1].tx_packets, 1);
	packet_truth = packet_truth_of(0, 2, 100);
	hs_truth_arrive(truth, &packet_truth, 0, 30, 30, packet_truth.bytes);
	hs_truth_send(truth, &packet_truth, 1, 100, false);
	assert_int_equal(packet_truth.stops[0].tx_packets, 2);
	hs_truth_destroy(truth);
}

static void a_copy_is_counted_on_the_link_that_made_it_and_on_no_later_one(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	struct hs_truth_hop hop;
	struct hs_truth_report report;
	struct hs_packet_truth first = packet_truth_of(0, 1, 100), second, third;
	hs_truth_arrive(truth, &first, 0, 10, 10, first.bytes);
	hs_truth_send(truth, &first, 1, 124, true);
	second = first;
	second.copy = true;
	hs_truth_arrive(truth, &first, 1, 20, 20, 124);
	hs_truth_arrive(truth, &second, 1, 21, 21, 124);
	assert_int_equal(second.stops[1].rx_packets, 2);
	hs_truth_send(truth, &second, 2, 124, true);
	third = second;
	third.copy = true;
	hs_truth_arrive(truth, &second, 2, 30, 30, 124);
	hs_truth_arrive(truth, &third, 2, 31, 31, 124);
	hs_truth_sink(truth, &second);
	hs_truth_sink(truth, &third);
	hop = truth->flows[0].hops[0];
	assert_int_equal(hop.sent_packets, 1);
	assert_int_equal(hop.received_packets, 2);
	assert_int_equal(hop.copies, 1);
	hop = truth->flows[0].hops[1];
	assert_int_equal(hop.sent_packets, 1);
	assert_int_equal(hop.received_packets, 2);
	assert_int_equal(hop.copies, 1);
	report = truth->flows[0].reports[1];
	assert_int_equal(report.number, 1);
	hs_truth_destroy(truth);
}

static void counts_go_on_where_a_node_begins_another_life(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	struct hs_truth_report report;
	struct hs_truth_hop hop;
	carry(truth, 1, 5100, false);
	hs_truth_restart(truth, 1);
	hs_truth_restart(truth, 30);
	carry(truth, 2, 5200, true);
	report = truth->flows[0].reports[0];
	assert_int_equal(report.stops[0].rx_packets, 2);
	assert_int_equal(report.stops[0].life, 0);
	assert_int_equal(report.stops[1].rx_packets, 2);
	assert_int_equal(report.stops[1].rx_bytes, 200);
	assert_int_equal(report.stops[1].tx_packets, 2);
	assert_int_equal(report.stops[1].life, 1);
	assert_int_equal(report.stops[2].rx_packets, 2);
	hop = truth->flows[0].hops[1];
	assert_int_equal(hop.sent_packets, 2);
	hs_truth_destroy(truth);
}

static void of_a_way_that_is_too_long_the_first_stops_and_the_last_are_kept(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	struct hs_truth_report report;
	struct hs_truth_hop hop;
	struct hs_packet_truth packet_truth = packet_truth_of(0, 1, 100);
	hs_truth_arrive(truth, &packet_truth, 0, 10, 10, packet_truth.bytes);
	for (uint32_t i = 1; i < N_NODES; i++) {
		hs_truth_send(truth, &packet_truth, i, 124, true);
		hs_truth_arrive(truth, &packet_truth, i, 10 + i, 10 + i, 124);
	}
	hs_truth_sink(truth, &packet_truth);
	assert_int_equal(truth->flows[0].n_hops, N_NODES - 1);
	hop = truth->flows[0].hops[N_NODES - 2];
	assert_int_equal(hop.from, N_NODES - 2);
	assert_int_equal(hop.received_packets, 1);
	report = truth->flows[0].reports[0];
	assert_int_equal(report.n_stops, HS_TRUTH_HOPS + 1);
	assert_int_equal(report.sink_ns, 10 + N_NODES - 1);
	assert_int_equal(report.stops[HS_TRUTH_HOPS].node, N_NODES - 1);
	assert_int_equal(report.stops[HS_TRUTH_HOPS - 1].node, HS_TRUTH_HOPS - 1);
	hs_truth_destroy(truth);
}

static void of_a_packet_that_nobody_monitors_nothing_is_written(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	struct hs_packet_truth packet_truth = packet_truth_of(NO_FLOW, 1, 100);
	hs_truth_arrive(truth, &packet_truth, 3, 10, 11, packet_truth.bytes);
	hs_truth_send(truth, &packet_truth, 1, 100, false);
	hs_truth_arrive(truth, &packet_truth, 1, 20, 22, 100);
	hs_truth_sink(truth, &packet_truth);
	assert_int_equal(packet_truth.n_stops, 0);
	for (uint32_t flow = 0; flow < 2; flow++) {
		assert_int_equal(truth->flows[flow].n_reports, 0);
		assert_int_equal(truth->flows[flow].n_hops, 0);
	}
	assert_int_equal(truth->status, 0);
	hs_truth_destroy(truth);
}

static void a_packet_at_the_boundary_belongs_to_the_window_that_ends_there(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	struct hs_truth_edge edge;
	carry(truth, 1, 5999, false);
	carry(truth, 2, 6000, false);
	carry(truth, 3, 6001, false);
	assert_null(hs_truth_edge(&truth->flows[0], 5000));
	assert_null(hs_truth_edge(&truth->flows[1], 6000));
	edge = edge_at(truth, 6000);
	assert_int_equal(edge.sink_rx_bytes, 200);
	assert_int_equal(edge.newest.number, 2);
	assert_int_equal(edge.newest.n_stops, 3);
	assert_int_equal(edge.newest.stops[0].tx_packets, 2);
	assert_int_equal(edge.newest.stops[2].rx_shown_ns, 6000);
	hs_truth_destroy(truth);
}

static void a_first_packet_exactly_at_a_boundary_is_in_its_edge(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	carry(truth, 1, 6000, false);
	assert_null(hs_truth_edge(&truth->flows[0], 5000));
	assert_int_equal(edge_at(truth, 6000).sink_rx_bytes, 100);
	carry(truth, 2, 6001, false);
	assert_int_equal(edge_at(truth, 6000).sink_rx_bytes, 100);
	assert_int_equal(edge_at(truth, 7000).sink_rx_bytes, 200);
	hs_truth_destroy(truth);
}

static void every_boundary_of_a_silence_has_the_state_before_it(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	carry(truth, 1, 5500, false);
	carry(truth, 2, 9001, false);
	carry(truth, 3, 10000, false);
	for (int64_t end = 6000; end <= 9000; end += WINDOW) {
		assert_int_equal(edge_at(truth, end).sink_rx_bytes, 100);
	}
	assert_int_equal(edge_at(truth, 10000).sink_rx_bytes, 300);
	assert_int_equal(edge_at(truth, 99000).sink_rx_bytes, 300);
	hs_truth_destroy(truth);
}

static void the_newest_packet_of_an_edge_is_so_in_source_order(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	carry(truth, 1, 5100, false);
	carry(truth, 9, 5200, false);
	carry(truth, 4, 5300, false);
	carry(truth, 9, 5400, false); // a copy
	carry(truth, 10, 6100, false);
	struct hs_truth_edge edge = edge_at(truth, 6000);
	assert_int_equal(edge.newest.number, 9);
	assert_int_equal(edge.newest.stops[2].rx_shown_ns, 5200);
	assert_int_equal(edge.newest.stops[0].tx_packets, 2);
	assert_int_equal(edge.sink_rx_bytes, 400);
	assert_int_equal(edge_at(truth, 7000).newest.number, 10);
	hs_truth_destroy(truth);
}

static void a_clock_that_steps_back_leaves_the_edges_that_it_passed(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	carry(truth, 1, 5500, false);
	carry(truth, 2, 8500, false);
	carry(truth, 3, 5600, false);
	carry(truth, 4, 7100, false);
	assert_int_equal(edge_at(truth, 6000).newest.number, 1);
	assert_int_equal(edge_at(truth, 8000).newest.number, 1);
	assert_int_equal(edge_at(truth, 9000).newest.number, 4);
	carry(truth, 5, 9500, false);
	assert_int_equal(edge_at(truth, 7000).newest.number, 1);
	assert_int_equal(edge_at(truth, 9000).newest.number, 4);
	assert_int_equal(edge_at(truth, 9000).sink_rx_bytes, 400);
	assert_int_equal(edge_at(truth, 10000).newest.number, 5);
	hs_truth_destroy(truth);
}

static void the_end_of_all_times_has_the_final_state_by_a_clock_that_is_behind(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	struct hs_packet_truth packet_truth = packet_truth_of(0, 1, 100);
	hs_truth_arrive(truth, &packet_truth, 0, 5600, 5500, packet_truth.bytes);
	hs_truth_sink(truth, &packet_truth);
	assert_int_equal(edge_at(truth, INT64_MAX).sink_rx_bytes, 100);
	hs_truth_destroy(truth);
}

static void times_below_0_have_edges_too(void **state)
{
	(void)state;
	struct hs_truth *truth = truth_new();
	carry(truth, 1, -2500, false);
	carry(truth, 2, -2000, false);
	carry(truth, 3, -1, false);
	carry(truth, 4, 1, false);
	assert_null(hs_truth_edge(&truth->flows[0], -3000));
	assert_int_equal(edge_at(truth, -2000).newest.number, 2);
	assert_int_equal(edge_at(truth, -1000).newest.number, 2);
	assert_int_equal(edge_at(truth, 0).newest.number, 3);
	hs_truth_destroy(truth);
}

static void out_of_memory_is_kept(void **state)
{
	(void)state;
	struct hs_truth *truth = NULL;
	unsigned out_of_memory = 0;
	for (long left = 0;; left++) {
		allocations_left = left;
		int rc = hs_truth_create(1, WINDOW, &truth);
		for (int64_t i = 1; rc == 0 && i <= 100; i++)
			carry(truth, (uint64_t)i, 5100 + 500 * i, true);
		bool enough = allocations_left > 0;
		allocations_left = -1;
		if (rc < 0) {
			assert_int_equal(rc, -ENOMEM);
			continue;
		}
		if (enough)
			break;
		out_of_memory += truth->status == -ENOMEM;
		hs_truth_destroy(truth);
	}
	assert_true(out_of_memory > 100);
	assert_int_equal(truth->status, 0);
	assert_int_equal(truth->flows[0].n_reports, 100);
	hs_truth_destroy(truth);
	hs_truth_destroy(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(
					a_stop_has_the_counts_with_its_own_packet_and_no_later_one),
			cmocka_unit_test(
					hops_are_in_the_order_of_first_use_with_what_telemetry_added),
			cmocka_unit_test(telemetry_that_is_lost_was_sent),
			cmocka_unit_test(a_packet_sent_to_several_ports_is_one_transmit),
			cmocka_unit_test(
					a_copy_is_counted_on_the_link_that_made_it_and_on_no_later_one),
			cmocka_unit_test(counts_go_on_where_a_node_begins_another_life),
			cmocka_unit_test(
					of_a_way_that_is_too_long_the_first_stops_and_the_last_are_kept),
			cmocka_unit_test(of_a_packet_that_nobody_monitors_nothing_is_written),
			cmocka_unit_test(
					a_packet_at_the_boundary_belongs_to_the_window_that_ends_there),
			cmocka_unit_test(a_first_packet_exactly_at_a_boundary_is_in_its_edge),
			cmocka_unit_test(every_boundary_of_a_silence_has_the_state_before_it),
			cmocka_unit_test(the_newest_packet_of_an_edge_is_so_in_source_order),
			cmocka_unit_test(a_clock_that_steps_back_leaves_the_edges_that_it_passed),
			cmocka_unit_test(
					the_end_of_all_times_has_the_final_state_by_a_clock_that_is_behind),
			cmocka_unit_test(times_below_0_have_edges_too),
			cmocka_unit_test(out_of_memory_is_kept),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

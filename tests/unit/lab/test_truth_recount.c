// SPDX-License-Identifier: BSD-3-Clause
// Compares the ground truth with plain counters of all events: one for each flow and node, and for
// each flow and pair of nodes. The small network loses, copies and reorders packets on two paths.
// Nodes restart, and a clock steps.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "truth.h"

#include "rng.h"

#include <string.h>

#define NO_FLOW UINT32_MAX
#define WINDOW	INT64_C(1000)

// What had arrived at a node, and left it, when a packet did so.
struct place {
	uint32_t node;
	int64_t shown_ns;
	uint64_t rx_packets, rx_bytes, tx_packets; // tx_packets 0: it did not leave
};

struct packet {
	struct hs_packet_truth packet_truth;
	bool flying, fresh_copy;
	uint32_t to;
	uint32_t n_places;
	struct place places[HS_TRUTH_HOPS + 1];
};

struct arrival {
	uint32_t flow;
	uint64_t number;
	bool telemetry;
	uint32_t n_places;
	struct place places[HS_TRUTH_HOPS + 1];
};

#define SINK	5
#define MOST	64
#define PACKETS 2500
#define FLOWS	2

struct world {
	struct hs_rng rng;
	struct hs_truth *truth;
	int64_t now_ns, offsets[SINK + 1];
	struct packet packets[MOST];
	unsigned n_packets;
	uint64_t numbers[FLOWS + 1];
	struct place counts[FLOWS + 1][SINK + 1]; // [FLOWS]: of packets of no flow
	struct arrival arrivals[4 * PACKETS];
	size_t n_arrivals;
	struct hs_truth_hop hops[FLOWS + 1][SINK + 1][SINK + 1];
};

static bool chance(struct world *world, unsigned percent)
{
	return hs_rng_u32(&world->rng) % 100 < percent;
}

static uint32_t flow_of(const struct packet *packet)
{
	return packet->packet_truth.flow == NO_FLOW ? FLOWS : packet->packet_truth.flow;
}

static struct place *counts_at(struct world *world, const struct packet *packet, uint32_t node)
{
	return &world->counts[flow_of(packet)][node];
}

static void arrive(struct world *world, struct packet *packet, uint32_t node)
{
	struct place *counts = counts_at(world, packet, node);
	counts->rx_packets++;
	counts->rx_bytes += packet->packet_truth.bytes;
	packet->flying = false;
	packet->places[packet->n_places++] = (struct place){
			.node = node,
			.shown_ns = world->now_ns + world->offsets[node],
			.rx_packets = counts->rx_packets,
			.rx_bytes = counts->rx_bytes,
	};
}

static void start_packet(struct world *world)
{
	struct packet *packet = &world->packets[world->n_packets++];
	uint32_t which = hs_rng_u32(&world->rng) % (FLOWS + 1);
	memset(packet, 0, sizeof(*packet));
	packet->packet_truth.flow = which < FLOWS ? which : NO_FLOW;
	packet->packet_truth.number = ++world->numbers[which];
	packet->packet_truth.bytes = 60 + hs_rng_u32(&world->rng) % 1000;
	arrive(world, packet, 0);
	hs_truth_arrive(world->truth, &packet->packet_truth, 0, world->now_ns,
			world->now_ns + world->offsets[0], packet->packet_truth.bytes);
}

static void drop(struct world *world, unsigned index)
{
	world->packets[index] = world->packets[--world->n_packets];
}

static struct hs_truth_hop *hop_to(struct world *world, const struct packet *packet, uint32_t to)
{
	uint32_t from = packet->places[packet->n_places - 1].node;
	struct hs_truth_hop *hop = &world->hops[flow_of(packet)][from][to];
	hop->from = from;
	hop->to = to;
	return hop;
}

static void put_on_link(struct world *world, struct packet *packet, uint32_t to, bool telemetry)
{
	struct place *place = &packet->places[packet->n_places - 1];
	struct hs_truth_hop *hop = hop_to(world, packet, to);
	struct hs_packet_truth *packet_truth = &packet->packet_truth;
	if (!place->tx_packets)
		place->tx_packets = ++counts_at(world, packet, place->node)->tx_packets;
	hs_truth_send(world->truth, packet_truth, to, packet_truth->bytes + 24, telemetry);
	hop->sent_packets++;
	hop->sent_bytes += packet_truth->bytes;
	hop->telemetry_packets += telemetry;
	hop->telemetry_bytes += telemetry ? 24 : 0;
	packet->flying = true;
	packet->to = to;
}

static void send_packet(struct world *world, unsigned index)
{
	static const uint32_t next[SINK][2] = {{1, 2}, {3, 3}, {3, 4}, {5, 4}, {5, 5}};
	struct packet *packet = &world->packets[index];
	uint32_t node = packet->places[packet->n_places - 1].node;
	unsigned direction = hs_rng_u32(&world->rng) % 2;
	bool telemetry = chance(world, 50);
	bool both = next[node][0] != next[node][1] && chance(world, 20);
	if (both) // the packet on the other link is lost
		put_on_link(world, packet, next[node][!direction], telemetry);
	put_on_link(world, packet, next[node][direction], telemetry);
	if (chance(world, 15) && world->n_packets < MOST) {
		struct packet *copy = &world->packets[world->n_packets++];
		*copy = *packet;
		copy->packet_truth.copy = true;
		copy->fresh_copy = true;
	}
	if (chance(world, 8))
		drop(world, index);
}

static void receive_packet(struct world *world, unsigned index)
{
	struct packet *packet = &world->packets[index];
	struct hs_packet_truth *packet_truth = &packet->packet_truth;
	uint32_t node = packet->to;
	hop_to(world, packet, node)->received_packets++;
	hop_to(world, packet, node)->copies += packet->fresh_copy;
	packet->fresh_copy = false;
	arrive(world, packet, node);
	hs_truth_arrive(world->truth, packet_truth, node, world->now_ns,
			world->now_ns + world->offsets[node], packet_truth->bytes);
	if (node != SINK)
		return;
	hs_truth_sink(world->truth, packet_truth);
	if (packet_truth->flow != NO_FLOW) {
		struct arrival *arrival = &world->arrivals[world->n_arrivals++];
		*arrival = (struct arrival){
				.flow = packet_truth->flow,
				.number = packet_truth->number,
				.telemetry = packet_truth->telemetry,
				.n_places = packet->n_places,
		};
		memcpy(arrival->places, packet->places, sizeof(packet->places));
	}
	drop(world, index);
}

static void happen(struct world *world)
{
	world->now_ns += hs_rng_u32(&world->rng) % 8;
	if (hs_rng_u32(&world->rng) % 1000 == 0) {
		uint32_t node = hs_rng_u32(&world->rng) % (SINK + 1);
		hs_truth_restart(world->truth, node);
	}
	if (hs_rng_u32(&world->rng) % 2000 == 0)
		world->offsets[SINK] += (int64_t)(hs_rng_u32(&world->rng) % 4000) - 2000;
	if (world->n_packets == 0 || (world->n_packets < MOST / 2 && chance(world, 30))) {
		start_packet(world);
		return;
	}
	unsigned index = hs_rng_u32(&world->rng) % world->n_packets;
	if (world->packets[index].flying)
		receive_packet(world, index);
	else
		send_packet(world, index);
}

static void check_stops(
		const struct arrival *arrival, const struct hs_truth_stop *stops, uint32_t n)
{
	assert_int_equal(n, arrival->n_places);
	for (uint32_t i = 0; i < n; i++) {
		const struct place *place = &arrival->places[i];
		assert_int_equal(stops[i].node, place->node);
		assert_int_equal(stops[i].rx_shown_ns, place->shown_ns);
		assert_int_equal(stops[i].rx_packets, place->rx_packets);
		assert_int_equal(stops[i].rx_bytes, place->rx_bytes);
		assert_int_equal(stops[i].tx_packets, place->tx_packets);
	}
}

static void check_reports(const struct world *world, uint32_t flow)
{
	size_t n = 0;
	for (size_t i = 0; i < world->n_arrivals; i++) {
		const struct arrival *arrival = &world->arrivals[i];
		if (arrival->flow != flow || !arrival->telemetry)
			continue;
		assert_true(n < world->truth->flows[flow].n_reports);
		const struct hs_truth_report *report = &world->truth->flows[flow].reports[n++];
		assert_int_equal(report->number, arrival->number);
		check_stops(arrival, report->stops, report->n_stops);
	}
	assert_int_equal(n, world->truth->flows[flow].n_reports);
	assert_true(n > 200);
}

static void check_edge(const struct world *world, uint32_t flow, int64_t end_ns)
{
	const struct arrival *newest = NULL, *last = NULL;
	for (size_t i = 0; i < world->n_arrivals; i++) {
		const struct arrival *arrival = &world->arrivals[i];
		if (arrival->flow != flow)
			continue;
		if (arrival->places[arrival->n_places - 1].shown_ns > end_ns)
			break;
		last = arrival;
		if (!newest || arrival->number > newest->number)
			newest = arrival;
	}
	const struct hs_truth_edge *edge = hs_truth_edge(&world->truth->flows[flow], end_ns);
	assert_int_equal(edge != NULL, last != NULL);
	if (!last)
		return;
	assert_int_equal(edge->sink_rx_bytes, last->places[last->n_places - 1].rx_bytes);
	assert_int_equal(edge->newest.number, newest->number);
	check_stops(newest, edge->newest.stops, edge->newest.n_stops);
}

static void check_hops(const struct world *world, uint32_t flow)
{
	const struct hs_truth_flow *of = &world->truth->flows[flow];
	size_t used = 0;
	for (size_t i = 0; i < of->n_hops; i++)
		assert_memory_equal(&of->hops[i],
				&world->hops[flow][of->hops[i].from][of->hops[i].to],
				sizeof(of->hops[i]));
	for (uint32_t from = 0; from <= SINK; from++)
		for (uint32_t to = 0; to <= SINK; to++)
			used += world->hops[flow][from][to].sent_packets > 0;
	assert_int_equal(used, of->n_hops);
}

static void everything_is_as_plain_counters_of_what_happened_say(void **state)
{
	(void)state;
	static struct world world;
	hs_rng_init(&world.rng, 77);
	assert_int_equal(hs_truth_create(FLOWS, WINDOW, &world.truth), 0);
	world.now_ns = 100 * WINDOW;
	while (world.numbers[0] < PACKETS / 3 || world.numbers[1] < PACKETS / 3)
		happen(&world);
	assert_int_equal(world.truth->status, 0);
	for (uint32_t flow = 0; flow < FLOWS; flow++) {
		check_reports(&world, flow);
		check_hops(&world, flow);
		for (int64_t end = 90 * WINDOW; end < world.now_ns + 10 * WINDOW; end += WINDOW)
			check_edge(&world, flow, end);
	}
	hs_truth_destroy(world.truth);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
			cmocka_unit_test(everything_is_as_plain_counters_of_what_happened_say),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "truth.h"

#include "lab_array.h"

#include "u32_map.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Counts of a flow at a node that it passed.
struct hs_truth_counts {
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint32_t life;
};

struct hs_truth_kept {
	uint64_t number;
	bool copy;
	uint32_t n_stops;
	size_t first_stop; // in the flow's stops
};

// The state at the sink, from one arrival to the next.
struct hs_truth_state {
	uint64_t number;
	uint64_t sink_rx_packets, sink_rx_bytes;
	uint32_t n_stops;
};

// The state at all boundaries from the one after the previous edge up to last_shown_ns.
struct hs_truth_kept_edge {
	int64_t last_shown_ns;
	struct hs_truth_state state;
	size_t first_stop;
};

struct hs_truth_flow {
	struct hs_u32_map node_map; // node -> nodes[]
	struct hs_u32_map hop_map;  // from, to -> hops[]
	struct hs_truth_counts *nodes;
	struct hs_truth_hop *hops;
	struct hs_truth_kept *reports;
	struct hs_truth_kept_edge *edges;
	struct hs_truth_stop *stops; // of reports and edges
	size_t n_nodes, nodes_capacity;
	size_t n_hops, hops_capacity;
	size_t n_reports, reports_capacity;
	size_t n_edges, edges_capacity;
	size_t n_stops, stops_capacity;
	bool arrived;
	int64_t first_edge_ns, next_edge_ns; // shown
	struct hs_truth_state state;
	struct hs_truth_stop newest[HS_TRUTH_HOPS + 1]; // state.n_stops of them
};

struct hs_truth {
	struct hs_truth_flow *flows;
	uint32_t n_flows, n_nodes;
	int64_t window_ns;
	int status;
};

int hs_truth_create(uint32_t n_flows, uint32_t n_nodes, int64_t window_ns, struct hs_truth **out)
{
	assert(window_ns > 0);
	struct hs_truth *truth = calloc(1, sizeof(*truth));
	if (!truth)
		return -ENOMEM;
	truth->flows = calloc(n_flows ? n_flows : 1, sizeof(*truth->flows));
	if (!truth->flows) {
		free(truth);
		return -ENOMEM;
	}
	truth->n_flows = n_flows;
	truth->n_nodes = n_nodes;
	truth->window_ns = window_ns;
	*out = truth;
	return 0;
}

void hs_truth_destroy(struct hs_truth *truth)
{
	if (!truth)
		return;
	for (uint32_t i = 0; i < truth->n_flows; i++) {
		struct hs_truth_flow *flow = &truth->flows[i];
		hs_u32_map_fini(&flow->node_map);
		hs_u32_map_fini(&flow->hop_map);
		free(flow->nodes);
		free(flow->hops);
		free(flow->reports);
		free(flow->edges);
		free(flow->stops);
	}
	free(truth->flows);
	free(truth);
}

// ---- growing ----

// Returns whether there is room for n more.
#define RESERVE(flow, array, n)                                                                    \
	HS_LAB_ROOM((flow)->array, (flow)->array##_capacity, (flow)->n_##array + (n))

static struct hs_truth_flow *flow_of(
		struct hs_truth *truth, const struct hs_packet_truth *packet_truth)
{
	return packet_truth->flow < truth->n_flows ? &truth->flows[packet_truth->flow] : NULL;
}

static struct hs_truth_counts *counts_at(
		struct hs_truth *truth, struct hs_truth_flow *flow, uint32_t node)
{
	uint32_t index = hs_u32_map_find(&flow->node_map, node);
	if (index != HS_U32_MAP_NONE)
		return &flow->nodes[index];
	if (!RESERVE(flow, nodes, 1) ||
			hs_u32_map_add(&flow->node_map, node, (uint32_t)flow->n_nodes) < 0) {
		truth->status = -ENOMEM;
		return NULL;
	}
	flow->nodes[flow->n_nodes] = (struct hs_truth_counts){0};
	return &flow->nodes[flow->n_nodes++];
}

static struct hs_truth_hop *hop_between(
		struct hs_truth *truth, struct hs_truth_flow *flow, uint32_t from, uint32_t to)
{
	const uint32_t ends[2] = {from, to};
	uint32_t key = hs_u32_map_hash(ends, sizeof(ends)), probe = 0, index;
	while ((index = hs_u32_map_next(&flow->hop_map, key, &probe)) != HS_U32_MAP_NONE)
		if (flow->hops[index].from == from && flow->hops[index].to == to)
			return &flow->hops[index];
	if (!RESERVE(flow, hops, 1) ||
			hs_u32_map_add(&flow->hop_map, key, (uint32_t)flow->n_hops) < 0) {
		truth->status = -ENOMEM;
		return NULL;
	}
	flow->hops[flow->n_hops] = (struct hs_truth_hop){.from = from, .to = to};
	return &flow->hops[flow->n_hops++];
}

// Returns the index of their first stop in the flow's stops, or SIZE_MAX.
static size_t keep_stops(struct hs_truth *truth, struct hs_truth_flow *flow,
		const struct hs_truth_stop *stops, uint32_t n)
{
	size_t first = flow->n_stops;
	if (!RESERVE(flow, stops, n)) {
		truth->status = -ENOMEM;
		return SIZE_MAX;
	}
	memcpy(&flow->stops[first], stops, n * sizeof(*stops));
	flow->n_stops += n;
	return first;
}

// ---- stamps ----

static void count_received(struct hs_truth *truth, const struct hs_packet_truth *packet_truth,
		struct hs_truth_stop *stop)
{
	struct hs_truth_flow *flow = flow_of(truth, packet_truth);
	struct hs_truth_counts *counts = flow ? counts_at(truth, flow, stop->node) : NULL;
	if (!counts)
		return;
	stop->life = counts->life;
	stop->rx_packets = ++counts->rx_packets;
	stop->rx_bytes = counts->rx_bytes += packet_truth->bytes;
}

static struct hs_truth_stop *latest_stop(struct hs_packet_truth *packet_truth)
{
	assert(packet_truth->n_stops > 0);
	return &packet_truth->stops[packet_truth->n_stops - 1];
}

void hs_truth_enter(struct hs_truth *truth, struct hs_packet_truth *packet_truth, uint32_t node,
		int64_t now_ns, int64_t shown_ns)
{
	assert(node < truth->n_nodes);
	packet_truth->copy = packet_truth->copy_counted = packet_truth->sent =
			packet_truth->telemetry = false;
	packet_truth->unreported = false;
	packet_truth->n_stops = 1;
	packet_truth->missed_stops = 0;
	packet_truth->stops[0] = (struct hs_truth_stop){.node = node,
			.rx_ns = now_ns,
			.rx_shown_ns = shown_ns,
			.wire_bytes = packet_truth->bytes};
	count_received(truth, packet_truth, &packet_truth->stops[0]);
}

static uint32_t added_bytes(const struct hs_packet_truth *packet_truth, uint32_t wire_bytes)
{
	return wire_bytes > packet_truth->bytes ? wire_bytes - packet_truth->bytes : 0;
}

void hs_truth_send(struct hs_truth *truth, struct hs_packet_truth *packet_truth, uint32_t to,
		uint32_t wire_bytes, bool telemetry)
{
	struct hs_truth_stop *stop = latest_stop(packet_truth);
	struct hs_truth_flow *flow = flow_of(truth, packet_truth);
	bool first = !packet_truth->sent;
	assert(to < truth->n_nodes);
	packet_truth->sent = true;
	packet_truth->telemetry = telemetry;
	struct hs_truth_counts *counts = flow ? counts_at(truth, flow, stop->node) : NULL;
	struct hs_truth_hop *hop = flow ? hop_between(truth, flow, stop->node, to) : NULL;
	if (!counts || !hop)
		return;
	if (first) {
		stop->tx_packets = ++counts->tx_packets;
		stop->tx_bytes = counts->tx_bytes += packet_truth->bytes;
	}
	hop->sent_packets++;
	hop->sent_bytes += packet_truth->bytes;
	if (!telemetry)
		return;
	hop->telemetry_packets++;
	hop->telemetry_bytes += added_bytes(packet_truth, wire_bytes);
}

static void count_hop(struct hs_truth *truth, struct hs_packet_truth *packet_truth, uint32_t to,
		uint32_t wire_bytes)
{
	struct hs_truth_flow *flow = flow_of(truth, packet_truth);
	uint32_t from = latest_stop(packet_truth)->node;
	struct hs_truth_hop *hop = flow ? hop_between(truth, flow, from, to) : NULL;
	if (!hop)
		return;
	hop->received_packets++;
	hop->received_bytes += packet_truth->bytes;
	hop->copies += packet_truth->copy && !packet_truth->copy_counted;
	if (packet_truth->telemetry)
		hop->received_telemetry_bytes += added_bytes(packet_truth, wire_bytes);
}

void hs_truth_receive(struct hs_truth *truth, struct hs_packet_truth *packet_truth, uint32_t node,
		int64_t now_ns, int64_t shown_ns, uint32_t wire_bytes)
{
	assert(node < truth->n_nodes);
	count_hop(truth, packet_truth, node, wire_bytes);
	packet_truth->copy_counted = packet_truth->copy;
	packet_truth->sent = false;
	if (packet_truth->n_stops <= HS_TRUTH_HOPS)
		packet_truth->n_stops++;
	else if (packet_truth->missed_stops < UINT8_MAX)
		packet_truth->missed_stops++;
	struct hs_truth_stop *stop = latest_stop(packet_truth);
	*stop = (struct hs_truth_stop){.node = node,
			.rx_ns = now_ns,
			.rx_shown_ns = shown_ns,
			.wire_bytes = wire_bytes};
	count_received(truth, packet_truth, stop);
}

void hs_truth_forget(struct hs_truth *truth, uint32_t index, uint32_t node)
{
	struct hs_truth_flow *flow = &truth->flows[index];
	uint32_t at = hs_u32_map_find(&flow->node_map, node);
	if (at != HS_U32_MAP_NONE)
		flow->nodes[at].life++;
}

void hs_truth_restart(struct hs_truth *truth, uint32_t node)
{
	for (uint32_t i = 0; i < truth->n_flows; i++)
		hs_truth_forget(truth, i, node);
}

// ---- the sink ----

// Returns the first end of a window that is not before this time.
static int64_t boundary_from(const struct hs_truth *truth, int64_t shown_ns)
{
	int64_t n = shown_ns / truth->window_ns + (shown_ns % truth->window_ns > 0);
	return n * truth->window_ns;
}

// Keeps the state for the boundaries that this arrival is the first to pass. If a clock went back,
// ends that it had passed before keep their state.
static void pass_boundaries(struct hs_truth *truth, struct hs_truth_flow *flow,
		const struct hs_truth_stop *stop)
{
	if (!flow->arrived) {
		flow->first_edge_ns = flow->next_edge_ns = boundary_from(truth, stop->rx_shown_ns);
		return;
	}
	if (stop->rx_shown_ns <= flow->next_edge_ns)
		return;
	struct hs_truth_kept_edge edge = {
			.last_shown_ns = boundary_from(truth, stop->rx_shown_ns) - truth->window_ns,
			.state = flow->state,
			.first_stop = keep_stops(truth, flow, flow->newest, flow->state.n_stops),
	};
	if (!RESERVE(flow, edges, 1))
		truth->status = -ENOMEM;
	if (truth->status < 0)
		return;
	flow->edges[flow->n_edges++] = edge;
	flow->next_edge_ns = edge.last_shown_ns + truth->window_ns;
}

static void note_arrival(struct hs_truth_flow *flow, const struct hs_packet_truth *packet_truth)
{
	const struct hs_truth_stop *stop = &packet_truth->stops[packet_truth->n_stops - 1];
	struct hs_truth_state *state = &flow->state;
	state->sink_rx_packets = stop->rx_packets;
	state->sink_rx_bytes = stop->rx_bytes;
	if (flow->arrived && packet_truth->number <= state->number)
		return;
	flow->arrived = true;
	state->number = packet_truth->number;
	state->n_stops = packet_truth->n_stops;
	memcpy(flow->newest, packet_truth->stops, packet_truth->n_stops * sizeof(*flow->newest));
}

static void keep_report(struct hs_truth *truth, struct hs_truth_flow *flow,
		const struct hs_packet_truth *packet_truth)
{
	struct hs_truth_kept report = {
			.number = packet_truth->number,
			.copy = packet_truth->copy,
			.n_stops = packet_truth->n_stops,
			.first_stop = keep_stops(
					truth, flow, packet_truth->stops, packet_truth->n_stops),
	};
	if (!RESERVE(flow, reports, 1))
		truth->status = -ENOMEM;
	if (truth->status == 0)
		flow->reports[flow->n_reports++] = report;
}

void hs_truth_sink(struct hs_truth *truth, const struct hs_packet_truth *packet_truth)
{
	struct hs_truth_flow *flow = flow_of(truth, packet_truth);
	assert(packet_truth->n_stops > 0);
	if (!flow || truth->status < 0)
		return;
	pass_boundaries(truth, flow, &packet_truth->stops[packet_truth->n_stops - 1]);
	note_arrival(flow, packet_truth);
	if (packet_truth->telemetry && !packet_truth->unreported)
		keep_report(truth, flow, packet_truth);
}

// ---- reading, after the run ----

int hs_truth_status(const struct hs_truth *truth)
{
	return truth->status;
}

size_t hs_truth_reports(const struct hs_truth *truth, uint32_t flow)
{
	return truth->status < 0 ? 0 : truth->flows[flow].n_reports;
}

void hs_truth_report(const struct hs_truth *truth, uint32_t flow, size_t index,
		struct hs_truth_report *report)
{
	const struct hs_truth_flow *of = &truth->flows[flow];
	assert(index < of->n_reports);
	const struct hs_truth_kept *kept = &of->reports[index];
	const struct hs_truth_stop *stops = &of->stops[kept->first_stop];
	*report = (struct hs_truth_report){
			.number = kept->number,
			.copy = kept->copy,
			.sink_ns = stops[kept->n_stops - 1].rx_ns,
			.sink_shown_ns = stops[kept->n_stops - 1].rx_shown_ns,
			.n_stops = kept->n_stops,
			.stops = stops,
	};
}

static const struct hs_truth_kept_edge *find_edge(
		const struct hs_truth_flow *flow, int64_t end_shown_ns)
{
	size_t low = 0, high = flow->n_edges;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (flow->edges[middle].last_shown_ns < end_shown_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < flow->n_edges ? &flow->edges[low] : NULL;
}

bool hs_truth_edge(const struct hs_truth *truth, uint32_t flow, int64_t end_shown_ns,
		struct hs_truth_edge *edge)
{
	const struct hs_truth_flow *of = &truth->flows[flow];
	if (truth->status < 0 || !of->arrived || end_shown_ns < of->first_edge_ns)
		return false;
	const struct hs_truth_kept_edge *kept = find_edge(of, end_shown_ns);
	const struct hs_truth_state *state = kept ? &kept->state : &of->state;
	*edge = (struct hs_truth_edge){
			.number = state->number,
			.sink_rx_bytes = state->sink_rx_bytes,
			.sink_rx_packets = state->sink_rx_packets,
			.n_stops = state->n_stops,
			.stops = kept ? &of->stops[kept->first_stop] : of->newest,
	};
	return true;
}

size_t hs_truth_hops(const struct hs_truth *truth, uint32_t flow)
{
	return truth->status < 0 ? 0 : truth->flows[flow].n_hops;
}

void hs_truth_hop(
		const struct hs_truth *truth, uint32_t flow, size_t index, struct hs_truth_hop *hop)
{
	assert(index < truth->flows[flow].n_hops);
	*hop = truth->flows[flow].hops[index];
}

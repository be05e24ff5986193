// SPDX-License-Identifier: BSD-3-Clause
#include "truth.h"

#include "array.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

// Counts of a flow at a node that it passed.
struct hs_truth_counts {
	uint32_t node, life;
	uint64_t rx_packets, rx_bytes, tx_packets;
};

int hs_truth_create(uint32_t n_flows, int64_t window_ns, struct hs_truth **out)
{
	assert(window_ns > 0);
	struct hs_truth *truth = calloc(1, sizeof(*truth) + n_flows * sizeof(truth->flows[0]));
	if (!truth)
		return -ENOMEM;
	truth->n_flows = n_flows;
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
		for (size_t j = 0; j < flow->n_reports; j++)
			free((void *)flow->reports[j].stops);
		for (size_t j = 0; j < flow->n_edges; j++)
			free((void *)flow->edges[j].newest.stops);
		free(flow->nodes);
		free(flow->hops);
		free(flow->reports);
		free(flow->edges);
	}
	free(truth);
}

// ---- growing ----

// Adds a member with this value to one of the flow's arrays. Returns it, or NULL if memory is out.
#define ADD(truth, flow, array, ...)                                                               \
	({                                                                                         \
		__typeof__((flow)->array) added =                                                  \
				HS_ARRAY_APPEND((flow)->array, (flow)->n_##array, __VA_ARGS__);    \
		if (!added)                                                                        \
			(truth)->status = -ENOMEM;                                                 \
		added;                                                                             \
	})

static struct hs_truth_stop *keep_stops(
		struct hs_truth *truth, const struct hs_truth_stop *stops, uint32_t n)
{
	struct hs_truth_stop *kept = malloc(n * sizeof(*kept));
	if (!kept) {
		truth->status = -ENOMEM;
		return NULL;
	}
	return memcpy(kept, stops, n * sizeof(*kept));
}

static struct hs_truth_counts *counts_at(
		struct hs_truth *truth, struct hs_truth_flow *flow, uint32_t node)
{
	for (size_t i = 0; i < flow->n_nodes; i++)
		if (flow->nodes[i].node == node)
			return &flow->nodes[i];
	return ADD(truth, flow, nodes, (struct hs_truth_counts){.node = node});
}

static struct hs_truth_hop *hop_between(
		struct hs_truth *truth, struct hs_truth_flow *flow, uint32_t from, uint32_t to)
{
	for (size_t i = 0; i < flow->n_hops; i++)
		if (flow->hops[i].from == from && flow->hops[i].to == to)
			return &flow->hops[i];
	return ADD(truth, flow, hops, (struct hs_truth_hop){.from = from, .to = to});
}

// ---- stamps ----

static struct hs_truth_flow *flow_of(
		struct hs_truth *truth, const struct hs_packet_truth *packet_truth)
{
	return packet_truth->flow < truth->n_flows ? &truth->flows[packet_truth->flow] : NULL;
}

void hs_truth_arrive(struct hs_truth *truth, struct hs_packet_truth *packet_truth, uint32_t node,
		int64_t now_ns, int64_t shown_ns, uint32_t wire_bytes)
{
	struct hs_truth_flow *flow = flow_of(truth, packet_truth);
	uint32_t n = packet_truth->n_stops, place = n < HS_TRUTH_HOPS ? n : HS_TRUTH_HOPS;
	struct hs_truth_stop *stop = &packet_truth->stops[place];
	if (!flow)
		return;
	struct hs_truth_hop *hop =
			n ? hop_between(truth, flow, packet_truth->stops[n - 1].node, node) : NULL;
	if (hop) {
		hop->received_packets++;
		hop->copies += packet_truth->copy;
	}
	packet_truth->copy = packet_truth->sent = false;
	packet_truth->n_stops = (uint8_t)(place + 1);
	*stop = (struct hs_truth_stop){.node = node,
			.rx_ns = now_ns,
			.rx_shown_ns = shown_ns,
			.wire_bytes = wire_bytes};
	struct hs_truth_counts *counts = counts_at(truth, flow, node);
	if (!counts)
		return;
	stop->life = counts->life;
	stop->rx_packets = ++counts->rx_packets;
	stop->rx_bytes = counts->rx_bytes += packet_truth->bytes;
}

void hs_truth_send(struct hs_truth *truth, struct hs_packet_truth *packet_truth, uint32_t to,
		uint32_t wire_bytes, bool telemetry)
{
	struct hs_truth_flow *flow = flow_of(truth, packet_truth);
	uint32_t bytes = packet_truth->bytes;
	if (!flow)
		return;
	assert(packet_truth->n_stops > 0);
	struct hs_truth_stop *stop = &packet_truth->stops[packet_truth->n_stops - 1];
	struct hs_truth_counts *counts = counts_at(truth, flow, stop->node);
	struct hs_truth_hop *hop = hop_between(truth, flow, stop->node, to);
	if (!counts || !hop)
		return;
	if (!packet_truth->sent)
		stop->tx_packets = ++counts->tx_packets;
	packet_truth->sent = true;
	packet_truth->telemetry = telemetry;
	hop->sent_packets++;
	hop->sent_bytes += bytes;
	hop->telemetry_packets += telemetry;
	if (telemetry && wire_bytes > bytes)
		hop->telemetry_bytes += wire_bytes - bytes;
}

void hs_truth_forget(struct hs_truth *truth, uint32_t index, uint32_t node)
{
	struct hs_truth_flow *flow = &truth->flows[index];
	for (size_t i = 0; i < flow->n_nodes; i++)
		flow->nodes[i].life += flow->nodes[i].node == node;
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
static void pass_boundaries(struct hs_truth *truth, struct hs_truth_flow *flow, int64_t shown_ns)
{
	size_t n = flow->n_edges;
	if (n && shown_ns <= flow->edges[n - 1].last_shown_ns + truth->window_ns)
		return;
	struct hs_truth_edge *edge = ADD(truth, flow, edges, flow->state);
	if (!edge)
		return;
	edge->last_shown_ns = boundary_from(truth, shown_ns) - truth->window_ns;
	edge->newest.stops = keep_stops(truth, flow->stops, edge->newest.n_stops);
}

void hs_truth_sink(struct hs_truth *truth, const struct hs_packet_truth *packet_truth)
{
	struct hs_truth_flow *flow = flow_of(truth, packet_truth);
	uint32_t n = packet_truth->n_stops;
	if (!flow)
		return;
	assert(n > 0);
	const struct hs_truth_stop *sink = &packet_truth->stops[n - 1];
	struct hs_truth_report report = {
			.number = packet_truth->number,
			.sink_ns = sink->rx_ns,
			.sink_shown_ns = sink->rx_shown_ns,
			.n_stops = n,
			.stops = flow->stops,
	};
	pass_boundaries(truth, flow, sink->rx_shown_ns);
	flow->state.sink_rx_bytes = sink->rx_bytes;
	if (!flow->state.newest.n_stops || report.number > flow->state.newest.number) {
		memcpy(flow->stops, packet_truth->stops, n * sizeof(*flow->stops));
		flow->state.newest = report;
	}
	if (!packet_truth->telemetry)
		return;
	struct hs_truth_report *kept = ADD(truth, flow, reports, report);
	if (kept)
		kept->stops = keep_stops(truth, packet_truth->stops, n);
}

// ---- reading, after the run ----

const struct hs_truth_edge *hs_truth_edge(const struct hs_truth_flow *flow, int64_t end_shown_ns)
{
	size_t low = 0, high = flow->n_edges;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (flow->edges[middle].last_shown_ns < end_shown_ns)
			low = middle + 1;
		else
			high = middle;
	}
	const struct hs_truth_edge *edge = low < flow->n_edges ? &flow->edges[low] : &flow->state;
	return edge->newest.n_stops ? edge : NULL;
}

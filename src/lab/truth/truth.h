// SPDX-License-Identifier: BSD-3-Clause
// The ground truth: what happened to exactly these packets. The lab records it beside the data path
// and never reads it from telemetry. A packet carries its packet truth in the buffer's private
// area, not on the wire. The lab stamps it when the packet arrives at a node and when the node
// sends it.
//
// Counts are of a flow at a node, as rules 1 to 3 of docs/metrics.md define them, but made from the
// packets that arrived and left. Bytes are those of the frame as its host made it. If a node
// restarts and forgets its counts, these counts continue.
//
// Thread rule: owner. Times are true time unless named "shown", which is the node's own clock.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Links on the path of one packet. Of a longer path everything is counted, but only the first stops
// and the latest stop are recorded.
#define HS_TRUTH_HOPS 16

// A packet at one node; [0] is the source. tx_*: counts of the flow there when this packet had been
// sent, including it (0: it was not sent on). rx_*: counts when it had been received.
struct hs_truth_stop {
	uint32_t node;	// index
	uint32_t depth; // that it found in the queue of its port, if this stands in the node
	int64_t rx_ns, rx_shown_ns;
	uint64_t rx_packets, rx_bytes, tx_packets;
	uint32_t wire_bytes; // of the frame as it came over the link, with telemetry
	uint32_t life;	     // of the node, for this flow, from 0
	uint32_t latency_ns; // from its arrival to its departure
	float utilisation;   // of its port, as depth
};

struct hs_packet_truth {
	uint32_t traffic; // entry of the scenario
	uint32_t flow;	  // HS_NO_INDEX: not monitored
	bool reply;
	bool copy;	// made by duplication on the latest link, by the engine
	bool sent;	// at the latest stop: a packet sent to several ports counts once
	bool telemetry; // it carried telemetry that a sink reports on the latest link
	uint8_t n_stops;
	uint8_t labels;	 // items of INT-label that it had when it left the latest node
	bool host_label; // and the port to its host labelled it
	uint32_t bytes;	 // of the frame as its host made it
	uint32_t port;	 // of the engine: that it is under way to
	int64_t came_ns; // to the node that it is at
	uint64_t number;
	struct hs_truth_stop stops[HS_TRUTH_HOPS + 1];
};

// A packet that carried telemetry to its sink: the content of a perfect report.
struct hs_truth_report {
	uint64_t number; // place in source order
	int64_t sink_ns, sink_shown_ns;
	uint32_t n_stops;
	const struct hs_truth_stop *stops; // [n_stops - 1] is the sink
};

// The state of a flow at a time, from all packets that had reached its sink. Windows that end
// between two reports need this state.
struct hs_truth_edge {
	int64_t last_shown_ns;	       // the last end of a window for which this is the state
	struct hs_truth_report newest; // in source order; without or with telemetry
	uint64_t sink_rx_bytes;
};

// A flow on one hop over the whole run: from the node, to the node.
struct hs_truth_hop {
	uint32_t from, to; // node indices
	uint64_t sent_packets, sent_bytes;
	uint64_t received_packets;
	uint64_t copies;			     // made by duplication; not in sent_packets
	uint64_t telemetry_packets, telemetry_bytes; // sent with telemetry; bytes of telemetry
};

// Reports and edges own their stops. A flow passes few nodes and links, so that a search among them
// is short.
struct hs_truth_flow {
	struct hs_truth_report *reports; // in the order of arrival at the sink
	struct hs_truth_hop *hops;	 // in the order of their first use
	struct hs_truth_counts *nodes;	 // of the nodes that it passed
	struct hs_truth_edge *edges;	 // in their order
	size_t n_reports, n_hops, n_nodes, n_edges;
	struct hs_truth_edge state; // has these stops; none before the first arrival
	struct hs_truth_stop stops[HS_TRUTH_HOPS + 1];
};

struct hs_truth {
	uint32_t n_flows;
	int64_t window_ns;
	int status; // -ENOMEM: memory ran out during the run, so that the truth is incomplete
	struct hs_truth_flow flows[];
};

// Returns 0 or -ENOMEM. destroy accepts NULL.
int hs_truth_create(uint32_t n_flows, int64_t window_ns, struct hs_truth **truth);
void hs_truth_destroy(struct hs_truth *truth);

// ---- stamps, by the engine, of all packets: those that are not monitored stay as they are ----

// Notes that the packet arrived at a node: at its source from its host (n_stops is 0 then), later
// over a link. wire_bytes includes telemetry.
void hs_truth_arrive(struct hs_truth *truth, struct hs_packet_truth *packet_truth, uint32_t node,
		int64_t now_ns, int64_t shown_ns, uint32_t wire_bytes);
// Notes that the node sends the packet into a link towards another node.
void hs_truth_send(struct hs_truth *truth, struct hs_packet_truth *packet_truth, uint32_t to,
		uint32_t wire_bytes, bool telemetry);
// Notes that the node at the packet's latest stop delivered the packet to a host. This node is its
// sink.
void hs_truth_sink(struct hs_truth *truth, const struct hs_packet_truth *packet_truth);
// Notes that a node forgot its counts of a flow, because the flow's rule was removed.
void hs_truth_forget(struct hs_truth *truth, uint32_t flow, uint32_t node);
// Notes that a node forgot everything.
void hs_truth_restart(struct hs_truth *truth, uint32_t node);

// Returns the state at the end of the window (start, end], when the sink's clock first passed it.
// Beyond the last arrival it is the final state. Returns NULL if nothing had arrived. The result is
// valid until the next stamp.
const struct hs_truth_edge *hs_truth_edge(const struct hs_truth_flow *flow, int64_t end_shown_ns);

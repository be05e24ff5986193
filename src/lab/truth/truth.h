// SPDX-License-Identifier: BSD-3-Clause
// The ground truth: what happened to the very packets, written down by the lab beside the data path
// and never read from telemetry. A packet carries its packet truth (in the buffer's private area,
// not on the wire); nodes stamp it as it arrives and as it is sent.
//
// Counts are of a flow at a node, as METRICS 1 to 3 define them, but made here of what came and
// went: bytes are those of the frame as its host made it. They go on where a node forgets its own,
// in its next life. Thread rule: owner. Times: true unless named "shown", which is the node's own
// clock.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Links on the way of one packet. Of a longer way all is counted, but only the first stops and the
// latest are recorded.
#define HS_TRUTH_HOPS 16

struct hs_truth;

// At one node, [0] the source. tx_*: of the flow there when this packet had been sent, itself
// included (0: it was not sent on); rx_*: when it had been received.
struct hs_truth_stop {
	uint32_t node; // index
	int64_t rx_ns, rx_shown_ns;
	uint64_t rx_packets, rx_bytes, tx_packets, tx_bytes;
	uint32_t wire_bytes; // of the frame as it came over the link, telemetry included
	uint32_t life;	     // of the node, as far as the flow is concerned, from 0
};

struct hs_packet_truth {
	uint32_t serial;  // as in the buffer's dynamic field: else the packet truth is another
			  // packet's
	uint32_t traffic; // entry of the scenario
	uint32_t flow;	  // HS_NO_INDEX: not monitored
	bool reply;
	bool copy;	   // made by a link's duplication: hs_truth_copy
	bool copy_counted; // on the link that made it
	bool sent;	   // at the latest stop: sent to several ports it still counts once
	bool telemetry;	   // carried some on the latest link
	bool unreported;   // but none that a sink reports: a request, or reports on their way
	uint8_t n_stops;
	uint8_t missed_stops; // between stops[HS_TRUTH_HOPS - 1] and the latest
	uint32_t bytes;	      // of the frame as its host made it
	uint64_t number;
	struct hs_truth_stop stops[HS_TRUTH_HOPS + 1];
};

// A packet that carried telemetry to its sink: what a perfect report of it would say.
struct hs_truth_report {
	uint64_t number; // in source order
	bool copy;
	int64_t sink_ns, sink_shown_ns;
	uint32_t n_stops;
	const struct hs_truth_stop *stops; // [n_stops - 1] is the sink
};

// What every packet of a flow that was at its sink by some time said of each stop: for windows that
// end between reports.
struct hs_truth_edge {
	uint64_t number; // of the newest packet
	uint64_t sink_rx_bytes, sink_rx_packets;
	uint32_t n_stops;
	const struct hs_truth_stop *stops; // of the newest packet (source order) that had arrived
};

// Of a flow on one hop over the whole run: from the node, to the node.
struct hs_truth_hop {
	uint32_t from, to; // node indices
	uint64_t sent_packets, sent_bytes;
	uint64_t received_packets, received_bytes;
	uint64_t copies;			     // of them made by duplication
	uint64_t telemetry_packets, telemetry_bytes; // sent with telemetry; bytes it added
	uint64_t received_telemetry_bytes;	     // of those, what came
};

// 0 or -ENOMEM. destroy accepts NULL.
int hs_truth_create(uint32_t n_flows, uint32_t n_nodes, int64_t window_ns, struct hs_truth **truth);
void hs_truth_destroy(struct hs_truth *truth);

// ---- stamps, by the engine ----
// Of packets that are not monitored, only the stops are written.

// From its host, at its source. traffic, flow, reply, bytes and number are set.
void hs_truth_enter(struct hs_truth *truth, struct hs_packet_truth *packet_truth, uint32_t node,
		int64_t now_ns, int64_t shown_ns);
// The node handed it to a link towards another node; wire_bytes with telemetry.
void hs_truth_send(struct hs_truth *truth, struct hs_packet_truth *packet_truth, uint32_t to,
		uint32_t wire_bytes, bool telemetry);
// A link's duplication made the packet of this packet's truth, a copy of another's.
static inline void hs_truth_copy(struct hs_packet_truth *packet_truth)
{
	packet_truth->copy = true;
	packet_truth->copy_counted = false;
}
// It came over a link.
void hs_truth_receive(struct hs_truth *truth, struct hs_packet_truth *packet_truth, uint32_t node,
		int64_t now_ns, int64_t shown_ns, uint32_t wire_bytes);
// The node at its stop handed it to a host: it was the sink. Only for monitored flows.
void hs_truth_sink(struct hs_truth *truth, const struct hs_packet_truth *packet_truth);
// A node forgot what it had counted of a flow: its rule was taken out.
void hs_truth_forget(struct hs_truth *truth, uint32_t flow, uint32_t node);
// A node forgot everything.
void hs_truth_restart(struct hs_truth *truth, uint32_t node);

// ---- reading, after the run ----

// In the order of arrival at the sink. Nothing is known where memory was out on the way (-ENOMEM is
// kept and returned by hs_truth_status): 0 and false everywhere. What these hand out is valid until
// the next stamp.
size_t hs_truth_reports(const struct hs_truth *truth, uint32_t flow);
void hs_truth_report(const struct hs_truth *truth, uint32_t flow, size_t index,
		struct hs_truth_report *report);
// At the end of the window (start, end]: when the sink's clock first passed it. Beyond the last
// arrival the state is the final one. False: nothing had arrived.
bool hs_truth_edge(const struct hs_truth *truth, uint32_t flow, int64_t end_shown_ns,
		struct hs_truth_edge *edge);
// In the order of their first use.
size_t hs_truth_hops(const struct hs_truth *truth, uint32_t flow);
void hs_truth_hop(const struct hs_truth *truth, uint32_t flow, size_t index,
		struct hs_truth_hop *hop);
int hs_truth_status(const struct hs_truth *truth);

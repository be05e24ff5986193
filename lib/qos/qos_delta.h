// SPDX-License-Identifier: BSD-3-Clause
// A step from one report of a flow to the next: the nodes that both reports have, and the
// differences of their counters.
//
// Thread rule: any; values.
#pragma once

#include "report.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_QOS_MAX_LINKS    (HS_TELEMETRY_MAX_HOPS + 1) // of one path
#define HS_QOS_MOST_PACKETS (1ll << 40)			// in one step: no flow has more

// Adds numbers that peers sent. Implausible numbers may wrap, which is no undefined behaviour.
static inline int64_t hs_qos_plus(int64_t a, int64_t b)
{
	return (int64_t)((uint64_t)a + (uint64_t)b);
}

// The transit nodes that both reports passed, in path order, as indices into their hops[]. Link i
// runs from node i - 1 (or the source) to node i (or the sink). If a link is not `joined`, the two
// paths differ between its nodes, and no loss between them is charged to a link or node.
struct hs_qos_chain {
	unsigned n;
	uint8_t at_a[HS_TELEMETRY_MAX_HOPS];
	uint8_t at_b[HS_TELEMETRY_MAX_HOPS];
	bool joined[HS_QOS_MAX_LINKS];
};

struct hs_qos_delta {
	uint32_t has; // enum hs_qos_has: LOSS, NODE_LOSS, BYTES, SPAN, RX_PACKETS
	int64_t lost, node_lost, tx, rx, rx_bytes;
	int64_t span_start_ns, span_end_ns; // clock of the link's far end
};

enum hs_qos_step_flag {
	HS_QOS_STEP_AMBIGUOUS = 1 << 0, // the multiple of packets_wrap of some link is not known
	HS_QOS_STEP_TRANSIT_RESET = 1 << 1, // some node's counts began anew: links have no values
	HS_QOS_STEP_SOURCE_RESET = 1 << 2, // the source's counts began anew: the step has no values
	HS_QOS_STEP_DOUBTFUL = 1 << 3,	   // a restart, unless packets were under way in a pause
	HS_QOS_STEP_RESETS = HS_QOS_STEP_TRANSIT_RESET | HS_QOS_STEP_SOURCE_RESET,
};

struct hs_qos_limits {
	uint32_t slack_packets; // how far packets may be out of order
	uint64_t packets_per_s; // highest rate seen at any node; 0: not known yet
	int64_t under_way;	// packets that reordering may explain, beyond the usual
	int64_t missing;	// packets that were sent before and may still come
	uint64_t packets_wrap;	// hops' counts of packets are modulo this: 65536 where they have 16
				// bits
};

struct hs_qos_step {
	uint32_t flags;
	int64_t most; // packets at the node that counted most
	struct hs_qos_delta e2e;
	struct hs_qos_delta links[HS_QOS_MAX_LINKS]; // chain->n + 1 of them
};

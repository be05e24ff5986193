// SPDX-License-Identifier: BSD-3-Clause
// The differences of two reports' counts along the path from source to sink. For qos_step.c and
// qos_restart.c.
//
// Thread rule: any.
#pragma once

#include "qos_delta.h"

// The difference between two successive counts along the path: packets lost on a link or in a node.
struct hs_qos_diff {
	int64_t value;
	int64_t modulo;	     // the value that the counters alone give
	uint32_t lost_bytes; // modulo 2^32
	uint16_t link;
	bool node;    // lost in the node at the end of `link`, not on the link
	bool charged; // charged to `link`; false: only in the sum
	bool has_bytes;
};

struct hs_qos_walk {
	const struct hs_report *a, *b;
	const struct hs_qos_chain *chain;
	int64_t slack;
	int64_t under_way, missing;
	int64_t wrap;	  // hops' counts of packets are modulo this
	bool has_source;  // both reports have the source's count of packets
	int64_t sent;	  // by the source
	int64_t received; // by the sink
	int64_t received_bytes;
	int64_t frame_bytes; // mean; 0: unknown
	int64_t may_be_sent; // packets: `sent`, or if not known, what time and rate allow
	unsigned n;
	struct hs_qos_diff diffs[2 * HS_TELEMETRY_MAX_HOPS + 1];
};

static inline const struct hs_hop *hs_qos_hop_a(const struct hs_qos_walk *walk, unsigned i)
{
	return &walk->a->telemetry.hops[walk->chain->at_a[i]];
}

static inline const struct hs_hop *hs_qos_hop_b(const struct hs_qos_walk *walk, unsigned i)
{
	return &walk->b->telemetry.hops[walk->chain->at_b[i]];
}

static inline uint16_t hs_qos_hop_bits(const struct hs_qos_walk *walk, unsigned i)
{
	return hs_qos_hop_a(walk, i)->bitmap & hs_qos_hop_b(walk, i)->bitmap;
}

static inline uint16_t hs_qos_e2e_bits(const struct hs_qos_walk *walk)
{
	return walk->a->telemetry.e2e.bitmap & walk->b->telemetry.e2e.bitmap;
}

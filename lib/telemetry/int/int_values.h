// SPDX-License-Identifier: BSD-3-Clause
// The versions of INT, and a node's values of a packet.
//
// Thread rule: any; values.
#pragma once

#include <stdint.h>

enum hs_int_version {
	HS_INT_2016_06,
	HS_INT_0_5,
	HS_INT_1_0,
	HS_INT_2_1, // and 2.0, which has another gpe_protocol
	HS_INT_N_VERSIONS,
};

// A node's values of a packet. Only the values of `has` are valid. For each other value, the
// version's "not available" is written. For a value that is too wide for the version, an id is
// written as "not available", a number as the greatest one, and a time by its low bits.
struct hs_int_values {
	uint32_t has; // enum hs_int_has
	uint32_t node_id;
	uint32_t ingress_port; // level 1: physical
	uint32_t egress_port;
	uint32_t ingress_port_l2; // level 2: logical
	uint32_t egress_port_l2;
	uint32_t queue_id;
	uint32_t queue_packets;
	uint32_t queue_congestion;
	uint32_t link_utilisation;
	uint32_t buffer_id;
	uint32_t buffer_used;
	uint32_t checksum_complement; // decoded only: the codec computes it
	uint64_t hop_latency_ns;
	uint64_t ingress_ns;
	uint64_t egress_ns;
};

enum hs_int_has {
	HS_INT_HAS_NODE_ID = 1 << 0,
	HS_INT_HAS_INGRESS_PORT = 1 << 1,
	HS_INT_HAS_EGRESS_PORT = 1 << 2,
	HS_INT_HAS_INGRESS_PORT_L2 = 1 << 3,
	HS_INT_HAS_EGRESS_PORT_L2 = 1 << 4,
	HS_INT_HAS_HOP_LATENCY = 1 << 5,
	HS_INT_HAS_QUEUE_ID = 1 << 6,
	HS_INT_HAS_QUEUE_PACKETS = 1 << 7,
	HS_INT_HAS_INGRESS_NS = 1 << 8,
	HS_INT_HAS_EGRESS_NS = 1 << 9,
	HS_INT_HAS_UTILISATION = 1 << 10,
	HS_INT_HAS_BUFFER_ID = 1 << 11,
	HS_INT_HAS_BUFFER_USED = 1 << 12,
	HS_INT_HAS_CONGESTION = 1 << 13,
	HS_INT_HAS_COMPLEMENT = 1 << 14,
};

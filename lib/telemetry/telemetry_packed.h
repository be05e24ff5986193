// SPDX-License-Identifier: BSD-3-Clause
// The layout of a report in the memory of a monitor, which keeps a thousand reports of each flow.
//
// Thread rule: owner.
#pragma once

#include <assert.h>
#include <stdint.h>

// The fixed part of a report, followed by its hops: 4 bytes of id and bitmap, then only the fields
// of the bitmap. If ids or counts of packets need more than 16 bits, the hops are kept as struct
// hs_hop.
struct hs_packed {
	int64_t tag;
	int64_t sink_ts_ns;
	uint64_t sink_rx_packets;
	uint64_t sink_rx_bytes;
	uint64_t ts_ns;
	uint32_t int_packets, tx_packets, tx_bytes;
	uint32_t trace_type;
	uint16_t e2e_bitmap;
	uint8_t n_hops;
	uint8_t form;
	uint8_t hops[];
};

// Form of the hops. Local values of nodes follow the hops.
#define HS_PACKED_WIDE	  1
#define HS_PACKED_LOCALS  2
#define HS_PACKED_MISSING 4 // nodes_missing

// An entry with all fields. The first two words have two numbers of 16 bits each.
#define HS_PACKED_HOP_BYTES 24
struct hs_packed_hop {
	uint32_t id;	  // and bitmap
	uint32_t packets; // sent and received
	uint64_t ts_ns;
	uint32_t tx_bytes, rx_bytes;
} __attribute__((packed));
static_assert(sizeof(struct hs_packed_hop) == HS_PACKED_HOP_BYTES, "as it is packed");

#define HS_PACKED_HOPS 10 // most such entries in a slot

// Packs two numbers of 16 bits into a word.
static inline uint32_t hs_packed_pair(uint32_t low, uint32_t high)
{
	return (low & UINT16_MAX) | high << 16;
}

static inline const struct hs_packed_hop *hs_packed_hops(const struct hs_packed *packed)
{
	return (const struct hs_packed_hop *)packed->hops;
}

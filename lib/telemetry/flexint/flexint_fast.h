// SPDX-License-Identifier: BSD-3-Clause
// The codec of flexint.h for the paper's own trace type, 0x7000E000, in untagged frames. All sizes
// are constants, there are no loops, and all functions are inlined. Each function does what its
// namesake in flexint.h does to the same packet, and is tested against it.
//
// Source: 000_616928c59136b059.txt section III-A, figures 2 and 3.
// Thread rule: any; pure functions on bytes that the caller owns.
#pragma once

#include "bytes.h"
#include "flexint.h"
#include "hbh.h"
#include "packet_fast.h"

#include <assert.h>
#include <string.h>

#define HS_FLEXINT_FAST_TRACE_TYPE 0x7000E000u
#define HS_FLEXINT_FAST_E2E_BYTES  18 // bitmap, timestamp, 4 bytes packets, 4 bytes bytes
#define HS_FLEXINT_FAST_HOP_BYTES  24 // node id, bitmap, 2 + 2 packets, timestamp, 4 + 4 bytes
static_assert((HS_FLEXINT_FAST_TRACE_TYPE & 0xFFFF) == HS_HOP_KNOWN,
		"an entry has all fields there are");

// Moves the first `bytes` of a frame; `bytes` is a constant from 48 to 72. All bytes are read into
// registers before the first is written. An intermediate array would be in memory.
static inline __attribute__((always_inline)) void hs_flexint_fast_move(
		uint8_t *to, const uint8_t *from, size_t bytes)
{
	typedef uint64_t vector __attribute__((vector_size(16)));
	vector a, b, c, d = {0};
	uint64_t tail;

	memcpy(&a, from, 16);
	memcpy(&b, from + 16, 16);
	memcpy(&c, from + 32, 16);
	if (bytes >= 64)
		memcpy(&d, from + 48, 16);
	memcpy(&tail, from + bytes - 8, 8);
	memcpy(to, &a, 16);
	memcpy(to + 16, &b, 16);
	memcpy(to + 32, &c, 16);
	if (bytes >= 64)
		memcpy(to + 48, &d, 16);
	memcpy(to + bytes - 8, &tail, 8);
}

// Returns whether plain telemetry and nothing else follows an untagged IPv6 header.
static inline __attribute__((always_inline)) bool hs_flexint_fast_is_telemetry(
		const struct hs_packet *packet)
{
	const uint16_t need = HS_PACKET_IPV6 | HS_PACKET_FLOW | HS_PACKET_HBH |
			      HS_PACKET_TELEMETRY | HS_PACKET_ANY_TELEMETRY | HS_PACKET_PLAIN;

	return packet->flags == need && packet->l3_off == HS_FAST_L3;
}

// ---- source ----

static inline size_t hs_flexint_fast_source_growth(enum hs_flexint_layout layout)
{
	return layout == HS_LAYOUT_ALIGNED ? 40 : 32;
}

// Inserts the source's telemetry into a packet without Hop-by-Hop header at HS_FAST_L3.
static inline __attribute__((always_inline)) void hs_flexint_fast_source_insert(uint8_t *frame,
		const struct hs_packet *packet, uint32_t ns_id, enum hs_flexint_layout layout,
		const struct hs_e2e *e2e)
{
	size_t growth = hs_flexint_fast_source_growth(layout);
	uint8_t *hbh = frame + HS_FAST_L4;

	hs_flexint_fast_move(frame, frame + growth, HS_FAST_L4);
	uint8_t next = frame[HS_FAST_L3 + HS_IPV6_NEXT];
	frame[HS_FAST_L3 + HS_IPV6_NEXT] = HS_IP_HOP_BY_HOP;
	hs_be16_store(frame + HS_FAST_L3 + HS_IPV6_PAYLOAD,
			(uint16_t)(packet->l3_bytes - HS_IPV6_BYTES + growth));
	uint8_t *at = hbh + HS_HBH_OPTIONS;
	if (layout == HS_LAYOUT_ALIGNED) {
		hs_be32_store(hbh, (uint32_t)next << 24 | 4u << 16 | HS_OPT_PADN << 8);
		hs_be64_store(hbh + 32, (uint64_t)(HS_OPT_PADN << 8 | 4) << 32);
		at += 2;
	} else {
		hs_be16_store(hbh, (uint16_t)(next << 8 | 3));
	}
	hs_be16_store(at, HS_OPT_TRACE << 8 | 8);
	hs_be64_store(at + 2, (uint64_t)ns_id << 32 | HS_FLEXINT_FAST_TRACE_TYPE);
	hs_be32_store(at + 10, (uint32_t)HS_OPT_E2E << 24 | 18u << 16 | 0x7000);
	hs_be64_store(at + 14, e2e->ts_ns);
	hs_be64_store(at + 22, (uint64_t)e2e->tx_packets << 32 | e2e->tx_bytes);
}

// ---- transit ----

// Returns the data length of 0x31 in plain telemetry, in which 0x11 directly follows 0x31.
static inline __attribute__((always_inline)) unsigned hs_flexint_fast_trace_len(
		const struct hs_packet *packet)
{
	return packet->e2e_off - packet->trace_off - 2u;
}

// Returns whether plain telemetry can take an entry without overflow of a length. The growth is the
// entry's size. The caller has checked the MTU, so the length of IPv6 does not overflow. Two
// options cannot fill the header.
static inline __attribute__((always_inline)) bool hs_flexint_fast_hop_fits(
		const struct hs_packet *packet)
{
	return hs_flexint_fast_trace_len(packet) + HS_FLEXINT_FAST_HOP_BYTES <=
	       HS_FLEXINT_MAX_TRACE;
}

// Adds an entry. `frame` is the new start, HS_FLEXINT_FAST_HOP_BYTES before the old one.
static inline __attribute__((always_inline)) void hs_flexint_fast_hop_insert(
		uint8_t *frame, const struct hs_packet *packet, const struct hs_hop *hop)
{
	const uint8_t *old = frame + HS_FLEXINT_FAST_HOP_BYTES;
	size_t trace = packet->trace_off;
	uint8_t trace_len =
			(uint8_t)(hs_flexint_fast_trace_len(packet) + HS_FLEXINT_FAST_HOP_BYTES);
	uint64_t first = (uint64_t)hop->node_id << 48 | (uint64_t)HS_HOP_KNOWN << 32 |
			 (uint64_t)(uint16_t)hop->tx_packets << 16 | (uint16_t)hop->rx_packets;
	uint64_t last = (uint64_t)hop->tx_bytes << 32 | hop->rx_bytes;

	// This moves two bytes more than the paper's layout needs; the entry overwrites them.
	hs_flexint_fast_move(frame, old, HS_FAST_L4 + 14);
	frame[trace + 1] = trace_len;
	frame[HS_FAST_L4 + 1] = (uint8_t)((packet->hbh_bytes + HS_FLEXINT_FAST_HOP_BYTES) / 8 - 1);
	hs_be16_store(frame + HS_FAST_L3 + HS_IPV6_PAYLOAD,
			(uint16_t)(packet->l3_bytes - HS_IPV6_BYTES + HS_FLEXINT_FAST_HOP_BYTES));
	uint8_t *at = frame + trace + 10;
	hs_be64_store(at, first);
	hs_be64_store(at + 8, hop->ts_ns);
	hs_be64_store(at + 16, last);
}

// ---- sink ----

// Returns whether the whole Hop-by-Hop header is telemetry, as hs_flexint_parse finds it. Then no
// other option remains.
static inline __attribute__((always_inline)) bool hs_flexint_fast_is_stripped_whole(
		const struct hs_packet *packet)
{
	return hs_flexint_fast_is_telemetry(packet) &&
	       packet->telemetry_bytes == packet->hbh_bytes &&
	       packet->l4_off == HS_FAST_L4 + packet->hbh_bytes;
}

// Removes the header, and sets *packet as hs_flexint_parse would for the rest, which begins at
// frame + result.
static inline __attribute__((always_inline)) size_t hs_flexint_fast_strip(
		uint8_t *frame, struct hs_packet *packet)
{
	size_t taken = packet->hbh_bytes;
	uint8_t next = frame[HS_FAST_L4];
	uint8_t *rest = frame + taken;

	hs_flexint_fast_move(rest, frame, HS_FAST_L4);
	rest[HS_FAST_L3 + HS_IPV6_NEXT] = next;
	packet->l3_bytes -= (uint32_t)taken;
	hs_be16_store(rest + HS_FAST_L3 + HS_IPV6_PAYLOAD,
			(uint16_t)(packet->l3_bytes - HS_IPV6_BYTES));
	packet->flags = HS_PACKET_IPV6 | HS_PACKET_FLOW;
	packet->l4_off = HS_FAST_L4;
	packet->hbh_bytes = packet->telemetry_bytes = 0;
	packet->trace_off = packet->e2e_off = 0;
	packet->ns_id = packet->trace_type = 0;
	return taken;
}

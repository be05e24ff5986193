// SPDX-License-Identifier: BSD-3-Clause
// Datagrams with telemetry reports for a collector, ready in memory: report 1.0 of the last of six
// nodes, on a packet of Ethernet, IPv4 and UDP with INT 1.0. Each datagram lies where the payload
// of a frame would lie in a buffer.
//
// Thread rule: owner.
#pragma once

#include "bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_BENCH_SLOT	      384 // bytes from one datagram to the next
#define HS_BENCH_PAYLOAD      42  // behind Ethernet, IPv4 and UDP of the datagram itself
#define HS_BENCH_ALL_VALUES   0xff00
#define HS_BENCH_NODE_IDS     0x8000
#define HS_BENCH_INNER	      16 // where in a datagram the packet begins
#define HS_BENCH_INNER_IP     (HS_BENCH_INNER + 14)
#define HS_BENCH_INNER_SOURCE (HS_BENCH_INNER_IP + 12)
#define HS_BENCH_INNER_UDP    (HS_BENCH_INNER_IP + 20)
#define HS_BENCH_INNER_SHIM   (HS_BENCH_INNER_UDP + 8)
#define HS_BENCH_INNER_HEAD   (HS_BENCH_INNER_SHIM + 4)
#define HS_BENCH_INNER_HOPS   (HS_BENCH_INNER_HEAD + 8)
#define HS_BENCH_OTHER_NODE   0x40 // in the first byte of a node's id
#define HS_BENCH_REPORT_NODES 16   // each place of a path has one of so many nodes

struct hs_bench_datagrams {
	uint8_t *slots;
	uint32_t n;
};

// Makes datagrams of so many flows in turn, whose hops have the values of a bitmap of INT 1.0:
// enough for a measurement, which is more than the first level of cache holds, and the same number
// for each flow. Returns 0, or -ENOMEM. The memory behind each datagram is zero.
int hs_bench_datagrams_of(struct hs_bench_datagrams *made, uint32_t flows, uint16_t bitmap);
void hs_bench_datagrams_free(struct hs_bench_datagrams *made);

static inline uint8_t *hs_bench_datagram(const struct hs_bench_datagrams *made, uint32_t i)
{
	return made->slots + (size_t)i * HS_BENCH_SLOT + HS_BENCH_PAYLOAD;
}

// Returns the datagram's length, which stands before it as in a UDP header.
static inline uint32_t hs_bench_datagram_len(const struct hs_bench_datagrams *made, uint32_t i)
{
	return hs_be16_load(hs_bench_datagram(made, i) - 2);
}

static inline void hs_bench_datagram_cut(
		const struct hs_bench_datagrams *made, uint32_t i, uint32_t len)
{
	hs_be16_store(hs_bench_datagram(made, i) - 2, (uint16_t)len);
}

// Set what exporters change from report to report: the sequence number, and sometimes the path.
static inline void hs_bench_number(uint8_t *datagram, uint32_t sequence)
{
	hs_be32_store(datagram + 8, sequence);
}

static inline void hs_bench_change_path(uint8_t *datagram)
{
	datagram[HS_BENCH_INNER_HOPS] ^= HS_BENCH_OTHER_NODE;
}

static inline bool hs_bench_path_differs(const uint8_t *datagram)
{
	return datagram[HS_BENCH_INNER_HOPS] & HS_BENCH_OTHER_NODE;
}

// Writes the headers of a frame to this UDP port in front of a datagram, over its length.
void hs_bench_datagram_head(uint8_t *datagram, uint16_t udp_port);

static inline uint32_t hs_bench_frame_len(const uint8_t *datagram)
{
	return HS_BENCH_PAYLOAD - 8u + hs_be16_load(datagram - 4);
}

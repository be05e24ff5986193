// SPDX-License-Identifier: BSD-3-Clause
// The frames of one trial: IPv6 UDP of a number of flows, each with its number and the time it was
// sent in the payload, written before they go out and accounted for when they come back.
//
// Thread rule: one thread.
#pragma once

#include "load_histogram.h"

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#define LOAD_HEAD_BYTES 62 // Ethernet, IPv6, UDP
#define LOAD_FRAME_MIN	(LOAD_HEAD_BYTES + 12)
#define LOAD_FRAME_MAX	9018
#define LOAD_FLOWS_MAX	60000

struct load_addresses {
	uint8_t src_mac[6], dst_mac[6];
	uint8_t src_ip[16], dst_ip[16];
	uint16_t src_port; // of the first flow, counting up
	uint16_t dst_port;
};

struct load_counts {
	uint64_t received, out_of_order, duplicates;
	uint64_t strays; // frames of an earlier trial, and what is no frame of ours
};

struct load_stream {
	uint16_t trial;
	uint16_t frame_bytes;
	uint32_t flows;
	uint32_t next; // number of the next frame
	uint32_t base_sum;
	uint16_t src_port;
	uint8_t head[LOAD_HEAD_BYTES];
	struct load_counts counts;
	struct load_histogram latency;	 // in the caller's ticks
	uint32_t newest[LOAD_FLOWS_MAX]; // of each flow: number received last, plus 1
};

// A new trial: counts from 0. frame_bytes: of the Ethernet frame without FCS.
void load_stream_begin(struct load_stream *stream, const struct load_addresses *addresses,
		uint32_t flows, uint16_t frame_bytes);
// Makes a fresh mbuf the next frame. The UDP checksum is right where the mbuf's data room was
// zeros, see load_stream_clear.
void load_stream_write(struct load_stream *stream, struct rte_mbuf *mbuf, uint64_t now);
// Takes account of a frame that came back. The mbuf stays the caller's.
void load_stream_read(struct load_stream *stream, const struct rte_mbuf *mbuf, uint64_t now);
// Zeroes the buffers of a pool.
void load_stream_clear(struct rte_mempool *pool);

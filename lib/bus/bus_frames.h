// SPDX-License-Identifier: BSD-3-Clause
// Counts the frames of one direction of a connection (ZMTP 3, rfc.zeromq.org/spec/37) as the bytes
// pass. The contents may be encrypted, so only sizes are read. For lib/bus only.
//
// Thread rule: owner.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_BUS_GREETING_BYTES 64
// The cost of a frame beside its content: ZeroMQ's own structures, and ours.
#define HS_BUS_FRAME_WEIGHT 256
// Heartbeats (PING, PONG) have at most this much content. Parts of a message may also be so small.
#define HS_BUS_SMALL_BYTES 23
// CURVE adds this many bytes to each frame.
#define HS_BUS_CURVE_BYTES 33
#define HS_BUS_LEAD_BYTES  6

struct hs_bus_frames {
	unsigned small_bytes;	 // a frame of at most this content on the wire is small
	unsigned greeting;	 // bytes of the greeting that were seen
	unsigned n_header, size; // bytes of the frame's header that were seen; length of the header
	uint8_t header[9];
	uint8_t lead[HS_BUS_LEAD_BYTES]; // the first bytes of the newest frame
	uint64_t content;		 // bytes of the frame on the wire
	uint64_t left;			 // of these, bytes not yet seen
	uint64_t frames;		 // frames that have begun
	uint64_t ended;
	uint64_t small;	 // small frames that have begun
	uint64_t weight; // sum over all frames: HS_BUS_FRAME_WEIGHT each, and the seen bytes of
			 // larger content
	bool old;	 // the greeting is not that of ZMTP 3
};

// The struct must be zeroed first.
void hs_bus_frames_init(struct hs_bus_frames *frames, bool keys);

// Consumes bytes until `stop` frames have ended. Returns how many bytes were consumed.
size_t hs_bus_frames_feed(
		struct hs_bus_frames *frames, const uint8_t *bytes, size_t len, uint64_t stop);

// Returns what a frame with `bytes` of content before encryption adds to `weight`.
static inline uint64_t hs_bus_frame_weight(size_t bytes, bool keys)
{
	size_t around = keys ? HS_BUS_CURVE_BYTES : 0;

	return HS_BUS_FRAME_WEIGHT + (bytes > HS_BUS_SMALL_BYTES ? bytes + around : 0);
}

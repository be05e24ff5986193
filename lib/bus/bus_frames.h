// SPDX-License-Identifier: BSD-3-Clause
// Counts the frames of one direction of a connection (ZMTP 3, rfc.zeromq.org/spec/37) as its bytes
// pass. What stands in them may be encrypted: sizes are all that is looked at. For lib/bus only.
//
// Thread rule: owner.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_BUS_GREETING_BYTES 64
// What a frame costs beside its content: ZeroMQ's own structures, and ours.
#define HS_BUS_FRAME_WEIGHT 256
// Signs of life (PING, PONG) have at most so much content, and so may parts of a message.
#define HS_BUS_SMALL_BYTES 23
// CURVE puts so much around each frame.
#define HS_BUS_CURVE_BYTES 33
#define HS_BUS_LEAD_BYTES  6

struct hs_bus_frames {
	unsigned small_bytes;	 // content up to which a frame is small, on the wire
	unsigned greeting;	 // bytes that were seen
	unsigned n_header, size; // of the frame's header: bytes that were seen, and that it has
	uint8_t header[9];
	uint8_t lead[HS_BUS_LEAD_BYTES]; // how the newest frame begins
	uint64_t content;		 // of the frame, on the wire
	uint64_t left;			 // of that, not yet seen
	uint64_t frames;		 // begun
	uint64_t ended;
	uint64_t small;	 // of those begun
	uint64_t weight; // of all: HS_BUS_FRAME_WEIGHT each, and what was seen of larger content
	bool old;	 // the greeting is not that of ZMTP 3
};

// Zeroed first.
void hs_bus_frames_init(struct hs_bus_frames *frames, bool keys);

// Takes in bytes until `stop` frames have ended; returns how many were taken.
size_t hs_bus_frames_feed(
		struct hs_bus_frames *frames, const uint8_t *bytes, size_t len, uint64_t stop);

// What a frame with `bytes` of content before encryption adds to `weight`.
static inline uint64_t hs_bus_frame_weight(size_t bytes, bool keys)
{
	size_t around = keys ? HS_BUS_CURVE_BYTES : 0;

	return HS_BUS_FRAME_WEIGHT + (bytes > HS_BUS_SMALL_BYTES ? bytes + around : 0);
}

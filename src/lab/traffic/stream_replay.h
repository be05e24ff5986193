// SPDX-License-Identifier: BSD-3-Clause
// The frames of a capture file, one after the other, read as they are needed. Ethernet only.
//
// Skipped and counted: frames that the capture cut, and those shorter than an Ethernet header or
// longer than HS_STREAM_REPLAY_BYTES, and those of a time that no clock has. A file that ends in
// the middle of a frame ends before it. Thread rule: owner.
#pragma once

#include "stream_frame.h"

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

struct hs_stream_replayed {
	uint32_t len;
	uint8_t bytes[HS_STREAM_REPLAY_BYTES];
};

struct hs_stream_replay {
	void *pcap;
	bool ended;	   // there is no frame ahead any more
	bool begun;	   // one was taken
	int64_t first_ns;  // time of the first frame, as captured
	int64_t offset_ns; // of the one ahead from the first; never less than of the one before
	uint64_t skipped;
	unsigned ahead; // which of the two comes next; the other was taken last
	struct hs_stream_replayed frames[2];
};

// At the first frame. 0, or negative errno with *err without a path: no such file, no capture, not
// of Ethernet, not one frame.
int hs_stream_replay_init(struct hs_stream_replay *replay, const char *file, struct hs_error *err);
void hs_stream_replay_fini(struct hs_stream_replay *replay);

// The frame ahead, valid until the next call. Not when it has ended.
struct hs_stream_replayed *hs_stream_replay_take(struct hs_stream_replay *replay);
// The frame that was taken last; the one ahead where none was.
struct hs_stream_replayed *hs_stream_replay_latest(struct hs_stream_replay *replay);

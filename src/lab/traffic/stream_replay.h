// SPDX-License-Identifier: BSD-3-Clause
// The frames of a capture file in order, read as needed. Ethernet only.
//
// These frames are skipped and counted: truncated frames, frames shorter than an Ethernet header or
// longer than HS_STREAM_REPLAY_BYTES, and frames with a time that no clock has. If a file ends
// within a frame, the frame before it is the last.
//
// Thread rule: owner.
#pragma once

#include "error.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_STREAM_REPLAY_BYTES 9200 // the longest frame that is replayed

struct hs_stream_replayed {
	uint32_t len;
	uint8_t bytes[HS_STREAM_REPLAY_BYTES];
};

struct hs_stream_replay {
	void *pcap;
	bool ended;	   // there is no further frame
	int64_t first_ns;  // time of the first frame, as captured
	int64_t offset_ns; // time of the frame ahead after first_ns; never less than that of the
			   // frame before
	uint64_t skipped;
	struct hs_stream_replayed ahead;
	struct hs_stream_replayed latest; // that was taken; of none, the frame ahead
};

// Opens a file and reads its first frame. Returns 0, or a negative errno with *err without a path:
// no such file, no capture, not of Ethernet, or no frame at all.
int hs_stream_replay_init(struct hs_stream_replay *replay, const char *file, struct hs_error *err);
void hs_stream_replay_fini(struct hs_stream_replay *replay);

// Makes the frame ahead the latest. Do not call this after the end.
void hs_stream_replay_take(struct hs_stream_replay *replay);

// SPDX-License-Identifier: BSD-3-Clause
// An entry of traffic at run time: when its next frame is due, the frame, and what arrived at the
// other end. A stream does the work of both hosts. Frames are real, with right checksums. The
// caller gives the time.
//
// A frame that was altered on the path counts as delivered. The host then discards the frame, as
// for a wrong checksum. The frame is no goodput and gets no reply.
//
// Thread rule: owner.
#pragma once

#include "scenario.h"
#include "stream_frame.h"
#include "stream_pace.h"
#include "stream_replay.h"
#include "stream_window.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// One frame to send.
struct hs_stream_frame {
	bool reply;	      // sent by `to`
	uint64_t number;      // of this direction, from 1; a ping's reply has its request's number
	const uint8_t *bytes; // valid until the next call on the stream
	uint32_t len;
};

struct hs_stream_counters {
	uint64_t sent[2], delivered[2]; // [1]: replies
	uint64_t altered; // delivered, but not as sent, except for MAC addresses and hop limit
	uint64_t bytes_sent[2], bytes_delivered[2];
	uint64_t retransmitted; // window
	// Payload that reached the far host unaltered: above UDP, TCP or ICMPv6; for window, only
	// segments in order; for pcap, everything behind the Ethernet header.
	uint64_t bytes_goodput;
	uint64_t skipped; // pcap: frames of the file that cannot be sent (stream_replay.h)
};

// A round trip of a ping that the sending host saw, from request sent to reply received.
struct hs_stream_trip {
	uint64_t number;
	int64_t sent_ns, rtt_ns; // true time
};

struct hs_stream_reply;

struct hs_stream {
	// Results.
	struct hs_stream_counters counters;
	struct hs_stream_trip *trips; // in the order in which the replies arrived
	size_t n_trips;
	int64_t latest_ns; // when the latest frame was sent; 0: none
	int status;	   // -ENOMEM: memory ran out, and the stream has ended

	// When one more frame is sent, whatever the entry says (the closing packet): a request, a
	// segment, or for pcap the latest frame again. HS_STREAM_NEVER_NS: none.
	int64_t extra_ns;

	// The source: one of these.
	struct hs_stream_pace pace; // pcap, relay: only its limits and its start
	struct hs_stream_window window;
	struct hs_stream_replay replay;
	uint64_t relayed; // frames of a relay that wait, since relay_ns
	int64_t relay_ns;

	// The rest is for stream.c.
	const struct hs_scenario_traffic *traffic;
	struct hs_stream_macs macs;
	struct hs_stream_template templates[2]; // [1]: of replies
	// A word for each frame that `from` sent. ping: the time; window: the segment; pcap: the
	// hash. The other types need no word, because the number determines the frame.
	uint64_t *sent;
	size_t n_sent;
	// In order of time, because the delay of replies is constant. The first counters.sent[1]
	// have been sent.
	struct hs_stream_reply *replies;
	size_t n_replies;
};

// Creates a stream. start_ns is the true time of the start of the run. Returns 0, -ENOMEM, or
// another negative errno with *err (a pcap file that cannot be read: path "traffic[2].file"). The
// scenario must outlive the stream. destroy accepts NULL.
int hs_stream_create(const struct hs_scenario *scenario, uint32_t traffic, uint64_t seed,
		int64_t start_ns, const struct hs_stream_macs *macs, struct hs_stream **stream,
		struct hs_error *err);
void hs_stream_destroy(struct hs_stream *stream);

// Returns the time at which the next frame is due, or INT64_MAX if none is due without a further
// call. The time may change with any call.
int64_t hs_stream_next_ns(const struct hs_stream *stream);
// Takes the frame that is due. Returns false if none is due.
bool hs_stream_send(struct hs_stream *stream, int64_t now_ns, struct hs_stream_frame *frame);
// Takes a frame of this stream that reached the host at the other end. A duplicated frame arrives
// more than once under the same number.
void hs_stream_arrived(struct hs_stream *stream, int64_t now_ns, bool reply, uint64_t number,
		const uint8_t *bytes, uint32_t len);

// Stops the planned frames from now on, like the entry's stop.
void hs_stream_stop(struct hs_stream *stream, int64_t now_ns);

// Lets a relay send one more frame now, within its times and its number of packets.
void hs_stream_relay(struct hs_stream *stream, int64_t now_ns);

// SPDX-License-Identifier: BSD-3-Clause
// An entry of traffic at run time: when its next frame is due, the frame, and what arrived at the
// other end. The stream is both hosts. Frames are real, with right checksums. Time is an input.
//
// A frame that was altered on the path counts as delivered. The host then discards it, as for a
// wrong checksum: it is no goodput and gets no reply.
//
// Thread rule: owner.
#pragma once

#include "scenario.h"
#include "stream_frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_stream;

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

// start_ns: true time of the start of the run. Returns 0, -ENOMEM, or another negative errno with
// *err (a pcap file that cannot be read: path "traffic[2].file"). The scenario must outlive the
// stream. destroy accepts NULL.
int hs_stream_create(const struct hs_scenario *scenario, uint32_t traffic, uint64_t seed,
		int64_t start_ns, const struct hs_stream_macs *macs, struct hs_stream **stream,
		struct hs_error *err);
void hs_stream_destroy(struct hs_stream *stream);

// Returns the time at which the next frame is due; INT64_MAX: none, until something arrives or is
// called. The time may change with any call.
int64_t hs_stream_next_ns(const struct hs_stream *stream);
// Takes the frame that is due. Returns false if none is due.
bool hs_stream_send(struct hs_stream *stream, int64_t now_ns, struct hs_stream_frame *frame);
// A frame of this stream reached the host at the other end. A duplicated frame arrives more than
// once under the same number.
void hs_stream_arrived(struct hs_stream *stream, int64_t now_ns, bool reply, uint64_t number,
		const uint8_t *bytes, uint32_t len);

// Restarts pacing: the next frame is due now (Poisson: a gap from now; bursty: now within a burst).
// 0: no frame until the next change. Window and pcap have no rate and do not change.
void hs_stream_set_rate(struct hs_stream *stream, int64_t now_ns, double rate_pps);
// A relay sends one more frame now, within its times and its number of packets.
void hs_stream_relay(struct hs_stream *stream, int64_t now_ns);
// Sends one more frame at this time, whatever the entry says (the closing packet): a request, a
// segment, or for pcap the latest frame again. At most one such frame waits.
void hs_stream_extra(struct hs_stream *stream, int64_t at_ns);

void hs_stream_counters(const struct hs_stream *stream, struct hs_stream_counters *counters);
// Lists the round trips in the order in which the replies arrived.
const struct hs_stream_trip *hs_stream_trips(const struct hs_stream *stream, size_t *n);
// Returns 0, or -ENOMEM if memory ran out; the stream has ended then.
int hs_stream_status(const struct hs_stream *stream);

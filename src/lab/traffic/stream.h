// SPDX-License-Identifier: BSD-3-Clause
// An entry of traffic at work: when its next frame is due and what it is, and what arrived at its
// other end. Both hosts of it are here; frames are real (checksums right), time is an input.
//
// What is altered on the way a host counts as delivered and otherwise throws away, as for a wrong
// checksum: it is no goodput, and no reply comes of it.
//
// Thread rule: owner.
#pragma once

#include "scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_stream;

// Ethernet addresses of the frames that a host sends: its own and its node's (or, bridged and
// patched, the far host's).
struct hs_stream_macs {
	uint8_t own[2][6];  // [0] from, [1] to
	uint8_t next[2][6]; // destination of frames that [0], [1] send
};

// One frame to send.
struct hs_stream_frame {
	bool reply;	      // sent by `to`
	uint64_t number;      // of this direction, from 1; a ping's reply has its request's number
	const uint8_t *bytes; // valid until the next call on the stream
	uint32_t len;
};

struct hs_stream_counters {
	uint64_t sent[2], delivered[2]; // [1]: replies
	uint64_t altered; // delivered, but not as they were sent (MAC addresses and hop limit
			  // apart)
	uint64_t bytes_sent[2], bytes_delivered[2];
	uint64_t retransmitted; // window
	// Payload that reached the far host unaltered: of UDP, TCP or ICMPv6 (window: of segments
	// in order), of pcap what follows the Ethernet header.
	uint64_t bytes_goodput;
	uint64_t skipped; // pcap: frames of the file that cannot be sent (stream_replay.h)
};

// A round trip that the sending host saw: of a ping, from request sent to reply received.
struct hs_stream_trip {
	uint64_t number;
	int64_t sent_ns, rtt_ns; // true time
};

// start_ns: true time of the start of the run. 0, -ENOMEM, or -EINVAL/-errno with *err (a pcap file
// that cannot be read: path "traffic[2].file"). The scenario must outlive it. destroy accepts NULL.
int hs_stream_create(const struct hs_scenario *scenario, uint32_t traffic, uint64_t seed,
		int64_t start_ns, const struct hs_stream_macs *macs, struct hs_stream **stream,
		struct hs_error *err);
void hs_stream_destroy(struct hs_stream *stream);

// When the next frame is due; INT64_MAX: none, until something arrives or is called. Changes after
// any call.
int64_t hs_stream_next_ns(const struct hs_stream *stream);
// The frame that is due; false where none is.
bool hs_stream_send(struct hs_stream *stream, int64_t now_ns, struct hs_stream_frame *frame);
// A frame of this stream reached the host at the other end of its way; of the same number more than
// once where it was duplicated.
void hs_stream_arrived(struct hs_stream *stream, int64_t now_ns, bool reply, uint64_t number,
		const uint8_t *bytes, uint32_t len);

// Pacing begins anew: the next frame is due now (Poisson: a gap from now; bursty: now within a
// burst). 0: none until the next change. Window and pcap have no rate: nothing changes.
void hs_stream_set_rate(struct hs_stream *stream, int64_t now_ns, double rate_pps);
// One more frame at this time, whatever the entry says (the closing packet): a request, a segment;
// of pcap the latest one again.
void hs_stream_extra(struct hs_stream *stream, int64_t at_ns);

void hs_stream_counters(const struct hs_stream *stream, struct hs_stream_counters *counters);
// In the order in which the replies arrived.
const struct hs_stream_trip *hs_stream_trips(const struct hs_stream *stream, size_t *n);
// 0, or -ENOMEM: memory was out on the way and the stream has ended.
int hs_stream_status(const struct hs_stream *stream);

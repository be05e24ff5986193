// SPDX-License-Identifier: BSD-3-Clause
// A sender that keeps as many segments under way as its window allows, and its receiver. The sender
// has slow start, additive increase, halving on loss, and timeouts. The receiver sends a cumulative
// acknowledgement for each segment that arrives. There is no handshake and no end: segment 0 is
// sent at the start.
//
// An acknowledgement also names the segment that caused it, as a SACK option of one block would
// (RFC 2018). Without this, the losses of a full queue would take a round trip each. The frame has
// no room for the name, so the lab carries it outside the frame.
//
// Source: RFC 5681 (window), RFC 6675 (recovery: a segment is lost if three later segments overtook
// it), RFC 6298 (timeout, with a floor of 200 ms as in Linux), RFC 6928 (first window). There are
// no delayed acknowledgements.
// Thread rule: owner. Segments count from 0; times are true ones.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hs_stream_window {
	uint32_t largest; // window
	bool fixed;	  // the window is always the largest
	uint64_t limit;	  // segments
	int64_t stop_ns;

	// Sender. Segments una to next are under way. `held` says which of them have arrived. Of
	// una to edge, the rest is lost: segments below `hole` were sent again, and n_lost segments
	// wait to be sent again.
	uint64_t una, next, hole, edge;
	bool *held;
	uint64_t high; // above the highest segment that arrived
	uint64_t n_held, n_lost;
	uint64_t window, threshold;
	uint64_t credit; // segments acknowledged since the window last grew by one
	bool recovering; // until every segment before `recover` is acknowledged
	bool halved;	 // recovering without a timeout: the window does not grow
	bool resend;	 // the first loss is repaired even if the window does not allow it
	uint64_t recover;
	int64_t ready_ns; // from this time on, a segment that the window allows may be sent

	int64_t timeout_at_ns; // INT64_MAX: no segment is under way
	int64_t srtt_ns, rttvar_ns, timeout_ns;
	unsigned backoff; // timeouts without progress
	bool timed;	  // one segment at a time is timed, and none that was sent twice (Karn)
	uint64_t timed_segment;
	int64_t timed_ns;

	// Receiver.
	uint64_t expected;
	bool *early; // segments beyond `expected` that have arrived

	uint64_t ring_mask; // of the rings `held` and `early`
};

// Initialises a sender and a receiver. largest: 1 or more. Returns 0 or -ENOMEM. Call fini in
// either case.
int hs_stream_window_init(struct hs_stream_window *window, uint32_t largest, bool fixed,
		uint64_t limit, int64_t start_ns, int64_t stop_ns);
void hs_stream_window_fini(struct hs_stream_window *window);

// Returns the time at which the sender must act; INT64_MAX: not until an acknowledgement arrives.
int64_t hs_stream_window_due(const struct hs_stream_window *window);
// Returns the segment to send at or after that time. *again: it was sent before.
uint64_t hs_stream_window_send(struct hs_stream_window *window, int64_t now_ns, bool *again);
// Returns one more new segment, whatever window, limit and stop say.
uint64_t hs_stream_window_push(struct hs_stream_window *window, int64_t now_ns);

// Takes a segment that arrived. Returns how many segments it completes in order. `expected` is the
// number to acknowledge.
uint64_t hs_stream_window_receive(struct hs_stream_window *window, uint64_t segment);
// Takes an acknowledgement of all segments below `expected` and of this segment.
void hs_stream_window_acknowledge(struct hs_stream_window *window, int64_t now_ns,
		uint64_t expected, uint64_t segment);

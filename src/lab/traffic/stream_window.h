// SPDX-License-Identifier: BSD-3-Clause
// A sender that keeps as many segments under way as its window allows, and its receiver: slow
// start, additive increase, halving on loss, timeouts; cumulative acknowledgements, one for each
// segment that arrives. No handshake and no end: segment 0 is sent at the start.
//
// An acknowledgement also says which segment it came of, as a SACK option of one block would
// (RFC 2018): without it a full queue's worth of losses takes a round trip for each. The frame has
// no room for it; it goes along unseen.
//
// Source: RFC 5681 (window), RFC 6675 (recovery; lost is what three later segments overtook), RFC
// 6298 (timeout, with a floor of 200 ms as Linux has), RFC 6928 (first window). No delayed
// acknowledgements.
// Thread rule: owner. Segments count from 0; times are true ones.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define HS_STREAM_WINDOW_MAX 1048576

struct hs_stream_window {
	uint32_t largest; // window
	bool fixed;	  // the window is always the largest
	uint64_t limit;	  // segments
	int64_t stop_ns;

	// Sender. una..next are under way; of these `held` says what has arrived, and of una..edge
	// the rest is lost: below `hole` it was sent again, n_lost of it waits for that.
	uint64_t una, next, hole, edge;
	uint64_t *held;
	uint64_t high; // above the highest that arrived
	uint64_t n_held, n_lost;
	uint64_t window, threshold;
	uint64_t credit; // acknowledged since the window last grew by one
	bool recovering; // until all that was sent before `recover` is acknowledged
	bool halved;	 // recovering without a timeout: the window stays
	bool resend;	 // the first loss is repaired whatever the window allows
	uint64_t recover;
	int64_t ready_ns; // since when what the window allows may be sent

	int64_t timeout_at_ns; // INT64_MAX: nothing is under way
	int64_t srtt_ns, rttvar_ns, timeout_ns;
	unsigned backoff; // timeouts without progress
	bool timed;	  // one segment at a time, none that was sent twice (Karn)
	uint64_t timed_segment;
	int64_t timed_ns;

	// Receiver.
	uint64_t expected;
	uint64_t *early; // segments beyond `expected` that are there

	uint64_t ring_mask; // `held` and `early` are rings of bits
};

// largest: 1 to HS_STREAM_WINDOW_MAX. 0 or -ENOMEM.
int hs_stream_window_init(struct hs_stream_window *window, uint32_t largest, bool fixed,
		uint64_t limit, int64_t start_ns, int64_t stop_ns);
void hs_stream_window_fini(struct hs_stream_window *window);

// When the sender has something to do; INT64_MAX: not until an acknowledgement arrives.
int64_t hs_stream_window_due(const struct hs_stream_window *window);
// The segment to send at or after that time. *again: it was sent before.
uint64_t hs_stream_window_send(struct hs_stream_window *window, int64_t now_ns, bool *again);
// One more new segment, whatever window, limit and stop say.
uint64_t hs_stream_window_push(struct hs_stream_window *window, int64_t now_ns);

// A segment arrived: how many are now delivered in order by it. `expected` is what to acknowledge.
uint64_t hs_stream_window_receive(struct hs_stream_window *window, uint64_t segment);
// An acknowledgement arrived, of all below `expected` and of this segment.
void hs_stream_window_acknowledge(struct hs_stream_window *window, int64_t now_ns,
		uint64_t expected, uint64_t segment);

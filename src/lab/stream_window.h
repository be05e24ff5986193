// SPDX-License-Identifier: BSD-3-Clause
// A sender that keeps as many segments under way as its window allows, and its receiver: slow
// start, additive increase, halving on loss, timeouts; cumulative acknowledgements, one for each
// segment that arrives. No handshake and no end: segment 0 is sent at the start.
//
// Source: RFC 5681 (window), RFC 6582 (recovery with several losses), RFC 6298 (timeout, with a
// floor of 200 ms as Linux has), RFC 6928 (first window). No SACK, no delayed acknowledgements.
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

	// Sender: una..next are under way, next..max were and are sent again (after a timeout).
	uint64_t una, next, max;
	uint64_t window, threshold;
	uint64_t credit; // acknowledged since the window last grew by one
	unsigned duplicates;
	bool resend;	 // the first segment under way, now
	bool recovering; // until all that was sent before `recover` is acknowledged
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
	uint64_t *held; // ring of bits: segments beyond `expected` that are there
	uint64_t held_mask;
};

// largest: 1 to HS_STREAM_WINDOW_MAX. 0 or -ENOMEM.
int hs_stream_window_init(struct hs_stream_window *window, uint32_t largest, bool fixed,
		uint64_t limit, int64_t start_ns, int64_t stop_ns);
void hs_stream_window_fini(struct hs_stream_window *window);

// When the sender has something to do; INT64_MAX: not until an acknowledgement arrives.
int64_t hs_stream_window_due(const struct hs_stream_window *window);
// The segment to send at or after that time. *again: it was sent before.
uint64_t hs_stream_window_send(struct hs_stream_window *window, int64_t now_ns, bool *again);
// One more segment, whatever window, limit and stop say.
uint64_t hs_stream_window_push(struct hs_stream_window *window, int64_t now_ns, bool *again);

// A segment arrived: how many are now delivered in order by it. `expected` is what to acknowledge.
uint64_t hs_stream_window_receive(struct hs_stream_window *window, uint64_t segment);
// An acknowledgement of all below `expected` arrived.
void hs_stream_window_acknowledge(
		struct hs_stream_window *window, int64_t now_ns, uint64_t expected);

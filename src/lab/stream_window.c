// SPDX-License-Identifier: BSD-3-Clause
#include "stream_window.h"

#include <errno.h>
#include <stdlib.h>

#define TIMEOUT_FIRST_NS INT64_C(1000000000)
#define TIMEOUT_MIN_NS	 INT64_C(200000000)
#define TIMEOUT_MAX_NS	 INT64_C(60000000000)
#define FIRST_WINDOW	 10
#define DUPLICATES	 3 // acknowledgements that say "lost", not "overtaken"

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

int hs_stream_window_init(struct hs_stream_window *window, uint32_t largest, bool fixed,
		uint64_t limit, int64_t start_ns, int64_t stop_ns)
{
	uint64_t bits = 64;
	while (bits < largest)
		bits *= 2;
	*window = (struct hs_stream_window){
			.largest = largest,
			.fixed = fixed,
			.limit = limit,
			.stop_ns = stop_ns,
			.window = fixed ? largest : smaller(largest, FIRST_WINDOW),
			.threshold = largest,
			.ready_ns = start_ns,
			.timeout_at_ns = INT64_MAX,
			.timeout_ns = TIMEOUT_FIRST_NS,
			.held = calloc(bits / 64, sizeof(uint64_t)),
			.held_mask = bits - 1,
	};
	return window->held ? 0 : -ENOMEM;
}

void hs_stream_window_fini(struct hs_stream_window *window)
{
	free(window->held);
	window->held = NULL;
}

// ---- sender ----

// Duplicate acknowledgements inflate the window in recovery, never beyond the largest.
static bool may_send(const struct hs_stream_window *window)
{
	return window->next < window->limit &&
	       window->next - window->una < smaller(window->window, window->largest);
}

int64_t hs_stream_window_due(const struct hs_stream_window *window)
{
	int64_t due_ns = window->timeout_at_ns;
	if ((window->resend || may_send(window)) && window->ready_ns < due_ns)
		due_ns = window->ready_ns;
	return due_ns < window->stop_ns ? due_ns : INT64_MAX;
}

static void arm(struct hs_stream_window *window, int64_t now_ns)
{
	int64_t wait_ns = window->timeout_ns;
	for (unsigned i = 0; i < window->backoff && wait_ns < TIMEOUT_MAX_NS; i++)
		wait_ns *= 2;
	window->timeout_at_ns = now_ns + (wait_ns < TIMEOUT_MAX_NS ? wait_ns : TIMEOUT_MAX_NS);
}

static void time_out(struct hs_stream_window *window, int64_t now_ns)
{
	// RFC 5681 section 3.1: once for a segment, however often it is lost.
	if (!window->backoff)
		window->threshold = larger((window->next - window->una) / 2, 2);
	window->backoff++;
	window->duplicates = 0;
	window->recover = window->max;
	window->timed = false;
	window->ready_ns = now_ns;
	window->timeout_at_ns = INT64_MAX;
	if (window->fixed) {
		window->recovering = true;
		window->resend = true;
		return;
	}
	window->recovering = false;
	window->resend = false;
	window->window = 1;
	window->credit = 0;
	window->next = window->una;
}

uint64_t hs_stream_window_push(struct hs_stream_window *window, int64_t now_ns, bool *again)
{
	uint64_t segment = window->next++;
	*again = segment < window->max;
	if (!*again) {
		window->max = window->next;
		if (!window->timed) {
			window->timed = true;
			window->timed_segment = segment;
			window->timed_ns = now_ns;
		}
	}
	if (window->timeout_at_ns == INT64_MAX)
		arm(window, now_ns);
	return segment;
}

uint64_t hs_stream_window_send(struct hs_stream_window *window, int64_t now_ns, bool *again)
{
	if (window->timeout_at_ns <= now_ns)
		time_out(window, now_ns);
	if (!window->resend)
		return hs_stream_window_push(window, now_ns, again);
	window->resend = false;
	window->timed = false;
	arm(window, now_ns);
	*again = true;
	return window->una;
}

static void measure(struct hs_stream_window *window, int64_t rtt_ns)
{
	if (window->srtt_ns == 0) {
		window->srtt_ns = rtt_ns;
		window->rttvar_ns = rtt_ns / 2;
	} else {
		int64_t off_ns = rtt_ns - window->srtt_ns;
		window->rttvar_ns += ((off_ns < 0 ? -off_ns : off_ns) - window->rttvar_ns) / 4;
		window->srtt_ns += off_ns / 8;
	}
	int64_t timeout_ns = window->srtt_ns + 4 * window->rttvar_ns;
	window->timeout_ns = timeout_ns > TIMEOUT_MIN_NS ? timeout_ns : TIMEOUT_MIN_NS;
}

static void grow(struct hs_stream_window *window, uint64_t acknowledged)
{
	if (window->fixed)
		return;
	if (window->window < window->threshold) {
		// RFC 3465: an acknowledgement that jumps over a repaired hole is no burst.
		window->window += smaller(acknowledged, 2);
	} else {
		window->credit += acknowledged;
		if (window->credit >= window->window) {
			window->credit = 0;
			window->window++;
		}
	}
	window->window = smaller(window->window, window->largest);
}

static void advance(struct hs_stream_window *window, int64_t now_ns, uint64_t expected)
{
	uint64_t acknowledged = expected - window->una;

	window->una = expected;
	window->next = larger(window->next, expected);
	window->duplicates = 0;
	window->backoff = 0;
	window->resend = false;
	if (window->timed && expected > window->timed_segment) {
		measure(window, now_ns - window->timed_ns);
		window->timed = false;
	}
	if (!window->recovering) {
		grow(window, acknowledged);
	} else if (expected >= window->recover) {
		window->recovering = false;
		if (!window->fixed)
			window->window = window->threshold;
	} else { // RFC 6582 section 3.2 step 3: the next hole
		window->resend = true;
		if (!window->fixed)
			window->window -= smaller(acknowledged, window->window) - 1;
	}
	window->timeout_at_ns = INT64_MAX;
	if (window->una < window->max)
		arm(window, now_ns);
}

static void duplicate(struct hs_stream_window *window)
{
	window->duplicates++;
	if (window->recovering) {
		window->window += !window->fixed; // a segment has left the network
		return;
	}
	if (window->duplicates != DUPLICATES || window->una < window->recover)
		return;
	window->recovering = true;
	window->recover = window->max;
	window->resend = true;
	if (window->fixed)
		return;
	window->threshold = larger((window->next - window->una) / 2, 2);
	window->window = window->threshold + DUPLICATES;
	window->credit = 0;
}

void hs_stream_window_acknowledge(
		struct hs_stream_window *window, int64_t now_ns, uint64_t expected)
{
	if (window->ready_ns < now_ns)
		window->ready_ns = now_ns;
	if (expected > window->una && expected <= window->max)
		advance(window, now_ns, expected);
	else if (expected == window->una && window->una < window->max)
		duplicate(window);
}

// ---- receiver ----

uint64_t hs_stream_window_receive(struct hs_stream_window *window, uint64_t segment)
{
	uint64_t mask = window->held_mask;
	if (segment < window->expected || segment - window->expected > mask)
		return 0;
	window->held[(segment & mask) / 64] |= UINT64_C(1) << (segment & 63);

	uint64_t first = window->expected;
	for (;;) {
		uint64_t at = window->expected & mask, bit = UINT64_C(1) << (at & 63);
		if (!(window->held[at / 64] & bit))
			return window->expected - first;
		window->held[at / 64] &= ~bit;
		window->expected++;
	}
}

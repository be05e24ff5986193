// SPDX-License-Identifier: BSD-3-Clause
#include "stream_window.h"

#include <rte_common.h>

#include <errno.h>
#include <stdlib.h>

#define TIMEOUT_FIRST_NS INT64_C(1000000000)
#define TIMEOUT_MIN_NS	 INT64_C(200000000)
#define TIMEOUT_MAX_NS	 INT64_C(60000000000)
#define FIRST_WINDOW	 10
#define OVERTAKEN	 3 // a segment overtaken by as many later ones is lost

// Returns a segment's place in a ring.
static bool *at(const struct hs_stream_window *window, bool *ring, uint64_t segment)
{
	return &ring[segment & window->ring_mask];
}

static bool is_held(const struct hs_stream_window *window, uint64_t segment)
{
	return segment - window->una <= window->ring_mask && *at(window, window->held, segment);
}

int hs_stream_window_init(struct hs_stream_window *window, uint32_t largest, bool fixed,
		uint64_t limit, int64_t start_ns, int64_t stop_ns)
{
	uint64_t ring = rte_align64pow2(largest < 64 ? 64 : largest);
	*window = (struct hs_stream_window){
			.largest = largest,
			.fixed = fixed,
			.limit = limit,
			.stop_ns = stop_ns,
			.window = fixed ? largest : RTE_MIN(largest, FIRST_WINDOW),
			.threshold = largest,
			.ready_ns = start_ns,
			.timeout_at_ns = INT64_MAX,
			.timeout_ns = TIMEOUT_FIRST_NS,
			.held = calloc(ring, sizeof(bool)),
			.early = calloc(ring, sizeof(bool)),
			.ring_mask = ring - 1,
	};
	return window->held && window->early ? 0 : -ENOMEM;
}

void hs_stream_window_fini(struct hs_stream_window *window)
{
	free(window->held);
	free(window->early);
}

// ---- sender: sending ----

// Returns the number of segments in the network, as far as the sender knows.
static uint64_t under_way(const struct hs_stream_window *window)
{
	return window->next - window->una - window->n_held - window->n_lost;
}

static bool may_send(const struct hs_stream_window *window)
{
	if (window->n_lost && window->resend)
		return true;
	if (under_way(window) >= window->window)
		return false;
	return window->n_lost ||
	       (window->next < window->limit && window->next - window->una < window->largest);
}

int64_t hs_stream_window_due(const struct hs_stream_window *window)
{
	int64_t due_ns = window->timeout_at_ns;
	if (may_send(window) && window->ready_ns < due_ns)
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

// Begins recovery. Everything up to `next` has to be acknowledged before recovery ends. Segments up
// to `edge` that have not arrived are lost. `allowed` is the window during recovery.
static void begin_recovery(
		struct hs_stream_window *window, bool halved, uint64_t edge, uint64_t allowed)
{
	window->recovering = true;
	window->halved = halved;
	window->recover = window->next;
	window->hole = window->una;
	window->edge = edge;
	window->timed = false;
	window->credit = 0;
	if (!window->fixed)
		window->window = allowed;
}

// Treats everything that has not arrived as lost.
static void time_out(struct hs_stream_window *window, int64_t now_ns)
{
	// RFC 5681 section 3.1: once for a segment, however often it is lost.
	if (!window->backoff)
		window->threshold = RTE_MAX(under_way(window) / 2, 2);
	window->backoff++;
	begin_recovery(window, false, window->next, 1);
	window->n_lost = window->next - window->una - window->n_held;
	window->ready_ns = now_ns;
	window->timeout_at_ns = INT64_MAX;
}

uint64_t hs_stream_window_push(struct hs_stream_window *window, int64_t now_ns)
{
	uint64_t segment = window->next++;
	if (!window->timed && !window->recovering) {
		window->timed = true;
		window->timed_segment = segment;
		window->timed_ns = now_ns;
	}
	if (window->timeout_at_ns == INT64_MAX)
		arm(window, now_ns);
	return segment;
}

static uint64_t resend(struct hs_stream_window *window, int64_t now_ns)
{
	while (is_held(window, window->hole))
		window->hole++;
	window->n_lost--;
	window->resend = false;
	window->timed = false;
	if (window->timeout_at_ns == INT64_MAX || window->hole == window->una)
		arm(window, now_ns);
	return window->hole++;
}

uint64_t hs_stream_window_send(struct hs_stream_window *window, int64_t now_ns, bool *again)
{
	if (window->timeout_at_ns <= now_ns)
		time_out(window, now_ns);
	*again = window->n_lost > 0;
	return *again ? resend(window, now_ns) : hs_stream_window_push(window, now_ns);
}

// ---- sender: what acknowledgements say ----

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
	if (window->fixed || window->halved)
		return;
	if (window->window < window->threshold) {
		// RFC 3465: an acknowledgement that covers a repaired hole must not cause a burst.
		window->window += RTE_MIN(acknowledged, 2);
	} else {
		window->credit += acknowledged;
		if (window->credit >= window->window) {
			window->credit = 0;
			window->window++;
		}
	}
	window->window = RTE_MIN(window->window, window->largest);
}

// Removes each acknowledged segment from the counts.
static void pass(struct hs_stream_window *window, uint64_t expected)
{
	for (; window->una < expected; window->una++) {
		if (is_held(window, window->una)) {
			*at(window, window->held, window->una) = false;
			window->n_held--;
		} else if (window->una >= window->hole && window->una < window->edge) {
			window->n_lost--; // the segment was only late
		}
	}
	window->hole = RTE_MAX(window->hole, expected);
	window->edge = RTE_MAX(window->edge, expected);
}

static void advance(struct hs_stream_window *window, int64_t now_ns, uint64_t expected)
{
	uint64_t acknowledged = expected - window->una;

	pass(window, expected);
	window->backoff = 0;
	if (window->timed && expected > window->timed_segment) {
		measure(window, now_ns - window->timed_ns);
		window->timed = false;
	}
	if (window->recovering && expected >= window->recover) {
		window->recovering = false;
		window->halved = false;
		window->resend = false;
	}
	grow(window, acknowledged);
	window->timeout_at_ns = INT64_MAX;
	if (window->una < window->next)
		arm(window, now_ns);
}

static void hold(struct hs_stream_window *window, uint64_t segment)
{
	if (segment < window->una || segment - window->una > window->ring_mask ||
			is_held(window, segment))
		return;
	*at(window, window->held, segment) = true;
	window->n_held++;
	window->high = RTE_MAX(window->high, segment + 1);
	if (segment >= window->hole && segment < window->edge)
		window->n_lost--;
}

// Finds the segments that enough later ones overtook. Losses of segments that were sent in recovery
// wait for the end of recovery, so that all losses of one window halve the window once.
static void find_losses(struct hs_stream_window *window)
{
	if (window->high <= window->una + OVERTAKEN)
		return;
	if (!window->recovering) {
		window->threshold = RTE_MAX((window->next - window->una) / 2, 2);
		begin_recovery(window, true, window->una, window->threshold);
		window->resend = true;
	}
	uint64_t edge = RTE_MIN(window->high - OVERTAKEN, window->recover);
	for (; window->edge < edge; window->edge++)
		window->n_lost += !is_held(window, window->edge);
}

void hs_stream_window_acknowledge(struct hs_stream_window *window, int64_t now_ns,
		uint64_t expected, uint64_t segment)
{
	if (window->ready_ns < now_ns)
		window->ready_ns = now_ns;
	if (expected > window->una)
		advance(window, now_ns, expected);
	hold(window, segment);
	find_losses(window);
}

// ---- receiver ----

uint64_t hs_stream_window_receive(struct hs_stream_window *window, uint64_t segment)
{
	uint64_t first = window->expected;
	if (segment < first || segment - first > window->ring_mask)
		return 0;
	*at(window, window->early, segment) = true;
	while (*at(window, window->early, window->expected))
		*at(window, window->early, window->expected++) = false;
	return window->expected - first;
}

// SPDX-License-Identifier: BSD-3-Clause
// What the lab's loop does next. Two heaps of four children a place: a queue of events, each pushed
// once and popped once, and timers, of which each has one time that may move.
//
// Both are in order of time; events of one time in the order in which they were pushed, timers of
// one time in that of their index. So the same pushes give the same pops, whatever else differs.
// Thread rule: owner.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_EVENT_NEVER INT64_MAX

struct hs_lab_event {
	int64_t at_ns;
	uint64_t number; // of the push, given by the queue
	uint32_t kind, index;
	void *subject; // the pusher's
};

struct hs_event_queue {
	struct hs_lab_event *heap;
	size_t n, room;
	uint64_t pushed;
};

void hs_event_queue_init(struct hs_event_queue *queue);
void hs_event_queue_fini(struct hs_event_queue *queue);

// 0 or -ENOMEM; allocates only where the queue was never as long.
int hs_event_push(struct hs_event_queue *queue, int64_t at_ns, uint32_t kind, uint32_t index,
		void *subject);
// False: there is none.
bool hs_event_pop(struct hs_event_queue *queue, struct hs_lab_event *event);

static inline int64_t hs_event_next_ns(const struct hs_event_queue *queue)
{
	return queue->n ? queue->heap[0].at_ns : HS_EVENT_NEVER;
}

// A fixed number of timers, all of them at HS_EVENT_NEVER at first.
struct hs_timers {
	uint32_t n;
	uint32_t *heap;	 // of indices
	uint32_t *place; // of each index in the heap
	int64_t *at_ns;	 // of each index
};

// 0 or -ENOMEM.
int hs_timers_init(struct hs_timers *timers, uint32_t n);
void hs_timers_fini(struct hs_timers *timers);
void hs_timers_set(struct hs_timers *timers, uint32_t index, int64_t at_ns);

static inline int64_t hs_timers_next_ns(const struct hs_timers *timers)
{
	return timers->n ? timers->at_ns[timers->heap[0]] : HS_EVENT_NEVER;
}

// The timer that is due first; only where there is one.
static inline uint32_t hs_timers_first(const struct hs_timers *timers)
{
	return timers->heap[0];
}

// SPDX-License-Identifier: BSD-3-Clause
// Queue and timers of the lab's loop. Both are heaps with four children a place. An event is pushed
// once and popped once. A timer has one time, which may change.
//
// Both run in order of time. Events of the same time run in push order, timers of the same time in
// order of their index. So the same pushes always give the same pops.
// Thread rule: owner.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_EVENT_NEVER INT64_MAX

struct hs_lab_event {
	int64_t at_ns;
	uint64_t number; // number of the push, given by the queue
	uint32_t kind, index;
	void *subject; // belongs to the pusher
};

struct hs_event_queue {
	struct hs_lab_event *heap;
	size_t n, room;
	uint64_t pushed;
};

void hs_event_queue_init(struct hs_event_queue *queue);
void hs_event_queue_fini(struct hs_event_queue *queue);

// Returns 0 or -ENOMEM. Allocates only if the queue is longer than ever before.
int hs_event_push(struct hs_event_queue *queue, int64_t at_ns, uint32_t kind, uint32_t index,
		void *subject);
// Returns false if the queue is empty.
bool hs_event_pop(struct hs_event_queue *queue, struct hs_lab_event *event);

static inline int64_t hs_event_next_ns(const struct hs_event_queue *queue)
{
	return queue->n ? queue->heap[0].at_ns : HS_EVENT_NEVER;
}

// A fixed number of timers. All of them are at HS_EVENT_NEVER at first.
struct hs_timers {
	uint32_t n;
	uint32_t *heap;	 // of indices
	uint32_t *place; // of each index in the heap
	int64_t *at_ns;	 // of each index
};

// Returns 0 or -ENOMEM.
int hs_timers_init(struct hs_timers *timers, uint32_t n);
void hs_timers_fini(struct hs_timers *timers);
void hs_timers_set(struct hs_timers *timers, uint32_t index, int64_t at_ns);

static inline int64_t hs_timers_next_ns(const struct hs_timers *timers)
{
	return timers->n ? timers->at_ns[timers->heap[0]] : HS_EVENT_NEVER;
}

// Returns the timer that is due first. There must be at least one timer.
static inline uint32_t hs_timers_first(const struct hs_timers *timers)
{
	return timers->heap[0];
}

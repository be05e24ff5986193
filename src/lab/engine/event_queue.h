// SPDX-License-Identifier: BSD-3-Clause
// The queue of what the lab's loop does next. It is a heap in which each place has four children.
// An event is pushed once and popped once. A timer stays in the queue and moves when its time
// changes.
//
// The queue is ordered by time. At the same time, events come first, in the order of their pushes.
// Timers follow, in the order in which they were added. So the same pushes always give the same
// pops.
// Thread rule: owner.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_EVENT_NEVER INT64_MAX

struct hs_lab;
struct hs_lab_event;
typedef void hs_lab_event_fn(struct hs_lab *lab, const struct hs_lab_event *event);

struct hs_lab_event {
	int64_t at_ns;
	uint64_t order; // rank among entries of the same time; the queue sets it
	hs_lab_event_fn *run;
	uintptr_t about; // an index, or a pointer that belongs to the pusher
};

struct hs_event_queue {
	struct hs_lab_event *heap;
	size_t n, room; // room: the largest n so far
	uint64_t pushed;
	uint32_t *places; // each timer's place in the heap
	size_t n_timers;
};

// Releases the queue's memory. A queue of zeroes is empty.
void hs_event_queue_fini(struct hs_event_queue *queue);

// Returns 0 or -ENOMEM. Allocates only if the queue is longer than ever before.
int hs_event_push(
		struct hs_event_queue *queue, int64_t at_ns, hs_lab_event_fn *run, uintptr_t about);
// Takes the first entry if it is an event. Returns false if the queue is empty or a timer is first.
bool hs_event_pop(struct hs_event_queue *queue, struct hs_lab_event *event);

// Adds a timer at HS_EVENT_NEVER. Returns 0 or -ENOMEM. The first timer has number 0.
int hs_event_add_timer(struct hs_event_queue *queue, hs_lab_event_fn *run, uintptr_t about);
void hs_event_set_timer(struct hs_event_queue *queue, size_t timer, int64_t at_ns);

static inline int64_t hs_event_timer_ns(const struct hs_event_queue *queue, size_t timer)
{
	return queue->heap[queue->places[timer]].at_ns;
}

static inline int64_t hs_event_next_ns(const struct hs_event_queue *queue)
{
	return queue->n ? queue->heap[0].at_ns : HS_EVENT_NEVER;
}

// SPDX-License-Identifier: BSD-3-Clause
#include "event_queue.h"

#include <errno.h>
#include <stdlib.h>

// The four children of a place share one or two cache lines. A heap with four children has fewer
// levels and causes fewer misses than a heap with two.
#define CHILDREN   4
#define FIRST_ROOM 1024

// ---- events ----

void hs_event_queue_init(struct hs_event_queue *queue)
{
	*queue = (struct hs_event_queue){0};
}

void hs_event_queue_fini(struct hs_event_queue *queue)
{
	free(queue->heap);
	*queue = (struct hs_event_queue){0};
}

// Time and order are one number, so that the search for the first child takes no branch that is
// hard to predict.
static inline __int128 order_of(const struct hs_lab_event *event)
{
	return (__int128)event->at_ns << 64 | event->number;
}

static int grow(struct hs_event_queue *queue)
{
	size_t room = queue->room ? 2 * queue->room : FIRST_ROOM;
	struct hs_lab_event *heap = realloc(queue->heap, room * sizeof(*heap));

	if (!heap)
		return -ENOMEM;
	queue->heap = heap;
	queue->room = room;
	return 0;
}

int hs_event_push(struct hs_event_queue *queue, int64_t at_ns, uint32_t kind, uint32_t index,
		void *subject)
{
	if (queue->n == queue->room && grow(queue) < 0)
		return -ENOMEM;
	struct hs_lab_event event = {
			.at_ns = at_ns,
			.number = queue->pushed++,
			.kind = kind,
			.index = index,
			.subject = subject,
	};
	size_t at = queue->n++;
	while (at > 0) {
		size_t parent = (at - 1) / CHILDREN;
		// A new event goes behind all others of its time.
		if (queue->heap[parent].at_ns <= at_ns)
			break;
		queue->heap[at] = queue->heap[parent];
		at = parent;
	}
	queue->heap[at] = event;
	return 0;
}

static inline size_t first_child(const struct hs_event_queue *queue, size_t child)
{
	size_t end = child + CHILDREN < queue->n ? child + CHILDREN : queue->n;
	size_t first = child;
	__int128 order = order_of(&queue->heap[child]);

	for (size_t i = child + 1; i < end; i++) {
		__int128 other = order_of(&queue->heap[i]);
		first = other < order ? i : first;
		order = other < order ? other : order;
	}
	return first;
}

bool hs_event_pop(struct hs_event_queue *queue, struct hs_lab_event *event)
{
	if (!queue->n)
		return false;
	*event = queue->heap[0];
	struct hs_lab_event last = queue->heap[--queue->n];
	size_t at = 0;
	for (;;) {
		size_t child = CHILDREN * at + 1;
		if (child >= queue->n)
			break;
		child = first_child(queue, child);
		if (order_of(&last) < order_of(&queue->heap[child]))
			break;
		queue->heap[at] = queue->heap[child];
		at = child;
	}
	queue->heap[at] = last;
	return true;
}

// ---- timers ----

int hs_timers_init(struct hs_timers *timers, uint32_t n)
{
	*timers = (struct hs_timers){.n = n};
	// At least one byte is allocated, because NULL would look like a failure.
	timers->heap = calloc((size_t)n + 1, sizeof(*timers->heap));
	timers->place = calloc((size_t)n + 1, sizeof(*timers->place));
	timers->at_ns = calloc((size_t)n + 1, sizeof(*timers->at_ns));
	if (!timers->heap || !timers->place || !timers->at_ns) {
		hs_timers_fini(timers);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < n; i++) {
		timers->heap[i] = timers->place[i] = i;
		timers->at_ns[i] = HS_EVENT_NEVER;
	}
	return 0;
}

void hs_timers_fini(struct hs_timers *timers)
{
	free(timers->heap);
	free(timers->place);
	free(timers->at_ns);
	*timers = (struct hs_timers){0};
}

static inline bool timer_before(const struct hs_timers *timers, uint32_t a, uint32_t b)
{
	return timers->at_ns[a] != timers->at_ns[b] ? timers->at_ns[a] < timers->at_ns[b] : a < b;
}

static inline void put(struct hs_timers *timers, uint32_t place, uint32_t index)
{
	timers->heap[place] = index;
	timers->place[index] = place;
}

static uint32_t rise(struct hs_timers *timers, uint32_t place, uint32_t index)
{
	while (place > 0) {
		uint32_t parent = (place - 1) / CHILDREN;
		if (!timer_before(timers, index, timers->heap[parent]))
			break;
		put(timers, place, timers->heap[parent]);
		place = parent;
	}
	return place;
}

static uint32_t sink(struct hs_timers *timers, uint32_t place, uint32_t index)
{
	for (;;) {
		uint64_t child = CHILDREN * (uint64_t)place + 1;
		uint64_t end = child + CHILDREN < timers->n ? child + CHILDREN : timers->n;
		if (child >= timers->n)
			break;
		uint32_t first = (uint32_t)child;
		for (uint32_t i = first + 1; i < end; i++) {
			if (timer_before(timers, timers->heap[i], timers->heap[first]))
				first = i;
		}
		if (!timer_before(timers, timers->heap[first], index))
			break;
		put(timers, place, timers->heap[first]);
		place = first;
	}
	return place;
}

void hs_timers_set(struct hs_timers *timers, uint32_t index, int64_t at_ns)
{
	if (timers->at_ns[index] == at_ns)
		return;
	timers->at_ns[index] = at_ns;
	uint32_t place = rise(timers, timers->place[index], index);
	put(timers, sink(timers, place, index), index);
}

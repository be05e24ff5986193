// SPDX-License-Identifier: BSD-3-Clause
#include "event_queue.h"

#include "array.h"

#include <errno.h>
#include <stdlib.h>

// The four children of a place share one or two cache lines. A heap with four children has fewer
// levels and causes fewer misses than a heap with two.
#define CHILDREN 4
#define TIMER	 (UINT64_C(1) << 63) // in an order: marks a timer; the lower bits are its number

void hs_event_queue_fini(struct hs_event_queue *queue)
{
	free(queue->heap);
	free(queue->places);
	*queue = (struct hs_event_queue){0};
}

// Returns time and order as one number, so that the search for the first child takes no branch that
// is hard to predict.
static inline __int128 order_of(const struct hs_lab_event *event)
{
	return (__int128)event->at_ns << 64 | event->order;
}

static inline void put(struct hs_event_queue *queue, size_t place, const struct hs_lab_event *event)
{
	queue->heap[place] = *event;
	if (event->order & TIMER)
		queue->places[event->order & ~TIMER] = (uint32_t)place;
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

// Puts the event at this place, or further up or down where its time belongs.
static void place_event(
		struct hs_event_queue *queue, size_t place, const struct hs_lab_event *event)
{
	size_t next;

	for (; place > 0; place = next) {
		next = (place - 1) / CHILDREN;
		if (order_of(&queue->heap[next]) <= order_of(event))
			break;
		put(queue, place, &queue->heap[next]);
	}
	for (; CHILDREN * place + 1 < queue->n; place = next) {
		next = first_child(queue, CHILDREN * place + 1);
		if (order_of(event) <= order_of(&queue->heap[next]))
			break;
		put(queue, place, &queue->heap[next]);
	}
	put(queue, place, event);
}

static int add(struct hs_event_queue *queue, const struct hs_lab_event *event)
{
	if (queue->n == queue->room && !HS_ARRAY_ADD(queue->heap, queue->room))
		return -ENOMEM;
	place_event(queue, queue->n++, event);
	return 0;
}

int hs_event_push(
		struct hs_event_queue *queue, int64_t at_ns, hs_lab_event_fn *run, uintptr_t about)
{
	struct hs_lab_event event = {at_ns, queue->pushed++, run, about};

	return add(queue, &event);
}

bool hs_event_pop(struct hs_event_queue *queue, struct hs_lab_event *event)
{
	if (!queue->n || queue->heap[0].order & TIMER)
		return false;
	*event = queue->heap[0];
	struct hs_lab_event last = queue->heap[--queue->n];
	place_event(queue, 0, &last);
	return true;
}

// ---- timers ----

int hs_event_add_timer(struct hs_event_queue *queue, hs_lab_event_fn *run, uintptr_t about)
{
	struct hs_lab_event timer = {HS_EVENT_NEVER, TIMER | queue->n_timers, run, about};

	if (!HS_ARRAY_ADD(queue->places, queue->n_timers))
		return -ENOMEM;
	return add(queue, &timer);
}

void hs_event_set_timer(struct hs_event_queue *queue, size_t timer, int64_t at_ns)
{
	size_t place = queue->places[timer];
	struct hs_lab_event event = queue->heap[place];

	if (event.at_ns == at_ns)
		return;
	event.at_ns = at_ns;
	place_event(queue, place, &event);
}

// SPDX-License-Identifier: BSD-3-Clause
#include "stream_store.h"

#include "lab_array.h"

#include <stdlib.h>
#include <string.h>

bool hs_stream_log_add(struct hs_stream_log *log, uint64_t word)
{
	if (!HS_LAB_ROOM(log->words, log->room, log->n + 1))
		return false;
	log->words[log->n++] = word;
	return true;
}

void hs_stream_log_fini(struct hs_stream_log *log)
{
	free(log->words);
	*log = (struct hs_stream_log){0};
}

bool hs_stream_queue_add(struct hs_stream_queue *queue, int64_t at_ns, uint64_t what)
{
	// The members move to the front when half of the array was taken, so that each moves at
	// most once on average.
	if (queue->first > queue->end / 2) {
		memmove(queue->dues, queue->dues + queue->first,
				(queue->end - queue->first) * sizeof(queue->dues[0]));
		queue->end -= queue->first;
		queue->first = 0;
	}
	if (!HS_LAB_ROOM(queue->dues, queue->room, queue->end + 1))
		return false;
	size_t at = queue->end++;
	for (; at > queue->first && queue->dues[at - 1].at_ns > at_ns; at--)
		queue->dues[at] = queue->dues[at - 1];
	queue->dues[at] = (struct hs_stream_due){.at_ns = at_ns, .what = what};
	return true;
}

int64_t hs_stream_queue_next_ns(const struct hs_stream_queue *queue)
{
	return queue->first < queue->end ? queue->dues[queue->first].at_ns : INT64_MAX;
}

uint64_t hs_stream_queue_take(struct hs_stream_queue *queue)
{
	return queue->dues[queue->first++].what;
}

void hs_stream_queue_fini(struct hs_stream_queue *queue)
{
	free(queue->dues);
	*queue = (struct hs_stream_queue){0};
}

// SPDX-License-Identifier: BSD-3-Clause
#include "stream_store.h"

#include <stdlib.h>
#include <string.h>

bool hs_stream_grow(void **array, size_t *room, size_t n, size_t member_bytes)
{
	if (n <= *room)
		return true;
	size_t more = *room ? *room : 64;
	while (more < n)
		more *= 2;
	void *grown = reallocarray(*array, more, member_bytes);
	if (!grown)
		return false;
	*array = grown;
	*room = more;
	return true;
}

bool hs_stream_log_add(struct hs_stream_log *log, uint64_t word)
{
	void *words = log->words;
	if (!hs_stream_grow(&words, &log->room, log->n + 1, sizeof(log->words[0])))
		return false;
	log->words = words;
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
	// Moved to the front when half of it was taken: each member moves at most once on average.
	if (queue->first > queue->end / 2) {
		memmove(queue->dues, queue->dues + queue->first,
				(queue->end - queue->first) * sizeof(queue->dues[0]));
		queue->end -= queue->first;
		queue->first = 0;
	}
	void *dues = queue->dues;
	if (!hs_stream_grow(&dues, &queue->room, queue->end + 1, sizeof(queue->dues[0])))
		return false;
	queue->dues = dues;

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

// SPDX-License-Identifier: BSD-3-Clause
// The memory of a stream, in growing arrays: a word for each frame that was sent, the waiting
// replies, and the frames that were requested in addition.
//
// Thread rule: owner.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_stream_log {
	uint64_t *words; // word of frame n at [n - 1]
	size_t n, room;
};

bool hs_stream_log_add(struct hs_stream_log *log, uint64_t word);
void hs_stream_log_fini(struct hs_stream_log *log);

// Something to send at a time. `what` belongs to the owner: a request's number, a segment.
struct hs_stream_due {
	int64_t at_ns;
	uint64_t what;
};

// In order of time. Equal times keep the order of their arrival.
struct hs_stream_queue {
	struct hs_stream_due *dues;
	size_t first, end, room;
};

bool hs_stream_queue_add(struct hs_stream_queue *queue, int64_t at_ns, uint64_t what);
int64_t hs_stream_queue_next_ns(const struct hs_stream_queue *queue); // INT64_MAX: empty
uint64_t hs_stream_queue_take(struct hs_stream_queue *queue);	      // must not be empty
void hs_stream_queue_fini(struct hs_stream_queue *queue);

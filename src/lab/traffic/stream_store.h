// SPDX-License-Identifier: BSD-3-Clause
// What a stream remembers, in arrays that grow: a word for each frame sent, the replies that wait,
// the frames asked for beside the plan.
//
// Thread rule: owner.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hs_stream_log {
	uint64_t *words; // of frame number n at [n - 1]
	size_t n, room;
};

bool hs_stream_log_add(struct hs_stream_log *log, uint64_t word);
void hs_stream_log_fini(struct hs_stream_log *log);

// What is to be sent at a time. `what` is its owner's: a request's number, a segment.
struct hs_stream_due {
	int64_t at_ns;
	uint64_t what;
};

// By time, and at the same time in the order in which they came.
struct hs_stream_queue {
	struct hs_stream_due *dues;
	size_t first, end, room;
};

bool hs_stream_queue_add(struct hs_stream_queue *queue, int64_t at_ns, uint64_t what);
int64_t hs_stream_queue_next_ns(const struct hs_stream_queue *queue); // INT64_MAX: empty
uint64_t hs_stream_queue_take(struct hs_stream_queue *queue);	      // not empty
void hs_stream_queue_fini(struct hs_stream_queue *queue);

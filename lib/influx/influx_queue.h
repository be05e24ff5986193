// SPDX-License-Identifier: BSD-3-Clause
// Lines that wait for a database: batches, the oldest first, of together at most `most` bytes. The
// last batch is open: it takes lines until it is full.
//
// Thread rule: one thread at a time.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#define INFLUX_BATCH_LINES 5000
#define INFLUX_BATCH_BYTES (1u << 20)

struct influx_batch {
	TAILQ_ENTRY(influx_batch) order;
	char *bytes;
	size_t len, size;
	unsigned lines;
	bool seen;	   // by the sender
	int64_t opened_ns; // when the sender first saw it
};

struct influx_queue {
	TAILQ_HEAD(influx_batches, influx_batch) batches;
	size_t most, bytes; // of all batches, also of one that was taken and not yet freed
	uint64_t lines;
};

void influx_queue_init(struct influx_queue *queue, size_t most_bytes);
void influx_queue_fini(struct influx_queue *queue);

// Copies n lines. Returns false if they have no room, or memory is out. *ripe is set if a batch is
// new or full: the sender has something to look at.
bool influx_queue_add(
		struct influx_queue *queue, const char *lines, size_t len, unsigned n, bool *ripe);
// Returns the oldest batch, or NULL.
struct influx_batch *influx_queue_first(const struct influx_queue *queue);
bool influx_batch_is_full(const struct influx_queue *queue, const struct influx_batch *batch);
// Takes the oldest batch out. Its lines and bytes still count until influx_queue_free.
struct influx_batch *influx_queue_take(struct influx_queue *queue);
void influx_queue_free(struct influx_queue *queue, struct influx_batch *batch);

// SPDX-License-Identifier: BSD-3-Clause
#include "influx_queue.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_BYTES 4096

void influx_queue_init(struct influx_queue *queue, size_t most_bytes)
{
	*queue = (struct influx_queue){.most = most_bytes};
	TAILQ_INIT(&queue->batches);
}

void influx_queue_fini(struct influx_queue *queue)
{
	struct influx_batch *batch;

	while ((batch = influx_queue_take(queue)))
		influx_queue_free(queue, batch);
}

struct influx_batch *influx_queue_first(const struct influx_queue *queue)
{
	return TAILQ_FIRST(&queue->batches);
}

static struct influx_batch *last_of(const struct influx_queue *queue)
{
	return TAILQ_LAST(&queue->batches, influx_batches);
}

bool influx_batch_is_full(const struct influx_queue *queue, const struct influx_batch *batch)
{
	return batch->lines >= INFLUX_BATCH_LINES || batch->len >= INFLUX_BATCH_BYTES ||
	       TAILQ_NEXT(batch, order) || queue->bytes >= queue->most / 2;
}

static bool fits(const struct influx_batch *batch, size_t len, unsigned n)
{
	return batch->lines + n <= INFLUX_BATCH_LINES && batch->len + len <= INFLUX_BATCH_BYTES;
}

static bool grow(struct influx_batch *batch, size_t len)
{
	size_t size = batch->size ? batch->size : FIRST_BYTES;

	while (size < len)
		size *= 2;
	if (size == batch->size)
		return true;
	char *bytes = realloc(batch->bytes, size);
	if (!bytes)
		return false;
	batch->bytes = bytes;
	batch->size = size;
	return true;
}

static struct influx_batch *open_batch(struct influx_queue *queue)
{
	struct influx_batch *batch = calloc(1, sizeof(*batch));

	if (batch)
		TAILQ_INSERT_TAIL(&queue->batches, batch, order);
	return batch;
}

static void drop_empty(struct influx_queue *queue, struct influx_batch *batch)
{
	if (!batch || batch->lines)
		return;
	TAILQ_REMOVE(&queue->batches, batch, order);
	influx_queue_free(queue, batch);
}

bool influx_queue_add(
		struct influx_queue *queue, const char *lines, size_t len, unsigned n, bool *ripe)
{
	struct influx_batch *batch = last_of(queue);

	if (queue->most - queue->bytes < len)
		return false;
	if (!batch || !fits(batch, len, n)) {
		batch = open_batch(queue);
		*ripe = true;
	}
	if (!batch || !grow(batch, batch->len + len)) {
		drop_empty(queue, batch);
		return false;
	}
	bool was_full = influx_batch_is_full(queue, batch);
	memcpy(batch->bytes + batch->len, lines, len);
	batch->len += len;
	batch->lines += n;
	queue->bytes += len;
	queue->lines += n;
	*ripe |= !was_full && influx_batch_is_full(queue, batch);
	return true;
}

struct influx_batch *influx_queue_take(struct influx_queue *queue)
{
	struct influx_batch *batch = TAILQ_FIRST(&queue->batches);

	if (batch)
		TAILQ_REMOVE(&queue->batches, batch, order);
	return batch;
}

void influx_queue_free(struct influx_queue *queue, struct influx_batch *batch)
{
	queue->bytes -= batch->len;
	queue->lines -= batch->lines;
	free(batch->bytes);
	free(batch);
}

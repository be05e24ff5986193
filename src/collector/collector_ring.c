// SPDX-License-Identifier: BSD-3-Clause
#include "collector_ring.h"

#include <stdalign.h>
#include <stdatomic.h>
#include <stdlib.h>

#define APART 128 // between data of two threads

// Stands in front of each record. A record does not cross the end of the memory: a head without a
// record fills the rest of the memory there.
struct head {
	uint32_t bytes; // with the head, a multiple of 8
	uint32_t is_record;
};

struct hs_collector_ring {
	uint8_t *memory;
	uint32_t size;
	alignas(APART) _Atomic uint64_t written; // bytes so far
	uint64_t reserved;			 // the end that a commit publishes
	uint64_t seen_read; // the value of `read` when the writer last loaded it
	alignas(APART) _Atomic uint64_t read;
	uint64_t seen_written;
};

struct hs_collector_ring *hs_collector_ring_create(uint32_t bytes)
{
	struct hs_collector_ring *ring = aligned_alloc(APART, sizeof(*ring));

	if (!ring)
		return NULL;
	*ring = (struct hs_collector_ring){.memory = aligned_alloc(APART, bytes), .size = bytes};
	if (!ring->memory) {
		free(ring);
		return NULL;
	}
	return ring;
}

void hs_collector_ring_destroy(struct hs_collector_ring *ring)
{
	if (!ring)
		return;
	free(ring->memory);
	free(ring);
}

static struct head *head_at(struct hs_collector_ring *ring, uint64_t at)
{
	return (struct head *)(void *)(ring->memory + (at & (ring->size - 1)));
}

static bool has_room(struct hs_collector_ring *ring, uint64_t end)
{
	if (end - ring->seen_read <= ring->size)
		return true;
	ring->seen_read = atomic_load_explicit(&ring->read, memory_order_acquire);
	return end - ring->seen_read <= ring->size;
}

void *hs_collector_ring_reserve(struct hs_collector_ring *ring, uint32_t bytes)
{
	uint32_t whole = (uint32_t)((bytes + sizeof(struct head) + 7) & ~UINT32_C(7));
	uint64_t at = atomic_load_explicit(&ring->written, memory_order_relaxed);
	uint32_t left = ring->size - (uint32_t)(at & (ring->size - 1));
	uint32_t skipped = whole > left ? left : 0;

	if (whole > ring->size || !has_room(ring, at + skipped + whole))
		return NULL;
	if (skipped)
		*head_at(ring, at) = (struct head){skipped, false};
	at += skipped;
	*head_at(ring, at) = (struct head){whole, true};
	ring->reserved = at + whole;
	return head_at(ring, at) + 1;
}

void hs_collector_ring_commit(struct hs_collector_ring *ring)
{
	atomic_store_explicit(&ring->written, ring->reserved, memory_order_release);
}

uint32_t hs_collector_ring_used(const struct hs_collector_ring *ring)
{
	// The reader and the writer may go on between the two loads.
	uint64_t read = atomic_load_explicit(&ring->read, memory_order_relaxed);
	uint64_t written = atomic_load_explicit(&ring->written, memory_order_relaxed);

	return written > read ? (uint32_t)(written - read) : 0;
}

const void *hs_collector_ring_peek(struct hs_collector_ring *ring)
{
	uint64_t at = atomic_load_explicit(&ring->read, memory_order_relaxed);

	for (;;) {
		if (at == ring->seen_written)
			ring->seen_written =
					atomic_load_explicit(&ring->written, memory_order_acquire);
		if (at == ring->seen_written)
			return NULL;
		const struct head *head = head_at(ring, at);
		if (head->is_record)
			return head + 1;
		at += head->bytes;
		atomic_store_explicit(&ring->read, at, memory_order_release);
	}
}

void hs_collector_ring_release(struct hs_collector_ring *ring)
{
	uint64_t at = atomic_load_explicit(&ring->read, memory_order_relaxed);

	atomic_store_explicit(&ring->read, at + head_at(ring, at)->bytes, memory_order_release);
}

uint64_t hs_collector_ring_end(const struct hs_collector_ring *ring)
{
	return atomic_load_explicit(&ring->written, memory_order_acquire);
}

void hs_collector_ring_visit(const struct hs_collector_ring *ring, uint64_t end,
		void (*visit)(void *context, const void *record), void *context)
{
	uint64_t at = atomic_load_explicit(&ring->read, memory_order_relaxed);

	while (at < end) {
		const struct head *head = (const void *)(ring->memory + (at & (ring->size - 1)));
		if (head->is_record)
			visit(context, head + 1);
		at += head->bytes;
	}
}

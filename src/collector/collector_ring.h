// SPDX-License-Identifier: BSD-3-Clause
// Records of any length from one thread to another, in order.
//
// Thread rule: reserve and commit by the writer, peek and release by the reader; neither waits.
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hs_collector_ring;

// Creates a ring. `bytes` is a power of two. Returns NULL if memory is out.
struct hs_collector_ring *hs_collector_ring_create(uint32_t bytes);
void hs_collector_ring_destroy(struct hs_collector_ring *ring); // accepts NULL

// Returns a place for a record, aligned to 8 bytes, or NULL if there is no room. The reader sees
// the record after the commit.
void *hs_collector_ring_reserve(struct hs_collector_ring *ring, uint32_t bytes);
void hs_collector_ring_commit(struct hs_collector_ring *ring);
// Returns how many bytes wait at most. Called by either thread.
uint32_t hs_collector_ring_used(const struct hs_collector_ring *ring);

// Returns the oldest record, or NULL. The record stays until it is released.
const void *hs_collector_ring_peek(struct hs_collector_ring *ring);
void hs_collector_ring_release(struct hs_collector_ring *ring);

// Returns the end of the records that were committed so far. Called by either thread.
uint64_t hs_collector_ring_end(const struct hs_collector_ring *ring);
// Calls `visit` for each record that waits and was committed before that end, the oldest first.
// Called by the reader; the writer may go on meanwhile.
void hs_collector_ring_visit(const struct hs_collector_ring *ring, uint64_t end,
		void (*visit)(void *context, const void *record), void *context);

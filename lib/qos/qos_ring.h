// SPDX-License-Identifier: BSD-3-Clause
// The newest reports of one flow, packed. Memory is allocated as reports come, and never exceeds
// HS_QOS_RING_BYTES.
//
// Thread rule: owner.
#pragma once

#include "report.h"
#include "telemetry_packed.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_QOS_RING_BYTES   (320 * 1024) // this struct included
#define HS_QOS_RING_CHUNK   64		 // reports
#define HS_QOS_RING_CHUNKS  22
#define HS_QOS_RING_MAX	    (HS_QOS_RING_CHUNK * HS_QOS_RING_CHUNKS)
#define HS_QOS_RING_FETCHED 16	// reports ahead of one that is read
#define HS_QOS_RING_AHEAD   256 // most reports that may be placed after the newest

struct hs_qos_ring {
	uint64_t next; // number of the next report; the ring has those from next - count on
	uint32_t count;
	uint32_t head;	     // slot of the next report
	uint32_t first;	     // slot of the very first report, below HS_QOS_RING_AHEAD
	bool staggered;	     // `first` differs from flow to flow: hs_qos_ring_is_due
	uint32_t capacity;   // slots; at least 1000 and those ahead if the slots are not long
	uint32_t slot_bytes; // grows with the longest report that came
	const struct hs_telemetry_family *family; // of all reports
	uint32_t ahead;	     // reports placed after the newest, not yet in the ring
	uint32_t most_ahead; // that may be placed: fewer than HS_QOS_RING_AHEAD if the slots are
			     // long
	uint32_t n_chunks;
	uint8_t *chunks[HS_QOS_RING_CHUNKS];
};

// A zeroed struct is an empty ring.
void hs_qos_ring_fini(struct hs_qos_ring *ring);

// Returns whether a packet can carry a report of this length.
bool hs_qos_ring_takes(const struct hs_report *report);

// Allocates the memory for a report, which is to be pushed next. For a longer report, the oldest
// reports may be dropped. Returns 0, -ENOMEM, or -EINVAL: longer than a packet carries.
int hs_qos_ring_reserve(struct hs_qos_ring *ring, const struct hs_report *report);

// Adds a report with the caller's tag. Before, hs_qos_ring_reserve must have succeeded for it.
void hs_qos_ring_push(struct hs_qos_ring *ring, const struct hs_report *report, int64_t tag);

// Places a report after the newest, without adding it to the ring, so that no report is dropped.
// Its family must have no local values. Returns false if there is no memory, if the report is
// longer than those before, or if `most_ahead` reports are placed already.
bool hs_qos_ring_place(struct hs_qos_ring *ring, const struct hs_report *report, int64_t tag);
// Returns how many reports may be packed behind each other from *at on, and then be added to
// `ahead`: 0 if there is no room, or no memory yet.
uint32_t hs_qos_ring_free(const struct hs_qos_ring *ring, uint8_t **at);
// hs_qos_ring_accept adds the first n placed reports to the ring; the first one's number is `next`.
// hs_qos_ring_refuse drops the first placed report. No report may be pushed while reports are
// placed.
void hs_qos_ring_accept(struct hs_qos_ring *ring, uint32_t n);
void hs_qos_ring_refuse(struct hs_qos_ring *ring);

// Return how many reports the ring can keep: now, while the slots for reports placed ahead stay
// free, and once this report is pushed. A longer report reduces the number.
static inline uint32_t hs_qos_ring_room(const struct hs_qos_ring *ring)
{
	return ring->capacity - ring->most_ahead;
}
uint32_t hs_qos_ring_room_for(const struct hs_qos_ring *ring, const struct hs_report *report);

// Unpacks the report of this number, which must be in the ring, or the first placed one. ns_id is
// not kept.
void hs_qos_ring_get(const struct hs_qos_ring *ring, uint64_t number, struct hs_report *report);
// Returns the tag of a report: the number of the shortest window that counts it.
int64_t hs_qos_ring_window(const struct hs_qos_ring *ring, uint64_t number);

static inline uint64_t hs_qos_ring_oldest(const struct hs_qos_ring *ring)
{
	return ring->next - ring->count;
}

size_t hs_qos_ring_bytes(const struct hs_qos_ring *ring);

// ---- packed reports ----

static inline uint8_t *hs_qos_ring_slot_at(const struct hs_qos_ring *ring, uint32_t slot)
{
	return ring->chunks[slot / HS_QOS_RING_CHUNK] +
	       (size_t)(slot % HS_QOS_RING_CHUNK) * ring->slot_bytes;
}

// Returns the slot of the report of this number, which is in the ring or placed after it.
static inline uint32_t hs_qos_ring_slot_of(const struct hs_qos_ring *ring, uint64_t number)
{
	uint32_t slot = ring->head + (uint32_t)(number - ring->next);
	if ((int32_t)slot < 0)
		slot += ring->capacity;
	else if (slot >= ring->capacity)
		slot -= ring->capacity;
	return slot;
}

static inline const struct hs_packed *hs_qos_ring_packed(
		const struct hs_qos_ring *ring, uint64_t number)
{
	return (const struct hs_packed *)hs_qos_ring_slot_at(
			ring, hs_qos_ring_slot_of(ring, number));
}

// Returns the report in this slot, or in the first one if the slot is the one behind the last.
// `before` is the report in the slot before. Chunks are full.
static inline const struct hs_packed *hs_qos_ring_behind(
		const struct hs_qos_ring *ring, const struct hs_packed *before, uint32_t slot)
{
	if (slot % HS_QOS_RING_CHUNK)
		return (const struct hs_packed *)((const uint8_t *)before + ring->slot_bytes);
	slot %= ring->capacity;
	return (const struct hs_packed *)hs_qos_ring_slot_at(ring, slot);
}

// Prefetches the report so many slots behind one, at least the lines of one with four hops. The
// reports of a flow were last in the cache when they were placed. A prefetch beyond the end of
// their chunk does no harm.
static inline void hs_qos_ring_fetch(const struct hs_qos_ring *ring, const struct hs_packed *packed)
{
	const uint8_t *at = (const uint8_t *)packed + HS_QOS_RING_FETCHED * ring->slot_bytes;
	__builtin_prefetch(at);
	__builtin_prefetch(at + 64);
	__builtin_prefetch(at + 128);
}

// Returns whether slots are long enough for so many entries with all fields.
static inline bool hs_qos_ring_has_common(const struct hs_qos_ring *ring, unsigned n_hops)
{
	return offsetof(struct hs_packed, hops) + n_hops * HS_PACKED_HOP_BYTES <= ring->slot_bytes;
}

// Returns how many reports of the ring up to the one before `number` are contiguous in memory.
static inline uint32_t hs_qos_ring_contiguous(const struct hs_qos_ring *ring, uint64_t number)
{
	uint32_t n = hs_qos_ring_slot_of(ring, number - 1) % HS_QOS_RING_CHUNK + 1;
	uint64_t there = number - hs_qos_ring_oldest(ring);
	return n < there ? n : (uint32_t)there;
}

// Returns a slot behind those in use, counted from the next one.
static inline uint32_t hs_qos_ring_slot_ahead(const struct hs_qos_ring *ring, uint32_t ahead)
{
	uint32_t slot = ring->head + ahead;
	return slot >= ring->capacity ? slot - ring->capacity : slot;
}

// Returns whether so many placed reports should be added to the ring. Staggered rings do so each at
// other slots, so that flows that report in turn do not all do so at once.
static inline bool hs_qos_ring_is_due(const struct hs_qos_ring *ring, uint32_t ahead)
{
	return ahead >= ring->most_ahead ||
	       (ring->staggered && hs_qos_ring_slot_ahead(ring, ahead) % HS_QOS_RING_AHEAD == 0);
}

// Returns a placed report, counted from the first.
static inline const struct hs_packed *hs_qos_ring_ahead(
		const struct hs_qos_ring *ring, uint32_t ahead)
{
	return (const struct hs_packed *)hs_qos_ring_slot_at(
			ring, hs_qos_ring_slot_ahead(ring, ahead));
}

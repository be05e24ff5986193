// SPDX-License-Identifier: BSD-3-Clause
// The newest reports of one flow, packed to what they hold, in memory that is taken as they come
// and never exceeds HS_QOS_RING_BYTES.
//
// Thread rule: owner.
#pragma once

#include "telemetry_packed.h"
#include "report.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_QOS_RING_BYTES  (320 * 1024) // this struct included
#define HS_QOS_RING_CHUNK  64		// reports
#define HS_QOS_RING_CHUNKS 20
#define HS_QOS_RING_MAX	   (HS_QOS_RING_CHUNK * HS_QOS_RING_CHUNKS)
#define HS_QOS_RING_AHEAD  16 // reports that may be placed behind the newest

struct hs_qos_ring {
	uint64_t next; // number of the next report: all from next - count on are here
	uint32_t count;
	uint32_t head;	     // slot of the next report
	uint32_t capacity;   // slots; at least 1000 and those ahead, whatever the size of a slot
	uint32_t slot_bytes; // grows with the longest report that came
	const struct hs_telemetry_family *family; // of all of them
	uint32_t ahead; // placed behind the newest, and not reports of the ring yet
	uint32_t n_chunks;
	uint8_t *chunks[HS_QOS_RING_CHUNKS];
};

// A zeroed struct is an empty ring.
void hs_qos_ring_fini(struct hs_qos_ring *ring);

// Whether a wire carries a report so long.
bool hs_qos_ring_takes(const struct hs_report *report);

// Takes the memory for a report, which is to be pushed next. The oldest may leave for a longer one.
// 0, -ENOMEM, or -EINVAL: longer than a wire carries.
int hs_qos_ring_reserve(struct hs_qos_ring *ring, const struct hs_report *report);

// Keeps a report with a tag of the caller's.
void hs_qos_ring_push(struct hs_qos_ring *ring, const struct hs_report *report, int64_t tag);

// Places a report behind the newest, without making it one of the ring's: no other one leaves for
// it. Its family has no locals. False where that takes memory, or HS_QOS_RING_AHEAD are placed
// already.
bool hs_qos_ring_place(struct hs_qos_ring *ring, const struct hs_report *report, int64_t tag);
// The same without decoding it, where its telemetry is usual; else false, too.
bool hs_qos_ring_place_record(
		struct hs_qos_ring *ring, const struct hs_report_record *record, int64_t tag);
// Brings near where the next one will be placed.
void hs_qos_ring_expect(const struct hs_qos_ring *ring);
// The first of those placed (whose number is `next`) become the newest of the ring, or the first
// goes. Until all have, none may be pushed.
void hs_qos_ring_accept(struct hs_qos_ring *ring, uint32_t n);
void hs_qos_ring_refuse(struct hs_qos_ring *ring);

// How many reports there is room for (not in an empty ring that never had one), and once this one
// is pushed: a longer one costs some.
uint32_t hs_qos_ring_room(const struct hs_qos_ring *ring);
uint32_t hs_qos_ring_room_for(const struct hs_qos_ring *ring, const struct hs_report *report);

// The report of this number, which must be in the ring, or the first of those placed. ns_id is not
// kept.
void hs_qos_ring_get(const struct hs_qos_ring *ring, uint64_t number, struct hs_report *report);
int64_t hs_qos_ring_tag(const struct hs_qos_ring *ring, uint64_t number);

static inline uint64_t hs_qos_ring_oldest(const struct hs_qos_ring *ring)
{
	return ring->next - ring->count;
}

size_t hs_qos_ring_bytes(const struct hs_qos_ring *ring);

// ---- reports where they lie ----

static inline uint8_t *hs_qos_ring_slot_at(const struct hs_qos_ring *ring, uint32_t slot)
{
	return ring->chunks[slot / HS_QOS_RING_CHUNK] +
	       (size_t)(slot % HS_QOS_RING_CHUNK) * ring->slot_bytes;
}

// Of the report of a number that is in the ring, or placed behind it.
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

// Of the report in this slot, where `before` is that in the slot before it.
static inline const struct hs_packed *hs_qos_ring_behind(
		const struct hs_qos_ring *ring, const struct hs_packed *before, uint32_t slot)
{
	return (const struct hs_packed *)(slot % HS_QOS_RING_CHUNK
							  ? (const uint8_t *)before +
									    ring->slot_bytes
							  : hs_qos_ring_slot_at(ring, slot));
}

// Whether slots are long enough for so many entries with all fields.
static inline bool hs_qos_ring_has_usual(const struct hs_qos_ring *ring, unsigned n_hops)
{
	return offsetof(struct hs_packed, hops) + n_hops * HS_PACKED_HOP_BYTES <= ring->slot_bytes;
}

// How many reports of the ring, the last of them that before `number`, lie one behind the other.
static inline uint32_t hs_qos_ring_stretch(const struct hs_qos_ring *ring, uint64_t number)
{
	uint32_t n = hs_qos_ring_slot_of(ring, number - 1) % HS_QOS_RING_CHUNK + 1;
	uint64_t there = number - hs_qos_ring_oldest(ring);
	return n < there ? n : (uint32_t)there;
}

// Of those placed, counted from the first.
static inline const struct hs_packed *hs_qos_ring_ahead(
		const struct hs_qos_ring *ring, uint32_t ahead)
{
	uint32_t slot = ring->head + ahead;
	slot -= slot >= ring->capacity ? ring->capacity : 0;
	return (const struct hs_packed *)hs_qos_ring_slot_at(ring, slot);
}

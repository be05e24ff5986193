// SPDX-License-Identifier: BSD-3-Clause
#include "qos_ring.h"

#include "qos_config.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_MAX    312
#define LEAST_AHEAD 16
// Slots of three hops or fewer leave memory for more reports ahead.
#define SHORT	     156
#define USUAL_CHUNKS 20
#define USUAL_AHEAD  128
static_assert(HS_QOS_RING_CHUNKS * HS_QOS_RING_CHUNK - HS_QOS_RING_AHEAD ==
				USUAL_CHUNKS * HS_QOS_RING_CHUNK - USUAL_AHEAD,
		"as many are kept");

// Slots of SLOT_MAX bytes hold any record of narrow entries. Wide entries may take longer slots;
// then the ring keeps fewer than a thousand reports.
#define NARROW_BYTES 247 // of option 0x31, whose entries are packed as they are on the wire
#define LOCAL_BYTES  31	 // of a node with all values
#define WIDE_MAX                                                                                   \
	(offsetof(struct hs_packed, hops) + HS_TELEMETRY_MAX_HOPS * sizeof(struct hs_hop) +        \
			(HS_TELEMETRY_MAX_HOPS + 1) * LOCAL_BYTES + sizeof(uint32_t))
static_assert(offsetof(struct hs_packed, hops) + NARROW_BYTES <= SLOT_MAX, "slot");
static_assert(HS_QOS_RING_BYTES / (HS_QOS_RING_CHUNK * (WIDE_MAX + 8)) >= 1, "and those ahead");
static_assert((HS_QOS_RING_BYTES - sizeof(struct hs_qos_ring)) / (HS_QOS_RING_CHUNK * SLOT_MAX) *
						HS_QOS_RING_CHUNK >=
				HS_QOS_REPORTS + LEAST_AHEAD,
		"a thousand of the longest fit");

static inline uint32_t capacity_for(uint32_t slot_bytes)
{
	uint32_t fit = (uint32_t)(HS_QOS_RING_BYTES - sizeof(struct hs_qos_ring)) /
		       (HS_QOS_RING_CHUNK * slot_bytes);
	uint32_t most = slot_bytes <= SHORT ? HS_QOS_RING_CHUNKS : USUAL_CHUNKS;
	return HS_QOS_RING_CHUNK * (fit < most ? fit : most);
}

// Returns how many reports may be placed ahead. The ring keeps some more than a thousand reports
// then, because a window closes after reports of the next one have come.
static inline uint32_t ahead_of(uint32_t capacity)
{
	uint32_t spare = capacity > HS_QOS_REPORTS ? capacity - HS_QOS_REPORTS : 0;
	spare = spare > LEAST_AHEAD ? spare : LEAST_AHEAD;
	if (capacity > USUAL_CHUNKS * HS_QOS_RING_CHUNK)
		return HS_QOS_RING_AHEAD;
	return spare < USUAL_AHEAD ? spare : USUAL_AHEAD;
}

static_assert(sizeof(struct hs_hop) == 32 && offsetof(struct hs_hop, ts_ns) == 16, "no padding");

static inline bool is_wide(const struct hs_decoded *telemetry)
{
	uint32_t bits = 0;
	for (unsigned i = 0; i < telemetry->n_hops; i++) {
		const struct hs_hop *hop = &telemetry->hops[i];
		bits |= hop->node_id | hop->tx_packets | hop->rx_packets;
	}
	return bits > UINT16_MAX;
}

static inline uint32_t packed_bytes(const struct hs_decoded *telemetry, bool wide)
{
	uint32_t bytes = offsetof(struct hs_packed, hops);
	if (wide)
		return bytes + telemetry->n_hops * (uint32_t)sizeof(struct hs_hop);
	for (unsigned i = 0; i < telemetry->n_hops; i++) {
		uint16_t bitmap = telemetry->hops[i].bitmap;
		if (bitmap == HS_HOP_MEASURED) {
			bytes += HS_PACKED_HOP_BYTES;
			continue;
		}
		bytes += 4u + (bitmap & HS_HOP_PACKETS ? 4u : 0u) +
			 (bitmap & HS_HOP_TIMESTAMP ? 8u : 0u) + (bitmap & HS_HOP_BYTES ? 8u : 0u);
	}
	return bytes;
}

// ---- local values of nodes ----

static inline bool has_locals(const struct hs_decoded *telemetry)
{
	return telemetry->family && telemetry->family->has_locals;
}

static uint32_t local_bytes(const struct hs_decoded *telemetry)
{
	uint32_t bytes = sizeof(telemetry->e2e.node_id);
	for (unsigned i = 0; i <= telemetry->n_hops; i++) {
		const struct hs_hop_local *local = &telemetry->locals[i];
		bytes += (uint32_t)sizeof(local->has);
#define HS_LOCAL_VALUE(bit, member)                                                                \
	bytes += local->has & (bit) ? (uint32_t)sizeof(local->member) : 0;
#include "telemetry_values.def"
	}
	return bytes;
}

// Packs the local values. The source's id stands first.
static void pack_locals(uint8_t *at, const struct hs_decoded *telemetry)
{
	memcpy(at, &telemetry->e2e.node_id, sizeof(telemetry->e2e.node_id));
	at += sizeof(telemetry->e2e.node_id);
	for (unsigned i = 0; i <= telemetry->n_hops; i++) {
		const struct hs_hop_local *local = &telemetry->locals[i];
		memcpy(at, &local->has, sizeof(local->has));
		at += sizeof(local->has);
#define HS_LOCAL_VALUE(bit, member)                                                                \
	if (local->has & (bit)) {                                                                  \
		memcpy(at, &local->member, sizeof(local->member));                                 \
		at += sizeof(local->member);                                                       \
	}
#include "telemetry_values.def"
	}
}

static void unpack_locals(const uint8_t *at, struct hs_decoded *telemetry)
{
	memcpy(&telemetry->e2e.node_id, at, sizeof(telemetry->e2e.node_id));
	at += sizeof(telemetry->e2e.node_id);
	for (unsigned i = 0; i <= telemetry->n_hops; i++) {
		struct hs_hop_local *local = &telemetry->locals[i];
		*local = (struct hs_hop_local){0};
		memcpy(&local->has, at, sizeof(local->has));
		at += sizeof(local->has);
#define HS_LOCAL_VALUE(bit, member)                                                                \
	if (local->has & (bit)) {                                                                  \
		memcpy(&local->member, at, sizeof(local->member));                                 \
		at += sizeof(local->member);                                                       \
	}
#include "telemetry_values.def"
	}
}

// ---- whole reports ----

static inline uint32_t bytes_of(const struct hs_report *report)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	return packed_bytes(telemetry, is_wide(telemetry)) +
	       (has_locals(telemetry) ? local_bytes(telemetry) : 0);
}

static inline uint8_t *pack_hop(uint8_t *at, const struct hs_hop *hop)
{
	uint32_t id = hs_packed_pair(hop->node_id, hop->bitmap);
	uint32_t packets = hs_packed_pair(hop->tx_packets, hop->rx_packets);
	memcpy(at, &id, 4);
	at += 4;
	if (hop->bitmap == HS_HOP_MEASURED) {
		memcpy(at, &packets, 4);
		memcpy(at + 4, &hop->ts_ns, 16); // and both counts of bytes, which follow it
		return at + HS_PACKED_HOP_BYTES - 4;
	}
	if (hop->bitmap & HS_HOP_PACKETS) {
		memcpy(at, &packets, 4);
		at += 4;
	}
	if (hop->bitmap & HS_HOP_TIMESTAMP) {
		memcpy(at, &hop->ts_ns, 8);
		at += 8;
	}
	if (hop->bitmap & HS_HOP_BYTES) {
		memcpy(at, &hop->tx_bytes, 8); // and rx_bytes, which follows it
		at += 8;
	}
	return at;
}

static inline const uint8_t *unpack_hop(const uint8_t *at, struct hs_hop *hop)
{
	uint32_t id, packets;
	memcpy(&id, at, 4);
	at += 4;
	memset(hop, 0, sizeof(*hop));
	hop->node_id = id & UINT16_MAX;
	hop->bitmap = (uint16_t)(id >> 16);
	if (hop->bitmap & HS_HOP_PACKETS) {
		memcpy(&packets, at, 4);
		hop->tx_packets = packets & UINT16_MAX;
		hop->rx_packets = packets >> 16;
		at += 4;
	}
	if (hop->bitmap & HS_HOP_TIMESTAMP) {
		memcpy(&hop->ts_ns, at, 8);
		at += 8;
	}
	if (hop->bitmap & HS_HOP_BYTES) {
		memcpy(&hop->tx_bytes, at, 8);
		at += 8;
	}
	return at;
}

static inline void pack_ends(struct hs_packed *packed, const struct hs_report *report, int64_t tag)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	packed->tag = tag;
	packed->sink_ts_ns = report->sink_ts_ns;
	packed->sink_rx_packets = report->sink_rx_packets;
	packed->sink_rx_bytes = report->sink_rx_bytes;
	packed->ts_ns = telemetry->e2e.ts_ns;
	packed->int_packets = telemetry->e2e.int_packets;
	packed->tx_packets = telemetry->e2e.tx_packets;
	packed->tx_bytes = telemetry->e2e.tx_bytes;
	packed->trace_type = telemetry->trace_type;
	packed->e2e_bitmap = telemetry->e2e.bitmap;
	packed->n_hops = (uint8_t)telemetry->n_hops;
	packed->form = 0;
}

// Packs a report without its local values. Returns where they may be packed.
static uint8_t *pack(
		struct hs_packed *packed, const struct hs_report *report, bool wide, int64_t tag)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	pack_ends(packed, report, tag);
	packed->form = wide ? HS_PACKED_WIDE : 0;
	uint8_t *at = packed->hops;
	if (wide) {
		memcpy(at, telemetry->hops, telemetry->n_hops * sizeof(telemetry->hops[0]));
		return at + telemetry->n_hops * sizeof(telemetry->hops[0]);
	}
	for (unsigned i = 0; i < telemetry->n_hops; i++)
		at = pack_hop(at, &telemetry->hops[i]);
	return at;
}

void hs_qos_ring_get(const struct hs_qos_ring *ring, uint64_t number, struct hs_report *report)
{
	const struct hs_packed *packed = hs_qos_ring_packed(ring, number);
	struct hs_decoded *telemetry = &report->telemetry;
	report->sink_ts_ns = packed->sink_ts_ns;
	report->sink_rx_packets = packed->sink_rx_packets;
	report->sink_rx_bytes = packed->sink_rx_bytes;
	telemetry->ns_id = 0;
	telemetry->trace_type = packed->trace_type;
	telemetry->e2e = (struct hs_e2e){
			.bitmap = packed->e2e_bitmap,
			.int_packets = packed->int_packets,
			.ts_ns = packed->ts_ns,
			.tx_packets = packed->tx_packets,
			.tx_bytes = packed->tx_bytes,
	};
	telemetry->family = ring->family;
	telemetry->n_hops = packed->n_hops;
	telemetry->nodes_missing = packed->form & HS_PACKED_MISSING;
	const uint8_t *at = packed->hops;
	if (packed->form & HS_PACKED_WIDE) {
		memcpy(telemetry->hops, at, packed->n_hops * sizeof(telemetry->hops[0]));
		at += packed->n_hops * sizeof(telemetry->hops[0]);
	} else {
		for (unsigned i = 0; i < packed->n_hops; i++)
			at = unpack_hop(at, &telemetry->hops[i]);
	}
	if (packed->form & HS_PACKED_LOCALS)
		unpack_locals(at, telemetry);
}

int64_t hs_qos_ring_window(const struct hs_qos_ring *ring, uint64_t number)
{
	return hs_qos_ring_packed(ring, number)->tag;
}

static void free_chunks(struct hs_qos_ring *ring)
{
	for (unsigned i = 0; i < HS_QOS_RING_CHUNKS; i++) {
		free(ring->chunks[i]);
		ring->chunks[i] = NULL;
	}
	ring->n_chunks = 0;
}

void hs_qos_ring_fini(struct hs_qos_ring *ring)
{
	free_chunks(ring);
	memset(ring, 0, sizeof(*ring));
}

static int ensure_chunk(struct hs_qos_ring *ring, uint32_t slot)
{
	uint8_t **chunk = &ring->chunks[slot / HS_QOS_RING_CHUNK];
	if (*chunk)
		return 0;
	*chunk = malloc((size_t)HS_QOS_RING_CHUNK * ring->slot_bytes);
	ring->n_chunks += *chunk != NULL;
	return *chunk ? 0 : -ENOMEM;
}

// Moves the head by n reports, which are in the ring then.
static void step_head(struct hs_qos_ring *ring, uint32_t n)
{
	uint32_t room = hs_qos_ring_room(ring);
	ring->next += n;
	ring->head += n;
	ring->head -= ring->head >= ring->capacity ? ring->capacity : 0;
	ring->count = ring->count + n < room ? ring->count + n : room;
}

// Moves all reports into longer slots, for a report that is longer than any before it. This happens
// when a path grows, so only a few times for each flow.
static int regrow(struct hs_qos_ring *ring, uint32_t slot_bytes)
{
	struct hs_qos_ring grown = {.slot_bytes = slot_bytes,
			.head = ring->first,
			.first = ring->first,
			.staggered = ring->staggered,
			.capacity = capacity_for(slot_bytes),
			.most_ahead = ahead_of(capacity_for(slot_bytes)),
			.family = ring->family};
	uint32_t room = hs_qos_ring_room(&grown);
	uint32_t keep = ring->count < room ? ring->count : room;
	grown.next = ring->next - keep;
	for (uint64_t number = grown.next; number < ring->next; number++) {
		if (ensure_chunk(&grown, grown.head)) {
			free_chunks(&grown);
			return -ENOMEM;
		}
		memcpy(hs_qos_ring_slot_at(&grown, grown.head), hs_qos_ring_packed(ring, number),
				ring->slot_bytes);
		step_head(&grown, 1);
	}
	free_chunks(ring);
	*ring = grown;
	return 0;
}

static inline uint32_t grown_slot(uint32_t bytes)
{
	return (bytes + 7) & ~7u;
}

uint32_t hs_qos_ring_room_for(const struct hs_qos_ring *ring, const struct hs_report *report)
{
	uint32_t bytes = bytes_of(report);
	if (bytes <= ring->slot_bytes || bytes > WIDE_MAX)
		return hs_qos_ring_room(ring);
	uint32_t capacity = capacity_for(grown_slot(bytes));
	return capacity - ahead_of(capacity);
}

bool hs_qos_ring_takes(const struct hs_report *report)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	bool longer = is_wide(telemetry) || has_locals(telemetry);
	return bytes_of(report) <= (longer ? WIDE_MAX : SLOT_MAX);
}

int hs_qos_ring_reserve(struct hs_qos_ring *ring, const struct hs_report *report)
{
	uint32_t bytes = bytes_of(report);
	if (!hs_qos_ring_takes(report))
		return -EINVAL;
	if (bytes > ring->slot_bytes && regrow(ring, grown_slot(bytes)))
		return -ENOMEM;
	return ensure_chunk(ring, ring->head);
}

void hs_qos_ring_push(struct hs_qos_ring *ring, const struct hs_report *report, int64_t tag)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	struct hs_packed *slot = (struct hs_packed *)hs_qos_ring_slot_at(ring, ring->head);
	ring->family = telemetry->family;
	uint8_t *end = pack(slot, report, is_wide(telemetry), tag);
	if (has_locals(telemetry)) {
		slot->form |= HS_PACKED_LOCALS | (telemetry->nodes_missing ? HS_PACKED_MISSING : 0);
		pack_locals(end, telemetry);
	}
	step_head(ring, 1);
}

uint32_t hs_qos_ring_free(const struct hs_qos_ring *ring, uint8_t **at)
{
	uint32_t slot = hs_qos_ring_slot_ahead(ring, ring->ahead);
	uint32_t n = HS_QOS_RING_CHUNK - slot % HS_QOS_RING_CHUNK;
	uint32_t left = ring->most_ahead - ring->ahead;
	if (!left || !ring->chunks[slot / HS_QOS_RING_CHUNK])
		return 0;
	*at = hs_qos_ring_slot_at(ring, slot);
	return n < left ? n : left;
}

bool hs_qos_ring_place(struct hs_qos_ring *ring, const struct hs_report *report, int64_t tag)
{
	const struct hs_decoded *telemetry = &report->telemetry;
	bool wide = is_wide(telemetry);
	if (ring->ahead >= ring->most_ahead || packed_bytes(telemetry, wide) > ring->slot_bytes ||
			ensure_chunk(ring, hs_qos_ring_slot_ahead(ring, ring->ahead)))
		return false;
	pack((struct hs_packed *)hs_qos_ring_ahead(ring, ring->ahead), report, wide, tag);
	ring->ahead++;
	return true;
}

void hs_qos_ring_accept(struct hs_qos_ring *ring, uint32_t n)
{
	ring->ahead -= n;
	step_head(ring, n);
}

void hs_qos_ring_refuse(struct hs_qos_ring *ring)
{
	ring->ahead--;
	for (uint32_t i = 0; i < ring->ahead; i++)
		memcpy((void *)hs_qos_ring_ahead(ring, i), hs_qos_ring_ahead(ring, i + 1),
				ring->slot_bytes);
}

size_t hs_qos_ring_bytes(const struct hs_qos_ring *ring)
{
	return sizeof(*ring) + ring->n_chunks * (size_t)HS_QOS_RING_CHUNK * ring->slot_bytes;
}

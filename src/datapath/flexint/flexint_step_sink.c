// SPDX-License-Identifier: BSD-3-Clause
#include "flexint_fast.h"
#include "flexint_steps.h"
#include "room.h"
#include "skeleton.h"

#include <string.h>

// Copies one option's data; lengths were compared with what encloses them when the packet was
// parsed, and an option cannot be longer than its 8-bit length says.
static uint8_t copy_option(const uint8_t *option, uint8_t *to, size_t room)
{
	size_t len = option[1] <= room ? option[1] : room;

	memcpy(to, option + 2, len);
	return (uint8_t)len;
}

static void copy_options(const uint8_t *trace, const uint8_t *e2e, struct hs_report_record *record)
{
	record->family = HS_TELEMETRY_FLEXINT;
	record->trace_len = copy_option(trace, record->data, HS_FLEXINT_MAX_TRACE);
	record->e2e_len = copy_option(e2e, record->data + record->trace_len,
			sizeof(record->data) - record->trace_len);
}

// Copies 16 bytes at a time, up to 15 more than `bytes`.
static inline void copy_wide(uint8_t *to, const uint8_t *from, size_t bytes)
{
	for (size_t at = 0; at < bytes; at += 16)
		memcpy(to + at, from + at, 16);
}

// Copies options of any length into the record. Options that our nodes write by the paper's trace
// type are whole words of entries and a source's entry of one length.
static inline __attribute__((always_inline)) void fill(const struct hs_worker *worker,
		const struct hs_burst *burst, unsigned i, uint32_t slot,
		struct hs_report_record *record)
{
	const struct hs_packet *packet = &burst->packets[i];
	const uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], const uint8_t *);
	const uint8_t *trace = frame + packet->trace_off, *e2e = frame + packet->e2e_off;

	hs_report_begin(worker, burst, slot, record);
	if (unlikely(trace[1] % 8 || e2e[1] != HS_FLEXINT_FAST_E2E_BYTES)) {
		copy_options(trace, e2e, record);
		return;
	}
	record->trace_len = trace[1];
	record->e2e_len = HS_FLEXINT_FAST_E2E_BYTES;
	record->family = HS_TELEMETRY_FLEXINT;
	// The source's entry and its header are longer than what is copied with the entries.
	copy_wide(record->data, trace + 2, trace[1]);
	memcpy(record->data + trace[1], e2e + 2, HS_FLEXINT_FAST_E2E_BYTES);
}

// Reports a packet whose telemetry is of the rule in its slot.
static inline __attribute__((always_inline)) void report(
		struct hs_worker *worker, const struct hs_burst *burst, unsigned i)
{
	uint32_t slot = burst->slots[i];
	struct hs_report_record *record = hs_report_place(worker, slot);

	if (unlikely(!record))
		return;
	fill(worker, burst, i, slot, record);
	hs_report_placed(worker, record);
}

// Takes telemetry out and parses the packet again, because telemetry that the codec could not take
// out is then seen again.
bool hs_flexint_strip_step(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];
	bool walkable = packet->telemetry_bytes || (packet->flags & HS_PACKET_MIXED);

	if (!walkable || !hs_make_changeable(worker, burst, i) || (packet->flags & HS_PACKET_SHORT))
		return false;
	uint8_t *frame = rte_pktmbuf_mtod(burst->mbufs[i], uint8_t *);
	return hs_end_strip(worker, burst, i, hs_flexint_strip(frame, packet));
}

bool hs_flexint_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];
	uint32_t slot = burst->slots[i];

	if (unlikely(packet->flags & HS_PACKET_PUNT))
		hs_flexint_punt_sink(worker, burst, i);
	if (!(packet->flags & HS_PACKET_TELEMETRY)) {
		const uint16_t other = HS_PACKET_PUNT | HS_PACKET_HIDDEN;
		if (!(packet->flags & other))
			hs_event(worker, burst, HS_EVENT_BAD_TELEMETRY);
	} else if (!hs_flow_is_of(&worker->flows, slot, packet->ns_id)) {
		hs_flexint_shadow(worker, burst, i);
	} else {
		report(worker, burst, i);
	}
	return hs_flexint_strip_step(worker, burst, i);
}

// Returns whether the packet has telemetry of a rule of this node, in a header that holds telemetry
// alone.
static inline __attribute__((always_inline)) bool is_fast(
		const struct hs_worker *worker, const struct hs_burst *burst, unsigned i)
{
	const struct hs_packet *packet = &burst->packets[i];

	return hs_flow_is_of(&worker->flows, burst->slots[i], packet->ns_id) &&
	       hs_flexint_fast_is_stripped_whole(packet) && hs_is_changeable(burst, i);
}

static inline __attribute__((always_inline)) bool fast_sink(
		struct hs_worker *worker, struct hs_burst *burst, unsigned i)
{
	struct rte_mbuf *m = burst->mbufs[i];

	if (unlikely(!is_fast(worker, burst, i)))
		return hs_flexint_sink(worker, burst, i);
	report(worker, burst, i);
	size_t taken = hs_flexint_fast_strip(rte_pktmbuf_mtod(m, uint8_t *), &burst->packets[i]);
	hs_room_shift(m, -(int)taken);
	return true;
}

void hs_flexint_run_sink(struct hs_worker *worker, struct hs_burst *burst, unsigned first,
		unsigned end, struct hs_port *out)
{
	hs_to_host_as(worker, burst, first, end, out, fast_sink);
}

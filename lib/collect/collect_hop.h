// SPDX-License-Identifier: BSD-3-Clause
// Reads one hop's values by its layout. The functions are inlined, because they take most of the
// time of a report.
//
// Thread rule: any; pure functions. For this folder only.
#pragma once

#include "collect_parts.h"

// Reads a word. Returns false for all ones, which stand for no value.
static inline bool hs_collect_read_word(const struct hs_collect_dialect *dialect,
		const uint8_t *hop, uint8_t at, uint32_t *value)
{
	if (at == HS_COLLECT_NOT_THERE)
		return false;
	*value = hs_be32_load(hop + at) & dialect->mask;
	return *value != dialect->mask;
}

static inline bool hs_collect_read_time(const struct hs_collect_dialect *dialect,
		const uint8_t *hop, uint8_t at, uint64_t *value)
{
	uint32_t word;

	if (at == HS_COLLECT_NOT_THERE)
		return false;
	if (dialect->wide_times) {
		*value = hs_be64_load(hop + at);
		return *value != UINT64_MAX;
	}
	bool there = hs_collect_read_word(dialect, hop, at, &word);
	*value = word;
	return there;
}

// Computes a latency from a node's two times. Returns false if time ran back: the difference is
// more than half of the range.
static inline bool hs_collect_latency_of_times(
		uint64_t ingress, uint64_t egress, uint64_t mask, uint32_t *latency)
{
	uint64_t between = (egress - ingress) & mask;

	*latency = (uint32_t)between;
	return between <= (mask == UINT64_MAX ? UINT32_MAX : mask / 2);
}

// Reads a word with an id and a value. Returns false if it has no value.
static inline bool hs_collect_read_queue(const struct hs_collect_dialect *dialect,
		const uint8_t *hop, uint8_t at, uint32_t *id, uint32_t *value)
{
	unsigned bits = dialect->queue_bits;

	*id = UINT32_MAX;
	if (bits == 32)
		return hs_collect_read_word(dialect, hop, at, value);
	if (at == HS_COLLECT_NOT_THERE)
		return false;
	uint32_t word = hs_be32_load(hop + at), mask = (UINT32_C(1) << bits) - 1;
	*value = word & mask;
	*id = word >> bits == UINT32_MAX >> bits ? UINT32_MAX : word >> bits;
	return *value != mask;
}

static inline bool hs_collect_read_port(const struct hs_collect_dialect *dialect,
		const uint8_t *hop, uint8_t at, uint32_t *port)
{
	if (dialect->wide_ports)
		return hs_collect_read_word(dialect, hop, at, port);
	if (at == HS_COLLECT_NOT_THERE)
		return false;
	*port = hs_be16_load(hop + at);
	return *port != UINT16_MAX;
}

static inline void hs_collect_read_hop(const struct hs_collect_dialect *dialect,
		const struct hs_collect_layout *layout, const uint8_t *hop,
		struct hs_collect_values *out)
{
	uint64_t ingress, egress, mask = dialect->wide_times ? UINT64_MAX : dialect->mask;
	uint8_t has = 0;

	if (!hs_collect_read_word(dialect, hop, layout->node, &out->node_id))
		out->node_id = UINT32_MAX;
	bool timed = hs_collect_read_time(dialect, hop, layout->egress, &egress);
	out->device_ns = timed ? egress : 0;
	if (hs_collect_read_word(dialect, hop, layout->latency, &out->latency))
		has |= HS_COLLECT_HAS_LATENCY;
	else if (timed && hs_collect_read_time(dialect, hop, layout->ingress, &ingress) &&
			hs_collect_latency_of_times(ingress, egress, mask, &out->latency))
		has |= HS_COLLECT_HAS_LATENCY;
	if (hs_collect_read_queue(dialect, hop, layout->queue, &out->queue_id, &out->occupancy))
		has |= HS_COLLECT_HAS_OCCUPANCY;
	if (out->queue_id != UINT32_MAX)
		has |= HS_COLLECT_HAS_OWN_QUEUE;
	if (hs_collect_read_queue(dialect, hop, layout->congestion, &out->congestion_id,
			    &out->congestion))
		has |= HS_COLLECT_HAS_CONGESTION;
	if (hs_collect_read_port(dialect, hop, layout->port, &out->port))
		has |= HS_COLLECT_HAS_PORT;
	if (hs_collect_read_word(dialect, hop, layout->utilisation, &out->utilisation))
		has |= HS_COLLECT_HAS_UTILISATION;
	out->has = has;
	out->q = false;
}

// SPDX-License-Identifier: BSD-3-Clause
// Parses the Hop-by-Hop header that our own source and transit nodes write, without a walk over its
// options. For packet_fast.h. It is tested against hs_flexint_parse.
//
// Thread rule: any; pure functions.
#pragma once

#include "hbh.h"
#include "packet_fast.h"

// Reads the options of HS_PACKET_PLAIN. `bytes` is the whole header, at least 8. Type and length of
// an option are read as one word.
static inline bool hs_flexint_fast_options(
		const uint8_t *hbh, size_t bytes, struct hs_packet *packet)
{
	bool padded = hs_be16_load(hbh + HS_HBH_OPTIONS) == HS_OPT_PADN << 8;
	size_t trace = HS_HBH_OPTIONS + (padded ? 2 : 0);
	unsigned option = hs_be16_load(hbh + trace);
	size_t e2e = trace + 2u + (option & 0xff);

	if (option >> 8 != HS_OPT_TRACE || (option & 0xff) < 8 || e2e + 2 > bytes)
		return false;
	option = hs_be16_load(hbh + e2e);
	size_t end = e2e + 2u + (option & 0xff), left = bytes - end;
	if (option >> 8 != HS_OPT_E2E || (option & 0xff) < 2)
		return false;
	// If `end` is beyond the header, `left` has wrapped and is greater than any option.
	if (left && (left - 2 > 5 || hs_be16_load(hbh + end) != (HS_OPT_PADN << 8 | (left - 2))))
		return false;
	packet->trace_off = (uint16_t)(HS_FAST_L4 + trace);
	packet->e2e_off = (uint16_t)(HS_FAST_L4 + e2e);
	packet->ns_id = hs_be32_load(hbh + trace + 2);
	packet->trace_type = hs_be32_load(hbh + trace + 6);
	packet->hbh_bytes = (uint16_t)bytes;
	packet->telemetry_bytes = (uint16_t)bytes;
	packet->flags |= HS_PACKET_HBH | HS_PACKET_TELEMETRY | HS_PACKET_ANY_TELEMETRY |
			 HS_PACKET_PLAIN;
	return true;
}

static inline bool hs_flexint_fast_hbh(
		const uint8_t *frame, size_t len, size_t payload, struct hs_packet *packet)
{
	const uint8_t *hbh = frame + HS_FAST_L4;

	if (len < HS_FAST_L4 + 8)
		return false;
	size_t bytes = 8u * (hbh[1] + 1u);
	if (bytes + 4 > payload || HS_FAST_L4 + bytes + 4 > len || !hs_packet_fast_is_l4(hbh[0]))
		return false;
	if (!hs_flexint_fast_options(hbh, bytes, packet))
		return false;
	hs_packet_fast_ports(frame, HS_FAST_L4 + bytes, hbh[0], packet);
	return true;
}

// Parses a frame with the result of hs_flexint_parse. Returns false if hs_flexint_parse must parse
// it.
static inline bool hs_flexint_parse_fast(
		const uint8_t *frame, size_t len, size_t frame_len, struct hs_packet *packet)
{
	return hs_packet_parse_fast(frame, len, frame_len, hs_flexint_fast_hbh, packet) ||
	       hs_packet_parse_fast_ipv4(frame, len, frame_len, packet);
}

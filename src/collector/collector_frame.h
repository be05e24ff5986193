// SPDX-License-Identifier: BSD-3-Clause
// Finds the UDP datagram with telemetry reports in an Ethernet frame: IPv4 with or without options,
// IPv6 with or without extension headers, each behind up to two VLAN tags.
//
// Thread rule: any; pure functions.
#pragma once

#include "collect.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HS_COLLECTOR_FRAME_HEAD	   48 // bytes that are compared with the last frame
#define HS_COLLECTOR_FRAME_PAYLOAD 42 // offset of UDP's payload in such a frame

// The kind of a frame: HS_COLLECTOR_FRAME(NAME, name, text). Replies and metrics have these names.
enum hs_collector_frame {
#define HS_COLLECTOR_FRAME(NAME, name, text) HS_COLLECTOR_FRAME_##NAME,
#include "collector_counter.def"
	HS_COLLECTOR_FRAMES,
};

// Returns the kind of a frame. For HS_COLLECTOR_FRAME_DATAGRAM, fills bytes, len, is_ipv4 and
// address of *datagram. Checksums are not checked.
enum hs_collector_frame hs_collector_frame_read(const uint8_t *frame, size_t len, uint16_t udp_port,
		struct hs_collect_datagram *datagram);

// The last datagram in a plain frame of Ethernet and IPv4.
struct hs_collector_frame_like {
	uint32_t frame_bytes; // UINT32_MAX: there was no such datagram
	_Alignas(16) uint8_t head[HS_COLLECTOR_FRAME_HEAD];
	struct hs_collect_datagram datagram; // its listener is that of all frames
};

// Reads the frame, and keeps the frame in *last if later frames may be like it.
enum hs_collector_frame hs_collector_frame_read_anew(struct hs_collector_frame_like *last,
		const uint8_t *frame, uint32_t len, uint16_t udp_port,
		struct hs_collect_datagram *datagram);

// Returns whether the frame's headers are equal to those of the last frame. Then only the
// datagram's address in memory differs.
static inline bool hs_collector_frame_is_like(
		const struct hs_collector_frame_like *last, const uint8_t *frame, uint32_t len)
{
	typedef uint64_t vector __attribute__((vector_size(16)));
	// All but identification, time to live, checksums and source port.
	static const _Alignas(16) uint8_t mask[HS_COLLECTOR_FRAME_HEAD] = {
			[0 ... 17] = 0xff,
			[20 ... 21] = 0xff,
			[23] = 0xff,
			[26 ... 33] = 0xff,
			[36 ... 39] = 0xff,
	};
	vector differs = {0}, x, y, m;

	if (len != last->frame_bytes)
		return false;
	for (unsigned at = 0; at < HS_COLLECTOR_FRAME_HEAD; at += sizeof(x)) {
		memcpy(&x, frame + at, sizeof(x));
		memcpy(&y, last->head + at, sizeof(y));
		memcpy(&m, mask + at, sizeof(m));
		differs |= (x ^ y) & m;
	}
	return !(differs[0] | differs[1]);
}

// Does what hs_collector_frame_read does, for the next frame behind *last. A frame that is like the
// last one is not parsed.
static inline enum hs_collector_frame hs_collector_frame_read_next(
		struct hs_collector_frame_like *last, const uint8_t *frame, uint32_t len,
		uint16_t udp_port, struct hs_collect_datagram *datagram)
{
	if (!hs_collector_frame_is_like(last, frame, len))
		return hs_collector_frame_read_anew(last, frame, len, udp_port, datagram);
	*datagram = last->datagram;
	datagram->bytes = frame + HS_COLLECTOR_FRAME_PAYLOAD;
	return HS_COLLECTOR_FRAME_DATAGRAM;
}

// SPDX-License-Identifier: BSD-3-Clause
// Frames of a host of the lab: Ethernet, IPv6 or IPv4 (hop limit 64), UDP, TCP or ICMP echo, a
// payload of a fixed pattern, and the right checksum. A frame is built once. For each packet, only
// the sequence fields and the checksum change.
//
// Source: RFC 8200 section 8.1 (checksums), RFC 768, RFC 9293, RFC 4443 section 4; RFC 791,
// RFC 792.
// Thread rule: owner.
#pragma once

#include "scenario.h"

#include "port.h"

#include <stdbool.h>
#include <stdint.h>

#define HS_STREAM_FRAME_BYTES (14 + HS_PORT_MTU_MAX)

// Ethernet addresses of a host's frames: its own, and that of its node or, with bridge and patch,
// of the far host.
struct hs_stream_macs {
	uint8_t own[2][6];  // [0] from, [1] to
	uint8_t next[2][6]; // destination of frames that [0], [1] send
};

struct hs_stream_template {
	uint8_t bytes[HS_STREAM_FRAME_BYTES];
	uint32_t len;
	uint32_t sum; // RFC 1071, of everything that the checksum covers except the sequence fields
	uint32_t l4;  // where UDP, TCP or ICMP begin
	uint8_t protocol;
};

// Builds a frame of an entry of traffic, or of the replies to it, with sequence fields 0. The
// entry's payload fits the scenario's MTU.
void hs_stream_template_init(struct hs_stream_template *template,
		const struct hs_scenario *scenario, uint32_t traffic,
		const struct hs_stream_macs *macs, bool reply);

// Writes the fields that identify packets, and the checksum: for TCP the sequence and
// acknowledgement numbers, for ICMP the lower half of `seq`, for UDP nothing.
void hs_stream_template_number(struct hs_stream_template *template, uint32_t seq, uint32_t ack);

// Returns whether this is the template's frame. Ethernet addresses may differ. What routers change
// may differ too: the hop limit, and the checksum of an IPv4 header if it is right.
bool hs_stream_template_equals(
		const struct hs_stream_template *template, const uint8_t *bytes, uint32_t len);

// Returns a hash of a frame without its Ethernet addresses, its hop limit and the checksum of an
// IPv4 header.
uint64_t hs_stream_frame_hash(const uint8_t *bytes, uint32_t len);

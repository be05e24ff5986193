// SPDX-License-Identifier: BSD-3-Clause
// Finds the end of a packet's chain of IP headers, for any protocol after it, so that a caller can
// insert a header there or remove one.
//
// Thread rule: any; pure functions.
#pragma once

#include "packet.h"

struct hs_l4 {
	uint16_t off;	   // offset in the frame
	uint16_t proto_at; // the byte that names the protocol, in IPv4 or in the last header of
			   // IPv6
	uint8_t proto;
};

// Finds the end of the chain in a frame that hs_packet_parse has read. Returns false if the headers
// are not whole, or in a later fragment.
bool hs_l4_find(const uint8_t *frame, const struct hs_packet *packet, struct hs_l4 *l4);

// SPDX-License-Identifier: BSD-3-Clause
// The end of a packet's chain of headers, whatever the protocol there: for who puts a header in
// front of it, or takes one out.
//
// Thread rule: any; pure functions.
#pragma once

#include "packet.h"

struct hs_l4 {
	uint16_t off;	   // of the frame
	uint16_t proto_at; // the byte that names the protocol, in IPv4 or in the last header of
			   // IPv6
	uint8_t proto;
};

// Finds it in a frame that hs_packet_parse has read. False where the headers are not whole, and in
// a later fragment.
bool hs_l4_find(const uint8_t *frame, const struct hs_packet *packet, struct hs_l4 *l4);

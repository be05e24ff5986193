// SPDX-License-Identifier: BSD-3-Clause
// The fast path to flow and stack, for the common form of packets: Ethernet with at most one 802.1Q
// tag, IPv4 or IPv6 without a Hop-by-Hop header, no fragment, TCP or UDP, then INT-MD if the DSCP
// says so. It leaves all other packets to collect_packet.c, and gives the same result as
// collect_packet.c for those that it takes.
//
// Thread rule: owner. For this folder only.
#pragma once

#include "collect_parts.h"

#define HS_COLLECT_FAST_NOT (-2)

// Sets key, stack and `partial` of a cleared view. Returns -1, why the report is refused, or
// HS_COLLECT_FAST_NOT: collect_packet.c must read the packet.
int hs_collect_fast_packet(const struct hs_collect_dialect *dialect, uint8_t inner, bool tracked,
		const uint8_t *packet, size_t bytes, struct hs_collect_view *view);
